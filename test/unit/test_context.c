/* Tests context/context: what an agent can read and do, and the files it leaves. */
#include "test.h"

#include "context/context.h"
#include "fault.h"

static struct arena arena;
static struct agent_message m;
static struct context c;
static struct err e;
static char cwd[4096];

static int
enter(void **state)
{
    arena = (struct arena){ 0 };
    c = (struct context){ .signal_dir = -1, .state = { .dir = -1 } };
    if (case_enter(state) || !getcwd(cwd, sizeof cwd))
        return -1;
    make_dirs(".cliq/signals");
    make_dirs(".cliq/roles");
    make_dirs(".cliq/channels");
    fake_clock(1780034654222000000);
    return 0;
}

static int
leave(void **state)
{
    context_release(&c);
    arena_release(&arena);
    return case_leave(state);
}

#undef CASE
#define CASE(fact) cmocka_unit_test_setup_teardown(fact, enter, leave)

/* Opens a context for the message; `rest` follows signal_dir. */
static enum status
build(const char *type, const char *rest)
{
    struct buf b = { 0 };

    buf_addf(&b,
             "{\"version\":1,\"type\":\"%s\",\"agent\":\"my-agent\",\"instance_id\":\"run 1\","
             "\"team_name\":\"test\",\"req_key\":\"T-1\",\"project_dir\":\"%s\","
             "\"signal_dir\":\"%s/.cliq/signals\",%s}",
             type, cwd, cwd, rest);
    char *text = arena_dup(&arena, b.p, b.len);
    buf_release(&b);
    CHECK_OK(agent_message_parse(&arena, text, strlen(text), &m, &e), &e);
    return context_build(&arena, &m, &c, &e);
}

static enum status
build_phase(const char *phase, const char *payload, const char *targets)
{
    struct buf b = { 0 }, dirs = { 0 };
    char list[256];

    snprintf(list, sizeof list, "%s", targets);
    for (char *t = strtok(list, " "); t; t = strtok(NULL, " "))
        buf_addf(&dirs, "%s\"%s/.cliq/channels/%s--%s\"", dirs.len ? "," : "", cwd, phase, t);
    buf_addf(&b,
             "\"settings\":{\"api_key\":\"k\"},\"handoff_dirs\":[%s],"
             "\"payload\":{\"phase\":\"%s\"%s}",
             dirs.p ? dirs.p : "", phase, payload);
    enum status s = build("phase", b.p);
    buf_release(&b);
    buf_release(&dirs);
    return s;
}

#define STANDARD(phase, targets) CHECK_OK(build_phase(phase, "", targets), &e)
#define GATE                                                                                       \
    CHECK_OK(build_phase("reviewer",                                                               \
                         ",\"phase_type\":\"gate\",\"route_targets\":[\"developer\",\"architect\"" \
                         "],\"iteration\":1,\"max_iterations\":3,\"check_results\":[{\"name\":"    \
                         "\"npm test\",\"pass\":false,\"output\":\"x\",\"exit_code\":1}]",         \
                         "deploy developer architect"),                                            \
             &e)

static struct json *
parse(const char *text)
{
    struct json *v = NULL;

    assert_true(json_parse(&arena, text, strlen(text), &v, NULL));
    return v;
}

/* The member at a path of a JSON file: a text without quotes, anything else as JSON. */
static const char *
in_file(const char *name, const char *path)
{
    size_t len;
    char *text = read_file(name, &len);
    char *copy = arena_dup(&arena, text, len);
    struct buf b = { 0 };

    free(text);
    const struct json *v = json_path(parse(copy), path);
    if (!v)
        return "(none)";
    if (json_is(v, JSON_STRING))
        buf_add(&b, v->text.p, v->text.len);
    else
        json_write(&b, v);
    copy = arena_dup(&arena, b.p, b.len);
    buf_release(&b);
    return copy;
}

#define SIGNALS ".cliq/signals/"
#define TS      "{\"ts\":\"2026-05-29T06:04:14.222Z\",\"version\":1,\"type\":\"phase\","

/* ---- reading ---- */

