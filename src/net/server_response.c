/* server_response - functions that a request's handler calls: responses, streams, watchers. */
#include "net/server_impl.h"

#include <arpa/inet.h>
#include <assert.h>
#include <stdio.h>

/* ---- responses ---- */

static void
put_head(struct http_conn *c, int status, const char *headers)
{
    response_head(&c->out, status, c->v->date, c->minor, c->keeps, headers);
}

static void
put_answer(struct http_conn *c, int status, const char *headers, const void *body, size_t len)
{
    put_head(c, status, headers);
    response_body(&c->out, status, body, len, c->has_no_body);
}

/* Ends the open request. */
static void
settle(struct http_conn *c)
{
    assert(c->is_owed);
    c->was_stream = c->is_stream;
    c->is_owed = c->is_stream = c->is_full = c->is_drained = false;
    c->watch = NULL;
    if (c->is_closing) {
        if (c->is_closed)
            conn_free(c);
        return;
    }
    if (buf_failed(&c->out)) {
        conn_lose(c);
        return;
    }
    c->is_over = c->is_over || !c->keeps || (c->is_eof && c->in.len == 0);
    c->resumes = c->in.len > 0;
    c->since = uv_now(c->v->uv);
    conn_mark(c);
}

void
http_answer(struct http_conn *c, int status, const char *headers, const void *body, size_t len)
{
    assert(c->is_owed && !c->is_stream);
    if (!c->is_gone) {
        c->keeps = c->keeps && !c->v->is_stopping;
        put_answer(c, status, headers, body, len);
    }
    settle(c);
}

bool
http_answer_fits(struct http_conn *c, size_t len)
{
    struct buf *out = &c->out;

    if (buf_failed(out) || buf_room(out, len + HTTP_HEADERS_ROOM))
        return !buf_failed(out);
    out->is_over = out->is_starved = false; /* a shorter response may fit */
    return false;
}

/* A constant 503, which needs little memory. */
static void
put_busy(struct http_conn *c)
{
    buf_adds(&c->out, "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\n"
                      "Connection: close\r\nContent-Length: 0\r\n\r\n");
}

void
conn_refuse(struct http_conn *c, int status, const char *reason)
{
    const struct http_options *o = &c->v->o;
    struct buf headers = { 0 }, body = { 0 };

    c->v->stats.faults++;
    c->keeps = c->has_no_body = false;
    c->is_over = true;
    if (o->fault) {
        o->fault(o->ctx, c, c->http.request.head_len ? &c->http.request : NULL, status, reason,
                 &headers, &body);
    } else {
        buf_adds(&headers, "Content-Type: text/plain\r\n");
        buf_addf(&body, "%s\n", reason);
    }
    if (status == 503)
        buf_adds(&headers, "Retry-After: 1\r\n");
    if (buf_failed(&headers) || buf_failed(&body))
        put_busy(c);
    else
        put_answer(c, status, headers.p, body.p, body.len);
    buf_release(&headers);
    buf_release(&body);
    conn_mark(c);
}

void
conn_turn_away(struct http_conn *c)
{
    c->v->stats.turned_away++;
    conn_refuse(c, 503, "too many connections; try again in a second");
}

/* ---- streams ---- */

void
http_stream_begin(struct http_conn *c, const char *headers)
{
    assert(c->is_owed && !c->is_stream);
    c->is_stream = true;
    if (c->is_gone)
        return;
    c->is_chunked = c->minor >= 1 && !c->has_no_body;
    c->keeps = c->keeps && !c->v->is_stopping && (c->is_chunked || c->has_no_body);
    put_head(c, 200, headers);
    if (c->is_chunked)
        buf_adds(&c->out, "Transfer-Encoding: chunked\r\n");
    buf_adds(&c->out, "\r\n");
    conn_mark(c);
}

size_t
http_stream_queued(const struct http_conn *c)
{
    return c->out.len + (c->is_writing ? uv_stream_get_write_queue_size(&c->h.stream) : 0);
}

