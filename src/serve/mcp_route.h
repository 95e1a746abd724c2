/*
 * mcp_route - POST /mcp: the tools of cliq over HTTP, for agents that are elsewhere (mcp/rpc.h).
 *
 *     a message -> mcp_take -> answered
 *                           -> an operation of the hub: a job of the next round, as POST /emit is
 *                           -> files of the project here: a thread of the pool
 *
 * Each message is a request of its own, in both eras, without sessions: the key says who. A key
 * needs for each tool the scope that the tool's route needs; tools that read the project's files
 * need audit, room_post and review emit. A claim that waits ends with its connection.
 * subscriptions/listen is answered with a stream (mcp_listen.h).
 *
 * Tests: test/scenario/mcp_http.bats
 */
#ifndef CLIQ_SERVE_MCP_ROUTE_H
#define CLIQ_SERVE_MCP_ROUTE_H

#include "serve/auth.h"
#include "serve/job.h"
#include "serve/reply.h"

/* Ends the request, now or later. */
void
mcp_route_answer(const struct reply_to *to, const struct http_request *r, const struct caller *by);

/* For job.c: the answer of the operation that a message needed. False: the client is gone. */
bool mcp_call_tell(struct job *j, const struct hub_reply *reply);
void mcp_call_free(struct mcp_call *c); /* NULL is fine */

#endif
