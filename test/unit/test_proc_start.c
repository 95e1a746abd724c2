/*
 * What must be true of a start: an attempt runs at most once, is described exactly, and inherits
 * nothing.
 */
#define _GNU_SOURCE
#include "fault.h"
#include "procs.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* ---- starting ---- */

static void
output_is_appended_and_input_is_the_file(void **state)
{
    struct proc_spec spec = shell("cat; echo err >&2");
    struct proc_id id;
    struct err e;

    (void)state;
    write_file("in", "said\n");
    write_file("log", "before\n");
    spec.in = "in";
    CHECK_OK(proc_spawn(&spec, &id, &e), &e);
    assert_int_equal(wait_child(id.pid), 0);
    CHECK_FILE("log", "before\nsaid\nerr\n");
}

static void
the_log_is_made_private_and_input_is_empty_by_default(void **state)
{
    struct proc_spec spec = shell("cat; pwd");
    struct proc_id id;
    struct err e;
    char want[PATH_MAX];

    (void)state;
    make_dirs("work");
    spec.dir = "work";
    CHECK_OK(proc_spawn(&spec, &id, &e), &e);
    assert_int_equal(wait_child(id.pid), 0);
    assert_int_equal(file_mode("log"), 0600);
    assert_non_null(realpath("work", want));
    strcat(want, "\n");
    CHECK_FILE("log", want);
}

static void
the_attempt_file_tells_who_runs(void **state)
{
    struct proc_spec spec =
        shell("readlink attempts/build.1; ps -o sid= -o pid= -p $$ | tr -d ' \\n'");
    struct proc_id id, read_back;
    struct procfs p;
    struct err e;
    char want[128 + CGROUP_PATH_SIZE];

    (void)state;
    make_dirs("attempts");
    spec.attempt_file = "attempts/build.1";
    CHECK_OK(proc_spawn(&spec, &id, &e), &e);
    assert_int_equal(procfs_read(&p, id.pid), 0);
    assert_int_equal(p.start, id.start);
    assert_int_equal(p.session, id.pid);
    assert_int_equal(p.pgrp, id.pid);
    assert_int_equal(wait_child(id.pid), 0);
    CHECK_OK(proc_read_id("attempts/build.1", &read_back, &e), &e);
    assert_memory_equal(&id, &read_back, sizeof id);
    assert_int_equal(count_files("attempts"), 1);
    snprintf(want, sizeof want, "%d %ju %s%s%s\n%d%d", id.pid, (uintmax_t)id.start, id.boot_id,
             id.cgroup[0] ? " " : "", id.cgroup, id.pid, id.pid);
    CHECK_FILE("log", want);
}

static void
the_attempt_file_is_relative_to_us_not_to_the_directory(void **state)
{
    struct proc_spec spec = shell("pwd | sed 's,.*/,,'");
    struct proc_id id;
    struct err e;

    (void)state;
    make_dirs("work");
    spec.dir = "work";
    spec.attempt_file = "a.1";
    CHECK_OK(proc_spawn(&spec, &id, &e), &e);
    assert_int_equal(wait_child(id.pid), 0);
    assert_true(file_exists("a.1"));
    assert_int_equal(count_files("work"), 0);
    CHECK_FILE("log", "work\n");
}

