/*
 * live - attempts that run: started, heard, timed, stopped, gone.
 *
 * A live attempt tells its owner three things, each once: its result (a terminal line,
 * its death without one, or its time running out), then that its tree is gone.
 *
 * It is started as a process, our child; or, where the host has panes (run/panes.h), in one:
 * then it begins a moment later, when its viewer says so, and a pidfd tells its death. Or a
 * process that has done another one takes it (run/crew.h): then its end is that this one is done
 * with it, too. All else is the same.
 */
#ifndef CLIQ_RUN_LIVE_H
#define CLIQ_RUN_LIVE_H

#include "base/loop.h"
#include "log/log.h"
#include "run/crew.h"
#include "run/panes.h"
#include "run/prepare.h"
#include "run/signal.h"

#define LIVE_GRACE_MS  10000 /* between SIGTERM and SIGKILL */
#define LIVE_LINGER_MS 5000  /* for an agent that completed but does not go */

struct live;

/* What the owner of live attempts provides. */
struct live_host {
    void *ctx;
    struct plan *plan;
    struct loop *loop;
    const char *run_id;
    struct panes *panes; /* NULL: none */
    struct crew *crew;
    /* A line that is not terminal: progress or notify. */
    void (*on_line)(void *ctx, struct live *l, const struct signal_line *line);
    /* The result; line is NULL when it died or timed out; text says how. */
    void (*on_result)(void *ctx, struct live *l, enum outcome outcome,
                      const struct signal_line *line, const char *text);
    /* What people should know of the phase. */
    void (*on_note)(void *ctx, size_t phase, const char *text);
    /* Nothing of it is left: the host forgets it and frees it later, not in this call. */
    void (*on_gone)(void *ctx, struct live *l);
    /* What was told in a callback of the loop's, a timer or a death, can be acted on now. */
    void (*settle)(void *ctx);
    /* The processes that are known to live: *n of them, valid until the next call. */
    const pid_t *(*known)(void *ctx, size_t *n);
};

/* Prepared, not started. The templates are resolved here: ST_INVALID names what is missing. */
enum status
live_new(struct live **out, struct live_host *host, const struct attempt *a, struct err *e);
void live_free(struct live *l); /* never started, or gone */

/* Forgets what an earlier attempt said and writes what this one will read; live_start does, where
 * it was not done before. */
enum status live_lay_out(struct live *l, struct err *e);
enum status live_start(struct live *l, int64_t timeout_ms, struct err *e);
/* After a restart: the attempt may be running, finished, dead, or never begun (then it is
 * made impossible and started again). */
enum status live_resume(struct live *l, int64_t timeout_ms, int64_t timeout_left_ms, struct err *e);

/* After a restart: its result is known, but its processes may still be there. */
enum status live_resume_rest(struct live *l, struct err *e);

/* After live_resume: one that runs on gets a pane again, where there are panes. */
void live_show(struct live *l);

void live_stop(struct live *l);                           /* TERM, grace, KILL; on_gone follows */
void live_hurry(struct live *l);                          /* it is being stopped: no more grace */
void live_look(struct live *l);                           /* something changed in signals/ */
bool live_writes(const struct live *l, const char *name); /* is that file of signals/ its own? */
void live_begun(struct live *l); /* some viewer said something: was it this one's? */
bool live_owns(const struct live *l, pid_t pid);
void live_exited(struct live *l, int wait_status); /* its process was reaped by us */
void live_check_gone(struct live *l);              /* some child of ours died: anything left? */

const struct attempt *live_attempt(const struct live *l);
pid_t live_pid(const struct live *l);      /* 0: not started */
bool live_completed(const struct live *l); /* its result was a complete line */

#endif
