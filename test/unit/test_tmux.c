/*
 * What must be true of proc/tmux: panes that show agents which do not depend on them, and
 * answers that are yes, no or "cannot tell". With the real tmux; and with false ones.
 *
 * With "_exec" this program is the command of a pane, as `cliq _exec` will be.
 */
#define _GNU_SOURCE
#include "test.h"

#include "base/path.h"
#include "cmd/cmd.h"
#include "proc/proc.h"
#include "proc/proc_spec.h"
#include "proc/tmux.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

extern const struct cmd cmd_exec_attempt;

static char self_path[PATH_MAX];
static struct tmux server;

/* ---- helpers ---- */

/* A server of this case, with its socket in the case's directory. */
static void
start_server(void)
{
    static unsigned number;
    const char *argv[] = { "sh", "-c", "echo the view; exec sleep 1000", NULL };
    char socket[64], dir[PATH_MAX];
    struct err e;

    if (!tmux_available())
        skip();
    assert_non_null(getcwd(dir, sizeof dir));
    setenv("TMUX_TMPDIR", dir, 1);
    snprintf(socket, sizeof socket, "cliq-test-%d-%u", (int)getpid(), ++number);
    memset(&server, 0, sizeof server);
    CHECK_OK(tmux_start(&server, "run", socket, argv, &e), &e);
    assert_true(server.server_pid > 0);
}

static int
leave(void **state)
{
    if (server.server_pid) {
        struct proc_id id;
        if (tmux_kill_server(&server, NULL) == ST_OK &&
            proc_identify(server.server_pid, &id, NULL) == ST_OK)
            while (proc_alive(&id) == PROC_ALIVE)
                nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
        server.server_pid = 0;
    }
    proc_reap(NULL, NULL);
    unsetenv("TMUX_TMPDIR");
    return case_leave(state);
}

/* What a command says on standard output; free() it. */
static char *
ask(const char *fmt, const char *arg)
{
    char command[400];
    struct buf b = { 0 };
    int c;

    snprintf(command, sizeof command, fmt, server.socket, arg);
    FILE *f = popen(command, "re");
    assert_non_null(f);
    while ((c = getc(f)) != EOF)
        buf_addc(&b, (char)c);
    pclose(f);
    buf_addc(&b, '\0');
    return b.p;
}

static bool
pane_shows(const struct tmux_pane *pane, const char *text)
{
    char *shown = ask("tmux -L %s capture-pane -p -S - -t %s", pane->id);
    bool is_there = strstr(shown, text) != NULL;

    free(shown);
    return is_there;
}

static bool
has_title(const struct tmux_pane *pane, const char *text)
{
    char *title = ask("tmux -L %s display-message -p -t %s '#{pane_title}'", pane->id);
    bool is_it = strcmp(title, text) == 0;

    free(title);
    return is_it;
}

/* One agent in a pane: its script, its attempt. */
static struct tmux_pane
spawn_agent(const char *name, const char *script)
{
    char spec_file[64], out[64], attempt[64], cwd[PATH_MAX], path[PATH_MAX + 80];
    const char *agent[] = { "sh", "-c", script, NULL };
    const char *env[] = { "PATH=/usr/bin:/bin", "GIVEN=yes", NULL };
    const char *argv[] = { self_path, "_exec", "--view", path, NULL };
    struct proc_spec spec = {
        .argv = agent, .env = env, .dir = cwd, .out = out, .attempt_file = attempt
    };
    struct tmux_pane pane;
    struct err e;

    assert_non_null(getcwd(cwd, sizeof cwd));
    snprintf(spec_file, sizeof spec_file, "spec.%s", name);
    snprintf(out, sizeof out, "log.%s", name);
    snprintf(attempt, sizeof attempt, "attempt.%s", name);
    CHECK_OK(proc_spec_write(spec_file, &spec, &e), &e);
    snprintf(path, sizeof path, "%s/%s", cwd, spec_file);
    CHECK_OK(tmux_spawn(&server, argv, &pane, &e), &e);
    return pane;
}

