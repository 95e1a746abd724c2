/*
 * near - "did you mean ...?"
 */
#ifndef CLIQ_BASE_NEAR_H
#define CLIQ_BASE_NEAR_H

#include <stddef.h>

/* Feed candidates one by one; `best` is the closest one, or NULL when none is
 * close enough to be what a person meant. */
struct near {
    const char *word;
    const char *best;
    size_t distance;
};

void near_try(struct near *n, const char *candidate);

#endif
