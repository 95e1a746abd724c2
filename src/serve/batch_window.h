/*
 * batch_window - how long a small round waits for more requests before its sync. Pure.
 *
 * One sync costs more than all else, and a round that ends with the first request leaves the others
 * for the next: two clients then take turns, each waiting for the other's sync. So after an answer
 * the loop waits until as many requests are there as in the last round, or until BATCH_WINDOW_NS
 * have passed, which is less than a sync takes. Now and then it waits for more than that, to see
 * whether there are more clients; it does so less often each time that it was in vain.
 *
 * Tests: test/unit/test_batch_window.c
 */
#ifndef CLIQ_SERVE_BATCH_WINDOW_H
#define CLIQ_SERVE_BATCH_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct batch_window {
    int64_t answered_ns;     /* when the last round was answered */
    size_t answered;         /* requests in it */
    size_t expected;         /* requests in the next one; 0: none came yet */
    bool is_trial;           /* more are expected than last time */
    unsigned rest, patience; /* rounds until the next trial, and between trials */
};

/* n requests are there: wait for more? */
bool batch_window_waits(struct batch_window *g, size_t n, int64_t now_ns);
/* How long at most. */
int64_t batch_window_left_ns(const struct batch_window *g, int64_t now_ns);
/* A round of n was answered. */
void batch_window_answered(struct batch_window *g, size_t n, int64_t now_ns);

#endif
