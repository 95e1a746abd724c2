/*
 * Tests the context of a cliq.h handler: every documented field, handoffs, files, the board.
 */
#include "sdks.h"

#include "base/json.h"

#include <fcntl.h>
#include <sys/stat.h>

/* ---- reading ---- */

static cliq_status
knows(cliq_context *ctx, void *user, cliq_error *e)
{
    char path[4200];

    EXPECT(user == &calls);
    SAME(cliq_context_type(ctx), "phase");
    SAME(cliq_context_agent(ctx), "openai-analyst");
    SAME(cliq_context_phase(ctx), "analyst");
    SAME(cliq_context_phase_type(ctx), "standard");
    SAME(cliq_context_role(ctx), "You are an analyst.");
    SAME(cliq_context_req_spec(ctx), "Analyze the data.");
    EXPECT(cliq_context_is_support(ctx) == 1);
    SAME(cliq_context_instance_id(ctx), "test-1");
    SAME(cliq_context_team_name(ctx), "test");
    SAME(cliq_context_req_key(ctx), "TEST-1");
    SAME(cliq_context_project_dir(ctx), cwd);
    SAME(cliq_context_work_dir(ctx), cwd);
    snprintf(path, sizeof path, "%s/.cliq", cwd);
    SAME(cliq_context_state_dir(ctx), path);
    snprintf(path, sizeof path, "%s/.cliq/signals", cwd);
    SAME(cliq_context_signal_dir(ctx), path);

    EXPECT(cliq_context_input_count(ctx) == 2); /* the empty channel has no handoff */
    SAME(cliq_context_input_channel(ctx, 0), "critic--analyst");
    SAME(cliq_context_input_channel(ctx, 1), "researcher--analyst");
    EXPECT(!cliq_context_input_channel(ctx, 2));
    SAME(cliq_context_input_text(ctx, "critic--analyst"), "Hm.\n");
    SAME(cliq_context_input_text(ctx, "critic"), "Hm.\n");
    EXPECT(!cliq_context_input_text(ctx, "nobody--analyst"));
    EXPECT(!cliq_context_input_text(ctx, "empty--analyst"));
    EXPECT(strstr(cliq_context_input_text(ctx, NULL), "## researcher--analyst\n\n```json\n{"));
    SAME(cliq_context_input(ctx, "researcher--analyst", "data.files[1]"), "b.c");
    SAME(cliq_context_input(ctx, "researcher", "data"), "{\"files\":[\"a.c\",\"b.c\"]}");
    EXPECT(strstr(cliq_context_input(ctx, "researcher", NULL), "\"agent\":\"exec\""));
    EXPECT(!cliq_context_input(ctx, "researcher", "data.none"));
    EXPECT(!cliq_context_input(ctx, "nobody", NULL));

    SAME(cliq_context_dispatch(ctx, "action"), "get_issue");
    SAME(cliq_context_dispatch(ctx, "phase_config.action"), "get_issue");
    SAME(cliq_context_dispatch(ctx, "sources[0].name"), "report.json");
    SAME(cliq_context_dispatch(ctx, "sources"), "[{\"name\":\"report.json\",\"ref\":\"r\"}]");
    EXPECT(!cliq_context_dispatch(ctx, "model"));
    EXPECT(!cliq_context_dispatch(ctx, "review")); /* null counts as absent */
    EXPECT(strstr(cliq_context_dispatch(ctx, NULL), "\"phase\":\"analyst\""));
    SAME(cliq_context_payload(ctx, "action"), "get_issue");

    EXPECT(cliq_context_design_doc_count(ctx) == 2);
    SAME(cliq_context_design_doc_name(ctx, 1), "b.md");
    EXPECT(!cliq_context_design_doc_name(ctx, 2));
    SAME(cliq_context_design_doc(ctx, "a.md"), "A");
    EXPECT(!cliq_context_design_doc(ctx, "c.md"));
    SAME(cliq_context_workflow_inputs(ctx, "env"), "staging");
    SAME(cliq_context_workflow_inputs(ctx, NULL), "{\"env\":\"staging\"}");
    EXPECT(cliq_context_target_count(ctx) == 2);
    SAME(cliq_context_target(ctx, 0), "reviewer");
    SAME(cliq_context_target(ctx, 1), "security-auditor");
    EXPECT(!cliq_context_target(ctx, 2));

    SAME(cliq_context_settings(ctx, "api_key"), "k");
    SAME(cliq_context_settings(ctx, "channels.ops.webhook_url"), "http://x");
    SAME(cliq_context_settings(ctx, "dotted.key"), "d");
    SAME(cliq_context_settings(ctx, "retries"), "3");
    EXPECT(!cliq_context_settings(ctx, "none"));
    EXPECT(!cliq_context_settings(ctx, "a..b"));
    SAME(cliq_context_message(ctx, "version"), "1");
    SAME(cliq_context_message(ctx, "input_artifacts[0].type"), "inline");
    EXPECT(cliq_context_message(ctx, "handoff_dirs[1]"));
    EXPECT(strstr(cliq_context_message(ctx, NULL), "\"req_key\":\"TEST-1\""));
    EXPECT(strstr(cliq_context_prompt(ctx), "You are an analyst."));

    EXPECT(cliq_context_check_count(ctx) == 0);
    EXPECT(cliq_context_route_target_count(ctx) == 0);
    calls++;
    return CLIQ_OK;
}

