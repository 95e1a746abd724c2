/* Tests the gates, notifications and agent tests of cliq.h. */
#include "sdks.h"

#include "base/json.h"

/* ---- gates ---- */

static cliq_status
reviews(cliq_context *ctx, void *user, cliq_error *e)
{
    cliq_check check = CLIQ_CHECK_INIT;
    cliq_verdict verdict = CLIQ_VERDICT_INIT;

    (void)user;
    SAME(cliq_context_phase_type(ctx), "gate");
    EXPECT(cliq_context_iteration(ctx) == 2 && cliq_context_max_iterations(ctx) == 5);
    EXPECT(cliq_context_check_count(ctx) == 2);
    EXPECT(!cliq_context_check(ctx, 0, &check, e));
    SAME(check.name, "npm test");
    SAME(check.output, "2 failed");
    EXPECT(!check.pass && check.exit_code == 1);
    EXPECT(!cliq_context_check(ctx, 1, &check, e));
    EXPECT(check.pass && check.exit_code == -1);
    EXPECT(cliq_context_check(ctx, 2, &check, e) == CLIQ_NOT_FOUND);
    EXPECT(cliq_context_route_target_count(ctx) == 1);
    EXPECT(!cliq_context_route_target(ctx, 1));
    verdict.outcome = CLIQ_VERDICT_ROUTE;
    verdict.target = cliq_context_route_target(ctx, 0);
    verdict.comment = "Checks failed: npm test";
    verdict.reviewer = "ada";
    verdict.decided_at = "2026-05-29T06:04:14Z";
    return cliq_finalize_gate(ctx, &verdict, e);
}

static void
a_gate_routes_back(void **state)
{
    (void)state;
    RUNS(dispatch_to("phase:gate", reviews, GATE));
    assert_string_equal(in_line(REVIEWER, -1, "status"), "complete");
    assert_string_equal(in_line(REVIEWER, -1, "result.verdict"),
                        "{\"outcome\":\"ROUTE\",\"target\":\"developer\",\"reason\":\"Checks "
                        "failed: npm test\"}");
    const char *handoff = ".cliq/channels/reviewer--developer/handoff.json";
    assert_string_equal(in_file(handoff, "phase_type"), "gate");
    assert_string_equal(in_file(handoff, "data.verdict.outcome"), "ROUTE");
    assert_string_equal(in_file(handoff, "data.iteration"), "2");
    assert_string_equal(in_file(handoff, "data.reviewer"), "ada");
    assert_false(file_exists(".cliq/channels/reviewer--deploy/handoff.json"));
}

static cliq_status
gives_bad_verdicts(cliq_context *ctx, void *user, cliq_error *e)
{
    cliq_verdict v = CLIQ_VERDICT_INIT;

    (void)user;
    EXPECT(cliq_finalize_standard(ctx, e) == CLIQ_INVALID);
    EXPECT(cliq_finalize_result(ctx, NULL, e) == CLIQ_INVALID);
    SAME(e->text, "phase reviewer is a gate: it ends with a verdict");
    v.comment = "why";
    EXPECT(cliq_finalize_gate(ctx, &v, e) == CLIQ_INVALID); /* no outcome */
    v.outcome = (cliq_outcome)9;
    EXPECT(cliq_finalize_gate(ctx, &v, e) == CLIQ_INVALID);
    v.outcome = CLIQ_VERDICT_PASS;
    v.comment = NULL;
    EXPECT(cliq_finalize_gate(ctx, &v, e) == CLIQ_INVALID);
    v.comment = "why";
    v.size = 1;
    EXPECT(cliq_finalize_gate(ctx, &v, e) == CLIQ_INVALID);
    v.size = sizeof v;
    v.outcome = CLIQ_VERDICT_ROUTE;
    EXPECT(cliq_finalize_gate(ctx, &v, e) == CLIQ_INVALID); /* a ROUTE without a target */
    v.target = "deploy";
    return cliq_finalize_gate(ctx, &v, e);
}

static void
a_route_outside_the_targets_is_an_error(void **state)
{
    (void)state;
    assert_int_equal(dispatch_to("phase:gate", gives_bad_verdicts, GATE), CLIQ_FAILED);
    assert_string_equal(in_line(REVIEWER, -1, "status"), "error");
    assert_string_equal(
        in_line(REVIEWER, -1, "error"),
        "gate reviewer cannot route to \"deploy\": its route targets are developer");
    assert_int_equal(count_lines(REVIEWER), 2);
}

static cliq_status
passes(cliq_context *ctx, void *user, cliq_error *e)
{
    cliq_verdict v = CLIQ_VERDICT_INIT;

    v.outcome = user ? CLIQ_VERDICT_ESCALATE : CLIQ_VERDICT_PASS;
    v.comment = "fine";
    return cliq_finalize_gate(ctx, &v, e);
}

static void
a_gate_passes_or_escalates(void **state)
{
    (void)state;
    RUNS(dispatch_to("phase:gate", passes, GATE));
    assert_string_equal(in_line(REVIEWER, -1, "result.verdict"),
                        "{\"outcome\":\"PASS\",\"reason\":\"fine\"}");
    assert_string_equal(in_file(".cliq/channels/reviewer--deploy/handoff.json", "text"),
                        "PASS: fine");
    cliq_agent_on(agent, "phase:gate", passes, &calls);
    RUNS(dispatch(GATE));
    assert_string_equal(in_line(REVIEWER, -1, "result.verdict.outcome"), "ESCALATE");
}

