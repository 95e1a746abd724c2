/* hub - the signals and tasks of cliq.h, over hubclient/. libcliq.a has it as a separate object
 * with its dependencies, so that only programs that call it link SQLite. */
#include "cliq.h"

#include "base/utf8.h"
#include "hubclient/subscription.h"
#include "sdk/hub_wake.h"
#include "sdk/sdk.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct cliq_hub {
    struct hubclient hub;
    struct cancel stop;
    struct arena strings;  /* of the last cliq_signal_info */
    struct buf texts[2];   /* of the last cliq_inbox or cliq_hub_call: the reply, its cursor */
    struct buf pattern[3]; /* of the subscription: pattern, role, ring */
    const char *filter[2]; /* its lists: one pattern, one ring */
    struct subscription sub;
};

static cliq_status
starved(cliq_error *err)
{
    struct err e;

    return sdk_outcome(err_nomem(&e), &e, err);
}

/* ---- opening ---- */

cliq_status
cliq_hub_open(cliq_hub **out, const cliq_hub_options *o, cliq_error *err)
{
    struct err e;

    if (out)
        *out = NULL;
    if (!out || (o && o->size < sizeof *o))
        return sdk_invalid(err, "cliq_hub_open: out is NULL, or options were not set by "
                                "CLIQ_HUB_OPTIONS_INIT");
    cliq_hub *h = calloc(1, sizeof *h);
    if (!h)
        return starved(err);
    struct hubclient_options d = { .says = "options.identity or CLIQ_IDENTITY",
                                   .hub.on_round = hub_wake,
                                   .no_tls =
                                       "libcliq supports only http:// and unix:; for https use a "
                                       "proxy on this machine" };
    if (o) {
        d.config = o->config;
        d.url = o->url;
        d.key = o->key;
        d.identity = o->identity;
    }
    h->stop = (struct cancel){ .fd = { eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), -1 } };
    enum status s =
        h->stop.fd[0] < 0 ? err_sys(&e, "make an event") : hubclient_open(&h->hub, &d, &e);
    if (s)
        cliq_hub_close(h);
    else
        *out = h;
    return sdk_outcome(s, &e, err);
}

void
cliq_hub_close(cliq_hub *h)
{
    if (!h)
        return;
    subscription_close(&h->sub);
    hubclient_close(&h->hub);
    if (h->stop.fd[0] >= 0)
        close(h->stop.fd[0]);
    arena_release(&h->strings);
    for (size_t i = 0; i < 2; i++)
        buf_release(&h->texts[i]);
    for (size_t i = 0; i < 3; i++)
        buf_release(&h->pattern[i]);
    free(h);
}

void
cliq_hub_stop(cliq_hub *h)
{
    uint64_t one = 1;
    int saved = errno;

    if (h && write(h->stop.fd[0], &one, sizeof one) < 0)
        errno = saved; /* the eventfd is full: stopped before */
}

/* ---- arguments ---- borrow the caller's texts for the call */

struct call {
    struct arena a;
    struct json *args;
    enum status s;
    struct err e;
};

static void
begin(struct call *c, const char *json)
{
    *c = (struct call){ 0 };
    if (json)
        c->s = json_parse_named(&c->a, "args_json", json, strlen(json), &c->args, &c->e);
    else if (!(c->args = json_new(&c->a, JSON_OBJECT)))
        c->s = err_nomem(&c->e);
    if (!c->s && c->args->type != JSON_OBJECT)
        c->s = err_set(&c->e, ST_INVALID, "args_json must be an object");
}

static void
add(struct call *c, const char *key, const char *text)
{
    if (!c->s && text)
        json_set(c->args, key, json_new_str(&c->a, text, strlen(text)));
}

static void
add_int(struct call *c, const char *key, int64_t n)
{
    if (!c->s)
        json_set(c->args, key, json_new_int(&c->a, n));
}

/* The hub accepts only UTF-8. */
static void
must_be_text(struct call *c, const char *call, const char *name, const char *text)
{
    if (!c->s && !text)
        c->s = err_set(&c->e, ST_INVALID, "%s: %s is missing", call, name);
    else if (!c->s && utf8_valid_len(text, strlen(text)) < strlen(text))
        c->s = err_set(&c->e, ST_INVALID, "%s: %s is not UTF-8", call, name);
}

static cliq_status
end(struct call *c, cliq_error *err)
{
    cliq_status s = sdk_outcome(c->s, &c->e, err);

    arena_release(&c->a);
    return s;
}

/* ---- signals ---- */

