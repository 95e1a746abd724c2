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
show_signal(const struct event *ev, const struct item *it, const char *thread, struct arena *a)
{
    struct json *to = json_new(a, JSON_OBJECT), *half = json_new(a, JSON_NUMBER);

    if (!to || !half)
        return NULL;
    half->text.p = "0.5";
    half->text.len = 3;
    int64_t ends = it->state == D_LEASED ? it->until : 0;
    struct json **at = &to->kids.first;
    at = json_put(to, at, "id", show_id(a, it->id));
    at = json_put(to, at, "signal_type", show_text(a, ev->type));
    at = json_put(to, at, "content", copy(a, ev->content, JSON_NULL));
    at = json_put(to, at, "urgency", ev->urgency ? copy(a, ev->urgency, JSON_NULL) : half);
    at = json_put(to, at, "from_role", show_text(a, ev->from_role));
    at = json_put(to, at, "from_identity", show_text(a, ev->by));
    at = json_put(to, at, "to_role", show_text(a, ev->to_role));
    at = json_put(to, at, "to_ring", show_text(a, ev->to_ring));
    at = json_put(to, at, "to_identity", show_text(a, ev->to_identity));
    at = json_put(to, at, "parent_id", show_id(a, ev->parent));
    at = json_put(to, at, "thread_id", show_id(a, thread ? thread : it->id));
    at = json_put(to, at, "sequence", json_new_int(a, (int64_t)it->seq));
    at = json_put(to, at, "tags", copy(a, ev->tags, JSON_ARRAY));
    at = json_put(to, at, "resources", copy(a, ev->resources, JSON_ARRAY));
    at = json_put(to, at, "attachments", copy(a, ev->attachments, JSON_ARRAY));
    at = json_put(to, at, "metadata", copy(a, ev->metadata, JSON_OBJECT));
    at = json_put(to, at, "payload", copy(a, ev->data, JSON_NULL));
    at = json_put(to, at, "delivery_state", show_text(a, delivery_names[it->state]));
    at = json_put(to, at, "delivery_count", json_new_int(a, it->count));
    at = json_put(to, at, "task_status", show_text(a, work_names[it->work]));
    at = json_put(to, at, "claimed_by", show_text(a, it->claimed_by));
    at = json_put(to, at, "claimed_at", show_time(a, it->claimed_at));
    at = json_put(to, at, "claim_expires_at", show_time(a, ends));
    at = json_put(to, at, "created_at", show_time(a, ev->at ? ev->at : 1));
    json_put(to, at, "protocol_version", show_text(a, "chorus/1.0"));
    return to;
}

struct json *
show_found(const struct found *x, struct arena *a)
{
    struct json *line;
    struct event ev;

    if (!x->body || !json_parse(a, x->body, strlen(x->body), &line, NULL) ||
        !event_read(&ev, line, a))
        return NULL;
    return show_signal(&ev, &x->it, x->thread, a);
}

struct json *
show_row(struct row *r, struct arena *a)
{
    struct found x = { .it = { .seq = (uint64_t)row_int(r, 0),
                               .id = row_dup(r, 1, a),
                               .state = (enum delivery)row_int(r, 3),
                               .work = (enum work)row_int(r, 4),
                               .count = row_int(r, 5),
                               .claimed_by = row_dup(r, 6, a),
                               .claimed_at = row_int(r, 7),
                               .until = row_int(r, 8) },
                       .thread = row_dup(r, 2, a),
                       .body = row_dup(r, 9, a) };

    return show_found(&x, a);
}

struct json *
show_at(struct hub *h, uint64_t seq, struct arena *a)
{
    struct found x;

    return fold_find_at(&h->fold, seq, a, &x) ? show_found(&x, a) : NULL;
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
