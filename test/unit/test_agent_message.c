/* Tests context/agent_message: the messages that an agent accepts on standard input. */
#include "test.h"

#include "context/agent_message.h"

static struct arena arena;
static struct agent_message m;
static struct err e;

static int
enter(void **state)
{
    arena = (struct arena){ 0 };
    return case_enter(state);
}

static int
leave(void **state)
{
    arena_release(&arena);
    return case_leave(state);
}

#undef CASE
#define CASE(fact) cmocka_unit_test_setup_teardown(fact, enter, leave)

static enum status
parse(const char *text)
{
    /* allocated exactly, so that ASan detects a read past the end */
    size_t n = strlen(text);
    char *exact = arena_alloc(&arena, n ? n : 1);

    memcpy(exact, text, n);
    return agent_message_parse(&arena, exact, n, &m, &e);
}

#define HEAD  "{\"version\":1,\"type\":\"phase\",\"agent\":\"a\",\"signal_dir\":\"/p/.cliq/signals\""
#define PHASE HEAD ",\"payload\":{\"phase_type\":\"standard\",\"phase\":\"dev\"}"

static void
the_documented_example_is_read(void **state)
{
    (void)state;
    CHECK_OK(parse("{\n"
                   "\"version\": 1,\n"
                   "\"type\": \"phase\",\n"
                   "\"agent\": \"openai-analyst\",\n"
                   "\"instance_id\": \"test-1\",\n"
                   "\"team_name\": \"test\",\n"
                   "\"req_key\": \"TEST-1\",\n"
                   "\"project_dir\": \"/path/to/your/project\",\n"
                   "\"work_dir\": \"/path/to/your/project\",\n"
                   "\"signal_dir\": \"/path/to/your/project/.cliq/signals\",\n"
                   "\"handoff_dirs\": "
                   "[\"/path/to/your/project/.cliq/channels/analyst--reviewer\"],\n"
                   "\"input_artifacts\": [],\n"
                   "\"settings\": {},\n"
                   "\"payload\": { \"phase_type\": \"standard\", \"phase\": \"analyst\" }\n"
                   "}\n"),
             &e);
    assert_string_equal(m.type, "phase");
    assert_string_equal(m.agent, "openai-analyst");
    assert_string_equal(m.instance_id, "test-1");
    assert_string_equal(m.team_name, "test");
    assert_string_equal(m.req_key, "TEST-1");
    assert_string_equal(m.phase, "analyst");
    assert_string_equal(m.phase_type, "standard");
    assert_int_equal(m.n_handoff_dirs, 1);
    assert_string_equal(m.handoff_dirs[0],
                        "/path/to/your/project/.cliq/channels/analyst--reviewer");
    assert_string_equal(m.state_dir, "/path/to/your/project/.cliq");
    assert_true(json_is(m.settings, JSON_OBJECT));
    assert_true(json_is(m.input_artifacts, JSON_ARRAY));
}

static void
only_four_fields_are_required(void **state)
{
    (void)state;
    CHECK_OK(parse("{\"version\":1,\"type\":\"test\",\"agent\":\"a\",\"signal_dir\":\"/s\"}"), &e);
    assert_null(m.phase);
    assert_null(m.phase_type);
    assert_null(m.project_dir);
    assert_null(m.work_dir);
    assert_null(m.state_dir);
    assert_null(m.settings);
    assert_null(m.payload);
    assert_int_equal(m.n_handoff_dirs, 0);
    CHECK_OK(parse("{\"version\":1,\"type\":\"notify\",\"agent\":\"slack\",\"signal_dir\":\"/s\","
                   "\"payload\":{\"notifications\":[]}}"),
             &e);
}

