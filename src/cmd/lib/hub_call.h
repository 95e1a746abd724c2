/*
 * hub_call - the one door of the commands to the hub: an operation and its arguments in, its
 * answer out, whether the hub is files here or a server somewhere.
 *
 *     struct hub_call c;
 *     struct json *args;
 *     enum status s = hub_call_begin(&c, a, e);          who asks, and where
 *     if (!s)
 *         s = hub_args(&c, a, fields, &args, e);         options to JSON
 *     if (!s)
 *         s = hub_call(&c, HUB_ACK, args, &reply, e);
 *     hub_call_end(&c);
 *
 * Files unless --url or CLIQ_URL names a server: see hubclient/hubclient.h, which does the work.
 * Here are the options of commands, and what is printed.
 *
 * Ownership: the call owns all it hands out, in its arena, until hub_call_end.
 */
#ifndef CLIQ_CMD_LIB_HUB_CALL_H
#define CLIQ_CMD_LIB_HUB_CALL_H

#include "cmd/cmd.h"
#include "hubclient/hubclient.h"

/* Options of every command that asks the hub, to be listed in its table. */
/* clang-format off */
#define HUB_OPTS                                                                                   \
    { "as", OPT_TEXT, "IDENTITY", "who you are (else CLIQ_IDENTITY, else your user's name)" },     \
    { "url", OPT_TEXT, "URL", "a server to ask (else CLIQ_URL, else files); its key: CLIQ_KEY" },  \
    HUB_FILES_OPTS
/* Of those that only files can do. */
#define HUB_FILES_OPTS                                                                             \
    { "json", OPT_FLAG, NULL, "print JSON" }
/* clang-format on */

struct hub_call {
    struct hubclient hub;
    bool is_json, is_tty;
    uint64_t bad_told; /* so many bad lines of the log were told of */
};

enum status hub_call_begin(struct hub_call *c, const struct args *a, struct err *e);
/* Warns when the log has more bad lines than were told of; hub_call does so. */
void hub_call_warn_of_bad(struct hub_call *c);
void hub_call_end(struct hub_call *c); /* safe whatever hub_call_begin returned */

/* An answer below 300 is ST_OK; any other a status with a sentence that says what to do. */
enum status hub_call(struct hub_call *c, enum hub_op op, const struct json *args,
                     struct hub_reply *reply, struct err *e);

/* A whole command that only files can do, `what` is "hub rebuild": begins, calls `work` with the
 * store open, ends. ST_INVALID with a server. */
enum status
hub_run_files(const char *what,
              enum status (*work)(struct hub_call *c, const struct args *a, struct err *e),
              const struct args *a, struct err *e);

/* ---- options to arguments ---- */

enum hub_field_kind {
    HF_TEXT,
    HF_TEXTS,   /* an option that may be repeated: a list */
    HF_NUMBER,  /* "0.8" */
    HF_FLAG,    /* true when given */
    HF_BOOL,    /* "true" or "false" */
    HF_SECONDS, /* OPT_TIME: whole seconds */
    HF_TIME,    /* OPT_TIME: seconds with a fraction */
    HF_IN,      /* OPT_TIME: that long from now on; the hub counts, so that a retry is the same */
    HF_WHEN,    /* "+30s", ms since 1970, or ISO 8601 */
    HF_JSON,    /* any JSON */
    HF_COUNT,   /* a whole number from 1 to max */
    HF_SOURCE,  /* the kind of a source */
};

struct hub_field {
    const char *opt, *key;
    enum hub_field_kind kind;
    uint64_t max;
};

/* An object with a member for each option that was given; the fields end with opt NULL, and
 * may be NULL. */
enum status hub_args(struct hub_call *c, const struct args *a, const struct hub_field *fields,
                     struct json **out, struct err *e);
/* A text member more; NULL adds nothing. ST_INVALID: not UTF-8. */
enum status hub_args_add(struct hub_call *c, struct json *args, const char *key, const char *text,
                         struct err *e);
/* A string in the arena, NUL-ended; NULL when it is not one. */
const char *hub_text(struct hub_call *c, const struct json *v);
/* All of standard input, NUL-ended; `what` names it in sentences. */
enum status
hub_read_stdin(struct hub_call *c, const char *what, const char **text, size_t *len, struct err *e);

#endif
