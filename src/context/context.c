/*
 * context - builds a struct context from an AgentMessage and the files of its state directory. What
 * an agent does with it (handoffs, signals, the end of a phase) is in context_act.c.
 */
#define _GNU_SOURCE
#include "context/context.h"

#include "base/clock.h"
#include "base/path.h"
#include "base/sys.h"
#include "base/utf8.h"
#include "team/settings.h"
#include "team/template.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct json no_members = { .type = JSON_OBJECT };

/* ---- files ---- */

/* The text of a file below the state directory, in the arena; `fallback` when the file does not
 * exist. */
static enum status
read_text(struct context *c, const char *path, const char *fallback, const char **to, struct err *e)
{
    struct buf b = { 0 };
    enum status s = state_dir_read(&c->state, path, &b, e);

    *to = fallback;
    if (s == ST_NOT_FOUND)
        s = ST_OK;
    else if (!s && !(*to = arena_dup(c->arena, b.p, b.len)))
        s = err_nomem(e);
    buf_release(&b);
    return s;
}

static const char *
join(struct arena *a, const char *before, const char *middle, const char *after)
{
    size_t n = strlen(before), m = strlen(middle), k = strlen(after);
    char *s = arena_alloc(a, n + m + k + 1);

    if (s) {
        memcpy(s, before, n);
        memcpy(s + n, middle, m);
        memcpy(s + n + m, after, k + 1);
    }
    return s;
}

struct dir_names {
    char **v;
    size_t n;
};

static int
by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names in a directory below the state directory, sorted; none when it does not exist. */
static enum status
list_names(struct context *c, const char *path, struct dir_names *names, struct err *e)
{
    int fd;
    size_t cap = 0;
    struct dirent *d;

    *names = (struct dir_names){ 0 };
    enum status s = state_dir_open_dir(&c->state, path, false, &fd, e);
    if (s)
        return s == ST_NOT_FOUND ? ST_OK : s;
    DIR *dir = fdopendir(fd);
    if (!dir) {
        s = err_sys(e, "read directory %s", path);
        close(fd);
        return s;
    }
    while (!s && (errno = 0, d = readdir(dir))) {
        if (d->d_name[0] == '.')
            continue;
        if (names->n == cap) {
            cap = cap ? 2 * cap : 16;
            char **more = arena_alloc(c->arena, cap * sizeof *more);
            if (!more) {
                s = err_nomem(e);
                break;
            }
            if (names->n)
                memcpy(more, names->v, names->n * sizeof *more);
            names->v = more;
        }
        names->v[names->n] = arena_dup(c->arena, d->d_name, strlen(d->d_name));
        if (!names->v[names->n++])
            s = err_nomem(e);
    }
    if (!s && errno)
        s = err_sys(e, "read directory %s", path);
    closedir(dir);
    if (!s && names->n)
        qsort(names->v, names->n, sizeof *names->v, by_text);
    return s;
}

/* ---- channels ---- */

/* "developer" of "architect--developer"; the whole name when there are no dashes. */
static const char *
reader_of(const char *channel)
{
    const char *dashes = strstr(channel, "--");

    return dashes ? dashes + 2 : channel;
}

/* Without a list in the message every channel counts as one of a dependency. */
static bool
depends_on(const struct context *c, const char *phase)
{
    const struct json *list = json_get(c->dispatch, "depends_on");

    json_each (v, list)
        if (json_eq(v, phase))
            return true;
    return !json_is(list, JSON_ARRAY);
}

static enum status
read_input(struct context *c, const char *channel, struct context_input *in, struct err *e)
{
    struct buf b = { 0 };
    const char *path = join(c->arena, c->state.state_dir, "/channels/", channel);
    const char *instructions = join(c->arena, "channels/", channel, "/instructions.md");

    *in = (struct context_input){ .channel = channel, .text = "" };
    in->from = arena_dup(c->arena, channel, (size_t)(strstr(channel, "--") - channel));
    if (!path || !instructions || !in->from)
        return err_nomem(e);
    in->is_route = !depends_on(c, in->from);
    enum status s = read_text(c, instructions, NULL, &in->instructions, e);
    if (s)
        return s;
    s = handoff_read(c->arena, path, &in->handoff, e);
    if (s)
        return s == ST_NOT_FOUND ? ST_OK : s;
    in->is_there = true;
    handoff_render(&b, &in->handoff);
    buf_adds(&b, "");
    in->envelope = handoff_json(c->arena, &in->handoff);
    in->text = buf_failed(&b) ? NULL : arena_dup(c->arena, b.p, b.len);
    buf_release(&b);
    return in->envelope && in->text ? ST_OK : err_nomem(e);
}

