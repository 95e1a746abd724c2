/* Tests serve/rate, token buckets: pure, so each case is a table of times. */
#include "test.h"

#include "serve/rate.h"

/* A request at each time: is it accepted, and if not, when may it come again? */
static void
a_bucket_gives_its_burst_then_its_rate(void **state)
{
    static const struct {
        int64_t at_ms;
        bool is_in;
        int64_t wait_ms;
    } table[] = {
        { 1000, true, 0 },      { 1000, true, 0 },    { 1000, true, 0 }, /* the burst */
        { 1000, false, 500 },                                            /* then nothing */
        { 1400, false, 100 },   { 1500, true, 0 },                       /* 2 a second */
        { 1500, false, 500 },   { 1000, false, 500 },                    /* a clock set back */
        { 2000, true, 0 },      { 2000, false, 500 }, { 900000, true, 0 },
        { 900000, true, 0 },    { 900000, true, 0 }, /* never over the burst */
        { 900000, false, 500 },
    };
    struct rate_rule rule = { .per_s = 2, .burst = 3 };
    struct rate_bucket b = { .at_ms = 0 };

    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        int64_t wait_ms = 0;
        bool is_in = rate_take(&rule, &b, table[i].at_ms, &wait_ms);
        if (is_in != table[i].is_in || wait_ms != table[i].wait_ms)
            fail_msg("line %zu: %s, %jd ms", i, is_in ? "in" : "out", (intmax_t)wait_ms);
    }
}

static void
without_a_rate_nothing_is_limited(void **state)
{
    struct rate_rule off = { 0 };
    struct rate_bucket b = { 0 };
    int64_t wait_ms;

    (void)state;
    for (int i = 0; i < 1000; i++)
        assert_true(rate_take(&off, &b, 5, &wait_ms));
}

/* A request that waits as long as announced is accepted, at every rate. */
static void
the_announced_wait_is_enough(void **state)
{
    (void)state;
    for (int per_s = 1; per_s < 2000; per_s += 7) {
        struct rate_rule rule = { .per_s = per_s, .burst = 1 };
        struct rate_bucket b = { 0 };
        int64_t now = 1, wait_ms = 0;
        for (int i = 0; i < 100; i++) {
            wait_ms = 0;
            if (!rate_take(&rule, &b, now, &wait_ms)) {
                assert_true(wait_ms > 0 && wait_ms <= 1000 / per_s + 1);
                now += wait_ms;
                assert_true(rate_take(&rule, &b, now, &wait_ms));
            }
        }
        assert_true(now >= 1 + 98 * 1000 / (int64_t)per_s); /* but never more than the rate */
    }
}

static void
every_key_has_its_own_bucket_and_anonymous_callers_share_one(void **state)
{
    struct rate_rule rule = { .per_s = 1, .burst = 1 };
    struct rates r = { 0 };
    int64_t wait_ms;

    (void)state;
    for (uint64_t who = 0; who < 5000; who++)
        assert_true(rate_take(&rule, rates_find(&r, &rule, who, 1000), 1000, &wait_ms));
    for (uint64_t who = 0; who < 5000; who++)
        assert_false(rate_take(&rule, rates_find(&r, &rule, who, 1000), 1000, &wait_ms));
    assert_true(r.cap <= 32768);
    /* Full buckets are evicted. */
    for (uint64_t who = 5000; who < 500000; who++)
        assert_true(
            rate_take(&rule, rates_find(&r, &rule, who, (int64_t)who), (int64_t)who, &wait_ms));
    assert_true(r.cap <= 32768);
    rates_release(&r);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bucket_gives_its_burst_then_its_rate),
        cmocka_unit_test(without_a_rate_nothing_is_limited),
        cmocka_unit_test(the_announced_wait_is_enough),
        cmocka_unit_test(every_key_has_its_own_bucket_and_anonymous_callers_share_one),
    };

    return cmocka_run_group_tests_name("rate", tests, NULL, NULL);
}
