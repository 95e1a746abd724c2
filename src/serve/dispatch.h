/*
 * dispatch - takes a request, admits it, and hands it to the part that answers.
 *
 *     dispatch_request -> route -> admit: admission, auth, rate -> an operation: a job for the
 *                                                                  next round (rounds.h)
 *                                                               -> a stream (stream.h)
 *                                                               -> the server's own page, a ticket
 */
#ifndef CLIQ_SERVE_DISPATCH_H
#define CLIQ_SERVE_DISPATCH_H

#include "net/server.h"

/* For struct http_options; ctx is the server. */
void dispatch_request(void *ctx, struct http_conn *c, const struct http_request *r);
size_t dispatch_body_max(void *ctx, const struct http_request *r);

#endif
