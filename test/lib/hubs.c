#include "hubs.h"

#include <stdarg.h>

static struct arena answers;

void
forget_answers(void)
{
    arena_release(&answers);
    answers = (struct arena){ 0 };
}

struct hub *
open_hub(void)
{
    struct hub *h;
    struct err e;

    CHECK_OK(hub_open(&h, "config", &(struct hub_options){ .lock_wait_ms = 5000 }, &e), &e);
    return h;
}

void
close_hub(struct hub *h)
{
    hub_close(h);
    forget_answers();
}

void
submit_on(struct hub *h, const struct hub_request *r, size_t n, struct arena *a,
          struct hub_reply *replies)
{
    hub_round_begin(h, true);
    hub_round_decide(h, r, n, a, replies);
    hub_round_end(h, r, n, a, replies);
}

static struct hub_reply *
submit(struct hub *h, enum hub_op op, const char *who, const char *key, const char *json,
       bool goes_on)
{
    struct hub_reply *r = arena_alloc(&answers, sizeof *r);
    char *text = arena_dup(&answers, json, strlen(json));
    struct json *args;

    assert_non_null(r);
    if (!json_parse(&answers, text, strlen(text), &args, NULL))
        fail_msg("not JSON: %s", text);
    struct hub_request req = { .op = op, .identity = who, .args = args, .dedup_key = key };
    if (*who == '!') {
        req.identity++;
        req.is_admin = req.is_file = true;
    }
    req.wants_text = goes_on; /* as a server does */
    if (goes_on)
        submit_on(h, &req, 1, &answers, r);
    else if (hub_ops[op].writes)
        hub_submit(h, &req, 1, &answers, r);
    else
        hub_read(h, &req, &answers, r);
    r->data = hub_reply_data(r, &answers);
    return r;
}

static const char *
format(const char *fmt, va_list ap)
{
    static char text[65536];

    vsnprintf(text, sizeof text, fmt, ap);
    return text;
}

struct hub_reply *
ask(struct hub *h, enum hub_op op, const char *who, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    struct hub_reply *r = submit(h, op, who, NULL, format(fmt, ap), false);
    va_end(ap);
    return r;
}

struct hub_reply *
ask_on(struct hub *h, enum hub_op op, const char *who, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    struct hub_reply *r = submit(h, op, who, NULL, format(fmt, ap), true);
    va_end(ap);
    return r;
}

struct hub_reply *
ask_keyed(struct hub *h, enum hub_op op, const char *who, const char *key, const char *json)
{
    return submit(h, op, who, key, json, false);
}

static const char *
text_of_value(const struct json *v)
{
    struct buf b = { 0 };

    if (!v)
        return "(none)";
    if (v->type == JSON_STRING)
        return arena_dup(&answers, v->text.p, v->text.len);
    json_write(&b, v);
    const char *text = arena_dup(&answers, b.p, b.len);
    buf_release(&b);
    return text;
}

const char *
got(const struct hub_reply *r, const char *path)
{
    return text_of_value(json_path(r->data, path));
}

const char *
data(const struct hub_reply *r)
{
    return text_of_value(r->data);
}

const char *
each(const struct hub_reply *r, const char *key)
{
    const struct json *list = r->data;
    struct buf b = { 0 };

    if (json_is(list, JSON_OBJECT))
        list = json_first(list);
    buf_adds(&b, "");
    json_each (v, list)
        buf_addf(&b, "%s%s", b.len ? " " : "", text_of_value(json_get(v, key)));
    const char *text = arena_dup(&answers, b.p ? b.p : "", b.len);
    buf_release(&b);
    return text;
}

const char *
emit(struct hub *h, const char *who, const char *json)
{
    struct hub_reply *r = ask(h, HUB_EMIT, who, "%s", json);

    CHECK_REPLY(r, 200);
    return got(r, "id");
}

const char *
claim(struct hub *h, const char *who, const char *id)
{
    struct hub_reply *r = ask(h, HUB_CLAIM, who, "{\"signal_id\":\"%s\"}", id);

    CHECK_REPLY(r, 200);
    return got(r, "claim_id");
}
