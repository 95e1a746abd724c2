/*
 * What must be true of run/proc: an attempt runs at most once and is described exactly, a pid
 * is never trusted alone, and a tree is stopped to the last descendant and nobody else.
 *
 * Called with arguments this program is the agent: "hostile KIND FILE" makes one of the
 * trees below, every process of which appends "pid start\n" to FILE and waits for its end.
 */
#define _GNU_SOURCE
#include "test.h"

#include "base/sys.h"
#include "fault.h"
#include "proc/proc.h"
#include "proc/procfs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

static char self_path[PATH_MAX];

/* ---- the hostile agent ---- */

static const char *pids_file;

static void
sign_in(void)
{
    struct procfs p;
    char line[64];
    int fd = open(pids_file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);

    if (fd < 0 || procfs_read(&p, 0) != 0)
        _exit(9);
    int n = snprintf(line, sizeof line, "%d %ju\n", (int)p.pid, (uintmax_t)p.start);
    if (write(fd, line, (size_t)n) != n)
        _exit(9);
    close(fd);
}

static _Noreturn void
sit(void)
{
    sign_in();
    for (;;)
        pause();
}

/* A child that does fn; the parent goes on. */
static pid_t
child(void (*fn)(void))
{
    pid_t pid = fork();

    if (pid < 0)
        _exit(8);
    if (pid == 0) {
        fn();
        _exit(0);
    }
    return pid;
}

static void
child_of_child(void)
{
    child(sit);
    sit();
}

/* The parent ends, so the child belongs to the reaper. */
static void
twice_forked(void)
{
    waitpid(child(child_of_child), NULL, WNOHANG);
    _exit(0);
}

static void
in_new_session(void)
{
    setsid();
    sit();
}

static void
daemonized(void)
{
    setsid();
    child(in_new_session);
    _exit(0);
}

static void
deaf(void)
{
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    sit();
}

static void
stopped(void)
{
    sign_in();
    raise(SIGSTOP);
    for (;;)
        pause();
}

static void
renamed(void)
{
    prctl(PR_SET_NAME, "a) S 1 1 (x y");
    child(sit);
    sit();
}

/* Its environment is empty, and its arguments say nothing. */
static void
without_environment(void)
{
    char *argv[] = { self_path, (char *)"hostile", (char *)"sit", (char *)(uintptr_t)pids_file,
                     NULL };
    char *env[] = { NULL };

    setsid();
    execve(self_path, argv, env);
    _exit(7);
}

static void *
sit_in_thread(void *arg)
{
    (void)arg;
    sit();
}

static void
without_main_thread(void)
{
    pthread_t t;

    if (pthread_create(&t, NULL, sit_in_thread, NULL) != 0)
        _exit(6);
    pthread_exit(NULL);
}

/* Forks on and on (40 times): each child lives for ever, deaf. */
static void
forking_on(void)
{
    signal(SIGTERM, SIG_IGN);
    for (int i = 0; i < 40; i++)
        child(deaf);
    sit();
}

