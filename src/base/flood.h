/*
 * flood - lets so many things a second through, and counts the rest: lines that a program repeats
 * without end would fill a disk and tell nobody anything. Pure.
 *
 *     struct flood f = { 0 };
 *     if (flood_lets(&f, 50, clock_mono_ms(), &held))
 *         held of them were kept back since the last one that was let through
 *
 * Tests: test/unit/test_flood.c
 */
#ifndef CLIQ_BASE_FLOOD_H
#define CLIQ_BASE_FLOOD_H

#include <stdbool.h>
#include <stdint.h>

struct flood {
    int64_t since_ms; /* when this second began */
    unsigned n;       /* let through in it */
    uint64_t n_held;  /* kept back since the last one that was let through */
};

bool flood_lets(struct flood *f, unsigned per_second, int64_t now_ms, uint64_t *held);

#endif
