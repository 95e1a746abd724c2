/*
 * A log's file and its lock: files that change under a writer, and writers that wait for each
 * other.
 */
#define _GNU_SOURCE
#include "fault.h"
#include "logs.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>

static struct err e;

static struct sys odd; /* the system's write */

/* ---- files that change while open ---- */

static void
a_replaced_file_is_opened_again(void **state)
{
    struct log l = open_log(&plain);

    (void)state;
    CHECK_OK(append(&l, "{\"a\":1}", &e), &e);
    assert_int_equal(rename(NAME, "old"), 0);
    write_file("new", "{\"n\":1}\n");
    assert_int_equal(rename("new", NAME), 0);
    CHECK_OK(append(&l, "{\"b\":1}", &e), &e);
    log_close(&l);
    CHECK_FILE("old", "{\"a\":1}\n");
    CHECK_FILE(NAME, "{\"n\":1}\n{\"b\":1}\n");
}

static void
a_removed_file_is_created_again(void **state)
{
    struct log l = open_log(&sequenced);

    (void)state;
    CHECK_OK(append(&l, "{\"a\":1}", &e), &e);
    assert_int_equal(unlink(NAME), 0);
    CHECK_OK(append(&l, "{\"b\":1}", &e), &e);
    log_close(&l);
    CHECK_NUMBERS(NAME, "1");
    assert_int_equal(count_records(NAME, SEQUENCED, "\"b\""), 1);
}

static void
a_file_replaced_by_a_link_is_refused(void **state)
{
    struct log l = open_log(&plain);

    (void)state;
    write_file("target", "");
    assert_int_equal(unlink(NAME), 0);
    assert_int_equal(symlink("target", NAME), 0);
    CHECK_FAILS_WITH(append(&l, "{\"a\":1}", &e), ST_INVALID, &e, "symbolic link");
    log_close(&l);
    assert_int_equal(file_size("target"), 0);
}

static void
a_truncated_file_is_continued_at_its_new_end(void **state)
{
    struct log l = open_log(&plain);

    (void)state;
    CHECK_OK(append(&l, "{\"a\":1}", &e), &e);
    CHECK_OK(append(&l, "{\"b\":1}", &e), &e);
    assert_int_equal(truncate(NAME, 8), 0);
    CHECK_OK(append(&l, "{\"c\":1}", &e), &e);
    log_close(&l);
    CHECK_FILE(NAME, "{\"a\":1}\n{\"c\":1}\n");
}

static int replacements; /* how often the file is replaced during a lock call */

static int
flock_late(int fd, int op)
{
    if ((op & LOCK_EX) && replacements > 0) {
        replacements--;
        unlink(NAME);
        write_file(NAME, "");
    }
    return sys_kernel.flock(fd, op);
}

static void
a_file_replaced_during_the_wait_for_its_lock_is_opened_again(void **state)
{
    struct log l = open_log(&plain);

    (void)state;
    odd = sys_kernel;
    odd.flock = flock_late;
    sys = &odd;
    replacements = 5;
    CHECK_OK(append(&l, "{\"a\":1}", &e), &e);
    assert_int_equal(replacements, 0);
    sys = &sys_kernel;
    log_close(&l);
    CHECK_FILE(NAME, "{\"a\":1}\n");
}

static void
a_file_replaced_again_and_again_is_given_up(void **state)
{
    struct log l = open_log(&plain);

    (void)state;
    odd = sys_kernel;
    odd.flock = flock_late;
    sys = &odd;
    replacements = 1000000;
    CHECK_FAILS(append(&l, "{\"a\":1}", &e), ST_IO, &e,
                "events.jsonl was replaced 1000 times while it was being locked");
    sys = &sys_kernel;
    log_close(&l);
}

/* ---- the lock ---- */