/* If nothing is queued, writes without blocking; returns the number of bytes written. A failure is
 * found when the rest is sent. */
static size_t
send_at_once(struct http_conn *c, const uv_buf_t parts[3])
{
    if (c->out.len || c->is_writing || c->is_closing)
        return 0;
    int n = uv_try_write(&c->h.stream, parts, 3);
    return n > 0 ? (size_t)n : 0;
}

static void
put_chunk(struct http_conn *c, const void *p, size_t n)
{
    char size[24] = "";
    int size_len = c->is_chunked ? snprintf(size, sizeof size, "%zx\r\n", n) : 0;
    uv_buf_t parts[3] = { uv_buf_init(size, (unsigned)size_len),
                          uv_buf_init((char *)(uintptr_t)p, (unsigned)n),
                          uv_buf_init((char *)(uintptr_t) "\r\n", c->is_chunked ? 2 : 0) };
    size_t sent = send_at_once(c, parts);

    if (sent == parts[0].len + parts[1].len + parts[2].len)
        return;
    for (size_t i = 0; i < 3; i++) {
        size_t skip = sent < parts[i].len ? sent : parts[i].len;
        buf_add(&c->out, parts[i].base + skip, parts[i].len - skip);
        sent -= skip;
    }
    conn_mark(c);
}

bool
http_stream_write(struct http_conn *c, const void *p, size_t n)
{
    assert(c->is_owed && c->is_stream);
    if (c->is_gone)
        return false;
    if (n == 0 || c->has_no_body)
        return true;
    size_t queued = http_stream_queued(c);
    if (queued > 0 && (queued > c->v->o.stream_max || n > c->v->o.stream_max - queued)) {
        c->is_full = true;
        return false;
    }
    put_chunk(c, p, n);
    return !buf_failed(&c->out);
}

void
http_stream_end(struct http_conn *c)
{
    assert(c->is_owed && c->is_stream);
    if (!c->is_gone) {
        if (c->is_chunked)
            buf_adds(&c->out, "0\r\n\r\n");
        c->keeps = c->keeps && !c->v->is_stopping;
    }
    settle(c);
}

void
http_stream_end_with(struct http_conn *c, const void *p, size_t n)
{
    assert(c->is_owed && c->is_stream && n > 0);
    if (!c->is_gone && !c->has_no_body)
        put_chunk(c, p, n);
    c->keeps = false;
    http_stream_end(c);
}

/* ---- the client ---- */

void
http_watch(struct http_conn *c, http_watch_fn *fn, void *ctx)
{
    assert(c->is_owed);
    c->watch = fn;
    c->watch_ctx = ctx;
}

bool
http_conn_is_gone(const struct http_conn *c)
{
    return c->is_gone;
}

bool
http_conn_is_reserve(const struct http_conn *c)
{
    return c->is_reserve;
}

bool
http_conn_is_unix(const struct http_conn *c)
{
    return c->is_unix;
}

char *
http_conn_peer(const struct http_conn *c, char to[HTTP_PEER_SIZE])
{
    struct sockaddr_storage a = { 0 };
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)&a;
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)&a;
    char text[INET6_ADDRSTRLEN] = "?";
    int len = sizeof a;

    if (c->is_unix) {
        snprintf(to, HTTP_PEER_SIZE, "unix");
    } else if (c->is_closing || uv_tcp_getpeername(&c->h.tcp, (struct sockaddr *)&a, &len) != 0) {
        snprintf(to, HTTP_PEER_SIZE, "gone");
    } else if (a.ss_family == AF_INET6) {
        inet_ntop(AF_INET6, &v6->sin6_addr, text, sizeof text);
        snprintf(to, HTTP_PEER_SIZE, "[%s]:%u", text, ntohs(v6->sin6_port));
    } else {
        inet_ntop(AF_INET, &v4->sin_addr, text, sizeof text);
        snprintf(to, HTTP_PEER_SIZE, "%s:%u", text, ntohs(v4->sin_port));
    }
    return to;
}
