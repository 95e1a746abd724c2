#define _GNU_SOURCE
#include "serve/worker.h"

#include "base/clock.h"
#include "hub/hub_writer.h"
#include "serve/rounds.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum {
    AGAIN_MIN_MS = 10, /* a due timer could not be done; doubled each time */
    AGAIN_MAX_MS = 1000,
    LOOK_MAX_MS = 60000, /* clocks jump: look again */
};

struct worker {
    struct hub *hub;
    pthread_t thread;
    pthread_mutex_t lock; /* of what follows, up to look_in_ms */
    pthread_cond_t changed;
    struct round *given; /* by the loop, until it is done */
    struct round *done;  /* until the loop takes it */
    bool is_ending;
    int64_t look_in_ms; /* after that round */
    /* used by the thread that has the store */
    int64_t end;      /* of the log, when something due was last tried */
    int64_t again_ms; /* back-off: what is due could not be done */
    int fd;
};

/* ---- when the store needs a round ---- */

/* The sooner one; negative: never. */
static int64_t
sooner(int64_t a, int64_t b)
{
    return a < 0 || (b >= 0 && b < a) ? b : a;
}

/* If something is still due although a round has been done, nothing can be written: waits longer
 * before each further try. */
static int64_t
due_in_ms(struct worker *w, bool may_wait)
{
    int64_t end = hub_log_end(w->hub), in_ms = 0;

    if (!may_wait)
        return hub_knows_due(w->hub, &in_ms) ? in_ms : 0;
    in_ms = hub_due_in_ms(w->hub);
    if (in_ms != 0 || end != w->end)
        w->again_ms = 0;
    else
        w->again_ms = w->again_ms == 0                 ? AGAIN_MIN_MS
                      : w->again_ms < AGAIN_MAX_MS / 2 ? 2 * w->again_ms
                                                       : AGAIN_MAX_MS;
    w->end = end;
    return in_ms ? in_ms : w->again_ms;
}

int64_t
worker_look_in_ms(struct worker *w, bool may_wait)
{
    int64_t retry_ms = hub_write_retry_in_ms(w->hub);
    int64_t in_ms = retry_ms >= 0 ? retry_ms : due_in_ms(w, may_wait);

    in_ms = sooner(in_ms, hub_fold_in_ms(w->hub));
    in_ms = sooner(in_ms, hub_delayed_file_in_ms(w->hub));
    return in_ms < 0 || in_ms > LOOK_MAX_MS ? LOOK_MAX_MS : in_ms;
}

/* ---- the thread ---- */

/* The same as `cliq hub compact`. */
static void
compact(struct worker *w, struct round *r)
{
    uint64_t bytes;
    struct err e;

    hub_settle(w->hub);
    r->is_kept = false;
    if (hub_compact(w->hub, r->compact_ms, &bytes, &e))
        fprintf(stderr, "cliq: warning: old segments could not be dropped: %s\n", e.text);
    else if (bytes)
        fprintf(stderr, "cliq: %" PRIu64 " bytes of old segments were dropped\n", bytes);
}

static void
do_round(struct worker *w, struct round *r)
{
    size_t n = round_sort(r);

    hub_has_waited(w->hub, r->n ? (clock_mono_ns() - r->begun_ns) / 1000000 : 0);
    hub_make_way(w->hub);
    r->is_kept = n > 0 && !r->needs_commit;
    if (r->is_kept) {
        hub_round_begin(w->hub, true);
        hub_round_decide(w->hub, r->requests, n, &r->arena, r->replies);
        r->is_kept = hub_round_end(w->hub, r->requests, n, &r->arena, r->replies);
    }
    if (!r->is_kept && (n > 0 || r->n == 0))
        hub_submit(w->hub, r->requests, n, &r->arena, r->replies);
    if (r->compact_ms)
        compact(w, r);
    for (size_t i = n; i < r->n; i++) /* waits only if the index is behind */
        hub_read(w->hub, &r->requests[i], &r->arena, &r->replies[i]);
}

static void *
work(void *arg)
{
    struct worker *w = arg;

    pthread_mutex_lock(&w->lock);
    for (;;) {
        while (!w->given && !w->is_ending)
            pthread_cond_wait(&w->changed, &w->lock);
        struct round *r = w->given;
        if (!r)
            break;
        pthread_mutex_unlock(&w->lock);
        do_round(w, r);
        int64_t look_in_ms = r->is_kept ? 0 : worker_look_in_ms(w, true);
        pthread_mutex_lock(&w->lock);
        w->look_in_ms = look_in_ms;
        w->given = NULL;
        w->done = r;
        while (write(w->fd, &(uint64_t){ 1 }, sizeof(uint64_t)) < 0 && errno == EINTR)
            ;
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

/* ---- the loop's side ---- */

struct worker *
worker_new(struct hub *h, struct err *e)
{
    struct worker *w = calloc(1, sizeof *w);

    if (!w) {
        err_nomem(e);
        return NULL;
    }
    w->hub = h;
    w->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->changed, NULL);
    if (w->fd < 0 || (errno = pthread_create(&w->thread, NULL, work, w)) != 0) {
        err_sys(e, "start the thread that waits for the store");
        if (w->fd >= 0)
            close(w->fd);
        free(w);
        return NULL;
    }
    return w;
}

struct round *
worker_free(struct worker *w)
{
    if (!w)
        return NULL;
    pthread_mutex_lock(&w->lock);
    w->is_ending = true;
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    struct round *r = w->done;
    close(w->fd);
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
    free(w);
    return r;
}

int
worker_fd(const struct worker *w)
{
    return w->fd;
}

void
worker_give(struct worker *w, struct round *r)
{
    pthread_mutex_lock(&w->lock);
    assert(!w->given && !w->done);
    w->given = r;
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->lock);
}

struct round *
worker_take(struct worker *w, int64_t *look_in_ms)
{
    uint64_t count;

    while (read(w->fd, &count, sizeof count) < 0 && errno == EINTR)
        ;
    pthread_mutex_lock(&w->lock);
    struct round *r = w->done;
    w->done = NULL;
    *look_in_ms = w->look_in_ms;
    pthread_mutex_unlock(&w->lock);
    return r;
}