static void
paths_may_begin_at_an_open_directory(void **state)
{
    struct proc_spec spec = shell("cat; pwd | sed 's,.*/,,'");
    struct proc_id id, read_back;
    struct err e;

    (void)state;
    make_dirs("state/run");
    make_dirs("work");
    write_file("state/run/in", "said\n");
    spec.base = open("state", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    spec.base_len = strlen("/gone/state/"); /* only the descriptor counts */
    spec.in = "/gone/state/run/in";
    spec.out = "/gone/state/run/log";
    spec.attempt_file = "/gone/state/run/a.1";
    spec.dir = "work";
    CHECK_OK(proc_spawn(&spec, &id, &e), &e);
    assert_int_equal(wait_child(id.pid), 0);
    CHECK_FILE("state/run/log", "said\nwork\n");
    CHECK_OK(proc_read_id("state/run/a.1", &read_back, &e), &e);
    assert_memory_equal(&id, &read_back, sizeof id);
    spec.in = "/gone/state/run/none";
    CHECK_FAILS(proc_spawn(&spec, &id, &e), ST_NOT_FOUND, &e,
                "start sh: open its input /gone/state/run/none: No such file or directory");
    close(spec.base);
}

static void
an_attempt_is_started_once(void **state)
{
    struct proc_spec spec = shell("echo ran");
    struct proc_id id;
    struct err e;

    (void)state;
    spec.attempt_file = "a.1";
    CHECK_OK(proc_spawn(&spec, &id, &e), &e);
    assert_int_equal(wait_child(id.pid), 0);
    CHECK_FAILS(proc_spawn(&spec, &id, &e), ST_CONFLICT, &e,
                "start sh: the attempt a.1 was started or given up before");
    assert_int_equal(id.pid, 0);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no zombie is left */
    CHECK_FILE("log", "ran\n");
}

static void
of_many_starts_of_one_attempt_one_wins(void **state)
{
    enum { STARTERS = 12 };
    pid_t pids[STARTERS];
    int won = 0, go[2];
    char c;

    (void)state;
    assert_int_equal(pipe2(go, O_CLOEXEC), 0);
    for (int i = 0; i < STARTERS; i++)
        if ((pids[i] = fork()) == 0) {
            struct proc_spec spec = shell("echo ran");
            struct proc_id id;
            spec.attempt_file = "a.1";
            close(go[1]);
            if (read(go[0], &c, 1) != 0)
                _exit(9);
            enum status s = proc_spawn(&spec, &id, NULL);
            if (!s)
                waitpid(id.pid, NULL, 0);
            _exit(s == ST_OK ? 0 : s == ST_CONFLICT ? 1 : 2);
        }
    close(go[0]);
    close(go[1]);
    for (int i = 0; i < STARTERS; i++) {
        int code = wait_child(pids[i]);
        assert_in_range(code, 0, 1);
        won += code == 0;
    }
    assert_int_equal(won, 1);
    CHECK_FILE("log", "ran\n");
}

static void
a_void_attempt_cannot_start(void **state)
{
    struct proc_spec spec = shell("echo ran");
    struct proc_id id;
    struct err e;

    (void)state;
    CHECK_OK(proc_void("a.1", &e), &e);
    CHECK_FAILS(proc_void("a.1", &e), ST_CONFLICT, &e, "a.1 is there already");
    CHECK_FAILS(proc_read_id("a.1", &id, &e), ST_NOT_FOUND, &e,
                "a.1 is void: that attempt never started");
    spec.attempt_file = "a.1";
    CHECK_FAILS_WITH(proc_spawn(&spec, &id, &e), ST_CONFLICT, &e, "started or given up before");
    CHECK_FILE("log", "");
    assert_int_equal(file_size("a.1"), 0);
}

static void
a_void_and_a_start_never_both_succeed(void **state)
{
    (void)state;
    for (int i = 0; i < 60; i++) {
        struct proc_spec spec = shell("exit 0");
        struct proc_id id;
        struct err e;
        char name[32];
        int code;
        snprintf(name, sizeof name, "a.%d", i);
        spec.attempt_file = name;
        pid_t other = fork();
        if (other == 0) {
            for (int k = 0; k < i * 2000; k++) /* at another moment each time */
                __asm__ volatile("");
            _exit(proc_void(name, NULL) == ST_OK ? 0 : 1);
        }
        enum status s = proc_spawn(&spec, &id, &e);
        if (!s)
            assert_int_equal(wait_child(id.pid), 0);
        code = wait_child(other);
        assert_int_equal(s == ST_OK, code == 1);
        assert_int_equal(proc_read_id(name, &id, &e), s == ST_OK ? ST_OK : ST_NOT_FOUND);
    }
}

static void
a_missing_program_is_reported(void **state)
{
    const char *argv[] = { "/nowhere/agent", NULL };
    struct proc_spec spec = { .argv = argv, .env = base_env, .out = "log", .attempt_file = "a.1" };
    struct proc_id id;
    struct err e;

    (void)state;
    CHECK_FAILS(proc_spawn(&spec, &id, &e), ST_NOT_FOUND, &e,
                "run /nowhere/agent: No such file or directory");
    argv[0] = "no-such-agent";
    spec.attempt_file = "a.2";
    CHECK_FAILS(proc_spawn(&spec, &id, &e), ST_NOT_FOUND, &e,
                "run no-such-agent: there is no such program in /usr/bin:/bin");
    argv[0] = "";
    spec.attempt_file = "a.3";
    CHECK_FAILS_WITH(proc_spawn(&spec, &id, &e), ST_NOT_FOUND, &e, "no such program");
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    CHECK_OK(proc_read_id("a.1", &id, &e), &e); /* it used its attempt up, and is dead */
    assert_int_equal(proc_alive(&id), PROC_DEAD);
}

static void
what_cannot_be_executed_is_reported(void **state)
{
    char path[PATH_MAX + 8];
    const char *argv[] = { path, NULL };
    struct proc_spec spec = { .argv = argv, .env = base_env, .out = "log" };
    struct proc_id id;
    struct err e;

    (void)state;
    assert_non_null(getcwd(path, PATH_MAX));
    strcat(path, "/agent");
    write_file("agent", "#!/nowhere/python\n");
    CHECK_FAILS_WITH(proc_spawn(&spec, &id, &e), ST_REFUSED, &e, "Permission denied");
    assert_int_equal(chmod("agent", 0700), 0);
    CHECK_FAILS_WITH(proc_spawn(&spec, &id, &e), ST_NOT_FOUND, &e, "the interpreter of its first");
    write_file("agent", "echo no first line\n");
    CHECK_FAILS_WITH(proc_spawn(&spec, &id, &e), ST_IO, &e, "a script needs a first line");
}

static void
missing_files_are_reported_and_use_up_no_attempt(void **state)
{
    struct proc_spec spec = shell("echo ran");
    struct proc_id id;
    struct err e;

    (void)state;
    spec.attempt_file = "a.1";
    spec.dir = "nowhere";
    CHECK_FAILS(proc_spawn(&spec, &id, &e), ST_NOT_FOUND, &e,
                "start sh: go to directory nowhere: No such file or directory");
    spec.dir = ".";
    spec.in = "message";
    CHECK_FAILS(proc_spawn(&spec, &id, &e), ST_NOT_FOUND, &e,
                "start sh: open its input message: No such file or directory");
    spec.in = NULL;
    spec.out = "logs/x";
    CHECK_FAILS(proc_spawn(&spec, &id, &e), ST_NOT_FOUND, &e,
                "start sh: open its log logs/x: No such file or directory");
    spec.out = "log";
    assert_false(file_exists("a.1"));
    spec.attempt_file = "nowhere/a.1";
    CHECK_FAILS(proc_spawn(&spec, &id, &e), ST_NOT_FOUND, &e,
                "start sh: create the attempt nowhere/a.1: No such file or directory");
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    CHECK_FILE("log", "");
}

static void
a_fifo_in_the_place_of_a_file_does_not_hold_us_up(void **state)
{
    struct proc_spec spec = shell("exit 0");
    struct proc_id id;
    struct err e;

    (void)state;
    assert_int_equal(mkfifo("fifo", 0600), 0);
    spec.in = "fifo";
    CHECK_OK(proc_spawn(&spec, &id, &e), &e);
    assert_int_equal(wait_child(id.pid), 0);
    spec.in = NULL;
    spec.out = "fifo";
    CHECK_FAILS_WITH(proc_spawn(&spec, &id, &e), ST_IO, &e, "open its log fifo: No such device");
}

static void
the_environment_is_exactly_what_was_given(void **state)
{
    const char *argv[] = { "/usr/bin/env", NULL };
    const char *env[] = { "B=2", "A=x y\n\"$z", "CLIQ_ATTEMPT=r/build.1", NULL };
    struct proc_spec spec = { .argv = argv, .env = env, .out = "log" };
    struct proc_id id;
    struct err e;

    (void)state;
    setenv("SECRET", "of ours", 1);
    CHECK_OK(proc_spawn(&spec, &id, &e), &e);
    assert_int_equal(wait_child(id.pid), 0);
    unsetenv("SECRET");
    CHECK_FILE("log", "B=2\nA=x y\n\"$z\nCLIQ_ATTEMPT=r/build.1\n");
}

static void
programs_are_found_in_the_path_that_they_are_given(void **state)
{
    char path[PATH_MAX + 64] = "PATH=/nowhere:", cwd[PATH_MAX];
    const char *argv[] = { "tool", NULL }, *env[] = { path, NULL };
    struct proc_spec spec = { .argv = argv, .env = env, .out = "log" };
    struct proc_id id;
    struct err e;

    (void)state;
    make_dirs("one");
    make_dirs("two");
    write_file("one/tool", "#!/bin/sh\necho one\n"); /* may not be executed: look further */
    write_file("two/tool", "#!/bin/sh\necho two\n");
    assert_int_equal(chmod("two/tool", 0700), 0);
    assert_non_null(getcwd(cwd, sizeof cwd));
    snprintf(path, sizeof path, "PATH=/nowhere:%.2000s/one:%.2000s/two", cwd, cwd);
    CHECK_OK(proc_spawn(&spec, &id, &e), &e);
    assert_int_equal(wait_child(id.pid), 0);
    CHECK_FILE("log", "two\n");
    snprintf(path, sizeof path, "PATH=/nowhere:%.2000s/one", cwd);
    CHECK_FAILS(proc_spawn(&spec, &id, &e), ST_REFUSED, &e, "run tool: Permission denied");
    strcpy(path, "PATH="); /* the working directory, which is the agent's */
    spec.dir = "two";
    CHECK_OK(proc_spawn(&spec, &id, &e), &e);
    assert_int_equal(wait_child(id.pid), 0);
    CHECK_FILE("log", "two\ntwo\n");
}

static void
no_descriptor_of_ours_is_inherited(void **state)
{
    const char *argv[] = { self_path, "hostile", "fds", "", NULL };
    struct proc_spec spec = { .argv = argv, .env = base_env, .out = "log" };
    struct proc_id id;
    struct err e;
    int fd = open(".", O_RDONLY), high = fcntl(fd, F_DUPFD, 200); /* not close-on-exec */

    (void)state;
    assert_true(fd > 2 && high >= 200);
    CHECK_OK(proc_spawn(&spec, &id, &e), &e);
    assert_int_equal(wait_child(id.pid), 0);
    close(fd);
    close(high);
    CHECK_FILE("log", "0 1 2 ");
}

static void
works_when_our_own_standard_files_are_closed(void **state)
{
    (void)state;
    write_file("in", "said\n");
    pid_t pid = fork();
    if (pid == 0) {
        char script[PATH_MAX + 64];
        snprintf(script, sizeof script, "cat; echo err >&2; exec '%s' hostile fds ''", self_path);
        struct proc_spec spec = shell(script);
        struct proc_id id;
        spec.in = "in";
        spec.attempt_file = "a.1";
        close(0);
        close(1);
        close(2);
        if (proc_spawn(&spec, &id, NULL) != ST_OK)
            _exit(1);
        int status;
        waitpid(id.pid, &status, 0);
        _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 2);
    }
    assert_int_equal(wait_child(pid), 0);
    CHECK_FILE("log", "said\nerr\n0 1 2 ");
}

