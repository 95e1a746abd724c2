#define _GNU_SOURCE
#include "agents/acp/acp_update.h"

#include "base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { NOTE_MAX = 400 };

/* ---- telling ---- */

void
acp_write(int fd, const char *p, size_t n)
{
    while (n > 0) {
        ssize_t got = write(fd, p, n);
        if (got <= 0)
            return;
        p += got;
        n -= (size_t)got;
    }
}

void
acp_show(struct acp_session *s, const char *p, size_t n)
{
    struct buf out = { 0 };

    if (p)
        mask_write(&s->shown, p, n, &out);
    else
        mask_end(&s->shown, &out);
    acp_write(STDOUT_FILENO, out.p, out.len);
    if (out.len)
        s->is_in_line = out.p[out.len - 1] != '\n';
    buf_release(&out);
}

void
acp_note(struct acp_session *s, const char *fmt, ...)
{
    struct buf b = { 0 };
    char text[4096];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    size_t len = strlen(text), n = utf8_cut(text, utf8_valid_len(text, len), NOTE_MAX);
    for (char *p = text; p < text + n; p++)
        if ((unsigned char)*p < ' ' || *p == '\x7f')
            *p = ' ';
    buf_add(&b, text, n);
    buf_adds(&b, n < len ? " …" : "");
    if (!buf_failed(&b)) {
        context_echo(s->c, b.p, NULL);
        buf_addc(&b, '\n');
        acp_show(s, NULL, 0);
        if (s->is_in_line)
            acp_show(s, "\n", 1);
        acp_show(s, "[acp] ", 6);
        acp_show(s, b.p, b.len);
    }
    buf_release(&b);
}

static const char *
scratch_text(struct acp_session *s, const struct json *v)
{
    const char *text = json_is(v, JSON_STRING) ? json_dup_text(&s->scratch, v) : NULL;

    return text ? text : "";
}

/* ---- words ---- */

static void
take_words(struct acp_session *s, const struct json *update)
{
    const struct json *content = json_get(update, "content"), *id = json_get(update, "messageId");
    const struct json *text = json_get(content, "text");

    if (!json_eq(json_get(content, "type"), "text") || !json_is(text, JSON_STRING))
        return;
    if (json_is(id, JSON_STRING) && !(s->message_id && json_eq(id, s->message_id))) {
        s->message_id = json_dup_text(s->c->arena, id);
        if (s->words.len && s->words.p[s->words.len - 1] != '\n')
            buf_adds(&s->words, "\n\n");
    }
    buf_add(&s->words, text->text.p, text->text.len);
    acp_show(s, text->text.p, text->text.len);
}

/* Words before a tool call are about what it will do. */
static void
end_words(struct acp_session *s)
{
    if (s->words.len > s->last_words && s->words.p[s->words.len - 1] != '\n') {
        buf_adds(&s->words, "\n\n");
        acp_show(s, "\n", 1);
    }
    s->last_words = s->words.len;
}

static bool
has_block(const char *p, size_t n)
{
    return n && memmem(p, n, "```json", 7);
}

struct text
acp_update_answer(const struct acp_session *s)
{
    struct text all = { s->words.p, s->words.len };
    struct text last = { s->words.p + s->last_words, s->words.len - s->last_words };

    if (!s->words.len || !text_trim(last).len)
        return all;
    return has_block(all.p, all.len) && !has_block(last.p, last.len) ? all : last;
}

/* ---- tools ---- */

struct acp_tool *
acp_update_tool(struct acp_session *s, const struct json *call)
{
    bool is_new;
    struct acp_tool *tool = acp_tools_take(&s->tools, call, &is_new);

    if (tool && is_new) {
        end_words(s);
        acp_note(s, "%s: %s", tool->kind, *tool->title ? tool->title : tool->id);
    }
    return tool;
}

static size_t
count_lines(const char *p, size_t n)
{
    size_t lines = n && p[n - 1] != '\n';

    for (const char *at = p; n && (at = memchr(at, '\n', n - (size_t)(at - p))); at++)
        lines++;
    return lines;
}

/* "changed src/a.c: +3 -1": what differs between the beginnings and ends that both have. */
static void
tell_diff(struct acp_session *s, const struct json *part)
{
    const struct json *was = json_get(part, "oldText"), *is = json_get(part, "newText");
    const char *old = json_is(was, JSON_STRING) ? was->text.p : "";
    size_t n_old = json_is(was, JSON_STRING) ? was->text.len : 0, from = 0;

    if (!json_is(is, JSON_STRING))
        return;
    const char *new = is->text.p;
    size_t n_new = is->text.len;
    for (size_t i = 0; i < n_old && i < n_new && old[i] == new[i]; i++)
        if (old[i] == '\n')
            from = i + 1;
    while (n_old > from && n_new > from && old[n_old - 1] == new[n_new - 1])
        n_old--, n_new--;
    acp_note(s, "changed %s: +%zu -%zu lines", scratch_text(s, json_get(part, "path")),
             count_lines(new + from, n_new - from), count_lines(old + from, n_old - from));
}

