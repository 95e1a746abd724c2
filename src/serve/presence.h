/*
 * presence - identities that listen on a stream: their agents are not started.
 *
 * While a stream of an identity with an agent is open, the server holds that agent's wake lock
 * (wake/wake.h), so no other writer starts the agent, and records signals told on the stream as
 * given (HUB_WOKEN). When the last stream ends the lock is released, and the next signal starts
 * the agent. Every stream counts, whatever its filters; a client that reconnects with Last-Event-ID
 * misses nothing.
 *
 * Tests: test/scenario/wake.bats
 */
#ifndef CLIQ_SERVE_PRESENCE_H
#define CLIQ_SERVE_PRESENCE_H

#include "serve/serve_impl.h"

/* For streams_on_identity. */
void presence_change(void *ctx, const char *identity, bool is_there);
/* After a commit: starts sleeping agents, and records what listening identities were told. */
void presence_look(struct serve *s);
void presence_free(struct serve *s);

#endif
