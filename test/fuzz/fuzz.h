/*
 * fuzz - helpers for every target: assertions, and copies of the input of exactly its size.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Like assert, but not disabled by NDEBUG. */
#define MUST(fact)                                                                                 \
    do {                                                                                           \
        if (!(fact)) {                                                                             \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #fact);                     \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* A copy in a block of exactly its size, so that ASan detects a read past the end; free() it. */
static inline char *
fuzz_copy(const uint8_t *data, size_t len)
{
    char *text = malloc(len ? len : 1);

    MUST(text);
    if (len)
        memcpy(text, data, len);
    return text;
}

#endif
