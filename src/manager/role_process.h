/*
 * role_process - one attempt of a role: its files, its process, and the message that it amounts to.
 *
 *     attempts/<visit>.<n>/
 *       message.json   the message that started it: standard input of a command
 *       out            what a command said: the body of its message
 *       log            its errors; all output of an agent
 *       exit           the exit code of a command, written by its shell when it has ended
 *       process        made by the child (proc/proc.h): an attempt runs at most once
 *     and for an agent, whose state directory this is: req_spec.md, roles/, channels/, signals/
 *     with the line that ends its phase, agent.json: its AgentMessage
 *
 * Everything that decides what the attempt amounts to is in these files, so a manager that comes
 * later finds the same.
 *
 *     what happened                      message
 *     a command ended with 0, work       done: its output
 *     the same, review or triage         by its verdict: pass, fail; without one: error
 *     a command ended with 1 to 128      error
 *     an agent completed                 done: its handoff; of a gate: its verdict
 *     an agent failed                    error
 *     killed, or died without a word     none: a crash
 *
 * Order of calls: role_process_start or role_process_adopt; at the callback, when is_gone,
 * role_process_result; role_process_release.
 *
 * Tests: test/scenario/room_run.bats test/scenario/room_resume.bats
 */
#ifndef CLIQ_MANAGER_ROLE_PROCESS_H
#define CLIQ_MANAGER_ROLE_PROCESS_H

#include "manager/players.h"
#include "proc/child_loop.h"

#define ROLE_GRACE_MS 10000 /* between SIGTERM and SIGKILL */

/* What an attempt is for. Borrowed while it lives. */
struct role_task {
    const struct rooms *rooms;
    struct players *players;
    const struct room_config *config;
    const struct lifecycle *lifecycle;
    size_t state; /* of the life cycle */
    struct player player;
    unsigned visit, n;
    int room_dir;
};

struct role_process {
    struct role_task task;
    struct arena arena;
    char *dir;  /* the attempt's directory, absolute */
    char *name; /* the same below the room: "attempts/3.1" */
    char *token;
    struct child child;
    struct child_watch watch;
    bool is_started;
};

/* The message that started it as a line of JSON, and what was said before, for agents. */
struct role_input {
    const struct buf *trigger;
    const struct buf *talk; /* Markdown */
};

/* Makes the files and starts it. fn is called when it is gone. ST_CONFLICT: it was started before.
 */
enum status
role_process_start(struct role_process *p, const struct role_task *t, const struct role_input *in,
                   struct loop *l, loop_fn *fn, void *ctx, struct err *e);
/* Takes over what an earlier manager started; fn is called soon when it has ended already.
 * ST_NOT_FOUND: it never began, and never will. */
enum status role_process_adopt(struct role_process *p, const struct role_task *t, struct loop *l,
                               loop_fn *fn, void *ctx, struct err *e);
void role_process_stop(struct role_process *p);
bool role_process_is_gone(const struct role_process *p);
void role_process_release(struct role_process *p);

/* The type of its message, a constant or in p's arena, and the body. NULL: it crashed, and `body`
 * says how. */
const char *role_process_result(struct role_process *p, struct buf *body);
/* The same of an attempt that ended before this manager was there. */
const char *role_process_past(struct role_process *p, const struct role_task *t, struct buf *body,
                              struct err *e);

/* role_agent.c */
enum status role_agent_write(struct role_process *p, const struct role_input *in,
                             struct proc_spec *spec, struct err *e);
const char *role_agent_result(struct role_process *p, struct buf *body);
/* The verdicts that a state can have, besides done and error: "PASS". For role_agent.c, too. */
size_t role_verdicts(struct arena *a, const struct life_state *s, const char ***words,
                     const char ***types);

#endif