static void
a_phase_knows_every_field_of_the_table(void **state)
{
    (void)state;
    write_file(".cliq/roles/analyst.md", "You are an analyst.");
    write_file(".cliq/req_spec.md", "Analyze the data.");
    write_file(".cliq/inputs.json", "{\"env\":\"staging\"}");
    make_dirs(".cliq/design");
    write_file(".cliq/design/a.md", "A");
    write_file(".cliq/design/b.md", "B");
    make_dirs(".cliq/channels/researcher--analyst");
    make_dirs(".cliq/channels/critic--analyst");
    make_dirs(".cliq/channels/empty--analyst");
    write_file(".cliq/channels/critic--analyst/handoff.json", "{\"text\":\"Hm.\"}");
    write_file(".cliq/channels/researcher--analyst/handoff.json",
               "{\"version\":1,\"phase_type\":\"standard\",\"phase\":\"researcher\",\"agent\":"
               "\"exec\",\"data\":{\"files\":[\"a.c\",\"b.c\"]},\"text\":\"Findings.\"}");
    cliq_agent_on(agent, "phase:standard", knows, &calls);
    RUNS(dispatch(message("phase",
                          "\"phase_type\":\"standard\",\"phase\":\"analyst\",\"is_support\":true,"
                          "\"action\":\"get_issue\",\"review\":null,\"sources\":[{\"name\":"
                          "\"report.json\",\"ref\":\"r\"}]",
                          "analyst--reviewer analyst--security-auditor",
                          "\"settings\":{\"api_key\":\"k\",\"retries\":3,\"dotted.key\":\"d\","
                          "\"channels\":{\"ops\":{\"webhook_url\":\"http://x\"}}},")));
    assert_int_equal(calls, 1);
}

static cliq_status
knows_little(cliq_context *ctx, void *user, cliq_error *e)
{
    (void)user;
    SAME(cliq_context_role(ctx), "");
    SAME(cliq_context_req_spec(ctx), "");
    SAME(cliq_context_input_text(ctx, NULL), "");
    EXPECT(!cliq_context_workflow_inputs(ctx, NULL));
    SAME(cliq_context_settings(ctx, NULL), "{}");
    SAME(cliq_board_content(ctx), "");
    return CLIQ_OK;
}

static void
an_empty_state_directory_is_enough(void **state)
{
    (void)state;
    RUNS(dispatch_to("phase:standard", knows_little, STANDARD));
}

/* ---- writing ---- */

static cliq_status
sends(cliq_context *ctx, void *user, cliq_error *e)
{
    (void)user;
    EXPECT(cliq_send_text(ctx, "nobody", "x", e) == CLIQ_INVALID);
    SAME(e->text, "phase analyst cannot send to \"nobody\": its targets are reviewer");
    EXPECT(cliq_send(ctx, "reviewer", NULL, NULL, e) == CLIQ_INVALID);
    EXPECT(cliq_send(ctx, "reviewer", "{", "x", e) == CLIQ_INVALID);
    EXPECT(cliq_send(ctx, "reviewer", "[1]", "x", e) == CLIQ_INVALID);
    SAME(e->text, "the handoff's data: it must be a JSON object");
    EXPECT(access(HANDOFF, F_OK) != 0); /* nothing has been written yet */
    return cliq_send(ctx, "reviewer", "{\"files_changed\":3,\"test_count\":12,\"coverage\":94.2}",
                     "Implementation complete. 12 tests pass with 94.2% coverage.", e);
}

