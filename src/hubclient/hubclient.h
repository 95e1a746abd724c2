/*
 * hubclient - a client of the hub: calls one operation, on local files or at a server.
 *
 *     struct hubclient d;
 *     struct hubclient_options o = { .identity = "ruby" };
 *     enum status s = hubclient_open(&d, &o, e);
 *     if (!s)
 *         s = hubclient_call(&d, &arena, HUB_ACK, args, &reply, e);
 *     hubclient_close(&d);
 *
 * The hub is the files in <config>/signals unless a URL is set. With a URL, the call is the HTTP
 * request of hub/model/ops.def, and the response's envelope is removed, so both give the same
 * reply. On files the identity is options.identity, CLIQ_IDENTITY or the user's name; a server
 * derives it from the key.
 *
 * Requests that create something have an Idempotency-Key, so that they can be sent again after a
 * lost response.
 *
 *     hubclient.c      identity, server and key; calls on files
 *     http_call.c      calls at a server
 *     claim_wait.c     a claim that waits for a task
 *     subscription.c   signals as they are written
 *
 * Used by the commands (cmd/lib/hub_call.h) and the C library. Ownership: a reply lives in the
 * arena of the call; the client owns the rest. One thread at a time. Waits use poll(2) and can be
 * cancelled (base/wait.h).
 */
#ifndef CLIQ_HUBCLIENT_HUBCLIENT_H
#define CLIQ_HUBCLIENT_HUBCLIENT_H

#include "base/buf.h"
#include "hub/hub.h"
#include "net/http_client.h"

struct hubclient_options {
    const char *config;   /* NULL: $CLIQ_HOME, else ~/.cliqrc */
    const char *url;      /* NULL: $CLIQ_URL; "": files, even if CLIQ_URL is set */
    const char *key;      /* NULL: $CLIQ_KEY, else, for the server of <config>, its admin.key */
    const char *identity; /* NULL: $CLIQ_IDENTITY, else the user's name */
    const char *says;     /* how to set the identity, for error messages: "--as NAME" */
    struct hub_options hub;
    struct cancel *cancel; /* cancels waits; NULL: none. Borrowed */
    const char *no_tls;    /* error message for https URLs; NULL: they are allowed */
    /* Opens TLS connections; NULL: no https. */
    enum status (*secure)(struct transport *w, const struct transport_place *at, int64_t until_ms,
                          struct err *e);
};

struct hubclient {
    struct arena arena;   /* of the strings below */
    const char *identity; /* with a server only a guess; NULL without CLIQ_IDENTITY */
    const char *url;      /* without a final '/'; NULL: files */
    const char *key;
    const char *config; /* the directory; NULL with a server */
    struct hub_options hub_options;
    struct hub *hub; /* files: opened by the first call */
    struct transport_place place;
    struct http_client client;
    struct cancel *cancel;
};

/* Opens no file and no connection; the first call does. */
enum status hubclient_open(struct hubclient *d, const struct hubclient_options *o, struct err *e);
void hubclient_close(struct hubclient *d); /* safe after a failed open, and on zero */

/* ST_OK: an HTTP status below 300. Else the status that fits, with a message and advice. */
enum status hubclient_call(struct hubclient *d, struct arena *a, enum hub_op op,
                           const struct json *args, struct hub_reply *reply, struct err *e);
/* Opens the files, if not open; not with a server. */
enum status hubclient_files(struct hubclient *d, struct err *e);

/* Who the hub takes us for: with a server, what it says of the key. In the arena. */
enum status
hubclient_whoami(struct hubclient *d, struct arena *a, const char **identity, struct err *e);

/* HUB_CLAIM without signal_id; waits up to wait_ms (-1: no limit) for a task. reply->data NULL:
 * none. Resets the arena before each try, so the arguments must live in another one. */
enum status hubclient_claim(struct hubclient *d, struct arena *a, struct json *args,
                            int64_t wait_ms, struct hub_reply *reply, struct err *e);

/* ---- shared by hubclient.c, http_call.c and subscription.c ---- */

/* The status and message of a reply whose HTTP status is 300 or more. */
enum status hubclient_refused(enum hub_op op, const struct hub_reply *r, struct err *e);
/* Parses a server's response and removes its envelope. */
enum status hubclient_unwrap(struct hubclient *d, struct arena *a, enum hub_op op, const char *text,
                             size_t len, struct hub_reply *reply, struct err *e);
enum status hubclient_call_server(struct hubclient *d, struct arena *a, enum hub_op op,
                                  const struct json *args, struct hub_reply *reply, struct err *e);
/* Appends the bytes, percent-encoded for a path or a query. */
void hubclient_encode(struct buf *to, const char *p, size_t len);

#endif
