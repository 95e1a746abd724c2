/*
 * near - "did you mean ...?"
 *
 * Tests: test/unit/test_suggest.c
 */
#ifndef CLIQ_BASE_SUGGEST_H
#define CLIQ_BASE_SUGGEST_H

#include <stddef.h>

/* Feed candidates one by one; `best` is the closest one, or NULL when none is
 * close enough to be what a person meant. */
struct suggest {
    const char *word;
    const char *best;
    size_t distance;
};

void suggest_try(struct suggest *n, const char *candidate);

#endif
