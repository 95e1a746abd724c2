/*
 * agent - from a name to something that can be started.
 *
 * Looked for in the order of agent_list.h: settings agents.<name>.entry; the team's own agents
 * (.cliq/agents.json); installed ones (installed_agents.h); the built-in ones, which are this
 * program: `cliq agent <name>`.
 *
 * What runs an entry: runner.h. The manifest (manifest.h) stands beside the entry.
 */
#ifndef CLIQ_TEAM_AGENT_H
#define CLIQ_TEAM_AGENT_H

#include "team/settings.h"
#include "team/team.h"

enum agent_kind {
    AGENT_SPECIAL,
    AGENT_CLI,
    AGENT_LLM,
    AGENT_CONNECTOR,
    AGENT_NOTIFIER,
    AGENT_CUSTOM
};

struct agent {
    const char *name;
    enum agent_kind kind;
    const char *const *argv;      /* NULL-ended */
    const char *const *env_names; /* variables it inherits besides the base; NULL-ended */
    const struct json *settings;  /* agents.<name>, only the declared keys */
    const struct json *manifest;  /* NULL: none */
};

/* Where agents are looked for. */
struct agent_scope {
    const char *state_dir;
    struct settings *settings;
    const struct json *agents_json; /* NULL: none */
};

/* All memory comes from the arena. ST_NOT_FOUND lists what is there, or names a
 * program that the agent needs and is not; ST_INVALID when the manifest is bad or wants a newer
 * cliq. */
enum status agent_resolve(struct arena *a, const struct agent_scope *scope, const char *name,
                          struct agent *out, struct err *e);

/* What this machine lacks to run the team's own agents, and installed ones that its phases name,
 * as warnings: elsewhere it may be there.
 * dir is the team's; -1: manifests are not looked at. */
void agent_check_here(const struct team *t, int dir, struct problems *p);

/* The path of the cliq program, for starting built-in agents. In the arena. */
const char *agent_self(struct arena *a);
/* The settings that a built-in agent may have, NULL-ended; NULL: this version cannot run it. */
const char *const *agent_settings(const char *name);

#endif
