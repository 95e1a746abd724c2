/*
 * rounds - requests that write are answered in rounds: one write and one fdatasync for all of them.
 *
 *     dispatch ---- rounds_add ----> the round that gathers (s->round)
 *                                             |
 *                                    rounds_turn, at the end of the loop's turn
 *                                             |
 *              the loop does it               |           the worker does it, when it must wait
 *           ----------------------------------+------------------------------------------
 *           hub_round_begin, without waiting        the lock is taken, or others wrote: worker_give
 *           hub_round_decide     <-.                the same steps, which may wait there; queries,
 *           more requests at once? '                and requests that need the commit
 *           hub_round_end: write, sync              worker_take
 *                      |                                           |
 *                      '------------> answers to the clients <-----'
 *                                             |
 *           hub_settle: commit, unlock: at once if a stream or a claim waits, else after 1 ms
 *                                             |
 *                    streams, waiting claims and sleeping agents are told
 *
 * A claim that found nothing waits (claim_waiters.h); the claim of a client that is gone is
 * released.
 *
 * A round without requests is a look: it folds what others wrote, and does what is due.
 * `wants_look` asks for one; a timer does when the store said so.
 *
 * Our own appends change the log, too, and inotify would wake the loop in every round. A round
 * folds what others wrote anyway, so the watch is paused while rounds follow one another, and
 * resumed when there was none for 5 ms.
 *
 * Tests: test/scenario/serve*.bats test/scenario/hub_race.bats test/scenario/wake.bats
 */
#ifndef CLIQ_SERVE_ROUNDS_H
#define CLIQ_SERVE_ROUNDS_H

#include "serve/job.h"

#define ROUND_MAX 768 /* one at the worker, one that gathers: then requests are refused */

/* Owned by the loop (s->round), or by the worker until it is done. */
struct round {
    struct round *next; /* a spare one */
    struct arena arena; /* of replies */
    size_t n, bytes;    /* requests, and bytes of their bodies */
    int64_t begun_ns;   /* when the first request came */
    bool is_workers;    /* a request in it is not for the loop, */
    bool needs_commit;  /* or may only be answered after the commit */
    int64_t compact_ms; /* the worker then drops segments that are older; 0: it does not */
    bool is_kept;       /* the worker did it, and the loop settles */
    bool is_begun;      /* the loop began it, */
    size_t decided;     /* and decided that many requests */
    struct hub_request requests[ROUND_MAX];
    struct hub_reply replies[ROUND_MAX];
    struct job *jobs[ROUND_MAX];
};

/* Moves requests that write to the front, in their order; returns how many. */
size_t round_sort(struct round *r);

/* False: no memory, or the round is full; the job stays the caller's. */
bool rounds_add(struct serve *s, struct job *j);
/* A request of the server itself (job_new_own), if there is memory for it. */
void rounds_add_own(struct serve *s, const struct hub_request *r, const struct buf *args);
/* Refuses the requests of a revoked key that are not decided yet. */
void rounds_revoke(struct serve *s, const char *key);

/* Has the worker had a round for longer than most rounds take? */
bool rounds_are_stuck(const struct serve *s);

/* Callbacks; ctx is the server. */
void rounds_turn(void *ctx);       /* the end of a turn: does what has gathered */
void rounds_on_done(void *ctx);    /* the worker's round is done */
void rounds_on_changed(void *ctx); /* the log's directory changed */
void rounds_look(void *ctx);       /* the index was lost, or the clock was set */

/* From now on, and every hour, the worker drops what is older than the retention time. */
void rounds_begin_retention(struct serve *s);

/* The server stops: agents that were to be started after the pause are started now. */
void rounds_stop(struct serve *s);
void rounds_free(struct serve *s);

#endif
