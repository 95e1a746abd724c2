/*
 * inbox_merge - the signals of an inbox in order, by merging sorted lists.
 *
 * An inbox has many sources: signals addressed to the identity, to each of its roles and rings, and
 * signals that its subscriptions match. Each source is a sorted list of the index; inbox_merge_next
 * takes the first of their heads, and a signal in several lists comes once. So the cost of a page
 * depends on its length and the number of lists, not on the length of the lists.
 *
 *     struct inbox_merge w;
 *     if (inbox_merge_init(&w, ix, a, "ruby", INBOX_MERGE_URGENT, &after, 0))
 *         while (inbox_merge_next(&w, &at))
 *             ... the signal at.seq ...
 *
 * The caller filters the signals, and stops when it has enough. The index keeps failures. Memory is
 * the arena's; nothing is to be released.
 *
 * Tests: test/unit/test_inbox_merge.c
 */
#ifndef CLIQ_HUB_REQUEST_INBOX_MERGE_H
#define CLIQ_HUB_REQUEST_INBOX_MERGE_H

#include "hub/index/fold.h"

enum inbox_merge_order {
    INBOX_MERGE_URGENT, /* what was not acked, most urgent first, then oldest */
    INBOX_MERGE_NEWEST, /* everything, newest first */
    INBOX_MERGE_OLDEST,
};

/* A place in the order: that of a signal. */
struct inbox_merge_at {
    double urgency; /* INBOX_MERGE_URGENT only; else 0 */
    int64_t seq;
};

struct merge_source;

struct inbox_merge {
    struct index *ix;
    enum inbox_merge_order order;
    double min_urgency; /* INBOX_MERGE_URGENT ends below it */
    struct merge_source *first;
    struct inbox_merge_at last; /* given to the caller */
};

/* Behind `after`; NULL: from the beginning. False: no memory. */
bool inbox_merge_init(struct inbox_merge *w, struct index *ix, struct arena *a,
                      const char *identity, enum inbox_merge_order order,
                      const struct inbox_merge_at *after, double min_urgency);
bool inbox_merge_next(struct inbox_merge *w, struct inbox_merge_at *at); /* false: no more */

#endif