static void
a_lock_held_by_another_process_is_reported_with_its_pid(void **state)
{
    struct log l = open_log(&plain);
    char pid[32];

    (void)state;
    struct holder h = hold_lock(NAME);
    snprintf(pid, sizeof pid, "by pid %d (", (int)h.pid);
    CHECK_FAILS_WITH(append(&l, "{\"a\":1}", &e), ST_IO, &e, pid);
    assert_non_null(strstr(e.text, "events.jsonl has been locked"));
    assert_non_null(strstr(e.text, "for more than 0.05 s; nothing was written"));
    assert_int_equal(file_size(NAME), 0);
    let_go(&h);
    CHECK_OK(append(&l, "{\"a\":1}", &e), &e);
    log_close(&l);
}

static void
after_a_timeout_the_waiter_does_not_hold_the_lock(void **state)
{
    struct log l = open_log(&plain);

    (void)state;
    struct holder h = hold_lock(NAME);
    assert_int_equal(append(&l, "{\"a\":1}", &e), ST_IO);
    let_go(&h);
    int fd = open(NAME, O_RDWR | O_CLOEXEC);
    assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
    close(fd);
    log_close(&l);
}

static void
the_lock_is_granted_as_soon_as_its_holder_releases_it(void **state)
{
    struct log_options o = { .lock_wait_ms = 10000 };
    struct log l = open_log(&o);
    int fds[2];

    (void)state;
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    struct holder h = hold_lock(NAME);
    pid_t pid = fork(); /* waits for the lock, then appends */
    if (pid == 0) {
        struct log mine;
        close(h.pipe);
        if (log_open(&mine, here(), NAME, &o, NULL) || write(fds[1], "x", 1) != 1)
            _exit(1);
        _exit(append(&mine, "{\"waited\":1}", NULL) ? 2 : 0);
    }
    wait_readable(fds[0]); /* the child is about to wait */
    assert_int_equal(file_size(NAME), 0);
    let_go(&h);
    assert_int_equal(wait_child(pid), 0);
    CHECK_FILE(NAME, "{\"waited\":1}\n");
    close(fds[0]);
    close(fds[1]);
    log_close(&l);
}

static void
a_killed_holder_releases_the_lock(void **state)
{
    struct log_options o = { .lock_wait_ms = 10000 };
    struct log l = open_log(&o);

    (void)state;
    struct holder h = hold_lock(NAME);
    assert_int_equal(kill(h.pid, SIGKILL), 0);
    CHECK_OK(append(&l, "{\"a\":1}", &e), &e);
    assert_int_equal(wait_child(h.pid), -1);
    close(h.pipe);
    log_close(&l);
}

static void
the_lock_is_held_from_lock_to_unlock(void **state)
{
    struct log l = open_log(&plain);
    int fd = open(NAME, O_RDWR | O_CLOEXEC);

    (void)state;
    CHECK_OK(log_lock(&l, &e), &e);
    assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), -1);
    log_unlock(&l);
    assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
    assert_int_equal(flock(fd, LOCK_UN), 0);
    CHECK_OK(log_lock(&l, &e), &e);
    log_close(&l); /* unlocks too */
    assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
    close(fd);
}

static void
a_failing_lock_call_is_reported(void **state)
{
    struct log l = open_log(&plain);

    (void)state;
    fault_always("flock", ENOLCK);
    CHECK_FAILS(append(&l, "{\"a\":1}", &e), ST_IO, &e, "lock events.jsonl: No locks available");
    fault_off(NULL);
    log_close(&l);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_replaced_file_is_opened_again),
        CASE(a_removed_file_is_created_again),
        CASE(a_file_replaced_by_a_link_is_refused),
        CASE(a_truncated_file_is_continued_at_its_new_end),
        CASE(a_file_replaced_during_the_wait_for_its_lock_is_opened_again),
        CASE(a_file_replaced_again_and_again_is_given_up),
        CASE(a_lock_held_by_another_process_is_reported_with_its_pid),
        CASE(after_a_timeout_the_waiter_does_not_hold_the_lock),
        CASE(the_lock_is_granted_as_soon_as_its_holder_releases_it),
        CASE(a_killed_holder_releases_the_lock),
        CASE(the_lock_is_held_from_lock_to_unlock),
        CASE(a_failing_lock_call_is_reported),
    };

    return cmocka_run_group_tests_name("log file", tests, NULL, NULL);
}
