/* Tests net/transport and net/http_client: addresses, response heads, and real connections to
 * a server with prepared answers. */
#include "test.h"

#include "base/clock.h"
#include "net/http_client.h"

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

static struct err e;

/* ---- server addresses ---- */

static void
server_addresses_are_parsed(void **state)
{
    static const struct {
        const char *url, *host, *port, *authority, *prefix;
    } good[] = {
        { "http://localhost", "localhost", "80", "localhost", "" },
        { "http://127.0.0.1:3000/", "127.0.0.1", "3000", "127.0.0.1:3000", "" },
        { "http://[::1]:3000/hub//", "::1", "3000", "[::1]:3000", "/hub" },
        { "localhost", "localhost", "80", "localhost", "" },
        { "localhost:3000", "localhost", "3000", "localhost:3000", "" },
        { "127.0.0.1:3000/hub", "127.0.0.1", "3000", "127.0.0.1:3000", "/hub" },
        { "http://[::1]", "::1", "80", "[::1]", "" },
        { "https://hub.example/a/b", "hub.example", "443", "hub.example", "/a/b" },
    };
    static const char *const bad[] = {
        "",           "localhost:x",   "ftp://x",       "http://",     "http:///x",
        "http://:1",  "http://a:",     "http://a:x",    "http://a:1x", "http://a:123456",
        "http://[]",  "http://[::1",   "http://[::1]x", "http://[zz]", "http://a b",
        "http://a@b", "http://a?b",    "http://a#b",    "http://a/\n", "http://a\r\nX: y",
        "unix:",      "unix:relative", "http://a/x y",
    };
    struct transport_place at;

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        CHECK_OK(transport_parse(&at, good[i].url, &e), &e);
        assert_string_equal(at.host, good[i].host);
        assert_string_equal(at.port, good[i].port);
        assert_string_equal(at.authority, good[i].authority);
        assert_string_equal(at.prefix, good[i].prefix);
        assert_true(at.is_tls == (strncmp(good[i].url, "https:", 6) == 0));
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        e.text[0] = '\0';
        if (transport_parse(&at, bad[i], &e) != ST_INVALID)
            fail_msg("\"%s\" was taken", bad[i]);
        assert_non_null(strstr(e.text, "URL"));
    }
    CHECK_OK(transport_parse(&at, "unix:/run/cliq.sock", &e), &e);
    assert_string_equal(at.unix_path, "/run/cliq.sock");
    assert_true(transport_is_local(&at));
    CHECK_OK(transport_parse(&at, "http://127.0.0.1.evil.example", &e), &e);
    assert_false(transport_is_local(&at));
    CHECK_OK(transport_parse(&at, "https://x", &e), &e);
    struct transport w;
    assert_int_equal(transport_open(&w, &at, wait_until(1000), NULL, &e), ST_INVALID);
}

/* ---- response heads ---- */

static int
parse(struct http_client_reply *r, const char *text)
{
    return http_client_parse(r, text, strlen(text));
}

