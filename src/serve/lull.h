/*
 * lull - what waits until the rounds pause.
 *
 * Our own appends change the log, too: the watch would wake the loop in every round, and the
 * worker pays for that in the middle of its write. A round folds what others wrote before it does
 * anything else, so while rounds follow one another nobody needs the watch. It is off from the
 * first of them until none was given for LULL_MS; then the loop looks by itself what it missed.
 *
 * Agents that sleep are looked for every LULL_MS meanwhile, not after every round: to start one
 * takes longer.
 *
 *     round given -> lull_begin: the watch is off -> LULL_MS: agents; rounds? once more, or
 *                                                             the watch is on
 */
#ifndef CLIQ_SERVE_LULL_H
#define CLIQ_SERVE_LULL_H

#include "serve/serve_impl.h"

/* Every LULL_MS; is_over: the watch is on again. */
typedef void lull_fn(void *ctx, bool is_over);

/* A round that may write was given. fn is called with the server. */
void lull_begin(struct serve *s, lull_fn *fn);
/* There is something new: now, or at the end of the LULL_MS, agents are started. */
void lull_news(struct serve *s);
/* The server stops: what waited is done now. */
void lull_end(struct serve *s);

#endif
