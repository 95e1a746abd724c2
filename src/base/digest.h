/*
 * digest - SHA-256, HMAC-SHA256 and base64, over libsodium: for signed requests and unique ids.
 *
 * Tests: test/unit/test_digest.c
 */
#ifndef CLIQ_BASE_DIGEST_H
#define CLIQ_BASE_DIGEST_H

#include "base/buf.h"

#include <stdint.h>

#define DIGEST_BYTES    32 /* of SHA-256 and HMAC-SHA256 */
#define DIGEST_HEX_SIZE 65 /* the same in hex, and NUL */

void digest_sha256(unsigned char to[DIGEST_BYTES], const void *p, size_t len);
/* The same in lower-case hex, NUL-ended. Returns `to`. */
char *digest_sha256_hex(char to[DIGEST_HEX_SIZE], const void *p, size_t len);
/* Of `len` bytes of a file from `at` on, which are read piece by piece. ST_FAILED: it is shorter.
 */
enum status
digest_sha256_file(char to[DIGEST_HEX_SIZE], int fd, uint64_t at, uint64_t len, struct err *e);
/* A key of any length. */
void digest_hmac_sha256(unsigned char to[DIGEST_BYTES], const void *key, size_t key_len,
                        const void *p, size_t len);
char *digest_hex(char to[DIGEST_HEX_SIZE], const unsigned char digest[DIGEST_BYTES]);

/* Appends the base64 of the bytes, with padding. */
void digest_base64(struct buf *to, const void *p, size_t len);
/* The same in the alphabet of URLs, without padding. */
void digest_base64url(struct buf *to, const void *p, size_t len);
/* Appends the bytes that the base64 text stands for, with or without padding. False, and nothing
 * is appended: it is none. */
bool digest_from_base64(struct buf *to, const char *text, size_t len);

#endif
