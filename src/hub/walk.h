/*
 * walk - what is for an identity, in order, without sorting it.
 *
 * An inbox has many sources: what is addressed to the identity, to each of its roles and rings, and
 * what its subscriptions match. Each of them stands in order in some list of the index; walk_next
 * takes the first of their heads, and what stands in several lists comes once. So a page costs what
 * it shows, with a search in each list, however long the lists are.
 *
 *     struct walk w;
 *     if (walk_init(&w, ix, a, "ruby", WALK_URGENT, &after, 0))
 *         while (walk_next(&w, &at))
 *             ... the signal at.seq ...
 *
 * Whoever walks looks itself whether the signal is wanted, and ends when it has enough. Failures
 * are kept by the index. Memory is the arena's; nothing is to be released.
 */
#ifndef CLIQ_HUB_WALK_H
#define CLIQ_HUB_WALK_H

#include "hub/index.h"

enum walk_order {
    WALK_URGENT, /* what was not acked, most urgent first, then oldest */
    WALK_NEWEST, /* everything, newest first */
    WALK_OLDEST,
};

/* A place in the order: that of a signal. */
struct walk_at {
    double urgency; /* WALK_URGENT only; else 0 */
    int64_t seq;
};

struct walk_source;

struct walk {
    struct index *ix;
    enum walk_order order;
    double min_urgency; /* WALK_URGENT ends below it */
    struct walk_source *first;
    struct walk_at last; /* was given */
};

/* Behind `after`; NULL: from the beginning. False: no memory. */
bool walk_init(struct walk *w, struct index *ix, struct arena *a, const char *identity,
               enum walk_order order, const struct walk_at *after, double min_urgency);
bool walk_next(struct walk *w, struct walk_at *at); /* false: no more */

#endif
