/*
 * webhook - tells programs: posts a JSON document to a URL, signed as Standard Webhooks says.
 *
 *     agents.webhook.channels.ops.url       https://example.org/hooks/cliq
 *     agents.webhook.channels.ops.secret    whsec_ and base64; two, with a blank between, while a
 *                                           receiver changes from one to the other. Absent:
 * unsigned
 *
 *     POST /hooks/cliq
 *     webhook-id: msg_2b1f…                 the same for each try of a notification
 *     webhook-timestamp: 1781234567         seconds since 1970, when it was first sent
 *     webhook-signature: v1,K5oZfzN95Z9…    HMAC-SHA256 of "id.timestamp.body", in base64
 *
 *     {"type":"on_escalate","timestamp":"2026-05-29T06:04:14.222Z","data":{"team":…,"title":…,
 *      "event":"on_escalate","reason":…}}                                            (one line)
 *
 * 410 means that the receiver is gone: the channel is off until its URL changes, or until a person
 * deletes the file .cliq/webhooks-off/<hash of the URL>. Any other answer but 2xx is a failure;
 * after 429 and 5xx it is sent again.
 */
#include "agents/notify/delivery.h"
#include "base/clock.h"
#include "base/digest.h"
#include "cmd/cmd.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SECRET_PREFIX "whsec_"
#define OFF_DIR       "webhooks-off/"

enum { GONE = 410, OFF_NAME_LEN = 16 };

/* ---- the signature ---- */

/* Appends "v1,…" for one secret. */
static enum status
add_signature(struct buf *to, const struct notice_delivery *d, const char *secret, size_t len,
              const struct buf *signed_text, struct err *e)
{
    size_t prefix = strlen(SECRET_PREFIX);
    unsigned char digest[DIGEST_BYTES];
    struct buf key = { 0 };
    bool is_good = len > prefix && memcmp(secret, SECRET_PREFIX, prefix) == 0 &&
                   digest_from_base64(&key, secret + prefix, len - prefix) && key.len > 0;

    if (is_good) {
        digest_hmac_sha256(digest, key.p, key.len, signed_text->p, signed_text->len);
        buf_adds(to, to->len ? " v1," : "v1,");
        digest_base64(to, digest, sizeof digest);
    }
    buf_release(&key);
    return is_good ? ST_OK
                   : err_set(e, ST_INVALID,
                             "agents.webhook.channels.%s.secret must be whsec_ and base64: "
                             "echo whsec_$(openssl rand -base64 24) makes one",
                             d->name);
}

static enum status
sign(struct buf *to, const struct notice_delivery *d, const char *id, const char *timestamp,
     const struct buf *body, struct err *e)
{
    const char *secrets = delivery_setting(d, "secret");
    struct buf text = { 0 };

    buf_addf(&text, "%s.%s.", id, timestamp);
    buf_add(&text, body->p, body->len);
    enum status s = buf_status(&text, "the signed text", e);
    while (!s && secrets && *(secrets += strspn(secrets, " "))) {
        size_t n = strcspn(secrets, " ");
        s = add_signature(to, d, secrets, n, &text, e);
        secrets += n;
    }
    buf_release(&text);
    return s ? s : buf_status(to, "the signature", e);
}

/* ---- the document ---- */

static enum status
write_document(struct buf *to, const struct notice_delivery *d, struct err *e)
{
    static const char *const ours[] = { "team", "project_dir", "run", "req_key", "title", NULL };
    const struct notice *n = &d->notice;
    char now[CLOCK_ISO_SIZE];

    json_open(to, '{');
    json_key_str(to, "type", n->event);
    json_key_str(to, "timestamp", clock_iso(now, clock_wall_ns(), 1));
    json_key(to, "data");
    json_open(to, '{');
    json_key_str(to, ours[0], d->c->team_name);
    json_key_str(to, ours[1], d->c->project_dir);
    json_key_str(to, ours[2], n->run);
    json_key_str(to, ours[3], *d->c->req_key ? d->c->req_key : NULL);
    json_key_str(to, ours[4], n->title);
    json_each (v, n->source) {
        bool is_ours = false;
        for (const char *const *name = ours; *name; name++)
            is_ours |= strlen(*name) == v->key_len && !memcmp(*name, v->key, v->key_len);
        if (is_ours)
            continue;
        json_sep(to);
        json_write_str(to, v->key, v->key_len);
        buf_addc(to, ':');
        json_write(to, v);
    }
    json_close(to, '}');
    json_close(to, '}');
    return buf_status(to, "the document", e);
}

/* ---- channels that are off ---- */

/* The file that says that this URL is off. */
static void
off_path(char path[64], const char *url)
{
    char hex[DIGEST_HEX_SIZE];

    snprintf(path, 64, OFF_DIR "%.*s", OFF_NAME_LEN, digest_sha256_hex(hex, url, strlen(url)));
}

static enum status
is_off(const struct notice_delivery *d, struct err *e)
{
    return err_set(e, ST_FAILED,
                   "channel %s is off, since its receiver answered 410 (gone): set another "
                   "agents.webhook.channels.%s.url, or delete the files in .cliq/" OFF_DIR,
                   d->name, d->name);
}

