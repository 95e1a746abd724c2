#define _GNU_SOURCE /* memmem */
#include "agents/cli/cli_turn.h"

#include "base/term.h"
#include "base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LOG_MAX = 16 << 10, ERROR_MAX = 600 };

void
turn_release(struct turn *t)
{
    buf_release(&t->answer);
    buf_release(&t->log);
    buf_release(&t->said);
    buf_release(&t->denied);
    buf_release(&t->stopped);
    buf_release(&t->error);
}

/* ---- what people see ---- */

/* To the log: whole, but for very long texts. */
static void
show(struct turn *t, const char *p, size_t n)
{
    size_t shown = n > LOG_MAX ? utf8_cut(p, n, LOG_MAX) : n;

    term_escape(&t->log, p, shown, true);
    if (shown < n)
        buf_addf(&t->log, " … (%zu more bytes)", n - shown);
    buf_addc(&t->log, '\n');
}

/* As progress: in one line, spaces for line ends, cut. */
static void
tell(struct turn *t, const char *p, size_t n)
{
    size_t begin = t->said.len;
    bool is_cut = n > TURN_SHORT;

    n = utf8_cut(p, n, TURN_SHORT);
    for (size_t i = 0; i < n; i++) {
        char c = p[i] == '\n' || p[i] == '\r' || p[i] == '\t' || !p[i] ? ' ' : p[i];
        bool is_twice = c == ' ' && (t->said.len == begin || t->said.p[t->said.len - 1] == ' ');
        if (!is_twice)
            buf_addc(&t->said, c);
    }
    while (t->said.len > begin && t->said.p[t->said.len - 1] == ' ')
        buf_cut(&t->said, t->said.len - 1);
    if (is_cut)
        buf_adds(&t->said, " …");
    if (t->said.len > begin)
        buf_addc(&t->said, '\0');
}

void
turn_say(struct turn *t, const char *fmt, ...)
{
    char text[1024];
    va_list args;

    va_start(args, fmt);
    int n = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    size_t len = n < 0 ? 0 : strlen(text);
    len = utf8_valid_len(text, len); /* where vsnprintf cut it */
    buf_adds(&t->log, "* ");
    show(t, text, len);
    tell(t, text, len);
}

void
turn_tool(struct turn *t, const struct json *name, const struct json *input)
{
    static const char *const what[] = { "file_path", "filePath", "path",        "command",
                                        "cmd",       "pattern",  "query",       "url",
                                        "dir_path",  "prompt",   "description", NULL };
    const struct json *v = NULL;

    for (size_t i = 0; what[i] && !json_is(v, JSON_STRING); i++)
        v = json_get(input, what[i]);
    if (!json_is(name, JSON_STRING))
        return;
    bool has = json_is(v, JSON_STRING);
    turn_say(t, "%.*s%s%.*s", (int)(name->text.len < 80 ? name->text.len : 80), name->text.p,
             has ? " " : "", has ? (int)(v->text.len < 800 ? v->text.len : 800) : 0,
             has ? v->text.p : "");
}

/* ---- the answer ---- */

/* The reason of its retries is over. */
static void
went_on(struct turn *t)
{
    t->is_done = false;
    t->n_retries = 0;
    buf_reset(&t->stopped);
    if (t->is_failed)
        return;
    t->trouble = TROUBLE_NONE;
    buf_reset(&t->error);
}

/* The words before a fenced block: the block is for programs. */
static size_t
words_before_block(const struct json *text)
{
    const char *fence = memmem(text->text.p, text->text.len, "```", 3);

    return fence && fence > text->text.p ? (size_t)(fence - text->text.p) : text->text.len;
}

void
turn_piece(struct turn *t, const struct json *text, bool is_first)
{
    if (!json_is(text, JSON_STRING))
        return;
    if (is_first)
        buf_reset(&t->answer);
    buf_add(&t->answer, text->text.p, text->text.len);
    show(t, text->text.p, text->text.len);
    if (is_first)
        tell(t, text->text.p, words_before_block(text));
    went_on(t);
}

