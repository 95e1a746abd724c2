/*
 * yaml_duplicates - keys that a map of a YAML text has twice.
 *
 * The first YAML_TWINS_MAX of a text are kept, in its order, and all are counted: a file
 * of fifty thousand of them is refused in a screen of lines.
 *
 * Tests: test/unit/test_yaml.c
 */
#ifndef CLIQ_BASE_YAML_DUPLICATES_H
#define CLIQ_BASE_YAML_DUPLICATES_H

#include "base/yaml.h"

enum { YAML_TWINS_MAX = 20 };

struct yaml_duplicate {
    const struct yaml *key, *first; /* the member, and the first of its map with that key */
};

struct yaml_duplicates {
    struct yaml_duplicate twin[YAML_TWINS_MAX];
    size_t count, found; /* how many are kept, how many there were */
};

/* Adds those of one map, not of the maps in it. False: no memory. */
bool yaml_duplicates_find(struct yaml_duplicates *t, const struct yaml *map);

#endif
