#include "hubclient/subscription.h"

#include "base/clock.h"
#include "hub/model/match.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* ---- files ---- the log's tail only signals changes. The signals come from the index: so they are
 * synced, and there is no gap between old and new ones. */

static enum status
open_files(struct subscription *f, struct err *e)
{
    struct buf path = { 0 };
    enum status s = hubclient_files(f->hub, e);

    buf_addf(&path, "%s/signals", f->hub->config);
    if (!s)
        s = buf_status(&path, "the path", e);
    if (!s)
        s = log_tail_open(&f->tail, path.p, "events.jsonl", true, LOG_FROM_END, e);
    if (!s)
        s = hub_catch_up(f->hub->hub, e);
    if (!s && !f->want.has_since)
        f->seq = hub_last_seq(f->hub->hub);
    if (!s)
        f->cut = hub_last_cut(f->hub->hub);
    buf_release(&path);
    return s;
}

/* {"type":"reset",…}, which is the caller's position from now on. NULL: no memory. */
static const struct json *
make_reset(struct subscription *f, uint64_t seq, uint64_t oldest)
{
    struct json *v = json_new(&f->arena, JSON_OBJECT);
    struct json *type = json_new_str(&f->arena, "reset", 5);
    struct json *at = json_new_int(&f->arena, (int64_t)seq);
    struct json *from = json_new_int(&f->arena, (int64_t)oldest);

    if (!v || !type || !at || !from)
        return NULL;
    json_set(v, "type", type);
    json_set(v, "sequence", at);
    json_set(v, "oldest", from);
    f->seq = seq;
    f->is_reset = true;
    return v;
}

/* The next matching signal of the index; NULL: none. */
static const struct json *
look(struct subscription *f)
{
    struct hub *h = f->hub->hub;
    const struct json *v;

    for (;;) {
        uint64_t seq = f->seq;
        arena_reset(&f->arena);
        enum status s = hub_next_signal(h, f->seq, &f->arena, &seq, &v);
        if (f->cut > f->seq && (s == ST_NOT_FOUND || (!s && seq > f->cut)))
            return make_reset(f, f->cut, hub_oldest_seq(h));
        if (s)
            return NULL; /* none, or an error: the next call tries again */
        if (f->want.is_broadcast)
            s = hub_broadcast_json(h, seq, &f->arena, &v);
        bool is_wanted = !s && signal_filter_wants(&f->want.filter, v);
        if (is_wanted && f->want.is_inbox)
            s = hub_is_in_inbox(h, f->hub->identity, seq);
        if (s == ST_IO)
            return NULL;
        f->seq = seq;
        if (is_wanted && !s)
            return v;
    }
}

/* Is the log shorter than it was? Then its tail has no new line. */
static bool
has_shrunk(struct subscription *f)
{
    uint64_t cuts = f->tail.cuts;
    bool is_so = cuts != f->cuts;

    f->cuts = cuts;
    return is_so;
}

static enum status
catch_up(struct subscription *f, struct err *e)
{
    enum status s = hub_catch_up(f->hub->hub, e);

    if (!s)
        f->cut = hub_last_cut(f->hub->hub);
    return s;
}

static enum status
next_on_files(struct subscription *f, int64_t until_ms, const struct json **signal, struct err *e)
{
    struct log_record rec;
    enum status s = ST_OK;

    while (!s && !(*signal = look(f))) {
        bool is_more = false;
        while (log_tail_next(&f->tail, &rec))
            is_more = true;
        s = log_tail_status(&f->tail, e);
        if (!s && (is_more || has_shrunk(f)))
            s = catch_up(f, e);
        else if (!s)
            s = wait_fd(log_tail_fd(&f->tail), POLLIN, until_ms, f->hub->cancel, e);
    }
    return s;
}

/* ---- a server ---- */

static void
add_key(struct buf *to, const char *key)
{
    buf_addf(to, "%s%s=", to->len && to->p[to->len - 1] != '?' ? "&" : "", key);
}

/* Adds a list to the query as "a,b". If a word has a comma, the list is omitted: the server then
 * sends more signals, and signal_filter_wants filters them. */
