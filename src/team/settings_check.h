/*
 * settings_check - checks a setting's value against the table of settings, settings.def.
 *
 *     channel.max_message_size_bytes must be a whole number of bytes, at least 1, not "abc"
 *
 * `cliq settings` checks a value before it writes anything; loading checks a file and puts its path
 * before the sentence. Keys without a row are not checked, except notifications.on_…: a misspelt
 * event would silently notify no one. Pure.
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
    SETTING_PRICE,     /* {"input":3,"output":15,"cached_input":0.3} */
    SETTING_COUNT,     /* a whole number */
    SETTING_COMMAND,   /* "goose acp", or a list of words */
    SETTING_ADDRESSES, /* "eve@example.org", or a list of mail addresses */
    SETTING_ROLES,     /* ["engineer", "qa"] */
    SETTING_RECEIVERS, /* "agent", "agent:channel", {"agent":…}, or a list of them */
};

struct setting {
    const char *key;
    enum setting_kind kind;
    int64_t most;          /* 0: no limit */
    const char *otherwise; /* the default; NULL: none */
    const char *read_by;   /* "run, assemble": the commands and agents that read it */
    const char *says;
};

extern const struct setting settings_known[]; /* the last row has a NULL key */

/* Describes the values of a kind: "a whole number of bytes, at least 1". */
const char *setting_kind_says(enum setting_kind kind);
/* Parses a SETTING_TIME, at least 1 ms; false: it is not a time, or v is NULL. */
bool setting_parse_ms(const struct json *v, int64_t *ms);
/* Is every value of this kind a text, even "42" or "true"? */
bool setting_is_text(enum setting_kind kind);
/* The row of the key "a.b.c", or NULL. */
const struct setting *setting_find(const char *key);
/* Has the key a row, or is it a section with rows, or inside the value of one? */
bool setting_is_read(const char *key);

/* Checks the whole tree, or (key not NULL) only the path to that key and the values below it.
 * ST_INVALID names `file`, which may be NULL, and the first key with a wrong value. */
enum status
settings_check(const struct json *root, const char *key, const char *file, struct err *e);

/* The length of the name that begins at `at` in the path of a setting: up to the next dot, but what
 * stands behind "prices." is one name, since models have dots in theirs. */
size_t setting_name_len(const char *path, const char *at);

#endif
