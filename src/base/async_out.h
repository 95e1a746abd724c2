/*
 * outlet - a descriptor that others read, written by a loop that must not wait for them.
 *
 * Whoever reads a pipe or a terminal may stop reading: a write would wait then, and with it all
 * that the loop does. So what is not taken is kept, and written when there is room again. What is
 * too much to keep is dropped, in whole pieces, and counted.
 *
 * The descriptor's mode is left alone: it is shared with whoever gave it to us (a shell), who does
 * not expect that it does not block. So no more is written at once than has room for sure
 * (PIPE_BUF), and the loop waits for an epoll of it instead of itself. A terminal may have room for
 * one byte only: it is opened once more, with a mode of its own. Files always have room.
 *
 * Tests: test/unit/test_async_out.c
 */
#ifndef CLIQ_BASE_ASYNC_OUT_H
#define CLIQ_BASE_ASYNC_OUT_H

#include "base/buf.h"
#include "base/loop.h"

struct async_out {
    int fd;      /* borrowed, unless is_own */
    bool is_own; /* a terminal that could be opened once more */
    int ready;   /* readable when fd takes more; -1: it always does */
    struct loop_source *source;
    struct buf text; /* what waits */
    size_t max;      /* bytes that may wait */
    size_t lost;     /* bytes that were dropped */
    int error;       /* errno of the first write that failed; 0: none */
};

/* Without a loop, what waits is written by the next call. */
void async_out_open(struct async_out *o, int fd, size_t max, struct loop *l);
void
async_out_close(struct async_out *o); /* drops what waits; safe on a zeroed struct, and twice */

/* Writes all of it, or keeps what is not taken. */
void async_out_write(struct async_out *o, const char *p, size_t n);
/* True: nothing waits. */
bool async_out_flush(struct async_out *o);
/* Waits until all is written, a signal comes, or nothing was taken for so long; -1: for ever. */
void async_out_drain(struct async_out *o, int wait_ms);

#endif