static void
note_signal(int signo)
{
    (void)signo;
}

static void
signals_are_as_new_and_ours_are_put_back(void **state)
{
    struct proc_spec spec = shell("sed -n 's/^Sig[BIC][lg][knt]:.//p' /proc/self/status");
    struct proc_id id;
    struct err e;
    sigset_t some, before, after;

    (void)state;
    sigemptyset(&some);
    sigaddset(&some, SIGUSR2);
    sigaddset(&some, SIGTERM);
    sigprocmask(SIG_SETMASK, &some, &before);
    signal(SIGHUP, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGUSR1, note_signal);
    CHECK_OK(proc_spawn(&spec, &id, &e), &e);
    sigprocmask(SIG_SETMASK, &before, &after);
    assert_int_equal(wait_child(id.pid), 0);
    signal(SIGHUP, SIG_DFL);
    assert_ptr_equal(signal(SIGPIPE, SIG_DFL), SIG_IGN);
    assert_ptr_equal(signal(SIGUSR1, SIG_DFL), note_signal);
    assert_int_equal(sigismember(&after, SIGUSR2), 1);
    assert_int_equal(sigismember(&after, SIGHUP), 0);
    CHECK_FILE("log", "0000000000000000\n0000000000000000\n0000000000000000\n");
}

/* Whether the clock told it or /proc, and across the ticks of the clock. */
static void
the_start_is_what_stat_says(void **state)
{
    struct proc_spec spec = shell("true");

    (void)state;
    make_dirs("attempts");
    for (int i = 0; i < 100; i++) {
        struct proc_id id, read_back;
        struct procfs p;
        struct err e;
        char name[32];
        snprintf(name, sizeof name, "attempts/a.%d", i);
        spec.attempt_file = name;
        CHECK_OK(proc_spawn(&spec, &id, &e), &e);
        assert_int_equal(procfs_read(&p, id.pid), 0); /* at worst a zombie */
        assert_int_equal(p.start, id.start);
        CHECK_OK(proc_read_id(name, &read_back, &e), &e);
        assert_int_equal(read_back.pid, id.pid);
        assert_int_equal(read_back.start, p.start);
        assert_int_equal(wait_child(id.pid), 0);
    }
}

