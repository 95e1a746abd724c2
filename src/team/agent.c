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

/* Is it here, and not hidden by another one of its name? */
static bool
is_here(struct arena *a, const struct agent_list *r, const struct agent_list_agent *one)
{
    return agent_list_is_there(one) && !agent_list_is_hidden(r, one) &&
           (one->from != AGENT_LIST_BUILTIN || !manifest_lacks(a, one->manifest));
}

/* Lists the agents that exist, and suggests the one that was probably meant. */
static void
say_unknown(struct arena *a, const struct agent_list *r, const char *name, struct err *e)
{
    struct suggest near = { .word = name };
    struct buf list = { 0 };

    for (size_t i = 0; i < r->n; i++) {
        if (!is_here(a, r, &r->v[i]))
            continue;
        suggest_try(&near, r->v[i].name);
        buf_addf(&list, "%s%s", list.len ? ", " : "", r->v[i].name);
    }
    err_say(e, "the agent %s is not installed%s%s%s; these are: %s", name,
            near.best ? " (did you mean " : "", near.best ? near.best : "", near.best ? "?)" : "",
            list.p ? list.p : "");
    buf_release(&list);
}

/* Can it do what an agent with a model does? The one that runs any program (acp) needs a command
 * of the phase: it cannot without. */
static bool
can_replace(const struct agent_list_agent *one)
{
    return one->kind == AGENT_LLM || one->kind == AGENT_CUSTOM ||
           json_first(json_get(one->manifest, "binaries"));
}

/* The name is right, and its program is not here: which agents are, and the command that makes one
 * of them the default; a program that is here before an API, which also needs a key. */
static void
say_missing(struct arena *a, const struct agent_list *r, const struct builtin *b, struct err *e)
{
    struct buf list = { 0 };
    const struct agent_list_agent *best = NULL;

    for (size_t i = 0; i < r->n; i++) {
        const struct agent_list_agent *one = &r->v[i];
        if (!is_here(a, r, one) || !can_replace(one))
            continue;
        buf_addf(&list, "%s%s", list.len ? ", " : "", one->name);
        if (!best || (one->kind == AGENT_CLI && best->kind != AGENT_CLI))
            best = one;
    }
    err_say(
        e,
        "the agent %s is not installed%s%s%s%s%s. Agents with a model that are installed here: %s. "
        "For the phases that name no agent: cliq settings default_agent %s",
        b->name, b->binaries ? " (no program " : "", b->binaries ? b->binaries : "",
        b->binaries ? " on PATH)" : "", b->install ? ": install it with " : "",
        b->install ? b->install : "", list.p ? list.p : "none",
        best ? best->name : "NAME, once its program is");
    buf_release(&list);
}

static enum status
not_found(struct arena *a, const struct agent_scope *scope, const char *name, struct err *e)
{
    struct agent_list r;
    const struct builtin *b = builtin_find(name);
    struct agent_list_places places = { .settings = scope->settings,
                                        .agents_json = scope->agents_json };
    enum status s = agent_list_make(&r, a, &places, e);

    if (s)
        return s;
    if (b && agent_kind_asks_model(b->kind))
        say_missing(a, &r, b, e);
    else
        say_unknown(a, &r, name, e);
    return ST_NOT_FOUND;
}

/* Takes the variables and the settings that the manifest declares. */
static enum status
take_manifest(struct arena *a, const struct agent_scope *scope, const struct json *team_env,
              struct agent *out, struct err *e)
{
    const char *const *keys;
    enum status s = names_of(a, json_get(out->manifest, "env"), team_env, &out->env_names, e);

    if (!s)
        s = names_of(a, json_path(out->manifest, "settings.required"),
                     json_path(out->manifest, "settings.optional"), &keys, e);
    return s ? s : filter_settings(a, scope, out->name, keys, &out->settings, e);
}

static enum status
resolve_entry(struct arena *a, const struct agent_scope *scope, const char *base, const char *entry,
              const struct json *team_env, struct agent *out, struct err *e)
{
    const char *path = absolute(a, base, entry);
    enum status s = path ? manifest_read(a, dir_of(a, path), &out->manifest, e) : err_nomem(e);

    out->kind = AGENT_CUSTOM;
    if (!s)
        s = entry_argv(a, path, &out->argv, e);
    const char *missing = s ? NULL : manifest_lacks(a, out->manifest);
    if (missing)
        s = err_set(e, ST_NOT_FOUND,
                    "the agent %s needs the program %s (binaries in its manifest), which is not on "
                    "PATH",
                    out->name, missing);
    return s ? s : take_manifest(a, scope, team_env, out, e);
}