static void
the_state_directory_is_given_or_derived(void **state)
{
    (void)state;
    CHECK_OK(parse(HEAD ",\"payload\":{\"phase\":\"dev\",\"state_dir\":\"/f/rame\"}}"), &e);
    assert_string_equal(m.state_dir, "/f/rame");
    assert_string_equal(m.phase_type, "standard");
#define WITH(signal_dir, more)                                                                     \
    "{\"version\":1,\"type\":\"phase\",\"agent\":\"a\",\"signal_dir\":\"" signal_dir               \
    "\",\"payload\":{\"phase\":\"dev\"}" more "}"
    CHECK_OK(parse(WITH("/p/.cliq/signals/dev/", "")), &e);
    assert_string_equal(m.state_dir, "/p/.cliq");
    CHECK_OK(parse(WITH("/signals/x/signals//y", "")), &e);
    assert_string_equal(m.state_dir, "/signals/x");
    CHECK_OK(parse(WITH("/tmp/else", ",\"project_dir\":\"/proj\"")), &e);
    assert_string_equal(m.state_dir, "/proj/.cliq");
    assert_string_equal(m.work_dir, "/proj");
    CHECK_OK(parse(WITH("/tmp/mysignals", ",\"project_dir\":\"/proj\"")), &e);
    assert_string_equal(m.state_dir, "/proj/.cliq");
    CHECK_FAILS_WITH(parse(WITH("/tmp/else", "")), ST_INVALID, &e,
                     "set payload.state_dir or project_dir");
}

