/*
 * text - a borrowed piece of text: a pointer and a length.
 *
 * Texts from JSON may hold NUL, so they carry their length. { 0 } is the absent
 * text; it has length 0 like the empty one.
 *
 * Tests: test/unit/test_match.c
 */
#ifndef CLIQ_BASE_TEXT_H
#define CLIQ_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct text {
    const char *p; /* not NUL-ended */
    size_t len;
};

#define TEXT(literal) ((struct text){ (literal), sizeof(literal) - 1 })

static inline struct text
text_of(const char *s)
{
    return (struct text){ s, s ? strlen(s) : 0 };
}

/* Without the white space at both ends: what JavaScript's trim takes away, so ASCII's,
 * Unicode's spaces and line ends, and the byte order mark. */
struct text text_trim(struct text t);

static inline bool
text_same(struct text a, struct text b)
{
    return a.len == b.len && (!a.len || !memcmp(a.p, b.p, a.len));
}

#endif
