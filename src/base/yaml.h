/*
 * yaml - a YAML document as a tree of nodes that know their line and column.
 *
 * Read with libyaml's events. Refused, each with its position: more than 1 MiB,
 * nesting deeper than YAML_MAX_DEPTH, duplicate keys, keys that are not plain
 * text, more than one document, aliases that would copy more than YAML_MAX_NODES
 * nodes in all, custom tags, bad UTF-8. Merge keys (<<) are not special.
 *
 * Reading ends at the first of these but for duplicate keys, which are all told.
 *
 * Ownership: nodes live in the arena and are freed with it.
 *
 * Tests: test/unit/test_yaml.c test/fuzz/fuzz_yaml.c
 */
#ifndef CLIQ_BASE_YAML_H
#define CLIQ_BASE_YAML_H

#include "base/arena.h"
#include "base/err.h"
#include "base/json.h"

#define YAML_MAX_BYTES ((size_t)1 << 20)
#define YAML_MAX_DEPTH 32
#define YAML_MAX_NODES 100000

enum yaml_type { YAML_SCALAR, YAML_LIST, YAML_MAP };

struct yaml {
    struct yaml *next; /* sibling */
    const char *key;   /* members of maps: NUL-ended, no NUL inside */
    unsigned key_line, key_column;
    unsigned line, column; /* of the value, from 1 */
    enum yaml_type type;
    bool is_quoted;   /* a scalar in quotes or a block: always text */
    const char *text; /* scalars: NUL-ended, no NUL inside */
    struct yaml *first;
    size_t count;
};

/* Why and where a text is not YAML that we take. */
struct yaml_fault {
    char what[320];          /* with what to do about it, where we know that */
    unsigned line, column;   /* from 1 */
    struct yaml_fault *next; /* another one, in the arena; NULL: that is all */
};

/* True and *out (NULL for an empty document), or false and *where. */
bool yaml_parse(struct arena *a, const char *text, size_t len, struct yaml **out,
                struct yaml_fault *where);

const struct yaml *yaml_get(const struct yaml *map, const char *key); /* NULL: takes NULL too */
#define yaml_each(it, container)                                                                   \
    for (const struct yaml *it = (container) ? (container)->first : NULL; it; it = it->next)

/* As JSON, in the same arena: unquoted null, ~, true, false and JSON numbers become
 * what they look like, every other scalar a string. NULL without memory. */
struct json *yaml_to_json(struct arena *a, const struct yaml *v);

#endif
