/*
 * gather - when a few requests are about to be done by the loop itself: now, or a moment later,
 * together with those of clients that were just answered and mostly ask again at once?
 *
 * One sync costs more than all else, and a round that begins with the first request leaves the
 * others for the next: two clients then take turns, each waiting for the other's sync. So after an
 * answer the loop waits until as many are there as the last time, or BATCH_WINDOW_NS have passed,
 * less than a sync takes. Now and then it waits for all who could come, to see whether there are
 * more; the less often, the longer it was in vain. Pure.
 */
#ifndef CLIQ_SERVE_BATCH_WINDOW_H
#define CLIQ_SERVE_BATCH_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct batch_window {
    int64_t answered_ns;     /* the last round was */
    size_t answered;         /* requests in it */
    size_t expected;         /* in the next one; 0: none came yet */
    bool is_trial;           /* that is more than last time */
    unsigned rest, patience; /* rounds until the next trial, and between trials */
};

/* n requests are there: is another turn worth it? */
bool batch_window_waits(struct batch_window *g, size_t n, int64_t now_ns);
/* How long that may take. */
int64_t batch_window_left_ns(const struct batch_window *g, int64_t now_ns);
/* A round of n was answered. */
void batch_window_answered(struct batch_window *g, size_t n, int64_t now_ns);

#endif
