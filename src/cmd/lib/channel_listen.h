/*
 * channel_listen - waits on a room's channel and hands over each message that matches,
 * shared by `channel wait` and `channel follow`.
 */
#ifndef CLIQ_CMD_LIB_CHANNEL_LISTEN_H
#define CLIQ_CMD_LIB_CHANNEL_LISTEN_H

#include "base/opt.h"
#include "room/room.h"

struct listen {
    const char *room;
    struct message_filter filter;
    const char *after;  /* begin behind this id; NULL: see from */
    enum log_from from; /* begin with what is there, or with what comes */
    int64_t timeout_ms; /* 0: none */
    /* Called for each message; false ends the listening. Failures go to *e. */
    bool (*heard)(void *ctx, const struct json *message, enum status *s, struct err *e);
    /* Called when all that is there was heard, before waiting; may be NULL. */
    enum status (*caught_up)(void *ctx, struct err *e);
    void *ctx;
};

/* ST_OK when `heard` ended it, ST_TIMEOUT, ST_CANCELLED on SIGINT and SIGTERM. */
enum status listen_run(const struct listen *l, struct err *e);

#endif
