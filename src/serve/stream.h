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
 * client that does not read holds its place and one full queue, nothing more. If that queue is not
 * empty after slow_ms, the client is let go, with a comment that tells it to come back. So is, with
 * the comment ": the key was revoked", who came with a key that is none any more, before it is told
 * anything that was written after that.
 *
 * Who asks for lines that hub_compact dropped is told so first, by an event that has the number of
 * the oldest one there is, and then goes on from there:
 *
 *     id: 5000
 *     event: reset
 *     data: {"oldest":5001}
 */
#ifndef CLIQ_SERVE_STREAM_H
#define CLIQ_SERVE_STREAM_H

#include "base/loop.h"
#include "hub/hub.h"
#include "net/server.h"

#define STREAM_KEEPALIVE_MS 15000
#define STREAM_SLOW_MS      60000

struct streams;

/* What a stream may be asked for; ended by name NULL. */
extern const struct hub_arg stream_args[];

struct streams_options {
    unsigned keepalive_ms; /* a comment that often; 0: STREAM_KEEPALIVE_MS */
    unsigned slow_ms;      /* a full queue must be empty after this; 0: STREAM_SLOW_MS */
    /* The index could not be read for a while, and is needed; may be NULL. */
    void (*on_lost)(void *ctx);
    void *ctx;
};

/* `hub` is one of the loop's thread, to read from; it stays the caller's. */
struct streams *
streams_new(struct loop *l, struct hub *hub, const struct streams_options *o, struct err *e);
void streams_free(struct streams *s); /* after http_server_free; NULL is fine */

/* Whose stream it is. */
struct stream_caller {
    const char *identity;
    const char *key; /* the id of the key that was shown; "": none */
    bool is_admin;
};

/* Begins a stream on the connection, or answers why not. `args`: as stream_args
 * say, as texts; `a` is of the request. `last_id`: of the header Last-Event-ID, or NULL. False with
 * *status, *code and the sentence in *e when it is refused; then the caller answers. */
bool streams_add(struct streams *s, struct http_conn *c, const struct stream_caller *by,
                 const struct json *args, struct arena *a, const char *last_id, bool is_engine,
                 const char *request_id, int *status, const char **code, struct err *e);

/* The last line on disk, before anybody is told of it: who comes then has missed it, though the
 * index may not have it yet. */
void streams_written(struct streams *s, uint64_t seq);
/* Ends the streams of that key, and tells them why. */
void streams_revoke(struct streams *s, const char *key);
/* There may be something new in the index. */
void streams_look(struct streams *s);
size_t streams_count(const struct streams *s);
/* Does anybody of that identity listen? */
bool streams_has(const struct streams *s, const char *identity);
/* Told when the first stream of an identity begins, and when its last one has ended. */
void streams_on_identity(struct streams *s,
                         void (*fn)(void *ctx, const char *identity, bool is_there), void *ctx);
uint64_t streams_delivered(const struct streams *s);
uint64_t streams_dropped(const struct streams *s); /* who were too slow */

#endif
