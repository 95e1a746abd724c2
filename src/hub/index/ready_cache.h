/*
 * front - the tasks of an address that are claimed next, read ahead of need.
 *
 * Each address that was asked for has the first rows of its list in `ready`, in their order, as
 * they are with all that happened since: whoever changes the list says so. What is read next goes
 * on where they end, so that the hand need not be written for it: a task that was claimed is still
 * in the index's list, and is passed over. Zero: nothing is known, and the index is asked.
 */
#ifndef CLIQ_HUB_INDEX_READY_CACHE_H
#define CLIQ_HUB_INDEX_READY_CACHE_H

#include "hub/index/dirty_signals.h"

enum { READY_CACHE_MAX = 16 };

struct ready_cache {
    struct ready_list *of[READY_CACHE_MAX];
    size_t next; /* to make room for another address */
};

/* The first task of an address, of one of the types ("\x1fa\x1fb\x1f"; NULL: of any); texts in
 * the arena, or here until it is called again. False: there is none. */
bool ready_cache_first(struct ready_cache *fs, struct index *ix, const struct dirty_signals *dirty,
                       const char *addr, const char *types, struct arena *a, struct signal_row *x);

void ready_cache_add(struct ready_cache *fs, const struct signal_row *x); /* a new task, ready */
void
ready_cache_bring_back(struct ready_cache *fs, const struct signal_row *x); /* it is ready again */
void ready_cache_take_out(struct ready_cache *fs,
                          const struct signal_row *x); /* it is ready no longer */

void ready_cache_forget(struct ready_cache *fs); /* the lists may be others */
void ready_cache_release(struct ready_cache *fs);

#endif