static void
a_phase_knows_its_files(void **state)
{
    (void)state;
    write_file(".cliq/roles/analyst.md", "You are an analyst.\n");
    write_file(".cliq/req_spec.md", "Analyze the data.\n");
    write_file(".cliq/inputs.json", "{\"env\":\"staging\"}");
    write_file(".cliq/task_board.md", "# Task Board\n\n- [ ] analyst\n");
    make_dirs(".cliq/design/sub");
    write_file(".cliq/design/b.md", "B");
    write_file(".cliq/design/a.md", "A");
    write_file(".cliq/design/.hidden", "");
    assert_int_equal(symlink("/etc/passwd", ".cliq/design/link"), 0);
    CHECK_OK(build_phase("analyst", ",\"is_support\":true,\"action\":\"get\"", "reviewer"), &e);
    assert_string_equal(c.agent, "my-agent");
    assert_string_equal(c.phase, "analyst");
    assert_string_equal(c.phase_type, "standard");
    assert_string_equal(c.role, "You are an analyst.\n");
    assert_string_equal(c.req_spec, "Analyze the data.\n");
    assert_true(c.is_support);
    assert_false(c.is_gate);
    assert_true(json_eq(json_get(c.workflow_inputs, "env"), "staging"));
    assert_string_equal(c.board.text.p, "# Task Board\n\n- [ ] analyst\n");
    assert_int_equal(c.n_design_docs, 2);
    assert_string_equal(c.design_docs[0].name, "a.md");
    assert_string_equal(c.design_docs[1].text, "B");
    assert_int_equal(c.n_targets, 1);
    assert_string_equal(c.targets[0].name, "reviewer");
    assert_true(json_eq(json_get(c.settings, "api_key"), "k"));
    assert_true(json_eq(json_get(c.dispatch, "action"), "get"));
    assert_string_equal(c.project_dir, cwd);
    assert_string_equal(c.work_dir, cwd);
    assert_string_equal(c.team_name, "test");
    assert_string_equal(c.req_key, "T-1");
    assert_string_equal(c.instance_id, "run 1");
}

static void
an_empty_state_directory_is_enough(void **state)
{
    (void)state;
    remove_tree(".cliq");
    make_dirs(".cliq");
    STANDARD("analyst", "");
    assert_string_equal(c.role, "");
    assert_string_equal(c.req_spec, "");
    assert_string_equal(c.input_text, "");
    assert_int_equal(c.n_inputs, 0);
    assert_int_equal(c.n_targets, 0);
    assert_null(c.workflow_inputs);
}

static void
every_channel_that_leads_here_is_an_input(void **state)
{
    (void)state;
    make_dirs(".cliq/channels/researcher--analyst");
    make_dirs(".cliq/channels/critic--analyst");
    make_dirs(".cliq/channels/empty--analyst");
    make_dirs(".cliq/channels/researcher--other");
    make_dirs(".cliq/channels/analyst");
    write_file(".cliq/channels/researcher--analyst/handoff.json",
               "{\"version\":1,\"phase_type\":\"standard\",\"phase\":\"researcher\",\"agent\":"
               "\"exec\",\"data\":{\"n\":1},\"text\":\"Findings.\"}");
    write_file(".cliq/channels/critic--analyst/handoff.json", "{\"text\":\"Hm.\"}");
    write_file(".cliq/channels/critic--analyst/instructions.md", "Be kind.");
    write_file(".cliq/channels/researcher--other/handoff.json", "not json");
    STANDARD("analyst", "");
    assert_int_equal(c.n_inputs, 3);
    assert_string_equal(c.inputs[0].channel, "critic--analyst");
    assert_string_equal(c.inputs[0].from, "critic");
    assert_string_equal(c.inputs[0].instructions, "Be kind.");
    assert_string_equal(c.inputs[1].channel, "empty--analyst");
    assert_false(c.inputs[1].is_there);
    assert_string_equal(c.inputs[1].text, "");
    assert_string_equal(c.inputs[2].handoff.agent, "exec");
    assert_true(json_is(json_path(c.inputs[2].envelope, "data.n"), JSON_NUMBER));
    assert_string_equal(c.inputs[2].text, "```json\n{\n  \"n\": 1\n}\n```\n\nFindings.\n");
    assert_string_equal(c.input_text, "## critic--analyst\n\nHm.\n\n## researcher--analyst\n\n"
                                      "```json\n{\n  \"n\": 1\n}\n```\n\nFindings.\n");
}

