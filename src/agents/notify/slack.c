/*
 * slack - tells people in Slack: over a channel's incoming webhook, or with a bot's token and
 * chat.postMessage.
 *
 *     agents.slack.channels.ops.webhook_url    https://hooks.slack.com/services/…
 *     agents.slack.bot_token                   xoxb-…, for channels without a webhook_url
 *     agents.slack.channels.ops.channel        C0123456789 or #ops
 *     agents.slack.base_url                    https://slack.com/api
 *
 * A message is blocks, and the same as plain text for notifications and for clients that show no
 * blocks. Slack reads & < > as its own, so they are escaped: a text can mention nobody.
 */
#include "agents/notify/delivery.h"
#include "base/utf8.h"
#include "cmd/cmd.h"

#include <string.h>

#define API "https://slack.com/api"

/* Slack's limits, in characters; ours are bytes. */
enum { HEADER_MAX = 150, FIELD_MAX = 1900, SECTION_MAX = 2900, TEXT_MAX = 3500, WORD_MAX = 60 };

/* ---- the message ---- */

/* Appends the text escaped, at most `max` bytes of it. */
static void
add_escaped(struct buf *to, const char *text, size_t max)
{
    size_t len = strlen(text), from = to->len;

    for (size_t i = 0, n; i < len; i += n) {
        const char *out = text[i] == '&'   ? "&amp;"
                          : text[i] == '<' ? "&lt;"
                          : text[i] == '>' ? "&gt;"
                                           : NULL;
        n = utf8_char(text + i, len - i);
        n = n ? n : 1;
        if (to->len - from + (out ? strlen(out) : n) > max)
            break;
        if (out)
            buf_adds(to, out);
        else
            buf_add(to, text + i, n);
    }
}

static void
write_text(struct buf *to, const char *type, const struct buf *text)
{
    json_open(to, '{');
    json_key_str(to, "type", type);
    json_key_strn(to, "text", text->p ? text->p : "", text->len);
    if (strcmp(type, "mrkdwn") == 0)
        json_key_bool(to, "verbatim", true); /* names of channels and people stay text */
    json_close(to, '}');
}

static void
write_block(struct buf *to, const char *block, const char *type, const struct buf *text)
{
    json_sep(to);
    json_open(to, '{');
    json_key_str(to, "type", block);
    json_key(to, "text");
    write_text(to, type, text);
    json_close(to, '}');
}

static void
write_rows(struct buf *to, const struct notice *n)
{
    json_sep(to);
    json_open(to, '{');
    json_key_str(to, "type", "section");
    json_key(to, "fields");
    json_open(to, '[');
    for (size_t i = 0; i < n->n_rows; i++) {
        struct buf text = { 0 };
        buf_addc(&text, '*');
        add_escaped(&text, n->rows[i].label, WORD_MAX);
        buf_adds(&text, "*\n");
        add_escaped(&text, n->rows[i].value, FIELD_MAX);
        json_sep(to);
        write_text(to, "mrkdwn", &text);
        to->is_starved |= buf_failed(&text);
        buf_release(&text);
    }
    json_close(to, ']');
    json_close(to, '}');
}

static void
write_commands(struct buf *to, const struct notice *n)
{
    struct buf text = { 0 };

    buf_adds(&text, "*What to do*\n```");
    for (size_t i = 0; i < n->n_commands; i++) {
        buf_adds(&text, i ? "\n" : "");
        add_escaped(&text, n->commands[i], SECTION_MAX / NOTICE_COMMANDS - 20);
    }
    buf_adds(&text, "```");
    write_block(to, "section", "mrkdwn", &text);
    to->is_starved |= buf_failed(&text);
    buf_release(&text);
}

static void
write_blocks(struct buf *to, const struct notice *n)
{
    struct buf text = { 0 };

    json_key(to, "blocks");
    json_open(to, '[');
    add_escaped(&text, n->title, HEADER_MAX);
    write_block(to, "header", "plain_text", &text);
    if (n->message) {
        buf_reset(&text);
        add_escaped(&text, n->message, SECTION_MAX);
        write_block(to, "section", "mrkdwn", &text);
    }
    if (n->n_rows)
        write_rows(to, n);
    if (n->n_commands)
        write_commands(to, n);
    json_close(to, ']');
    to->is_starved |= buf_failed(&text);
    buf_release(&text);
}

