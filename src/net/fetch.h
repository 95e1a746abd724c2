/*
 * fetch - an HTTP client for any server: one request, one response.
 *
 *     struct fetch_request q = { .url = "https://example.org/report.json" };
 *     struct fetch_response r;
 *     enum status s = fetch(&q, &r, e);
 *     if (!s && r.status == 200)
 *         ... r.body.p, r.body.len ...
 *     fetch_response_release(&r);
 *
 * Every response is ST_OK, also 404 and 500; the caller interprets it. Without a response:
 * ST_INVALID (a bad request), ST_IO (no connection, or a broken one), ST_TIMEOUT, ST_REFUSED (a
 * forbidden redirect), ST_FAILED (too many redirects, a body over the limit).
 *
 * For every request:
 *   - only http and https, also in redirects; never from https to http
 *   - at most FETCH_REDIRECTS redirects. Another origin (scheme, host or port) gets only
 *     headers without secrets: Accept, Accept-Language, Content-Type, User-Agent
 *   - the body's size is limited, and so is the time of each try, including redirects
 *   - up to FETCH_TRIES tries. If the method is idempotent (and not is_single) or is_repeatable is
 * set: after 429, 500, 502, 503, 504 and broken connections. Otherwise: after 429, 503, and when
 * nothing was sent. The pause is Retry-After, else a back-off that doubles (fetch_wait_ms)
 *   - the environment's proxies, cookies, .netrc and credentials are not used
 *   - errors never contain header values, nor a URL's user, password and query
 *
 * Streaming: with on_body, the body of a 2xx response is given away piece by piece as it arrives,
 * and response.body stays empty. A request of which a piece was given away is not sent again: a
 * stream that breaks is an error, unless on_start says that the pieces can be forgotten. Other
 * responses are kept whole, as without on_body.
 *
 * Ownership: the request is borrowed for the call. Release the response whatever fetch
 * returned. One request at a time in one thread; fetch never prints.
 *
 * libcurl is loaded at first use, because loading it takes 6 ms. Without it these functions
 * fail with ST_IO and a message that names the package to install.
 *
 * Tests: test/unit/test_fetch.c test/scenario/curl.bats
 */
#ifndef CLIQ_NET_FETCH_H
#define CLIQ_NET_FETCH_H

#include "base/buf.h"
#include "net/transport.h"

#include <signal.h>
#include <stdint.h>

#define FETCH_REDIRECTS  3
#define FETCH_TRIES      3
#define FETCH_TIMEOUT_MS 60000              /* for one try */
#define FETCH_CONNECT_MS 15000              /* for the connection, part of the above */
#define FETCH_MAX_BYTES  ((size_t)10 << 20) /* of a body */
#define FETCH_WAIT_MS    500                /* before the second try; doubles */
#define FETCH_WAIT_MAX   60000              /* upper limit, also for Retry-After */
#define FETCH_HEADERS    100                /* of a request */

struct fetch_header {
    const char *name, *value;
};

/* A part of a file, as a request's body: it is read while it is sent. */
struct fetch_file {
    int fd;
    uint64_t at, len;
};

struct fetch_request {
    const char *url;
    const char *method; /* NULL: GET, or POST when there is a body */
    const struct fetch_header *headers;
    size_t n_headers;
    const void *body; /* NULL: none */
    size_t body_len;
    const struct fetch_file *file; /* the body, instead of `body`; NULL: none */
    int64_t timeout_ms;            /* 0: FETCH_TIMEOUT_MS */
    size_t max_bytes;              /* 0: FETCH_MAX_BYTES */
    int64_t wait_ms;               /* 0: FETCH_WAIT_MS */
    unsigned tries;                /* 0: FETCH_TRIES */
    bool is_repeatable;            /* may be sent again though the method is not idempotent */
    bool is_single;       /* as a POST, whatever the method: a repetition would do it twice */
    const char *proxy;    /* NULL: none */
    bool keeps_redirects; /* a redirect is the response, and is not followed */
    bool is_url_secret;   /* errors name only its scheme, host and port */
    int64_t wait_max;     /* upper limit of a pause, also for Retry-After; 0: FETCH_WAIT_MAX */
    /* Called before each pause with the status (0: no response); false: do not try again. */
    bool (*on_wait)(void *ctx, int64_t ms, int status);
    /* A piece of a 2xx response's body; false ends the request with ST_FAILED. NULL: body is kept.
     */
    bool (*on_body)(void *ctx, const char *p, size_t len);
    /* Called before the first piece of each try: forget the pieces of the try before. With it a
     * stream that broke is tried again; false ends the request. */
    bool (*on_start)(void *ctx);
    /* Once it is not 0, by a signal's handler, the request ends with ST_CANCELLED, within a second;
     * NULL: nothing ends it. */
    const volatile sig_atomic_t *stop;
    int64_t idle_ms; /* without a byte for so long the try fails with ST_TIMEOUT; 0: no limit */
    void *ctx;       /* for the callbacks */
};

struct fetch_response {
    int status;            /* 200 */
    char *url;             /* of the response, after redirects */
    char *content_type;    /* "": none */
    struct buf head;       /* header lines, each ended by '\n' */
    struct buf body;       /* p is never NULL when fetch succeeded */
    unsigned tries;        /* number of tries, also after a failure */
    unsigned redirects;    /* of the last try */
    int64_t retry_after_s; /* what its Retry-After says, from now; 0: nothing */
};

enum status fetch(const struct fetch_request *q, struct fetch_response *r, struct err *e);
void fetch_response_release(struct fetch_response *r);

/* Appends the value of the first header `name` to `to`; false: none. */
bool fetch_response_header(const struct fetch_response *r, const char *name, struct buf *to);

/* Appends a URL without secrets: without user, password, query and fragment. A malformed URL
 * becomes "(not a URL)". */
void fetch_show_url(struct buf *to, const char *url);
/* The same with its query. */
void fetch_public_url(struct buf *to, const char *url);
/* Only scheme, host and port: "https://hooks.example.org/". */
void fetch_show_origin(struct buf *to, const char *url);

/* Opens a TLS connection for net/transport.h. libcurl connects and checks the certificate; the
 * caller then sends and receives bytes. */
enum status fetch_secure(struct transport *w, const struct transport_place *at, int64_t until_ms,
                         struct err *e);

/* The pause after try number `tries` (from 1); retry_after_s 0: no Retry-After header. wait_ms is
 * the first pause, wait_max the longest; 0: the defaults. */
int64_t fetch_wait_ms(unsigned tries, int64_t retry_after_s, int64_t wait_ms, int64_t wait_max);

#endif
