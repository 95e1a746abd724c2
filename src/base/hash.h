/*
 * hash - a fast 64-bit hash for in-memory tables.
 *
 * Not cryptographic: an attacker can construct collisions, so a collision may cost only an extra
 * comparison. Not for files: the value depends on the machine's byte order.
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
