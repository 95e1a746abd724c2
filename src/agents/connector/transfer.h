/*
 * transfer - one of a phase's sources or target_entries, as in the message, and its file.
 *
 *     sources:        - { name: report.json, url: "https://…", headers: {…}, method, body }
 *                     - { name: issue.json, ref: PROJ-1, agent: jira, action: get_issue }
 *     target_entries: - { name: tracker, file: files/build/log.txt, url: "https://…" }
 *
 * Reading them checks only their shape: no file is opened, nothing is sent. What an entry needs
 * besides its name is the connector's to say. A source becomes files/<phase>/<name>; the name may
 * hold directories. A target's file is files/<phase>/<name> of any phase, or a path in the work
 * directory; settings and a run's own files may hold keys and are never sent.
 *
 * Ownership: everything lives in the context's arena. The caller closes a file that it opened.
 *
 * Tests: test/scenario/curl.bats test/scenario/s3.bats
 */
#ifndef CLIQ_AGENTS_CONNECTOR_TRANSFER_H
#define CLIQ_AGENTS_CONNECTOR_TRANSFER_H

#include "context/context.h"
#include "net/fetch.h"

struct transfer {
    const char *kind; /* "source" or "target" */
    const char *name;
    const struct json *node;                         /* the whole entry */
    const char *url, *ref, *agent, *action, *method; /* NULL: not given */
    const char *file;                                /* only of a target */
    const char *mode;                                /* only of a target; NULL: not given */
    struct fetch_header *headers;
    size_t n_headers;
    const char *body; /* only of a source; NULL: none */
    size_t body_len;
    bool is_once; /* retry: false */
};

struct transfers {
    struct transfer *v;
    size_t n;
};

/* Reads payload.<key>, a list of entries of that kind; an absent member is an empty list. A body
 * or file without a Content-Type gets a default one. ST_INVALID names the entry. */
enum status transfers_get(struct transfers *out, struct context *c, const char *key,
                          const char *kind, struct err *e);
/* Another member of the entry, as a text; NULL: not given, or no scalar. */
const char *transfer_member(struct context *c, const struct transfer *n, const char *key);

/* Opens the target's file. */
enum status
transfer_open(struct context *c, const struct transfer *n, struct fetch_file *out, struct err *e);
/* Reads it as text of at most TRANSFER_TEXT_MAX bytes; each byte that is not UTF-8 becomes U+FFFD
 * when it is written as JSON. */
#define TRANSFER_TEXT_MAX ((size_t)8 << 20)
enum status
transfer_read(struct context *c, const struct transfer *n, struct buf *to, struct err *e);
/* The path of a source's file as commands in the work directory can open it; NULL: out of memory.
 */
struct json *transfer_path(struct context *c, const struct transfer *n);
/* "text/csv; charset=utf-8" for a name that ends in .csv. */
const char *transfer_type(const char *file);

/* Sets an error like "source report.json: its url must be a text"; returns ST_INVALID. */
enum status transfer_wrong(const struct transfer *n, const char *what, struct err *e);
/* The text of a scalar; *out is NULL when v is no scalar or holds a NUL. */
enum status transfer_text(struct arena *a, const struct json *v, const char **out, struct err *e);
/* Names separated by single slashes, none of them . or .., no control characters. */
bool transfer_is_inside(const char *path);

#endif