static void
add_list(struct buf *to, const char *key, const struct text_list *words)
{
    for (size_t i = 0; i < words->n; i++)
        if (strchr(words->v[i], ','))
            return;
    for (size_t i = 0; i < words->n; i++) {
        if (i == 0)
            add_key(to, key);
        else
            buf_addc(to, ',');
        hubclient_encode(to, words->v[i], strlen(words->v[i]));
    }
}

static void
add_text(struct buf *to, const char *key, const char *text)
{
    if (!text)
        return;
    add_key(to, key);
    hubclient_encode(to, text, strlen(text));
}

static enum status
write_request(struct subscription *f, struct buf *target, struct buf *head, struct err *e)
{
    const struct signal_filter *w = &f->want.filter;

    buf_adds(target, f->want.is_broadcast ? "/v1/engine/events?" : "/signals/stream?");
    add_list(target, "type", &w->types);
    add_list(target, "tags", &w->tags);
    add_list(target, "ring", &w->rings);
    if (w->patterns.n == 1)
        add_text(target, "pattern", w->patterns.v[0]);
    add_text(target, "role", w->role);
    if (w->min_urgency > 0) {
        add_key(target, "min_urgency");
        buf_addf(target, "%.17g", w->min_urgency);
    }
    if (f->want.is_inbox)
        add_text(target, "inbox", "true");
    if (target->len && target->p[target->len - 1] == '?')
        buf_cut(target, target->len - 1);
    buf_addf(head, "Authorization: Bearer %s\r\nAccept: text/event-stream\r\n", f->hub->key);
    if (f->has_place)
        buf_addf(head, "Last-Event-ID: %" PRIu64 "\r\n", f->seq);
    enum status s = buf_status(target, "the URL", e);
    return s ? s : buf_status(head, "the request's head", e);
}

/* Makes an error of a response that is not an event stream. */
static enum status
no_stream(struct subscription *f, int64_t until_ms, struct err *e)
{
    struct hub_reply reply = { .status = f->client.reply.status };
    struct buf text = BUF_MAX(1 << 20);
    struct arena a = { 0 };
    const char *p;
    size_t n = 1;
    enum status s = ST_OK;

    while (!s && n > 0 && reply.status >= 300) {
        s = http_client_read(&f->client, &p, &n, until_ms, f->hub->cancel, e);
        if (!s)
            buf_add(&text, p, n);
        if (buf_failed(&text))
            break;
    }
    f->hub->client.reply = f->client.reply;
    if (!s)
        s = hubclient_unwrap(f->hub, &a, HUB_GET, text.p ? text.p : "", text.len, &reply, e);
    if (!s)
        s = err_set(e, ST_IO, "%s has no stream of signals", f->hub->url);
    buf_release(&text);
    arena_release(&a);
    return s;
}

static enum status
connect_server(struct subscription *f, int64_t until_ms, struct err *e)
{
    struct buf target = { 0 }, head = { 0 };
    enum status s = write_request(f, &target, &head, e);
    struct http_client_request q = { .method = "GET", .target = target.p, .headers = head.p };

    sse_restart(&f->sse);
    f->len = 0;
    if (!s)
        s = http_client_ask(&f->client, &q, until_ms, f->hub->cancel, e);
    if (!s && (f->client.reply.status != 200 || !f->client.reply.is_event_stream))
        s = no_stream(f, until_ms, e);
    f->is_up = !s;
    f->silent_at = wait_until(SUBSCRIPTION_SILENCE_MS);
    if (s)
        http_client_close(&f->client);
    buf_release(&target);
    buf_release(&head);
    return s;
}

static void
tell(struct subscription *f, const char *why)
{
    if (f->news)
        f->news(f->ctx, why);
}

/* Handles a lost or failed connection. ST_OK: reconnect after the back-off. Errors other than ST_IO
 * and ST_TIMEOUT are final. */
static enum status
lose(struct subscription *f, enum status why, struct err *e)
{
    bool is_first = f->pause_ms == 0;

    f->is_up = false;
    http_client_close(&f->client);
    if (why != ST_IO && why != ST_TIMEOUT)
        return why;
    if (is_first)
        tell(f, e->text);
    f->pause_ms = is_first ? SUBSCRIPTION_PAUSE_MS : f->pause_ms * 2;
    if (f->pause_ms > SUBSCRIPTION_PAUSE_MAX)
        f->pause_ms = SUBSCRIPTION_PAUSE_MAX;
    f->pause_end = wait_until(f->pause_ms);
    return ST_OK;
}

