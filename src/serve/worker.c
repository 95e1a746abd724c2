#define _GNU_SOURCE
#include "serve/worker.h"

#include "base/clock.h"

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
    WAIT_MAX_MS = 60000,
    SPARE_MAX = 3,
    DO_BYTES = 256 << 10,      /* of requests that the loop does itself: a ms, with their sync */
    FEW = 8,                   /* so many of them in any case, */
    FEW_CPUS = 2,              /* and all of them where there are no more than these */
    SLOW_NS = 5000000,         /* for them: if the loop was held up longer than that, */
    SLOW_PAUSE_TIMES = 4,      /* it does none itself for so many times as long, */
    SLOW_PAUSE_NS = 100000000, /* or for this */
    STUCK_NS = 50000000,       /* most rounds take a fiftieth of that */
    SETTLE_NS = 1000000,       /* who was answered may ask again at once */
    /* Before the index is committed: who was answered may ask again at once. A turn of the loop
     * that answers a hundred takes half of that. */
    NEXT_NS = 2000000,
};

struct worker {
    struct hub *hub;
    int64_t end;      /* of the log, when something due was last tried */
    int64_t again_ms; /* what is due could not be done: how long until it is tried again */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t has_work;
    bool is_held;                    /* the store is in the hands of one of the two threads */
    bool is_wanted;                  /* the worker waits for it */
    bool is_early;                   /* something is due before the worker thinks */
    int64_t until_ns;                /* until when it waits */
    struct round *given;             /* what is done next */
    struct round *done, **done_last; /* oldest first */
    struct round *doing;             /* the worker's: what it has not given back yet */
    bool is_awaited;                 /* the worker's: the commit of what it does */
    struct round *spare;             /* the loop's: they are large */
    size_t n_spare;
    size_t n_out;    /* the loop's: rounds that it has not taken back, */
    int64_t out_ns;  /* since then */
    bool is_loops;   /* the loop's: it holds the store, */
    bool is_begun;   /* and a round was begun, which is not ended */
    int64_t done_ns; /* the loop's: when it last ended a round */
    int64_t slow_ns; /* the loop's: until then it does none itself */
    size_t lately;   /* the loop's: requests in a round */
    size_t do_max;   /* so many of them the loop does itself */
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
    r->n = r->bytes = 0;
    r->is_awaited = r->is_workers = r->is_begun = false;
    r->decided = 0;
    r->next = w->spare;
    w->spare = r;
    w->n_spare++;
}

/* May it be answered before the index is committed? What the loop itself reads there, keys and
 * who is a member of what, must be in it first. */
static bool
is_plain(enum hub_op op)
{
    return op == HUB_EMIT || op == HUB_EMIT_BATCH || op == HUB_CLAIM || op == HUB_ACK ||
           op == HUB_EXTEND || op == HUB_RELEASE || op == HUB_FAIL || op == HUB_GENERATE;
}

bool
round_add(struct round *r, const struct hub_request *request, size_t bytes, void *who)
{
    if (r->n == ROUND_MAX)
        return false;
    if (r->n == 0)
        r->begun_ns = clock_mono_ns();
    r->is_workers = r->is_workers || !is_plain(request->op) || request->op == HUB_EMIT_BATCH;
    r->who[r->n] = who;
    r->requests[r->n++] = *request;
    r->bytes += bytes;
    return true;
}

void
round_drop(struct round *r, size_t n)
{
    r->n -= n;
    memmove(r->requests, r->requests + n, r->n * sizeof *r->requests);
    memmove(r->who, r->who + n, r->n * sizeof *r->who);
    r->decided = 0;
    r->is_begun = false;
}

/* ---- the thread ---- */

static void
tell(int fd)
{
    uint64_t one = 1;

    while (write(fd, &one, sizeof one) < 0 && errno == EINTR)
        ;
}

/* With the lock. */
static void
note_news(struct worker *w, bool is_committed)
{
    const char *trouble = hub_trouble(w->hub);

    w->news =
        (struct worker_news){ .log_end = hub_log_end(w->hub),
                              .written = hub_log_seq(w->hub),
                              .last_seq = is_committed ? hub_log_seq(w->hub) : w->news.last_seq,
                              .key_changes = hub_key_changes(w->hub),
                              .claim_epoch = hub_claim_epoch(w->hub),
                              .commits = w->news.commits + is_committed };
    if (trouble)
        snprintf(w->news.trouble, sizeof w->news.trouble, "%s", trouble);
}

/* The round goes back; without one, only the news do. */
static void
give_back(struct worker *w, bool is_committed)
{
    pthread_mutex_lock(&w->lock);
    if (w->doing) {
        *w->done_last = w->doing;
        w->done_last = &w->doing->next;
        w->doing = NULL;
    }
    note_news(w, is_committed);
    pthread_mutex_unlock(&w->lock);
    tell(w->fd);
}

