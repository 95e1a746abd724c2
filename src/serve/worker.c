#define _GNU_SOURCE
#include "serve/worker.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

enum {
    AGAIN_MIN_MS = 10,
    AGAIN_MAX_MS = 1000,
    SPARE_MAX = 3,
    NEXT_NS = 300000, /* before the index is committed: who was answered may ask again at once */
};

struct worker {
    struct hub *hub;
    int64_t end;      /* of the log, when something due was last tried */
    int64_t again_ms; /* what is due could not be done: how long until it is tried again */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t has_work;
    struct round *given;             /* what is done next */
    struct round *done, **done_last; /* oldest first */
    struct round *doing;             /* the worker's: what it has not given back yet */
    bool is_awaited;                 /* the worker's: the commit of what it does */
    struct round *spare;             /* the loop's: they are large */
    size_t n_spare;
    size_t n_out; /* the loop's: rounds that it has not taken back */
    bool is_ending;
    struct worker_news news;
    int fd;
};

struct round *
round_new(struct worker *w)
{
    struct round *r = w->spare;

    if (!r)
        return calloc(1, sizeof *r);
    w->spare = r->next;
    w->n_spare--;
    r->next = NULL;
    return r;
}

static void
destroy(struct round *r)
{
    for (struct round *next; r; r = next) {
        next = r->next;
        arena_release(&r->arena);
        free(r);
    }
}

void
round_free(struct worker *w, struct round *r)
{
    if (!r || w->n_spare == SPARE_MAX) {
        destroy(r);
        return;
    }
    arena_reset(&r->arena);
    r->n = 0;
    r->is_awaited = false;
    r->next = w->spare;
    w->spare = r;
    w->n_spare++;
}

/* ---- the thread ---- */

static void
tell(int fd)
{
    uint64_t one = 1;

    while (write(fd, &one, sizeof one) < 0 && errno == EINTR)
        ;
}

/* The round goes back; without one, only the news do. */
static void
give_back(struct worker *w, bool is_committed)
{
    const char *trouble = hub_trouble(w->hub);

    pthread_mutex_lock(&w->lock);
    if (w->doing) {
        *w->done_last = w->doing;
        w->done_last = &w->doing->next;
        w->doing = NULL;
    }
    w->news =
        (struct worker_news){ .log_end = hub_log_end(w->hub),
                              .written = hub_log_seq(w->hub),
                              .last_seq = is_committed ? hub_log_seq(w->hub) : w->news.last_seq,
                              .key_changes = hub_key_changes(w->hub),
                              .commits = w->news.commits + is_committed };
    if (trouble)
        snprintf(w->news.trouble, sizeof w->news.trouble, "%s", trouble);
    pthread_mutex_unlock(&w->lock);
    tell(w->fd);
}

static void
on_disk(void *ctx)
{
    give_back(ctx, false);
}

/* May it be answered before the index is committed? What the loop itself reads there, keys and
 * who is a member of what, must be in it first. */
static bool
is_plain(enum hub_op op)
{
    return op == HUB_EMIT || op == HUB_EMIT_BATCH || op == HUB_CLAIM || op == HUB_ACK ||
           op == HUB_EXTEND || op == HUB_RELEASE || op == HUB_FAIL || op == HUB_GENERATE;
}

static void
serve(struct worker *w, struct round *r)
{
    size_t at[ROUND_MAX], n = 0;
    bool are_plain = true;

    for (size_t i = 0; i < r->n; i++) {
        are_plain = are_plain && is_plain(r->requests[i].op);
        if (hub_ops[r->requests[i].op].writes) {
            at[n] = i;
            r->writes[n++] = r->requests[i];
        }
    }
    if (are_plain) {
        hub_submit_then(w->hub, r->requests, r->n, &r->arena, r->replies, on_disk, w);
        return;
    }
    hub_submit(w->hub, r->writes, n, &r->arena, r->written);
    for (size_t i = 0; i < n; i++)
        r->replies[at[i]] = r->written[i];
    for (size_t i = 0; i < r->n; i++)
        if (!hub_ops[r->requests[i].op].writes)
            hub_read(w->hub, &r->requests[i], &r->arena, &r->replies[i]);
}

/* What is due writes. Is it still due although nothing was written, the disk is full, or broken:
 * then trying again at once, and again, helps nobody. */
static int64_t
wait_ms(struct worker *w)
{
    int64_t mend_ms = hub_mend_in_ms(w->hub);

    if (mend_ms >= 0)
        return mend_ms;
    int64_t due_ms = hub_due_in_ms(w->hub), end = hub_log_end(w->hub);

    if (due_ms != 0 || end != w->end)
        w->again_ms = 0;
    else
        w->again_ms = w->again_ms == 0                 ? AGAIN_MIN_MS
                      : w->again_ms < AGAIN_MAX_MS / 2 ? 2 * w->again_ms
                                                       : AGAIN_MAX_MS;
    w->end = end;
    return due_ms ? due_ms : w->again_ms;
}

