/*
 * entry - one of a phase's sources or target_entries, as the message has it.
 *
 *     sources:        - { name: report.json, url: "https://…", headers: {…}, method, body }
 *     target_entries: - { name: tracker, file: files/build/log.txt, url: "https://…" }
 *
 * Reading them checks their shape and asks nobody: no file is opened, nothing is sent.
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
    const char *method; /* NULL: not told */
    const char *file;   /* of a target */
    const char *mode;   /* of a target; NULL: not told */
    struct fetch_header *headers;
    size_t n_headers;
    const char *body; /* of a source; NULL: none */
    size_t body_len;
    bool is_once; /* retry: false */
};

struct transfers {
    struct transfer *v;
    size_t n;
};

/* payload.<key>, a list of entries of that kind; none when there is no such member. A body
 * or file without a Content-Type of its own gets one. ST_INVALID names the entry. */
enum status transfers_get(struct transfers *out, struct context *c, const char *key,
                          const char *kind, struct err *e);

/* ST_INVALID: "source report.json: its url must be a text". */
enum status transfer_wrong(const struct transfer *n, const char *what, struct err *e);
/* The text of a scalar; NULL in *out when v is none or there is a NUL in it. */
enum status transfer_text(struct arena *a, const struct json *v, const char **out, struct err *e);
/* Names separated by single slashes, none of them . or .., no control characters. */
bool transfer_is_inside(const char *path);

#endif
