/*
 * hub_follow - waits for lines of <config>/signals/events.jsonl, on the one loop: `claim --wait`,
 * `watch` and `signal watch` stand on it. Nothing polls: inotify says when there is more.
 *
 * `heard` is called for every record, `caught_up` behind the last that is there: at first, after
 * each change, and when the time it asked for (wake_ms) has come. Either may end it. The hub may
 * be called from both: nothing else waits in this process.
 *
 * Ends with ST_TIMEOUT after timeout_ms, ST_CANCELLED on SIGINT and SIGTERM; when nobody reads
 * standard output any more, as a write to it would have ended us.
 */
#ifndef CLIQ_CMD_HUB_FOLLOW_H
#define CLIQ_CMD_HUB_FOLLOW_H

#include "cmd/hub_call.h"
#include "log/log.h"

struct hub_follow {
    struct hub_call *call;
    enum log_from from;
    uint64_t next_seq;  /* of the first line that comes, when it is known; else 0 */
    int64_t timeout_ms; /* -1: none */
    enum status (*heard)(void *ctx, const struct log_record *rec, bool *is_over, struct err *e);
    /* *wake_ms is -1: only a change wakes it. */
    enum status (*caught_up)(void *ctx, bool *is_over, int64_t *wake_ms, struct err *e);
    void *ctx;
};

enum status hub_follow_run(const struct hub_follow *f, struct err *e);

#endif