static bool
has_started(const char *name, struct proc_id *id)
{
    char attempt[64];

    snprintf(attempt, sizeof attempt, "attempt.%s", name);
    return proc_read_id(attempt, id, NULL) == ST_OK;
}

/* ---- the real tmux ---- */

static void
three_agents_are_shown_and_logged(void **state)
{
    static const char *const names[] = { "one", "two", "three" };
    struct tmux_pane panes[3];
    struct proc_id ids[3];
    char log[64], want[64], script[128];

    (void)state;
    start_server();
    for (int i = 0; i < 3; i++) {
        snprintf(script, sizeof script, "echo I am %s $GIVEN; echo oops >&2; exec sleep 1000",
                 names[i]);
        panes[i] = spawn_agent(names[i], script);
    }
    for (int i = 0; i < 3; i++) {
        UNTIL(has_started(names[i], &ids[i]), 10000);
        assert_int_equal(proc_alive(&ids[i]), PROC_ALIVE);
        snprintf(want, sizeof want, "I am %s yes", names[i]);
        UNTIL(pane_shows(&panes[i], want), 10000);
        UNTIL(pane_shows(&panes[i], "oops"), 10000);
        snprintf(log, sizeof log, "log.%s", names[i]);
        snprintf(want, sizeof want, "I am %s yes\noops\n", names[i]);
        CHECK_FILE(log, want);
        snprintf(log, sizeof log, "spec.%s", names[i]);
        assert_false(file_exists(log)); /* it may hold secrets */
    }
    for (int i = 0; i < 3; i++) {
        snprintf(want, sizeof want, "attempt.%s\n", names[i]);
        UNTIL(has_title(&panes[i], want), 5000);
        kill(ids[i].pid, SIGKILL);
    }
}

static void
a_dead_agent_is_noticed_at_once_and_its_pane_tells(void **state)
{
    struct proc_id id;

    (void)state;
    start_server();
    struct tmux_pane pane = spawn_agent("one", "echo here; exec sleep 1000");
    UNTIL(has_started("one", &id), 10000);
    int fd = proc_pidfd(&id);
    assert_true(fd >= 0);
    UNTIL(pane_shows(&pane, "here"), 10000);
    int64_t began = test_now_ms();
    kill(id.pid, SIGKILL);
    wait_readable(fd);
    assert_in_range(test_now_ms() - began, 0, 200);
    close(fd);
    assert_int_equal(proc_alive(&id), PROC_DEAD);
    UNTIL(pane_shows(&pane, "[ended by signal 9"), 10000);
    struct tmux_pane second = spawn_agent("two", "echo last words; exit 3");
    UNTIL(pane_shows(&second, "last words"), 10000);
    UNTIL(pane_shows(&second, "[ended with exit code 3]"), 10000);
}

static void
a_dead_agent_is_noticed_when_its_viewer_hangs(void **state)
{
    struct proc_id id;

    (void)state;
    start_server();
    struct tmux_pane pane = spawn_agent("one", "exec sleep 1000");
    UNTIL(has_started("one", &id), 10000);
    int fd = proc_pidfd(&id);
    kill(pane.pid, SIGSTOP);
    kill(id.pid, SIGKILL);
    wait_readable(fd);
    close(fd);
    assert_int_equal(proc_alive(&id), PROC_DEAD); /* nobody has waited for it */
    kill(pane.pid, SIGCONT);
}

static void
agents_outlive_their_server(void **state)
{
    struct proc_id id, viewer;
    struct err e;

    (void)state;
    start_server();
    assert_int_equal(mkfifo("go", 0600), 0);
    struct tmux_pane pane =
        spawn_agent("one", "echo before; read x < go; echo after; echo done > done");
    UNTIL(has_started("one", &id), 10000);
    UNTIL(pane_shows(&pane, "before"), 10000);
    CHECK_OK(proc_identify(pane.pid, &viewer, &e), &e);
    CHECK_OK(tmux_kill_server(&server, &e), &e);
    UNTIL(proc_alive(&viewer) == PROC_DEAD, 5000); /* the view is gone */
    assert_int_equal(proc_alive(&id), PROC_ALIVE);
    write_file("go", "x\n");
    UNTIL(proc_alive(&id) == PROC_DEAD, 5000);
    CHECK_FILE("done", "done\n");
    CHECK_FILE("log.one", "before\nafter\n");
    CHECK_OK(tmux_kill_server(&server, &e), &e); /* nothing to do is fine */
    CHECK_OK(tmux_kill_pane(&server, &pane, &e), &e);
}

