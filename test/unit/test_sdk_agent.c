/*
 * Tests the agents of cliq.h: the documented example, how a handler ends, bad messages and bad
 * calls.
 */
#include "sdks.h"

#include "base/json.h"

#include <fcntl.h>

/* ---- the documented example ---- */

static void
produces_output_on_the_expected_channel(void **state)
{
    (void)state;
    write_file(".cliq/roles/analyst.md", "You are an analyst.");
    RUNS(dispatch_to("phase:standard", send_results, STANDARD));
    assert_string_equal(in_file(HANDOFF, "text"), "Analysis results here.");
    assert_string_equal(in_file(HANDOFF, "phase_type"), "standard");
    assert_string_equal(in_file(HANDOFF, "phase"), "analyst");
    assert_string_equal(in_file(HANDOFF, "agent"), "openai-analyst");
    assert_string_equal(in_file(HANDOFF, "version"), "1");
    assert_string_equal(in_line(ANALYST, 0, "status"), "ok");
    assert_string_equal(in_line(ANALYST, -1, "status"), "complete");
    assert_int_equal(count_lines(ANALYST), 2);
}

static void
a_signal_dir_below_signals_works_too(void **state)
{
    (void)state;
    make_dirs(".cliq/signals/analyst");
    const char *m = STANDARD, *at = strstr(m, ".cliq/signals\"") + 13;
    struct buf b = { 0 };
    buf_addf(&b, "%.*s/analyst%s", (int)(at - m), m, at);
    cliq_status s = dispatch_to("phase:standard", send_results, b.p);
    buf_release(&b);
    RUNS(s);
    assert_string_equal(in_line(".cliq/signals/analyst/analyst.jsonl", -1, "status"), "complete");
    assert_string_equal(in_file(HANDOFF, "text"), "Analysis results here.");
}

/* ---- messages made for tests ---- */

static cliq_status
sees_a_gate(cliq_context *ctx, void *user, cliq_error *e)
{
    const cliq_verdict pass = { .size = sizeof pass,
                                .outcome = CLIQ_VERDICT_PASS,
                                .comment = "good" };

    (void)user;
    SAME(cliq_context_phase(ctx), "reviewer");
    SAME(cliq_context_route_target(ctx, 0), "developer");
    SAME(cliq_context_settings(ctx, "model"), "m1");
    SAME(cliq_context_instance_id(ctx), "test-1");
    SAME(cliq_context_work_dir(ctx), cwd);
    EXPECT(cliq_context_target_count(ctx) == 2);
    SAME(cliq_context_target(ctx, 1), "docs");
    return cliq_finalize_gate(ctx, &pass, e);
}

static void
a_made_message_can_be_dispatched(void **state)
{
    cliq_agent_message m = CLIQ_AGENT_MESSAGE_INIT;
    char *json;

    (void)state;
    m.agent = "openai-analyst";
    m.project_dir = cwd;
    m.phase = "analyst";
    m.targets = "reviewer";
    RUNS(cliq_make_message(&m, &json, &err));
    RUNS(dispatch_to("phase:standard", send_results, json));
    free(json);
    assert_string_equal(in_file(HANDOFF, "text"), "Analysis results here.");
    assert_string_equal(in_line(ANALYST, -1, "status"), "complete");
    m.phase = "reviewer";
    m.phase_type = "gate";
    m.targets = " deploy  docs ";
    m.settings_json = "{\"model\":\"m1\"}";
    m.payload_json = "{\"route_targets\":[\"developer\"],\"iteration\":2}";
    RUNS(cliq_make_message(&m, &json, &err));
    RUNS(dispatch_to("phase:gate", sees_a_gate, json));
    free(json);
}

