/* Tests net/fetch: one request, its redirects, its tries and its limits. */
#include "test.h"

#include "base/clock.h"
#include "net/fetch.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <time.h>

/* ---- a server with prepared answers, one for each connection ---- */

enum { REPLIES = 8 };

struct server {
    int fd, stop[2];
    unsigned port;
    struct buf reply[REPLIES]; /* empty: closes the connection */
    bool is_mute[REPLIES];     /* keeps the connection open and sends nothing */
    size_t n_replies;
    char *seen[REPLIES]; /* the requests, NUL-ended; read them after serve_stop */
    size_t n_seen;
    pthread_t thread;
    bool is_running;
};

static struct server one, two;
static struct fetch_response r;
static struct err e;

static void
open_server(struct server *v)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t n = sizeof at;

    *v = (struct server){ .fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) };
    assert_true(v->fd >= 0);
    assert_int_equal(bind(v->fd, (struct sockaddr *)&at, n), 0);
    assert_int_equal(listen(v->fd, 16), 0);
    assert_int_equal(getsockname(v->fd, (struct sockaddr *)&at, &n), 0);
    assert_int_equal(pipe(v->stop), 0);
    v->port = ntohs(at.sin_port);
}

/* The length of a request: its head, and the body that Content-Length announces. */
static void
read_request(int fd, struct buf *to)
{
    for (;;) {
        char *head = to->p ? strstr(to->p, "\r\n\r\n") : NULL;
        char *length = head ? strstr(to->p, "Content-Length: ") : NULL;
        size_t want = length && length < head ? strtoul(length + 16, NULL, 10) : 0;
        if (head && to->len >= (size_t)(head - to->p) + 4 + want)
            return;
        char *room = buf_room(to, 65536);
        ssize_t n = room ? read(fd, room, 65536) : 0;
        if (n <= 0)
            return;
        buf_grew(to, (size_t)n);
    }
}

static void *
serve_all(void *arg)
{
    struct server *v = arg;

    for (size_t i = 0; i < v->n_replies; i++) {
        struct pollfd p[] = { { .fd = v->fd, .events = POLLIN },
                              { .fd = v->stop[0], .events = POLLIN } };
        struct buf request = { 0 };
        if (poll(p, 2, -1) < 0 || !(p[0].revents & POLLIN))
            return NULL;
        int fd = accept(v->fd, NULL, NULL);
        if (fd < 0)
            return NULL;
        read_request(fd, &request);
        v->seen[v->n_seen++] = request.p;
        struct buf *b = &v->reply[i];
        for (size_t at = 0; at < b->len;) {
            ssize_t n = send(fd, b->p + at, b->len - at, MSG_NOSIGNAL);
            if (n < 0)
                break;
            at += (size_t)n;
        }
        if (v->is_mute[i])
            poll(&p[1], 1, -1);
        close(fd);
    }
    return NULL;
}

static void
serve(struct server *v)
{
    assert_int_equal(pthread_create(&v->thread, NULL, serve_all, v), 0);
    v->is_running = true;
}

static void
serve_stop(struct server *v)
{
    if (v->is_running) {
        close(v->stop[1]);
        v->stop[1] = -1;
        pthread_join(v->thread, NULL);
    }
    v->is_running = false;
}

static void
close_server(struct server *v)
{
    serve_stop(v);
    for (size_t i = 0; i < REPLIES; i++) {
        buf_release(&v->reply[i]);
        free(v->seen[i]);
    }
    close(v->fd);
    close(v->stop[0]);
    if (v->stop[1] >= 0)
        close(v->stop[1]);
}

/* Adds an answer: status, further header lines, body. */
static void
answer(struct server *v, int status, const char *head, const void *body, size_t len)
{
    struct buf *b = &v->reply[v->n_replies++];

    buf_addf(b, "HTTP/1.1 %d Said\r\nContent-Length: %zu\r\nConnection: close\r\n%s\r\n", status,
             len, head);
    buf_add(b, body, len);
}

static void
says(struct server *v, int status, const char *head, const char *body)
{
    answer(v, status, head, body, strlen(body));
}

static void
redirects(struct server *v, int status, const char *fmt, unsigned port)
{
    char head[256], where[200];

    snprintf(where, sizeof where, fmt, port);
    snprintf(head, sizeof head, "Location: %s\r\n", where);
    says(v, status, head, "elsewhere");
}

static void
hangs_up(struct server *v)
{
    v->n_replies++;
}

/* ---- cases ---- */

static char url[300];

static struct fetch_request
ask(struct server *v, const char *path)
{
    snprintf(url, sizeof url, "http://127.0.0.1:%u%s", v->port, path);
    return (struct fetch_request){ .url = url, .wait_ms = 1 };
}

static int
enter(void **state)
{
    if (case_enter(state))
        return -1;
    r = (struct fetch_response){ 0 };
    open_server(&one);
    open_server(&two);
    return 0;
}

