#include "hub/queue.h"

#include <assert.h>
#include <string.h>

static const size_t batch_sizes[QUEUE_SIZES] = { 32, 8, 1 };

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
    if (type == 'z')
        v.type = v.i ? 'i' : 's';
    return v;
}

void
queue_sql(struct buf *sql, const struct queue_batch *batch)
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
empty(struct pile *p)
{
    for (size_t i = 0; i < INDEX_ROWS; i++)
        p->of[i].n = 0;
    p->is_some = false;
    arena_reset(&p->texts);
}

static bool
insert_kind(struct queue *q, const struct pile *p, enum index_rows kind)
{
    size_t from = 0, n = p->of[kind].n;

    for (size_t size = 0; size < QUEUE_SIZES; size++)
        for (; n - from >= batch_sizes[size]; from += batch_sizes[size]) {
            struct queue_batch batch = { .kind = kind,
                                         .size = size,
                                         .n = batch_sizes[size],
                                         .columns = p->of[kind].columns,
                                         .rows = p->of[kind].rows + from };
            if (!q->insert(q->ctx, &batch))
                return false;
        }
    return true;
}

/* A helper's work, or our own. */
static void
insert_pile(void *ctx, void *piece)
{
    bool is_good = true;

    for (int kind = 0; is_good && kind < INDEX_ROWS; kind++)
        is_good = insert_kind(ctx, piece, (enum index_rows)kind);
    empty(piece);
}

void
queue_wait(struct queue *q)
{
    helper_wait(&q->helper);
}

void
queue_flush(struct queue *q)
{
    struct pile *p = &q->piles[q->filled];

    queue_wait(q);
    if (p->is_some)
        insert_pile(q, p);
}

/* A pile is full. */
static void
make_room(struct queue *q)
{
    if (!q->is_shared || (!q->helper.is_there && !helper_start(&q->helper, insert_pile, q))) {
        queue_flush(q);
        return;
    }
    helper_give(&q->helper, &q->piles[q->filled]);
    q->filled = (q->filled + 1) % QUEUE_PILES; /* done, or it would have waited */
}

/* ---- filling ---- */

bool
queue_add(struct queue *q, enum index_rows kind, const char *types, va_list *ap)
{
    if (q->piles[q->filled].of[kind].n == QUEUE_MAX)
        make_room(q);
    struct pile *p = &q->piles[q->filled];
    struct value *row = p->of[kind].rows[p->of[kind].n];
    p->of[kind].columns = strlen(types);
    assert(p->of[kind].columns <= QUEUE_COLUMNS_MAX);
    for (size_t i = 0; types[i]; i++) {
        row[i] = value_take(types[i], ap);
        if (types[i] == 's' && row[i].s &&
            !(row[i].s = arena_dup(&p->texts, row[i].s, strlen(row[i].s))))
            return false;
    }
    p->of[kind].n++;
    p->is_some = true;
    return true;
}

bool
queue_has_other(const struct queue *q, enum index_rows kind)
{
    for (int i = 0; i < INDEX_ROWS; i++)
        if (i != (int)kind && q->piles[q->filled].of[i].n)
            return true;
    return false;
}

void
queue_share(struct queue *q)
{
    q->is_shared = true;
}

void
queue_unshare(struct queue *q)
{
    queue_flush(q);
    helper_stop(&q->helper);
    q->is_shared = false;
}

void
queue_drop(struct queue *q)
{
    helper_stop(&q->helper);
    empty(&q->piles[q->filled]);
}

void
queue_release(struct queue *q)
{
    helper_stop(&q->helper);
    for (size_t i = 0; i < QUEUE_PILES; i++)
        arena_release(&q->piles[i].texts);
}
