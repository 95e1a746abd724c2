/* validate - checks the team as a whole; helpers for the other validate_*.c files. */
#include "team/validate.h"

#include "base/path.h"
#include "cliq.h"
#include "team/load.h"
#include "team/manifest.h"
#include "team/settings.h"
#include "team/version.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* ---- shared ---- */

const struct yaml *
check_given(const struct yaml *map, const char *key)
{
    const struct yaml *v = yaml_get(map, key);

    return load_is_null(v) ? NULL : v;
}

struct problem_at
check_at_place(const struct check *c, const struct phase *p, const char *field, unsigned line,
               unsigned column)
{
    const char *phase = p && p->name && *p->name ? p->name : NULL;

    return (struct problem_at){ c->team->file, line, column, phase, field };
}

struct problem_at
check_at_node(const struct check *c, const struct phase *p, const char *field, const struct yaml *v)
{
    if (!v)
        return check_at_place(c, p, field, p ? p->line : 0, p ? p->column : 0);
    return check_at_place(c, p, field, v->line, v->column);
}

struct problem_at
check_at(const struct check *c, const struct phase *p, const char *field)
{
    return check_at_node(c, p, field, yaml_get(p ? p->node : c->team->node, field));
}

bool
check_may_guess(const struct check *c)
{
    return c->problems->errors + c->problems->warnings < TEAM_GUESSES_MAX;
}

const char *
check_hint(struct check *c, const struct suggest *n)
{
    size_t size = n->best ? strlen(n->best) + 24 : 0;
    char *text = size ? arena_alloc(&c->arena, size) : NULL;

    if (!text)
        return "";
    snprintf(text, size, " (did you mean \"%s\"?)", n->best);
    return text;
}

enum agent_kind
check_kind(const struct check *c, const struct phase *p)
{
    if (!p->agent)
        return p->type == PHASE_TEAM ? AGENT_SPECIAL : AGENT_CLI;
    const struct agent_list_agent *one = agent_list_find(&c->roster, p->agent);
    return one ? one->kind : AGENT_CUSTOM;
}

bool
check_has_agent(const struct check *c, const struct phase *p, const char *builtin)
{
    return p->agent && strcmp(p->agent, builtin) == 0 &&
           agent_list_find(&c->roster, builtin)->from == AGENT_LIST_BUILTIN;
}

/* ---- the team ---- */

/* [a-z0-9][a-z0-9-]*, at most 64 */
static bool
is_kebab(const char *s, size_t len)
{
    return len > 0 && len <= TEAM_PHASE_NAME_MAX && *s != '-' &&
           strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-") >= len;
}

bool
team_is_name(const char *s)
{
    if (*s == '@') {
        size_t n = strcspn(++s, "/");
        if (s[n] != '/' || !is_kebab(s, n))
            return false;
        s += n + 1;
    }
    return is_kebab(s, strlen(s));
}

/* Can this cliq run the team? */
static void
check_cliq_version(struct check *c)
{
    struct problem_at at = check_at(c, NULL, "cliq_version");
    struct version own;
    struct err e = { "" };
    bool is_in = true;

    if (!c->team->cliq_version || !version_parse(CLIQ_VERSION, &own))
        return;
    if (version_in_range(&own, c->team->cliq_version, &is_in, &e))
        problem_error(c->problems, at, "cliq_version: %s", e.text);
    else if (!is_in)
        problem_error(c->problems, at, "the team needs cliq %.80s; this is cliq %s",
                      c->team->cliq_version, CLIQ_VERSION);
}

static void
check_tools(struct check *c)
{
    for (size_t i = 0; i < c->team->n_tools; i++)
        if (!c->team->tools[i][strspn(c->team->tools[i], " \t\n")])
            problem_error(c->problems, check_at(c, NULL, "tools"), "a tool without a name");
}

