/* How much of a budget is used: fine, near, exceeded, and what cannot be checked. */
#include "run/budget.h"
#include "test.h"

static struct usage
used(int64_t tokens, double usd)
{
    return (struct usage){ .input_tokens = tokens - tokens / 4,
                           .output_tokens = tokens / 4,
                           .cost_usd = usd > 0 ? usd : 0,
                           .has_cost = usd >= 0 };
}

static enum budget_level
judge(double limit_usd, int64_t limit_tokens, int64_t tokens, double usd)
{
    struct budget b = { .usd = limit_usd, .tokens = limit_tokens };
    struct usage u = used(tokens, usd);

    return budget_judge(&b, &u);
}

static void
from_80_percent_it_is_near_and_above_the_limit_exceeded(void **state)
{
    (void)state;
    assert_int_equal(judge(1, 0, 100, 0.79), BUDGET_FINE);
    assert_int_equal(judge(1, 0, 100, 0.80), BUDGET_NEAR);
    assert_int_equal(judge(1, 0, 100, 1.00), BUDGET_NEAR);
    assert_int_equal(judge(1, 0, 100, 1.01), BUDGET_EXCEEDED);
    assert_int_equal(judge(0, 1000, 799, 0), BUDGET_FINE);
    assert_int_equal(judge(0, 1000, 800, 0), BUDGET_NEAR);
    assert_int_equal(judge(0, 1000, 1000, 0), BUDGET_NEAR);
    assert_int_equal(judge(0, 1000, 1001, 0), BUDGET_EXCEEDED);
}

static void
the_limit_that_is_closer_decides(void **state)
{
    (void)state;
    assert_int_equal(judge(1, 1000, 10, 0.9), BUDGET_NEAR);
    assert_int_equal(judge(1, 1000, 1100, 0.1), BUDGET_EXCEEDED);
    assert_int_equal(judge(0, 0, 1000000, 100), BUDGET_FINE); /* there is no limit */
}

static void
a_cost_that_is_not_known_counts_for_tokens_only(void **state)
{
    (void)state;
    struct budget both = { .usd = 1, .tokens = 1000 }, tokens = { .tokens = 1000 };
    struct usage unpriced = used(900, -1), priced = used(900, 5), none = { 0 };

    assert_int_equal(budget_judge(&both, &unpriced), BUDGET_NEAR);
    assert_true(budget_is_blind(&both, &unpriced));
    assert_false(budget_is_blind(&both, &priced));
    assert_false(budget_is_blind(&both, &none));
    assert_false(budget_is_blind(&tokens, &unpriced));
}

static void
the_known_part_of_a_cost_counts(void **state)
{
    (void)state;
    struct budget b = { .usd = 1 };
    struct usage sum = used(100, 1.5), unpriced = used(100, -1);

    usage_add(&sum, &unpriced);
    assert_false(sum.has_cost);
    assert_int_equal(budget_judge(&b, &sum), BUDGET_EXCEEDED);
}

static void
shows(double limit_usd, int64_t limit_tokens, int64_t tokens, double usd, const char *want)
{
    struct budget b = { .usd = limit_usd, .tokens = limit_tokens };
    struct usage u = used(tokens, usd);
    struct buf to = { 0 };

    budget_show(&to, &b, &u);
    assert_string_equal(to.p, want);
    buf_release(&to);
}

static void
the_figures_are_those_of_the_limit_that_is_closer(void **state)
{
    (void)state;
    shows(1, 0, 100, 1.2, "$1.20 of $1.00");
    shows(1, 1000, 5000, 1.2, "5000 of 1000 tokens");
    shows(0.02, 0, 100, 0.0312, "$0.0312 of $0.0200");
    shows(0, 1000, 1200, 3, "1200 of 1000 tokens");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(from_80_percent_it_is_near_and_above_the_limit_exceeded),
        CASE(the_limit_that_is_closer_decides),
        CASE(a_cost_that_is_not_known_counts_for_tokens_only),
        CASE(the_known_part_of_a_cost_counts),
        CASE(the_figures_are_those_of_the_limit_that_is_closer),
    };

    return cmocka_run_group_tests_name("budget", tests, NULL, NULL);
}
