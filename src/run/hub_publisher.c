#define _GNU_SOURCE
#include "run/hub_publisher.h"

#include "base/arena.h"
#include "wake/wake.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    LOCK_WAIT_MS = 900, /* for the store's lock: a wait that runs, and a last one, fit the end */
    RETRY_MS = 1000,
};

struct publisher_line {
    struct publisher_line *next;
    struct buf text; /* a request */
    enum hub_op op;
    char who[HUB_NAME_MAX + 1]; /* "": cliq itself */
};

struct hub_publisher {
    char *config;
    pthread_t thread;
    pthread_mutex_t lock;                 /* of all below */
    pthread_cond_t news;                  /* for the thread: more may go, or it is over */
    pthread_cond_t done;                  /* for hub_publisher_end */
    struct publisher_line *first, **last; /* oldest first */
    size_t n;
    size_t n_free;      /* of them: those that may go */
    size_t n_dropped;   /* of all that were added */
    bool is_ending;     /* nothing more will be added */
    bool is_done;       /* the thread has nothing left to do */
    bool is_abandoned;  /* hub_publisher_end timed out: the thread frees it */
    struct err why;     /* of the last failure; "": none */
    struct buf refused; /* sentences, a line each */
};

static void
line_free(struct publisher_line *l)
{
    if (l)
        buf_release(&l->text);
    free(l);
}

static void
pop(struct hub_publisher *b)
{
    struct publisher_line *l = b->first;

    b->first = l->next;
    if (!b->first)
        b->last = &b->first;
    b->n--;
    line_free(l);
}

static void
destroy(struct hub_publisher *b)
{
    while (b->first)
        pop(b);
    free(b->config);
    buf_release(&b->refused);
    pthread_cond_destroy(&b->news);
    pthread_cond_destroy(&b->done);
    pthread_mutex_destroy(&b->lock);
    free(b);
}

static struct timespec
from_now(int64_t ms)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec += ms / 1000;
    t.tv_nsec += ms % 1000 * 1000000;
    if (t.tv_nsec >= 1000000000) {
        t.tv_sec++;
        t.tv_nsec -= 1000000000;
    }
    return t;
}

/* ---- the thread ---- */

/* Lets things gather, for that long at most. With the lock. */
static void
gather(struct hub_publisher *b, int64_t ms, size_t enough)
{
    struct timespec until = from_now(ms);

    while (!b->is_ending && b->n_free < enough &&
           pthread_cond_timedwait(&b->news, &b->lock, &until) != ETIMEDOUT)
        ;
}

/* Waits for a round that may go, the first at once; how many, 0: it is over. With the lock. */
static size_t
await(struct hub_publisher *b)
{
    while (!b->n_free && !b->is_ending)
        pthread_cond_wait(&b->news, &b->lock);
    gather(b, PUBLISHER_GATHER_MS, PUBLISHER_ROUND_MAX);
    return b->n_free < PUBLISHER_ROUND_MAX ? b->n_free : PUBLISHER_ROUND_MAX;
}

/* One round. What the hub refuses will be refused again: only a store that cannot be written
 * is a failure. */
static bool
send_round(struct hub *h, const struct publisher_line *const *lines, size_t n, struct buf *refused,
           struct err *why)
{
    struct arena a = { 0 };
    struct hub_request *requests = calloc(n, sizeof *requests);
    struct hub_reply *replies = calloc(n, sizeof *replies);
    bool is_good = requests && replies;

    for (size_t i = 0; requests && is_good && i < n; i++) {
        struct json *args = NULL;
        bool is_own = !lines[i]->who[0];
        is_good = json_parse(&a, lines[i]->text.p, lines[i]->text.len, &args, NULL);
        requests[i] = (struct hub_request){ .op = lines[i]->op,
                                            .identity = is_own ? "cliq" : lines[i]->who,
                                            .is_admin = is_own,
                                            .is_file = true,
                                            .is_system = is_own,
                                            .args = args };
    }
    if (!is_good)
        err_say(why, "out of memory");
    else
        hub_submit(h, requests, n, &a, replies);
    for (size_t i = 0; replies && is_good && i < n; i++) {
        if (replies[i].status >= 500) {
            err_say(why, "%s", replies[i].message);
            is_good = false;
        } else if (replies[i].status == 409 && lines[i]->who[0]) {
            buf_addf(refused, "%s: %s\n", lines[i]->who, replies[i].message);
        }
    }
    free(requests);
    free(replies);
    arena_release(&a);
    return is_good;
}

/* They are on disk. With the lock. */
static void
forget(struct hub_publisher *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        pop(b);
    b->n_free -= n;
}

static const struct hub_options store = { .lock_wait_ms = LOCK_WAIT_MS, .on_round = wake_on_round };

/* With the lock, which is let go while the store is waited for. The loop only appends. */
static bool
try_round(struct hub_publisher *b, struct hub **h, size_t n)
{
    const struct publisher_line *round[PUBLISHER_ROUND_MAX];
    struct buf refused = { 0 };
    struct err why = { "" };
    size_t k = 0;

    for (const struct publisher_line *l = b->first; l && k < n; l = l->next)
        round[k++] = l;
    pthread_mutex_unlock(&b->lock);
    bool is_good = *h || hub_open(h, b->config, &store, &why) == ST_OK;
    is_good = is_good && send_round(*h, round, n, &refused, &why);
    pthread_mutex_lock(&b->lock);
    b->why = why;
    if (is_good)
        buf_add(&b->refused, refused.p ? refused.p : "", refused.len);
    buf_release(&refused);
    if (is_good)
        forget(b, n);
    return is_good;
}

