/*
 * show - signals as the hub's door and as the broadcast door show them.
 */
#include "hub/hub_impl.h"

#include "base/clock.h"
#include "base/path.h"
#include "hub/request/splice.h"

#include <string.h>

struct json *
render_text(struct arena *a, const char *s)
{
    return s ? json_new_str(a, s, strlen(s)) : json_new(a, JSON_NULL);
}

struct json *
render_time(struct arena *a, int64_t ms)
{
    char *text = ms ? arena_alloc(a, CLOCK_ISO_SIZE) : NULL;

    return render_text(a, text ? clock_iso_ms(text, ms) : NULL);
}

struct json *
render_id(struct arena *a, const char *id)
{
    if (!id)
        return json_new(a, JSON_NULL);
    size_t n = strlen(id);
    char *text = arena_alloc(a, n + 8);
    if (!text)
        return NULL;
    memcpy(text, "signal:", 7);
    memcpy(text + 7, id, n + 1);
    return json_new_str(a, text, n + 7);
}

/* A copy of the value that may stand in another container; absent: of that type, empty. */
static struct json *
copy(struct arena *a, const struct json *v, enum json_type without)
{
    struct json *n = json_new(a, without);

    if (n && v) {
        *n = *v;
        n->next = NULL;
    }
    return n;
}

/* ---- a signal ---- */

/* Members go into a tree, or, where there is none, into a text. */
struct pen {
    struct arena *a;
    struct json *to, **at;
    struct buf *text;
};

/* Where room was asked for once, for a run of members: */

enum { KEYS_ROOM = 500 }; /* bytes for those of a run, but for pieces of a line */

static char *
lay(char *to, const char *p, size_t n)
{
    memcpy(to, p, n);
    return to + n;
}

#define LAY(to, literal) lay(to, literal, sizeof literal - 1)

/* A word or a time of ours, which needs no escapes. */
static char *
lay_word(char *to, const char *word)
{
    return word ? LAY(lay(LAY(to, "\""), word, strlen(word)), "\"") : LAY(to, "null");
}

/* A key, and how it is written behind another member. */
struct key {
    const char *name, *text;
    size_t len;
};
#define KEY(name) (&(const struct key){ name, ",\"" name "\":", sizeof name + 3 })

static void
put_key(struct pen *p, const struct key *key)
{
    bool is_first = p->text->len && p->text->p[p->text->len - 1] == '{';

    buf_add(p->text, key->text + is_first, key->len - is_first);
}

static void
put(struct pen *p, const struct key *key, struct json *v)
{
    p->at = json_put(p->to, p->at, key->name, v);
}

static void
put_text(struct pen *p, const struct key *key, const char *s)
{
    if (p->to) {
        put(p, key, render_text(p->a, s));
        return;
    }
    put_key(p, key);
    if (s)
        json_write_str(p->text, s, strlen(s));
    else
        buf_add(p->text, "null", 4);
}

/* One that needs no escapes. */
static void
put_plain_id(struct pen *p, const struct key *key, const char *id)
{
    put_key(p, key);
    char *start = buf_room(p->text, KEYS_ROOM);
    if (!start)
        return;
    char *end = LAY(lay(LAY(start, "\"signal:"), id, strlen(id)), "\"");
    buf_grew(p->text, (size_t)(end - start));
}

static void
put_id(struct pen *p, const struct key *key, const char *id)
{
    struct buf whole = { 0 };

    if (p->to) {
        put(p, key, render_id(p->a, id));
    } else if (!id) {
        put_text(p, key, NULL);
    } else if (path_is_name(id)) {
        put_plain_id(p, key, id);
    } else { /* not one of ours */
        buf_adds(&whole, "signal:");
        buf_adds(&whole, id);
        put_text(p, key, whole.p ? whole.p : "");
        buf_release(&whole);
    }
}

static void
put_int(struct pen *p, const struct key *key, int64_t n)
{
    if (p->to)
        put(p, key, json_new_int(p->a, n));
    else
        json_key_int(p->text, key->name, n);
}

/* What happens in a round happens in the same milliseconds: those of late need not be spelt again.
 */
static const char *
spell_time(int64_t ms)
{
    static _Thread_local struct {
        int64_t ms;
        char text[CLOCK_ISO_SIZE];
    } spelt[16];
    size_t at = (size_t)ms % 16;

    if (spelt[at].ms != ms || !spelt[at].text[0])
        clock_iso_ms(spelt[at].text, ms);
    spelt[at].ms = ms;
    return spelt[at].text;
}

