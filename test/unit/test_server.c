/*
 * What must be true of net/server, on real sockets. Client and server are one thread: a client
 * that waits for bytes runs the loop until they are there.
 */
#define _GNU_SOURCE
#include "test.h"

#include "base/loop.h"
#include "net/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

enum { PATIENCE_MS = 10000, KEPT = 64 };

static struct loop *loop;
static struct http_server *server;
static struct http_options o;
static struct err e;
static struct sockaddr_in at;
static unsigned stopped;

/* What the handler kept for later, and what it heard. */
static struct {
    struct http_conn *conns[KEPT];
    size_t n;
    struct http_conn *grouped[KEPT]; /* on_round answers these */
    size_t n_grouped;
    struct buf log; /* a line per request */
    struct buf news;
    unsigned rounds;
    bool is_watching, ends_on_stop, is_flooding;
    size_t flooded;
} seen;

/* ---- the handler: the path says what to do ---- */

static void
on_news(void *ctx, struct http_conn *c, enum http_news news)
{
    static const char *const words[] = { "gone", "stopping", "drained" };

    buf_addf(&seen.news, "%s%s", seen.news.len ? " " : "", words[news]);
    assert_ptr_equal(ctx, &seen);
    if (news == HTTP_STOPPING && seen.ends_on_stop) {
        http_stream_write(c, "bye\n", 4);
        http_stream_end(c);
        seen.n = 0;
    }
    if (news == HTTP_GONE)
        loop_stop(loop);
}

static void
on_request(void *ctx, struct http_conn *c, const struct http_request *r)
{
    struct http_text path = http_path(r), name = http_text(r, r->method_name);

    assert_ptr_equal(ctx, &seen);
    buf_addf(&seen.log, "%.*s %.*s %.*s\n", (int)name.len, name.p, (int)path.len, path.p,
             (int)(r->body.len < 100 ? r->body.len : 100), r->body.p);
    if (http_text_is(path, "/grouped")) {
        seen.grouped[seen.n_grouped++] = c;
        return;
    }
    if (http_text_is(path, "/later") || http_text_is(path, "/watched")) {
        seen.conns[seen.n++ % KEPT] = c;
        if (path.p[1] == 'w')
            http_watch(c, on_news, &seen);
        return;
    }
    if (http_text_is(path, "/stream")) {
        seen.conns[seen.n++ % KEPT] = c;
        http_watch(c, on_news, &seen);
        http_stream_begin(c, "Content-Type: text/event-stream\r\n");
        http_stream_write(c, "hello\n", 6);
        return;
    }
    if (http_text_is(path, "/echo"))
        http_answer(c, 200, "Content-Type: text/plain\r\n", r->body.p, r->body.len);
    else if (http_text_is(path, "/none"))
        http_answer(c, 204, NULL, "ignored", 7);
    else if (http_text_is(path, "/big")) {
        char *big = calloc(1, 3 << 20);
        memset(big, 'b', 3 << 20);
        http_answer(c, 200, NULL, big, 3 << 20);
        free(big);
    } else if (http_text_is(path, "/huge")) {
        assert_false(http_answer_fits(c, (size_t)1 << 40));
        assert_false(http_answer_fits(c, (size_t)1 << 40));
        assert_true(http_answer_fits(c, 7));
        http_answer(c, 503, NULL, "shorter", 7);
    } else {
        http_answer(c, 200, NULL, path.p, path.len);
    }
}

static size_t
body_max(void *ctx, const struct http_request *r)
{
    (void)ctx;
    return http_text_is(http_path(r), "/small") ? 10 : HTTP_BODY_MAX;
}

static void
on_round(void *ctx)
{
    (void)ctx;
    seen.rounds++;
    while (seen.n_grouped)
        http_answer(seen.grouped[--seen.n_grouped], 200, NULL, "grouped", 7);
}

static void
on_stopped(void *ctx)
{
    assert_ptr_equal(ctx, &seen);
    stopped++;
    loop_stop(loop);
}

/* ---- the cases' ground ---- */

static void
begin(void)
{
    struct listener l;

    server = http_server_new(loop, &o, &e);
    assert_non_null(server);
    CHECK_OK(listener_tcp(&l, "127.0.0.1:0", &e), &e);
    at = (struct sockaddr_in){ .sin_family = AF_INET,
                               .sin_port = htons((uint16_t)l.port),
                               .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    CHECK_OK(http_server_add(server, &l, &e), &e);
}

static int
enter(void **state)
{
    if (case_enter(state) != 0)
        return -1;
    memset(&seen, 0, sizeof seen);
    buf_adds(&seen.log, "");
    buf_adds(&seen.news, "");
    stopped = 0;
    server = NULL;
    o = (struct http_options){
        .ctx = &seen, .on_request = on_request, .body_max = body_max, .on_round = on_round
    };
    loop = loop_new(&e);
    return loop ? 0 : -1;
}

static int
leave(void **state)
{
    http_server_free(server);
    loop_free(loop);
    buf_release(&seen.log);
    buf_release(&seen.news);
    return case_leave(state);
}
#define SERVER_CASE(fact) cmocka_unit_test_setup_teardown(fact, enter, leave)

/* ---- a client ---- */

static int
dial(void)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof at), 0);
    return fd;
}

