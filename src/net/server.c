/*
 * server - see server.h. The one rule behind the code: whatever is called from outside only
 * changes buffers and flags and marks the connection; what follows from that happens in
 * turn(), twice per round of the loop (before it waits and after), so nothing is re-entered:
 *
 *     timers -> [idle] -> prepare: turn -> poll: reads -> check: turn -> closed handles
 *
 *     turn: read on where an answer let us; on_round; news; one write per connection
 *
 * A connection is freed when its handle is closed (libuv says so, later) and nobody holds it
 * as the handle of a request.
 */
#include "net/server.h"

#include "base/clock.h"
#include "base/loop.h"
#include "net/answer.h"

#include <arpa/inet.h>
#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <uv.h>

enum {
    SCRATCH = 65536,   /* of the one buffer all connections read into */
    BACKLOG = 65536,   /* bytes read ahead of an answer; then reading pauses */
    OUT_MAX = 1 << 20, /* unsent answers; then no further request is read */
    OUT_KEEP = 16384,  /* a larger buffer is given back when it is empty */
    ANSWER_MAX = 1 << 28,
    TURNED_AWAY = 64, /* so many at a time are told that there are too many; others hang up */
};

union handle {
    uv_handle_t any;
    uv_stream_t stream;
    uv_tcp_t tcp;
    uv_pipe_t pipe;
};

struct http_conn {
    union handle h; /* first: libuv's pointer to the handle is a pointer to us */
    struct http_server *v;
    struct http_conn *next, **link; /* all connections */
    struct http_conn *next_marked;  /* those for which turn() has something to do */
    struct http http;
    struct buf in;      /* from the first byte of the request being read */
    size_t fed;         /* of those, used by the parser */
    size_t body_len;    /* decoded, and standing behind the head */
    uint64_t arrived;   /* bytes since the head was whole */
    struct buf out;     /* to be sent at the end of the round */
    struct buf sending; /* libuv has this one */
    uv_write_t write;
    size_t unsent;    /* of sending, when we last looked */
    uint64_t since;   /* ms: what we wait for, we wait for since then */
    uint64_t sent_at; /* ms: the last progress in sending */
    http_watch_fn *watch;
    void *watch_ctx;
    unsigned n_requests;
    unsigned char minor; /* of the request that is owed */
    bool is_unix, is_marked;
    bool is_owed;     /* a request was handed over and not ended: somebody holds us */
    bool is_stream;   /* its answer is one */
    bool has_no_body; /* it was HEAD */
    bool is_chunked;  /* the stream's bytes go in chunks */
    bool keeps;       /* the connection, after this answer */
    bool is_over;     /* no further request is read; closed once all was sent */
    bool is_eof;      /* the client has ended its side */
    bool is_gone;
    bool is_closing, is_closed; /* the handle */
    bool is_writing, is_paused, is_lingering, is_continued;
    bool resumes;             /* turn() reads on in `in` */
    bool is_full, is_drained; /* the stream */
};

struct door {
    union handle h; /* first */
    struct http_server *v;
    struct door *next;
    struct listener listener; /* its fd is the handle's */
};

struct http_server {
    uv_loop_t *uv;
    struct http_options o;
    uv_prepare_t prepare;
    uv_check_t check;
    uv_idle_t idle; /* runs while something is marked, so that the loop does not wait */
    uv_timer_t timer;
    struct door *doors;
    struct http_conn *conns, *marked, *flushing;
    unsigned n_handles; /* not closed yet: the memory is libuv's as well */
    unsigned tick_ms;
    bool has_requests; /* handed over since on_round */
    bool is_ticking, is_stopping, is_freed;
    uint64_t stop_at;
    void (*on_stopped)(void *ctx);
    void *stopped_ctx;
    struct http_stats stats;
    int64_t date_s;
    char date[ANSWER_DATE_SIZE];
    char scratch[SCRATCH];
};

/* ---- memory and marks ---- */

static void
mark(struct http_conn *c)
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

static void
server_forget_handle(struct http_server *v)
{
    if (--v->n_handles == 0 && v->is_freed)
        free(v);
}

static void
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

static void
conn_close(struct http_conn *c)
{
    if (c->is_closing)
        return;
    c->is_closing = c->is_over = true;
    c->v->stats.open--;
    uv_close(&c->h.any, on_conn_closed);
}

/* The connection broke, or its client waits for nothing. */
static void
lose(struct http_conn *c)
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

/* ---- answers ---- */

