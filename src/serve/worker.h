/*
 * worker - the thread that waits for the store's lock, so that the loop never does.
 *
 * Requests of one turn of the loop are one round here: one lock, one write, one sync. While
 * a round is being done the next one gathers; so the more there is to do, the more one sync
 * does. Rounds come back in order.
 *
 *     loop:    on_request -> round_add ... worker_give at the end of its turn
 *     worker:  hub_submit (and what is due, by itself, at its time)
 *     loop:    worker_fd readable -> worker_take -> answer each
 *
 * A round of plain writes (emit, claim, ack ...) comes back as soon as it is on disk. Is the next
 * one there by then, or does it come at once, the worker goes on with it, and commits the index
 * for several together, unless somebody waits for that (is_awaited): streams read the index. When
 * it has committed, worker_fd tells again, without a round.
 *
 * What comes when the worker has nothing to do the loop does itself (worker_decide, worker_end),
 * and goes on reading in between: to wake the worker, and to be woken by it, takes longer than all
 * but the sync. Not while syncs are slow, nor what is large; and where there are CPUs for both of
 * them, besides those of the clients, only rounds of few. Now and then it gives the worker a round
 * all the same, which commits the index with that.
 *
 * Ownership: a round belongs to whoever has it: the loop, the worker, the loop again.
 */
#ifndef CLIQ_SERVE_WORKER_H
#define CLIQ_SERVE_WORKER_H

#include "hub/hub.h"

#define ROUND_MAX 512

struct round {
    struct round *next; /* of those that are done */
    struct arena arena; /* of arguments and replies */
    size_t n, bytes;    /* of their bodies */
    int64_t begun_ns;   /* by the first of them */
    bool is_awaited;    /* set by the loop: somebody waits for its commit */
    bool has_next;      /* the next one will be given, too */
    bool is_workers;    /* something in it is not for the loop to do */
    bool is_begun;      /* the loop has begun to do it, */
    size_t decided;     /* and decided so many of them, whose replies there are */
    struct hub_request requests[ROUND_MAX];
    struct hub_reply replies[ROUND_MAX];
    void *who[ROUND_MAX]; /* the loop's */
    /* the worker's: those that write, side by side */
    struct hub_request writes[ROUND_MAX];
    struct hub_reply written[ROUND_MAX];
};

struct worker;

/* One that was used before, if there is one; NULL: no memory. By the loop's thread. */
struct round *round_new(struct worker *w);
void round_free(struct worker *w, struct round *r);
/* A request with so many bytes of a body, by somebody of the loop's. False: the round is full. */
bool round_add(struct round *r, const struct hub_request *request, size_t bytes, void *who);
/* The first n were answered, and the others were not begun. */
void round_drop(struct round *r, size_t n);

/* The store stays the caller's, but is the worker's to use until worker_free. */
struct worker *worker_new(struct hub *h, struct err *e);
/* Waits for what it is doing; of rounds that were not taken back `forget` is told who was in them.
 * NULL is fine. */
void worker_free(struct worker *w, void (*forget)(void *who));
int worker_fd(const struct worker *w);
bool worker_is_idle(const struct worker *w);  /* it has nothing of ours */
bool worker_is_stuck(const struct worker *w); /* it has, and gave nothing back for a while */
/* n = 0: look at what others wrote, and at what is due. False: too much waits already; it stays
 * the caller's. */
bool worker_give(struct worker *w, struct round *r);

/* How things are. */
struct worker_news {
    int64_t log_end;
    uint64_t written;  /* the last line on disk */
    uint64_t last_seq; /* the last one in the index, if there is no trouble */
    uint64_t key_changes;
    uint64_t claim_epoch;
    uint64_t commits;  /* of the index: so often there may have been something new in it */
    char trouble[200]; /* why the log or the index cannot be written; "": they can */
};

/* Is it one for the loop itself? */
bool worker_may_do(const struct worker *w, const struct round *r);
/* Decides what of it was not decided yet, in this thread. False: give it. True: worker_end is to be
 * called, when no more comes that is to be written with it. */
bool worker_decide(struct worker *w, struct round *r);
/* Writes what was decided: its replies are those now. The store is kept for the next round, until
 * worker_settle, or until something is given, which goes on with it. */
void worker_end(struct worker *w, struct round *r, struct worker_news *news);
/* Commits, and worker_fd tells: if somebody waits for it, or there was no round for a moment.
 * False: ask again soon. */
bool worker_settle(struct worker *w, bool is_awaited);

/* The rounds that are done, or NULL. *news: how things are after them. */
struct round *worker_take(struct worker *w, struct worker_news *news);

#endif
