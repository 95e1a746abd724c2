/* Fault injection in the files of a run. */
#include "test.h"

#include "context/context.h"
#include "context/status_line.h"
#include "fault.h"

static struct err e;

FAULT_STORY(a_file_is_old_or_new)
{
    struct state_dir fr;

    make_dirs("frame");
    write_file("frame/h", "old");
    CHECK_OK(state_dir_open(&fr, "frame", NULL, &e), &e);
    fault_on(f);
    enum status s = state_dir_replace(&fr, "h", "new text", 8, &e);
    fault_off(f);
    CHECK_FILE("frame/h", s ? "old" : "new text");
    if (count_files("frame") != 1)
        fail_msg("%s: something is left behind", fault_what(f));
    state_dir_close(&fr);
}

FAULT_STORY(a_handoff_is_old_or_new)
{
    struct handoff old = { "standard", "a", "b", NULL, "old", 3 };
    struct handoff new = { "standard", "a", "b", NULL, "new", 3 }, now;
    struct arena a = { 0 };
    char channel[4096];

    assert_non_null(getcwd(channel, sizeof channel - 8));
    strcat(channel, "/a--b");
    CHECK_OK(handoff_write(channel, &old, &e), &e);
    fault_on(f);
    enum status s = handoff_write(channel, &new, &e);
    fault_off(f);
    CHECK_OK(handoff_read(&a, channel, &now, &e), &e);
    assert_string_equal(now.text, s ? "old" : "new");
    assert_int_equal(count_files("a--b"), 1);
    arena_release(&a);
}

FAULT_STORY(a_signal_reported_as_written_is_whole)
{
    size_t len;

    write_file("p.jsonl", "{}\n");
    fault_on(f);
    enum status s = status_line_append(&(struct status_file){ here(), "p", "phase", NULL }, LINE_OK,
                                       NULL, NULL, NULL, &e);
    fault_off(f);
    char *text = read_file("p.jsonl", &len);
    if (!s && (len < 50 || text[len - 1] != '\n'))
        fail_msg("%s: reported as written, but is not", fault_what(f));
    assert_memory_equal(text, "{}\n", 3);
    free(text);
}

/* Builds and ends a gate's context; is_building: calls fail from the build on. */
static void
tell_gate(struct fault *f, bool is_building)
{
    struct arena a = { 0 };
    struct agent_message m;
    struct context c;
    struct buf b = { 0 };
    struct context_verdict v = { .outcome = "ROUTE", .target = "developer", .comment = "x" };
    char cwd[4096];

    assert_non_null(getcwd(cwd, sizeof cwd));
    make_dirs(".cliq/channels/developer--reviewer");
    make_dirs(".cliq/roles");
    write_file(".cliq/roles/reviewer.md", "You review.");
    write_file(".cliq/channels/developer--reviewer/handoff.json", "{\"text\":\"Done.\"}");
    write_file(".cliq/task_board.md", "- [ ] reviewer\n");
    buf_addf(&b,
             "{\"version\":1,\"type\":\"phase\",\"agent\":\"a\",\"signal_dir\":\"%s/.cliq/signals\""
             ",\"payload\":{\"phase\":\"reviewer\",\"phase_type\":\"gate\",\"route_targets\":["
             "\"developer\"]}}",
             cwd);
    CHECK_OK(agent_message_parse(&a, b.p, b.len, &m, &e), &e);
    if (is_building)
        fault_on(f);
    enum status s = context_build(&a, &m, &c, &e);
    if (!is_building) {
        CHECK_OK(s, &e);
        board_mark(&c.board, "reviewer", true);
        fault_on(f);
        s = context_finalize_gate(&c, &v, &e);
    }
    fault_off(f);
    if (s)
        assert_int_not_equal(e.text[0], '\0');
    else if (is_building)
        assert_string_equal(c.role, "You review.");
    else
        CHECK_FILE(".cliq/task_board.md", "- [x] reviewer\n");
    if (!s && !is_building)
        assert_true(file_exists(".cliq/channels/reviewer--developer/handoff.json"));
    context_release(&c);
    arena_release(&a);
    buf_release(&b);
}

FAULT_STORY(a_context_is_built_or_says_why)
{
    tell_gate(f, true);
}

FAULT_STORY(a_gate_ends_or_says_why)
{
    tell_gate(f, false);
}

int
main(void)
{
    static const struct story stories[] = {
        STORY(a_file_is_old_or_new),
        STORY(a_handoff_is_old_or_new),
        STORY(a_signal_reported_as_written_is_whole),
        STORY(a_context_is_built_or_says_why),
        STORY(a_gate_ends_or_says_why),
    };
    return run_stories("run", stories, sizeof stories / sizeof *stories);
}