static const struct kind {
    const char *name;
    void (*make)(void); /* in a child of the agent */
    int members;        /* lines in the file when the tree stands; without the agent */
    bool is_left;       /* the agent itself ends at once */
} kinds[] = {
    { "child_of_child", child_of_child, 2, false },
    { "twice_forked", twice_forked, 2, false },
    { "in_new_session", in_new_session, 1, false },
    { "daemonized", daemonized, 1, false },
    { "deaf", deaf, 1, false },
    { "stopped", stopped, 1, false },
    { "renamed", renamed, 2, false },
    { "without_environment", without_environment, 1, false },
    { "without_main_thread", without_main_thread, 1, false },
    { "forking_on", forking_on, 41, false },
    { "left_behind", child_of_child, 2, true },
    { "left_daemons", daemonized, 1, true },
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* A program that shows what it ignores. */
static int
start_one(void)
{
    const char *argv[] = { "/bin/sed", "-n", "s/^SigIgn:.//p", "/proc/self/status", NULL };
    const char *env[] = { NULL };
    struct proc_spec spec = { .argv = argv, .env = env, .out = "log" };
    struct proc_id id;
    int status = 0;

    signal(SIGCHLD, SIG_DFL); /* else it cannot be waited for */
    if (proc_spawn(&spec, &id, NULL) != ST_OK || waitpid(id.pid, &status, 0) != id.pid)
        return 4;
    return status;
}

static int
hostile_main(const char *name, const char *file)
{
    pids_file = file;
    if (strcmp(name, "sit") == 0)
        sit();
    if (strcmp(name, "start") == 0)
        return start_one();
    if (strcmp(name, "fds") == 0) { /* which are open? */
        for (int fd = 0; fd < 1024; fd++)
            if (fcntl(fd, F_GETFD) >= 0)
                dprintf(STDOUT_FILENO, "%d ", fd);
        return 0;
    }
    for (size_t i = 0; i < KINDS; i++)
        if (strcmp(kinds[i].name, name) == 0) {
            child(kinds[i].make);
            if (kinds[i].is_left)
                return 0;
            sit();
        }
    return 5;
}

/* ---- starting ---- */

static const char *const base_env[] = { "PATH=/usr/bin:/bin", NULL };

static struct proc_spec
shell(const char *script)
{
    static const char *argv[4] = { "sh", "-c", NULL, NULL };

    argv[2] = script;
    return (struct proc_spec){ .argv = argv, .env = base_env, .out = "log" };
}

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

/* ---- identity ---- */

static void
stat_lines_of_hostile_names_are_read(void **state)
{
    static const char rest[] = " 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 3 0 4242 1 2 3\n";
    struct procfs p;
    char line[300];

    (void)state;
    snprintf(line, sizeof line, "77 (a) S 1 2 3 (x) y) Z 5 6 7%s", rest);
    assert_true(procfs_parse(&p, line, strlen(line)));
    assert_int_equal(p.pid, 77);
    assert_int_equal(p.state, 'Z');
    assert_int_equal(p.ppid, 5);
    assert_int_equal(p.pgrp, 6);
    assert_int_equal(p.session, 7);
    assert_int_equal(p.threads, 3);
    assert_int_equal(p.start, 4242);
    assert_true(procfs_is_live(&p)); /* other threads live */
    for (size_t n = 0; n < strlen(line) - 8; n++)
        assert_false(procfs_parse(&p, line, n)); /* a torn text is none */
    assert_false(procfs_parse(&p, "x (a) S 1 2 3", 13));
}

static void
attempt_files_that_are_none_are_refused(void **state)
{
    static const char *const bad[] = {
        "x",        "1 2 3",     "12 34 0f7c-11",      "0 34 0f7c-11\n", "-1 34 0f7c\n",
        "12 34 \n", "12 0f7c\n", "12 34 0f7c\nmore\n", "12 34 0f7c x\n", "\n",
    };
    struct proc_id id;
    struct err e;

    (void)state;
    CHECK_FAILS(proc_read_id("a.1", &id, &e), ST_NOT_FOUND, &e, "no file a.1");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        write_file("a.1", bad[i]);
        CHECK_FAILS(proc_read_id("a.1", &id, &e), ST_INVALID, &e, "a.1 is not an attempt file");
        assert_int_equal(id.pid, 0);
        assert_int_equal(proc_alive(&id), PROC_UNKNOWN);
    }
    write_bytes("a.1", "12 34 0f7c\n\0", 12);
    CHECK_FAILS(proc_read_id("a.1", &id, &e), ST_INVALID, &e, "a.1 is not an attempt file");
    static const char *const links[] = { "x", "12 34 0f7c\n", "12 34 0f7c x", "12 34",
                                         "/etc/passwd" };
    for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
        unlink("a.1");
        assert_int_equal(symlink(links[i], "a.1"), 0);
        CHECK_FAILS(proc_read_id("a.1", &id, &e), ST_INVALID, &e, "a.1 is not an attempt file");
        assert_int_equal(id.pid, 0);
    }
}

