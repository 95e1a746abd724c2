/*
 * dynlib - a shared library that is loaded at first use, because loading it at every start would
 * cost milliseconds that most commands need not spend.
 *
 *     static const struct dynlib_function functions[] = {
 *         { "curl_easy_init", &curl.easy_init }, …
 *     };
 *     char why[256];
 *     if (!dynlib_load("libcurl.so.4", functions, n, why, sizeof why)) … why says what is wrong
 *
 * A library that is loaded stays. Threads: the caller loads it once (pthread_once).
 *
 * Tests: test/unit/test_dynlib.c
 */
#ifndef CLIQ_BASE_DYNLIB_H
#define CLIQ_BASE_DYNLIB_H

#include <stdbool.h>
#include <stddef.h>

struct dynlib_function {
    const char *name;
    void *to;        /* a pointer to the function pointer */
    const char *old; /* its name in an older version of the library; NULL: the same */
};

/* Loads the library and finds all functions. False: `why` has the loader's sentence. */
bool dynlib_load(const char *library, const struct dynlib_function *functions, size_t n, char *why,
                 size_t size);

#endif
