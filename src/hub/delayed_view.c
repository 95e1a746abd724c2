/*
 * delayed_view - the queue as the text of delayed.json, and back. delayed.h has the format.
 */
#include "hub/delayed.h"

#include "base/utf8.h"
#include "hub/when.h"

#include <assert.h>
#include <stdio.h>

/* ---- writing ---- */

/* An event as a tree that borrows from the item; NULL when memory is out. */
static struct json *
event_json(struct arena *a, const struct delayed_item *x)
{
    struct json *v = json_new(a, JSON_OBJECT), *data = NULL, *key = NULL;
    struct json *id = json_new_str(a, x->id.p, x->id.len);
    struct json *type = json_new_str(a, x->type.p, x->type.len);
    struct json *at = json_new_int(a, x->deliver_at_ms), *source = source_json(a, &x->source);
    struct json *created = json_new_int(a, x->created_at_ms);
    struct json *updated = json_new_int(a, x->updated_at_ms);

    if (!v || !id || !type || !at || !source || !created || !updated)
        return NULL;
    if (x->data.len && !json_parse(a, x->data.p, x->data.len, &data, NULL))
        return NULL; /* delayed_add has parsed it once: only memory can be missing */
    if (x->repeat_key.len && !(key = json_new_str(a, x->repeat_key.p, x->repeat_key.len)))
        return NULL;
    json_set(v, "id", id);
    json_set(v, "type", type);
    json_set(v, "deliverAt", at);
    json_set(v, "source", source);
    json_set(v, "data", data);
    json_set(v, "repeatKey", key);
    json_set(v, "createdAt", created);
    json_set(v, "updatedAt", updated);
    return v;
}

enum status
delayed_write(const struct delayed *q, struct buf *to, struct err *e)
{
    struct arena order = { 0 }, a = { 0 };
    const struct delayed_item **list = delayed_sorted(q, &order);
    enum status s = ST_OK;

    if (!list)
        s = err_set(e, ST_IO, "out of memory for the view of delayed signals");
    buf_adds(to, "{\n  \"version\": 1,\n  \"events\": [");
    for (size_t i = 0; !s && i < q->n; i++) {
        arena_reset(&a);
        const struct json *v = event_json(&a, list[i]);
        if (!v) {
            s = err_set(e, ST_IO, "out of memory for the view of delayed signals");
            break;
        }
        buf_adds(to, i ? ",\n    " : "\n    ");
        json_write_pretty(to, v, 2);
    }
    buf_adds(to, q->n ? "\n  ]\n}\n" : "]\n}\n");
    arena_release(&a);
    arena_release(&order);
    return s;
}

/* ---- reading ---- */

struct reader {
    const char *name, *text;
    size_t len;
    const struct json *root;
    struct err *e;
};

/* "NAME:LINE:COLUMN: what", at v. */
static enum status
fault(const struct reader *r, const struct json *v, const char *what)
{
    unsigned line, column;

    json_place(r->text, r->len, r->root, v, &line, &column);
    return err_set(r->e, ST_INVALID, "%s:%u:%u: %s", r->name, line, column, what);
}

static enum status
unknown_key(const struct reader *r, const struct json *v)
{
    struct buf what = { 0 };

    buf_adds(&what, "unknown key ");
    json_write_str(&what, v->key, utf8_cut(v->key, v->key_len, 64));
    enum status s = fault(r, v, what.p ? what.p : "unknown key");
    buf_release(&what);
    return s;
}

/* A member that an object has. */
struct field {
    const char *name;
    enum { TEXT_FIELD, TIME_FIELD, LIST_FIELD, ONE_FIELD, ANY_FIELD } kind;
    bool is_optional;
};

static const char *
field_fault(const struct field *f, const struct json *v)
{
    int64_t n;

    switch (f->kind) {
    case TEXT_FIELD:
        if (!json_is(v, JSON_STRING) || !v->text.len)
            return "must be a string that is not empty";
        if (text_trim((struct text){ v->text.p, v->text.len }).len != v->text.len)
            return "must have no white space around it";
        return NULL;
    case TIME_FIELD:
        return json_int(v, &n) && n >= 0 && n <= WHEN_MAX_MS
                   ? NULL
                   : "must be a whole number of milliseconds since 1970";
    case LIST_FIELD:
        return json_is(v, JSON_ARRAY) ? NULL : "must be a list";
    case ONE_FIELD:
        return json_int(v, &n) && n == 1 ? NULL : "must be 1";
    case ANY_FIELD:
        return NULL;
    }
    assert(!"a kind that struct field names");
    return NULL;
}

