#define _GNU_SOURCE
#include "base/loop.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <uv.h>

enum { LOOP_DESCRIPTORS = 7 }; /* descriptors that uv_loop_init opens */

struct loop {
    uv_loop_t uv;
};

struct loop_source {
    union {
        uv_handle_t any;
        uv_poll_t poll;
        uv_timer_t timer;
        uv_signal_t signal;
    } h; /* first member: a pointer to the handle is a pointer to the source */
    loop_fn *fn;
    void *ctx;
};

static enum status
fail(struct err *e, const char *what, int code)
{
    errno = -code;
    return err_sys(e, "%s", what);
}

/* Checks that enough descriptors are free: libuv aborts the process when it gets none. */
static int
look_for_descriptors(void)
{
    int fds[LOOP_DESCRIPTORS], n = 0, rc = 0;

    while (rc == 0 && n < LOOP_DESCRIPTORS) {
        fds[n] = eventfd(0, EFD_CLOEXEC);
        rc = fds[n] < 0 ? -errno : 0;
        n += rc == 0;
    }
    while (n > 0)
        close(fds[--n]);
    return rc;
}

struct loop *
loop_new(struct err *e)
{
    struct loop *l = calloc(1, sizeof *l);
    int rc = l ? look_for_descriptors() : UV_ENOMEM;

    if (rc == 0)
        rc = uv_loop_init(&l->uv);

    if (rc == 0)
        return l;
    fail(e, "start the event loop", rc);
    free(l);
    return NULL;
}

static void
on_closed(uv_handle_t *h)
{
    free(h);
}

static void
close_one(uv_handle_t *h, void *ctx)
{
    (void)ctx;
    if (!uv_is_closing(h))
        uv_close(h, on_closed);
}

void
loop_free(struct loop *l)
{
    if (!l)
        return;
    uv_walk(&l->uv, close_one, NULL);
    while (uv_run(&l->uv, UV_RUN_DEFAULT) != 0)
        ; /* runs the closing callbacks; a pending loop_stop ends the first uv_run early */
    int rc = uv_loop_close(&l->uv);
    assert(rc == 0);
    (void)rc;
    free(l);
}

static struct loop_source *
source_new(loop_fn *fn, void *ctx, struct err *e)
{
    struct loop_source *s = calloc(1, sizeof *s);

    if (!s) {
        err_nomem(e);
        return NULL;
    }
    s->fn = fn;
    s->ctx = ctx;
    return s;
}

void
loop_drop(struct loop_source *s)
{
    if (s)
        close_one(&s->h.any, NULL);
}

static void
call(void *handle)
{
    struct loop_source *s = handle;

    s->fn(s->ctx);
}

static void
on_poll(uv_poll_t *h, int status, int events)
{
    (void)status; /* the callback's read reports an error */
    (void)events;
    call(h);
}

static void
on_timer(uv_timer_t *h)
{
    call(h);
}

static void
on_signal(uv_signal_t *h, int signo)
{
    (void)signo;
    call(h);
}

struct loop_source *
loop_on_readable(struct loop *l, int fd, loop_fn *fn, void *ctx, struct err *e)
{
    struct loop_source *s = source_new(fn, ctx, e);
    int rc = s ? uv_poll_init(&l->uv, &s->h.poll, fd) : 0;

    if (rc != 0) {
        fail(e, "watch a descriptor", rc);
        free(s); /* never became a handle */
        return NULL;
    }
    if (s)
        uv_poll_start(&s->h.poll, UV_READABLE, on_poll);
    return s;
}

void
loop_pause(struct loop_source *s)
{
    assert(s->h.any.type == UV_POLL);
    uv_poll_stop(&s->h.poll);
}

void
loop_resume(struct loop_source *s)
{
    assert(s->h.any.type == UV_POLL);
    uv_poll_start(&s->h.poll, UV_READABLE, on_poll);
}

struct loop_source *
loop_after(struct loop *l, uint64_t ms, loop_fn *fn, void *ctx, struct err *e)
{
    struct loop_source *s = source_new(fn, ctx, e);

    if (s) {
        uv_update_time(&l->uv);
        uv_timer_init(&l->uv, &s->h.timer);
        uv_timer_start(&s->h.timer, on_timer, ms, 0);
    }
    return s;
}

struct loop_source *
loop_on_signal(struct loop *l, int signo, loop_fn *fn, void *ctx, struct err *e)
{
    struct loop_source *s = source_new(fn, ctx, e);
    int rc = s ? uv_signal_init(&l->uv, &s->h.signal) : 0;

    if (s && rc == 0) {
        rc = uv_signal_start(&s->h.signal, on_signal, signo);
        if (rc == 0)
            return s;
        loop_drop(s);
        s = NULL;
    }
    if (rc != 0) {
        fail(e, "listen for a signal", rc);
        free(s);
    }
    return NULL;
}

/* ---- work on threads ---- */

struct loop_job {
    uv_work_t request; /* first member */
    loop_fn *work, *done;
    void *ctx;
};

static void
on_work(uv_work_t *w)
{
    struct loop_job *j = (struct loop_job *)w;

    j->work(j->ctx);
}

static void
on_work_done(uv_work_t *w, int status)
{
    struct loop_job *j = (struct loop_job *)w;

    (void)status; /* nothing cancels it */
    j->done(j->ctx);
    free(j);
}

enum status
loop_work(struct loop *l, loop_fn *work, loop_fn *done, void *ctx, struct err *e)
{
    struct loop_job *j = calloc(1, sizeof *j);

    if (!j)
        return err_nomem(e);
    *j = (struct loop_job){ .work = work, .done = done, .ctx = ctx };
    int rc = uv_queue_work(&l->uv, &j->request, on_work, on_work_done);
    if (rc == 0)
        return ST_OK;
    free(j);
    return fail(e, "queue work for a thread", rc);
}

enum status
loop_run(struct loop *l, struct err *e)
{
    int rc = uv_run(&l->uv, UV_RUN_DEFAULT);

    return rc < 0 ? fail(e, "wait for events", rc) : ST_OK;
}

void
loop_stop(struct loop *l)
{
    uv_stop(&l->uv);
}

bool
loop_nap(struct loop *l, int64_t ns)
{
    struct pollfd p = { .fd = uv_backend_fd(&l->uv), .events = POLLIN };
    struct timespec t = { ns / 1000000000, ns % 1000000000 };

    return ns >= 0 && ppoll(&p, 1, &t, NULL) > 0;
}

struct uv_loop_s *
loop_uv(struct loop *l)
{
    return &l->uv;
}