static void
the_wrong_field_is_named(void **state)
{
    static const struct {
        const char *text, *says;
    } bad[] = {
        { "", "there is no message" },
        { " \n", "there is no message" },
        { "{", "message:1:2" },
        { "nope", "message:1:" },
        { "[]", "the message must be a JSON object" },
        { "{}", "the message has no version" },
        { "{\"version\":2}", "version is not 1" },
        { "{\"version\":\"1\"}", "version is not 1" },
        { "{\"version\":1}", "the message has no type: phase, notify or test" },
        { "{\"version\":1,\"type\":\"x\"}", "type \"x\" is not known" },
        { "{\"version\":1,\"type\":7}", "the message's type must be text" },
        { "{\"version\":1,\"type\":\"test\"}", "the message has no agent" },
        { "{\"version\":1,\"type\":\"test\",\"agent\":\"a\"}", "the message has no signal_dir" },
        { "{\"version\":1,\"type\":\"test\",\"agent\":\"../a\",\"signal_dir\":\"/s\"}",
          "agent name" },
        { "{\"version\":1,\"type\":\"test\",\"agent\":\"a\",\"signal_dir\":\"s\"}",
          "signal_dir must be an absolute path, not \"s\"" },
        { "{\"version\":1,\"type\":\"test\",\"agent\":\"a\",\"signal_dir\":\"/s\\u0000\"}",
          "signal_dir holds a NUL byte" },
        { HEAD "}", "the message has no payload.phase" },
        { HEAD ",\"payload\":[]}", "the message's payload must be an object" },
        { HEAD ",\"settings\":[]}", "the message's settings must be an object" },
        { HEAD ",\"input_artifacts\":{}}", "the message's input_artifacts must be a list" },
        { HEAD ",\"payload\":{\"phase\":7}}", "payload.phase must be text" },
        { HEAD ",\"payload\":{\"phase\":\"../x\"}}", "payload.phase \"../x\" is not a name" },
        { HEAD ",\"payload\":{\"phase\":\"a--b\"}}", "is not a name of a phase" },
        { HEAD ",\"payload\":{\"phase\":\"a\",\"phase_type\":\"x\"}}",
          "payload.phase_type \"x\" is not known" },
        { HEAD ",\"payload\":{\"phase\":\"a\",\"state_dir\":\"x\"}}",
          "payload.state_dir must be an absolute path" },
        { PHASE ",\"project_dir\":\"rel\"}", "project_dir must be an absolute path" },
        { PHASE ",\"handoff_dirs\":{}}", "handoff_dirs must be a list" },
        { PHASE ",\"handoff_dirs\":[\"/a\",\"b\"]}", "number 2 is not" },
        { PHASE ",\"handoff_dirs\":[7]}", "number 1 is not" },
        { PHASE ",\"handoff_dirs\":[\"\"]}", "number 1 is not" },
        { PHASE ",\"handoff_dirs\":[\"/a\\u0000\"]}", "number 1 is not" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK_FAILS_WITH(parse(bad[i].text), ST_INVALID, &e, bad[i].says);
}

static void
unknown_fields_are_kept(void **state)
{
    (void)state;
    CHECK_OK(parse(PHASE ",\"new\":{\"x\":1},\"settings\":null}"), &e);
    assert_non_null(json_get(m.root, "new"));
    assert_null(m.settings);
}

static void
slashes_at_the_end_of_a_channel_are_dropped(void **state)
{
    (void)state;
    CHECK_OK(parse(PHASE ",\"handoff_dirs\":[\"/c/a--b//\",\"/\"]}"), &e);
    assert_string_equal(m.handoff_dirs[0], "/c/a--b");
    assert_string_equal(m.handoff_dirs[1], "/");
}

static void
what_is_written_is_read_back(void **state)
{
    const char *dirs[] = { "/p/.cliq/channels/dev--qa", "/p/.cliq/channels/dev--\"odd\"" };
    struct json *artifacts = NULL, *settings = NULL;
    struct buf text = { 0 };

    (void)state;
    assert_true(json_parse(&arena, "[{\"name\":\"x\"}]", 14, &artifacts, NULL));
    assert_true(json_parse(&arena, "{\"model\":\"m\"}", 13, &settings, NULL));
    struct agent_message out = { .type = "phase",
                                 .agent = "exec",
                                 .instance_id = "i-1",
                                 .team_name = "@a/b",
                                 .req_key = "R-1",
                                 .project_dir = "/p",
                                 .work_dir = "/p/work",
                                 .signal_dir = "/p/.cliq/signals",
                                 .handoff_dirs = dirs,
                                 .n_handoff_dirs = 2,
                                 .input_artifacts = artifacts,
                                 .settings = settings,
                                 .phase = "dev",
                                 .phase_type = "gate",
                                 .state_dir = "/elsewhere" };
    agent_message_begin(&text, &out);
    json_key_int(&text, "attempt", 2);
    CHECK_OK(agent_message_end(&text, &e), &e);
    assert_int_equal(text.p[text.len - 1], '\n');
    CHECK_OK(parse(text.p), &e);
#define SAME(field) assert_string_equal(m.field, out.field)
    SAME(type);
    SAME(agent);
    SAME(instance_id);
    SAME(team_name);
    SAME(req_key);
    SAME(project_dir);
    SAME(work_dir);
    SAME(signal_dir);
    SAME(handoff_dirs[0]);
    SAME(handoff_dirs[1]);
    SAME(phase);
    SAME(phase_type);
    SAME(state_dir);
    const struct field *row = agent_message_fields; /* the table has what is written, in order */
    json_each (v, m.root) {
        assert_non_null(row->key);
        assert_string_equal(arena_dup(&arena, v->key, v->key_len), row->key);
        row++;
    }
    assert_null(row->key);
    assert_int_equal(m.n_handoff_dirs, 2);
    assert_true(json_same(m.input_artifacts, artifacts));
    assert_true(json_same(m.settings, settings));
    int64_t attempt;
    assert_true(json_int(json_get(m.payload, "attempt"), &attempt));
    assert_int_equal(attempt, 2);
    buf_release(&text);
}

static void
what_is_not_given_is_written_empty(void **state)
{
    struct buf text = { 0 };
    struct agent_message out = {
        .type = "notify", .agent = "slack", .project_dir = "/p", .signal_dir = "/s"
    };

    (void)state;
    agent_message_begin(&text, &out);
    CHECK_OK(agent_message_end(&text, &e), &e);
    assert_string_equal(text.p,
                        "{\"version\":1,\"type\":\"notify\",\"agent\":\"slack\",\"team_name\":"
                        "\"\",\"req_key\":\"\",\"project_dir\":\"/p\",\"work_dir\":\"/p\","
                        "\"signal_dir\":\"/s\",\"handoff_dirs\":[],\"input_artifacts\":[],"
                        "\"settings\":{},\"payload\":{}}\n");
    CHECK_OK(parse(text.p), &e);
    buf_release(&text);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(the_documented_example_is_read),
        CASE(only_four_fields_are_required),
        CASE(the_state_directory_is_given_or_derived),
        CASE(the_wrong_field_is_named),
        CASE(unknown_fields_are_kept),
        CASE(slashes_at_the_end_of_a_channel_are_dropped),
        CASE(what_is_written_is_read_back),
        CASE(what_is_not_given_is_written_empty),
    };
    return cmocka_run_group_tests_name("message", tests, NULL, NULL);
}
