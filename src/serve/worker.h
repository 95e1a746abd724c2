/*
 * worker - the thread that waits, so that the loop never does.
 *
 * The loop does rounds itself (rounds.h). It gives a round to this thread when the round has to
 * wait for the store's lock or a slow disk, folds lines of other processes, or is large.
 *
 *     loop     worker_give(round)          from here on the store is the worker's
 *     worker   the same steps, which may wait here: lock, fold, decide, write, sync; or hub_submit
 *              and hub_read, if answers need the commit
 *     loop     worker_fd is readable: worker_take -> the round, and the store, are the loop's again
 *
 * It has one round at a time. Meanwhile the next one gathers in the loop, so the longer a round
 * takes, the more requests share the next sync.
 */
#ifndef CLIQ_SERVE_WORKER_H
#define CLIQ_SERVE_WORKER_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct hub;
struct round; /* rounds.h */
struct worker;

/* The store stays the caller's, but between worker_give and worker_take only the worker uses it. */
struct worker *worker_new(struct hub *h, struct err *e);
/* Waits until its round is done, and returns that round; NULL: it has none. w may be NULL. */
struct round *worker_free(struct worker *w);

int worker_fd(const struct worker *w);
/* Only when it has none. A round without requests folds what others wrote and does what is due. */
void worker_give(struct worker *w, struct round *r);
/* The round, which is done; NULL: it is not done yet. If it is_kept the loop has to settle; else
 * *look_in_ms is as below. */
struct round *worker_take(struct worker *w, int64_t *look_in_ms);

/* Milliseconds until the store needs a round without requests: something is due, or has to be
 * tried again. may_wait: looks it up if it is not known, which may wait for the lock. */
int64_t worker_look_in_ms(struct worker *w, bool may_wait);

#endif
