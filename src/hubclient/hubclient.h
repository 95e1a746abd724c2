/*
 * hubclient - the client of the hub: an operation and its arguments in, its answer out, whether the
 * hub is files here or a server somewhere. The commands (cmd/lib/hub_call.h) and the C library
 * stand on it.
 *
 *     struct hubclient d;
 *     struct hubclient_options o = { .identity = "ruby" };
 *     enum status s = hubclient_open(&d, &o, e);                  who asks, and where
 *     if (!s)
 *         s = hubclient_call(&d, &arena, HUB_ACK, args, &reply, e);
 *     hubclient_close(&d);
 *
 * Files, <config>/signals, unless an URL names a server: then the request is the one that
 * hub/model/ops.def describes, and the answer's envelope is taken off. So a caller neither knows
 * nor cares. On files the identity is the one given, CLIQ_IDENTITY or the user's name; a server
 * knows it by the key.
 *
 * A request that a server may get twice does no harm twice: what makes something carries an
 * Idempotency-Key, so that it can be sent again when an answer is lost.
 *
 * Files, in reading order: hubclient.c who and where, the call on files · http_call.c the same as
 * HTTP · claim_wait.c a claim that waits · subscription.c signals as they come.
 *
 * Ownership: what is answered lives in the arena given; the client owns the rest. One thread at a
 * time. It waits with poll(2) and can be woken (base/wait.h).
 */
#ifndef CLIQ_HUBCLIENT_HUBCLIENT_H
#define CLIQ_HUBCLIENT_HUBCLIENT_H

#include "base/buf.h"
#include "hub/hub.h"
#include "net/http_client.h"

struct hubclient_options {
    const char *config;   /* NULL: $CLIQ_HOME, else ~/.cliqrc */
    const char *url;      /* NULL: $CLIQ_URL; "": files, whatever that says */
    const char *key;      /* NULL: $CLIQ_KEY, else, for a server here, the key it left for us */
    const char *identity; /* NULL: $CLIQ_IDENTITY, else the user's name */
    const char *says;     /* how one says who one is, for sentences: "--as NAME" */
    struct hub_options hub;
    struct cancel *wake; /* ends what waits; NULL: nothing does. Stays the caller's */
    const char *no_tls;  /* why https is refused, before a key is asked for; NULL: it is not */
    /* How https is spoken, or NULL: not at all. */
    enum status (*secure)(struct transport *w, const struct transport_place *at, int64_t until_ms,
                          struct err *e);
};

struct hubclient {
    struct arena arena;   /* of what stands here */
    const char *identity; /* with a server only a guess, and NULL without CLIQ_IDENTITY */
    const char *url;      /* without '/' at its end; NULL: files */
    const char *key;
    const char *config; /* the directory; NULL with a server */
    struct hub_options hub_options;
    struct hub *hub; /* NULL until it is needed */
    struct transport_place place;
    struct http_client client;
    struct cancel *wake;
};

/* Opens no file and no connection yet. */
enum status hubclient_open(struct hubclient *d, const struct hubclient_options *o, struct err *e);
void hubclient_close(struct hubclient *d); /* safe whatever hubclient_open returned, and on zero */

/* An answer below 300 is ST_OK; any other a status with a sentence that says what to do. */
enum status hubclient_call(struct hubclient *d, struct arena *a, enum hub_op op,
                           const struct json *args, struct hub_reply *reply, struct err *e);
/* Opens the store itself; not with a server. */
enum status hubclient_files(struct hubclient *d, struct err *e);

/* HUB_CLAIM without signal_id, until there is one; reply->data NULL: nothing came in wait_ms (-1:
 * for ever). The arena is emptied before each try: the arguments stand in another one. */
enum status hubclient_claim(struct hubclient *d, struct arena *a, struct json *args,
                            int64_t wait_ms, struct hub_reply *reply, struct err *e);

/* ---- what hubclient.c, http_call.c and subscription.c share ---- */

/* The status and the sentence of an answer that is not below 300. */
enum status hubclient_refused(enum hub_op op, const struct hub_reply *r, struct err *e);
/* Takes the envelope off an answer of the server. */
enum status hubclient_unwrap(struct hubclient *d, struct arena *a, enum hub_op op, const char *text,
                             size_t len, struct hub_reply *reply, struct err *e);
enum status hubclient_call_server(struct hubclient *d, struct arena *a, enum hub_op op,
                                  const struct json *args, struct hub_reply *reply, struct err *e);
/* Bytes as they may stand in a path or a query. */
void hubclient_encode(struct buf *to, const char *p, size_t len);

#endif
