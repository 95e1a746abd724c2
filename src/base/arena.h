/*
 * arena - memory that is freed all at once.
 *
 * One request, one parsed document, one arena: no part of it is freed alone.
 * arena_reset keeps the newest block, so a loop that parses a line at a time
 * allocates once.
 *
 * Zero is a valid empty arena. n is at least 1. arena_alloc returns NULL when memory is out or
 * the ceiling (0: none) would be passed. Results are aligned for any type.
 *
 * Tests: test/unit/test_arena.c
 */
#ifndef CLIQ_BASE_ARENA_H
#define CLIQ_BASE_ARENA_H

#include <stddef.h>

struct arena {
    struct arena_block *blocks; /* newest first */
    char *at, *end;             /* free part of the newest block */
    size_t used;                /* bytes handed out by full blocks and this one */
    size_t max;
};

/* What n bytes take of an arena. */
#define ARENA_ROOM(n) (((n) + 15) & ~(size_t)15)

void *arena_slow(struct arena *a, size_t n); /* arena_alloc's way out of line */

static inline void *
arena_alloc(struct arena *a, size_t n)
{
    n = ARENA_ROOM(n);
    if (n <= (size_t)(a->end - a->at)) {
        void *p = a->at;
        a->at += n;
        return p;
    }
    return arena_slow(a, n);
}

char *arena_dup(struct arena *a, const char *p, size_t n); /* copies, adds a NUL */
void arena_reset(struct arena *a);
void arena_release(struct arena *a);

#endif
