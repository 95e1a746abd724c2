/*
 * listener - a listening socket: TCP, Unix, or inherited from systemd (socket activation).
 *
 * A Unix socket has mode 0600. A stale socket file is removed, after a connect to it was refused
 * and under a lock on its directory. So of two servers that start at the same time, one gets the
 * socket and the other ST_CONFLICT. listener_release removes the file if it is still ours.
 *
 * Ownership: the caller owns the struct. listener_release closes the descriptor and is safe in any
 * state. A caller that takes the descriptor over sets fd to -1.
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
    bool is_loopback; /* only this machine can connect; true for Unix sockets */
    char path[108];   /* of the socket file to remove; "": none */
    dev_t dev;
    ino_t ino;
};

#define LISTENER_NONE                                                                              \
    {                                                                                              \
        .fd = -1                                                                                   \
    }

/* "127.0.0.1:3000", "[::1]:3000", "localhost:3000", ":3000" (loopback); port 0: any free one.
 * ST_INVALID: a bad address; ST_CONFLICT: the address is in use. */
enum status listener_tcp(struct listener *l, const char *address, struct err *e);
/* Checks an address. *is_here: only this machine can connect. */
enum status listener_check(const char *address, bool *is_here, struct err *e);
enum status listener_unix(struct listener *l, const char *path, struct err *e);
/* Takes ownership of the descriptor, also on failure. It must be a listening stream socket. */
enum status listener_fd(struct listener *l, int fd, struct err *e);
#define LISTENER_GIVEN 3 /* the first descriptor from systemd */
/* The number of descriptors that systemd passed to this process ($LISTEN_PID, $LISTEN_FDS). Removes
 * the variables from the environment, so that no child process uses them: call it once. */
unsigned listener_given(void);
void listener_release(struct listener *l);

#endif
