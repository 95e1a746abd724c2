/*
 * parked - claims that wait until there is something for them to claim.
 *
 * They stand in the order in which they were last tried, so those that know of fewer claim_epoch
 * (hub_claim_epoch) than there are stand first: to find who is to be tried again nobody looks at
 * the others. Each has a timer of its own; it runs on while the claim is tried, and when it is up
 * the claim is answered with null. A client that goes away, or a server that stops, ends it, too.
 */
#ifndef CLIQ_SERVE_CLAIM_WAITERS_H
#define CLIQ_SERVE_CLAIM_WAITERS_H

#include "serve/job.h"

/* Listens for the client's end; before the claim is tried for the first time. */
void claim_waiters_watch(struct job *j);
/* It found nothing, and its time is not up. Without memory to wait it is answered. */
void claim_waiters_add(struct job *j);
/* Something may be there to claim now: those who hope for it go into the round that gathers. False:
 * not all of them had room. */
bool claim_waiters_try(struct serve *s);
/* Refuses those of that key. */
void claim_waiters_revoke(struct serve *s, const char *key);
void claim_waiters_free(struct serve *s);

#endif
