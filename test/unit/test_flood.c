/* Tests what is let through of a flood, and that the rest is counted. */
#include "test.h"

#include "base/flood.h"

static void
so_many_a_second_pass_and_the_next_one_knows_how_many_did_not(void **state)
{
    struct flood f = { 0 };
    uint64_t held;

    (void)state;
    for (int i = 0; i < 3; i++) {
        assert_true(flood_lets(&f, 3, 5000 + i, &held));
        assert_int_equal(held, 0);
    }
    for (int i = 0; i < 7; i++)
        assert_false(flood_lets(&f, 3, 5999, &held));
    assert_true(flood_lets(&f, 3, 6000, &held));
    assert_int_equal(held, 7);
    assert_true(flood_lets(&f, 3, 6001, &held));
    assert_int_equal(held, 0);
}

static void
a_clock_that_went_back_keeps_nothing_back_for_ever(void **state)
{
    struct flood f = { 0 };
    uint64_t held;

    (void)state;
    assert_true(flood_lets(&f, 1, 5000, &held));
    assert_false(flood_lets(&f, 1, 5500, &held));
    assert_true(flood_lets(&f, 1, 100, &held));
    assert_int_equal(held, 1);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        CASE(so_many_a_second_pass_and_the_next_one_knows_how_many_did_not),
        CASE(a_clock_that_went_back_keeps_nothing_back_for_ever),
    };

    return cmocka_run_group_tests_name("flood", tests, NULL, NULL);
}
