/* Who is waited for, and how long: pure. */
#include "test.h"

#include "serve/batch_window.h"

#define US 1000

/* Clients that ask again `us` after their answer; the round begins when it may. How many are in it.
 */
static size_t
next_round(struct batch_window *g, int64_t *now, size_t pending, size_t coming, int64_t us)
{
    int64_t answered = *now;
    size_t n = pending;

    *now += (pending ? 50 : us) * US; /* what waited already is read first */
    if (!pending)
        n = coming;
    while (batch_window_waits(g, n, *now)) {
        bool is_more = n < pending + coming && *now < answered + us * US;
        int64_t left = batch_window_left_ns(g, *now);
        assert_true(left > 0);
        if (is_more && us * US < *now - answered + left) {
            *now = answered + us * US;
            n = pending + coming;
        } else {
            *now += left;
        }
    }
    batch_window_answered(g, n, *now);
    return n;
}

static void
one_client_never_waits(void **state)
{
    struct batch_window g = { 0 };
    int64_t now = 1000000000;

    (void)state;
    for (int i = 0; i < 100; i++) {
        int64_t before = now;
        assert_int_equal(next_round(&g, &now, 0, 1, 170), 1);
        assert_int_equal(now - before, 170 * US);
    }
}

static void
those_who_take_turns_are_brought_together(void **state)
{
    struct batch_window g = { 0 };
    int64_t now = 1000000000;

    (void)state;
    batch_window_answered(&g, 2, now); /* two were answered, two more wait already */
    assert_int_equal(next_round(&g, &now, 2, 2, 170), 4);
    for (int i = 0; i < 100; i++) { /* and stay so, without waiting longer than for the last */
        int64_t before = now;
        assert_int_equal(next_round(&g, &now, 0, 4, 170), 4);
        assert_int_equal(now - before, 170 * US);
    }
}

static void
who_is_gone_is_waited_for_once(void **state)
{
    struct batch_window g = { 0 };
    int64_t now = 1000000000, before = now;

    (void)state;
    batch_window_answered(&g, 4, now);
    assert_int_equal(next_round(&g, &now, 0, 3, 170), 3);
    assert_true(now - before <= 250 * US);
    before = now;
    assert_int_equal(next_round(&g, &now, 0, 3, 170), 3);
    assert_int_equal(now - before, 170 * US);
}

static void
trials_in_vain_become_rare(void **state)
{
    struct batch_window g = { 0 };
    int64_t now = 1000000000;
    int waits = 0;

    (void)state;
    for (int i = 0; i < 1000; i++) { /* one client whose next request is there at once */
        int64_t before = now;
        assert_int_equal(next_round(&g, &now, 1, 0, 0), 1);
        waits += now - before > 60 * US;
    }
    assert_true(waits > 1 && waits < 25);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_client_never_waits),
        cmocka_unit_test(those_who_take_turns_are_brought_together),
        cmocka_unit_test(who_is_gone_is_waited_for_once),
        cmocka_unit_test(trials_in_vain_become_rare),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
