/*
 * expel - what ends with a key that was revoked, whoever did it: what is remembered of it, its
 * tickets, its streams, its claims that wait, and its requests in the round that is gathering.
 *
 * revoke_check is one fstat while nobody writes (revoke_watch.h). It comes before a key is taken,
 * before a round is given, and before streams are told what was written since.
 */
#ifndef CLIQ_SERVE_REVOKE_H
#define CLIQ_SERVE_REVOKE_H

#include "serve/serve_impl.h"

void revoke_check(struct serve *s);
/* The worker is so far: are there keys that the index has lost by now? */
void revoke_forget(struct serve *s);

#endif