static void
tell_date(struct http_server *v)
{
    int64_t now_s = clock_wall_ns() / 1000000000;

    if (now_s != v->date_s)
        answer_date(v->date, now_s);
    v->date_s = now_s;
}

static void
put_head(struct http_conn *c, int status, const char *headers)
{
    answer_head(&c->out, status, c->v->date, c->minor, c->keeps, headers);
}

static void
put_answer(struct http_conn *c, int status, const char *headers, const void *body, size_t len)
{
    put_head(c, status, headers);
    answer_body(&c->out, status, body, len, c->has_no_body);
}

/* The request that was handed over has its end. */
static void
settle(struct http_conn *c)
{
    assert(c->is_owed);
    c->is_owed = c->is_stream = c->is_full = c->is_drained = false;
    c->watch = NULL;
    if (c->is_closing) {
        if (c->is_closed)
            conn_free(c);
        return;
    }
    if (buf_failed(&c->out)) {
        lose(c);
        return;
    }
    c->is_over = c->is_over || !c->keeps || (c->is_eof && c->in.len == 0);
    c->resumes = c->in.len > 0;
    c->since = uv_now(c->v->uv);
    mark(c);
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

/* An answer of our own to what is no request; nothing behind it is read. */
static void
refuse(struct http_conn *c, int status, const char *reason)
{
    const struct http_options *o = &c->v->o;
    struct buf body = { 0 };

    c->v->stats.faults++;
    c->keeps = c->has_no_body = false;
    c->is_over = true;
    if (o->fault)
        o->fault(o->ctx, status, reason, &body);
    else
        buf_addf(&body, "%s\n", reason);
    put_answer(c, status, o->fault ? o->fault_headers : "Content-Type: text/plain\r\n", body.p,
               body.len);
    buf_release(&body);
    mark(c);
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
    mark(c);
}

size_t
http_stream_queued(const struct http_conn *c)
{
    return c->out.len + (c->is_writing ? uv_stream_get_write_queue_size(&c->h.stream) : 0);
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
    if (c->is_chunked) {
        char size[24];
        int len = snprintf(size, sizeof size, "%zx\r\n", n);
        buf_add(&c->out, size, (size_t)len);
    }
    buf_add(&c->out, p, n);
    if (c->is_chunked)
        buf_adds(&c->out, "\r\n");
    mark(c);
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

/* ---- reading ---- */

/* What is left of the bytes at p waits in `in`; they may be in there already. */
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
    if (c->fed > good && r->head_len) { /* the lines between chunks */
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
        lose(c);
}

static void
hand_over(struct http_conn *c, const char *p)
{
    struct http_server *v = c->v;
    struct http_request *r = &c->http.request;

    r->body = (struct http_text){ p + r->head_len, c->body_len };
    c->is_owed = true;
    c->minor = r->minor;
    c->keeps = r->keep_alive && !v->is_stopping;
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

/* Reads the requests in the n bytes at p, of which the parser has used c->fed. */
static void
digest(struct http_conn *c, char *p, size_t n)
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
            refuse(c, c->http.status, c->http.reason);
            break;
        }
    }
    keep(c, p, n);
    if (is_more && c->is_eof) {
        c->is_over = true;
        mark(c);
    }
    if (is_more && c->http.request.expects_continue && !c->is_continued && !c->is_over) {
        c->is_continued = true;
        if (c->fed == c->http.request.head_len) {
            buf_adds(&c->out, "HTTP/1.1 100 Continue\r\n\r\n");
            mark(c);
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
        lose(c);
        return;
    }
    /* What was asked is answered; the rest of a torn request is nobody's. */
    if (!c->is_owed && c->out.len < OUT_MAX)
        c->is_over = true;
    mark(c);
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
        return; /* said after the last request */
    size_t n = (size_t)nread;
    if (!http_is_begun(&c->http) && !c->in.len)
        c->since = uv_now(c->v->uv);
    c->arrived += n;
    if (from->base != c->v->scratch) {
        buf_grew(&c->in, n);
    } else if (c->is_owed || c->out.len >= OUT_MAX) {
        buf_add(&c->in, from->base, n);
    } else {
        digest(c, from->base, n);
        return;
    }
    if (!c->is_owed && c->out.len < OUT_MAX)
        digest(c, c->in.p, c->in.len);
    else if (buf_failed(&c->in))
        lose(c);
    if (c->in.len >= BACKLOG && (c->is_owed || c->out.len >= OUT_MAX) && !c->is_closing) {
        c->is_paused = true;
        uv_read_stop(stream);
    }
}

static void
read_on(struct http_conn *c)
{
    c->resumes = false;
    if (c->is_closing)
        return;
    if (c->is_paused) {
        c->is_paused = false;
        uv_read_start(&c->h.stream, on_alloc, on_read);
    }
    if (c->in.len && !c->is_over)
        digest(c, c->in.p, c->in.len);
}

/* ---- sending ---- */

static void
on_written(uv_write_t *w, int status)
{
    struct http_conn *c = w->data;

    c->is_writing = false;
    buf_reset(&c->sending);
    if (c->sending.cap > OUT_KEEP)
        buf_release(&c->sending);
    if (c->is_closing)
        return;
    if (status < 0) {
        lose(c);
        return;
    }
    c->resumes = c->resumes || (c->in.len > 0 && !c->is_owed);
    mark(c);
}

/* All was sent. A close that did not wait would take our last words back from a client that
 * is still talking: its bytes would meet a closed socket, and the reset overtakes the answer. */
static void
part(struct http_conn *c)
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
    if (c->is_paused) {
        c->is_paused = false;
        uv_read_start(&c->h.stream, on_alloc, on_read);
    }
}

