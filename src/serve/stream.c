#include "serve/stream.h"

#include "base/clock.h"
#include "hub/model/args.h"
#include "hub/model/match.h"
#include "hub/model/sight.h"
#include "hub/model/signal_filter.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BEAT_MS = 1000,         /* the least between two comments of ?keepalive= */
    BEHIND_MAX = 256,       /* signals that one client behind is told at a time */
    SLOW_LOOKS = 4,         /* checks for slow clients within slow_ms */
    AGAIN_MS = 200,         /* after a look that failed */
    BATCH_MAX = 128,        /* signals that all are told together: one write a client */
    BATCH_BYTES = 64 << 10, /* or so many, and the last one's */
    ADDRESS_SIZE = 80,      /* a sign, a name and its NUL */
};

struct stream_client {
    struct stream_client *next, **self;
    struct streams *all;
    struct http_conn *conn;
    struct arena arena; /* of the filters, and no larger */
    const char *identity, *key;
    bool reads_all, is_engine, is_inbox, wants_changes;
    uint64_t changed;      /* the line up to which it was told that something changed */
    int64_t until_ms;      /* when the key expires; 0: never */
    int64_t beat_s, beats; /* a comment each beat_s seconds, 0: with all others; seconds since it */
    struct signal_filter filter;
    const struct stream_form *form; /* NULL: signals */
    uint64_t place;
    bool is_full; /* waits for HTTP_DRAINED, */
    int64_t full_since_ms;
};

struct streams {
    struct loop *loop;
    struct hub *hub;
    struct stream_client *first;
    size_t n;
    uint64_t newest;  /* what every client that is not behind has been told of */
    uint64_t written; /* the last line on disk, which the index may not have yet */
    uint64_t cut;     /* the last line that tells of lost ones; 0: none */
    uint64_t delivered, dropped;
    struct streams_options o;
    struct loop_source *keepalive, *slow; /* timers */
    struct loop_source *beat;             /* each second, while a client has a beat_s */
    struct loop_source *again;            /* a client is behind and can be sent more */
    bool is_lost;                         /* the last look failed */
    void (*on_identity)(void *ctx, const char *identity, bool is_there);
    void *ctx;
};

/* ---- filters ---- */

const struct hub_arg stream_args[] = {
    { "ring", A_TEXTS,
      .brief = "addressed to one of these rings; you must be in all of them, unless you read "
               "everything" },
    { "type", A_TEXTS, .brief = "of one of these signal types" },
    { "pattern", A_TEXT, .brief = "of a type that fits: * is one segment" },
    { "min_urgency", A_NUMBER(0, 1), .brief = "at least this urgent" },
    { "tags", A_TEXTS, .brief = "with one of these tags" },
    { "role", A_TEXT, .brief = "from this role, or to it" },
    { "inbox", A_FLAG, .brief = "only what is in your own inbox" },
    { "changes", A_FLAG,
      .brief = "an event `changed` too, when something else than a signal was written: a claim, an "
               "ack, an expired lease" },
    { "keepalive", A_INT(1, 15),
      .brief =
          "a comment at least that often, in seconds (15): silence means that the server is lost" },
    { "since", A_INT(0, 999999999999999),
      .brief = "behind this line; the header Last-Event-ID wins" },
    { .name = NULL },
};

/* The signal's address, as the index has it; NULL: everyone. */
static const char *
address_of(const struct json *signal, char to[ADDRESS_SIZE])
{
    static const struct {
        const char *key;
        char sign;
    } kinds[] = { { "to_identity", '@' }, { "to_role", '=' }, { "to_ring", '+' } };

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const struct json *v = json_get(signal, kinds[i].key);
        if (!json_is(v, JSON_STRING))
            continue;
        snprintf(to, ADDRESS_SIZE, "%c%.*s", kinds[i].sign, (int)v->text.len, v->text.p);
        return to;
    }
    return NULL;
}

/* May the client see the signal, by its addressee? Filters come after that. Here, and below: ST_OK
 * yes, ST_NOT_FOUND no, ST_IO: not known now. */