static void
check_head(struct check *c)
{
    const struct team *t = c->team;

    if (!check_given(t->node, "name") || (t->name && !*t->name))
        problem_error(c->problems, check_at(c, NULL, "name"), "the team has no name");
    else if (t->name && !team_is_name(t->name))
        problem_error(c->problems, check_at(c, NULL, "name"),
                      "bad team name \"%.80s\": write @scope/name with a-z, 0-9 and -", t->name);
    if (!check_given(t->node, "description") || (t->description && !*t->description))
        problem_warn(c->problems, check_at(c, NULL, "description"), "the team has no description");
    struct version version;
    if (t->version && !version_parse(t->version, &version))
        problem_warn(c->problems, check_at(c, NULL, "version"),
                     "the version \"%.80s\" is not like 1.2.3", t->version);
    check_cliq_version(c);
    check_tools(c);
    const struct yaml *work = check_given(t->node, "workflow");
    if (t->n_main == 0 && !check_given(t->node, "phases") && !check_given(work, "phases"))
        problem_error(c->problems, check_at(c, NULL, "phases"), "the team has no phases");
    else if (t->n_main == 0) { /* a wrong shape was reported already */
        const struct yaml *v = check_given(t->node, "phases");
        v = v ? v : check_given(work, "phases");
        if (v->type == YAML_LIST && v->count == 0)
            problem_error(c->problems, check_at_node(c, NULL, "phases", v),
                          "the team has no phases");
    }
}

/* ---- inputs ---- */

static bool
is_input_type(const char *s)
{
    static const char *const types[] = { "text",    "textarea", "number",
                                         "boolean", "select",   "channel" };

    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i], s) == 0)
            return true;
    return false;
}

static void
check_input(struct check *c, const struct team_input *in, size_t i)
{
    struct problem_at at = check_at_place(c, NULL, "inputs", in->line, in->column);

    if (!in->name || !*in->name) {
        problem_error(c->problems, at, "an input without a name");
        return;
    }
    if (in->name[strspn(in->name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                  "0123456789_-")])
        problem_error(c->problems, at,
                      "bad input name \"%.80s\": use letters, digits, _ and - only", in->name);
    if (name_index_find(&c->inputs, in->name) != i)
        problem_error(c->problems, at, "two inputs are named \"%.80s\"", in->name);
    if (in->type && !is_input_type(in->type))
        problem_warn(c->problems, at,
                     "unknown type \"%.80s\" of input \"%.80s\" is taken as text: there are text, "
                     "textarea, number, boolean, select and channel",
                     in->type, in->name);
    for (size_t k = 0; in->fallback && in->n_choices; k++) {
        if (k == in->n_choices) {
            problem_error(c->problems, at,
                          "the default \"%.80s\" of input \"%.80s\" is not among its choices",
                          in->fallback, in->name);
            break;
        }
        if (strcmp(in->choices[k], in->fallback) == 0)
            break;
    }
}

static void
check_unused_inputs(struct check *c)
{
    const struct team *t = c->team;

    if (c->is_blind || t->n_agents)
        return; /* a role file that was not read may use it, or an agent of the team read it */
    for (size_t i = 0; i < t->n_inputs; i++)
        if (!c->is_used[i] && t->inputs[i].name && *t->inputs[i].name &&
            name_index_find(&c->inputs, t->inputs[i].name) == i)
            problem_warn(c->problems,
                         check_at_place(c, NULL, "inputs", t->inputs[i].line, t->inputs[i].column),
                         "the input \"%.80s\" is never used: no $(inputs.%.80s) anywhere",
                         t->inputs[i].name, t->inputs[i].name);
}

/* ---- the team's own agents ---- */

/* Is the path below agents/ of the team? assemble copies nothing else to the project. */
static bool
is_in_agents(const char *path)
{
    while (strncmp(path, "./", 2) == 0)
        path += 2;
    if (strncmp(path, "agents/", 7) != 0)
        return false;
    for (const char *s = path; s;) {
        if (strncmp(s, "..", 2) == 0 && (s[2] == '/' || s[2] == '\0'))
            return false;
        s = strchr(s, '/');
        s = s ? s + 1 : NULL;
    }
    return true;
}

