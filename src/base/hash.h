/*
 * hash - a number for some bytes: 64-bit FNV-1a. For where two that have the same one cost a look,
 * no more: it resists nobody who looks for such two, and keeps no secret.
 */
#ifndef CLIQ_BASE_HASH_H
#define CLIQ_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

static inline uint64_t
hash_bytes(const char *p, size_t len)
{
    uint64_t n = UINT64_C(14695981039346656037);

    for (size_t i = 0; i < len; i++)
        n = (n ^ (unsigned char)p[i]) * UINT64_C(1099511628211);
    return n;
}

#endif
