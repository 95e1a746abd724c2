/*
 * sigv4 - AWS Signature Version 4: the headers that sign one HTTP request with a secret key.
 *
 *     char hash[DIGEST_HEX_SIZE];
 *     digest_sha256_hex(hash, body, body_len);     or digest_sha256_file
 *     s = sigv4_sign(&arena, headers, &n, &key, "PUT", url, hash, now_s, e);
 *
 * The payload is always signed: the server refuses a body that changed on its way. A signature is
 * good for 15 minutes, so tries that follow each other may share it. Signed are the method, the
 * host, path and query of the URL, the payload's hash, the date and the session token; other
 * headers are not.
 *
 * The URL must be percent-encoded as AWS does: everything but A-Z a-z 0-9 - . _ ~ and the slashes
 * of the path. libcurl's own signer (7.88) does not sort the query, so it cannot list a bucket.
 *
 * Pure.
 *
 * Tests: test/unit/test_sigv4.c
 */
#ifndef CLIQ_NET_SIGV4_H
#define CLIQ_NET_SIGV4_H

#include "base/arena.h"
#include "base/digest.h"
#include "net/fetch.h"

#define SIGV4_HEADERS 4

struct sigv4_key {
    const char *id, *secret;
    const char *token; /* of a session; NULL: none */
    const char *region, *service;
};

/* Writes the headers, at most SIGV4_HEADERS, with values in the arena. `hash` is the payload's
 * SHA-256 in hex. ST_INVALID: the URL has no host, or a hundred parameters. */
enum status sigv4_sign(struct arena *a, struct fetch_header to[SIGV4_HEADERS], size_t *n,
                       const struct sigv4_key *key, const char *method, const char *url,
                       const char hash[DIGEST_HEX_SIZE], int64_t now_s, struct err *e);

#endif
