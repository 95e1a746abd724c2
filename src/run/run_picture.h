/*
 * run_picture - a run as its files tell it, for what shows runs: the commands status, runs and
 * graph, and the tools of MCP.
 *
 * The run is the present one (.cliq/) or one of .cliq/runs/ (run/history.h): both are a state_dir.
 *
 * Order of calls: run_picture_load, then anything, run_picture_release whatever was returned.
 *
 *     run_picture.c       loads, and answers one question at a time
 *     run_picture_json.c  all of it as JSON
 *
 * Tests: test/scenario/pipeline_history.bats test/scenario/pipeline_status.bats
 */
#ifndef CLIQ_RUN_RUN_PICTURE_H
#define CLIQ_RUN_RUN_PICTURE_H

#include "run/replay.h"
#include "run/run.h"
#include "run/sleeping.h"
#include "run/workflow.h"
#include "team/settings.h"

struct run_picture {
    const struct state_dir *state; /* borrowed */
    struct workflow workflow;
    struct replay replay;
    struct settings settings; /* for the prices of models */
    bool is_driven;           /* an orchestrator lives, or the run sleeps */
    bool is_asleep;           /* people are awaited, without a process (run/sleeping.h) */
    struct sleeping sleep;    /* then */
    int64_t now_ms;           /* wall time, when the run was looked at */
    /* one a phase: the run of the team that its latest attempt runs, or ran; NULL: no phase has one
     */
    struct run_picture **subs;
    struct state_dir frame; /* of such a run: its state; else dir -1 */
};

/* ST_NOT_FOUND: nothing has run there. ST_FAILED: neither journal nor workflow can be used. */
enum status run_picture_load(struct run_picture *p, const struct state_dir *f, struct err *e);
void run_picture_release(struct run_picture *p);

/* The run of a team phase's latest attempt; NULL: it has none. */
struct run_picture *run_picture_sub(const struct run_picture *p, size_t phase);

/* RUNNING, ASLEEP, INTERRUPTED, or how the run ended. */
const char *run_picture_state(const struct run_picture *p);
/* Of a phase; "cancelled" for one that was at work when the run was cancelled. */
const char *run_picture_phase_state(const struct run_picture *p, size_t phase);
/* The agent of its latest attempt, else the one that the workflow names; NULL: not known. */
const char *run_picture_agent(const struct run_picture *p, size_t phase);
/* How long its latest attempt took, or has taken so far; -1: it has none. */
int64_t run_picture_phase_ms(const struct run_picture *p, size_t phase);
/* Up to now, to the end, or, of a run that was cut off, to its last event. */
int64_t run_picture_ms(const struct run_picture *p);
/* When the agent at work in it last wrote a status line or to its log; 0: none is at work. */
int64_t run_picture_heard_ms(const struct run_picture *p, size_t phase);
/* The phase that it waits for because their files overlap; NULL: it does not. */
const char *run_picture_files_holder(const struct run_picture *p, size_t phase);
/* Appends the last progress message of its latest attempt, as the agent wrote it; nothing: none. */
void run_picture_progress(const struct run_picture *p, size_t phase, struct buf *to);
/* The use of its models, over all attempts; a running attempt counts with its last report. */
struct usage run_picture_phase_usage(const struct run_picture *p, size_t phase);
struct usage run_picture_usage(const struct run_picture *p); /* of all phases */
/* Appends the line "Next: …" of the present run when it has ended, or was cut off. Commands act on
 * the present run only, so there is none for an earlier one. */
void run_picture_next(const struct run_picture *p, struct buf *to);
/* Appends it as one line of JSON. `attach`: the command that shows its panes; "": there are none.
 */
void run_picture_json(const struct run_picture *p, const char *attach, struct buf *to);

#endif
