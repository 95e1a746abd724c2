/*
 * queue - rows on their way into the index, which are added many at a time.
 *
 * Rows of one kind go into one statement, and so many of them in it as there are, in batches of a
 * few sizes: a statement is prepared for each size. What SQLite has to do for that is the index's
 * (row_queue_insert_fn); here are the rows, their texts and the order in which they go.
 *
 * One pile is filled, and when many rows come (row_queue_share), or when it is a good time for
 * those that are there (row_queue_lend), a helper's thread may have the others: one at work, one
 * that lies ready. row_queue_wait: it has none, and what its function touches is ours again.
 *
 * For index.c alone: whoever has rows says index_add. Zero, with `insert`, `commit` and `ctx` set,
 * is an empty queue; row_queue_release ends it.
 */
#ifndef CLIQ_HUB_INDEX_ROW_QUEUE_H
#define CLIQ_HUB_INDEX_ROW_QUEUE_H

#include "base/arena.h"
#include "base/buf.h"
#include "hub/index/index.h"
#include "hub/index/row_thread.h"

#include <stdarg.h>

enum {
    ROW_QUEUE_MAX = 512, /* rows of a kind in a pile */
    ROW_QUEUE_COLUMNS_MAX = 14,
    ROW_QUEUE_PILES = 3,
    ROW_QUEUE_SIZES = 3, /* of batches */
};

typedef struct value queue_row[ROW_QUEUE_COLUMNS_MAX];

/* What goes into one statement, or leaves by a few: then n is any number. */
struct row_batch {
    enum index_rows kind;
    size_t size; /* the statement's, below ROW_QUEUE_SIZES */
    size_t n, columns;
    const queue_row *rows;
};

/* Adds a batch. False: it failed, and so would what follows. Called by the helper, too. */
typedef bool row_queue_insert_fn(void *ctx, const struct row_batch *batch);
/* All that came before was added: it is to be committed, and the next transaction begun. By the
 * helper alone. */
typedef void row_queue_commit_fn(void *ctx, const struct index_place *p);

struct row_pile {
    struct {
        queue_row rows[ROW_QUEUE_MAX];
        size_t done, n, columns; /* those before `done` were inserted */
    } of[INDEX_ROWS];
    struct arena texts;
    bool is_some;
    bool is_last;             /* of a transaction, which is to be committed with */
    struct index_place place; /* this one */
};

struct row_queue {
    row_queue_insert_fn *insert;
    row_queue_commit_fn *commit;
    void *ctx;
    struct row_pile piles[ROW_QUEUE_PILES];
    size_t filled; /* which of them is */
    bool is_shared;
    struct row_thread helper;
};

void row_queue_release(struct row_queue *q);

/* A row, its texts copied; types: as in index_add. False: no memory. */
bool row_queue_add(struct row_queue *q, enum index_rows kind, const char *types, va_list *ap);
/* Inserts whatever is in it, and waits for that. */
void row_queue_flush(struct row_queue *q);
/* Inserts what makes whole batches of the largest size: the rest is cheaper with what comes. */
void row_queue_flush_many(struct row_queue *q);
/* The same, by a helper while we go on, if it has nothing to do. */
void row_queue_lend(struct row_queue *q);
/* And then commits, by the helper; false: there is none. */
bool row_queue_commit(struct row_queue *q, const struct index_place *p);
/* Forgets what was not inserted. */
void row_queue_drop(struct row_queue *q);
/* Has it rows of another kind than this one? */
bool row_queue_has_other(const struct row_queue *q, enum index_rows kind);

/* Many rows come: a helper inserts them while we go on. row_queue_unshare: and no more. */
void row_queue_share(struct row_queue *q);
void row_queue_unshare(struct row_queue *q);
void row_queue_wait(struct row_queue *q);

/* The next of the values of a call whose types are letters. */
struct value value_take(char type, va_list *ap);
/* "INSERT ... VALUES(?, ?), (?, ?)" for a batch. */
void row_queue_sql(struct buf *sql, const struct row_batch *batch);

#endif
