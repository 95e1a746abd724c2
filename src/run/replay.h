/*
 * replay - the state of a run, made from its journal: every event goes through the scheduler again.
 *
 * replay_load is for resuming: it uses every line, or fails. replay_look is for commands that only
 * show the run: it skips lines that cannot be used, and replay.bad_line names the first. Nothing
 * may be started from such a state: without one event it is wrong, and a finished phase could run
 * twice.
 */
#ifndef CLIQ_RUN_REPLAY_H
#define CLIQ_RUN_REPLAY_H

#include "run/dag.h"
#include "run/journal.h"
#include "run/ledger.h"

/* What the journal tells of the latest attempt of a phase, for people. In the head's arena. */
struct replay_words {
    const char *agent; /* NULL: not known */
    const char *text;  /* of its result; NULL: none */
    bool is_good;      /* that result was `complete`, and no gate's ROUTE or ESCALATE */
};

struct replay {
    const struct team *team;
    struct journal_head head;
    struct sched *sched; /* may be taken: set it to NULL then */
    int64_t began_ms;    /* wall time of the begin or, after that, of the latest rerun */
    int64_t spent_ms; /* from the begin, and from each rerun but the latest, to the end after it */
    int64_t last_ms;  /* of the latest event */
    int64_t *started_ms; /* one a phase: wall time of its latest start; 0: never */
    int64_t *ended_ms;   /* one a phase: of its latest result or skip; 0: none since the start */
    struct replay_words *words; /* one a phase */
    struct ledger ledger;       /* may be taken: zero it then */
    bool is_cancelled;          /* or aborted: what still runs is to be stopped */
    /* of the latest rerun, that was to go on within a team phase: where; below NULL: it was not */
    const char *below;
    size_t below_phase;
    unsigned below_attempt;
    bool leads_on; /* at an end of it this workflow would have gone on with what ran */
    /* replay_look: the first line that could not be used; 0: all could, and the rest is unused */
    uint64_t bad_line;
    char problem[160];
    size_t n_bad; /* how many such lines there are */
    struct sched_phase *sketch;
    struct dag *dag; /* of the team; NULL: it has none */
};

/* `dir` is run/, open. ST_NOT_FOUND: nothing has run. ST_INVALID: it is the journal of
 * another workflow, or damaged; head.has_end is right even then. Release it whatever is
 * returned. */
enum status replay_load(struct replay *p, int dir, const struct team *t, struct err *e);
/* ST_INVALID: there is nothing in it that can be read. */
enum status replay_look(struct replay *p, int dir, const struct team *t, struct err *e);
void replay_release(struct replay *p);

/* One event of the journal whose head is read into p->head, from a zeroed past with its team: what
 * replay_load does with each. False: it does not fit. */
bool replay_take(struct replay *p, const struct sched_event *ev, int64_t at_ms);

/* How long the run was active, up to now_ms when it has not ended. */
int64_t replay_duration(const struct replay *p, int64_t now_ms);
/* Of what was loaded or looked at. */
const struct sched_phase *replay_phase(const struct replay *p, size_t phase);
const char *replay_reason(const struct replay *p); /* why it did not, or will not, complete; NULL */

#endif
