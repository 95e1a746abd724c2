/*
 * sched_errand - errands: the work that gates send back.
 *
 * An errand is its target and every phase between that and the gate. Two errands that
 * share a phase take turns, oldest first; one that a gate inside another errand asks
 * for (nested) may use the phases of that errand, and need not wait behind the queue,
 * whose errands may themselves be waiting for the outer one.
 *
 * That leaves circles among errands that are not nested: X's inner gate wants a phase
 * of Y, and Y's inner gate one of X. They are found by the run standing still, and
 * broken by beginning the errand of the gate that comes first in the topological
 * order. Its members are idle: a member that is not would be waiting, in the end, for
 * a gate that comes even earlier. So every standstill is left, and because an errand
 * holds only predecessors of its gate, a gate re-runs only gates before it: each has
 * a budget of iterations, so the run ends.
 */
#include "run/sched_impl.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

bool
errand_queue(struct sched *s, size_t gate, size_t target)
{
    struct errand *e = calloc(1, sizeof *e + s->words * sizeof e->set[0]);
    struct errand **last = &s->queue;

    if (!e)
        return false;
    e->gate = gate;
    e->target = target;
    e->parent = s->nodes[gate].owner;
    if (!s->team->phases[target].is_support)
        dag_between(s->dag, target, gate, e->set);
    bit_add(e->set, target);
    while (*last)
        last = &(*last)->next;
    *last = e;
    return true;
}

static void
begin(struct sched *s, struct errand *e)
{
    size_t members = 0;

    for (size_t i = bit_next(e->set, s->n, 0); i < s->n; i = bit_next(e->set, s->n, i + 1)) {
        sched_activate(s, i, e, true);
        members++;
    }
    e->n_open = members;
    e->next = s->active;
    s->active = e;
}

/* Is a the errand e, or one around it? */
static bool
is_around(const struct errand *a, const struct errand *e)
{
    while (e && e != a)
        e = e->parent;
    return e != NULL;
}

static bool
meets_stranger(const struct sched *s, const struct errand *e)
{
    for (const struct errand *a = s->active; a; a = a->next)
        if (!is_around(a, e) && bits_meet(a->set, e->set, s->words))
            return true;
    return false;
}

static void
add_to(uint64_t *set, const uint64_t *more, size_t words)
{
    for (size_t w = 0; w < words; w++)
        set[w] |= more[w];
}

void
errands_begin(struct sched *s)
{
    uint64_t *taken = s->scratch; /* by active errands, and by those earlier in the queue */

    if (!s->queue)
        return;
    memset(taken, 0, s->words * sizeof *taken);
    for (const struct errand *a = s->active; a; a = a->next)
        add_to(taken, a->set, s->words);
    for (struct errand **at = &s->queue; *at;) {
        struct errand *e = *at;
        bool is_free = bits_within(e->set, s->idle, s->words) &&
                       !(e->parent ? meets_stranger(s, e) : bits_meet(e->set, taken, s->words));
        add_to(taken, e->set, s->words);
        if (is_free) {
            *at = e->next;
            begin(s, e);
        } else {
            at = &e->next;
        }
    }
}

bool
errands_force(struct sched *s)
{
    struct errand **best = NULL;

    for (struct errand **at = &s->queue; *at; at = &(*at)->next)
        if (bits_within((*at)->set, s->idle, s->words) &&
            (!best || s->dag->rank[(*at)->gate] < s->dag->rank[(*best)->gate]))
            best = at;
    if (!best)
        return false;
    struct errand *e = *best;
    *best = e->next;
    begin(s, e);
    return true;
}

/* Already out of its list. Its phases go back to the graph, errands inside it stand alone. */
static void
dissolve(struct sched *s, struct errand *e)
{
    for (size_t i = bit_next(e->set, s->n, 0); i < s->n; i = bit_next(e->set, s->n, i + 1))
        if (s->nodes[i].owner == e)
            sched_set_owner(s, i, NULL);
    for (struct errand *a = s->active; a; a = a->next)
        if (a->parent == e)
            a->parent = NULL;
    for (struct errand *q = s->queue; q; q = q->next)
        if (q->parent == e)
            q->parent = NULL;
    free(e);
}

void
errands_finish(struct sched *s)
{
    for (struct errand **at = &s->active; *at;) {
        struct errand *e = *at;
        if (e->n_open > 0) {
            at = &e->next;
            continue;
        }
        struct sched_node *gate = &s->nodes[e->gate];
        assert(gate->ph.state == PS_ROUTING);
        *at = e->next;
        gate->ph.iteration++;
        gate->ph.failures = 0;
        sched_set_state(s, e->gate, PS_WAITING);
        dissolve(s, e);
    }
}

void
errands_count(struct sched *s, size_t phase, bool is_now_done)
{
    for (struct errand *a = s->active; a; a = a->next)
        if (bit_has(a->set, phase))
            is_now_done ? a->n_open-- : a->n_open++;
}

static void
drop_from(struct sched *s, struct errand **at, const uint64_t *gates)
{
    while (*at) {
        struct errand *e = *at;
        if (gates && !bit_has(gates, e->gate)) {
            at = &e->next;
            continue;
        }
        *at = e->next;
        dissolve(s, e);
    }
}

void
errands_drop(struct sched *s, const uint64_t *gates)
{
    drop_from(s, &s->queue, gates);
    drop_from(s, &s->active, gates);
}

void
errands_free(struct sched *s)
{
    struct errand *lists[] = { s->queue, s->active };

    for (size_t i = 0; i < 2; i++)
        for (struct errand *e = lists[i], *next; e; e = next) {
            next = e->next;
            free(e);
        }
}