static void
a_broken_handoff_is_named(void **state)
{
    (void)state;
    make_dirs(".cliq/channels/a--analyst");
    write_file(".cliq/channels/a--analyst/handoff.json", "{\n oops }");
    CHECK_FAILS_WITH(build_phase("analyst", "", ""), ST_INVALID, &e,
                     ".cliq/channels/a--analyst/handoff.json:2:2");
}

static void
broken_inputs_are_named(void **state)
{
    (void)state;
    write_file(".cliq/inputs.json", "[1]");
    CHECK_FAILS_WITH(build_phase("analyst", "", ""), ST_INVALID, &e, "inputs.json:1:1");
}

static void
a_role_has_its_variables_replaced(void **state)
{
    (void)state;
    make_dirs(".cliq/channels/triage--analyst");
    write_file(".cliq/channels/triage--analyst/handoff.json", "{\"data\":{\"severity\":\"high\"}}");
    write_file(".cliq/inputs.json", "{\"env\":\"staging\"}");
    write_file(".cliq/roles/analyst.md",
               "$(phase) of $(team_name): $(inputs.env), $(handoff.triage.severity), $(run_id)");
    STANDARD("analyst", "");
    assert_string_equal(c.role, "analyst of test: staging, high, run 1");
}

static void
a_role_with_an_unknown_variable_is_an_error(void **state)
{
    (void)state;
    write_file(".cliq/roles/analyst.md", "$(inputs.nope)");
    CHECK_FAILS_WITH(build_phase("analyst", "", ""), ST_INVALID, &e,
                     "roles/analyst.md: cannot resolve $(inputs.nope)");
}

static void
a_role_in_the_message_comes_first(void **state)
{
    (void)state;
    write_file(".cliq/roles/analyst.md", "$(inputs.nope)");
    CHECK_OK(build_phase("analyst", ",\"role\":\"Given $(inputs.nope).\"", ""), &e);
    assert_string_equal(c.role, "Given $(inputs.nope).");
}

static void
a_missing_state_directory_is_an_error(void **state)
{
    (void)state;
    CHECK_FAILS_WITH(build_phase("analyst", ",\"state_dir\":\"/nonexistent/frame\"", ""),
                     ST_NOT_FOUND, &e, "/nonexistent/frame");
}

static void
a_gate_knows_its_checks_and_targets(void **state)
{
    (void)state;
    GATE;
    assert_true(c.is_gate);
    assert_int_equal(c.n_route_targets, 2);
    assert_string_equal(c.route_targets[1], "architect");
    assert_int_equal(c.iteration, 1);
    assert_int_equal(c.max_iterations, 3);
    assert_int_equal(c.check_results->kids.count, 1);
}

static void
bad_route_targets_are_refused(void **state)
{
    (void)state;
    CHECK_FAILS_WITH(
        build_phase("g", ",\"phase_type\":\"gate\",\"route_targets\":[\"a\",\"../b\"]", ""),
        ST_INVALID, &e, "number 2 is not");
}

/* ---- writing ---- */

static void
send_writes_the_envelope_at_once(void **state)
{
    (void)state;
    STANDARD("analyst", "reviewer deploy");
    CHECK_OK(context_send(&c, "reviewer", NULL, "Analysis results here.", &e), &e);
    CHECK_FILE(".cliq/channels/analyst--reviewer/handoff.json",
               "{\n  \"version\": 1,\n  \"phase_type\": \"standard\",\n  \"phase\": \"analyst\",\n"
               "  \"agent\": \"my-agent\",\n  \"text\": \"Analysis results here.\"\n}\n");
    CHECK_OK(context_send(&c, "reviewer", parse("{\"n\":3}"), "x", &e), &e);
    assert_string_equal(in_file(".cliq/channels/analyst--reviewer/handoff.json", "data"),
                        "{\"n\":3}");
    assert_false(file_exists(".cliq/channels/analyst--deploy"));
}

