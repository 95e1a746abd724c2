/* Tests base/jsonrpc and base/jsonrpc_peer: a table of lines, and two programs that talk. */
#define _GNU_SOURCE
#include "test.h"

#include "base/jsonrpc_peer.h"

#include <fcntl.h>
#include <signal.h>

static struct arena arena;
static struct err e;

static int
leave(void **state)
{
    arena_release(&arena);
    return case_leave(state);
}

#define RPC_CASE(fact) cmocka_unit_test_setup_teardown(fact, case_enter, leave)

/* What became of a line: "request 1 a/b {…}", or the code and the reason of a refusal. */
static const char *
told(const char *line)
{
    static const char *const kinds[] = { "request", "notification", "result", "error" };
    static char shown[512];
    struct jsonrpc_message m;
    struct buf b = { 0 };

    if (jsonrpc_parse(&arena, line, strlen(line), &m, &e)) {
        buf_addf(&b, "%d ", (int)m.code);
        json_write(&b, m.id);
        buf_addf(&b, " %s", e.text);
    } else {
        buf_adds(&b, kinds[m.kind]);
        buf_addc(&b, ' ');
        json_write(&b, m.id);
        if (m.method)
            buf_addf(&b, " %s", m.method);
        if (m.kind == JSONRPC_ERROR)
            buf_addf(&b, " %d %s", (int)m.code, m.message);
        if (m.params || m.kind == JSONRPC_RESULT) {
            buf_addc(&b, ' ');
            json_write(&b, m.params ? m.params : m.result);
        }
    }
    snprintf(shown, sizeof shown, "%s", b.p);
    buf_release(&b);
    return shown;
}

#define V "\"jsonrpc\":\"2.0\","

