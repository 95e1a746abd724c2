/* Tests what decides about an ACP agent: its command, its permissions, the answers of people. */
#include "test.h"

#include "agents/acp/acp_command.h"
#include "agents/acp/acp_permission.h"
#include "agents/acp/acp_person.h"

static struct arena arena;
static struct err e;

static int
leave(void **state)
{
    arena_release(&arena);
    return case_leave(state);
}

#define ACP_CASE(fact) cmocka_unit_test_setup_teardown(fact, case_enter, leave)

/* The words, each in [], or the error. */
static const char *
split(const char *text)
{
    static char shown[512];
    const char *const *argv;
    struct buf b = { 0 };

    if (acp_command_split(&arena, text, &argv, &e))
        return e.text;
    for (; *argv; argv++)
        buf_addf(&b, "[%s]", *argv);
    snprintf(shown, sizeof shown, "%s", b.p);
    buf_release(&b);
    return shown;
}

static void
a_command_is_split_as_a_shell_would_and_asks_for_no_shell(void **state)
{
    (void)state;
    assert_string_equal(split("goose acp"), "[goose][acp]");
    assert_string_equal(split("  a\t\"b c\"'d e'  f\\ g \n"), "[a][b cd e][f g]");
    assert_string_equal(split("a '' \"\" 'x\\y' \"x\\\"y\\z\""), "[a][][][x\\y][x\"y\\z]");
    assert_string_equal(split("a --x=~ 'p|q' '$HOME' #1"), "[a][--x=~][p|q][$HOME][#1]");
    assert_non_null(strstr(split("a | b"), "quote the \"|\""));
    assert_non_null(strstr(split("$AGENT acp"), "quote the \"$\""));
    assert_non_null(strstr(split("~/bin/a"), "quote the \"~\""));
    assert_non_null(strstr(split("a \"$HOME\""), "in single quotes"));
    assert_non_null(strstr(split("a 'b"), "a quote without its end"));
    assert_string_equal(split("  "), "the command is empty");
    assert_string_equal(split("'' a"), "the command is empty");
}

static const struct json *
parse(const char *text)
{
    struct json *v;

    assert_true(json_parse(&arena, text, strlen(text), &v, NULL));
    return v;
}

static void
the_answer_to_a_request_is_what_the_table_says(void **state)
{
    (void)state;
    static const struct {
        const char *call; /* members of it */
        const char *want; /* for read, edit, all, ask: allow, reject, person */
    } rows[] = {
        { "\"kind\":\"read\",\"locations\":[{\"path\":\"a\"}]", "aaaa" },
        { "\"kind\":\"search\"", "aaaa" },
        { "\"kind\":\"fetch\"", "aaaa" },
        { "\"kind\":\"edit\",\"locations\":[{\"path\":\"a\"}]", "raap" },
        { "\"kind\":\"delete\"", "raap" },
        { "\"kind\":\"execute\"", "raap" },
        { "\"kind\":\"switch_mode\"", "raap" },
        { "\"kind\":null", "raap" },
        { "\"kind\":\"read\",\"locations\":[{\"path\":\"a\"},{\"path\":\"/etc/passwd\"}]", "rrar" },
        { "\"kind\":\"edit\",\"content\":[{\"type\":\"diff\",\"path\":\"/etc/x\"}]", "rrar" },
        { "\"kind\":\"edit\",\"rawInput\":{\"filePath\":\"../x\"}", "rrar" },
    };
    static const enum acp_policy policies[] = { ACP_READ, ACP_EDIT, ACP_ALL, ACP_ASK };
    struct work_dir w;
    char in[4096], cwd[2048];
    const char *outside;

    make_dirs("w");
    assert_non_null(getcwd(cwd, sizeof cwd));
    snprintf(in, sizeof in, "%s/w", cwd);
    CHECK_OK(work_dir_open(&w, in, NULL, &e), &e);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct acp_tools tools = { .arena = &arena };
        struct buf call = { 0 };
        bool is_new;
        buf_addf(&call, "{\"toolCallId\":\"t\",%s}", rows[i].call);
        struct acp_tool *tool = acp_tools_take(&tools, parse(call.p), &is_new);
        assert_true(tool && is_new);
        for (int k = 0; k < 4; k++) {
            char got = "arp"[acp_permission(policies[k], tool, &w, &outside)];
            if (got != rows[i].want[k])
                fail_msg("%s: policy %d says %c", rows[i].call, policies[k], got);
        }
        buf_release(&call);
    }
    work_dir_release(&w);
}

