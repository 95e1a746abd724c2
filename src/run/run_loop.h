/*
 * run_loop - one run in memory, and the functions with which its files change it.
 *
 *   run_pipeline.c a run from its lock to its last line
 *   run_loop.c     the loop: feeds events to the scheduler and performs its actions
 *   run_events.c   what attempts, files, children and the terminal tell becomes events
 *   subrun.c       a team phase: a run below the run, on the same loop
 *   start.c        brings a run to its first event: new, resumed, or from a phase
 *   run_notices.c  tells progress output and notifiers about events
 *   run_sleep.c    ends a run's process while only people are awaited
 *   finish.c       the last notifications, the last processes, the last line of the journal
 *
 * A callback of the loop that feeds events calls run_loop_settle last: only then the journal has
 * the events, and their consequences are started.
 *
 * A team phase is a run of its own (docs/decisions/0160-team-phases.md): plan, scheduler, journal
 * and attempts are those of its frame, and the run above has it in the place of an attempt. So runs
 * form a tree. Loop, lock, panes, terminal, hub and signals of the process are the root's.
 */
#ifndef CLIQ_RUN_RUN_LOOP_H
#define CLIQ_RUN_RUN_LOOP_H

#include "base/flood.h"
#include "base/loop.h"
#include "base/watch.h"
#include "run/attempt.h"
#include "run/hub_publisher.h"
#include "run/journal.h"
#include "run/ledger.h"
#include "run/notify.h"
#include "run/panes.h"
#include "run/phase_leases.h"
#include "run/progress.h"
#include "run/run_signals.h"

enum {
    RUN_LOOP_POLL_MS = 20,   /* between two looks at what has no event */
    RUN_STOPPED_WATCHES = 8, /* that are not closed yet */
};

/* A back-off that is running. */
struct backoff {
    struct run *run;
    size_t phase;
    struct loop_source *timer;
};

/* A start that waits for one of the run's --jobs. */
struct deferred {
    struct run *run;
    struct action act;
};

struct run {
    struct run *root;         /* itself, of the run that the user started */
    struct subrun *sub;       /* of a team phase (subrun.h); NULL: it is the root */
    struct run **kids;        /* one a phase: the latest run of a team phase; NULL: none */
    struct sched_options now; /* root: the present options */
    struct deferred *late;    /* root: the oldest first */
    size_t n_late, cap_late;
    /* what a rerun goes on with, in a team phase: "test"; NULL: nothing */
    const char *below;
    size_t below_phase;
    unsigned below_attempt;
    uint64_t last_id;                           /* root: of the run ids that were made */
    struct watch *stopped[RUN_STOPPED_WATCHES]; /* root: of team phases; NULL: none */
    size_t n_stopped;
    int dir; /* run/ of its frame */
    struct plan *p;
    const struct run_options *o;
    char run_id[64];
    struct sched_options options; /* of a rerun: its event points here */
    struct sched *sched;
    struct journal journal;
    struct loop *loop;
    struct watch watch; /* of signals/ */
    struct loop_source *watching;
    struct watch reviews; /* of reviews/, once people are awaited */
    struct mask mask;     /* root: secrets of the agents' settings and environment */
    struct ledger ledger; /* what its models used */
    struct progress *progress;
    struct attempt_host host;
    struct notifier *notifier;
    struct panes *panes; /* NULL: plain processes */
    struct run_signals signals;
    struct phase_leases leases;
    struct hub_publisher *publisher; /* NULL: there is no store to tell */
    /* one a phase */
    struct attempt **attempts; /* NULL: none */
    struct backoff *waits;
    bool *is_stopped;          /* ACT_STOP was given for its latest attempt */
    unsigned *n_notified;      /* notify lines of its latest attempt */
    unsigned *n_progress;      /* the same of progress */
    struct flood *floods;      /* of progress that is told */
    struct spending *spending; /* of each phase, then of the run (spending.c) */
    ino_t *published;          /* of each gate, the verdict that we wrote last (verdict.h) */
    /* what happened since the last settle */
    struct sched_event *batch;
    size_t n_batch, cap_batch;
    bool is_urgent;         /* something in the batch must be journalled before we go on */
    struct attempt **fresh; /* prepared, to be started after the journal knows */
    size_t n_fresh;
    struct attempt **dead; /* gone; freed when no callback of theirs runs */
    size_t n_dead;
    pid_t *pids;      /* of live attempts and notifiers */
    pid_t *relatives; /* children that we had before the run: none of its business */
    size_t n_relatives;
    bool knows_relatives;
    struct arena texts; /* of the batch */
    bool is_mute;       /* the journal could not be written: it stays as it is, for a resume */
    bool is_cancelled, is_over, is_resumed;
    bool is_asleep;     /* it ends here, and goes on when people have answered (run_sleep.c) */
    bool is_sleepless;  /* that failed once */
    int64_t late_at_ms; /* when notifiers that still run are stopped */
    enum status failed;
    struct err why;
    struct loop_source *tick;
};

/* Calls fn with the run and all runs below it, those that have ended as well. */
void run_loop_each(struct run *r, void (*fn)(void *ctx, struct run *r), void *ctx);

/* run_pipeline.c: all that a run of the tree has for itself; teardown for any state of it. `r` has
 * p, o and root. */
enum status run_pipeline_setup(struct run *r, struct err *e);
void run_pipeline_teardown(struct run *r);

