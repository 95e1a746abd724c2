/*
 * fetch - one HTTP request, and its answer.
 *
 *     struct fetch_request q = { .url = "https://example.org/report.json" };
 *     struct fetch_response r;
 *     enum status s = fetch(&q, &r, e);
 *     if (!s && r.status == 200)
 *         ... r.body.p, r.body.len ...
 *     fetch_response_release(&r);
 *
 * Every answer of a server is ST_OK, 404 and 500 too: what it means is the caller's to
 * say. What fails is that there is no answer: ST_INVALID (the request is not one that
 * may be sent), ST_IO (no connection, or a broken one), ST_TIMEOUT, ST_REFUSED (a
 * redirect that must not be followed), ST_FAILED (too many redirects, a body over the
 * limit).
 *
 * What holds for every request:
 *   - http and https only, for redirects too; never from https to http
 *   - at most FETCH_REDIRECTS redirects. To another origin (scheme, host or port) go only
 *     headers that carry no secret: Accept, Accept-Language, Content-Type, User-Agent
 *   - the body has a ceiling, and so has the time of each try, redirects included
 *   - up to FETCH_TRIES tries: after 429, 500, 502, 503, 504 and broken connections when
 *     the method is idempotent or is_repeatable says that twice does no harm; for other
 *     requests only after 429, 503 and when nothing was sent. Between them it sleeps: what
 *     Retry-After says, else a time that doubles (fetch_wait_ms)
 *   - no proxy, cookie, .netrc or credential comes from the environment
 *   - sentences never hold values of headers, nor a URL's user, password and query
 *
 * Ownership: the request is borrowed for the call. The response can be released whatever
 * fetch returned. One request at a time in one thread; fetch never prints.
 *
 * libcurl is loaded at first use, because loading it takes 6 ms. Without it these functions
 * fail with ST_IO and a sentence that says what to install.
 *
 * Tests: test/unit/test_fetch.c test/scenario/curl.bats
 */
#ifndef CLIQ_NET_FETCH_H
#define CLIQ_NET_FETCH_H

#include "base/buf.h"
#include "net/transport.h"

#include <stdint.h>

#define FETCH_REDIRECTS  3
#define FETCH_TRIES      3
#define FETCH_TIMEOUT_MS 60000              /* of one try */
#define FETCH_CONNECT_MS 15000              /* of that, until there is a connection */
#define FETCH_MAX_BYTES  ((size_t)10 << 20) /* of a body */
#define FETCH_WAIT_MS    500                /* before the second try; doubles */
#define FETCH_WAIT_MAX   60000              /* whatever Retry-After says */
#define FETCH_HEADERS    100                /* of a request */

struct fetch_header {
    const char *name, *value;
};

struct fetch_request {
    const char *url;
    const char *method; /* NULL: GET, or POST when there is a body */
    const struct fetch_header *headers;
    size_t n_headers;
    const void *body; /* NULL: none */
    size_t body_len;
    int64_t timeout_ms; /* 0: FETCH_TIMEOUT_MS */
    size_t max_bytes;   /* 0: FETCH_MAX_BYTES */
    int64_t wait_ms;    /* 0: FETCH_WAIT_MS */
    unsigned tries;     /* 0: FETCH_TRIES */
    bool is_repeatable; /* a method that is not idempotent may be sent again */
    const char *proxy;  /* NULL: none */
};

struct fetch_response {
    int status;         /* 200 */
    char *url;          /* where the answer came from, after redirects */
    char *content_type; /* "" when the answer has none */
    struct buf head;    /* its header lines, each ended by '\n' */
    struct buf body;    /* p is never NULL when fetch succeeded */
    unsigned tries;     /* it took this many, also when it failed */
    unsigned redirects; /* of the last try */
};

/* Loads libcurl, which the other functions do themselves: for callers that would retry ST_IO. */
enum status fetch_load(struct err *e);

enum status fetch(const struct fetch_request *q, struct fetch_response *r, struct err *e);
void fetch_response_release(struct fetch_response *r);

/* The value of a header of the answer appended to `to`; false when it has none. Of
 * several, the first. */
bool fetch_response_header(const struct fetch_response *r, const char *name, struct buf *to);

/* A URL as people may see it, appended: without user, password, query and fragment; what
 * is not a URL is "(not a URL)". */
void fetch_show_url(struct buf *to, const char *url);
/* The same with its query. */
void fetch_public_url(struct buf *to, const char *url);

/* A connection with TLS, for net/transport.h: libcurl makes it and checks the certificate, and from
 * then on it is only bytes. */
enum status fetch_secure(struct transport *w, const struct transport_place *at, int64_t until_ms,
                         struct err *e);

/* How long to wait after the try number `tries` (from 1); retry_after_s 0: not told. */
int64_t fetch_wait_ms(unsigned tries, int64_t retry_after_s, int64_t wait_ms);

#endif