static enum status
read_inputs(struct context *c, struct err *e)
{
    struct dir_names names;
    struct buf all = { 0 };
    enum status s = list_names(c, "channels", &names, e);

    if (!s && names.n && !(c->inputs = arena_alloc(c->arena, names.n * sizeof *c->inputs)))
        s = err_nomem(e);
    buf_adds(&all, "");
    for (size_t i = 0; i < names.n && !s; i++) {
        struct context_input *in = &c->inputs[c->n_inputs];
        if (!strstr(names.v[i], "--") || strcmp(reader_of(names.v[i]), c->phase) != 0)
            continue;
        s = read_input(c, names.v[i], in, e);
        if (s)
            break;
        c->n_inputs++;
        if (in->is_there)
            buf_addf(&all, "%s## %s\n\n%s", all.len ? "\n" : "", in->channel, in->text);
    }
    if (!s)
        s = buf_status(&all, "the text of the handoffs", e);
    if (!s && !(c->input_text = arena_dup(c->arena, all.p, all.len)))
        s = err_nomem(e);
    buf_release(&all);
    return s;
}

static enum status
name_targets(struct context *c, struct err *e)
{
    const struct agent_message *m = c->msg;

    if (m->n_handoff_dirs &&
        !(c->targets = arena_alloc(c->arena, m->n_handoff_dirs * sizeof *c->targets)))
        return err_nomem(e);
    for (size_t i = 0; i < m->n_handoff_dirs; i++) {
        const char *slash = strrchr(m->handoff_dirs[i], '/');
        struct context_target *t = &c->targets[c->n_targets++];
        *t = (struct context_target){ .name = reader_of(slash + 1), .channel = m->handoff_dirs[i] };
    }
    return ST_OK;
}

/* Instructions are read from a channel of the state directory only. */
static enum status
read_instructions(struct context *c, struct err *e)
{
    for (size_t i = 0; i < c->n_targets; i++) {
        struct context_target *t = &c->targets[i];
        const char *channel = strrchr(t->channel, '/') + 1;
        const char *path = join(c->arena, "channels/", channel, "/instructions.md");
        enum status s = !path      ? err_nomem(e)
                        : *channel ? read_text(c, path, NULL, &t->instructions, e)
                                   : ST_OK;
        if (s)
            return s;
    }
    return ST_OK;
}

/* ---- the rest of a phase ---- */

/* A text for prompts and JSON: whole, UTF-8, without NUL. */
static bool
is_text(const struct buf *b)
{
    return !b->len || (utf8_valid_len(b->p, b->len) == b->len && !memchr(b->p, '\0', b->len));
}

/* Reads a file of the state directory; *n counts it. A directory or a link is no document. */
static enum status
read_doc(struct context *c, const char *path, const char *name, struct context_doc *doc, size_t *n,
         struct err *e)
{
    struct buf b = { 0 };
    struct stat st;
    enum status s = ST_OK;

    if (sys->fstatat(c->state.dir, path, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode))
        return ST_OK;
    *doc = (struct context_doc){ .name = name, .size = st.st_size };
    doc->path = join(c->arena, c->state.state_dir, "/", path);
    if (!doc->path)
        return err_nomem(e);
    if ((size_t)st.st_size <= CONTEXT_DOC_MAX) {
        s = state_dir_read(&c->state, path, &b, e);
        if (!s && is_text(&b) && !(doc->text = arena_dup(c->arena, b.p ? b.p : "", b.len)))
            s = err_nomem(e);
    }
    buf_release(&b);
    *n += !s;
    return s == ST_NOT_FOUND ? ST_OK : s; /* removed meanwhile */
}