static void *
work(void *arg)
{
    struct hub_publisher *b = arg;
    struct hub *h = NULL;

    hub_open(&h, b->config, &store, NULL); /* before it is needed; else it is tried again then */
    pthread_mutex_lock(&b->lock);
    for (size_t n; (n = await(b));) {
        bool is_last = b->is_ending; /* what is said now was tried when nothing more can come */
        if (try_round(b, &h, n))
            continue;
        if (is_last || b->is_abandoned)
            break;
        gather(b, RETRY_MS, SIZE_MAX);
    }
    pthread_mutex_unlock(&b->lock);
    hub_close(h);
    pthread_mutex_lock(&b->lock);
    b->is_done = true;
    bool is_mine = b->is_abandoned;
    pthread_cond_signal(&b->done);
    pthread_mutex_unlock(&b->lock);
    if (is_mine)
        destroy(b);
    return NULL;
}

/* ---- the loop's side ---- */

/* Signals are for the loop's thread. */
static int
start_thread(struct hub_publisher *b)
{
    static const int theirs[] = { SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGWINCH, SIGPIPE };
    sigset_t block, before;

    sigemptyset(&block);
    for (size_t i = 0; i < sizeof theirs / sizeof *theirs; i++)
        sigaddset(&block, theirs[i]); /* not all: waiting for a lock ends by one */
    pthread_sigmask(SIG_BLOCK, &block, &before);
    int rc = pthread_create(&b->thread, NULL, work, b);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc;
}

struct hub_publisher *
hub_publisher_new(const char *config, struct err *e)
{
    struct hub_publisher *b = calloc(1, sizeof *b);
    pthread_condattr_t attr;

    if (!b || !(b->config = strdup(config))) {
        err_nomem(e);
        free(b);
        return NULL;
    }
    b->last = &b->first;
    pthread_mutex_init(&b->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&b->news, &attr);
    pthread_cond_init(&b->done, &attr);
    pthread_condattr_destroy(&attr);
    errno = start_thread(b);
    if (errno) {
        err_sys(e, "start the thread that broadcasts");
        destroy(b);
        return NULL;
    }
    return b;
}

void
hub_publisher_add(struct hub_publisher *b, const struct buf *request)
{
    hub_publisher_ask(b, HUB_GENERATE, "", request);
}

void
hub_publisher_refused(struct hub_publisher *b, struct buf *to)
{
    if (!b)
        return;
    pthread_mutex_lock(&b->lock);
    buf_add(to, b->refused.p ? b->refused.p : "", b->refused.len);
    buf_reset(&b->refused);
    pthread_mutex_unlock(&b->lock);
}

void
hub_publisher_ask(struct hub_publisher *b, enum hub_op op, const char *who,
                  const struct buf *request)
{
    if (!b)
        return;
    struct publisher_line *l = buf_failed(request) ? NULL : calloc(1, sizeof *l);
    if (l) {
        l->op = op;
        snprintf(l->who, sizeof l->who, "%s", who);
        buf_add(&l->text, request->p, request->len);
    }
    pthread_mutex_lock(&b->lock);
    if (l && !buf_failed(&l->text) && b->n < PUBLISHER_WAITING_MAX) {
        *b->last = l;
        b->last = &l->next;
        b->n++;
    } else {
        b->n_dropped++;
        line_free(l);
    }
    pthread_mutex_unlock(&b->lock);
}

void
hub_publisher_go(struct hub_publisher *b)
{
    if (!b)
        return;
    pthread_mutex_lock(&b->lock);
    bool is_news = b->n_free != b->n &&
                   (!b->n_free || (b->n_free < PUBLISHER_ROUND_MAX && b->n >= PUBLISHER_ROUND_MAX));
    b->n_free = b->n;
    if (is_news) /* else it gathers already */
        pthread_cond_signal(&b->news);
    pthread_mutex_unlock(&b->lock);
}

enum status
hub_publisher_end(struct hub_publisher *b, struct buf *refused, struct err *e)
{
    enum status s = ST_OK;

    if (!b)
        return ST_OK;
    struct timespec until = from_now(PUBLISHER_END_MS);
    pthread_mutex_lock(&b->lock);
    b->is_ending = true;
    pthread_cond_signal(&b->news);
    while (!b->is_done && pthread_cond_timedwait(&b->done, &b->lock, &until) != ETIMEDOUT)
        ;
    size_t lost = b->n + b->n_dropped;
    if (lost)
        s = err_set(e, ST_IO, "%zu signal%s of this run could not be broadcast: %s", lost,
                    lost == 1 ? "" : "s",
                    b->why.text[0] ? b->why.text
                    : b->n         ? "the store did not answer in time"
                                   : "too many were waiting");
    if (refused && b->refused.p)
        buf_add(refused, b->refused.p, b->refused.len);
    b->is_abandoned = !b->is_done;
    bool is_done = b->is_done;
    pthread_mutex_unlock(&b->lock);
    if (is_done) {
        pthread_join(b->thread, NULL);
        destroy(b);
    } else {
        pthread_detach(b->thread);
    }
    return s;
}
