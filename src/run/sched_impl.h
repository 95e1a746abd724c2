/*
 * sched_impl - private to sched.c and sched_errand.c.
 *
 * An activation is one time that a phase is asked to be done: by the graph (its first
 * run, a rerun) or by an errand, the work that a gate sent back. It may take several
 * attempts, and for gates several iterations. A phase's `owner` is the errand that
 * asked; NULL is the graph.
 *
 *     route --> queued --its members are idle, no errand has one--> active --all done--> over
 *                                                                                 |
 *                     the gate waits for its next iteration <---------------------'
 *
 * pending counts the dependencies that are not done: all of them for the graph, those
 * inside the errand's set for an errand. It is kept right by one walk over the direct
 * successors whenever a phase becomes done or stops being so.
 */
#ifndef CLIQ_RUN_SCHED_IMPL_H
#define CLIQ_RUN_SCHED_IMPL_H

#include "run/dag.h"
#include "run/sched.h"

struct errand {
    struct errand *next;
    struct errand *parent; /* the errand that the gate itself is re-run in */
    size_t gate, target;
    size_t n_open;  /* active: members that are not done */
    uint64_t set[]; /* members */
};

struct sched_node {
    struct sched_phase ph;
    struct errand *owner;
    uint32_t pending;
};

struct sched {
    const struct team *team;
    struct sched_options o;
    struct dag *dag;
    size_t n, words;
    struct sched_node *nodes;
    uint64_t *ready; /* by rank: could start now, were a job free */
    uint64_t *idle;  /* could be taken by an errand: done, or a support phase at rest */
    uint64_t *scratch;
    uint64_t *conflicts; /* file_conflicts.h; NULL: none */
    size_t n_busy;       /* STARTING and RUNNING: these use a job */
    size_t n_backoff;
    size_t n_there; /* process trees that may exist */
    size_t n_main_done;
    struct errand *queue, *active; /* queue: oldest first */
    bool has_begun;
    bool is_stopping;       /* ending, and what runs is stopped, too */
    enum run_status ending; /* how it will end; ACTIVE: it is not ending */
    enum run_status status; /* how it ended */
    const char *reason;     /* points into reason_text, or is a constant; NULL */
    struct buf reason_text;
    struct actions *out; /* of the event being applied; NULL: not wanted */
};

static inline bool
is_done(enum phase_state s)
{
    return s == PS_DONE || s == PS_SKIPPED;
}

static inline bool
is_busy(enum phase_state s)
{
    return s == PS_STARTING || s == PS_RUNNING;
}

/* ---- sched.c ---- */

void sched_set_state(struct sched *s, size_t phase, enum phase_state to);
/* Gives the phase to an errand or back to the graph; counts its dependencies anew. */
void sched_set_owner(struct sched *s, size_t phase, struct errand *owner);
/* A new activation: waiting, no failures, iteration 1. */
void sched_activate(struct sched *s, size_t phase, struct errand *owner, bool is_routed);
void sched_act(struct sched *s, struct action a);

/* ---- sched_errand.c ---- */

/* Queues the errand of a gate that routes to target. False without memory. */
bool errand_queue(struct sched *s, size_t gate, size_t target);
/* Errands whose members are all done: their gates wait for the next iteration. */
void errands_finish(struct sched *s);
/* Begins every queued errand that may begin, oldest first. */
void errands_begin(struct sched *s);
/* Nothing runs and nothing can: begins one that waits in a circle. False: none. */
bool errands_force(struct sched *s);
/* Forgets the errands of these gates. */
void errands_drop(struct sched *s, const uint64_t *gates);
void errands_free(struct sched *s);
/* A member of any active errand became done, or stopped being so. */
void errands_count(struct sched *s, size_t phase, bool is_now_done);

#endif
