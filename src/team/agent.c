#include "team/agent.h"

#include "base/path.h"
#include "base/sys.h"
#include "team/agent_list.h"
#include "team/installed_agents.h"
#include "team/manifest.h"
#include "team/runner.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *
agent_self(struct arena *a)
{
    char self[PATH_MAX + 1];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

    static const char gone[] = " (deleted)"; /* the program was replaced: use the new one */
    if (n < 0)
        return "cliq";
    self[n] = '\0';
    if ((size_t)n > sizeof gone - 1 && strcmp(self + n - (sizeof gone - 1), gone) == 0) {
        n -= (ssize_t)(sizeof gone - 1);
        self[n] = '\0';
    }
    const char *path = arena_dup(a, self, (size_t)n);
    return path ? path : "cliq";
}

/* ---- argv ---- */

static enum status
entry_argv(struct arena *a, const char *entry, const char *const **out, struct err *e)
{
    const char **argv = arena_alloc(a, 4 * sizeof *argv);
    struct runner runner;
    size_t n = 0;

    if (!argv)
        return err_nomem(e);
    if (access(entry, R_OK) != 0)
        return err_set(e, ST_NOT_FOUND, "the agent's entry %s cannot be read", entry);
    enum status s = runner_find(entry, &runner, e);
    if (s)
        return s;
    if (!runner.program && access(entry, X_OK) != 0)
        return err_set(e, ST_INVALID,
                       "the agent's entry %s is neither executable nor a .js .ts .py .sh file",
                       entry);
    if (runner.program)
        argv[n++] = runner.program;
    if (runner.flag)
        argv[n++] = runner.flag;
    argv[n++] = entry;
    argv[n] = NULL;
    *out = argv;
    return ST_OK;
}

static const char *
absolute(struct arena *a, const char *base, const char *path)
{
    if (path[0] == '/')
        return path;
    if (strncmp(path, "./", 2) == 0)
        path += 2;
    size_t n = strlen(base) + strlen(path) + 2;
    char *full = arena_alloc(a, n);
    if (full)
        snprintf(full, n, "%s/%s", base, path);
    return full;
}

static const char *
dir_of(struct arena *a, const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? arena_dup(a, path, (size_t)(slash - path)) : ".";
}

/* ---- environment and settings ---- */

/* Names from two JSON lists of strings, either of which may be missing. */
static enum status
names_of(struct arena *a, const struct json *one, const struct json *two, const char *const **out,
         struct err *e)
{
    size_t n = 0;
    const struct json *lists[] = { one, two };
    const char **names = arena_alloc(a, ((json_is(one, JSON_ARRAY) ? one->kids.count : 0) +
                                         (json_is(two, JSON_ARRAY) ? two->kids.count : 0) + 1) *
                                            sizeof *names);

    if (!names)
        return err_nomem(e);
    for (size_t i = 0; i < 2; i++) {
        json_each (v, lists[i]) {
            /* A setting may be an object {key, description, …}. */
            const struct json *name = json_is(v, JSON_OBJECT) ? json_get(v, "key") : v;
            if (json_is(name, JSON_STRING) &&
                !(names[n++] = arena_dup(a, name->text.p, name->text.len)))
                return err_nomem(e);
        }
    }
    names[n] = NULL;
    *out = names;
    return ST_OK;
}

static enum status
filter_settings(struct arena *a, const struct agent_scope *scope, const char *name,
                const char *const *keys, const struct json **out, struct err *e)
{
    const struct json *mine = json_get(json_get(scope->settings->merged, "agents"), name);
    struct json *object = json_new(a, JSON_OBJECT);

    if (!object)
        return err_nomem(e);
    for (; *keys; keys++) {
        const struct json *v = json_get(mine, *keys);
        struct json *copy = v ? arena_alloc(a, sizeof *copy) : NULL;
        if (copy) {
            *copy = *v;
            copy->next = NULL;
            json_set(object, *keys, copy);
        }
    }
    *out = object;
    return ST_OK;
}

/* ---- the search ---- */

/* Lists the agents that exist, and suggests the one that was probably meant. */
static enum status
not_found(struct arena *a, const struct agent_scope *scope, const char *name, struct err *e)
{
    struct suggest near = { .word = name };
    struct agent_list r;
    struct buf list = { 0 };
    struct agent_list_places places = { .settings = scope->settings,
                                        .agents_json = scope->agents_json };
    enum status s = agent_list_make(&r, a, &places, e);

    if (s)
        return s;
    for (size_t i = 0; i < r.n; i++) {
        if (!agent_list_is_there(&r.v[i]) || agent_list_is_hidden(&r, &r.v[i]))
            continue;
        suggest_try(&near, r.v[i].name);
        buf_addf(&list, "%s%s", list.len ? ", " : "", r.v[i].name);
    }
    err_say(e, "the agent %s is not installed%s%s%s; these are: %s%s", name,
            near.best ? " (did you mean " : "", near.best ? near.best : "", near.best ? "?)" : "",
            list.p ? list.p : "",
            team_is_builtin_agent(name) ? ". Choose one with --agent, default_agent or the "
                                          "phase's agent, or set agents.<name>.entry"
                                        : "");
    buf_release(&list);
    return ST_NOT_FOUND;
}

