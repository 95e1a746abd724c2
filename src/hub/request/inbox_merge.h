/*
 * walk - what is for an identity, in order, without sorting it.
 *
 * An inbox has many sources: what is addressed to the identity, to each of its roles and rings, and
 * what its subscriptions match. Each of them stands in order in some list of the index;
 * inbox_merge_next takes the first of their heads, and what stands in several lists comes once. So
 * a page costs what it shows, with a search in each list, however long the lists are.
 *
 *     struct inbox_merge w;
 *     if (inbox_merge_init(&w, ix, a, "ruby", INBOX_MERGE_URGENT, &after, 0))
 *         while (inbox_merge_next(&w, &at))
 *             ... the signal at.seq ...
 *
 * Whoever walks looks itself whether the signal is wanted, and ends when it has enough. Failures
 * are kept by the index. Memory is the arena's; nothing is to be released.
 */
#ifndef CLIQ_HUB_REQUEST_INBOX_MERGE_H
#define CLIQ_HUB_REQUEST_INBOX_MERGE_H

#include "hub/index/index.h"

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

struct walk_source;

struct inbox_merge {
    struct index *ix;
    enum inbox_merge_order order;
    double min_urgency; /* INBOX_MERGE_URGENT ends below it */
    struct walk_source *first;
    struct inbox_merge_at last; /* was given */
};

/* Behind `after`; NULL: from the beginning. False: no memory. */
bool inbox_merge_init(struct inbox_merge *w, struct index *ix, struct arena *a,
                      const char *identity, enum inbox_merge_order order,
                      const struct inbox_merge_at *after, double min_urgency);
bool inbox_merge_next(struct inbox_merge *w, struct inbox_merge_at *at); /* false: no more */

#endif