/* An earlier agent in the same directory, whose manifest it shares; NULL: none. */
static const struct team_agent *
find_neighbour(const struct check *c, const struct team_agent *a)
{
    const char *slash = strrchr(a->entry, '/');
    size_t dir = slash ? (size_t)(slash - a->entry) : 0;

    for (const struct team_agent *b = c->team->agents; b < a; b++) {
        const char *other = b->entry ? strrchr(b->entry, '/') : NULL;
        if (b->entry && (other ? (size_t)(other - b->entry) : 0) == dir &&
            strncmp(a->entry, b->entry, dir) == 0)
            return b;
    }
    return NULL;
}

/* Stands for a manifest with errors: nothing is concluded from it. */
static const struct json unreadable = { .type = JSON_NULL };

/* Checks the manifest beside an entry. */
static void
check_manifest(struct check *c, const struct team_agent *a)
{
    const char *slash = strrchr(a->entry, '/'), *file = c->team->file, *base = strrchr(file, '/');
    size_t dir = slash ? (size_t)(slash + 1 - a->entry) : 0;
    size_t above = base ? (size_t)(base + 1 - file) : 0, size = above + dir + 16;
    char *shown = arena_alloc(&c->problems->arena, size);
    const struct json *doc;
    struct err e = { "" };

    if (!shown) {
        c->is_starved = true;
        return;
    }
    snprintf(shown, size, "%.*s%.*smanifest.json", (int)above, file, (int)dir, a->entry);
    struct problem_at at = { .file = shown };
    size_t errors = c->problems->errors;
    if (manifest_load(&c->arena, c->dir, shown + above, shown, &doc, c->problems, &e))
        problem_error(c->problems, at, "%s", e.text);
    c->manifests[a - c->team->agents] = c->problems->errors > errors ? &unreadable : doc;
    const struct json *name = json_get(doc, "name");
    if (!json_is(name, JSON_STRING))
        return;
    const char *whose = arena_dup(&c->arena, name->text.p, name->text.len);
    if (whose && name_index_find(&c->agents, whose) == SIZE_MAX)
        problem_warn(c->problems, at, "it names the agent \"%.80s\", but %s calls it \"%.80s\"",
                     whose, file + above, a->name);
}

static void
check_agent(struct check *c, const struct team_agent *a, const struct yaml *node)
{
    struct problem_at at = check_at_place(c, NULL, "agents", a->line, a->column);
    struct stat st;

    if (!*a->name) {
        problem_error(c->problems, at, "an agent without a name");
        return;
    }
    if (!path_is_name(a->name))
        problem_error(c->problems, at,
                      "bad agent name \"%.80s\": use 1 to %d of A-Z a-z 0-9 . _ - and start with a "
                      "letter, a digit or _",
                      a->name, PATH_NAME_MAX);
    for (size_t i = 0; i < a->n_env; i++)
        if (!*a->env[i] || strchr(a->env[i], '='))
            problem_error(c->problems, check_at_node(c, NULL, "agents", yaml_get(node, "env")),
                          "\"%.80s\" is not the name of a variable (agent %.80s)", a->env[i],
                          a->name);
    if (check_given(node, "entry") && check_given(node, "acp"))
        problem_error(c->problems, at, "the agent \"%.80s\" has entry and acp: choose one",
                      a->name);
    if (a->n_acp && *a->acp[0])
        return;
    if (!check_given(node, "entry") || (a->entry && !*a->entry)) {
        if (node->type == YAML_MAP)
            problem_error(c->problems, at, "the agent \"%.80s\" has no entry", a->name);
        return;
    }
    at = check_at_node(c, NULL, "agents", yaml_get(node, "entry"));
    if (a->entry && !is_in_agents(a->entry))
        problem_error(c->problems, at,
                      "the entry \"%.200s\" must be a path inside agents/ of the team's directory: "
                      "assemble copies only these files to the project",
                      a->entry);
    else if (a->entry && c->dir >= 0 && fstatat(c->dir, a->entry, &st, 0) != 0)
        problem_error(c->problems, at, "no file %.200s (the entry of agent \"%.80s\")", a->entry,
                      a->name);
    else if (a->entry && c->dir >= 0 && !S_ISREG(st.st_mode))
        problem_error(c->problems, at, "%.200s is not a file (the entry of agent \"%.80s\")",
                      a->entry, a->name);
    else if (a->entry && c->dir >= 0) {
        const struct team_agent *other = find_neighbour(c, a);
        if (other)
            c->manifests[a - c->team->agents] = c->manifests[other - c->team->agents];
        else
            check_manifest(c, a);
    }
}

