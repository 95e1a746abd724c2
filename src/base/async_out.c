#include "base/async_out.h"

#include "base/sys.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>

static void
on_ready(void *ctx)
{
    async_out_flush(ctx);
}

/* -1: fd is not a terminal, or the terminal belongs to another user (after su). */
static int
open_terminal(int fd)
{
    char path[32];

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return isatty(fd) ? SYS_RETRY(sys->openat(AT_FDCWD, path,
                                              O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0))
                      : -1;
}

void
async_out_open(struct async_out *o, int fd, size_t max, struct loop *l)
{
    int own = open_terminal(fd);
    struct epoll_event wanted = { .events = EPOLLOUT };

    *o = (struct async_out){ .fd = own >= 0 ? own : fd,
                             .is_own = own >= 0,
                             .max = max,
                             .ready = epoll_create1(EPOLL_CLOEXEC) };
    if (o->ready >= 0 &&
        epoll_ctl(o->ready, EPOLL_CTL_ADD, o->fd, &wanted) != 0) { /* a regular file */
        close(o->ready);
        o->ready = -1;
    }
    if (o->ready >= 0 && l)
        o->source = loop_on_readable(l, o->ready, on_ready, o, NULL);
    if (o->source)
        loop_pause(o->source);
}

void
async_out_close(struct async_out *o)
{
    loop_drop(o->source);
    o->source = NULL;
    if (o->ready > 0)
        close(o->ready);
    o->ready = -1;
    if (o->is_own)
        close(o->fd);
    o->is_own = false;
    buf_release(&o->text);
}

static bool
takes_more(const struct async_out *o)
{
    struct pollfd p = { .fd = o->fd, .events = POLLOUT };

    return o->ready < 0 || SYS_RETRY(poll(&p, 1, 0)) != 0; /* the write reports an error */
}

/* Writes until fd would block; returns how many bytes were written. After a write error all n bytes
 * count as written: they are dropped. */
static size_t
put(struct async_out *o, const char *p, size_t n)
{
    size_t done = 0;

    while (done < n && takes_more(o)) {
        size_t most = o->ready >= 0 && n - done > PIPE_BUF ? PIPE_BUF : n - done;
        ssize_t k = SYS_RETRY(sys->write(o->fd, p + done, most));
        if (k < 0 && errno == EAGAIN)
            break;
        if (k < 0) {
            o->error = o->error ? o->error : errno;
            return n;
        }
        done += (size_t)k;
    }
    return done;
}

bool
async_out_flush(struct async_out *o)
{
    if (o->text.len)
        buf_drop(&o->text, put(o, o->text.p, o->text.len));
    if (o->source && o->text.len)
        loop_resume(o->source);
    else if (o->source)
        loop_pause(o->source);
    return o->text.len == 0;
}

void
async_out_write(struct async_out *o, const char *p, size_t n)
{
    size_t done = o->text.len ? 0 : put(o, p, n);

    if (done == n)
        return;
    if (o->text.len + n - done > o->max && done == 0) {
        o->lost += n;
        return;
    }
    buf_add(&o->text, p + done, n - done);
    if (buf_failed(&o->text)) {
        o->lost += o->text.len + n - done;
        buf_release(&o->text);
    }
    async_out_flush(o);
}

void
async_out_drain(struct async_out *o, int wait_ms)
{
    struct pollfd p = { .fd = o->fd, .events = POLLOUT };

    while (!async_out_flush(o))
        if (poll(&p, 1, wait_ms) <= 0) {
            o->lost += o->text.len;
            return;
        }
}