static enum status
read_docs(struct context *c, struct err *e)
{
    struct dir_names names;
    enum status s = list_names(c, "design", &names, e);

    if (s || !names.n)
        return s;
    c->design_docs = arena_alloc(c->arena, names.n * sizeof *c->design_docs);
    for (size_t i = 0; i < names.n && !s; i++) {
        const char *path = join(c->arena, "design/", names.v[i], "");
        s = path && c->design_docs
                ? read_doc(c, path, names.v[i], &c->design_docs[c->n_design_docs],
                           &c->n_design_docs, e)
                : err_nomem(e);
    }
    return s;
}

enum status
context_add_fetched(struct context *c, const char *name, struct err *e)
{
    struct context_doc *more = arena_alloc(c->arena, (c->n_fetched + 1) * sizeof *more);
    const char *dir = join(c->arena, "files/", c->phase, "/");
    const char *path = dir ? join(c->arena, dir, name, "") : NULL;

    if (!more || !path)
        return err_nomem(e);
    if (c->n_fetched)
        memcpy(more, c->fetched, c->n_fetched * sizeof *more);
    c->fetched = more;
    return read_doc(c, path, name, &more[c->n_fetched], &c->n_fetched, e);
}

static enum status
read_workflow_inputs(struct context *c, struct err *e)
{
    const char *text;
    struct json *v;
    struct buf path = { 0 };
    enum status s = read_text(c, "inputs.json", NULL, &text, e);

    if (s || !text)
        return s;
    state_dir_path(&c->state, &path, "inputs.json");
    s = buf_status(&path, "the path", e);
    if (!s)
        s = json_parse_named(c->arena, path.p, text, strlen(text), &v, e);
    if (!s && !json_is(v, JSON_OBJECT))
        s = err_set(e, ST_INVALID, "%s:1:1: the inputs must be a JSON object", path.p);
    if (!s)
        c->workflow_inputs = v;
    buf_release(&path);
    return s;
}

static const struct json *
find_handoff(void *ctx, const char *phase)
{
    const struct context *c = ctx;

    for (size_t i = 0; i < c->n_inputs; i++)
        if (strcmp(c->inputs[i].from, phase) == 0)
            return c->inputs[i].envelope;
    return NULL;
}

static enum status
read_role(struct context *c, struct err *e)
{
    const char *path = join(c->arena, "roles/", c->phase, ".md"), *text;
    const char *files = join(c->arena, c->state.state_dir, "/files", "");
    struct buf b = { 0 };
    struct err why = { "" };

    if (!path || !files)
        return err_nomem(e);
    const struct json *given = json_get(c->dispatch, "role");
    if (json_is(given, JSON_STRING)) { /* the orchestrator has already replaced the variables */
        c->role = arena_dup(c->arena, given->text.p, given->text.len);
        return c->role ? ST_OK : err_nomem(e);
    }
    enum status s = read_text(c, path, "", &text, e);
    if (s)
        return s;
    struct template_scope scope = {
        .inputs = c->workflow_inputs,
        .handoff = find_handoff,
        .ctx = c,
        .team_name = c->team_name,
        .phase = c->phase,
        .run_id = c->instance_id,
        .project_dir = c->project_dir,
        .work_dir = c->work_dir,
        .state_dir = c->state_dir,
        .files_dir = files,
        .now_ms = clock_wall_ns() / 1000000,
    };
    s = template_expand(&b, text, &scope, &why);
    if (s)
        err_say(e, "%s: %s", path, why.text);
    else if (!(c->role = arena_dup(c->arena, b.p, b.len)))
        s = err_nomem(e);
    buf_release(&b);
    return s;
}

