/*
 * manifest - the description of an agent: the manifest.json beside its entry.
 *
 *     { "name": "my-agent", "version": "1.0.0", "min_cliq_version": "0.1.0", "description": "…",
 *       "entry": "./agent.js", "capabilities": ["phase:standard", "phase:gate", "notify", "test"],
 *       "role": "required", "binaries": ["git"], "env": ["LANG"],
 *       "settings": { "required": ["api_key"], "optional": [{ "key": "model" }] },
 *       "schema": { "depth": { "type": "integer", "default": 2 } }, "output": {…} }
 *
 * All members are optional. A member of the wrong type is an error: it would be taken for absent.
 * An unknown capability is a warning, and so is a key that resembles one of these. Other keys
 * belong to the agent.
 *
 * Tests: test/unit/test_team*.c test/cli/team.bats
 */
#ifndef CLIQ_TEAM_MANIFEST_H
#define CLIQ_TEAM_MANIFEST_H

#include "base/json.h"
#include "team/problem.h"

enum manifest_shape {
    MANIFEST_TEXT,
    MANIFEST_TEXTS,
    MANIFEST_KEYS,
    MANIFEST_OBJECT,
    MANIFEST_BOOL,
    MANIFEST_LIST,
    MANIFEST_ANY
};

struct manifest_field {
    const char *key;
    enum manifest_shape shape;
    const char *says;
};

/* The members of a manifest, of its settings and of a field of its schema, and the capabilities
 * (their shape is a text).
 * Each row describes its key: cliq-manifest(5) is made from these tables. The last row has a NULL
 * key. */
extern const struct manifest_field manifest_fields[], manifest_settings[], manifest_capabilities[],
    manifest_schema[];
/* "a list of texts" */
const char *manifest_takes(enum manifest_shape shape);

/* Loads the file `path` in `dir` into the arena. Problems are added to p under the file name
 * `shown`, which p borrows. *out NULL: there is no such file, or it cannot be read. */
enum status manifest_load(struct arena *a, int dir, const char *path, const char *shown,
                          const struct json **out, struct problems *p, struct err *e);

/* Reads the manifest from the agent's directory; *out NULL: there is none. ST_INVALID: it has any
 * problem, such as that it requires a newer cliq. */
enum status manifest_read(struct arena *a, const char *dir, const struct json **out, struct err *e);

/* The first of its binaries that is not on PATH, in the arena; NULL: none is missing. Of
 * "agent|cursor-agent" either is enough. */
const char *manifest_lacks(struct arena *a, const struct json *manifest);
/* Does it list the capability ("phase:gate", "notify")? A manifest without a list can do all. */
bool manifest_can(const struct json *manifest, const char *capability);

#endif
