/* http_call - a hub operation as an HTTP request, and its response. */
#include "hubclient/hubclient.h"

#include "base/sys.h"

#include <stdio.h>
#include <string.h>

enum {
    ANSWER_MAX = 128 << 20,
    ANSWER_MS = 30000, /* timeout, in addition to wait_seconds of the request */
    KEY_BYTES = 16,
};

/* ---- the target ---- */

void
hubclient_encode(struct buf *to, const char *p, size_t len)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~:@";

    for (size_t i = 0; i < len; i++)
        if (p[i] && strchr(plain, p[i]))
            buf_addc(to, p[i]);
        else
            buf_addf(to, "%%%02X", (unsigned char)p[i]);
}

/* Adds a value to a query or path; the elements of a list are joined by commas. */
static enum status
add_value(struct buf *to, const struct json *v, const char *key, size_t key_len, struct err *e)
{
    struct buf text = { 0 };
    bool is_first = true;

    switch (v->type) {
    case JSON_STRING:
        hubclient_encode(to, v->text.p, v->text.len);
        return ST_OK;
    case JSON_ARRAY:
        json_each (part, v) {
            if (json_is(part, JSON_STRING) && memchr(part->text.p, ',', part->text.len))
                return err_set(e, ST_INVALID,
                               "a value of %.*s has a comma, which is not possible over HTTP",
                               (int)key_len, key);
            if (!is_first)
                buf_addc(to, ',');
            hubclient_encode(to, part->text.p, part->text.len);
            is_first = false;
        }
        return ST_OK;
    default:
        json_write(&text, v);
        hubclient_encode(to, text.p ? text.p : "", text.len);
        to->is_starved = to->is_starved || text.is_starved;
        buf_release(&text);
        return ST_OK;
    }
}

/* Adds a path like "/inbox/:target" with its parameters replaced by arguments. */
static enum status
add_path(struct buf *to, const char *path, const struct json *args, struct err *e)
{
    enum status s = ST_OK;

    while (!s && *path) {
        size_t n = strcspn(path, ":");
        buf_add(to, path, n);
        path += n;
        if (!*path)
            break;
        n = strcspn(++path, "/");
        const struct json *v = json_getn(args, path, n);
        if (!v || (v->type == JSON_STRING && !v->text.len))
            return err_set(e, ST_INVALID, "%.*s is missing", (int)n, path);
        s = add_value(to, v, path, n, e);
        path += n;
    }
    return s;
}

static bool
is_in_path(const char *path, const struct json *v)
{
    for (const char *p = path; (p = strchr(p, ':'));) {
        size_t n = strcspn(++p, "/");
        if (n == v->key_len && memcmp(p, v->key, n) == 0)
            return true;
    }
    return false;
}

static enum status
add_query(struct buf *to, const char *path, const struct json *args, struct err *e)
{
    char before = '?';
    enum status s = ST_OK;

    json_each (v, args) {
        if (s || is_in_path(path, v))
            continue;
        buf_addc(to, before);
        before = '&';
        hubclient_encode(to, v->key, v->key_len);
        buf_addc(to, '=');
        s = add_value(to, v, v->key, v->key_len, e);
    }
    return s;
}

/* ---- the response ---- */

/* Copies {"ok":true,…} without its "ok". */
static struct json *
rest_of(struct arena *a, const struct json *answer, const struct json *ok)
{
    struct json *rest = json_new(a, JSON_OBJECT), **link = rest ? &rest->kids.first : NULL;

    json_each (v, answer) {
        struct json *copy = v == ok || !rest ? NULL : json_new(a, v->type);
        if (!copy)
            continue;
        *copy = *v;
        copy->next = NULL;
        *link = copy;
        link = &copy->next;
        rest->kids.count++;
    }
    return rest;
}

static void
take_warnings(const struct json *list, struct arena *a, struct hub_reply *reply)
{
    const char **texts = json_first(list) ? arena_alloc(a, HUB_WARNINGS * sizeof *texts) : NULL;

    reply->warnings = texts;
    json_each (v, list) {
        if (!texts || reply->n_warnings == HUB_WARNINGS)
            return;
        const char *text = json_dup_text(a, v);
        if (text)
            texts[reply->n_warnings++] = text;
    }
}

static enum status
no_hub(const struct hubclient *d, int status, struct err *e)
{
    struct hub_reply r = { .status = status };
    enum status s = status < 400 ? ST_IO : hubclient_refused(HUB_GET, &r, NULL);

    if (status >= 300 && status < 400 && d->client.reply.location[0])
        err_say(e, "%s responded %d: the server has moved; use %s", d->url, status,
                d->client.reply.location);
    else
        err_say(e, "%s responded %d, but not in the hub's format: is it a cliq server?", d->url,
                status);
    return s;
}

/* Removes one of the envelopes {"data":…,"meta":…}, {"ok":true,…} and {"error":…}. */
enum status
hubclient_unwrap(struct hubclient *d, struct arena *a, enum hub_op op, const char *text, size_t len,
                 struct hub_reply *reply, struct err *e)
{
    struct json *answer;
    bool is_ok = reply->status < 300;

