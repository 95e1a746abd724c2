#define _GNU_SOURCE
#include "manager/role_process.h"

#include "base/path.h"
#include "base/sys.h"
#include "base/term.h"
#include "context/agent_env.h"
#include "context/state_dir.h"
#include "room/review_verdict.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LOG_SHOWN = 2000 }; /* bytes of a command's errors in its error message */

/* The exit code is a file, because nobody may be there to reap the shell. */
static const char wrapper[] = "(eval \"$1\"); rc=$?; echo \"$rc\" >\"$2\"; exit \"$rc\"";

static const struct life_state *
state_of(const struct role_process *p)
{
    return &p->task.lifecycle->states[p->task.state];
}

/* ---- its place ---- */

static enum status
begin(struct role_process *p, const struct role_task *t, struct err *e)
{
    size_t n = strlen(t->rooms->base) + strlen(t->config->room) + 64;

    *p = (struct role_process){ .task = *t };
    p->dir = arena_alloc(&p->arena, n);
    p->name = arena_alloc(&p->arena, 48);
    p->token = arena_alloc(&p->arena, n);
    if (!p->dir || !p->name || !p->token)
        return err_nomem(e);
    snprintf(p->name, 48, "attempts/%u.%u", t->visit, t->n);
    snprintf(p->dir, n, "%s/%s/%s", t->rooms->base, t->config->room, p->name);
    snprintf(p->token, n, "%s/%s/%u.%u", t->rooms->base, t->config->room, t->visit, t->n);
    return ST_OK;
}

static char *
file_path(struct role_process *p, const char *name)
{
    size_t n = strlen(p->dir) + strlen(name) + 2;
    char *path = arena_alloc(&p->arena, n);

    if (path)
        snprintf(path, n, "%s/%s", p->dir, name);
    return path;
}

