/*
 * index_impl - what index.c and index_rows.c share; nobody else.
 *
 * index.c: the file, its statements and transactions · index_rows.c: rows that come and go many at
 * a time, for the queue.
 */
#ifndef CLIQ_HUB_INDEX_INDEX_IMPL_H
#define CLIQ_HUB_INDEX_INDEX_IMPL_H

#include "hub/index/index.h"
#include "hub/index/row_queue.h"

#include <limits.h>
#include <sqlite3.h>
#include <sys/types.h>

/* A statement, kept by the address of its text. */
struct cached_statement {
    const char *sql;
    sqlite3_stmt *st;
    struct cached_statement *next; /* of those that are used */
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
    struct row_queue queue;        /* while it has a helper at work, that alone uses the database */
    sqlite3_stmt *inserts[ROWS_NOT_WAITING][ROW_QUEUE_SIZES];
    struct {
        sqlite3_stmt *count, *remove;
    } leaves[INDEX_ROWS - ROWS_NOT_WAITING];
    sqlite3_stmt *placing;
    struct index_keeper keeper;
    bool may_repeat;    /* signals that are there already are no failure */
    bool has_repeats;   /* and some were */
    _Atomic int failed; /* SQLite's code; 0: all is well */
    struct err why;     /* before that is set */
};

/* ---- index.c ---- */

void index_fail(struct index *ix, int rc); /* kept, if it is the first */
sqlite3_stmt *index_prepare(struct index *ix, const char *sql, unsigned flags);
/* how: SQLITE_STATIC when the statement is done before the text goes. */
int index_bind(sqlite3_stmt *st, int i, const struct value *v, sqlite3_destructor_type how);

/* ---- index_rows.c ---- */

bool index_put_rows(void *ctx, const struct row_batch *batch); /* a row_queue_insert_fn */
void index_end_rows(struct index *ix);

#endif
