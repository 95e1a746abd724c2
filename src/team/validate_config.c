/*
 * validate_config - checks whether a phase's agent can run it, and the keys that it has for the
 * agent.
 *
 * A phase that names no agent gets the default one, which may be another on each machine, or
 * run --agent: a key is right there when any agent takes it with that value. The run checks it
 * again with the agent that it has (run/plan.c).
 */
#include "team/capability.h"
#include "team/phase_config.h"
#include "team/validate.h"

/* The agent that runs the phase, as far as the team tells; NULL: it is not known. */
static const struct agent_list_agent *
find_agent(const struct check *c, const struct phase *p)
{
    const char *name = p->agent ? p->agent : p->type == PHASE_TEAM ? "team" : NULL;

    return name ? agent_list_find(&c->roster, name) : NULL;
}

/* A key is only reported when it resembles one that every phase has. */
static void
check_blindly(struct check *c, const struct phase *p, const struct yaml *m)
{
    check_tree(c, p, m->key, m);
    phase_config_unknown(c->team, p, m, NULL, false, c->problems);
}

static const struct json *
schema_of(struct check *c, const struct agent_list_agent *one)
{
    const struct json *manifest;

    return check_manifest_of(c, one, &manifest) ? agent_schema(&c->arena, one->name, manifest)
                                                : NULL;
}

/* The fields of all agents, for suggestions; NULL: none, or out of memory. */
static const struct json *
all_fields(struct check *c)
{
    struct json *all = check_may_guess(c) ? json_new(&c->arena, JSON_OBJECT) : NULL;

    for (size_t i = 0; all && i < c->roster.n; i++) {
        json_each (field, schema_of(c, &c->roster.v[i])) {
            const char *key = arena_dup(&c->arena, field->key, field->key_len);
            if (key)
                json_set(all, key, json_new(&c->arena, JSON_OBJECT));
        }
    }
    return all;
}

/* Is there an agent that takes the key with this value? */
static void
check_for_any(struct check *c, const struct phase *p, const struct yaml *m)
{
    const struct agent_list_agent *taker = NULL;
    struct err why = { "" };
    bool fits = false;

    for (size_t i = 0; !fits && i < c->roster.n; i++) {
        const struct agent_list_agent *one = &c->roster.v[i];
        const struct json *field = json_get(schema_of(c, one), m->key);
        struct err now = { "" };
        if (!field)
            continue;
        fits = phase_config_fits(field, m, &now);
        if (!taker) {
            taker = one;
            why = now;
        }
    }
    if (!taker)
        phase_config_unknown(c->team, p, m, all_fields(c), true, c->problems);
    else if (!fits)
        problem_error(c->problems, check_at_node(c, p, m->key, m), "%.80s %s (agent %.80s)", m->key,
                      why.text, taker->name);
    if (taker)
        check_tree(c, p, m->key, m);
}

void
check_config(struct check *c, const struct phase *p)
{
    const struct agent_list_agent *one = find_agent(c, p);
    const struct json *manifest = NULL, *schema = NULL;
    bool is_known = one && check_manifest_of(c, one, &manifest);
    bool is_any = !p->agent && p->type != PHASE_TEAM;

    if (p->node->type != YAML_MAP)
        return;
    if (is_known) {
        capability_check(c->team, p, one->name, manifest, c->problems);
        schema = agent_schema(&c->arena, one->name, manifest);
        phase_config_check(c->team, p, one->name, schema, c->problems);
    }
    yaml_each (m, p->node) {
        if (phase_config_is_common(m->key))
            continue;
        if (is_any)
            check_for_any(c, p, m);
        else if (!is_known)
            check_blindly(c, p, m);
        else if (json_get(schema, m->key))
            check_tree(c, p, m->key, m);
    }
}
