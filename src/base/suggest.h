/*
 * suggest - the closest known word to a misspelt one, for "did you mean ...?".
 *
 * Tests: test/unit/test_suggest.c
 */
#ifndef CLIQ_BASE_SUGGEST_H
#define CLIQ_BASE_SUGGEST_H

#include <stddef.h>

/* Set `word` and pass each candidate to suggest_try, the likely ones first. `best` is then the
 * closest one, else the first that begins with the word, or NULL when none is close. */
struct suggest {
    const char *word;
    const char *best;
    size_t distance; /* of best, in letters changed */
    size_t rank;     /* of best, for suggest_try */
};

void suggest_try(struct suggest *n, const char *candidate);

#endif
