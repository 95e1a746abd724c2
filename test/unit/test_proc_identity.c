/* What must be true of the identity of a process: a pid is never trusted alone. */
#define _GNU_SOURCE
#include "fault.h"
#include "procs.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>

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
    kill_and_reap(&id);
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
    kill_and_reap(&id);
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
        kill_and_reap(&id);
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
        kill_and_reap(&other);
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
    kill_and_reap(&id);
    UNTIL(proc_alive(&id) == PROC_DEAD, 5000);
    assert_int_equal(proc_signal_tree(&id, "no/such.1", SIGKILL), 0);
    assert_int_equal(proc_alive(&member), PROC_ALIVE);
    kill(pid, SIGKILL);
    close(ready[0]);
    close(ready[1]);
}

int
main(int argc, char **argv)
{
    if (is_agent(argc, argv))
        return hostile_main(argv[2], argv[3]);
    const struct CMUnitTest tests[] = {
        CASE(stat_lines_of_hostile_names_are_read),
        CASE(attempt_files_that_are_none_are_refused),
        CASE(an_attempt_in_a_plain_file_is_read),
        CASE(a_live_process_is_alive_and_its_death_is_told_at_once),
        CASE(a_pid_with_another_start_or_boot_is_another_process),
        CASE(what_cannot_be_read_is_unknown),
        CASE(a_main_thread_that_ended_is_no_dead_process),
        CASE(a_pid_that_is_used_again_is_left_alone),
        CASE(a_session_without_its_leader_needs_a_second_witness),
    };

    return cmocka_run_group_tests_name("proc identity", tests, NULL, sweep_cgroups);
}
