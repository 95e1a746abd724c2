/* Tests mcp/: a table of messages and their answers, names of agents, URIs, the order of two
 * operations. */
#include "test.h"

#include "context/agent_client.h"
#include "mcp/resources.h"
#include "mcp/tools.h"

static struct arena arena;
static const struct mcp_offer all = {
    .identity = "ruby", .has_files = true, .has_subscribe = true, .has_listen = true
};

static int
leave(void **state)
{
    arena_release(&arena);
    return case_leave(state);
}

#define MCP_CASE(fact) cmocka_unit_test_setup_teardown(fact, case_enter, leave)

#define V    "\"jsonrpc\":\"2.0\","
#define M(v) "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"" v "\""
#define CAPS ",\"io.modelcontextprotocol/clientCapabilities\":{}}"
#define META M("2026-07-28") CAPS

/* What is needed of the outside, then what is answered at once. */
static const char *
told(const char *line)
{
    static const char *const needs[] = { "-",           "hub",    "files", "subscribe",
                                         "unsubscribe", "listen", "cancel" };
    static char shown[1024];
    struct mcp_request r;
    struct buf out = { 0 };

    mcp_take(&all, &arena, line, strlen(line), &r, &out);
    if (out.len)
        assert_int_equal(out.p[out.len - 1], '\n');
    snprintf(shown, sizeof shown, "%s %d %.*s", needs[r.need], r.http,
             out.len ? (int)out.len - 1 : 0, out.p ? out.p : "");
    buf_release(&out);
    return shown;
}

