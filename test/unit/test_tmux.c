/*
 * What must be true of proc/tmux: panes that are made, found closed or lost, and answers that are
 * yes, no or "cannot tell". With the real tmux; and with false ones. What panes show of agents is
 * in test/scenario/tmux.bats.
 */
#define _GNU_SOURCE
#include "test.h"

#include "base/path.h"
#include "proc/proc.h"
#include "proc/tmux.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

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

/* ---- the real tmux ---- */

static const char *const napping[] = { "sleep", "1000", NULL };

/* A pane in the window, and the identity of its command. */
static struct tmux_pane
make_pane(const char *const *argv, struct proc_id *id)
{
    struct tmux_pane pane;
    struct err e;

    CHECK_OK(tmux_split(&server, argv, &pane, &e), &e);
    if (id)
        CHECK_OK(proc_identify(pane.pid, id, &e), &e);
    return pane;
}

/* tmux as people use it. */
static void
people_say(const char *fmt, const char *arg)
{
    free(ask(fmt, arg));
}

static void
a_pane_that_a_person_closes_is_closed(void **state)
{
    struct proc_id killed, closed;
    struct err e;

    (void)state;
    start_server();
    struct tmux_pane one = make_pane(napping, &killed), two = make_pane(napping, &closed);
    assert_int_equal(tmux_fate_of(&server, &one, &e), TMUX_UNSEEN); /* it runs */
    kill(killed.pid, SIGKILL);
    UNTIL(proc_alive(&killed) == PROC_DEAD, 5000);
    UNTIL(tmux_fate_of(&server, &one, &e) == TMUX_CLOSED, 5000);
    people_say("tmux -L %s kill-pane -t %s", two.id);
    UNTIL(proc_alive(&closed) == PROC_DEAD, 5000);
    assert_int_equal(tmux_fate_of(&server, &two, &e), TMUX_CLOSED);
}

static void
a_command_that_ends_by_itself_is_not_closed(void **state)
{
    const char *argv[] = { "sh", "-c", "exit 3", NULL };
    struct err e;

    (void)state;
    start_server();
    struct tmux_pane pane = make_pane(argv, NULL);
    UNTIL(tmux_fate_of(&server, &pane, &e) != TMUX_UNSEEN, 5000);
    assert_int_equal(tmux_fate_of(&server, &pane, &e), TMUX_ENDED);
}

/* Asked as soon as the command of a pane is dead, which is before the server is. */
static void
panes_of_a_lost_server_are_lost_not_closed(void **state)
{
    static const char *const ways[] = { "tmux -L %s kill-server%s", "tmux -L %s kill-session%s",
                                        "kill -9 $(tmux -L %s display-message -p '#{pid}')%s" };

    (void)state;
    for (size_t i = 0; i < 30; i++) {
        struct proc_id id, tmux;
        struct err e;
        start_server();
        CHECK_OK(proc_identify(server.server_pid, &tmux, &e), &e);
        struct tmux_pane pane = make_pane(napping, &id);
        int fd = proc_pidfd(&id);
        pid_t person = fork();
        if (person == 0) {
            people_say(ways[i % 3], "");
            _exit(0);
        }
        wait_readable(fd);
        close(fd);
        assert_int_equal(tmux_fate_of(&server, &pane, &e), TMUX_LOST);
        waitpid(person, NULL, 0);
        UNTIL(proc_alive(&tmux) == PROC_DEAD, 5000);
        server.server_pid = 0;
    }
}

static void
a_pane_takes_the_place_of_another(void **state)
{
    struct proc_id before, now;
    struct err e;

    (void)state;
    start_server();
    struct tmux_pane old = make_pane(napping, &before), pane = old;
    CHECK_OK(tmux_respawn(&server, napping, &pane, &e), &e);
    assert_string_equal(pane.id, old.id);
    assert_int_not_equal(pane.pid, old.pid);
    UNTIL(proc_alive(&before) == PROC_DEAD, 5000);
    CHECK_OK(proc_identify(pane.pid, &now, &e), &e);
    people_say("tmux -L %s kill-pane -t %s", pane.id);
    assert_int_equal(tmux_respawn(&server, napping, &pane, &e), ST_FAILED); /* it is gone */
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
    CHECK_OK(tmux_split(&server, argv, &pane, &e), &e);
    UNTIL(file_exists("got"), 5000);
    CHECK_FILE("got", "<a b><;><x;><y\\;><#{pid}><$HOME><'\"`id`><><-t><\xc3\xa9\n>");
    CHECK_OK(tmux_split(&server, alone, &pane, &e), &e);
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
    for (int i = 0; i < 8; i++)
        CHECK_OK(tmux_split(&server, argv, &pane, &e), &e);
    assert_int_equal(tmux_split(&server, argv, &pane, &e), ST_FAILED);
    CHECK_OK(tmux_new_window(&server, argv, &pane, &e), &e);
    assert_string_not_equal(first, server.window);
    CHECK_OK(tmux_split(&server, argv, &pane, &e), &e);
    char *panes = ask("tmux -L %s list-panes -s -F x -t run%s | wc -l", "");
    assert_int_equal(atoi(panes), 11);
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
    CHECK_OK(tmux_split(&server, more, &pane, &e), &e);
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
        CHECK_FAILS_WITH(tmux_split(&t, argv, &pane, &e), answers[i].s, &e, answers[i].says);
        struct tmux_pane one = { .id = "%1" };
        if (answers[i].s != ST_OK && !strstr(answers[i].says, "the answer we asked for"))
            assert_int_equal(tmux_fate_of(&t, &one, &e), TMUX_LOST); /* it said nothing of a pane */
    }
    put_tmux("#!/bin/sh\necho \"can't find pane: %1\" >&2; exit 1\n");
    struct tmux t = { .socket = "x" };
    assert_int_equal(tmux_fate_of(&t, &(struct tmux_pane){ .id = "%1" }, NULL), TMUX_CLOSED);
    static const struct {
        const char *script;
        enum tmux_fate fate;
    } ends[] = {
        { "#!/bin/sh\necho '%1/0//'\n", TMUX_UNSEEN },
        { "#!/bin/sh\necho '%1/1//'\n", TMUX_UNSEEN }, /* not waited for yet */
        { "#!/bin/sh\necho '%1/1//9'\n", TMUX_CLOSED },
        { "#!/bin/sh\necho '%1/1/3/'\n", TMUX_ENDED },
    };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        put_tmux(ends[i].script);
        assert_int_equal(tmux_fate_of(&t, &(struct tmux_pane){ .id = "%1" }, NULL), ends[i].fate);
    }
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
    CHECK_OK(tmux_split(&t, argv, &pane, &e), &e);
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
    CHECK_OK(tmux_split(&t, argv, &pane, &e), &e);
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

#define TMUX_CASE(fact) cmocka_unit_test_setup_teardown(fact, case_enter, leave)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TMUX_CASE(a_pane_that_a_person_closes_is_closed),
        TMUX_CASE(a_command_that_ends_by_itself_is_not_closed),
        TMUX_CASE(panes_of_a_lost_server_are_lost_not_closed),
        TMUX_CASE(a_pane_takes_the_place_of_another),
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