static void
a_message_that_an_agent_would_refuse_is_not_made(void **state)
{
    cliq_agent_message m = CLIQ_AGENT_MESSAGE_INIT;
    char *json = err.text;

    (void)state;
#define REFUSED(says)                                                                              \
    do {                                                                                           \
        assert_int_equal(cliq_make_message(&m, &json, &err), CLIQ_INVALID);                        \
        assert_non_null(strstr(err.text, says));                                                   \
        assert_null(json);                                                                         \
    } while (0)
    REFUSED("agent, project_dir");
    m.agent = "a";
    m.project_dir = cwd;
    REFUSED("payload.phase");
    m.phase = "No Phase";
    REFUSED("No Phase");
    m.phase = "analyst";
    m.project_dir = "relative";
    REFUSED("absolute path");
    m.project_dir = cwd;
    m.payload_json = "[1]";
    REFUSED("payload_json:1:1: must be a JSON object");
    m.payload_json = "{\"phase\":\"other\"}"; /* twice in the payload */
    REFUSED("duplicate key");
    m.payload_json = NULL;
    m.settings_json = "{";
    REFUSED("settings_json:1:");
    m.settings_json = NULL;
    assert_int_equal(cliq_make_message(&m, NULL, &err), CLIQ_INVALID);
    assert_int_equal(cliq_make_message(NULL, &json, &err), CLIQ_INVALID);
    m.size = 8;
    REFUSED("CLIQ_AGENT_MESSAGE_INIT");
    m.size = sizeof m;
    m.type = "test";
    m.phase = NULL;
    RUNS(cliq_make_message(&m, &json, &err));
    assert_string_equal(err.text, "");
    free(json);
}

/* ---- how a handler ends ---- */

static cliq_status
fails(cliq_context *ctx, void *user, cliq_error *e)
{
    (void)user;
    cliq_send_text(ctx, "reviewer", "partial", e);
    snprintf(e->text, sizeof e->text, "API returned 500");
    return CLIQ_IO;
}

static void
a_failing_handler_gives_an_error_line_and_1(void **state)
{
    (void)state;
    assert_int_equal(dispatch_to("phase:standard", fails, STANDARD), 1);
    assert_string_equal(err.text, "API returned 500");
    assert_string_equal(in_line(ANALYST, 0, "status"), "ok");
    assert_string_equal(in_line(ANALYST, -1, "status"), "error");
    assert_string_equal(in_line(ANALYST, -1, "error"), "API returned 500");
    assert_int_equal(count_lines(ANALYST), 2);
    assert_string_equal(in_file(HANDOFF, "text"), "partial"); /* the handoff that was sent stays */
}

static cliq_status
fails_silently(cliq_context *ctx, void *user, cliq_error *e)
{
    (void)ctx, (void)user, (void)e;
    return CLIQ_TIMEOUT;
}

static void
a_handler_that_fails_without_a_reason_gets_a_default_one(void **state)
{
    (void)state;
    assert_int_equal(dispatch_to("phase:standard", fails_silently, STANDARD), CLIQ_FAILED);
    assert_string_equal(in_line(ANALYST, -1, "error"),
                        "the handler for phase:standard failed with status 6");
}

static void
a_handler_that_does_not_finalize_is_completed(void **state)
{
    (void)state;
    RUNS(dispatch_to("phase:standard", does_nothing, STANDARD));
    assert_string_equal(in_line(ANALYST, -1, "status"), "complete");
    assert_int_equal(count_lines(ANALYST), 2);
}

static cliq_status
finalizes_again(cliq_context *ctx, void *user, cliq_error *e)
{
    (void)user;
    EXPECT(cliq_finalize_result(ctx, "{\"n\":1}", e) == CLIQ_OK);
    EXPECT(cliq_finalize_standard(ctx, e) == CLIQ_OK);
    EXPECT(cliq_finalize_result(ctx, "2", e) == CLIQ_OK);
    return CLIQ_FAILED;
}

static void
the_first_terminal_line_counts(void **state)
{
    (void)state;
    assert_int_equal(dispatch_to("phase:standard", finalizes_again, STANDARD), CLIQ_FAILED);
    assert_int_equal(count_lines(ANALYST), 2);
    assert_string_equal(in_line(ANALYST, -1, "result"), "{\"n\":1}");
}

