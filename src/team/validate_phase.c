/* validate_phase - checks one phase: its name, its agent, and the fields of that agent. */
#include "base/opt.h"
#include "base/path.h"
#include "base/path_glob.h"
#include "team/builtin_agents.h"
#include "team/manifest.h"
#include "team/validate.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ^[a-z][a-z0-9-]*$, no "--": channels are named <from>--<to>. */
static bool
is_phase_name(const char *s)
{
    size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-");

    return *s >= 'a' && *s <= 'z' && s[n] == '\0' && n <= TEAM_PHASE_NAME_MAX && !strstr(s, "--");
}

static void
check_name(struct check *c, const struct phase *p)
{
    size_t self = (size_t)(p - c->team->phases);

    if (!p->name || !*p->name) {
        if (p->node->type == YAML_MAP && (p->name || !check_given(p->node, "name")))
            problem_error(c->problems, check_at(c, p, "name"), "a phase without a name");
        return;
    }
    if (!is_phase_name(p->name))
        problem_error(c->problems, check_at(c, p, "name"),
                      "bad phase name \"%.80s\": begin with a-z, then a-z, 0-9 and single -, at "
                      "most %d",
                      p->name, TEAM_PHASE_NAME_MAX);
    size_t first = name_index_find(&c->phases, p->name);
    if (first != self)
        problem_error(c->problems, check_at(c, p, "name"),
                      "two phases are named \"%.80s\": the first is in line %u", p->name,
                      c->team->phases[first].line);
}

/* ---- agents ---- */

static void
check_known(struct check *c, const char *agent, struct problem_at at)
{
    struct suggest near = { .word = agent };

    if (agent_list_find(&c->roster, agent))
        return;
    if (check_may_guess(c))
        agent_list_suggest(&c->roster, &near);
    problem_error(c->problems, at,
                  "unknown agent \"%.80s\"%s: it is neither built in nor installed here nor "
                  "declared under agents",
                  agent, check_hint(c, &near));
}

/* The actions of a built-in agent are known. */
static void
check_action(struct check *c, const struct phase *p)
{
    const struct builtin *b = p->agent ? builtin_find(p->agent) : NULL;

    if (b && p->action && *p->action && check_has_agent(c, p, b->name) &&
        !builtin_knows_action(b, p->action))
        problem_error(c->problems, check_at(c, p, "action"),
                      "the agent %s has no action \"%.80s\"; these are: %s", b->name, p->action,
                      b->actions);
}

/* The text of an entry's member, unless a template decides it; NULL: none. */
static const char *
literal(struct check *c, const struct json *entry, const char *key)
{
    const struct json *v = json_get(entry, key);
    const char *text = json_is(v, JSON_STRING) ? json_dup_text(&c->arena, v) : NULL;

    return text && *text && !strstr(text, "$(") ? text : NULL;
}

/* The same for entries that have an action of their own. */
static void
check_entry_actions(struct check *c, const struct phase *p, const char *field,
                    const struct json *entries)
{
    json_each (entry, entries) {
        const char *agent = literal(c, entry, "agent"), *action = literal(c, entry, "action");
        const char *name = literal(c, entry, "name");
        bool is_own = !json_get(entry, "agent") && p->agent;
        const struct builtin *b = is_own && !check_has_agent(c, p, p->agent) ? NULL
                                  : is_own ? builtin_find(p->agent)
                                  : agent  ? builtin_find(agent)
                                           : NULL;
        if (action && b && b->actions && !builtin_knows_action(b, action))
            problem_error(c->problems, check_at(c, p, field),
                          "%.80s: the agent %s has no action \"%.80s\"; these are: %s",
                          name ? name : field, b->name, action, b->actions);
    }
}

/* Has each of the entries an action of its own? */
static bool
all_have_actions(const struct json *entries)
{
    json_each (entry, entries)
        if (!json_is(json_get(entry, "action"), JSON_STRING))
            return false;
    return true;
}

/* Is the action of all that the phase does known: by the phase, or by its sources and targets? */
static bool
has_actions(const struct phase *p)
{
    return check_given(p->node, "action") ||
           ((json_first(p->sources) || json_first(p->target_entries)) &&
            all_have_actions(p->sources) && all_have_actions(p->target_entries));
}

