/*
 * helper - a thread that does one piece of work at a time, while we prepare the next.
 *
 * One more piece may lie ready for it: so it need not wait until we have been woken and gave it
 * the next one.
 *
 *     row_thread_start(&h, ROW_THREAD_PROMPT, work, ctx);
 *     row_thread_give(&h, piece);    waits until at most one piece is left before it
 *     row_thread_wait(&h);           now all is done, and what work() touched is ours again
 *     row_thread_stop(&h);
 *
 * Zero: there is none, and row_thread_wait and row_thread_stop have nothing to do.
 */
#ifndef CLIQ_HUB_INDEX_ROW_THREAD_H
#define CLIQ_HUB_INDEX_ROW_THREAD_H

#include <pthread.h>
#include <stdbool.h>

enum row_thread_kind {
    ROW_THREAD_PROMPT, /* somebody waits for what it does */
    /* It steps aside for whoever is woken, and wakes in nobody's place: what waits for a CPU is
     * those whom we answer, and their next requests. It has a quarter of a CPU that others want,
     * not less: in the end it is waited for, too. */
    ROW_THREAD_PATIENT,
};

struct row_thread {
    bool is_there;
    enum row_thread_kind kind;
    void (*work)(void *ctx, void *piece);
    void *ctx;
    pthread_t thread;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    void *piece; /* at work; NULL: it is done */
    void *next;  /* lies ready; NULL: none */
    bool is_ending;
};

bool row_thread_start(struct row_thread *h, enum row_thread_kind kind,
                      void (*work)(void *ctx, void *piece), void *ctx);
bool row_thread_is_idle(struct row_thread *h); /* it has nothing to do */
void row_thread_give(struct row_thread *h, void *piece);
void row_thread_wait(struct row_thread *h);
void row_thread_stop(struct row_thread *h); /* after the last piece */

#endif
