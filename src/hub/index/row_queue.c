#include "hub/index/row_queue.h"

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

void
row_queue_sql(struct buf *sql, const struct row_batch *batch)
{
    static const char *const inserts[INDEX_ROWS] = {
        [ROWS_SIGNALS] = "INSERT OR IGNORE INTO signals",
        [ROWS_WAITING] = "INSERT OR IGNORE INTO waiting",
        [ROWS_READY] = "INSERT OR IGNORE INTO ready",
        [ROWS_STATES] = "INSERT OR REPLACE INTO states",
        [ROWS_HISTORY] = "INSERT OR IGNORE INTO history",
    };

    buf_addf(sql, "%s VALUES", inserts[batch->kind]);
    for (size_t row = 0; row < batch->n; row++)
        for (size_t i = 0; i < batch->columns; i++)
            buf_addf(sql, "%s?%s", i ? ", " : row ? ", (" : "(", i + 1 < batch->columns ? "" : ")");
}

/* ---- inserting ---- */

static void
empty(struct row_pile *p)
{
    for (size_t i = 0; i < INDEX_ROWS; i++)
        p->of[i].done = p->of[i].n = 0;
    p->is_some = p->is_last = false;
    arena_reset(&p->texts);
}

/* All of them, once everything that was added before is there. */
static bool
remove_kind(struct row_queue *q, struct row_pile *p, enum index_rows kind)
{
    size_t *done = &p->of[kind].done, n = p->of[kind].n;
    struct row_batch batch = { .kind = kind,
                               .n = n - *done,
                               .columns = p->of[kind].columns,
                               .rows = p->of[kind].rows + *done };

    *done = n;
    return batch.n == 0 || q->insert(q->ctx, &batch);
}

/* In batches of so many sizes, the largest first. */
static bool
insert_kind(struct row_queue *q, struct row_pile *p, enum index_rows kind, size_t sizes)
{
    size_t *done = &p->of[kind].done, n = p->of[kind].n;

    for (size_t size = 0; size < sizes; size++)
        for (; n - *done >= batch_sizes[size]; *done += batch_sizes[size]) {
            struct row_batch batch = { .kind = kind,
                                       .size = size,
                                       .n = batch_sizes[size],
                                       .columns = p->of[kind].columns,
                                       .rows = p->of[kind].rows + *done };
            if (!q->insert(q->ctx, &batch))
                return false;
        }
    return true;
}

static void
insert_kinds(struct row_queue *q, struct row_pile *p, size_t sizes)
{
    bool is_good = true;

    for (int kind = 0; is_good && kind < ROWS_NOT_WAITING; kind++)
        is_good = insert_kind(q, p, (enum index_rows)kind, sizes);
    for (int kind = ROWS_NOT_WAITING; is_good && sizes == ROW_QUEUE_SIZES && kind < INDEX_ROWS;
         kind++)
        is_good = remove_kind(q, p, (enum index_rows)kind);
}

/* A helper's work, or our own. */
static void
insert_pile(void *ctx, void *piece)
{
    struct row_queue *q = ctx;
    struct row_pile *p = piece;

    insert_kinds(q, p, ROW_QUEUE_SIZES);
    if (p->is_last)
        q->commit(q->ctx, &p->place);
    empty(p);
}

void
row_queue_wait(struct row_queue *q)
{
    row_thread_wait(&q->helper);
}

void
row_queue_flush(struct row_queue *q)
{
    struct row_pile *p = &q->piles[q->filled];

    row_queue_wait(q);
    if (p->is_some)
        insert_pile(q, p);
}

void
row_queue_flush_many(struct row_queue *q)
{
    row_queue_wait(q);
    insert_kinds(q, &q->piles[q->filled], 1);
}

static bool
has_helper(struct row_queue *q)
{
    enum row_thread_kind kind = q->is_shared ? ROW_THREAD_PROMPT : ROW_THREAD_PATIENT;

    return q->helper.is_there || row_thread_start(&q->helper, kind, insert_pile, q);
}

static void
lend(struct row_queue *q)
{
    row_thread_give(&q->helper, &q->piles[q->filled]);
    q->filled = (q->filled + 1) % ROW_QUEUE_PILES; /* done, or it would have waited */
}

/* A pile is full. */
static void
make_room(struct row_queue *q)
{
    if ((q->is_shared || q->helper.is_there) && has_helper(q))
        lend(q);
    else
        row_queue_flush(q);
}

static bool
has_many(const struct row_pile *p)
{
    for (size_t i = 0; i < INDEX_ROWS; i++)
        if (p->of[i].n - p->of[i].done >= batch_sizes[0])
            return true;
    return false;
}

void
row_queue_lend(struct row_queue *q)
{
    if (has_many(&q->piles[q->filled]) && has_helper(q) && row_thread_is_idle(&q->helper))
        lend(q);
}

bool
row_queue_commit(struct row_queue *q, const struct index_place *p)
{
    struct row_pile *last = &q->piles[q->filled];

    if (!has_helper(q))
        return false;
    last->is_last = true;
    last->place = *p;
    lend(q);
    return true;
}

/* ---- filling ---- */

static bool
keep_text(struct arena *a, struct value *v)
{
    size_t len = strlen(v->s);

    v->s = arena_dup(a, v->s, len);
    v->len = (uint32_t)len; /* a line has less than a MiB */
    return v->s;
}

/* Would it go in before others leave its list that were to leave it first? */
static bool
overtakes(const struct row_pile *p, enum index_rows kind)
{
    return (kind == ROWS_WAITING && p->of[ROWS_NOT_WAITING].n > 0) ||
           (kind == ROWS_READY && p->of[ROWS_NOT_READY].n > 0);
}

bool
row_queue_add(struct row_queue *q, enum index_rows kind, const char *types, va_list *ap)
{
    if (q->piles[q->filled].of[kind].n == ROW_QUEUE_MAX || overtakes(&q->piles[q->filled], kind))
        make_room(q);
    struct row_pile *p = &q->piles[q->filled];
    struct value *row = p->of[kind].rows[p->of[kind].n];
    p->of[kind].columns = strlen(types);
    assert(p->of[kind].columns <= ROW_QUEUE_COLUMNS_MAX);
    for (size_t i = 0; types[i]; i++) {
        row[i] = value_take(types[i], ap);
        if (types[i] == 's' && row[i].s && !keep_text(&p->texts, &row[i]))
            return false;
    }
    p->of[kind].n++;
    p->is_some = true;
    return true;
}

bool
row_queue_has_other(const struct row_queue *q, enum index_rows kind)
{
    const struct row_pile *p = &q->piles[q->filled];

    for (int i = 0; i < INDEX_ROWS; i++)
        if (i != (int)kind && p->of[i].n > p->of[i].done)
            return true;
    return false;
}

void
row_queue_share(struct row_queue *q)
{
    q->is_shared = true;
}

void
row_queue_unshare(struct row_queue *q)
{
    row_queue_flush(q);
    row_thread_stop(&q->helper);
    q->is_shared = false;
}

void
row_queue_drop(struct row_queue *q)
{
    row_queue_wait(q);
    empty(&q->piles[q->filled]);
}

void
row_queue_release(struct row_queue *q)
{
    row_thread_stop(&q->helper);
    for (size_t i = 0; i < ROW_QUEUE_PILES; i++)
        arena_release(&q->piles[i].texts);
}