/* Checks the fields that the built-in agents require. */
static void
check_agent_fields(struct check *c, const struct phase *p, enum agent_kind kind)
{
    bool is_exec = check_has_agent(c, p, "exec"), is_checks = check_has_agent(c, p, "checks");

    if (!check_given(p->node, "commands") || (p->n_commands == 0 && p->commands)) {
        if (is_exec || is_checks || check_has_agent(c, p, "script"))
            problem_error(c->problems, check_at(c, p, "commands"),
                          "the agent %s needs commands: a list of {name, run}", p->agent);
        else if (check_has_agent(c, p, "hug"))
            problem_warn(c->problems, check_at(c, p, "commands"),
                         "no commands: people review without any checks");
    }
    bool has_work = check_given(p->node, "sources") || check_given(p->node, "target_entries");
    if (check_has_agent(c, p, "curl") && !has_work)
        problem_error(c->problems, check_at(c, p, "agent"),
                      "the agent curl needs sources or target_entries");
    check_action(c, p);
    check_entry_actions(c, p, "sources", p->sources);
    check_entry_actions(c, p, "target_entries", p->target_entries);
    if (kind != AGENT_CONNECTOR)
        return;
    if (!has_actions(p) && !check_has_agent(c, p, "s3") && !check_has_agent(c, p, "gdrive"))
        problem_error(c->problems, check_at(c, p, "action"), "the agent %s needs an action",
                      p->agent);
    if (!has_work)
        problem_warn(c->problems, check_at(c, p, "sources"),
                     "the agent %s has neither sources nor target_entries", p->agent);
}

static bool
has_support(const struct team *t)
{
    for (size_t i = 0; i < t->n_phases; i++)
        if (t->phases[i].is_support)
            return true;
    return false;
}

/* A gate judges the work of other phases, so it needs depends_on. Exceptions: a person may be
 * asked first, and a support phase may repair what the first gate checks. */
static void
check_gate(struct check *c, const struct phase *p)
{
    if (p->type == PHASE_GATE && !p->is_support && !check_given(p->node, "depends_on") &&
        !check_has_agent(c, p, "hug") && !has_support(c->team))
        problem_warn(
            c->problems, check_at(c, p, "type"),
            "a gate without depends_on has nothing to judge and no phase to route to: name "
            "in depends_on what it judges");
}

/* ---- receivers of notifications ---- */

/* "slack:ops": is the agent known, and can it notify? */
static void
check_receiver(struct check *c, const struct phase *p, const char *field, const struct yaml *ref)
{
    char name[80];
    size_t n = strcspn(ref->text, ":");

    if (n >= sizeof name)
        n = sizeof name - 1;
    memcpy(name, ref->text, n);
    name[n] = '\0';
    check_known(c, name, check_at_node(c, p, field, ref));
    const struct agent_list_agent *one = agent_list_find(&c->roster, name);
    const struct json *manifest = NULL;
    if (one && check_manifest_of(c, one, &manifest) && !manifest_can(manifest, "notify"))
        problem_warn(c->problems, check_at_node(c, p, field, ref),
                     "the agent %.80s takes no notifications: its manifest lacks the capability "
                     "notify",
                     name);
}

/* ---- reviews ---- */

/* "24h" and the like; days too, because people take their time. */
static bool
is_review_time(const struct yaml *v)
{
    int64_t ms;
    size_t n = v->type == YAML_SCALAR ? strlen(v->text) : 0;

    if (n == 0)
        return false;
    if (v->text[n - 1] == 'd')
        return n > 1 && n < 6 && strspn(v->text, "0123456789") == n - 1 && atoi(v->text) > 0;
    return opt_parse_ms(v->text, &ms) && ms > 0;
}

static bool
has_texts(const struct yaml *v)
{
    if (!v || v->type == YAML_MAP)
        return false;
    if (v->type == YAML_SCALAR)
        return *v->text != '\0';
    yaml_each (m, v)
        if (m->type != YAML_SCALAR || !*m->text)
            return false;
    return v->count > 0;
}

/* "slack:elan", "@elan" or "elan". What a variable gives is known in the run only. */
static void
check_reviewers(struct check *c, const struct phase *p, const struct yaml *v)
{
    if (v && v->type == YAML_LIST) {
        yaml_each (m, v)
            check_reviewers(c, p, m);
        return;
    }
    if (!v || v->type != YAML_SCALAR || !*v->text || strstr(v->text, "$("))
        return;
    const char *colon = strchr(v->text, ':'), *who = colon ? colon + 1 : v->text;
    if (!path_is_name(*who == '@' ? who + 1 : who))
        problem_error(c->problems, check_at_node(c, p, "review", v),
                      "the reviewer \"%.80s\" names nobody: write slack:elan, email:ops or a name",
                      v->text);
    else if (colon)
        check_receiver(c, p, "review", v);
}

