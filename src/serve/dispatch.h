/*
 * dispatch - takes a request, admits it, and hands it to the part that answers.
 *
 *     dispatch_request -> route -> admit: admission, auth, rate -> an operation: a job for the
 *                                                                  next round (rounds.h)
 *                                                               -> files: a thread of the pool
 *                                                               -> a message of MCP: either
 *                                                               -> a stream (stream.h)
 *                                                               -> the server's own page, a ticket
 */
#ifndef CLIQ_SERVE_DISPATCH_H
#define CLIQ_SERVE_DISPATCH_H

#include "serve/job.h"

/* For struct http_options; ctx is the server. */
void dispatch_request(void *ctx, struct http_conn *c, const struct http_request *r);
/* A job that a message of POST /mcp needs: into the round, or answered at once. */
void dispatch_job(const struct reply_to *to, struct job *j);
size_t dispatch_body_max(void *ctx, const struct http_request *r);

#endif