static void
response_heads_are_parsed(void **state)
{
    static const char good[] = "HTTP/1.1 200 OK\r\nContent-Length: 12\r\ncontent-type: "
                               "text/event-stream; charset=utf-8\r\nRetry-After: 3\r\n\r\n";
    static const char *const bad[] = {
        "HTTP/2 200\r\n\r\n",
        "HTTP/1.1 20\r\n\r\n",
        "HTTP/1.1  200 OK\r\n\r\n",
        "HTTP/1.1 2000\r\n\r\n",
        "ICY 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\n\n",
        "\r\nHTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        "HTTP/1.1 200 OK\r\n: empty\r\n\r\n",
        "HTTP/1.1 200 OK\r\nA b: c\r\n\r\n",
        "HTTP/1.1 200 OK\r\n folded: x\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1, 1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX: a\1b\r\n\r\n",
    };
    struct http_client_reply r;

    (void)state;
    assert_int_equal(parse(&r, good), strlen(good));
    assert_true(r.status == 200 && r.has_length && r.content_length == 12 && r.keeps_alive);
    assert_true(r.is_event_stream && r.retry_after_s == 3 && !r.is_chunked);
    for (size_t i = 1; i < strlen(good); i++)
        assert_int_equal(http_client_parse(&r, good, i), 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (parse(&r, bad[i]) != -1)
            fail_msg("taken: %s", bad[i]);
    assert_true(parse(&r, "HTTP/1.0 404 No\r\n\r\n") > 0 && r.status == 404 && !r.keeps_alive);
    assert_true(parse(&r, "HTTP/1.1 301\r\nLocation: https://x/\r\nConnection: close\r\n\r\n") > 0);
    assert_string_equal(r.location, "https://x/");
    assert_false(r.keeps_alive);
}

/* ---- connections ---- */

/* A server with prepared answers, one text for each connection; '|' separates the answers to its
 * requests. "-" closes the connection at once. After the last answer the connection is closed,
 * unless the text ends in "~": then it stays open until the test ends. */
static struct {
    int fd, held;
    const char *const *says;
    pthread_t thread;
    int n_connections, n_requests;
    char asked[8192];
} server;

static bool
read_request(int fd)
{
    char text[4096];
    size_t n = 0;

    for (;;) {
        ssize_t r = recv(fd, text + n, sizeof text - 1 - n, 0);
        if (r <= 0)
            return false;
        n += (size_t)r;
        text[n] = '\0';
        char *end = strstr(text, "\r\n\r\n"), *length = strstr(text, "Content-Length: ");
        if (end && n >= (size_t)(end + 4 - text) + (length ? strtoul(length + 16, NULL, 10) : 0))
            break;
    }
    server.n_requests++;
    strcat(server.asked, text);
    return true;
}

static void *
serve(void *arg)
{
    (void)arg;
    for (const char *const *says = server.says; *says; says++) {
        int fd = accept(server.fd, NULL, NULL);
        const char *p = *says;
        server.n_connections++;
        while (*p && *p != '-' && *p != '~' && read_request(fd)) {
            size_t n = strcspn(p, "|~");
            /* in two pieces: the client may not depend on packet boundaries */
            assert_true(send(fd, p, n / 2, MSG_NOSIGNAL) >= 0);
            usleep(2000);
            assert_true(send(fd, p + n / 2, n - n / 2, MSG_NOSIGNAL) >= 0);
            p += n + (p[n] == '|');
        }
        if (*p == '~')
            server.held = fd;
        else
            close(fd);
    }
    return NULL;
}

static struct transport_place at;
static struct http_client c;
static struct buf body;

static void
begin(const char *const *says)
{
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof to;
    char url[64];

    memset(&server, 0, sizeof server);
    server.held = -1;
    server.says = says;
    server.fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(server.fd, (struct sockaddr *)&to, sizeof to), 0);
    assert_int_equal(listen(server.fd, 8), 0);
    assert_int_equal(getsockname(server.fd, (struct sockaddr *)&to, &len), 0);
    snprintf(url, sizeof url, "http://127.0.0.1:%d/hub", ntohs(to.sin_port));
    CHECK_OK(transport_parse(&at, url, &e), &e);
    http_client_init(&c, &at);
    buf_reset(&body);
    assert_int_equal(pthread_create(&server.thread, NULL, serve, NULL), 0);
}

static void
end(void)
{
    http_client_close(&c);
    pthread_join(server.thread, NULL);
    close(server.fd);
    if (server.held >= 0)
        close(server.held);
    buf_release(&body);
}

static const struct http_client_request get = { .method = "GET",
                                                .target = "/x",
                                                .is_repeatable = true };
static const struct http_client_request post = {
    .method = "POST", .target = "/y", .headers = "A: b\r\n", .body = "{}", .body_len = 2
};

#define OK(text)  "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n" text
#define SAYS(...) ((const char *const[]){ __VA_ARGS__, NULL })