/* The agents that report a model's usage know what the user says it costs. */
static enum status
add_prices(struct arena *a, const struct agent_scope *scope, struct agent *out, struct err *e)
{
    const struct json *prices = json_get(scope->settings->merged, "prices");
    struct json *copy = prices ? arena_alloc(a, sizeof *copy) : NULL;

    if (!prices)
        return ST_OK;
    if (!copy)
        return err_nomem(e);
    *copy = *prices;
    copy->next = NULL;
    json_set((struct json *)out->settings, "prices", copy);
    return ST_OK;
}

/* `cliq agent NAME` */
static const char *const *
self_argv(struct arena *a, const char *name)
{
    const char **argv = arena_alloc(a, 4 * sizeof *argv);

    if (!argv)
        return NULL;
    argv[0] = agent_self(a);
    argv[1] = "agent";
    argv[2] = name;
    argv[3] = NULL;
    return argv;
}

/* An agent that `cliq agent acp` drives; b describes it, and command is what starts it. */
static enum status
resolve_acp(struct arena *a, const struct agent_scope *scope, const struct builtin *b,
            const struct json *command, const struct json *team_env, struct agent *out,
            struct err *e)
{
    struct json *copy = arena_alloc(a, sizeof *copy);

    out->kind = AGENT_ACP;
    out->manifest = builtin_manifest(a, b);
    out->argv = self_argv(a, "acp");
    if (!copy || !out->argv || !out->manifest)
        return err_nomem(e);
    *copy = *command;
    copy->next = NULL;
    enum status s = take_manifest(a, scope, team_env, out, e);
    if (!s)
        json_set((struct json *)out->settings, "acp", copy);
    return s ? s : add_prices(a, scope, out, e);
}

/* One by name, with the command of its row. */
static enum status
resolve_named_acp(struct arena *a, const struct agent_scope *scope, const struct builtin *b,
                  struct agent *out, struct err *e)
{
    const struct json *command = json_new_str(a, b->acp, strlen(b->acp));

    if (!command)
        return err_nomem(e);
    enum status s = resolve_acp(a, scope, b, command, NULL, out, e);
    return s || !manifest_lacks(a, out->manifest) ? s : not_found(a, scope, out->name, e);
}

/* The command of an agent that has `acp` instead of an entry; NULL: it has none. */
static const struct json *
acp_of(const struct json *agent)
{
    const struct json *v = json_get(agent, "acp");

    return json_is(v, JSON_STRING) || json_is(v, JSON_ARRAY) ? v : NULL;
}

static enum status
resolve_builtin(struct arena *a, const struct agent_scope *scope, const struct builtin *b,
                struct agent *out, struct err *e)
{
    if (b->acp)
        return resolve_named_acp(a, scope, b, out, e);
    out->kind = b->kind;
    out->is_patient = b->is_patient;
    out->manifest = builtin_manifest(a, b);
    out->argv = self_argv(a, b->name);
    if (!out->argv || !out->manifest)
        return err_nomem(e);
    enum status s = take_manifest(a, scope, NULL, out, e);
    if (!s && (agent_kind_asks_model(b->kind)))
        s = add_prices(a, scope, out, e);
    return s || json_get(out->settings, "binary") || !manifest_lacks(a, out->manifest)
               ? s
               : not_found(a, scope, out->name, e);
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
    const struct json *mine = json_get(json_get(scope->settings->merged, "agents"), name);
    const struct json *set = json_get(mine, "entry"), *acp = NULL;
    const struct builtin *b = builtin_find(name);
    if (!json_is(set, JSON_STRING) && !(acp = acp_of(mine)) &&
        !json_is(set = json_get(team, "entry"), JSON_STRING))
        acp = acp_of(team);
    if (acp)
        return resolve_acp(a, scope, b && b->acp ? b : builtin_find("acp"), acp,
                           json_get(team, "env"), out, e);
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
    return b && b->is_here ? resolve_builtin(a, scope, b, out, e) : not_found(a, scope, name, e);
}

const struct json *
agent_schema(struct arena *a, const char *name, const struct json *manifest)
{
    const struct builtin *b = manifest ? NULL : builtin_find(name);

    return json_get(b ? builtin_manifest(a, b) : manifest, "schema");
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

static void
check_tools(const struct team *t, struct problems *p)
{
    const struct yaml *v = yaml_get(t->node, "tools");
    struct problem_at at = { .file = t->file, .field = "tools" };

    if (v) {
        at.line = v->line;
        at.column = v->column;
    }
    for (size_t i = 0; i < t->n_tools; i++)
        if (!runner_has(t->tools[i]))
            problem_warn(p, at, "the team needs the program %.80s, which is not on PATH",
                         t->tools[i]);
}

void
agent_check_here(const struct team *t, int dir, struct problems *p)
{
    struct arena a = { 0 };
    struct agent_list roster;
    struct err e;

    check_tools(t, p);

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