static void
no_handler_is_an_error(void **state)
{
    (void)state;
    assert_int_equal(dispatch_to("phase:gate", does_nothing, STANDARD), CLIQ_FAILED);
    assert_string_equal(err.text, "agent openai-analyst has no handler for phase:standard");
    assert_string_equal(in_line(ANALYST, -1, "status"), "error");
    assert_int_equal(calls, 0);
}

static void
a_broken_state_directory_is_an_error_line(void **state)
{
    (void)state;
    make_dirs(".cliq/channels/x--analyst");
    write_file(".cliq/channels/x--analyst/handoff.json", "not json");
    assert_int_equal(dispatch_to("phase:standard", does_nothing, STANDARD), CLIQ_FAILED);
    assert_int_equal(calls, 0);
    assert_string_equal(in_line(ANALYST, 0, "status"), "ok");
    assert_non_null(strstr(in_line(ANALYST, -1, "error"), "handoff.json:1:"));
}

static void
handlers_replace_each_other_and_get_their_user(void **state)
{
    (void)state;
    assert_int_equal(cliq_agent_on(agent, "phase:standard", fails, NULL), CLIQ_OK);
    RUNS(dispatch_to("phase:standard", does_nothing, STANDARD));
    RUNS(dispatch(STANDARD)); /* and another message can follow */
    assert_int_equal(calls, 2);
}

/* ---- bad messages ---- */

static void
a_bad_message_calls_and_writes_nothing(void **state)
{
    static const struct {
        const char *text, *says;
    } bad[] = {
        { "", "there is no message" },
        { " \n", "there is no message" },
        { "not json", "message:1:" },
        { "{\"version\":1", "message:1:" },
        { "[]", "must be a JSON object" },
        { "{}", "no version" },
        { "{\"version\":2,\"type\":\"phase\",\"agent\":\"a\",\"signal_dir\":\"/tmp\"}",
          "version is not 1" },
        { "{\"version\":1,\"agent\":\"a\",\"signal_dir\":\"/tmp\"}", "no type" },
        { "{\"version\":1,\"type\":\"x\",\"agent\":\"a\",\"signal_dir\":\"/tmp\"}", "not known" },
        { "{\"version\":1,\"type\":\"test\",\"signal_dir\":\"/tmp\"}", "no agent" },
        { "{\"version\":1,\"type\":\"test\",\"agent\":\"a\"}", "no signal_dir" },
        { "{\"version\":1,\"type\":\"test\",\"agent\":\"a\",\"signal_dir\":\"rel\"}", "absolute" },
        { "{\"version\":1,\"type\":\"test\",\"agent\":\"../a\",\"signal_dir\":\"/tmp\"}",
          "agent name" },
        { "{\"version\":1,\"type\":\"phase\",\"agent\":\"a\",\"signal_dir\":\"/tmp\"}",
          "no payload.phase" },
        { "{\"version\":1,\"type\":\"phase\",\"agent\":\"a\",\"signal_dir\":\"/tmp\","
          "\"project_dir\":\"/tmp\",\"payload\":{\"phase\":\"../../etc/x\"}}",
          "not a name of a phase" },
        { "{\"version\":1,\"type\":\"phase\",\"agent\":\"a\",\"signal_dir\":\"/tmp\","
          "\"project_dir\":\"/tmp\",\"payload\":{\"phase\":\"x\",\"phase_type\":\"y\"}}",
          "not known" },
    };

    (void)state;
    cliq_agent_on(agent, "phase:standard", does_nothing, NULL);
    cliq_agent_on(agent, "test", does_nothing, NULL);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        err.text[0] = '\0';
        assert_int_equal(dispatch(bad[i].text), CLIQ_INVALID);
        if (!strstr(err.text, bad[i].says))
            fail_msg("\"%s\" does not say \"%s\"", err.text, bad[i].says);
    }
    assert_int_equal(calls, 0);
    assert_int_equal(count_files(".cliq/signals"), 0);
}

