/*
 * settings_check - checks a setting's value against the table of settings, settings.def.
 *
 *     channel.max_message_size_bytes must be a whole number of bytes, at least 1, not "abc"
 *
 * `cliq settings` checks a value before it writes anything; loading checks a file and puts its path
 * before the sentence. Keys without a row are not checked, except notifications.on_…: a misspelt
 * event would silently notify nobody. Pure.
 *
 * Tests: test/unit/test_settings.c
 */
#ifndef CLIQ_TEAM_SETTINGS_CHECK_H
#define CLIQ_TEAM_SETTINGS_CHECK_H

#include "base/json.h"

enum setting_kind {
    SETTING_TEXT,
    SETTING_NAME,      /* the name of an agent */
    SETTING_URL,       /* http://, https:// */
    SETTING_TIME,      /* 30, "90s", "2m" */
    SETTING_SIZE,      /* a whole number of bytes */
    SETTING_RECEIVERS, /* "agent", "agent:channel", {"agent":…}, or a list of them */
};

struct setting {
    const char *key;
    enum setting_kind kind;
    int64_t most; /* 0: no limit */
    const char *says;
};

extern const struct setting settings_known[]; /* the last row has a NULL key */

/* Describes the values of a kind: "a whole number of bytes, at least 1". */
const char *setting_kind_says(enum setting_kind kind);
/* Is every value of this kind a text, even "42" or "true"? */
bool setting_is_text(enum setting_kind kind);
/* The row of the key "a.b.c", or NULL. */
const struct setting *setting_find(const char *key);

/* Checks the whole tree, or (key not NULL) only the path to that key and the values below it.
 * ST_INVALID names `file`, which may be NULL, and the first key with a wrong value. */
enum status
settings_check(const struct json *root, const char *key, const char *file, struct err *e);

#endif