/* Those of a run that an older version began. */
static void
an_attempt_in_a_plain_file_is_read(void **state)
{
    struct proc_id id;
    struct err e;

    (void)state;
    write_file("a.1", "12 34 0f7c-11\n");
    CHECK_OK(proc_read_id("a.1", &id, &e), &e);
    assert_int_equal(id.pid, 12);
    assert_int_equal(id.start, 34);
    assert_string_equal(id.boot_id, "0f7c-11");
    CHECK_FAILS(proc_void("a.1", &e), ST_CONFLICT, &e, "a.1 is there already");
}

static struct proc_id
sleeper(void)
{
    struct proc_spec spec = shell("exec sleep 1000");
    struct proc_id id;
    struct err e;

    CHECK_OK(proc_spawn(&spec, &id, &e), &e);
    return id;
}

static void
end(const struct proc_id *id)
{
    kill(id->pid, SIGKILL);
    waitpid(id->pid, NULL, 0);
}

static void
a_live_process_is_alive_and_its_death_is_told_at_once(void **state)
{
    struct proc_id id = sleeper();
    int fd = proc_pidfd(&id);

    (void)state;
    assert_int_equal(proc_alive(&id), PROC_ALIVE);
    assert_true(fd >= 0);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    assert_false(is_readable(fd, 0));
    kill(id.pid, SIGKILL);
    wait_readable(fd);
    assert_int_equal(proc_alive(&id), PROC_DEAD); /* a zombie */
    waitpid(id.pid, NULL, 0);
    assert_int_equal(proc_alive(&id), PROC_DEAD);
    assert_int_equal(proc_pidfd(&id), -1);
    close(fd);
}

static void
a_pid_with_another_start_or_boot_is_another_process(void **state)
{
    struct proc_id id = sleeper(), forged = id;

    (void)state;
    forged.start--;
    assert_int_equal(proc_alive(&forged), PROC_DEAD);
    assert_int_equal(proc_pidfd(&forged), -1);
    forged = id;
    forged.boot_id[0] = forged.boot_id[0] == '0' ? '1' : '0';
    assert_int_equal(proc_alive(&forged), PROC_DEAD);
    assert_int_equal(proc_pidfd(&forged), -1);
    assert_int_equal(proc_signal_tree(&forged, "no/such.1", SIGKILL), 0);
    forged = id;
    forged.start++; /* the process that has the pid now is older than the attempt */
    assert_int_equal(proc_signal_tree(&forged, "no/such.1", SIGKILL), 0);
    forged.start = id.start - 1; /* or younger: its session is its own */
    assert_int_equal(proc_signal_tree(&forged, "no/such.1", SIGKILL), 0);
    assert_int_equal(proc_alive(&id), PROC_ALIVE);
    end(&id);
}

static void
what_cannot_be_read_is_unknown(void **state)
{
    struct proc_id id = sleeper(), none = { 0 };

    (void)state;
    assert_int_equal(proc_alive(&none), PROC_UNKNOWN);
    assert_int_equal(proc_pidfd(&none), -1);
    static const struct {
        const char *call;
        int error;
    } faults[] = { { "openat", EMFILE }, { "openat", ENOENT }, { "openat", EACCES },
                   { "read", EIO },      { "openat", ENOMEM }, { "read", ESRCH } };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        fault_always(faults[i].call, faults[i].error);
        assert_int_equal(proc_alive(&id), PROC_UNKNOWN);
        assert_int_equal(proc_pidfd(&id), -1);
        assert_int_equal(proc_signal_tree(&id, "r/a.1", SIGKILL), -1);
        assert_true(proc_may_have_left(&id, NULL, 0));
        fault_off(NULL);
    }
    assert_int_equal(proc_alive(&id), PROC_ALIVE);
    FAULT_SWEEP(f)
    {
        fault_on(&f);
        enum proc_alive a = proc_alive(&id);
        fault_off(&f);
        assert_int_not_equal(a, PROC_DEAD);
    }
    end(&id);
}