static enum status
read_gate(struct context *c, struct err *e)
{
    const struct json *list = json_get(c->dispatch, "route_targets");
    const struct json *checks = json_get(c->dispatch, "check_results");

    c->iteration = 1;
    c->max_iterations = 3;
    json_int(json_get(c->dispatch, "iteration"), &c->iteration);
    json_int(json_get(c->dispatch, "max_iterations"), &c->max_iterations);
    if (json_is(checks, JSON_ARRAY))
        c->check_results = checks;
    if (!json_is(list, JSON_ARRAY) || !list->kids.count)
        return ST_OK;
    c->route_targets = arena_alloc(c->arena, list->kids.count * sizeof *c->route_targets);
    if (!c->route_targets)
        return err_nomem(e);
    json_each (v, list) {
        const char *name =
            json_is(v, JSON_STRING) ? arena_dup(c->arena, v->text.p, v->text.len) : "";
        if (!name)
            return err_nomem(e);
        if (!state_dir_is_phase_name(name))
            return err_set(e, ST_INVALID,
                           "the message's payload.route_targets must be names of phases; number "
                           "%zu is not",
                           c->n_route_targets + 1);
        c->route_targets[c->n_route_targets++] = name;
    }
    return ST_OK;
}

static enum status
open_phase(struct context *c, struct err *e)
{
    enum status s = state_dir_open(&c->state, c->msg->state_dir, c->msg->project_dir, e);

    if (s)
        return s;
    c->state_dir = c->msg->state_dir;
    if (!c->project_dir)
        c->project_dir = arena_dup(c->arena, c->state.project_dir, strlen(c->state.project_dir));
    if (!c->project_dir)
        return err_nomem(e);
    if (!c->work_dir)
        c->work_dir = c->project_dir;
    json_bool(json_get(c->dispatch, "is_support"), &c->is_support);
    s = name_targets(c, e);
    return !s && c->is_gate ? read_gate(c, e) : s;
}

/* ---- building ---- */

/* Appends a copy of the member v. False: out of memory. */
static bool
put_copy(struct arena *a, struct json *object, struct json ***end, const struct json *v)
{
    struct json *copy = json_new(a, v->type);

    if (!copy)
        return false;
    *copy = *v;
    copy->next = NULL;
    **end = copy;
    *end = &copy->next;
    object->kids.count++;
    return true;
}

static enum status
merge_config(struct context *c, struct err *e)
{
    static const char *const common[] = { "action",   "sources", "target_entries",
                                          "commands", "model",   "review" };
    const struct json *own = json_get(c->dispatch, "phase_config");
    struct json *all = json_new(c->arena, JSON_OBJECT), **end = all ? &all->kids.first : NULL;

    c->phase_config = json_is(own, JSON_OBJECT) ? all : c->dispatch;
    if (!c->phase_config)
        return err_nomem(e);
    if (c->phase_config != all)
        return ST_OK;
    json_each (v, own)
        if (!put_copy(c->arena, all, &end, v))
            return err_nomem(e);
    for (size_t i = 0; i < sizeof common / sizeof *common; i++) {
        const struct json *v = json_get(own, common[i]) ? NULL : json_get(c->dispatch, common[i]);
        if (v && !put_copy(c->arena, all, &end, v))
            return err_nomem(e);
    }
    return ST_OK;
}

/* "_notify-slack-<id>", with '_' for each byte that may not be in a file name. NULL: out of
 * memory. */
static const char *
name_without_phase(const struct context *c)
{
    const struct agent_message *m = c->msg;
    const struct json *id = json_get(c->dispatch, "id");
    struct buf b = { 0 };

    buf_addf(&b, "_%s-%s-", m->type, m->agent);
    size_t start = b.len;
    if (json_is(id, JSON_STRING) && id->text.len)
        buf_add(&b, id->text.p, id->text.len < 64 ? id->text.len : 64);
    else
        buf_addf(&b, "%.64s", *c->instance_id ? c->instance_id : "0");
    for (size_t i = start; i < b.len; i++) {
        char ch[2] = { b.p[i], '\0' };
        if (b.p[i] != '.' && b.p[i] != '-' && !path_is_name(ch))
            b.p[i] = '_';
    }
    const char *name = buf_failed(&b) ? NULL : arena_dup(c->arena, b.p, b.len);
    buf_release(&b);
    return name;
}

static enum status
open_signals(struct context *c, struct err *e)
{
    enum status s = path_open_dir(c->msg->signal_dir, true, &c->signal_dir, e);

    if (s)
        return s;
    c->signal_name = c->phase ? c->phase : name_without_phase(c);
    return c->signal_name ? ST_OK : err_nomem(e);
}