static enum status
may_see(const struct stream_client *c, const struct json *signal)
{
    char text[ADDRESS_SIZE];
    const char *addr = address_of(signal, text);
    const char *sender =
        json_eq(json_get(signal, "from_identity"), c->identity) ? c->identity : NULL;
    enum status st = ST_NOT_FOUND;

    if (c->reads_all)
        return ST_OK;
    if (sight_asks_ring(addr))
        st = hub_is_member(c->all->hub, c->identity, addr + 1);
    return sight_allows(c->identity, sender, addr, st == ST_OK) ? ST_OK : st;
}

static enum status
wants(const struct stream_client *c, uint64_t seq, const struct json *signal)
{
    if (c->form && !c->form->note)
        return ST_NOT_FOUND;
    enum status s = signal_filter_wants(&c->filter, signal) ? may_see(c, signal) : ST_NOT_FOUND;

    return !s && c->is_inbox ? hub_is_in_inbox(c->all->hub, c->identity, seq) : s;
}

/* ---- telling ---- */

/* The two doors: the hub's signal with its type as the event's name, or a broadcast, as
 * /v1/engine/signals/events shows it. A type is any text: its line ends must not become ours.
 * False: not known now. */
static bool
write_event(struct buf *to, struct hub *h, uint64_t seq, const struct json *signal, bool is_engine)
{
    struct arena a = { 0 };
    const struct json *type = json_get(signal, "signal_type"), *shown = signal;

    if (is_engine && hub_broadcast_json(h, seq, &a, &shown) == ST_IO) {
        arena_release(&a);
        return false;
    }
    buf_addf(to, "id: %" PRIu64 "\n", seq);
    if (!is_engine) {
        buf_adds(to, "event: ");
        for (size_t i = 0; i < type->text.len; i++)
            if (type->text.p[i] != '\n' && type->text.p[i] != '\r' && type->text.p[i])
                buf_addc(to, type->text.p[i]);
        buf_addc(to, '\n');
    }
    buf_adds(to, "data: ");
    json_write(to, shown);
    buf_adds(to, "\n\n");
    arena_release(&a);
    return true;
}

/* The event of one signal, in the client's form. False: not known now. */
static bool
write_for(const struct stream_client *c, struct buf *to, uint64_t seq, const struct json *signal)
{
    if (!c->form)
        return write_event(to, c->all->hub, seq, signal, c->is_engine);
    buf_adds(to, c->form->note);
    return true;
}

/* All of it, or nothing: then the client is full. */
static bool
tell(struct stream_client *c, const struct buf *text)
{
    if (!buf_failed(text) && http_stream_write(c->conn, text->p, text->len))
        return true;
    c->is_full = true;
    c->full_since_ms = clock_mono_ms();
    return false;
}

/* The client's next line was dropped from the log: tells it so, and goes on with the oldest line.
 */
static void
tell_reset(struct stream_client *c, uint64_t oldest)
{
    struct buf text = { 0 };

    if (c->form)
        buf_adds(&text, c->form->note ? c->form->note : "");
    else
        buf_addf(&text, "id: %" PRIu64 "\nevent: reset\ndata: {\"oldest\":%" PRIu64 "}\n\n",
                 oldest - 1, oldest);
    if (!text.len || tell(c, &text))
        c->place = oldest - 1;
    buf_release(&text);
}

/* The client has seen all there is before that line. */
static bool
tell_cut(struct stream_client *c)
{
    struct streams *s = c->all;
    struct buf text = { 0 };

    if (c->form)
        buf_adds(&text, c->form->note ? c->form->note : "");
    else
        buf_addf(&text,
                 "id: %" PRIu64 "\nevent: reset\ndata: {\"oldest\":%" PRIu64 ",\"cut\":%" PRIu64
                 "}\n\n",
                 s->cut, hub_oldest_seq(s->hub), s->cut);
    bool is_told = !text.len || tell(c, &text);
    if (is_told)
        c->place = s->cut;
    buf_release(&text);
    return is_told;
}

/* Comes the line that tells of lost ones next, before the signal `seq`? */
static bool
comes_to_cut(const struct stream_client *c, enum status found, uint64_t seq)
{
    const struct streams *s = c->all;

    return c->place < s->cut && s->cut <= s->newest &&
           (found == ST_NOT_FOUND || (!found && seq > s->cut));
}