void
turn_text(struct turn *t, const struct json *text)
{
    turn_piece(t, text, true);
}

void
turn_answer(struct turn *t, const struct json *text)
{
    if (!json_is(text, JSON_STRING) || !text->text.len)
        return;
    if (t->answer.len == text->text.len && !memcmp(t->answer.p, text->text.p, text->text.len))
        return;
    buf_reset(&t->answer);
    buf_add(&t->answer, text->text.p, text->text.len);
}

void
turn_done(struct turn *t)
{
    if (t->is_hopeless)
        return; /* what comes behind such an error is no answer */
    if (t->stopped.len) {
        turn_fail(t, t->stopped.p, t->stopped.len, 0);
        return;
    }
    t->is_done = true;
    t->is_failed = false;
}

/* ---- members ---- */

void
turn_set(char to[128], const struct json *text)
{
    if (json_is(text, JSON_STRING) && text->text.len && text->text.len < 128 &&
        !memchr(text->text.p, '\0', text->text.len)) {
        memcpy(to, text->text.p, text->text.len);
        to[text->text.len] = '\0';
    }
}

int64_t
turn_count(const struct json *o, const char *path)
{
    int64_t n = 0;

    return json_int(json_path(o, path), &n) && n > 0 && n < INT64_C(1000000000000000) ? n : 0;
}

void
turn_denied(struct turn *t, const struct json *tool)
{
    char name[128] = "a tool";

    turn_set(name, tool);
    t->n_denied++;
    turn_say(t, "denied: %s", name);
    bool is_known = t->denied.p && strstr(t->denied.p, name);
    if (!is_known)
        buf_addf(&t->denied, "%s%s", t->denied.len ? ", " : "", name);
}

/* ---- errors ---- */

/* Keeps the words of an error. */
static void
keep_error(struct turn *t, const char *p, size_t n, int64_t status)
{
    if (t->arena)
        model_trouble_unwrap(t->arena, &p, &n, &status);
    while (n && (p[n - 1] == '.' || p[n - 1] == '\n'))
        n--; /* advice follows behind a colon */
    size_t shown = utf8_cut(p, n, ERROR_MAX);

    buf_reset(&t->error);
    term_escape(&t->error, p, shown, false);
    t->trouble = model_trouble_of(p, n, status);
}

void
turn_fail(struct turn *t, const char *p, size_t n, int64_t status)
{
    keep_error(t, p, n, status);
    t->is_failed = true;
    t->is_done = false;
    t->is_hopeless = t->trouble == TROUBLE_KEY || t->trouble == TROUBLE_CONTEXT;
}

void
turn_note(struct turn *t, const struct json *text)
{
    if (json_is(text, JSON_STRING))
        show(t, text->text.p, text->text.len);
}

void
turn_stopped(struct turn *t, const struct json *text)
{
    if (!json_is(text, JSON_STRING))
        return;
    turn_note(t, text);
    buf_reset(&t->stopped);
    buf_add(&t->stopped, text->text.p, text->text.len);
}

void
turn_fail_json(struct turn *t, const struct json *text, int64_t status)
{
    if (json_is(text, JSON_STRING) && text->text.len)
        turn_fail(t, text->text.p, text->text.len, status);
    else
        turn_fail(t, "an error without words", strlen("an error without words"), status);
}

void
turn_retry(struct turn *t, const char *p, size_t n, int64_t status, int64_t delay_ms)
{
    char again[64] = "the program tries again";

    keep_error(t, p, n, status);
    t->n_retries++;
    t->is_hopeless = t->trouble == TROUBLE_KEY || t->trouble == TROUBLE_CONTEXT;
    if (t->is_hopeless) {
        t->is_failed = true;
        t->is_done = false;
        return;
    }
    if (delay_ms > 0)
        snprintf(again, sizeof again, "the program tries again in %.1f s", (double)delay_ms / 1000);
    turn_say(t, "%s: %s; %s", t->trouble == TROUBLE_RATE ? "rate limit" : "error",
             t->error.p ? t->error.p : "", again);
}