static void
a_line_is_what_the_table_says(void **state)
{
    (void)state;
    static const struct {
        const char *line, *want;
    } rows[] = {
        { "{" V "\"id\":1,\"method\":\"a/b\",\"params\":{\"x\":[1]}}",
          "request 1 a/b {\"x\":[1]}" },
        { "{\"method\":\"m\",\"id\":\"7\",\"jsonrpc\":\"2.0\"}\r", "request \"7\" m" },
        { "{" V "\"id\":0,\"method\":\"m\",\"params\":null}", "request 0 m" },
        { "{" V "\"id\":-2,\"method\":\"m\",\"params\":[1,2]}", "request -2 m [1,2]" },
        { "{" V "\"method\":\"session/update\",\"params\":{}}",
          "notification null session/update {}" },
        { "{" V "\"id\":1,\"result\":null}", "result 1 null" },
        { "{" V "\"id\":1,\"result\":{\"a\":1},\"error\":null}", "result 1 {\"a\":1}" },
        { "{" V "\"id\":1,\"error\":{\"code\":-32000,\"message\":\"sign in\"}}",
          "error 1 -32000 sign in" },
        { "{" V "\"id\":null,\"error\":{\"code\":-32700}}", "error null -32700 " },
        /* refused */
        { "hello", "-32700 null not JSON: hello" },
        { "{" V "\"id\":1,\"method\":\"m\"",
          "-32700 null not JSON: {" V "\"id\":1,\"method\":\"m\"" },
        { "[{" V "\"id\":1,\"method\":\"m\"}]",
          "-32600 null a batch, which is not supported: [{" V "\"id\":1,\"method\":\"m\"}]" },
        { "3", "-32600 null not an object: 3" },
        { "{\"id\":1,\"method\":\"m\"}",
          "-32600 1 a message without \"jsonrpc\":\"2.0\": {\"id\":1,\"method\":\"m\"}" },
        { "{" V "\"id\":1.5,\"method\":\"m\"}",
          "-32600 null an id that is neither a text nor a whole number: {" V
          "\"id\":1.5,\"method\":\"m\"}" },
        { "{" V "\"id\":null,\"method\":\"m\"}",
          "-32600 null a request whose id is null: {" V "\"id\":null,\"method\":\"m\"}" },
        { "{" V "\"id\":1,\"method\":2}",
          "-32600 1 a method that is no text: {" V "\"id\":1,\"method\":2}" },
        { "{" V "\"id\":1,\"method\":\"m\",\"params\":3}",
          "-32600 1 params that are neither an object nor a list: {" V
          "\"id\":1,\"method\":\"m\",\"params\":3}" },
        { "{" V "\"id\":1}",
          "-32600 1 neither a method nor a result nor an error: {" V "\"id\":1}" },
        { "{" V "\"result\":1}", "-32600 null a result without an id: {" V "\"result\":1}" },
        { "{" V "\"id\":1,\"error\":{}}",
          "-32600 1 an error without a code: {" V "\"id\":1,\"error\":{}}" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(told(rows[i].line), rows[i].want);
}

static void
what_is_written_is_read_back(void **state)
{
    (void)state;
    struct buf b = { 0 };
    struct json text = { .type = JSON_STRING, .text = { "a\n\"b", 4 } };

    jsonrpc_write_request(&b, 3, "m", "{\"a\":1}");
    assert_string_equal(b.p, "{" V "\"id\":3,\"method\":\"m\",\"params\":{\"a\":1}}\n");
    buf_reset(&b);
    jsonrpc_write_notification(&b, "n", NULL);
    assert_string_equal(b.p, "{" V "\"method\":\"n\"}\n");
    buf_reset(&b);
    jsonrpc_write_result(&b, &text, NULL);
    assert_string_equal(b.p, "{" V "\"id\":\"a\\n\\\"b\",\"result\":null}\n");
    buf_reset(&b);
    jsonrpc_write_error(&b, NULL, JSONRPC_NO_METHOD, "no method \"x\"", NULL);
    assert_string_equal(
        b.p,
        "{" V "\"id\":null,\"error\":{\"code\":-32601,\"message\":\"no method \\\"x\\\"\"}}\n");
    buf_release(&b);
}

/* The lines of a stream, each in [], "!" for one that is too long, then the rest's length. */
static const char *
lines(const char *stream, size_t step, size_t max)
{
    static char shown[256];
    struct jsonrpc_lines in = { .max = max };
    struct buf b = { 0 };
    size_t n = strlen(stream);

    for (size_t i = 0; i < n; i += step) {
        const char *line;
        size_t len;
        enum jsonrpc_got got;
        jsonrpc_feed(&in, stream + i, n - i < step ? n - i : step);
        while ((got = jsonrpc_line(&in, &line, &len)) != JSONRPC_MORE) {
            if (got == JSONRPC_LINE)
                buf_addf(&b, "[%.*s]", (int)len, line);
            else
                buf_addc(&b, '!');
        }
    }
    buf_addf(&b, "%zu", jsonrpc_rest(&in));
    snprintf(shown, sizeof shown, "%s", b.p);
    buf_release(&b);
    jsonrpc_lines_release(&in);
    return shown;
}

static void
lines_are_found_wherever_they_are_split(void **state)
{
    (void)state;
    for (size_t step = 1; step < 30; step++) {
        assert_string_equal(lines("{}\n\n \r\n[1]\r\nab", step, 100), "[{}][[1]\r]2");
        assert_string_equal(lines("12345\n123456\n1\n1234567890123\n2\n", step, 5),
                            "[12345]![1]![2]0");
        assert_string_equal(lines("1\n1234567", step, 5), "[1]!0");
    }
}

/* Two peers over pipes that do not block. */
static void
connect_two(struct jsonrpc_peer *a, struct jsonrpc_peer *b)
{
    int to_a[2], to_b[2];

    assert_int_equal(pipe2(to_a, O_NONBLOCK | O_CLOEXEC), 0);
    assert_int_equal(pipe2(to_b, O_NONBLOCK | O_CLOEXEC), 0);
    *a = (struct jsonrpc_peer){ .in = to_a[0], .out = to_b[1] };
    *b = (struct jsonrpc_peer){ .in = to_b[0], .out = to_a[1] };
}

static void
disconnect(struct jsonrpc_peer *p)
{
    close(p->in);
    close(p->out);
    jsonrpc_peer_release(p);
}

static void
both_sides_ask_and_answer_and_neither_waits_for_the_other_to_read(void **state)
{
    (void)state;
    struct jsonrpc_peer a, b;
    struct jsonrpc_message m;
    struct buf big = { 0 };

    connect_two(&a, &b);
    buf_adds(&big, "{\"text\":\"");
    for (int i = 0; i < 300 * 1000; i++)
        buf_addc(&big, 'x');
    buf_adds(&big, "\"}");
    int64_t of_a = jsonrpc_call(&a, "a", big.p), of_b = jsonrpc_call(&b, "b", big.p);
    bool has_a = false, has_b = false;
    for (int i = 0; i < 1000 && !(has_a && has_b); i++) {
        CHECK_OK(jsonrpc_step(&a, &e), &e);
        CHECK_OK(jsonrpc_step(&b, &e), &e);
        while (jsonrpc_next(&a, &arena, &m, &e) == JSONRPC_PEER_MESSAGE) {
            if (m.kind == JSONRPC_REQUEST)
                jsonrpc_refuse(&a, m.id, JSONRPC_NO_METHOD, "no");
            has_a |= jsonrpc_is_answer(&m, of_a) && m.kind == JSONRPC_RESULT;
        }
        while (jsonrpc_next(&b, &arena, &m, &e) == JSONRPC_PEER_MESSAGE) {
            if (m.kind == JSONRPC_REQUEST)
                jsonrpc_answer(&b, m.id, "{}");
            has_b |= jsonrpc_is_answer(&m, of_b) && m.kind == JSONRPC_ERROR &&
                     m.code == JSONRPC_NO_METHOD;
        }
    }
    assert_true(has_a && has_b);
    buf_release(&big);
    disconnect(&a);
    disconnect(&b);
}

static void
rubbish_is_told_and_the_end_is_seen(void **state)
{
    (void)state;
    static const char text[] = "Loading…\n{\"jsonrpc\":\"2.0\",\"method\":\"n\"}\n{\"half";
    struct jsonrpc_peer a, b;
    struct jsonrpc_message m;

    connect_two(&a, &b);
    assert_true(write(a.out, text, sizeof text - 1) > 0);
    close(a.out);
    CHECK_OK(jsonrpc_step(&b, &e), &e);
    assert_int_equal(jsonrpc_next(&b, &arena, &m, &e), JSONRPC_PEER_RUBBISH);
    assert_string_equal(e.text, "not JSON: Loading…");
    assert_int_equal(jsonrpc_next(&b, &arena, &m, &e), JSONRPC_PEER_MESSAGE);
    assert_int_equal(jsonrpc_next(&b, &arena, &m, &e), JSONRPC_PEER_NONE);
    assert_true(b.has_ended);
    assert_int_equal(jsonrpc_rest(&b.lines), 6);
    close(a.in); /* writing to a peer that is gone is no error: it is deaf */
    jsonrpc_notify(&b, "n", NULL);
    CHECK_OK(jsonrpc_step(&b, &e), &e);
    assert_true(b.is_deaf && !jsonrpc_is_writing(&b));
    jsonrpc_peer_release(&a);
    disconnect(&b);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        RPC_CASE(a_line_is_what_the_table_says),
        RPC_CASE(what_is_written_is_read_back),
        RPC_CASE(lines_are_found_wherever_they_are_split),
        RPC_CASE(both_sides_ask_and_answer_and_neither_waits_for_the_other_to_read),
        RPC_CASE(rubbish_is_told_and_the_end_is_seen),
    };

    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests_name("jsonrpc", tests, NULL, NULL);
}
