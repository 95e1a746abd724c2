/* Tests team/agent_files: links that are kept, links that are refused; the walk stays in agents/.
 */
#include "test.h"

#include "base/buf.h"
#include "team/agent_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Writes one line for each entry: "d path", "f path", "l path -> target". */
static enum status
note(void *ctx, const struct agent_file *f, struct err *e)
{
    static const char letters[] = "dfl";

    (void)e;
    assert_int_equal(f->fd >= 0, f->kind == AGENT_FILE_TEXT);
    buf_addf(ctx, "%c %s%s%s\n", letters[f->kind], f->path, f->target ? " -> " : "",
             f->target ? f->target : "");
    return ST_OK;
}

static enum status
walk(struct buf *seen, struct err *e)
{
    int dir = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    assert_true(dir >= 0);
    buf_reset(seen);
    enum status s = agent_files_walk(dir, note, seen, e);
    close(dir);
    return s;
}

static void
make_agent(void)
{
    assert_int_equal(mkdir("agents", 0700), 0);
    assert_int_equal(mkdir("agents/a", 0700), 0);
    assert_int_equal(mkdir("agents/a/lib", 0700), 0);
    write_file("agents/a/lib/tool.js", "x");
    write_file("outside", "secret");
}

/* The link `path` alone decides. */
static void
is_kept(const char *path, const char *target)
{
    struct buf seen = { 0 };
    struct err e;

    assert_int_equal(symlink(target, path), 0);
    CHECK_OK(walk(&seen, &e), &e);
    assert_non_null(strstr(seen.p, target));
    assert_int_equal(unlink(path), 0);
    buf_release(&seen);
}

static void
is_refused(const char *path, const char *target, const char *why)
{
    struct buf seen = { 0 };
    struct err e;

    assert_int_equal(symlink(target, path), 0);
    CHECK_FAILS_WITH(walk(&seen, &e), ST_REFUSED, &e, path);
    assert_non_null(strstr(e.text, " is a link to "));
    assert_non_null(strstr(e.text, target));
    assert_non_null(strstr(e.text, why));
    assert_int_equal(unlink(path), 0);
    buf_release(&seen);
}

static void
no_agents_is_fine(void **state)
{
    (void)state;
    struct buf seen = { 0 };
    struct err e;

    CHECK_OK(walk(&seen, &e), &e);
    assert_int_equal(seen.len, 0);
    buf_release(&seen);
}

static void
entries_come_sorted_and_links_are_not_followed(void **state)
{
    (void)state;
    struct buf seen = { 0 };
    struct err e;

    make_agent();
    assert_int_equal(symlink("lib", "agents/a/again"), 0);
    CHECK_OK(walk(&seen, &e), &e);
    assert_string_equal(seen.p, "d agents/a\n"
                                "l agents/a/again -> lib\n"
                                "d agents/a/lib\n"
                                "f agents/a/lib/tool.js\n");
    buf_release(&seen);
}

static void
links_that_stay_inside_are_kept(void **state)
{
    (void)state;
    make_agent();
    is_kept("agents/a/link", "lib/tool.js");
    is_kept("agents/a/link", "./lib//tool.js");
    is_kept("agents/a/link", "../a/lib/tool.js");
    is_kept("agents/a/link", "..");
    is_kept("agents/a/link", "lib/../../a");
    is_kept("agents/a/link", "missing/file"); /* leads nowhere, but inside */
}

static void
links_that_lead_out_are_refused(void **state)
{
    (void)state;
    make_agent();
    is_refused("agents/a/link", "/etc/passwd", "leads out of the team's agents/");
    is_refused("agents/a/link", "../../outside", "leads out");
    is_refused("agents/a/link", "../..", "leads out");
    is_refused("agents/a/link", "lib/../../../outside", "leads out");
    is_refused("agents/a/link", "missing/../../../outside", "leads out");
    is_refused("agents/a/link", "link", "leads in a circle");
}

/* "deep/../../.." is inside by its letters only: deep is a link to agents/a. */
static void
a_link_that_leads_out_through_another_link_is_refused(void **state)
{
    (void)state;
    make_agent();
    assert_int_equal(mkdir("agents/a/x", 0700), 0);
    assert_int_equal(mkdir("agents/a/x/y", 0700), 0);
    assert_int_equal(symlink("../..", "agents/a/x/y/up"), 0); /* agents/a */
    is_kept("agents/a/x/y/link", "up/lib");
    is_kept("agents/a/x/y/link", "up/..");
    is_refused("agents/a/x/y/link", "up/../../outside", "leads out");
}

static void
an_interpreter_of_a_python_environment_names_copies(void **state)
{
    (void)state;
    make_agent();
    assert_int_equal(mkdir("agents/a/venv", 0700), 0);
    assert_int_equal(mkdir("agents/a/venv/bin", 0700), 0);
    is_refused("agents/a/venv/bin/python3", "/usr/bin/python3", "Put a copy there");
    write_file("agents/a/venv/pyvenv.cfg", "");
    is_refused("agents/a/venv/bin/python3", "/usr/bin/python3", "python3 -m venv --copies");
}

static void
pipes_and_a_linked_agents_directory_are_refused(void **state)
{
    (void)state;
    struct buf seen = { 0 };
    struct err e;

    make_agent();
    assert_int_equal(mkfifo("agents/a/pipe", 0600), 0);
    CHECK_FAILS(walk(&seen, &e), ST_REFUSED, &e,
                "agents/a/pipe is neither a file nor a directory nor a link");
    assert_int_equal(rename("agents", "elsewhere"), 0);
    assert_int_equal(symlink("elsewhere", "agents"), 0);
    assert_int_not_equal(walk(&seen, &e), ST_OK);
    buf_release(&seen);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(no_agents_is_fine),
        CASE(entries_come_sorted_and_links_are_not_followed),
        CASE(links_that_stay_inside_are_kept),
        CASE(links_that_lead_out_are_refused),
        CASE(a_link_that_leads_out_through_another_link_is_refused),
        CASE(an_interpreter_of_a_python_environment_names_copies),
        CASE(pipes_and_a_linked_agents_directory_are_refused),
    };

    return cmocka_run_group_tests_name("agent_files", tests, NULL, NULL);
}
