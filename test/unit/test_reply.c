/*
 * What a client is told when there is no memory for its answer. Client and server are one thread: a
 * client that waits runs the loop.
 */
#define _GNU_SOURCE
#include "test.h"

#include "base/loop.h"
#include "serve/reply.h"

#include <arpa/inet.h>
#include <sys/socket.h>

enum { PATIENCE_MS = 20000 };

static struct serve s;
static struct err e;
static struct sockaddr_in at;
static struct buf body; /* of the answer */
static int status;
static bool is_heard;

static void
on_request(void *ctx, struct http_conn *c, const struct http_request *r)
{
    struct route route = { .kind = ROUTE_OP, .op = HUB_GET };
    struct reply_to to = { ctx, c, &route, "r1", http_text(r, r->method_name), http_path(r) };

    is_heard = reply_send(&to, status, NULL, &body);
}

static void
begin(void)
{
    struct listener l;
    struct http_options o = { .ctx = &s, .on_request = on_request };

    s = (struct serve){ 0 };
    assert_true(reply_init(&s));
    s.loop = loop_new(&e);
    s.http = s.loop ? http_server_new(s.loop, &o, &e) : NULL;
    assert_non_null(s.http);
    CHECK_OK(listener_tcp(&l, "127.0.0.1:0", &e), &e);
    at = (struct sockaddr_in){ .sin_family = AF_INET,
                               .sin_port = htons((uint16_t)l.port),
                               .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    CHECK_OK(http_server_add(s.http, &l, &e), &e);
}

static void
finish(void)
{
    http_server_free(s.http);
    loop_free(s.loop);
    reply_release(&s);
    buf_release(&body);
    body = (struct buf){ 0 };
}

static void
on_time(void *ctx)
{
    loop_stop(ctx);
}

/* Asks once, and reads all that is answered. */
static void
ask(struct buf *to)
{
    static const char ask_for[] = "GET / HTTP/1.0\r\n\r\n";
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ssize_t n = -1;

    assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(send(fd, ask_for, sizeof ask_for - 1, MSG_NOSIGNAL), sizeof ask_for - 1);
    for (int ms = 0; n != 0 && ms < PATIENCE_MS; ms++) {
        char *room = buf_room(to, 65536);
        n = recv(fd, room, 65536, MSG_DONTWAIT);
        if (n > 0)
            buf_grew(to, (size_t)n);
        else if (n < 0 && loop_after(s.loop, 1, on_time, s.loop, NULL))
            CHECK_OK(loop_run(s.loop, &e), &e);
    }
    assert_int_equal(n, 0);
    close(fd);
}

/* A 503, whole, with the envelope of every error; and it is counted as that. */
static void
check_refused(const struct buf *got, const char *message)
{
    struct arena a = { 0 };
    struct json *v;
    const char *text = strstr(got->p, "\r\n\r\n");

    assert_ptr_equal(strstr(got->p, "HTTP/1.1 503 "), got->p);
    assert_non_null(strstr(got->p, "Content-Type: application/json\r\n"));
    assert_non_null(strstr(got->p, "X-Request-Id: r1\r\n"));
    assert_non_null(text);
    assert_true(json_parse(&a, text + 4, strlen(text + 4), &v, NULL));
    const struct json *error = json_get(v, "error");
    assert_true(json_eq(json_get(error, "code"), "STORE_UNAVAILABLE"));
    assert_true(json_eq(json_get(error, "message"), message));
    assert_true(json_eq(json_get(error, "request_id"), "r1"));
    assert_true(
        json_eq(json_get(error, "docs_url"), "/openapi.json#/x-error-codes/STORE_UNAVAILABLE"));
    assert_false(is_heard);
    assert_int_equal(s.answers[2], 0);
    assert_int_equal(s.answers[5], 1);
    arena_release(&a);
}

static void
an_answer_without_memory_is_a_503_and_takes_none(void **state)
{
    struct buf got = { 0 };

    (void)state;
    begin();
    const char *room = s.last_words.p;
    size_t cap = s.last_words.cap;
    status = 200;
    buf_adds(&body, "{\"data\":{\"id\":\"signal:");
    body.is_starved = true; /* in the middle of it */
    ask(&got);
    check_refused(&got, "out of memory for the answer");
    assert_ptr_equal(s.last_words.p, room);
    assert_int_equal(s.last_words.cap, cap);
    buf_release(&got);
    finish();
}

static void
an_answer_that_is_too_large_is_a_503(void **state)
{
    struct buf got = { 0 };

    (void)state;
    begin();
    status = 404;
    body.max = 10;
    buf_adds(&body, "{\"error\":{\"code\":\"");
    ask(&got);
    check_refused(&got, "the answer is larger than 10 bytes");
    buf_release(&got);
    finish();
}

static void
an_answer_that_fits_is_sent_as_it_is(void **state)
{
    struct buf got = { 0 };

    (void)state;
    begin();
    status = 200;
    buf_adds(&body, "{\"data\":null}");
    ask(&got);
    assert_ptr_equal(strstr(got.p, "HTTP/1.1 200 OK\r\n"), got.p);
    assert_non_null(strstr(got.p, "\r\n\r\n{\"data\":null}"));
    assert_true(is_heard);
    assert_int_equal(s.answers[2], 1);
    buf_release(&got);
    finish();
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(an_answer_without_memory_is_a_503_and_takes_none),
        CASE(an_answer_that_is_too_large_is_a_503),
        CASE(an_answer_that_fits_is_sent_as_it_is),
    };

    loop_free(loop_new(&e)); /* libuv opens a pipe for signals once, and keeps it */
    return cmocka_run_group_tests_name("reply", tests, NULL, NULL);
}