static void
flush(struct http_conn *c)
{
    if (c->is_closing || c->is_writing)
        return;
    if (buf_failed(&c->out)) {
        lose(c);
        return;
    }
    if (c->out.len) {
        uv_buf_t b = uv_buf_init(c->out.p, (unsigned)c->out.len);
        int n = uv_try_write(&c->h.stream, &b, 1);
        if (n == UV_EAGAIN)
            n = 0;
        if (n < 0) {
            lose(c);
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
                lose(c);
            }
            return;
        }
        buf_reset(&c->out);
        if (c->out.cap > OUT_KEEP)
            buf_release(&c->out);
        if (c->in.len && !c->is_owed && !c->is_over) { /* OUT_MAX stopped us */
            c->resumes = true;
            mark(c);
        }
    }
    if (c->is_over && !c->is_owed)
        part(c);
    else if (c->is_full) {
        c->is_drained = true; /* told in the next turn: others come first */
        mark(c);
    }
}

static void
tell_drained(struct http_conn *c)
{
    c->is_full = c->is_drained = false;
    if (c->watch && c->is_stream && !c->is_gone)
        c->watch(c->watch_ctx, c, HTTP_DRAINED);
}

static void
tell_stopped(struct http_server *v)
{
    void (*fn)(void *) = v->on_stopped;

    if (!v->is_stopping || v->stats.open || !fn)
        return;
    v->on_stopped = NULL;
    fn(v->stopped_ctx);
}

static void
on_idle(uv_idle_t *h)
{
    (void)h; /* it is enough that the loop does not wait */
}

static void
turn(struct http_server *v)
{
    bool is_again = v->marked != NULL || v->has_requests;

    if (is_again)
        for (struct http_conn *c = v->marked; c; c = c->next_marked)
            if (c->is_drained)
                tell_drained(c);
    while (is_again) {
        is_again = false;
        for (struct http_conn *c = v->marked; c; c = c->next_marked)
            if (c->resumes) {
                read_on(c);
                is_again = true;
            }
        if (v->has_requests) {
            v->has_requests = false;
            is_again = true;
            if (v->o.on_round)
                v->o.on_round(v->o.ctx);
        }
    }
    v->flushing = v->marked;
    v->marked = NULL;
    while (v->flushing) {
        struct http_conn *c = v->flushing;
        v->flushing = c->next_marked;
        c->is_marked = false;
        flush(c);
    }
    if (v->marked)
        uv_idle_start(&v->idle, on_idle);
    else
        uv_idle_stop(&v->idle);
    tell_stopped(v);
}

static void
on_prepare(uv_prepare_t *h)
{
    turn(h->data);
}

static void
on_check(uv_check_t *h)
{
    struct http_server *v = h->data;

    tell_date(v);
    turn(v);
}

/* ---- time ---- */

/* Has the client used up its time? */
static void
look_at_clock(struct http_conn *c, uint64_t now)
{
    const struct http_options *o = &c->v->o;
    uint64_t waited = now - c->since;

    if (c->is_writing) {
        size_t unsent = uv_stream_get_write_queue_size(&c->h.stream);
        if (unsent != c->unsent) {
            c->unsent = unsent;
            c->sent_at = now;
        } else if (now - c->sent_at >= o->stall_ms) {
            lose(c);
            return;
        }
    }
    if (c->v->stop_at && now >= c->v->stop_at)
        lose(c);
    else if (c->is_lingering && waited >= o->linger_ms)
        conn_close(c);
    else if (c->is_owed || c->is_over || c->is_writing || c->is_lingering)
        ; /* it waits for us */
    else if (c->http.request.head_len) {
        if (waited >= o->body_ms && c->arrived * 1000 < (waited - o->body_ms + 1) * o->body_rate)
            refuse(c, 408, "the body came too slowly");
    } else if (http_is_begun(&c->http)) {
        if (waited >= o->head_ms)
            refuse(c, 408, "the request's head came too slowly");
    } else if (waited >= (c->n_requests ? o->idle_ms : o->head_ms)) {
        c->is_over = true;
        mark(c);
    }
}

