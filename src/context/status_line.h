/*
 * signal - the lines an agent appends to signals/<phase>.jsonl.
 *
 *     {"ts":"2026-05-29T06:04:14.222Z","version":1,"type":"phase","status":"ok"}
 *     {"ts":"…","version":1,"type":"phase","status":"progress","message":"half way"}
 *     {"ts":"…","version":1,"type":"phase","status":"complete","result":{…}}
 *
 * One ok, then any progress and notify, then one complete or error. The first
 * terminal line wins; what stands behind it is ignored.
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
    LINE_UNKNOWN, /* another status: to be ignored */
};

struct status_line {
    enum line_status status;
    const char *message, *error; /* NUL-ended copies in the arena; NULL: none */
    const struct json *result;   /* NULL: none */
};

/* What a line of the log says; strings go into the arena. A line of another version
 * or shape is LINE_UNKNOWN. */
struct status_line status_line_read(struct arena *a, const struct json *line);

/* Appends one line to <dir>/<name>.jsonl, not synced: the reader is on this machine.
 * type is "phase", "notify" or "test"; message, error and result may be NULL. */
enum status status_line_append(int dir, const char *name, const char *type, enum line_status status,
                               const char *message, const char *error, const struct json *result,
                               struct err *e);
/* The same with the ok line of then before it, in one write; 0: without it. */
enum status status_line_append_acked(int dir, const char *name, const char *type, int64_t heard_ns,
                                     enum line_status status, const char *message,
                                     const char *error, const struct json *result, struct err *e);
/* The ok line of a message that was heard then. As the first of its file it comes by a link, made
 * in the directory `elsewhere` (state_dir_link_new; -1: none): nobody waits for it, so the
 * orchestrator is not woken. */
enum status status_line_ack(int dir, int elsewhere, const char *name, const char *type,
                            int64_t heard_ns, struct err *e);

#endif
