/* Tests base/loop: it calls back when there is something to do, and only then. */
#define _GNU_SOURCE
#include "test.h"

#include "base/loop.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>

static struct loop *loop;
static struct err e;
static int in, out; /* a pipe */

struct seen {
    int calls;
    struct loop_source *self;
    bool is_last; /* stop the loop */
};

/* A moment later the loop stops: a source that would call back again has had the time to. */
static struct seen end;
static int awaited; /* calls before that moment */

static int
enter(void **state)
{
    int fds[2];

    if (case_enter(state) != 0)
        return -1;
    if (pipe2(fds, O_CLOEXEC) != 0)
        return -1;
    in = fds[0];
    out = fds[1];
    end = (struct seen){ .is_last = true };
    awaited = 1;
    loop = loop_new(&e);
    return loop ? 0 : -1;
}

static int
leave(void **state)
{
    loop_free(loop);
    close(in);
    close(out);
    return case_leave(state);
}
#define LOOP_CASE(fact) cmocka_unit_test_setup_teardown(fact, enter, leave)

static void
on_call(void *ctx)
{
    struct seen *s = ctx;

    s->calls++;
    if (s->is_last)
        loop_stop(loop);
}

static void
take_one(void *ctx)
{
    struct seen *s = ctx;
    char c;

    assert_int_equal(read(in, &c, 1), 1);
    s->is_last = s->is_last || c == 'z';
    on_call(ctx);
}

static void
on_awaited(void *ctx)
{
    on_call(ctx);
    if (--awaited == 0)
        assert_non_null(loop_after(loop, 10, on_call, &end, &e));
}

static void
drop_self(void *ctx)
{
    struct seen *s = ctx;

    loop_drop(s->self);
    on_awaited(ctx);
}

static void
a_readable_descriptor_calls_back(void **state)
{
    struct seen s = { .is_last = true };

    (void)state;
    assert_non_null(loop_on_readable(loop, in, take_one, &s, &e));
    assert_int_equal(write(out, "x", 1), 1);
    CHECK_OK(loop_run(loop, &e), &e);
    assert_int_equal(s.calls, 1);
}

static void
a_paused_descriptor_calls_back_when_it_is_resumed(void **state)
{
    struct seen s = { .is_last = true };
    struct loop_source *source = loop_on_readable(loop, in, take_one, &s, &e);

    (void)state;
    assert_non_null(source);
    loop_pause(source);
    assert_int_equal(write(out, "x", 1), 1);
    assert_non_null(loop_after(loop, 10, on_call, &end, &e));
    CHECK_OK(loop_run(loop, &e), &e);
    assert_int_equal(s.calls, 0);
    loop_resume(source);
    loop_resume(source); /* resuming twice does nothing */
    CHECK_OK(loop_run(loop, &e), &e);
    assert_int_equal(s.calls, 1);
}

static void
a_descriptor_calls_back_while_it_has_data(void **state)
{
    struct seen s = { 0 };

    (void)state;
    assert_non_null(loop_on_readable(loop, in, take_one, &s, &e));
    assert_int_equal(write(out, "xyz", 3), 3);
    CHECK_OK(loop_run(loop, &e), &e);
    assert_int_equal(s.calls, 3);
}

static void
the_end_of_a_pipe_calls_back(void **state)
{
    struct seen s = { .is_last = true };
    int fds[2];

    (void)state;
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    struct loop_source *source = loop_on_readable(loop, fds[0], on_call, &s, &e);
    assert_non_null(source);
    close(fds[1]);
    CHECK_OK(loop_run(loop, &e), &e);
    assert_true(s.calls >= 1);
    loop_drop(source);
    close(fds[0]);
}

static void
a_timer_calls_back_once(void **state)
{
    struct seen s = { 0 };

    (void)state;
    assert_non_null(loop_after(loop, 0, on_awaited, &s, &e));
    CHECK_OK(loop_run(loop, &e), &e);
    assert_int_equal(s.calls, 1);
    assert_int_equal(end.calls, 1);
}

