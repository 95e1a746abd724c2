/*
 * run - carrying a team's work through its phases: `cliq run`.
 *
 *     workflow.yml -> team -> sched --actions--> run_loop -> attempt -> agent
 *                               ^                  |-> channels/a--b/handoff.json
 *                               `---- events ------'<- signals/<phase>.jsonl, pidfds, timers
 *
 * sched decides (pure), journal remembers (durable), run_loop performs. What an event
 * leads to is journalled in one write with it, before any process is started.
 *
 * Files: plan.c what a run knows before it begins · phase_scope.c values of a phase's
 * templates · attempt_files.c one attempt's message, prompt and environment · attempt.c attempts
 * that run · panes.c panes that show attempts · run_loop.c the loop, start.c and finish.c its two
 * ends · agent_check.c what it would do · verdict.c what gates decide · notify.c who is told ·
 * progress.c, live_view.c what people see · next_step.c the command that comes after a run ·
 * ledger.c, budget.c, spending.c what models used, and may · run_signals.c, hub_publisher.c what
 * the hub is told · scrub.c secrets removed at the end · replay.c the journal replayed · history.c
 * the runs before · cancel.c the end from outside.
 */
#ifndef CLIQ_RUN_RUN_H
#define CLIQ_RUN_RUN_H

#include "context/state_dir.h"
#include "run/dag.h"
#include "run/sched.h"
#include "team/agent.h"

#include <sys/types.h>

struct run_options {
    const char *agent; /* of phases that name none; NULL: the run's so far, settings, cursor */
    unsigned jobs;     /* phases at a time; 0: as many as are ready */
    bool has_jobs;     /* that was given: a run that is gone on with keeps its own otherwise */
    bool is_tmux;      /* panes show the agents */
    bool is_headless;  /* lines, one an event, on a terminal, too */
    bool is_resume;    /* go on with an unfinished run */
    const char *from;  /* run this phase and all downstream of it, keep the rest */
    bool is_forced;    /* start anew although an unfinished run exists */
    bool is_fail_fast; /* of a run that is gone on with: it becomes so, or stays as it is */
    bool is_json;      /* events as JSON lines on standard output */
    /* NULL: none. Called once the run has begun: its first events are in the journal, and its first
     * agents are started. Nothing is printed then but orchestrator.log. */
    void (*on_begun)(void *ctx, const char *run_id);
    void *ctx;
    bool is_dry;               /* print the plan, run nothing */
    const char *const *inputs; /* "NAME=VALUE", over inputs.json, which gets them when it begins */
    size_t n_inputs;
};

/* Why the agent of a phase cannot be started. */
struct plan_lack {
    enum status status; /* ST_OK: it can */
    const char *why;
};

/* Everything a run knows before it begins. */
struct plan {
    /* of a team phase: the plan whose phase it is, and which; NULL: of the run itself */
    struct plan *above;
    size_t above_phase;
    const char *way; /* "" of the run itself; "build/" of its phase build, before names in it */
    struct plan *
        *subs; /* one a phase: the plan of the team that it runs; NULL: no phase runs one */
    struct state_dir state;
    struct team team;
    struct dag *dag;
    struct settings settings;
    struct arena arena;
    const struct json *agents_json; /* NULL: none */
    const struct json *inputs; /* every declared one; optional ones that were not given: ""; of a
                                * team phase: from team_phase_prepare on */
    const char *new_inputs;    /* the next text of inputs.json; NULL: it stays */
    struct agent *agents;      /* one a phase, in team order */
    struct plan_lack *lacks;   /* the same; of those only the name is known */
    bool is_lacking;           /* one of them says why */
    char *instance_id;         /* of the project: cliq-a1b2c3 */
    char *req_key;
    const char *agent; /* --agent, given now or when the run began; NULL: none */
    const char *note;  /* an option that changes nothing, for standard error; NULL: none */
    char workflow_hash[33];
};

