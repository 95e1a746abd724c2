/*
 * env - the environment of an agent: a small base, what its manifest asks for, never all of
 * ours. A later value takes the place of an earlier one.
 *
 *     struct env vars = { .arena = a };
 *     env_base(&vars, agent);
 *     env_add(&vars, "CLIQ_PHASE", name);
 *     spec.env = vars.v;                      unless vars.is_starved
 */
#ifndef CLIQ_CONTEXT_AGENT_ENV_H
#define CLIQ_CONTEXT_AGENT_ENV_H

#include "team/agent.h"

struct env {
    struct arena *arena;
    const char **v; /* "NAME=value", NULL-ended */
    size_t n, cap;
    bool is_starved;
};

void env_add(struct env *vars, const char *name, const char *value);
/* Every variable of this process but CLIQ_*, which belong to one run or one agent. For processes of
 * our own. */
void env_ours(struct env *vars);
/* PATH, HOME, LANG, TERM, TMPDIR, CLIQ_HOME, those of the manifest, and CLIQ_AGENT. */
void env_base(struct env *vars, const struct agent *agent);

#endif
