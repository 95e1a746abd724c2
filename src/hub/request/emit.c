/*
 * emit - operations that write signals: emit, emit_batch, broadcasts (generate), and delayed
 * signals.
 */
#include "hub/hub_impl.h"

#include "hub/api_key.h"
#include "hub/model/match.h"
#include "hub/model/signal_id.h"

#include "base/path.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DELAYED_MAX = 100000 };

static const char *
new_id(struct op *t)
{
    char id[HUB_ID_SIZE];
    struct err e;

    if (hub_new_id(id, &e)) {
        refuse(&t->refusal, 503, "STORE_UNAVAILABLE", "%s", e.text);
        return NULL;
    }
    const char *bare = hub_event_bare_id(id), *kept = arena_dup(t->a, bare, strlen(bare));
    if (!kept)
        refuse_starved(&t->refusal);
    return kept;
}

bool
op_render_at(struct op *t, uint64_t seq)
{
    struct signal_row x;

    return fold_find_at(&t->h->fold, seq, t->a, &x) && render_row(t->out, &x, NULL, NULL, t->a);
}

/* ---- retries of the same request ---- */

bool
op_dedup(struct op *t, const char *key, char hash[65], bool *is_done)
{
    struct buf b = { 0 };
    struct index *ix = t->h->ix;

    *is_done = false;
    buf_adds(&b, hub_ops[t->req->op].name);
    json_each (v, t->in.object)
        if (v->key_len != 9 || memcmp(v->key, "dedup_key", 9) != 0) {
            json_write_str(&b, v->key, v->key_len);
            json_write(&b, v);
        }
    if (buf_failed(&b)) {
        buf_release(&b);
        return refuse_starved(&t->refusal);
    }
    api_key_hash(hash, b.p, b.len);
    buf_release(&b);
    struct row *r = index_run(
        ix, "SELECT hash, at, seq, lines FROM dedup WHERE identity = ? AND key = ? AND at > ?",
        "ssi", t->req->is_system ? "" : t->req->identity, key, t->h->now.wall_ms - HUB_DEDUP_MS);
    if (!index_next(ix, r))
        return true;
    if (strcmp(row_text(r, 0), hash) != 0)
        return refuse(&t->refusal, 409, "SIGNAL_EMIT_CONFLICT",
                      "%s: \"%s\" was used for another request less than 24 h ago", op_key_name(t),
                      key);
    uint64_t seq = (uint64_t)row_int(r, 2), lines = (uint64_t)row_int(r, 3);
    *is_done = true;
    if (t->req->op == HUB_EMIT_BATCH) {
        json_open(t->out, '[');
        for (uint64_t i = 0; i < lines; i++) {
            size_t end = t->out->len;
            json_sep(t->out);
            if (!op_render_at(t, seq + i))
                buf_cut(t->out, end);
        }
        json_close(t->out, ']');
    } else if (t->req->op == HUB_GENERATE) {
        struct signal_row x;
        json_open(t->out, '{');
        json_key(t->out, "signal");
        if (!fold_find_at(&t->h->fold, seq, t->a, &x) ||
            !render_broadcast_line(t->out, x.body, false, t->a))
            buf_adds(t->out, "null");
        json_close(t->out, '}');
    } else if (t->req->op == HUB_EMIT) {
        op_render_at(t, seq);
    } else {
        t->reply->seq = seq; /* the caller answers */
    }
    return true;
}

const char *
op_key_name(const struct op *t)
{
    return t->req->dedup_key ? "Idempotency-Key" : "dedup_key";
}

bool
op_find_key(struct op *t, const char **key)
{
    *key = NULL;
    if (!arg_text(&t->in, "dedup_key", key))
        return false;
    if (t->req->dedup_key)
        *key = t->req->dedup_key;
    if (*key && (strlen(*key) > 255 || !**key))
        return refuse(
            &t->refusal, 400,
            t->req->op == HUB_CLAIM ? "VALIDATION_INVALID_TYPE" : "SIGNAL_EMIT_VALIDATION_FAILED",
            "%s%s must have 1 to 255 bytes, not %zu", t->in.prefix, op_key_name(t), strlen(*key));
    return true;
}

