/*
 * wait - poll(2) on one descriptor, with a deadline and a cancellation.
 *
 * For code without an event loop: the hub client, and programs that use the library.
 *
 *     struct cancel stop = { .fd = { signals, -1 } };
 *     s = wait_fd(fd, POLLIN, wait_until(500), &stop, e);
 *
 * ST_OK: fd is ready or has an error, which the next call on it reports. ST_TIMEOUT: the deadline
 * passed. ST_CANCELLED: a descriptor of the cancellation fired; stop.fired is its index.
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
    int fd[2];      /* -1: none. [0] fires when readable, [1] when its reader has closed it */
    unsigned fired; /* after ST_CANCELLED: the index in fd */
};

/* The deadline `ms` from now, on the clock of clock_mono_ms; ms < 0: WAIT_FOREVER. */
int64_t wait_until(int64_t ms);
/* fd -1: waits only for the deadline and the cancellation. w may be NULL. */
enum status wait_fd(int fd, short events, int64_t until_ms, struct cancel *w, struct err *e);

#endif