/* The first text of a tool's content, for why it failed. */
static const char *
first_text(struct acp_session *s, const struct json *content)
{
    json_each (part, content) {
        const char *text = scratch_text(s, json_path(part, "content.text"));
        if (*text)
            return text;
    }
    return "";
}

static void
take_tool(struct acp_session *s, const struct json *update)
{
    const struct json *content = json_get(update, "content");
    struct acp_tool *tool = acp_update_tool(s, update);

    if (!tool)
        return;
    if (json_eq(json_get(update, "status"), "failed")) {
        const char *why = first_text(s, content);
        acp_note(s, "failed: %s%s%s", *tool->title ? tool->title : tool->id, *why ? ": " : "", why);
    } else if (json_eq(json_get(update, "status"), "completed")) {
        json_each (part, content)
            if (json_eq(json_get(part, "type"), "diff"))
                tell_diff(s, part);
    }
}

static void
take_plan(struct acp_session *s, const struct json *update)
{
    size_t n = 0, done = 0;
    const char *now = "";

    json_each (entry, json_get(update, "entries")) {
        const struct json *status = json_get(entry, "status");
        n++;
        done += json_eq(status, "completed");
        if (!*now && json_eq(status, "in_progress"))
            now = scratch_text(s, json_get(entry, "content"));
    }
    struct buf b = { 0 };
    buf_addf(&b, "plan: %zu of %zu done%s%s", done, n, *now ? ", now: " : "", now);
    if (n && !buf_failed(&b) && (!s->plan || strcmp(s->plan, b.p) != 0)) {
        s->plan = arena_dup(s->c->arena, b.p, b.len);
        acp_note(s, "%s", b.p);
    }
    buf_release(&b);
}

/* ---- what is used ---- */

static void
report(struct acp_session *s)
{
    struct usage *u = &s->usage;

    u->session_id = s->id;
    u->model = s->model;
    u->has_cost = s->has_cost;
    u->cost_usd = s->has_cost && s->cost_usd > s->cost_before ? s->cost_usd - s->cost_before : 0;
    struct usage told = *u;
    usage_price(&told, json_get(s->c->settings, "prices"));
    if (!usage_is_zero(&told) || told.has_cost)
        context_usage(s->c, &told, NULL, NULL);
}

/* The amount is that of the whole conversation. */
static void
take_cost(struct acp_session *s, const struct json *update)
{
    const struct json *cost = json_get(update, "cost");
    double amount;

    if (!json_double(json_get(cost, "amount"), &amount) ||
        !json_eq(json_get(cost, "currency"), "USD") || (s->has_cost && amount == s->cost_usd))
        return;
    s->has_cost = true;
    s->cost_usd = amount;
    report(s);
}

static void
add(int64_t *to, const struct json *from, const char *key)
{
    int64_t n;

    if (json_int(json_get(from, key), &n) && n > 0)
        *to += n;
}

void
acp_update_usage(struct acp_session *s, const struct json *result)
{
    const struct json *usage = json_get(result, "usage");
    const struct json *quota = json_path(result, "_meta.quota.token_count"); /* Gemini CLI */

    if (json_is(usage, JSON_OBJECT)) {
        add(&s->usage.input_tokens, usage, "inputTokens");
        add(&s->usage.input_tokens, usage, "cachedReadTokens");
        add(&s->usage.cached_tokens, usage, "cachedReadTokens");
        add(&s->usage.input_tokens, usage, "cachedWriteTokens");
        add(&s->usage.written_tokens, usage, "cachedWriteTokens");
        add(&s->usage.output_tokens, usage, "outputTokens");
        add(&s->usage.output_tokens, usage, "thoughtTokens");
    } else if (json_is(quota, JSON_OBJECT)) {
        add(&s->usage.input_tokens, quota, "input_tokens");
        add(&s->usage.output_tokens, quota, "output_tokens");
    }
    report(s);
}

/* ---- all of them ---- */

void
acp_update(struct acp_session *s, const struct json *update)
{
    static const struct {
        const char *name;
        void (*take)(struct acp_session *s, const struct json *update);
    } kinds[] = {
        { "agent_message_chunk", take_words }, { "tool_call", take_tool },
        { "tool_call_update", take_tool },     { "plan", take_plan },
        { "usage_update", take_cost },
    };

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (json_eq(json_get(update, "sessionUpdate"), kinds[i].name))
            kinds[i].take(s, update);
}