static int
leave(void **state)
{
    fetch_response_release(&r);
    close_server(&one);
    close_server(&two);
    return case_leave(state);
}

#undef CASE
#define CASE(fact) cmocka_unit_test_setup_teardown(fact, enter, leave)

#define CHECK_HAS(text, part)                                                                      \
    do {                                                                                           \
        if (!strstr(text, part))                                                                   \
            fail_msg("\"%s\" does not hold \"%s\"", text, part);                                   \
    } while (0)
#define CHECK_LACKS(text, part)                                                                    \
    do {                                                                                           \
        if (strstr(text, part))                                                                    \
            fail_msg("\"%s\" holds \"%s\"", text, part);                                           \
    } while (0)

static void
an_answer_has_status_type_headers_and_body(void **state)
{
    (void)state;
    says(&one, 200, "Content-Type: text/plain\r\nETag:  \"v1\" \r\n", "hello");
    serve(&one);
    struct fetch_request q = ask(&one, "/a/b?c=d");
    CHECK_OK(fetch(&q, &r, &e), &e);
    assert_int_equal(r.status, 200);
    assert_string_equal(r.content_type, "text/plain");
    assert_string_equal(r.body.p, "hello");
    assert_int_equal(r.tries, 1);
    assert_int_equal(r.redirects, 0);
    assert_string_equal(r.url, url);
    struct buf v = { 0 };
    assert_true(fetch_response_header(&r, "etag", &v));
    assert_string_equal(v.p, "\"v1\"");
    assert_false(fetch_response_header(&r, "ETa", &v));
    assert_false(fetch_response_header(&r, "HTTP/1.1 200 Said", &v));
    buf_release(&v);
    serve_stop(&one);
    CHECK_HAS(one.seen[0], "GET /a/b?c=d HTTP/1.1\r\n");
    CHECK_HAS(one.seen[0], "\r\nUser-Agent: cliq/");
}

static void
a_404_is_an_answer_too(void **state)
{
    (void)state;
    says(&one, 404, "", "");
    serve(&one);
    struct fetch_request q = ask(&one, "/");
    CHECK_OK(fetch(&q, &r, &e), &e);
    assert_int_equal(r.status, 404);
    assert_non_null(r.body.p);
    assert_int_equal(r.body.len, 0);
    assert_string_equal(r.content_type, "");
    assert_int_equal(r.tries, 1);
}

static void
any_bytes_arrive_unchanged(void **state)
{
    char all[3 * 256];

    (void)state;
    for (size_t i = 0; i < sizeof all; i++)
        all[i] = (char)(i * 7);
    answer(&one, 200, "", all, sizeof all);
    serve(&one);
    struct fetch_request q = ask(&one, "/");
    CHECK_OK(fetch(&q, &r, &e), &e);
    assert_int_equal(r.body.len, sizeof all);
    assert_memory_equal(r.body.p, all, sizeof all);
}

static void
a_body_is_posted_with_the_headers(void **state)
{
    const struct fetch_header h[] = { { "X-One", "1" },
                                      { "X-None", "" },
                                      { "Content-Type", "a/b" } };

    (void)state;
    says(&one, 201, "", "made");
    serve(&one);
    struct fetch_request q = ask(&one, "/new");
    q.headers = h;
    q.n_headers = 3;
    q.body = "a\0b";
    q.body_len = 3;
    CHECK_OK(fetch(&q, &r, &e), &e);
    assert_int_equal(r.status, 201);
    serve_stop(&one);
    CHECK_HAS(one.seen[0], "POST /new HTTP/1.1\r\n");
    CHECK_HAS(one.seen[0], "\r\nX-One: 1\r\n");
    CHECK_HAS(one.seen[0], "\r\nX-None:\r\n");
    CHECK_HAS(one.seen[0], "\r\nContent-Type: a/b\r\n");
    CHECK_HAS(one.seen[0], "\r\nContent-Length: 3\r\n");
    CHECK_LACKS(one.seen[0], "Expect");
    char *body = strstr(one.seen[0], "\r\n\r\n") + 4;
    assert_memory_equal(body, "a\0b", 3);
}

static void
the_caller_chooses_the_method(void **state)
{
    static const char *const methods[] = { "put", "DELETE", "POST", "HEAD", "PATCH", "GET" };

    (void)state;
    for (size_t i = 0; i < 6; i++)
        says(&one, 200, "", i == 3 ? "" : "x");
    serve(&one);
    for (size_t i = 0; i < 6; i++) {
        struct fetch_request q = ask(&one, "/m");
        q.method = methods[i];
        if (i == 0 || i == 5) {
            q.body = "data";
            q.body_len = 4;
        }
        CHECK_OK(fetch(&q, &r, &e), &e);
        assert_int_equal(r.status, 200);
        fetch_response_release(&r);
    }
    serve_stop(&one);
    static const char *const lines[] = { "PUT /m ",  "DELETE /m ", "POST /m ",
                                         "HEAD /m ", "PATCH /m ",  "GET /m " };
    for (size_t i = 0; i < 6; i++)
        assert_memory_equal(one.seen[i], lines[i], strlen(lines[i]));
    CHECK_HAS(one.seen[0], "\r\n\r\ndata");
    CHECK_HAS(one.seen[2], "\r\nContent-Length: 0\r\n");
    CHECK_HAS(one.seen[5], "\r\n\r\ndata");
}