static void
ten_megabytes_are_fine_unless_they_are_garbage(void **state)
{
    struct buf b = { 0 }, big = { 0 };
    const size_t n = 10 << 20;

    (void)state;
    for (size_t i = 0; i < n; i++)
        buf_addc(&big, 'x');
    cliq_agent_on(agent, "phase:standard", does_nothing, NULL);
    assert_int_equal(cliq_agent_dispatch(agent, big.p, n, &err), CLIQ_INVALID);
    memset(big.p, '[', n);
    assert_int_equal(cliq_agent_dispatch(agent, big.p, n, &err), CLIQ_INVALID); /* depth */
    memset(big.p, 'x', n);
    const char *m = STANDARD;
    buf_addf(&b, "%.*s,\"more\":\"", (int)strlen(m) - 1, m);
    buf_add(&b, big.p, n);
    buf_adds(&b, "\"}");
    RUNS(cliq_agent_dispatch(agent, b.p, b.len, &err));
    assert_int_equal(calls, 1);
    assert_int_equal(cliq_agent_dispatch(agent, b.p, (size_t)1 << 40, &err), CLIQ_INVALID);
    buf_release(&b);
    buf_release(&big);
}

/* ---- wrong arguments ---- */

static cliq_status
slips(cliq_context *ctx, void *user, cliq_error *e)
{
    cliq_check small = { .size = 1 };

    (void)user;
    EXPECT(cliq_send(ctx, NULL, NULL, "x", e) == CLIQ_INVALID);
    EXPECT(cliq_send_text(ctx, "reviewer", NULL, e) == CLIQ_INVALID);
    EXPECT(cliq_write_file(ctx, NULL, "x", 1, e) == CLIQ_INVALID);
    EXPECT(cliq_write_file(ctx, "x", NULL, 1, e) == CLIQ_INVALID);
    EXPECT(cliq_progress(ctx, NULL, e) == CLIQ_INVALID);
    EXPECT(cliq_signal(ctx, NULL, "{}", e) == CLIQ_INVALID);
    EXPECT(cliq_register_notification(ctx, NULL, "a", NULL, e) == CLIQ_INVALID);
    EXPECT(cliq_register_notification(ctx, "x", NULL, NULL, e) == CLIQ_INVALID);
    EXPECT(cliq_board_mark_complete(ctx, NULL) == CLIQ_INVALID);
    EXPECT(cliq_board_mark_incomplete(ctx, NULL) == CLIQ_INVALID);
    EXPECT(cliq_board_add_note(ctx, "analyst", NULL) == CLIQ_INVALID);
    EXPECT(cliq_board_replace(ctx, NULL) == CLIQ_INVALID);
    EXPECT(cliq_finalize_gate(ctx, NULL, e) == CLIQ_INVALID);
    EXPECT(cliq_test_result(ctx, 1, NULL, e) == CLIQ_INVALID);
    EXPECT(cliq_finalize_result(ctx, "nonsense", e) == CLIQ_INVALID);
    EXPECT(cliq_context_check(ctx, 0, NULL, e) == CLIQ_INVALID);
    EXPECT(cliq_context_check(ctx, 0, &small, e) == CLIQ_INVALID);
    EXPECT(!cliq_context_input(ctx, NULL, NULL));
    EXPECT(!cliq_context_design_doc(ctx, NULL));
    return CLIQ_OK;
}