static void
on_disk(void *ctx)
{
    give_back(ctx, false);
}

static void
serve(struct worker *w, struct round *r)
{
    size_t at[ROUND_MAX], n = 0;
    bool are_plain = true;

    hub_has_waited(w->hub, r->n ? (clock_mono_ns() - r->begun_ns) / 1000000 : 0);
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
    if (n > 0) /* who reads waits for nobody, unless the index is behind */
        hub_submit(w->hub, r->writes, n, &r->arena, r->written);
    for (size_t i = 0; i < n; i++)
        r->replies[at[i]] = r->written[i];
    for (size_t i = 0; i < r->n; i++)
        if (!hub_ops[r->requests[i].op].writes)
            hub_read(w->hub, &r->requests[i], &r->arena, &r->replies[i]);
}

/* The sooner one; negative: never. */
static int64_t
sooner(int64_t a, int64_t b)
{
    return a < 0 || (b >= 0 && b < a) ? b : a;
}

/* When the index or what is made of it is to be brought up to date. */
static int64_t
chore_ms(const struct worker *w)
{
    return sooner(hub_fold_in_ms(w->hub), hub_delayed_file_in_ms(w->hub));
}

/* What is due writes. Is it still due although nothing was written, the disk is full, or broken:
 * then trying again at once, and again, helps nobody. */
static int64_t
wait_ms(struct worker *w)
{
    int64_t mend_ms = hub_write_retry_in_ms(w->hub);

    if (mend_ms >= 0)
        return sooner(mend_ms, chore_ms(w));
    int64_t due_ms = hub_due_in_ms(w->hub), end = hub_log_end(w->hub);

    if (due_ms != 0 || end != w->end)
        w->again_ms = 0;
    else
        w->again_ms = w->again_ms == 0                 ? AGAIN_MIN_MS
                      : w->again_ms < AGAIN_MAX_MS / 2 ? 2 * w->again_ms
                                                       : AGAIN_MAX_MS;
    w->end = end;
    return sooner(due_ms ? due_ms : w->again_ms, chore_ms(w));
}

/* Waits for a signal. False: the time is up. */
static bool
wait_until(struct worker *w, int64_t ns)
{
    struct timespec t = { ns / 1000000000, ns % 1000000000 };

    return pthread_cond_timedwait(&w->has_work, &w->lock, &t) != ETIMEDOUT;
}

/* What was given becomes `doing`. With the lock; false: it is over. */
static bool
take_given(struct worker *w)
{
    w->doing = w->given;
    w->given = NULL;
    return w->doing || !w->is_ending;
}

/* The next round, if one is there, or comes soon. False: it is over. */
static bool
take_next(struct worker *w, bool waits)
{
    int64_t until_ns = waits ? clock_mono_ns() + NEXT_NS : 0;

    pthread_mutex_lock(&w->lock);
    while (!w->given && !w->is_ending && wait_until(w, until_ns))
        ;
    bool goes_on = take_given(w);
    pthread_mutex_unlock(&w->lock);
    return goes_on;
}

/* Leaves the store alone until there is work, or something is due. False: it is over. */
static bool
await(struct worker *w)
{
    int64_t due_ms = wait_ms(w);

    if (due_ms > WAIT_MAX_MS || due_ms < 0)
        due_ms = WAIT_MAX_MS; /* clocks jump: look again */
    pthread_mutex_lock(&w->lock);
    w->until_ns = clock_mono_ns() + due_ms * 1000000;
    w->is_held = w->is_early = false;
    while (!w->given && !w->is_ending && !w->is_early && wait_until(w, w->until_ns))
        ;
    w->is_wanted = true;
    while (w->is_held)
        pthread_cond_wait(&w->has_work, &w->lock);
    w->is_held = true;
    w->is_wanted = false;
    bool goes_on = take_given(w);
    pthread_mutex_unlock(&w->lock);
    return goes_on;
}

/* Rounds that follow each other at once share one commit, unless somebody waits for it. */
static void
serve_on(struct worker *w)
{
    bool has_next;

    do {
        w->is_awaited = w->doing->is_awaited;
        has_next = w->doing->has_next;
        serve(w, w->doing);
    } while (!w->doing && !w->is_awaited && hub_may_go_on(w->hub) && take_next(w, has_next) &&
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
            hub_has_waited(w->hub, 0);
            hub_submit(w->hub, NULL, 0, &a, NULL);
            arena_release(&a);
        }
        give_back(w, true); /* also when something was only due: streams want to know */
        hub_make_way(w->hub);
    }
    return NULL;
}

/* ---- the loop's side ---- */

/* The loop has the store now, unless the worker has it, or is about to. */
static bool
hold(struct worker *w)
{
    pthread_mutex_lock(&w->lock);
    w->is_loops = !w->is_held && !w->is_wanted && !w->given && !w->is_early;
    w->is_held = w->is_held || w->is_loops;
    pthread_mutex_unlock(&w->lock);
    return w->is_loops;
}