static void on_again(void *ctx);
static void drop_expired(struct streams *s);

static void
look_again(struct streams *s, uint64_t after_ms)
{
    s->is_lost = s->is_lost || after_ms;
    if (!s->again)
        s->again = loop_after(s->loop, after_ms, on_again, s, NULL);
}

/* Tells one client what is behind its place; at most BEHIND_MAX, then others have their turn. */
static void
catch_up(struct stream_client *c)
{
    struct streams *s = c->all;
    uint64_t oldest = !c->is_full && c->place < s->newest ? hub_oldest_seq(s->hub) : 0;
    enum status st = ST_OK;

    if (oldest > c->place + 1)
        tell_reset(c, oldest);
    for (int i = 0; i < BEHIND_MAX && st != ST_IO && !c->is_full && c->place < s->newest; i++) {
        struct arena a = { 0 };
        struct buf text = { 0 };
        const struct json *signal;
        uint64_t seq = 0;
        st = hub_next_signal(s->hub, c->place, &a, &seq, &signal);
        enum status is_wanted = st || seq > s->newest ? ST_NOT_FOUND : wants(c, seq, signal);
        if (is_wanted == ST_IO || (!is_wanted && !write_for(c, &text, seq, signal)))
            st = ST_IO;
        if (st == ST_IO) {
            ; /* its place stays: a gap would be for ever */
        } else if (comes_to_cut(c, st, seq)) {
            tell_cut(c);
        } else if (st || seq > s->newest) {
            c->place = s->newest;
        } else if (is_wanted) {
            c->place = seq;
        } else if (tell(c, &text)) {
            c->place = seq;
            s->delivered++;
        }
        buf_release(&text);
        arena_release(&a);
    }
    if (!c->is_full && c->place < s->newest)
        look_again(s, st == ST_IO ? AGAIN_MS : 0);
}

/* ---- telling all ---- */

/* Signals in order, as the hub's clients are told them, text[0], and as the engine's are. */
struct batch {
    struct arena arena;
    size_t n;
    uint64_t seqs[BATCH_MAX];
    const struct json *signals[BATCH_MAX];
    struct buf text[2];
    size_t ends[2][BATCH_MAX]; /* of each in its text */
    bool is_public;            /* none is for some only */
};

static bool
add_text(struct batch *b, struct hub *h, size_t i, bool is_engine)
{
    bool is_written = write_event(&b->text[is_engine], h, b->seqs[i], b->signals[i], is_engine);

    b->ends[is_engine][i] = b->text[is_engine].len;
    return is_written;
}

/* False: it cannot be told now. */
static bool
add_engine_texts(struct batch *b, struct hub *h)
{
    bool is_good = true, is_done = b->text[1].len > 0;

    for (size_t i = 0; !is_done && is_good && i < b->n; i++)
        is_good = add_text(b, h, i, true);
    if (!is_good)
        buf_reset(&b->text[1]);
    return is_good;
}

static enum status
gather(struct streams *s, struct batch *b)
{
    uint64_t after = s->newest;

    b->is_public = true;
    while (b->n < BATCH_MAX && b->text[0].len < BATCH_BYTES) {
        const struct json **signal = &b->signals[b->n];
        enum status st = hub_next_signal(s->hub, after, &b->arena, &b->seqs[b->n], signal);
        if (st)
            return st;
        after = b->seqs[b->n];
        b->is_public =
            b->is_public &&
            sight_allows("", NULL, address_of(*signal, (char[ADDRESS_SIZE]){ 0 }), false);
        add_text(b, s->hub, b->n++, false);
    }
    return ST_OK;
}

static bool
wants_all(const struct stream_client *c, const struct batch *b)
{
    return signal_filter_is_empty(&c->filter) && !c->is_inbox && !c->form &&
           (b->is_public || c->reads_all);
}

/* Tells a client what it wants of the batch; false: it is full, or it is not known now what it may
 * see, and stays where it is. */
