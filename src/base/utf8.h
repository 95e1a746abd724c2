/*
 * utf8 - strict UTF-8 (RFC 3629): no overlong forms, no surrogates, nothing
 * above U+10FFFF.
 *
 * Tests: test/unit/test_utf8.c
 */
#ifndef CLIQ_BASE_UTF8_H
#define CLIQ_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The length of the well-formed character at p (n bytes left, n > 0), or 0. */
size_t utf8_char(const char *p, size_t n);
/* Are the n bytes at p (n > 0) an incomplete prefix of a well-formed character? */
bool utf8_is_begun(const char *p, size_t n);
/* The code point of the well-formed character at p; len is the result of utf8_char. */
uint32_t utf8_decode(const char *p, size_t len);
/* Writes the code point (not a surrogate) at `to`; 1 to 4 bytes. */
size_t utf8_encode(char *to, uint32_t c);

/* The offset of the first byte that is not part of a well-formed character; n when all are. */
size_t utf8_valid_len(const char *p, size_t n);
/* How many bytes at p end a character that began before them: 0 to 3. */
size_t utf8_half(const char *p, size_t n);
/* The largest length <= max that does not split a character of well-formed text. */
size_t utf8_cut(const char *p, size_t n, size_t max);

#endif