static const char *
as_json(struct arena *a, const struct json *v)
{
    struct buf b = { 0 };

    json_write(&b, v);
    const char *text = buf_failed(&b) ? NULL : arena_dup(a, b.p, b.len);
    buf_release(&b);
    return text;
}

static const char *
as_text(struct arena *a, const struct json *v)
{
    if (!v || v->type == JSON_NULL)
        return NULL;
    return v->type == JSON_STRING ? json_dup_text(a, v) : as_json(a, v);
}

static void
keep_id(char *to, size_t size, const struct json *v)
{
    *to = '\0';
    if (json_is(v, JSON_STRING) && v->text.len < size)
        snprintf(to, size, "%.*s", (int)v->text.len, v->text.p);
}

/* Adds "signal:" to the id of a broadcast, which has none, so that all ids compare equal. */
static void
keep_signal_id(char *to, size_t size, const struct json *v)
{
    static const char prefix[] = "signal:";
    size_t len = sizeof prefix - 1;

    *to = '\0';
    if (!json_is(v, JSON_STRING) || (v->text.len >= len && memcmp(v->text.p, prefix, len) == 0))
        keep_id(to, size, v);
    else if (len + v->text.len < size)
        snprintf(to, size, "%s%.*s", prefix, (int)v->text.len, v->text.p);
}

/* Fills *out from a signal of the hub or a broadcast. The old strings are freed last: they may have
 * been arguments of this call. */
static enum status
fill(cliq_hub *h, cliq_signal_info *out, const struct json *v, struct err *e)
{
    struct arena a = { 0 };
    bool is_hub = json_get(v, "signal_type");
    int64_t seq = 0;

    keep_signal_id(out->id, sizeof out->id, json_get(v, "id"));
    keep_id(out->claim_id, sizeof out->claim_id, json_get(v, "claim_id"));
    out->urgency = 0.5;
    out->delivery_count = 0;
    json_double(json_get(v, "urgency"), &out->urgency);
    json_int(json_get(v, "delivery_count"), &out->delivery_count);
    json_int(json_get(v, "sequence"), &seq);
    out->seq = (uint64_t)seq;
    out->type = as_text(&a, json_get(v, is_hub ? "signal_type" : "type"));
    out->content = as_text(&a, json_get(v, "content"));
    const struct json *payload = json_get(v, is_hub ? "payload" : "data");
    out->payload_json = json_is(payload, JSON_NULL) || !payload ? NULL : as_json(&a, payload);
    out->from = as_text(&a, json_get(v, "from_identity"));
    out->to_role = as_text(&a, json_get(v, "to_role"));
    out->to_ring = as_text(&a, json_get(v, "to_ring"));
    out->to_identity = as_text(&a, json_get(v, "to_identity"));
    out->thread_id = as_text(&a, json_get(v, "thread_id"));
    out->json = as_json(&a, v);
    arena_release(&h->strings);
    h->strings = a;
    return out->json && out->type ? ST_OK : err_nomem(e);
}

static bool
is_bad_out(const cliq_signal_info *out)
{
    return out && out->size < sizeof *out;
}

/* Calls the hub; fills *out (may be NULL) from the reply's member `inside` (NULL: the reply). */
static cliq_status
ask(cliq_hub *h, struct call *c, enum hub_op op, const char *inside, cliq_signal_info *out,
    cliq_error *err)
{
    struct hub_reply reply = { 0 };

    if (!c->s)
        c->s = hubclient_call(&h->hub, &c->a, op, c->args, &reply, &c->e);
    if (!c->s && out)
        c->s = fill(h, out, inside ? json_get(reply.data, inside) : reply.data, &c->e);
    return end(c, err);
}

static void
merge(struct call *c, const char *call, const char *more)
{
    struct json *v;

    if (c->s || !more)
        return;
    if (!json_parse(&c->a, more, strlen(more), &v, NULL) || v->type != JSON_OBJECT) {
        c->s = err_set(&c->e, ST_INVALID, "%s: more_json must be a JSON object", call);
        return;
    }
    for (struct json *m = v->kids.first, *next; m; m = next) {
        const char *key = arena_dup(&c->a, m->key, m->key_len);
        next = m->next;
        m->next = NULL;
        if (!key) {
            c->s = err_nomem(&c->e);
            return;
        }
        if (json_get(c->args, key)) {
            c->s = err_set(&c->e, ST_INVALID,
                           "%s: more_json has \"%s\", which is set already: remove one", call, key);
            return;
        }
        json_set(c->args, key, m);
    }
}

