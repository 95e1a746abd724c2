/*
 * presence - identities that listen on a stream are awake: their agents are not started.
 *
 * While a stream of an identity that has an agent is open, the server has that agent's lock
 * (wake/wake.h), so no other writer starts it either, and notes what the stream was told as
 * given. When the last stream ends the lock goes, and what comes then starts the agent. A stream
 * counts whatever its filters; who reconnects with Last-Event-ID misses nothing.
 */
#ifndef CLIQ_SERVE_PRESENCE_H
#define CLIQ_SERVE_PRESENCE_H

#include "serve/serve_impl.h"

/* For streams_on_identity. */
void presence_change(void *ctx, const char *identity, bool is_there);
/* After a change of the log: starts agents that sleep, and notes what listening identities were
 * told. */
void presence_look(struct serve *s);
void presence_free(struct serve *s);

#endif