static char *
lay_time(char *to, int64_t ms)
{
    return lay_word(to, ms ? spell_time(ms) : NULL);
}

static void
put_time(struct pen *p, const struct key *key, int64_t ms)
{
    if (p->to)
        put(p, key, render_time(p->a, ms));
    else
        put_text(p, key, ms ? spell_time(ms) : NULL);
}

/* absent: of that type, empty. */
static void
put_json(struct pen *p, const struct key *key, const struct json *v, enum json_type without)
{
    const struct json nothing = { .type = without };

    if (p->to) {
        put(p, key, copy(p->a, v, without));
        return;
    }
    put_key(p, key);
    json_write(p->text, v ? v : &nothing);
}

static void
put_head(struct pen *p, const struct hub_event *ev, const struct item *it, const char *thread)
{
    static const struct json half = { .type = JSON_NUMBER, .text = { "0.5", 3 } };

    put_id(p, KEY("id"), it->id);
    put_text(p, KEY("signal_type"), ev->type);
    put_json(p, KEY("content"), ev->content, JSON_NULL);
    put_json(p, KEY("urgency"), ev->urgency ? ev->urgency : &half, JSON_NULL);
    put_text(p, KEY("from_role"), ev->from_role);
    put_text(p, KEY("from_identity"), ev->by);
    put_text(p, KEY("to_role"), ev->to_role);
    put_text(p, KEY("to_ring"), ev->to_ring);
    put_text(p, KEY("to_identity"), ev->to_identity);
    put_id(p, KEY("parent_id"), ev->parent);
    put_id(p, KEY("thread_id"), thread ? thread : it->id);
    put_int(p, KEY("sequence"), (int64_t)it->seq);
    put_json(p, KEY("tags"), ev->tags, JSON_ARRAY);
    put_json(p, KEY("resources"), ev->resources, JSON_ARRAY);
    put_json(p, KEY("attachments"), ev->attachments, JSON_ARRAY);
    put_json(p, KEY("metadata"), ev->metadata, JSON_OBJECT);
    put_json(p, KEY("payload"), ev->data, JSON_NULL);
}

static void
put_state(struct pen *p, const struct item *it)
{
    put_text(p, KEY("delivery_state"), delivery_names[it->state]);
    put_int(p, KEY("delivery_count"), it->count);
    put_text(p, KEY("task_status"), work_names[it->work]);
    put_text(p, KEY("claimed_by"), it->claimed_by);
    put_time(p, KEY("claimed_at"), it->claimed_at);
    put_time(p, KEY("claim_expires_at"), it->state == D_LEASED ? it->until : 0);
}

static void
put_tail(struct pen *p, int64_t created_ms)
{
    put_time(p, KEY("created_at"), created_ms ? created_ms : 1);
    put_text(p, KEY("protocol_version"), "chorus/1.0");
}

struct json *
render_signal(const struct hub_event *ev, const struct item *it, const char *thread,
              struct arena *a)
{
    struct pen p = { .a = a, .to = json_new(a, JSON_OBJECT) };

    if (!p.to)
        return NULL;
    p.at = &p.to->kids.first;
    put_head(&p, ev, it, thread);
    put_state(&p, it);
    put_tail(&p, ev->at);
    return p.to;
}

static const char *
take_text(struct buf *b, struct arena *a)
{
    return buf_failed(b) ? NULL : arena_dup(a, b->p, b->len);
}

static bool
read_line(const struct signal_row *x, struct hub_event *ev, struct arena *a)
{
    struct json *line;

    return x->body && json_parse(a, x->body, strlen(x->body), &line, NULL) &&
           hub_event_read(ev, line, a);
}

struct json *
render_signal_row(const struct signal_row *x, struct arena *a)
{
    struct hub_event ev;

    return read_line(x, &ev, a) ? render_signal(&ev, &x->it, x->thread, a) : NULL;
}

/* ---- the same from the pieces of a line, without asking for room each time ---- */

/* A member as the line has it, or what stands for one that it has not. */
#define LAY_PIECE(to, piece, key, without)                                                         \
    ((piece)->p ? lay(LAY(to, ",\"" key "\":"), (piece)->p, (piece)->len)                          \
                : LAY(to, ",\"" key "\":" without))

