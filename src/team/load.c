/*
 * load - reads team.yml into struct team: the keys of each map and the shape of their values.
 *
 * The tables here and in load_phase.c are the reference of the file's format; validate*.c checks
 * the rules between values.
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
};

/* ---- phases ---- */

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
    { "name", load_text, INPUT(name), .otherwise = FIELD_REQUIRED,
      .says = "the NAME of $(inputs.NAME): letters, digits, _ and -" },
    { "description", load_text, INPUT(description), .says = "shown when cliq req asks for it" },
    { "type", load_text, INPUT(type), .takes = "text, textarea, number, boolean, select or channel",
      .otherwise = "text", .says = "the kind of value, for forms; the value is a text" },
    { "required", load_bool, INPUT(is_required), .otherwise = "false",
      .says = "a run without a value is refused" },
    { "default", load_text, INPUT(fallback), .says = "the value when none is given" },
    { "choices", load_texts, INPUT(choices), INPUT(n_choices),
      .says = "the values that are allowed; the default must be one of them" },
    { "label", load_nothing, .takes = "a text", .says = "a title for forms" },
    { "help", load_nothing, .takes = "a text", .says = "an explanation for forms" },
    { "placeholder", load_nothing, .takes = "a text", .says = "an example value for forms" },
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

/* A text, which the agent splits into words, or a list of them. */
static void
read_acp(struct load *l, const struct load_field *f, const struct yaml *v, void *to)
{
    struct team_agent *a = to;

    if (v->type != YAML_SCALAR)
        load_texts(l, f, v, to);
    else if ((a->acp = load_alloc(l, 1, sizeof *a->acp)))
        a->acp[a->n_acp++] = v->text;
}

static const struct load_field agent_fields[] = {
    { "entry", load_text, offsetof(struct team_agent, entry), .otherwise = "unless it has acp",
      .says = "the program: a path below agents/ of the team's directory" },
    { "acp", read_acp, offsetof(struct team_agent, acp), offsetof(struct team_agent, n_acp),
      .takes = "a text or a list of texts",
      .says = "instead of entry: the command of an agent that speaks the Agent Client Protocol, "
              "like \"goose acp\"; cliq agent acp drives it" },
    { "env", load_texts, offsetof(struct team_agent, env), offsetof(struct team_agent, n_env),
      .says =
          "names of variables of your environment that the agent gets, besides the manifest's" },
    { "description", load_nothing, .takes = "a text", .says = "what it does, for people" },
    { 0 },
};

static void
read_agents(struct load *l, const struct load_field *f, const struct yaml *v, void *to)
{
    struct team *t = to;

    if (v->type != YAML_MAP) {
        problem_error(l->problems, load_at(l, f, v),
                      "agents must be a map from names to {entry: ...} or {acp: ...}");
        return;
    }
    if (!(t->agents = load_alloc(l, v->count, sizeof *t->agents)))
        return;
    yaml_each (m, v) {
        struct team_agent *a = &t->agents[t->n_agents++];
        a->name = m->key;
        a->line = m->key_line;
        a->column = m->key_column;
        load_map(l, m, "an agent (entry:, acp:, env:)", agent_fields, a);
    }
}

/* ---- the whole ---- */

#define SAYS_PHASES  "the phases; one runs as soon as all that it depends on are done"
#define SAYS_SUPPORT "phases that run only when a gate routes to them; they depend on nothing"

static const struct load_field workflow_fields[] = {
    { "phases", load_nothing, .takes = "a list of maps", .says = SAYS_PHASES },
    { "support", load_nothing, .takes = "a list of maps", .says = SAYS_SUPPORT },
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
    { "name", load_text, TEAM(name), .otherwise = FIELD_REQUIRED,
      .says = "@scope/name, or a name alone: a-z, 0-9 and -" },
    { "description", load_text, TEAM(description),
      .says = "what the team does; validation warns when it is missing" },
    { "version", load_text, TEAM(version), .says = "the team's version, like 1.2.3" },
    { "cliq_version", load_text, TEAM(cliq_version),
      .says = "the versions of cliq that can run it: \">=0.1 <2\", \"^0.1.0\", \"~1.2\", \"1.x\"" },
    { "tools", load_texts, TEAM_LIST(tools),
      .says = "programs that it needs on PATH; a run is not started without them" },
    { "tags", load_texts, TEAM_LIST(tags), .says = "words to find the team by" },
    { "inputs", read_inputs, .takes = "a list of maps",
      .says = "values that a run needs: cliq req --input NAME=VALUE" },
    { "agents", read_agents, .takes = "a map from names to maps",
      .says = "the team's own agents; one hides an installed or built-in agent of its name" },
    { "workflow", read_workflow, .takes = "a map",
      .says = "phases and support may be in here instead of at the top" },
    { "phases", load_nothing, .takes = "a list of maps", .otherwise = FIELD_REQUIRED,
      .says = SAYS_PHASES },                                                      /* find_list */
    { "support", load_nothing, .takes = "a list of maps", .says = SAYS_SUPPORT }, /* find_list */
    { "budget", load_budget, TEAM(budget), .takes = "a map",
      .says = "what all phases of a run may use together; the run escalates beyond it" },
    { "outputs", load_nothing, .takes = "anything", .says = "what the team makes, for people" },
    { "use_when", load_nothing, .takes = "anything", .says = "when to choose it, for people" },
    { "not_for", load_nothing, .takes = "anything", .says = "when not to, for people" },
    { 0 },
};

const struct load_table team_tables[] = {
    { "", "The top of the file", team_fields },
    { "workflow", "The phases, where they are not at the top", workflow_fields },
    { "inputs[]", "An input", input_fields },
    { "agents.NAME", "An agent of the team", agent_fields },
    { "phases[]", "A phase, and a support phase", phase_fields },
    { "budget", "A budget, of the run or (phases[].budget) of a phase", budget_fields },
    { "phases[].commands[]", "A command", command_fields },
    { "phases[].sources[]", "A source; other keys go to the agent as they are", source_fields },
    { "phases[].target_entries[]", "A target; other keys go to the agent as they are",
      target_fields },
    { "phases[].review", "The review of a gate with the agent hug", review_fields },
    { "phases[].notify", "Notifications of a phase", notify_fields },
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
