/*
 * mcp_listen - subscriptions/listen over HTTP: changes of resources as server-sent events, for as
 * long as the connection lasts.
 *
 *     data: {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{…}}
 *     data:
 * {"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"inbox://ruby",…}}
 *
 * A listener is a stream (stream.h) in another form: it has the stream's keepalive, its limits, and
 * its end when the key is revoked. The stream tells it of the caller's own inbox; rooms and
 * handoffs, for keys with the scope audit, are files that inotify watches (mcp/resource_watch.h).
 * Resources that it cannot follow are left out of the acknowledgement.
 *
 * Tests: test/scenario/mcp_http.bats test/agents/mcp_clients.bats
 */
#ifndef CLIQ_SERVE_MCP_LISTEN_H
#define CLIQ_SERVE_MCP_LISTEN_H

#include "mcp/rpc.h"
#include "serve/auth.h"
#include "serve/reply.h"

/* Begins the stream, or refuses the request. */
void
mcp_listen_begin(const struct reply_to *to, const struct mcp_request *m, const struct caller *by);

#endif
