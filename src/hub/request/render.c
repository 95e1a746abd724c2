#include "hub/request/render.h"

#include "base/clock.h"

#include <string.h>

/* ---- members ---- */

/* A member's key behind another member, and its value when there is none: two arguments and the
 * lengths of both. Every signal has two dozen members, most of them absent: one copy each. */
#define MEMBER(key, absent) ",\"" key "\":" absent, sizeof key + 3, sizeof absent - 1

static void
put_text(struct buf *to, const char *member, size_t key_len, size_t absent_len, const char *s)
{
    buf_add(to, member, key_len + (s ? 0 : absent_len));
    if (s)
        json_write_str(to, s, strlen(s));
}

static void
put_time(struct buf *to, const char *member, size_t key_len, size_t absent_len, int64_t ms)
{
    char text[CLOCK_ISO_SIZE];

    put_text(to, member, key_len, absent_len, ms ? clock_iso_ms(text, ms) : NULL);
}

static void
put_id(struct buf *to, const char *member, size_t key_len, size_t absent_len, const char *id)
{
    size_t at = to->len + key_len;

    if (!id) {
        put_text(to, member, key_len, absent_len, NULL);
        return;
    }
    buf_add(to, member, key_len);
    buf_add(to, "signal:", 7);
    json_write_str(to, id, strlen(id));
    if (!buf_failed(to))
        memcpy(to->p + at, "\"signal:", 8); /* the opening quote stands before the prefix */
}

static void
put_json(struct buf *to, const char *member, size_t key_len, size_t absent_len,
         const struct json *v)
{
    buf_add(to, member, key_len + (v ? 0 : absent_len));
    if (v)
        json_write(to, v);
}

void
render_text(struct buf *to, const char *key, const char *s)
{
    json_key(to, key);
    put_text(to, "null", 0, 4, s);
}

void
render_time(struct buf *to, const char *key, int64_t ms)
{
    json_key(to, key);
    put_time(to, "null", 0, 4, ms);
}

void
render_id(struct buf *to, const char *key, const char *id)
{
    json_key(to, key);
    put_id(to, "null", 0, 4, id);
}

void
render_scopes(struct buf *to, const char *key, unsigned scopes)
{
    const char *word;
    size_t n;

    json_key(to, key);
    json_open(to, '[');
    for (unsigned i = 0; (word = scope_word(i, &n)); i++)
        if (scopes & (1u << i)) {
            json_sep(to);
            json_write_str(to, word, n);
        }
    json_close(to, ']');
}

/* ---- a signal ---- */

void
render_signal(struct buf *to, const struct hub_event *ev, const struct item *it, const char *thread,
              const char *key, const char *value)
{
    put_id(to, "{\"id\":", 6, 0, it->id);
    put_text(to, MEMBER("signal_type", "null"), ev->type);
    put_json(to, MEMBER("content", "null"), ev->content);
    put_json(to, MEMBER("urgency", "0.5"), ev->urgency);
    put_text(to, MEMBER("from_role", "null"), ev->from_role);
    put_text(to, MEMBER("from_identity", "null"), ev->by);
    put_text(to, MEMBER("to_role", "null"), ev->to_role);
    put_text(to, MEMBER("to_ring", "null"), ev->to_ring);
    put_text(to, MEMBER("to_identity", "null"), ev->to_identity);
    put_id(to, MEMBER("parent_id", "null"), ev->parent);
    put_id(to, MEMBER("thread_id", "null"), thread ? thread : it->id);
    json_key_int(to, "sequence", (int64_t)it->seq);
    put_json(to, MEMBER("tags", "[]"), ev->tags);
    put_json(to, MEMBER("resources", "[]"), ev->resources);
    put_json(to, MEMBER("attachments", "[]"), ev->attachments);
    put_json(to, MEMBER("metadata", "{}"), ev->metadata);
    put_json(to, MEMBER("payload", "null"), ev->data);

    put_text(to, MEMBER("delivery_state", "null"), delivery_names[it->state]);
    json_key_int(to, "delivery_count", it->count);
    put_text(to, MEMBER("task_status", "null"), work_names[it->work]);
    put_text(to, MEMBER("claimed_by", "null"), it->claimed_by);
    put_time(to, MEMBER("claimed_at", "null"), it->claimed_at);
    put_time(to, MEMBER("claim_expires_at", "null"), it->state == D_LEASED ? it->until : 0);
    put_time(to, MEMBER("created_at", "null"), ev->at ? ev->at : 1);
    if (ev->expires_at)
        render_time(to, "expires_at", ev->expires_at);
    buf_adds(to, ",\"protocol_version\":\"chorus/1.0\"");
    json_key_str(to, key, value);
    json_close(to, '}');
}

bool
render_row(struct buf *to, const struct signal_row *x, const char *key, const char *value,
           struct arena *scratch)
{
    struct hub_event ev;

    if (!x->body || !hub_event_parse(&ev, x->body, strlen(x->body), scratch))
        return false;
    render_signal(to, &ev, &x->it, x->thread, key, value);
    return true;
}

/* ---- broadcasts ---- */

void
render_broadcast(struct buf *to, const struct hub_event *ev, bool with_content)
{
    bool is_delayed = ev->kind == EV_SCHEDULE;

    json_open(to, '{');
    render_text(to, "id", ev->id);
    render_text(to, "type", ev->type);
    if (is_delayed)
        json_key_int(to, "deliverAt", ev->deliver_at);
    put_json(to, MEMBER("source", "{\"type\":\"process\"}"),
             ev->source); /* a foreign line has none */
    json_key_json(to, "data", ev->data);
    json_key_str(to, "repeatKey", ev->repeat_key);
    json_key_int(to, "createdAt", ev->at);
    if (is_delayed)
        json_key_int(to, "updatedAt", ev->at);
    if (with_content)
        json_key_json(to, "content", ev->content);
    json_close(to, '}');
}

bool
render_broadcast_line(struct buf *to, const char *line, bool with_content, struct arena *scratch)
{
    struct hub_event ev;

    if (!line || !hub_event_parse(&ev, line, strlen(line), scratch))
        return false;
    render_broadcast(to, &ev, with_content);
    return true;
}

const struct json *
hub_reply_data(const struct hub_reply *r, struct arena *a)
{
    struct json *data;

    return r->text && json_parse(a, r->text, strlen(r->text), &data, NULL) ? data : NULL;
}