static void
on_tick(uv_timer_t *t)
{
    struct http_server *v = t->data;
    uint64_t now = uv_now(v->uv);

    for (struct http_conn *c = v->conns; c; c = c->next)
        if (!c->is_closing)
            look_at_clock(c, now);
    if (v->stats.open == 0) {
        uv_timer_stop(&v->timer);
        v->is_ticking = false;
    }
}

static void
start_ticking(struct http_server *v)
{
    if (!v->is_ticking)
        uv_timer_start(&v->timer, on_tick, v->tick_ms, v->tick_ms);
    v->is_ticking = true;
}

/* ---- accepting ---- */

static void
turn_away(struct http_conn *c)
{
    c->v->stats.turned_away++;
    buf_adds(&c->out, "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\n"
                      "Connection: close\r\nContent-Length: 0\r\n\r\n");
    c->is_over = true;
    mark(c);
}

static void
on_caller(uv_stream_t *door, int status)
{
    struct door *d = (struct door *)door;
    struct http_server *v = d->v;

    if (status < 0)
        return; /* libuv tries again; nothing of ours is lost */
    struct http_conn *c = calloc(1, sizeof *c);
    if (!c)
        return;
    c->v = v;
    c->is_unix = d->listener.is_unix;
    c->keeps = true;
    c->minor = 1;
    c->out.max = c->sending.max = ANSWER_MAX;
    int rc = c->is_unix ? uv_pipe_init(v->uv, &c->h.pipe, 0) : uv_tcp_init(v->uv, &c->h.tcp);
    if (rc != 0) {
        free(c);
        return;
    }
    v->n_handles++;
    v->stats.open++;
    c->next = v->conns;
    c->link = &v->conns;
    if (v->conns)
        v->conns->link = &c->next;
    v->conns = c;
    c->since = uv_now(v->uv);
    http_init(&c->http);
    if (uv_accept(door, &c->h.stream) != 0) {
        conn_close(c);
        return;
    }
    v->stats.accepted++;
    if (v->stats.open > v->o.max_conns + TURNED_AWAY) {
        conn_close(c);
        return;
    }
    if (v->stats.open > v->o.max_conns)
        turn_away(c);
    if (!c->is_unix) {
        uv_tcp_nodelay(&c->h.tcp, 1);
        uv_tcp_keepalive(&c->h.tcp, 1, 60);
    }
    start_ticking(v);
    if (uv_read_start(&c->h.stream, on_alloc, on_read) != 0)
        conn_close(c);
}

static void
on_door_closed(uv_handle_t *h)
{
    struct door *d = (struct door *)h;
    struct http_server *v = d->v;

    free(d);
    server_forget_handle(v);
}

enum status
http_server_add(struct http_server *v, struct listener *l, struct err *e)
{
    struct door *d = calloc(1, sizeof *d);
    int rc = d ? 0 : UV_ENOMEM;

    if (d)
        rc = l->is_unix ? uv_pipe_init(v->uv, &d->h.pipe, 0) : uv_tcp_init(v->uv, &d->h.tcp);
    if (rc != 0) {
        free(d);
        listener_release(l);
        return err_set(e, ST_IO, "serve on %s: %s", l->name, uv_strerror(rc));
    }
    v->n_handles++;
    d->v = v;
    d->listener = *l;
    d->next = v->doors;
    v->doors = d;
    rc = l->is_unix ? uv_pipe_open(&d->h.pipe, l->fd) : uv_tcp_open(&d->h.tcp, l->fd);
    if (rc == 0)
        d->listener.fd = l->fd = -1; /* the handle's now */
    if (rc == 0)
        rc = uv_listen(&d->h.stream, 511, on_caller);
    *l = (struct listener)LISTENER_NONE;
    if (rc == 0)
        return ST_OK;
    v->doors = d->next;
    enum status s = err_set(e, ST_IO, "serve on %s: %s", d->listener.name, uv_strerror(rc));
    listener_release(&d->listener);
    uv_close(&d->h.any, on_door_closed);
    return s;
}

