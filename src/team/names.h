/*
 * names - from a name to its place in a list, whatever the list's length.
 *
 * Files come from strangers: ten thousand phases that each depend on ten others
 * must not cost ten thousand times ten thousand looks.
 */
#ifndef CLIQ_TEAM_NAMES_H
#define CLIQ_TEAM_NAMES_H

#include "base/arena.h"

#include <stdbool.h>

struct names {
    struct names_entry {
        const char *name;
        size_t at;
    } * v; /* sorted by names_sort */
    size_t n;
};

/* Room for max names. False without memory. */
bool names_init(struct names *n, struct arena *a, size_t max);
void names_add(struct names *n, const char *name, size_t at); /* NULL: nothing happens */
void names_sort(struct names *n);
/* The lowest place with that name; SIZE_MAX: none. */
size_t names_find(const struct names *n, const char *name);

#endif