static int
open_output(const struct role_process *p, const char *name, struct err *e)
{
    char path[96];

    snprintf(path, sizeof path, "%s/%s", p->name, name);
    int fd = SYS_RETRY(sys->openat(p->task.room_dir, path,
                                   O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (fd < 0)
        err_say_errno(e, "open %s/%s", p->dir, name);
    return fd;
}

static enum status
read_output(const struct role_process *p, const char *name, struct buf *to)
{
    char path[96];

    snprintf(path, sizeof path, "%s/%s", p->name, name);
    return path_read_file(p->task.room_dir, path, to, NULL);
}

static enum status
make_place(struct role_process *p, const struct buf *trigger, struct err *e)
{
    int attempts, dir = -1;
    char name[24];
    enum status s = path_open_dir_at(p->task.room_dir, "attempts", true, &attempts, e);

    if (s)
        return s;
    snprintf(name, sizeof name, "%u.%u", p->task.visit, p->task.n);
    /* not synced: an attempt whose directory is lost never began */
    if (sys->mkdirat(attempts, name, 0700) != 0 && errno != EEXIST)
        s = err_sys(e, "make %s", p->dir);
    if (!s)
        s = path_open_dir_at(attempts, name, false, &dir, e);
    if (!s)
        s = state_dir_replace_at(dir, "message.json", trigger->p, trigger->len, e);
    if (dir >= 0)
        close(dir);
    close(attempts);
    return s;
}

/* ---- a command ---- */

static enum status
describe_command(struct role_process *p, struct proc_spec *spec, struct err *e)
{
    const char **argv = arena_alloc(&p->arena, 7 * sizeof *argv);
    char *end = file_path(p, "exit");
    struct env vars = { .arena = &p->arena };
    const char *home = getenv("CLIQ_HOME");

    if (!argv || !end)
        return err_nomem(e);
    argv[0] = "/bin/sh";
    argv[1] = "-c";
    argv[2] = wrapper;
    argv[3] = state_of(p)->role;
    argv[4] = p->task.player.command;
    argv[5] = end;
    argv[6] = NULL;
    env_ours(&vars);
    if (home)
        env_add(&vars, "CLIQ_HOME", home);
    env_add(&vars, "WARROOMS_DIR", p->task.rooms->base);
    env_add(&vars, "CLIQ_ROOM", p->task.config->room);
    env_add(&vars, "CLIQ_ROLE", state_of(p)->role);
    env_add(&vars, "CLIQ_REF", p->task.config->ref);
    env_add(&vars, "CLIQ_STATE", state_of(p)->name);
    env_add(&vars, "CLIQ_ATTEMPT", p->token);
    spec->argv = argv;
    spec->env = vars.v;
    spec->in = file_path(p, "message.json");
    return vars.is_starved || !spec->in ? err_nomem(e) : ST_OK;
}

/* ---- starting ---- */

static struct child_spec
supervised(const struct role_process *p)
{
    return (struct child_spec){ .token = p->token,
                                .grace_ms = ROLE_GRACE_MS,
                                .kill_ms = ROLE_GRACE_MS };
}

static enum status
spawn(struct role_process *p, struct child_spec *spec, struct err *e)
{
    bool is_command = p->task.player.kind == PLAYER_COMMAND;
    int out = is_command ? open_output(p, "out", e) : -1;
    int log = out >= 0 || !is_command ? open_output(p, "log", e) : -1;
    enum status s = log < 0 ? ST_IO : ST_OK;

    spec->proc.out_fd = is_command ? out : log;
    spec->proc.err_fd = log;
    if (!s)
        s = child_start(&p->child, spec, e);
    if (out >= 0)
        close(out);
    if (log >= 0)
        close(log);
    return s;
}

enum status
role_process_start(struct role_process *p, const struct role_task *t, const struct role_input *in,
                   struct loop *l, loop_fn *fn, void *ctx, struct err *e)
{
    enum status s = begin(p, t, e);
    struct child_spec spec = supervised(p);

    if (!s)
        s = make_place(p, in->trigger, e);
    if (!s)
        s = t->player.kind == PLAYER_AGENT ? role_agent_write(p, in, &spec.proc, e)
                                           : describe_command(p, &spec.proc, e);
    spec.proc.dir = t->config->working_dir ? t->config->working_dir : t->rooms->project_dir;
    spec.proc.attempt_file = s ? NULL : file_path(p, "process");
    if (!s && !spec.proc.attempt_file)
        s = err_nomem(e);
    if (!s)
        s = spawn(p, &spec, e);
    p->is_started = !s;
    return s ? s : child_watch(&p->watch, &p->child, l, fn, ctx, e);
}

enum status
role_process_adopt(struct role_process *p, const struct role_task *t, struct loop *l, loop_fn *fn,
                   void *ctx, struct err *e)
{
    struct proc_id id;
    enum status s = begin(p, t, e);
    char *file = s ? NULL : file_path(p, "process");

    if (!s && !file)
        s = err_nomem(e);
    if (!s)
        s = proc_read_id(file, &id, e);
    if (s == ST_NOT_FOUND && access(p->dir, F_OK) != 0)
        return s;            /* not even its directory was made */
    if (s == ST_NOT_FOUND) { /* a late child must not begin now */
        s = proc_void(file, e);
        if (s == ST_CONFLICT)
            s = proc_read_id(file, &id, e); /* it just did, or is void already */
        else if (!s || s == ST_NOT_FOUND)
            return ST_NOT_FOUND;
    }
    if (s)
        return s;
    struct child_spec spec = supervised(p);
    child_adopt(&p->child, &spec, &id);
    p->is_started = true;
    return child_watch(&p->watch, &p->child, l, fn, ctx, e);
}

void
role_process_stop(struct role_process *p)
{
    if (p->is_started && p->child.state != CHILD_GONE)
        child_watch_stop(&p->watch);
}

bool
role_process_is_gone(const struct role_process *p)
{
    return p->child.state == CHILD_GONE;
}

void
role_process_release(struct role_process *p)
{
    child_unwatch(&p->watch);
    child_release(&p->child);
    arena_release(&p->arena);
    *p = (struct role_process){ 0 };
}

/* ---- what it amounts to ---- */

size_t
role_verdicts(struct arena *a, const struct life_state *s, const char ***words, const char ***types)
{
    size_t n = 0;

    *words = arena_alloc(a, (s->n_signals + 1) * sizeof **words);
    *types = arena_alloc(a, (s->n_signals + 1) * sizeof **types);
    for (size_t i = 0; *words && *types && i < s->n_signals; i++) {
        const char *type = s->signals[i].type;
        char *word = arena_dup(a, type, strlen(type));
        if (!word || strcmp(type, "done") == 0 || strcmp(type, "error") == 0)
            continue;
        for (char *c = word; *c; c++)
            *c = (char)toupper((unsigned char)*c);
        (*words)[n] = word;
        (*types)[n++] = type;
    }
    return n;
}

static void
trim(struct buf *b)
{
    size_t n = b->len;

    while (n && strchr(" \t\r\n", b->p[n - 1]))
        n--;
    buf_cut(b, n);
}

/* A review or triage: its verdict is its type. */
static const char *
judge(struct role_process *p, struct buf *body)
{
    const char **words, **types;
    struct buf known = { 0 };
    size_t n = role_verdicts(&p->arena, state_of(p), &words, &types);
    size_t i = n ? review_verdict(body->p ? body->p : "", body->len, words, n) : SIZE_MAX;

    if (i != SIZE_MAX)
        return types[i];
    for (size_t k = 0; k < n; k++)
        buf_addf(&known, "%s%s", k ? ", VERDICT: " : "VERDICT: ", words[k]);
    struct buf said = *body;
    *body = (struct buf){ 0 };
    buf_addf(body, "%s gave no verdict: one line of its output must be one of %s",
             state_of(p)->role, known.p ? known.p : "");
    if (said.len)
        buf_addf(body, "\n\nIt said:\n%s", said.p);
    buf_release(&said);
    buf_release(&known);
    return "error";
}

static const char *
fail(struct role_process *p, int rc, struct buf *body)
{
    struct buf log = { 0 }, said = *body;

    *body = (struct buf){ 0 };
    buf_addf(body, "the command of %s ended with exit code %d", state_of(p)->role, rc);
    read_output(p, "log", &log);
    trim(&log);
    if (log.len) {
        size_t from = log.len > LOG_SHOWN ? log.len - LOG_SHOWN : 0;
        buf_adds(body, "\n\n");
        buf_add(body, log.p + from, log.len - from);
    }
    if (said.len)
        buf_addf(body, "\n\n%s", said.p);
    buf_release(&log);
    buf_release(&said);
    return "error";
}

static const char *
command_result(struct role_process *p, struct buf *body)
{
    struct buf code = { 0 };
    const char *type = NULL;
    int rc = -1;

    read_output(p, "exit", &code);
    if (code.len)
        rc = atoi(code.p);
    buf_release(&code);
    if (rc < 0 || rc > 128) {
        buf_addf(body, "the command of %s was killed", state_of(p)->role);
        if (rc > 128)
            buf_addf(body, " by signal %d", rc - 128);
        return NULL;
    }
    read_output(p, "out", body);
    trim(body);
    if (rc)
        type = fail(p, rc, body);
    else
        type = state_of(p)->type == LIFE_WORK ? "done" : judge(p, body);
    return type;
}

const char *
role_process_result(struct role_process *p, struct buf *body)
{
    return p->task.player.kind == PLAYER_AGENT ? role_agent_result(p, body)
                                               : command_result(p, body);
}

const char *
role_process_past(struct role_process *p, const struct role_task *t, struct buf *body,
                  struct err *e)
{
    return begin(p, t, e) ? NULL : role_process_result(p, body);
}