static void
answers_arrive_whole(void **state)
{
    (void)state;
    begin(SAYS(OK("ab") "|HTTP/1.1 200 OK\r\nTransfer-Encoding: "
                        "chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n"
                        "T: x\r\n\r\n|HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No\r\n\r\n|"
                        "HTTP/1.1 200 OK\r\n\r\nup to the end"));
    CHECK_OK(http_client_fetch(&c, &get, &body, 5000, 1, NULL, &e), &e);
    assert_string_equal(body.p, "ab");
    CHECK_OK(http_client_fetch(&c, &get, &body, 5000, 1, NULL, &e), &e);
    assert_string_equal(body.p, "abcde");
    CHECK_OK(http_client_fetch(&c, &get, &body, 5000, 1, NULL, &e), &e);
    assert_int_equal(c.reply.status, 204);
    assert_int_equal(body.len, 0);
    CHECK_OK(http_client_fetch(&c, &get, &body, 5000, 1, NULL, &e), &e);
    assert_string_equal(body.p, "up to the end");
    end();
    assert_int_equal(server.n_connections, 1); /* the connection was reused */
    assert_non_null(strstr(server.asked, "GET /hub/x HTTP/1.1\r\nHost: 127.0.0.1:"));
}

static void
a_dead_connection_is_replaced(void **state)
{
    (void)state;
    begin(SAYS(OK("ab"), OK("cd"), OK("ef")));
    CHECK_OK(http_client_fetch(&c, &get, &body, 5000, 1, NULL, &e), &e);
    CHECK_OK(http_client_fetch(&c, &get, &body, 5000, 1, NULL, &e), &e); /* without a retry */
    assert_string_equal(body.p, "cd");
    CHECK_OK(http_client_fetch(&c, &post, &body, 5000, 1, NULL, &e),
             &e); /* a request that may not be repeated never uses an old connection */
    assert_string_equal(body.p, "ef");
    end();
    assert_int_equal(server.n_requests, 3);
    assert_non_null(strstr(server.asked, "POST /hub/y HTTP/1.1\r\n"));
    assert_non_null(strstr(server.asked, "A: b\r\nContent-Length: 2\r\n\r\n{}"));
}

static void
retryable_failures_are_retried(void **state)
{
    (void)state;
    begin(SAYS("-", "HTTP/1.1 503 No\r\nContent-Length: 2\r\n\r\n{}", OK("ab")));
    CHECK_OK(http_client_fetch(&c, &get, &body, 5000, 3, NULL, &e), &e);
    assert_string_equal(body.p, "ab");
    end();
    begin(SAYS("-"));
    assert_int_equal(http_client_fetch(&c, &post, &body, 5000, 3, NULL, &e), ST_IO);
    end();
    assert_int_equal(server.n_connections, 1);
}

static void
a_truncated_answer_is_an_error(void **state)
{
    static const char *const cut[] = {
        "HTTP/1.1 200 OK\r\nContent-Le",
        "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "SSH-2.0-x\r\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof cut / sizeof *cut; i++) {
        begin(SAYS(cut[i]));
        assert_int_equal(http_client_fetch(&c, &post, &body, 5000, 1, NULL, &e), ST_IO);
        end();
    }
}

static void
waiting_has_a_deadline_and_can_be_cancelled(void **state)
{
    struct cancel w = { .fd = { eventfd(1, 0), -1 } };

    (void)state;
    begin(SAYS("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\na~", OK("ab"), OK("ab")));
    int64_t before = clock_mono_ms();
    assert_int_equal(http_client_fetch(&c, &get, &body, 100, 1, NULL, &e), ST_TIMEOUT);
    assert_true(clock_mono_ms() - before < 4000);
    assert_int_equal(http_client_fetch(&c, &get, &body, 60000, 3, &w, &e), ST_CANCELLED);
    CHECK_OK(http_client_fetch(&c, &get, &body, 5000, 3, NULL, &e), &e);
    end();
    close(w.fd[0]);
}

static void
an_answer_has_a_size_limit(void **state)
{
    struct buf small = BUF_MAX(1);

    (void)state;
    begin(SAYS(OK("ab")));
    assert_true(http_client_fetch(&c, &post, &small, 5000, 1, NULL, &e) != ST_OK);
    end();
    buf_release(&small);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(server_addresses_are_parsed),
        CASE(response_heads_are_parsed),
        CASE(answers_arrive_whole),
        CASE(a_dead_connection_is_replaced),
        CASE(retryable_failures_are_retried),
        CASE(a_truncated_answer_is_an_error),
        CASE(waiting_has_a_deadline_and_can_be_cancelled),
        CASE(an_answer_has_a_size_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