static bool
tell_batch(struct stream_client *c, struct batch *b)
{
    const struct buf *text = &b->text[c->is_engine];
    struct buf some = { 0 };
    size_t n = b->n;

    enum status st = c->is_engine && !add_engine_texts(b, c->all->hub) ? ST_IO : ST_OK;

    if (!wants_all(c, b)) {
        n = 0;
        for (size_t i = 0; i < b->n && st != ST_IO && !buf_failed(text); i++) {
            size_t from = i ? b->ends[c->is_engine][i - 1] : 0;
            st = wants(c, b->seqs[i], b->signals[i]);
            if (!st) {
                if (!c->form)
                    buf_add(&some, text->p + from, b->ends[c->is_engine][i] - from);
                n++;
            }
        }
    }
    if (c->form && n)
        buf_adds(&some, c->form->note);
    const struct buf *all = n == b->n && !c->form ? text : &some;
    bool is_told = st != ST_IO && (!n || tell(c, all));
    buf_release(&some);
    c->all->delivered += is_told ? n : 0;
    return is_told;
}

static void
broadcast(struct streams *s, struct batch *b)
{
    uint64_t last = b->seqs[b->n - 1];

    for (struct stream_client *c = s->first; c; c = c->next) {
        if (c->place != s->newest || c->is_full)
            continue; /* behind: it comes there by itself */
        if (tell_batch(c, b))
            c->place = last;
    }
    s->newest = last;
}

void
streams_written(struct streams *s, uint64_t seq)
{
    s->written = seq;
}

void
streams_cut(struct streams *s, uint64_t seq)
{
    s->cut = seq;
}

/* The last line of the log is not the last signal: something happened to signals. */
static void
tell_change(struct stream_client *c, uint64_t last)
{
    struct buf text = { 0 };

    if (!c->wants_changes || c->is_full || c->place < c->all->newest || c->changed >= last)
        return;
    buf_addf(&text, "event: changed\ndata: {\"changed\":%" PRIu64 "}\n\n", last);
    if (last <= c->all->newest || tell(c, &text))
        c->changed = last;
    buf_release(&text);
}

void
streams_look(struct streams *s)
{
    enum status st = ST_OK;

    s->is_lost = false;
    drop_expired(s);
    if (s->cut > s->newest && hub_last_seq(s->hub) >= s->cut)
        s->newest = s->cut; /* then all are behind, and told one by one */
    while (s->first && !st) {
        struct batch b = { 0 };
        st = gather(s, &b);
        if (b.n)
            broadcast(s, &b);
        arena_release(&b.arena);
        buf_release(&b.text[0]);
        buf_release(&b.text[1]);
    }
    if (st == ST_IO)
        look_again(s, AGAIN_MS);
    uint64_t last = s->first ? hub_last_seq(s->hub) : 0;
    for (struct stream_client *c = s->first; c; c = c->next) {
        catch_up(c);
        tell_change(c, last);
    }
}

static void
on_again(void *ctx)
{
    struct streams *s = ctx;

    loop_drop(s->again);
    s->again = NULL;
    streams_look(s);
    if (s->is_lost && s->o.on_lost)
        s->o.on_lost(s->o.ctx);
}

static void
forget(struct stream_client *c)
{
    *c->self = c->next;
    if (c->next)
        c->next->self = c->self;
    c->all->n--;
    if (c->all->on_identity && !streams_has(c->all, c->identity))
        c->all->on_identity(c->all->ctx, c->identity, false);
    const struct stream_form *form = c->form;
    arena_release(&c->arena);
    free(c);
    if (form)
        form->ended(form->ctx);
}

/* Closes the stream with a comment, whether there is room for it or not. */
static void
let_go(struct stream_client *c, const char *comment)
{
    http_stream_end_with(c->conn, comment, strlen(comment));
    forget(c);
}

void
streams_revoke(struct streams *s, const char *key)
{
    for (struct stream_client *c = s->first, *next; c; c = next) {
        next = c->next;
        if (strcmp(c->key, key) == 0)
            let_go(c, ": the key was revoked\n\n");
    }
}

static void
drop_expired(struct streams *s)
{
    int64_t now_ms = clock_wall_ns() / 1000000;

    for (struct stream_client *c = s->first, *next; c; c = next) {
        next = c->next;
        if (c->until_ms && c->until_ms <= now_ms)
            let_go(c, ": the key has expired\n\n");
    }
}