/* Commits what the loop did, and lets the worker have the store. */
static void
let_go(struct worker *w)
{
    int64_t due_ms;

    assert(!w->is_begun);
    if (!w->is_loops)
        return;
    hub_settle(w->hub);
    bool is_known = hub_knows_due(w->hub, &due_ms);
    due_ms = sooner(sooner(due_ms, hub_write_retry_in_ms(w->hub)), chore_ms(w));
    pthread_mutex_lock(&w->lock);
    note_news(w, true);
    w->is_held = w->is_loops = false;
    w->is_early = !is_known || (due_ms >= 0 && clock_mono_ns() + due_ms * 1000000 < w->until_ns);
    if (w->is_wanted || w->given || w->is_early)
        pthread_cond_signal(&w->has_work);
    pthread_mutex_unlock(&w->lock);
    tell(w->fd);
}

/* With the next one, how large are rounds lately? */
static void
note_size(struct worker *w, size_t n)
{
    w->lately = n > w->lately ? n : (3 * w->lately + n) / 4;
}

/* Does the loop do what comes itself? Many clients are better served by two threads, and where
 * syncs are slow the loop has others to serve. */
static bool
is_for_loop(const struct worker *w)
{
    return w->lately <= w->do_max && clock_mono_ns() >= w->slow_ns;
}

/* A disk that hesitates once does not do so all the time. */
static int64_t
pause_ns(int64_t held_up_ns)
{
    int64_t ns = SLOW_PAUSE_TIMES * held_up_ns;

    return ns < SLOW_PAUSE_NS ? ns : SLOW_PAUSE_NS;
}

bool
worker_may_do(const struct worker *w, const struct round *r)
{
    return r->n > 0 && r->n <= w->do_max && r->bytes <= DO_BYTES && !r->is_workers &&
           is_for_loop(w);
}

bool
worker_decide(struct worker *w, struct round *r)
{
    if (!r->is_begun && ((!w->is_loops && !hold(w)) || !hub_try_begin(w->hub)))
        return false;
    r->is_begun = w->is_begun = true;
    hub_try_decide(w->hub, r->requests + r->decided, r->n - r->decided, &r->arena,
                   r->replies + r->decided);
    r->decided = r->n;
    return true;
}

void
worker_end(struct worker *w, struct round *r, struct worker_news *news)
{
    int64_t begun_ns = clock_mono_ns();

    assert(r->is_begun);
    hub_try_end(w->hub, r->requests, r->decided, &r->arena, r->replies);
    w->is_begun = false;
    int64_t ended_ns = clock_mono_ns();
    if (ended_ns - begun_ns > SLOW_NS)
        w->slow_ns = ended_ns + pause_ns(ended_ns - begun_ns);
    w->done_ns = ended_ns;
    note_size(w, r->decided);
    pthread_mutex_lock(&w->lock);
    note_news(w, false);
    *news = w->news;
    pthread_mutex_unlock(&w->lock);
}

bool
worker_settle(struct worker *w, bool is_awaited)
{
    if (w->is_begun || (w->is_loops && !is_awaited && clock_mono_ns() - w->done_ns < SETTLE_NS))
        return false;
    let_go(w);
    return true;
}

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
    w->do_max = sysconf(_SC_NPROCESSORS_ONLN) <= FEW_CPUS ? ROUND_MAX : FEW;
    w->is_held = true; /* by the thread, until it waits */
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

/* With those whom nobody answers any more. */
static void
abandon(struct round *r, void (*forget)(void *who))
{
    for (const struct round *one = r; one; one = one->next)
        for (size_t i = 0; i < one->n; i++)
            forget(one->who[i]);
    destroy(r);
}

void
worker_free(struct worker *w, void (*forget)(void *who))
{
    if (!w)
        return;
    let_go(w);
    pthread_mutex_lock(&w->lock);
    w->is_ending = true;
    pthread_cond_signal(&w->has_work);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    abandon(w->given, forget);
    abandon(w->done, forget);
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

bool
worker_is_stuck(const struct worker *w)
{
    return w->n_out > 0 && clock_mono_ns() - w->out_ns > STUCK_NS;
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
    note_size(w, r->n);
    r->has_next = !is_for_loop(w);
    pthread_mutex_lock(&w->lock);
    if (w->is_loops) /* with what was not committed: so the loop need not wait for that */
        w->is_held = w->is_loops = false;
    bool is_first = !w->given, is_taken = is_first || join(w->given, r);
    if (is_first) {
        r->next = NULL;
        w->given = r;
        pthread_cond_signal(&w->has_work);
    }
    pthread_mutex_unlock(&w->lock);
    if (w->n_out == 0)
        w->out_ns = clock_mono_ns();
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
    w->out_ns = clock_mono_ns();
    return r;
}