static int order[3], n_order;

static void
note_order(void *ctx)
{
    order[n_order++] = *(int *)ctx;
    if (n_order == 3)
        loop_stop(loop);
}

static void
timers_call_back_in_the_order_of_their_times(void **state)
{
    int one = 1, two = 2, three = 3;

    (void)state;
    n_order = 0;
    assert_non_null(loop_after(loop, 200, note_order, &three, &e));
    assert_non_null(loop_after(loop, 1, note_order, &one, &e));
    assert_non_null(loop_after(loop, 60, note_order, &two, &e));
    CHECK_OK(loop_run(loop, &e), &e);
    assert_int_equal(order[0], 1);
    assert_int_equal(order[1], 2);
    assert_int_equal(order[2], 3);
}

static void
a_signal_calls_back_instead_of_killing(void **state)
{
    struct seen s = { .is_last = true };

    (void)state;
    assert_non_null(loop_on_signal(loop, SIGTERM, on_call, &s, &e));
    assert_int_equal(kill(getpid(), SIGTERM), 0);
    CHECK_OK(loop_run(loop, &e), &e);
    assert_int_equal(s.calls, 1);
}

static void
two_listeners_both_get_a_signal(void **state)
{
    struct seen a = { 0 }, b = { 0 };

    (void)state;
    awaited = 2;
    assert_non_null(loop_on_signal(loop, SIGHUP, on_awaited, &a, &e));
    assert_non_null(loop_on_signal(loop, SIGHUP, on_awaited, &b, &e));
    assert_int_equal(kill(getpid(), SIGHUP), 0);
    CHECK_OK(loop_run(loop, &e), &e);
    assert_int_equal(a.calls, 1);
    assert_int_equal(b.calls, 1);
}

static void
a_source_may_be_removed_in_its_own_callback(void **state)
{
    struct seen s = { 0 };

    (void)state;
    s.self = loop_on_readable(loop, in, drop_self, &s, &e);
    assert_non_null(s.self);
    assert_int_equal(write(out, "x", 1), 1); /* stays readable: it would call back for ever */
    CHECK_OK(loop_run(loop, &e), &e);
    assert_int_equal(s.calls, 1);
}

static void
a_timer_and_a_signal_may_be_removed_in_their_own_callbacks(void **state)
{
    struct seen timer = { 0 }, sig = { 0 };

    (void)state;
    awaited = 2;
    timer.self = loop_after(loop, 0, drop_self, &timer, &e);
    sig.self = loop_on_signal(loop, SIGTERM, drop_self, &sig, &e);
    assert_non_null(timer.self);
    assert_non_null(sig.self);
    assert_int_equal(kill(getpid(), SIGTERM), 0);
    CHECK_OK(loop_run(loop, &e), &e);
    assert_int_equal(timer.calls, 1);
    assert_int_equal(sig.calls, 1);
}

static void
a_removed_source_does_not_call_back(void **state)
{
    struct seen s = { 0 };

    (void)state;
    loop_drop(loop_after(loop, 0, on_call, &s, &e));
    loop_drop(loop_on_readable(loop, in, on_call, &s, &e));
    loop_drop(NULL);
    assert_int_equal(write(out, "x", 1), 1);
    assert_non_null(loop_after(loop, 10, on_call, &end, &e));
    CHECK_OK(loop_run(loop, &e), &e);
    assert_int_equal(s.calls, 0);
}

static void
a_stopped_loop_can_run_again(void **state)
{
    struct seen s = { .is_last = true };

    (void)state;
    assert_non_null(loop_on_readable(loop, in, take_one, &s, &e));
    for (int i = 1; i <= 3; i++) {
        assert_int_equal(write(out, "x", 1), 1);
        CHECK_OK(loop_run(loop, &e), &e);
        assert_int_equal(s.calls, i);
    }
}

