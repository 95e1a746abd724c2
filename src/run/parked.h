/*
 * parked - what an attempt without a process waits for: its review (run/review.h), and a time.
 *
 * An agent that waits for people ends when they have been told. Its orchestrator parks the attempt:
 * it looks at the review's file when that changes, and at the time that the review names
 * (review_due_ms), and starts the agent again then. The timer is of wall time, so neither sleep nor
 * a clock that is set moves it away.
 *
 * Order of calls: parked_look, parked_wait, then parked_look at each change; parked_release on any
 * state with timer -1 or a descriptor.
 *
 * Tests: test/scenario/review.bats test/scenario/review_sleep.bats
 */
#ifndef CLIQ_RUN_PARKED_H
#define CLIQ_RUN_PARKED_H

#include "base/loop.h"
#include "run/review.h"

struct parked {
    char id[REVIEW_ID_SIZE]; /* of the review */
    int64_t due_ms;          /* as of review_due_ms */
    int timer;               /* a timerfd; -1: none */
    struct loop_source *source;
};

/* Reads the review of that attempt. False: it has none that can be read. */
bool parked_look(struct parked *p, const struct state_dir *f, const char *run_id, const char *gate,
                 unsigned attempt);
/* fn is called when due_ms has come, and when the clock was set. */
enum status parked_wait(struct parked *p, struct loop *loop, loop_fn *fn, void *ctx, struct err *e);
bool parked_is_file(const struct parked *p, const char *name); /* is it the review's? */
void parked_release(struct parked *p);

/* The attempt has ended: its review can no longer be answered. */
void
parked_cancel(const struct state_dir *f, const char *run_id, const char *gate, unsigned attempt);

#endif