/* Room for those members up to `last`; NULL without memory. */
static char *
room_for(struct buf *b, const struct splice_text *from, const struct splice_text *last)
{
    size_t n = KEYS_ROOM;

    for (; from <= last; from++)
        n += from->len;
    return buf_room(b, n);
}

static void
put_first_pieces(struct buf *b, const struct splice_text *of)
{
    char *start = room_for(b, of, of + SPLICE_PARENT), *p = start;

    if (!p)
        return;
    p = LAY_PIECE(p, of + SPLICE_TYPE, "signal_type", "null");
    p = LAY_PIECE(p, of + SPLICE_CONTENT, "content", "null");
    p = LAY_PIECE(p, of + SPLICE_URGENCY, "urgency", "0.5");
    p = LAY_PIECE(p, of + SPLICE_FROM_ROLE, "from_role", "null");
    p = LAY_PIECE(p, of + SPLICE_BY, "from_identity", "null");
    p = LAY_PIECE(p, of + SPLICE_TO_ROLE, "to_role", "null");
    p = LAY_PIECE(p, of + SPLICE_TO_RING, "to_ring", "null");
    p = LAY_PIECE(p, of + SPLICE_TO_IDENTITY, "to_identity", "null");
    if (of[SPLICE_PARENT].p) /* its quote stands before the prefix */
        p = lay(LAY(p, ",\"parent_id\":\"signal:"), of[SPLICE_PARENT].p + 1,
                of[SPLICE_PARENT].len - 1);
    else
        p = LAY(p, ",\"parent_id\":null");
    buf_grew(b, (size_t)(p - start));
}

static void
put_last_pieces(struct buf *b, const struct splice_text *of)
{
    char *start = room_for(b, of + SPLICE_TAGS, of + SPLICE_DATA), *p = start;

    if (!p)
        return;
    p = LAY_PIECE(p, of + SPLICE_TAGS, "tags", "[]");
    p = LAY_PIECE(p, of + SPLICE_RESOURCES, "resources", "[]");
    p = LAY_PIECE(p, of + SPLICE_ATTACHMENTS, "attachments", "[]");
    p = LAY_PIECE(p, of + SPLICE_METADATA, "metadata", "{}");
    p = LAY_PIECE(p, of + SPLICE_DATA, "payload", "null");
    buf_grew(b, (size_t)(p - start));
}

/* put_head from the pieces of a line. */
static void
put_pieces(struct pen *p, const struct splice *s, const struct item *it, const char *thread)
{
    put_id(p, KEY("id"), it->id);
    put_first_pieces(p->text, s->of);
    put_id(p, KEY("thread_id"), thread ? thread : it->id);
    put_int(p, KEY("sequence"), (int64_t)it->seq);
    put_last_pieces(p->text, s->of);
}

bool
render_prepare(struct signal_row *x, struct buf *b, struct arena *a)
{
    struct pen p = { .text = b };
    struct splice pieces;
    struct hub_event ev;

    if (x->head && x->tail)
        return true;
    bool is_cut = x->body && splice_line(&pieces, x->body, strlen(x->body));
    if (!is_cut && !read_line(x, &ev, a))
        return false;
    buf_reset(b);
    json_open(b, '{');
    if (is_cut)
        put_pieces(&p, &pieces, &x->it, x->thread);
    else
        put_head(&p, &ev, &x->it, x->thread);
    size_t n = b->len;
    buf_addc(b, '\0');
    put_tail(&p, is_cut ? pieces.at : ev.at);
    x->head = take_text(b, a);
    x->tail = x->head ? x->head + n + 1 : NULL;
    return x->head != NULL;
}

/* put_state, where what is counted has one digit and names are those that we give. */
static void
put_state_text(struct buf *b, const struct item *it)
{
    bool is_usual =
        it->count >= 0 && it->count <= 9 && (!it->claimed_by || path_is_name(it->claimed_by));
    char *start = is_usual ? buf_room(b, KEYS_ROOM) : NULL, *p = start;

    if (!p) {
        put_state(&(struct pen){ .text = b }, it);
        return;
    }
    p = lay_word(LAY(p, ",\"delivery_state\":"), delivery_names[it->state]);
    p = LAY(p, ",\"delivery_count\":");
    *p++ = (char)('0' + it->count);
    p = lay_word(LAY(p, ",\"task_status\":"), work_names[it->work]);
    p = lay_word(LAY(p, ",\"claimed_by\":"), it->claimed_by);
    p = lay_time(LAY(p, ",\"claimed_at\":"), it->claimed_at);
    p = lay_time(LAY(p, ",\"claim_expires_at\":"), it->state == D_LEASED ? it->until : 0);
    buf_grew(b, (size_t)(p - start));
}

