/*
 * stream - signals as they come, to any number of clients (server-sent events).
 *
 *     id: 41
 *     event: alert
 *     data: {"id":"signal:…",…}
 *
 * A stream begins with an id without data: its position. A broadcast stream has no event line, and
 * its data is {id, type, source, data?, createdAt}.
 *
 * The position of a client is the number of the last line that it got or that was not for it.
 * Clients at the newest line share their work: each signal is rendered once for all of them. A
 * client behind it (a replay, or a slow reader) is served alone from the index, as fast as it
 * reads. So no signal is lost or repeated between the two. A client that does not read costs its
 * position and one full queue. If the queue is not empty after slow_ms, the stream ends with a
 * comment that asks the client to reconnect. A stream whose key was revoked ends with the comment
 * ": the key was revoked", before any line that was written later; one whose key expired likewise.
 *
 * A client that asks for lines that retention deleted gets an event with the number of the oldest
 * line first, and continues from there:
 *
 *     id: 5000
 *     event: reset
 *     data: {"oldest":5001}
 *
 * When the log was cut short by another program, clients know signals that are gone. Each that
 * knows a line before the one that tells of it gets such an event once, with the number of that
 * line:
 *
 *     id: 5000
 *     event: reset
 *     data: {"oldest":1,"cut":5000}
 *
 * All get a comment each keepalive_ms; one that asks for more (?keepalive=1, seconds) gets its own,
 * so that its silence tells a lost server.
 *
 * Tests: test/unit/test_stream.c test/scenario/serve_cut.bats
 */
#ifndef CLIQ_SERVE_STREAM_H
#define CLIQ_SERVE_STREAM_H

#include "base/loop.h"
#include "hub/hub.h"
#include "net/server.h"

#define STREAM_KEEPALIVE_MS 15000
#define STREAM_SLOW_MS      60000

struct streams;

/* The filters of a stream; ended by name NULL. */
extern const struct hub_arg stream_args[];

struct streams_options {
    unsigned keepalive_ms; /* a comment that often; 0: STREAM_KEEPALIVE_MS */
    unsigned per_key;      /* streams of one key at a time; 0: any number */
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
    const char *key;  /* the id of the key that was shown; "": none */
    bool reads_all;   /* an admin, or the scope audit */
    int64_t until_ms; /* when the key expires, by the wall clock; 0: never */
};

/* A stream that is told something else than signals: MCP's subscriptions/listen (mcp_listen.h). */
struct stream_form {
    const char *first; /* in place of its position */
    const char *note;  /* in place of signals that it wants, once for those that come together;
                        * NULL: it wants none */
    void (*drained)(void *ctx); /* the full queue is empty */
    void (*ended)(void *ctx);   /* the connection must not be used any more */
    void *ctx;
};

/* Begins a stream on the connection, or answers why not. `args`: as stream_args
 * say, as texts; `a` is of the request. `last_id`: of the header Last-Event-ID, or NULL; form:
 * NULL, or valid until it has ended. False with *status, *code and the sentence in *e when it is
 * refused; then the caller answers. */
bool streams_add(struct streams *s, struct http_conn *c, const struct stream_caller *by,
                 const struct json *args, struct arena *a, const char *last_id, bool is_engine,
                 const struct stream_form *form, const char *request_id, int *status,
                 const char **code, struct err *e);

/* The last line on disk, before streams get it. A client that connects now starts after it, even if
 * the index does not have it yet. */
void streams_written(struct streams *s, uint64_t seq);
/* The last line that tells of lost ones (hub_last_cut), likewise. */
void streams_cut(struct streams *s, uint64_t seq);
/* Ends the streams of that key, and tells them why. */
void streams_revoke(struct streams *s, const char *key);
/* There may be something new in the index. */
void streams_look(struct streams *s);
size_t streams_count(const struct streams *s);
/* Is a stream of that identity open? */
bool streams_has(const struct streams *s, const char *identity);
/* Told when the first stream of an identity begins, and when its last one has ended. */
void streams_on_identity(struct streams *s,
                         void (*fn)(void *ctx, const char *identity, bool is_there), void *ctx);
uint64_t streams_delivered(const struct streams *s);
uint64_t streams_dropped(const struct streams *s); /* clients that were too slow */

#endif