static void
say_bytes(int fd, const void *p, size_t n)
{
    assert_int_equal(send(fd, p, n, MSG_NOSIGNAL), n);
}

static void
say(int fd, const char *text)
{
    say_bytes(fd, text, strlen(text));
}

static void
on_event(void *ctx)
{
    *(bool *)ctx = true;
    loop_stop(loop);
}

/* Runs the loop until the descriptor is readable; false after ms. */
static bool
run_until_readable(int fd, uint64_t ms)
{
    bool is_there = false, is_late = false;
    struct loop_source *s = loop_on_readable(loop, fd, on_event, &is_there, &e);
    struct loop_source *t = loop_after(loop, ms, on_event, &is_late, &e);

    assert_true(s && t);
    while (!is_there && !is_late)
        CHECK_OK(loop_run(loop, &e), &e);
    loop_drop(s);
    loop_drop(t);
    return is_there;
}

/* Runs the loop for a while: one round at least. */
static void
run_for(uint64_t ms)
{
    bool is_late = false;

    assert_non_null(loop_after(loop, ms, on_event, &is_late, &e));
    while (!is_late)
        CHECK_OK(loop_run(loop, &e), &e);
}

/* Runs the loop until something is so. */
#define RUN_UNTIL(fact)                                                                            \
    do {                                                                                           \
        for (int ms_ = 0; !(fact); ms_++) {                                                        \
            if (ms_ > PATIENCE_MS)                                                                 \
                fail_msg("never so: %s", #fact);                                                   \
            run_for(1);                                                                            \
        }                                                                                          \
    } while (0)

/* Adds what comes next; false at the end of the connection. */
static bool
hear_some(int fd, struct buf *to)
{
    char *room = buf_room(to, 65536);

    if (!run_until_readable(fd, PATIENCE_MS))
        fail_msg("nothing came; so far: \"%s\"", to->p ? to->p : "");
    ssize_t n = recv(fd, room, 65536, 0);
    if (n > 0)
        buf_grew(to, (size_t)n);
    return n > 0;
}

/* Everything until this text is in it. */
static void
hear_until(int fd, struct buf *to, const char *text)
{
    while (!to->p || !memmem(to->p, to->len, text, strlen(text)))
        if (!hear_some(fd, to))
            fail_msg("the end came before \"%s\": \"%s\"", text, to->p ? to->p : "");
}

static void
hear_end(int fd, struct buf *to)
{
    while (hear_some(fd, to))
        ;
    if (!to->p)
        buf_adds(to, "");
}

static size_t
count(const struct buf *b, const char *text)
{
    size_t n = 0, len = strlen(text);

    for (size_t i = 0; i + len <= b->len; i++)
        n += memcmp(b->p + i, text, len) == 0;
    return n;
}

#define CHECK_HAS(b, text)                                                                         \
    do {                                                                                           \
        if (!strstr((b).p, text))                                                                  \
            fail_msg("no \"%s\" in \"%s\"", text, (b).p);                                          \
    } while (0)

#define HOST " HTTP/1.1\r\nHost: x\r\n"

/* ---- requests and answers ---- */

static void
a_request_is_answered_and_the_connection_kept(void **state)
{
    struct buf got = { 0 };

    (void)state;
    begin();
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
    begin();
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
    begin();
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
    begin();
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
    begin();
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
    begin();
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
    begin();
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
what_there_is_no_memory_for_may_be_answered_shorter(void **state)
{
    struct buf got = { 0 };

    (void)state;
    begin();
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
    begin();
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
    assert_int_equal(count(&got, "100 Continue"), 0); /* it did not wait */
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
    begin();
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
faults_are_told_as_the_caller_likes(void **state)
{
    struct buf got = { 0 };

    (void)state;
    o.fault = json_fault;
    begin();
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
a_fault_of_a_body_is_told_with_what_was_asked_for(void **state)
{
    static const char *const bodies[] = {
        "Content-Length: 99999999\r\n\r\n",                   /* too large */
        "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nnone", /* no chunk */
        "Content-Length: 9\r\n\r\nabc",                       /* too slow */
    };

    (void)state;
    o.fault = json_fault;
    o.body_ms = 50;
    begin();
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

/* The client is still sending when the answer is written: it must be able to read it. */
static void
a_body_that_is_too_large_is_refused_readably(void **state)
{
    struct buf got = { 0 }, body = { 0 };

    (void)state;
    begin();
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
who_does_not_hang_up_after_the_last_answer_is_hung_up_on(void **state)
{
    struct buf got = { 0 };

    (void)state;
    o.linger_ms = 40;
    begin();
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
    begin();
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

/* ---- later ---- */

static void
an_answer_may_come_later_and_order_is_kept(void **state)
{
    struct buf got = { 0 };

    (void)state;
    begin();
    int fd = dial(), other = dial();
    say(fd, "GET /later" HOST "\r\nGET /after" HOST "\r\n");
    say(other, "GET /other" HOST "\r\n");
    hear_until(other, &got, "\r\n\r\n/other");
    assert_int_equal(seen.n, 1);
    assert_int_equal(count(&seen.log, "/after"), 0);
    assert_false(is_readable(fd, 0));
    http_answer(seen.conns[0], 201, NULL, "at last", 7);
    buf_reset(&got);
    hear_until(fd, &got, "/after");
    CHECK_HAS(got, "HTTP/1.1 201 Created\r\n");
    CHECK_HAS(got, "at lastHTTP/1.1 200 OK\r\n");
    close(fd);
    close(other);
    buf_release(&got);
}

static void
the_requests_of_a_round_may_be_answered_together(void **state)
{
    struct buf got = { 0 };
    int fds[10];

    (void)state;
    begin();
    for (int i = 0; i < 10; i++) {
        fds[i] = dial();
        say(fds[i], "GET /a" HOST "\r\n");
        hear_until(fds[i], &got, "\r\n\r\n/a");
        buf_reset(&got);
    }
    seen.rounds = 0;
    for (int i = 0; i < 10; i++)
        say(fds[i], "GET /grouped" HOST "\r\n");
    for (int i = 0; i < 10; i++) {
        buf_reset(&got);
        hear_until(fds[i], &got, "\r\n\r\ngrouped");
    }
    assert_int_equal(seen.rounds, 1);

    /* On one connection they come one after the other, but still leave in one piece. */
    buf_reset(&got);
    for (int i = 0; i < 5; i++)
        buf_adds(&got, "GET /grouped" HOST "\r\n");
    say(fds[0], got.p);
    buf_reset(&got);
    assert_true(hear_some(fds[0], &got));
    assert_int_equal(count(&got, "\r\n\r\ngrouped"), 5);
    for (int i = 0; i < 10; i++)
        close(fds[i]);
    buf_release(&got);
}

static void
much_that_is_said_meanwhile_waits_its_turn(void **state)
{
    struct buf got = { 0 }, text = { 0 };

    (void)state;
    begin();
    int fd = dial();
    fcntl(fd, F_SETFL, O_NONBLOCK);
    buf_adds(&text, "GET /later" HOST "\r\n");
    for (int i = 0; i < 8000; i++)
        buf_adds(&text, "GET /x" HOST "\r\n");
    buf_adds(&text, "GET /end" HOST "\r\n");
    size_t sent = 0;
    for (int quiet = 0; sent < text.len && quiet < 100; quiet++) {
        ssize_t n = send(fd, text.p + sent, text.len - sent, MSG_NOSIGNAL);
        quiet = n > 0 ? 0 : quiet;
        sent += n > 0 ? (size_t)n : 0;
        run_for(0);
    }
    RUN_UNTIL(seen.n == 1);
    run_for(5);
    assert_int_equal(count(&seen.log, "/x"), 0);
    http_answer(seen.conns[0], 200, NULL, "", 0);
    while (sent < text.len) {
        ssize_t n = send(fd, text.p + sent, text.len - sent, MSG_NOSIGNAL);
        sent += n > 0 ? (size_t)n : 0;
        if (is_readable(fd, 0))
            hear_some(fd, &got);
        run_for(0);
    }
    hear_until(fd, &got, "\r\n\r\n/end");
    assert_int_equal(count(&seen.log, "/x"), 8000);
    assert_int_equal(count(&got, "HTTP/1.1 200 OK"), 8002);
    close(fd);
    buf_release(&got);
    buf_release(&text);
}

static void
a_client_that_goes_is_missed_by_who_watches(void **state)
{
    (void)state;
    begin();
    int fd = dial();
    say(fd, "GET /watched" HOST "\r\n");
    RUN_UNTIL(seen.n == 1);
    assert_false(http_conn_is_gone(seen.conns[0]));
    close(fd);
    CHECK_OK(loop_run(loop, &e), &e); /* on_news stops it */
    assert_string_equal(seen.news.p, "gone");
    RUN_UNTIL(http_server_stats(server).open == 0);
    assert_true(http_conn_is_gone(seen.conns[0]));             /* still a valid handle */
    http_answer(seen.conns[0], 200, NULL, "nobody reads", 12); /* and its end */
}

static void
a_client_that_only_stopped_talking_gets_its_answers(void **state)
{
    struct buf got = { 0 };

    (void)state;
    begin();
    int fd = dial();
    say(fd, "GET /later" HOST "\r\nGET /two" HOST "\r\nGET /thr");
    shutdown(fd, SHUT_WR);
    RUN_UNTIL(seen.n == 1);
    run_for(5);
    http_answer(seen.conns[0], 200, NULL, "here", 4);
    hear_end(fd, &got);
    CHECK_HAS(got, "\r\n\r\nhere");
    CHECK_HAS(got, "\r\n\r\n/two");
    assert_int_equal(count(&seen.log, "\n"), 2);
    close(fd);
    buf_release(&got);
    RUN_UNTIL(http_server_stats(server).open == 0);
}

static void
a_reset_is_noticed_without_a_watcher(void **state)
{
    struct linger hard = { 1, 0 };

    (void)state;
    begin();
    int fd = dial();
    say(fd, "GET /later" HOST "\r\n");
    RUN_UNTIL(seen.n == 1);
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    close(fd);
    RUN_UNTIL(http_conn_is_gone(seen.conns[0]));
    http_answer(seen.conns[0], 200, NULL, "", 0);
}

static void
requests_that_nobody_ended_go_with_the_server(void **state)
{
    (void)state;
    begin();
    int fd = dial(), other = dial(), third = dial();
    say(fd, "GET /watched" HOST "\r\n");
    say(other, "GET /later" HOST "\r\n");
    say(third, "GET /stream" HOST "\r\n");
    RUN_UNTIL(seen.n == 3);
    close(fd);
    RUN_UNTIL(seen.news.len);
    assert_string_equal(seen.news.p, "gone");
    http_server_free(server);
    server = NULL;
    assert_string_equal(seen.news.p, "gone gone");
    close(other);
    close(third);
}

/* ---- streams ---- */

static void
a_stream_is_chunks_that_end(void **state)
{
    struct buf got = { 0 };

    (void)state;
    begin();
    int fd = dial();
    say(fd, "GET /stream" HOST "\r\nGET /after" HOST "\r\n");
    hear_until(fd, &got, "\r\n6\r\nhello\n\r\n");
    CHECK_HAS(got, "Content-Type: text/event-stream\r\n");
    CHECK_HAS(got, "Transfer-Encoding: chunked\r\n");
    assert_int_equal(count(&got, "Content-Length"), 0);
    assert_true(http_stream_write(seen.conns[0], "0123456789abcdef0", 17));
    assert_true(http_stream_write(seen.conns[0], "", 0)); /* no chunk: that would be the end */
    hear_until(fd, &got, "\r\n11\r\n0123456789abcdef0\r\n");
    assert_int_equal(http_stream_queued(seen.conns[0]), 0);
    assert_int_equal(count(&seen.log, "/after"), 0);
    http_stream_end(seen.conns[0]);
    hear_until(fd, &got, "/after");
    CHECK_HAS(got, "\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n");
    assert_string_equal(seen.news.p, "");
    close(fd);
    buf_release(&got);
}

static void
old_clients_and_head_get_streams_too(void **state)
{
    struct buf got = { 0 };

    (void)state;
    begin();
    int fd = dial();
    say(fd, "GET /stream HTTP/1.0\r\n\r\n");
    hear_until(fd, &got, "\r\n\r\nhello\n");
    CHECK_HAS(got, "Connection: close\r\n");
    assert_int_equal(count(&got, "chunked"), 0);
    http_stream_end(seen.conns[0]);
    hear_end(fd, &got);
    close(fd);
    buf_reset(&got);
    fd = dial();
    say(fd, "HEAD /stream" HOST "\r\nGET /after" HOST "\r\n");
    hear_until(fd, &got, "\r\n\r\n");
    http_stream_end(seen.conns[1]);
    hear_until(fd, &got, "/after");
    assert_int_equal(count(&got, "hello"), 0);
    assert_int_equal(count(&got, "chunked"), 0);
    close(fd);
    buf_release(&got);
}

static void
a_stream_takes_only_so_much_and_says_when_there_is_room(void **state)
{
    static char block[10000];
    struct buf got = { 0 };

    (void)state;
    o.stream_max = 100000;
    begin();
    int fd = dial(), small = 262144;
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    say(fd, "GET /stream" HOST "\r\n");
    hear_until(fd, &got, "hello\n");
    memset(block, 'b', sizeof block);
    int taken = 0;
    for (int full = 0; full < 3 && taken < 10000;) {
        while (http_stream_write(seen.conns[0], block, sizeof block))
            taken++;
        assert_true(http_stream_queued(seen.conns[0]) <= o.stream_max + 1000);
        run_for(1); /* the kernel takes some, until it is full as well */
        full = http_stream_queued(seen.conns[0]) > 50000 ? full + 1 : 0;
    }
    assert_true(taken < 10000);
    buf_reset(&seen.news);
    size_t want = (size_t)taken * sizeof block;
    for (size_t n = 0; n < want;) {
        buf_reset(&got);
        assert_true(hear_some(fd, &got));
        n += count(&got, "b");
    }
    RUN_UNTIL(seen.news.len);
    assert_string_equal(seen.news.p, "drained");
    assert_true(http_stream_write(seen.conns[0], "more\n", 5));
    hear_until(fd, &got, "more\n");
    close(fd);
    CHECK_OK(loop_run(loop, &e), &e);
    assert_string_equal(seen.news.p, "drained gone");
    assert_false(http_stream_write(seen.conns[0], "x", 1));
    http_stream_end(seen.conns[0]);
    buf_release(&got);
}

static void
one_event_larger_than_the_bound_is_taken_alone(void **state)
{
    struct buf got = { 0 };
    static char block[16 << 20]; /* more than the kernel takes */

    (void)state;
    o.stream_max = 1000;
    begin();
    int fd = dial();
    say(fd, "GET /stream" HOST "\r\n");
    hear_until(fd, &got, "hello\n");
    run_for(0);
    memset(block, 'b', sizeof block);
    assert_true(http_stream_write(seen.conns[0], block, sizeof block));
    assert_false(http_stream_write(seen.conns[0], "x", 1));
    while (got.len < sizeof block)
        assert_true(hear_some(fd, &got));
    http_stream_end(seen.conns[0]);
    hear_until(fd, &got, "\r\n0\r\n\r\n");
    close(fd);
    buf_release(&got);
}

static void
a_stream_that_nobody_reads_is_given_up(void **state)
{
    static char block[1 << 20];

    (void)state;
    o.stall_ms = 60;
    begin();
    int fd = dial(), small = 262144;
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    say(fd, "GET /stream" HOST "\r\n");
    RUN_UNTIL(seen.n == 1);
    for (int i = 0; i < 20; i++) {
        http_stream_write(seen.conns[0], block, sizeof block);
        run_for(1);
    }
    while (seen.news.len < 4 || strcmp(seen.news.p + seen.news.len - 4, "gone") != 0)
        CHECK_OK(loop_run(loop, &e), &e);
    http_stream_end(seen.conns[0]);
    close(fd);
}

/* ---- slow clients ---- */

static void
a_head_that_drips_is_cut_off(void **state)
{
    struct buf got = { 0 };

    (void)state;
    o.head_ms = 60;
    begin();
    int fd = dial(), silent = dial();
    for (int i = 0; i < 200 && !is_readable(fd, 0); i++) {
        send(fd, i ? "a" : "GET /", i ? 1 : 5, MSG_NOSIGNAL); /* always a byte, never the end */
        run_for(5);
    }
    hear_end(fd, &got);
    CHECK_HAS(got, "HTTP/1.1 408 Request Timeout\r\n");
    buf_reset(&got);
    hear_end(silent, &got); /* said nothing, hears nothing */
    assert_int_equal(got.len, 0);
    close(fd);
    close(silent);
    buf_release(&got);
}

static void
a_body_that_drips_is_cut_off(void **state)
{
    struct buf got = { 0 };

    (void)state;
    o.body_ms = 40;
    o.body_rate = 100000;
    begin();
    int fd = dial();
    say(fd, "POST /echo" HOST "Content-Length: 100000\r\n\r\n");
    for (int i = 0; i < 200 && !is_readable(fd, 0); i++) {
        send(fd, "abc", 3, MSG_NOSIGNAL);
        run_for(5);
    }
    hear_end(fd, &got);
    CHECK_HAS(got, "HTTP/1.1 408 Request Timeout\r\n");
    assert_string_equal(seen.log.p, "");
    close(fd);
    buf_release(&got);
}

static void
an_idle_connection_is_closed_and_a_waiting_one_is_not(void **state)
{
    struct buf got = { 0 };

    (void)state;
    o.idle_ms = 50;
    begin();
    int fd = dial(), waiting = dial();
    say(waiting, "GET /later" HOST "\r\n");
    say(fd, "GET /a" HOST "\r\n");
    hear_end(fd, &got);
    CHECK_HAS(got, "\r\n\r\n/a");
    assert_false(is_readable(waiting, 0));
    http_answer(seen.conns[0], 200, NULL, "patience", 8);
    hear_until(waiting, &got, "patience");
    close(fd);
    close(waiting);
    buf_release(&got);
}

static void
one_caller_too_many_is_turned_away(void **state)
{
    struct buf got = { 0 };
    int fds[3];

    (void)state;
    o.max_conns = 2;
    begin();
    for (int i = 0; i < 2; i++) {
        fds[i] = dial();
        say(fds[i], "GET /a" HOST "\r\n");
        hear_until(fds[i], &got, "/a");
        buf_reset(&got);
    }
    fds[2] = dial();
    hear_end(fds[2], &got);
    CHECK_HAS(got, "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\n");
    close(fds[0]);
    close(fds[2]);
    RUN_UNTIL(http_server_stats(server).open == 1);
    fds[0] = dial();
    buf_reset(&got);
    say(fds[0], "GET /again" HOST "\r\n");
    hear_until(fds[0], &got, "\r\n\r\n/again");
    assert_int_equal(http_server_stats(server).turned_away, 1);
    close(fds[0]);
    close(fds[1]);
    buf_release(&got);
}

/* ---- stopping ---- */

static void
stopping_answers_what_was_begun_and_takes_nothing_new(void **state)
{
    struct buf got = { 0 };

    (void)state;
    begin();
    int idle = dial(), owed = dial(), half = dial(), stream = dial();
    say(idle, "GET /a" HOST "\r\n");
    hear_until(idle, &got, "\r\n\r\n/a");
    say(owed, "GET /later" HOST "\r\nGET /never" HOST "\r\n");
    say(half, "GET /half HTTP/1.1\r\nHo");
    RUN_UNTIL(seen.n == 1);
    for (int i = 0; i < 10; i++)
        run_for(0); /* a round each: the half was read as well */
    say(stream, "GET /stream" HOST "\r\n");
    RUN_UNTIL(seen.n == 2);
    struct http_conn *later = seen.conns[0];
    seen.ends_on_stop = true;
    http_server_stop(server, PATIENCE_MS, on_stopped, &seen);
    assert_string_equal(seen.news.p, "stopping");

    buf_reset(&got);
    hear_end(idle, &got);
    assert_int_equal(got.len, 0);
    int late = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(late, (struct sockaddr *)&at, sizeof at), -1);
    hear_end(stream, &got);
    CHECK_HAS(got, "4\r\nbye\n\r\n0\r\n\r\n");
    assert_int_equal(stopped, 0);
    buf_reset(&got);
    say(half, "st: x\r\n\r\n");
    hear_end(half, &got);
    CHECK_HAS(got, "Connection: close\r\n");
    CHECK_HAS(got, "\r\n\r\n/half");
    buf_reset(&got);
    http_answer(later, 200, NULL, "done", 4);
    hear_end(owed, &got);
    CHECK_HAS(got, "Connection: close\r\n");
    CHECK_HAS(got, "\r\n\r\ndone");
    assert_int_equal(count(&seen.log, "/never"), 0);
    close(idle);
    close(owed);
    close(half);
    close(stream);
    close(late);
    while (!stopped)
        CHECK_OK(loop_run(loop, &e), &e);
    assert_int_equal(stopped, 1);
    buf_release(&got);
}

static void
stopping_waits_only_so_long(void **state)
{
    struct buf got = { 0 };

    (void)state;
    begin();
    int fd = dial();
    say(fd, "GET /watched" HOST "\r\n");
    RUN_UNTIL(seen.n == 1);
    http_server_stop(server, 50, on_stopped, &seen);
    while (!stopped)
        CHECK_OK(loop_run(loop, &e), &e);
    assert_string_equal(seen.news.p, "stopping gone");
    http_answer(seen.conns[0], 200, NULL, "", 0);
    close(fd);
    buf_release(&got);
}

static void
a_server_without_callers_stops_at_once(void **state)
{
    (void)state;
    begin();
    http_server_stop(server, PATIENCE_MS, on_stopped, &seen);
    assert_int_equal(stopped, 0); /* not before the loop runs */
    while (!stopped)
        CHECK_OK(loop_run(loop, &e), &e);
}

/* ---- where it listens ---- */

static int
dial_unix(const char *path)
{
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    strcpy(to.sun_path, path);
    if (connect(fd, (struct sockaddr *)&to, sizeof to) == 0)
        return fd;
    close(fd);
    return -1;
}

static void
a_unix_socket_is_ours_alone(void **state)
{
    struct listener l, other;
    struct buf got = { 0 };

    (void)state;
    server = http_server_new(loop, &o, &e);
    umask(0);
    CHECK_OK(listener_unix(&l, "sock", &e), &e);
    umask(077);
    assert_int_equal(file_mode("sock") & 0777, 0600);
    assert_string_equal(l.name, "unix:sock");
    assert_true(l.is_loopback && l.is_unix);
    CHECK_OK(http_server_add(server, &l, &e), &e);
    int fd = dial_unix("sock");
    say(fd, "GET /a" HOST "\r\n");
    hear_until(fd, &got, "\r\n\r\n/a");
    CHECK_FAILS(listener_unix(&other, "sock", &e), ST_CONFLICT, &e,
                "sock is in use: another server listens there");
    assert_true(file_exists("sock"));
    http_server_free(server);
    server = NULL;
    assert_false(file_exists("sock"));
    close(fd);
    buf_release(&got);
}

static void
a_stale_socket_is_replaced_and_another_file_is_not(void **state)
{
    struct sockaddr_un to = { .sun_family = AF_UNIX, .sun_path = "sock" };
    struct listener l;
    char longer[200];

    (void)state;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&to, sizeof to), 0);
    assert_int_equal(listen(fd, 1), 0);
    close(fd); /* died, and left its file */
    CHECK_OK(listener_unix(&l, "sock", &e), &e);
    assert_int_equal(unlink("sock"), 0);
    write_file("sock", "mine");
    listener_release(&l); /* another file stands there: it stays */
    CHECK_FILE("sock", "mine");
    CHECK_FAILS(listener_unix(&l, "sock", &e), ST_CONFLICT, &e, "sock exists and is not a socket");
    CHECK_FILE("sock", "mine");
    memset(longer, 'x', sizeof longer);
    longer[sizeof longer - 1] = '\0';
    CHECK_FAILS_WITH(listener_unix(&l, longer, &e), ST_INVALID, &e, "from 1 to 107 bytes");
    CHECK_FAILS_WITH(listener_unix(&l, "no/such/sock", &e), ST_IO, &e, "no/such");
    listener_release(&l);
}

static void
several_addresses_are_served_together(void **state)
{
    struct listener l;
    struct sockaddr_in6 six = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
    struct buf got = { 0 };
    char peer[HTTP_PEER_SIZE];

    (void)state;
    begin();
    if (listener_tcp(&l, "[::1]:0", &e) != ST_OK)
        skip(); /* no IPv6 here */
    assert_true(l.is_loopback);
    assert_int_equal(strncmp(l.name, "[::1]:", 6), 0);
    six.sin6_port = htons((uint16_t)l.port);
    CHECK_OK(http_server_add(server, &l, &e), &e);
    CHECK_OK(listener_unix(&l, "sock", &e), &e);
    CHECK_OK(http_server_add(server, &l, &e), &e);
    int fds[] = { dial(), socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0), dial_unix("sock") };
    assert_int_equal(connect(fds[1], (struct sockaddr *)&six, sizeof six), 0);
    static const char *const peers[] = { "127.0.0.1:", "[::1]:", "unix" };
    for (size_t i = 0; i < 3; i++) {
        seen.n = 0;
        say(fds[i], "GET /later" HOST "\r\n");
        RUN_UNTIL(seen.n == 1);
        assert_int_equal(strncmp(http_conn_peer(seen.conns[0], peer), peers[i], strlen(peers[i])),
                         0);
        assert_int_equal(http_conn_is_unix(seen.conns[0]), i == 2);
        http_answer(seen.conns[0], 200, NULL, "ok", 2);
        buf_reset(&got);
        hear_until(fds[i], &got, "\r\n\r\nok");
        close(fds[i]);
    }
    buf_release(&got);
}

static void
an_open_socket_can_be_given(void **state)
{
    struct listener l;
    struct buf got = { 0 };
    socklen_t len = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM, 0), pipes[2];

    (void)state;
    at = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &len), 0);
    assert_int_equal(listen(fd, 5), 0);
    server = http_server_new(loop, &o, &e);
    CHECK_OK(listener_fd(&l, fd, &e), &e);
    assert_int_equal(l.port, ntohs(at.sin_port));
    CHECK_OK(http_server_add(server, &l, &e), &e);
    int client = dial();
    say(client, "GET /given" HOST "\r\n");
    hear_until(client, &got, "\r\n\r\n/given");
    close(client);
    buf_release(&got);
    assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
    CHECK_FAILS_WITH(listener_fd(&l, pipes[0], &e), ST_INVALID, &e, "not a listening socket");
    close(pipes[1]);
    CHECK_FAILS_WITH(listener_fd(&l, socket(AF_INET, SOCK_STREAM, 0), &e), ST_INVALID, &e,
                     "not a listening socket");
}

