/*
 * agent_env - the environment of an agent: a small base and the variables that its manifest lists,
 * never the whole environment of cliq. A later value replaces an earlier one of the same name.
 *
 *     struct env vars = { .arena = a };
 *     env_base(&vars, agent);
 *     env_add(&vars, "CLIQ_PHASE", name);
 *     spec.env = vars.v;                      unless vars.is_starved
 */
#ifndef CLIQ_CONTEXT_AGENT_ENV_H
#define CLIQ_CONTEXT_AGENT_ENV_H

#include "base/field.h"
#include "team/agent.h"

/* The variables that every agent inherits, and those that cliq sets; the last row has a NULL key.
 * cliq-protocol(7) is made from them. */
extern const struct field agent_env_inherited[], agent_env_set[];

struct env {
    struct arena *arena;
    const char **v; /* "NAME=value", NULL-ended */
    size_t n, cap;
    bool is_starved;
};

void env_add(struct env *vars, const char *name, const char *value);
/* Adds every variable of this process except CLIQ_*, which belong to one run or one agent. For our
 * own processes. */
void env_ours(struct env *vars);
/* Adds agent_env_inherited, the manifest's variables, and CLIQ_AGENT; for an agent with an entry
 * also PYTHONDONTWRITEBYTECODE=1. */
void env_base(struct env *vars, const struct agent *agent);

#endif
