/*
 * builtin_agents - the agents that are part of cliq, listed in src/agents/agents.def.
 *
 * Tests: test/unit/test_team*.c test/scenario/hacking.bats
 */
#ifndef CLIQ_TEAM_BUILTIN_AGENTS_H
#define CLIQ_TEAM_BUILTIN_AGENTS_H

#include "team/agent.h"

struct builtin {
    const char *name;
    enum agent_kind kind;
    const char *brief;
    bool is_here;            /* false: this version cannot run it */
    const char *settings[8]; /* the keys that it may have; NULL behind the last */
};

extern const struct builtin builtins[]; /* the last one's name is NULL */

const struct builtin *builtin_find(const char *name); /* NULL: none */
const char *agent_kind_name(enum agent_kind kind);    /* "connector" */

#endif