static void
what_systemd_gives_is_counted_once_and_only_for_us(void **state)
{
    char pid[32];

    (void)state;
    assert_int_equal(listener_given(), 0);
    snprintf(pid, sizeof pid, "%d", getpid());
    setenv("LISTEN_PID", pid, 1);
    setenv("LISTEN_FDS", "2", 1);
    assert_int_equal(listener_given(), 2);
    assert_null(getenv("LISTEN_FDS"));
    assert_int_equal(listener_given(), 0);
    setenv("LISTEN_PID", "1", 1);
    setenv("LISTEN_FDS", "2", 1);
    assert_int_equal(listener_given(), 0);
    setenv("LISTEN_PID", pid, 1);
    setenv("LISTEN_FDS", "many", 1);
    assert_int_equal(listener_given(), 0);
    assert_null(getenv("LISTEN_PID"));
}

static void
addresses_are_read_strictly(void **state)
{
    static const char *const bad[] = {
        "",
        "127.0.0.1",
        "127.0.0.1:",
        "127.0.0.1:x",
        "127.0.0.1:70000",
        "127.0.0.1:-1",
        "127.0.0.1: 1",
        "example.org:80",
        "::1:80",
        "[::1:80",
        "[::g]:80",
        "1.2.3:80",
        "[]:1",
        "0000000000000000000000000000000000000000000000000000000:80"
    };
    struct listener l, other;
    char name[64];

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(listener_tcp(&l, bad[i], &e), ST_INVALID);
        assert_true(e.text[0]);
    }
    CHECK_OK(listener_tcp(&l, "localhost:0", &e), &e);
    assert_true(l.port && l.is_loopback);
    snprintf(name, sizeof name, "127.0.0.1:%u", l.port);
    assert_string_equal(l.name, name);
    CHECK_FAILS_WITH(listener_tcp(&other, name, &e), ST_CONFLICT, &e, "is in use: ss -ltnp shows");
    listener_release(&l);
    CHECK_OK(listener_tcp(&l, ":0", &e), &e);
    listener_release(&l);
    CHECK_OK(listener_tcp(&l, "0.0.0.0:0", &e), &e);
    assert_false(l.is_loopback);
    listener_release(&l);
}

