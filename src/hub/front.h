/*
 * front - the tasks of an address that are claimed next, read ahead of need.
 *
 * Each address that was asked for has the first rows of its list in `ready`, in their order, as
 * they are with all that happened since: whoever changes the list says so. What is read next goes
 * on where they end, so that the hand need not be written for it: a task that was claimed is still
 * in the index's list, and is passed over. Zero: nothing is known, and the index is asked.
 */
#ifndef CLIQ_HUB_FRONT_H
#define CLIQ_HUB_FRONT_H

#include "hub/hand.h"

enum { FRONTS_MAX = 16 };

struct fronts {
    struct front *of[FRONTS_MAX];
    size_t next; /* to make room for another address */
};

/* The first task of an address, of one of the types ("\x1fa\x1fb\x1f"; NULL: of any); texts in
 * the arena, or here until it is called again. False: there is none. */
bool fronts_first(struct fronts *fs, struct index *ix, const struct hand *hand, const char *addr,
                  const char *types, struct arena *a, struct found *x);

void fronts_add(struct fronts *fs, const struct found *x);        /* a new task, ready */
void fronts_bring_back(struct fronts *fs, const struct found *x); /* it is ready again */
void fronts_take_out(struct fronts *fs, const struct found *x);   /* it is ready no longer */

void fronts_forget(struct fronts *fs); /* the lists may be others */
void fronts_release(struct fronts *fs);

#endif