    if (!json_parse(a, text, len, &answer, NULL))
        answer = NULL;
    const struct json *error = json_get(answer, "error"), *ok = json_get(answer, "ok");
    if (!json_is(answer, JSON_OBJECT) || (!error && !ok && !json_get(answer, "data")) ||
        (!is_ok && !error))
        return no_hub(d, reply->status, e);
    if (!is_ok || json_is(ok, JSON_FALSE)) {
        const struct json *message =
            json_is(error, JSON_OBJECT) ? json_get(error, "message") : error;
        reply->code = json_dup_text(a, json_get(error, "code"));
        reply->message = json_dup_text(a, message);
        if (is_ok)
            reply->status = 400;
        return hubclient_refused(op, reply, e);
    }
    if (ok) {
        reply->data = rest_of(a, answer, ok);
        return reply->data ? ST_OK : err_nomem(e);
    }
    reply->data = json_get(answer, "data");
    if (json_is(reply->data, JSON_NULL))
        reply->data = NULL;
    const struct json *cursor = json_get(json_get(answer, "meta"), "cursor");
    reply->has_cursor = cursor != NULL;
    reply->cursor = json_dup_text(a, cursor);
    take_warnings(json_get(json_get(answer, "meta"), "warnings"), a, reply);
    return ST_OK;
}

/* ---- the call ---- */

/* May the request be sent again if it is unknown whether it arrived? */
static bool
is_harmless_twice(enum hub_op op, const struct json *args)
{
    return op != HUB_KEY_CREATE && (op != HUB_SCHEDULE || json_get(args, "repeatKey"));
}

static enum status
make_key(char to[2 * KEY_BYTES + 1], struct err *e)
{
    unsigned char random[KEY_BYTES];

    if (sys->getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        return err_sys(e, "get random bytes");
    for (size_t i = 0; i < sizeof random; i++)
        snprintf(to + 2 * i, 3, "%02x", random[i]);
    return ST_OK;
}

static bool
is_made_once(enum hub_op op)
{
    return op == HUB_EMIT || op == HUB_EMIT_BATCH || op == HUB_GENERATE || op == HUB_CLAIM;
}

static enum status
write_head(struct hubclient *d, enum hub_op op, const struct json *args, struct buf *head,
           struct err *e)
{
    char once[2 * KEY_BYTES + 1];
    enum status s = ST_OK;

    buf_addf(head, "Authorization: Bearer %s\r\n", d->key);
    if (strcmp(hub_ops[op].method, "POST") == 0)
        buf_adds(head, "Content-Type: application/json\r\n");
    if (is_made_once(op) && !json_get(args, "dedup_key")) {
        s = make_key(once, e);
        if (!s)
            buf_addf(head, "Idempotency-Key: %s\r\n", once);
    }
    return s ? s : buf_status(head, "the request's head", e);
}

enum status
hubclient_call_server(struct hubclient *d, struct arena *a, enum hub_op op, const struct json *args,
                      struct hub_reply *reply, struct err *e)
{
    const struct hub_op_info *o = &hub_ops[op];
    struct buf target = { 0 }, body = { 0 }, head = { 0 }, answer = BUF_MAX(ANSWER_MAX);
    bool has_body = strcmp(o->method, "POST") == 0;
    int64_t wait_s = 0;

    enum status s = add_path(&target, o->path, args, e);
    if (has_body)
        json_write(&body, args);
    else if (!s)
        s = add_query(&target, o->path, args, e);
    if (!s)
        s = write_head(d, op, args, &head, e);
    if (!s)
        s = buf_status(&target, "the URL", e);
    if (!s)
        s = buf_status(&body, "the request", e);
    json_int(json_get(args, "wait_seconds"), &wait_s);
    struct http_client_request q = { .method = o->method,
                                     .target = target.p,
                                     .headers = head.p,
                                     .body = has_body ? body.p : NULL,
                                     .body_len = body.len,
                                     .is_repeatable = is_harmless_twice(op, args) };
    if (!s)
        s = http_client_fetch(&d->client, &q, &answer, wait_s * 1000 + ANSWER_MS,
                              q.is_repeatable ? HTTP_CLIENT_TRIES : 1, d->cancel, e);
    const char *text = s ? NULL : arena_dup(a, answer.p ? answer.p : "", answer.len);
    if (!s && !text)
        s = err_nomem(e);
    reply->status = d->client.reply.status;
    if (!s)
        s = hubclient_unwrap(d, a, op, text, answer.len, reply, e);
    buf_release(&target);
    buf_release(&body);
    buf_release(&head);
    buf_release(&answer);
    return s;
}

enum status
hubclient_whoami(struct hubclient *d, struct arena *a, const char **identity, struct err *e)
{
    struct buf head = { 0 }, answer = BUF_MAX(ANSWER_MAX);
    struct hub_reply reply = { 0 };

    *identity = d->identity;
    if (!d->url)
        return ST_OK;
    buf_addf(&head, "Authorization: Bearer %s\r\n", d->key);
    struct http_client_request q = {
        .method = "GET", .target = "/whoami", .headers = head.p, .is_repeatable = true
    };
    enum status s = buf_status(&head, "the request's head", e);
    if (!s)
        s = http_client_fetch(&d->client, &q, &answer, ANSWER_MS, HTTP_CLIENT_TRIES, d->cancel, e);
    const char *text = s ? NULL : arena_dup(a, answer.p ? answer.p : "", answer.len);
    if (!s && !text)
        s = err_nomem(e);
    reply.status = d->client.reply.status;
    if (!s)
        s = hubclient_unwrap(d, a, HUB_GET, text, answer.len, &reply, e);
    if (!s && !(*identity = json_dup_text(a, json_get(reply.data, "identity"))))
        s = err_set(e, ST_IO, "%s does not say who the key belongs to", d->url);
    buf_release(&head);
    buf_release(&answer);
    return s;
}
