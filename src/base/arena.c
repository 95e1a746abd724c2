#include "base/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_BLOCK = 4096, MAX_BLOCK = 1 << 20 };

struct arena_block {
    struct arena_block *next; /* older */
    size_t size;              /* of data */
    _Alignas(16) char data[];
};

void *
arena_slow(struct arena *a, size_t n)
{
    size_t size = a->blocks ? a->blocks->size * 2 : FIRST_BLOCK;

    if (n > SIZE_MAX / 4)
        return NULL;
    if (size > MAX_BLOCK)
        size = MAX_BLOCK;
    if (size < n)
        size = n;
    if (a->max) {
        size_t left = a->max > a->used ? a->max - a->used : 0;
        size = size < left ? size : left;
    }
    if (size < n)
        return NULL;
    struct arena_block *b = malloc(sizeof *b + size);
    if (!b)
        return NULL;
    b->next = a->blocks;
    b->size = size;
    a->blocks = b;
    a->used += size;
    a->at = b->data + n;
    a->end = b->data + size;
    return b->data;
}

char *
arena_dup(struct arena *a, const char *p, size_t n)
{
    char *q = n < SIZE_MAX ? arena_alloc(a, n + 1) : NULL;

    if (q) {
        if (n)
            memcpy(q, p, n);
        q[n] = '\0';
    }
    return q;
}

void
arena_reset(struct arena *a)
{
    struct arena_block *b = a->blocks;

    if (!b)
        return;
    /* Keeps the newest block: no older one is larger. */
    for (struct arena_block *old = b->next, *next; old; old = next) {
        next = old->next;
        free(old);
    }
    b->next = NULL;
    a->used = b->size;
    a->at = b->data;
    a->end = b->data + b->size;
}

void
arena_release(struct arena *a)
{
    for (struct arena_block *b = a->blocks, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    *a = (struct arena){ .max = a->max };
}
