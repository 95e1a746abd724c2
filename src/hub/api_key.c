#include "hub/api_key.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

static void
ready(void)
{
    if (sodium_init() < 0)
        abort(); /* without random numbers no key is safe */
}

void
api_key_new(char to[SECRET_KEY_SIZE])
{
    unsigned char random[32];

    ready();
    randombytes_buf(random, sizeof random);
    memcpy(to, "cho_", 4);
    sodium_bin2base64(to + 4, SECRET_KEY_SIZE - 4, random, sizeof random,
                      sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    sodium_memzero(random, sizeof random);
}

bool
api_key_is(const char *text)
{
    size_t n = strlen(text);

    return n == SECRET_KEY_SIZE - 1 && strncmp(text, "cho_", 4) == 0 &&
           strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") == n;
}

void
api_key_hash(char to[SECRET_HASH_SIZE], const void *p, size_t len)
{
    unsigned char hash[32];

    ready();
    crypto_generichash(hash, sizeof hash, p, len, NULL, 0);
    sodium_bin2hex(to, SECRET_HASH_SIZE, hash, sizeof hash);
}

bool
api_key_same(const char a[SECRET_HASH_SIZE], const char b[SECRET_HASH_SIZE])
{
    return sodium_memcmp(a, b, SECRET_HASH_SIZE) == 0;
}
