/*
 * arena - a bump allocator whose memory is freed all at once.
 *
 * Each request and each parsed document has one arena; no single allocation is freed alone.
 * arena_reset frees all allocations but keeps the newest block, so a loop that parses one line
 * at a time calls malloc once.
 *
 * Zero is a valid empty arena. arena_alloc needs n >= 1. It returns NULL when malloc fails or
 * when the arena would exceed `max` (0: no limit). Results are aligned for any type.
 *
 * Tests: test/unit/test_arena.c
 */
#ifndef CLIQ_BASE_ARENA_H
#define CLIQ_BASE_ARENA_H

#include <stddef.h>

struct arena {
    struct arena_block *blocks; /* newest first */
    char *at, *end;             /* free part of the newest block */
    size_t used;                /* size of all blocks together */
    size_t max;                 /* limit of `used`; 0: none */
};

/* Bytes that an allocation of n bytes takes from an arena. */
#define ARENA_ROOM(n) (((n) + 15) & ~(size_t)15)

void *arena_slow(struct arena *a, size_t n); /* for arena_alloc only: takes a new block */

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

char *arena_dup(struct arena *a, const char *p, size_t n); /* copies n bytes, adds a NUL */
void arena_reset(struct arena *a);
void arena_release(struct arena *a);

#endif