static void
a_message_is_answered_as_the_table_says(void **state)
{
    (void)state;
    static const struct {
        const char *line, *want; /* the begin of it */
    } cases[] = {
        { "{", "- 400 {" V "\"id\":null,\"error\":{\"code\":-32700,\"message\":\"not JSON: {\"}}" },
        { "[]", "- 400 {" V "\"id\":null,\"error\":{\"code\":-32600,\"message\":\"a batch" },
        { "[{" V "\"id\":1,\"method\":\"ping\"}]",
          "- 400 {" V "\"id\":null,\"error\":{\"code\":-32600" },
        { "7", "- 400 {" V "\"id\":null,\"error\":{\"code\":-32600,\"message\":\"not an object" },
        { "{\"id\":1,\"method\":\"ping\"}", "- 400 {" V "\"id\":1,\"error\":{\"code\":-32600" },
        { "{" V "\"id\":{},\"method\":\"ping\"}",
          "- 400 {" V "\"id\":null,\"error\":{\"code\":-32600" },
        { "{" V "\"id\":null,\"method\":\"ping\"}",
          "- 400 {" V "\"id\":null,\"error\":{\"code\":-32600" },
        { "{" V "\"id\":1,\"method\":\"ping\"}", "- 200 {" V "\"id\":1,\"result\":{}}" },
        { "{" V "\"id\":\"a b\",\"method\":\"ping\"}",
          "- 200 {" V "\"id\":\"a b\",\"result\":{}}" },
        { "{" V "\"id\":9223372036854775807,\"method\":\"ping\"}",
          "- 200 {" V "\"id\":9223372036854775807,\"result\":{}}" },
        { "{" V "\"id\":92233720368547758070,\"method\":\"ping\"}",
          "- 400 {" V "\"id\":null,\"error\":{\"code\":-32600" },
        { "{" V "\"id\":1,\"method\":\"pong\"}",
          "- 200 {" V
          "\"id\":1,\"error\":{\"code\":-32601,\"message\":\"unknown method: pong\"}}" },
        { "{" V "\"id\":1,\"method\":\"ping\",\"params\":[]}",
          "- 200 {" V "\"id\":1,\"error\":{\"code\":-32602" },
        { "{" V "\"id\":1,\"method\":\"ping\",\"params\":7}",
          "- 400 {" V "\"id\":1,\"error\":{\"code\":-32600" },
        /* notifications and answers are never answered */
        { "{" V "\"method\":\"notifications/initialized\"}", "- 202 " },
        { "{" V "\"method\":\"pong\",\"params\":[1]}", "- 202 " },
        { "{" V "\"id\":1,\"result\":{}}", "- 202 " },
        { "{" V "\"id\":1,\"error\":{\"code\":1,\"message\":\"\"}}", "- 202 " },
        { "{" V "\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":5}}",
          "cancel 202 " },
        { "{" V "\"method\":\"notifications/cancelled\"}", "- 202 " },
        /* eras */
        { "{" V "\"id\":1,\"method\":\"initialize\"}",
          "- 200 {" V "\"id\":1,\"error\":{\"code\":-32602" },
        { "{" V
          "\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-06-18\"}}",
          "- 200 {" V "\"id\":1,\"result\":{\"protocolVersion\":\"2025-06-18\",\"capabilities\":" },
        { "{" V
          "\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2024-11-05\"}}",
          "- 200 {" V "\"id\":1,\"result\":{\"protocolVersion\":\"2025-11-25\"" },
        { "{" V "\"id\":1,\"method\":\"server/discover\"}",
          "- 400 {" V "\"id\":1,\"error\":{\"code\":-32602,\"message\":\"_meta needs" },
        { "{" V "\"id\":1,\"method\":\"server/discover\",\"params\":{" META "}}",
          "- 200 {" V "\"id\":1,\"result\":{\"resultType\":\"complete\",\"supportedVersions\":["
          "\"2026-07-28\"]" },
        { "{" V "\"id\":1,\"method\":\"ping\",\"params\":{" META "}}",
          "- 404 {" V "\"id\":1,\"error\":{\"code\":-32601" },
        { "{" V "\"id\":1,\"method\":\"tools/list\",\"params\":{" M("2025-11-25") CAPS "}}",
          "- 400 {" V
          "\"id\":1,\"error\":{\"code\":-32022,\"message\":\"unsupported protocol version\","
          "\"data\":{\"supported\":[\"2026-07-28\"],\"requested\":\"2025-11-25\"}}}" },
        { "{" V "\"id\":1,\"method\":\"tools/list\",\"params\":{" M("2026-07-28") "}}}",
          "- 400 {" V "\"id\":1,\"error\":{\"code\":-32602" },
        { "{" V
          "\"id\":1,\"method\":\"tools/list\",\"params\":{\"_meta\":{\"io.modelcontextprotocol/"
          "protocolVersion\":7}}}",
          "- 400 {" V "\"id\":1,\"error\":{\"code\":-32602" },
        { "{" V
          "\"id\":1,\"method\":\"subscriptions/listen\",\"params\":{\"notifications\":{}," META
          "}}",
          "listen 200 " },
        { "{" V "\"id\":1,\"method\":\"subscriptions/listen\",\"params\":{\"notifications\":{"
          "\"resourceSubscriptions\":[1]}," META "}}",
          "- 400 {" V "\"id\":1,\"error\":{\"code\":-32602" },
        { "{" V
          "\"id\":1,\"method\":\"resources/subscribe\",\"params\":{\"uri\":\"inbox://a\"," META
          "}}",
          "- 404 " },
        /* tools */
        { "{" V "\"id\":1,\"method\":\"tools/call\"}",
          "- 200 {" V "\"id\":1,\"error\":{\"code\":-32602" },
        { "{" V "\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"inbx\"}}",
          "- 200 {" V
          "\"id\":1,\"error\":{\"code\":-32602,\"message\":\"unknown tool: inbx (did you "
          "mean inbox?)\"}}" },
        { "{" V
          "\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"inbox\",\"arguments\":7}}",
          "- 200 {" V
          "\"id\":1,\"error\":{\"code\":-32602,\"message\":\"arguments must be an object\"" },
        { "{" V
          "\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"inbox\",\"arguments\":null}}",
          "hub 200 " },
        { "{" V "\"id\":1,\"method\":\"tools/"
          "call\",\"params\":{\"name\":\"inbox\",\"arguments\":{\"vew\":1}}}",
          "- 200 {" V
          "\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"vew is not known "
          "to inbox; did you mean view?\"}],\"isError\":true}}" },
        { "{" V
          "\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"room_read\",\"arguments\":{"
          "\"room\":\"r\"}}}",
          "files 200 " },
        { "{" V "\"id\":1,\"method\":\"tools/list\",\"params\":{\"cursor\":\"x\"}}",
          "- 200 {" V "\"id\":1,\"error\":{\"code\":-32602" },
        /* resources and prompts */
        { "{" V "\"id\":1,\"method\":\"resources/read\"}",
          "- 200 {" V "\"id\":1,\"error\":{\"code\":-32602" },
        { "{" V "\"id\":1,\"method\":\"resources/read\",\"params\":{\"uri\":\"inbox://a\"}}",
          "hub 200 " },
        { "{" V "\"id\":1,\"method\":\"resources/read\",\"params\":{\"uri\":\"inbox://a/b\"}}",
          "- 200 {" V "\"id\":1,\"error\":{\"code\":-32002" },
        { "{" V "\"id\":1,\"method\":\"resources/read\",\"params\":{\"uri\":\"x\"," META "}}",
          "- 400 {" V "\"id\":1,\"error\":{\"code\":-32602" },
        { "{" V "\"id\":1,\"method\":\"resources/subscribe\",\"params\":{\"uri\":\"room://a\"}}",
          "subscribe 200 " },
        { "{" V "\"id\":1,\"method\":\"resources/list\",\"params\":{\"cursor\":\"50\"}}",
          "files 200 " },
        { "{" V "\"id\":1,\"method\":\"resources/list\",\"params\":{\"cursor\":\"-1\"}}",
          "- 200 {" V "\"id\":1,\"error\":{\"code\":-32602" },
        { "{" V "\"id\":1,\"method\":\"prompts/get\",\"params\":{\"name\":\"inbox\"}}",
          "hub 200 " },
        { "{" V "\"id\":1,\"method\":\"prompts/get\",\"params\":{\"name\":\"none\"}}",
          "- 200 {" V "\"id\":1,\"error\":{\"code\":-32602" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *got = told(cases[i].line);
        if (strncmp(got, cases[i].want, strlen(cases[i].want)) != 0)
            fail_msg("%s\n  is  %s\n  not %s", cases[i].line, got, cases[i].want);
    }
}

