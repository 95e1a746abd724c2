/*
 * wire - where a server is, and a connection to it: bytes out, bytes in.
 *
 *     struct transport_place at;
 *     struct transport w = TRANSPORT_NONE;
 *     s = transport_parse(&at, "http://127.0.0.1:3000/hub", e);
 *     if (!s)
 *         s = transport_open(&w, &at, until_ms, wake, e);
 *     ... transport_send, transport_recv ...
 *     transport_close(&w);
 *
 * TCP and Unix sockets are ours. https needs TLS, which is libcurl's: `secure` of the place opens
 * such a connection (net/fetch.h has one), and without it https is ST_INVALID. So a program that
 * only speaks to servers on this machine links no TLS.
 *
 * Everything waits with a deadline (base/wait.h) and can be woken. SIGPIPE never comes.
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
    int fd; /* to wait for; -1: closed */
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
    char prefix[512];    /* before every path: "/hub" or "" */
    enum status (*secure)(struct transport *w, const struct transport_place *at, int64_t until_ms,
                          struct err *e);
};

/* "http://HOST[:PORT][/PREFIX]", the same with https, or "unix:/PATH". Sets all but `secure`.
 * ST_INVALID names the URL and what is wrong with it. */
enum status transport_parse(struct transport_place *at, const char *url, struct err *e);
/* On this machine: nobody else hears what is said there. */
bool transport_is_local(const struct transport_place *at);

enum status transport_open(struct transport *w, const struct transport_place *at, int64_t until_ms,
                           struct cancel *wake, struct err *e);
/* All of it. */
enum status transport_send(struct transport *w, const void *p, size_t n, int64_t until_ms,
                           struct cancel *wake, struct err *e);
/* Some of what comes; *got is 0 at the end. */
enum status transport_recv(struct transport *w, void *p, size_t n, size_t *got, int64_t until_ms,
                           struct cancel *wake, struct err *e);
void transport_close(struct transport *w);

#endif