static void
wrong_arguments_are_invalid(void **state)
{
    (void)state;
    RUNS(dispatch_to("phase:standard", slips, STANDARD));
    assert_null(cliq_agent_new(NULL));
    assert_null(cliq_agent_new(""));
    assert_null(cliq_agent_new("../x"));
    assert_int_equal(cliq_agent_on(NULL, "test", slips, NULL), CLIQ_INVALID);
    assert_int_equal(cliq_agent_on(agent, NULL, slips, NULL), CLIQ_INVALID);
    assert_int_equal(cliq_agent_on(agent, "phase:other", slips, NULL), CLIQ_INVALID);
    assert_int_equal(cliq_agent_on(agent, "test", NULL, NULL), CLIQ_INVALID);
    assert_int_equal(cliq_agent_dispatch(NULL, "{}", 2, &err), CLIQ_INVALID);
    assert_int_equal(cliq_agent_dispatch(agent, NULL, 2, &err), CLIQ_INVALID);
    assert_int_equal(cliq_agent_dispatch(agent, "{}", 2, NULL), CLIQ_INVALID);
    cliq_agent_free(NULL);
}

static void
a_null_context_is_never_a_crash(void **state)
{
    cliq_check check = CLIQ_CHECK_INIT;
    cliq_verdict verdict = CLIQ_VERDICT_INIT;
    const char *(*const texts[])(const cliq_context *) = {
        cliq_context_type,      cliq_context_agent,      cliq_context_instance_id,
        cliq_context_team_name, cliq_context_req_key,    cliq_context_project_dir,
        cliq_context_work_dir,  cliq_context_state_dir,  cliq_context_signal_dir,
        cliq_context_phase,     cliq_context_phase_type, cliq_context_role,
        cliq_context_req_spec,  cliq_board_content,
    };
    const char *(*const paths[])(const cliq_context *, const char *) = {
        cliq_context_settings,        cliq_context_payload,    cliq_context_dispatch,
        cliq_context_message,         cliq_context_input_text, cliq_context_design_doc,
        cliq_context_workflow_inputs,
    };
    const char *(*const items[])(const cliq_context *, size_t) = {
        cliq_context_input_channel,
        cliq_context_design_doc_name,
        cliq_context_target,
        cliq_context_route_target,
    };
    size_t (*const counts[])(const cliq_context *) = {
        cliq_context_input_count,        cliq_context_design_doc_count, cliq_context_target_count,
        cliq_context_route_target_count, cliq_context_check_count,
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_null(texts[i](NULL));
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        assert_null(paths[i](NULL, "x"));
        assert_null(paths[i](NULL, NULL));
    }
    for (size_t i = 0; i < sizeof items / sizeof *items; i++)
        assert_null(items[i](NULL, 0));
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        assert_int_equal(counts[i](NULL), 0);
    assert_null(cliq_context_prompt(NULL));
    assert_null(cliq_context_input(NULL, "x", "x"));
    assert_int_equal(cliq_context_is_support(NULL), 0);
    assert_int_equal(cliq_board_is_dirty(NULL), 0);
    assert_int_equal(cliq_context_iteration(NULL) + cliq_context_max_iterations(NULL), 0);
    assert_int_equal(cliq_context_check(NULL, 0, &check, NULL), CLIQ_INVALID);
    assert_int_equal(cliq_send(NULL, "x", NULL, "x", &err), CLIQ_INVALID);
    assert_int_equal(cliq_send_text(NULL, "x", "x", NULL), CLIQ_INVALID);
    assert_int_equal(cliq_write_file(NULL, "x", "x", 1, NULL), CLIQ_INVALID);
    assert_int_equal(cliq_progress(NULL, "x", NULL), CLIQ_INVALID);
    assert_int_equal(cliq_progressf(NULL, "x"), CLIQ_INVALID);
    assert_int_equal(cliq_signal(NULL, "x", "{}", NULL), CLIQ_INVALID);
    assert_int_equal(cliq_register_notification(NULL, "x", "x", NULL, NULL), CLIQ_INVALID);
    assert_int_equal(cliq_board_mark_complete(NULL, "x"), CLIQ_INVALID);
    assert_int_equal(cliq_board_mark_incomplete(NULL, "x"), CLIQ_INVALID);
    assert_int_equal(cliq_board_add_note(NULL, "x", "x"), CLIQ_INVALID);
    assert_int_equal(cliq_board_replace(NULL, "x"), CLIQ_INVALID);
    assert_int_equal(cliq_finalize_standard(NULL, NULL), CLIQ_INVALID);
    assert_int_equal(cliq_finalize_result(NULL, NULL, NULL), CLIQ_INVALID);
    assert_int_equal(cliq_finalize_gate(NULL, &verdict, NULL), CLIQ_INVALID);
    assert_int_equal(cliq_test_result(NULL, 1, "x", NULL), CLIQ_INVALID);
}

