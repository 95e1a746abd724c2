#define _GNU_SOURCE /* sigabbrev_np, environ */
#include "agents/acp/acp_terminal.h"

#include "agents/acp/acp_request.h"
#include "agents/acp/acp_session.h"
#include "agents/acp/acp_update.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "proc/child.h"

#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum {
    OUTPUT_DEFAULT = 1 << 20, /* bytes that are kept, when the agent names no limit */
    OUTPUT_MAX = 8 << 20,     /* an answer is one line, and a peer takes 16 MiB */
    OUTPUT_SHOWN = 4096,      /* of them in the log */
    CAPTURED = 4096,          /* child.h keeps an end that we do not need */
    GRACE_MS = 2000,
    KILL_MS = 2000,
};

/* A request that is answered when the command has ended. */
struct waiting {
    struct json id; /* its text is in the context's arena, as this is */
    struct waiting *next;
};

struct acp_terminal {
    char id[24];
    const char *line; /* what runs, for people */
    struct child child;
    struct mask_stream hides;
    struct buf output; /* its last bytes, without secrets */
    size_t limit;
    bool is_cut;
    bool is_told;     /* that it ended */
    bool is_released; /* the agent does not know it any more */
    int64_t began_ms;
    struct waiting *waits;
    struct acp_terminal *next;
};

/* ---- its output ---- */

/* Keeps the last `limit` bytes, from the beginning of a character on. */
static void
trim(struct acp_terminal *t)
{
    if (t->output.len <= t->limit)
        return;
    size_t n = t->output.len - t->limit;
    n += utf8_half(t->output.p + n, t->limit);
    buf_drop(&t->output, n);
    t->is_cut = true;
}

static void
on_output(void *ctx, const char *p, size_t n)
{
    struct acp_terminal *t = ctx;

    mask_write(&t->hides, p, n, &t->output);
    if (t->output.len > 2 * t->limit + PIPE_BUF)
        trim(t);
}

/* ---- how it ended ---- */

/* "SIGTERM", or "" when no signal ended it. */
static void
signal_name(const struct acp_terminal *t, char to[32])
{
    int n = t->child.has_status && WIFSIGNALED(t->child.wait_status)
                ? WTERMSIG(t->child.wait_status)
                : 0;
    const char *name = n ? sigabbrev_np(n) : NULL;

    *to = '\0';
    if (name)
        snprintf(to, 32, "SIG%s", name);
    else if (n)
        snprintf(to, 32, "signal %d", n);
}

static void
write_end(const struct acp_terminal *t, struct buf *to)
{
    char name[32];
    int code = child_exit_code(&t->child);

    signal_name(t, name);
    json_open(to, '{');
    json_key(to, "exitCode");
    if (*name || code < 0)
        buf_adds(to, "null");
    else
        buf_addf(to, "%d", code);
    json_key(to, "signal");
    if (*name)
        json_write_str(to, name, strlen(name));
    else
        buf_adds(to, "null");
    json_close(to, '}');
}

static void
answer_end(struct acp_session *s, const struct acp_terminal *t, const struct json *id)
{
    struct buf b = { 0 };

    write_end(t, &b);
    jsonrpc_answer(&s->peer, id, b.p);
    buf_release(&b);
}

/* The end of the output, and how it ended. */
static void
tell_end(struct acp_session *s, struct acp_terminal *t)
{
    char name[32], how[64] = "was stopped";
    size_t from = t->output.len > OUTPUT_SHOWN ? t->output.len - OUTPUT_SHOWN : 0;
    int64_t ms = clock_mono_ms() - t->began_ms;

    if (from)
        from += utf8_half(t->output.p + from, OUTPUT_SHOWN);
    if (from || t->is_cut)
        acp_show(s, "…\n", strlen("…\n"));
    if (t->output.len)
        acp_show(s, t->output.p + from, t->output.len - from);
    signal_name(t, name);
    if (*name)
        snprintf(how, sizeof how, "was ended by %s", name);
    else if (child_exit_code(&t->child) >= 0)
        snprintf(how, sizeof how, "ended with exit code %d", child_exit_code(&t->child));
    if (!s->c->is_done) /* nothing is told behind the terminal line */
        acp_note(s, "%s after %" PRId64 ".%" PRId64 " s: %s", how, ms / 1000, ms % 1000 / 100,
                 t->line);
}

