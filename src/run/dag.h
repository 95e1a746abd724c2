/*
 * dag - the dependency graph of a team's phases. Pure; made once, then only read.
 *
 *     step:  0        1          2        3
 *            plan --> build ---> review --> ship      review routes to plan:
 *               `---> docs ----------------^          between(plan, review) = { build }
 *
 * A step is the longest path from a root. `order` sorts by step, then by place in the
 * file, so it is a topological order; `rank` is its inverse. Support phases stand in
 * step 0, behind the roots of the graph.
 *
 * Sets of phases are bit sets of dag_words(n) words; the caller owns them. Questions
 * about ancestors cost one walk over the graph; the answer for the phase that was
 * asked about last is kept, so asking about one gate and every target is one walk.
 * (That memory is why a dag belongs to one thread.)
 *
 * Memory: 5 words of 4 bytes a phase and one an edge.
 */
#ifndef CLIQ_RUN_DAG_H
#define CLIQ_RUN_DAG_H

#include "team/team.h"

/* ---- bit sets ---- */

static inline size_t
dag_words(size_t n)
{
    return (n + 63) / 64;
}

static inline bool
bit_has(const uint64_t *set, size_t i)
{
    return set[i / 64] >> (i % 64) & 1;
}

static inline void
bit_add(uint64_t *set, size_t i)
{
    set[i / 64] |= (uint64_t)1 << (i % 64);
}

static inline void
bit_drop(uint64_t *set, size_t i)
{
    set[i / 64] &= ~((uint64_t)1 << (i % 64));
}

/* The first member >= from of a set of n bits; n when there is none. To see them all:
 * for (size_t i = bit_next(set, n, 0); i < n; i = bit_next(set, n, i + 1)) */
size_t bit_next(const uint64_t *set, size_t n, size_t from);
bool bits_meet(const uint64_t *a, const uint64_t *b, size_t words);   /* a common member? */
bool bits_within(const uint64_t *a, const uint64_t *b, size_t words); /* is a part of b? */

/* ---- the graph ---- */

struct dag {
    const struct team *team; /* borrowed */
    size_t n;
    uint32_t *first, *succ; /* successors of i: succ[first[i]] up to succ[first[i + 1]] */
    uint32_t *order, *rank; /* order[rank[i]] == i */
    uint32_t *step;
    /* the memory of the last walk */
    size_t asked;               /* SIZE_MAX: nothing yet */
    uint64_t *before, *scratch; /* ancestors of `asked` */
    uint32_t *stack;
};

/* NULL without memory, or when the team is not valid: an unknown dependency, a circle. */
struct dag *dag_new(const struct team *t);
void dag_free(struct dag *d);

/* Does `to` name `from` in its depends_on? */
bool dag_is_edge(const struct dag *d, size_t from, size_t to);
/* Must `before` be done, directly or through others, before `phase` starts? */
bool dag_is_before(struct dag *d, size_t before, size_t phase);
/* May this gate route there? To all transitive predecessors and every support phase. */
bool dag_may_route(struct dag *d, size_t gate, size_t target);

/* Each overwrites the set with: all transitive successors of the phase; what lies on a path from
 * `from` to `to`, without both. */
void dag_successors(struct dag *d, size_t phase, uint64_t *set);
void dag_between(struct dag *d, size_t from, size_t to, uint64_t *set);

/* The successors of `from` that are `to` or predecessors of it, the nearest to `to` first: fewest
 * edges, then the order of depends_on. `out` has room for n; the result is their number. */
size_t dag_on_the_way(struct dag *d, size_t from, size_t to, uint32_t *out);
/* Where this gate may route to, the nearest first: what it depends on, then further up, then the
 * support phases. `out` has room for n; the result is their number. */
size_t dag_route_targets(struct dag *d, size_t gate, uint32_t *out);

#endif