static void
a_killed_pane_leaves_the_agent(void **state)
{
    struct proc_id id;
    struct err e;

    (void)state;
    start_server();
    struct tmux_pane pane = spawn_agent("one", "exec sleep 1000");
    UNTIL(has_started("one", &id), 10000);
    CHECK_OK(tmux_kill_pane(&server, &pane, &e), &e);
    CHECK_OK(tmux_kill_pane(&server, &pane, &e), &e);
    assert_int_equal(proc_alive(&id), PROC_ALIVE);
    assert_true(proc_signal_tree(&id, "no/such.1", SIGKILL) >= 1);
    UNTIL(proc_alive(&id) == PROC_DEAD, 5000);
}

static void
the_viewer_is_no_part_of_the_tree(void **state)
{
    struct proc_id id, viewer;
    struct err e;

    (void)state;
    start_server();
    struct tmux_pane pane = spawn_agent("one", "echo here; exec sleep 1000");
    UNTIL(pane_shows(&pane, "here"), 10000);
    assert_true(has_started("one", &id));
    CHECK_OK(proc_identify(pane.pid, &viewer, &e), &e);
    assert_int_equal(proc_signal_tree(&id, "no/such.1", 0), 1);
    assert_int_equal(proc_signal_tree(&id, "no/such.1", SIGKILL), 1);
    UNTIL(proc_alive(&viewer) == PROC_DEAD, 5000); /* by itself: there is nothing to see */
    UNTIL(pane_shows(&pane, "[ended by signal 9"), 5000);
}

static void
what_cannot_start_says_why_in_the_log(void **state)
{
    struct proc_id viewer;
    struct err e;

    (void)state;
    start_server();
    make_dirs("nowhere");
    char cwd[PATH_MAX], path[PATH_MAX + 80];
    const char *agent[] = { "/nowhere/agent", NULL }, *env[] = { NULL };
    const char *argv[] = { self_path, "_exec", "--view", path, NULL };
    struct proc_spec spec = { .argv = agent, .env = env, .out = "log" };
    struct tmux_pane pane;
    CHECK_OK(proc_spec_write("spec", &spec, &e), &e);
    assert_non_null(getcwd(cwd, sizeof cwd));
    snprintf(path, sizeof path, "%s/spec", cwd);
    CHECK_OK(tmux_spawn(&server, argv, &pane, &e), &e);
    if (proc_identify(pane.pid, &viewer, NULL) == ST_OK)
        UNTIL(proc_alive(&viewer) == PROC_DEAD, 5000);
    CHECK_FILE("log", "cliq: run /nowhere/agent: No such file or directory\n");
}

static void
arguments_arrive_as_they_are(void **state)
{
    static const char script[] = "for a; do printf '<%s>' \"$a\"; done > part; mv part got";
    const char *argv[] = { "sh",     "-c",    script,    "sh", "a b", ";",          "x;", "y\\;",
                           "#{pid}", "$HOME", "'\"`id`", "",   "-t",  "\xc3\xa9\n", NULL };
    const char *alone[] = { "./no;touch${IFS}shell", NULL };
    struct proc_id ended;
    struct tmux_pane pane;
    struct err e;

    (void)state;
    start_server();
    CHECK_OK(tmux_spawn(&server, argv, &pane, &e), &e);
    UNTIL(file_exists("got"), 5000);
    CHECK_FILE("got", "<a b><;><x;><y\\;><#{pid}><$HOME><'\"`id`><><-t><\xc3\xa9\n>");
    CHECK_OK(tmux_spawn(&server, alone, &pane, &e), &e);
    /* What it says may be lost with its terminal; that no shell took it apart shows when it ended.
     */
    if (proc_identify(pane.pid, &ended, NULL) == ST_OK)
        UNTIL(proc_alive(&ended) == PROC_DEAD, 5000);
    assert_false(file_exists("shell"));
}

