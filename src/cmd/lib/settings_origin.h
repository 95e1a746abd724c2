/*
 * settings_origin - which value is in force, and which file it comes from: `cliq settings --info`.
 *
 * Calls fn for every value of the merged settings that is no section: the project's where it has
 * one, else the user's.
 *
 * Tests: test/scenario/settings_info.bats
 */
#ifndef CLIQ_CMD_LIB_SETTINGS_ORIGIN_H
#define CLIQ_CMD_LIB_SETTINGS_ORIGIN_H

#include "team/settings.h"

struct settings_value {
    const char *path; /* "agents.codex.model" */
    const struct json *v;
    bool is_project; /* of .cliq/settings.json */
    bool is_hiding;  /* the user's file has another one */
};

typedef void settings_value_fn(void *ctx, const struct settings_value *value);

void settings_each(const struct settings *s, settings_value_fn *fn, void *ctx);

#endif
