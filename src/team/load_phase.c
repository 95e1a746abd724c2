/* load_phase - the keys of a phase and of what is in it: commands, sources, review, notify. */
#include "team/load.h"

#include "base/suggest.h"

#include <stddef.h>
#include <string.h>

enum { ITERATIONS = 3 }; /* the default of a gate */

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
    const char *s = v->text;
    struct suggest near = { .word = s };

    if (v->type != YAML_SCALAR) {
        load_text(l, f, v, NULL); /* says that it must be one */
        return;
    }
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

const struct load_field command_fields[] = {
    { "name", load_text, offsetof(struct command, name), .otherwise = FIELD_REQUIRED,
      .says = "shown in results" },
    { "run", load_text, offsetof(struct command, run), .otherwise = FIELD_REQUIRED,
      .says = "a command for sh; variables are passed safely (cliq help templates)" },
    { "escalate_on_fail", load_bool, offsetof(struct command, escalate_on_fail),
      .otherwise = "false", .says = "agent: exec only: its failure fails the phase" },
    { "timeout", load_time, offsetof(struct command, timeout_ms),
      .otherwise = "the phase's timeout, else the setting run.command_timeout",
      .says = "agent: exec and checks of gates only: then it is stopped, exit code 124" },
    { "scope", load_nothing, .takes = "anything", .says = "accepted, without a meaning" },
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
const struct load_field review_fields[] = {
    { "reviewer", load_nothing, .takes = "a text or a list of texts", .otherwise = FIELD_REQUIRED,
      .says = "the people who decide" },
    { "artifacts", load_nothing, .takes = "a list of texts",
      .says = "patterns of the files to review" },
    { "timeout", load_nothing, .takes = "a time like 30m, 24h or 2d",
      .says = "after this time without an answer the gate escalates" },
    { "remind_every", load_nothing, .takes = "a time like 30m, 24h or 2d",
      .says = "the interval of reminders" },
    { "require", load_nothing, .takes = "any or all", .otherwise = "any",
      .says = "any: the first answer decides; all: each of them has to approve" },
    { 0 },
};

static void
read_review(struct load *l, const struct load_field *f, const struct yaml *v, void *to)
{
    load_json_map(l, f, v, to);
    if (v->type == YAML_MAP)
        load_map(l, v, "review", review_fields, to);
}

#define RECEIVERS "a receiver or a list"

const struct load_field notify_fields[] = {
    { "on_start", load_nothing, .takes = RECEIVERS, .says = "an attempt begins" },
    { "on_complete", load_nothing, .takes = RECEIVERS, .says = "the phase is done" },
    { "on_skip", load_nothing, .takes = RECEIVERS, .says = "its when is false" },
    { "on_error", load_nothing, .takes = RECEIVERS, .says = "an attempt ends by an error or dies" },
    { "on_timeout", load_nothing, .takes = RECEIVERS, .says = "an attempt reaches its time limit" },
    { "on_fail", load_nothing, .takes = RECEIVERS, .says = "the phase fails: no retry is left" },
    { "on_escalate", load_nothing, .takes = RECEIVERS, .says = "the same; a person is needed" },
    { 0 },
};

static void
read_notify(struct load *l, const struct load_field *f, const struct yaml *v, void *to)
{
    load_json_map(l, f, v, to);
    if (v->type == YAML_MAP)
        load_map(l, v, "notify", notify_fields, to);
}

const struct load_field budget_fields[] = {
    { "usd", load_amount, offsetof(struct budget, usd), .takes = "a number above 0, like 2.50",
      .says = "US dollars; counts where the cost is known (the setting prices.<model>)" },
    { "tokens", load_count, offsetof(struct budget, tokens), .takes = "a whole number above 0",
      .says = "tokens that its models read and write" },
    { 0 },
};

void
load_budget(struct load *l, const struct load_field *f, const struct yaml *v, void *to)
{
    struct budget *b = (struct budget *)((char *)to + f->at);
    size_t errors = l->problems->errors;

    load_map(l, v, "a budget (usd:, tokens:)", budget_fields, b);
    if (l->problems->errors == errors && b->usd <= 0 && b->tokens <= 0)
        problem_error(l->problems, load_at(l, f, v), "a budget needs usd: or tokens:");
}

/* ---- sources and targets: the agent reads them; this only reports misspelt keys ---- */

const struct load_field source_fields[] = {
    { "name", load_nothing, .takes = "a text", .otherwise = FIELD_REQUIRED,
      .says = "the file that it becomes: files/<phase>/<name>" },
    { "url", load_nothing, .takes = "a text", .says = "curl: where it is fetched, http or https" },
    { "ref", load_nothing, .takes = "a text",
      .says = "connectors: what is fetched; in phases of other agents with the connector's name: "
              "s3://bucket/key, jira:PROJ-1" },
    { "agent", load_nothing, .takes = "a text", .otherwise = "the scheme of ref; curl for a url",
      .says = "the connector that fetches it" },
    { "action", load_nothing, .takes = "a text", .otherwise = "the phase's action",
      .says = "connectors: what is done" },
    { "limit", load_nothing, .takes = "a whole number", .otherwise = "100000",
      .says = "connectors: how many items of a list or search" },
    { "method", load_nothing, .takes = "a text", .otherwise = "GET; POST with a body",
      .says = "curl: the HTTP method" },
    { "headers", load_nothing, .takes = "a map of texts", .says = "curl: the request's headers" },
    { "body", load_nothing, .takes = "a text, or any value as JSON",
      .says = "curl: the request's body" },
    { "retry", load_nothing, .takes = "true or false", .otherwise = "true",
      .says = "curl: try again after a failure that may pass" },
    { 0 },
};

const struct load_field target_fields[] = {
    { "name", load_nothing, .takes = "a text", .otherwise = FIELD_REQUIRED,
      .says = "its key in the handoff's data" },
    { "file", load_nothing, .takes = "a text", .otherwise = FIELD_REQUIRED,
      .says = "the file that is delivered; connectors: unless the action sends none" },
    { "url", load_nothing, .takes = "a text", .says = "curl: where it is delivered to" },
    { "ref", load_nothing, .takes = "a text", .says = "connectors: where it is delivered to" },
    { "agent", load_nothing, .takes = "a text", .otherwise = "the scheme of ref; curl for a url",
      .says = "the connector that delivers it" },
    { "action", load_nothing, .takes = "a text", .otherwise = "the phase's action",
      .says = "connectors: what is done" },
    { "method", load_nothing, .takes = "a text", .otherwise = "POST",
      .says = "curl: the HTTP method" },
    { "headers", load_nothing, .takes = "a map of texts", .says = "curl: the request's headers" },
    { "mode", load_nothing, .takes = "create, append or replace", .otherwise = "create",
      .says = "connectors: what is done to a target that exists" },
    { "retry", load_nothing, .takes = "true or false", .otherwise = "true",
      .says = "curl: try again after a failure that may pass" },
    { 0 },
};

static void
read_entries(struct load *l, const struct load_field *f, const struct yaml *v, void *to)
{
    bool is_source = f->key[0] == 's';

    load_json_list(l, f, v, to);
    if (v->type == YAML_LIST)
        yaml_each (m, v)
            load_open_map(l, m, is_source ? "a source" : "a target",
                          is_source ? source_fields : target_fields);
}

/* ---- the phase ---- */

/* "dir/" is all that is below it. */
static void
read_files(struct load *l, const struct load_field *f, const struct yaml *v, void *to)
{
    struct phase *p = to;

    load_texts(l, f, v, to);
    for (size_t i = 0; i < p->n_files; i++) {
        size_t n = strlen(p->files[i]);
        char *all = n && p->files[i][n - 1] == '/' ? load_alloc(l, n + 3, 1) : NULL;
        if (all) {
            memcpy(all, p->files[i], n);
            memcpy(all + n, "**", 3);
            p->files[i] = all;
        }
    }
}

#define PHASE(member)      offsetof(struct phase, member)
#define PHASE_LIST(member) offsetof(struct phase, member), offsetof(struct phase, n_##member)

const struct load_field phase_fields[] = {
    { "name", load_text, PHASE(name), .otherwise = FIELD_REQUIRED,
      .says = "unique; begins with a-z, then a-z, 0-9 and single -, at most 64 characters" },
    { "type", read_type, .takes = "standard, gate or team", .otherwise = "standard",
      .says = "a gate decides PASS, ROUTE or ESCALATE; a team phase runs a whole team" },
    { "agent", load_text, PHASE(agent),
      .otherwise = "run --agent, else the setting default_agent, else cursor; team phases: team",
      .says = "the agent that runs it: of the team, installed or built in (cliq team info "
              "--agents)" },
    { "role", load_text, PHASE(role), .otherwise = "the phase's name",
      .says = "roles/ROLE.md tells the agent what to do; agents with a model need one" },
    { "model", load_text, PHASE(model), .says = "the model, for agents that have several" },
    { "depends_on", load_texts_or_commas, PHASE_LIST(depends_on),
      .says = "phases that must be done before; it reads their handoffs" },
    { "commands", read_commands, .takes = "a list of maps",
      .says = "what exec, script and checks run; at a gate, the checks that run before its agent" },
    { "max_iterations", load_number, PHASE(max_iterations), .min = 1, .max = 5, .otherwise = "3",
      .says = "gates: a ROUTE in the last iteration escalates" },
    { "timeout", load_time, PHASE(timeout_ms), .otherwise = "20m; gates 15m; team phases none",
      .says = "an attempt is stopped then" },
    { "retries", load_number, PHASE(retries), .min = 0, .max = 5, .otherwise = "0",
      .says = "new attempts after an error, a crash or a timeout" },
    { "budget", load_budget, PHASE(budget), .takes = "a map",
      .says = "what all its attempts in a run may use; the run escalates beyond it" },
    { "env", load_pairs, PHASE_LIST(env), .says = "variables of the agent's environment" },
    { "files", read_files, PHASE_LIST(files), .takes = "a list of texts",
      .says = "what it writes: files and patterns in the project, dir/ for all below; phases whose "
              "files overlap do not run at the same time, and other agents keep off them (cliq "
              "lease)" },
    { "when", load_text, PHASE(when),
      .says = "a condition; false: the phase is skipped (cliq help templates)" },
    { "action", load_text, PHASE(action),
      .says = "what a connector does; curl: get (sources only) or put (target_entries only)" },
    { "sources", read_entries, PHASE(sources), .takes = "a list of maps",
      .says = "what curl or a connector fetches into files/<phase>/" },
    { "target_entries", read_entries, PHASE(target_entries), .takes = "a list of maps",
      .says = "what curl or a connector delivers" },
    { "review", read_review, PHASE(review), .takes = "a map",
      .says = "agent: hug only: who decides" },
    { "notify", read_notify, PHASE(notify), .takes = "a map",
      .says = "the agents to notify of its events" },
    { "team", load_text, PHASE(team),
      .says = "type: team only: the team to run: ./teams/NAME of this directory, or the name of an "
              "installed one, with @1.2 behind it if it must have that version" },
    { "inputs", load_pairs, PHASE_LIST(inputs),
      .says = "type: team only: the inputs of that team; templates are replaced" },
    { "description", load_nothing, .takes = "a text", .says = "for people" },
    { 0 },
};

void
load_phase(struct load *l, struct phase *p, const struct yaml *v, bool is_support)
{
    const struct yaml *name = yaml_get(v, "name");

    *p = (struct phase){ .is_support = is_support,
                         .max_iterations = ITERATIONS,
                         .line = v->line,
                         .column = v->column,
                         .node = v };
    l->phase = name && name->type == YAML_SCALAR && *name->text ? name->text : NULL;
    /* Validation knows the agent, which may take more keys (team/phase_config.h). */
    load_known(l, v, is_support ? "a support phase" : "a phase", phase_fields, p);
    if (!yaml_get(v, "type") && p->team && p->agent && strcmp(p->agent, "team") == 0)
        p->type = PHASE_TEAM; /* agent: team says it, too */
    l->phase = NULL;
}