/* Is it absolute, or has it a part ".."? */
static bool
leads_out(const char *path)
{
    bool is_out = path[0] == '/';

    for (const char *part = path; part && !is_out;) {
        is_out = strncmp(part, "..", 2) == 0 && (part[2] == '/' || part[2] == '\0');
        part = strchr(part, '/');
        part = part ? part + 1 : NULL;
    }
    return is_out;
}

/* Artifacts are looked for below the project, and links are not followed. */
static void
check_artifacts(struct check *c, const struct phase *p, const struct yaml *v)
{
    if (!v)
        return;
    if (v->type != YAML_LIST || (v->count && !has_texts(v))) {
        problem_error(c->problems, check_at_node(c, p, "review", v),
                      "review.artifacts must be a list of texts");
        return;
    }
    yaml_each (m, v)
        if (leads_out(m->text))
            problem_warn(c->problems, check_at_node(c, p, "review", m),
                         "the artifacts \"%.80s\" lead out of the project: no file is shown",
                         m->text);
}

static void
check_review(struct check *c, const struct phase *p)
{
    static const char *const times[] = { "timeout", "remind_every" };
    bool is_hug = check_has_agent(c, p, "hug");
    const struct yaml *review = check_given(p->node, "review");

    if (review && !is_hug)
        problem_error(c->problems, check_at(c, p, "review"),
                      "review is only for gates with agent: hug");
    if (!review || review->type != YAML_MAP) {
        if (is_hug && !review)
            problem_error(c->problems, check_at(c, p, "review"),
                          "the agent hug needs review.reviewer: who decides");
        return;
    }
    if (!has_texts(check_given(review, "reviewer"))) {
        const struct yaml *v = yaml_get(review, "reviewer");
        problem_error(c->problems, check_at_node(c, p, "review", v ? v : review),
                      "review.reviewer must be a text or a list of texts: who decides");
    }
    check_reviewers(c, p, check_given(review, "reviewer"));
    check_artifacts(c, p, check_given(review, "artifacts"));
    const struct yaml *require = check_given(review, "require");
    if (require && (require->type != YAML_SCALAR ||
                    (strcmp(require->text, "any") != 0 && strcmp(require->text, "all") != 0)))
        problem_error(c->problems, check_at_node(c, p, "review", require),
                      "review.require must be any or all");
    for (size_t i = 0; i < 2; i++) {
        const struct yaml *v = check_given(review, times[i]);
        if (v && !is_review_time(v))
            problem_error(c->problems, check_at_node(c, p, "review", v),
                          "review.%s must be a time like 30m, 24h or 2d", times[i]);
    }
}

/* ---- lists ---- */

static void
check_commands(struct check *c, const struct phase *p)
{
    const struct yaml *list = check_given(p->node, "commands");
    bool is_gate = p->type == PHASE_GATE, is_exec = check_has_agent(c, p, "exec"),
         may_escalate = is_exec && p->type == PHASE_STANDARD,
         has_limit = is_exec || (is_gate && !check_has_agent(c, p, "script")) ||
                     check_has_agent(c, p, "checks");

    if (!list || list->type != YAML_LIST)
        return;
    yaml_each (m, list) {
        const struct yaml *name = check_given(m, "name"), *run = check_given(m, "run");
        const struct yaml *escalate = yaml_get(m, "escalate_on_fail"),
                          *timeout = check_given(m, "timeout");
        if (m->type != YAML_MAP)
            continue;
        if (!name || (name->type == YAML_SCALAR && !*name->text))
            problem_error(c->problems, check_at_node(c, p, "commands", m),
                          "a command without a name");
        if (!run || (run->type == YAML_SCALAR && !run->text[strspn(run->text, " \t\n")]))
            problem_error(c->problems, check_at_node(c, p, "commands", m),
                          "a command without run: nothing to do");
        if (escalate && !may_escalate)
            problem_error(c->problems, check_at_node(c, p, "commands", escalate),
                          "escalate_on_fail is only for the commands of agent: exec%s",
                          is_gate ? ": a gate's verdict decides here" : "");
        if (timeout && !has_limit)
            problem_error(c->problems, check_at_node(c, p, "commands", timeout),
                          "timeout of a command is only for agent: exec and for a gate's checks: "
                          "set the phase's timeout");
    }
}

static bool
is_text(const struct yaml *v)
{
    return v && v->type == YAML_SCALAR && *v->text;
}

/* Does every target need a file? Connectors have actions that send none: transition. */
static bool
moves_files(struct check *c, const struct phase *p)
{
    return check_kind(c, p) != AGENT_CONNECTOR || check_has_agent(c, p, "s3") ||
           check_has_agent(c, p, "gdrive");
}