/* {"channel":…,"text":…,"blocks":[…]}; channel NULL: a webhook has its own. */
static enum status
write_message(struct buf *to, const struct notice *n, const char *channel, struct err *e)
{
    struct buf plain = { 0 }, text = { 0 };

    notice_write(&plain, n);
    add_escaped(&text, plain.p ? plain.p : "", TEXT_MAX);
    json_open(to, '{');
    json_key_str(to, "channel", channel);
    json_key_strn(to, "text", text.p ? text.p : "", text.len);
    write_blocks(to, n);
    json_close(to, '}');
    to->is_starved |= buf_failed(&plain) || buf_failed(&text);
    buf_release(&plain);
    buf_release(&text);
    return buf_status(to, "the message to Slack", e);
}

/* ---- what Slack answers ---- */

/* Slack's errors are words like channel_not_found. Anything else is not shown. */
static bool
is_word(const char *p, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (!((p[i] >= 'a' && p[i] <= 'z') || p[i] == '_'))
            return false;
    return len > 0 && len <= WORD_MAX;
}

static const char *
advice(const char *word)
{
    static const struct {
        const char *word, *says;
    } known[] = {
        { "not_in_channel", ": invite the bot to the channel" },
        { "channel_not_found", ": is the channel's id right, and is the bot in it?" },
        { "is_archived", ": the channel is archived" },
        { "channel_is_archived", ": the channel is archived" },
        { "invalid_auth", ": set a new token with cliq settings agents.slack.bot_token -" },
        { "not_authed", ": set a token with cliq settings agents.slack.bot_token -" },
        { "token_revoked", ": set a new token with cliq settings agents.slack.bot_token -" },
        { "missing_scope", ": give the bot the scope chat:write" },
        { "no_service", ": the webhook was removed: make a new one in Slack" },
        { "no_team", ": is the webhook's URL right?" },
    };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].word, word) == 0)
            return known[i].says;
    return "";
}

static enum status
says_word(const char *p, size_t len, struct err *e)
{
    char word[WORD_MAX + 1];

    memcpy(word, p, len);
    word[len] = '\0';
    return err_set(e, ST_FAILED, "Slack says %s%s", word, advice(word));
}

/* The answer of a method of the Web API: {"ok":true,…}. */
static enum status
read_answer(struct notice_delivery *d, const struct fetch_request *q,
            const struct fetch_response *r, struct json **doc, struct err *e)
{
    const char *text = arena_dup(d->c->arena, r->body.p, r->body.len);
    bool is_ok = false;

    if (!text)
        return err_nomem(e);
    if (r->status != 200 || !json_parse(d->c->arena, text, r->body.len, doc, NULL))
        return r->status != 200
                   ? delivery_answered(q, r, e)
                   : err_set(e, ST_FAILED, "the answer is not Slack's: is base_url right?");
    if (json_bool(json_get(*doc, "ok"), &is_ok) && is_ok)
        return ST_OK;
    const struct json *word = json_get(*doc, "error");
    if (json_is(word, JSON_STRING) && is_word(word->text.p, word->text.len))
        return says_word(word->text.p, word->text.len, e);
    return err_set(e, ST_FAILED, "Slack refused the message");
}

/* ---- requests ---- */

static enum status
post_webhook(struct notice_delivery *d, const char *url, struct err *e)
{
    static const struct fetch_header headers[] = { { "Content-Type",
                                                     "application/json; charset=utf-8" } };
    struct fetch_request q = { .url = url, .headers = headers, .n_headers = 1 };
    struct fetch_response r = { 0 };
    struct buf body = { 0 };
    enum status s = delivery_check_url(d, "webhook_url", url, e);

    if (!s)
        s = write_message(&body, &d->notice, NULL, e);
    q.body = body.p;
    q.body_len = body.len;
    if (!s)
        s = delivery_post(d, &q, &r, e);
    if (!s && r.status != 200)
        s = r.status / 100 == 4 && r.status != 429 && is_word(r.body.p, r.body.len)
                ? says_word(r.body.p, r.body.len, e)
                : delivery_answered(&q, &r, e);
    fetch_response_release(&r);
    buf_release(&body);
    return s;
}