/* ---- emit ---- */

static bool
check_from_role(struct op *t, const char *role)
{
    struct index *ix = t->h->ix;
    struct row *r = index_run(ix, "SELECT 1 FROM fills WHERE identity = ? AND role = ?", "ss",
                              t->req->identity, role);

    if (index_next(ix, r))
        return true;
    if (t->req->is_admin) {
        struct hub_event ev = {
            .kind = EV_ROLE, .id = role, .by = t->req->identity, .at = t->h->now.wall_ms
        };
        r = index_run(ix, "SELECT 1 FROM roles WHERE id = ?", "s", role);
        return index_next(ix, r) || op_event(t, &ev);
    }
    return refuse(&t->refusal, 400, "SIGNAL_ROLE_NOT_HELD",
                  "%sfrom_role: %s does not hold the role \"%s\"; an admin fills it by POST /fills",
                  t->in.prefix, t->req->identity, role);
}

static bool
check_resources(struct op *t, const struct json *list)
{
    static const char *const kinds[] = { "artifact", "workspace_item", "workspace_revision" };
    size_t i = 0;

    json_each (v, list) {
        const struct json *kind = json_get(v, "kind"), *ref = json_get(v, "ref");
        bool is_known = false;
        for (size_t k = 0; k < 3; k++)
            is_known = is_known || json_eq(kind, kinds[k]);
        if (!is_known)
            return refuse(&t->refusal, 400, "SIGNAL_EMIT_VALIDATION_FAILED",
                          "%sresources[%zu].kind must be one of artifact, workspace_item,"
                          " workspace_revision",
                          t->in.prefix, i);
        if (!json_is(ref, JSON_STRING) || !ref->text.len)
            return refuse(&t->refusal, 400, "SIGNAL_EMIT_VALIDATION_FAILED",
                          "%sresources[%zu].ref must be a text that is not empty", t->in.prefix, i);
        i++;
    }
    return true;
}

/* Legacy attachments become resources of kind artifact. */
static bool
map_attachments(struct op *t, struct hub_event *ev)
{
    static const char *const refs[] = { "ref", "artifact_id", "id", "url", "path" };
    struct json *list = json_new(t->a, JSON_ARRAY);
    size_t i = 0;

    if (!list)
        return refuse_starved(&t->refusal);
    json_each (v, ev->resources) {
        struct json *same = json_new(t->a, JSON_OBJECT);
        if (!same)
            return refuse_starved(&t->refusal);
        *same = *v;
        same->next = NULL;
        json_add(list, same);
    }
    json_each (v, ev->attachments) {
        struct json *to = json_new(t->a, JSON_OBJECT), *ref = NULL;
        const struct json *name = v;
        for (size_t k = 0; v->type == JSON_OBJECT && k < sizeof refs / sizeof *refs; k++)
            if (name == v && json_is(json_get(v, refs[k]), JSON_STRING))
                name = json_get(v, refs[k]);
        if (!json_is(name, JSON_STRING) || !name->text.len)
            return refuse(&t->refusal, 400, "SIGNAL_EMIT_VALIDATION_FAILED",
                          "%sattachments[%zu] must be a text, or an object with a ref",
                          t->in.prefix, i);
        ref = json_new_str(t->a, name->text.p, name->text.len);
        if (!to || !ref)
            return refuse_starved(&t->refusal);
        json_set(to, "kind", json_new_str(t->a, "artifact", 8));
        json_set(to, "ref", ref);
        json_add(list, to);
        i++;
    }
    ev->resources = list;
    return true;
}

