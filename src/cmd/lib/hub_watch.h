/*
 * hub_watch - prints signals as they come, until it is interrupted: `watch` and `signal watch`.
 * From files or a server (hubclient/subscription.h), to standard output at once; a connection that
 * is lost and found again is told on standard error.
 */
#ifndef CLIQ_CMD_LIB_HUB_WATCH_H
#define CLIQ_CMD_LIB_HUB_WATCH_H

#include "cmd/lib/hub_show.h"
#include "hubclient/subscription.h"

/* Appends one signal for a terminal, with its line end. */
typedef void hub_watch_show(struct buf *to, const struct json *signal);

/* --json: an object a line; else a row of these columns, or on a terminal what `show` makes of it
 * (NULL: also a row). */
enum status hub_watch(struct hub_call *c, const struct subscription_filter *want,
                      const struct hub_column *columns, hub_watch_show *show, struct err *e);

#endif
