/*
 * api_key - keys and their hashes. A key is "cho_" and 43 characters: 256 random bits, so the log
 * may hold a plain hash (BLAKE2b) of it. The log never holds the key itself.
 */
#ifndef CLIQ_HUB_API_KEY_H
#define CLIQ_HUB_API_KEY_H

#include <stdbool.h>
#include <stddef.h>

#define SECRET_KEY_SIZE  48 /* "cho_" + 43 + NUL */
#define SECRET_HASH_SIZE 65 /* 32 bytes in hex, and NUL */

void api_key_new(char to[SECRET_KEY_SIZE]);
/* Has it the form of a key? */
bool api_key_is(const char *text);
void api_key_hash(char to[SECRET_HASH_SIZE], const void *p, size_t len);
bool api_key_same(const char a[SECRET_HASH_SIZE], const char b[SECRET_HASH_SIZE]);

#endif
