/*
 * names - from a name to its place in a list, whatever the list's length.
 *
 * Files come from strangers: ten thousand phases that each depend on ten others
 * must not cost ten thousand times ten thousand looks.
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

/* Room for max names. False without memory. */
bool name_index_init(struct name_index *n, struct arena *a, size_t max);
void name_index_add(struct name_index *n, const char *name, size_t at); /* NULL: nothing happens */
void name_index_sort(struct name_index *n);
/* The lowest place with that name; SIZE_MAX: none. */
size_t name_index_find(const struct name_index *n, const char *name);

#endif