cliq_status
cliq_emit(cliq_hub *h, const char *type, const char *content, const cliq_emit_options *o,
          cliq_signal_info *out, cliq_error *err)
{
    struct call c;
    char number[32];

    if (!h || is_bad_out(out) || (o && o->size < sizeof *o))
        return sdk_invalid(err, "cliq_emit: no hub, or a struct without its _INIT");
    begin(&c, NULL);
    must_be_text(&c, "cliq_emit", "type", type);
    must_be_text(&c, "cliq_emit", "content", content ? content : "");
    add(&c, "signal_type", type);
    add(&c, "content", content);
    if (o) {
        const char *const texts[][2] = {
            { "to_role", o->to_role },         { "to_ring", o->to_ring },
            { "to_identity", o->to_identity }, { "from_role", o->from_role },
            { "parent_id", o->parent_id },     { "dedup_key", o->dedup_key },
        };
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
            must_be_text(&c, "cliq_emit", texts[i][0], texts[i][1] ? texts[i][1] : "");
            add(&c, texts[i][0], texts[i][1]);
        }
        snprintf(number, sizeof number, "%.17g", o->urgency);
        if (o->urgency != 0 && !c.s) {
            struct json *v = NULL;
            if (!json_parse(&c.a, number, strlen(number), &v, NULL))
                c.s = err_set(&c.e, ST_INVALID, "cliq_emit: urgency must be from 0 to 1");
            else
                json_set(c.args, "urgency", v);
        }
        merge(&c, "cliq_emit", o->more_json);
    }
    return ask(h, &c, HUB_EMIT, NULL, out, err);
}

cliq_status
cliq_generate(cliq_hub *h, const char *type, const char *data_json, cliq_signal_info *out,
              cliq_error *err)
{
    struct call c;
    struct json *data = NULL;

    if (!h || is_bad_out(out))
        return sdk_invalid(err, "cliq_generate: no hub, or a signal without its _INIT");
    begin(&c, NULL);
    must_be_text(&c, "cliq_generate", "type", type);
    add(&c, "type", type);
    if (!c.s && data_json)
        c.s = json_parse_named(&c.a, "data_json", data_json, strlen(data_json), &data, &c.e);
    if (!c.s && data)
        json_set(c.args, "data", data);
    return ask(h, &c, HUB_GENERATE, "signal", out, err);
}

cliq_status
cliq_subscribe(cliq_hub *h, const char *pattern, int wakes, cliq_error *err)
{
    struct call c;

    if (!h)
        return sdk_invalid(err, "cliq_subscribe: no hub");
    begin(&c, NULL);
    must_be_text(&c, "cliq_subscribe", "pattern", pattern);
    add(&c, "pattern", pattern);
    if (!c.s && wakes >= 0)
        json_set(c.args, "silent", json_new(&c.a, wakes ? JSON_FALSE : JSON_TRUE));
    return ask(h, &c, HUB_SUBSCRIBE, NULL, NULL, err);
}

cliq_status
cliq_unsubscribe(cliq_hub *h, const char *pattern, cliq_error *err)
{
    struct call c;

    if (!h)
        return sdk_invalid(err, "cliq_unsubscribe: no hub");
    begin(&c, NULL);
    must_be_text(&c, "cliq_unsubscribe", "pattern", pattern);
    add(&c, "pattern", pattern);
    return ask(h, &c, HUB_UNSUBSCRIBE, NULL, NULL, err);
}

/* ---- tasks ---- */

static void
add_types(struct call *c, const char *const *types)
{
    struct json *list = types && !c->s ? json_new(&c->a, JSON_ARRAY) : NULL;

    for (; list && *types; types++) {
        must_be_text(c, "cliq_claim", "types", *types);
        json_add(list, json_new_str(&c->a, *types, strlen(*types)));
    }
    if (list)
        json_set(c->args, "types", list);
}

