#include "serve/stream.h"

#include "hub/match.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BEHIND_MAX = 256 }; /* signals that one client behind is told at a time */

struct client {
    struct client *next, **self;
    struct streams *all;
    struct http_conn *conn;
    struct arena arena; /* of the filters */
    const char *identity;
    bool is_admin, is_engine, is_inbox;
    const char *rings, *types, *tags, *pattern, *role; /* NULL: any; lists are "a,b" */
    double min_urgency;
    uint64_t place;
    bool is_full; /* waits for HTTP_DRAINED */
};

struct streams {
    struct loop *loop;
    struct hub *hub;
    struct client *first;
    size_t n;
    uint64_t newest; /* what every client that is not behind has been told of */
    uint64_t delivered;
    unsigned keepalive_ms;
    struct source *keepalive;
};

/* ---- filters ---- */

static bool
is_in_list(const char *list, const char *word, size_t len)
{
    for (const char *p = list; *p; p += strspn(p, ",")) {
        size_t n = strcspn(p, ",");
        if (n == len && memcmp(p, word, n) == 0)
            return true;
        p += n;
    }
    return false;
}

static bool
is_text_in(const char *list, const struct json *v)
{
    return json_is(v, JSON_STRING) && is_in_list(list, v->text.p, v->text.len);
}

static bool
is_any_in(const char *list, const struct json *array)
{
    json_each (v, array)
        if (is_text_in(list, v))
            return true;
    return false;
}

/* What is addressed to others is not for this client, whatever it filters. */
static bool
may_see(const struct client *c, const struct json *signal)
{
    const struct json *ring = json_get(signal, "to_ring"), *to = json_get(signal, "to_identity");
    char name[80];

    if (c->is_admin || json_eq(json_get(signal, "from_identity"), c->identity))
        return true;
    if (json_is(to, JSON_STRING))
        return json_eq(to, c->identity);
    if (!json_is(ring, JSON_STRING))
        return true;
    snprintf(name, sizeof name, "%.*s", (int)ring->text.len, ring->text.p);
    return hub_is_member(c->all->hub, c->identity, name);
}

static bool
wants(const struct client *c, uint64_t seq, const struct json *signal)
{
    const struct json *type = json_get(signal, "signal_type");
    double urgency = 0.5;

    json_double(json_get(signal, "urgency"), &urgency);
    if (!json_is(type, JSON_STRING) || urgency < c->min_urgency)
        return false;
    if (c->types && !is_text_in(c->types, type))
        return false;
    if (c->pattern && !match_pattern(c->pattern, strlen(c->pattern), type->text.p, type->text.len))
        return false;
    if (c->rings && !is_text_in(c->rings, json_get(signal, "to_ring")))
        return false;
    if (c->tags && !is_any_in(c->tags, json_get(signal, "tags")))
        return false;
    if (c->role && !json_eq(json_get(signal, "from_role"), c->role) &&
        !json_eq(json_get(signal, "to_role"), c->role))
        return false;
    return may_see(c, signal) && (!c->is_inbox || hub_is_in_inbox(c->all->hub, c->identity, seq));
}

/* ---- telling ---- */

/* The two doors: the hub's signal with its type as the event's name, or a broadcast, as
 * /v1/engine/signals/events shows it. A type is any text: its line ends must not become ours. */
static void
write_event(struct buf *to, struct hub *h, uint64_t seq, const struct json *signal, bool is_engine)
{
    struct arena a = { 0 };
    const struct json *type = json_get(signal, "signal_type");

    buf_addf(to, "id: %" PRIu64 "\n", seq);
    if (!is_engine) {
        buf_adds(to, "event: ");
        for (size_t i = 0; i < type->text.len; i++)
            if (type->text.p[i] != '\n' && type->text.p[i] != '\r' && type->text.p[i])
                buf_addc(to, type->text.p[i]);
        buf_addc(to, '\n');
    }
    buf_adds(to, "data: ");
    json_write(to, is_engine ? hub_broadcast_json(h, seq, &a) : signal);
    buf_adds(to, "\n\n");
    arena_release(&a);
}

