#include "agents/notify/delivery.h"

#include "agents/agent_main.h"
#include "agents/connector/transfer.h"
#include "base/clock.h"
#include "base/digest.h"
#include "base/path.h"
#include "base/sys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ANSWER_MAX = 64 * 1024 };

/* ---- settings ---- */

static const char *
setting_of(const struct notice_delivery *d, const struct json *section, const char *key)
{
    const char *text = NULL;

    transfer_text(d->c->arena, json_get(section, key), &text, NULL);
    return text && *text ? text : NULL;
}

const char *
delivery_setting(const struct notice_delivery *d, const char *key)
{
    const char *own = setting_of(d, d->to, key);

    return own ? own : setting_of(d, d->c->settings, key);
}

enum status
delivery_lacks(const struct notice_delivery *d, const char *key, struct err *e)
{
    const char *agent = d->c->agent;

    return err_set(e, ST_INVALID,
                   "%s does not know where channel %s is: cliq settings agents.%s.channels.%s.%s -",
                   agent, d->name, agent, d->name, key);
}

enum status
delivery_lacks_own(const struct notice_delivery *d, const char *key, struct err *e)
{
    const char *agent = d->c->agent;

    return err_set(e, ST_INVALID, "%s has no %s: cliq settings agents.%s.%s -", agent, key, agent,
                   key);
}

enum status
delivery_check_url(const struct notice_delivery *d, const char *key, const char *url, struct err *e)
{
    struct buf shown = { 0 };
    bool is_http = strncmp(url, "http://", 7) == 0 || strncmp(url, "https://", 8) == 0;

    fetch_show_origin(&shown, url);
    bool is_good = is_http && shown.p && strncmp(shown.p, "http", 4) == 0;
    buf_release(&shown);
    return is_good ? ST_OK
                   : err_set(e, ST_INVALID,
                             "agents.%s.channels.%s.%s must be a URL like https://host/path",
                             d->c->agent, d->name, key);
}

enum status
delivery_timeout(const struct notice_delivery *d, int64_t *ms, struct err *e)
{
    const char *text = setting_of(d, d->c->settings, "timeout");
    int64_t left = d->until_ms - clock_mono_ms();

    *ms = DELIVERY_TIMEOUT_MS;
    if (text && (!opt_parse_ms(text, ms) || *ms < 1))
        return err_set(e, ST_INVALID,
                       "the setting agents.%s.timeout must be a time like 5, 10s or 1m",
                       d->c->agent);
    if (left < 1)
        return err_set(e, ST_TIMEOUT, "there was no time left for this one");
    *ms = *ms < left ? *ms : left;
    return ST_OK;
}

/* ---- channels ---- */

/* The channel's settings; without a name those of `default`, or of the only one. */
static enum status
find_channel(struct notice_delivery *d, const char *name, struct err *e)
{
    const struct json *all = json_get(d->c->settings, "channels"), *first = json_first(all);

    d->name = name ? name : "default";
    if (!path_is_name(d->name))
        return err_set(e, ST_INVALID, "\"%.80s\" cannot be the name of a channel", d->name);
    d->to = json_get(all, d->name);
    if (!d->to && !name && json_is(all, JSON_OBJECT) && first && !first->next) {
        d->to = first;
        d->name = arena_dup(d->c->arena, first->key, first->key_len);
    }
    if (!d->name)
        return err_nomem(e);
    return !d->to || json_is(d->to, JSON_OBJECT)
               ? ST_OK
               : err_set(e, ST_INVALID, "agents.%s.channels.%s must be an object of settings",
                         d->c->agent, d->name);
}

/* ---- messages ---- */

/* One id for each notification of each run: receivers recognise a repeated delivery. */
static void
make_id(struct notice_delivery *d, size_t index)
{
    const char *attempt = getenv("CLIQ_ATTEMPT");
    struct buf text = { 0 };
    unsigned char chance[16];
    char hex[DIGEST_HEX_SIZE];

    buf_addf(&text, "%s/%s/%zu/", d->c->instance_id, attempt ? attempt : "", index);
    if (!attempt && sys->getrandom(chance, sizeof chance, 0) == (ssize_t)sizeof chance)
        buf_add(&text, chance, sizeof chance);
    digest_sha256_hex(hex, text.p ? text.p : "", text.len);
    snprintf(d->id, sizeof d->id, "%.32s", hex);
    buf_release(&text);
}

static enum status
deliver_one(struct context *c, delivery_fn *deliver, const struct json *v, size_t index,
            int64_t until_ms, struct err *e)
{
    struct notice_delivery d = { .c = c, .until_ms = until_ms };
    enum status s = json_is(v, JSON_OBJECT)
                        ? notice_read(&d.notice, c->arena, c->msg, getenv("CLIQ_RUN_ID"), v, e)
                        : err_set(e, ST_INVALID, "a notification must be an object");

    if (!s)
        s = find_channel(&d, d.notice.channel, e);
    if (s)
        return s;
    make_id(&d, index);
    return deliver(&d, e);
}

