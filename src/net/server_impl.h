/*
 * server_impl - types and functions shared by server.c, server_conn.c and server_response.c.
 *
 * Functions that a handler calls only change buffers and flags and mark the connection. turn() acts
 * on marked connections, twice per iteration of the loop (before and after it waits), so no
 * function is re-entered:
 *
 *     timers -> [idle] -> prepare: turn -> poll: reads -> check: turn -> closed handles
 *
 *     turn: call watchers; read on after a response; on_round; one write per connection
 *
 * A connection is freed when libuv has closed its handle and its request is ended.
 *
 * Tests: test/unit/test_server*.c
 */
#ifndef CLIQ_NET_SERVER_IMPL_H
#define CLIQ_NET_SERVER_IMPL_H

#include "net/server.h"

#include <uv.h>

enum {
    SCRATCH = 65536,   /* size of the buffer that all connections read into */
    BACKLOG = 65536,   /* bytes read while a request is open; then reading pauses */
    OUT_MAX = 1 << 20, /* unsent bytes; then no further request is read */
    OUT_KEEP = 16384,  /* a larger buffer is freed when it is empty */
    ANSWER_MAX = 1 << 28,
    RESERVE_MS = 2000,    /* for the request of a connection of the reserve */
    STREAM_STOP_MS = 250, /* for clients of streams, when we stop */
};

union handle {
    uv_handle_t any;
    uv_stream_t stream;
    uv_tcp_t tcp;
    uv_pipe_t pipe;
};

struct http_conn {
    union handle h; /* first member: a pointer to the handle is a pointer to the connection */
    struct http_server *v;
    struct http_conn *next, **link; /* all connections */
    struct http_conn *next_marked;  /* list of connections that turn() must handle */
    struct http http;
    struct buf in;      /* unread bytes, from the first byte of the current request */
    size_t fed;         /* bytes of `in` that the parser has used */
    size_t body_len;    /* decoded body, behind the head */
    uint64_t arrived;   /* bytes since the head was complete */
    struct buf out;     /* to be sent in this turn */
    struct buf sending; /* being written by libuv */
    uv_write_t write;
    size_t unsent;    /* bytes of `sending` at the last timeout check */
    uint64_t since;   /* ms: start of the current timeout */
    uint64_t sent_at; /* ms: last progress in sending */
    http_watch_fn *watch;
    void *watch_ctx;
    unsigned n_requests;
    unsigned char minor; /* HTTP/1.minor of the open request */
    bool is_unix, is_marked;
    bool is_reserve;            /* one of http_options.reserve */
    bool is_owed;               /* a request was handed over and is not ended: a response is owed */
    bool is_stream;             /* the response is a stream */
    bool was_stream;            /* the last one was */
    bool has_no_body;           /* the request was HEAD */
    bool is_chunked;            /* the stream is sent in chunks */
    bool keeps;                 /* keep-alive after this response */
    bool is_over;               /* no further request is read; close after everything was sent */
    bool is_eof;                /* the client has shut down its side */
    bool is_gone;               /* the client disconnected */
    bool is_closing, is_closed; /* state of the handle */
    bool is_writing, is_paused, is_lingering, is_continued;
    bool resumes;             /* turn() parses on in `in` */
    bool is_full, is_drained; /* state of the stream's queue */
};

struct server_socket {
    union handle h; /* first member, as in http_conn */
    struct http_server *v;
    struct server_socket *next;
    struct listener listener; /* the handle owns its fd */
};

struct http_server {
    uv_loop_t *uv;
    struct http_options o;
    uv_prepare_t prepare;
    uv_check_t check;
    uv_idle_t idle; /* active while a connection is marked, so that the loop does not wait */
    uv_timer_t timer;
    struct server_socket *sockets;
    struct http_conn *conns, *marked, *flushing;
    unsigned n_handles; /* handles that libuv has not closed: they are part of this struct */
    unsigned tick_ms;
    uint64_t ticked_at;
    bool was_late;     /* the last tick */
    bool has_requests; /* handed over since on_round */
    bool is_ticking, is_stopping, is_freed;
    bool is_full; /* told to on_full */
    uint64_t stop_at;
    uint64_t stream_stop_at; /* for streams, and clients that were sent everything */
    void (*on_stopped)(void *ctx);
    void *stopped_ctx;
    struct http_stats stats;
    int64_t date_s;
    char date[RESPONSE_DATE_SIZE];
    char scratch[SCRATCH];
};

/* ---- server.c ---- */

/* A handle was closed; after http_server_free the last one frees the server. */
void server_forget_handle(struct http_server *v);

/* ---- server_conn.c ---- */

void conn_mark(struct http_conn *c); /* turn() will handle it */
void conn_free(struct http_conn *c);
void conn_close(struct http_conn *c);
/* Closes the connection and calls its watcher with HTTP_GONE. */
void conn_lose(struct http_conn *c);
int conn_read(struct http_conn *c); /* starts reading; libuv's result */
void conn_read_on(struct http_conn *c);
void conn_flush(struct http_conn *c);

/* ---- server_response.c ---- */

/* Responds to a bad request and reads no further one. request.base must be valid. */
void conn_refuse(struct http_conn *c, int status, const char *reason);
/* Responds 503: too many connections. */
void conn_turn_away(struct http_conn *c);

#endif