/* ---- starting ---- */

/* The text, in the arena; NULL: it is none, or has a NUL that would end it early. */
static const char *
whole_text(struct arena *a, const struct json *v)
{
    return json_is(v, JSON_STRING) && !memchr(v->text.p, '\0', v->text.len) ? json_dup_text(a, v)
                                                                            : NULL;
}

/* NULL-ended: the program and its arguments, or a shell and its line. NULL: a word is no text. */
static const char *const *
make_argv(struct arena *a, const struct json *params)
{
    const struct json *args = json_get(params, "args");
    size_t n = 0, most = json_is(args, JSON_ARRAY) ? args->kids.count : 0;
    const char **argv = arena_alloc(a, (most + 4) * sizeof *argv);
    const char *command = whole_text(a, json_get(params, "command"));

    if (!argv || !command || !*command)
        return NULL;
    if (!most) {
        argv[n++] = "/bin/sh";
        argv[n++] = "-c";
    }
    argv[n++] = command;
    json_each (v, args)
        if (!(argv[n++] = whole_text(a, v)))
            return NULL;
    argv[n] = NULL;
    return argv;
}

static bool
is_among(const char *entry, const char *const *names, size_t n)
{
    size_t len = strcspn(entry, "=");

    for (size_t i = 0; i < n; i++)
        if (strncmp(names[i], entry, len + 1) == 0)
            return true;
    return false;
}

/* Our environment with the request's variables in place of ours. NULL: one cannot be used. */
static const char *const *
make_env(struct arena *a, const struct json *vars)
{
    size_t n = 0, n_ours = 0;

    while (environ[n_ours])
        n_ours++;
    const char **env = arena_alloc(
        a, (n_ours + (json_is(vars, JSON_ARRAY) ? vars->kids.count : 0) + 1) * sizeof *env);
    json_each (v, vars) {
        const char *name = whole_text(a, json_get(v, "name"));
        const char *value = whole_text(a, json_get(v, "value"));
        if (!env || !name || !*name || strchr(name, '=') || !value)
            return NULL;
        struct buf b = { 0 };
        buf_addf(&b, "%s=%s", name, value);
        env[n] = buf_failed(&b) ? NULL : arena_dup(a, b.p, b.len);
        buf_release(&b);
        if (!env[n++])
            return NULL;
    }
    size_t n_its = n;
    for (size_t i = 0; env && i < n_ours; i++)
        if (!is_among(environ[i], env, n_its))
            env[n++] = environ[i];
    if (env)
        env[n] = NULL;
    return env;
}

const char *
acp_terminal_line(struct acp_session *s, const struct json *params)
{
    const char *const *argv = make_argv(&s->scratch, params);
    const char *line = NULL;
    struct buf b = { 0 };

    if (!argv)
        return NULL;
    if (!json_first(json_get(params, "args")))
        return argv[2]; /* what the shell is given */
    for (; *argv; argv++) {
        bool is_plain = **argv && !strpbrk(*argv, " \t\n'\"\\$`|&;<>()*?[]#~");
        buf_addf(&b, is_plain ? "%s%s" : "%s'%s'", b.len ? " " : "", *argv);
    }
    if (!buf_failed(&b))
        line = arena_dup(&s->scratch, b.p, b.len);
    buf_release(&b);
    return line;
}

static size_t
limit_of(const struct json *params)
{
    int64_t n;

    if (!json_int(json_get(params, "outputByteLimit"), &n) || n < 0)
        return OUTPUT_DEFAULT;
    return n > OUTPUT_MAX ? OUTPUT_MAX : (size_t)n;
}

