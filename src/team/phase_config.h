/*
 * phase_config - the keys of a phase that its agent asks for: checked against the schema of the
 * agent's manifest (schema.h), and delivered as payload.phase_config.
 *
 * A phase may have the keys that every phase has (load.h) and those of its agent's schema. Any
 * other key is a warning. A schema may name a common key, too: "action" with an enum, say. Its
 * value is then checked, and delivered at both places; only `commands` stays where it is, because
 * its texts are never pasted.
 *
 * Tests: test/unit/test_phase_config.c test/cli/phase_config.bats
 */
#ifndef CLIQ_TEAM_PHASE_CONFIG_H
#define CLIQ_TEAM_PHASE_CONFIG_H

#include "team/team.h"

/* Is it one of the keys that every phase may have? */
bool phase_config_is_common(const char *key);

/* Reports values that do not fit, required fields that are missing, and unknown keys. `agent` is
 * the agent's name in messages; schema may be NULL: it takes no fields. */
void phase_config_check(const struct team *t, const struct phase *ph, const char *agent,
                        const struct json *schema, struct problems *p);
/* Does the value fit the field? why begins with "must be". */
bool phase_config_fits(const struct json *field, const struct yaml *value, struct err *why);
/* Warns about the key m, and suggests a common key or one of the schema (NULL: none). is_certain
 * false: the agent may take it, so it is only reported when it resembles one of these. */
void phase_config_unknown(const struct team *t, const struct phase *ph, const struct yaml *m,
                          const struct json *schema, bool is_certain, struct problems *p);

/* Expands the templates in a copy of v. */
typedef enum status phase_config_expand(void *ctx, const char *field, const struct json *v,
                                        struct json **out, struct err *e);

/* The phase's values, expanded and of the schema's types, with its defaults for those that are not
 * given: an object in the arena. ST_INVALID: an expanded value does not fit. */
enum status
phase_config_make(struct arena *a, const struct phase *ph, const struct json *schema,
                  phase_config_expand *expand, void *ctx, struct json **out, struct err *e);

#endif