static void
a_main_thread_that_ended_is_no_dead_process(void **state)
{
    struct proc_id id = { 0 };
    struct procfs p;
    struct err e;

    (void)state;
    pid_t pid = fork();
    if (pid == 0) {
        pids_file = "pids";
        without_main_thread();
    }
    UNTIL(procfs_read(&p, pid) == 0 && p.state == 'Z', 5000);
    CHECK_OK(proc_identify(pid, &id, &e), &e);
    assert_int_equal(proc_alive(&id), PROC_ALIVE);
    int fd = proc_pidfd(&id);
    assert_true(fd >= 0);
    assert_false(is_readable(fd, 0));
    assert_int_equal(proc_signal_tree(&id, "no/such.1", SIGKILL), 1);
    wait_readable(fd);
    close(fd);
    waitpid(pid, NULL, 0);
}

/* In a pid namespace of its own, where the next pid can be chosen. */
static int
reuse_pids(void)
{
    if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("proc", "/proc", "proc", 0, NULL) != 0)
        return 77;
    proc_be_subreaper();
    for (int i = 0; i < 20; i++) {
        struct proc_spec spec = shell("exec sleep 1000");
        struct proc_id id, other;
        struct procfs p;
        char last[32];
        if (proc_spawn(&spec, &id, NULL) != ST_OK)
            return 1;
        end(&id);
        /* Start times are in ticks of 10 ms: a pid cannot come back within one. */
        int64_t until = test_now_ms() + 30;
        while (test_now_ms() < until)
            test_poll();
        int fd = open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC);
        int n = snprintf(last, sizeof last, "%d", (int)id.pid - 1);
        if (fd < 0 || write(fd, last, (size_t)n) != n)
            return 77;
        close(fd);
        if (proc_spawn(&spec, &other, NULL) != ST_OK || other.pid != id.pid)
            return 2;
        pid_t innocent = fork(); /* in the session with the reused number */
        if (innocent == 0) {
            setpgid(0, 0);
            for (;;)
                pause();
        }
        if (proc_alive(&id) != PROC_DEAD || proc_pidfd(&id) != -1)
            return 3;
        if (proc_signal_tree(&id, "no/such.1", SIGKILL) != 0)
            return 4;
        if (proc_alive(&other) != PROC_ALIVE || procfs_read(&p, innocent) != 0)
            return 5;
        end(&other);
        kill(innocent, SIGKILL);
        waitpid(innocent, NULL, 0);
    }
    return 0;
}

static void
a_pid_that_is_used_again_is_left_alone(void **state)
{
    (void)state;
    pid_t pid = fork();
    if (pid == 0) {
        if (unshare(CLONE_NEWPID | CLONE_NEWNS) != 0)
            _exit(77);
        pid_t first = fork();
        if (first == 0)
            _exit(reuse_pids());
        int status;
        waitpid(first, &status, 0);
        _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 9);
    }
    int code = wait_child(pid);
    if (code == 77)
        skip(); /* only root may */
    assert_int_equal(code, 0);
}

/* A session whose leader is gone, and whose number could be another's by now. */
static void
a_session_without_its_leader_needs_a_second_witness(void **state)
{
    struct proc_id id, member;
    struct err e;
    int ready[2];
    pid_t pid;

    (void)state;
    assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 0L), 0); /* its orphans are not ours */
    pid_t leader = fork();
    if (leader == 0) {
        setsid();
        pid = fork();
        if (pid == 0)
            for (;;)
                pause();
        if (write(ready[1], &pid, sizeof pid) != sizeof pid)
            _exit(1);
        for (;;)
            pause();
    }
    assert_int_equal(read(ready[0], &pid, sizeof pid), sizeof pid);
    CHECK_OK(proc_identify(leader, &id, &e), &e);
    CHECK_OK(proc_identify(pid, &member, &e), &e);
    assert_int_equal(proc_signal_tree(&id, "no/such.1", 0), 2);
    end(&id);
    UNTIL(proc_alive(&id) == PROC_DEAD, 5000);
    assert_int_equal(proc_signal_tree(&id, "no/such.1", SIGKILL), 0);
    assert_int_equal(proc_alive(&member), PROC_ALIVE);
    kill(pid, SIGKILL);
    close(ready[0]);
    close(ready[1]);
}