/* Ends streams whose queue was full for too long: the client does not read, or too slowly. */
static void
on_slow(void *ctx)
{
    struct streams *s = ctx;
    int64_t before = clock_mono_ms() - s->o.slow_ms;

    loop_drop(s->slow);
    for (struct stream_client *c = s->first, *next; c; c = next) {
        next = c->next;
        if (c->is_full && c->full_since_ms <= before) {
            s->dropped++;
            let_go(c, ": you read too slowly; come back with Last-Event-ID\n\n");
        }
    }
    s->slow = loop_after(s->loop, s->o.slow_ms / SLOW_LOOKS, on_slow, s, NULL);
}

static const char keepalive[] = ": keepalive\n\n";

static void
on_keepalive(void *ctx)
{
    struct streams *s = ctx;

    loop_drop(s->keepalive);
    drop_expired(s);
    for (struct stream_client *c = s->first; c; c = c->next) {
        if (http_stream_queued(c->conn) == 0)
            http_stream_write(c->conn, keepalive, sizeof keepalive - 1);
        catch_up(c);
    }
    s->keepalive = loop_after(s->loop, s->o.keepalive_ms, on_keepalive, s, NULL);
}

static void
on_beat(void *ctx)
{
    struct streams *s = ctx;
    bool has_beat = false;

    loop_drop(s->beat);
    for (struct stream_client *c = s->first; c; c = c->next) {
        has_beat = has_beat || c->beat_s;
        if (!c->beat_s || ++c->beats < c->beat_s)
            continue;
        c->beats = 0;
        if (http_stream_queued(c->conn) == 0)
            http_stream_write(c->conn, keepalive, sizeof keepalive - 1);
    }
    s->beat = has_beat ? loop_after(s->loop, BEAT_MS, on_beat, s, NULL) : NULL;
}

/* ---- clients ---- */

static void
on_news(void *ctx, struct http_conn *conn, enum http_news news)
{
    struct stream_client *c = ctx;

    if (news == HTTP_DRAINED) {
        c->is_full = false;
        catch_up(c);
        if (c->form)
            c->form->drained(c->form->ctx);
        return;
    }
    if (news == HTTP_STOPPING) {
        let_go(c, ": the server is stopping; come back with Last-Event-ID\n\n");
        return;
    }
    http_stream_end(conn);
    forget(c);
}

/* Words of a list as a query has it, "a,b". */
static size_t
count_words(const char *p, size_t len)
{
    size_t n = 0;

    for (size_t i = 0; i < len; i++)
        n += p[i] != ',' && (i == 0 || p[i - 1] == ',');
    return n;
}

/* The most that the arena of a client must hold of its arguments: there may be thousands
 * of clients, and a block of an arena that may grow is a page. */
static size_t
room_for(const struct stream_caller *by, const struct json *args)
{
    size_t n = ARENA_ROOM(strlen(by->identity) + 1) + ARENA_ROOM(strlen(by->key) + 1) +
               ARENA_ROOM(sizeof(char *)); /* of the pattern */

    json_each (v, args)
        if (json_is(v, JSON_STRING))
            n += ARENA_ROOM(v->text.len + 1) +
                 ARENA_ROOM((count_words(v->text.p, v->text.len) + 1) * sizeof(char *));
    return n;
}

/* False: out of memory. Absent and empty are NULL. */
static bool
take(struct stream_client *c, const struct json *args, const char *key, const char **to)
{
    const struct json *v = json_get(args, key);

    if (!json_is(v, JSON_STRING) || !v->text.len)
        return true;
    *to = arena_dup(&c->arena, v->text.p, v->text.len);
    return *to;
}

static bool
take_list(struct stream_client *c, const struct json *args, const char *key, struct text_list *to)
{
    const char *text = NULL;

    if (!take(c, args, key, &text))
        return false;
    size_t n = text ? count_words(text, strlen(text)) : 0;
    const char **words = n ? arena_alloc(&c->arena, n * sizeof *words) : NULL;
    if (n && !words)
        return false;
    *to = (struct text_list){ words, n };
    char *rest = (char *)text;
    for (size_t i = 0; i < n; i++) {
        do
            words[i] = strsep(&rest, ",");
        while (!*words[i]);
    }
    return true;
}

