/*
 * connection - a connector's requests to its service, for one entry after the other.
 *
 *     q = (struct connection_request){ .url = URL(x, "/rest/api/3/issue/", key) };
 *     s = connection_json(x, &q, &doc, e);
 *     if (!s)
 *         s = connection_keep_json(x, doc, e);            files/<phase>/<name>
 *     RECORD(x, doc, "status", "fields.status.name", "summary", "fields.summary");
 *
 * An answer of 300 or more is an error that holds the beginning of the answer, without our keys:
 * header values and settings whose names look secret are masked. 429 and 5xx are tried again as
 * net/fetch does it; a pause of a second or more is reported as progress. After a 401 the
 * connector's `renew` makes a new token, once, and the request is repeated.
 *
 * Files go to and from the disk piece by piece. A JSON answer is at most settings.max_bytes long
 * (10 MiB), a file too when that is set, else CONNECTION_FILE_MAX.
 *
 * Ownership: texts and trees live in the context's arena.
 *
 * Tests: test/scenario/s3.bats test/scenario/curl.bats
 */
#ifndef CLIQ_AGENTS_CONNECTOR_CONNECTION_H
#define CLIQ_AGENTS_CONNECTOR_CONNECTION_H

#include "agents/connector/connector.h"

#include <signal.h>

#define CONNECTION_FILE_MAX ((uint64_t)5 << 40) /* 5 TiB, the largest object of S3 */

enum { CONNECTION_HEADERS = 6 };

struct connection {
    const struct connector *kind;
    struct context *c;
    const struct json *settings;                     /* agents.<connector> */
    const char *base_url;                            /* without a slash at its end */
    struct fetch_header headers[CONNECTION_HEADERS]; /* of every request */
    size_t n_headers;
    int64_t timeout_ms;     /* of a request that moves no file; 0: the default of net/fetch */
    size_t max_bytes;       /* 0: the defaults */
    const char *proxy;      /* NULL: none */
    const char *secrets[4]; /* masked in errors besides those of the settings; may be NULL */
    void *own;              /* the connector's */
    /* Ends the request that goes on once it is not 0; NULL: nothing does (unfinished.h). */
    const volatile sig_atomic_t *stop;
    /* of the present entry */
    const struct transfer *entry;
    struct json *record; /* its member of the handoff's data */
    bool is_starved;     /* memory ran out while the record was filled */
    struct buf note;     /* what was done, for people; empty: the frame says it */
};

struct connection_request {
    const char *method;                 /* NULL: GET, or POST when there is a body */
    const char *url;                    /* NULL: out of memory, an error */
    const char *type;                   /* of the body; NULL: application/json */
    const struct buf *body;             /* NULL: none */
    const struct fetch_file *file;      /* the body, instead; NULL: none */
    const struct fetch_header *headers; /* besides those of the connection */
    size_t n_headers;
    bool is_repeatable;    /* a POST that changes nothing, or nothing twice */
    bool is_once;          /* one try */
    bool is_single;        /* as a POST: what may have taken effect is not sent again */
    bool is_foreign;       /* without the connection's headers */
    int takes_status;      /* an answer of this status is no error either; 0: none */
    int status;            /* set: of the answer */
    bool takes_3xx;        /* an answer of 3xx is none of the errors */
    bool has_own_type;     /* `headers` has the Content-Type */
    struct state_file *to; /* takes the body of a 2xx answer; NULL: it is kept in memory */
    uint64_t size;         /* set: bytes written to it */
};

/* A setting as a text; NULL: not given. connection_need_setting: ST_INVALID says how to set it. */
const char *connection_setting(struct connection *x, const char *key);
enum status
connection_need_setting(struct connection *x, const char *key, const char **out, struct err *e);
/* The same, or the variable of the environment. */
const char *connection_setting_or(struct connection *x, const char *key, const char *variable);
/* Sets base_url from the setting, else `otherwise`; NULL: the setting is required. */
enum status connection_set_base(struct connection *x, const char *otherwise, struct err *e);
/* A header of every request; an older one of that name is replaced. */
enum status
connection_set_header(struct connection *x, const char *name, const char *value, struct err *e);
/* "Authorization: Basic …" of user:password. */
enum status
connection_set_basic(struct connection *x, const char *user, const char *password, struct err *e);
/* "Authorization: Bearer …" */
enum status connection_set_bearer(struct connection *x, const char *token, struct err *e);