static void
an_invalid_request_is_refused_before_it_is_sent(void **state)
{
    static const struct {
        struct fetch_header h;
        const char *said;
    } heads[] = {
        { { "X", "secret\r\nHost: evil" }, "the value of header X holds a line break" },
        { { "X", "secret\nb" }, "the value of header X holds a line break" },
        { { "X\r\nY", "secret" }, "header number 1 has a bad name" },
        { { "X: secret", "secret" }, "header number 1 has a bad name" },
        { { "", "secret" }, "header number 1 has a bad name" },
        { { "content-length", "secret" }, "the header Content-Length is set by cliq" },
        { { "Transfer-Encoding", "secret" }, "the header Transfer-Encoding is set by cliq" },
    };
    static const char *const methods[] = { "",        "GET /", "G\r\nET",
                                           "CONNECT", "trace", "ABCDEFGHIJKLMNOPQRSTUVWXYZ" };
    static const char *const urls[] = { "",
                                        "secret",
                                        "secret.example/x",
                                        "//secret/x",
                                        "http://",
                                        "http://secret:99999/",
                                        "http://127.0.0.1/\r\nsecret",
                                        "file:///etc/secret",
                                        "ftp://secret/x",
                                        "gopher://secret/x",
                                        "javascript:secret" };

    (void)state;
    serve(&one);
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        struct fetch_request q = ask(&one, "/");
        q.headers = &heads[i].h;
        q.n_headers = 1;
        CHECK_FAILS_WITH(fetch(&q, &r, &e), ST_INVALID, &e, heads[i].said);
        CHECK_LACKS(e.text, "secret");
        fetch_response_release(&r);
    }
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        struct fetch_request q = ask(&one, "/");
        q.method = methods[i];
        CHECK_FAILS_WITH(fetch(&q, &r, &e), ST_INVALID, &e, "method");
        fetch_response_release(&r);
    }
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        struct fetch_request q = { .url = urls[i] };
        CHECK_FAILS_WITH(fetch(&q, &r, &e), ST_INVALID, &e, "URL");
        CHECK_LACKS(e.text, "secret");
        fetch_response_release(&r);
    }
}

static void
spaces_in_a_url_are_encoded(void **state)
{
    (void)state;
    says(&one, 200, "", "");
    serve(&one);
    struct fetch_request q = ask(&one, "/two words?q=a b");
    CHECK_OK(fetch(&q, &r, &e), &e);
    serve_stop(&one);
    CHECK_HAS(one.seen[0], "GET /two%20words?q=a");
    CHECK_LACKS(one.seen[0], "a b");
}

/* ---- tries ---- */

static void
retry_after_is_obeyed(void **state)
{
    (void)state;
    says(&one, 429, "Retry-After: 1\r\n", "slow down");
    says(&one, 200, "", "now");
    serve(&one);
    struct fetch_request q = ask(&one, "/");
    int64_t before = clock_mono_ms();
    CHECK_OK(fetch(&q, &r, &e), &e);
    assert_true(clock_mono_ms() - before >= 1000);
    assert_int_equal(r.status, 200);
    assert_int_equal(r.tries, 2);
    assert_string_equal(r.body.p, "now");
}

static void
retry_after_may_be_a_date(void **state)
{
    char head[100];
    time_t then = time(NULL) + 3;
    struct tm tm;

    (void)state;
    strftime(head, sizeof head, "Retry-After: %a, %d %b %Y %H:%M:%S GMT\r\n", gmtime_r(&then, &tm));
    says(&one, 503, head, "");
    says(&one, 200, "", "now");
    serve(&one);
    struct fetch_request q = ask(&one, "/");
    int64_t before = clock_mono_ms();
    CHECK_OK(fetch(&q, &r, &e), &e);
    assert_true(clock_mono_ms() - before >= 1000);
    assert_int_equal(r.tries, 2);
}