/* ---- trees ---- */

struct tree {
    const struct kind *kind;
    struct proc_id id;
    char token[32], pids[32];
};

/* The processes that signed in, as identities. */
static int
members(const struct tree *t, struct proc_id ids[64])
{
    FILE *f = fopen(t->pids, "re");
    uintmax_t start;
    int n = 0, pid;

    while (f && n < 64 && fscanf(f, "%d %ju\n", &pid, &start) == 2) {
        ids[n] = t->id; /* the boot */
        ids[n].pid = pid;
        ids[n++].start = start;
    }
    if (f)
        fclose(f);
    return n;
}

static int
count_live(const struct tree *t)
{
    struct proc_id ids[64];
    int n = members(t, ids), live = 0;

    for (int i = 0; i < n; i++)
        live += proc_alive(&ids[i]) == PROC_ALIVE;
    return live;
}

static void
plant(struct tree *t, int number)
{
    char attempt[64];
    const char *argv[] = { self_path, "hostile", NULL, t->pids, NULL };
    const char *env[] = { "PATH=/usr/bin:/bin", "ASAN_OPTIONS=detect_leaks=0", attempt, NULL };
    struct proc_spec spec = { .argv = argv, .env = env, .out = "log" };
    struct err e;

    t->kind = &kinds[number % KINDS];
    argv[2] = t->kind->name;
    snprintf(t->token, sizeof t->token, "run7/t.%d", number);
    snprintf(t->pids, sizeof t->pids, "pids.%d", number);
    snprintf(attempt, sizeof attempt, "CLIQ_ATTEMPT=%s", t->token);
    CHECK_OK(proc_spawn(&spec, &t->id, &e), &e);
}

/* It stands when all have signed in (and an agent that leaves has left). */
static bool
stands(const struct tree *t)
{
    struct proc_id ids[64];

    if (members(t, ids) < t->kind->members + !t->kind->is_left)
        return false;
    return !t->kind->is_left || proc_alive(&t->id) == PROC_DEAD;
}

static void
reaped(void *ctx, pid_t pid, int wait_status)
{
    (void)pid;
    (void)wait_status;
    ++*(int *)ctx;
}

static bool
is_gone(const struct tree *t, int signo)
{
    int n, dead = 0;

    proc_reap(reaped, &dead);
    n = proc_signal_tree(&t->id, t->token, signo);
    assert_true(n >= 0);
    return n == 0;
}

static void
hostile_trees_end_to_the_last_process_and_nobody_else(void **state)
{
    enum { TREES = 200, BATCH = 25 };
    struct tree t[BATCH];
    int64_t longest = 0;

    (void)state;
    proc_be_subreaper();
    struct proc_id sibling = sleeper();
    pid_t brother = fork(); /* the same name and program as the trees have */
    if (brother == 0)
        for (;;)
            pause();
    for (int first = 0; first < TREES; first += BATCH) {
        for (int i = 0; i < BATCH; i++)
            plant(&t[i], first + i);
        for (int i = 0; i < BATCH; i++)
            UNTIL(stands(&t[i]), 20000);
        for (int i = 0; i < BATCH; i++) {
            int next = i + 1 < BATCH ? count_live(&t[i + 1]) : 0;
            int64_t began = test_now_ms();
            is_gone(&t[i], SIGTERM);
            int64_t grace = test_now_ms() + 20; /* those that obey are gone long before */
            while (test_now_ms() < grace && !is_gone(&t[i], 0))
                test_poll();
            UNTIL(is_gone(&t[i], SIGKILL), 2000);
            if (test_now_ms() - began > longest)
                longest = test_now_ms() - began;
            UNTIL(count_live(&t[i]) == 0, 2000);
            if (i + 1 < BATCH) /* the neighbour did not feel it */
                assert_int_equal(count_live(&t[i + 1]), next);
        }
    }
    print_message("longest stop of a tree: %d ms, grace of 20 ms included\n", (int)longest);
    assert_int_equal(proc_alive(&sibling), PROC_ALIVE);
    assert_int_equal(waitpid(brother, NULL, WNOHANG), 0);
    end(&sibling);
    kill(brother, SIGKILL);
    waitpid(brother, NULL, 0);
    int dead = 0;
    proc_reap(reaped, &dead);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child of any kind is left */
}

