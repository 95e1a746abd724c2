/*
 * rs256 - signs a text with an RSA key: RS256 of JSON Web Tokens, which is RSASSA-PKCS1-v1_5 with
 * SHA-256.
 *
 * OpenSSL's libcrypto does it, loaded at first use as libcurl is (net/libcurl.h). libcurl itself
 * needs it on most systems, so it is there; nothing links it, and its headers are not needed to
 * build.
 *
 * Tests: test/scenario/gdrive.bats
 */
#ifndef CLIQ_NET_RS256_H
#define CLIQ_NET_RS256_H

#include "base/buf.h"

/* Appends the signature, raw bytes. pem is a private key, PKCS #8 or #1, without a password.
 * ST_INVALID: it is none. ST_IO: the library cannot be loaded; the message names the package. */
enum status
rs256_sign(const char *pem, const void *p, size_t len, struct buf *signature, struct err *e);

#endif