static void
an_unknown_target_is_refused_and_the_known_ones_are_listed(void **state)
{
    (void)state;
    STANDARD("analyst", "reviewer deploy");
    CHECK_FAILS(context_send(&c, "nobody", NULL, "x", &e), ST_INVALID, &e,
                "phase analyst cannot send to \"nobody\": its targets are reviewer, deploy");
    CHECK_FAILS_WITH(context_send(&c, "reviewer", NULL, NULL, &e), ST_INVALID, &e,
                     "neither data nor text");
    context_release(&c);
    STANDARD("analyst", "");
    CHECK_FAILS_WITH(context_send(&c, "nobody", NULL, "x", &e), ST_INVALID, &e, "has no targets");
}

static void
files_go_below_the_phase(void **state)
{
    static const char *const bad[] = { "", "/etc/x", "../x", "a/../../x", "a/", "." };

    (void)state;
    STANDARD("fetch-data", "");
    CHECK_OK(context_write_file(&c, "report.json", "{}", 2, &e), &e);
    CHECK_FILE(".cliq/files/fetch-data/report.json", "{}");
    CHECK_OK(context_write_file(&c, "sub/dir/x", "y", 1, &e), &e);
    CHECK_FILE(".cliq/files/fetch-data/sub/dir/x", "y");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(context_write_file(&c, bad[i], "x", 1, &e), ST_INVALID);
    assert_false(file_exists(".cliq/files/x"));
}

static void
usage_is_reported_and_repeated_at_the_end(void **state)
{
    struct usage u = { .model = "m", .input_tokens = 3, .output_tokens = 4 };

    (void)state;
    STANDARD("analyst", "");
    CHECK_OK(context_usage(&c, &u, "thinks", &e), &e);
    u.output_tokens = 9;
    CHECK_OK(context_usage(&c, &u, NULL, &e), &e);
    CHECK_OK(context_complete(&c, parse("{\"a\":1}"), &e), &e);
    char *text = read_file(SIGNALS "analyst.jsonl", NULL);
    assert_non_null(strstr(text,
                           "\"status\":\"progress\",\"message\":\"thinks\",\"result\":{\"usage\":"
                           "{\"model\":\"m\",\"input_tokens\":3,\"output_tokens\":4}}"));
    assert_non_null(strstr(text, "\"status\":\"complete\",\"result\":{\"usage\":{\"model\":\"m\","
                                 "\"input_tokens\":3,\"output_tokens\":9},\"a\":1}"));
    free(text);
}

static void
signals_have_files_of_their_own(void **state)
{
    (void)state;
    STANDARD("analyst", "");
    CHECK_OK(context_signal(&c, "ready", parse("{\"a\":1}"), &e), &e);
    CHECK_FILE(SIGNALS "analyst_ready.json", "{\n  \"a\": 1\n}\n");
    CHECK_OK(context_signal(&c, "none", NULL, &e), &e);
    CHECK_FILE(SIGNALS "analyst_none.json", "null\n");
    assert_int_equal(context_signal(&c, "../x", NULL, &e), ST_INVALID);
    assert_int_equal(context_signal(&c, "command_results", parse("[]"), &e), ST_INVALID);
    assert_string_equal(e.text,
                        "the name of a signal command_results is reserved: choose another name");
    assert_int_equal(context_signal(&c, "routed", NULL, &e), ST_INVALID);
    assert_int_equal(count_files(SIGNALS), 2);
}

static void
every_status_of_a_phase_is_in_its_log(void **state)
{
    (void)state;
    STANDARD("analyst", "");
    CHECK_OK(context_ack(&c, &e), &e);
    CHECK_OK(context_progress(&c, "Starting...", &e), &e);
    CHECK_OK(context_notify(&c, "hug_review", "slack:elan", parse("{\"id\":7}"), &e), &e);
    CHECK_OK(context_notify(&c, "x", "email", NULL, &e), &e);
    CHECK_OK(context_complete(&c, parse("{\"done\":true}"), &e), &e);
    CHECK_FILE(SIGNALS "analyst.jsonl", TS
               "\"status\":\"ok\"}\n" TS "\"status\":\"progress\",\"message\":\"Starting...\"}\n" TS
               "\"status\":\"notify\",\"result\":{\"agent\":\"slack\",\"channel\":\"elan\","
               "\"event\":\"hug_review\",\"payload\":{\"id\":7}}}\n" TS
               "\"status\":\"notify\",\"result\":{\"agent\":\"email\",\"channel\":null,"
               "\"event\":\"x\",\"payload\":{}}}\n" TS
               "\"status\":\"complete\",\"result\":{\"done\":true}}\n");
}

