/*
 * reply - an answer on its way out: counted, in the access log, in its envelope.
 *
 * Every answer has the request's id, in the header and in the envelope. What there is no memory for
 * becomes a 503 in the usual envelope, which has its room since the start.
 *
 *     reply_send    JSON          reply_page     text of another kind
 *     reply_refuse  an error      reply_streams  a stream that begins: noted only
 *
 * Each ends the request (net/server.h), except reply_streams.
 */
#ifndef CLIQ_SERVE_REPLY_H
#define CLIQ_SERVE_REPLY_H

#include "serve/serve_impl.h"

/* Whom an answer is for. */
struct reply_to {
    struct serve *s;
    struct http_conn *conn;
    const struct route *route;
    const char *id;                /* of the request */
    struct http_text method, path; /* for the access log; p NULL: there is none */
};

/* "1f0c62e4-2a": of this server, and a number. */
void reply_next_id(struct serve *s, char id[REQUEST_ID_SIZE]);

/* Each: `more` are headers, whole lines, or NULL. False: the client will not hear it. */
bool reply_send(const struct reply_to *to, int status, const char *more, const struct buf *json);
bool reply_page(const struct reply_to *to, const char *type, const struct buf *text);
void reply_refuse(const struct reply_to *to, int status, const char *code, const char *message,
                  const char *more);
void reply_streams(const struct reply_to *to);

/* For struct http_options: requests that are none. */
void reply_fault(void *ctx, const struct http_conn *c, const struct http_request *r, int status,
                 const char *reason, struct buf *headers, struct buf *body);

/* The room for what is said without memory. False: there is none even for that. */
bool reply_init(struct serve *s);
void reply_release(struct serve *s);

#endif
