/*
 * buf - a growing byte buffer with a size limit.
 *
 * A buf keeps its first failure (out of memory, limit exceeded) and ignores
 * every later call. So code that builds text checks once, at the end, with
 * buf_status().
 *
 *     struct buf b = BUF_MAX(1 << 20);
 *     buf_addf(&b, "%d apples, ", n);
 *     buf_adds(&b, "and a pear");
 *     enum status s = buf_status(&b, "the shopping list", e);
 *     ...
 *     buf_release(&b);
 *
 * Ownership: the caller owns the struct, buf owns the bytes. `p` is NUL-ended
 * after the first addition. Zero is a valid empty buf with the default limit
 * (BUF_DEFAULT_MAX). buf_release is safe in any state, and twice.
 *
 * Tests: test/unit/test_buf.c
 */
#ifndef CLIQ_BASE_BUF_H
#define CLIQ_BASE_BUF_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

#define BUF_DEFAULT_MAX ((size_t)64 << 20) /* larger than any text this program builds */

struct buf {
    char *p;
    size_t len;
    size_t cap;
    size_t max;      /* 0: BUF_DEFAULT_MAX */
    bool is_over;    /* first failure: the limit was exceeded */
    bool is_starved; /* first failure: no memory */
};

#define BUF_MAX(n)                                                                                 \
    {                                                                                              \
        .max = (n)                                                                                 \
    }

void buf_add(struct buf *b, const void *p, size_t n);
void buf_adds(struct buf *b, const char *s);
void buf_addc(struct buf *b, char c);
void buf_addf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Returns room for n more bytes at the end, or NULL. Then call buf_grew(b, bytes_written). */
char *buf_room(struct buf *b, size_t n);
void buf_grew(struct buf *b, size_t n);

/* Forgets the content and any failure; keeps the memory. */
void buf_reset(struct buf *b);
/* Shortens to len bytes. */
void buf_cut(struct buf *b, size_t len);
/* Removes the first n bytes. */
void buf_drop(struct buf *b, size_t n);
void buf_release(struct buf *b);

static inline bool
buf_failed(const struct buf *b)
{
    return b->is_over || b->is_starved;
}

/* `what` names the text in the error: "the message is larger than 1048576 bytes". */
enum status buf_status(const struct buf *b, const char *what, struct err *e);

#endif