cliq_status
cliq_claim(cliq_hub *h, const cliq_claim_options *o, cliq_signal_info *out, cliq_error *err)
{
    const cliq_claim_options none = CLIQ_CLAIM_OPTIONS_INIT;
    struct arena answer = { 0 };
    struct hub_reply reply = { 0 };
    struct call c;

    o = o ? o : &none;
    if (!h || !out || is_bad_out(out) || o->size < sizeof *o)
        return sdk_invalid(err, "cliq_claim: no hub, no signal, or a struct without its _INIT");
    begin(&c, NULL);
    if (o->id && (o->role || o->types || o->wait_ms))
        c.s = err_set(&c.e, ST_INVALID,
                      "cliq_claim: role, types and wait_ms cannot be combined with id");
    must_be_text(&c, "cliq_claim", "id", o->id ? o->id : "");
    must_be_text(&c, "cliq_claim", "role", o->role ? o->role : "");
    add(&c, "signal_id", o->id);
    add(&c, "role", o->role);
    add_types(&c, o->types);
    if (o->lease_s)
        add_int(&c, "lease_seconds", o->lease_s);
    if (!c.s && o->wait_ms) {
        h->hub.cancel = &h->stop;
        c.s = hubclient_claim(&h->hub, &answer, c.args, o->wait_ms, &reply, &c.e);
        h->hub.cancel = NULL;
    } else if (!c.s) {
        c.s = hubclient_call(&h->hub, &answer, HUB_CLAIM, c.args, &reply, &c.e);
    }
    if (!c.s && !reply.data)
        c.s = err_set(&c.e, ST_NOT_FOUND, "nothing to claim: there is no open task for you");
    if (!c.s)
        c.s = fill(h, out, reply.data, &c.e);
    arena_release(&answer);
    return end(&c, err);
}

static void
begin_task(struct call *c, const char *call, const char *id, const char *claim_id)
{
    begin(c, NULL);
    must_be_text(c, call, "id", id);
    must_be_text(c, call, "claim_id", claim_id ? claim_id : "");
    add(c, "signal_id", id);
    add(c, "claim_id", claim_id && *claim_id ? claim_id : NULL);
}

cliq_status
cliq_ack(cliq_hub *h, const char *id, const char *claim_id, cliq_error *err)
{
    struct call c;

    if (!h)
        return sdk_invalid(err, "cliq_ack: no hub");
    begin_task(&c, "cliq_ack", id, claim_id);
    return ask(h, &c, HUB_ACK, NULL, NULL, err);
}

cliq_status
cliq_extend(cliq_hub *h, const char *id, const char *claim_id, unsigned lease_s, cliq_error *err)
{
    struct call c;

    if (!h)
        return sdk_invalid(err, "cliq_extend: no hub");
    begin_task(&c, "cliq_extend", id, claim_id);
    if (lease_s)
        add_int(&c, "lease_seconds", lease_s);
    return ask(h, &c, HUB_EXTEND, NULL, NULL, err);
}

cliq_status
cliq_release(cliq_hub *h, const char *id, const char *claim_id, cliq_error *err)
{
    struct call c;

    if (!h)
        return sdk_invalid(err, "cliq_release: no hub");
    begin_task(&c, "cliq_release", id, claim_id);
    return ask(h, &c, HUB_RELEASE, NULL, NULL, err);
}

cliq_status
cliq_fail(cliq_hub *h, const char *id, const char *claim_id, const char *why, int64_t retry_s,
          cliq_error *err)
{
    struct call c;

    if (!h)
        return sdk_invalid(err, "cliq_fail: no hub");
    begin_task(&c, "cliq_fail", id, claim_id);
    must_be_text(&c, "cliq_fail", "why", why ? why : "");
    add(&c, "error", why);
    if (retry_s >= 0)
        add_int(&c, "retry_in", retry_s);
    return ask(h, &c, HUB_FAIL, NULL, NULL, err);
}

/* ---- listening ---- */

static const char *
copy(struct buf *to, const char *text)
{
    buf_reset(to);
    if (!text)
        return NULL;
    buf_adds(to, text);
    return to->p;
}

cliq_status
cliq_listen(cliq_hub *h, const cliq_listen_options *o, cliq_error *err)
{
    const cliq_listen_options none = CLIQ_LISTEN_OPTIONS_INIT;
    struct err e;

    o = o ? o : &none;
    if (!h || o->size < sizeof *o)
        return sdk_invalid(err, "cliq_listen: no hub, or options without CLIQ_LISTEN_OPTIONS_INIT");
    if (!(o->min_urgency >= 0 && o->min_urgency <= 1))
        return sdk_invalid(err, "cliq_listen: min_urgency must be from 0 to 1");
    subscription_close(&h->sub);
    struct signal_filter filter = { .patterns = { &h->filter[0], o->pattern != NULL },
                                    .role = copy(&h->pattern[1], o->role),
                                    .rings = { &h->filter[1], o->ring != NULL },
                                    .min_urgency = o->min_urgency };
    struct subscription_filter want = { .filter = filter,
                                        .is_inbox = !o->pattern && !o->everything,
                                        .has_since = o->from_start || o->after,
                                        .since = o->from_start ? 0 : o->after };
    h->filter[0] = copy(&h->pattern[0], o->pattern);
    h->filter[1] = copy(&h->pattern[2], o->ring);
    enum status s = ST_OK;
    for (size_t i = 0; !s && i < 3; i++)
        s = buf_status(&h->pattern[i], "the filter", &e);
    if (!s)
        s = subscription_open(&h->sub, &h->hub, &want, &e);
    if (s)
        subscription_close(&h->sub);
    return sdk_outcome(s, &e, err);
}

