/*
 * attempt - an attempt that runs: started, heard, timed, stopped, gone.
 *
 * A live attempt tells its owner two things, each once: its result (a terminal line, its death
 * without one, its time running out, its pane closed), then that its tree is gone.
 *
 * It is a process of its own, a child (proc/child.h), which an orchestrator that comes later
 * adopts. Where the host has panes (run/panes.h), one shows its log; a person who closes that pane
 * ends the attempt: its tree gets SIGHUP, a moment later SIGTERM, then SIGKILL.
 *
 * One that waits for people (agents.def: is_patient) is parked when its process has ended: the
 * attempt runs on without a process, and gets another one when its review or the time asks for it
 * (run/parked.h).
 *
 * Tests: test/scenario/pipeline_*.bats test/scenario/review.bats
 */
#ifndef CLIQ_RUN_ATTEMPT_H
#define CLIQ_RUN_ATTEMPT_H

#include "base/loop.h"
#include "base/mask.h"
#include "context/status_line.h"
#include "log/log.h"
#include "run/attempt_files.h"
#include "run/panes.h"

#define ATTEMPT_GRACE_MS  10000 /* between SIGTERM and SIGKILL */
#define ATTEMPT_LINGER_MS 5000  /* for an agent that completed but does not go */
#define ATTEMPT_HANGUP_MS 1000  /* between SIGHUP and SIGTERM, when its pane was closed */

struct attempt;

/* Callbacks and data of the owner of attempts. */
struct attempt_host {
    void *ctx;
    struct plan *plan;
    const struct state_dir *reviews; /* whose reviews/ its gates use: .cliq/ of the run */
    struct loop *loop;
    const char *run_id;
    struct panes *panes; /* NULL: none */
    struct mask *mask;   /* secrets that lines and reasons must not tell; gets those of attempts */
    /* A line that is not terminal: progress or notify. */
    void (*on_line)(void *ctx, struct attempt *l, const struct status_line *line);
    /* The result; line is NULL when it died, timed out or its pane was closed; text
     * says how. */
    void (*on_result)(void *ctx, struct attempt *l, enum outcome outcome,
                      const struct status_line *line, const char *text);
    /* A note for people about the phase. */
    void (*on_note)(void *ctx, size_t phase, const char *text);
    /* Nothing of it is left: the host forgets it and frees it later, not in this call. */
    void (*on_gone)(void *ctx, struct attempt *l);
    /* Called at the end of a loop callback that reported something: the owner may act on it now. */
    void (*settle)(void *ctx);
    /* attempt_look_review is called from now on when .cliq/reviews/ changes; false: it cannot be.
     */
    bool (*watch_reviews)(void *ctx);
    /* The processes that are known to live: *n of them, valid until the next call. */
    const pid_t *(*known)(void *ctx, size_t *n);
};

/* Prepared, not started. The templates are resolved here: ST_INVALID names what is missing. */
enum status attempt_new(struct attempt **out, struct attempt_host *host, const struct attempt_id *a,
                        struct err *e);
void attempt_free(struct attempt *l); /* never started, or gone */

/* Forgets what an earlier attempt said and writes what this one will read; attempt_start does,
 * where it was not done before. */
enum status attempt_lay_out(struct attempt *l, struct err *e);
enum status attempt_start(struct attempt *l, int64_t timeout_ms, struct err *e);
/* After a restart: the attempt may be running, finished, dead, or never begun (then it is
 * made impossible and started again). */
enum status
attempt_resume(struct attempt *l, int64_t timeout_ms, int64_t timeout_left_ms, struct err *e);

/* After a restart: its result is known, but its processes may still be there. */
enum status attempt_resume_rest(struct attempt *l, struct err *e);

/* After attempt_resume: one that runs on gets a pane again, where there are panes. */
void attempt_show(struct attempt *l);

/* Its result is the error `why`, now, and it is stopped. Nothing when it has a result. */
void attempt_end(struct attempt *l, const char *why);
void attempt_stop(struct attempt *l); /* TERM, grace, KILL; on_gone follows */
void attempt_kill(struct attempt *l); /* attempt_stop without further grace */
void attempt_look(struct attempt *l); /* something changed in signals/ */
void attempt_look_review(struct attempt *l, const char *name); /* that file changed; NULL: any */
bool
attempt_writes(const struct attempt *l, const char *name); /* is that file of signals/ its own? */
bool attempt_owns(const struct attempt *l, pid_t pid);
void attempt_reaped(struct attempt *l, int wait_status); /* the host reaped its process */
void attempt_check_gone(struct attempt *l); /* some child of ours died: anything left? */

const struct attempt_id *attempt_id_of(const struct attempt *l);
pid_t attempt_pid(const struct attempt *l);       /* 0: not started */
bool attempt_is_waiting(const struct attempt *l); /* for people, without a process */
/* Of one that waits so: when it has to be looked at, in wall time. */
int64_t attempt_due_ms(const struct attempt *l);
bool attempt_completed(const struct attempt *l); /* its result was a complete line */
/* A person closed its pane, or attempt_end was called: it is not tried again. */
bool attempt_was_ended(const struct attempt *l);
/* In on_result: what its pane says of it, if that is more than the outcome: "PASS". */
void attempt_set_verdict(struct attempt *l, const char *text);

#endif