/* Loads and checks everything. Problems of the workflow are said on standard error;
 * ST_FAILED then. ST_NOT_FOUND: no project, or nothing assembled. A run that begins needs the
 * agents of all phases; of a dry run, and of a run that is gone on with, those that are not there
 * are in `lacks`. */
enum status plan_load(struct plan *p, const struct run_options *o, struct err *e);
/* Are the programs there that the team needs? plan_load checks it, but for a dry run. */
enum status plan_check_tools(const struct plan *p, struct err *e);
void plan_release(struct plan *p);

/* Writes the inputs that were given for this run. */
enum status plan_write_inputs(const struct plan *p, struct err *e);

/* Makes every directory that a run needs: one a channel, and both directions between a gate
 * and where it can route to. A fresh run finds nothing of an earlier one there. */
enum status plan_make_room(const struct plan *p, bool is_fresh, struct err *e);

/* The plan of the team that the phase runs; NULL: an agent does its work. */
struct plan *plan_sub(const struct plan *p, size_t phase);
/* What a team that is a phase gets from the phases before it, and hands over to those behind it,
 * are channels of its own: in--<root>, <leaf>--out. */
#define PLAN_IN  "in"
#define PLAN_OUT "out"
/* The first phases of a team that is a phase (they wait for nothing of it), and the last ones
 * (nothing waits for them). */
bool plan_is_root(const struct plan *p, size_t phase);
bool plan_is_leaf(const struct plan *p, size_t phase);
/* Appends "build/test": the phase as people name it from the run itself. */
void plan_phase_path(const struct plan *p, size_t phase, struct buf *to);

/* The time limit of an attempt of the phase, in ms; 0: none: it waits for people, or its own phases
 * have theirs. */
int64_t plan_timeout_ms(const struct plan *p, size_t phase);

/* Runs, resumes or retries; *end is how it ended: with RUN_FAILED, e tells why. A second
 * orchestrator is ST_CONFLICT. */
enum status
run_pipeline(struct plan *p, const struct run_options *o, enum run_status *end, struct err *e);

/* Which phases would run now, if all went well, with --resume or --from: runs[i] is set for those,
 * the rest is left as it was (false). *ended is not RUN_ACTIVE when --resume finds an ended run.
 * Refuses what run_pipeline would, but for the lock and for agents that are missing; changes
 * nothing. */
enum status run_preview(const struct plan *p, const struct run_options *o, bool *runs,
                        enum run_status *ended, struct err *e);
/* Are the agents there of these phases, and of those that a gate among them may send work to? Adds
 * these to runs. */
enum status run_check_agents(const struct plan *p, bool *runs, struct err *e);

/* The run that the journal tells of, whatever became of the workflow. */
struct run_latest {
    char id[64];
    bool has_end;
    enum run_status end;
    bool is_damaged; /* lines of its journal cannot be read: --resume refuses */
};
/* ST_NOT_FOUND: nothing has run here. */
enum status run_latest(const struct state_dir *f, struct run_latest *out, struct err *e);

struct run_cancelled {
    bool was_active;
    enum run_status end; /* how it ended: it may have been faster than we */
    bool is_unwritten;   /* all is stopped, but the journal does not say so: why */
    struct err why;
};

/* Ends an active run from another process: signals the holder of the lock or, when none
 * lives, stops what still runs and writes CANCELLED itself. Needs no workflow, and no journal
 * that can be read. on_wait is called once when that takes longer than a second: what it waits
 * for. */
enum status run_cancel(const struct state_dir *f, void (*on_wait)(const char *what),
                       struct run_cancelled *c, struct err *e);

/* Stops every process that the attempts of an orchestrator which died left behind. The
 * caller holds the lock. run_id NULL: not known. */
enum status run_stop_leftovers(const struct state_dir *f, const char *run_id, struct err *e);
/* How many processes of attempts run, whatever started them. */
size_t run_count_leftovers(const struct state_dir *f);
/* Removes the empty cgroups of attempts. */
void run_sweep_leftovers(const struct state_dir *f);

#endif