/* By a program that was made with them ignored: also those that the C library keeps. */
static void
no_signal_stays_ignored(void **state)
{
    (void)state;
    pid_t pid = fork();
    if (pid == 0) {
        const unsigned long ignore[8] = { (unsigned long)(uintptr_t)SIG_IGN };
        char *argv[] = { self_path, (char *)"hostile", (char *)"start", (char *)"", NULL };
        for (int signo = 1; signo <= 64; signo++)
            syscall(SYS_rt_sigaction, signo, ignore, NULL, 8);
        execve(self_path, argv, environ);
        _exit(9);
    }
    assert_int_equal(wait_child(pid), 0);
    CHECK_FILE("log", "0000000000000000\n");
}

static void
a_starter_that_is_killed_leaves_nothing_half_done(void **state)
{
    int ran = 0;

    (void)state;
    make_dirs("attempts");
    for (int i = 0; i < 60; i++) {
        char name[32];
        struct proc_id id;
        snprintf(name, sizeof name, "attempts/a.%d", i);
        pid_t pid = fork();
        if (pid == 0) {
            struct proc_spec spec = shell("echo ran");
            spec.attempt_file = name;
            proc_spawn(&spec, &id, NULL);
            _exit(0);
        }
        for (int k = 0; k < i * 4000; k++)
            __asm__ volatile("");
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        enum status s = proc_read_id(name, &id, NULL);
        if (s == ST_NOT_FOUND && proc_void(name, NULL) == ST_CONFLICT)
            s = proc_read_id(name, &id, NULL);
        assert_true(s == ST_OK || s == ST_NOT_FOUND); /* whole, or void: nothing between */
        if (s == ST_OK) {
            ran++;
            UNTIL(proc_alive(&id) == PROC_DEAD, 5000);
        }
    }
    off_t size = file_exists("log") ? file_size("log") : 0;
    assert_true(size <= 4 * ran); /* never without its attempt file */
}