static void
close_doors(struct http_server *v)
{
    for (struct door *d = v->doors, *next; d; d = next) {
        next = d->next;
        listener_release(&d->listener);
        uv_close(&d->h.any, on_door_closed);
    }
    v->doors = NULL;
}

/* ---- the server ---- */

static void
default_to(unsigned *n, unsigned otherwise)
{
    if (*n == 0)
        *n = otherwise;
}

static unsigned
least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static void
set_options(struct http_server *v, const struct http_options *o)
{
    v->o = *o;
    default_to(&v->o.max_conns, 1024);
    default_to(&v->o.head_ms, 10000);
    default_to(&v->o.idle_ms, 60000);
    default_to(&v->o.body_ms, 10000);
    default_to(&v->o.body_rate, 1024);
    default_to(&v->o.stall_ms, 60000);
    default_to(&v->o.linger_ms, 2000);
    v->o.stream_max = o->stream_max ? o->stream_max : (size_t)1 << 20;
    /* Late by a quarter of the shortest time at most. */
    unsigned ms = least(least(v->o.head_ms, v->o.idle_ms), least(v->o.body_ms, v->o.stall_ms));
    ms = least(ms, v->o.linger_ms) / 4;
    v->tick_ms = ms < 5 ? 5 : least(ms, 1000);
}

struct http_server *
http_server_new(struct loop *l, const struct http_options *o, struct err *e)
{
    struct http_server *v = calloc(1, sizeof *v);
    struct sigaction pipe_action;

    assert(o->on_request);
    if (!v) {
        err_set(e, ST_IO, "out of memory");
        return NULL;
    }
    /* libuv writes without MSG_NOSIGNAL: a client that hangs up must not end us. */
    if (sigaction(SIGPIPE, NULL, &pipe_action) == 0 && pipe_action.sa_handler == SIG_DFL)
        signal(SIGPIPE, SIG_IGN);
    v->uv = loop_uv(l);
    v->date_s = -1;
    set_options(v, o);
    tell_date(v);
    uv_prepare_init(v->uv, &v->prepare);
    uv_check_init(v->uv, &v->check);
    uv_idle_init(v->uv, &v->idle);
    uv_timer_init(v->uv, &v->timer);
    v->prepare.data = v->check.data = v->idle.data = v->timer.data = v;
    v->n_handles = 4;
    uv_prepare_start(&v->prepare, on_prepare);
    uv_check_start(&v->check, on_check);
    return v;
}

void
http_server_stop(struct http_server *v, unsigned grace_ms, void (*on_stopped)(void *ctx), void *ctx)
{
    if (v->is_stopping)
        return;
    v->is_stopping = true;
    v->on_stopped = on_stopped;
    v->stopped_ctx = ctx;
    v->stop_at = uv_now(v->uv) + grace_ms + 1;
    close_doors(v);
    for (struct http_conn *c = v->conns; c; c = c->next) {
        if (c->is_closing)
            continue;
        if (c->is_owed && c->watch)
            c->watch(c->watch_ctx, c, HTTP_STOPPING);
        else if (!c->is_owed && !http_is_begun(&c->http) && !c->in.len)
            c->is_over = true;
        if (c->is_over && !c->is_owed && !c->out.len && !c->is_writing)
            conn_close(c); /* all was said long ago: no need to wait */
        else
            mark(c);
    }
    uv_idle_start(&v->idle, on_idle); /* a turn comes soon, and says so if all is done */
}

static void
on_part_closed(uv_handle_t *h)
{
    server_forget_handle(h->data);
}

void
http_server_free(struct http_server *v)
{
    if (!v)
        return;
    v->is_stopping = true;
    close_doors(v);
    for (struct http_conn *c = v->conns; c; c = c->next)
        lose(c); /* the watcher may end its request, and others' */
    for (struct http_conn *c = v->conns, *next; c; c = next) {
        next = c->next;
        c->is_owed = false; /* nobody may hold it any more */
        if (c->is_closed)
            conn_free(c);
    }
    v->is_freed = true;
    uv_close((uv_handle_t *)&v->prepare, on_part_closed);
    uv_close((uv_handle_t *)&v->check, on_part_closed);
    uv_close((uv_handle_t *)&v->idle, on_part_closed);
    uv_close((uv_handle_t *)&v->timer, on_part_closed);
}

struct http_stats
http_server_stats(const struct http_server *v)
{
    return v->stats;
}
