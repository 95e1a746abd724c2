/*
 * installed - the agents that this user installed.
 *
 *     <config>/agents/NAME/manifest.json    says what it is, and names its entry (manifest.h)
 *     <config>/agents/NAME/agent.js         the entry, relative to that directory
 *
 * They are the user's own, as the settings are: no project has to be trusted for them. A
 * directory without a manifest, or whose manifest names no entry, is no agent.
 *
 * Tests: test/cli/team.bats
 */
#ifndef CLIQ_TEAM_INSTALLED_AGENTS_H
#define CLIQ_TEAM_INSTALLED_AGENTS_H

#include "base/json.h"

struct installed {
    const char *name;
    const char *dir;             /* its own */
    const char *entry;           /* as the manifest has it; NULL: there is no such agent */
    const struct json *manifest; /* NULL: none, or it is wrong */
    const char *fault;           /* what is wrong with the manifest; NULL: nothing (in lists) */
};

/* All memory comes from the arena. ST_INVALID: its manifest is wrong, or wants a newer cliq. */
enum status installed_read(struct arena *a, const char *name, struct installed *out, struct err *e);
/* Those there are, by name; one whose manifest is wrong is among them, with its fault. */
enum status installed_list(struct arena *a, struct installed **out, size_t *n, struct err *e);

#endif