static void
a_transport_without_files_offers_only_what_the_hub_answers(void **state)
{
    (void)state;
    static const struct mcp_offer none = { 0 };
    const struct mcp_tool *t;
    size_t n = 0;

    for (; (t = mcp_tool_nth(&none, n)); n++)
        assert_null(t->run);
    assert_int_equal(n, 9);
    static const char line[] = "{" V "\"id\":1,\"method\":\"resources/read\",\"params\":{\"uri\":"
                               "\"room://a\"}}";
    struct mcp_request r;
    struct buf out = { 0 };
    mcp_take(&none, &arena, line, strlen(line), &r, &out);
    assert_int_equal(r.need, MCP_NOTHING);
    assert_non_null(strstr(out.p, "where their project is"));
    buf_release(&out);
}

static void
a_task_that_is_merely_claimed_is_begun_before_it_is_done(void **state)
{
    (void)state;
    static const char line[] = "{" V "\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":"
                               "\"ack\",\"arguments\":{\"signal_id\":\"x\",\"task_status\":"
                               "\"done\"}}}";
    struct mcp_request r;
    struct buf out = { 0 };
    struct hub_reply reply = { .status = 200, .text = "{\"id\":\"x\"}" };

    mcp_take(&all, &arena, line, strlen(line), &r, &out);
    assert_int_equal(r.op, HUB_STATUS);
    assert_false(mcp_finish_hub(&r, ST_CONFLICT, NULL, "it is claimed", &out));
    assert_true(json_eq(json_get(r.args, "task_status"), "in_progress"));
    assert_false(mcp_finish_hub(&r, ST_OK, &reply, "", &out));
    assert_true(json_eq(json_get(r.args, "task_status"), "done"));
    assert_int_equal(out.len, 0);
    assert_true(mcp_finish_hub(&r, ST_OK, &reply, "", &out));
    assert_non_null(strstr(out.p, "{\\\"id\\\":\\\"x\\\"}"));
    buf_reset(&out);
    mcp_take(&all, &arena, line, strlen(line), &r, &out); /* of another: that is the answer */
    assert_false(mcp_finish_hub(&r, ST_CONFLICT, NULL, "", &out));
    assert_true(mcp_finish_hub(&r, ST_CONFLICT, NULL, "bob has it", &out));
    assert_non_null(strstr(out.p, "bob has it\"}],\"isError\":true"));
    buf_release(&out);
}

static void
an_identity_is_made_of_any_client_and_directory(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        { "codex", "/home/ann/shop", "codex-shop" },
        { "Claude Code/2.1", "/srv/My Shop", "Claude-Code-2-1-My-Shop" },
        { NULL, "/srv/shop", "mcp-shop" },
        { "--", "/", "a" },
        { "ä", "/ü", "a" },
        { "x", "", "x" },
    };
    char name[HUB_NAME_MAX + 1], lang[200];

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        agent_identity_make(name, cases[i][0], cases[i][1]);
        assert_string_equal(name, cases[i][2]);
    }
    memset(lang, 'x', sizeof lang);
    lang[199] = '\0';
    agent_identity_make(name, lang, lang);
    assert_int_equal(strlen(name), HUB_NAME_MAX);
}

static void
a_uri_is_split_or_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",      "inbox://",        "inbox://a/b",      "room://.",        "room:/a",
        "x://a", "handoff://p/a-b", "handoff://p/A--b", "handoff:///a--b", "handoff://p/../a--b"
    };
    struct mcp_uri u;
    struct err e;

    assert_int_equal(mcp_uri_parse(&arena, "handoff://cliq-a1b2c3/plan--build", &u, &e), ST_OK);
    assert_string_equal(u.name, "cliq-a1b2c3");
    assert_string_equal(u.from, "plan");
    assert_string_equal(u.to, "build");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(mcp_uri_parse(&arena, bad[i], &u, &e), ST_NOT_FOUND);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        MCP_CASE(a_message_is_answered_as_the_table_says),
        MCP_CASE(a_transport_without_files_offers_only_what_the_hub_answers),
        MCP_CASE(a_task_that_is_merely_claimed_is_begun_before_it_is_done),
        MCP_CASE(an_identity_is_made_of_any_client_and_directory),
        MCP_CASE(a_uri_is_split_or_refused),
    };

    return cmocka_run_group_tests_name("mcp_rpc", tests, NULL, NULL);
}