static void
a_stopped_process_acts_on_sigterm(void **state)
{
    struct proc_spec spec =
        shell("trap 'echo bye; exit 0' TERM; kill -STOP $$; while :; do :; done");
    struct proc_id id;
    struct procfs p;
    struct err e;

    (void)state;
    CHECK_OK(proc_spawn(&spec, &id, &e), &e);
    UNTIL(procfs_read(&p, id.pid) == 0 && p.state == 'T', 5000);
    assert_int_equal(proc_signal_tree(&id, "no/such.1", SIGTERM), 1);
    assert_int_equal(wait_child(id.pid), 0);
    CHECK_FILE("log", "bye\n");
}

static void
signal_zero_only_counts(void **state)
{
    struct proc_id id = sleeper();

    (void)state;
    assert_int_equal(proc_signal_tree(&id, "no/such.1", 0), 1);
    assert_int_equal(proc_alive(&id), PROC_ALIVE);
    kill(id.pid, SIGKILL);
    UNTIL(proc_alive(&id) == PROC_DEAD, 5000);
    assert_int_equal(proc_signal_tree(&id, "no/such.1", 0), 0); /* zombies do not count */
    waitpid(id.pid, NULL, 0);
}

static void
a_token_is_matched_whole(void **state)
{
    const char *const values[] = { "run7/t.1", "run7/t.11", "run7/t.", "xrun7/t.1" };
    struct proc_id ids[4], void_id = { 0 };
    struct err e;

    (void)state;
    for (int i = 0; i < 4; i++) {
        char var[64];
        const char *argv[] = { "sleep", "1000", NULL },
                   *env[] = { "A=CLIQ_ATTEMPT=run7/t.1", var, "Z=1", NULL };
        struct proc_spec spec = { .argv = argv, .env = env, .out = "log" };
        snprintf(var, sizeof var, "CLIQ_ATTEMPT=%s", values[i]);
        CHECK_OK(proc_spawn(&spec, &ids[i], &e), &e);
    }
    memcpy(void_id.boot_id, ids[0].boot_id, sizeof void_id.boot_id); /* only the token is known */
    assert_int_equal(proc_signal_tree(&void_id, "run7/t.1", SIGKILL), 1);
    UNTIL(proc_alive(&ids[0]) == PROC_DEAD, 2000);
    for (int i = 1; i < 4; i++)
        assert_int_equal(proc_alive(&ids[i]), PROC_ALIVE);
    for (int i = 0; i < 4; i++)
        end(&ids[i]);
}

static void
we_are_never_signalled(void **state)
{
    struct proc_id self;
    struct err e;

    (void)state;
    CHECK_OK(proc_identify(getpid(), &self, &e), &e);
    assert_int_equal(proc_signal_tree(&self, "no/such.1", SIGKILL), 0);
}

/* Environment cleared, session new, parent dead: nothing tells whose it was, but it is ours. */
static void
strays_come_to_us_and_can_be_stopped(void **state)
{
    struct proc_spec spec =
        shell("env -i setsid sh -c 'sleep 1000 & echo $! > stray' & wait; exec sleep 1000");
    struct proc_id id, stray;
    struct err e;
    int pid = 0;

    (void)state;
    proc_be_subreaper();
    CHECK_OK(proc_spawn(&spec, &id, &e), &e);
    UNTIL(file_exists("stray") && file_size("stray") > 1, 5000);
    char *text = read_file("stray", NULL);
    assert_int_equal(sscanf(text, "%d", &pid), 1);
    free(text);
    CHECK_OK(proc_identify(pid, &stray, &e), &e);
    struct procfs p;
    UNTIL(procfs_read(&p, pid) == 0 && p.ppid == getpid(), 5000);
    assert_int_equal(proc_signal_strays(&id.pid, 1, 0), 1);
    assert_int_equal(proc_signal_strays(&id.pid, 1, SIGKILL), 1);
    UNTIL(proc_alive(&stray) == PROC_DEAD, 2000);
    assert_int_equal(proc_alive(&id), PROC_ALIVE);
    end(&id);
    int dead = 0;
    proc_reap(reaped, &dead);
    assert_int_equal(dead, 1);
}

