/*
 * progress - the output of a run while it goes on, for people and programs.
 *
 *   lines  one line an event, for pipes, logs and --headless
 *   live   on a terminal: the phases in graph order with state, agent, time, iteration
 *          what its models used, and last progress line, drawn again at each change (live_view.h)
 *   json   one JSON object an event on standard output
 *   quiet  nothing, except how a run ended before
 *
 * Everything also goes to orchestrator.log as lines.
 */
#ifndef CLIQ_RUN_PROGRESS_H
#define CLIQ_RUN_PROGRESS_H

#include "base/async_out.h"
#include "run/ledger.h"
#include "run/run.h"

enum progress_form { PROGRESS_LINES, PROGRESS_LIVE, PROGRESS_JSON, PROGRESS_QUIET };

struct progress;
/* Output never blocks the loop: text that the reader does not take is kept and written later. */
struct progress *
progress_new(const struct plan *p, enum progress_form form, struct loop *l, struct err *e);
/* Shows what models use; the ledger must outlive it. */
void progress_ledger(struct progress *v, const struct ledger *l);
void progress_free(struct progress *v); /* NULL is fine; before the loop */
/* The part for the team that a phase runs: its phases are shown as build/test, in the output of the
 * whole run. Its rows begin anew with each call. It is freed with `above`. NULL: out of memory. */
struct progress *progress_below(struct progress *above, size_t phase, const struct plan *sub);

/* Opens orchestrator.log, where everything goes as lines. Without this call, the first flush
 * opens it: a run that begins anew moves the log of the run before it first (history.h). */
void progress_open_log(struct progress *v);

/* event: "started", "progress", "completed", "error", "routed", "skipped", "retry",
 * "note"; phase SIZE_MAX: the run itself. text NULL: none. */
void progress_event(struct progress *v, const char *event, size_t phase,
                    const struct sched_phase *state, const char *text);
/* Lines are held until then, for the log and for standard output: one write each for all that
 * happened at once. The live picture is drawn at once. */
void progress_flush(struct progress *v);
/* A warning that people must see: it also goes to standard error. */
void progress_warn(struct progress *v, const char *text);

/* A run that goes on, in wall time: since when, and until when (0: it has not ended). Without
 * this it began when the view did. */
void progress_clock(struct progress *v, int64_t began_ms, int64_t ended_ms);
/* A phase as it was left, and the times of its latest attempt; 0: none. */
void progress_phase(struct progress *v, size_t phase, const struct sched_phase *state,
                    int64_t began_ms, int64_t ended_ms);

struct progress_end {
    enum run_status status;
    const char *reason; /* NULL: none */
    const char *next;   /* the line "Next: …" (next_step.h), or "" */
};
/* The last words: outcome, where the files are, the one command to run next (next_step.h). As JSON
 * {"event":"end","status":…,"reason":…,"usage":{…},"failed":[names],"untried":[names],"next":…}. */
void progress_end(struct progress *v, const struct sched *s, const struct progress_end *end);
/* The run ended before: further output answers this command and is not logged. */
void progress_unlog(struct progress *v);
/* At the end: waits until standard output is read, a signal arrives, or the time is up; -1:
 * for ever. */
void progress_drain(struct progress *v, int wait_ms);
/* Called about once a second by the loop, so that elapsed times move, and when the terminal has
 * another size. */
void progress_tick(struct progress *v);

#endif