/* The type without blanks around it. */
static bool
take_type(struct op *t, const char *key, const char *missing, const char **type)
{
    t->in.code = "SIGNAL_EMIT_INVALID_TYPE";
    bool is_good = arg_trimmed(&t->in, key, type);
    if (is_good && *type && !match_is_type(*type, strlen(*type)))
        is_good = arg_wrong(&t->in, key, MATCH_TYPE_SAYS);
    t->in.code = NULL;
    if (is_good && !*type)
        return refuse(&t->refusal, 400, "SIGNAL_EMIT_INVALID_TYPE", missing, t->in.prefix);
    return is_good;
}

/* The signal of t->in, checked. */
static bool
read_emit(struct op *t, struct hub_event *ev)
{
    double urgency;
    struct args_in *in = &t->in;
    struct signal_source caller = { .kind = t->req->is_system ? SOURCE_SYSTEM : SOURCE_AGENT };

    if (!t->req->is_system)
        caller.id = text_of(t->req->identity);

    *ev = (struct hub_event){ .kind = EV_SIGNAL, .at = t->h->now.wall_ms, .by = t->req->identity };
    in->code = "SIGNAL_EMIT_VALIDATION_FAILED";
    if (!args_known(in, "emit") ||
        !take_type(t, "signal_type", "%ssignal_type is required and must not be empty", &ev->type))
        return false;
    in->code = "SIGNAL_EMIT_VALIDATION_FAILED";
    if (!arg_json(in, "content", &ev->content) || !arg_number(in, "urgency", &urgency) ||
        !arg_name(in, "from_role", &ev->from_role) || !arg_name(in, "to_role", &ev->to_role) ||
        !arg_name(in, "to_ring", &ev->to_ring) || !arg_name(in, "to_identity", &ev->to_identity) ||
        !arg_id(in, "parent_id", &ev->parent) || !op_full_id(t, "parent_id", &ev->parent) ||
        !arg_texts(in, "tags", &ev->tags) || !arg_json(in, "resources", &ev->resources) ||
        !arg_json(in, "attachments", &ev->attachments) ||
        !arg_json(in, "metadata", &ev->metadata) ||
        !arg_word(in, "task_status", &ev->task_status) ||
        !arg_time(in, "expires_at", &ev->expires_at))
        return false;
    if (ev->expires_at && ev->expires_at <= t->h->now.wall_ms)
        return arg_wrong(in, "expires_at", "must be in the future");
    in->code = NULL;
    if (!!ev->to_role + !!ev->to_ring + !!ev->to_identity > 1)
        return refuse(&t->refusal, 400, "SIGNAL_EMIT_VALIDATION_FAILED",
                      "%sto_role, to_ring and to_identity: at most one of them may be given",
                      in->prefix);
    if (json_is(json_get(in->object, "urgency"), JSON_NUMBER))
        ev->urgency = json_get(in->object, "urgency");
    ev->data = json_get(in->object, "payload");
    if (ev->from_role && !check_from_role(t, ev->from_role))
        return false;
    if (!check_resources(t, ev->resources))
        return false;
    if (json_first(ev->attachments) && !map_attachments(t, ev))
        return false;
    ev->id = new_id(t);
    ev->source = signal_source_json(t->a, &caller);
    return ev->id && (ev->source || refuse_starved(&t->refusal));
}

/* Appends the signal that was just emitted to the answer. A reply has its parent's thread, which
 * the index knows. */
static void
render_new(struct op *t, const struct hub_event *ev)
{
    struct item it = { .seq = t->reply->seq,
                       .id = ev->id,
                       .work = hub_event_is_task(ev) ? W_OPEN : W_NONE };

    if (ev->parent)
        op_render_at(t, it.seq);
    else
        render_signal(t->out, ev, &it, NULL, NULL, NULL);
}

/* A parent may come later, from another writer; but an id that no signal has is often mistyped. */
static void
warn_of_parent(struct op *t, const char *parent)
{
    struct row *r =
        parent ? index_run(t->h->ix, "SELECT 1 FROM signals WHERE id = ?", "s", parent) : NULL;

    if (r && !index_next(t->h->ix, r))
        op_warn(t, "parent_id: there is no signal:%.80s yet; a thread of that name begins", parent);
}