static void
the_loop_is_freed_with_every_source_in_it(void **state)
{
    struct seen s = { 0 };

    (void)state;
    for (int i = 0; i < 10; i++) {
        assert_non_null(loop_after(loop, 1000000, on_call, &s, &e));
        assert_non_null(loop_on_signal(loop, SIGHUP, on_call, &s, &e));
    }
    assert_non_null(loop_on_readable(loop, in, on_call, &s, &e));
    loop_stop(loop); /* a stop that was never handled must not keep anything alive */
}

static void
a_bad_descriptor_is_reported(void **state)
{
    struct seen s = { 0 };

    (void)state;
    e.text[0] = '\0';
    assert_null(loop_on_readable(loop, 9999, on_call, &s, &e));
    assert_non_null(strstr(e.text, "watch a descriptor: "));
}

static void
a_signal_that_cannot_be_caught_is_reported(void **state)
{
    struct seen s = { 0 };

    (void)state;
    e.text[0] = '\0';
    assert_null(loop_on_signal(loop, SIGKILL, on_call, &s, &e));
    assert_non_null(strstr(e.text, "listen for a signal: "));
}

static void
freeing_a_NULL_loop_is_safe(void **state)
{
    (void)state;
    loop_free(NULL);
}

/* libuv keeps a pipe for signals, which the first loop of the process opens. */
static int
warm_up(void **state)
{
    struct seen s = { 0 };

    (void)state;
    loop = loop_new(&e);
    if (!loop || !loop_on_signal(loop, SIGHUP, on_call, &s, &e))
        return -1;
    loop_free(loop);
    return 0;
}

/* ---- work on threads ---- */

struct worked {
    pthread_t by;
    bool is_done;
};

static void
on_work(void *ctx)
{
    struct worked *w = ctx;

    w->by = pthread_self();
}

static void
on_work_done(void *ctx)
{
    struct worked *w = ctx;

    w->is_done = true;
    loop_stop(loop);
}

static void
work_runs_on_another_thread_and_its_end_is_called_on_the_loop(void **state)
{
    struct worked w = { 0 };
    (void)state;

    assert_int_equal(loop_work(loop, on_work, on_work_done, &w, &e), ST_OK);
    assert_int_equal(loop_run(loop, &e), ST_OK);
    assert_true(w.is_done);
    assert_false(pthread_equal(w.by, pthread_self()));
}

static void
work_that_has_begun_ends_before_the_loop_is_freed(void **state)
{
    struct worked w = { 0 };
    (void)state;

    assert_int_equal(loop_work(loop, on_work, on_work_done, &w, &e), ST_OK);
    loop_free(loop);
    loop = NULL;
    assert_true(w.is_done);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        LOOP_CASE(a_readable_descriptor_calls_back),
        LOOP_CASE(a_paused_descriptor_calls_back_when_it_is_resumed),
        LOOP_CASE(a_descriptor_calls_back_while_it_has_data),
        LOOP_CASE(the_end_of_a_pipe_calls_back),
        LOOP_CASE(a_timer_calls_back_once),
        LOOP_CASE(timers_call_back_in_the_order_of_their_times),
        LOOP_CASE(a_signal_calls_back_instead_of_killing),
        LOOP_CASE(two_listeners_both_get_a_signal),
        LOOP_CASE(a_source_may_be_removed_in_its_own_callback),
        LOOP_CASE(a_timer_and_a_signal_may_be_removed_in_their_own_callbacks),
        LOOP_CASE(a_removed_source_does_not_call_back),
        LOOP_CASE(a_stopped_loop_can_run_again),
        LOOP_CASE(the_loop_is_freed_with_every_source_in_it),
        LOOP_CASE(a_bad_descriptor_is_reported),
        LOOP_CASE(a_signal_that_cannot_be_caught_is_reported),
        LOOP_CASE(freeing_a_NULL_loop_is_safe),
        LOOP_CASE(work_runs_on_another_thread_and_its_end_is_called_on_the_loop),
        LOOP_CASE(work_that_has_begun_ends_before_the_loop_is_freed),
    };

    return cmocka_run_group_tests_name("loop", tests, warm_up, NULL);
}
