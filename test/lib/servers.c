#define _GNU_SOURCE
#include "servers.h"

#include <sys/socket.h>

static struct err e;

struct loop *loop;
struct http_server *server;
struct http_options o;
struct sockaddr_in at;
unsigned stopped;

struct seen seen;

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

void
on_stopped(void *ctx)
{
    assert_ptr_equal(ctx, &seen);
    stopped++;
    loop_stop(loop);
}

void
begin_server(void)
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

int
server_enter(void **state)
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

int
server_leave(void **state)
{
    http_server_free(server);
    loop_free(loop);
    buf_release(&seen.log);
    buf_release(&seen.news);
    return case_leave(state);
}

int
dial(void)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof at), 0);
    return fd;
}

void
say_bytes(int fd, const void *p, size_t n)
{
    assert_int_equal(send(fd, p, n, MSG_NOSIGNAL), n);
}

void
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

bool
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

void
run_for(uint64_t ms)
{
    bool is_late = false;

    assert_non_null(loop_after(loop, ms, on_event, &is_late, &e));
    while (!is_late)
        CHECK_OK(loop_run(loop, &e), &e);
}

bool
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

void
hear_until(int fd, struct buf *to, const char *text)
{
    while (!to->p || !memmem(to->p, to->len, text, strlen(text)))
        if (!hear_some(fd, to))
            fail_msg("the end came before \"%s\": \"%s\"", text, to->p ? to->p : "");
}

void
hear_end(int fd, struct buf *to)
{
    while (hear_some(fd, to))
        ;
    if (!to->p)
        buf_adds(to, "");
}

size_t
count(const struct buf *b, const char *text)
{
    size_t n = 0, len = strlen(text);

    for (size_t i = 0; i + len <= b->len; i++)
        n += memcmp(b->p + i, text, len) == 0;
    return n;
}
