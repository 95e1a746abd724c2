/*
 * row_queue - rows on their way into the index, written many at a time.
 *
 * A statement that inserts 32 rows costs half of 32 statements. So rows are collected in a buffer
 * and written in batches of a few sizes, each with its own prepared statement. A buffer can also be
 * given to the row thread, which writes it while we go on: one buffer is filled, one is at work,
 * one waits. After row_queue_wait the thread has none, and the database is ours again.
 */
#include "hub/index/index_impl.h"

#include <assert.h>
#include <string.h>

static const size_t batch_sizes[ROW_QUEUE_SIZES] = { 32, 8, 1 };

struct value
value_take(char type, va_list *ap)
{
    struct value v = { .type = type };

    if (type == 'i' || type == 'z')
        v.i = va_arg(*ap, int64_t);
    else if (type == 'd')
        v.d = va_arg(*ap, double);
    else
        v.s = va_arg(*ap, const char *);
    if (type == 'z' && v.i) {
        v.type = 'i';
    } else if (type == 'z') {
        v.type = 's';
        v.s = NULL;
    }
    return v;
}

/* ---- inserting ---- by the thread that has the database */

/* "INSERT ... VALUES(?, ?), (?, ?)" */
static sqlite3_stmt *
prepare_insert(struct index *ix, enum index_rows kind, size_t rows, size_t columns)
{
    static const char *const inserts[ROWS_NOT_WAITING] = {
        [ROWS_SIGNALS] = "INSERT OR IGNORE INTO signals",
        [ROWS_WAITING] = "INSERT OR IGNORE INTO waiting",
        [ROWS_READY] = "INSERT OR IGNORE INTO ready",
        [ROWS_STATES] = "INSERT OR REPLACE INTO states",
        [ROWS_HISTORY] = "INSERT OR IGNORE INTO history",
    };
    sqlite3_stmt *st = NULL;
    struct buf sql = { 0 };

    buf_addf(&sql, "%s VALUES", inserts[kind]);
    for (size_t row = 0; row < rows; row++)
        for (size_t i = 0; i < columns; i++)
            buf_addf(&sql, "%s?%s", i ? ", " : row ? ", (" : "(", i + 1 < columns ? "" : ")");
    if (buf_failed(&sql))
        index_fail(ix, SQLITE_NOMEM);
    else
        st = index_prepare(ix, sql.p, SQLITE_PREPARE_PERSISTENT);
    buf_release(&sql);
    return st;
}

/* One batch. */
static void
insert_rows(struct row_queue *q, enum index_rows kind, size_t size, const queue_row *rows,
            size_t columns)
{
    struct index *ix = q->ix;
    size_t n = batch_sizes[size];
    sqlite3_stmt **st = &q->inserts[kind][size];
    int at = 1;

    if (!*st)
        *st = prepare_insert(ix, kind, n, columns);
    for (size_t row = 0; *st && row < n; row++)
        for (size_t i = 0; i < columns; i++)
            index_fail(ix, index_bind(*st, at++, &rows[row][i], SQLITE_STATIC));
    if (ix->failed)
        return;
    int rc = sqlite3_step(*st);
    sqlite3_reset(*st);
    if (rc != SQLITE_DONE)
        index_fail(ix, rc);
    else if (sqlite3_changes(ix->db) != (int)n && !ix->may_repeat)
        index_fail(ix, SQLITE_CORRUPT); /* it is not a fold of the log */
    else if (sqlite3_changes(ix->db) != (int)n)
        ix->has_repeats = true;
}

/* ---- removing ---- */

#define RANGE(list) " FROM " list " WHERE addr = ? AND urgency = ? AND signal BETWEEN ? AND ?"

enum { COL_LIST, COL_URGENCY, COL_SIGNAL, COL_APART };

/* Runs the statement on the rows from the first to the last; what it selected, if anything. */
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

/* Removes rows from a list. Neighbours go with one statement, if they are all there is between the
 * first and the last of them. */
static void
remove_rows(struct row_queue *q, enum index_rows kind, const queue_row *rows, size_t n)
{
    static const char *const sql[][2] = {
        { "SELECT count(*)" RANGE("waiting"), "DELETE" RANGE("waiting") },
        { "SELECT count(*)" RANGE("ready"), "DELETE" RANGE("ready") },
    };
    struct index *ix = q->ix;
    size_t list = kind - ROWS_NOT_WAITING;
    sqlite3_stmt **count = &q->removals[list].count, **remove = &q->removals[list].remove;

    if (!*count)
        *count = index_prepare(ix, sql[list][0], SQLITE_PREPARE_PERSISTENT);
    if (!*remove)
        *remove = index_prepare(ix, sql[list][1], SQLITE_PREPARE_PERSISTENT);
    for (const queue_row *row = rows, *end = row + n, *to; row < end; row = to) {
        for (to = row + 1; to < end && is_next(to, to - 1);)
            to++;
        if (to - row > 1 && !ix->failed && on_range(ix, *count, row, to - 1) == to - row)
            on_range(ix, *remove, row, to - 1);
        else
            for (const queue_row *one = row; one < to && !ix->failed; one++)
                on_range(ix, *remove, one, one);
    }
}

/* ---- a buffer ---- */

static void
empty(struct row_buffer *b)
{
    for (size_t i = 0; i < INDEX_ROWS; i++)
        b->of[i].done = b->of[i].n = 0;
    b->has_rows = b->is_last = false;
    arena_reset(&b->texts);
}

/* Inserts the rows in batches, the largest first. */
static void
insert_buffer(struct row_queue *q, struct row_buffer *b)
{
    for (int kind = 0; kind < ROWS_NOT_WAITING; kind++) {
        struct row_kind *k = &b->of[kind];
        for (size_t size = 0; size < ROW_QUEUE_SIZES; size++)
            for (; k->n - k->done >= batch_sizes[size] && !q->ix->failed;
                 k->done += batch_sizes[size])
                insert_rows(q, (enum index_rows)kind, size, k->rows + k->done, k->columns);
    }
}