static enum status
start(struct acp_session *s, struct acp_terminal *t, const struct json *params, struct err *e)
{
    const char *cwd = whole_text(&s->scratch, json_get(params, "cwd"));
    const char *line = acp_terminal_line(s, params);
    struct child_spec spec = {
        .proc = { .argv = make_argv(&s->scratch, params),
                  .env = make_env(&s->scratch, json_get(params, "env")),
                  .dir = cwd ? cwd : s->dir.real,
                  .is_group = true }, /* in our session, so that an attempt's tree is known by it */
        .keep = CAPTURED,
        .on_output = on_output,
        .ctx = t,
        .grace_ms = GRACE_MS,
        .kill_ms = KILL_MS,
    };

    if (!spec.proc.argv || !spec.proc.env || !line)
        return err_set(e, ST_INVALID,
                       "command must be a text, args a list of texts, env a list of {name, value}, "
                       "none with a NUL");
    if (!(t->line = arena_dup(s->c->arena, line, strlen(line))))
        return err_nomem(e);
    t->limit = limit_of(params);
    t->began_ms = clock_mono_ms();
    t->output = (struct buf)BUF_MAX(2 * t->limit + PIPE_BUF + (1 << 20));
    enum status st = mask_stream_init(&t->hides, &s->c->mask, e);
    return st ? st : child_start(&t->child, &spec, e);
}

static void
release(struct acp_terminal *t)
{
    child_release(&t->child);
    mask_stream_release(&t->hides);
    buf_release(&t->output);
    free(t);
}

static size_t
count(const struct acp_session *s)
{
    size_t n = 0;

    for (const struct acp_terminal *t = s->terminals; t; t = t->next)
        n++;
    return n;
}

void
acp_terminal_create(struct acp_session *s, const struct json *id, const struct json *params)
{
    struct acp_terminal *t = calloc(1, sizeof *t);
    struct buf b = { 0 };
    struct err why;
    enum status st = t ? ST_OK : err_nomem(&why);

    if (!st && count(s) >= ACP_TERMINALS_MAX)
        st = err_set(&why, ST_CONFLICT,
                     "%d commands are there already: release those that are no longer needed",
                     ACP_TERMINALS_MAX);
    if (!st)
        st = start(s, t, params, &why);
    if (st) {
        acp_note(s, "not run: %s", why.text);
        jsonrpc_refuse(&s->peer, id, status_rpc(st), why.text);
        if (t)
            release(t);
        return;
    }
    snprintf(t->id, sizeof t->id, "term-%u", ++s->n_terminals);
    t->next = s->terminals;
    s->terminals = t;
    acp_note(s, "$ %s", t->line);
    json_open(&b, '{');
    json_key_str(&b, "terminalId", t->id);
    json_close(&b, '}');
    jsonrpc_answer(&s->peer, id, b.p);
    buf_release(&b);
}

/* ---- requests about one ---- */

static void
answer_output(struct acp_session *s, struct acp_terminal *t, const struct json *id)
{
    struct buf b = { 0 };

    trim(t);
    json_open(&b, '{');
    json_key(&b, "output");
    json_write_str(&b, t->output.p ? t->output.p : "", t->output.len);
    json_key_bool(&b, "truncated", t->is_cut);
    if (t->child.state == CHILD_GONE) {
        json_key(&b, "exitStatus");
        write_end(t, &b);
    }
    json_close(&b, '}');
    if (buf_failed(&b))
        jsonrpc_refuse(&s->peer, id, JSONRPC_INTERNAL, "out of memory");
    else
        jsonrpc_answer(&s->peer, id, b.p);
    buf_release(&b);
}

static void
wait_for_end(struct acp_session *s, struct acp_terminal *t, const struct json *id)
{
    struct waiting *w = arena_alloc(s->c->arena, sizeof *w);
    const char *text = w ? arena_dup(s->c->arena, id->text.p, id->text.len) : NULL;

    if (t->child.state == CHILD_GONE) {
        answer_end(s, t, id);
    } else if (!text) {
        jsonrpc_refuse(&s->peer, id, JSONRPC_INTERNAL, "out of memory");
    } else {
        *w = (struct waiting){ .id = *id, .next = t->waits };
        w->id.text.p = text;
        w->id.next = NULL;
        t->waits = w;
    }
}