static enum status
resolve_entry(struct arena *a, const struct agent_scope *scope, const char *base, const char *entry,
              const struct json *team_env, struct agent *out, struct err *e)
{
    const char *path = absolute(a, base, entry);
    enum status s =
        path ? manifest_read(a, dir_of(a, path), out->name, &out->manifest, e) : err_nomem(e);
    const char *const *keys;

    out->kind = AGENT_CUSTOM;
    if (!s)
        s = entry_argv(a, path, &out->argv, e);
    const char *missing = s ? NULL : manifest_lacks(a, out->manifest);
    if (missing)
        s = err_set(e, ST_NOT_FOUND,
                    "the agent %s needs the program %s (binaries in its manifest), which is not on "
                    "PATH",
                    out->name, missing);
    if (!s)
        s = names_of(a, json_get(out->manifest, "env"), team_env, &out->env_names, e);
    if (!s)
        s = names_of(a, json_path(out->manifest, "settings.required"),
                     json_path(out->manifest, "settings.optional"), &keys, e);
    if (!s)
        s = filter_settings(a, scope, out->name, keys, &out->settings, e);
    return s;
}

static enum status
resolve_builtin(struct arena *a, const struct agent_scope *scope, const struct builtin *b,
                struct agent *out, struct err *e)
{
    static const char *const none[] = { NULL };
    const char **argv = arena_alloc(a, 4 * sizeof *argv);

    if (!argv)
        return err_nomem(e);
    argv[0] = agent_self(a);
    argv[1] = "agent";
    argv[2] = b->name;
    argv[3] = NULL;
    out->argv = argv;
    out->env_names = none;
    out->kind = b->kind;
    return filter_settings(a, scope, out->name, b->settings, &out->settings, e);
}

enum status
agent_resolve(struct arena *a, const struct agent_scope *scope, const char *name, struct agent *out,
              struct err *e)
{
    struct installed installed;
    const char *entry;
    enum status s = path_check_name("agent", name, e);

    if (s)
        return s;
    *out = (struct agent){ .name = arena_dup(a, name, strlen(name)) };
    if (!out->name)
        return err_nomem(e);
    const struct json *team = json_get(scope->agents_json, name);
    const struct json *set =
        json_get(json_get(json_get(scope->settings->merged, "agents"), name), "entry");
    if (!json_is(set, JSON_STRING))
        set = json_get(team, "entry");
    if (json_is(set, JSON_STRING)) {
        entry = arena_dup(a, set->text.p, set->text.len);
        return resolve_entry(a, scope, scope->state_dir, entry ? entry : "", json_get(team, "env"),
                             out, e);
    }
    s = installed_read(a, name, &installed, e);
    if (s)
        return s;
    if (installed.entry)
        return resolve_entry(a, scope, installed.dir, installed.entry, NULL, out, e);
    const struct builtin *b = builtin_find(name);
    return b && b->is_here ? resolve_builtin(a, scope, b, out, e) : not_found(a, scope, name, e);
}

/* ---- on this machine ---- */

static const char *
missing_binary(struct arena *a, int dir, const char *entry)
{
    const char *slash = strrchr(entry, '/');
    struct buf path = { 0 };
    struct problems ignored = { 0 }; /* validation reports them */
    const struct json *doc = NULL;

    buf_addf(&path, "%.*smanifest.json", slash ? (int)(slash + 1 - entry) : 0, entry);
    if (!buf_failed(&path))
        manifest_load(a, dir, path.p, "", &doc, &ignored, NULL);
    problems_release(&ignored);
    buf_release(&path);
    return manifest_lacks(a, doc);
}

static void
check_own(const struct team_agent *agent, int dir, struct problem_at at, struct arena *a,
          struct problems *p)
{
    struct runner runner;
    struct err e;

    if (runner_find(agent->entry, &runner, &e))
        problem_warn(p, at, "%s", e.text);
    const char *missing = dir >= 0 ? missing_binary(a, dir, agent->entry) : NULL;
    if (missing)
        problem_warn(p, at,
                     "the agent %.80s needs the program %.80s (binaries in its manifest), which "
                     "is not on PATH",
                     agent->name, missing);
}

/* A missing agent is reported once, at the first phase that names it. */
static bool
is_named_before(const struct team *t, const struct phase *ph)
{
    for (const struct phase *p = t->phases; p < ph; p++)
        if (p->agent && strcmp(p->agent, ph->agent) == 0)
            return true;
    return false;
}

static void
check_installed(const struct team *t, const struct agent_list *r, struct arena *a,
                struct problems *p)
{
    struct settings none = { 0 };
    struct agent_scope scope = { .state_dir = "", .settings = &none };

    for (const struct phase *ph = t->phases; ph < t->phases + t->n_phases; ph++) {
        const struct agent_list_agent *one = ph->agent ? agent_list_find(r, ph->agent) : NULL;
        struct problem_at at = { t->file, ph->line, ph->column, ph->name, "agent" };
        struct agent agent;
        struct err e;
        if (one && one->from == AGENT_LIST_INSTALLED && !is_named_before(t, ph) &&
            agent_resolve(a, &scope, one->name, &agent, &e))
            problem_warn(p, at, "%s", e.text);
    }
}

void
agent_check_here(const struct team *t, int dir, struct problems *p)
{
    struct arena a = { 0 };
    struct agent_list roster;
    struct err e;

    for (size_t i = 0; i < t->n_agents; i++)
        if (t->agents[i].entry)
            check_own(&t->agents[i], dir,
                      (struct problem_at){ t->file, t->agents[i].line, t->agents[i].column, NULL,
                                           "agents" },
                      &a, p);
    if (agent_list_make(&roster, &a, &(struct agent_list_places){ .team = t, .is_blind = dir < 0 },
                        &e) == ST_OK)
        check_installed(t, &roster, &a, p);
    arena_release(&a);
}