static void
the_cheap_question_is_never_wrong_to_the_quiet_side(void **state)
{
    struct proc_id id, known = { 0 };
    struct procfs self;
    struct err e;

    (void)state;
    proc_be_subreaper();
    known = sleeper();
    assert_int_equal(procfs_read(&self, 0), 0);
    id = sleeper();
    assert_true(proc_may_have_left(&id, &known.pid, 1)); /* it lives */
    end(&id);
    assert_false(proc_may_have_left(&id, &known.pid, 1));
    assert_true(proc_may_have_left(&id, NULL, 0)); /* a child that nobody knows */
    struct proc_id older = id;
    older.start = self.start - 1; /* its orphans went elsewhere */
    assert_true(proc_may_have_left(&older, &known.pid, 1));
    fault_always("openat", EMFILE);
    assert_true(proc_may_have_left(&id, &known.pid, 1));
    fault_off(NULL);

    /* An orphan of it comes to us, and is seen. */
    struct proc_spec spec = shell("setsid sleep 1000 & exit 0");
    CHECK_OK(proc_spawn(&spec, &id, &e), &e);
    wait_child(id.pid);
    assert_true(proc_may_have_left(&id, &known.pid, 1));
    UNTIL((proc_reap(NULL, NULL), proc_signal_strays(&known.pid, 1, SIGKILL) == 0), 2000);
    proc_reap(NULL, NULL);
    assert_false(proc_may_have_left(&id, &known.pid, 1));
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 0L), 0);
    assert_true(proc_may_have_left(&id, &known.pid, 1));
    end(&known);
}

static void
reaping_tells_each_child_once(void **state)
{
    int n = 0;

    (void)state;
    for (int i = 0; i < 5; i++) {
        struct proc_spec spec = shell("exit 3");
        struct proc_id id;
        struct err e;
        CHECK_OK(proc_spawn(&spec, &id, &e), &e);
    }
    UNTIL((proc_reap(reaped, &n), n == 5), 5000);
    proc_reap(reaped, &n);
    assert_int_equal(n, 5);
}

/* The cgroups of what was started here. */
static int
sweep(void **state)
{
    (void)state;
    cgroup_sweep();
    return 0;
}

int
main(int argc, char **argv)
{
    ssize_t n = readlink("/proc/self/exe", self_path, sizeof self_path - 1);

    if (n > 0)
        self_path[n] = '\0';
    if (argc == 4 && strcmp(argv[1], "hostile") == 0)
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
        CASE(stat_lines_of_hostile_names_are_read),
        CASE(attempt_files_that_are_none_are_refused),
        CASE(an_attempt_in_a_plain_file_is_read),
        CASE(a_live_process_is_alive_and_its_death_is_told_at_once),
        CASE(a_pid_with_another_start_or_boot_is_another_process),
        CASE(what_cannot_be_read_is_unknown),
        CASE(a_main_thread_that_ended_is_no_dead_process),
        CASE(a_pid_that_is_used_again_is_left_alone),
        CASE(a_session_without_its_leader_needs_a_second_witness),
        CASE(hostile_trees_end_to_the_last_process_and_nobody_else),
        CASE(a_stopped_process_acts_on_sigterm),
        CASE(signal_zero_only_counts),
        CASE(a_token_is_matched_whole),
        CASE(we_are_never_signalled),
        CASE(strays_come_to_us_and_can_be_stopped),
        CASE(the_cheap_question_is_never_wrong_to_the_quiet_side),
        CASE(reaping_tells_each_child_once),
    };
    return cmocka_run_group_tests_name("proc", tests, NULL, sweep);
}
