/* Tests log/lock: a waiter gets the lock or its deadline, whatever else happens. */
#define _GNU_SOURCE
#include "logs.h"

#include "base/clock.h"
#include "log/lock.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/time.h>

static struct err e;

static int
open_lock(void)
{
    int fd = open("lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    return fd;
}

static bool
is_free(void)
{
    int fd = open_lock();
    bool is_ours = flock(fd, LOCK_EX | LOCK_NB) == 0;

    close(fd);
    return is_ours;
}

static void
a_free_lock_is_acquired_and_released(void **state)
{
    int fd = open_lock();

    (void)state;
    CHECK_OK(lock_take(fd, "lock", 50, &e), &e);
    assert_false(is_free());
    lock_drop(fd);
    assert_true(is_free());
    close(fd);
}

static void
a_busy_lock_is_reported_with_its_holder_and_its_program(void **state)
{
    int fd = open_lock();
    char want[100];

    (void)state;
    struct holder h = hold_lock("lock");
    snprintf(want, sizeof want,
             "lock has been locked by pid %d (test_log_lock) for more than 0.03 s; nothing was "
             "written",
             (int)h.pid);
    CHECK_FAILS(lock_take(fd, "lock", 30, &e), ST_IO, &e, want);
    assert_int_equal(lock_take(fd, "lock", 0, &e), ST_CONFLICT); /* without waiting */
    let_go(&h);
    assert_true(is_free());
    close(fd);
}

static void
the_deadline_is_not_early(void **state)
{
    int fd = open_lock();

    (void)state;
    struct holder h = hold_lock("lock");
    for (unsigned wait_ms = 1; wait_ms <= 64; wait_ms *= 4) {
        int64_t before = clock_mono_ms();
        assert_int_equal(lock_take(fd, "lock", wait_ms, &e), ST_IO);
        assert_true(clock_mono_ms() - before >= wait_ms);
    }
    let_go(&h);
    close(fd);
}

static volatile sig_atomic_t alarms;

static void
on_alarm(int signo)
{
    (void)signo;
    alarms++;
}

static void
signals_of_the_program_do_not_end_the_wait(void **state)
{
    struct sigaction act = { .sa_handler = on_alarm }, old; /* no SA_RESTART */
    struct itimerval often = { { 0, 2000 }, { 0, 2000 } }, never = { { 0, 0 }, { 0, 0 } };
    int fd = open_lock();

    (void)state;
    struct holder h = hold_lock("lock");
    alarms = 0;
    assert_int_equal(sigaction(SIGALRM, &act, &old), 0);
    assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
    int64_t before = clock_mono_ms();
    enum status s = lock_take(fd, "lock", 60, &e);
    int64_t took = clock_mono_ms() - before;
    setitimer(ITIMER_REAL, &never, NULL);
    sigaction(SIGALRM, &old, NULL);
    assert_int_equal(s, ST_IO);
    assert_true(took >= 60);
    assert_true(alarms > 0);
    let_go(&h);
    close(fd);
}

static void
a_thread_that_blocks_all_signals_has_its_deadline_too(void **state)
{
    sigset_t all, before, after;
    int fd = open_lock();

    (void)state;
    struct holder h = hold_lock("lock");
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_sigmask(SIG_SETMASK, NULL, &all); /* all signals that can be blocked */
    enum status s = lock_take(fd, "lock", 30, &e);
    pthread_sigmask(SIG_SETMASK, &before, &after);
    assert_int_equal(s, ST_IO);
    for (int i = 1; i < SIGRTMAX; i++)
        assert_int_equal(sigismember(&after, i), sigismember(&all, i)); /* the mask is unchanged */
    let_go(&h);
    close(fd);
}

static void
waiting_leaves_no_timer_behind(void **state)
{
    int fd = open_lock();

    (void)state;
    struct holder h = hold_lock("lock");
    for (int i = 0; i < 20; i++)
        assert_int_equal(lock_take(fd, "lock", 1, &e), ST_IO);
    let_go(&h);
    FILE *f = fopen("/proc/self/timers", "re"); /* if the kernel shows it */
    if (f) {
        assert_int_equal(fgetc(f), EOF);
        fclose(f);
    }
    close(fd);
}

struct waiter {
    pthread_t thread;
    int fd;
    unsigned wait_ms;
    enum status s;
};

static void *
wait_for_lock(void *arg)
{
    struct waiter *w = arg;

    w->s = lock_take(w->fd, "lock", w->wait_ms, NULL);
    if (!w->s)
        lock_drop(w->fd);
    return NULL;
}

static void
start(struct waiter *w, size_t n, unsigned wait_ms)
{
    for (size_t i = 0; i < n; i++) {
        w[i] = (struct waiter){ .fd = open_lock(), .wait_ms = wait_ms, .s = ST_FAILED };
        assert_int_equal(pthread_create(&w[i].thread, NULL, wait_for_lock, &w[i]), 0);
    }
}

static void
join(struct waiter *w, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        pthread_join(w[i].thread, NULL);
        close(w[i].fd);
    }
}

