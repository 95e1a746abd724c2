/*
 * wait - for one descriptor, until a time, or until somebody wants us to stop. For code without a
 * loop of its own: the doors to the hub, and programs that use the library.
 *
 *     struct cancel stop = { .fd = { signals, -1 } };
 *     s = wait_fd(fd, POLLIN, wait_until(500), &stop, e);
 *
 * ST_OK: it is ready, or broken, which the next call on it tells. ST_TIMEOUT: not in time.
 * ST_CANCELLED: one of the wake's became ready or broken first; stop.woken tells which.
 *
 * Tests: test/unit/test_http_client.c
 */
#ifndef CLIQ_BASE_WAIT_H
#define CLIQ_BASE_WAIT_H

#include "base/err.h"

#include <poll.h>
#include <stdint.h>

#define WAIT_FOREVER INT64_MAX

struct cancel {
    int fd[2];      /* -1: none. [0] when it can be read, [1] when its reader is gone */
    unsigned woken; /* the index of the one that was */
};

/* The time of clock_mono_ms in so many milliseconds; below 0: WAIT_FOREVER. */
int64_t wait_until(int64_t ms);
/* fd -1: only for the time or the wake, which may be NULL. */
enum status wait_fd(int fd, short events, int64_t until_ms, struct cancel *w, struct err *e);

#endif
