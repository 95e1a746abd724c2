/*
 * show - signals as the hub's door and as the broadcast door show them.
 */
#include "hub/hub_impl.h"

#include "base/clock.h"

#include <string.h>

struct json *
show_text(struct arena *a, const char *s)
{
    return s ? json_new_str(a, s, strlen(s)) : json_new(a, JSON_NULL);
}

struct json *
show_time(struct arena *a, int64_t ms)
{
    char *text = ms ? arena_alloc(a, CLOCK_ISO_SIZE) : NULL;

    return show_text(a, text ? clock_iso(text, ms * 1000000, 1) : NULL);
}

struct json *
show_id(struct arena *a, const char *id)
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

struct json *
show_scopes(struct arena *a, unsigned scopes)
{
    static const char *const names[] = { "emit", "claim", "ack", "inbox", "stream", "admin" };
    struct json *list = json_new(a, JSON_ARRAY);

    for (unsigned i = 0; list && i < sizeof names / sizeof *names; i++)
        if (scopes & (1u << i))
            json_add(list, show_text(a, names[i]));
    return list;
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

struct json *
show_row(struct row *r, struct arena *a)
{
    const char *body = row_dup(r, 9, a);
    struct json *line, *to = json_new(a, JSON_OBJECT);
    struct event ev;

    if (!body || !to || !json_parse(a, body, strlen(body), &line, NULL) ||
        !event_read(&ev, line, a))
        return NULL;
    enum delivery state = (enum delivery)row_int(r, 3);
    const char *id = row_dup(r, 1, a), *thread = row_dup(r, 2, a);
    struct json *half = json_new(a, JSON_NUMBER);
    if (half) {
        half->text.p = "0.5";
        half->text.len = 3;
    }
    json_set(to, "id", show_id(a, id));
    json_set(to, "signal_type", show_text(a, ev.type));
    json_set(to, "content", copy(a, ev.content, JSON_NULL));
    json_set(to, "urgency", ev.urgency ? copy(a, ev.urgency, JSON_NULL) : half);
    json_set(to, "from_role", show_text(a, ev.from_role));
    json_set(to, "from_identity", show_text(a, ev.by));
    json_set(to, "to_role", show_text(a, ev.to_role));
    json_set(to, "to_ring", show_text(a, ev.to_ring));
    json_set(to, "to_identity", show_text(a, ev.to_identity));
    json_set(to, "parent_id", show_id(a, ev.parent));
    json_set(to, "thread_id", show_id(a, thread ? thread : id));
    json_set(to, "sequence", json_new_int(a, row_int(r, 0)));
    json_set(to, "tags", copy(a, ev.tags, JSON_ARRAY));
    json_set(to, "resources", copy(a, ev.resources, JSON_ARRAY));
    json_set(to, "attachments", copy(a, ev.attachments, JSON_ARRAY));
    json_set(to, "metadata", copy(a, ev.metadata, JSON_OBJECT));
    json_set(to, "payload", copy(a, ev.data, JSON_NULL));
    json_set(to, "delivery_state", show_text(a, delivery_names[state]));
    json_set(to, "delivery_count", json_new_int(a, row_int(r, 5)));
    json_set(to, "task_status", show_text(a, work_names[row_int(r, 4)]));
    json_set(to, "claimed_by", show_text(a, row_dup(r, 6, a)));
    json_set(to, "claimed_at", show_time(a, row_int(r, 7)));
    json_set(to, "claim_expires_at", show_time(a, state == D_LEASED ? row_int(r, 8) : 0));
    json_set(to, "created_at", show_time(a, ev.at ? ev.at : 1));
    json_set(to, "protocol_version", show_text(a, "chorus/1.0"));
    return to;
}

struct json *
show_at(struct hub *h, uint64_t seq, struct arena *a)
{
    struct row *r = index_run(h->ix, "SELECT " SHOW_COLUMNS " FROM signals s WHERE s.seq = ?", "i",
                              (int64_t)seq);

    return index_next(h->ix, r) ? show_row(r, a) : NULL;
}

/* A foreign line without a source was written by some process. */
static struct json *
show_source(struct arena *a, const struct json *source)
{
    struct json *to = copy(a, source, JSON_OBJECT);

    if (to && !source)
        json_set(to, "type", show_text(a, "process"));
    return to;
}

struct json *
show_broadcast(const char *body, size_t len, struct arena *a)
{
    struct json *line, *to = json_new(a, JSON_OBJECT);
    struct event ev;

    if (!to || !json_parse(a, body, len, &line, NULL) || !event_read(&ev, line, a))
        return NULL;
    json_set(to, "id", show_text(a, ev.id));
    json_set(to, "type", show_text(a, ev.type));
    json_set(to, "source", show_source(a, ev.source));
    if (ev.data)
        json_set(to, "data", copy(a, ev.data, JSON_NULL));
    json_set(to, "createdAt", json_new_int(a, ev.at));
    return to;
}

struct json *
show_delayed(const char *body, size_t len, struct arena *a)
{
    struct json *line, *to = json_new(a, JSON_OBJECT);
    struct event ev;

    if (!to || !json_parse(a, body, len, &line, NULL) || !event_read(&ev, line, a))
        return NULL;
    json_set(to, "id", show_text(a, ev.id));
    json_set(to, "type", show_text(a, ev.type));
    json_set(to, "deliverAt", json_new_int(a, ev.deliver_at));
    json_set(to, "source", show_source(a, ev.source));
    if (ev.data)
        json_set(to, "data", copy(a, ev.data, JSON_NULL));
    if (ev.repeat_key)
        json_set(to, "repeatKey", show_text(a, ev.repeat_key));
    json_set(to, "createdAt", json_new_int(a, ev.at));
    json_set(to, "updatedAt", json_new_int(a, ev.at));
    return to;
}
