/*
 * front - where requests come in: which one is it, who asks, and who answers.
 *
 *     dispatch_request -> admit: gate, caller, rate -> an operation: a job for the next round
 *                                                -> a stream
 *                                                -> a page, or a ticket, of the server's own
 */
#ifndef CLIQ_SERVE_DISPATCH_H
#define CLIQ_SERVE_DISPATCH_H

#include "net/server.h"

/* For struct http_options; ctx is the server. */
void dispatch_request(void *ctx, struct http_conn *c, const struct http_request *r);

#endif
