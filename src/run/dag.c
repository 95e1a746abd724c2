#include "run/dag.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- bit sets ---- */

size_t
bit_next(const uint64_t *set, size_t n, size_t from)
{
    if (from >= n)
        return n;
    size_t w = from / 64;
    uint64_t bits = set[w] & ~(uint64_t)0 << (from % 64);

    while (!bits) {
        if (++w >= dag_words(n))
            return n;
        bits = set[w];
    }
    return w * 64 + (size_t)__builtin_ctzll(bits);
}

bool
bits_meet(const uint64_t *a, const uint64_t *b, size_t words)
{
    for (size_t w = 0; w < words; w++)
        if (a[w] & b[w])
            return true;
    return false;
}

bool
bits_within(const uint64_t *a, const uint64_t *b, size_t words)
{
    for (size_t w = 0; w < words; w++)
        if (a[w] & ~b[w])
            return false;
    return true;
}

/* ---- making it ---- */

/* Counts the successors of each phase into first[i + 1]. */
static bool
count_edges(struct dag *d, size_t *edges)
{
    *edges = 0;
    for (size_t i = 0; i < d->n; i++) {
        const struct phase *p = &d->team->phases[i];
        for (size_t k = 0; k < p->n_depends_on; k++) {
            if (p->deps[k] >= d->n)
                return false;
            d->first[p->deps[k] + 1]++;
        }
        *edges += p->n_depends_on;
    }
    return *edges < UINT32_MAX;
}

static void
place_edges(struct dag *d)
{
    for (size_t i = 0; i < d->n; i++)
        d->first[i + 1] += d->first[i];
    /* stack is a cursor for each phase here: how many of its successors are placed */
    for (size_t i = 0; i < d->n; i++) {
        const struct phase *p = &d->team->phases[i];
        for (size_t k = 0; k < p->n_depends_on; k++) {
            size_t from = p->deps[k];
            d->succ[d->first[from] + d->stack[from]++] = (uint32_t)i;
        }
    }
}

/* Kahn's walk: gives every phase its step. False when a circle is left over.
 * rank counts the dependencies still open here, order is the queue. */
static bool
walk_steps(struct dag *d)
{
    size_t head = 0, tail = 0;

    for (size_t i = 0; i < d->n; i++) {
        d->rank[i] = (uint32_t)d->team->phases[i].n_depends_on;
        if (!d->rank[i])
            d->order[tail++] = (uint32_t)i;
    }
    while (head < tail) {
        uint32_t p = d->order[head++];
        for (uint32_t k = d->first[p]; k < d->first[p + 1]; k++) {
            uint32_t q = d->succ[k];
            if (d->step[q] < d->step[p] + 1)
                d->step[q] = d->step[p] + 1;
            if (--d->rank[q] == 0)
                d->order[tail++] = q;
        }
    }
    return tail == d->n;
}

/* Sorts by step, then file order: counting, with stack as the counters. */
static void
sort_steps(struct dag *d)
{
    uint32_t at = 0;

    memset(d->stack, 0, (d->n + 1) * sizeof *d->stack);
    for (size_t i = 0; i < d->n; i++)
        d->stack[d->step[i]]++;
    for (size_t s = 0; s < d->n; s++) {
        uint32_t count = d->stack[s];
        d->stack[s] = at;
        at += count;
    }
    for (size_t i = 0; i < d->n; i++) {
        d->rank[i] = d->stack[d->step[i]]++;
        d->order[d->rank[i]] = (uint32_t)i;
    }
}

struct dag *
dag_new(const struct team *t)
{
    struct dag *d = calloc(1, sizeof *d);
    size_t n = t->n_phases, room = n + 1, edges;

    if (!d)
        return NULL;
    d->team = t;
    d->n = n;
    d->asked = SIZE_MAX;
    if (n >= UINT32_MAX)
        goto fail;
    d->first = calloc(room, sizeof *d->first);
    d->order = calloc(room, sizeof *d->order);
    d->rank = calloc(room, sizeof *d->rank);
    d->step = calloc(room, sizeof *d->step);
    d->stack = calloc(room, sizeof *d->stack);
    d->before = calloc(dag_words(room), sizeof *d->before);
    d->scratch = calloc(dag_words(room), sizeof *d->scratch);
    if (!d->first || !d->order || !d->rank || !d->step || !d->stack || !d->before || !d->scratch ||
        !count_edges(d, &edges))
        goto fail;
    d->succ = calloc(edges + 1, sizeof *d->succ);
    if (!d->succ)
        goto fail;
    place_edges(d);
    if (!walk_steps(d))
        goto fail;
    sort_steps(d);
    return d;
fail:
    dag_free(d);
    return NULL;
}

