/*
 * transport - a server's address, and a byte connection to it: TCP, Unix socket or TLS.
 *
 *     struct transport_place at;
 *     struct transport w = TRANSPORT_NONE;
 *     s = transport_parse(&at, "http://127.0.0.1:3000/hub", e);
 *     if (!s)
 *         s = transport_open(&w, &at, until_ms, cancel, e);
 *     ... transport_send, transport_recv ...
 *     transport_close(&w);
 *
 * `secure` of the place opens TLS connections for https, by libcurl (fetch_secure in net/fetch.h).
 * If it is NULL, https is ST_INVALID.
 *
 * Every wait has a deadline and can be cancelled (base/wait.h). No call raises SIGPIPE.
 *
 * Tests: test/unit/test_http_client.c
 */
#ifndef CLIQ_NET_TRANSPORT_H
#define CLIQ_NET_TRANSPORT_H

#include "base/wait.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct transport;

struct transport_ops {
    ssize_t (*send)(struct transport *w, const void *p, size_t n); /* as send(2), never blocking */
    ssize_t (*recv)(struct transport *w, void *p, size_t n);       /* as recv(2), never blocking */
    void (*close)(struct transport *w);
};

struct transport {
    int fd; /* for poll; -1: closed */
    const struct transport_ops *ops;
    void *tls;
};
#define TRANSPORT_NONE                                                                             \
    {                                                                                              \
        .fd = -1                                                                                   \
    }

struct transport_place {
    bool is_tls;
    char unix_path[108]; /* "": TCP */
    char host[256], port[6];
    char authority[264]; /* the Host header: "127.0.0.1:3000", "[::1]:80" */
    char prefix[512];    /* put before every path: "/hub" or "" */
    enum status (*secure)(struct transport *w, const struct transport_place *at, int64_t until_ms,
                          struct err *e);
    /* Looks at a new connection, not of TLS, before anything is sent; NULL: no check. */
    enum status (*check)(const struct transport *w, const struct transport_place *at,
                         int64_t until_ms, struct err *e);
    const char *own_config; /* for own_server_check */
};

/* Parses "http://HOST[:PORT][/PREFIX]", the same with https, or "unix:/PATH". Sets `secure`
 * and `check` to NULL. ST_INVALID: the message has the URL and the reason. */
enum status transport_parse(struct transport_place *at, const char *url, struct err *e);
/* Does the URL say that the server is on this machine? */
bool transport_is_local(const struct transport_place *at);

enum status transport_open(struct transport *w, const struct transport_place *at, int64_t until_ms,
                           struct cancel *cancel, struct err *e);
/* Sends all n bytes. */
enum status transport_send(struct transport *w, const void *p, size_t n, int64_t until_ms,
                           struct cancel *cancel, struct err *e);
/* Receives up to n bytes; *got 0: the end. */
enum status transport_recv(struct transport *w, void *p, size_t n, size_t *got, int64_t until_ms,
                           struct cancel *cancel, struct err *e);
void transport_close(struct transport *w);

#endif