static void
the_wait_doubles_and_has_a_limit(void **state)
{
    (void)state;
    assert_int_equal(fetch_wait_ms(1, 0, 0, 0), FETCH_WAIT_MS);
    assert_int_equal(fetch_wait_ms(2, 0, 0, 0), 2 * FETCH_WAIT_MS);
    assert_int_equal(fetch_wait_ms(3, 0, 10, 0), 40);
    assert_int_equal(fetch_wait_ms(4000000000u, 0, 10, 0), FETCH_WAIT_MAX);
    assert_int_equal(fetch_wait_ms(1, 7, 10, 0), 7000);
    assert_int_equal(fetch_wait_ms(1, 60, 10, 0), FETCH_WAIT_MAX);
    assert_int_equal(fetch_wait_ms(1, INT64_MAX, 10, 0), FETCH_WAIT_MAX);
    assert_int_equal(fetch_wait_ms(1, -5, 10, 0), 10);
    assert_int_equal(fetch_wait_ms(1, 600, 10, 900000), 600000);
    assert_int_equal(fetch_wait_ms(9, 0, 10, 70), 70);
}

static void
a_failing_server_is_tried_three_times(void **state)
{
    static const int codes[] = { 500, 502, 504 };

    (void)state;
    for (size_t i = 0; i < 3; i++)
        says(&one, codes[i], "", i == 2 ? "the last" : "no");
    serve(&one);
    struct fetch_request q = ask(&one, "/");
    CHECK_OK(fetch(&q, &r, &e), &e);
    assert_int_equal(r.status, 504);
    assert_int_equal(r.tries, 3);
    assert_string_equal(r.body.p, "the last");
}

static void
other_statuses_are_not_retried(void **state)
{
    static const int codes[] = { 400, 401, 403, 408, 501, 505 };

    (void)state;
    for (size_t i = 0; i < 6; i++)
        says(&one, codes[i], "", "");
    serve(&one);
    for (size_t i = 0; i < 6; i++) {
        struct fetch_request q = ask(&one, "/");
        CHECK_OK(fetch(&q, &r, &e), &e);
        assert_int_equal(r.status, codes[i]);
        assert_int_equal(r.tries, 1);
        fetch_response_release(&r);
    }
}

static void
a_post_is_retried_only_when_the_server_did_nothing(void **state)
{
    (void)state;
    says(&one, 503, "", "busy");
    says(&one, 500, "", "half done");
    hangs_up(&one);
    says(&one, 500, "", "");
    says(&one, 200, "", "");
    serve(&one);
    struct fetch_request q = ask(&one, "/");
    q.body = "x";
    q.body_len = 1;
    CHECK_OK(fetch(&q, &r, &e), &e);
    assert_int_equal(r.status, 500);
    assert_int_equal(r.tries, 2);
    fetch_response_release(&r);
    CHECK_FAILS_WITH(fetch(&q, &r, &e), ST_IO, &e, "POST http://127.0.0.1:");
    assert_int_equal(r.tries, 1);
    fetch_response_release(&r);
    q.is_repeatable = true;
    CHECK_OK(fetch(&q, &r, &e), &e);
    assert_int_equal(r.status, 200);
    assert_int_equal(r.tries, 2);
}

static void
a_broken_connection_is_retried(void **state)
{
    (void)state;
    hangs_up(&one);
    buf_adds(&one.reply[one.n_replies++], "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
    says(&one, 200, "", "whole");
    serve(&one);
    struct fetch_request q = ask(&one, "/");
    CHECK_OK(fetch(&q, &r, &e), &e);
    assert_int_equal(r.tries, 3);
    assert_string_equal(r.body.p, "whole");
}

static void
a_refused_connection_is_reported(void **state)
{
    (void)state;
    struct fetch_request q = ask(&one, "/path?token=secret");
    close(one.fd); /* the port is closed now */
    one.fd = dup(0);
    q.body = "x"; /* even a POST may be retried: nothing was sent */
    q.body_len = 1;
    CHECK_FAILS_WITH(fetch(&q, &r, &e), ST_IO, &e, "/path: ");
    CHECK_HAS(e.text, "POST http://127.0.0.1:");
    CHECK_LACKS(e.text, "secret");
    assert_int_equal(r.tries, 3);
    assert_int_equal(r.status, 0);
    fetch_response_release(&r);
    q.tries = 1;
    CHECK_FAILS_WITH(fetch(&q, &r, &e), ST_IO, &e, "/path: ");
    assert_int_equal(r.tries, 1);
}

/* ---- redirects ---- */

static void
three_redirects_are_followed(void **state)
{
    (void)state;
    redirects(&one, 301, "/b", 0);
    redirects(&one, 302, "http://127.0.0.1:%u/c", one.port);
    redirects(&one, 307, "d?e=f", 0);
    says(&one, 200, "", "there");
    serve(&one);
    struct fetch_request q = ask(&one, "/a");
    CHECK_OK(fetch(&q, &r, &e), &e);
    assert_int_equal(r.status, 200);
    assert_int_equal(r.redirects, 3);
    assert_string_equal(r.body.p, "there");
    CHECK_HAS(r.url, "/d?e=f");
    serve_stop(&one);
    CHECK_HAS(one.seen[3], "GET /d?e=f ");
}

static void
a_fourth_redirect_is_too_many(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++)
        redirects(&one, 302, "/again", 0);
    serve(&one);
    struct fetch_request q = ask(&one, "/a");
    CHECK_FAILS_WITH(fetch(&q, &r, &e), ST_FAILED, &e, "/again: more than 3 redirects");
    assert_int_equal(r.tries, 1);
}

