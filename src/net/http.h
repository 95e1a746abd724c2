/*
 * http - a strict parser of HTTP/1.1 requests (RFC 9112), without I/O.
 *
 *     struct http h;
 *     http_init(&h);
 *     for (;;)
 *         switch (http_feed(&h, p, n, &used)) {
 *         case HTTP_MORE:  ... keep the unused bytes, append more, call again
 *         case HTTP_HEAD:  ... h.request is filled; h.body_max may be set now
 *         case HTTP_BODY:  ... h.body, h.body_len: the next decoded bytes, inside p
 *         case HTTP_DONE:  ... the request is complete; http_next(&h) for the next one
 *         case HTTP_FAULT: ... respond with h.status and h.reason, then close
 *         }
 *
 * The bytes of a head must be contiguous: until HTTP_HEAD, *used is 0, and each call begins at
 * the request's first byte. No byte is read twice. A caller needs room for HTTP_HEAD_MAX bytes.
 * After HTTP_HEAD, bytes are used as they arrive.
 *
 * The split of the bytes into calls does not change the result. A fault is reported at the first
 * wrong byte, or at the end of the wrong line or head. It is final: the bytes behind it cannot
 * be trusted.
 *
 * Rejected, though some servers accept it: bare LF or CR, folded lines, white space before a
 * colon or behind a chunk size, control bytes, two Host, Authorization or Content-Length headers, a
 * list of lengths, a length beside Transfer-Encoding, a transfer coding other than "chunked", a
 * target that is not ASCII or has a fragment, a bad escape or, decoded, a ".." segment. One empty
 * line before a request is accepted, as the RFC requires. Chunk extensions and trailers are checked
 * and dropped.
 *
 * Ownership: the caller owns everything; nothing is allocated. The texts of a request are
 * offsets from `base`, the request's first byte: a caller that moves the bytes updates `base`.
 * Texts are not NUL-ended.
 *
 * Tests: test/unit/test_http.c test/fuzz/fuzz_http.c
 */
#ifndef CLIQ_NET_HTTP_H
#define CLIQ_NET_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTTP_METHOD_MAX  32                /* longer: 501 */
#define HTTP_TARGET_MAX  8192              /* longer: 414 */
#define HTTP_FIELDS_MAX  16384             /* all header lines and the empty one; more: 431 */
#define HTTP_FIELDS      100               /* header lines; more: 431 */
#define HTTP_BODY_MAX    ((size_t)1 << 20) /* the default; more: 413 */
#define HTTP_EXT_MAX     256               /* bytes of chunk extensions in one line; more: 400 */
#define HTTP_EXTS_MAX    4096              /* in one body */
#define HTTP_TRAILER_MAX 4096              /* bytes of all trailer lines; more: 431 */
#define HTTP_HEAD_MAX                                                                              \
    (2 + HTTP_METHOD_MAX + 1 + HTTP_TARGET_MAX + sizeof " HTTP/1.1\r\n" + HTTP_FIELDS_MAX)

struct http_text {
    const char *p; /* NULL: absent */
    size_t len;
};

struct http_span {
    uint16_t at, len; /* from the base; HTTP_HEAD_MAX fits */
};

enum http_method {
    METHOD_OTHER, /* see method_name; the caller responds 405 or 501 */
    METHOD_GET,
    METHOD_HEAD,
    METHOD_POST,
    METHOD_PUT,
    METHOD_PATCH,
    METHOD_DELETE,
    METHOD_OPTIONS,
};

struct http_request {
    const char *base; /* the request's first byte */
    enum http_method method;
    struct http_span method_name, target, path, query, authority;
    bool has_query;      /* "/a?" has an empty one */
    bool is_star;        /* OPTIONS * */
    bool is_absolute;    /* the target is a URL; its authority is the Host */
    unsigned char minor; /* HTTP/1.minor: 0 or 1 */
    bool is_chunked;
    bool has_length;
    uint64_t content_length;
    bool expects_continue; /* the client waits for "100 Continue" */
    bool keep_alive;       /* the client's wish */
    struct http_text body; /* set by the caller that collects it; the parser returns parts */
    size_t head_len;
    size_t n_fields;
    struct http_field {
        struct http_span name, value;
    } fields[HTTP_FIELDS];
};

enum http_event { HTTP_MORE, HTTP_HEAD, HTTP_BODY, HTTP_DONE, HTTP_FAULT };

struct http {
    struct http_request request;
    size_t body_max; /* set at HTTP_HEAD; until then HTTP_BODY_MAX */
    const char *body;
    size_t body_len;    /* of the last HTTP_BODY */
    int status;         /* of the fault: 400, 413, 414, 417, 431, 501, 505 */
    const char *reason; /* for people; a constant */

    /* The parser's state; see http.c and http_body.c. */
    unsigned char step;
    bool wants_close, wants_keep_alive, has_bad_coding, has_bad_expect;
    bool has_host, has_coding, has_expect, has_authorization;
    struct http_span host, name;
    size_t at;       /* bytes of the head read */
    size_t mark;     /* start of the part being read */
    size_t text_end; /* of a value, without the white space behind it */
    size_t fields_at;
    uint64_t left;  /* of the body, or of its chunk */
    uint64_t total; /* of a chunked body so far */
    size_t line_len, exts_len, trailer_len;
    char trailer[24];
};

void http_init(struct http *h);
/* The next request of the same connection, after HTTP_DONE. */
void http_next(struct http *h);
enum http_event http_feed(struct http *h, const char *p, size_t n, size_t *used);
/* Has a byte of this request been read? */
bool http_is_begun(const struct http *h);

static inline struct http_text
http_text(const struct http_request *r, struct http_span s)
{
    return (struct http_text){ r->base + s.at, s.len };
}

/* The path with its escapes ("/" for an absolute target without one, "*" for is_star). It is
 * well-formed and has no "..", so url_decode (net/query.h) cannot fail on it. */
struct http_text http_path(const struct http_request *r);
/* The text behind the '?'; {NULL, 0}: no '?'. */
struct http_text http_query(const struct http_request *r);
/* The value of the first header of this name; case does not matter. */
struct http_text http_header(const struct http_request *r, const char *name);
size_t http_header_count(const struct http_request *r, const char *name);

bool http_text_is(struct http_text t, const char *s);      /* exactly */
bool http_text_is_like(struct http_text t, const char *s); /* ignoring case */

/* "Not Found"; "Unknown" for a status that the server never sends. */
const char *http_reason(int status);

/* http_body.c: parses the body. */
enum http_event http_feed_body(struct http *h, const char *p, size_t n, size_t *used);

/* Shared by http.c and http_body.c. */
enum { HTTP_STEP_BODY = 16 }; /* smaller steps belong to the head */
enum http_kind {
    HTTP_TOKEN = 1, /* in names */
    HTTP_PATH = 2,  /* in a path: RFC 3986 pchar, '/' and '%' */
    HTTP_QUERY = 4, /* in a target: also characters that browsers do not escape */
    HTTP_VALUE = 8, /* in a header's value */
    HTTP_REG = 16,  /* in a host's name */
};
extern const unsigned char http_kinds[256];
int http_hex(char c); /* its value, or -1 */
enum http_event http_fault(struct http *h, int status, const char *reason);

#endif
