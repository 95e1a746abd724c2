/*
 * row_thread - a thread that does one piece of work while its owner prepares the next.
 *
 * The index's rows are written by it (row_queue.c), which takes half of an emit's work off the
 * thread that answers. One more piece may wait in line, so that the thread need not wait for us
 * between two pieces.
 *
 *     row_thread_start(&h, ROW_THREAD_PROMPT, work, ctx);
 *     row_thread_give(&h, piece);    waits until at most one piece is left before it
 *     row_thread_wait(&h);           now all is done, and what work() touched is ours again
 *     row_thread_stop(&h);
 *
 * Zero: there is no thread; row_thread_wait and row_thread_stop do nothing.
 *
 * Tests: test/unit/test_row_thread.c
 */
#ifndef CLIQ_HUB_INDEX_ROW_THREAD_H
#define CLIQ_HUB_INDEX_ROW_THREAD_H

#include <pthread.h>
#include <stdbool.h>

enum row_thread_kind {
    ROW_THREAD_PROMPT, /* its owner waits for the work */
    /* Yields the CPU to threads that wake up, which answer clients (SCHED_BATCH, nice). It still
     * gets a quarter of a CPU that others want, as its owner waits for it in the end. */
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