/* Writes a buffer, in the row thread or in ours. Removals come last: the row may be in it, too. */
static void
write_buffer(void *ctx, void *piece)
{
    struct row_queue *q = ctx;
    struct row_buffer *b = piece;

    insert_buffer(q, b);
    for (int kind = ROWS_NOT_WAITING; kind < INDEX_ROWS; kind++)
        if (b->of[kind].n && !q->ix->failed)
            remove_rows(q, (enum index_rows)kind, b->of[kind].rows, b->of[kind].n);
    if (b->is_last)
        index_commit_behind(q->ix, &b->place);
    empty(b);
}

void
row_queue_wait(struct row_queue *q)
{
    if (q->thread.is_there)
        row_thread_wait(&q->thread);
}

void
row_queue_flush(struct row_queue *q)
{
    struct row_buffer *b = &q->buffers[q->current];

    row_queue_wait(q);
    if (b->has_rows)
        write_buffer(q, b);
}

/* ---- the row thread ---- */

static bool
has_thread(struct row_queue *q)
{
    enum row_thread_kind kind = q->is_bulk ? ROW_THREAD_PROMPT : ROW_THREAD_PATIENT;

    return q->thread.is_there || row_thread_start(&q->thread, kind, write_buffer, q);
}

/* Gives it the current buffer. The next one is empty: row_thread_give waits for that. */
static void
give_buffer(struct row_queue *q)
{
    row_thread_give(&q->thread, &q->buffers[q->current]);
    q->current = (q->current + 1) % ROW_QUEUE_BUFFERS;
}

void
index_flush_behind(struct index *ix)
{
    struct row_queue *q = &ix->queue;
    const struct row_buffer *b = &q->buffers[q->current];
    bool has_many = false;

    for (size_t i = 0; i < INDEX_ROWS; i++)
        has_many = has_many || b->of[i].n - b->of[i].done >= batch_sizes[0];
    if (has_many && has_thread(q) && row_thread_is_idle(&q->thread))
        give_buffer(q);
}

bool
row_queue_commit(struct row_queue *q, const struct index_place *p)
{
    struct row_buffer *last = &q->buffers[q->current];

    if (!has_thread(q))
        return false;
    last->is_last = true;
    last->place = *p;
    give_buffer(q);
    return true;
}

/* ---- filling ---- */

/* Must the buffer be written before it takes a row of this kind? If it is full, or if the row would
 * get into a list before others leave it that were there first. */
static bool
is_full(const struct row_buffer *b, enum index_rows kind)
{
    return b->of[kind].n == ROW_QUEUE_MAX ||
           (kind == ROWS_WAITING && b->of[ROWS_NOT_WAITING].n > 0) ||
           (kind == ROWS_READY && b->of[ROWS_NOT_READY].n > 0);
}

/* False: no memory. */
static bool
add_row(struct row_buffer *b, enum index_rows kind, const char *types, va_list *ap)
{
    struct row_kind *k = &b->of[kind];
    struct value *row = k->rows[k->n];

    k->columns = strlen(types);
    assert(k->columns <= ROW_QUEUE_COLUMNS_MAX);
    for (size_t i = 0; types[i]; i++) {
        row[i] = value_take(types[i], ap);
        if (types[i] != 's' || !row[i].s)
            continue;
        row[i].len = (uint32_t)strlen(row[i].s); /* a line has less than a MiB */
        row[i].s = arena_dup(&b->texts, row[i].s, row[i].len);
        if (!row[i].s)
            return false;
    }
    k->n++;
    b->has_rows = true;
    return true;
}

void
index_add(struct index *ix, enum index_rows kind, const char *types, ...)
{
    struct row_queue *q = &ix->queue;
    va_list ap;

    if (ix->failed)
        return;
    if (is_full(&q->buffers[q->current], kind)) {
        if ((q->is_bulk || q->thread.is_there) && has_thread(q))
            give_buffer(q);
        else
            row_queue_flush(q);
    }
    va_start(ap, types);
    if (!add_row(&q->buffers[q->current], kind, types, &ap))
        index_out_of_memory(ix);
    va_end(ap);
}

bool
row_queue_has_other(const struct row_queue *q, enum index_rows kind)
{
    const struct row_buffer *b = &q->buffers[q->current];

    for (int i = 0; i < INDEX_ROWS; i++)
        if (i != (int)kind && b->of[i].n > b->of[i].done)
            return true;
    return false;
}

void
row_queue_begin_bulk(struct row_queue *q)
{
    q->is_bulk = true;
}

void
row_queue_end_bulk(struct row_queue *q)
{
    row_queue_flush(q);
    row_thread_stop(&q->thread);
    q->is_bulk = false;
}

void
row_queue_drop(struct row_queue *q)
{
    row_queue_wait(q);
    empty(&q->buffers[q->current]);
}

void
row_queue_release(struct row_queue *q)
{
    if (q->thread.is_there)
        row_thread_stop(&q->thread);
    for (size_t i = 0; i < ROW_QUEUE_BUFFERS; i++)
        arena_release(&q->buffers[i].texts);
    for (size_t i = 0; i < ROWS_NOT_WAITING; i++)
        for (size_t size = 0; size < ROW_QUEUE_SIZES; size++)
            sqlite3_finalize(q->inserts[i][size]);
    for (size_t i = 0; i < INDEX_ROWS - ROWS_NOT_WAITING; i++) {
        sqlite3_finalize(q->removals[i].count);
        sqlite3_finalize(q->removals[i].remove);
    }
}