static void
bad_notifications_are_refused(void **state)
{
    (void)state;
    STANDARD("analyst", "");
    assert_int_equal(context_notify(&c, "x", "", NULL, &e), ST_INVALID);
    assert_int_equal(context_notify(&c, "x", ":ops", NULL, &e), ST_INVALID);
    assert_int_equal(context_notify(&c, "x", "slack:", NULL, &e), ST_INVALID);
    assert_int_equal(context_notify(&c, "", "slack", NULL, &e), ST_INVALID);
    assert_false(file_exists(SIGNALS "analyst.jsonl"));
}

static void
only_the_first_terminal_line_counts(void **state)
{
    (void)state;
    STANDARD("analyst", "");
    CHECK_OK(context_fail(&c, "boom", &e), &e);
    CHECK_OK(context_complete(&c, NULL, &e), &e);
    CHECK_OK(context_finalize_standard(&c, &e), &e);
    CHECK_OK(context_fail(&c, "again", &e), &e);
    CHECK_FILE(SIGNALS "analyst.jsonl", TS "\"status\":\"error\",\"error\":\"boom\"}\n");
}

static void
a_very_long_error_is_truncated_not_lost(void **state)
{
    size_t len, n = 2 << 20;
    char *text = malloc(n + 1);

    (void)state;
    memset(text, 'a', n);
    text[n] = '\0';
    STANDARD("analyst", "");
    CHECK_OK(context_fail(&c, text, &e), &e);
    free(text);
    text = read_file(SIGNALS "analyst.jsonl", &len);
    assert_true(len > 65536 && len < 70000);
    free(text);
}

static void
the_board_is_written_only_when_dirty(void **state)
{
    (void)state;
    write_file(".cliq/task_board.md", "- [ ] analyst\n");
    STANDARD("analyst", "");
    append_file(".cliq/task_board.md", "by hand\n");
    CHECK_OK(context_write_board(&c, &e), &e);
    CHECK_FILE(".cliq/task_board.md", "- [ ] analyst\nby hand\n");
    board_mark(&c.board, "analyst", true);
    board_note(&c.board, "analyst", "OAuth2 done");
    CHECK_OK(context_finalize_standard(&c, &e), &e);
    CHECK_FILE(".cliq/task_board.md", "- [x] analyst\n  - OAuth2 done\nby hand\n");
    CHECK_FILE(SIGNALS "analyst.jsonl", TS "\"status\":\"complete\"}\n");
}

static void
parallel_phases_keep_each_others_marks(void **state)
{
    struct context first;
    struct agent_message first_m;

    (void)state;
    write_file(".cliq/task_board.md", "- [ ] a\n- [ ] b\n");
    STANDARD("a", "");
    first = c;
    first_m = m;
    first.msg = &first_m;
    STANDARD("b", "");
    board_mark(&first.board, "a", true);
    board_mark(&c.board, "b", true);
    CHECK_OK(context_finalize_standard(&first, &e), &e);
    CHECK_OK(context_finalize_standard(&c, &e), &e);
    CHECK_FILE(".cliq/task_board.md", "- [x] a\n- [x] b\n");
    context_release(&first);
}

static void
a_new_board_is_made_by_replacing(void **state)
{
    (void)state;
    STANDARD("a", "");
    board_replace(&c.board, "# Task Board\n");
    CHECK_OK(context_finalize_standard(&c, &e), &e);
    CHECK_FILE(".cliq/task_board.md", "# Task Board\n");
}

/* ---- gates ---- */