bool
op_emit(struct op *t)
{
    struct hub_event ev;
    const char *key;
    char hash[65];
    bool is_done = false;

    if (!op_find_key(t, &key) || (key && !op_dedup(t, key, hash, &is_done)))
        return false;
    if (is_done)
        return true;
    if (!read_emit(t, &ev) || !op_check_addressee(t, &ev))
        return false;
    warn_of_parent(t, ev.parent);
    if (key) {
        ev.dedup_key = key;
        ev.dedup_hash = hash;
    }
    if (!op_event(t, &ev))
        return false;
    render_new(t, &ev);
    return true;
}

static bool
emit_all(struct op *t, const struct json *list, const char *key, const char *hash, size_t *bytes)
{
    size_t i = 0;

    json_open(t->out, '[');
    json_each (v, list) {
        char prefix[40];
        struct hub_event ev;
        snprintf(prefix, sizeof prefix, "signals[%zu].", i);
        t->in.object = v;
        t->in.known = hub_op_args(HUB_EMIT);
        t->in.prefix = prefix;
        bool is_good =
            json_is(v, JSON_OBJECT) || refuse(&t->refusal, 400, "SIGNAL_EMIT_VALIDATION_FAILED",
                                              "signals[%zu] must be an object", i);
        if (is_good && json_get(v, "dedup_key"))
            is_good = refuse(&t->refusal, 400, "SIGNAL_EMIT_VALIDATION_FAILED",
                             "%sdedup_key: a batch has one for all; put it beside signals", prefix);
        is_good = is_good && read_emit(t, &ev) && op_check_addressee(t, &ev);
        if (is_good && i == 0 && key) {
            ev.dedup_key = key;
            ev.dedup_hash = hash;
            ev.dedup_lines = (int64_t)list->kids.count;
        }
        is_good = is_good && op_event(t, &ev);
        t->in.prefix = "";
        if (!is_good)
            return false;
        *bytes += t->h->lines[t->h->n_lines - 1].len;
        if (*bytes > (size_t)32 << 20)
            return refuse(&t->refusal, 413, "BODY_TOO_LARGE", "signals: over 32 MiB in one batch");
        json_sep(t->out);
        render_new(t, &ev);
        i++;
    }
    json_close(t->out, ']');
    return true;
}

bool
op_emit_batch(struct op *t)
{
    struct hub *h = t->h;
    const struct json *list = NULL, *body = t->in.object;
    const char *key;
    char hash[65];
    bool is_done = false;
    size_t bytes = 0, lines = h->n_lines, text = h->text.len;
    uint64_t seq = h->next_seq;
    struct index_place place = h->fold.place;

    t->in.code = "SIGNAL_EMIT_VALIDATION_FAILED";
    if (!arg_json(&t->in, "signals", &list))
        return false;
    if (!list)
        return arg_missing(&t->in, "signals");
    if (!list->kids.count || list->kids.count > HUB_BATCH_MAX)
        return refuse(&t->refusal, 400, "SIGNAL_EMIT_VALIDATION_FAILED",
                      "signals must have 1 to %d elements, not %zu", HUB_BATCH_MAX,
                      list->kids.count);
    t->in.code = NULL;
    if (!op_find_key(t, &key) || (key && !op_dedup(t, key, hash, &is_done)))
        return false;
    if (is_done)
        return true;
    index_savepoint(h->ix);
    bool is_good = emit_all(t, list, key, hash, &bytes);
    index_end_savepoint(h->ix, is_good);
    if (is_good)
        return true;
    fold_forget(&h->fold); /* undoes the whole batch */
    h->fold.place = place;
    buf_cut(&h->text, text);
    h->n_lines = lines;
    h->next_seq = seq;
    t->in.object = body;
    return false;
}

/* ---- broadcast ---- */

