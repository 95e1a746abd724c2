/* What must be true of cliq.h's agents: the SDK page's example and all its tables, in C. */
#include "test.h"

#include "cliq.h"

#include "base/json.h"

#include <fcntl.h>
#include <sys/stat.h>

static struct arena arena;
static cliq_agent *agent;
static cliq_error err;
static char cwd[4096];
static unsigned calls;

static int
enter(void **state)
{
    arena = (struct arena){ 0 };
    err = (cliq_error)CLIQ_ERROR_INIT;
    calls = 0;
    if (case_enter(state) || !getcwd(cwd, sizeof cwd))
        return -1;
    make_dirs(".cliq/signals");
    make_dirs(".cliq/roles");
    make_dirs(".cliq/channels");
    agent = cliq_agent_new("openai-analyst");
    return agent ? 0 : -1;
}

static int
leave(void **state)
{
    cliq_agent_free(agent);
    arena_release(&arena);
    return case_leave(state);
}

#undef CASE
#define CASE(fact) cmocka_unit_test_setup_teardown(fact, enter, leave)

/* A message as the page has it; `payload` is its members, `more` members of the root. */
static const char *
message(const char *type, const char *payload, const char *targets, const char *more)
{
    struct buf b = { 0 }, dirs = { 0 };
    char list[256];

    snprintf(list, sizeof list, "%s", targets);
    for (char *t = strtok(list, " "); t; t = strtok(NULL, " "))
        buf_addf(&dirs, "%s\"%s/.cliq/channels/%s\"", dirs.len ? "," : "", cwd, t);
    buf_addf(
        &b,
        "{\"version\":1,\"type\":\"%s\",\"agent\":\"openai-analyst\",\"instance_id\":\"test-1\","
        "\"team_name\":\"test\",\"req_key\":\"TEST-1\",\"project_dir\":\"%s\",\"work_dir\":"
        "\"%s\",\"signal_dir\":\"%s/.cliq/signals\",\"handoff_dirs\":[%s],"
        "\"input_artifacts\":[{\"name\":\"spec\",\"type\":\"inline\",\"source\":\"x\"}],"
        "%s\"payload\":{%s}}",
        type, cwd, cwd, cwd, dirs.p ? dirs.p : "", more, payload);
    const char *text = arena_dup(&arena, b.p, b.len);
    buf_release(&b);
    buf_release(&dirs);
    return text;
}

#define STANDARD                                                                                   \
    message("phase", "\"phase_type\":\"standard\",\"phase\":\"analyst\"", "analyst--reviewer", "")
#define GATE                                                                                       \
    message("phase",                                                                               \
            "\"phase_type\":\"gate\",\"phase\":\"reviewer\",\"route_targets\":[\"developer\"],"    \
            "\"iteration\":2,\"max_iterations\":5,\"check_results\":[{\"name\":\"npm test\","      \
            "\"pass\":false,\"output\":\"2 failed\",\"exit_code\":1},{\"name\":\"lint\",\"pass\":" \
            "true,\"output\":\"\"}]",                                                              \
            "reviewer--deploy reviewer--developer", "")

static cliq_status
dispatch(const char *text)
{
    return cliq_agent_dispatch(agent, text, strlen(text), &err);
}

static cliq_status
dispatch_to(const char *key, cliq_handler handler, const char *text)
{
    assert_int_equal(cliq_agent_on(agent, key, handler, NULL), CLIQ_OK);
    return dispatch(text);
}