static void
redirects_to_other_protocols_are_refused(void **state)
{
    static const char *const where[] = { "file:///etc/passwd", "FILE:///etc/passwd",
                                         "ftp://127.0.0.1/x", "gopher://127.0.0.1:1/x",
                                         "javascript:alert(1)" };

    (void)state;
    for (size_t i = 0; i < 5; i++)
        redirects(&one, 302, where[i], 0);
    serve(&one);
    for (size_t i = 0; i < 5; i++) {
        struct fetch_request q = ask(&one, "/a");
        enum status s = fetch(&q, &r, &e);
        if (s) {
            assert_int_equal(s, ST_REFUSED);
            CHECK_HAS(e.text, "/a: the redirect is not followed: ");
        } else {
            fail_msg("%s was followed", where[i]);
        }
        fetch_response_release(&r);
    }
}

static void
a_redirect_can_be_kept_as_the_answer(void **state)
{
    (void)state;
    redirects(&one, 307, "/b", 0);
    serve(&one);
    struct fetch_request q = ask(&one, "/a");
    q.keeps_redirects = true;
    CHECK_OK(fetch(&q, &r, &e), &e);
    assert_int_equal(r.status, 307);
    assert_int_equal(r.redirects, 0);
}

static void
a_secret_url_is_not_in_errors(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++)
        redirects(&one, 302, "/token", 0);
    serve(&one);
    struct fetch_request q = ask(&one, "/token");
    q.is_url_secret = true;
    CHECK_FAILS_WITH(fetch(&q, &r, &e), ST_FAILED, &e, "/: more than 3 redirects");
    assert_null(strstr(e.text, "token"));
}

static void
a_redirect_without_a_location_is_the_answer(void **state)
{
    (void)state;
    says(&one, 302, "", "lost");
    says(&one, 304, "Location: /x\r\n", "");
    serve(&one);
    struct fetch_request q = ask(&one, "/");
    CHECK_OK(fetch(&q, &r, &e), &e);
    assert_int_equal(r.status, 302);
    assert_string_equal(r.body.p, "lost");
    fetch_response_release(&r);
    CHECK_OK(fetch(&q, &r, &e), &e);
    assert_int_equal(r.status, 304);
}

static void
a_redirected_post_becomes_a_get_where_browsers_do_so(void **state)
{
    static const struct fetch_header h = { "Content-Type", "text/x" };
    static const int codes[] = { 301, 303, 307, 308 };

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        redirects(&one, codes[i], "/b", 0);
        says(&one, 200, "", "");
    }
    serve(&one);
    for (size_t i = 0; i < 4; i++) {
        struct fetch_request q = ask(&one, "/a");
        q.headers = &h;
        q.n_headers = 1;
        q.body = "data";
        q.body_len = 4;
        CHECK_OK(fetch(&q, &r, &e), &e);
        fetch_response_release(&r);
    }
    serve_stop(&one);
    for (size_t i = 0; i < 2; i++) {
        CHECK_HAS(one.seen[2 * i + 1], "GET /b ");
        CHECK_LACKS(one.seen[2 * i + 1], "text/x");
        CHECK_LACKS(one.seen[2 * i + 1], "data");
    }
    for (size_t i = 2; i < 4; i++) {
        CHECK_HAS(one.seen[2 * i + 1], "POST /b ");
        CHECK_HAS(one.seen[2 * i + 1], "text/x");
        CHECK_HAS(one.seen[2 * i + 1], "\r\n\r\ndata");
    }
}

static void
secrets_do_not_follow_to_another_origin(void **state)
{
    static const struct fetch_header h[] = { { "Authorization", "Bearer secret" },
                                             { "X-Api-Key", "secret" },
                                             { "Cookie", "a=secret" },
                                             { "Accept", "text/plain" } };

    (void)state;
    redirects(&one, 302, "/same", 0);
    redirects(&one, 302, "http://127.0.0.1:%u/other", two.port);
    redirects(&two, 302, "/other2", 0);
    says(&two, 200, "", "ok");
    serve(&one);
    serve(&two);
    struct fetch_request q = ask(&one, "/a");
    snprintf(url, sizeof url, "http://me:secret@127.0.0.1:%u/a", one.port);
    q.headers = h;
    q.n_headers = 4;
    CHECK_OK(fetch(&q, &r, &e), &e);
    assert_int_equal(r.redirects, 3);
    serve_stop(&one);
    serve_stop(&two);
    CHECK_HAS(one.seen[1], "GET /same ");
    CHECK_HAS(one.seen[1], "\r\nX-Api-Key: secret\r\n");
    CHECK_HAS(one.seen[1], "\r\nAuthorization: Bearer secret\r\n");
    for (size_t i = 0; i < 2; i++) {
        CHECK_LACKS(two.seen[i], "secret");
        CHECK_LACKS(two.seen[i], "Authorization");
        CHECK_HAS(two.seen[i], "\r\nAccept: text/plain\r\n");
    }
    CHECK_LACKS(r.url, "secret");
}