static bool
take_filter(struct stream_client *c, const struct json *args)
{
    struct signal_filter *f = &c->filter;
    const char **pattern = arena_alloc(&c->arena, sizeof *pattern);

    if (!pattern || !take_list(c, args, "ring", &f->rings) ||
        !take_list(c, args, "type", &f->types) || !take_list(c, args, "tags", &f->tags))
        return false;
    *pattern = NULL;
    bool is_good = take(c, args, "pattern", pattern) && take(c, args, "role", &f->role);
    f->patterns = (struct text_list){ pattern, *pattern != NULL };
    return is_good;
}

/* The place that was asked for; absent: now. */
static bool
read_place(struct stream_client *c, struct args_in *in, const char *last_id)
{
    int64_t since = -1;

    if (last_id) {
        if (strspn(last_id, "0123456789") != strlen(last_id) || !*last_id || strlen(last_id) > 18)
            return refuse(in->refusal, 400, "VALIDATION_INVALID_TYPE",
                          "Last-Event-ID must be the number of a line, not \"%.40s\"", last_id);
        since = strtoll(last_id, NULL, 10);
    } else if (!arg_int(in, "since", &since)) {
        return false;
    }
    /* Beyond the newest may be what is on disk but not in the index yet; more is of another log. */
    if (since >= 0 && ((uint64_t)since < c->place || (uint64_t)since <= c->all->written))
        c->place = (uint64_t)since;
    return true;
}

static bool
read_filters(struct stream_client *c, const struct json *args, const char *last_id, struct arena *a,
             struct refusal *r)
{
    struct args_in in = { .object = args,
                          .known = stream_args,
                          .is_query = true,
                          .prefix = "",
                          .arena = a,
                          .refusal = r };

    struct signal_filter *f = &c->filter;
    enum hub_event_flag inbox = FLAG_UNSET, changes = FLAG_UNSET;
    if (!take_filter(c, args)) /* r says: out of memory */
        return false;
    if (!args_known(&in, "a stream") || !arg_number(&in, "min_urgency", &f->min_urgency) ||
        !arg_flag(&in, "inbox", &inbox) || !arg_flag(&in, "changes", &changes) ||
        !arg_int(&in, "keepalive", &c->beat_s) || !read_place(c, &in, last_id))
        return false;
    if (f->patterns.n && !match_is_pattern(f->patterns.v[0], strlen(f->patterns.v[0])))
        return arg_wrong(&in, "pattern", MATCH_PATTERN_SAYS);
    c->is_inbox = inbox == FLAG_YES;
    c->wants_changes = changes == FLAG_YES;
    for (size_t i = 0; i < f->rings.n && !c->reads_all; i++) {
        enum status st = hub_is_member(c->all->hub, c->identity, f->rings.v[i]);
        if (st == ST_IO)
            return refuse(r, 503, "STORE_UNAVAILABLE", HUB_NO_INDEX);
        if (st)
            return refuse(r, 403, "AUTH_FORBIDDEN",
                          "%s is not a member of the ring %s: an admin lets it in with POST /joins"
                          " (cliq ring join %s %s)",
                          c->identity, f->rings.v[i], f->rings.v[i], c->identity);
    }
    return true;
}

/* Sends the stream's start position in an event without data, which clients do not show. A client
 * that is cut off before the first signal reconnects with it as Last-Event-ID, and misses nothing.
 */
static void
welcome(struct stream_client *c)
{
    char text[64];

    if (c->form) {
        http_stream_write(c->conn, c->form->first, strlen(c->form->first));
        return;
    }
    int n = snprintf(text, sizeof text, ": connected\nid: %" PRIu64 "\n\n", c->place);

    http_stream_write(c->conn, text, (size_t)n);
}

static size_t
count_of(const struct streams *s, const char *key)
{
    size_t n = 0;

    for (const struct stream_client *c = s->first; c; c = c->next)
        n += strcmp(c->key, key) == 0;
    return n;
}

bool
streams_add(struct streams *s, struct http_conn *conn, const struct stream_caller *by,
            const struct json *args, struct arena *a, const char *last_id, bool is_engine,
            const struct stream_form *form, const char *request_id, int *status, const char **code,
            struct err *e)
{
    struct stream_client *c = calloc(1, sizeof *c);
    struct refusal no = { 503, "STORE_UNAVAILABLE", "out of memory" };
    char headers[200];

