/*
 * claim_waiters - claims with wait_seconds that found no task yet.
 *
 * The store's claim_epoch changes whenever a task may have become claimable (hub_writer.h). Waiting
 * claims are tried again only then. The list is in the order of the last try, so claims with an old
 * epoch stand first. Each claim has a timer, which runs on while the claim is tried; when it fires
 * the claim is answered with null, and also when its client goes or the server stops.
 *
 * Tests: test/scenario/serve_waiting.bats
 */
#ifndef CLIQ_SERVE_CLAIM_WAITERS_H
#define CLIQ_SERVE_CLAIM_WAITERS_H

#include "serve/job.h"

/* Before the first try: watches for the client's end. */
void claim_waiters_watch(struct job *j);
/* The claim found nothing and its time is not up. Without memory for a timer it is answered. */
void claim_waiters_add(struct job *j);
/* Adds claims with an old epoch to the round that gathers. False: not all of them had room. */
bool claim_waiters_try(struct serve *s);
/* Refuses the claims of a revoked key. */
void claim_waiters_revoke(struct serve *s, const char *key);
void claim_waiters_free(struct serve *s);

#endif