/* Tells one client what is behind its place; at most BEHIND_MAX, then others have their turn. */
static void
catch_up(struct client *c)
{
    struct streams *s = c->all;

    for (int i = 0; i < BEHIND_MAX && !c->is_full && c->place < s->newest; i++) {
        struct arena a = { 0 };
        struct buf text = { 0 };
        const struct json *signal;
        uint64_t seq;
        if (!hub_next_signal(s->hub, c->place, &a, &seq, &signal) || seq > s->newest) {
            c->place = s->newest;
        } else if (!wants(c, seq, signal)) {
            c->place = seq;
        } else {
            write_event(&text, s->hub, seq, signal, c->is_engine);
            if (buf_failed(&text) || !http_stream_write(c->conn, text.p, text.len)) {
                c->is_full = true;
            } else {
                c->place = seq;
                s->delivered++;
            }
        }
        buf_release(&text);
        arena_release(&a);
    }
}

/* One signal, to all that are waiting for it. */
static void
broadcast(struct streams *s, uint64_t seq, const struct json *signal)
{
    struct buf text[2] = { { 0 }, { 0 } };

    for (struct client *c = s->first; c; c = c->next) {
        struct buf *b = &text[c->is_engine];
        if (c->place != s->newest || c->is_full)
            continue; /* behind: it comes there by itself */
        if (wants(c, seq, signal)) {
            if (!b->len)
                write_event(b, s->hub, seq, signal, c->is_engine);
            if (buf_failed(b) || !http_stream_write(c->conn, b->p, b->len)) {
                c->is_full = true;
                continue;
            }
            s->delivered++;
        }
        c->place = seq;
    }
    s->newest = seq;
    buf_release(&text[0]);
    buf_release(&text[1]);
}

void
streams_look(struct streams *s)
{
    if (!s->first)
        s->newest = hub_last_seq(s->hub);
    while (s->first) {
        struct arena a = { 0 };
        const struct json *signal;
        uint64_t seq;
        bool is_there = hub_next_signal(s->hub, s->newest, &a, &seq, &signal);
        if (is_there)
            broadcast(s, seq, signal);
        arena_release(&a);
        if (!is_there)
            break;
    }
    for (struct client *c = s->first; c; c = c->next)
        catch_up(c);
}

static void
on_keepalive(void *ctx)
{
    struct streams *s = ctx;
    static const char comment[] = ": keepalive\n\n";

    loop_drop(s->keepalive);
    for (struct client *c = s->first; c; c = c->next) {
        if (http_stream_queued(c->conn) == 0)
            http_stream_write(c->conn, comment, sizeof comment - 1);
        catch_up(c);
    }
    s->keepalive = loop_after(s->loop, s->keepalive_ms, on_keepalive, s, NULL);
}

/* ---- clients ---- */

static void
forget(struct client *c)
{
    *c->self = c->next;
    if (c->next)
        c->next->self = c->self;
    c->all->n--;
    arena_release(&c->arena);
    free(c);
}

static void
on_news(void *ctx, struct http_conn *conn, enum http_news news)
{
    struct client *c = ctx;
    static const char bye[] = ": the server is stopping; come back with Last-Event-ID\n\n";

    if (news == HTTP_DRAINED) {
        c->is_full = false;
        catch_up(c);
        return;
    }
    if (news == HTTP_STOPPING)
        http_stream_write(conn, bye, sizeof bye - 1);
    http_stream_end(conn);
    forget(c);
}

static const char *
take(struct client *c, const struct json *args, const char *key)
{
    const struct json *v = json_get(args, key);

    return json_is(v, JSON_STRING) && v->text.len ? arena_dup(&c->arena, v->text.p, v->text.len)
                                                  : NULL;
}