static void
more_panes_than_a_window_holds_get_a_new_one(void **state)
{
    const char *argv[] = { "sleep", "1000", NULL };
    struct tmux_pane pane;
    struct err e;

    (void)state;
    start_server();
    char first[16];
    memcpy(first, server.window, sizeof first);
    for (int i = 0; i < 20; i++)
        CHECK_OK(tmux_spawn(&server, argv, &pane, &e), &e);
    assert_string_not_equal(first, server.window);
    char *panes = ask("tmux -L %s list-panes -s -F x -t run%s | wc -l", "");
    assert_int_equal(atoi(panes), 21);
    free(panes);
}

static void
the_configuration_of_the_user_is_not_read(void **state)
{
    (void)state;
    write_file(".tmux.conf", "set -g remain-on-exit off\nrun-shell 'touch conf'\n"); /* $HOME */
    start_server();
    char *value = ask("tmux -L %s show-options -gv %s", "remain-on-exit");
    assert_string_equal(value, "on\n");
    free(value);
    assert_false(file_exists("conf"));
}

static void
a_first_pane_that_ends_does_not_end_the_run(void **state)
{
    const char *argv[] = { "true", NULL }, *more[] = { "sleep", "1000", NULL };
    char dir[PATH_MAX];
    struct tmux_pane pane;
    struct err e;

    (void)state;
    if (!tmux_available())
        skip();
    assert_non_null(getcwd(dir, sizeof dir));
    setenv("TMUX_TMPDIR", dir, 1);
    memset(&server, 0, sizeof server);
    CHECK_OK(tmux_start(&server, "run", "cliq-short", argv, &e), &e);
    CHECK_OK(tmux_spawn(&server, more, &pane, &e), &e);
    struct tmux twin = { 0 };
    assert_int_equal(tmux_start(&twin, "run", "cliq-short", argv, &e), ST_FAILED);
    assert_non_null(strstr(e.text, "duplicate session"));
}

static void
a_subreaper_gets_the_server_as_a_child(void **state)
{
    struct err e;
    int status;

    (void)state;
    proc_be_subreaper();
    start_server();
    assert_int_equal(waitpid(server.server_pid, &status, WNOHANG), 0); /* a child, and alive */
    assert_int_equal(proc_signal_strays(&server.server_pid, 1, 0), 0);
    CHECK_OK(tmux_kill_server(&server, &e), &e);
    UNTIL(waitpid(server.server_pid, &status, WNOHANG) == server.server_pid, 5000);
    server.server_pid = 0;
    prctl(PR_SET_CHILD_SUBREAPER, 0L);
    UNTIL((proc_reap(NULL, NULL), proc_signal_strays(NULL, 0, SIGKILL) == 0), 5000);
}

/* ---- false ones ---- */

static void
put_tmux(const char *script)
{
    char path[PATH_MAX + 32], cwd[PATH_MAX];

    make_dirs("bin");
    unlink("bin/tmux");
    write_file("bin/tmux", script);
    assert_int_equal(chmod("bin/tmux", 0700), 0);
    assert_non_null(getcwd(cwd, sizeof cwd));
    snprintf(path, sizeof path, "%s/bin:/usr/bin:/bin", cwd);
    setenv("PATH", path, 1);
}

static void
put_path_back(void)
{
    setenv("PATH", "/usr/local/bin:/usr/bin:/bin", 1);
}

