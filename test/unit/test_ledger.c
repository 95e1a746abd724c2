/* What a run used: live, over attempts and phases, and the conversation of each phase. */
#include "run/ledger.h"
#include "test.h"

#include <string.h>

static void
started(struct ledger *l, size_t phase, const char *agent)
{
    ledger_take(l, &(struct sched_event){ .kind = EV_STARTED, .phase = phase, .agent = agent });
}

static void
ended(struct ledger *l, size_t phase, const struct usage *u)
{
    ledger_take(l, &(struct sched_event){ .kind = EV_RESULT, .phase = phase, .usage = u });
}

static struct usage
used(int64_t tokens, const char *session)
{
    return (struct usage){ .input_tokens = tokens,
                           .cost_usd = (double)tokens / 100,
                           .has_cost = true,
                           .session_id = session };
}

static void
the_last_report_of_each_attempt_counts(void **state)
{
    (void)state;
    struct ledger l = { 0 };
    struct usage u = used(10, NULL);

    assert_true(ledger_init(&l, 2));
    started(&l, 0, "a");
    ledger_report(&l, 0, &u);
    u = used(30, NULL);
    ledger_report(&l, 0, &u);
    assert_int_equal(ledger_phase_usage(&l, 0).input_tokens, 30); /* live */
    u = used(50, NULL);
    ended(&l, 0, &u);
    started(&l, 0, "a");
    u = used(7, NULL);
    ended(&l, 0, &u);
    started(&l, 1, "a");
    u = used(1, NULL);
    ledger_report(&l, 1, &u);
    assert_int_equal(ledger_phase_usage(&l, 0).input_tokens, 57);
    assert_int_equal(ledger_total(&l).input_tokens, 58);
    assert_true(ledger_total(&l).has_cost);
    ledger_release(&l);
}

static void
an_attempt_that_ended_without_a_result_keeps_what_it_reported(void **state)
{
    (void)state;
    struct ledger l = { 0 };
    struct usage u = used(10, "s");

    assert_true(ledger_init(&l, 1));
    started(&l, 0, "a");
    ledger_report(&l, 0, &u);
    started(&l, 0, "a");
    assert_int_equal(ledger_phase_usage(&l, 0).input_tokens, 10);
    ended(&l, 0, NULL);
    assert_int_equal(ledger_phase_usage(&l, 0).input_tokens, 10);
    ledger_release(&l);
}

static void
a_conversation_sums_its_attempts_and_belongs_to_an_agent(void **state)
{
    (void)state;
    struct ledger l = { 0 };
    char id[] = "s-1";
    struct usage u = used(10, id);

    assert_true(ledger_init(&l, 1));
    assert_null(ledger_session(&l, 0, "a"));
    started(&l, 0, "a");
    ended(&l, 0, &u);
    strcpy(id, "???"); /* it keeps a copy */
    u = used(5, "s-1");
    started(&l, 0, "a");
    ended(&l, 0, &u);
    started(&l, 0, "a");
    ended(&l, 0, NULL); /* it crashed before it said anything */
    assert_string_equal(ledger_session(&l, 0, "a")->session_id, "s-1");
    assert_int_equal(ledger_session(&l, 0, "a")->input_tokens, 15);
    assert_null(ledger_session(&l, 0, "b"));
    u = used(3, "s-2");
    started(&l, 0, "b");
    ended(&l, 0, &u);
    assert_int_equal(ledger_session(&l, 0, "b")->input_tokens, 3);
    assert_null(ledger_session(&l, 0, "a"));
    ledger_release(&l);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(the_last_report_of_each_attempt_counts),
        CASE(an_attempt_that_ended_without_a_result_keeps_what_it_reported),
        CASE(a_conversation_sums_its_attempts_and_belongs_to_an_agent),
    };

    return cmocka_run_group_tests_name("ledger", tests, NULL, NULL);
}