/* May the caller speak as this source? */
static bool
check_source(struct op *t, const struct signal_source *s)
{
    if (s->kind == SOURCE_SYSTEM)
        return t->req->is_system ||
               refuse(&t->refusal, 403, "AUTH_FORBIDDEN",
                      "source: \"system\" is for cliq itself; use agent, webhook or process");
    bool is_own = !s->id.len || text_same(s->id, text_of(t->req->identity));
    return is_own || (t->req->is_admin && s->kind != SOURCE_AGENT) ||
           refuse(&t->refusal, 403, "AUTH_FORBIDDEN", "source.id: you are %s, not %.*s",
                  t->req->identity, (int)(s->id.len < 64 ? s->id.len : 64), s->id.p);
}

/* The source in the arguments, or else the caller. "webhook" alone is {"type":"webhook"}, and
 * "agent" is the caller. */
static bool
take_source(struct op *t, struct hub_event *ev)
{
    const struct json *v = json_get(t->in.object, "source");
    bool is_word = json_is(v, JSON_STRING);
    struct signal_source s = { .kind = t->req->is_system ? SOURCE_SYSTEM : SOURCE_AGENT };
    struct err e;

    if (v && v->type != JSON_NULL) {
        enum status st =
            is_word ? signal_source_read_kind(v, &s.kind, &e) : signal_source_read(v, &s, &e);
        if (st)
            return refuse(&t->refusal, 400, "VALIDATION_INVALID_TYPE", "%s", e.text);
        if (!check_source(t, &s))
            return false;
    }
    if (s.kind == SOURCE_AGENT)
        s.id = text_of(t->req->identity);
    ev->source = signal_source_json(t->a, &s);
    return ev->source || refuse_starved(&t->refusal);
}

bool
op_generate(struct op *t)
{
    struct hub_event ev = { .kind = EV_SIGNAL, .at = t->h->now.wall_ms };
    const char *key;
    char hash[65];
    bool is_done = false;

    ev.by = t->req->is_system ? t->req->about : t->req->identity;
    if (!op_find_key(t, &key) || (key && !op_dedup(t, key, hash, &is_done)))
        return false;
    if (is_done)
        return true;
    if (!take_type(t, "type", "%sSignal type is required", &ev.type) || !take_source(t, &ev))
        return false;
    ev.data = json_get(t->in.object, "data");
    ev.id = new_id(t);
    if (key) {
        ev.dedup_key = key;
        ev.dedup_hash = hash;
    }
    if (!ev.id || !op_event(t, &ev))
        return false;
    json_open(t->out, '{');
    json_key(t->out, "signal");
    render_broadcast(t->out, &ev, false);
    json_close(t->out, '}');
    return true;
}

/* ---- delayed signals ---- */

bool
op_schedule(struct op *t)
{
    struct hub_event ev = { .kind = EV_SCHEDULE, .at = t->h->now.wall_ms };
    const struct json *v = json_get(t->in.object, "deliverAt");
    double ms;

    ev.by = t->req->is_system ? t->req->about : t->req->identity;
    if (!take_type(t, "type", "%sDelayed signal type is required", &ev.type) ||
        !take_source(t, &ev))
        return false;
    if (json_is(v, JSON_NUMBER) && json_double(v, &ms) && ms < 0)
        return refuse(&t->refusal, 400, "VALIDATION_INVALID_TYPE",
                      "Delayed signal deliverAt must be positive");
    if (!v || v->type == JSON_NULL || !arg_time(&t->in, "deliverAt", &ev.deliver_at))
        return refuse(&t->refusal, 400, "VALIDATION_INVALID_TYPE",
                      "Delayed signal deliverAt must be a finite unix timestamp");
    if (!arg_trimmed(&t->in, "repeatKey", &ev.repeat_key))
        return false;
    struct row *r = index_run(t->h->ix, "SELECT count(*) FROM delayed", "");
    if (index_next(t->h->ix, r) && row_int(r, 0) >= DELAYED_MAX)
        return refuse(&t->refusal, 409, "SIGNAL_EMIT_CONFLICT",
                      "%d delayed signals are waiting already; that is the limit", DELAYED_MAX);
    if (!ev.deliver_at)
        ev.deliver_at = 1; /* 0 is "not set"; both mean at once */
    ev.data = json_get(t->in.object, "data");
    ev.id = new_id(t);
    if (!ev.id || !op_event(t, &ev))
        return false;
    if (ev.deliver_at <= t->h->now.wall_ms && !hub_deliver(t->h, &ev, &t->refusal))
        return false; /* without this, only the next round would deliver it */
    json_open(t->out, '{');
    json_key(t->out, "delayed");
    render_broadcast(t->out, &ev, false);
    json_close(t->out, '}');
    return true;
}

