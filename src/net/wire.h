/*
 * wire - where a server is, and a connection to it: bytes out, bytes in.
 *
 *     struct wire_place at;
 *     struct wire w = WIRE_NONE;
 *     s = wire_parse(&at, "http://127.0.0.1:3000/hub", e);
 *     if (!s)
 *         s = wire_open(&w, &at, until_ms, wake, e);
 *     ... wire_send, wire_recv ...
 *     wire_close(&w);
 *
 * TCP and Unix sockets are ours. https needs TLS, which is libcurl's: `secure` of the place opens
 * such a connection (net/fetch.h has one), and without it https is ST_INVALID. So a program that
 * only speaks to servers on this machine links no TLS.
 *
 * Everything waits with a deadline (base/wait.h) and can be woken. SIGPIPE never comes.
 */
#ifndef CLIQ_NET_WIRE_H
#define CLIQ_NET_WIRE_H

#include "base/wait.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct wire;

struct wire_ops {
    ssize_t (*send)(struct wire *w, const void *p, size_t n); /* as send(2), never blocking */
    ssize_t (*recv)(struct wire *w, void *p, size_t n);       /* as recv(2), never blocking */
    void (*close)(struct wire *w);
};

struct wire {
    int fd; /* to wait for; -1: closed */
    const struct wire_ops *ops;
    void *tls;
};
#define WIRE_NONE                                                                                  \
    {                                                                                              \
        .fd = -1                                                                                   \
    }

struct wire_place {
    bool is_tls;
    char unix_path[108]; /* "": TCP */
    char host[256], port[6];
    char authority[264]; /* the Host header: "127.0.0.1:3000", "[::1]:80" */
    char prefix[512];    /* before every path: "/hub" or "" */
    enum status (*secure)(struct wire *w, const struct wire_place *at, int64_t until_ms,
                          struct err *e);
};

/* "http://HOST[:PORT][/PREFIX]", the same with https, or "unix:/PATH". Sets all but `secure`.
 * ST_INVALID names the URL and what is wrong with it. */
enum status wire_parse(struct wire_place *at, const char *url, struct err *e);
/* On this machine: nobody else hears what is said there. */
bool wire_is_local(const struct wire_place *at);

enum status wire_open(struct wire *w, const struct wire_place *at, int64_t until_ms,
                      struct wake *wake, struct err *e);
/* All of it. */
enum status wire_send(struct wire *w, const void *p, size_t n, int64_t until_ms, struct wake *wake,
                      struct err *e);
/* Some of what comes; *got is 0 at the end. */
enum status wire_recv(struct wire *w, void *p, size_t n, size_t *got, int64_t until_ms,
                      struct wake *wake, struct err *e);
void wire_close(struct wire *w);

#endif
