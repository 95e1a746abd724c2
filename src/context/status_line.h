/*
 * status_line - the lines an agent appends to signals/<phase>.jsonl.
 *
 *     {"ts":"2026-05-29T06:04:14.222Z","version":1,"type":"phase","status":"ok"}
 *     {"ts":"…","version":1,"type":"phase","status":"progress","message":"half way"}
 *     {"ts":"…","version":1,"type":"phase","status":"complete","result":{…}}
 *
 * An agent writes one ok, then any number of progress and notify, then one complete or error. The
 * first terminal line counts; later lines are ignored.
 *
 * attempt_id is that of the message (payload.attempt_id); lines of older and foreign SDKs have
 * none. The run ignores the lines of another attempt (run/attempt.c).
 */
#ifndef CLIQ_CONTEXT_STATUS_LINE_H
#define CLIQ_CONTEXT_STATUS_LINE_H

#include "base/field.h"
#include "base/json.h"
#include "log/log.h"

enum line_status {
    LINE_OK,
    LINE_PROGRESS,
    LINE_NOTIFY,
    LINE_COMPLETE,
    LINE_ERROR,
    LINE_UNKNOWN, /* an unknown status: ignore the line */
};

/* The values of status, in the order of enum line_status, and the members of a line; the last row
 * has a NULL key. cliq-protocol(7) is made from them. */
extern const struct field status_line_statuses[], status_line_fields[];

struct status_line {
    enum line_status status;
    const char *attempt_id;      /* NUL-ended, in the arena; NULL: none */
    const char *message, *error; /* NUL-ended copies in the arena; NULL: none. An error that is no
                                    string is its JSON */
    const struct json *result;   /* NULL: none */
};

/* Reads a line of the log; strings go into the arena. A line of another version or shape is
 * LINE_UNKNOWN. */
struct status_line status_line_read(struct arena *a, const struct json *line);

/* Where an agent's lines go. */
struct status_file {
    int dir;
    const char *name;       /* <dir>/<name>.jsonl */
    const char *type;       /* "phase", "notify" or "test" */
    const char *attempt_id; /* NULL: none */
};

/* Appends one line, not synced: the reader is on this machine. message, error and result may be
 * NULL. */
enum status
status_line_append(const struct status_file *f, enum line_status status, const char *message,
                   const char *error, const struct json *result, struct err *e);
/* status_line_append, preceded by an ok line with the timestamp heard_ns in the same write; 0:
 * no ok line. */
enum status status_line_append_acked(const struct status_file *f, int64_t heard_ns,
                                     enum line_status status, const char *message,
                                     const char *error, const struct json *result, struct err *e);
/* Writes the ok line with the timestamp heard_ns. When it is the file's first line, the file is
 * created in the directory `elsewhere` (-1: none) and linked (state_dir_link_new). The inotify
 * watch reports no link, so the orchestrator does not wake for a line that it need not read at
 * once. */
enum status
status_line_ack(const struct status_file *f, int elsewhere, int64_t heard_ns, struct err *e);

#endif