static void
a_handoff_has_data_and_text(void **state)
{
    (void)state;
    RUNS(dispatch_to("phase:standard", sends, STANDARD));
    assert_string_equal(in_file(HANDOFF, "data.coverage"), "94.2");
    assert_string_equal(in_file(HANDOFF, "text"),
                        "Implementation complete. 12 tests pass with 94.2% coverage.");
}

static void
a_string_payload_is_text_only(void **state)
{
    (void)state;
    RUNS(dispatch_to("phase:standard", send_results, STANDARD));
    assert_string_equal(in_file(HANDOFF, "data"), "(none)");
}

static cliq_status
sends_to_nobody(cliq_context *ctx, void *user, cliq_error *e)
{
    (void)user;
    return cliq_send_text(ctx, "nobody", "x", e);
}

static void
an_unknown_target_fails_the_phase(void **state)
{
    (void)state;
    assert_int_equal(dispatch_to("phase:standard", sends_to_nobody, STANDARD), CLIQ_FAILED);
    assert_string_equal(in_line(ANALYST, -1, "error"),
                        "phase analyst cannot send to \"nobody\": its targets are reviewer");
}

static cliq_status
writes(cliq_context *ctx, void *user, cliq_error *e)
{
    (void)user;
    EXPECT(!cliq_write_file(ctx, "report.csv", "a\0b", 3, e));
    EXPECT(!cliq_write_file(ctx, "sub/empty", NULL, 0, e));
    EXPECT(cliq_write_file(ctx, "../x", "x", 1, e) == CLIQ_INVALID);
    EXPECT(cliq_write_file(ctx, "/x", "x", 1, e) == CLIQ_INVALID);
    EXPECT(!cliq_progress(ctx, "Starting analysis...", e));
    EXPECT(!cliq_progressf(ctx, "Iteration %d...", 2));
    EXPECT(!cliq_signal(ctx, "coverage", "{\"lines\":94.2}", e));
    EXPECT(!cliq_signal(ctx, "empty", NULL, e));
    EXPECT(cliq_signal(ctx, "../x", "{}", e) == CLIQ_INVALID);
    EXPECT(cliq_signal(ctx, "x", "{]", e) == CLIQ_INVALID);
    EXPECT(cliq_signal(ctx, "command_results", "[]", e) == CLIQ_INVALID && *e->text);
    EXPECT(!cliq_progress(ctx, "A success clears the text of the failure.", e) && !*e->text);
    EXPECT(!cliq_register_notification(ctx, "hug_review", "slack:oncall", "{\"url\":\"u\"}", e));
    EXPECT(!cliq_register_notification(ctx, "done", "email", NULL, e));
    EXPECT(cliq_register_notification(ctx, "", "email", NULL, e) == CLIQ_INVALID);
    EXPECT(cliq_register_notification(ctx, "x", ":ops", NULL, e) == CLIQ_INVALID);
    EXPECT(cliq_register_notification(ctx, "x", "email", "3", e) == CLIQ_INVALID);
    return CLIQ_OK;
}

static void
files_progress_signals_and_notifications(void **state)
{
    size_t len;

    (void)state;
    RUNS(dispatch_to("phase:standard", writes, STANDARD));
    char *file = read_file(".cliq/files/analyst/report.csv", &len);
    assert_int_equal(len, 3);
    assert_memory_equal(file, "a\0b", 3);
    free(file);
    CHECK_FILE(".cliq/files/analyst/sub/empty", "");
    assert_string_equal(in_line(ANALYST, 1, "status"), "progress");
    assert_string_equal(in_line(ANALYST, 1, "message"), "Starting analysis...");
    assert_string_equal(in_line(ANALYST, 2, "message"), "Iteration 2...");
    assert_string_equal(in_file(".cliq/signals/analyst_coverage.json", "lines"), "94.2");
    assert_string_equal(in_file(".cliq/signals/analyst_empty.json", ""), "{}");
    assert_string_equal(in_line(ANALYST, 4, "status"), "notify");
    assert_string_equal(in_line(ANALYST, 4, "result"),
                        "{\"agent\":\"slack\",\"channel\":\"oncall\",\"event\":\"hug_review\","
                        "\"payload\":{\"url\":\"u\"}}");
    assert_string_equal(in_line(ANALYST, 5, "result.channel"), "null");
    assert_string_equal(in_line(ANALYST, 6, "status"), "complete");
    assert_int_equal(count_lines(ANALYST), 7);
}