static void
a_tool_keeps_what_was_told_before(void **state)
{
    (void)state;
    struct acp_tools tools = { .arena = &arena };
    bool is_new;
    struct acp_tool *one = acp_tools_take(&tools,
                                          parse("{\"toolCallId\":\"a\",\"title\":\"Edit\",\"kind\":"
                                                "\"edit\",\"locations\":[{\"path\":\"/x\"}]}"),
                                          &is_new);
    struct acp_tool *same = acp_tools_take(&tools,
                                           parse("{\"toolCallId\":\"a\",\"title\":null,\"status\":"
                                                 "\"pending\",\"locations\":[{\"path\":\"/x\"}]}"),
                                           &is_new);

    assert_ptr_equal(one, same);
    assert_false(is_new);
    assert_string_equal(one->title, "Edit");
    assert_string_equal(one->status, "pending");
    assert_null(one->paths->next);
    assert_false(acp_tools_grant(&tools, "/x"));
    one->is_granted = true;
    assert_true(acp_tools_grant(&tools, "/x"));
    assert_false(acp_tools_grant(&tools, "/y"));
    assert_null(acp_tools_take(&tools, parse("{\"title\":\"no id\"}"), &is_new));
}

static void
a_command_that_a_person_allowed_runs_once(void **state)
{
    (void)state;
    static const struct {
        const char *tool, *line;
        bool is_granted;
    } rows[] = {
        { "\"kind\":\"execute\",\"rawInput\":{\"command\":\"make\"}", "make", true },
        { "\"kind\":\"execute\",\"rawInput\":{\"cmd\":\"make\"}", "make", true },
        { "\"kind\":\"execute\",\"title\":\"make\",\"rawInput\":{\"command\":\"ls\"}", "make",
          false },
        { "\"kind\":\"execute\",\"title\":\"make\"", "make", true },
        { "\"kind\":\"execute\",\"title\":\"`make`\"", "make", true },
        { "\"kind\":\"execute\",\"title\":\"Shell: make\"", "make", true },
        { "\"kind\":\"execute\",\"title\":\"make clean\"", "make", false },
        { "\"kind\":\"execute\",\"title\":\"`\"", "`", true },
        { "\"kind\":\"edit\",\"title\":\"make\"", "make", false },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct acp_tools tools = { .arena = &arena };
        char call[256];
        bool is_new;
        snprintf(call, sizeof call, "{\"toolCallId\":\"t\",%s}", rows[i].tool);
        struct acp_tool *tool = acp_tools_take(&tools, parse(call), &is_new);
        assert_false(acp_tools_grant_command(&tools, rows[i].line));
        tool->is_granted = true;
        if (acp_tools_grant_command(&tools, rows[i].line) != rows[i].is_granted)
            fail_msg("%s: %s", rows[i].tool, rows[i].line);
        assert_false(acp_tools_grant_command(&tools, rows[i].line));
    }
}

static void
the_narrowest_option_is_taken(void **state)
{
    (void)state;
    const struct json *all = parse("[{\"optionId\":\"1\",\"kind\":\"allow_always\"},{\"optionId\":"
                                   "\"2\",\"kind\":\"allow_once\"},"
                                   "{\"optionId\":\"3\",\"kind\":\"reject_always\"},{\"optionId\":"
                                   "\"4\",\"kind\":\"reject_once\"}]");

    assert_string_equal(acp_option(&arena, all, true), "2");
    assert_string_equal(acp_option(&arena, all, false), "4");
    const struct json *few = parse("[{\"optionId\":\"1\",\"kind\":\"allow_always\"}]");
    assert_string_equal(acp_option(&arena, few, true), "1");
    assert_null(acp_option(&arena, few, false));
    assert_null(acp_option(&arena, NULL, true));
}

static void
only_clear_words_of_a_person_count(void **state)
{
    (void)state;
    assert_int_equal(acp_person_meaning("allow"), 1);
    assert_int_equal(acp_person_meaning("  Yes, go on"), 1);
    assert_int_equal(acp_person_meaning("OK."), 1);
    assert_int_equal(acp_person_meaning("reject: not now"), 0);
    assert_int_equal(acp_person_meaning("no"), 0);
    assert_int_equal(acp_person_meaning("nothing is wrong"), -1);
    assert_int_equal(acp_person_meaning("why?"), -1);
    assert_int_equal(acp_person_meaning("allowing it is fine"), -1);
    assert_int_equal(acp_person_meaning(""), -1);
}

static void
the_policies_have_names(void **state)
{
    (void)state;
    enum acp_policy policy;

    assert_int_equal(acp_policy_read(NULL, &policy, &e), ST_OK);
    assert_int_equal(policy, ACP_EDIT);
    assert_int_equal(acp_policy_read("ask", &policy, &e), ST_OK);
    assert_int_equal(policy, ACP_ASK);
    assert_int_equal(acp_policy_read("write", &policy, &e), ST_INVALID);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        ACP_CASE(a_command_is_split_as_a_shell_would_and_asks_for_no_shell),
        ACP_CASE(the_answer_to_a_request_is_what_the_table_says),
        ACP_CASE(a_tool_keeps_what_was_told_before),
        ACP_CASE(a_command_that_a_person_allowed_runs_once),
        ACP_CASE(the_narrowest_option_is_taken),
        ACP_CASE(only_clear_words_of_a_person_count),
        ACP_CASE(the_policies_have_names),
    };

    return cmocka_run_group_tests_name("acp_policy", tests, NULL, NULL);
}
