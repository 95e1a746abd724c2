/* server_conn - one connection of the server: reading requests, sending responses. */
#include "net/server_impl.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* ---- memory and marks ---- */

void
conn_mark(struct http_conn *c)
{
    if (c->is_marked)
        return;
    c->is_marked = true;
    c->next_marked = c->v->marked;
    c->v->marked = c;
}

static bool
unlink_marked(struct http_conn **list, const struct http_conn *c)
{
    for (; *list; list = &(*list)->next_marked)
        if (*list == c) {
            *list = c->next_marked;
            return true;
        }
    return false;
}

void
conn_free(struct http_conn *c)
{
    if (c->is_marked && !unlink_marked(&c->v->marked, c))
        unlink_marked(&c->v->flushing, c);
    *c->link = c->next;
    if (c->next)
        c->next->link = c->link;
    buf_release(&c->in);
    buf_release(&c->out);
    buf_release(&c->sending);
    free(c);
}

static void
on_conn_closed(uv_handle_t *h)
{
    struct http_conn *c = (struct http_conn *)h;
    struct http_server *v = c->v;

    c->is_closed = true;
    if (!c->is_owed)
        conn_free(c);
    server_forget_handle(v);
}

void
conn_close(struct http_conn *c)
{
    if (c->is_closing)
        return;
    c->is_closing = c->is_over = true;
    c->v->stats.open--;
    uv_close(&c->h.any, on_conn_closed);
}

void
conn_lose(struct http_conn *c)
{
    http_watch_fn *watch = c->is_owed ? c->watch : NULL;

    if (c->is_gone)
        return;
    c->is_gone = true;
    c->watch = NULL;
    conn_close(c);
    if (watch)
        watch(c->watch_ctx, c, HTTP_GONE);
}

/* ---- reading ---- */

/* Keeps the n unread bytes at p in `in`; p may point into it. */
static void
keep(struct http_conn *c, char *p, size_t n)
{
    struct http_request *r = &c->http.request;
    size_t good = r->head_len + c->body_len;

    if (c->is_over || n == 0) {
        buf_reset(&c->in);
        if (c->in.cap > OUT_KEEP)
            buf_release(&c->in);
        return;
    }
    if (c->fed > good && r->head_len) { /* removes the lines between chunks */
        memmove(p + good, p + c->fed, n - c->fed);
        n -= c->fed - good;
        c->fed = good;
    }
    if (c->in.len) {
        size_t at = (size_t)(p - c->in.p);
        buf_cut(&c->in, at + n);
        buf_drop(&c->in, at);
    } else {
        buf_add(&c->in, p, n);
    }
    if (buf_failed(&c->in))
        conn_lose(c);
}

static void
hand_over(struct http_conn *c, const char *p)
{
    struct http_server *v = c->v;
    struct http_request *r = &c->http.request;

    r->body = (struct http_text){ p + r->head_len, c->body_len };
    c->is_owed = true;
    c->was_stream = false;
    c->minor = r->minor;
    c->keeps = r->keep_alive && !v->is_stopping && !c->is_reserve;
    c->has_no_body = r->method == METHOD_HEAD;
    c->n_requests++;
    v->stats.requests++;
    v->has_requests = true;
    v->o.on_request(v->o.ctx, c, r);
}

static void
on_head(struct http_conn *c)
{
    struct http_server *v = c->v;

    size_t max = v->o.body_max ? v->o.body_max(v->o.ctx, &c->http.request) : HTTP_BODY_MAX;

    c->http.body_max = max < SIZE_MAX / 4 ? max : SIZE_MAX / 4;
    c->in.max = HTTP_HEAD_MAX + c->http.body_max + BACKLOG + SCRATCH;
    c->since = uv_now(v->uv);
    c->arrived = 0;
    c->body_len = 0;
    c->is_continued = false;
}

/* Parses requests in the n bytes at p, of which the parser has used c->fed, and hands them over. */
static void
parse_requests(struct http_conn *c, char *p, size_t n)
{
    bool is_more = false;

    while (!is_more && !c->is_owed && !c->is_over && c->out.len < OUT_MAX) {
        size_t used;
        c->http.request.base = p;
        switch (http_feed(&c->http, p + c->fed, n - c->fed, &used)) {
        case HTTP_MORE:
            c->fed += used;
            is_more = true;
            break;
        case HTTP_HEAD:
            c->fed = used;
            on_head(c);
            break;
        case HTTP_BODY: {
            char *to = p + c->http.request.head_len + c->body_len;
            if (to != c->http.body)
                memmove(to, c->http.body, c->http.body_len);
            c->body_len += c->http.body_len;
            c->fed += used;
            break;
        }
        case HTTP_DONE:
            c->fed += used;
            hand_over(c, p);
            p += c->fed;
            n -= c->fed;
            c->fed = c->body_len = 0;
            http_next(&c->http);
            break;
        case HTTP_FAULT:
            conn_refuse(c, c->http.status, c->http.reason);
            break;
        }
    }
    keep(c, p, n);
    if (is_more && c->is_eof) {
        c->is_over = true;
        conn_mark(c);
    }
    if (is_more && c->http.request.expects_continue && !c->is_continued && !c->is_over) {
        c->is_continued = true;
        if (c->fed == c->http.request.head_len) {
            buf_adds(&c->out, "HTTP/1.1 100 Continue\r\n\r\n");
            conn_mark(c);
        }
    }
}