/* run_events.c: of its attempts, its notifiers and its signals/. */
enum status run_events_listen(struct run *r, struct err *e);
/* For the whole tree: of children and the terminal. */
enum status run_events_listen_root(struct run *r, bool is_live, struct err *e);
/* Agents get panes of tmux. */
enum status run_events_show_panes(struct run *r, struct err *e);
/* Tells people a note of the run `ctx`, of a phase or (SIZE_MAX) of the whole. */
void run_events_note(void *ctx, size_t phase, const char *text);

const struct phase *run_loop_phase(const struct run *r, size_t i);
int64_t run_loop_timeout(const struct run *r, size_t i); /* ms, of one attempt */

/* The conversation that the phase's next attempt can go on with; NULL: none. */
const struct usage *run_loop_session(const struct run *r, size_t phase);

/* Gives an event to the scheduler, the journal's next write and the progress output; then performs
 * the scheduler's actions. */
void run_loop_feed(struct run *r, struct sched_event ev);
/* The journal learns what happened; then what it led to is started. */
void run_loop_settle(struct run *r);

void run_loop_perform(struct run *r, const struct action *act);
void run_loop_start(struct run *r, const struct action *act);
void run_loop_end(struct run *r, const struct action *act);
/* The attempt cannot begin, and that is its own fault: its result and its end. */
void run_loop_fail(struct run *r, size_t phase, unsigned attempt, const char *why);
/* What the attempt needs could not be made, and there is none. An error of our own disk ends the
 * run. */
void run_loop_fail_to_prepare(struct run *r, const struct attempt_id *a, enum status s,
                              const struct err *e);
/* Tells of leases that another identity has, a line each; the run goes on without them. Empties
 * `says`. */
void run_loop_tell_refused(struct run *r, struct buf *says);
/* Once its journal is open: attempts are laid out while the journal is on its way to the disk. */
void run_loop_lay_out_ahead(struct run *r);
/* What waits for the journal is forgotten. */
void run_loop_forget(struct run *r);
/* Ends the run: its attempts are stopped. */
void run_loop_cancel(struct run *r);
/* Drops an attempt that did not begin. Only when the run is ending. */
void run_loop_give_up(struct run *r, size_t phase, unsigned attempt);
/* The run cannot go on: says why once, and lets the scheduler end it. */
void run_loop_abort(struct run *r, enum status s, const struct err *why);
/* spending.c: what was told of the budget of a phase, or of the run. */
struct spending {
    bool is_near, is_blind, is_over;
};
/* What the attempt of the phase has used so far, by one of its lines. */
void spending_report(struct run *r, struct attempt *l, const struct json *usage);
/* A budget is used up before the phase begins: the run escalates, and the phase must not begin. */
bool spending_forbids(struct run *r, size_t phase);
/* The run above hears what the models of a team phase have used so far. */
void spending_pass_on(struct run *r);
/* run_notices.c: an event, before what it leads to. */
void run_notices_event(struct run *r, const struct sched_event *ev);
/* Phases that failed and will not be tried again, since the run ends. */
void run_notices_untried(struct run *r);
/* Appends the line "Next: …" (next_step.h). */
void run_notices_next(struct run *r, enum run_status status, struct buf *to);
/* To those of settings.notifications: how the run ended. */
void run_notices_end(struct run *r, enum run_status status, const char *reason);

/* run_sleep.c: at the end of a settle: when only people are awaited, the loop ends, and the run
 * sleeps. */
void run_sleep_try(struct run *r);
/* After the lock was let go: what came in that moment starts the run again. */
void run_sleep_done(struct run *r);

/* start.c: decides what kind of run this is and brings the state to where it goes on. *ended
 * is not RUN_ACTIVE when there is nothing to do. */
enum status start_run(struct run *r, int dir, enum run_status *ended, struct err *e);
struct replay;
/* The same for the run of a team phase: anew, then run_loop_feed(EV_BEGIN); or where its journal
 * left it. */
enum status start_sub(struct run *r, struct err *e);
enum status start_sub_on(struct run *r, struct replay *replay, struct err *e);
/* Goes on with a run that has ended, from "test", or from "sub/test" of a team phase in it. */
enum status start_sub_from(struct run *r, struct replay *replay, const char *from, struct err *e);

/* How a run begins. */
struct run_start {
    enum { START_ANEW, START_ON, START_ENDED } way; /* ended: there is nothing to go on with */
    size_t from;                                    /* go on from here; SIZE_MAX: where it was */
    const char *below;                              /* within that team phase; NULL: all of it */
    bool is_open;                                   /* an unfinished run is there */
};
/* That, from what was asked for and what is past; s is what replay_load returned. Refuses what
 * cannot be; changes nothing. */
enum status start_choose(struct run_start *b, const struct plan *p, const struct run_options *o,
                         const struct replay *replay, enum status s, struct err *e);
/* agent_check.c: ST_OK when the agents are there of all phases that will or may run; `dir` is run/.
 */
enum status agent_check(const struct plan *p, const struct run_start *b, int dir, struct err *e);
/* finish.c: when the scheduler has ended it; *status is how that is told. */
enum status finish_run(struct run *r, enum run_status *status, struct err *e);
/* A run that ended so before: what could not be written then is. */
void finish_again(struct run *r, enum run_status status);
/* signals/_pipeline_status of the frame. */
void finish_status(struct run *r, enum run_status status);
/* Why it ended so; NULL: as it should. */
const char *finish_reason(const struct run *r);

#endif
