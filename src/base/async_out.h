/*
 * async_out - buffered, non-blocking output to a pipe or a terminal, for a process with a loop.
 *
 * The reader of a pipe or a terminal may stop reading. A blocking write would then stop the whole
 * loop. So async_out keeps the text that the descriptor does not accept, and writes it once there
 * is room. It drops a write that would exceed the limit, as a whole, and counts its bytes.
 *
 * O_NONBLOCK is not set on the descriptor, because the process that gave it to us (a shell) shares
 * the flag and expects blocking writes. Instead, each write is at most PIPE_BUF bytes, which never
 * blocks after poll reported room, and the loop watches an epoll descriptor that contains fd. A
 * terminal may have room for less than PIPE_BUF: it is opened a second time with O_NONBLOCK.
 * A regular file never blocks.
 *
 * Tests: test/unit/test_async_out.c
 */
#ifndef CLIQ_BASE_ASYNC_OUT_H
#define CLIQ_BASE_ASYNC_OUT_H

#include "base/buf.h"
#include "base/loop.h"

struct async_out {
    int fd;      /* borrowed, unless is_own */
    bool is_own; /* fd is our second descriptor of a terminal */
    int ready;   /* epoll descriptor, readable when fd has room; -1: fd always has room */
    struct loop_source *source;
    struct buf text; /* accepted, but not written yet */
    size_t max;      /* limit of text.len */
    size_t lost;     /* bytes dropped */
    int error;       /* errno of the first write that failed; 0: none */
};

/* Without a loop (NULL), buffered text is written by the next call. */
void async_out_open(struct async_out *o, int fd, size_t max, struct loop *l);
void
async_out_close(struct async_out *o); /* drops buffered text; safe on a zeroed struct, and twice */

/* Writes as much as fd accepts and buffers the rest. */
void async_out_write(struct async_out *o, const char *p, size_t n);
/* Writes buffered text without blocking. True: none is left. */
bool async_out_flush(struct async_out *o);
/* Blocks until all is written, a signal arrives, or fd accepts nothing for wait_ms (-1: no limit).
 */
void async_out_drain(struct async_out *o, int wait_ms);

#endif
