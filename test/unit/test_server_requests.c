/* Tests net/server on real sockets: how requests are read, answered and refused. */
#define _GNU_SOURCE
#include "servers.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>

static struct err e;

/* ---- requests and answers ---- */

static void
a_request_is_answered_and_the_connection_kept(void **state)
{
    struct buf got = { 0 };

    (void)state;
    begin_server();
    int fd = dial();
    say(fd, "GET /a" HOST "\r\n");
    hear_until(fd, &got, "\r\n\r\n/a");
    CHECK_HAS(got, "HTTP/1.1 200 OK\r\n");
    CHECK_HAS(got, "Content-Length: 2\r\n");
    CHECK_HAS(got, "X-Content-Type-Options: nosniff\r\n");
    CHECK_HAS(got, " GMT\r\n");
    assert_null(strstr(got.p, "Connection"));
    buf_reset(&got);
    say(fd, "POST /echo" HOST "Content-Length: 5\r\n\r\nhello");
    hear_until(fd, &got, "\r\n\r\nhello");
    CHECK_HAS(got, "Content-Type: text/plain\r\n");
    assert_string_equal(seen.log.p, "GET /a \nPOST /echo hello\n");
    assert_int_equal(http_server_stats(server).accepted, 1);
    assert_int_equal(http_server_stats(server).requests, 2);
    close(fd);
    buf_release(&got);
}