static void
a_route_goes_to_its_target(void **state)
{
    struct context_verdict v = { .outcome = "ROUTE",
                                 .target = "developer",
                                 .comment = "Tests fail." };

    (void)state;
    GATE;
    CHECK_OK(context_finalize_gate(&c, &v, &e), &e);
#define TO_DEV ".cliq/channels/reviewer--developer/handoff.json"
    assert_string_equal(in_file(TO_DEV, "phase_type"), "gate");
    assert_string_equal(in_file(TO_DEV, "phase"), "reviewer");
    assert_string_equal(in_file(TO_DEV, "agent"), "my-agent");
    assert_string_equal(in_file(TO_DEV, "data"),
                        "{\"verdict\":{\"outcome\":\"ROUTE\",\"target\":\"developer\",\"reason\":"
                        "\"Tests fail.\"},\"checks\":[{\"name\":\"npm test\",\"pass\":false}],"
                        "\"iteration\":1,\"max_iterations\":3}");
    assert_string_equal(in_file(TO_DEV, "text"), "ROUTE to developer: Tests fail.");
    assert_false(file_exists(".cliq/channels/reviewer--architect"));
    assert_false(file_exists(".cliq/channels/reviewer--deploy"));
    CHECK_FILE(SIGNALS "reviewer.jsonl",
               TS "\"status\":\"complete\",\"result\":{\"verdict\":{\"outcome\":\"ROUTE\","
                  "\"target\":\"developer\",\"reason\":\"Tests fail.\"}}}\n");
}

static void
a_pass_goes_to_the_successors_only(void **state)
{
    struct context_verdict v = { .outcome = "PASS",
                                 .target = "developer",
                                 .comment = "Good.",
                                 .reviewer = "elan",
                                 .decided_at = "2026-05-29T06:04:14Z" };

    (void)state;
    GATE;
    CHECK_OK(context_finalize_gate(&c, &v, &e), &e);
#define TO_DEPLOY ".cliq/channels/reviewer--deploy/handoff.json"
    assert_string_equal(in_file(TO_DEPLOY, "text"), "PASS: Good.");
    assert_string_equal(in_file(TO_DEPLOY, "data.verdict"),
                        "{\"outcome\":\"PASS\",\"reason\":\"Good.\"}");
    assert_string_equal(in_file(TO_DEPLOY, "data.reviewer"), "elan");
    assert_string_equal(in_file(TO_DEPLOY, "data.decided_at"), "2026-05-29T06:04:14Z");
    assert_false(file_exists(".cliq/channels/reviewer--developer"));
    CHECK_FILE(SIGNALS "reviewer.jsonl",
               TS "\"status\":\"complete\",\"result\":{\"verdict\":{\"outcome\":\"PASS\","
                  "\"reason\":\"Good.\"},\"reviewer\":\"elan\",\"decided_at\":"
                  "\"2026-05-29T06:04:14Z\"}}\n");
}

static void
a_handoff_that_the_gate_sent_itself_is_not_overwritten(void **state)
{
    struct context_verdict v = { .outcome = "PASS", .comment = "Good." };

    (void)state;
    GATE;
    CHECK_OK(context_send(&c, "deploy", parse("{\"mine\":1}"), NULL, &e), &e);
    CHECK_OK(context_finalize_gate(&c, &v, &e), &e);
    assert_string_equal(in_file(TO_DEPLOY, "data"), "{\"mine\":1}");
    assert_string_equal(in_file(TO_DEPLOY, "phase_type"), "gate");
}

static void
an_escalation_leaves_no_handoff(void **state)
{
    struct context_verdict v = { .outcome = "ESCALATE" };

    (void)state;
    GATE;
    CHECK_OK(context_finalize_gate(&c, &v, &e), &e);
    assert_int_equal(count_files(".cliq/channels"), 0);
    CHECK_FILE(SIGNALS "reviewer.jsonl", TS "\"status\":\"complete\",\"result\":{\"verdict\":{"
                                            "\"outcome\":\"ESCALATE\",\"reason\":\"\"}}}\n");
}

