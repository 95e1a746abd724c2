/*
 * installed_agents - the agents that this user installed.
 *
 *     <config>/agents/NAME/manifest.json    describes the agent and names its entry (manifest.h)
 *     <config>/agents/NAME/agent.js         the entry, relative to that directory
 *
 * They belong to the user, like the settings: they need no trust in a project. A directory without
 * a manifest, or whose manifest names no entry, is no agent.
 *
 * Tests: test/cli/team.bats
 */
#ifndef CLIQ_TEAM_INSTALLED_AGENTS_H
#define CLIQ_TEAM_INSTALLED_AGENTS_H

#include "base/json.h"

struct installed {
    const char *name;
    const char *dir;             /* the agent's directory */
    const char *entry;           /* as in the manifest; NULL: there is no such agent */
    const struct json *manifest; /* NULL: none, or it is invalid */
    const char *fault;           /* the error in the manifest; NULL: none (in lists) */
};

/* All memory comes from the arena. ST_INVALID: the manifest is invalid, or requires a newer
 * cliq. */
enum status installed_read(struct arena *a, const char *name, struct installed *out, struct err *e);
/* All installed agents, by name; one with an invalid manifest is listed with its fault. */
enum status installed_list(struct arena *a, struct installed **out, size_t *n, struct err *e);

#endif
