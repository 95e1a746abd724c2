/*
 * settings - the settings: .cliq/settings.json over <config>/settings.json.
 *
 * Objects are merged key by key, the project's value wins; anything else replaces.
 * Files are 0600: they may hold API keys. Values of keys that look secret are masked
 * wherever they are shown.
 *
 * Tests: test/unit/test_settings.c
 */
#ifndef CLIQ_TEAM_SETTINGS_H
#define CLIQ_TEAM_SETTINGS_H

#include "base/mask.h"

struct settings {
    struct arena arena;
    struct buf text[2];          /* the texts of the files; the tree points into them */
    const struct json *parts[2]; /* the files: the user's, the project's */
    const struct json *merged;
};

/* state_dir NULL: only the user's file. A missing file is an empty object; a bad one is
 * ST_INVALID with file:line:column, a bad value with file and key (settings_check.h). */
enum status settings_load(struct settings *s, const char *state_dir, struct err *e);
void settings_release(struct settings *s);

const struct json *settings_get(const struct settings *s, const char *path); /* "a.b.c" */
/* The string at the path, NUL-ended, in the settings' arena; NULL when there is none. */
const char *settings_text(struct settings *s, const char *path);
/* The time at the path in milliseconds; `otherwise` when there is none. */
int64_t settings_ms(const struct settings *s, const char *path, int64_t otherwise);

/* ST_INVALID unless it is names joined by dots. */
enum status settings_check_key(const char *path, struct err *e);
/* Sets or (value NULL) removes a key in one file, under its directory's lock. The value is JSON
 * text when it is a number, true, false, null, a list or an object, else a string; always a
 * string where the key wants one. ST_INVALID: the value is wrong for the key (settings_check.h),
 * and nothing is written. ST_NOT_FOUND: the key to remove is not in that file. */
enum status settings_set(const char *state_dir, bool is_global, const char *path, const char *value,
                         struct err *e);

/* Does a part of the path name a secret (api_key, token, Authorization …)? Names of agents and
 * roles do not count. */
bool settings_is_secret(const char *path);
/* A copy of the tree, in the arena, with secret texts and numbers masked at any depth. key is
 * the key of this value; NULL: the tree is all settings. */
const struct json *settings_masked(struct arena *a, const struct json *v, const char *key);
/* Adds those texts and numbers to the mask. */
void settings_add_secrets(struct mask *m, const struct json *v, const char *key);
/* Adds the values of environment variables ("NAME=value", NULL-ended) whose names look secret. */
void settings_add_env_secrets(struct mask *m, const char *const *vars);

#endif
