/*
 * server - HTTP/1.1 on a loop: connections, timeouts, answers in order, streams.
 *
 *     struct http_options o = { .on_request = handle, .ctx = hub };
 *     struct http_server *v = http_server_new(loop, &o, e);
 *     s = http_server_add(v, &listener, e);         any number of them
 *     ... loop_run ...
 *     http_server_stop(v, 5000, on_stopped, hub);   no new ones, those begun are answered
 *     http_server_free(v);                          before loop_free
 *
 * on_request gets a whole request. It answers with http_answer at once or later, or begins a
 * stream (server-sent events). A request must be ended exactly once: http_answer or
 * http_stream_end. Until then the http_conn is a handle that stays valid whatever the client
 * does; after that it must not be used. A client that is gone is told by http_watch's
 * callback and http_conn_is_gone, and what is sent to it is dropped.
 *
 *            on_request
 *     idle ------------> owed --http_answer-----------------> idle
 *      ^                   `--http_stream_begin--> stream --http_stream_end--> idle
 *      `---------------- the next request of the connection is read only now ----'
 *
 * Answers leave once per round of the loop, all those of a connection in one write. on_round
 * is called before: a handler that collects requests does its one write and one sync there,
 * and answers them all.
 *
 * A client that half-closes (its side of the connection ends) still gets its answer, unless
 * http_watch said that somebody cares: then it counts as gone, as does any broken connection.
 *
 * What every answer has: Date, Content-Length (or chunks), X-Content-Type-Options: nosniff, and
 * Connection where the protocol needs it. What a fault gets: an answer, then a close that
 * waits for the client to read it.
 *
 * Costs: an idle connection holds no buffers to speak of; a request that arrives whole is not
 * copied, and neither is its body. One thread. SIGPIPE is ignored from http_server_new on.
 *
 * Ownership: the request and its texts live until on_request returns. Bytes given to answer
 * and write are copied. http_server_free tells watchers that their clients are gone; handles
 * are void after it. It must not be called by on_request or a watcher. The memory goes when the
 * loop next runs, in loop_free at the latest.
 *
 * Tests: test/unit/test_server*.c test/scenario/serve*.bats
 */
#ifndef CLIQ_NET_SERVER_H
#define CLIQ_NET_SERVER_H

#include "base/buf.h"
#include "net/http.h"
#include "net/listener.h"
#include "net/response.h"

#include <stdint.h>

struct loop;
struct http_server;
struct http_conn;

/* Zero is the default everywhere. */
struct http_options {
    void *ctx;
    void (*on_request)(void *ctx, struct http_conn *c, const struct http_request *r);
    /* The most bytes this request's body may have; NULL: HTTP_BODY_MAX. */
    size_t (*body_max)(void *ctx, const struct http_request *r);
    /* After the requests of a round were handed over, before answers leave. May be NULL. */
    void (*on_round)(void *ctx);
    /* The headers (as in http_answer) and the body of the server's own answers: 400, 408, 413...
     * `c` is there to be asked for its peer only. `r` is the request when its head was good, and
     * something is wrong with its body; NULL: what was asked for is not known. fault NULL: the
     * reason as plain text. */
    void (*fault)(void *ctx, const struct http_conn *c, const struct http_request *r, int status,
                  const char *reason, struct buf *headers, struct buf *body);
    unsigned max_conns; /* 1024; more are answered 503 */
    unsigned head_ms;   /* 10000: from its first byte to the end of a head */
    unsigned idle_ms;   /* 60000: between requests */
    unsigned body_ms;   /* 10000: before the rate of a body counts */
    unsigned body_rate; /* 1024 bytes a second at least */
    unsigned stall_ms;  /* 60000: a client that takes nothing of what we send */
    unsigned linger_ms; /* 2000: for a client to read our last words */
    size_t stream_max;  /* 1 MiB: bytes of a stream that wait to be sent */
};

struct http_stats {
    uint64_t accepted, requests, faults, turned_away;
    unsigned open; /* connections */
};

struct http_server *http_server_new(struct loop *l, const struct http_options *o, struct err *e);
/* Takes the listener, also when it fails. */
enum status http_server_add(struct http_server *v, struct listener *l, struct err *e);
/* Stops accepting, tells watchers HTTP_STOPPING, answers what was begun with "Connection:
 * close", cuts what is left after grace_ms; then calls on_stopped (may be NULL), once. */
void http_server_stop(struct http_server *v, unsigned grace_ms, void (*on_stopped)(void *ctx),
                      void *ctx);
void http_server_free(struct http_server *v); /* NULL is fine */
struct http_stats http_server_stats(const struct http_server *v);

/* ---- answers ---- */

/* `headers` are whole lines, "Name: value\r\n...", or NULL: http_add_header (net/response.h) makes
 * safe ones. The body may be NULL. Nothing of it is sent for HEAD, 204 and 304. */
void
http_answer(struct http_conn *c, int status, const char *headers, const void *body, size_t len);
/* Is there memory for an answer with so many bytes of body, and headers up to HTTP_HEADERS_ROOM?
 * Who answers although there is none loses the client. */
#define HTTP_HEADERS_ROOM 1024
bool http_answer_fits(struct http_conn *c, size_t len);

/* ---- streams ---- */

void http_stream_begin(struct http_conn *c, const char *headers); /* 200 */
/* All of it or, when the client is gone or stream_max would be passed, nothing: false. What
 * nothing waits before is always taken. A watcher who met a full stream hears HTTP_DRAINED. */
bool http_stream_write(struct http_conn *c, const void *p, size_t n);
size_t http_stream_queued(const struct http_conn *c);
void http_stream_end(struct http_conn *c);
/* The same with last words, which are taken even when the stream is full; the connection is
 * closed behind them. */
void http_stream_end_with(struct http_conn *c, const void *p, size_t n);

/* ---- the client ---- */

enum http_news {
    HTTP_GONE,     /* nobody reads the answer; the request must still be ended, here or later */
    HTTP_STOPPING, /* the server wants to stop: end the request soon */
    HTTP_DRAINED,  /* a stream that was full is empty */
};
typedef void http_watch_fn(void *ctx, struct http_conn *c, enum http_news news);

/* Until the request is ended. HTTP_GONE comes at most once and is the last. */
void http_watch(struct http_conn *c, http_watch_fn *fn, void *ctx);
bool http_conn_is_gone(const struct http_conn *c);
bool http_conn_is_unix(const struct http_conn *c);
#define HTTP_PEER_SIZE 64
/* "127.0.0.1:40312", "[::1]:40312" or "unix". Returns `to`. */
char *http_conn_peer(const struct http_conn *c, char to[HTTP_PEER_SIZE]);

#endif
