/*
 * builtin_agents - the agents that are part of cliq, listed in src/agents/agents.def.
 *
 * Tests: test/unit/test_builtin_agents.c test/scenario/hacking.bats
 */
#ifndef CLIQ_TEAM_BUILTIN_AGENTS_H
#define CLIQ_TEAM_BUILTIN_AGENTS_H

#include "team/agent.h"

/* Texts of words, as agents.def explains them; NULL: none. */
struct builtin {
    const char *name;
    enum agent_kind kind;
    bool is_here; /* false: this version cannot run it */
    const char *brief;
    const char *can, *settings, *fields, *binaries, *env, *actions;
    const char *data, *text;
    const char *acp;     /* the command that `cliq agent acp` starts for it; NULL: it is itself */
    const char *key_env; /* where its program takes the setting api_key; NULL: it takes none */
    const char *install; /* the command that installs its program; NULL: not known */
    bool is_patient;
};

extern const struct builtin builtins[]; /* the last one's name is NULL */

const struct builtin *builtin_find(const char *name); /* NULL: none */
/* Is the action one of its actions? Of an agent without a list every one is. */
bool builtin_knows_action(const struct builtin *b, const char *action);
const char *agent_kind_name(enum agent_kind kind); /* "connector" */
bool agent_kind_asks_model(enum agent_kind kind);  /* it needs a role */

/* The manifest that the agent would have as a file (team/manifest.h), in the arena. NULL: out of
 * memory. */
const struct json *builtin_manifest(struct arena *a, const struct builtin *b);

#endif