#define BOARD "# Task Board\n\n- [ ] analyst\n- [x] researcher\n"

/* ---- the board ---- */

static cliq_status
uses_board(cliq_context *ctx, void *user, cliq_error *e)
{
    (void)user;
    SAME(cliq_board_content(ctx), BOARD);
    EXPECT(!cliq_board_mark_complete(ctx, "researcher"));  /* it is marked */
    EXPECT(!cliq_board_mark_incomplete(ctx, "analyst"));   /* it is incomplete */
    EXPECT(!cliq_board_mark_complete(ctx, "nobody"));      /* no such phase */
    EXPECT(!cliq_board_add_note(ctx, "nobody", "a note")); /* no such phase */
    EXPECT(!cliq_board_is_dirty(ctx));
    if (calls++ == 0)
        return CLIQ_OK;
    EXPECT(!cliq_board_mark_complete(ctx, cliq_context_phase(ctx)));
    EXPECT(!cliq_board_add_note(ctx, "analyst", "OAuth2 PKCE flow implemented"));
    EXPECT(!cliq_board_mark_incomplete(ctx, "researcher"));
    EXPECT(cliq_board_is_dirty(ctx));
    EXPECT(strstr(cliq_board_content(ctx), "- [x] analyst\n  - OAuth2 PKCE flow implemented\n"));
    return cliq_finalize_standard(ctx, e);
}

static void
the_board_is_written_only_when_it_was_changed(void **state)
{
    (void)state;
    write_file(".cliq/task_board.md", BOARD);
    ino_t inode, again;
    struct stat st;
    assert_int_equal(stat(".cliq/task_board.md", &st), 0);
    inode = st.st_ino;
    RUNS(dispatch_to("phase:standard", uses_board, STANDARD));
    assert_int_equal(stat(".cliq/task_board.md", &st), 0);
    again = st.st_ino;
    assert_true(inode == again); /* not even replaced by the same text */
    RUNS(dispatch(STANDARD));
    CHECK_FILE(".cliq/task_board.md",
               "# Task Board\n\n- [x] analyst\n  - OAuth2 PKCE flow implemented\n- [ ] "
               "researcher\n");
}

static cliq_status
replaces_board(cliq_context *ctx, void *user, cliq_error *e)
{
    (void)user, (void)e;
    EXPECT(!cliq_board_replace(ctx, "# New\n"));
    SAME(cliq_board_content(ctx), "# New\n");
    return CLIQ_OK;
}

static void
a_board_can_be_replaced(void **state)
{
    (void)state;
    RUNS(dispatch_to("phase:standard", replaces_board, STANDARD));
    CHECK_FILE(".cliq/task_board.md", "# New\n");
}

static cliq_status
marks_and_fails(cliq_context *ctx, void *user, cliq_error *e)
{
    (void)user, (void)e;
    cliq_board_mark_complete(ctx, "analyst");
    return CLIQ_FAILED;
}

static void
a_failed_phase_leaves_the_board_alone(void **state)
{
    (void)state;
    write_file(".cliq/task_board.md", BOARD);
    assert_int_equal(dispatch_to("phase:standard", marks_and_fails, STANDARD), CLIQ_FAILED);
    CHECK_FILE(".cliq/task_board.md", BOARD);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        SDK_CASE(a_phase_knows_every_field_of_the_table),
        SDK_CASE(an_empty_state_directory_is_enough),
        SDK_CASE(a_handoff_has_data_and_text),
        SDK_CASE(a_string_payload_is_text_only),
        SDK_CASE(an_unknown_target_fails_the_phase),
        SDK_CASE(files_progress_signals_and_notifications),
        SDK_CASE(the_board_is_written_only_when_it_was_changed),
        SDK_CASE(a_board_can_be_replaced),
        SDK_CASE(a_failed_phase_leaves_the_board_alone),
    };

    return cmocka_run_group_tests_name("sdk context", tests, NULL, NULL);
}
