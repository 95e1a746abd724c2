/*
 * stream - signals as they come, to any number of clients (server-sent events).
 *
 *     id: 41
 *     event: alert
 *     data: {"id":"signal:…",…}
 *
 * A stream begins with its place, an id without data. The broadcast door's has no event line, and
 * its data is {id, type, source, data?, createdAt}.
 *
 * Every client has a place, the number of the last line it was told or that was not for it.
 * Those whose place is the newest are told what comes, each signal written once for all of
 * them; those behind (they asked for a replay, or were slow) are read for by themselves, from
 * the index, as fast as they take it. So there is no gap and no repeat between the two, and a
 * client that does not read holds its place and one full queue, nothing more.
 */
#ifndef CLIQ_SERVE_STREAM_H
#define CLIQ_SERVE_STREAM_H

#include "base/loop.h"
#include "hub/hub.h"
#include "net/server.h"

#define STREAM_KEEPALIVE_MS 15000

struct streams;

/* `hub` is one of the loop's thread, to read from; it stays the caller's. */
struct streams *streams_new(struct loop *l, struct hub *hub, unsigned keepalive_ms, struct err *e);
void streams_free(struct streams *s); /* after http_server_free; NULL is fine */

/* Begins a stream on the connection, or answers why not. `args`: ring, type, pattern,
 * min_urgency, tags, role, inbox, since. `last_id`: of the header Last-Event-ID, or NULL. False
 * with *status, *code and the sentence in *e when it is refused; then the caller answers. */
bool streams_add(struct streams *s, struct http_conn *c, const char *identity, bool is_admin,
                 const struct json *args, const char *last_id, bool is_engine, int *status,
                 const char **code, struct err *e);

/* There may be something new. */
void streams_look(struct streams *s);
size_t streams_count(const struct streams *s);
uint64_t streams_delivered(const struct streams *s);

#endif
