/*
 * sched - what a run does next. A pure state machine: an event in, actions out.
 * No clock, no file, no process: `cliq run --resume` is the journal's events fed
 * through sched_apply again.
 *
 * The state of a phase:
 *
 *     WAITING --deps done--> STARTING --EV_STARTED--> RUNNING --complete--> DONE
 *        ^                     |  ^ |                   |  |
 *        |                     |  | `--EV_SKIP--> SKIPPED  |-- error, crash, timeout:
 *        |                     |  |                        |   retries left: BACKOFF --EV_DUE-->
 * STARTING |                     `--|------------------------|   none left: FAILED, the run
 * escalates
 *        `---- a gate routes here, or further up -----------`
 *
 * A gate's RUNNING ends with a verdict. PASS: DONE. ROUTE: the gate is ROUTING until the
 * target (and every phase between it and the gate) has run again, then STARTING with
 * the next iteration. ESCALATE, or ROUTE on the last iteration: FAILED, escalated.
 *
 * A phase's result counts the moment it is known, but its next attempt waits until the
 * old process tree is gone (EV_GONE). Routes of two gates to one phase queue.
 * A phase waits while another one with overlapping `files` is at work, or anything of it is left.
 * When the run is ending (escalated, cancelled) nothing new starts; an attempt that was
 * stopped (ACT_STOP) and so crashed, or is gone without a result, did not fail: its
 * phase is WAITING again, for a rerun.
 *
 * The same events give the same states only with the same team and options: a journal
 * keeps the options it began with, and those of each rerun. How many retries and iterations
 * there are may change: a result that was the last one is told with is_final.
 */
#ifndef CLIQ_RUN_SCHED_H
#define CLIQ_RUN_SCHED_H

#include "context/usage.h"
#include "team/team.h"

enum phase_state {
    PS_WAITING,  /* for its dependencies, a free job, or (support) a route */
    PS_STARTING, /* ACT_START was given; EV_STARTED, EV_SKIP or EV_RESULT answers */
    PS_RUNNING,
    PS_BACKOFF, /* before a retry */
    PS_ROUTING, /* a gate that waits for the phases it sent work back to */
    PS_DONE,
    PS_SKIPPED,
    PS_FAILED,
    PS_STATES
};
const char *phase_state_name(enum phase_state s); /* "waiting" */

enum run_status { RUN_ACTIVE, RUN_COMPLETED, RUN_ESCALATED, RUN_FAILED, RUN_CANCELLED };
const char *run_status_name(enum run_status s); /* "COMPLETED" */

enum outcome { OUT_COMPLETE, OUT_ERROR, OUT_CRASH, OUT_TIMEOUT }; /* how an attempt ended */
enum verdict { VERDICT_NONE, VERDICT_PASS, VERDICT_ROUTE, VERDICT_ESCALATE };

struct sched_options {
    unsigned jobs; /* attempts at a time; 0: no limit */
    bool is_fail_fast;
};

enum sched_event_kind {
    EV_BEGIN,   /* the run begins; first event of every journal */
    EV_STARTED, /* phase, attempt: the attempt was journalled and will be or is running */
    EV_RESULT,  /* phase, attempt, outcome, verdict, target, text (error or reason) */
    EV_GONE,    /* phase, attempt: nothing of that attempt's process tree is left */
    EV_SKIP,    /* phase: its `when` is false */
    EV_DUE,     /* phase: its back-off is over */
    EV_CANCEL,
    EV_ESCALATE, /* text: nothing new starts, what runs is let finish; a budget is used up */
    EV_ABORT,    /* text: the orchestrator cannot go on (disk, configuration): FAILED */
    EV_RERUN,    /* phase: run it and everything downstream of it again (retry, --from); text: of a
                  * team phase, the phase in it, for the journal */
    EVENT_KINDS
};

struct sched_event {
    enum sched_event_kind kind;
    size_t phase; /* index into team.phases */
    unsigned attempt;
    enum outcome outcome;
    enum verdict verdict;
    size_t target; /* VERDICT_ROUTE */
    bool is_final; /* EV_RESULT of the past: its phase failed for good, whatever is allowed now */
    const char *text;          /* NULL: none; copied when kept */
    const char *agent;         /* EV_STARTED: its agent, for the journal; NULL: not known */
    const struct usage *usage; /* EV_RESULT: what its model used, for the journal; NULL: none */
    const struct sched_options *options; /* EV_RERUN: from here on; NULL: as before */
};

enum action_kind {
    ACT_START, /* phase, attempt, iteration (gates), is_routed: begin this attempt */
    ACT_STOP,  /* phase, attempt: stop its process tree; EV_GONE will tell */
    ACT_WAIT,  /* phase, ms: feed EV_DUE after that long */
    ACT_ROUTE, /* phase = gate, target: write the verdict for the target, mark it as routed */
    ACT_END,   /* status, text: the run is over; nothing runs any more */
};

struct action {
    enum action_kind kind;
    size_t phase, target;
    unsigned attempt, iteration;
    bool is_routed; /* started because a gate sent work back */
    int64_t ms;
    enum run_status status;
    const char *text; /* valid until the next sched_apply */
};

/* Filled by sched_apply, emptied by its owner; grows as needed. */
struct actions {
    struct action *a;
    size_t n, cap;
};
void actions_release(struct actions *a);

struct sched_phase {
    enum phase_state state;
    unsigned attempt;   /* of the latest start, from 1; 0: never started */
    unsigned skips;     /* of those starts, how many its `when` took back: no attempt was made */
    unsigned failures;  /* attempts of this activation that failed */
    unsigned iteration; /* gates: of the latest or next start, from 1 */
    bool is_there;      /* its latest attempt's process tree may still exist */
    bool is_routed;
    bool is_stopped; /* ACT_STOP was given for its latest attempt */
};
/* It failed, has retries left, and waits to be tried again. In a run that has ended that is so
 * until the run is gone on with. */
bool sched_is_untried(const struct sched_phase *ph);
/* The attempt of this result did not crash: the run is ending, and stopped it. For the state
 * after the event. */
bool sched_was_stopped(const struct sched_phase *ph, const struct sched_event *ev);

struct sched;
/* Borrows the team, which must be valid. NULL without memory. */
struct sched *sched_new(const struct team *t, const struct sched_options *o);
void sched_free(struct sched *s);

/* An event that cannot happen in the present state (a journal of another workflow, a
 * repeated line) changes nothing and returns false. `out` may be NULL: a replay, whose
 * actions were performed long ago. */
bool sched_apply(struct sched *s, const struct sched_event *ev, struct actions *out);

/* The phase whose attempt has files that this one is to write, too (file_conflicts.h): while it
 * runs, this one does not start. SIZE_MAX: none. */
size_t sched_files_holder(const struct sched *s, size_t phase);

const struct sched_phase *sched_phase(const struct sched *s, size_t phase);
enum run_status sched_status(const struct sched *s); /* ACTIVE until ACT_END was given */
const char *sched_reason(const struct sched *s);     /* why it will not be COMPLETED; NULL */
/* Why an attempt that ACT_STOP ended has no result: said in place of how its process died. */
const char *sched_stop_reason(const struct sched *s);

/* The run ended here, and so, its journal says; it was not cancelled. Phases that this team would
 * have started, and that were not started, wait as before: they, or what lets them start, were put
 * in later.
 * False: by this team it would not have ended. */
bool sched_close(struct sched *s, enum run_status how);

/* May this gate route there? All transitive predecessors and every support phase. */
bool sched_may_route(const struct sched *s, size_t gate, size_t target);

#endif
