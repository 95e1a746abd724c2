/*
 * client - HTTP/1.1, the side that calls: small, ours, over any wire (net/transport.h).
 *
 *     struct http_client c;
 *     http_client_init(&c, &place);
 *     struct http_client_request q = { .method = "GET", .target = "/health" };
 *     s = http_client_ask(&c, &q, until_ms, wake, e);            the head: c.reply
 *     while (!s && !(s = http_client_read(&c, &p, &n, until_ms, wake, e)) && n > 0)
 *         ...                                               the body, as it comes
 *     http_client_close(&c);
 *
 * Or http_client_fetch: all of the body, and again when that is worth it. Streams are bodies that
 * do not end, so both are the same to http_client_read.
 *
 * A connection whose answer was read to its end is kept for the next request. When it turns out
 * to be dead before a byte of the answer came, a request that is_repeatable goes over a new one;
 * others never use an old connection.
 *
 * Not done, because no hub needs it: redirects (the status is the caller's to explain), proxies,
 * compression, HTTP/2. For everything else there is net/fetch.h.
 *
 * Answers are read strictly where it matters (lengths, chunks: http_body.c), their other headers
 * leniently. Ownership: the client owns its buffers; what http_client_read shows lives until the
 * next call. One thread at a time.
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

/* The head of an answer. */
struct http_client_reply {
    int status; /* 200 */
    bool is_chunked, has_length, keeps_alive, is_event_stream;
    uint64_t content_length;
    int64_t retry_after_s; /* 0: not told */
    char location[256];    /* "": none, or a longer one */
};

/* The head, up to and with its empty line, without it -1; 0: not whole yet, else its length. Pure.
 */
int http_client_parse(struct http_client_reply *r, const char *p, size_t n);

struct http_client_request {
    const char *method, *target; /* the target begins with '/' */
    const char *headers;         /* lines ended by \r\n, checked by the caller; or NULL */
    const char *body;            /* NULL: none */
    size_t body_len;
    bool is_repeatable; /* twice does no harm */
};

struct http_client {
    const struct transport_place *at;
    struct transport wire;
    struct http_client_reply reply;
    struct http body; /* only its reader of bodies */
    struct buf in;
    size_t used; /* of `in` */
    bool is_whole, is_idle;
};

void http_client_init(struct http_client *c,
                      const struct transport_place *at); /* the place stays the caller's */
enum status http_client_ask(struct http_client *c, const struct http_client_request *q,
                            int64_t until_ms, struct cancel *wake, struct err *e);
/* *n is 0 at the end of the body. ST_IO when the connection ends before. */
enum status http_client_read(struct http_client *c, const char **p, size_t *n, int64_t until_ms,
                             struct cancel *wake, struct err *e);
/* All of the answer in `body`, whose ceiling is the limit, after up to `tries` tries of
 * `timeout_ms` each: again after 429, 503 and, when it is_repeatable, after 500, 502, 504 and
 * broken connections, too. */
enum status
http_client_fetch(struct http_client *c, const struct http_client_request *q, struct buf *body,
                  int64_t timeout_ms, unsigned tries, struct cancel *wake, struct err *e);
void http_client_close(struct http_client *c); /* may be asked again */

#endif
