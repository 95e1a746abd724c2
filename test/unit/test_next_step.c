#include "run/next_step.h"

#include "test.h"

/* plan, build and test, the gate review, and fix, a support phase. */
enum { PLAN, BUILD, TEST, REVIEW, FIX, N };

static struct phase phases[N] = {
    [PLAN] = { .name = "plan" },
    [BUILD] = { .name = "build" },
    [TEST] = { .name = "test" },
    [REVIEW] = { .name = "review", .type = PHASE_GATE },
    [FIX] = { .name = "fix", .is_support = true },
};
static const struct team team = { .phases = phases, .n_phases = N, .n_main = FIX };

/* The line for a run whose phases are in these states. */
static void
says(struct next_step n, const enum phase_state states[N], const char *want)
{
    struct sched_phase all[N] = { 0 };
    struct buf line = { 0 };

    for (size_t i = 0; i < N; i++)
        all[i].state = states[i];
    n.team = &team;
    n.phases = all;
    next_step_write(&line, &n);
    assert_string_equal(line.p ? line.p : "", want);
    buf_release(&line);
}

static void
a_run_that_completed_needs_nothing(void **state)
{
    (void)state;
    says((struct next_step){ .status = RUN_COMPLETED },
         (enum phase_state[N]){ PS_DONE, PS_DONE, PS_DONE, PS_DONE }, "");
}

static void
a_failed_phase_is_retried(void **state)
{
    (void)state;
    says((struct next_step){ .status = RUN_ESCALATED },
         (enum phase_state[N]){ PS_DONE, PS_FAILED, PS_WAITING },
         "Next: cliq retry build (mend the cause first: cliq log build shows what it said)\n");
}

static void
of_several_that_failed_the_first_is_named_and_the_rest_counted(void **state)
{
    (void)state;
    says((struct next_step){ .status = RUN_ESCALATED },
         (enum phase_state[N]){ PS_DONE, PS_FAILED, PS_FAILED },
         "Next: cliq retry build (mend the cause first: cliq log build shows what it said; 1 more "
         "phase failed)\n");
    says((struct next_step){ .status = RUN_ESCALATED },
         (enum phase_state[N]){ PS_FAILED, PS_FAILED, PS_FAILED },
         "Next: cliq retry plan (mend the cause first: cliq log plan shows what it said; 2 more "
         "phases failed)\n");
}

static void
a_support_phase_is_run_by_its_gate(void **state)
{
    (void)state;
    says((struct next_step){ .status = RUN_ESCALATED },
         (enum phase_state[N]){ PS_DONE, PS_DONE, PS_DONE, PS_ROUTING, PS_FAILED },
         "Next: cliq retry review (mend the cause first: cliq log fix shows what it said)\n");
}

static void
an_unwritten_end_is_resumed(void **state)
{
    const enum phase_state states[N] = { PS_DONE, PS_FAILED };

    (void)state;
    says((struct next_step){ .status = RUN_FAILED, .is_unwritten = true }, states,
         "Next: cliq run --resume (goes on when the cause is mended)\n");
    says((struct next_step){ .status = RUN_ACTIVE }, states,
         "Next: cliq run --resume (goes on with it; cliq cancel ends it)\n");
    says((struct next_step){ .status = RUN_ACTIVE, .is_damaged = true }, states,
         "Next: cliq run --force (starts anew; cliq cancel ends it)\n");
}

static void
a_run_that_failed_goes_on_from_the_first_phase_that_is_not_done(void **state)
{
    (void)state;
    says((struct next_step){ .status = RUN_FAILED },
         (enum phase_state[N]){ PS_DONE, PS_SKIPPED, PS_WAITING },
         "Next: cliq retry test (when the cause is mended; it keeps what is done)\n");
}

static void
a_cancelled_run_goes_on_or_starts_anew(void **state)
{
    (void)state;
    says((struct next_step){ .status = RUN_CANCELLED }, (enum phase_state[N]){ PS_WAITING },
         "Next: cliq run (starts anew)\n");
    says((struct next_step){ .status = RUN_CANCELLED },
         (enum phase_state[N]){ PS_DONE, PS_WAITING },
         "Next: cliq retry build (keeps what is done; cliq run starts anew)\n");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_that_completed_needs_nothing),
        cmocka_unit_test(a_failed_phase_is_retried),
        cmocka_unit_test(of_several_that_failed_the_first_is_named_and_the_rest_counted),
        cmocka_unit_test(a_support_phase_is_run_by_its_gate),
        cmocka_unit_test(an_unwritten_end_is_resumed),
        cmocka_unit_test(a_run_that_failed_goes_on_from_the_first_phase_that_is_not_done),
        cmocka_unit_test(a_cancelled_run_goes_on_or_starts_anew),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
