/*
 * reply - composes answers, counts them, and writes the access log.
 *
 * The body of an answer:
 *
 *     {"data":…,"meta":{"request_id":"…","cursor":null}}
 *     {"error":{"code":"…","message":"…","request_id":"…","details":null,"docs_url":"…"}}
 *
 * The broadcast API (/v1/engine/…) has its own: {"ok":true,"signal":…}, {"ok":false,"error":"…"}.
 *
 * Every answer has the request's id, in a header and in the body. Without memory for an answer the
 * client gets 503, for which the server reserved a buffer at its start.
 *
 *     reply_send    JSON          reply_page     text of another kind
 *     reply_refuse  an error      reply_streams  a stream that begins: noted only
 *     reply_file    bytes that stand somewhere
 *
 * Each ends the request (net/server.h), except reply_streams.
 *
 * Tests: test/unit/test_reply.c test/unit/test_admission.c
 */
#ifndef CLIQ_SERVE_REPLY_H
#define CLIQ_SERVE_REPLY_H

#include "serve/serve_impl.h"

/* The request that is answered. */
struct reply_to {
    struct serve *s;
    struct http_conn *conn;
    const struct route *route;
    const char *id;                /* of the request */
    struct http_text method, path; /* for the access log; p NULL: there is none */
};

/* "1f0c62e4-2a": the server's prefix, and a counter. */
void reply_next_id(struct serve *s, char id[REQUEST_ID_SIZE]);

/* Writes the body of a reply, or of an error (route may be NULL). Pure. */
void reply_body(struct buf *to, const struct route *route, const struct hub_reply *reply,
                const char *request_id);
void reply_error_body(struct buf *to, const struct route *route, const char *code,
                      const char *message, const char *request_id);

/* `more`: headers, whole lines, or NULL. False: the client is gone, or got 503 instead. */
bool reply_send(const struct reply_to *to, int status, const char *more, const struct buf *json);
bool reply_page(const struct reply_to *to, const char *type, const struct buf *text);
/* The bytes are copied. */
bool
reply_file(const struct reply_to *to, int status, const char *headers, const char *p, size_t len);
void reply_refuse(const struct reply_to *to, int status, const char *code, const char *message,
                  const char *more);
void reply_streams(const struct reply_to *to);

/* For struct http_options: answers what is not HTTP. */
void reply_fault(void *ctx, const struct http_conn *c, const struct http_request *r, int status,
                 const char *reason, struct buf *headers, struct buf *body);

/* Reserves the buffer for the last 503. False: no memory. */
bool reply_init(struct serve *s);
void reply_release(struct serve *s);

#endif