    *status = 503;
    *code = "STORE_UNAVAILABLE";
    if (!c) {
        err_nomem(e);
        return false;
    }
    if (s->o.per_key && count_of(s, by->key) >= s->o.per_key) {
        *status = 429;
        *code = "RATE_LIMITED";
        err_set(e, ST_CONFLICT,
                "this key has %u streams open, and may have no more (the setting "
                "hub.streams_per_key): close one, or use another key",
                s->o.per_key);
        free(c);
        return false;
    }
    /* so that the newest is the newest */
    uint64_t last = s->first ? 0 : hub_last_seq(s->hub);
    if (last)
        s->newest = last;
    else if (!s->first && s->written > s->newest)
        look_again(s, AGAIN_MS); /* the index was lost: no other client may ask for it */
    streams_look(s);
    *c = (struct stream_client){
        .all = s,
        .conn = conn,
        .reads_all = by->reads_all,
        .is_engine = is_engine,
        .form = form,
        .until_ms = by->until_ms,
    };
    c->place = s->newest > s->written ? s->newest : s->written;
    c->arena.max = room_for(by, args);
    c->identity = arena_dup(&c->arena, by->identity, strlen(by->identity));
    c->key = arena_dup(&c->arena, by->key, strlen(by->key));
    if (!c->identity || !c->key || !read_filters(c, args, last_id, a, &no)) {
        *status = no.status;
        *code = no.code;
        err_set(e, ST_INVALID, "%s", no.message);
        arena_release(&c->arena);
        free(c);
        return false;
    }
    bool is_first = !streams_has(s, by->identity);
    c->next = s->first;
    c->self = &s->first;
    if (c->next)
        c->next->self = &c->next;
    s->first = c;
    s->n++;
    snprintf(headers, sizeof headers,
             "Content-Type: text/event-stream\r\nCache-Control: no-store\r\n"
             "X-Accel-Buffering: no\r\n" /* nginx would keep events back */
             "X-Request-Id: %s\r\n",
             request_id);
    http_stream_begin(conn, headers);
    http_watch(conn, on_news, c);
    c->changed = c->place;
    if (c->beat_s && !s->beat)
        s->beat = loop_after(s->loop, BEAT_MS, on_beat, s, NULL);
    welcome(c);
    catch_up(c);
    if (is_first && s->on_identity)
        s->on_identity(s->ctx, c->identity, true);
    return true;
}

struct streams *
streams_new(struct loop *l, struct hub *hub, const struct streams_options *o, struct err *e)
{
    struct streams *s = calloc(1, sizeof *s);

    if (!s) {
        err_nomem(e);
        return NULL;
    }
    s->loop = l;
    s->hub = hub;
    s->newest = hub_last_seq(hub);
    s->cut = hub_last_cut(hub);
    s->o = *o;
    s->o.keepalive_ms = o->keepalive_ms ? o->keepalive_ms : STREAM_KEEPALIVE_MS;
    s->o.slow_ms = o->slow_ms ? o->slow_ms : STREAM_SLOW_MS;
    s->keepalive = loop_after(l, s->o.keepalive_ms, on_keepalive, s, e);
    s->slow = s->keepalive ? loop_after(l, s->o.slow_ms / SLOW_LOOKS, on_slow, s, e) : NULL;
    if (!s->slow) {
        loop_drop(s->keepalive);
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
    s->on_identity = NULL;
    while (s->first)
        forget(s->first);
    loop_drop(s->keepalive);
    loop_drop(s->beat);
    loop_drop(s->slow);
    loop_drop(s->again);
    free(s);
}

bool
streams_has(const struct streams *s, const char *identity)
{
    for (const struct stream_client *c = s->first; c; c = c->next)
        if (strcmp(c->identity, identity) == 0)
            return true;
    return false;
}

void
streams_on_identity(struct streams *s, void (*fn)(void *ctx, const char *identity, bool is_there),
                    void *ctx)
{
    s->on_identity = fn;
    s->ctx = ctx;
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

uint64_t
streams_dropped(const struct streams *s)
{
    return s->dropped;
}
