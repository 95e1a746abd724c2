#include "hub/index/ready_cache.h"

#include <stdlib.h>
#include <string.h>

/* How many are read at once: more each time, as a single claim needs only one. */
enum { READ_FIRST = 1, READ_TIMES = 8, READ_MAX = 64, TEXT_MAX = 256 << 10 };

struct ready_list {
    struct signal_row list[READ_MAX];
    size_t at, n;  /* rows from `at` on are left */
    size_t wanted; /* rows to read the next time */
    bool is_whole; /* the list has no more rows */
    bool is_begun; /* the list was read up to this row: */
    double urgency;
    uint64_t seq;
    struct arena texts;
    char addr[];
};

static struct ready_list *
find(const struct ready_cache *c, const char *addr)
{
    for (size_t i = 0; i < READY_CACHE_MAX && c->of[i]; i++)
        if (strcmp(c->of[i]->addr, addr) == 0)
            return c->of[i];
    return NULL;
}

/* An arena keeps its largest block: one of TEXT_MAX would leave no room to read a row. */
static void
empty(struct ready_list *l)
{
    l->at = l->n = 0;
    arena_reset(&l->texts);
    if (l->texts.used >= TEXT_MAX)
        arena_release(&l->texts);
}

static void
forget(struct ready_list *l)
{
    l->is_whole = l->is_begun = false;
    empty(l);
}

static void
free_list(struct ready_list *l)
{
    arena_release(&l->texts);
    free(l);
}

/* NULL without memory. */
static struct ready_list *
make(struct ready_cache *c, const char *addr)
{
    struct ready_list *l = calloc(1, sizeof *l + strlen(addr) + 1);

    if (!l)
        return NULL;
    strcpy(l->addr, addr);
    l->wanted = READ_FIRST;
    if (c->of[c->next])
        free_list(c->of[c->next]);
    c->of[c->next] = l;
    c->next = (c->next + 1) % READY_CACHE_MAX;
    return l;
}

#define FIRST_OF_LIST                                                                              \
    "SELECT " SIGNAL_ROW " FROM ready n CROSS JOIN signals s ON s.seq = n.signal" INDEX_STATES     \
    " WHERE n.addr = ?1"
#define LIST_ORDER " ORDER BY n.urgency DESC, n.signal LIMIT ?2"

/* Takes the statement's rows, as many as are wanted. */
static void
take_rows(struct ready_list *l, struct index *ix, const struct dirty_signals *dirty, struct row *r,
          size_t *n)
{
    struct signal_row *x = &l->list[l->n];

    for (; *n < l->wanted && l->texts.used < TEXT_MAX; ++*n, x = &l->list[l->n]) {
        if (!index_next(ix, r) || !signal_row_read(r, &l->texts, x))
            return;
        l->urgency = x->urgency;
        l->seq = x->it.seq;
        const struct dirty_signal *one = dirty_signals_find(dirty, x->it.id);
        l->n += !one || signal_row_is_ready(&one->x);
    }
}

/* Reads on in the list, or its beginning. Behind a place in it come the tasks that are as urgent,
 * then the less urgent: one statement for both would scan all that was claimed meanwhile. */
static void
read_on(struct ready_list *l, struct index *ix, const struct dirty_signals *dirty)
{
    int64_t wanted = (int64_t)l->wanted;
    size_t n = 0;

    empty(l);
    if (!l->is_begun)
        take_rows(l, ix, dirty, index_run(ix, FIRST_OF_LIST LIST_ORDER, "si", l->addr, wanted), &n);
    else
        take_rows(l, ix, dirty,
                  index_peek(ix, FIRST_OF_LIST " AND n.urgency = ?3 AND n.signal > ?4" LIST_ORDER,
                             "sidi", l->addr, wanted, l->urgency, (int64_t)l->seq),
                  &n);
    bool is_more = n < l->wanted && l->texts.used < TEXT_MAX;
    if (is_more && l->is_begun) {
        take_rows(l, ix, dirty,
                  index_peek(ix, FIRST_OF_LIST " AND n.urgency < ?3" LIST_ORDER, "sid", l->addr,
                             wanted - (int64_t)n, l->urgency),
                  &n);
        is_more = n < l->wanted && l->texts.used < TEXT_MAX;
    }
    l->is_whole = is_more && !index_status(ix, NULL);
    l->is_begun = true;
    l->wanted = l->wanted * READ_TIMES < READ_MAX ? l->wanted * READ_TIMES : READ_MAX;
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
ready_cache_first(struct ready_cache *c, struct index *ix, const struct dirty_signals *dirty,
                  const char *addr, const char *types, struct arena *a, struct signal_row *x)
{
    struct ready_list *l = find(c, addr);

    if (!l)
        l = make(c, addr);
    while (l && l->at == l->n && !l->is_whole && !index_status(ix, NULL))
        read_on(l, ix, dirty);
    for (size_t i = l ? l->at : 0; l && i < l->n; i++)
        if (is_of(&l->list[i], types)) {
            *x = l->list[i];
            return true;
        }
    if (l && l->is_whole)
        return false;
    struct row *r =
        index_run(ix, FIRST_OF_LIST " AND instr(?3, char(31) || n.type || char(31))" LIST_ORDER,
                  "sis", addr, (int64_t)1, types);
    return index_next(ix, r) && signal_row_read(r, a, x);
}

void
ready_cache_add(struct ready_cache *c, const struct signal_row *x)
{
    struct ready_list *l = find(c, signal_row_list(x));

    if (!l)
        return;
    if (x->urgency > l->urgency || (x->urgency == l->urgency && x->it.seq < l->seq))
        forget(l);
    l->is_whole = false;
}

void
ready_cache_bring_back(struct ready_cache *c, const struct signal_row *x)
{
    struct ready_list *l = find(c, signal_row_list(x));

    if (l)
        forget(l);
}

void
ready_cache_take_out(struct ready_cache *c, const struct signal_row *x)
{
    struct ready_list *l = find(c, signal_row_list(x));

    for (size_t i = l ? l->at : 0; l && i < l->n; i++)
        if (l->list[i].it.seq == x->it.seq) { /* mostly the first */
            memmove(&l->list[l->at + 1], &l->list[l->at], (i - l->at) * sizeof *l->list);
            l->at++;
            return;
        }
}

void
ready_cache_forget(struct ready_cache *c)
{
    for (size_t i = 0; i < READY_CACHE_MAX && c->of[i]; i++) {
        forget(c->of[i]);
        c->of[i]->wanted = READ_FIRST;
    }
}

void
ready_cache_release(struct ready_cache *c)
{
    for (size_t i = 0; i < READY_CACHE_MAX && c->of[i]; i++)
        free_list(c->of[i]);
    *c = (struct ready_cache){ 0 };
}
