#define _GNU_SOURCE
#include "hub/index/row_thread.h"

#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    NICER = 5, /* than its owner */
    NICE_MAX = 19,
    PATIENT_SLICE_NS = 100000000, /* the longest: shorter slices run first (Linux 6.12) */
};

/* The kernel's struct sched_attr, which glibc 2.36 does not have. */
struct attr {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
};

/* Of the calling thread. Older kernels ignore parts of it; nothing depends on it. */
static void
be_patient(void)
{
    int nice = getpriority(PRIO_PROCESS, 0) + NICER;
    struct attr attr = { .size = sizeof attr,
                         .policy = SCHED_BATCH,
                         .nice = nice < NICE_MAX ? nice : NICE_MAX,
                         .runtime = PATIENT_SLICE_NS };

    syscall(SYS_sched_setattr, 0, &attr, 0);
}

static void *
run(void *p)
{
    struct row_thread *h = p;

    if (h->kind == ROW_THREAD_PATIENT)
        be_patient();
    pthread_mutex_lock(&h->lock);
    for (;;) {
        while (!h->piece && !h->is_ending)
            pthread_cond_wait(&h->changed, &h->lock);
        if (!h->piece)
            break;
        pthread_mutex_unlock(&h->lock);
        h->work(h->ctx, h->piece);
        pthread_mutex_lock(&h->lock);
        h->piece = h->next;
        h->next = NULL;
        pthread_cond_signal(&h->changed);
    }
    pthread_mutex_unlock(&h->lock);
    return NULL;
}

bool
row_thread_start(struct row_thread *h, enum row_thread_kind kind,
                 void (*work)(void *ctx, void *piece), void *ctx)
{
    sigset_t all, was;

    *h = (struct row_thread){ .kind = kind, .work = work, .ctx = ctx };
    pthread_mutex_init(&h->lock, NULL);
    pthread_cond_init(&h->changed, NULL);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &was); /* the new thread takes no signals */
    h->is_there = pthread_create(&h->thread, NULL, run, h) == 0;
    pthread_sigmask(SIG_SETMASK, &was, NULL);
    return h->is_there;
}

void
row_thread_wait(struct row_thread *h)
{
    if (!h->is_there)
        return;
    pthread_mutex_lock(&h->lock);
    while (h->piece)
        pthread_cond_wait(&h->changed, &h->lock);
    pthread_mutex_unlock(&h->lock);
}

bool
row_thread_is_idle(struct row_thread *h)
{
    pthread_mutex_lock(&h->lock);
    bool is_idle = !h->piece;
    pthread_mutex_unlock(&h->lock);
    return is_idle;
}

void
row_thread_give(struct row_thread *h, void *piece)
{
    pthread_mutex_lock(&h->lock);
    while (h->next)
        pthread_cond_wait(&h->changed, &h->lock);
    if (h->piece)
        h->next = piece;
    else
        h->piece = piece;
    pthread_cond_signal(&h->changed);
    pthread_mutex_unlock(&h->lock);
}

void
row_thread_stop(struct row_thread *h)
{
    if (!h->is_there)
        return;
    row_thread_wait(h);
    pthread_mutex_lock(&h->lock);
    h->is_ending = true;
    pthread_cond_signal(&h->changed);
    pthread_mutex_unlock(&h->lock);
    pthread_join(h->thread, NULL);
    pthread_cond_destroy(&h->changed);
    pthread_mutex_destroy(&h->lock);
    h->is_there = false;
}
