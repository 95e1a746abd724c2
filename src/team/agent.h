/*
 * agent - resolves an agent's name to a command that can be started.
 *
 * The search order is that of agent_list.h: settings agents.<name>.entry, or .acp; the team's own
 * agents (.cliq/agents.json); installed ones (installed_agents.h); the built-in ones, which are
 * this program: `cliq agent <name>`.
 *
 * An agent with `acp`, and a named one of kind ACP (agents.def), is `cliq agent acp` under its own
 * name: its command is its setting acp.
 *
 * runner.h chooses the program that runs an entry. The manifest (manifest.h) is in the entry's
 * directory.
 *
 * Tests: test/cli/team.bats test/scenario/pipeline_agents.bats
 */
#ifndef CLIQ_TEAM_AGENT_H
#define CLIQ_TEAM_AGENT_H

#include "team/settings.h"
#include "team/team.h"

enum agent_kind {
    AGENT_SPECIAL,
    AGENT_CLI,
    AGENT_LLM,
    AGENT_ACP,
    AGENT_CONNECTOR,
    AGENT_NOTIFIER,
    AGENT_CUSTOM
};

struct agent {
    const char *name;
    enum agent_kind kind;
    const char *const *argv;      /* NULL-ended */
    const char *const *env_names; /* names of variables it inherits besides the base; NULL-ended */
    const struct json *settings;  /* agents.<name>, only the declared keys */
    const struct json *manifest;  /* NULL: none */
    bool is_patient;              /* it waits for people (agents.def) */
};

/* The places to search. */
struct agent_scope {
    const char *state_dir;
    struct settings *settings;
    const struct json *agents_json; /* NULL: none */
};

/* All memory comes from the arena. ST_NOT_FOUND lists the known agents, or names a program that
 * the agent needs and PATH lacks. ST_INVALID: the manifest is bad or requires a newer cliq. */
enum status agent_resolve(struct arena *a, const struct agent_scope *scope, const char *name,
                          struct agent *out, struct err *e);

/* The fields that an agent takes from its phases: of its manifest; of the built-in agent of that
 * name when the program that replaces it has no manifest. NULL: none. */
const struct json *agent_schema(struct arena *a, const char *name, const struct json *manifest);

/* Checks the team's tools, its own agents and the installed ones that its phases name against this
 * machine. What is missing is a warning, because another machine may have it. dir is the team's
 * directory; -1: do not read manifests. */
void agent_check_here(const struct team *t, int dir, struct problems *p);

/* The path of the cliq program, for starting built-in agents. In the arena. */
const char *agent_self(struct arena *a);

#endif