/* A URL of parts: as it is, percent-encoded, as it is, … The first is a path behind base_url, or
 * begins with http. In the arena; NULL: out of memory. */
#define URL(x, ...) connection_url((x), (const char *const[]){ __VA_ARGS__, NULL })
const char *connection_url(struct connection *x, const char *const *parts);
/* The same without base_url. */
#define ENCODED(x, ...) connection_encoded((x), (const char *const[]){ __VA_ARGS__, NULL })
const char *connection_encoded(struct connection *x, const char *const *parts);
/* A text of printf, in the arena; NULL: out of memory. */
const char *
connection_text(struct connection *x, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Percent-encodes all but A-Z a-z 0-9 - . _ ~ and the bytes of `keep`. */
void connection_encode(struct buf *to, const char *text, const char *keep);

/* One request; an answer of 2xx, or an error. Release r whatever it returns. */
enum status connection_ask(struct connection *x, struct connection_request *q,
                           struct fetch_response *r, struct err *e);
/* The same for an answer of JSON. *doc is NULL when the answer has no body. */
enum status connection_json(struct connection *x, struct connection_request *q,
                            const struct json **doc, struct err *e);
/* The two usual ones: a GET, and a JSON text that is sent. */
enum status
connection_get(struct connection *x, const char *url, const struct json **doc, struct err *e);
enum status connection_send(struct connection *x, const char *method, const char *url,
                            const struct buf *body, const struct json **doc, struct err *e);
/* The same for a source's file: writes the answer to files/<phase>/<name> piece by piece, and
 * records file, size and content_type. */
enum status connection_download(struct connection *x, const struct connection_request *q,
                                struct fetch_response *r, struct err *e);

/* How a service divides its lists into pages. */
struct paging {
    const char *items; /* the path of a page's list: "issues" */
    const char *next;  /* the path of what leads to the next page; absent or null: the last one */
    const char *more;  /* the path of a bool that is false on the last page; NULL: none */
    const char *total; /* instead of next: pages begin at an offset, and this many items exist */
    /* the parameter that takes it: of the query, or of the body when there is one ("page.cursor");
     * NULL: it is the URL of the next page, of the same origin */
    const char *parameter;
    const char *context; /* path that such URLs leave out: "/wiki"; NULL: none */
    size_t most;         /* items that the service gives of one list; 0: CONNECTION_ITEMS_MAX */
};
/* Appends the items of all pages to `to`, at most the entry's `limit`. Where a service or the frame
 * gives no more although there are more, a progress line says so. */
enum status connection_list(struct connection *x, struct connection_request *q,
                            const struct paging *how, struct json *to, struct err *e);
#define CONNECTION_ITEMS_MAX 100000
/* The entry's `limit`, at most `most`. */
size_t connection_limit(struct connection *x, size_t most);
/* Says that the list has more than `most` items, unless the entry asked for no more. */
enum status connection_tell_more(struct connection *x, size_t n, size_t most, struct err *e);

/* Writes the source's file and records file and size: any bytes, or JSON for people to read,
 * without the agent's secrets. */
enum status connection_keep(struct connection *x, const void *p, size_t n, struct err *e);
enum status connection_keep_json(struct connection *x, const struct json *doc, struct err *e);
/* connection_list, then connection_keep_json and the number of items as `count`. */
enum status connection_keep_list(struct connection *x, struct connection_request *q,
                                 const struct paging *how, struct err *e);

/* Members of the entry's record. NULL or absent values are left out. A failed allocation fails the
 * entry when its action returns. */
void record_text(struct connection *x, const char *key, const char *text);
void record_int(struct connection *x, const char *key, int64_t n);
/* The answer's header `name`, without quotes around it. */
void record_header(struct connection *x, const char *key, const struct fetch_response *r,
                   const char *name);
/* Pairs of key and path in doc, ended by NULL: only scalars are taken. */
#define RECORD(x, doc, ...) record_members((x), (doc), (const char *const[]){ __VA_ARGS__, NULL })
void record_members(struct connection *x, const struct json *doc, const char *const *pairs);

#endif