static void
answer_waiting(struct acp_session *s, struct acp_terminal *t)
{
    for (; t->waits; t->waits = t->waits->next)
        answer_end(s, t, &t->waits->id);
}

/* Once it is GONE. */
static void
finish(struct acp_session *s, struct acp_terminal *t)
{
    mask_end(&t->hides, &t->output);
    trim(t);
    t->is_told = true;
    tell_end(s, t);
    answer_waiting(s, t);
}

bool
acp_terminal_request(struct acp_session *s, const struct jsonrpc_message *m)
{
    static const char *const methods[] = { "terminal/output", "terminal/wait_for_exit",
                                           "terminal/kill", "terminal/release", NULL };
    const struct json *id = json_get(m->params, "terminalId");
    struct acp_terminal *t = s->terminals;
    size_t i = 0;

    while (methods[i] && strcmp(m->method, methods[i]) != 0)
        i++;
    if (!methods[i])
        return false;
    while (t && (t->is_released || !json_eq(id, t->id)))
        t = t->next;
    if (!t) {
        jsonrpc_refuse(&s->peer, m->id, JSONRPC_INVALID_PARAMS, "there is no such terminalId");
        return true;
    }
    child_step(&t->child);
    switch (i) {
    case 0:
        answer_output(s, t, m->id);
        break;
    case 1:
        wait_for_end(s, t, m->id);
        break;
    case 2:
        child_stop(&t->child);
        jsonrpc_answer(&s->peer, m->id, "{}");
        break;
    default:
        child_stop(&t->child); /* acp_terminal_step frees it */
        t->is_released = true;
        jsonrpc_answer(&s->peer, m->id, "{}");
    }
    return true;
}

bool
acp_terminal_take_back(struct acp_session *s, const struct json *id)
{
    for (struct acp_terminal *t = s->terminals; t; t = t->next)
        for (struct waiting **at = &t->waits; *at; at = &(*at)->next)
            if (json_same(&(*at)->id, id)) {
                *at = (*at)->next;
                jsonrpc_refuse(&s->peer, id, ACP_CANCELLED, "cancelled");
                return true;
            }
    return false;
}

/* ---- the loop ---- */

size_t
acp_terminal_poll(struct acp_session *s, struct pollfd *p, int64_t *due_ms)
{
    size_t n = 0;

    *due_ms = INT64_MAX;
    for (struct acp_terminal *t = s->terminals; t; t = t->next) {
        if (t->child.state == CHILD_GONE)
            continue;
        int64_t due = child_due_ms(&t->child);
        if (due >= 0 && due < *due_ms)
            *due_ms = due;
        p[n++] = (struct pollfd){ .fd = child_end_fd(&t->child), .events = POLLIN };
        p[n++] = (struct pollfd){ .fd = t->child.out, .events = POLLIN };
    }
    return n;
}

void
acp_terminal_step(struct acp_session *s)
{
    struct acp_terminal **at = &s->terminals;

    while (*at) {
        struct acp_terminal *t = *at;
        if (!t->is_told && child_step(&t->child) == CHILD_GONE)
            finish(s, t);
        if (t->is_told && t->is_released) {
            *at = t->next;
            release(t);
        } else {
            at = &t->next;
        }
    }
}

void
acp_terminal_stop_all(struct acp_session *s)
{
    for (struct acp_terminal *t = s->terminals; t; t = t->next)
        child_stop(&t->child);
}

void
acp_terminal_end_all(struct acp_session *s)
{
    acp_terminal_stop_all(s);
    while (s->terminals) {
        struct acp_terminal *t = s->terminals;
        child_wait(&t->child, -1);
        if (!t->is_told)
            finish(s, t);
        s->terminals = t->next;
        release(t);
    }
}
