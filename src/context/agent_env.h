/*
 * agent_env - the environment of an agent: a small base and the variables that its manifest lists,
 * never the whole environment of cliq.
 *
 *     struct env vars = { .arena = a };
 *     env_base(&vars, agent);
 *     env_add(&vars, "CLIQ_PHASE", name);
 */
#ifndef CLIQ_CONTEXT_AGENT_ENV_H
#define CLIQ_CONTEXT_AGENT_ENV_H

#include "base/field.h"
#include "context/env.h"
#include "team/agent.h"

/* The variables that every agent inherits, and those that cliq sets; the last row has a NULL key.
 * cliq-protocol(7) is made from them. */
extern const struct field agent_env_inherited[], agent_env_set[];

/* Adds agent_env_inherited (to PATH, where there is no cliq, this program's directory), the
 * manifest's variables, and CLIQ_AGENT; for an agent with an entry also PYTHONDONTWRITEBYTECODE=1.
 */
void env_base(struct env *vars, const struct agent *agent);

#endif
