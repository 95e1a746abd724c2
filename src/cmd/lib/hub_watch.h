/*
 * hub_watch - prints signals as they come, until it is interrupted: `watch` and `signal watch`.
 * From files or a server (hubclient/subscription.h), to standard output at once; a connection that
 * is lost and found again is told on standard error.
 */
#ifndef CLIQ_CMD_LIB_HUB_WATCH_H
#define CLIQ_CMD_LIB_HUB_WATCH_H

#include "cmd/lib/hub_call.h"
#include "hubclient/subscription.h"

/* Appends one signal, with its line end. */
typedef void hub_watch_show(void *ctx, struct buf *to, const struct json *signal);

enum status hub_watch(struct hub_call *c, const struct subscription_filter *want,
                      hub_watch_show *show, void *ctx, struct err *e);

#endif
