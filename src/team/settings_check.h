/*
 * settings_check - is a setting's value what its key wants? By the one table, settings.def.
 *
 *     channel.max_message_size_bytes must be a whole number of bytes, at least 1, not "abc"
 *
 * The same check is made where a value is set, before anything is written, and where a file is
 * read, with its path before the sentence. Keys without a row are not looked at, but for
 * notifications.on_…: a misspelt key would silently notify nobody. Pure.
 *
 * Tests: test/unit/test_settings.c
 */
#ifndef CLIQ_TEAM_SETTINGS_CHECK_H
#define CLIQ_TEAM_SETTINGS_CHECK_H

#include "base/json.h"

enum setting_kind {
    SETTING_TEXT,
    SETTING_NAME,      /* of an agent */
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

extern const struct setting settings_known[]; /* ended by a NULL key */

/* What a value of that kind is: "a whole number of bytes, at least 1". */
const char *setting_kind_says(enum setting_kind kind);
/* Is whatever is said a text, also "42" or "true"? */
bool setting_is_text(enum setting_kind kind);
/* The row of the key "a.b.c", or NULL. */
const struct setting *setting_find(const char *key);

/* All of the tree, or (key not NULL) only what is on the way to that key and below it. ST_INVALID
 * names `file`, which may be NULL, and the first key whose value is wrong. */
enum status
settings_check(const struct json *root, const char *key, const char *file, struct err *e);

#endif
