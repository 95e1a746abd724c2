/*
 * transfer - one of a phase's sources or target_entries, as in the message.
 *
 *     sources:        - { name: report.json, url: "https://…", headers: {…}, method, body }
 *     target_entries: - { name: tracker, file: files/build/log.txt, url: "https://…" }
 *
 * Reading them checks only their shape: no file is opened, nothing is sent.
 *
 * Ownership: everything lives in the context's arena.
 */
#ifndef CLIQ_AGENTS_TRANSFER_H
#define CLIQ_AGENTS_TRANSFER_H

#include "context/context.h"
#include "net/fetch.h"

struct transfer {
    const char *kind; /* "source" or "target" */
    const char *name, *url;
    const char *method; /* NULL: not given */
    const char *file;   /* only of a target */
    const char *mode;   /* only of a target; NULL: not given */
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

/* Sets an error like "source report.json: its url must be a text"; returns ST_INVALID. */
enum status transfer_wrong(const struct transfer *n, const char *what, struct err *e);
/* The text of a scalar; *out is NULL when v is no scalar or holds a NUL. */
enum status transfer_text(struct arena *a, const struct json *v, const char **out, struct err *e);
/* Names separated by single slashes, none of them . or .., no control characters. */
bool transfer_is_inside(const char *path);

#endif