static void
a_bad_verdict_writes_nothing(void **state)
{
    struct context_verdict v = { .outcome = "ROUTE", .target = "nonexistent", .comment = "x" };

    (void)state;
    GATE;
    CHECK_FAILS(context_finalize_gate(&c, &v, &e), ST_INVALID, &e,
                "gate reviewer cannot route to \"nonexistent\": its route targets are developer, "
                "architect");
    v.target = NULL;
    CHECK_FAILS_WITH(context_finalize_gate(&c, &v, &e), ST_INVALID, &e, "cannot route to \"\"");
    v.outcome = "pass";
    CHECK_FAILS_WITH(context_finalize_gate(&c, &v, &e), ST_INVALID, &e,
                     "it must be PASS, ROUTE or ESCALATE");
    v.outcome = NULL;
    assert_int_equal(context_finalize_gate(&c, &v, &e), ST_INVALID);
    assert_int_equal(count_files(".cliq/channels"), 0);
    assert_int_equal(count_files(".cliq/signals"), 0);
    context_release(&c);
    STANDARD("analyst", "");
    v.outcome = "PASS";
    CHECK_FAILS_WITH(context_finalize_gate(&c, &v, &e), ST_INVALID, &e, "is not a gate");
}

/* ---- other messages ---- */

static void
notify_and_test_messages_have_logs_of_their_own(void **state)
{
    (void)state;
    CHECK_OK(build("test", "\"settings\":{}"), &e);
    assert_null(c.phase);
    CHECK_OK(context_ack(&c, &e), &e);
    CHECK_OK(context_complete(&c, parse("{\"passed\":true}"), &e), &e);
    assert_int_equal(context_send(&c, "x", NULL, "y", &e), ST_INVALID);
    assert_int_equal(context_write_file(&c, "x", "y", 1, &e), ST_INVALID);
    assert_int_equal(context_signal(&c, "x", NULL, &e), ST_INVALID);
    assert_int_equal(context_finalize_standard(&c, &e), ST_INVALID);
    assert_true(file_exists(SIGNALS "_test-my-agent-run_1.jsonl"));
    context_release(&c);
    CHECK_OK(build("notify", "\"payload\":{\"id\":\"../7\",\"notifications\":[]}"), &e);
    CHECK_OK(context_fail(&c, "no", &e), &e);
    assert_true(file_exists(SIGNALS "_notify-my-agent-.._7.jsonl"));
    assert_int_equal(count_files(SIGNALS), 2);
}

static void
a_prompt_is_built_from_the_context(void **state)
{
    struct buf b = { 0 };

    (void)state;
    make_dirs(".cliq/channels/developer--reviewer");
    make_dirs(".cliq/channels/reviewer--deploy");
    write_file(".cliq/channels/developer--reviewer/handoff.json", "{\"text\":\"Did it.\"}");
    write_file(".cliq/channels/reviewer--deploy/instructions.md", "Say when.");
    write_file(".cliq/req_spec.md", "A shop.");
    GATE;
    CHECK_OK(context_prompt(&c, &b, &e), &e);
    assert_non_null(strstr(b.p, "- .cliq/channels/developer--reviewer/ (handoff from developer)"));
    assert_non_null(strstr(b.p, "> Did it.\n"));
    assert_non_null(strstr(b.p, "### What deploy needs\n\nSay when.\n"));
    assert_non_null(strstr(b.p, "- npm test: FAIL (exit code 1)\n\n> x\n"));
    assert_non_null(strstr(b.p, "Iteration 1 of 3."));
    buf_release(&b);
}