static void
any_failing_call_is_an_error_and_nothing_runs(void **state)
{
    (void)state;
    make_dirs("attempts");
    FAULT_SWEEP(f)
    {
        struct proc_spec spec = shell("echo ran >> ran");
        struct proc_id id;
        struct err e = { "" };
        unlink("ran");
        unlink("attempts/a.1");
        spec.attempt_file = "attempts/a.1";
        fault_on(&f);
        enum status s = proc_spawn(&spec, &id, &e);
        fault_off(&f);
        if (s) {
            assert_true(e.text[0]);
            assert_false(file_exists("ran"));
            assert_int_equal(count_files("attempts"), 0);
        } else {
            assert_int_equal(wait_child(id.pid), 0);
            CHECK_FILE("ran", "ran\n");
            CHECK_OK(proc_read_id("attempts/a.1", &id, &e), &e);
        }
    }
}

static void
spawning_leaks_nothing(void **state)
{
    int before = count_fds();

    (void)state;
    for (int i = 0; i < 50; i++) {
        struct proc_spec spec = shell("exit 0");
        struct proc_id id;
        spec.out = i % 2 ? "log" : "nowhere/log";
        if (proc_spawn(&spec, &id, NULL) == ST_OK)
            wait_child(id.pid);
    }
    assert_int_equal(count_fds(), before);
}

int
main(int argc, char **argv)
{
    if (is_agent(argc, argv))
        return hostile_main(argv[2], argv[3]);
    const struct CMUnitTest tests[] = {
        CASE(output_is_appended_and_input_is_the_file),
        CASE(the_log_is_made_private_and_input_is_empty_by_default),
        CASE(the_attempt_file_tells_who_runs),
        CASE(the_attempt_file_is_relative_to_us_not_to_the_directory),
        CASE(paths_may_begin_at_an_open_directory),
        CASE(an_attempt_is_started_once),
        CASE(of_many_starts_of_one_attempt_one_wins),
        CASE(a_void_attempt_cannot_start),
        CASE(a_void_and_a_start_never_both_succeed),
        CASE(a_missing_program_is_reported),
        CASE(what_cannot_be_executed_is_reported),
        CASE(missing_files_are_reported_and_use_up_no_attempt),
        CASE(a_fifo_in_the_place_of_a_file_does_not_hold_us_up),
        CASE(the_environment_is_exactly_what_was_given),
        CASE(programs_are_found_in_the_path_that_they_are_given),
        CASE(no_descriptor_of_ours_is_inherited),
        CASE(works_when_our_own_standard_files_are_closed),
        CASE(signals_are_as_new_and_ours_are_put_back),
        CASE(the_start_is_what_stat_says),
        CASE(no_signal_stays_ignored),
        CASE(a_starter_that_is_killed_leaves_nothing_half_done),
        CASE(any_failing_call_is_an_error_and_nothing_runs),
        CASE(spawning_leaks_nothing),
    };

    return cmocka_run_group_tests_name("proc start", tests, NULL, sweep_cgroups);
}
