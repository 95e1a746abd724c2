/*
 * server - an HTTP/1.1 server on a loop: connections, timeouts, responses in order, streams.
 *
 *     struct http_options o = { .on_request = handle, .ctx = hub };
 *     struct http_server *v = http_server_new(loop, &o, e);
 *     s = http_server_add(v, &listener, e);         any number of them
 *     ... loop_run ...
 *     http_server_stop(v, 5000, on_stopped, hub);   graceful: open requests are answered
 *     http_server_free(v);                          before loop_free
 *
 * on_request gets a complete request. It calls http_answer, at once or later, or begins a stream
 * (server-sent events). Each request must be ended exactly once, by http_answer or
 * http_stream_end. Until then the http_conn is a valid handle, even if the client disconnects;
 * afterwards it must not be used. The callback of http_watch and http_conn_is_gone report a
 * disconnected client; data sent to it is dropped.
 *
 *            on_request
 *     idle ------------> owed --http_answer-----------------> idle
 *      ^                   `--http_stream_begin--> stream --http_stream_end--> idle
 *      `---------------- the next request of the connection is read only now ----'
 *
 * Responses are sent once per iteration of the loop, those of one connection in one write.
 * on_round is called before that: a handler that collects requests can do one write and one sync
 * there (group commit) and answer them all.
 *
 * A client that half-closes its connection still gets its response, unless http_watch was called
 * for the request: then it counts as gone, like a broken connection.
 *
 * Every response has Date, Content-Length (or chunks), X-Content-Type-Options: nosniff, and
 * Connection if the protocol needs it. A bad request gets a response; the close then lingers until
 * the client has read it.
 *
 * An idle connection has no large buffers. A request that arrives in one read is not copied. One
 * thread. SIGPIPE is ignored from http_server_new on.
 *
 * Ownership: the request and its texts are valid until on_request returns. The bytes passed to
 * http_answer and http_stream_write are copied. http_server_free calls the watchers with HTTP_GONE;
 * all handles are void after it. on_request and watchers must not call it. The memory is freed when
 * the loop runs next, at the latest in loop_free.
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
    /* The size limit of this request's body; NULL: HTTP_BODY_MAX. */
    size_t (*body_max)(void *ctx, const struct http_request *r);
    /* Called after the requests of a loop iteration, before responses are sent. May be NULL. */
    void (*on_round)(void *ctx);
    /* Writes headers (as in http_answer) and body of the server's own responses: 400, 408, 413...
     * `c` may only be used for http_conn_peer. `r` is the request if its head was valid, else NULL.
     * fault NULL: the reason is sent as plain text. */
    void (*fault)(void *ctx, const struct http_conn *c, const struct http_request *r, int status,
                  const char *reason, struct buf *headers, struct buf *body);
    unsigned max_conns; /* 1024: beyond them come `reserve`, then `refused`; more are closed */
    /* 0: connections whose first request is still read, soon (RESERVE_MS), and which end after its
     * response. http_conn_is_reserve tells on_request, which refuses what can wait. Those that send
     * nothing give way to newer ones. */
    unsigned reserve;
    unsigned refused; /* 64: connections that get a 503 and are closed */
    /* Called when the first connection over max_conns comes, and again after the number was below
     * half of it in between. May be NULL. */
    void (*on_full)(void *ctx, unsigned max_conns);
    unsigned head_ms;   /* 10000: from the first byte of a head to its end */
    unsigned idle_ms;   /* 60000: between requests */
    unsigned body_ms;   /* 10000: before body_rate is enforced */
    unsigned body_rate; /* 1024: minimum of a body, bytes per second */
    unsigned stall_ms;  /* 60000: without progress in sending */
    unsigned linger_ms; /* 2000: for the client to read the last response */
    size_t stream_max;  /* 1 MiB: unsent bytes of a stream */
};

struct http_stats {
    uint64_t accepted, requests, faults, turned_away;
    unsigned open; /* connections */
};

struct http_server *http_server_new(struct loop *l, const struct http_options *o, struct err *e);
/* Takes ownership of the listener, also on failure. */
enum status http_server_add(struct http_server *v, struct listener *l, struct err *e);
/* Stops accepting, calls watchers with HTTP_STOPPING, answers open requests with "Connection:
 * close", closes the remaining connections after grace_ms, those of streams after a quarter
 * of a second, then calls on_stopped once (may be NULL). */
void http_server_stop(struct http_server *v, unsigned grace_ms, void (*on_stopped)(void *ctx),
                      void *ctx);
void http_server_free(struct http_server *v); /* NULL is fine */
struct http_stats http_server_stats(const struct http_server *v);

/* ---- responses ---- */

/* `headers` are whole lines, "Name: value\r\n...", or NULL; http_add_header (net/response.h) makes
 * safe ones. The body may be NULL, and is not sent for HEAD, 204 and 304. */
void
http_answer(struct http_conn *c, int status, const char *headers, const void *body, size_t len);
/* Is there memory for a response with `len` bytes of body and HTTP_HEADERS_ROOM of headers? If a
 * caller answers without, the connection is closed. */
#define HTTP_HEADERS_ROOM 1024
bool http_answer_fits(struct http_conn *c, size_t len);

/* ---- streams ---- */

void http_stream_begin(struct http_conn *c, const char *headers); /* 200 */
/* Queues all n bytes (true) or none (false: the client is gone, or stream_max would be exceeded).
 * An empty queue accepts any size. After false, the watcher gets HTTP_DRAINED when the queue is
 * empty. */
bool http_stream_write(struct http_conn *c, const void *p, size_t n);
size_t http_stream_queued(const struct http_conn *c);
void http_stream_end(struct http_conn *c);
/* Sends last bytes, even when the queue is full, and ends the stream and the connection. */
void http_stream_end_with(struct http_conn *c, const void *p, size_t n);

/* ---- the client ---- */

enum http_news {
    HTTP_GONE,     /* the client disconnected; the request must still be ended, now or later */
    HTTP_STOPPING, /* http_server_stop was called: end the request soon */
    HTTP_DRAINED,  /* the queue of a full stream is empty */
};
typedef void http_watch_fn(void *ctx, struct http_conn *c, enum http_news news);

/* Calls fn until the request is ended. HTTP_GONE is called at most once and is the last. */
void http_watch(struct http_conn *c, http_watch_fn *fn, void *ctx);
bool http_conn_is_gone(const struct http_conn *c);
bool http_conn_is_unix(const struct http_conn *c);
bool http_conn_is_reserve(const struct http_conn *c); /* see http_options */
#define HTTP_PEER_SIZE 64
/* "127.0.0.1:40312", "[::1]:40312" or "unix". Returns `to`. */
char *http_conn_peer(const struct http_conn *c, char to[HTTP_PEER_SIZE]);

#endif