/* Calls a method with the bot's token. */
static enum status
call(struct notice_delivery *d, const char *method, const struct buf *body, struct json **doc,
     struct err *e)
{
    const char *base = delivery_setting(d, "base_url"), *token = delivery_setting(d, "bot_token");
    struct buf url = { 0 }, bearer = { 0 };
    struct fetch_response r = { 0 };

    buf_addf(&url, "%s/%s", base ? base : API, method);
    buf_addf(&bearer, "Bearer %s", token);
    enum status s = buf_status(&url, "the URL", e);
    if (!s)
        s = buf_status(&bearer, "the token", e);
    const struct fetch_header headers[] = { { "Content-Type", "application/json; charset=utf-8" },
                                            { "Authorization", bearer.p } };
    struct fetch_request q = {
        .url = url.p, .headers = headers, .n_headers = 2, .body = body->p, .body_len = body->len
    };
    if (!s)
        s = delivery_post(d, &q, &r, e);
    if (!s)
        s = read_answer(d, &q, &r, doc, e);
    fetch_response_release(&r);
    buf_release(&url);
    buf_release(&bearer);
    return s;
}

static enum status
post_message(struct notice_delivery *d, struct err *e)
{
    const char *channel = delivery_setting(d, "channel");
    struct buf body = { 0 };
    struct json *doc = NULL;

    if (!channel)
        return delivery_lacks(d, "channel", e);
    enum status s = write_message(&body, &d->notice, channel, e);
    if (!s)
        s = call(d, "chat.postMessage", &body, &doc, e);
    buf_release(&body);
    return s;
}

static enum status
deliver(struct notice_delivery *d, struct err *e)
{
    const char *url = delivery_setting(d, "webhook_url");

    if (url)
        return post_webhook(d, url, e);
    return delivery_setting(d, "bot_token") ? post_message(d, e)
                                            : delivery_lacks(d, "webhook_url", e);
}

/* A webhook can only be tried by a message, so its URL is looked at. */
static enum status
test_channel(struct notice_delivery *d, struct buf *says, struct err *e)
{
    const char *url = delivery_setting(d, "webhook_url");
    struct buf body = { 0 };
    struct json *doc = NULL;

    if (url)
        return delivery_check_url(d, "webhook_url", url, e);
    if (!delivery_setting(d, "bot_token"))
        return delivery_lacks(d, "webhook_url", e);
    if (!delivery_setting(d, "channel"))
        return delivery_lacks(d, "channel", e);
    buf_adds(&body, "{}");
    enum status s = call(d, "auth.test", &body, &doc, e);
    const char *user = json_dup_text(d->c->arena, json_get(doc, "user")),
               *team = json_dup_text(d->c->arena, json_get(doc, "team"));
    if (!s && user && team)
        buf_addf(says, " as %.80s in %.80s", user, team);
    buf_release(&body);
    return s;
}

static enum status
run(const struct args *a, struct err *e)
{
    (void)a;
    return delivery_serve(deliver, test_channel, e);
}

const struct cmd cmd_agent_slack = {
    .name = "agent slack",
    .brief = "the built-in agent that notifies people in Slack",
    .about =
        "Reads an AgentMessage on standard input. A receiver slack:ops is the channel ops of the\n"
        "settings: agents.slack.channels.ops.webhook_url is an incoming webhook, or with\n"
        "agents.slack.bot_token agents.slack.channels.ops.channel is a channel's id or name.\n"
        "Without a name it is the channel default, or the only one.\n"
        "\n"
        "A message has blocks and the same as plain text. After 429 and 5xx it is sent again,\n"
        "as Retry-After says, for up to 25 s. A test message calls auth.test with the token.",
    .examples = "cliq settings agents.slack.channels.ops.webhook_url -\n"
                "cliq settings notifications.on_escalate '[\"slack:ops\"]'",
    .opts = agent_no_opts,
    .run = run,
};