enum status
delivery_run(struct context *c, delivery_fn *deliver, struct err *e)
{
    const struct json *list = json_get(c->dispatch, "notifications");
    int64_t until_ms = clock_mono_ms() + DELIVERY_BUDGET_MS;
    size_t n = 0, n_failed = 0;
    struct err first = { "" }, why = { "" };

    if (!json_is(list, JSON_ARRAY))
        return err_set(e, ST_INVALID, "the message has no list payload.notifications");
    json_each (v, list)
        if (deliver_one(c, deliver, v, n++, until_ms, &why) && n_failed++ == 0)
            first = why;
    if (n_failed && n > 1)
        err_say(e, "%s (%zu of %zu notifications were not delivered)", first.text, n_failed, n);
    else if (n_failed)
        *e = first;
    if (n_failed)
        return ST_FAILED;
    struct json *result = json_new(c->arena, JSON_OBJECT);
    if (!result || !json_set(result, "delivered", json_new_int(c->arena, (int64_t)n)))
        return err_nomem(e);
    return context_complete(c, result, e);
}

/* "ready: ops as cliq-bot in Acme, alerts" */
static enum status
test_channels(struct context *c, delivery_test_fn *test, struct buf *says, struct err *e)
{
    const struct json *all = json_get(c->settings, "channels");
    struct notice_delivery d = { .c = c,
                                 .name = "default",
                                 .until_ms = clock_mono_ms() + DELIVERY_BUDGET_MS };
    enum status s = ST_OK;

    if (!json_first(all) || !json_is(all, JSON_OBJECT))
        return err_set(e, ST_INVALID, "%s has no channels: cliq help settings lists their keys",
                       c->agent);
    json_each (v, all) {
        char *name = arena_dup(c->arena, v->key, v->key_len);
        buf_adds(says, v == json_first(all) ? "ready: " : ", ");
        if (!name)
            return err_nomem(e);
        s = find_channel(&d, name, e);
        buf_adds(says, name);
        if (!s)
            s = test(&d, says, e);
        if (s)
            return s;
    }
    return buf_status(says, "the answer", e);
}

static struct {
    delivery_fn *deliver;
    delivery_test_fn *test;
} serving; /* a process is one agent */

static enum status
handle_notify(struct context *c, struct err *e)
{
    return delivery_run(c, serving.deliver, e);
}

static enum status
handle_test(struct context *c, struct buf *says, struct err *e)
{
    return test_channels(c, serving.test, says, e);
}

enum status
delivery_serve(delivery_fn *deliver, delivery_test_fn *test, struct err *e)
{
    serving.deliver = deliver;
    serving.test = test;
    return agent_serve(&(struct agent_handlers){ .notify = handle_notify, .test = handle_test }, e);
}

/* ---- requests ---- */

/* Is there time for a pause of so long? */
static bool
may_wait(void *ctx, int64_t ms, int status)
{
    const struct notice_delivery *d = ctx;

    (void)status;
    return clock_mono_ms() + ms < d->until_ms;
}

enum status
delivery_post(struct notice_delivery *d, struct fetch_request *q, struct fetch_response *r,
              struct err *e)
{
    enum status s = delivery_timeout(d, &q->timeout_ms, e);

    if (s)
        return s;
    q->method = "POST";
    q->is_url_secret = q->keeps_redirects = true;
    q->is_repeatable = true; /* twice is better than never */
    q->tries = DELIVERY_TRIES;
    q->max_bytes = ANSWER_MAX;
    q->proxy = setting_of(d, d->c->settings, "proxy");
    q->on_wait = may_wait;
    q->ctx = d;
    return fetch(q, r, e);
}

static const char *
words_of(int status)
{
    switch (status) {
    case 401:
    case 403:
        return " (not allowed: is the key or URL right?)";
    case 404:
        return " (not found: is the URL right?)";
    case 429:
        return " (too many requests)";
    default:
        return status / 100 == 3   ? " (a redirect, which is not followed: set the URL it leads to)"
               : status / 100 == 5 ? " (the server has a problem)"
                                   : "";
    }
}

enum status
delivery_answered(const struct fetch_request *q, const struct fetch_response *r, struct err *e)
{
    struct buf origin = { 0 }, wait = { 0 };
    char pause[64] = "", tries[32] = "";

    fetch_show_origin(&origin, q->url);
    if (fetch_response_header(r, "Retry-After", &wait) && wait.p && atoi(wait.p) > 0)
        snprintf(pause, sizeof pause, ", and wants a pause of %d s", atoi(wait.p));
    if (r->tries > 1)
        snprintf(tries, sizeof tries, "; %u tries", r->tries);
    err_say(e, "%.200s answered %d%s%s%s", origin.p ? origin.p : "", r->status, words_of(r->status),
            pause, tries);
    buf_release(&origin);
    buf_release(&wait);
    return ST_FAILED;
}
