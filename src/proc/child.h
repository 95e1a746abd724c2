/*
 * child - a child process: started, heard, timed, and stopped with every process it started.
 *
 * The one supervisor of this program: attempts of phases, shell commands, woken agents, notifiers,
 * probes of interpreters and calls of tmux are children.
 *
 *                 limit, child_stop             grace_ms over
 *     RUNNING --------------------> TERM --------------------> KILL
 *      |   \                         ^ |                          |
 *      |    `----> HUP --------------' |                          | the tree is gone,
 *      |   hangup   | hangup_ms over   | the tree is gone         | or kill_ms over
 *      v            v                  v                          v
 *    GONE <--------------------------------------------------------
 *
 * child_hangup sends SIGHUP first, as a terminal does that a person closes. HUP, TERM and KILL
 * signal the whole tree (proc.h): the process, its group or session, descendants, and
 * whatever carries the child's token in its environment. A process that leaves the session, loses
 * its parent or ignores SIGTERM is still stopped. A process that ended by itself is GONE at once,
 * and what it left behind runs on: a shell command may start a server. With is_whole_tree it is
 * GONE when nothing is left; until then has_exited tells that the process itself ended.
 *
 * Three drivers share one state machine, child_step():
 *   - blocking: child_run(), or child_start() and child_wait(), which also returns after a while;
 *   - on a loop: proc/child_loop.h;
 *   - an owner that is called often enough calls child_step() itself (run/notify.c).
 *
 *     struct child c;
 *     struct child_spec spec = { .proc = { .argv = argv }, .keep = 4096, .limit_ms = 5000 };
 *     s = child_run(&c, &spec, e);      // ST_OK: it ran; c tells how it ended
 *     if (!s && !c.is_timeout && child_exit_code(&c) == 0)
 *         puts(c.output.p);
 *     child_release(&c);
 *
 * Order of calls: child_start, child_adopt or child_run; step, wait, stop in any mix; child_release
 * on any state, twice too. Zero is an empty child (NONE), and so is one that could not be started.
 * Ownership: the caller owns the struct, which must not move while it is on a loop. Of the spec
 * only on_output, may_have_left, ctx and token are used after the start: the token must outlive the
 * child.
 *
 * Errors: only a failed start is an error, as proc_spawn says it. How a process ended is a result.
 * child_release of a child that is not GONE leaves its processes alone, and does not reap it.
 *
 * Threads: each child belongs to one thread. An owner that reaps all children itself (proc_reap)
 * gives the wait status to child_reaped().
 *
 * Tests: test/unit/test_child.c
 */
#ifndef CLIQ_PROC_CHILD_H
#define CLIQ_PROC_CHILD_H

#include "base/buf.h"
#include "proc/proc.h"

enum child_state { CHILD_NONE, CHILD_RUNNING, CHILD_HUP, CHILD_TERM, CHILD_KILL, CHILD_GONE };

struct child_spec {
    struct proc_spec proc; /* env NULL: ours */
    /* Standard input, copied into memory that the child reads as a file; NULL: proc.in. */
    const char *input;
    size_t input_len;
    /* Captured output: the last `keep` bytes are in child.output. 0: it goes to proc.out. */
    size_t keep;
    bool is_err_apart;                                       /* errors are not captured */
    void (*on_output)(void *ctx, const char *p, size_t len); /* each captured piece; or NULL */
    /* CLIQ_ATTEMPT in proc.env, which marks the tree. NULL: the child gets a CLIQ_CHILD instead. */
    const char *token;
    int64_t limit_ms;   /* from the start until it is stopped; 0: none */
    int64_t hangup_ms;  /* from SIGHUP of child_hangup to SIGTERM; 0: no SIGHUP */
    int64_t grace_ms;   /* from SIGTERM to SIGKILL; 0: SIGKILL at once */
    int64_t kill_ms;    /* from SIGKILL until the rest of a tree is given up; 0: never */
    bool is_whole_tree; /* it is GONE when its tree is, however it ended */
    /* A cheap question before /proc is searched for the rest of the tree; or NULL. */
    bool (*may_have_left)(void *ctx);
    void *ctx;
};

struct child {
    enum child_state state;
    struct proc_id id;
    bool has_exited; /* the process itself */
    bool has_status; /* wait_status is known: not of an adopted one that another process reaped */
    bool is_timeout; /* its limit was reached */
    bool is_cut;     /* output was longer than `keep` */
    int wait_status;
    struct buf output; /* what was captured; p is NULL when nothing was */

    /* private */
    struct child_spec spec;
    struct proc_seen seen;
    char mark[64]; /* CLIQ_CHILD; "": the token marks it */
    bool is_adopted;
    int pidfd, out, hold; /* -1: none. hold: the write end of out, so that it never tells an end */
    int64_t until_ms;     /* the end of this state */
    int64_t poll_ms;      /* until the rest of the tree is looked for again */
};

enum status child_start(struct child *c, const struct child_spec *spec, struct err *e);
/* Supervises a process that an earlier life of this program started: its id is in an attempt
 * file. Of the spec's proc nothing is used. */
void child_adopt(struct child *c, const struct child_spec *spec, const struct proc_id *id);
/* Starts it and waits until it is GONE. */
enum status child_run(struct child *c, const struct child_spec *spec, struct err *e);
void child_release(struct child *c);

/* Waits until it is GONE, at most `ms` (-1: no bound); true: it is. */
bool child_wait(struct child *c, int64_t ms);
/* Stops it: SIGTERM, grace, SIGKILL. What is being stopped or GONE stays as it is. */
void child_stop(struct child *c);
/* Stops it as a closed terminal does: SIGHUP first, then like child_stop. */
void child_hangup(struct child *c);
/* child_stop without further grace. */
void child_kill(struct child *c);

/* Takes its output, looks whether it ended, and does what is due. Never blocks. */
enum child_state child_step(struct child *c);
/* When to step again at the latest, even if neither pidfd nor out is readable; -1: no need. */
int64_t child_due_ms(const struct child *c);
/* Readable once the process ended, for owners that poll; -1: none, step when child_due_ms says. */
int child_end_fd(const struct child *c);
/* The owner reaped the process. */
void child_reaped(struct child *c, int wait_status);

/* As a shell tells it: 128 + n for a signal; -1: not known. */
int child_exit_code(const struct child *c);

#endif
