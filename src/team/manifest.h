/*
 * manifest - what an agent says of itself: the manifest.json beside its entry.
 *
 *     { "name": "my-agent", "version": "1.0.0", "min_cliq_version": "0.1.0", "description": "…",
 *       "entry": "./agent.js", "capabilities": ["phase:standard", "phase:gate", "notify", "test"],
 *       "role": "required", "binaries": ["git"], "env": ["LANG"],
 *       "settings": { "required": ["api_key"], "optional": [{ "key": "model" }] },
 *       "schema": {…}, "output": {…} }
 *
 * All members may be left out. One of the wrong type is an error: it would be taken for absent.
 * An unknown capability, and a key that is nearly one of these, are warnings; other
 * keys are the agent's own.
 *
 * Tests: test/unit/test_team*.c test/cli/team.bats
 */
#ifndef CLIQ_TEAM_MANIFEST_H
#define CLIQ_TEAM_MANIFEST_H

#include "base/json.h"
#include "team/problem.h"

/* The file `path` in `dir`, in the arena. What is wrong with it is added to p, under the name
 * `shown`, which p borrows. *out NULL: there is none, or none that can be read. */
enum status manifest_load(struct arena *a, int dir, const char *path, const char *shown,
                          const struct json **out, struct problems *p, struct err *e);

/* That of the agent `name`, in its directory; *out NULL: there is none. ST_INVALID: it is wrong in
 * any way, or wants a newer cliq. */
enum status manifest_read(struct arena *a, const char *dir, const char *name,
                          const struct json **out, struct err *e);

/* The first of its binaries that is not on PATH, in the arena; NULL: all are there. */
const char *manifest_lacks(struct arena *a, const struct json *manifest);

#endif
