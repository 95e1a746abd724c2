#include "hub/request/render.h"

#include "base/clock.h"

#include <string.h>

/* ---- values ---- */

static void
put_text(struct buf *to, const char *s)
{
    if (s)
        json_write_str(to, s, strlen(s));
    else
        buf_add(to, "null", 4);
}

static void
put_time(struct buf *to, int64_t ms)
{
    char text[CLOCK_ISO_SIZE];

    put_text(to, ms ? clock_iso_ms(text, ms) : NULL);
}

static void
put_id(struct buf *to, const char *id)
{
    size_t at = to->len;

    if (id)
        buf_add(to, "signal:", 7);
    put_text(to, id);
    if (id && !buf_failed(to))
        memcpy(to->p + at, "\"signal:", 8); /* the opening quote stands before the prefix */
}

static void
put_json(struct buf *to, const struct json *v, const char *absent)
{
    if (v)
        json_write(to, v);
    else
        buf_adds(to, absent);
}

/* ---- members ---- */

void
render_text(struct buf *to, const char *key, const char *s)
{
    json_key(to, key);
    put_text(to, s);
}

void
render_time(struct buf *to, const char *key, int64_t ms)
{
    json_key(to, key);
    put_time(to, ms);
}

void
render_id(struct buf *to, const char *key, const char *id)
{
    json_key(to, key);
    put_id(to, id);
}

void
render_scopes(struct buf *to, const char *key, unsigned scopes)
{
    static const char *const names[] = { "emit", "claim", "ack", "inbox", "stream", "admin" };

    json_key(to, key);
    json_open(to, '[');
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (scopes & (1u << i)) {
            json_sep(to);
            put_text(to, names[i]);
        }
    json_close(to, ']');
}

/* ---- a signal ---- */

/* A key behind another member: one copy, as every signal has two dozen of them. */
#define KEY(to, name) buf_add(to, ",\"" name "\":", sizeof name + 3)

static void
put_emitted(struct buf *to, const struct hub_event *ev, const struct item *it, const char *thread)
{
    buf_adds(to, "{\"id\":");
    put_id(to, it->id);
    KEY(to, "signal_type");
    put_text(to, ev->type);
    KEY(to, "content");
    put_json(to, ev->content, "null");
    KEY(to, "urgency");
    put_json(to, ev->urgency, "0.5");
    KEY(to, "from_role");
    put_text(to, ev->from_role);
    KEY(to, "from_identity");
    put_text(to, ev->by);
    KEY(to, "to_role");
    put_text(to, ev->to_role);
    KEY(to, "to_ring");
    put_text(to, ev->to_ring);
    KEY(to, "to_identity");
    put_text(to, ev->to_identity);
    KEY(to, "parent_id");
    put_id(to, ev->parent);
    KEY(to, "thread_id");
    put_id(to, thread ? thread : it->id);
    json_key_int(to, "sequence", (int64_t)it->seq);
    KEY(to, "tags");
    put_json(to, ev->tags, "[]");
    KEY(to, "resources");
    put_json(to, ev->resources, "[]");
    KEY(to, "attachments");
    put_json(to, ev->attachments, "[]");
    KEY(to, "metadata");
    put_json(to, ev->metadata, "{}");
    KEY(to, "payload");
    put_json(to, ev->data, "null");
}

void
render_signal(struct buf *to, const struct hub_event *ev, const struct item *it, const char *thread,
              const char *key, const char *value)
{
    put_emitted(to, ev, it, thread);
    KEY(to, "delivery_state");
    put_text(to, delivery_names[it->state]);
    json_key_int(to, "delivery_count", it->count);
    KEY(to, "task_status");
    put_text(to, work_names[it->work]);
    KEY(to, "claimed_by");
    put_text(to, it->claimed_by);
    KEY(to, "claimed_at");
    put_time(to, it->claimed_at);
    KEY(to, "claim_expires_at");
    put_time(to, it->state == D_LEASED ? it->until : 0);
    KEY(to, "created_at");
    put_time(to, ev->at ? ev->at : 1);
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
    json_key(to, "source");
    put_json(to, ev->source, "{\"type\":\"process\"}"); /* a foreign line may have none */
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
