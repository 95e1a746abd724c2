/*
 * notify - notifications about a run, delivered by agents while the run goes on.
 *
 * Three sources, one shape: an agent's `notify` line {agent, channel, event, payload}; the
 * lists of settings.notifications (on_start, on_phase_start, on_phase_complete, on_complete,
 * on_escalate, on_cancel: ["slack:ops"]); a phase's own `notify` map in team.yml. Each
 * starts the named agent with a notify message whose payload.notifications is
 *
 *     [{"event":"on_escalate","channel":"ops","phase_name":"review","reason":"…",…}]
 *
 * A receiver of a phase's map that is an object may have texts with template variables, which are
 * expanded as in the phase's other fields; where one cannot be, the text goes out as it is.
 *
 * next, at the end of a run that did not complete, is the command to run next. outcome is a gate's
 * verdict, how the run ended, or "stopped": an on_error of a phase that the ending run stopped
 * itself.
 *
 * Nothing here ever fails a run: what goes wrong becomes a note in orchestrator.log, and a
 * notification that was not delivered also one in the journal, which `cliq status` shows. Its
 * reason is the last line of the agent's log.
 *
 * Every notification has an id made from what it is about, and its child claims a file of
 * that name (run/attempts/_notify-<agent>-<id>): a resumed run, which sees the same lines
 * again, does not deliver them again.
 *
 * A few run at a time, the others wait in order; beyond NOTIFY_WAITING_MAX they are dropped.
 */
#ifndef CLIQ_RUN_NOTIFY_H
#define CLIQ_RUN_NOTIFY_H

#include "run/run.h"

#define NOTIFY_AT_A_TIME   8
#define NOTIFY_WAITING_MAX 1000

struct notifier;

struct notifier_host {
    void *ctx;
    struct plan *plan;
    struct mask *mask; /* gets the secrets of the agents that it starts */
    const char *run_id;
    /* phase SIZE_MAX: none */
    void (*on_note)(void *ctx, size_t phase, const char *text);
    /* "notify slack:ops failed (on_complete): why" */
    void (*on_failure)(void *ctx, size_t phase, const char *text);
};

/* Something that the run itself tells. */
struct notify_event {
    const char *name;   /* "on_phase_start"; of a phase's own map: "on_start" */
    size_t phase;       /* SIZE_MAX: the run */
    unsigned number;    /* with name and phase: which one it is, in all lives of this run */
    unsigned iteration; /* gates; 0: none */
    const char *outcome, *reason; /* NULL: none */
    const char *next;             /* the command to run next (next_step.h); NULL: none */
};

struct notifier *notifier_new(const struct notifier_host *host); /* NULL without memory */
void notifier_free(struct notifier *n);                          /* NULL is fine */

/* An agent's line: the k-th of that attempt, from 1. */
void notifier_line(struct notifier *n, size_t phase, unsigned attempt, unsigned k,
                   const struct json *result);
void notifier_run_event(struct notifier *n, const struct notify_event *ev);   /* settings */
void notifier_phase_event(struct notifier *n, const struct notify_event *ev); /* team.yml */

/* Starts what waits, as far as there is room. */
void notifier_pump(struct notifier *n);
/* A child was reaped: true when it was one of ours. */
bool notifier_exited(struct notifier *n, pid_t pid, int wait_status);
/* After a restart: those of the orchestrator before us that still run. */
void notifier_adopt(struct notifier *n);
/* Forgets adopted ones that ended; true when nothing waits or runs. */
bool notifier_is_idle(struct notifier *n);
/* Drops what waits and signals what runs. */
void notifier_stop(struct notifier *n, int signo);
/* Appends the pids of what runs to `to`; at most notifier_count of them. */
size_t notifier_pids(const struct notifier *n, pid_t *to);
size_t notifier_count(const struct notifier *n);

#endif