static void
headers_are_made_only_of_what_fits(void **state)
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
a_date_is_written_as_the_rfc_wants(void **state)
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
        SERVER_CASE(what_there_is_no_memory_for_may_be_answered_shorter),
        SERVER_CASE(a_client_that_asks_is_told_to_continue),
        SERVER_CASE(a_bad_request_is_refused_and_the_rest_not_read),
        SERVER_CASE(faults_are_told_as_the_caller_likes),
        SERVER_CASE(a_fault_of_a_body_is_told_with_what_was_asked_for),
        SERVER_CASE(a_body_that_is_too_large_is_refused_readably),
        SERVER_CASE(who_does_not_hang_up_after_the_last_answer_is_hung_up_on),
        SERVER_CASE(a_client_that_reads_slowly_gets_all_of_it),
        SERVER_CASE(an_answer_may_come_later_and_order_is_kept),
        SERVER_CASE(the_requests_of_a_round_may_be_answered_together),
        SERVER_CASE(much_that_is_said_meanwhile_waits_its_turn),
        SERVER_CASE(a_client_that_goes_is_missed_by_who_watches),
        SERVER_CASE(a_client_that_only_stopped_talking_gets_its_answers),
        SERVER_CASE(a_reset_is_noticed_without_a_watcher),
        SERVER_CASE(requests_that_nobody_ended_go_with_the_server),
        SERVER_CASE(a_stream_is_chunks_that_end),
        SERVER_CASE(old_clients_and_head_get_streams_too),
        SERVER_CASE(a_stream_takes_only_so_much_and_says_when_there_is_room),
        SERVER_CASE(one_event_larger_than_the_bound_is_taken_alone),
        SERVER_CASE(a_stream_that_nobody_reads_is_given_up),
        SERVER_CASE(a_head_that_drips_is_cut_off),
        SERVER_CASE(a_body_that_drips_is_cut_off),
        SERVER_CASE(an_idle_connection_is_closed_and_a_waiting_one_is_not),
        SERVER_CASE(one_caller_too_many_is_turned_away),
        SERVER_CASE(stopping_answers_what_was_begun_and_takes_nothing_new),
        SERVER_CASE(stopping_waits_only_so_long),
        SERVER_CASE(a_server_without_callers_stops_at_once),
        SERVER_CASE(a_unix_socket_is_ours_alone),
        SERVER_CASE(a_stale_socket_is_replaced_and_another_file_is_not),
        SERVER_CASE(several_addresses_are_served_together),
        SERVER_CASE(an_open_socket_can_be_given),
        CASE(what_systemd_gives_is_counted_once_and_only_for_us),
        SERVER_CASE(addresses_are_read_strictly),
        CASE(headers_are_made_only_of_what_fits),
        CASE(a_date_is_written_as_the_rfc_wants),
    };
    loop_free(loop_new(&e)); /* libuv opens a pipe for signals once, and keeps it */
    return cmocka_run_group_tests_name("server", tests, NULL, NULL);
}
