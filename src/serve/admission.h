/*
 * admission - the checks that every request passes first. Pure.
 *
 * In this order: Host (421), Origin and Sec-Fetch-Site (403), the kind of body (415), then the key
 * (401, 403 for its scope). admission_check finds the text of the key; the caller looks it up.
 * Binding to loopback is not enough: a web page in a browser on this machine can reach us, so
 * foreign host names and foreign origins are refused before anything else. A link on another site
 * may lead to the page itself, which is the same for everyone.
 *
 * Tests: test/unit/test_admission.c
 */
#ifndef CLIQ_SERVE_ADMISSION_H
#define CLIQ_SERVE_ADMISSION_H

#include "serve/route.h"

struct admission_rules {
    const char *const *hosts;   /* NULL-ended: "localhost:3000", "127.0.0.1:3000" … */
    const char *const *proxied; /* those of --host; a reverse proxy with TLS may be before them */
    bool allows_token;          /* ?token= on streams */
};

struct admission_text {
    const char *p; /* NULL: not there */
    size_t len;
};

struct admission_request {
    struct admission_text host, origin, fetch_site, authorization, content_type, encoding;
    struct admission_text token, ticket; /* of the query */
    bool is_local; /* by a Unix socket: the file's mode replaces the Host check */
    bool has_body;
    bool is_get;
};

struct admission_verdict {
    int status; /* 200: go on */
    const char *code, *message;
    struct admission_text key;    /* to be looked up; empty when the route needs none */
    struct admission_text ticket; /* or this */
};

void admission_check(const struct admission_rules *rules, const struct route *route,
                     const struct admission_request *r, struct admission_verdict *v);

/* After the look-up: do the key's scopes allow the route? */
bool admission_allows(unsigned scopes, const struct route *route);

#endif