static void
an_error_struct_of_another_size_is_not_written(void **state)
{
    cliq_error old = { .size = 8, .text = "untouched" };

    (void)state;
    assert_int_equal(cliq_agent_dispatch(agent, "x", 1, &old), CLIQ_INVALID);
    assert_string_equal(old.text, "untouched");
}

/* ---- run ---- */

/* cliq_agent_run with this text on standard input; its standard error goes to the file "said". */
static int
run_with(cliq_agent *a, const char *text)
{
    int in = dup(STDIN_FILENO), out = dup(STDERR_FILENO), fd;

    write_file("in", text);
    fd = open("in", O_RDONLY | O_CLOEXEC);
    dup2(fd, STDIN_FILENO);
    close(fd);
    fd = open("said", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    dup2(fd, STDERR_FILENO);
    close(fd);
    int code = cliq_agent_run(a);
    dup2(in, STDIN_FILENO);
    dup2(out, STDERR_FILENO);
    close(in);
    close(out);
    return code;
}

static cliq_status
speaks(cliq_context *ctx, void *user, cliq_error *e)
{
    (void)user;
    return cliq_progress(ctx, "half \033[31mway", e);
}

static void
run_reads_standard_input_and_gives_0_or_1(void **state)
{
    (void)state;
    cliq_agent_on(agent, "phase:standard", speaks, NULL);
    assert_int_equal(run_with(agent, STANDARD), 0);
    CHECK_FILE("said", "openai-analyst: half \\x1b[31mway\n");
    cliq_agent_on(agent, "phase:standard", fails, NULL);
    assert_int_equal(run_with(agent, STANDARD), 1);
    CHECK_FILE("said", "openai-analyst: API returned 500\n");
    assert_int_equal(run_with(agent, ""), 1);
    assert_int_equal(run_with(agent, "nonsense"), 1);
    assert_int_equal(run_with(NULL, STANDARD), 1);
    assert_string_equal(in_line(ANALYST, -1, "status"), "error");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        SDK_CASE(produces_output_on_the_expected_channel),
        SDK_CASE(a_made_message_can_be_dispatched),
        SDK_CASE(a_message_that_an_agent_would_refuse_is_not_made),
        SDK_CASE(a_signal_dir_below_signals_works_too),
        SDK_CASE(a_failing_handler_gives_an_error_line_and_1),
        SDK_CASE(a_handler_that_fails_without_a_reason_gets_a_default_one),
        SDK_CASE(a_handler_that_does_not_finalize_is_completed),
        SDK_CASE(the_first_terminal_line_counts),
        SDK_CASE(no_handler_is_an_error),
        SDK_CASE(a_broken_state_directory_is_an_error_line),
        SDK_CASE(handlers_replace_each_other_and_get_their_user),
        SDK_CASE(a_bad_message_calls_and_writes_nothing),
        SDK_CASE(ten_megabytes_are_fine_unless_they_are_garbage),
        SDK_CASE(wrong_arguments_are_invalid),
        SDK_CASE(a_null_context_is_never_a_crash),
        SDK_CASE(an_error_struct_of_another_size_is_not_written),
        SDK_CASE(run_reads_standard_input_and_gives_0_or_1),
    };

    return cmocka_run_group_tests_name("sdk agent", tests, NULL, NULL);
}
