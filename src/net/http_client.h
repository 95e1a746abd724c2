/*
 * http_client - a small HTTP/1.1 client for hubs, over TCP, a Unix socket or TLS (net/transport.h).
 *
 *     struct http_client c;
 *     http_client_init(&c, &place);
 *     struct http_client_request q = { .method = "GET", .target = "/health" };
 *     s = http_client_ask(&c, &q, until_ms, cancel, e);          the head: c.reply
 *     while (!s && !(s = http_client_read(&c, &p, &n, until_ms, cancel, e)) && n > 0)
 *         ...                                               the body, as it arrives
 *     http_client_close(&c);
 *
 * http_client_fetch returns the whole body and retries. A stream is a body without an end:
 * http_client_read reads it too.
 *
 * A connection whose response was read to its end is kept for the next request. Only requests with
 * is_repeatable reuse it. If it turns out to be closed before the response's first byte, the
 * request is sent on a new connection.
 *
 * Not supported, because no hub needs it: redirects (the caller handles the status), proxies,
 * compression, HTTP/2. For other servers use net/fetch.h.
 *
 * Lengths and chunks are parsed strictly (http_body.c), other headers leniently. Ownership: the
 * client owns its buffers; the bytes of http_client_read are valid until the next call. One thread
 * at a time.
 *
 * Tests: test/unit/test_http_client.c
 */
#ifndef CLIQ_NET_HTTP_CLIENT_H
#define CLIQ_NET_HTTP_CLIENT_H

#include "base/buf.h"
#include "net/http.h"
#include "net/transport.h"

#define HTTP_CLIENT_HEAD_MAX   65536
#define HTTP_CLIENT_CONNECT_MS 15000
#define HTTP_CLIENT_TRIES      3
#define HTTP_CLIENT_WAIT_MS    500 /* before the second try; doubles */

/* The head of a response. */
struct http_client_reply {
    int status; /* 200 */
    bool is_chunked, has_length, keeps_alive, is_event_stream;
    uint64_t content_length;
    int64_t retry_after_s; /* 0: none */
    char location[256];    /* "": none, or too long */
};

/* Parses a head including its empty line. Returns its length; 0: not complete yet; -1: not HTTP.
 * Pure. */
int http_client_parse(struct http_client_reply *r, const char *p, size_t n);

struct http_client_request {
    const char *method, *target; /* the target begins with '/' */
    const char *headers;         /* lines ended by \r\n, checked by the caller; or NULL */
    const char *body;            /* NULL: none */
    size_t body_len;
    bool is_repeatable; /* may be sent twice */
};

struct http_client {
    const struct transport_place *at;
    struct transport wire;
    struct http_client_reply reply;
    struct http body; /* used only to parse the body */
    struct buf in;
    size_t used; /* bytes of `in` */
    bool is_whole, is_idle;
};

void
http_client_init(struct http_client *c, const struct transport_place *at); /* borrows the place */
enum status http_client_ask(struct http_client *c, const struct http_client_request *q,
                            int64_t until_ms, struct cancel *cancel, struct err *e);
/* Returns the next bytes of the body; *n 0: its end. ST_IO: the connection ended before that. */
enum status http_client_read(struct http_client *c, const char **p, size_t *n, int64_t until_ms,
                             struct cancel *cancel, struct err *e);
/* Reads the whole response into `body`, up to the buf's limit, in at most `tries` tries of
 * `timeout_ms` each. Retries after 429 and 503 and, if is_repeatable, after 500, 502, 504 and
 * broken connections. */
enum status
http_client_fetch(struct http_client *c, const struct http_client_request *q, struct buf *body,
                  int64_t timeout_ms, unsigned tries, struct cancel *cancel, struct err *e);
void http_client_close(struct http_client *c); /* may be used again */

#endif
