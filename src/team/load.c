/*
 * load - reads team.yml into struct team: the keys of each map and the shape of their values.
 *
 * The tables below are the reference of the file's format; validate*.c checks the rules between
 * values.
 */
#include "team/load.h"

#include "base/path.h"
#include "base/suggest.h"
#include "team/name_index.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    PHASES_MAX = 10000, /* phases in the graph, and as many support phases */
    ITERATIONS = 3,     /* the default of a gate */
};

/* ---- phases ---- */

static const char *const type_names[] = {
    [PHASE_STANDARD] = "standard", [PHASE_GATE] = "gate", [PHASE_TEAM] = "team"
};

const char *
phase_type_name(enum phase_type type)
{
    return type_names[type];
}

static void
read_type(struct load *l, const struct load_field *f, const struct yaml *v, void *to)
{
    struct phase *p = to;
    const char *s = v->type == YAML_SCALAR ? v->text : "";
    struct suggest near = { .word = s };

    for (size_t i = 0; i < sizeof type_names / sizeof *type_names; i++) {
        if (strcmp(s, type_names[i]) == 0) {
            p->type = (enum phase_type)i;
            return;
        }
        suggest_try(&near, type_names[i]);
    }
    if (strcmp(s, "exec") == 0 || strcmp(s, "hug") == 0)
        problem_error(l->problems, load_at(l, f, v),
                      "\"%s\" is an agent, not a type: write agent: %s%s", s, s,
                      *s == 'h' ? " and type: gate" : "");
    else if (strcmp(s, "pull") == 0 || strcmp(s, "push") == 0)
        problem_error(l->problems, load_at(l, f, v),
                      "\"%s\" is no type any more: use a connector as the agent, with %s", s,
                      s[2] == 'l' ? "sources" : "target_entries");
    else if (near.best)
        problem_error(l->problems, load_at(l, f, v),
                      "unknown type \"%.80s\" (did you mean \"%s\"?)", s, near.best);
    else
        problem_error(l->problems, load_at(l, f, v),
                      "unknown type \"%.80s\": there are standard, gate and team", s);
}

static const struct load_field command_fields[] = {
    { "name", load_text, offsetof(struct command, name) },
    { "run", load_text, offsetof(struct command, run) },
    { "escalate_on_fail", load_bool, offsetof(struct command, escalate_on_fail) },
    { "scope", load_nothing },
    { 0 },
};

static void
read_commands(struct load *l, const struct load_field *f, const struct yaml *v, void *to)
{
    struct phase *p = to;

    if (!load_is_list(l, f, v) || !(p->commands = load_alloc(l, v->count, sizeof *p->commands)))
        return;
    yaml_each (m, v) {
        struct command *c = &p->commands[p->n_commands];
        const struct yaml *run = yaml_get(m, "run");
        c->line = run ? run->line : m->line;
        c->column = run ? run->column : m->column;
        load_map(l, m, "a command (name: and run:)", command_fields, c);
        p->n_commands += m->type == YAML_MAP;
    }
}

/* Validation reads the fields of review from the tree; this only reports unknown keys. */
static const struct load_field review_fields[] = {
    { "reviewer", load_nothing },
    { "artifacts", load_nothing },
    { "timeout", load_nothing },
    { "remind_every", load_nothing },
    { 0 },
};

static void
read_review(struct load *l, const struct load_field *f, const struct yaml *v, void *to)
{
    load_json_map(l, f, v, to);
    if (v->type == YAML_MAP)
        load_map(l, v, "review", review_fields, to);
}

static const struct load_field notify_fields[] = {
    { "on_start", load_nothing },   { "on_complete", load_nothing },
    { "on_fail", load_nothing },    { "on_escalate", load_nothing },
    { "on_error", load_nothing },   { "on_skip", load_nothing },
    { "on_timeout", load_nothing }, { 0 },
};

static void
read_notify(struct load *l, const struct load_field *f, const struct yaml *v, void *to)
{
    load_json_map(l, f, v, to);
    if (v->type == YAML_MAP)
        load_map(l, v, "notify", notify_fields, to);
}

#define PHASE(member)      offsetof(struct phase, member)
#define PHASE_LIST(member) offsetof(struct phase, member), offsetof(struct phase, n_##member)

static const struct load_field phase_fields[] = {
    { "name", load_text, PHASE(name) },
    { "type", read_type },
    { "agent", load_text, PHASE(agent) },
    { "role", load_text, PHASE(role) },
    { "model", load_text, PHASE(model) },
    { "depends_on", load_texts_or_commas, PHASE_LIST(depends_on) },
    { "commands", read_commands },
    { "max_iterations", load_number, PHASE(max_iterations), .min = 1, .max = 5 },
    { "timeout", load_time, PHASE(timeout_ms) },
    { "retries", load_number, PHASE(retries), .min = 0, .max = 5 },
    { "env", load_pairs, PHASE_LIST(env) },
    { "when", load_text, PHASE(when) },
    { "action", load_text, PHASE(action) },
    { "sources", load_json_list, PHASE(sources) },
    { "target_entries", load_json_list, PHASE(target_entries) },
    { "review", read_review, PHASE(review) },
    { "notify", read_notify, PHASE(notify) },
    { "team", load_text, PHASE(team) },
    { "inputs", load_pairs, PHASE_LIST(inputs) },
    { "description", load_nothing },
    { 0 },
};

