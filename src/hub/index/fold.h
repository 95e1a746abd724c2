/*
 * fold - the log into the index, line by line. The one header of hub/index for the files outside.
 *
 * Behind it: index.h the SQLite database · row_queue.c and row_thread.h rows written in batches, by
 * another thread if there are many (half the cost of an emit) · dirty_signals.h a write-back cache,
 * so that a claim and its ack write one row (a third of the cost of a claim) · ready_cache.h a
 * read-ahead of the tasks to claim (most claims run no query).
 *
 * fold_apply is the one place where an event changes the index, both for our lines before they are
 * written and for lines of other processes. It reads no clock and nothing outside the index, and
 * the first valid event wins: so every process that folds the same log gets the same index.
 *
 * fold_log, with the log's lock held and a transaction open, folds what is new: in the file
 * that has the name, and in segments that were finished meanwhile. When the log is not the one
 * that the index was made from (replaced, cut short), it folds everything anew.
 */
#ifndef CLIQ_HUB_INDEX_FOLD_H
#define CLIQ_HUB_INDEX_FOLD_H

#include "hub/index/dirty_signals.h"
#include "hub/index/ready_cache.h"
#include "log/log_snapshot.h"

struct matcher;

struct fold {
    struct index *ix;           /* fold_use */
    struct dirty_signals dirty; /* signals that changed in the open transaction */
    struct ready_cache ready;
    struct index_place place; /* as in the open transaction */
    struct matcher *matcher;  /* subscriptions, by their rows */
    uint64_t matcher_is_of;   /* place.subscriptions that it was made from, plus 1 */
    struct arena arena;
    struct buf body;
    const char *line; /* of the event that is applied; NULL: not written yet */
    /* The signal that the next event is about, if its decider has it; NULL: it is looked up. */
    const struct signal_row *known;
    bool is_ours; /* a new line of our own: its id is new */
    bool is_bulk; /* everything is folded: duplicate ids are found at the end */
    void (*progress)(void *ctx, uint64_t done, uint64_t bytes, uint64_t of_bytes);
    void *ctx;
    uint64_t done;
    enum { EXPIRING_UNKNOWN, EXPIRING_NONE, EXPIRING_SOME } expiring; /* does any signal expire? */
    uint64_t lost; /* number of the last line before the log was found cut short; 0: it was not */
    /* Counter; changes when the next timer may have changed. Claims do not count: the soonest end
     * of a lease since then is noted instead, though it may have been acked. */
    uint64_t timers;
    struct hub_time soonest;
    uint64_t keys;        /* counter; changes when a key is made or revoked: caches look again */
    uint64_t claim_epoch; /* counter; changes whenever a task may have become claimable */
};

void fold_release(struct fold *f);

/* Sets the index to fold into; NULL: none. It keeps a pointer into the fold. */
void fold_use(struct fold *f, struct index *ix);

/* In an open transaction: read where we are; write it back. */
void fold_enter(struct fold *f);
void fold_leave(struct fold *f);
void fold_forget(struct fold *f); /* the transaction was rolled back */

/* Was the event valid? The index keeps failures. line: the event as hub_event_write made it, or
 * NULL. */
bool fold_apply(struct fold *f, const struct hub_event *ev, const char *line, uint64_t seq);

enum status fold_log(struct fold *f, struct log *l, struct err *e);
/* Everything, from the oldest segment on; files: of the log, NULL: as they are. */
enum status
fold_all(struct fold *f, struct log *l, const struct log_snapshot *files, struct err *e);
/* The same for files that were opened under the lock, which is not needed any more. Does not note
 * the file's identity and size. */
enum status fold_files(struct fold *f, const struct log_snapshot *files, struct err *e);
/* Has a signal that is not settled a time after which it expires? */
bool fold_has_expiring(struct fold *f);
/* Our lines were put: the log is folded up to its end. */
void fold_put(struct fold *f, const struct log *l);

/* A signal by its id or number; texts in the arena. False: there is none. */
bool fold_find(struct fold *f, const char *id, struct arena *a, struct signal_row *x);
/* The same; texts in the arena or in the cache, where they stay until the next event or statement,
 * except index_peek. */
bool fold_look(struct fold *f, const char *id, struct arena *a, struct signal_row *x);
bool fold_find_at(struct fold *f, uint64_t seq, struct arena *a, struct signal_row *x);
/* The task that is claimed next of those with an address; types and texts: see ready_cache.h. */
bool fold_find_ready(struct fold *f, const char *addr, const char *types, struct arena *a,
                     struct signal_row *x);

#endif
