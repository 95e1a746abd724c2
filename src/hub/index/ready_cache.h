/*
 * ready_cache - read-ahead of `ready`: the tasks of an address that are claimed next.
 *
 * A claim needs the first row of a list. Up to 64 rows of each of the last 16 addresses are read at
 * once and handed out one by one, so that most claims run no query. Every change of a list is
 * passed to the cache. Reading on starts behind the last row, so the dirty signals need not be
 * written first: a task that is claimed but still in the index's list is skipped. Zero: nothing is
 * cached.
 */
#ifndef CLIQ_HUB_INDEX_READY_CACHE_H
#define CLIQ_HUB_INDEX_READY_CACHE_H

#include "hub/index/dirty_signals.h"

enum { READY_CACHE_MAX = 16 };

struct ready_cache {
    struct ready_list *of[READY_CACHE_MAX];
    size_t next; /* the one to replace */
};

/* The first task of an address, of one of the types ("\x1fa\x1fb\x1f"; NULL: any); texts in the
 * arena, or in the cache until the next call. False: there is none. */
bool ready_cache_first(struct ready_cache *c, struct index *ix, const struct dirty_signals *dirty,
                       const char *addr, const char *types, struct arena *a, struct signal_row *x);

void ready_cache_add(struct ready_cache *c, const struct signal_row *x);        /* a new task */
void ready_cache_bring_back(struct ready_cache *c, const struct signal_row *x); /* ready again */
void ready_cache_take_out(struct ready_cache *c, const struct signal_row *x);   /* not ready */

void ready_cache_forget(struct ready_cache *c); /* the lists may have changed */
void ready_cache_release(struct ready_cache *c);

#endif