#define RUNS(call)                                                                                 \
    do {                                                                                           \
        if (call)                                                                                  \
            fail_msg("%s: %s", #call, err.text);                                                   \
    } while (0)
/* Inside a handler: a failing assertion must not jump out of the library with its files open. */
#define EXPECT(fact)                                                                               \
    do {                                                                                           \
        if (!(fact)) {                                                                             \
            snprintf(e->text, sizeof e->text, "%d: %s", __LINE__, #fact);                          \
            return CLIQ_FAILED;                                                                    \
        }                                                                                          \
    } while (0)
#define SAME(a, b) EXPECT((a) && strcmp((a), (b)) == 0)

/* The value at a path of a JSON text: a string as it is, else JSON. */
static const char *
value(const char *json, size_t len, const char *path)
{
    const char *copy = arena_dup(&arena, json, len);
    struct json *v = NULL;
    struct buf b = { 0 };

    assert_true(json_parse(&arena, copy, len, &v, NULL));
    const struct json *found = json_path(v, path);
    if (!found)
        return "(none)";
    if (json_is(found, JSON_STRING))
        buf_add(&b, found->text.p, found->text.len);
    else
        json_write(&b, found);
    copy = arena_dup(&arena, b.p ? b.p : "", b.len);
    buf_release(&b);
    return copy;
}

static const char *
in_file(const char *name, const char *path)
{
    size_t len;
    char *text = read_file(name, &len);
    const char *found = value(text, len, path);

    free(text);
    return found;
}

/* Of line n of a JSONL file; -1 is the last. */
static const char *
in_line(const char *name, int n, const char *path)
{
    size_t len;
    char *text = read_file(name, &len), *line = text;
    int lines = 0;

    for (size_t i = 0; i < len; i++)
        lines += text[i] == '\n';
    assert_true(len && text[len - 1] == '\n');
    for (int i = 0, at = n < 0 ? lines + n : n; i < at; i++)
        line = strchr(line, '\n') + 1;
    const char *found = value(line, strcspn(line, "\n"), path);
    free(text);
    return found;
}

static int
count_lines(const char *name)
{
    size_t len;
    char *text = read_file(name, &len);
    int n = 0;

    for (size_t i = 0; i < len; i++)
        n += text[i] == '\n';
    free(text);
    return n;
}

#define ANALYST  ".cliq/signals/analyst.jsonl"
#define REVIEWER ".cliq/signals/reviewer.jsonl"
#define HANDOFF  ".cliq/channels/analyst--reviewer/handoff.json"

/* ---- the page's test ---- */

static cliq_status
send_results(cliq_context *ctx, void *user, cliq_error *e)
{
    cliq_status s = CLIQ_OK;

    (void)user;
    for (size_t i = 0; !s && i < cliq_context_target_count(ctx); i++)
        s = cliq_send_text(ctx, cliq_context_target(ctx, i), "Analysis results here.", e);
    return s ? s : cliq_finalize_standard(ctx, e);
}

static void
produces_output_on_the_expected_channel(void **state)
{
    (void)state;
    write_file(".cliq/roles/analyst.md", "You are an analyst.");
    RUNS(dispatch_to("phase:standard", send_results, STANDARD));
    assert_string_equal(in_file(HANDOFF, "text"), "Analysis results here.");
    assert_string_equal(in_file(HANDOFF, "phase_type"), "standard");
    assert_string_equal(in_file(HANDOFF, "phase"), "analyst");
    assert_string_equal(in_file(HANDOFF, "agent"), "openai-analyst");
    assert_string_equal(in_file(HANDOFF, "version"), "1");
    assert_string_equal(in_line(ANALYST, 0, "status"), "ok");
    assert_string_equal(in_line(ANALYST, -1, "status"), "complete");
    assert_int_equal(count_lines(ANALYST), 2);
}

static void
the_pages_signal_dir_below_signals_works_too(void **state)
{
    (void)state;
    make_dirs(".cliq/signals/analyst");
    const char *m = STANDARD, *at = strstr(m, ".cliq/signals\"") + 13;
    struct buf b = { 0 };
    buf_addf(&b, "%.*s/analyst%s", (int)(at - m), m, at);
    cliq_status s = dispatch_to("phase:standard", send_results, b.p);
    buf_release(&b);
    RUNS(s);
    assert_string_equal(in_line(".cliq/signals/analyst/analyst.jsonl", -1, "status"), "complete");
    assert_string_equal(in_file(HANDOFF, "text"), "Analysis results here.");
}

/* ---- how it ends ---- */

static cliq_status
fails(cliq_context *ctx, void *user, cliq_error *e)
{
    (void)user;
    cliq_send_text(ctx, "reviewer", "partial", e);
    snprintf(e->text, sizeof e->text, "API returned 500");
    return CLIQ_IO;
}

static void
a_failing_handler_gives_an_error_line_and_1(void **state)
{
    (void)state;
    assert_int_equal(dispatch_to("phase:standard", fails, STANDARD), 1);
    assert_string_equal(err.text, "API returned 500");
    assert_string_equal(in_line(ANALYST, 0, "status"), "ok");
    assert_string_equal(in_line(ANALYST, -1, "status"), "error");
    assert_string_equal(in_line(ANALYST, -1, "error"), "API returned 500");
    assert_int_equal(count_lines(ANALYST), 2);
    assert_string_equal(in_file(HANDOFF, "text"), "partial"); /* what was sent stays */
}

static cliq_status
fails_silently(cliq_context *ctx, void *user, cliq_error *e)
{
    (void)ctx, (void)user, (void)e;
    return CLIQ_TIMEOUT;
}

static void
a_handler_that_does_not_say_why_is_said_for(void **state)
{
    (void)state;
    assert_int_equal(dispatch_to("phase:standard", fails_silently, STANDARD), CLIQ_FAILED);
    assert_string_equal(in_line(ANALYST, -1, "error"),
                        "the handler for phase:standard failed with status 6");
}

static cliq_status
does_nothing(cliq_context *ctx, void *user, cliq_error *e)
{
    (void)ctx, (void)user, (void)e;
    calls++;
    return CLIQ_OK;
}

static void
a_handler_that_does_not_finalize_is_completed(void **state)
{
    (void)state;
    RUNS(dispatch_to("phase:standard", does_nothing, STANDARD));
    assert_string_equal(in_line(ANALYST, -1, "status"), "complete");
    assert_int_equal(count_lines(ANALYST), 2);
}

static cliq_status
finalizes_again(cliq_context *ctx, void *user, cliq_error *e)
{
    (void)user;
    EXPECT(cliq_finalize_result(ctx, "{\"n\":1}", e) == CLIQ_OK);
    EXPECT(cliq_finalize_standard(ctx, e) == CLIQ_OK);
    EXPECT(cliq_finalize_result(ctx, "2", e) == CLIQ_OK);
    return CLIQ_FAILED;
}

static void
the_first_end_counts(void **state)
{
    (void)state;
    assert_int_equal(dispatch_to("phase:standard", finalizes_again, STANDARD), CLIQ_FAILED);
    assert_int_equal(count_lines(ANALYST), 2);
    assert_string_equal(in_line(ANALYST, -1, "result"), "{\"n\":1}");
}

static void
no_handler_is_an_error(void **state)
{
    (void)state;
    assert_int_equal(dispatch_to("phase:gate", does_nothing, STANDARD), CLIQ_FAILED);
    assert_string_equal(err.text, "agent openai-analyst has no handler for phase:standard");
    assert_string_equal(in_line(ANALYST, -1, "status"), "error");
    assert_int_equal(calls, 0);
}

static void
a_broken_frame_is_an_error_line(void **state)
{
    (void)state;
    make_dirs(".cliq/channels/x--analyst");
    write_file(".cliq/channels/x--analyst/handoff.json", "not json");
    assert_int_equal(dispatch_to("phase:standard", does_nothing, STANDARD), CLIQ_FAILED);
    assert_int_equal(calls, 0);
    assert_string_equal(in_line(ANALYST, 0, "status"), "ok");
    assert_non_null(strstr(in_line(ANALYST, -1, "error"), "handoff.json:1:"));
}

static void
handlers_replace_each_other_and_get_their_user(void **state)
{
    (void)state;
    assert_int_equal(cliq_agent_on(agent, "phase:standard", fails, NULL), CLIQ_OK);
    RUNS(dispatch_to("phase:standard", does_nothing, STANDARD));
    RUNS(dispatch(STANDARD)); /* and a message can follow a message */
    assert_int_equal(calls, 2);
}

/* ---- what it knows ---- */

static cliq_status
knows(cliq_context *ctx, void *user, cliq_error *e)
{
    char path[4200];

    EXPECT(user == &calls);
    SAME(cliq_context_type(ctx), "phase");
    SAME(cliq_context_agent(ctx), "openai-analyst");
    SAME(cliq_context_phase(ctx), "analyst");
    SAME(cliq_context_phase_type(ctx), "standard");
    SAME(cliq_context_role(ctx), "You are an analyst.");
    SAME(cliq_context_req_spec(ctx), "Analyze the data.");
    EXPECT(cliq_context_is_support(ctx) == 1);
    SAME(cliq_context_instance_id(ctx), "test-1");
    SAME(cliq_context_team_name(ctx), "test");
    SAME(cliq_context_req_key(ctx), "TEST-1");
    SAME(cliq_context_project_dir(ctx), cwd);
    SAME(cliq_context_work_dir(ctx), cwd);
    snprintf(path, sizeof path, "%s/.cliq", cwd);
    SAME(cliq_context_state_dir(ctx), path);
    snprintf(path, sizeof path, "%s/.cliq/signals", cwd);
    SAME(cliq_context_signal_dir(ctx), path);

    EXPECT(cliq_context_input_count(ctx) == 2); /* the empty channel is none */
    SAME(cliq_context_input_channel(ctx, 0), "critic--analyst");
    SAME(cliq_context_input_channel(ctx, 1), "researcher--analyst");
    EXPECT(!cliq_context_input_channel(ctx, 2));
    SAME(cliq_context_input_text(ctx, "critic--analyst"), "Hm.\n");
    SAME(cliq_context_input_text(ctx, "critic"), "Hm.\n");
    EXPECT(!cliq_context_input_text(ctx, "nobody--analyst"));
    EXPECT(!cliq_context_input_text(ctx, "empty--analyst"));
    EXPECT(strstr(cliq_context_input_text(ctx, NULL), "## researcher--analyst\n\n```json\n{"));
    SAME(cliq_context_input(ctx, "researcher--analyst", "data.files[1]"), "b.c");
    SAME(cliq_context_input(ctx, "researcher", "data"), "{\"files\":[\"a.c\",\"b.c\"]}");
    EXPECT(strstr(cliq_context_input(ctx, "researcher", NULL), "\"agent\":\"exec\""));
    EXPECT(!cliq_context_input(ctx, "researcher", "data.none"));
    EXPECT(!cliq_context_input(ctx, "nobody", NULL));

    SAME(cliq_context_dispatch(ctx, "action"), "get_issue");
    SAME(cliq_context_dispatch(ctx, "phase_config.action"), "get_issue");
    SAME(cliq_context_dispatch(ctx, "sources[0].name"), "report.json");
    SAME(cliq_context_dispatch(ctx, "sources"), "[{\"name\":\"report.json\",\"ref\":\"r\"}]");
    EXPECT(!cliq_context_dispatch(ctx, "model"));
    EXPECT(!cliq_context_dispatch(ctx, "review")); /* null is none */
    EXPECT(strstr(cliq_context_dispatch(ctx, NULL), "\"phase\":\"analyst\""));
    SAME(cliq_context_payload(ctx, "action"), "get_issue");

    EXPECT(cliq_context_design_doc_count(ctx) == 2);
    SAME(cliq_context_design_doc_name(ctx, 1), "b.md");
    EXPECT(!cliq_context_design_doc_name(ctx, 2));
    SAME(cliq_context_design_doc(ctx, "a.md"), "A");
    EXPECT(!cliq_context_design_doc(ctx, "c.md"));
    SAME(cliq_context_workflow_inputs(ctx, "env"), "staging");
    SAME(cliq_context_workflow_inputs(ctx, NULL), "{\"env\":\"staging\"}");
    EXPECT(cliq_context_target_count(ctx) == 2);
    SAME(cliq_context_target(ctx, 0), "reviewer");
    SAME(cliq_context_target(ctx, 1), "security-auditor");
    EXPECT(!cliq_context_target(ctx, 2));

    SAME(cliq_context_settings(ctx, "api_key"), "k");
    SAME(cliq_context_settings(ctx, "channels.ops.webhook_url"), "http://x");
    SAME(cliq_context_settings(ctx, "dotted.key"), "d");
    SAME(cliq_context_settings(ctx, "retries"), "3");
    EXPECT(!cliq_context_settings(ctx, "none"));
    EXPECT(!cliq_context_settings(ctx, "a..b"));
    SAME(cliq_context_message(ctx, "version"), "1");
    SAME(cliq_context_message(ctx, "input_artifacts[0].type"), "inline");
    EXPECT(cliq_context_message(ctx, "handoff_dirs[1]"));
    EXPECT(strstr(cliq_context_message(ctx, NULL), "\"req_key\":\"TEST-1\""));
    EXPECT(strstr(cliq_context_prompt(ctx), "You are an analyst."));

    EXPECT(cliq_context_check_count(ctx) == 0);
    EXPECT(cliq_context_route_target_count(ctx) == 0);
    calls++;
    return CLIQ_OK;
}

static void
a_phase_knows_every_field_of_the_table(void **state)
{
    (void)state;
    write_file(".cliq/roles/analyst.md", "You are an analyst.");
    write_file(".cliq/req_spec.md", "Analyze the data.");
    write_file(".cliq/inputs.json", "{\"env\":\"staging\"}");
    make_dirs(".cliq/design");
    write_file(".cliq/design/a.md", "A");
    write_file(".cliq/design/b.md", "B");
    make_dirs(".cliq/channels/researcher--analyst");
    make_dirs(".cliq/channels/critic--analyst");
    make_dirs(".cliq/channels/empty--analyst");
    write_file(".cliq/channels/critic--analyst/handoff.json", "{\"text\":\"Hm.\"}");
    write_file(".cliq/channels/researcher--analyst/handoff.json",
               "{\"version\":1,\"phase_type\":\"standard\",\"phase\":\"researcher\",\"agent\":"
               "\"exec\",\"data\":{\"files\":[\"a.c\",\"b.c\"]},\"text\":\"Findings.\"}");
    cliq_agent_on(agent, "phase:standard", knows, &calls);
    RUNS(dispatch(message("phase",
                          "\"phase_type\":\"standard\",\"phase\":\"analyst\",\"is_support\":true,"
                          "\"action\":\"get_issue\",\"review\":null,\"sources\":[{\"name\":"
                          "\"report.json\",\"ref\":\"r\"}]",
                          "analyst--reviewer analyst--security-auditor",
                          "\"settings\":{\"api_key\":\"k\",\"retries\":3,\"dotted.key\":\"d\","
                          "\"channels\":{\"ops\":{\"webhook_url\":\"http://x\"}}},")));
    assert_int_equal(calls, 1);
}

static cliq_status
knows_little(cliq_context *ctx, void *user, cliq_error *e)
{
    (void)user;
    SAME(cliq_context_role(ctx), "");
    SAME(cliq_context_req_spec(ctx), "");
    SAME(cliq_context_input_text(ctx, NULL), "");
    EXPECT(!cliq_context_workflow_inputs(ctx, NULL));
    SAME(cliq_context_settings(ctx, NULL), "{}");
    SAME(cliq_board_content(ctx), "");
    return CLIQ_OK;
}

static void
a_bare_frame_is_enough(void **state)
{
    (void)state;
    RUNS(dispatch_to("phase:standard", knows_little, STANDARD));
}

/* ---- what it does ---- */

static cliq_status
sends(cliq_context *ctx, void *user, cliq_error *e)
{
    (void)user;
    EXPECT(cliq_send_text(ctx, "nobody", "x", e) == CLIQ_INVALID);
    SAME(e->text, "phase analyst cannot send to \"nobody\": its targets are reviewer");
    EXPECT(cliq_send(ctx, "reviewer", NULL, NULL, e) == CLIQ_INVALID);
    EXPECT(cliq_send(ctx, "reviewer", "{", "x", e) == CLIQ_INVALID);
    EXPECT(cliq_send(ctx, "reviewer", "[1]", "x", e) == CLIQ_INVALID);
    SAME(e->text, "the handoff's data: it must be a JSON object");
    EXPECT(access(HANDOFF, F_OK) != 0); /* nothing was written so far */
    return cliq_send(ctx, "reviewer", "{\"files_changed\":3,\"test_count\":12,\"coverage\":94.2}",
                     "Implementation complete. 12 tests pass with 94.2% coverage.", e);
}

static void
a_handoff_has_data_and_text(void **state)
{
    (void)state;
    RUNS(dispatch_to("phase:standard", sends, STANDARD));
    assert_string_equal(in_file(HANDOFF, "data.coverage"), "94.2");
    assert_string_equal(in_file(HANDOFF, "text"),
                        "Implementation complete. 12 tests pass with 94.2% coverage.");
}

static void
a_string_payload_is_text_only(void **state)
{
    (void)state;
    RUNS(dispatch_to("phase:standard", send_results, STANDARD));
    assert_string_equal(in_file(HANDOFF, "data"), "(none)");
}

static cliq_status
sends_to_nobody(cliq_context *ctx, void *user, cliq_error *e)
{
    (void)user;
    return cliq_send_text(ctx, "nobody", "x", e);
}

static void
a_target_that_is_none_fails_the_phase(void **state)
{
    (void)state;
    assert_int_equal(dispatch_to("phase:standard", sends_to_nobody, STANDARD), CLIQ_FAILED);
    assert_string_equal(in_line(ANALYST, -1, "error"),
                        "phase analyst cannot send to \"nobody\": its targets are reviewer");
}

static cliq_status
writes(cliq_context *ctx, void *user, cliq_error *e)
{
    (void)user;
    EXPECT(!cliq_write_file(ctx, "report.csv", "a\0b", 3, e));
    EXPECT(!cliq_write_file(ctx, "sub/empty", NULL, 0, e));
    EXPECT(cliq_write_file(ctx, "../x", "x", 1, e) == CLIQ_INVALID);
    EXPECT(cliq_write_file(ctx, "/x", "x", 1, e) == CLIQ_INVALID);
    EXPECT(!cliq_progress(ctx, "Starting analysis...", e));
    EXPECT(!cliq_progressf(ctx, "Iteration %d...", 2));
    EXPECT(!cliq_signal(ctx, "coverage", "{\"lines\":94.2}", e));
    EXPECT(!cliq_signal(ctx, "empty", NULL, e));
    EXPECT(cliq_signal(ctx, "../x", "{}", e) == CLIQ_INVALID);
    EXPECT(cliq_signal(ctx, "x", "{]", e) == CLIQ_INVALID);
    EXPECT(!cliq_register_notification(ctx, "hug_review", "slack:oncall", "{\"url\":\"u\"}", e));
    EXPECT(!cliq_register_notification(ctx, "done", "email", NULL, e));
    EXPECT(cliq_register_notification(ctx, "", "email", NULL, e) == CLIQ_INVALID);
    EXPECT(cliq_register_notification(ctx, "x", ":ops", NULL, e) == CLIQ_INVALID);
    EXPECT(cliq_register_notification(ctx, "x", "email", "3", e) == CLIQ_INVALID);
    return CLIQ_OK;
}

static void
files_progress_signals_and_notifications(void **state)
{
    size_t len;

    (void)state;
    RUNS(dispatch_to("phase:standard", writes, STANDARD));
    char *file = read_file(".cliq/files/analyst/report.csv", &len);
    assert_int_equal(len, 3);
    assert_memory_equal(file, "a\0b", 3);
    free(file);
    CHECK_FILE(".cliq/files/analyst/sub/empty", "");
    assert_string_equal(in_line(ANALYST, 1, "status"), "progress");
    assert_string_equal(in_line(ANALYST, 1, "message"), "Starting analysis...");
    assert_string_equal(in_line(ANALYST, 2, "message"), "Iteration 2...");
    assert_string_equal(in_file(".cliq/signals/analyst_coverage.json", "lines"), "94.2");
    assert_string_equal(in_file(".cliq/signals/analyst_empty.json", ""), "{}");
    assert_string_equal(in_line(ANALYST, 3, "status"), "notify");
    assert_string_equal(in_line(ANALYST, 3, "result"),
                        "{\"agent\":\"slack\",\"channel\":\"oncall\",\"event\":\"hug_review\","
                        "\"payload\":{\"url\":\"u\"}}");
    assert_string_equal(in_line(ANALYST, 4, "result.channel"), "null");
    assert_string_equal(in_line(ANALYST, 5, "status"), "complete");
    assert_int_equal(count_lines(ANALYST), 6);
}

/* ---- the board ---- */

#define BOARD "# Task Board\n\n- [ ] analyst\n- [x] researcher\n"

static cliq_status
uses_board(cliq_context *ctx, void *user, cliq_error *e)
{
    (void)user;
    SAME(cliq_board_content(ctx), BOARD);
    EXPECT(!cliq_board_mark_complete(ctx, "researcher"));  /* it is */
    EXPECT(!cliq_board_mark_incomplete(ctx, "analyst"));   /* it is */
    EXPECT(!cliq_board_mark_complete(ctx, "nobody"));      /* not there */
    EXPECT(!cliq_board_add_note(ctx, "nobody", "a note")); /* not there */
    EXPECT(!cliq_board_is_dirty(ctx));
    if (calls++ == 0)
        return CLIQ_OK;
    EXPECT(!cliq_board_mark_complete(ctx, cliq_context_phase(ctx)));
    EXPECT(!cliq_board_add_note(ctx, "analyst", "OAuth2 PKCE flow implemented"));
    EXPECT(!cliq_board_mark_incomplete(ctx, "researcher"));
    EXPECT(cliq_board_is_dirty(ctx));
    EXPECT(strstr(cliq_board_content(ctx), "- [x] analyst\n  - OAuth2 PKCE flow implemented\n"));
    return cliq_finalize_standard(ctx, e);
}

static void
the_board_is_written_only_when_it_was_changed(void **state)
{
    (void)state;
    write_file(".cliq/task_board.md", BOARD);
    ino_t inode, again;
    struct stat st;
    assert_int_equal(stat(".cliq/task_board.md", &st), 0);
    inode = st.st_ino;
    RUNS(dispatch_to("phase:standard", uses_board, STANDARD));
    assert_int_equal(stat(".cliq/task_board.md", &st), 0);
    again = st.st_ino;
    assert_true(inode == again); /* not even replaced by the same */
    RUNS(dispatch(STANDARD));
    CHECK_FILE(".cliq/task_board.md",
               "# Task Board\n\n- [x] analyst\n  - OAuth2 PKCE flow implemented\n- [ ] "
               "researcher\n");
}

static cliq_status
replaces_board(cliq_context *ctx, void *user, cliq_error *e)
{
    (void)user, (void)e;
    EXPECT(!cliq_board_replace(ctx, "# New\n"));
    SAME(cliq_board_content(ctx), "# New\n");
    return CLIQ_OK;
}

static void
a_board_can_be_replaced(void **state)
{
    (void)state;
    RUNS(dispatch_to("phase:standard", replaces_board, STANDARD));
    CHECK_FILE(".cliq/task_board.md", "# New\n");
}

static cliq_status
marks_and_fails(cliq_context *ctx, void *user, cliq_error *e)
{
    (void)user, (void)e;
    cliq_board_mark_complete(ctx, "analyst");
    return CLIQ_FAILED;
}

static void
a_failed_phase_leaves_the_board_alone(void **state)
{
    (void)state;
    write_file(".cliq/task_board.md", BOARD);
    assert_int_equal(dispatch_to("phase:standard", marks_and_fails, STANDARD), CLIQ_FAILED);
    CHECK_FILE(".cliq/task_board.md", BOARD);
}

/* ---- gates ---- */

static cliq_status
reviews(cliq_context *ctx, void *user, cliq_error *e)
{
    cliq_check check = CLIQ_CHECK_INIT;
    cliq_verdict verdict = CLIQ_VERDICT_INIT;

    (void)user;
    SAME(cliq_context_phase_type(ctx), "gate");
    EXPECT(cliq_context_iteration(ctx) == 2 && cliq_context_max_iterations(ctx) == 5);
    EXPECT(cliq_context_check_count(ctx) == 2);
    EXPECT(!cliq_context_check(ctx, 0, &check, e));
    SAME(check.name, "npm test");
    SAME(check.output, "2 failed");
    EXPECT(!check.pass && check.exit_code == 1);
    EXPECT(!cliq_context_check(ctx, 1, &check, e));
    EXPECT(check.pass && check.exit_code == -1);
    EXPECT(cliq_context_check(ctx, 2, &check, e) == CLIQ_NOT_FOUND);
    EXPECT(cliq_context_route_target_count(ctx) == 1);
    EXPECT(!cliq_context_route_target(ctx, 1));
    verdict.outcome = CLIQ_VERDICT_ROUTE;
    verdict.target = cliq_context_route_target(ctx, 0);
    verdict.comment = "Checks failed: npm test";
    verdict.reviewer = "ada";
    verdict.decided_at = "2026-05-29T06:04:14Z";
    return cliq_finalize_gate(ctx, &verdict, e);
}

static void
a_gate_routes_back(void **state)
{
    (void)state;
    RUNS(dispatch_to("phase:gate", reviews, GATE));
    assert_string_equal(in_line(REVIEWER, -1, "status"), "complete");
    assert_string_equal(in_line(REVIEWER, -1, "result.verdict"),
                        "{\"outcome\":\"ROUTE\",\"target\":\"developer\",\"reason\":\"Checks "
                        "failed: npm test\"}");
    const char *handoff = ".cliq/channels/reviewer--developer/handoff.json";
    assert_string_equal(in_file(handoff, "phase_type"), "gate");
    assert_string_equal(in_file(handoff, "data.verdict.outcome"), "ROUTE");
    assert_string_equal(in_file(handoff, "data.iteration"), "2");
    assert_string_equal(in_file(handoff, "data.reviewer"), "ada");
    assert_false(file_exists(".cliq/channels/reviewer--deploy/handoff.json"));
}

static cliq_status
gives_bad_verdicts(cliq_context *ctx, void *user, cliq_error *e)
{
    cliq_verdict v = CLIQ_VERDICT_INIT;

    (void)user;
    EXPECT(cliq_finalize_standard(ctx, e) == CLIQ_INVALID);
    EXPECT(cliq_finalize_result(ctx, NULL, e) == CLIQ_INVALID);
    SAME(e->text, "phase reviewer is a gate: it ends with a verdict");
    v.comment = "why";
    EXPECT(cliq_finalize_gate(ctx, &v, e) == CLIQ_INVALID); /* no outcome */
    v.outcome = (cliq_outcome)9;
    EXPECT(cliq_finalize_gate(ctx, &v, e) == CLIQ_INVALID);
    v.outcome = CLIQ_VERDICT_PASS;
    v.comment = NULL;
    EXPECT(cliq_finalize_gate(ctx, &v, e) == CLIQ_INVALID);
    v.comment = "why";
    v.size = 1;
    EXPECT(cliq_finalize_gate(ctx, &v, e) == CLIQ_INVALID);
    v.size = sizeof v;
    v.outcome = CLIQ_VERDICT_ROUTE;
    EXPECT(cliq_finalize_gate(ctx, &v, e) == CLIQ_INVALID); /* where to? */
    v.target = "deploy";
    return cliq_finalize_gate(ctx, &v, e);
}

static void
a_route_outside_the_targets_is_an_error(void **state)
{
    (void)state;
    assert_int_equal(dispatch_to("phase:gate", gives_bad_verdicts, GATE), CLIQ_FAILED);
    assert_string_equal(in_line(REVIEWER, -1, "status"), "error");
    assert_string_equal(
        in_line(REVIEWER, -1, "error"),
        "gate reviewer cannot route to \"deploy\": its route targets are developer");
    assert_int_equal(count_lines(REVIEWER), 2);
}

static cliq_status
passes(cliq_context *ctx, void *user, cliq_error *e)
{
    cliq_verdict v = CLIQ_VERDICT_INIT;

    v.outcome = user ? CLIQ_VERDICT_ESCALATE : CLIQ_VERDICT_PASS;
    v.comment = "fine";
    return cliq_finalize_gate(ctx, &v, e);
}

static void
a_gate_passes_or_escalates(void **state)
{
    (void)state;
    RUNS(dispatch_to("phase:gate", passes, GATE));
    assert_string_equal(in_line(REVIEWER, -1, "result.verdict"),
                        "{\"outcome\":\"PASS\",\"reason\":\"fine\"}");
    assert_string_equal(in_file(".cliq/channels/reviewer--deploy/handoff.json", "text"),
                        "PASS: fine");
    cliq_agent_on(agent, "phase:gate", passes, &calls);
    RUNS(dispatch(GATE));
    assert_string_equal(in_line(REVIEWER, -1, "result.verdict.outcome"), "ESCALATE");
}

static void
a_gate_without_a_verdict_is_an_error(void **state)
{
    (void)state;
    assert_int_equal(dispatch_to("phase:gate", does_nothing, GATE), CLIQ_FAILED);
    assert_string_equal(in_line(REVIEWER, -1, "error"), "gate reviewer ended without a verdict");
}

static void
a_standard_phase_gives_no_verdict(void **state)
{
    (void)state;
    assert_int_equal(dispatch_to("phase:standard", passes, STANDARD), CLIQ_FAILED);
    assert_non_null(strstr(in_line(ANALYST, -1, "error"), "is not a gate"));
}

/* ---- notify and test ---- */

#define NOTIFY                                                                                     \
    message("notify",                                                                              \
            "\"notifications\":[{\"event\":\"on_complete\",\"channel\":\"ops\",\"reason\":\"r\"}," \
            "{\"event\":\"on_escalate\",\"channel\":null}]",                                       \
            "", "\"settings\":{\"channels\":{\"ops\":{\"webhook_url\":\"http://x\"}}},")

static cliq_status
notifies(cliq_context *ctx, void *user, cliq_error *e)
{
    char path[64];
    size_t n = 0;

    (void)user;
    SAME(cliq_context_type(ctx), "notify");
    EXPECT(!cliq_context_phase(ctx) && !cliq_context_prompt(ctx));
    SAME(cliq_context_payload(ctx, "notifications[0].event"), "on_complete");
    SAME(cliq_context_payload(ctx, "notifications[0].channel"), "ops");
    EXPECT(!cliq_context_payload(ctx, "notifications[1].channel"));
    do
        snprintf(path, sizeof path, "notifications[%zu]", n);
    while (cliq_context_payload(ctx, path) && ++n);
    EXPECT(n == 2);
    SAME(cliq_context_settings(ctx, "channels.ops.webhook_url"), "http://x");
    EXPECT(cliq_send_text(ctx, "x", "x", e) == CLIQ_INVALID);
    EXPECT(cliq_write_file(ctx, "x", "x", 1, e) == CLIQ_INVALID);
    EXPECT(cliq_signal(ctx, "x", "{}", e) == CLIQ_INVALID);
    EXPECT(cliq_finalize_standard(ctx, e) == CLIQ_INVALID);
    EXPECT(cliq_board_mark_complete(ctx, "x") == CLIQ_INVALID);
    EXPECT(cliq_board_replace(ctx, "x") == CLIQ_INVALID);
    EXPECT(cliq_test_result(ctx, 1, "x", e) == CLIQ_INVALID);
    return cliq_finalize_result(ctx, "{\"sent\":2}", e);
}

static void
a_notify_message_has_its_own_file(void **state)
{
    (void)state;
    RUNS(dispatch_to("notify", notifies, NOTIFY));
    const char *name = ".cliq/signals/_notify-openai-analyst-test-1.jsonl";
    assert_string_equal(in_line(name, 0, "type"), "notify");
    assert_string_equal(in_line(name, -1, "result"), "{\"sent\":2}");
    assert_int_equal(count_lines(name), 2);
}

static cliq_status
tests(cliq_context *ctx, void *user, cliq_error *e)
{
    (void)user;
    if (!cliq_context_settings(ctx, "api_key"))
        return cliq_test_result(ctx, 0, "Missing api_key in settings", e);
    return cliq_test_result(ctx, 1, "Connected to example API", e);
}

#define TESTS ".cliq/signals/_test-openai-analyst-test-1.jsonl"

static void
a_test_handler_passes_or_not(void **state)
{
    (void)state;
    RUNS(dispatch_to("test", tests, message("test", "", "", "")));
    assert_string_equal(in_line(TESTS, -1, "status"), "complete");
    assert_string_equal(in_line(TESTS, -1, "result"),
                        "{\"passed\":false,\"message\":\"Missing api_key in settings\"}");
    RUNS(dispatch(message("test", "", "", "\"settings\":{\"api_key\":\"k\"},")));
    assert_string_equal(in_line(TESTS, -1, "result.passed"), "true");
}

static void
the_default_test_handler_passes(void **state)
{
    (void)state;
    RUNS(dispatch(message("test", "", "", "")));
    assert_string_equal(in_line(TESTS, -1, "result.passed"), "true");
    assert_int_equal(count_lines(TESTS), 2);
    assert_int_equal(dispatch(NOTIFY), CLIQ_FAILED); /* but there is none for notify */
}

/* ---- bad messages ---- */

static void
a_bad_message_calls_and_writes_nothing(void **state)
{
    static const struct {
        const char *text, *says;
    } bad[] = {
        { "", "there is no message" },
        { " \n", "there is no message" },
        { "not json", "message:1:" },
        { "{\"version\":1", "message:1:" },
        { "[]", "must be a JSON object" },
        { "{}", "no version" },
        { "{\"version\":2,\"type\":\"phase\",\"agent\":\"a\",\"signal_dir\":\"/tmp\"}",
          "version is not 1" },
        { "{\"version\":1,\"agent\":\"a\",\"signal_dir\":\"/tmp\"}", "no type" },
        { "{\"version\":1,\"type\":\"x\",\"agent\":\"a\",\"signal_dir\":\"/tmp\"}", "not known" },
        { "{\"version\":1,\"type\":\"test\",\"signal_dir\":\"/tmp\"}", "no agent" },
        { "{\"version\":1,\"type\":\"test\",\"agent\":\"a\"}", "no signal_dir" },
        { "{\"version\":1,\"type\":\"test\",\"agent\":\"a\",\"signal_dir\":\"rel\"}", "absolute" },
        { "{\"version\":1,\"type\":\"test\",\"agent\":\"../a\",\"signal_dir\":\"/tmp\"}",
          "agent name" },
        { "{\"version\":1,\"type\":\"phase\",\"agent\":\"a\",\"signal_dir\":\"/tmp\"}",
          "no payload.phase" },
        { "{\"version\":1,\"type\":\"phase\",\"agent\":\"a\",\"signal_dir\":\"/tmp\","
          "\"project_dir\":\"/tmp\",\"payload\":{\"phase\":\"../../etc/x\"}}",
          "not a name of a phase" },
        { "{\"version\":1,\"type\":\"phase\",\"agent\":\"a\",\"signal_dir\":\"/tmp\","
          "\"project_dir\":\"/tmp\",\"payload\":{\"phase\":\"x\",\"phase_type\":\"y\"}}",
          "not known" },
    };

    (void)state;
    cliq_agent_on(agent, "phase:standard", does_nothing, NULL);
    cliq_agent_on(agent, "test", does_nothing, NULL);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        err.text[0] = '\0';
        assert_int_equal(dispatch(bad[i].text), CLIQ_INVALID);
        if (!strstr(err.text, bad[i].says))
            fail_msg("\"%s\" does not say \"%s\"", err.text, bad[i].says);
    }
    assert_int_equal(calls, 0);
    assert_int_equal(count_files(".cliq/signals"), 0);
}

static void
ten_megabytes_are_fine_unless_they_are_garbage(void **state)
{
    struct buf b = { 0 }, big = { 0 };
    const size_t n = 10 << 20;

    (void)state;
    for (size_t i = 0; i < n; i++)
        buf_addc(&big, 'x');
    cliq_agent_on(agent, "phase:standard", does_nothing, NULL);
    assert_int_equal(cliq_agent_dispatch(agent, big.p, n, &err), CLIQ_INVALID);
    memset(big.p, '[', n);
    assert_int_equal(cliq_agent_dispatch(agent, big.p, n, &err), CLIQ_INVALID); /* depth */
    memset(big.p, 'x', n);
    const char *m = STANDARD;
    buf_addf(&b, "%.*s,\"more\":\"", (int)strlen(m) - 1, m);
    buf_add(&b, big.p, n);
    buf_adds(&b, "\"}");
    RUNS(cliq_agent_dispatch(agent, b.p, b.len, &err));
    assert_int_equal(calls, 1);
    assert_int_equal(cliq_agent_dispatch(agent, b.p, (size_t)1 << 40, &err), CLIQ_INVALID);
    buf_release(&b);
    buf_release(&big);
}

/* ---- slips ---- */

static cliq_status
slips(cliq_context *ctx, void *user, cliq_error *e)
{
    cliq_check small = { .size = 1 };

    (void)user;
    EXPECT(cliq_send(ctx, NULL, NULL, "x", e) == CLIQ_INVALID);
    EXPECT(cliq_send_text(ctx, "reviewer", NULL, e) == CLIQ_INVALID);
    EXPECT(cliq_write_file(ctx, NULL, "x", 1, e) == CLIQ_INVALID);
    EXPECT(cliq_write_file(ctx, "x", NULL, 1, e) == CLIQ_INVALID);
    EXPECT(cliq_progress(ctx, NULL, e) == CLIQ_INVALID);
    EXPECT(cliq_signal(ctx, NULL, "{}", e) == CLIQ_INVALID);
    EXPECT(cliq_register_notification(ctx, NULL, "a", NULL, e) == CLIQ_INVALID);
    EXPECT(cliq_register_notification(ctx, "x", NULL, NULL, e) == CLIQ_INVALID);
    EXPECT(cliq_board_mark_complete(ctx, NULL) == CLIQ_INVALID);
    EXPECT(cliq_board_mark_incomplete(ctx, NULL) == CLIQ_INVALID);
    EXPECT(cliq_board_add_note(ctx, "analyst", NULL) == CLIQ_INVALID);
    EXPECT(cliq_board_replace(ctx, NULL) == CLIQ_INVALID);
    EXPECT(cliq_finalize_gate(ctx, NULL, e) == CLIQ_INVALID);
    EXPECT(cliq_test_result(ctx, 1, NULL, e) == CLIQ_INVALID);
    EXPECT(cliq_finalize_result(ctx, "nonsense", e) == CLIQ_INVALID);
    EXPECT(cliq_context_check(ctx, 0, NULL, e) == CLIQ_INVALID);
    EXPECT(cliq_context_check(ctx, 0, &small, e) == CLIQ_INVALID);
    EXPECT(!cliq_context_input(ctx, NULL, NULL));
    EXPECT(!cliq_context_design_doc(ctx, NULL));
    return CLIQ_OK;
}

static void
wrong_arguments_are_invalid(void **state)
{
    (void)state;
    RUNS(dispatch_to("phase:standard", slips, STANDARD));
    assert_null(cliq_agent_new(NULL));
    assert_null(cliq_agent_new(""));
    assert_null(cliq_agent_new("../x"));
    assert_int_equal(cliq_agent_on(NULL, "test", slips, NULL), CLIQ_INVALID);
    assert_int_equal(cliq_agent_on(agent, NULL, slips, NULL), CLIQ_INVALID);
    assert_int_equal(cliq_agent_on(agent, "phase:other", slips, NULL), CLIQ_INVALID);
    assert_int_equal(cliq_agent_on(agent, "test", NULL, NULL), CLIQ_INVALID);
    assert_int_equal(cliq_agent_dispatch(NULL, "{}", 2, &err), CLIQ_INVALID);
    assert_int_equal(cliq_agent_dispatch(agent, NULL, 2, &err), CLIQ_INVALID);
    assert_int_equal(cliq_agent_dispatch(agent, "{}", 2, NULL), CLIQ_INVALID);
    cliq_agent_free(NULL);
}

static void
a_null_context_is_never_a_crash(void **state)
{
    cliq_check check = CLIQ_CHECK_INIT;
    cliq_verdict verdict = CLIQ_VERDICT_INIT;
    const char *(*const texts[])(const cliq_context *) = {
        cliq_context_type,      cliq_context_agent,      cliq_context_instance_id,
        cliq_context_team_name, cliq_context_req_key,    cliq_context_project_dir,
        cliq_context_work_dir,  cliq_context_state_dir,  cliq_context_signal_dir,
        cliq_context_phase,     cliq_context_phase_type, cliq_context_role,
        cliq_context_req_spec,  cliq_board_content,
    };
    const char *(*const paths[])(const cliq_context *, const char *) = {
        cliq_context_settings,        cliq_context_payload,    cliq_context_dispatch,
        cliq_context_message,         cliq_context_input_text, cliq_context_design_doc,
        cliq_context_workflow_inputs,
    };
    const char *(*const items[])(const cliq_context *, size_t) = {
        cliq_context_input_channel,
        cliq_context_design_doc_name,
        cliq_context_target,
        cliq_context_route_target,
    };
    size_t (*const counts[])(const cliq_context *) = {
        cliq_context_input_count,        cliq_context_design_doc_count, cliq_context_target_count,
        cliq_context_route_target_count, cliq_context_check_count,
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_null(texts[i](NULL));
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        assert_null(paths[i](NULL, "x"));
        assert_null(paths[i](NULL, NULL));
    }
    for (size_t i = 0; i < sizeof items / sizeof *items; i++)
        assert_null(items[i](NULL, 0));
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        assert_int_equal(counts[i](NULL), 0);
    assert_null(cliq_context_prompt(NULL));
    assert_null(cliq_context_input(NULL, "x", "x"));
    assert_int_equal(cliq_context_is_support(NULL), 0);
    assert_int_equal(cliq_board_is_dirty(NULL), 0);
    assert_int_equal(cliq_context_iteration(NULL) + cliq_context_max_iterations(NULL), 0);
    assert_int_equal(cliq_context_check(NULL, 0, &check, NULL), CLIQ_INVALID);
    assert_int_equal(cliq_send(NULL, "x", NULL, "x", &err), CLIQ_INVALID);
    assert_int_equal(cliq_send_text(NULL, "x", "x", NULL), CLIQ_INVALID);
    assert_int_equal(cliq_write_file(NULL, "x", "x", 1, NULL), CLIQ_INVALID);
    assert_int_equal(cliq_progress(NULL, "x", NULL), CLIQ_INVALID);
    assert_int_equal(cliq_progressf(NULL, "x"), CLIQ_INVALID);
    assert_int_equal(cliq_signal(NULL, "x", "{}", NULL), CLIQ_INVALID);
    assert_int_equal(cliq_register_notification(NULL, "x", "x", NULL, NULL), CLIQ_INVALID);
    assert_int_equal(cliq_board_mark_complete(NULL, "x"), CLIQ_INVALID);
    assert_int_equal(cliq_board_mark_incomplete(NULL, "x"), CLIQ_INVALID);
    assert_int_equal(cliq_board_add_note(NULL, "x", "x"), CLIQ_INVALID);
    assert_int_equal(cliq_board_replace(NULL, "x"), CLIQ_INVALID);
    assert_int_equal(cliq_finalize_standard(NULL, NULL), CLIQ_INVALID);
    assert_int_equal(cliq_finalize_result(NULL, NULL, NULL), CLIQ_INVALID);
    assert_int_equal(cliq_finalize_gate(NULL, &verdict, NULL), CLIQ_INVALID);
    assert_int_equal(cliq_test_result(NULL, 1, "x", NULL), CLIQ_INVALID);
}

static void
an_error_of_another_size_is_left_alone(void **state)
{
    cliq_error old = { .size = 8, .text = "untouched" };

    (void)state;
    assert_int_equal(cliq_agent_dispatch(agent, "x", 1, &old), CLIQ_INVALID);
    assert_string_equal(old.text, "untouched");
}

/* ---- run ---- */

/* cliq_agent_run with this on standard input; its standard error goes to the file "said". */
static int
run_with(cliq_agent *a, const char *text)
{
    int in = dup(STDIN_FILENO), out = dup(STDERR_FILENO), fd;

    write_file("in", text);
    fd = open("in", O_RDONLY | O_CLOEXEC);
    dup2(fd, STDIN_FILENO);
    close(fd);
    fd = open("said", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    dup2(fd, STDERR_FILENO);
    close(fd);
    int code = cliq_agent_run(a);
    dup2(in, STDIN_FILENO);
    dup2(out, STDERR_FILENO);
    close(in);
    close(out);
    return code;
}

static cliq_status
speaks(cliq_context *ctx, void *user, cliq_error *e)
{
    (void)user;
    return cliq_progress(ctx, "half \033[31mway", e);
}

static void
run_reads_standard_input_and_gives_0_or_1(void **state)
{
    (void)state;
    cliq_agent_on(agent, "phase:standard", speaks, NULL);
    assert_int_equal(run_with(agent, STANDARD), 0);
    CHECK_FILE("said", "openai-analyst: half \\x1b[31mway\n");
    cliq_agent_on(agent, "phase:standard", fails, NULL);
    assert_int_equal(run_with(agent, STANDARD), 1);
    CHECK_FILE("said", "openai-analyst: API returned 500\n");
    assert_int_equal(run_with(agent, ""), 1);
    assert_int_equal(run_with(agent, "nonsense"), 1);
    assert_int_equal(run_with(NULL, STANDARD), 1);
    assert_string_equal(in_line(ANALYST, -1, "status"), "error");
}

int
main(void)
{
    const struct CMUnitTest all[] = {
        CASE(produces_output_on_the_expected_channel),
        CASE(the_pages_signal_dir_below_signals_works_too),
        CASE(a_failing_handler_gives_an_error_line_and_1),
        CASE(a_handler_that_does_not_say_why_is_said_for),
        CASE(a_handler_that_does_not_finalize_is_completed),
        CASE(the_first_end_counts),
        CASE(no_handler_is_an_error),
        CASE(a_broken_frame_is_an_error_line),
        CASE(handlers_replace_each_other_and_get_their_user),
        CASE(a_phase_knows_every_field_of_the_table),
        CASE(a_bare_frame_is_enough),
        CASE(a_handoff_has_data_and_text),
        CASE(a_string_payload_is_text_only),
        CASE(a_target_that_is_none_fails_the_phase),
        CASE(files_progress_signals_and_notifications),
        CASE(the_board_is_written_only_when_it_was_changed),
        CASE(a_board_can_be_replaced),
        CASE(a_failed_phase_leaves_the_board_alone),
        CASE(a_gate_routes_back),
        CASE(a_route_outside_the_targets_is_an_error),
        CASE(a_gate_passes_or_escalates),
        CASE(a_gate_without_a_verdict_is_an_error),
        CASE(a_standard_phase_gives_no_verdict),
        CASE(a_notify_message_has_its_own_file),
        CASE(a_test_handler_passes_or_not),
        CASE(the_default_test_handler_passes),
        CASE(a_bad_message_calls_and_writes_nothing),
        CASE(ten_megabytes_are_fine_unless_they_are_garbage),
        CASE(wrong_arguments_are_invalid),
        CASE(a_null_context_is_never_a_crash),
        CASE(an_error_of_another_size_is_left_alone),
        CASE(run_reads_standard_input_and_gives_0_or_1),
    };

    return cmocka_run_group_tests_name("sdk", all, NULL, NULL);
}
