/*
 * index_rows - rows that come into the index and leave it many at a time.
 *
 * They are the queue's: its helper calls what is here in its own thread, while nobody else has the
 * database.
 */
#include "hub/index/index_impl.h"

#include <stdarg.h>
#include <string.h>

/* ---- rows that come ---- */

static sqlite3_stmt *
prepare_insert(struct index *ix, const struct row_batch *batch)
{
    sqlite3_stmt *st = NULL;
    struct buf sql = { 0 };

    row_queue_sql(&sql, batch);
    if (buf_failed(&sql))
        index_fail(ix, SQLITE_NOMEM);
    else
        st = index_prepare(ix, sql.p, SQLITE_PREPARE_PERSISTENT);
    buf_release(&sql);
    return st;
}

static bool
insert_rows(struct index *ix, const struct row_batch *batch)
{
    sqlite3_stmt **kept = &ix->inserts[batch->kind][batch->size];
    sqlite3_stmt *st = *kept ? *kept : (*kept = prepare_insert(ix, batch));
    int at = 1;

    for (size_t row = 0; st && row < batch->n; row++)
        for (size_t i = 0; i < batch->columns; i++)
            index_fail(ix, index_bind(st, at++, &batch->rows[row][i], SQLITE_STATIC));
    if (!st || ix->failed)
        return false;
    int rc = sqlite3_step(st);
    sqlite3_reset(st);
    if (rc != SQLITE_DONE)
        index_fail(ix, rc);
    else if (sqlite3_changes(ix->db) != (int)batch->n && !ix->may_repeat)
        index_fail(ix, SQLITE_CORRUPT); /* then it is not a fold of the log */
    else if (sqlite3_changes(ix->db) != (int)batch->n)
        ix->has_repeats = true;
    return !ix->failed;
}

/* ---- rows that leave a list ---- */

#define RANGE(list) " FROM " list " WHERE addr = ? AND urgency = ? AND signal BETWEEN ? AND ?"

enum { COL_LIST, COL_URGENCY, COL_SIGNAL, COL_APART };

/* From the first of these rows to the last; how many SQLite counted. */
static int64_t
on_range(struct index *ix, sqlite3_stmt *st, const queue_row *first, const queue_row *last)
{
    for (int i = COL_LIST; i <= COL_SIGNAL; i++)
        index_fail(ix, index_bind(st, i + 1, &(*first)[i], SQLITE_STATIC));
    index_fail(ix, index_bind(st, COL_SIGNAL + 2, &(*last)[COL_SIGNAL], SQLITE_STATIC));
    int rc = ix->failed ? SQLITE_ERROR : sqlite3_step(st);
    int64_t n = rc == SQLITE_ROW ? sqlite3_column_int64(st, 0) : 0;
    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        index_fail(ix, rc);
    sqlite3_reset(st);
    return n;
}

static bool
is_next(const queue_row *row, const queue_row *before)
{
    const struct value *a = *row, *b = *before;

    return !a[COL_APART].i && a[COL_SIGNAL].i > b[COL_SIGNAL].i &&
           a[COL_URGENCY].d == b[COL_URGENCY].d && strcmp(a[COL_LIST].s, b[COL_LIST].s) == 0;
}

static bool
remove_rows(struct index *ix, const struct row_batch *batch)
{
    static const char *const sql[][2] = {
        { "SELECT count(*)" RANGE("waiting"), "DELETE" RANGE("waiting") },
        { "SELECT count(*)" RANGE("ready"), "DELETE" RANGE("ready") },
    };
    size_t list = batch->kind - ROWS_NOT_WAITING;
    sqlite3_stmt **count = &ix->leaves[list].count, **remove = &ix->leaves[list].remove;

    if (!*count)
        *count = index_prepare(ix, sql[list][0], SQLITE_PREPARE_PERSISTENT);
    if (!*remove)
        *remove = index_prepare(ix, sql[list][1], SQLITE_PREPARE_PERSISTENT);
    for (const queue_row *row = batch->rows, *end = row + batch->n, *to; row < end; row = to) {
        for (to = row + 1; to < end && is_next(to, to - 1);)
            to++;
        if (to - row > 1 && !ix->failed && on_range(ix, *count, row, to - 1) == to - row)
            on_range(ix, *remove, row, to - 1);
        else
            for (const queue_row *one = row; one < to && !ix->failed; one++)
                on_range(ix, *remove, one, one);
    }
    return !ix->failed;
}

/* ---- the queue ---- */

bool
index_put_rows(void *ctx, const struct row_batch *batch)
{
    struct index *ix = ctx;

    if (ix->failed)
        return false;
    return batch->kind < ROWS_NOT_WAITING ? insert_rows(ix, batch) : remove_rows(ix, batch);
}

void
index_add_many(struct index *ix)
{
    row_queue_flush_many(&ix->queue);
}

void
index_lend_many(struct index *ix)
{
    row_queue_lend(&ix->queue);
}

void
index_add(struct index *ix, enum index_rows kind, const char *types, ...)
{
    va_list ap;

    if (ix->failed)
        return;
    va_start(ap, types);
    if (!row_queue_add(&ix->queue, kind, types, &ap))
        index_starve(ix);
    va_end(ap);
}

void
index_end_rows(struct index *ix)
{
    for (size_t i = 0; i < ROWS_NOT_WAITING; i++)
        for (size_t size = 0; size < ROW_QUEUE_SIZES; size++)
            sqlite3_finalize(ix->inserts[i][size]);
    for (size_t i = 0; i < INDEX_ROWS - ROWS_NOT_WAITING; i++) {
        sqlite3_finalize(ix->leaves[i].count);
        sqlite3_finalize(ix->leaves[i].remove);
    }
}
