/*
 * server_impl - what server.c, server_conn.c and server_response.c share; nobody else.
 *
 * The one rule behind the code: whatever is called from outside only changes buffers and
 * flags and marks the connection. What follows from that happens in turn(), twice per round
 * of the loop (before it waits and after), so nothing is re-entered:
 *
 *     timers -> [idle] -> prepare: turn -> poll: reads -> check: turn -> closed handles
 *
 *     turn: news; read on where an answer let us; on_round; one write per connection
 *
 * A connection is freed when its handle is closed (libuv says so, later) and nobody holds it
 * as the handle of a request.
 *
 * Tests: test/unit/test_server*.c
 */
#ifndef CLIQ_NET_SERVER_IMPL_H
#define CLIQ_NET_SERVER_IMPL_H

#include "net/server.h"

#include <uv.h>

enum {
    SCRATCH = 65536,   /* of the one buffer all connections read into */
    BACKLOG = 65536,   /* bytes read ahead of an answer; then reading pauses */
    OUT_MAX = 1 << 20, /* unsent answers; then no further request is read */
    OUT_KEEP = 16384,  /* a larger buffer is given back when it is empty */
    ANSWER_MAX = 1 << 28,
    TURNED_AWAY = 64, /* so many at a time are told that there are too many; others hang up */
};

union handle {
    uv_handle_t any;
    uv_stream_t stream;
    uv_tcp_t tcp;
    uv_pipe_t pipe;
};

struct http_conn {
    union handle h; /* first: libuv's pointer to the handle is a pointer to us */
    struct http_server *v;
    struct http_conn *next, **link; /* all connections */
    struct http_conn *next_marked;  /* those for which turn() has something to do */
    struct http http;
    struct buf in;      /* from the first byte of the request being read */
    size_t fed;         /* of those, used by the parser */
    size_t body_len;    /* decoded, and standing behind the head */
    uint64_t arrived;   /* bytes since the head was whole */
    struct buf out;     /* to be sent at the end of the round */
    struct buf sending; /* libuv has this one */
    uv_write_t write;
    size_t unsent;    /* of sending, when we last looked */
    uint64_t since;   /* ms: what we wait for, we wait for since then */
    uint64_t sent_at; /* ms: the last progress in sending */
    http_watch_fn *watch;
    void *watch_ctx;
    unsigned n_requests;
    unsigned char minor; /* of the request that is owed */
    bool is_unix, is_marked;
    bool is_owed;     /* a request was handed over and not ended: somebody holds us */
    bool is_stream;   /* its answer is one */
    bool has_no_body; /* it was HEAD */
    bool is_chunked;  /* the stream's bytes go in chunks */
    bool keeps;       /* the connection, after this answer */
    bool is_over;     /* no further request is read; closed once all was sent */
    bool is_eof;      /* the client has ended its side */
    bool is_gone;
    bool is_closing, is_closed; /* the handle */
    bool is_writing, is_paused, is_lingering, is_continued;
    bool resumes;             /* turn() reads on in `in` */
    bool is_full, is_drained; /* the stream */
};

struct server_socket {
    union handle h; /* first */
    struct http_server *v;
    struct server_socket *next;
    struct listener listener; /* its fd is the handle's */
};

struct http_server {
    uv_loop_t *uv;
    struct http_options o;
    uv_prepare_t prepare;
    uv_check_t check;
    uv_idle_t idle; /* runs while something is marked, so that the loop does not wait */
    uv_timer_t timer;
    struct server_socket *doors;
    struct http_conn *conns, *marked, *flushing;
    unsigned n_handles; /* not closed yet: the memory is libuv's as well */
    unsigned tick_ms;
    bool has_requests; /* handed over since on_round */
    bool is_ticking, is_stopping, is_freed;
    uint64_t stop_at;
    void (*on_stopped)(void *ctx);
    void *stopped_ctx;
    struct http_stats stats;
    int64_t date_s;
    char date[ANSWER_DATE_SIZE];
    char scratch[SCRATCH];
};

/* ---- server.c ---- */

/* A handle is closed: the server's memory goes with the last one. */
void server_forget_handle(struct http_server *v);

/* ---- server_conn.c: what comes and goes ---- */

void conn_mark(struct http_conn *c); /* turn() looks at it */
void conn_free(struct http_conn *c);
void conn_close(struct http_conn *c);
/* The connection broke, or its client waits for nothing. */
void conn_lose(struct http_conn *c);
int conn_read(struct http_conn *c); /* starts reading; libuv's outcome */
void conn_read_on(struct http_conn *c);
void conn_flush(struct http_conn *c);

/* ---- server_response.c: what is said ---- */

/* An answer of our own to what is no request; nothing behind it is read. */
/* request.base is where its bytes are. */
void conn_refuse(struct http_conn *c, int status, const char *reason);
/* There are too many callers. */
void conn_turn_away(struct http_conn *c);

#endif
