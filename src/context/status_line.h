/*
 * status_line - the lines an agent appends to signals/<phase>.jsonl.
 *
 *     {"ts":"2026-05-29T06:04:14.222Z","version":1,"type":"phase","status":"ok"}
 *     {"ts":"…","version":1,"type":"phase","status":"progress","message":"half way"}
 *     {"ts":"…","version":1,"type":"phase","status":"complete","result":{…}}
 *
 * An agent writes one ok, then any number of progress and notify, then one complete or error. The
 * first terminal line counts; later lines are ignored.
 */
#ifndef CLIQ_CONTEXT_STATUS_LINE_H
#define CLIQ_CONTEXT_STATUS_LINE_H

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

struct status_line {
    enum line_status status;
    const char *message, *error; /* NUL-ended copies in the arena; NULL: none */
    const struct json *result;   /* NULL: none */
};

/* Reads a line of the log; strings go into the arena. A line of another version or shape is
 * LINE_UNKNOWN. */
struct status_line status_line_read(struct arena *a, const struct json *line);

/* Appends one line to <dir>/<name>.jsonl, not synced: the reader is on this machine.
 * type is "phase", "notify" or "test"; message, error and result may be NULL. */
enum status status_line_append(int dir, const char *name, const char *type, enum line_status status,
                               const char *message, const char *error, const struct json *result,
                               struct err *e);
/* status_line_append, preceded by an ok line with the timestamp heard_ns in the same write; 0:
 * no ok line. */
enum status status_line_append_acked(int dir, const char *name, const char *type, int64_t heard_ns,
                                     enum line_status status, const char *message,
                                     const char *error, const struct json *result, struct err *e);
/* Writes the ok line with the timestamp heard_ns. When it is the file's first line, the file is
 * created in the directory `elsewhere` (-1: none) and linked (state_dir_link_new). The inotify
 * watch reports no link, so the orchestrator does not wake for a line that it need not read at
 * once. */
enum status status_line_ack(int dir, int elsewhere, const char *name, const char *type,
                            int64_t heard_ns, struct err *e);

#endif