static bool
read_filters(struct client *c, const struct json *args, const char *last_id, int *status,
             const char **code, struct err *e)
{
    const char *since = take(c, args, "since"), *urgency = take(c, args, "min_urgency");
    char *end;

    c->rings = take(c, args, "ring");
    c->types = take(c, args, "type");
    c->tags = take(c, args, "tags");
    c->pattern = take(c, args, "pattern");
    c->role = take(c, args, "role");
    *status = 400;
    *code = "VALIDATION_INVALID_TYPE";
    const char *inbox = take(c, args, "inbox");
    c->is_inbox = inbox && strcmp(inbox, "true") == 0;
    if (inbox && !c->is_inbox && strcmp(inbox, "false") != 0) {
        err_set(e, ST_INVALID, "inbox must be true or false, not \"%.40s\"", inbox);
        return false;
    }
    if (urgency) {
        c->min_urgency = strtod(urgency, &end);
        if (*end || !(c->min_urgency >= 0 && c->min_urgency <= 1)) {
            err_set(e, ST_INVALID, "min_urgency must be a number from 0 to 1, not \"%.40s\"",
                    urgency);
            return false;
        }
    }
    if (last_id || since) {
        const char *text = last_id ? last_id : since;
        if (strspn(text, "0123456789") != strlen(text) || !*text || strlen(text) > 18) {
            err_set(e, ST_INVALID, "%s must be the number of a line, not \"%.40s\"",
                    last_id ? "Last-Event-ID" : "since", text);
            return false;
        }
        c->place = strtoull(text, NULL, 10);
        if (c->place > c->all->newest)
            c->place = c->all->newest;
    }
    for (const char *p = c->rings ? c->rings : ""; *p; p += strspn(p, ",")) {
        char ring[80];
        size_t n = strcspn(p, ",");
        snprintf(ring, sizeof ring, "%.*s", (int)n, p);
        p += n;
        if (!c->is_admin && !hub_is_member(c->all->hub, c->identity, ring)) {
            *status = 403;
            *code = "AUTH_FORBIDDEN";
            err_set(e, ST_REFUSED, "%s is not a member of the ring %s", c->identity, ring);
            return false;
        }
    }
    return true;
}

/* Tells where the stream begins, in an event without data, which nobody is shown: who is cut off
 * before the first signal comes back with that as its Last-Event-ID, and misses nothing. */
static void
welcome(struct client *c)
{
    char text[64];
    int n = snprintf(text, sizeof text, ": connected\nid: %" PRIu64 "\n\n", c->place);

    http_stream_write(c->conn, text, (size_t)n);
}

bool
streams_add(struct streams *s, struct http_conn *conn, const char *identity, bool is_admin,
            const struct json *args, const char *last_id, bool is_engine, int *status,
            const char **code, struct err *e)
{
    struct client *c = calloc(1, sizeof *c);

    *status = 503;
    *code = "STORE_UNAVAILABLE";
    if (!c) {
        err_set(e, ST_IO, "out of memory");
        return false;
    }
    streams_look(s); /* so that the newest is the newest */
    *c = (struct client){ .all = s, .conn = conn, .is_admin = is_admin, .is_engine = is_engine };
    c->place = s->newest;
    c->identity = arena_dup(&c->arena, identity, strlen(identity));
    if (!c->identity || !read_filters(c, args, last_id, status, code, e)) {
        arena_release(&c->arena);
        free(c);
        return false;
    }
    c->next = s->first;
    c->self = &s->first;
    if (c->next)
        c->next->self = &c->next;
    s->first = c;
    s->n++;
    http_stream_begin(conn, "Content-Type: text/event-stream\r\nCache-Control: no-store\r\n");
    http_watch(conn, on_news, c);
    welcome(c);
    catch_up(c);
    return true;
}

struct streams *
streams_new(struct loop *l, struct hub *hub, unsigned keepalive_ms, struct err *e)
{
    struct streams *s = calloc(1, sizeof *s);

    if (!s) {
        err_set(e, ST_IO, "out of memory");
        return NULL;
    }
    s->loop = l;
    s->hub = hub;
    s->newest = hub_last_seq(hub);
    s->keepalive_ms = keepalive_ms ? keepalive_ms : STREAM_KEEPALIVE_MS;
    s->keepalive = loop_after(l, s->keepalive_ms, on_keepalive, s, e);
    if (!s->keepalive) {
        free(s);
        return NULL;
    }
    return s;
}

void
streams_free(struct streams *s)
{
    if (!s)
        return;
    while (s->first)
        forget(s->first);
    loop_drop(s->keepalive);
    free(s);
}

size_t
streams_count(const struct streams *s)
{
    return s->n;
}

uint64_t
streams_delivered(const struct streams *s)
{
    return s->delivered;
}
