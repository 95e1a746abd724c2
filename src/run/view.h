/*
 * view - what people and programs see of a run while it goes on.
 *
 *   lines  one line an event, for pipes and logs
 *   live   on a terminal: the phases in graph order with state, agent, time, iteration
 *          and last progress line, drawn again at each change
 *   json   one JSON object an event on standard output
 *
 * Everything also goes to orchestrator.log as lines.
 */
#ifndef CLIQ_RUN_VIEW_H
#define CLIQ_RUN_VIEW_H

#include "base/outlet.h"
#include "run/run.h"

enum view_form { VIEW_LINES, VIEW_LIVE, VIEW_JSON };

struct view;
/* What nobody reads holds nobody up: it is written when the loop finds that it is taken. */
struct view *view_new(const struct plan *p, enum view_form form, struct loop *l, struct err *e);
void view_free(struct view *v); /* NULL is fine; before the loop */

/* event: "started", "progress", "completed", "error", "routed", "skipped", "retry",
 * "note"; phase SIZE_MAX: the run itself. text NULL: none. */
void view_event(struct view *v, const char *event, size_t phase, const struct sched_phase *state,
                const char *text);
/* Lines are held until then, for the log and for standard output: one write each for all that
 * happened at once. The live picture is drawn at once. */
void view_flush(struct view *v);
/* What must not be missed: on standard error, too, whoever reads the rest. */
void view_warn(struct view *v, const char *text);

/* A run that goes on, in wall time: since when, and until when (0: it has not ended). Without
 * this it began when the view did. */
void view_clock(struct view *v, int64_t began_ms, int64_t ended_ms);
/* A phase as it was left, and the times of its latest attempt; 0: none. */
void view_phase(struct view *v, size_t phase, const struct sched_phase *state, int64_t began_ms,
                int64_t ended_ms);

/* The last words: outcome, where the files are, what to do next. As JSON
 * {"event":"end","status":…,"reason":…,"failed":[names],"untried":[names]}. */
void view_end(struct view *v, const struct sched *s, enum run_status status, const char *reason);
/* A run that ended before: what follows is for who asks now, and no event of it. */
void view_unlog(struct view *v);
/* When all is over: waits for whoever reads standard output, until a signal comes, or so long; -1:
 * for ever. */
void view_drain(struct view *v, int wait_ms);
/* Called about once a second by the loop, so that elapsed times move. */
void view_tick(struct view *v);

#endif