static void
load_phase(struct load *l, struct phase *p, const struct yaml *v, bool is_support)
{
    const struct yaml *name = yaml_get(v, "name");

    *p = (struct phase){ .is_support = is_support,
                         .max_iterations = ITERATIONS,
                         .line = v->line,
                         .column = v->column,
                         .node = v };
    l->phase = name && name->type == YAML_SCALAR && *name->text ? name->text : NULL;
    load_map(l, v, is_support ? "a support phase" : "a phase", phase_fields, p);
    l->phase = NULL;
}

/* A list that is too long is not read at all: one error is enough. */
static size_t
count_phases(struct load *l, const struct yaml *v, const char *key)
{
    const struct load_field f = { .key = key };

    if (load_is_null(v) || !load_is_list(l, &f, v))
        return 0;
    if (v->count <= PHASES_MAX)
        return v->count;
    problem_error(l->problems, load_at(l, &f, v), "%zu phases: at most %d are allowed", v->count,
                  PHASES_MAX);
    return 0;
}

/* Finds `phases` or `support`: at the top, or in workflow. */
static const struct yaml *
find_list(struct load *l, const struct yaml *doc, const char *key)
{
    const struct yaml *top = yaml_get(doc, key), *in = yaml_get(yaml_get(doc, "workflow"), key);

    if (!load_is_null(top) && !load_is_null(in))
        problem_error(
            l->problems,
            (struct problem_at){ .file = l->file, in->key_line, in->key_column, .field = key },
            "%s stands at the top and in workflow: only one of them can be meant", key);
    return load_is_null(top) ? in : top;
}

static void
load_phases(struct load *l, struct team *t, const struct yaml *doc)
{
    const struct yaml *phases = find_list(l, doc, "phases"),
                      *support = find_list(l, doc, "support");
    size_t n = count_phases(l, phases, "phases"), n_support = count_phases(l, support, "support");

    if (!(t->phases = load_alloc(l, n + n_support, sizeof *t->phases)))
        return;
    t->n_phases = n + n_support;
    t->n_main = n;
    size_t i = 0;
    if (n)
        yaml_each (v, phases)
            load_phase(l, &t->phases[i++], v, false);
    if (n_support)
        yaml_each (v, support)
            load_phase(l, &t->phases[i++], v, true);
}

static void
resolve_deps(struct load *l, struct team *t)
{
    struct name_index names;

    if (!name_index_init(&names, l->arena, t->n_phases)) {
        l->is_starved = true;
        return;
    }
    for (size_t i = 0; i < t->n_phases; i++)
        name_index_add(&names, t->phases[i].name, i);
    name_index_sort(&names);
    for (size_t i = 0; i < t->n_phases; i++) {
        struct phase *p = &t->phases[i];
        if (!(p->deps = load_alloc(l, p->n_depends_on, sizeof *p->deps)))
            return;
        for (size_t k = 0; k < p->n_depends_on; k++)
            p->deps[k] = name_index_find(&names, p->depends_on[k]);
    }
}

/* ---- inputs and agents ---- */

#define INPUT(member) offsetof(struct team_input, member)

static const struct load_field input_fields[] = {
    { "name", load_text, INPUT(name) },
    { "description", load_text, INPUT(description) },
    { "type", load_text, INPUT(type) },
    { "required", load_bool, INPUT(is_required) },
    { "default", load_text, INPUT(fallback) },
    { "choices", load_texts, INPUT(choices), INPUT(n_choices) },
    { "label", load_nothing },
    { "help", load_nothing },
    { "placeholder", load_nothing },
    { 0 },
};

static void
read_inputs(struct load *l, const struct load_field *f, const struct yaml *v, void *to)
{
    struct team *t = to;

    if (!load_is_list(l, f, v) || !(t->inputs = load_alloc(l, v->count, sizeof *t->inputs)))
        return;
    yaml_each (m, v) {
        struct team_input *in = &t->inputs[t->n_inputs];
        in->line = m->line;
        in->column = m->column;
        load_map(l, m, "an input (name:, required:, ...)", input_fields, in);
        t->n_inputs += m->type == YAML_MAP;
    }
}

static const struct load_field agent_fields[] = {
    { "entry", load_text, offsetof(struct team_agent, entry) },
    { "env", load_texts, offsetof(struct team_agent, env), offsetof(struct team_agent, n_env) },
    { "description", load_nothing },
    { 0 },
};

static void
read_agents(struct load *l, const struct load_field *f, const struct yaml *v, void *to)
{
    struct team *t = to;

    if (v->type != YAML_MAP) {
        problem_error(l->problems, load_at(l, f, v),
                      "agents must be a map from names to {entry: ...}");
        return;
    }
    if (!(t->agents = load_alloc(l, v->count, sizeof *t->agents)))
        return;
    yaml_each (m, v) {
        struct team_agent *a = &t->agents[t->n_agents++];
        a->name = m->key;
        a->line = m->key_line;
        a->column = m->key_column;
        load_map(l, m, "an agent (entry:, env:)", agent_fields, a);
    }
}