static void *
queue_for_lock(void *arg)
{
    struct waiter *w = arg;
    int queue = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    w->s = lock_take_queued(w->fd, queue, "lock", w->wait_ms, NULL);
    if (!w->s)
        lock_drop(w->fd);
    close(queue);
    return NULL;
}

static void
a_waiter_in_the_queue_can_be_seen(void **state)
{
    struct waiter w = { .fd = open_lock(), .wait_ms = 10000, .s = ST_FAILED };
    int queue = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    (void)state;
    struct holder h = hold_lock("lock");
    assert_false(lock_is_wanted(queue));
    assert_int_equal(pthread_create(&w.thread, NULL, queue_for_lock, &w), 0);
    for (int i = 0; i < 10000 && !lock_is_wanted(queue); i++)
        usleep(1000);
    assert_true(lock_is_wanted(queue));
    let_go(&h);
    join(&w, 1);
    assert_int_equal(w.s, ST_OK);
    assert_false(lock_is_wanted(queue));
    close(queue);
}

static void
threads_that_wait_at_once_each_have_their_deadline(void **state)
{
    struct waiter w[4];

    (void)state;
    struct holder h = hold_lock("lock");
    start(w, 4, 30);
    join(w, 4);
    for (int i = 0; i < 4; i++)
        assert_int_equal(w[i].s, ST_IO);
    let_go(&h);
    assert_true(is_free());
}

static void
threads_that_wait_at_once_all_get_the_lock_in_the_end(void **state)
{
    struct waiter w[4];

    (void)state;
    struct holder h = hold_lock("lock");
    start(w, 4, 10000);
    let_go(&h);
    join(w, 4);
    for (int i = 0; i < 4; i++)
        assert_int_equal(w[i].s, ST_OK);
    assert_true(is_free());
}

static void
the_lock_is_granted_after_other_waiters_gave_up(void **state)
{
    struct waiter short_ones[2], long_ones[2];

    (void)state;
    struct holder h = hold_lock("lock");
    start(long_ones, 2, 10000);
    start(short_ones, 2, 10);
    join(short_ones, 2);
    let_go(&h);
    join(long_ones, 2);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(short_ones[i].s, ST_IO);
        assert_int_equal(long_ones[i].s, ST_OK);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_free_lock_is_acquired_and_released),
        CASE(a_busy_lock_is_reported_with_its_holder_and_its_program),
        CASE(the_deadline_is_not_early),
        CASE(signals_of_the_program_do_not_end_the_wait),
        CASE(a_thread_that_blocks_all_signals_has_its_deadline_too),
        CASE(waiting_leaves_no_timer_behind),
        CASE(a_waiter_in_the_queue_can_be_seen),
        CASE(a_waiter_in_the_queue_can_be_seen),
        CASE(threads_that_wait_at_once_each_have_their_deadline),
        CASE(threads_that_wait_at_once_all_get_the_lock_in_the_end),
        CASE(the_lock_is_granted_after_other_waiters_gave_up),
    };

    return cmocka_run_group_tests_name("log lock", tests, NULL, NULL);
}
