/*
 * next_step - the one command to run after a run that did not complete: the line "Next: …" at the
 * end of `cliq run` and in `cliq status`. Pure.
 *
 *     Next: cliq retry build (mend the cause first: cliq log build shows what it said)
 *     Next: cliq run --resume (goes on with it; cliq cancel ends it)
 *
 * What stands between "Next: " and " (" can be pasted into a shell as it is.
 *
 * Tests: test/unit/test_next_step.c
 */
#ifndef CLIQ_RUN_NEXT_STEP_H
#define CLIQ_RUN_NEXT_STEP_H

#include "base/buf.h"
#include "run/dag.h"
#include "run/sched.h"

#define NEXT_STEP_WORD "Next: "

struct next_step {
    const struct team *team;
    const struct dag *dag;            /* NULL: phases are taken in the order of the team */
    const struct sched_phase *phases; /* one a phase of the team */
    enum run_status status;           /* RUN_ACTIVE: its orchestrator died */
    bool is_unwritten;                /* the journal has no end of the run: it can be resumed */
    bool is_damaged;                  /* the journal cannot be used: it cannot be resumed */
    const char *way;                  /* "build/": before the names of its phases; NULL: nothing */
    const struct next_step **subs; /* one a phase: of the team that it ran, or NULL; NULL: none */
};

/* Appends the line; nothing for COMPLETED. */
void next_step_write(struct buf *to, const struct next_step *n);

#endif