/* On files, every user is an admin and acts as the identity in --as: so there only the sender may
 * cancel, and any user a signal without a known sender. */
static bool
may_cancel(const struct op *t, const char *by)
{
    const struct hub_request *q = t->req;

    if (q->is_system || (q->is_admin && !q->is_file))
        return true;
    return by ? strcmp(by, q->identity) == 0 : q->is_file;
}

static bool
not_yours_to_cancel(struct op *t, const char *id, const char *by)
{
    if (t->req->is_file)
        return refuse(&t->refusal, 403, "AUTH_FORBIDDEN",
                      "%s was scheduled by %s: only they can cancel it, not %s (--as %s)", id, by,
                      t->req->identity, by);
    return refuse(&t->refusal, 403, "AUTH_FORBIDDEN",
                  "%s was scheduled by someone else: only its sender and admins can cancel it", id);
}

/* Puts the delayed signals that the caller may cancel into `ids`. False: all belong to others. */
static bool
find_cancelled(struct op *t, struct row *r, const char *ids[HUB_BATCH_MAX], size_t *n)
{
    const char *other = NULL, *others_by = NULL;

    *n = 0;
    while (*n < HUB_BATCH_MAX && index_next(t->h->ix, r)) {
        const char *id = row_dup(r, 0, t->a), *body = row_dup(r, 1, t->a);
        struct hub_event ev = { 0 };
        if (!id || !body)
            return refuse_starved(&t->refusal);
        const char *by = hub_event_parse(&ev, body, strlen(body), t->a) ? ev.by : NULL;
        if (may_cancel(t, by)) {
            ids[(*n)++] = id;
        } else if (!other) {
            other = id;
            others_by = by;
        }
    }
    return *n || !other || not_yours_to_cancel(t, other, others_by);
}

bool
op_cancel(struct op *t)
{
    const char *id = NULL, *key = NULL, *type = NULL;
    const char *ids[HUB_BATCH_MAX];
    size_t n;

    t->in.is_query = true; /* a DELETE may have either */
    if (!arg_id(&t->in, "id", &id) || !arg_text(&t->in, "type", &type) ||
        !arg_trimmed(&t->in, "repeatKey", &key))
        return false;
    if (!id && !key && !(type && !json_get(t->in.object, "repeatKey")))
        return refuse(&t->refusal, 400, "VALIDATION_FIELD_REQUIRED",
                      json_get(t->in.object, "repeatKey") ? "Delayed signal repeatKey is required"
                                                          : "id, repeatKey or type is required");
    if (!op_full_id_of(t, "id", SHORT_ID_DELAYED, &id))
        return false;
    struct row *r = index_run(t->h->ix,
                              "SELECT id, body FROM delayed WHERE (?1 IS NULL OR id = ?1) AND"
                              " (?2 IS NULL OR repeat_key = ?2) AND (?3 IS NULL OR type = ?3)",
                              "sss", id, key, type);
    if (!find_cancelled(t, r, ids, &n))
        return false;
    for (size_t i = 0; i < n; i++) {
        struct hub_event ev = {
            .kind = EV_CANCEL, .id = ids[i], .by = t->req->identity, .at = t->h->now.wall_ms
        };
        if (!op_event(t, &ev))
            return false;
    }
    json_open(t->out, '{');
    json_key_int(t->out, "removed", (int64_t)n);
    json_close(t->out, '}');
    return true;
}