/* "agents.<name>" is where the settings were. */
static enum status
find_secrets(struct context *c, struct err *e)
{
    const char *key = join(c->arena, "agents.", c->agent, "");

    if (!key)
        return err_nomem(e);
    settings_add_secrets(&c->mask, c->settings, key);
    settings_add_env_secrets(&c->mask, (const char *const *)environ);
    return mask_build(&c->mask, e);
}

enum status
context_open(struct arena *a, const struct agent_message *m, struct context *c, struct err *e)
{
    *c = (struct context){
        .arena = a,
        .msg = m,
        .agent = m->agent,
        .phase = m->phase,
        .phase_type = m->phase_type,
        .instance_id = m->instance_id ? m->instance_id : "",
        .team_name = m->team_name ? m->team_name : "",
        .req_key = m->req_key ? m->req_key : "",
        .project_dir = m->project_dir,
        .work_dir = m->work_dir,
        .state_dir = m->state_dir,
        .settings = m->settings ? m->settings : &no_members,
        .dispatch = m->payload ? m->payload : &no_members,
        .role = "",
        .req_spec = "",
        .input_text = "",
        .is_gate = m->phase_type && strcmp(m->phase_type, "gate") == 0,
        .state = { .dir = -1 },
        .signal_dir = -1,
        .heard_ns = clock_wall_ns(),
    };
    int64_t timeout_ms;
    if (json_int(json_get(c->dispatch, "timeout_ms"), &timeout_ms) && timeout_ms > 0 &&
        timeout_ms < INT64_MAX / 2)
        c->deadline_ms = clock_mono_ms() + timeout_ms;
    enum status s = find_secrets(c, e);
    if (!s)
        s = merge_config(c, e);
    if (!s)
        s = open_signals(c, e);
    if (!s && m->phase)
        s = open_phase(c, e);
    return s;
}

int64_t
context_left_ms(const struct context *c)
{
    int64_t left_ms = c->deadline_ms - clock_mono_ms();

    return !c->deadline_ms ? INT64_MAX : left_ms > 0 ? left_ms : 0;
}

/* "90 s", "25 min" */
static const char *
show_time(char to[32], int64_t ms)
{
    int64_t s = (ms + 999) / 1000;

    snprintf(to, 32, "%" PRId64 " %s", s < 120 ? s : s / 60, s < 120 ? "s" : "min");
    return to;
}

bool
context_may_wait(const struct context *c, int64_t ms, struct err *why)
{
    int64_t left_ms = context_left_ms(c);
    char wait[32], left[32];

    if (ms < left_ms)
        return true;
    err_say(why,
            "in %s at the earliest, and the phase's time limit comes in %s: raise its timeout, or "
            "run it later",
            show_time(wait, ms), show_time(left, left_ms));
    return false;
}

enum status
context_read(struct context *c, struct err *e)
{
    enum status s = ST_OK;

    if (!c->phase)
        return ST_OK;
    s = read_text(c, "req_spec.md", "", &c->req_spec, e);
    if (!s)
        s = read_inputs(c, e);
    if (!s)
        s = read_instructions(c, e);
    if (!s)
        s = read_docs(c, e);
    if (!s)
        s = read_workflow_inputs(c, e);
    if (!s)
        s = read_role(c, e);
    if (!s) {
        s = state_dir_read(&c->state, "task_board.md", &c->board.text, e);
        if (s == ST_NOT_FOUND)
            s = ST_OK;
    }
    return s;
}

enum status
context_build(struct arena *a, const struct agent_message *m, struct context *c, struct err *e)
{
    enum status s = context_open(a, m, c, e);

    return s ? s : context_read(c, e);
}

void
context_release(struct context *c)
{
    board_release(&c->board);
    mask_release(&c->mask);
    arena_release(&c->usage_arena);
    c->usage = NULL;
    state_dir_close(&c->state);
    if (c->signal_dir >= 0 && c->msg)
        close(c->signal_dir);
    c->signal_dir = -1;
}