/* Waits for the end of the back-off, then connects once. ST_TIMEOUT: until_ms has passed. */
static enum status
come_back(struct subscription *f, int64_t until_ms, struct err *e)
{
    int64_t pause = f->pause_end, silence;
    enum status s = wait_fd(-1, 0, pause < until_ms ? pause : until_ms, f->hub->cancel, e);

    if (s != ST_TIMEOUT || (until_ms <= clock_mono_ms() && until_ms < pause))
        return s;
    if (f->poll >= 0 && until_ms < wait_until(SUBSCRIPTION_CONNECT_MS))
        until_ms =
            wait_until(SUBSCRIPTION_CONNECT_MS); /* a caller with subscription_fd passes no time */
    else if (until_ms <= clock_mono_ms())
        return s;
    silence = wait_until(SUBSCRIPTION_SILENCE_MS);
    s = connect_server(f, silence < until_ms ? silence : until_ms, e);
    if (s == ST_TIMEOUT && f->poll < 0 && until_ms <= clock_mono_ms())
        return s;
    if (s)
        return lose(f, s, e);
    return ST_OK;
}

/* Reads a complete event; NULL: not a new, matching signal. */
static const struct json *
take_event(struct subscription *f)
{
    const char *id = sse_text(&f->sse.id);
    struct json *v = NULL;
    uint64_t seq = strtoull(id, NULL, 10);
    bool is_reset = strcmp(sse_text(&f->sse.type), "reset") == 0;

    arena_reset(&f->arena);
    if (!*id || strspn(id, "0123456789") != strlen(id) || (f->has_place && seq <= f->seq))
        return NULL; /* not a signal, or returned before */
    f->seq = seq;
    f->has_place = true;
    if (!json_parse(&f->arena, f->sse.data.p, f->sse.data.len, &v, NULL))
        return NULL;
    if (is_reset && !json_get(v, "id")) { /* else a signal of that type */
        int64_t oldest = 1;
        json_int(json_get(v, "oldest"), &oldest);
        return make_reset(f, seq, (uint64_t)oldest);
    }
    return signal_filter_wants(&f->want.filter, v) ? v : NULL;
}

/* The server sends its start position as the id of an event without data. */
static void
take_place(struct subscription *f)
{
    const char *id = sse_text(&f->sse.id);

    if (!f->has_place && *id && strspn(id, "0123456789") == strlen(id)) {
        f->seq = strtoull(id, NULL, 10);
        f->has_place = true;
    }
}

static enum status
hear(struct subscription *f, int64_t until_ms, struct err *e)
{
    int64_t silent_at = f->silent_at;
    enum status s =
        http_client_read(&f->client, &f->at, &f->len, silent_at < until_ms ? silent_at : until_ms,
                         f->hub->cancel, e);

    f->silent_at = s ? silent_at : wait_until(SUBSCRIPTION_SILENCE_MS);
    if (!s && f->len == 0)
        s = err_set(e, ST_IO, "%s ended the stream", f->hub->url);
    if (s == ST_TIMEOUT && silent_at > clock_mono_ms())
        return s;
    if (s == ST_TIMEOUT)
        err_say(e, "no data from %s for %d s", f->hub->url, SUBSCRIPTION_SILENCE_MS / 1000);
    if (!s && f->pause_ms) {
        f->pause_ms = 0;
        tell(f, NULL);
    }
    return s ? lose(f, s, e) : ST_OK;
}

static enum status
next_of_server(struct subscription *f, int64_t until_ms, const struct json **signal, struct err *e)
{
    enum status s = ST_OK;

    while (!s) {
        size_t used;
        if (!f->is_up) {
            s = come_back(f, until_ms, e);
            continue;
        }
        if (f->len == 0) {
            s = hear(f, until_ms, e);
            continue;
        }
        enum sse_result r = sse_feed(&f->sse, f->at, f->len, &used);
        f->at += used;
        f->len -= used;
        if (r == SSE_FULL) {
            err_set(e, ST_IO, "%s sent an event that is too large", f->hub->url);
            s = lose(f, ST_IO, e);
        } else if (r == SSE_EVENT && (*signal = take_event(f))) {
            return ST_OK;
        } else {
            take_place(f);
        }
    }
    return s;
}

