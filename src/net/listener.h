/*
 * listener - a socket on which somebody may call.
 *
 * Three ways to have one: a TCP address, a path for a Unix socket, or a descriptor that was
 * opened for us (systemd's socket activation).
 *
 * A Unix socket is 0600. A socket file left by a process that died is removed, but only
 * after nobody answered there and under a lock on its directory, so that of two servers that
 * start together one gets it and the other is told so. It is removed on release, if it is
 * still ours.
 *
 * Ownership: the caller owns the struct; release closes the descriptor, and is safe on any
 * state. Who takes the descriptor away puts -1 in its place.
 *
 * Tests: test/unit/test_server*.c
 */
#ifndef CLIQ_NET_LISTENER_H
#define CLIQ_NET_LISTENER_H

#include "base/err.h"

#include <stdbool.h>
#include <sys/types.h>

#define LISTENER_ADDRESS "127.0.0.1:3000"

struct listener {
    int fd;         /* -1: none */
    char name[160]; /* "127.0.0.1:3000", "[::1]:3000", "unix:/run/x": with the port we got */
    unsigned port;  /* 0: a Unix socket */
    bool is_unix;
    bool is_loopback; /* only this machine can call; Unix sockets too */
    char path[108];   /* of a socket file that is ours to remove */
    dev_t dev;
    ino_t ino;
};

#define LISTENER_NONE                                                                              \
    {                                                                                              \
        .fd = -1                                                                                   \
    }

/* "127.0.0.1:3000", "[::1]:3000", "localhost:3000", ":3000" (loopback); port 0: any free one.
 * ST_INVALID: not such an address; ST_CONFLICT: somebody listens there. */
enum status listener_tcp(struct listener *l, const char *address, struct err *e);
/* Is it such an address? *is_here: only this machine could call. */
enum status listener_check(const char *address, bool *is_here, struct err *e);
enum status listener_unix(struct listener *l, const char *path, struct err *e);
/* Takes the descriptor, also when it fails; it must be a stream socket that listens. */
enum status listener_fd(struct listener *l, int fd, struct err *e);
#define LISTENER_GIVEN 3 /* the first descriptor that systemd gives */
/* How many it gave to this very process ($LISTEN_PID, $LISTEN_FDS). Asked once: the answer is
 * taken out of the environment, so that no child believes it is meant. */
unsigned listener_given(void);
void listener_release(struct listener *l);

#endif