const char *
render_signal_row_text(const struct signal_row *x, const char *claim, struct buf *b,
                       struct arena *a)
{
    buf_reset(b);
    buf_adds(b, x->head);
    put_state_text(b, &x->it);
    buf_adds(b, x->tail);
    json_key_str(b, "claim_id", claim);
    json_close(b, '}');
    return take_text(b, a);
}

const char *
render_line_text(const struct hub_event *ev, const char *line, size_t len, const struct item *it,
                 struct buf *b, struct arena *a)
{
    struct pen p = { .text = b };
    struct splice pieces;

    buf_reset(b);
    json_open(b, '{');
    if (splice_line(&pieces, line, len))
        put_pieces(&p, &pieces, it, NULL);
    else
        put_head(&p, ev, it, NULL);
    put_state_text(b, it);
    put_tail(&p, ev->at);
    json_close(b, '}');
    return take_text(b, a);
}

const struct json *
hub_reply_data(const struct hub_reply *r, struct arena *a)
{
    struct json *data = NULL;

    if (!r->text)
        return r->data;
    return json_parse(a, r->text, strlen(r->text), &data, NULL) ? data : NULL;
}

struct json *
render_row(struct row *r, struct arena *a)
{
    struct signal_row x = { .it = { .seq = (uint64_t)row_int(r, 0),
                                    .id = row_dup(r, 1, a),
                                    .state = (enum delivery)row_int(r, 3),
                                    .work = (enum work)row_int(r, 4),
                                    .count = row_int(r, 5),
                                    .claimed_by = row_dup(r, 6, a),
                                    .claimed_at = row_int(r, 7),
                                    .until = row_int(r, 8) },
                            .thread = row_dup(r, 2, a),
                            .body = row_dup(r, 9, a) };

    return render_signal_row(&x, a);
}

struct json *
render_at(struct hub *h, uint64_t seq, struct arena *a)
{
    struct signal_row x;

    return fold_find_at(&h->fold, seq, a, &x) ? render_signal_row(&x, a) : NULL;
}

/* A foreign line without a source was written by some process. */
static struct json *
show_source(struct arena *a, const struct json *source)
{
    struct json *to = copy(a, source, JSON_OBJECT);

    if (to && !source)
        json_set(to, "type", render_text(a, "process"));
    return to;
}

struct json *
render_broadcast(const char *body, size_t len, struct arena *a)
{
    struct json *line, *to = json_new(a, JSON_OBJECT);
    struct hub_event ev;

    if (!to || !json_parse(a, body, len, &line, NULL) || !hub_event_read(&ev, line, a))
        return NULL;
    json_set(to, "id", render_text(a, ev.id));
    json_set(to, "type", render_text(a, ev.type));
    json_set(to, "source", show_source(a, ev.source));
    if (ev.data)
        json_set(to, "data", copy(a, ev.data, JSON_NULL));
    json_set(to, "createdAt", json_new_int(a, ev.at));
    return to;
}

struct json *
render_delayed(const char *body, size_t len, struct arena *a)
{
    struct json *line, *to = json_new(a, JSON_OBJECT);
    struct hub_event ev;

    if (!to || !json_parse(a, body, len, &line, NULL) || !hub_event_read(&ev, line, a))
        return NULL;
    json_set(to, "id", render_text(a, ev.id));
    json_set(to, "type", render_text(a, ev.type));
    json_set(to, "deliverAt", json_new_int(a, ev.deliver_at));
    json_set(to, "source", show_source(a, ev.source));
    if (ev.data)
        json_set(to, "data", copy(a, ev.data, JSON_NULL));
    if (ev.repeat_key)
        json_set(to, "repeatKey", render_text(a, ev.repeat_key));
    json_set(to, "createdAt", json_new_int(a, ev.at));
    json_set(to, "updatedAt", json_new_int(a, ev.at));
    return to;
}