void
dag_free(struct dag *d)
{
    if (!d)
        return;
    free(d->first);
    free(d->succ);
    free(d->order);
    free(d->rank);
    free(d->step);
    free(d->stack);
    free(d->before);
    free(d->scratch);
    free(d);
}

/* ---- asking ---- */

bool
dag_is_edge(const struct dag *d, size_t from, size_t to)
{
    const struct phase *p = &d->team->phases[to];

    for (size_t k = 0; k < p->n_depends_on; k++)
        if (p->deps[k] == from)
            return true;
    return false;
}

/* Every phase is pushed once, when its bit is set: the stack never needs more than n. */
static void
visit(struct dag *d, uint64_t *set, size_t p, size_t *depth)
{
    if (!bit_has(set, p)) {
        bit_add(set, p);
        d->stack[(*depth)++] = (uint32_t)p;
    }
}

void
dag_successors(struct dag *d, size_t phase, uint64_t *set)
{
    size_t depth = 0;

    memset(set, 0, dag_words(d->n) * sizeof *set);
    d->stack[depth++] = (uint32_t)phase;
    while (depth > 0) {
        uint32_t p = d->stack[--depth];
        for (uint32_t k = d->first[p]; k < d->first[p + 1]; k++)
            visit(d, set, d->succ[k], &depth);
    }
}

static void
ask(struct dag *d, size_t phase)
{
    size_t depth = 0;

    assert(phase < d->n);
    if (d->asked == phase)
        return;
    memset(d->before, 0, dag_words(d->n) * sizeof *d->before);
    d->stack[depth++] = (uint32_t)phase;
    while (depth > 0) {
        const struct phase *p = &d->team->phases[d->stack[--depth]];
        for (size_t k = 0; k < p->n_depends_on; k++)
            visit(d, d->before, p->deps[k], &depth);
    }
    d->asked = phase;
}

bool
dag_is_before(struct dag *d, size_t before, size_t phase)
{
    ask(d, phase);
    return bit_has(d->before, before);
}

bool
dag_may_route(struct dag *d, size_t gate, size_t target)
{
    const struct phase *p = d->team->phases;

    if (gate >= d->n || target >= d->n || gate == target || p[gate].type != PHASE_GATE)
        return false;
    return p[target].is_support || dag_is_before(d, target, gate);
}

void
dag_between(struct dag *d, size_t from, size_t to, uint64_t *set)
{
    size_t words = dag_words(d->n);

    ask(d, to);
    dag_successors(d, from, d->scratch);
    for (size_t w = 0; w < words; w++)
        set[w] = d->before[w] & d->scratch[w];
}

/* A walk up from `to`, breadth first: phases are met in the order of their distance. */
size_t
dag_on_the_way(struct dag *d, size_t from, size_t to, uint32_t *out)
{
    size_t met = 0, n = 0;

    memset(d->scratch, 0, dag_words(d->n) * sizeof *d->scratch);
    visit(d, d->scratch, to, &met);
    for (size_t at = 0; at < met; at++) {
        const struct phase *p = &d->team->phases[d->stack[at]];
        bool is_next = false;
        for (size_t k = 0; k < p->n_depends_on; k++) {
            is_next = is_next || p->deps[k] == from;
            visit(d, d->scratch, p->deps[k], &met);
        }
        if (is_next)
            out[n++] = d->stack[at];
    }
    return n;
}

size_t
dag_route_targets(struct dag *d, size_t gate, uint32_t *out)
{
    const struct team *t = d->team;
    const struct phase *ph = &t->phases[gate];
    size_t n = 0;

    for (size_t i = 0; i < ph->n_depends_on; i++)
        out[n++] = (uint32_t)ph->deps[i];
    for (size_t k = d->rank[gate]; k-- > 0;)
        if (!t->phases[d->order[k]].is_support && dag_may_route(d, gate, d->order[k]) &&
            !dag_is_edge(d, d->order[k], gate))
            out[n++] = d->order[k];
    for (size_t i = t->n_main; i < t->n_phases; i++)
        out[n++] = (uint32_t)i;
    return n;
}