/* ---- the whole ---- */

static const struct load_field workflow_fields[] = {
    { "phases", load_nothing },
    { "support", load_nothing },
    { 0 },
};

static void
read_workflow(struct load *l, const struct load_field *f, const struct yaml *v, void *to)
{
    (void)f;
    load_map(l, v, "workflow", workflow_fields, to); /* find_list reads its phases and support */
}

#define TEAM(member)      offsetof(struct team, member)
#define TEAM_LIST(member) offsetof(struct team, member), offsetof(struct team, n_##member)

static const struct load_field team_fields[] = {
    { "name", load_text, TEAM(name) },
    { "description", load_text, TEAM(description) },
    { "version", load_text, TEAM(version) },
    { "cliq_version", load_text, TEAM(cliq_version) },
    { "tools", load_texts, TEAM_LIST(tools) },
    { "tags", load_texts, TEAM_LIST(tags) },
    { "inputs", read_inputs },
    { "agents", read_agents },
    { "workflow", read_workflow },
    { "phases", load_nothing },  /* find_list */
    { "support", load_nothing }, /* find_list */
    { "outputs", load_nothing },
    { "use_when", load_nothing },
    { "not_for", load_nothing },
    { 0 },
};

enum status
team_load(struct team *t, const char *file, const char *text, size_t len, struct problems *p,
          struct err *e)
{
    struct load l = { .arena = &t->arena, .problems = p };
    struct yaml_fault fault;
    struct yaml *doc = NULL;
    size_t errors = p->errors;

    *t = (struct team){ 0 };
    if (!(t->file = l.file = arena_dup(&t->arena, file, strlen(file))))
        return err_set(e, ST_IO, "read %s: out of memory", file);
    if (!yaml_parse(&t->arena, text, len, &doc, &fault)) {
        if (strcmp(fault.what, "out of memory") == 0)
            return err_set(e, ST_IO, "read %s: out of memory", file);
        for (const struct yaml_fault *f = &fault; f; f = f->next)
            problem_error(p, (struct problem_at){ .file = file, f->line, f->column }, "%s",
                          f->what);
    } else if (!doc) {
        problem_error(p, (struct problem_at){ .file = file }, "the file is empty");
    } else if (doc->type != YAML_MAP) {
        problem_error(p, (struct problem_at){ .file = file, doc->line, doc->column },
                      "a team must be a map: name:, phases:, ...");
    } else {
        t->node = doc;
        load_map(&l, doc, "a team", team_fields, t);
        load_phases(&l, t, doc);
        resolve_deps(&l, t);
    }
    if (l.is_starved)
        return err_set(e, ST_IO, "read %s: out of memory", file);
    size_t n = p->errors - errors;
    return n ? err_set(e, ST_INVALID, "%s has %zu error%s", file, n, n == 1 ? "" : "s") : ST_OK;
}

enum status
team_load_file(struct team *t, int dir, const char *path, struct problems *p, struct err *e)
{
    struct buf text = BUF_MAX(YAML_MAX_BYTES + 1); /* so that yaml_parse reports the limit */
    enum status s;

    *t = (struct team){ 0 };
    s = path_read_file(dir, path, &text, e);
    if (!s) {
        s = team_load(t, path, text.p ? text.p : "", text.len, p, e);
    } else if (text.is_over) {
        problem_error(p, (struct problem_at){ .file = path }, "larger than %zu bytes",
                      YAML_MAX_BYTES);
        s = err_set(e, ST_INVALID, "%s has 1 error", path);
    }
    buf_release(&text);
    return s;
}

void
team_release(struct team *t)
{
    arena_release(&t->arena);
    *t = (struct team){ 0 };
}

const struct phase *
team_phase(const struct team *t, const char *name)
{
    for (size_t i = 0; i < t->n_phases; i++)
        if (t->phases[i].name && strcmp(t->phases[i].name, name) == 0)
            return &t->phases[i];
    return NULL;
}

enum status
team_find_phase(const struct team *t, const char *name, size_t *out, struct err *e)
{
    struct suggest near = { .word = name };
    struct buf names = { 0 };

    for (size_t i = 0; i < t->n_phases; i++) {
        if (strcmp(t->phases[i].name, name) == 0) {
            *out = i;
            buf_release(&names);
            return ST_OK;
        }
        suggest_try(&near, t->phases[i].name);
        buf_addf(&names, "%s%s", i ? ", " : "", t->phases[i].name);
    }
    enum status s = err_set(e, ST_NOT_FOUND, "there is no phase \"%s\"%s%s%s; the phases are %s",
                            name, near.best ? " (did you mean \"" : "", near.best ? near.best : "",
                            near.best ? "\"?)" : "", names.p ? names.p : "none");
    buf_release(&names);
    return s;
}
