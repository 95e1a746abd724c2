/*
 * index_impl - what index.c and row_queue.c share; no other file includes it, or <sqlite3.h>.
 *
 * index.c: the file, its statements and transactions · row_queue.c: rows written many at a time,
 * by us or by the row thread.
 */
#ifndef CLIQ_HUB_INDEX_INDEX_IMPL_H
#define CLIQ_HUB_INDEX_INDEX_IMPL_H

#include "base/buf.h"
#include "hub/index/index.h"
#include "hub/index/row_thread.h"

#include <limits.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <sys/types.h>

/* ---- row_queue.c ---- zero with `ix` set is an empty queue; row_queue_release ends it */

enum {
    ROW_QUEUE_MAX = 512, /* rows of a kind in a buffer */
    ROW_QUEUE_COLUMNS_MAX = 14,
    ROW_QUEUE_BUFFERS = 3,
    ROW_QUEUE_SIZES = 3, /* of batches */
};

typedef struct value queue_row[ROW_QUEUE_COLUMNS_MAX];

struct row_buffer {
    struct row_kind {
        queue_row rows[ROW_QUEUE_MAX];
        size_t done, n, columns; /* rows before `done` are written */
    } of[INDEX_ROWS];
    struct arena texts;
    bool has_rows;
    bool is_last; /* of a transaction: commit after it, with this place */
    struct index_place place;
};

struct row_queue {
    struct index *ix;
    struct row_buffer buffers[ROW_QUEUE_BUFFERS];
    size_t current; /* the buffer that is filled */
    bool is_bulk;   /* many rows come: the thread writes every full buffer */
    struct row_thread thread;
    sqlite3_stmt *inserts[ROWS_NOT_WAITING][ROW_QUEUE_SIZES];
    struct {
        sqlite3_stmt *count, *remove;
    } removals[INDEX_ROWS - ROWS_NOT_WAITING];
};

void row_queue_release(struct row_queue *q);

/* Writes all rows, and waits for that. */
void row_queue_flush(struct row_queue *q);
/* Commits after all rows, in the row thread; false: there is none. */
bool row_queue_commit(struct row_queue *q, const struct index_place *p);
/* Forgets the rows that were not written. */
void row_queue_drop(struct row_queue *q);
/* Has it rows of another kind than this one? */
bool row_queue_has_other(const struct row_queue *q, enum index_rows kind);

void row_queue_begin_bulk(struct row_queue *q);
void row_queue_end_bulk(struct row_queue *q);
void row_queue_wait(struct row_queue *q);

/* The next argument of a call whose types are letters (index_run). */
struct value value_take(char type, va_list *ap);

/* ---- index.c ---- */

/* A prepared statement, found by the address of its text. */
struct cached_statement {
    const char *sql;
    sqlite3_stmt *st;
    struct cached_statement *next; /* of those in use */
    bool is_used;
};

enum { INDEX_STATEMENTS = 256 };

struct index {
    sqlite3 *db;
    char path[PATH_MAX]; /* "": in memory */
    dev_t dev;
    ino_t ino;
    bool is_open;  /* a transaction */
    int wal_pages; /* in the write-ahead log after our last commit, if we look after it */
    struct cached_statement cache[INDEX_STATEMENTS];
    struct cached_statement *used; /* since reset_all */
    struct row_queue queue;        /* while its thread is at work, that alone uses the database */
    struct dirty_signals *dirty;   /* NULL: none */
    sqlite3_stmt *placing;
    bool may_repeat;    /* signals that are there already are no failure */
    bool has_repeats;   /* and some were */
    _Atomic int failed; /* SQLite's code; 0: no failure */
    struct err why;     /* set before that */
};

void index_fail(struct index *ix, int rc); /* the first one is kept; SQLITE_OK: nothing */
sqlite3_stmt *index_prepare(struct index *ix, const char *sql, unsigned flags);
/* how: SQLITE_STATIC when the statement is done before the text goes. */
int index_bind(sqlite3_stmt *st, int i, const struct value *v, sqlite3_destructor_type how);
/* Commits, and begins the next transaction: for the row thread. */
void index_commit_behind(struct index *ix, const struct index_place *p);

#endif