cliq_status
cliq_next(cliq_hub *h, int64_t timeout_ms, cliq_signal_info *out, cliq_error *err)
{
    const struct json *signal;
    struct err e;

    if (!h || !out || is_bad_out(out))
        return sdk_invalid(err, "cliq_next: no hub, or no signal with CLIQ_SIGNAL_INFO_INIT");
    int64_t until = wait_until(timeout_ms);
    if (!h->sub.hub) {
        cliq_status s = cliq_listen(h, NULL, err);
        if (s)
            return s;
    }
    h->hub.cancel = &h->stop;
    enum status s = subscription_next(&h->sub, until, &signal, &e);
    h->hub.cancel = NULL;
    if (!s)
        s = fill(h, out, signal, &e);
    if (s == ST_TIMEOUT)
        s = err_set(&e, ST_TIMEOUT, "no signal before the timeout");
    return sdk_outcome(s, &e, err);
}

int
cliq_hub_fd(cliq_hub *h)
{
    struct epoll_event ev = { .events = EPOLLIN };
    int fd = -1;

    if (!h || (!h->sub.hub && cliq_listen(h, NULL, NULL)) || subscription_fd(&h->sub, &fd, NULL))
        return -1;
    /* Also fires on cliq_hub_stop. EEXIST in later calls is fine. */
    epoll_ctl(fd, EPOLL_CTL_ADD, h->stop.fd[0], &ev);
    return fd;
}

/* ---- other operations ---- */

static cliq_status
call(cliq_hub *h, struct call *c, enum hub_op op, const char **json, const char **cursor,
     cliq_error *err)
{
    struct buf text = { 0 }, place = { 0 };
    struct hub_reply reply = { 0 };

    if (!c->s)
        c->s = hubclient_call(&h->hub, &c->a, op, c->args, &reply, &c->e);
    if (!c->s) {
        json_write(&text, reply.data);
        buf_adds(&place, reply.cursor ? reply.cursor : "");
        c->s = buf_status(&text, "the answer", &c->e);
    }
    if (!c->s)
        c->s = buf_status(&place, "the cursor", &c->e);
    if (!c->s) {
        buf_release(&h->texts[0]);
        buf_release(&h->texts[1]);
        h->texts[0] = text;
        h->texts[1] = place;
        if (json)
            *json = text.p;
        if (cursor)
            *cursor = reply.cursor ? place.p : NULL;
    } else {
        buf_release(&text);
        buf_release(&place);
    }
    return end(c, err);
}

cliq_status
cliq_inbox(cliq_hub *h, const char *args_json, const char **json, const char **cursor,
           cliq_error *err)
{
    char mine[80];
    struct call c;

    if (!h)
        return sdk_invalid(err, "cliq_inbox: no hub");
    begin(&c, args_json);
    if (!c.s && !json_get(c.args, "target")) {
        if (!h->hub.identity)
            c.s = err_set(&c.e, ST_INVALID,
                          "cliq_inbox: no inbox named: set \"target\" or CLIQ_IDENTITY");
        else
            snprintf(mine, sizeof mine, "@%s", h->hub.identity);
        add(&c, "target", mine);
    }
    return call(h, &c, HUB_INBOX, json, cursor, err);
}

cliq_status
cliq_hub_call(cliq_hub *h, const char *op, const char *args_json, const char **json,
              const char **cursor, cliq_error *err)
{
    unsigned i = 0;
    struct call c;

    if (!h || !op)
        return sdk_invalid(err, "cliq_hub_call: no hub, or no operation");
    while (i < HUB_N_OPS && strcmp(hub_ops[i].name, op) != 0)
        i++;
    begin(&c, args_json);
    if (!c.s && i == HUB_N_OPS)
        c.s = err_set(&c.e, ST_INVALID,
                      "cliq_hub_call: unknown operation \"%.80s\"; cliq-sdk(3) lists all", op);
    return call(h, &c, (enum hub_op)i, json, cursor, err);
}
