/*
 * schema - the fields that an agent takes from its phases: `schema` of its manifest.
 *
 *     "schema": {
 *       "depth": { "type": "integer", "required": true, "description": "how far to look" },
 *       "mode":  { "type": "string", "enum": ["read", "edit"], "default": "read" }
 *     }
 *
 * A field without a type takes any value. The enum of a list holds for its elements. "array" means
 * list. A text that is a number or true or false is taken for one where the type asks for it, so a
 * template can give it; a number is a text where the type is string.
 *
 * Tests: test/unit/test_phase_config.c test/cli/phase_config.bats
 */
#ifndef CLIQ_TEAM_SCHEMA_H
#define CLIQ_TEAM_SCHEMA_H

#include "base/json.h"

struct schema_type {
    const char *name;  /* "integer"; NULL ends the table */
    const char *takes; /* "a whole number" */
};

extern const struct schema_type schema_types[];

/* The type of a field; its name is NULL: any value. NULL: the type is none of these, which
 * manifest_load reports; it takes any value then. */
const struct schema_type *schema_type_of(const struct json *field);
bool schema_is_container(const struct schema_type *t); /* a list or an object */

/* Converts the value to the field's type, in the arena. NULL: it does not fit, and `why` says what
 * the value must be ("must be a whole number, not \"x\""), or memory ran out. */
const struct json *
schema_take(struct arena *a, const struct json *field, const struct json *value, struct err *why);
/* The same, but the value holds templates: only what is certain before they are expanded. */
bool schema_may_take(const struct json *field, const struct json *value, struct err *why);

#endif