static void
a_gate_without_a_verdict_is_an_error(void **state)
{
    (void)state;
    assert_int_equal(dispatch_to("phase:gate", does_nothing, GATE), CLIQ_FAILED);
    assert_string_equal(in_line(REVIEWER, -1, "error"), "gate reviewer ended without a verdict");
}

static void
a_standard_phase_gives_no_verdict(void **state)
{
    (void)state;
    assert_int_equal(dispatch_to("phase:standard", passes, STANDARD), CLIQ_FAILED);
    assert_non_null(strstr(in_line(ANALYST, -1, "error"), "is not a gate"));
}

#define NOTIFY                                                                                     \
    message("notify",                                                                              \
            "\"notifications\":[{\"event\":\"on_complete\",\"channel\":\"ops\",\"reason\":\"r\"}," \
            "{\"event\":\"on_escalate\",\"channel\":null}]",                                       \
            "", "\"settings\":{\"channels\":{\"ops\":{\"webhook_url\":\"http://x\"}}},")

/* ---- notify and test ---- */

static cliq_status
notifies(cliq_context *ctx, void *user, cliq_error *e)
{
    char path[64];
    size_t n = 0;

    (void)user;
    SAME(cliq_context_type(ctx), "notify");
    EXPECT(!cliq_context_phase(ctx) && !cliq_context_prompt(ctx));
    SAME(cliq_context_payload(ctx, "notifications[0].event"), "on_complete");
    SAME(cliq_context_payload(ctx, "notifications[0].channel"), "ops");
    EXPECT(!cliq_context_payload(ctx, "notifications[1].channel"));
    do
        snprintf(path, sizeof path, "notifications[%zu]", n);
    while (cliq_context_payload(ctx, path) && ++n);
    EXPECT(n == 2);
    SAME(cliq_context_settings(ctx, "channels.ops.webhook_url"), "http://x");
    EXPECT(cliq_send_text(ctx, "x", "x", e) == CLIQ_INVALID);
    EXPECT(cliq_write_file(ctx, "x", "x", 1, e) == CLIQ_INVALID);
    EXPECT(cliq_signal(ctx, "x", "{}", e) == CLIQ_INVALID);
    EXPECT(cliq_finalize_standard(ctx, e) == CLIQ_INVALID);
    EXPECT(cliq_board_mark_complete(ctx, "x") == CLIQ_INVALID);
    EXPECT(cliq_board_replace(ctx, "x") == CLIQ_INVALID);
    EXPECT(cliq_test_result(ctx, 1, "x", e) == CLIQ_INVALID);
    return cliq_finalize_result(ctx, "{\"sent\":2}", e);
}

static void
a_notify_message_has_its_own_file(void **state)
{
    (void)state;
    RUNS(dispatch_to("notify", notifies, NOTIFY));
    const char *name = ".cliq/signals/_notify-openai-analyst-test-1.jsonl";
    assert_string_equal(in_line(name, 0, "type"), "notify");
    assert_string_equal(in_line(name, -1, "result"), "{\"sent\":2}");
    assert_int_equal(count_lines(name), 2);
}

static cliq_status
tests(cliq_context *ctx, void *user, cliq_error *e)
{
    (void)user;
    if (!cliq_context_settings(ctx, "api_key"))
        return cliq_test_result(ctx, 0, "Missing api_key in settings", e);
    return cliq_test_result(ctx, 1, "Connected to example API", e);
}

#define TESTS ".cliq/signals/_test-openai-analyst-test-1.jsonl"

static void
a_test_handler_passes_or_not(void **state)
{
    (void)state;
    RUNS(dispatch_to("test", tests, message("test", "", "", "")));
    assert_string_equal(in_line(TESTS, -1, "status"), "complete");
    assert_string_equal(in_line(TESTS, -1, "result"),
                        "{\"passed\":false,\"message\":\"Missing api_key in settings\"}");
    RUNS(dispatch(message("test", "", "", "\"settings\":{\"api_key\":\"k\"},")));
    assert_string_equal(in_line(TESTS, -1, "result.passed"), "true");
}

static void
the_default_test_handler_passes(void **state)
{
    (void)state;
    RUNS(dispatch(message("test", "", "", "")));
    assert_string_equal(in_line(TESTS, -1, "result.passed"), "true");
    assert_int_equal(count_lines(TESTS), 2);
    assert_int_equal(dispatch(NOTIFY), CLIQ_FAILED); /* but there is no default for notify */
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        SDK_CASE(a_gate_routes_back),
        SDK_CASE(a_route_outside_the_targets_is_an_error),
        SDK_CASE(a_gate_passes_or_escalates),
        SDK_CASE(a_gate_without_a_verdict_is_an_error),
        SDK_CASE(a_standard_phase_gives_no_verdict),
        SDK_CASE(a_notify_message_has_its_own_file),
        SDK_CASE(a_test_handler_passes_or_not),
        SDK_CASE(the_default_test_handler_passes),
    };

    return cmocka_run_group_tests_name("sdk gate", tests, NULL, NULL);
}
