/*
 * helper - a thread that does one piece of work at a time, while we prepare the next.
 *
 * One more piece may lie ready for it: so it need not wait until we have been woken and gave it
 * the next one.
 *
 *     helper_start(&h, HELPER_PROMPT, work, ctx);
 *     helper_give(&h, piece);    waits until at most one piece is left before it
 *     helper_wait(&h);           now all is done, and what work() touched is ours again
 *     helper_stop(&h);
 *
 * Zero: there is none, and helper_wait and helper_stop have nothing to do.
 */
#ifndef CLIQ_HUB_HELPER_H
#define CLIQ_HUB_HELPER_H

#include <pthread.h>
#include <stdbool.h>

enum helper_kind {
    HELPER_PROMPT, /* somebody waits for what it does */
    /* It steps aside for whoever is woken, and wakes in nobody's place: what waits for a CPU is
     * those whom we answer, and their next requests. It has a quarter of a CPU that others want,
     * not less: in the end it is waited for, too. */
    HELPER_PATIENT,
};

struct helper {
    bool is_there;
    enum helper_kind kind;
    void (*work)(void *ctx, void *piece);
    void *ctx;
    pthread_t thread;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    void *piece; /* at work; NULL: it is done */
    void *next;  /* lies ready; NULL: none */
    bool is_ending;
};

bool helper_start(struct helper *h, enum helper_kind kind, void (*work)(void *ctx, void *piece),
                  void *ctx);
bool helper_is_idle(struct helper *h); /* it has nothing to do */
void helper_give(struct helper *h, void *piece);
void helper_wait(struct helper *h);
void helper_stop(struct helper *h); /* after the last piece */

#endif