/* Opens the project's .cliq; false: there is none. */
static bool
open_project(const struct notice_delivery *d, struct state_dir *f)
{
    const char *project = d->c->project_dir;
    struct buf path = { 0 };

    buf_addf(&path, "%s/.cliq", project ? project : "");
    bool is_open =
        project && !buf_failed(&path) && state_dir_open(f, path.p, project, NULL) == ST_OK;
    buf_release(&path);
    return is_open;
}

static enum status
check_on(const struct notice_delivery *d, const char *url, struct err *e)
{
    struct state_dir f;
    struct buf text = { 0 };
    char path[64];

    if (!open_project(d, &f))
        return ST_OK;
    off_path(path, url);
    enum status s = state_dir_read(&f, path, &text, NULL);
    buf_release(&text);
    state_dir_close(&f);
    return s == ST_NOT_FOUND ? ST_OK : is_off(d, e);
}

static enum status
turn_off(const struct notice_delivery *d, const char *url, struct err *e)
{
    struct state_dir f;
    struct buf text = { 0 };
    char path[64], now[CLOCK_ISO_SIZE];

    if (open_project(d, &f)) {
        off_path(path, url);
        buf_addf(&text, "%s channel %s: 410\n", clock_iso(now, clock_wall_ns(), 0), d->name);
        if (!buf_failed(&text))
            state_dir_replace(&f, path, text.p, text.len, NULL);
        buf_release(&text);
        state_dir_close(&f);
    }
    return is_off(d, e);
}

/* ---- delivery ---- */

static enum status
post(struct notice_delivery *d, const char *url, const struct buf *body, struct err *e)
{
    struct fetch_header headers[4] = { { "Content-Type", "application/json" } };
    struct fetch_request q = {
        .url = url, .headers = headers, .n_headers = 3, .body = body->p, .body_len = body->len
    };
    struct fetch_response r = { 0 };
    struct buf signature = { 0 };
    char id[DELIVERY_ID_SIZE + 8], timestamp[24];

    snprintf(id, sizeof id, "msg_%s", d->id);
    snprintf(timestamp, sizeof timestamp, "%" PRId64, clock_wall_ns() / 1000000000);
    headers[1] = (struct fetch_header){ "webhook-id", id };
    headers[2] = (struct fetch_header){ "webhook-timestamp", timestamp };
    enum status s = sign(&signature, d, id, timestamp, body, e);
    if (signature.len)
        headers[q.n_headers++] = (struct fetch_header){ "webhook-signature", signature.p };
    if (!s)
        s = delivery_post(d, &q, &r, e);
    if (!s && r.status == GONE)
        s = turn_off(d, url, e);
    else if (!s && r.status / 100 != 2)
        s = delivery_answered(&q, &r, e);
    fetch_response_release(&r);
    buf_release(&signature);
    return s;
}

static enum status
deliver(struct notice_delivery *d, struct err *e)
{
    const char *url = delivery_setting(d, "url");
    struct buf body = { 0 };

    if (!url)
        return delivery_lacks(d, "url", e);
    enum status s = delivery_check_url(d, "url", url, e);
    if (!s)
        s = check_on(d, url, e);
    if (!s)
        s = write_document(&body, d, e);
    if (!s)
        s = post(d, url, &body, e);
    buf_release(&body);
    return s;
}

/* Nothing is sent: a receiver would take it for news. */
static enum status
test_channel(struct notice_delivery *d, struct buf *says, struct err *e)
{
    const char *url = delivery_setting(d, "url");
    struct buf body = { 0 }, signature = { 0 };

    if (!url)
        return delivery_lacks(d, "url", e);
    enum status s = delivery_check_url(d, "url", url, e);
    if (!s)
        s = check_on(d, url, e);
    if (!s)
        s = sign(&signature, d, "", "", &body, e);
    buf_adds(says, !s && !signature.len ? " (unsigned)" : "");
    buf_release(&signature);
    return s;
}

static enum status
run(const struct args *a, struct err *e)
{
    (void)a;
    return delivery_serve(deliver, test_channel, e);
}

const struct cmd cmd_agent_webhook = {
    .name = "agent webhook",
    .brief = "the built-in agent that posts notifications to a URL",
    .about =
        "Reads an AgentMessage on standard input. A receiver webhook:ops is the channel ops of\n"
        "the settings: agents.webhook.channels.ops.url and .secret. Posts the JSON document\n"
        "{type, timestamp, data} with the headers webhook-id, webhook-timestamp and (with a\n"
        "secret) webhook-signature of Standard Webhooks.\n"
        "\n"
        "After 429 and 5xx it is sent again, as Retry-After says, for up to 25 s; webhook-id "
        "stays\n"
        "the same. After 410 the channel is off until its URL changes. A test message only looks\n"
        "at the settings.",
    .examples = "cliq settings agents.webhook.channels.ops.url https://example.org/hooks/cliq\n"
                "echo whsec_$(openssl rand -base64 24) | cliq settings "
                "agents.webhook.channels.ops.secret -\n"
                "cliq settings notifications.on_complete '[\"webhook:ops\"]'",
    .opts = agent_no_opts,
    .run = run,
};
