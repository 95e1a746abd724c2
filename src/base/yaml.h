/*
 * yaml - a YAML document as a tree of nodes with line and column.
 *
 * Parsed with libyaml. Rejected, with the position: more than 1 MiB, nesting
 * deeper than YAML_MAX_DEPTH, duplicate keys, keys that are not plain text, more
 * than one document, more than YAML_MAX_NODES nodes with aliases expanded,
 * custom tags, bad UTF-8. Merge keys (<<) are ordinary keys.
 *
 * Parsing stops at the first error, except that all duplicate keys are reported.
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

/* A parse error: its cause and place. */
struct yaml_fault {
    char what[320];          /* the cause and, if known, the remedy */
    unsigned line, column;   /* from 1 */
    struct yaml_fault *next; /* the next error, in the arena; NULL: the last */
};

/* True: *out is set (NULL for an empty document). False: *where is filled (where may be NULL). */
bool yaml_parse(struct arena *a, const char *text, size_t len, struct yaml **out,
                struct yaml_fault *where);

const struct yaml *
yaml_get(const struct yaml *map, const char *key); /* NULL: absent; map may be NULL */
#define yaml_each(it, container)                                                                   \
    for (const struct yaml *it = (container) ? (container)->first : NULL; it; it = it->next)

/* Converts to JSON in the same arena. Unquoted null, ~, true, false and JSON numbers become JSON
 * literals and numbers; every other scalar becomes a string. NULL: out of memory. */
struct json *yaml_to_json(struct arena *a, const struct yaml *v);

#endif
