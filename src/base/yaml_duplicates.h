/*
 * yaml_duplicates - the list of duplicate keys of a YAML document.
 *
 * Keeps the first YAML_TWINS_MAX in the order of the text and counts all, so that a file with
 * thousands of duplicates gives one screen of errors.
 *
 * Tests: test/unit/test_yaml.c
 */
#ifndef CLIQ_BASE_YAML_DUPLICATES_H
#define CLIQ_BASE_YAML_DUPLICATES_H

#include "base/yaml.h"

enum { YAML_TWINS_MAX = 20 };

struct yaml_duplicate {
    const struct yaml *key, *first; /* the member, and the first member with the same key */
};

struct yaml_duplicates {
    struct yaml_duplicate twin[YAML_TWINS_MAX];
    size_t count, found; /* number kept, number in the document */
};

/* Adds the duplicates of one map, not of maps inside it. False: out of memory. */
bool yaml_duplicates_find(struct yaml_duplicates *t, const struct yaml *map);

#endif
