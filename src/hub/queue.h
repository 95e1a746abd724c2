/*
 * queue - rows on their way into the index, which are added many at a time.
 *
 * Rows of one kind go into one statement, and so many of them in it as there are, in batches of a
 * few sizes: a statement is prepared for each size. What SQLite has to do for that is the index's
 * (queue_insert_fn); here are the rows, their texts and the order in which they go.
 *
 * One pile is filled, and when many rows come (queue_share), or when it is a good time for those
 * that are there (queue_lend), a helper's thread may have the others: one at work, one that lies
 * ready. queue_wait: it has none, and what its function touches is ours again.
 *
 * For index.c alone: whoever has rows says index_add. Zero, with `insert`, `commit` and `ctx` set,
 * is an empty queue; queue_release ends it.
 */
#ifndef CLIQ_HUB_QUEUE_H
#define CLIQ_HUB_QUEUE_H

#include "base/arena.h"
#include "base/buf.h"
#include "hub/helper.h"
#include "hub/index.h"

#include <stdarg.h>

enum {
    QUEUE_MAX = 512, /* rows of a kind in a pile */
    QUEUE_COLUMNS_MAX = 14,
    QUEUE_PILES = 3,
    QUEUE_SIZES = 3, /* of batches */
};

typedef struct value queue_row[QUEUE_COLUMNS_MAX];

/* What goes into one statement, or leaves by a few: then n is any number. */
struct queue_batch {
    enum index_rows kind;
    size_t size; /* the statement's, below QUEUE_SIZES */
    size_t n, columns;
    const queue_row *rows;
};

/* Adds a batch. False: it failed, and so would what follows. Called by the helper, too. */
typedef bool queue_insert_fn(void *ctx, const struct queue_batch *batch);
/* All that came before was added: it is to be committed, and the next transaction begun. By the
 * helper alone. */
typedef void queue_commit_fn(void *ctx, const struct index_place *p);

struct pile {
    struct {
        queue_row rows[QUEUE_MAX];
        size_t done, n, columns; /* those before `done` were inserted */
    } of[INDEX_ROWS];
    struct arena texts;
    bool is_some;
    bool is_last;             /* of a transaction, which is to be committed with */
    struct index_place place; /* this one */
};

struct queue {
    queue_insert_fn *insert;
    queue_commit_fn *commit;
    void *ctx;
    struct pile piles[QUEUE_PILES];
    size_t filled; /* which of them is */
    bool is_shared;
    struct helper helper;
};

void queue_release(struct queue *q);

/* A row, its texts copied; types: as in index_add. False: no memory. */
bool queue_add(struct queue *q, enum index_rows kind, const char *types, va_list *ap);
/* Inserts whatever is in it, and waits for that. */
void queue_flush(struct queue *q);
/* Inserts what makes whole batches of the largest size: the rest is cheaper with what comes. */
void queue_flush_many(struct queue *q);
/* The same, by a helper while we go on, if it has nothing to do. */
void queue_lend(struct queue *q);
/* And then commits, by the helper; false: there is none. */
bool queue_commit(struct queue *q, const struct index_place *p);
/* Forgets what was not inserted. */
void queue_drop(struct queue *q);
/* Has it rows of another kind than this one? */
bool queue_has_other(const struct queue *q, enum index_rows kind);

/* Many rows come: a helper inserts them while we go on. queue_unshare: and no more. */
void queue_share(struct queue *q);
void queue_unshare(struct queue *q);
void queue_wait(struct queue *q);

/* The next of the values of a call whose types are letters. */
struct value value_take(char type, va_list *ap);
/* "INSERT ... VALUES(?, ?), (?, ?)" for a batch. */
void queue_sql(struct buf *sql, const struct queue_batch *batch);

#endif