static void
on_alloc(uv_handle_t *h, size_t hint, uv_buf_t *to)
{
    struct http_conn *c = (struct http_conn *)h;

    (void)hint;
    *to = uv_buf_init(c->v->scratch, SCRATCH);
    if (c->in.len && !c->is_over) {
        size_t want = c->http.request.has_length && c->http.request.head_len
                          ? c->http.request.head_len + c->http.request.content_length - c->in.len
                          : 0;
        want = want < 4096 ? 4096 : want < SCRATCH ? want : SCRATCH;
        char *room = buf_room(&c->in, want);
        *to = uv_buf_init(room, room ? (unsigned)(c->in.cap - c->in.len - 1) : 0);
    }
}

static void
on_end(struct http_conn *c, bool is_clean)
{
    c->is_eof = true;
    if (!is_clean || c->is_lingering || (c->is_owed && (c->watch || c->is_stream))) {
        conn_lose(c);
        return;
    }
    /* Complete requests are answered; an incomplete one is dropped. */
    if (!c->is_owed && c->out.len < OUT_MAX)
        c->is_over = true;
    conn_mark(c);
}

static void
on_read(uv_stream_t *stream, ssize_t nread, const uv_buf_t *from)
{
    struct http_conn *c = (struct http_conn *)stream;

    if (nread < 0) {
        on_end(c, nread == UV_EOF);
        return;
    }
    if (nread == 0 || c->is_over)
        return; /* bytes after the last request are ignored */
    size_t n = (size_t)nread;
    if (!http_is_begun(&c->http) && !c->in.len)
        c->since = uv_now(c->v->uv);
    c->arrived += n;
    if (from->base != c->v->scratch) {
        buf_grew(&c->in, n);
    } else if (c->is_owed || c->out.len >= OUT_MAX) {
        buf_add(&c->in, from->base, n);
    } else {
        parse_requests(c, from->base, n);
        return;
    }
    if (!c->is_owed && c->out.len < OUT_MAX)
        parse_requests(c, c->in.p, c->in.len);
    else if (buf_failed(&c->in))
        conn_lose(c);
    if (c->in.len >= BACKLOG && (c->is_owed || c->out.len >= OUT_MAX) && !c->is_closing) {
        c->is_paused = true;
        uv_read_stop(stream);
    }
}

int
conn_read(struct http_conn *c)
{
    c->is_paused = false;
    return uv_read_start(&c->h.stream, on_alloc, on_read);
}

void
conn_read_on(struct http_conn *c)
{
    c->resumes = false;
    if (c->is_closing)
        return;
    if (c->is_paused)
        conn_read(c);
    if (c->in.len && !c->is_over)
        parse_requests(c, c->in.p, c->in.len);
}

/* ---- sending ---- */

static void
on_written(uv_write_t *w, int status)
{
    struct http_conn *c = w->data;

    c->is_writing = false;
    buf_reset(&c->sending);
    if (c->sending.cap > OUT_KEEP || c->is_stream)
        buf_release(&c->sending);
    if (c->is_closing)
        return;
    if (status < 0) {
        conn_lose(c);
        return;
    }
    c->resumes = c->resumes || (c->in.len > 0 && !c->is_owed);
    conn_mark(c);
}

/* Lingering close after everything was sent. An immediate close would answer bytes that the client
 * still sends with a reset, and the reset may discard our response before the client reads it. */
static void
linger(struct http_conn *c)
{
    uv_os_fd_t fd;

    if (c->is_lingering)
        return;
    if (c->is_eof || uv_fileno(&c->h.any, &fd) != 0) {
        conn_close(c);
        return;
    }
    shutdown(fd, SHUT_WR);
    c->is_lingering = true;
    c->since = uv_now(c->v->uv);
    if (c->is_paused)
        conn_read(c);
}

void
conn_flush(struct http_conn *c)
{
    if (c->is_closing || c->is_writing)
        return;
    if (buf_failed(&c->out)) {
        conn_lose(c);
        return;
    }
    if (c->out.len) {
        uv_buf_t b = uv_buf_init(c->out.p, (unsigned)c->out.len);
        int n = uv_try_write(&c->h.stream, &b, 1);
        if (n == UV_EAGAIN)
            n = 0;
        if (n < 0) {
            conn_lose(c);
            return;
        }
        if ((size_t)n < c->out.len) {
            struct buf spare = c->sending;
            c->sending = c->out;
            c->out = spare;
            b = uv_buf_init(c->sending.p + n, (unsigned)(c->sending.len - (size_t)n));
            c->write.data = c;
            c->unsent = b.len;
            c->sent_at = uv_now(c->v->uv);
            c->is_writing = true;
            if (uv_write(&c->write, &c->h.stream, &b, 1, on_written) != 0) {
                c->is_writing = false;
                conn_lose(c);
            }
            return;
        }
        buf_reset(&c->out);
        if (c->out.cap > OUT_KEEP || c->is_stream) /* there may be thousands of idle ones */
            buf_release(&c->out);
        if (c->in.len && !c->is_owed && !c->is_over) { /* reading stopped at OUT_MAX */
            c->resumes = true;
            conn_mark(c);
        }
    }
    if (c->is_over && !c->is_owed)
        linger(c);
    else if (c->is_full) {
        c->is_drained = true; /* reported in the next turn, after other connections */
        conn_mark(c);
    }
}
