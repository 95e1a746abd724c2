/*
 * hash - a number for some bytes, eight of them at a time. For where two that have the same one
 * cost a look, no more: it resists nobody who looks for such two, and keeps no secret. Not for
 * files: it is another one on a machine with another order of bytes.
 *
 * Tests: test/scenario/serve.bats
 */
#ifndef CLIQ_BASE_HASH_H
#define CLIQ_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t
hash_word(uint64_t n, uint64_t w)
{
    n = (n ^ w) * UINT64_C(0x9E3779B97F4A7C15);
    return n ^ n >> 32;
}

static inline uint64_t
hash_bytes(const char *p, size_t len)
{
    uint64_t n = len, w;

    for (; len >= sizeof w; p += sizeof w, len -= sizeof w) {
        memcpy(&w, p, sizeof w);
        n = hash_word(n, w);
    }
    w = 0;
    memcpy(&w, p, len);
    return hash_word(n, w);
}

#endif
