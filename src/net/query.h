/*
 * query - a parser of query strings and percent-escapes.
 *
 *     struct query q;
 *     s = query_parse(&q, &arena, text, len, e);        "limit=20&type=a%3Ab"
 *     s = s ? s : query_unsigned(&q, "limit", 1, 100, 20, &limit, e);
 *     s = s ? s : query_one(&q, "type", &type, e);
 *
 * Strict: a bad escape, a NUL or bytes that are not UTF-8 are an error that names the parameter.
 * '+' is a space, in queries only. Pairs without a name are skipped ("&&", "=x"); a name without
 * '=' has the value "". Order and repeated names are kept; query_one and the typed functions reject
 * a repeated name.
 *
 * Errors are ST_INVALID with a message for the client, or ST_IO: out of memory. Ownership:
 * everything lives in the arena; texts are NUL-ended.
 *
 * Tests: test/unit/test_query.c test/fuzz/fuzz_query.c
 */
#ifndef CLIQ_NET_QUERY_H
#define CLIQ_NET_QUERY_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QUERY_PAIRS 100 /* more than any operation has */

struct query_pair {
    const char *name, *value; /* NUL-ended, without other NULs */
    size_t name_len, value_len;
};

struct query {
    struct query_pair *pairs;
    size_t n;
};

/* Decodes a path or a segment of one; '+' is not a space. *to is a NUL-ended copy. `what` names it
 * in the message. */
enum status url_decode(struct arena *a, const char *p, size_t len, const char *what,
                       const char **to, struct err *e);

enum status query_parse(struct query *q, struct arena *a, const char *p, size_t len, struct err *e);

/* The first value, or NULL. */
const char *query_get(const struct query *q, const char *name);
size_t query_count(const struct query *q, const char *name);

/* At most one value; *to NULL: the parameter is absent. */
enum status query_one(const struct query *q, const char *name, const char **to, struct err *e);
/* A whole number from least to most; `otherwise` if the parameter is absent. */
enum status query_unsigned(const struct query *q, const char *name, uint64_t least, uint64_t most,
                           uint64_t otherwise, uint64_t *to, struct err *e);

#endif