static struct timespec
from_now(int64_t ns)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec += ns / 1000000000;
    t.tv_nsec += ns % 1000000000;
    if (t.tv_nsec >= 1000000000) {
        t.tv_sec++;
        t.tv_nsec -= 1000000000;
    }
    return t;
}

/* The next round, if one comes within that time, becomes `doing`. False: it is over. */
static bool
take_round(struct worker *w, int64_t ns)
{
    struct timespec until = from_now(ns);

    pthread_mutex_lock(&w->lock);
    while (!w->given && !w->is_ending &&
           pthread_cond_timedwait(&w->has_work, &w->lock, &until) != ETIMEDOUT)
        ;
    w->doing = w->given;
    w->given = NULL;
    bool is_over = w->is_ending && !w->doing;
    pthread_mutex_unlock(&w->lock);
    return !is_over;
}

/* Waits for work, or until something is due. False: it is over. */
static bool
await(struct worker *w)
{
    int64_t due_ms = wait_ms(w);

    if (due_ms > 60000 || due_ms < 0)
        due_ms = 60000; /* clocks jump: look again */
    return take_round(w, due_ms * 1000000);
}

/* Rounds that follow each other at once share one commit, unless somebody waits for it. */
static void
serve_on(struct worker *w)
{
    do {
        w->is_awaited = w->doing->is_awaited;
        serve(w, w->doing);
    } while (!w->doing && !w->is_awaited && hub_may_go_on(w->hub) && take_round(w, NEXT_NS) &&
             w->doing);
    hub_settle(w->hub);
}

static void *
work(void *arg)
{
    struct worker *w = arg;

    while (await(w)) {
        if (w->doing) {
            serve_on(w);
        } else {
            struct arena a = { 0 };
            hub_submit(w->hub, NULL, 0, &a, NULL);
            arena_release(&a);
        }
        give_back(w, true); /* also when something was only due: streams want to know */
        hub_make_way(w->hub);
    }
    return NULL;
}

/* ---- the loop's side ---- */

struct worker *
worker_new(struct hub *h, struct err *e)
{
    struct worker *w = calloc(1, sizeof *w);
    pthread_condattr_t attr;

    if (!w) {
        err_set(e, ST_IO, "out of memory");
        return NULL;
    }
    w->hub = h;
    w->done_last = &w->done;
    w->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    pthread_mutex_init(&w->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&w->has_work, &attr);
    pthread_condattr_destroy(&attr);
    if (w->fd < 0 || (errno = pthread_create(&w->thread, NULL, work, w)) != 0) {
        err_sys(e, "start the thread that writes");
        if (w->fd >= 0)
            close(w->fd);
        free(w);
        return NULL;
    }
    return w;
}

void
worker_free(struct worker *w)
{
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    w->is_ending = true;
    pthread_cond_signal(&w->has_work);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    destroy(w->given);
    destroy(w->done);
    destroy(w->spare);
    close(w->fd);
    pthread_cond_destroy(&w->has_work);
    pthread_mutex_destroy(&w->lock);
    free(w);
}

int
worker_fd(const struct worker *w)
{
    return w->fd;
}

bool
worker_is_idle(const struct worker *w)
{
    return w->n_out == 0;
}

/* Behind those that wait already. False: they are too many together. */
static bool
join(struct round *to, const struct round *r)
{
    if (to->n + r->n > ROUND_MAX)
        return false;
    memcpy(to->requests + to->n, r->requests, r->n * sizeof *r->requests);
    memcpy(to->who + to->n, r->who, r->n * sizeof *r->who);
    to->n += r->n;
    to->is_awaited = to->is_awaited || r->is_awaited;
    return true;
}

bool
worker_give(struct worker *w, struct round *r)
{
    pthread_mutex_lock(&w->lock);
    bool is_first = !w->given, is_taken = is_first || join(w->given, r);
    if (is_first) {
        r->next = NULL;
        w->given = r;
        pthread_cond_signal(&w->has_work);
    }
    pthread_mutex_unlock(&w->lock);
    w->n_out += is_first;
    if (is_taken && !is_first)
        round_free(w, r);
    return is_taken;
}

struct round *
worker_take(struct worker *w, struct worker_news *news)
{
    uint64_t count;

    while (read(w->fd, &count, sizeof count) < 0 && errno == EINTR)
        ;
    pthread_mutex_lock(&w->lock);
    struct round *r = w->done;
    w->done = NULL;
    w->done_last = &w->done;
    *news = w->news;
    pthread_mutex_unlock(&w->lock);
    for (const struct round *one = r; one; one = one->next)
        w->n_out--;
    return r;
}