/* ---- limits ---- */

static void
a_body_over_the_limit_is_refused_with_and_without_a_length(void **state)
{
    (void)state;
    says(&one, 200, "", "12345");
    says(&one, 200, "", "123456");
    buf_adds(&one.reply[one.n_replies++], "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                                          "3\r\n123\r\n3\r\n456\r\n0\r\n\r\n");
    buf_adds(&one.reply[one.n_replies++], "HTTP/1.1 200 OK\r\n\r\n123456");
    serve(&one);
    struct fetch_request q = ask(&one, "/big");
    q.max_bytes = 5;
    CHECK_OK(fetch(&q, &r, &e), &e);
    assert_string_equal(r.body.p, "12345");
    for (int i = 0; i < 3; i++) {
        fetch_response_release(&r);
        CHECK_FAILS_WITH(fetch(&q, &r, &e), ST_FAILED, &e,
                         "/big: the response is larger than 5 bytes");
        assert_int_equal(r.tries, 1);
    }
}

static void
a_silent_server_is_given_up(void **state)
{
    (void)state;
    one.is_mute[one.n_replies++] = true;
    serve(&one);
    struct fetch_request q = ask(&one, "/slow");
    q.timeout_ms = 150;
    int64_t before = clock_mono_ms();
    CHECK_FAILS_WITH(fetch(&q, &r, &e), ST_TIMEOUT, &e, "/slow: no response within 0.15 s");
    assert_true(clock_mono_ms() - before >= 149);
    assert_int_equal(r.tries, 1);
}

static void
the_time_limit_covers_redirects(void **state)
{
    (void)state;
    redirects(&one, 302, "/b", 0);
    one.is_mute[one.n_replies++] = true;
    serve(&one);
    struct fetch_request q = ask(&one, "/a");
    q.timeout_ms = 150;
    CHECK_FAILS_WITH(fetch(&q, &r, &e), ST_TIMEOUT, &e, "/b: no response within 0.15 s");
}

static void
endless_headers_are_refused(void **state)
{
    struct buf *b = &one.reply[one.n_replies++];

    (void)state;
    buf_adds(b, "HTTP/1.1 200 OK\r\n");
    for (int i = 0; i < 20000; i++)
        buf_addf(b, "X-%05d: 0123456789\r\n", i);
    serve(&one);
    struct fetch_request q = ask(&one, "/");
    q.tries = 1;
    assert_int_not_equal(fetch(&q, &r, &e), ST_OK);
}

static void
interim_answers_are_not_the_answer(void **state)
{
    (void)state;
    buf_adds(&one.reply[one.n_replies++], "HTTP/1.1 103 Early Hints\r\nX-Early: yes\r\n\r\n"
                                          "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    serve(&one);
    struct fetch_request q = ask(&one, "/");
    CHECK_OK(fetch(&q, &r, &e), &e);
    assert_int_equal(r.status, 200);
    CHECK_LACKS(r.head.p, "X-Early");
    CHECK_HAS(r.head.p, "Content-Length: 2\n");
}

static void
no_proxy_comes_from_the_environment(void **state)
{
    static const char *const names[] = { "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY" };

    (void)state;
    says(&one, 200, "", "direct");
    says(&two, 200, "", "by proxy");
    serve(&one);
    serve(&two);
    for (size_t i = 0; i < 4; i++)
        setenv(names[i], "http://127.0.0.1:1", 1);
    struct fetch_request q = ask(&one, "/");
    enum status s = fetch(&q, &r, &e);
    for (size_t i = 0; i < 4; i++)
        unsetenv(names[i]);
    CHECK_OK(s, &e);
    assert_string_equal(r.body.p, "direct");
    fetch_response_release(&r);
    char proxy[64];
    snprintf(proxy, sizeof proxy, "http://127.0.0.1:%u", two.port);
    q = (struct fetch_request){ .url = "http://example.invalid/x", .proxy = proxy };
    CHECK_OK(fetch(&q, &r, &e), &e);
    assert_string_equal(r.body.p, "by proxy");
    serve_stop(&two);
    CHECK_HAS(two.seen[0], "GET http://example.invalid/x ");
}

static void
a_url_is_shown_without_its_secrets(void **state)
{
    static const struct {
        const char *url, *shown, *open, *origin;
    } t[] = {
        { "https://h/p", "https://h/p", "https://h/p", "https://h/" },
        { "https://me:secret@h:8/p?key=1#frag", "https://h:8/p", "https://h:8/p?key=1",
          "https://h:8/" },
        { "http://secret@h", "http://h/", "http://h/", "http://h/" },
        { "secret", "(not a URL)", "(not a URL)", "(not a URL)" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct buf b = { 0 };
        fetch_show_url(&b, t[i].url);
        assert_string_equal(b.p, t[i].shown);
        buf_reset(&b);
        fetch_public_url(&b, t[i].url);
        assert_string_equal(b.p, t[i].open);
        buf_reset(&b);
        fetch_show_origin(&b, t[i].url);
        assert_string_equal(b.p, t[i].origin);
        buf_release(&b);
    }
}

/* ---- streams ---- */

struct stream {
    struct buf got;
    size_t accepts; /* bytes; then it refuses */
    size_t n_waits, n_starts;
    int status; /* of the last wait */
};

static bool
take(void *ctx, const char *p, size_t len)
{
    struct stream *s = ctx;

    buf_add(&s->got, p, len);
    return s->got.len <= s->accepts;
}

static bool
heard_wait(void *ctx, int64_t ms, int status)
{
    struct stream *s = ctx;

    assert_true(ms >= 1);
    s->n_waits++;
    s->status = status;
    return s->n_waits < 2;
}

static struct fetch_request
ask_stream(struct server *v, struct stream *s)
{
    struct fetch_request q = ask(v, "/stream");

    q.is_repeatable = true;
    q.on_body = take;
    q.on_wait = heard_wait;
    q.ctx = s;
    q.max_bytes = 4; /* of an error's body only */
    return q;
}

static void
a_stream_is_given_away_as_it_arrives(void **state)
{
    struct stream s = { .accepts = 100 };

    (void)state;
    says(&one, 503, "", "busy");
    says(&one, 200, "", "data: longer than four\n");
    serve(&one);
    struct fetch_request q = ask_stream(&one, &s);
    CHECK_OK(fetch(&q, &r, &e), &e);
    assert_int_equal(r.status, 200);
    assert_int_equal(r.tries, 2);
    assert_int_equal(r.body.len, 0);
    assert_string_equal(s.got.p, "data: longer than four\n");
    assert_int_equal(s.n_waits, 1);
    assert_int_equal(s.status, 503);
    buf_release(&s.got);
}

static void
a_broken_stream_is_not_asked_for_again(void **state)
{
    struct stream s = { .accepts = 100 };
    struct buf *b = &one.reply[one.n_replies++];

    (void)state;
    buf_adds(b, "HTTP/1.1 200 Said\r\nContent-Length: 100\r\n\r\npart");
    says(&one, 200, "", "whole");
    serve(&one);
    struct fetch_request q = ask_stream(&one, &s);
    assert_int_equal(fetch(&q, &r, &e), ST_IO);
    assert_string_equal(s.got.p, "part");
    assert_int_equal(r.tries, 1);
    buf_release(&s.got);
}

static bool
forget(void *ctx)
{
    struct stream *s = ctx;

    buf_reset(&s->got);
    s->n_starts++;
    return s->n_starts < 3;
}

static void
a_broken_stream_begins_again_where_its_pieces_can_be_forgotten(void **state)
{
    struct stream s = { .accepts = 100 };

    (void)state;
    buf_adds(&one.reply[one.n_replies++], "HTTP/1.1 200 Said\r\nContent-Length: 100\r\n\r\npart");
    says(&one, 200, "", "whole");
    says(&one, 200, "", "third");
    serve(&one);
    struct fetch_request q = ask_stream(&one, &s);
    q.on_start = forget;
    CHECK_OK(fetch(&q, &r, &e), &e);
    assert_string_equal(s.got.p, "whole");
    assert_int_equal(r.tries, 2);
    fetch_response_release(&r);
    assert_int_equal(fetch(&q, &r, &e), ST_FAILED); /* the third start is refused */
    buf_release(&s.got);
}

static void
a_part_of_a_file_is_sent_and_sent_again(void **state)
{
    FILE *file = tmpfile();

    (void)state;
    assert_non_null(file);
    fputs("before the part behind", file);
    fflush(file);
    says(&one, 503, "", "busy");
    says(&one, 200, "", "");
    serve(&one);
    struct fetch_file part = { fileno(file), 7, 8 };
    struct fetch_request q = ask(&one, "/put");
    q.method = "PUT";
    q.file = &part;
    CHECK_OK(fetch(&q, &r, &e), &e);
    assert_int_equal(r.tries, 2);
    serve_stop(&one);
    for (size_t i = 0; i < 2; i++) {
        CHECK_HAS(one.seen[i], "PUT /put ");
        CHECK_HAS(one.seen[i], "Content-Length: 8\r\n");
        assert_string_equal(strstr(one.seen[i], "\r\n\r\n") + 4, "the part");
    }
    fclose(file);
}

static void
a_file_that_became_shorter_is_an_error(void **state)
{
    FILE *file = tmpfile();

    (void)state;
    assert_non_null(file);
    serve(&one);
    struct fetch_file part = { fileno(file), 0, 8 };
    struct fetch_request q = ask(&one, "/put");
    q.file = &part;
    q.tries = 1;
    CHECK_FAILS_WITH(fetch(&q, &r, &e), ST_FAILED, &e, "became shorter");
    fclose(file);
}

static void
a_put_that_must_not_be_repeated_is_a_post(void **state)
{
    (void)state;
    says(&one, 502, "", "half done");
    says(&one, 200, "", "");
    serve(&one);
    struct fetch_request q = ask(&one, "/");
    q.method = "PUT";
    q.body = "x";
    q.body_len = 1;
    q.is_single = true;
    CHECK_OK(fetch(&q, &r, &e), &e);
    assert_int_equal(r.status, 502);
    assert_int_equal(r.tries, 1);
}

static void
a_stream_that_is_refused_ends(void **state)
{
    struct stream s = { .accepts = 2 };

    (void)state;
    says(&one, 200, "", "too much");
    serve(&one);
    struct fetch_request q = ask_stream(&one, &s);
    CHECK_FAILS_WITH(fetch(&q, &r, &e), ST_FAILED, &e, "was not accepted");
    buf_release(&s.got);
}

static void
a_stream_that_falls_silent_is_given_up(void **state)
{
    struct stream s = { .accepts = 100 };
    struct buf *b = &one.reply[one.n_replies];

    (void)state;
    one.is_mute[one.n_replies++] = true;
    buf_adds(b, "HTTP/1.1 200 Said\r\nContent-Length: 100\r\n\r\npart");
    serve(&one);
    struct fetch_request q = ask_stream(&one, &s);
    q.idle_ms = 1000;
    CHECK_FAILS_WITH(fetch(&q, &r, &e), ST_TIMEOUT, &e, "nothing arrived for 1 s");
    assert_string_equal(s.got.p, "part");
    buf_release(&s.got);
}

static void
the_caller_may_refuse_to_wait(void **state)
{
    struct stream s = { .accepts = 100 };

    (void)state;
    for (int i = 0; i < 3; i++)
        says(&one, 429, "", "slow down");
    serve(&one);
    struct fetch_request q = ask_stream(&one, &s);
    q.max_bytes = 0;
    CHECK_OK(fetch(&q, &r, &e), &e);
    assert_int_equal(r.status, 429);
    assert_string_equal(r.body.p, "slow down");
    assert_int_equal(r.tries, 2);
    buf_release(&s.got);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(an_answer_has_status_type_headers_and_body),
        CASE(a_404_is_an_answer_too),
        CASE(any_bytes_arrive_unchanged),
        CASE(a_body_is_posted_with_the_headers),
        CASE(the_caller_chooses_the_method),
        CASE(an_invalid_request_is_refused_before_it_is_sent),
        CASE(spaces_in_a_url_are_encoded),
        CASE(retry_after_is_obeyed),
        CASE(retry_after_may_be_a_date),
        CASE(the_wait_doubles_and_has_a_limit),
        CASE(a_failing_server_is_tried_three_times),
        CASE(other_statuses_are_not_retried),
        CASE(a_post_is_retried_only_when_the_server_did_nothing),
        CASE(a_broken_connection_is_retried),
        CASE(a_refused_connection_is_reported),
        CASE(three_redirects_are_followed),
        CASE(a_fourth_redirect_is_too_many),
        CASE(redirects_to_other_protocols_are_refused),
        CASE(a_redirect_without_a_location_is_the_answer),
        CASE(a_redirect_can_be_kept_as_the_answer),
        CASE(a_secret_url_is_not_in_errors),
        CASE(a_redirected_post_becomes_a_get_where_browsers_do_so),
        CASE(secrets_do_not_follow_to_another_origin),
        CASE(a_body_over_the_limit_is_refused_with_and_without_a_length),
        CASE(a_silent_server_is_given_up),
        CASE(the_time_limit_covers_redirects),
        CASE(endless_headers_are_refused),
        CASE(interim_answers_are_not_the_answer),
        CASE(no_proxy_comes_from_the_environment),
        CASE(a_stream_is_given_away_as_it_arrives),
        CASE(a_broken_stream_is_not_asked_for_again),
        CASE(a_broken_stream_begins_again_where_its_pieces_can_be_forgotten),
        CASE(a_part_of_a_file_is_sent_and_sent_again),
        CASE(a_file_that_became_shorter_is_an_error),
        CASE(a_put_that_must_not_be_repeated_is_a_post),
        CASE(a_stream_that_is_refused_ends),
        CASE(a_stream_that_falls_silent_is_given_up),
        CASE(the_caller_may_refuse_to_wait),
        CASE(a_url_is_shown_without_its_secrets),
    };

    return cmocka_run_group_tests_name("fetch", tests, NULL, NULL);
}
