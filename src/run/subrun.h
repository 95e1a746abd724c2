/*
 * subrun - a team phase while it goes on: a run below the run, on the same loop.
 *
 * The run above has it in the place of an attempt: it is journalled as one (agent team), it has one
 * result and one end, and it is stopped, timed and tried again as one. Below it is a run like any
 * other, in frames/<phase>/: its own journal, whose head names the attempt above:
 *
 *     {"ev":"begin","run":"cliq-a1b2c3-18af…","above":"cliq-a1b2c3-18ae…/build.1",…}
 *
 *     above: EV_STARTED --synced--> subrun_begin: the frame's journal begins
 *     below: ACT_END -> its end is journalled, synced -> handoffs -> above: EV_RESULT, EV_GONE
 *
 * So whoever resumes finds, for an attempt that runs above: no journal of it below (it never
 * began), one that is open (it goes on), or one that has ended (its result is told).
 *
 *     ended below   above
 *     COMPLETED     complete, with the outputs as handoffs (team_phase.h)
 *     ESCALATED     error: "phase test crashed: …"
 *     FAILED        the same; where the disk failed, the whole run cannot go on
 *     CANCELLED     nothing when above stopped it, else an error
 *
 * Tests: test/scenario/pipeline_teams.bats test/fault/resume_teams.bats
 */
#ifndef CLIQ_RUN_SUBRUN_H
#define CLIQ_RUN_SUBRUN_H

#include "run/run_loop.h"

struct subrun {
    struct run *above;
    size_t phase; /* of above */
    unsigned attempt;
    struct run *older;       /* of an attempt before this one; it has ended */
    const char *requirement; /* NULL: it goes on with what is there */
    const char *from;        /* of an ended run in the frame: go on from here; NULL: anew */
    char name[64 + TEAM_PHASE_NAME_MAX + 24]; /* "cliq-…/build.1": of the journal's head */
    struct loop_source *deadline;
    int64_t due_ms; /* when that comes, in wall time */
    enum { SUBRUN_NEW, SUBRUN_OPEN, SUBRUN_CLOSED } state;
    bool was_over;     /* its journal has its end already */
    bool has_answered; /* above knows its result */
    bool is_hopeless;  /* a person, or a budget, ended something of it: it is not tried again */
};

/* What it needs; it begins with subrun_begin, when the journal above has its start. ST_INVALID: a
 * template cannot be resolved. */
enum status subrun_prepare(struct run *above, size_t phase, unsigned attempt, struct err *e);
/* Begins one that is new. False: there was nothing to do. */
bool subrun_begin(struct run *r);
/* Takes the attempt up where the journals left it; `ph` is how above left the phase. */
void
subrun_resume(struct run *above, size_t phase, const struct sched_phase *ph, int64_t started_ms);
/* Before anything is changed: can all that were open be resumed? */
struct replay;
enum status subrun_check(const struct plan *p, const struct replay *replay, struct err *e);

/* Has the phase run in that run, so that it can go on from one of the phases in it? */
enum status
subrun_check_past(const struct plan *p, size_t phase, const char *run_id, struct err *e);

bool subrun_is_open(const struct run *r);
/* When its time limit comes, in wall time; INT64_MAX: it has none. */
int64_t subrun_due_ms(const struct run *r);
void subrun_stop(struct run *r);                   /* cancels it; its end follows */
void subrun_drop(struct run *above, size_t phase); /* one that has not begun */
/* A budget above is used up: nothing new starts below, and those that spend are stopped. */
void subrun_escalate(struct run *r, const char *why);
/* It has ended: writes that down and tells it above. False: that was done. */
bool subrun_close(struct run *r);
void subrun_free(struct run *r); /* and those before it; NULL is fine */

#endif
