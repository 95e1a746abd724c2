/*
 * run_signals - the events of a run as broadcast signals. Pure: takes an event and the state after
 * it, gives requests for the hub.
 *
 *     pipeline:<id>:started|completed|escalated|failed|cancelled
 *     phase:<id>:<phase>:started|progress|completed|error|routed
 *     agent:<agent>:wake|sleep
 *
 * <id> is the project's (cliq-a1b2c3), so that one subscription is good for all its runs.
 *
 *     data of    has
 *     pipeline   pipelineId, runId, team, projectDir; at its end status, and reason if any
 *     phase      pipelineId, runId, phase, agent, attempt; of gates iteration and verdict;
 *                target of a route; message of progress; outcome (error, crash, timeout,
 *                stopped), reason and willRetry of an error; skipped
 *     agent      agentId, state
 *
 * An error is a phase that did not get on: its agent's, a crash, a timeout, the verdict of a gate
 * that needs a person, and what the run stopped itself since it is ending. A gate that sends work
 * back is `routed`, it is not completed. A phase whose `when` is false is completed, and skipped.
 * The phases of a team phase are build/test, and so on down; they have no pipeline signals.
 *
 * An agent wakes with the first of its attempts in this run, and sleeps when nothing of the last
 * one is left.
 *
 * Of a flood of progress, more than a hundred lines of a phase in a second, the rest is not told.
 *
 * Each has a key of what it is about, so the same transition told twice is one signal.
 */
#ifndef CLIQ_RUN_RUN_SIGNALS_H
#define CLIQ_RUN_RUN_SIGNALS_H

#include "run/run.h"

struct run_signals {
    const struct plan *plan;
    const char *run_id; /* may be filled in later */
    bool *is_up;        /* one a phase: an attempt was started, and is not gone */
    void (*tell)(void *ctx, const struct buf *request);
    void *ctx;
};

enum status run_signals_init(struct run_signals *t, const struct plan *p, struct err *e);
void run_signals_release(struct run_signals *t); /* zero is fine */

/* After the scheduler has applied it. */
void run_signals_event(struct run_signals *t, const struct sched *s, const struct sched_event *ev);
/* The k-th line of progress of that attempt, from 1. */
void run_signals_progress(struct run_signals *t, size_t phase, unsigned attempt, unsigned k,
                          const char *message);
void run_signals_end(struct run_signals *t, const struct sched *s, enum run_status status,
                     const char *reason);

#endif
