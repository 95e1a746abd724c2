#include "base/buf.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t
ceiling(const struct buf *b)
{
    return b->max ? b->max : BUF_DEFAULT_MAX;
}

char *
buf_room(struct buf *b, size_t n)
{
    if (buf_failed(b))
        return NULL;
    if (n > ceiling(b) - b->len) {
        b->is_over = true;
        return NULL;
    }
    if (n < b->cap - b->len) /* strictly: one byte is kept for the NUL */
        return b->p + b->len;
    size_t cap = b->cap ? b->cap : 128;
    while (cap < b->len + n + 1)
        cap *= 2;
    char *p = realloc(b->p, cap);
    if (!p) {
        b->is_starved = true;
        return NULL;
    }
    b->p = p;
    b->cap = cap;
    return p + b->len;
}

void
buf_grew(struct buf *b, size_t n)
{
    assert(n < b->cap - b->len);
    b->len += n;
    b->p[b->len] = '\0';
}

void
buf_add(struct buf *b, const void *p, size_t n)
{
    char *to = buf_room(b, n);

    if (!to)
        return;
    if (n)
        memcpy(to, p, n);
    buf_grew(b, n);
}

void
buf_adds(struct buf *b, const char *s)
{
    buf_add(b, s, strlen(s));
}

void
buf_addc(struct buf *b, char c)
{
    buf_add(b, &c, 1);
}

void
buf_addf(struct buf *b, const char *fmt, ...)
{
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    assert(n >= 0);
    char *to = buf_room(b, (size_t)n);
    if (!to)
        return;
    va_start(ap, fmt);
    vsnprintf(to, (size_t)n + 1, fmt, ap);
    va_end(ap);
    buf_grew(b, (size_t)n);
}

void
buf_reset(struct buf *b)
{
    b->len = 0;
    b->is_over = b->is_starved = false;
    if (b->p)
        b->p[0] = '\0';
}

void
buf_cut(struct buf *b, size_t len)
{
    assert(len <= b->len);
    b->len = len;
    if (b->p)
        b->p[len] = '\0';
}

void
buf_drop(struct buf *b, size_t n)
{
    assert(n <= b->len);
    if (n) {
        memmove(b->p, b->p + n, b->len - n);
        buf_cut(b, b->len - n);
    }
}

void
buf_release(struct buf *b)
{
    free(b->p);
    *b = (struct buf){ .max = b->max };
}

enum status
buf_status(const struct buf *b, const char *what, struct err *e)
{
    if (b->is_over)
        return err_set(e, ST_INVALID, "%s is larger than %zu bytes", what, ceiling(b));
    if (b->is_starved)
        return err_set(e, ST_IO, "out of memory for %s", what);
    return ST_OK;
}