/* ---- both ---- */

static enum status
open_server(struct subscription *f, struct err *e)
{
    http_client_init(&f->client, &f->hub->place);
    f->has_place = f->want.has_since;
    return connect_server(f, wait_until(SUBSCRIPTION_SILENCE_MS), e);
}

enum status
subscription_open(struct subscription *f, struct hubclient *d,
                  const struct subscription_filter *want, struct err *e)
{
    *f = (struct subscription){ .hub = d,
                                .want = *want,
                                .seq = want->has_since ? want->since : 0,
                                .poll = -1,
                                .timer = -1,
                                .watched = -1,
                                .tail = { .dir = -1, .fd = -1, .watch.fd = -1 } };
    const struct text_list *patterns = &want->filter.patterns;
    for (size_t i = 0; i < patterns->n; i++)
        if (!match_is_pattern(patterns->v[i], strlen(patterns->v[i])))
            return err_set(e, ST_INVALID, "pattern " MATCH_PATTERN_SAYS ", not \"%.80s\"",
                           patterns->v[i]);
    return d->url ? open_server(f, e) : open_files(f, e);
}

/* ---- the descriptor for poll ---- */

static void
close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static bool
add_fd(struct subscription *f, int fd)
{
    struct epoll_event ev = { .events = EPOLLIN };

    return epoll_ctl(f->poll, EPOLL_CTL_ADD, fd, &ev) == 0 || errno == EEXIST;
}

/* Arms the timer; 0: disarms it. */
static void
set_timer(struct subscription *f, int64_t at_ms)
{
    struct itimerspec t = { .it_value = { at_ms / 1000, at_ms % 1000 * 1000000 } };

    timerfd_settime(f->timer, TFD_TIMER_ABSTIME, &t, NULL);
}

/* Sets the descriptor and the timer to wait for. epoll removes a closed connection by itself. */
static void
aim(struct subscription *f)
{
    int fd = !f->hub->url ? log_tail_fd(&f->tail) : f->is_up ? f->client.wire.fd : -1;

    if (f->watched >= 0 && f->watched != fd)
        epoll_ctl(f->poll, EPOLL_CTL_DEL, f->watched, NULL);
    f->watched = fd;
    if (fd >= 0 && !add_fd(f, fd))
        set_timer(f, wait_until(WATCH_POLL_MS)); /* epoll failed: poll by timer */
    else
        set_timer(f, !f->hub->url ? 0 : f->is_up ? f->silent_at : f->pause_end);
}

enum status
subscription_next(struct subscription *f, int64_t until_ms, const struct json **signal,
                  struct err *e)
{
    struct err unused;

    if (!e)
        e = &unused; /* lose() reads it */
    *signal = NULL;
    f->is_reset = false;
    enum status s = f->hub->url ? next_of_server(f, until_ms, signal, e)
                                : next_on_files(f, until_ms, signal, e);
    if (s == ST_TIMEOUT && f->poll >= 0)
        aim(f);
    return s;
}

enum status
subscription_fd(struct subscription *f, int *fd, struct err *e)
{
    if (f->poll < 0) {
        f->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
        f->poll = epoll_create1(EPOLL_CLOEXEC);
        if (f->poll < 0 || f->timer < 0 || !add_fd(f, f->timer)) {
            enum status s = err_sys(e, "create an epoll descriptor and a timer");
            close_fd(&f->poll);
            close_fd(&f->timer);
            return s;
        }
        set_timer(f, clock_mono_ms()); /* fires at once: a signal may be there */
    }
    *fd = f->poll;
    return ST_OK;
}

void
subscription_close(struct subscription *f)
{
    if (!f->hub)
        return;
    close_fd(&f->poll);
    close_fd(&f->timer);
    log_tail_close(&f->tail);
    http_client_close(&f->client);
    sse_release(&f->sse);
    arena_release(&f->arena);
    *f = (struct subscription){ 0 };
}