static void
a_large_or_binary_document_is_named_in_the_prompt_only(void **state)
{
    char *large = malloc(((size_t)256 << 10) + 2);
    struct buf b = { 0 };

    (void)state;
    assert_non_null(large);
    memset(large, 'x', ((size_t)256 << 10) + 1);
    large[((size_t)256 << 10) + 1] = '\0';
    make_dirs(".cliq/design");
    write_file(".cliq/design/large.md", large);
    write_file(".cliq/design/photo.png", "\x89PNG\r\n\x1a\n\xff\xfe");
    write_file(".cliq/design/small.md", "The plan.");
    CHECK_OK(build_phase("analyst", "", "reviewer"), &e);
    assert_int_equal(c.n_design_docs, 3);
    assert_string_equal(c.design_docs[0].text, large); /* an agent gets it whole */
    assert_null(c.design_docs[1].text);
    CHECK_OK(context_prompt(&c, &b, &e), &e);
    assert_non_null(strstr(b.p, "### large.md\n\n(262145 bytes, not shown here: read the file "
                                ".cliq/design/large.md)\n"));
    assert_non_null(strstr(b.p, "### photo.png\n\n(10 bytes, not shown here: read the file "
                                ".cliq/design/photo.png)\n"));
    assert_non_null(strstr(b.p, "### small.md\n\n> The plan.\n"));
    assert_null(strstr(b.p, "xxxx"));
    buf_release(&b);
    free(large);
}

static void
a_channel_of_a_gate_is_in_the_prompt_once_work_was_sent_through_it(void **state)
{
    struct buf b = { 0 };

    (void)state;
    make_dirs(".cliq/channels/researcher--analyst");
    make_dirs(".cliq/channels/gate--analyst");
    CHECK_OK(build_phase("analyst", ",\"depends_on\":[\"researcher\"]", "reviewer"), &e);
    CHECK_OK(context_prompt(&c, &b, &e), &e);
    assert_non_null(strstr(b.p, "### From researcher\n\n(no handoff was left)"));
    assert_null(strstr(b.p, "gate--analyst"));
    context_release(&c);
    buf_reset(&b);
    write_file(".cliq/channels/gate--analyst/handoff.json", "{\"text\":\"Tests fail.\"}");
    CHECK_OK(build_phase("analyst", ",\"depends_on\":[\"researcher\"]", "reviewer"), &e);
    CHECK_OK(context_prompt(&c, &b, &e), &e);
    assert_non_null(strstr(b.p, "### From gate\n\n> Tests fail.\n"));
    context_release(&c);
    buf_reset(&b);
    CHECK_OK(build_phase("analyst", ",\"depends_on\":[]", "reviewer"), &e);
    CHECK_OK(context_prompt(&c, &b, &e), &e);
    assert_null(strstr(b.p, "researcher--analyst"));
    buf_release(&b);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_phase_knows_its_files),
        CASE(an_empty_state_directory_is_enough),
        CASE(every_channel_that_leads_here_is_an_input),
        CASE(a_broken_handoff_is_named),
        CASE(broken_inputs_are_named),
        CASE(a_role_has_its_variables_replaced),
        CASE(a_role_with_an_unknown_variable_is_an_error),
        CASE(a_role_in_the_message_comes_first),
        CASE(a_missing_state_directory_is_an_error),
        CASE(a_gate_knows_its_checks_and_targets),
        CASE(bad_route_targets_are_refused),
        CASE(send_writes_the_envelope_at_once),
        CASE(an_unknown_target_is_refused_and_the_known_ones_are_listed),
        CASE(files_go_below_the_phase),
        CASE(usage_is_reported_and_repeated_at_the_end),
        CASE(signals_have_files_of_their_own),
        CASE(every_status_of_a_phase_is_in_its_log),
        CASE(bad_notifications_are_refused),
        CASE(only_the_first_terminal_line_counts),
        CASE(a_very_long_error_is_truncated_not_lost),
        CASE(the_board_is_written_only_when_dirty),
        CASE(parallel_phases_keep_each_others_marks),
        CASE(a_new_board_is_made_by_replacing),
        CASE(a_route_goes_to_its_target),
        CASE(a_pass_goes_to_the_successors_only),
        CASE(a_handoff_that_the_gate_sent_itself_is_not_overwritten),
        CASE(an_escalation_leaves_no_handoff),
        CASE(a_bad_verdict_writes_nothing),
        CASE(notify_and_test_messages_have_logs_of_their_own),
        CASE(a_prompt_is_built_from_the_context),
        CASE(a_large_or_binary_document_is_named_in_the_prompt_only),
        CASE(a_channel_of_a_gate_is_in_the_prompt_once_work_was_sent_through_it),
    };
    return cmocka_run_group_tests_name("context", tests, NULL, NULL);
}
