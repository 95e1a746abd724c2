/* A thread that works while we go on: pieces in their order, and who it makes way for. */
#define _GNU_SOURCE
#include "test.h"

#include "hub/index/row_thread.h"

#include <sched.h>
#include <sys/resource.h>

enum { PIECES = 100 };

struct seen {
    int done[PIECES];
    size_t n;
    int policy, nice;
};

static void
note(void *ctx, void *piece)
{
    struct seen *seen = ctx;

    seen->done[seen->n++] = *(int *)piece;
    seen->policy = sched_getscheduler(0);
    seen->nice = getpriority(PRIO_PROCESS, 0);
}

static void
pieces_are_done_in_the_order_in_which_they_were_given(void **state)
{
    struct row_thread h;
    struct seen seen = { 0 };
    int pieces[PIECES];

    (void)state;
    assert_true(row_thread_start(&h, ROW_THREAD_PROMPT, note, &seen));
    for (int i = 0; i < PIECES; i++) {
        pieces[i] = i;
        row_thread_give(&h, &pieces[i]);
    }
    row_thread_wait(&h);
    assert_true(row_thread_is_idle(&h));
    assert_int_equal(seen.n, PIECES);
    for (int i = 0; i < PIECES; i++)
        assert_int_equal(seen.done[i], i);
    row_thread_stop(&h);
}

static struct seen
work_once(enum row_thread_kind kind)
{
    struct row_thread h;
    struct seen seen = { 0 };
    int piece = 1;

    assert_true(row_thread_start(&h, kind, note, &seen));
    row_thread_give(&h, &piece);
    row_thread_stop(&h);
    assert_int_equal(seen.n, 1);
    return seen;
}

static void
a_prompt_one_has_the_turns_of_who_started_it(void **state)
{
    struct seen seen = work_once(ROW_THREAD_PROMPT);

    (void)state;
    assert_int_equal(seen.policy, sched_getscheduler(0));
    assert_int_equal(seen.nice, getpriority(PRIO_PROCESS, 0));
}

static void
a_patient_one_makes_way_but_does_not_starve(void **state)
{
    int ours = getpriority(PRIO_PROCESS, 0);
    struct seen seen = work_once(ROW_THREAD_PATIENT);

    (void)state;
    assert_int_equal(seen.policy, SCHED_BATCH);
    assert_int_equal(seen.nice, ours + 5 < 19 ? ours + 5 : 19);
    assert_int_equal(getpriority(PRIO_PROCESS, 0), ours);
}

static void
without_one_there_is_nothing_to_wait_for(void **state)
{
    struct row_thread none = { 0 };

    (void)state;
    row_thread_wait(&none);
    row_thread_stop(&none);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(pieces_are_done_in_the_order_in_which_they_were_given),
        CASE(a_prompt_one_has_the_turns_of_who_started_it),
        CASE(a_patient_one_makes_way_but_does_not_starve),
        CASE(without_one_there_is_nothing_to_wait_for),
    };

    return cmocka_run_group_tests_name("helper", tests, NULL, NULL);
}
