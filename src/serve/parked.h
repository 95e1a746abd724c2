/*
 * parked - claims that wait until there is something for them to claim.
 *
 * They stand in the order in which they were last tried, so those that know of fewer hopes
 * (hub_hopes) than there are stand first: to find who is to be tried again nobody looks at the
 * others. Each has a timer of its own; it runs on while the claim is tried, and when it is up the
 * claim is answered with null. A client that goes away, or a server that stops, ends it, too.
 */
#ifndef CLIQ_SERVE_PARKED_H
#define CLIQ_SERVE_PARKED_H

#include "serve/job.h"

/* Listens for the client's end; before the claim is tried for the first time. */
void parked_watch(struct job *j);
/* It found nothing, and its time is not up. Without memory to wait it is answered. */
void parked_add(struct job *j);
/* Something may be there to claim now: those who hope for it go into the round that gathers. False:
 * not all of them had room. */
bool parked_try(struct serve *s);
/* Refuses those of that key. */
void parked_expel(struct serve *s, const char *key);
void parked_free(struct serve *s);

#endif