bool
check_manifest_of(const struct check *c, const struct agent_list_agent *one,
                  const struct json **out)
{
    *out = one->mine ? c->manifests[one->mine - c->team->agents] : one->manifest;
    return (one->mine ? c->dir >= 0 : one->manifest != NULL) && *out != &unreadable;
}

static void
check_agents(struct check *c)
{
    size_t i = 0;

    if (c->team->n_agents > 0)
        yaml_each (m, yaml_get(c->team->node, "agents"))
            check_agent(c, &c->team->agents[i++], m);
}

/* ---- all ---- */

static bool
index_names(struct check *c)
{
    const struct team *t = c->team;

    if (!name_index_init(&c->phases, &c->arena, t->n_phases) ||
        !name_index_init(&c->inputs, &c->arena, t->n_inputs) ||
        !name_index_init(&c->agents, &c->arena, t->n_agents))
        return false;
    for (size_t i = 0; i < t->n_phases; i++)
        name_index_add(&c->phases, t->phases[i].name, i);
    for (size_t i = 0; i < t->n_inputs; i++)
        name_index_add(&c->inputs, t->inputs[i].name, i);
    for (size_t i = 0; i < t->n_agents; i++)
        name_index_add(&c->agents, t->agents[i].name, i);
    name_index_sort(&c->phases);
    name_index_sort(&c->inputs);
    name_index_sort(&c->agents);
    c->is_used = arena_alloc(&c->arena, t->n_inputs + 1);
    c->dep_of = arena_alloc(&c->arena, (t->n_phases + 1) * sizeof *c->dep_of);
    c->manifests = arena_alloc(&c->arena, (t->n_agents + 1) * sizeof *c->manifests);
    if (!c->is_used || !c->dep_of || !c->manifests)
        return false;
    memset(c->manifests, 0, (t->n_agents + 1) * sizeof *c->manifests);
    memset(c->is_used, 0, t->n_inputs + 1);
    memset(c->dep_of, 0, (t->n_phases + 1) * sizeof *c->dep_of);
    return true;
}

/* When the installed agents cannot be listed, a warning says so and the list holds the others.
 * Settings that cannot be read are told by those who need them. */
static bool
list_agents(struct check *c)
{
    struct settings settings = { 0 };
    bool has_settings = c->dir >= 0 && settings_load(&settings, c->state_dir, NULL) == ST_OK;
    struct agent_list_places places = { .settings = has_settings ? &settings : NULL,
                                        .team = c->team,
                                        .is_blind = c->dir < 0 };
    struct err e;

    if (agent_list_make(&c->roster, &c->arena, &places, &e) && c->roster.v)
        problem_warn(c->problems, (struct problem_at){ .file = c->team->file },
                     "the installed agents cannot be listed: %s", e.text);
    settings_release(&settings);
    return c->roster.v != NULL;
}

void
team_validate(const struct team *t, int dir, const char *state_dir, struct problems *p)
{
    struct check c = { .team = t, .dir = dir, .state_dir = state_dir, .problems = p };

    if (!t->node)
        return; /* loading has reported why */
    c.is_starved = !index_names(&c) || !list_agents(&c);
    if (!c.is_starved) {
        check_head(&c);
        for (size_t i = 0; i < t->n_inputs; i++)
            check_input(&c, &t->inputs[i], i);
        check_agents(&c);
        for (size_t i = 0; i < t->n_phases; i++) {
            check_phase(&c, &t->phases[i]);
            check_texts(&c, i);
        }
        check_graph(&c);
        check_unused_inputs(&c);
    }
    if (c.is_starved)
        problem_error(p, (struct problem_at){ .file = t->file }, "out of memory");
    arena_release(&c.arena);
}
