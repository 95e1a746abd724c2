#include "agents/acp/acp_command.h"

#include "agents/model_agent.h"

#include <string.h>

#define SHELL_ONLY "$`|&;<>()*?["

/* The length of the quoted text at p, quotes included; 0: its end is missing. */
static size_t
quoted_len(const char *p)
{
    size_t n = 1;

    while (p[n] && p[n] != *p)
        n += *p == '"' && p[n] == '\\' && p[n + 1] ? 2 : 1;
    return p[n] ? n + 1 : 0;
}

/* Appends what a shell makes of the quoted text. */
static void
unquote(struct buf *to, const char *p, size_t n)
{
    for (size_t i = 1; i + 1 < n; i++) {
        if (*p == '"' && p[i] == '\\' && strchr("\"\\$`", p[i + 1]))
            i++;
        buf_addc(to, p[i]);
    }
}

/* Takes one word of the text; *at moves behind it. */
static enum status
take_word(const char *text, const char **at, struct buf *word, struct err *e)
{
    const char *p = *at;
    size_t n = 0;

    for (; *p && !strchr(" \t\n", *p); p += n) {
        bool is_quote = *p == '\'' || *p == '"';
        n = is_quote ? quoted_len(p) : 1;
        if (!n)
            return err_set(e, ST_INVALID, "the command %s has a quote without its end", text);
        if (is_quote) {
            if (*p == '"' && memchr(p, '$', n))
                return err_set(e, ST_INVALID,
                               "no shell runs the command %s: put it into a script, or give '$' "
                               "in single quotes",
                               text);
            unquote(word, p, n);
        } else if (*p == '\\' && p[1]) {
            buf_addc(word, p[1]);
            n = 2;
        } else if (strchr(SHELL_ONLY, *p) || (*p == '~' && !word->len)) {
            return err_set(
                e, ST_INVALID,
                "no shell runs the command %s: put it into a script, or quote the \"%c\"", text,
                *p);
        } else {
            buf_addc(word, *p);
        }
    }
    *at = p;
    return ST_OK;
}

enum status
acp_command_split(struct arena *a, const char *text, const char *const **argv, struct err *e)
{
    const char **words = arena_alloc(a, (strlen(text) / 2 + 2) * sizeof *words);
    const char *at = text;
    size_t n = 0;
    enum status s = words ? ST_OK : err_nomem(e);

    while (!s && *(at += strspn(at, " \t\n"))) {
        struct buf word = { 0 };
        buf_adds(&word, "");
        s = take_word(text, &at, &word, e);
        if (!s)
            s = buf_status(&word, "the command", e);
        if (!s && !(words[n++] = arena_dup(a, word.p, word.len)))
            s = err_nomem(e);
        buf_release(&word);
    }
    if (!s && (n == 0 || !*words[0]))
        s = err_set(e, ST_INVALID, "the command is empty");
    if (!s) {
        words[n] = NULL;
        *argv = words;
    }
    return s;
}

/* Copies the words of a list behind the words of argv, which may be NULL. */
static enum status
append(struct arena *a, const char *const **argv, const struct json *list, struct err *e)
{
    size_t n = 0, had = 0;

    while (*argv && (*argv)[had])
        had++;
    const char **words = arena_alloc(a, (had + list->kids.count + 1) * sizeof *words);
    if (!words)
        return err_nomem(e);
    for (; n < had; n++)
        words[n] = (*argv)[n];
    json_each (v, list) {
        if (!json_is(v, JSON_STRING) || memchr(v->text.p, '\0', v->text.len))
            return err_set(e, ST_INVALID, "word %zu of the command is no text", n + 1);
        if (!(words[n++] = json_dup_text(a, v)))
            return err_nomem(e);
    }
    words[n] = NULL;
    *argv = words;
    return n && *words[0] ? ST_OK : err_set(e, ST_INVALID, "the command is empty");
}

enum status
acp_command(const struct context *c, const char *const **argv, struct err *e)
{
    const struct json *v = model_agent_option(c, "command");
    const struct json *args = model_agent_option(c, "args");
    enum status s = ST_OK;

    if (!v)
        v = json_get(c->settings, "acp");
    *argv = NULL;
    if (json_is(v, JSON_ARRAY)) {
        s = append(c->arena, argv, v, e);
    } else if (json_is(v, JSON_STRING)) {
        const char *text = json_dup_text(c->arena, v);
        s = text ? acp_command_split(c->arena, text, argv, e) : err_nomem(e);
    } else {
        s = err_set(e, ST_INVALID,
                    "the phase names no program: give it command: \"goose acp\" (a text or a "
                    "list of words), or use an agent that has one (cliq team info --agents)");
    }
    return s || !json_is(args, JSON_ARRAY) ? s : append(c->arena, argv, args, e);
}