static void
only_a_plain_no_is_a_no(void **state)
{
    static const struct {
        const char *script;
        enum status s;
        const char *says;
    } answers[] = {
        { "#!/bin/sh\necho 'create pane failed: no way' >&2; exit 1\n", ST_FAILED, "no way" },
        { "#!/bin/sh\nexit 1\n", ST_IO, "exit code 1" },
        { "#!/bin/sh\nexit 127\n", ST_IO, "exit code 127" },
        { "#!/bin/sh\nkill -9 $$\n", ST_IO, "killed by signal 9" },
        { "#!/bin/sh\nexit 0\n", ST_IO, "not the answer we asked for: \"\"" },
        { "#!/bin/sh\necho '%1 x @1 1 5'\n", ST_IO, "not the answer we asked for" },
        { "#!/bin/sh\necho '%1 0 @1 1 5'\n", ST_IO, "not the answer we asked for" },
        { "#!/bin/sh\necho '1 4 @1 1 5'\n", ST_IO, "not the answer we asked for" },
        { "#!/bin/sh\necho '%1 4 @1 1 5 6'\n", ST_IO, "not the answer we asked for" },
        { "#!/bin/sh\nhead -c 300000 /dev/zero\n", ST_IO, "" },
        { "#!/bin/sh\nhead -c 300000 /dev/urandom; exit 1\n", ST_IO, "" },
        { "#!/bin/sh\nprintf 'no\\033[2J' >&2; exit 1\n", ST_IO, "not an answer of tmux" },
        { "#!/bin/sh\nexec sleep 1000\n", ST_IO, "no answer in 0.1 s" },
        { "#!/bin/sh\nwhile :; do echo x; done\n", ST_IO, "no answer in 0.1 s" },
    };
    const char *argv[] = { "sleep", "1", NULL };

    (void)state;
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        struct tmux t = { .socket = "x", .window = "@1", .wait_ms = 3000 };
        struct tmux_pane pane;
        struct err e;
        put_tmux(answers[i].script);
        if (strstr(answers[i].says, "no answer"))
            t.wait_ms = 100;
        CHECK_FAILS_WITH(tmux_spawn(&t, argv, &pane, &e), answers[i].s, &e, answers[i].says);
        enum status s = tmux_kill_pane(&t, &(struct tmux_pane){ .id = "%1" }, &e);
        if (answers[i].s == ST_FAILED)
            assert_int_equal(s, ST_FAILED); /* it did not say that the pane is gone */
    }
    put_tmux("#!/bin/sh\necho \"can't find pane: %1\" >&2; exit 1\n");
    struct tmux t = { .socket = "x" };
    assert_int_equal(tmux_kill_pane(&t, &(struct tmux_pane){ .id = "%1" }, NULL), ST_OK);
    put_path_back();
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static void
a_pipe_that_is_held_open_does_not_hold_us_up(void **state)
{
    const char *argv[] = { "sleep", "1", NULL };
    struct tmux t = { .socket = "x" };
    struct tmux_pane pane;
    struct err e;

    (void)state;
    put_tmux("#!/bin/sh\nsleep 1000 &\necho $! >> held\necho '%7 12 @3 1 5'\n");
    int64_t began = test_now_ms();
    CHECK_OK(tmux_spawn(&t, argv, &pane, &e), &e);
    assert_true(test_now_ms() - began < 4000);
    assert_string_equal(pane.id, "%7");
    assert_int_equal(pane.pid, 12);
    assert_string_equal(t.window, "@3");
    char *held = read_file("held", NULL);
    for (char *pid = held; *pid; pid = strchr(pid, '\n') + 1)
        kill(atoi(pid), SIGKILL);
    free(held);
    put_path_back();
}

static void
a_call_that_does_not_answer_leaves_no_process(void **state)
{
    struct tmux t = { .socket = "x", .wait_ms = 1000 };
    struct proc_id id;
    struct err e;

    (void)state;
    put_tmux("#!/bin/sh\nsetsid sh -c 'trap \"\" TERM; echo $$ >far.part; mv far.part far; "
             "while :; do sleep 1000; done' &\nsleep 1000\n");
    CHECK_FAILS_WITH(tmux_kill_server(&t, &e), ST_IO, &e, "no answer in 1 s");
    char *far = read_file("far", NULL);
    assert_true(proc_identify(atoi(far), &id, NULL) == ST_NOT_FOUND ||
                proc_alive(&id) == PROC_DEAD);
    free(far);
    put_path_back();
}