static void
close_and_old_clients_are_understood(void **state)
{
    struct buf got = { 0 };

    (void)state;
    begin_server();
    int fd = dial();
    say(fd, "GET /a" HOST "Connection: close\r\n\r\n");
    hear_end(fd, &got);
    CHECK_HAS(got, "Connection: close\r\n");
    close(fd);
    buf_reset(&got);
    fd = dial();
    say(fd, "GET /a HTTP/1.0\r\n\r\n");
    hear_end(fd, &got);
    CHECK_HAS(got, "Connection: close\r\n");
    close(fd);
    buf_reset(&got);
    fd = dial();
    say(fd, "GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    hear_until(fd, &got, "\r\n\r\n/a");
    CHECK_HAS(got, "Connection: keep-alive\r\n");
    close(fd);
    buf_release(&got);
}

static void
pipelined_requests_are_answered_in_order_and_in_one_piece(void **state)
{
    struct buf say_all = { 0 }, got = { 0 };

    (void)state;
    begin_server();
    int fd = dial();
    for (int i = 0; i < 100; i++)
        buf_addf(&say_all, "POST /echo" HOST "Content-Length: 4\r\n\r\n<%02d>", i);
    say_bytes(fd, say_all.p, say_all.len);
    assert_true(hear_some(fd, &got));
    assert_int_equal(count(&got, "HTTP/1.1 200 OK"), 100);
    const char *p = got.p;
    for (int i = 0; i < 100; i++) {
        char want[16];
        snprintf(want, sizeof want, "<%02d>", i);
        p = strstr(p, want);
        assert_non_null(p);
    }
    assert_int_equal(seen.rounds, 1);
    close(fd);
    buf_release(&say_all);
    buf_release(&got);
}

static void
a_request_may_come_byte_by_byte(void **state)
{
    static const char text[] = "POST /echo" HOST "Transfer-Encoding: chunked\r\n\r\n"
                               "3\r\nabc\r\n004;x=y\r\ndefg\r\n0\r\nX: y\r\n\r\n"
                               "POST /echo" HOST "Content-Length: 3\r\n\r\nhij"
                               "GET /end" HOST "\r\n";
    struct buf got = { 0 };

    (void)state;
    begin_server();
    int fd = dial();
    for (size_t i = 0; i < sizeof text - 1; i++) {
        say_bytes(fd, text + i, 1);
        run_for(0);
    }
    hear_until(fd, &got, "\r\n\r\n/end");
    assert_string_equal(seen.log.p, "POST /echo abcdefg\nPOST /echo hij\nGET /end \n");
    CHECK_HAS(got, "\r\n\r\nabcdefgHTTP/1.1");
    CHECK_HAS(got, "\r\n\r\nhijHTTP/1.1");
    close(fd);
    buf_release(&got);
}

static void
a_large_body_arrives_whole(void **state)
{
    struct buf body = { 0 }, got = { 0 };
    size_t sent = 0;

    (void)state;
    begin_server();
    int fd = dial();
    fcntl(fd, F_SETFL, O_NONBLOCK);
    buf_addf(&body, "POST /echo" HOST "Content-Length: %zu\r\n\r\n", HTTP_BODY_MAX);
    size_t head = body.len;
    for (size_t i = 0; i < HTTP_BODY_MAX; i++)
        buf_addc(&body, (char)('a' + i % 23));
    while (sent < body.len) {
        ssize_t n = send(fd, body.p + sent, body.len - sent, MSG_NOSIGNAL);
        assert_true(n > 0 || errno == EAGAIN);
        sent += n > 0 ? (size_t)n : 0;
        run_for(0);
    }
    hear_until(fd, &got, "\r\n\r\n");
    size_t from = (size_t)((char *)memmem(got.p, got.len, "\r\n\r\n", 4) - got.p) + 4;
    while (got.len < from + HTTP_BODY_MAX)
        assert_true(hear_some(fd, &got));
    assert_int_equal(got.len, from + HTTP_BODY_MAX);
    assert_memory_equal(got.p + from, body.p + head, HTTP_BODY_MAX);
    close(fd);
    buf_release(&body);
    buf_release(&got);
}

static void
many_small_chunks_arrive_whole(void **state)
{
    struct buf text = { 0 }, got = { 0 };

    (void)state;
    begin_server();
    int fd = dial();
    buf_adds(&text, "POST /echo" HOST "Transfer-Encoding: chunked\r\n\r\n");
    for (int i = 0; i < 20000; i++)
        buf_addf(&text, "2\r\n%02d\r\n", i % 100);
    buf_adds(&text, "0\r\n\r\nGET /end" HOST "\r\n");
    for (size_t i = 0; i < text.len; i += 5000) {
        say_bytes(fd, text.p + i, text.len - i < 5000 ? text.len - i : 5000);
        run_for(0);
    }
    hear_until(fd, &got, "\r\n\r\n/end");
    CHECK_HAS(got, "Content-Length: 40000\r\n");
    CHECK_HAS(got, "\r\n\r\n00010203");
    CHECK_HAS(got, "979899HTTP/1.1 200");
    close(fd);
    buf_release(&text);
    buf_release(&got);
}

static void
head_and_no_content_have_no_body(void **state)
{
    struct buf got = { 0 };

    (void)state;
    begin_server();
    int fd = dial();
    say(fd, "HEAD /path" HOST "\r\nGET /none" HOST "\r\nGET /end" HOST "\r\n");
    hear_until(fd, &got, "\r\n\r\n/end");
    CHECK_HAS(got, "Content-Length: 5\r\n\r\nHTTP/1.1 204 No Content\r\n");
    assert_int_equal(count(&got, "Content-Length"), 2);
    assert_int_equal(count(&got, "ignored"), 0);
    close(fd);
    buf_release(&got);
}

static void
out_of_memory_a_shorter_answer_may_be_sent(void **state)
{
    struct buf got = { 0 };

    (void)state;
    begin_server();
    int fd = dial();
    say(fd, "GET /huge HTTP/1.1\r\nHost: h\r\n\r\nGET /next HTTP/1.1\r\nHost: h\r\n\r\n");
    hear_until(fd, &got, "/next");
    assert_int_equal(count(&got, "HTTP/1.1 503 "), 1);
    assert_int_equal(count(&got, "Content-Length: 7\r\n\r\nshorter"), 1);
    close(fd);
    buf_release(&got);
}

static void
a_client_that_asks_is_told_to_continue(void **state)
{
    struct buf got = { 0 };

    (void)state;
    begin_server();
    int fd = dial();
    say(fd, "GET /first" HOST "\r\nPOST /echo" HOST
            "Expect: 100-continue\r\nContent-Length: 5\r\n\r\n");
    hear_until(fd, &got, "HTTP/1.1 100 Continue\r\n\r\n");
    CHECK_HAS(got, "/firstHTTP/1.1 100 Continue\r\n\r\n");
    assert_string_equal(seen.log.p, "GET /first \n");
    say(fd, "hello");
    hear_until(fd, &got, "\r\n\r\nhello");
    assert_int_equal(count(&got, "100 Continue"), 1);
    buf_reset(&got);
    say(fd, "POST /echo" HOST "Expect: 100-continue\r\nContent-Length: 2\r\n\r\nhi");
    hear_until(fd, &got, "\r\n\r\nhi");
    assert_int_equal(count(&got, "100 Continue"), 0); /* it does not wait for 100 Continue */
    buf_reset(&got);
    say(fd, "POST /small" HOST "Expect: 100-continue\r\nContent-Length: 11\r\n\r\n");
    hear_end(fd, &got);
    CHECK_HAS(got, "HTTP/1.1 413 ");
    assert_int_equal(count(&got, "100 Continue"), 0);
    close(fd);
    buf_release(&got);
}

static void
a_bad_request_is_refused_and_the_rest_not_read(void **state)
{
    struct buf got = { 0 };

    (void)state;
    begin_server();
    int fd = dial();
    say(fd, "GET /a" HOST "\r\nGET /b HTTP/1.1\r\n\r\nGET /c" HOST "\r\n");
    hear_end(fd, &got);
    assert_string_equal(seen.log.p, "GET /a \n");
    CHECK_HAS(got, "\r\n\r\n/aHTTP/1.1 400 Bad Request\r\n");
    CHECK_HAS(got, "Connection: close\r\n");
    CHECK_HAS(got, "\r\n\r\nno Host header\n");
    assert_int_equal(http_server_stats(server).faults, 1);
    close(fd);
    buf_release(&got);
}

static void
json_fault(void *ctx, const struct http_conn *c, const struct http_request *r, int status,
           const char *reason, struct buf *headers, struct buf *body)
{
    char peer[HTTP_PEER_SIZE];

    (void)ctx;
    buf_addf(headers, "Content-Type: application/json\r\nX-Peer: %s\r\n", http_conn_peer(c, peer));
    if (r) {
        struct http_text method = http_text(r, r->method_name), path = http_path(r);
        buf_addf(headers, "X-Asked: %.*s %.*s\r\n", (int)method.len, method.p, (int)path.len,
                 path.p);
    }
    buf_addf(body, "{\"error\":\"%d %s\"}", status, reason);
}

static void
the_caller_formats_the_error_answers(void **state)
{
    struct buf got = { 0 };

    (void)state;
    o.fault = json_fault;
    begin_server();
    int fd = dial();
    say(fd, "BAD\n");
    hear_end(fd, &got);
    CHECK_HAS(got, "Content-Type: application/json\r\n");
    CHECK_HAS(got, "X-Peer: 127.0.0.1:");
    CHECK_HAS(got, "{\"error\":\"400 a line that ends in LF without CR\"}");
    assert_null(strstr(got.p, "X-Asked"));
    close(fd);
    buf_release(&got);
}

static void
a_body_error_is_reported_with_its_request(void **state)
{
    static const char *const bodies[] = {
        "Content-Length: 99999999\r\n\r\n",                   /* too large */
        "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nnone", /* no chunk */
        "Content-Length: 9\r\n\r\nabc",                       /* too slow */
    };

    (void)state;
    o.fault = json_fault;
    o.body_ms = 50;
    begin_server();
    for (size_t i = 0; i < 3; i++) {
        struct buf got = { 0 };
        int fd = dial();
        say(fd, "POST /slow/one?token=x HTTP/1.1\r\nHost: a\r\n");
        say(fd, bodies[i]);
        hear_end(fd, &got);
        CHECK_HAS(got, "X-Asked: POST /slow/one\r\n");
        close(fd);
        buf_release(&got);
    }
}

/* The client is still sending when the server answers: it must be able to read the answer. */
static void
a_body_that_is_too_large_is_refused_readably(void **state)
{
    struct buf got = { 0 }, body = { 0 };

    (void)state;
    begin_server();
    int fd = dial();
    buf_addf(&body, "POST /echo" HOST "Content-Length: 5000000\r\n\r\n");
    for (int i = 0; i < 100000; i++)
        buf_addc(&body, 'x');
    say_bytes(fd, body.p, body.len);
    run_for(5);
    say_bytes(fd, body.p, body.len);
    run_for(5);
    say_bytes(fd, body.p, body.len);
    hear_end(fd, &got);
    CHECK_HAS(got, "HTTP/1.1 413 Content Too Large\r\n");
    close(fd);
    buf_release(&got);
    buf_release(&body);
}

static void
a_client_that_stays_after_the_last_answer_is_disconnected(void **state)
{
    struct buf got = { 0 };

    (void)state;
    o.linger_ms = 40;
    begin_server();
    int fd = dial();
    say(fd, "GET /a" HOST "Connection: close\r\n\r\nmore of it");
    hear_end(fd, &got);
    CHECK_HAS(got, "\r\n\r\n/a");
    assert_int_equal(http_server_stats(server).open, 1);
    RUN_UNTIL(http_server_stats(server).open == 0);
    close(fd);
    buf_release(&got);
}

static void
a_client_that_reads_slowly_gets_all_of_it(void **state)
{
    struct buf got = { 0 };

    (void)state;
    begin_server();
    int fd = dial(), small = 262144;
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    for (int i = 0; i < 5; i++)
        say(fd, "GET /big" HOST "\r\n");
    say(fd, "GET /end" HOST "\r\n");
    RUN_UNTIL(count(&seen.log, "/big") > 0);
    run_for(5);
    assert_true(count(&seen.log, "/big") < 5); /* the rest waits for the client */
    while (got.len < 5 * ((size_t)3 << 20) || !strstr(got.p + got.len - 8, "/end"))
        assert_true(hear_some(fd, &got));
    assert_int_equal(count(&got, "HTTP/1.1 200 OK"), 6);
    close(fd);
    buf_release(&got);
}

/* ---- headers ---- */

static void
response_headers_refuse_invalid_bytes(void **state)
{
    struct buf b = { 0 };

    (void)state;
    CHECK_OK(http_add_header(&b, "Location", "/a b", &e), &e);
    assert_string_equal(b.p, "Location: /a b\r\n");
    assert_int_equal(http_add_header(&b, "X", "a\r\nSet-Cookie: b", &e), ST_INVALID);
    assert_int_equal(http_add_header(&b, "X", "a\nb", &e), ST_INVALID);
    assert_int_equal(http_add_header(&b, "X:", "a", &e), ST_INVALID);
    assert_int_equal(http_add_header(&b, "", "a", &e), ST_INVALID);
    assert_string_equal(b.p, "Location: /a b\r\n");
    buf_release(&b);
}

static void
a_date_is_written_as_in_RFC_9110(void **state)
{
    char text[RESPONSE_DATE_SIZE];

    (void)state;
    response_date(text, 784111777);
    assert_string_equal(text, "Sun, 06 Nov 1994 08:49:37 GMT");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        SERVER_CASE(a_request_is_answered_and_the_connection_kept),
        SERVER_CASE(close_and_old_clients_are_understood),
        SERVER_CASE(pipelined_requests_are_answered_in_order_and_in_one_piece),
        SERVER_CASE(a_request_may_come_byte_by_byte),
        SERVER_CASE(a_large_body_arrives_whole),
        SERVER_CASE(many_small_chunks_arrive_whole),
        SERVER_CASE(head_and_no_content_have_no_body),
        SERVER_CASE(out_of_memory_a_shorter_answer_may_be_sent),
        SERVER_CASE(a_client_that_asks_is_told_to_continue),
        SERVER_CASE(a_bad_request_is_refused_and_the_rest_not_read),
        SERVER_CASE(the_caller_formats_the_error_answers),
        SERVER_CASE(a_body_error_is_reported_with_its_request),
        SERVER_CASE(a_body_that_is_too_large_is_refused_readably),
        SERVER_CASE(a_client_that_stays_after_the_last_answer_is_disconnected),
        SERVER_CASE(a_client_that_reads_slowly_gets_all_of_it),
        CASE(response_headers_refuse_invalid_bytes),
        CASE(a_date_is_written_as_in_RFC_9110),
    };
    loop_free(loop_new(&e)); /* opens the signal pipe that libuv keeps for the whole process */
    return cmocka_run_group_tests_name("server requests", tests, NULL, NULL);
}
