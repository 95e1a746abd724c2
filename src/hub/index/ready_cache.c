#include "hub/index/ready_cache.h"

#include <stdlib.h>
#include <string.h>

/* How many are read at once: more each time, as one who asks once needs one. */
enum { READ_FIRST = 1, READ_TIMES = 8, READ_MAX = 64, TEXT_MAX = 256 << 10 };

struct ready_list {
    struct signal_row list[READ_MAX];
    size_t at, n;  /* those from `at` on are there */
    size_t wanted; /* to read the next time */
    bool is_whole; /* there are no others */
    bool is_begun; /* the list was read up to: */
    double urgency;
    uint64_t seq;
    struct arena texts;
    char addr[];
};

static struct ready_list *
find(const struct ready_cache *fs, const char *addr)
{
    for (size_t i = 0; i < READY_CACHE_MAX && fs->of[i]; i++)
        if (strcmp(fs->of[i]->addr, addr) == 0)
            return fs->of[i];
    return NULL;
}

static void
forget(struct ready_list *f)
{
    f->at = f->n = 0;
    f->is_whole = f->is_begun = false;
    arena_reset(&f->texts);
}

static void
free_front(struct ready_list *f)
{
    if (!f)
        return;
    arena_release(&f->texts);
    free(f);
}

/* NULL without memory. */
static struct ready_list *
make(struct ready_cache *fs, const char *addr)
{
    struct ready_list *f = calloc(1, sizeof *f + strlen(addr) + 1);

    if (!f)
        return NULL;
    strcpy(f->addr, addr);
    f->wanted = READ_FIRST;
    free_front(fs->of[fs->next]);
    fs->of[fs->next] = f;
    fs->next = (fs->next + 1) % READY_CACHE_MAX;
    return f;
}

#define FIRST_OF_LIST                                                                              \
    "SELECT " SIGNAL_ROW " FROM ready n CROSS JOIN signals s ON s.seq = n.signal" INDEX_STATES     \
    " WHERE n.addr = ?1"
#define LIST_ORDER " ORDER BY n.urgency DESC, n.signal LIMIT ?2"

/* The next of a statement's rows, up to what is wanted. */
static void
take_rows(struct ready_list *f, struct index *ix, const struct dirty_signals *dirty, struct row *r,
          size_t *n)
{
    struct signal_row *x = &f->list[f->n];

    for (; *n < f->wanted && f->texts.used < TEXT_MAX; ++*n, x = &f->list[f->n]) {
        if (!index_next(ix, r) || !signal_row_read(r, &f->texts, x))
            return;
        f->urgency = x->urgency;
        f->seq = x->it.seq;
        const struct dirty_signal *held = dirty_signals_find(dirty, x->it.id);
        f->n += !held || signal_row_is_ready(&held->x);
    }
}

/* What follows in the list, or its beginning. Behind a place in it there are those that are as
 * urgent, and then less: one statement for both would walk over all that was claimed meanwhile. */
static void
read_on(struct ready_list *f, struct index *ix, const struct dirty_signals *dirty)
{
    int64_t wanted = (int64_t)f->wanted;
    size_t n = 0;

    f->at = f->n = 0;
    arena_reset(&f->texts);
    if (!f->is_begun)
        take_rows(f, ix, dirty, index_run(ix, FIRST_OF_LIST LIST_ORDER, "si", f->addr, wanted), &n);
    else
        take_rows(f, ix, dirty,
                  index_peek(ix, FIRST_OF_LIST " AND n.urgency = ?3 AND n.signal > ?4" LIST_ORDER,
                             "sidi", f->addr, wanted, f->urgency, (int64_t)f->seq),
                  &n);
    bool is_more = n < f->wanted && f->texts.used < TEXT_MAX;
    if (is_more && f->is_begun) {
        take_rows(f, ix, dirty,
                  index_peek(ix, FIRST_OF_LIST " AND n.urgency < ?3" LIST_ORDER, "sid", f->addr,
                             wanted - (int64_t)n, f->urgency),
                  &n);
        is_more = n < f->wanted && f->texts.used < TEXT_MAX;
    }
    f->is_whole = is_more && !index_status(ix, NULL);
    f->is_begun = true;
    f->wanted = f->wanted * READ_TIMES < READ_MAX ? f->wanted * READ_TIMES : READ_MAX;
}

static bool
is_of(const struct signal_row *x, const char *types)
{
    size_t len = strlen(x->type);

    for (const char *p = types; p && (p = strstr(p, x->type)); p++)
        if (p > types && p[-1] == '\x1f' && p[len] == '\x1f')
            return true;
    return !types;
}

bool
ready_cache_first(struct ready_cache *fs, struct index *ix, const struct dirty_signals *dirty,
                  const char *addr, const char *types, struct arena *a, struct signal_row *x)
{
    struct ready_list *f = find(fs, addr);

    if (!f)
        f = make(fs, addr);
    while (f && f->at == f->n && !f->is_whole && !index_status(ix, NULL))
        read_on(f, ix, dirty);
    for (size_t i = f ? f->at : 0; f && i < f->n; i++)
        if (is_of(&f->list[i], types)) {
            *x = f->list[i];
            return true;
        }
    if (f && f->is_whole)
        return false;
    struct row *r =
        index_run(ix, FIRST_OF_LIST " AND instr(?3, char(31) || n.type || char(31))" LIST_ORDER,
                  "sis", addr, (int64_t)1, types);
    return index_next(ix, r) && signal_row_read(r, a, x);
}

void
ready_cache_add(struct ready_cache *fs, const struct signal_row *x)
{
    struct ready_list *f = find(fs, signal_row_list(x));

    if (!f)
        return;
    if (x->urgency > f->urgency || (x->urgency == f->urgency && x->it.seq < f->seq))
        forget(f);
    f->is_whole = false;
}

void
ready_cache_bring_back(struct ready_cache *fs, const struct signal_row *x)
{
    struct ready_list *f = find(fs, signal_row_list(x));

    if (f)
        forget(f);
}

void
ready_cache_take_out(struct ready_cache *fs, const struct signal_row *x)
{
    struct ready_list *f = find(fs, signal_row_list(x));

    for (size_t i = f ? f->at : 0; f && i < f->n; i++)
        if (f->list[i].it.seq == x->it.seq) { /* mostly the first */
            memmove(&f->list[f->at + 1], &f->list[f->at], (i - f->at) * sizeof *f->list);
            f->at++;
            return;
        }
}

void
ready_cache_forget(struct ready_cache *fs)
{
    for (size_t i = 0; i < READY_CACHE_MAX && fs->of[i]; i++) {
        forget(fs->of[i]);
        fs->of[i]->wanted = READ_FIRST;
    }
}

void
ready_cache_release(struct ready_cache *fs)
{
    for (size_t i = 0; i < READY_CACHE_MAX; i++)
        free_front(fs->of[i]);
    *fs = (struct ready_cache){ 0 };
}
