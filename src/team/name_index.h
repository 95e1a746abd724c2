/*
 * name_index - finds a name's position in a list by binary search.
 *
 * Team files come from strangers: a file of ten thousand phases that each depend on ten others must
 * not take quadratic time.
 *
 * Tests: test/unit/test_team*.c
 */
#ifndef CLIQ_TEAM_NAME_INDEX_H
#define CLIQ_TEAM_NAME_INDEX_H

#include "base/arena.h"

#include <stdbool.h>

struct name_index {
    struct name_index_entry {
        const char *name;
        size_t at;
    } * v; /* sorted by name_index_sort */
    size_t n;
};

/* Makes room for max names. False: out of memory. */
bool name_index_init(struct name_index *n, struct arena *a, size_t max);
void name_index_add(struct name_index *n, const char *name, size_t at); /* NULL is ignored */
void name_index_sort(struct name_index *n);
/* The lowest position with that name; SIZE_MAX: none. */
size_t name_index_find(const struct name_index *n, const char *name);

#endif