/* Are these fields there, of their kinds, and nothing else? */
static enum status
check_fields(const struct reader *r, const struct json *object, const struct field *fields,
             size_t n)
{
    char what[128];

    if (!json_is(object, JSON_OBJECT))
        return fault(r, object, "must be an object");
    json_each (v, object) {
        size_t i = 0;
        while (i < n && (strlen(fields[i].name) != v->key_len ||
                         memcmp(fields[i].name, v->key, v->key_len) != 0))
            i++;
        if (i == n)
            return unknown_key(r, v);
        const char *bad = field_fault(&fields[i], v);
        if (bad) {
            snprintf(what, sizeof what, "%s %s", fields[i].name, bad);
            return fault(r, v, what);
        }
    }
    for (size_t i = 0; i < n; i++)
        if (!fields[i].is_optional && !json_get(object, fields[i].name)) {
            snprintf(what, sizeof what, "%s is missing", fields[i].name);
            return fault(r, object, what);
        }
    return ST_OK;
}

static struct text
text_at(const struct json *event, const char *key)
{
    const struct json *v = json_get(event, key);

    return v ? (struct text){ v->text.p, v->text.len } : (struct text){ 0 };
}

static enum status
read_event(const struct reader *r, struct delayed *q, const struct json *event, struct buf *data)
{
    static const struct field fields[] = {
        { "id", TEXT_FIELD },        { "type", TEXT_FIELD },      { "deliverAt", TIME_FIELD },
        { "source", ANY_FIELD },     { "data", ANY_FIELD, true }, { "repeatKey", TEXT_FIELD, true },
        { "createdAt", TIME_FIELD }, { "updatedAt", TIME_FIELD },
    };
    const struct json *source = json_get(event, "source");
    struct delayed_item item = { .id = text_at(event, "id") };
    struct err inner;
    size_t before = q->n;

    enum status s = check_fields(r, event, fields, sizeof fields / sizeof *fields);
    if (s)
        return s;
    if (source_read(source, &item.source, &inner))
        return fault(r, source, inner.text);
    item.type = text_at(event, "type");
    item.repeat_key = text_at(event, "repeatKey");
    json_int(json_get(event, "deliverAt"), &item.deliver_at_ms);
    json_int(json_get(event, "createdAt"), &item.created_at_ms);
    json_int(json_get(event, "updatedAt"), &item.updated_at_ms);
    buf_reset(data);
    if (json_get(event, "data")) {
        json_write(data, json_get(event, "data"));
        item.data = (struct text){ data->p, data->len };
    }
    s = buf_status(data, "the data of a delayed signal", r->e);
    if (s)
        return s;
    s = delayed_add(q, &item, &inner);
    if (s == ST_IO)
        return err_set(r->e, ST_IO, "%s: %s", r->name, inner.text);
    if (s)
        return fault(r, event, inner.text);
    if (q->n == before)
        return fault(r, event, "an event before has the same type and repeatKey");
    return ST_OK;
}

enum status
delayed_read(struct delayed *q, const char *name, const char *text, size_t len, struct err *e)
{
    static const struct field fields[] = { { "version", ONE_FIELD }, { "events", LIST_FIELD } };
    struct arena a = { 0 };
    struct buf data = { 0 };
    struct json *root = NULL;

    assert(!q->n);
    enum status s = json_parse_named(&a, name, text, len, &root, e);
    if (!s) {
        struct reader r = { .name = name, .text = text, .len = len, .root = root, .e = e };
        s = check_fields(&r, root, fields, 2);
        for (const struct json *v = json_first(json_get(root, "events")); v && !s; v = v->next)
            s = read_event(&r, q, v, &data);
    }
    if (s)
        delayed_release(q);
    buf_release(&data);
    arena_release(&a);
    return s;
}
