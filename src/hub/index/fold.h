/*
 * fold - the log into the index, line by line.
 *
 * fold_apply is the one place where an event changes the index, be it ours, not yet written,
 * or a line that somebody else appended. It looks at no clock and at nothing outside the
 * index, and takes the first valid event: so every process that folds the same log has the
 * same index, whenever it does.
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
    const char *line; /* of the event that is applied, if it was written already */
    /* What the next event is about, if whoever decided it has just looked: else it is looked up. */
    const struct signal_row *known;
    bool is_ours; /* a new line of our own: nobody else has its id */
    bool is_bulk; /* everything is folded: a signal whose id is taken is found at the end */
    void (*progress)(void *ctx, uint64_t done, uint64_t bytes, uint64_t of_bytes);
    void *ctx;
    uint64_t done;
    /* Goes up when what is due next may have changed, but for claims: the soonest end of one since
     * that was read is noted, though it may have been acked. */
    uint64_t timers;
    struct hub_time soonest;
    uint64_t keys;        /* made or revoked since we began: who remembers some looks again */
    uint64_t claim_epoch; /* goes up when somebody may find a task now who found none before */
};

void fold_release(struct fold *f);

/* The index that is folded into; NULL: none. The fold must stay where it is. */
void fold_use(struct fold *f, struct index *ix);

/* In an open transaction: read where we are; write it back. */
void fold_enter(struct fold *f);
void fold_leave(struct fold *f);
void fold_forget(struct fold *f); /* the transaction was rolled back */

/* Was it valid? Failures are kept by the index. line: the event as hub_event_write made it, or
 * NULL. */
bool fold_apply(struct fold *f, const struct hub_event *ev, const char *line, uint64_t seq);

enum status fold_log(struct fold *f, struct log *l, struct err *e);
/* Everything, from the oldest segment on; files: of the log, NULL: as they are. */
enum status
fold_all(struct fold *f, struct log *l, const struct log_snapshot *files, struct err *e);
/* The same of files that were opened under the lock: needs none. Where that was is not noted. */
enum status fold_files(struct fold *f, const struct log_snapshot *files, struct err *e);
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

/* "emit claim" <-> bits; of a JSON list of names. */
unsigned fold_scopes(const struct json *names);

#endif