static void
a_pane_that_was_made_is_made_whatever_becomes_of_the_layout(void **state)
{
    const char *argv[] = { "sleep", "1", NULL };
    struct tmux t = { .socket = "x", .window = "@3" };
    struct tmux_pane pane;
    struct err e;

    (void)state;
    put_tmux("#!/bin/sh\necho x >> calls\necho '%7 12 @3 1 5'\necho 'no layout' >&2\nexit 1\n");
    CHECK_OK(tmux_spawn(&t, argv, &pane, &e), &e);
    assert_int_equal(pane.pid, 12);
    CHECK_FILE("calls", "x\n"); /* one call is all it costs */
    put_path_back();
}

static void
only_a_tmux_that_we_know_is_available(void **state)
{
    (void)state;
    put_tmux("#!/bin/sh\necho tmux 2.8\n");
    assert_false(tmux_available());
    put_tmux("#!/bin/sh\necho tmux 3.3a\n");
    assert_true(tmux_available());
    put_tmux("#!/bin/sh\necho tmux next-3.6\n");
    assert_true(tmux_available());
    put_tmux("#!/bin/sh\necho hello\n");
    assert_false(tmux_available());
    setenv("PATH", "/nowhere", 1);
    assert_false(tmux_available());
    put_path_back();
}

static void
bad_names_are_refused(void **state)
{
    const char *argv[] = { "true", NULL };
    struct tmux t = { 0 };
    struct err e;

    (void)state;
    assert_int_equal(tmux_start(&t, "run", "../x", argv, &e), ST_INVALID);
    assert_int_equal(tmux_start(&t, "a:b", "x", argv, &e), ST_INVALID);
    CHECK_FAILS(tmux_start(&t, "a.b", "x", argv, &e), ST_INVALID, &e,
                "bad tmux session \"a.b\": it must not hold a dot");
}

static int
exec_main(int argc, char **argv)
{
    struct args a = { 0 };
    struct err e = { "" };

    enum status s = args_parse(&a, cmd_exec_attempt.opts, argc - 1, argv + 1, 1, 1, &e);
    if (!s)
        s = cmd_exec_attempt.run(&a, &e);
    args_release(&a);
    if (s)
        fprintf(stderr, "cliq: %s\n", e.text);
    return status_exit(s);
}

#define TMUX_CASE(fact) cmocka_unit_test_setup_teardown(fact, case_enter, leave)

int
main(int argc, char **argv)
{
    ssize_t n = readlink("/proc/self/exe", self_path, sizeof self_path - 1);

    if (n > 0)
        self_path[n] = '\0';
    if (argc > 1 && strcmp(argv[1], "_exec") == 0)
        return exec_main(argc, argv);
    const struct CMUnitTest tests[] = {
        TMUX_CASE(three_agents_are_shown_and_logged),
        TMUX_CASE(a_dead_agent_is_noticed_at_once_and_its_pane_tells),
        TMUX_CASE(a_dead_agent_is_noticed_when_its_viewer_hangs),
        TMUX_CASE(agents_outlive_their_server),
        TMUX_CASE(a_killed_pane_leaves_the_agent),
        TMUX_CASE(the_viewer_is_no_part_of_the_tree),
        TMUX_CASE(what_cannot_start_says_why_in_the_log),
        TMUX_CASE(arguments_arrive_as_they_are),
        TMUX_CASE(more_panes_than_a_window_holds_get_a_new_one),
        TMUX_CASE(the_configuration_of_the_user_is_not_read),
        TMUX_CASE(a_first_pane_that_ends_does_not_end_the_run),
        TMUX_CASE(a_subreaper_gets_the_server_as_a_child),
        CASE(only_a_plain_no_is_a_no),
        CASE(a_pipe_that_is_held_open_does_not_hold_us_up),
        CASE(a_call_that_does_not_answer_leaves_no_process),
        CASE(a_pane_that_was_made_is_made_whatever_becomes_of_the_layout),
        CASE(only_a_tmux_that_we_know_is_available),
        CASE(bad_names_are_refused),
    };
    return cmocka_run_group_tests_name("tmux", tests, NULL, NULL);
}
