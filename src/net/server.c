/* server - listeners, turns of the loop, timeouts, shutdown. server_impl.h has the overview. */
#include "net/server_impl.h"

#include "base/clock.h"
#include "base/loop.h"

#include <assert.h>
#include <signal.h>
#include <stdlib.h>

void
server_forget_handle(struct http_server *v)
{
    if (--v->n_handles == 0 && v->is_freed)
        free(v);
}

/* ---- turns ---- */

static void
update_date(struct http_server *v)
{
    int64_t now_s = clock_wall_ns() / 1000000000;

    if (now_s != v->date_s)
        response_date(v->date, now_s);
    v->date_s = now_s;
}

static void
report_drained(struct http_conn *c)
{
    c->is_full = c->is_drained = false;
    if (c->watch && c->is_stream && !c->is_gone)
        c->watch(c->watch_ctx, c, HTTP_DRAINED);
}

static void
report_stopped(struct http_server *v)
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
    (void)h; /* an active idle handle keeps the loop from waiting */
}

static void
turn(struct http_server *v)
{
    bool is_again = v->marked != NULL || v->has_requests;

    if (is_again)
        for (struct http_conn *c = v->marked; c; c = c->next_marked)
            if (c->is_drained)
                report_drained(c);
    while (is_again) {
        is_again = false;
        for (struct http_conn *c = v->marked; c; c = c->next_marked)
            if (c->resumes) {
                conn_read_on(c);
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
        conn_flush(c);
    }
    if (v->marked)
        uv_idle_start(&v->idle, on_idle);
    else
        uv_idle_stop(&v->idle);
    report_stopped(v);
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

    update_date(v);
    turn(v);
}

/* ---- timeouts ---- */

static void
check_timeouts(struct http_conn *c, uint64_t now)
{
    const struct http_options *o = &c->v->o;
    uint64_t waited = now - c->since;

    if (c->is_writing) {
        size_t unsent = uv_stream_get_write_queue_size(&c->h.stream);
        if (unsent != c->unsent) {
            c->unsent = unsent;
            c->sent_at = now;
        } else if (now - c->sent_at >= o->stall_ms) {
            conn_lose(c);
            return;
        }
    }
    bool is_soon = c->is_stream || c->was_stream || c->is_lingering;
    if (c->v->stop_at && now >= (is_soon ? c->v->stream_stop_at : c->v->stop_at))
        conn_lose(c); /* a slow reader of a stream must not hold up the end; an open request may */
    else if (c->is_lingering && waited >= o->linger_ms)
        conn_close(c);
    else if (c->is_owed || c->is_over || c->is_writing || c->is_lingering)
        ; /* the client waits for us: no timeout */
    else if (c->http.request.head_len) {
        if (waited >= o->body_ms && c->arrived * 1000 < (waited - o->body_ms + 1) * o->body_rate) {
            c->http.request.base = c->in.p; /* the incomplete request is in there */
            conn_refuse(c, 408, "the request's body arrived too slowly");
        }
    } else if (http_is_begun(&c->http)) {
        if (waited >= (c->is_reserve ? RESERVE_MS : o->head_ms))
            conn_refuse(c, 408, "the request's head arrived too slowly");
    } else if (waited >= (c->n_requests ? o->idle_ms : c->is_reserve ? RESERVE_MS : o->head_ms)) {
        c->is_over = true;
        conn_mark(c);
    }
}

static void
on_tick(uv_timer_t *t)
{
    struct http_server *v = t->data;
    uint64_t now = uv_now(v->uv);

    /* The loop, or the whole machine, stood still. What clients sent meanwhile is not read yet, so
     * they are not to blame: this turn reads it, and the next tick checks. */
    v->was_late = !v->was_late && now - v->ticked_at > 2 * (uint64_t)v->tick_ms;
    v->ticked_at = now;
    for (struct http_conn *c = v->conns; c && !v->was_late; c = c->next)
        if (!c->is_closing)
            check_timeouts(c, now);
    if (v->stats.open == 0) {
        uv_timer_stop(&v->timer);
        v->is_ticking = false;
    }
}

static void
start_ticking(struct http_server *v)
{
    if (v->is_ticking)
        return;
    uv_timer_start(&v->timer, on_tick, v->tick_ms, v->tick_ms);
    v->ticked_at = uv_now(v->uv);
    v->is_ticking = true;
}

/* ---- accepting ---- */

static void
tell_full(struct http_server *v)
{
    bool was_full = v->is_full;

    v->is_full = v->stats.open > v->o.max_conns || (was_full && v->stats.open > v->o.max_conns / 2);
    if (v->is_full && !was_full && v->o.on_full)
        v->o.on_full(v->o.ctx, v->o.max_conns);
}

/* A connection of the reserve that has sent nothing. */
static bool
is_silent(const struct http_conn *c)
{
    return c->is_reserve && !c->is_over && !c->n_requests && !c->http.request.head_len &&
           !http_is_begun(&c->http);
}

/* It has its answer, and we wait for its end only. */
static bool
is_leaving(const struct http_conn *c)
{
    return c->is_lingering && !c->is_closing;
}

static struct http_conn *
find_oldest(const struct http_server *v, bool (*is_one)(const struct http_conn *c))
{
    struct http_conn *found = NULL;

    for (struct http_conn *c = v->conns; c; c = c->next) /* the newest first */
        if (is_one(c))
            found = c;
    return found;
}

static bool
close_oldest(const struct http_server *v, bool (*is_one)(const struct http_conn *c))
{
    struct http_conn *c = find_oldest(v, is_one);

    if (c)
        conn_close(c);
    return c;
}

/* Finds a place for a connection above the limit. Silent ones, and those that were answered, give
 * theirs to newer ones, so that a crowd of them does not keep /health and admins away. */
static void
place_in_reserve(struct http_server *v, struct http_conn *c)
{
    unsigned all = v->o.max_conns + v->o.reserve;
    struct http_conn *out = NULL;

    if (v->stats.open > all + v->o.refused)
        close_oldest(v, is_leaving);
    if (v->stats.open > all)
        out = find_oldest(v, is_silent);
    c->is_reserve = out || v->stats.open <= all || (v->o.reserve && close_oldest(v, is_leaving));
    if (out)
        out->is_reserve = false;
    else if (!c->is_reserve)
        out = c;
    if (out && v->stats.open > all + v->o.refused)
        conn_close(out);
    else if (out)
        conn_turn_away(out);
}

static void
on_connection(uv_stream_t *socket, int status)
{
    struct server_socket *d = (struct server_socket *)socket;
    struct http_server *v = d->v;

    if (status < 0)
        return; /* libuv tries again */
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
    if (uv_accept(socket, &c->h.stream) != 0) {
        conn_close(c);
        return;
    }
    v->stats.accepted++;
    tell_full(v);
    if (v->stats.open > v->o.max_conns)
        place_in_reserve(v, c);
    if (c->is_closing)
        return;
    if (!c->is_unix) {
        uv_tcp_nodelay(&c->h.tcp, 1);
        uv_tcp_keepalive(&c->h.tcp, 1, 60);
    }
    start_ticking(v);
    if (conn_read(c) != 0)
        conn_close(c);
}

static void
on_socket_closed(uv_handle_t *h)
{
    struct server_socket *d = (struct server_socket *)h;
    struct http_server *v = d->v;

    free(d);
    server_forget_handle(v);
}

enum status
http_server_add(struct http_server *v, struct listener *l, struct err *e)
{
    struct server_socket *d = calloc(1, sizeof *d);
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
    d->next = v->sockets;
    v->sockets = d;
    rc = l->is_unix ? uv_pipe_open(&d->h.pipe, l->fd) : uv_tcp_open(&d->h.tcp, l->fd);
    if (rc == 0)
        d->listener.fd = l->fd = -1; /* the handle owns it now */
    if (rc == 0)
        rc = uv_listen(&d->h.stream, 511, on_connection);
    *l = (struct listener)LISTENER_NONE;
    if (rc == 0)
        return ST_OK;
    v->sockets = d->next;
    enum status s = err_set(e, ST_IO, "serve on %s: %s", d->listener.name, uv_strerror(rc));
    listener_release(&d->listener);
    uv_close(&d->h.any, on_socket_closed);
    return s;
}

static void
close_sockets(struct http_server *v)
{
    for (struct server_socket *d = v->sockets, *next; d; d = next) {
        next = d->next;
        listener_release(&d->listener);
        uv_close(&d->h.any, on_socket_closed);
    }
    v->sockets = NULL;
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
    default_to(&v->o.refused, 64);
    default_to(&v->o.head_ms, 10000);
    default_to(&v->o.idle_ms, 60000);
    default_to(&v->o.body_ms, 10000);
    default_to(&v->o.body_rate, 1024);
    default_to(&v->o.stall_ms, 60000);
    default_to(&v->o.linger_ms, 2000);
    v->o.stream_max = o->stream_max ? o->stream_max : (size_t)1 << 20;
    /* Timeouts are late by at most a quarter of the shortest one. */
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
        err_nomem(e);
        return NULL;
    }
    /* libuv writes without MSG_NOSIGNAL: a disconnected client would end this process. */
    if (sigaction(SIGPIPE, NULL, &pipe_action) == 0 && pipe_action.sa_handler == SIG_DFL)
        signal(SIGPIPE, SIG_IGN);
    v->uv = loop_uv(l);
    v->date_s = -1;
    set_options(v, o);
    update_date(v);
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
    v->stream_stop_at = uv_now(v->uv) + least(grace_ms, STREAM_STOP_MS) + 1;
    v->tick_ms = least(v->tick_ms, STREAM_STOP_MS / 5);
    v->is_ticking = false;
    start_ticking(v);
    close_sockets(v);
    for (struct http_conn *c = v->conns; c; c = c->next) {
        if (c->is_closing)
            continue;
        if (c->is_owed && c->watch)
            c->watch(c->watch_ctx, c, HTTP_STOPPING);
        else if (!c->is_owed && !http_is_begun(&c->http) && !c->in.len)
            c->is_over = true;
        if (c->is_over && !c->is_owed && !c->out.len && !c->is_writing)
            conn_close(c); /* everything was sent */
        else
            conn_mark(c);
    }
    uv_idle_start(&v->idle, on_idle); /* makes the next turn run soon; it calls on_stopped */
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
    close_sockets(v);
    for (struct http_conn *c = v->conns; c; c = c->next)
        conn_lose(c); /* the watcher may end this request and others */
    for (struct http_conn *c = v->conns, *next; c; c = next) {
        next = c->next;
        c->is_owed = false; /* the request's handle is void from now on */
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