static void
check_entries(struct check *c, const struct phase *p, const char *field, const char *what)
{
    const struct yaml *list = check_given(p->node, field);
    bool is_target = field[0] == 't', needs_file = moves_files(c, p);

    if (!list || list->type != YAML_LIST)
        return;
    yaml_each (m, list) {
        if (m->type != YAML_MAP) {
            problem_error(c->problems, check_at_node(c, p, field, m), "a %s must be a map", what);
            continue;
        }
        if (!is_text(check_given(m, "name")))
            problem_error(c->problems, check_at_node(c, p, field, m), "a %s without a name", what);
        if (!is_target)
            continue;
        if (needs_file && !is_text(check_given(m, "file")))
            problem_error(c->problems, check_at_node(c, p, field, m), "a %s without a file", what);
        const struct yaml *mode = check_given(m, "mode");
        if (mode && (mode->type != YAML_SCALAR ||
                     (strcmp(mode->text, "create") != 0 && strcmp(mode->text, "append") != 0 &&
                      strcmp(mode->text, "replace") != 0)))
            problem_error(c->problems, check_at_node(c, p, field, mode),
                          "the mode of a target must be create, append or replace%s%.80s%s",
                          mode->text ? ", not \"" : "", mode->text ? mode->text : "",
                          mode->text ? "\"" : "");
    }
}

/* {agent: slack, channel: ops}, "slack:ops", or a list of these. */
static void
check_notified(struct check *c, const struct phase *p, const struct yaml *v)
{
    const struct yaml *agent = v->type == YAML_MAP ? check_given(v, "agent") : v;

    if (v->type == YAML_LIST) {
        yaml_each (m, v)
            if (m->type != YAML_LIST)
                check_notified(c, p, m);
        return;
    }
    if (!is_text(agent)) {
        problem_error(c->problems, check_at_node(c, p, "notify", v),
                      "say whom to notify: {agent: slack, channel: ops}");
        return;
    }
    check_receiver(c, p, "notify", agent);
}

static void
check_env(struct check *c, const struct phase *p)
{
    for (size_t i = 0; i < p->n_env; i++) {
        const char *s = p->env[i].key;
        struct problem_at at = check_at_place(c, p, "env", p->env[i].line, p->env[i].column);
        size_t n = strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
        if (!*s || s[n] || (*s >= '0' && *s <= '9'))
            problem_error(c->problems, at, "\"%.80s\" cannot be the name of a variable", s);
        else if (strncmp(s, "CLIQ_", 5) == 0)
            problem_warn(c->problems, at, "%.80s: names that begin with CLIQ_ are set by cliq", s);
    }
}

static void
check_files(struct check *c, const struct phase *p)
{
    const struct yaml *list = yaml_get(p->node, "files");
    size_t i = 0;
    struct err e;

    yaml_each (v, list) {
        if (i >= p->n_files)
            break;
        const char *pattern = p->files[i++];
        if (strstr(pattern, "$("))
            problem_error(c->problems, check_at_node(c, p, "files", v),
                          "\"%.80s\": variables are not replaced in files", pattern);
        else if (path_glob_check(pattern, &e))
            problem_error(c->problems, check_at_node(c, p, "files", v), "%s", e.text);
    }
}

/* ---- all of it ---- */

static void
check_team_fields(struct check *c, const struct phase *p)
{
    if (p->type == PHASE_TEAM) {
        if (!check_given(p->node, "team") || (p->team && !*p->team))
            problem_error(c->problems, check_at(c, p, "team"),
                          "a team phase needs team: ./teams/NAME of this directory, or the name of "
                          "an installed team");
        return;
    }
    if (check_given(p->node, "team"))
        problem_error(c->problems, check_at(c, p, "team"), "team is only for phases of type: team");
    if (check_given(p->node, "inputs"))
        problem_warn(c->problems, check_at(c, p, "inputs"),
                     "inputs of a phase are only for type: team");
}

void
check_phase(struct check *c, const struct phase *p)
{
    check_name(c, p);
    if (p->agent)
        check_known(c, p->agent, check_at(c, p, "agent"));
    check_agent_fields(c, p, check_kind(c, p));
    check_gate(c, p);
    check_review(c, p);
    check_team_fields(c, p);
    check_commands(c, p);
    check_entries(c, p, "sources", "source");
    check_entries(c, p, "target_entries", "target");
    check_env(c, p);
    check_files(c, p);
    check_config(c, p);
    if (p->notify)
        yaml_each (m, yaml_get(p->node, "notify"))
            check_notified(c, p, m);
}
