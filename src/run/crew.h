/*
 * crew - processes of our own agents that stay for the next attempt.
 *
 * `cliq agent exec` has little to do but to run a command, and to come and to go would take it
 * longer than all else: a process, a program, its memory, their end. So it begins as any agent does
 * (proc/proc.h), with one end of a socket; when its attempt is done it says so and waits, and the
 * next attempt of that agent is sent there (run/member.h).
 *
 * What an attempt is does not change: its own attempt file, input, output and environment, alone
 * in its session while it runs. Who is done is rested, that is given another one, only when nothing
 * of the last attempt is left; else it is dismissed, and ends as any agent does. When we die, who
 * works finishes its attempt, and who waits ends.
 */
#ifndef CLIQ_RUN_CREW_H
#define CLIQ_RUN_CREW_H

#include "base/loop.h"
#include "proc/proc.h"

struct crew;
struct member;

/* After what was told in a callback of the loop's, `settle` is called. NULL without memory. */
struct crew *crew_new(struct loop *loop, loop_fn *settle, void *ctx);
void crew_end(struct crew *c);  /* who waits is ended */
void crew_free(struct crew *c); /* the same; who works goes on, and ends by itself */

/*
 * Starts an attempt, by one who waits or by a new process. *id is its process, *out its member,
 * NULL for one that does not stay; it
 * calls on_done when it is done with the attempt. Then crew_rest or crew_dismiss is to
 * be called, at the latest when the attempt is gone. As proc_spawn, but for ST_CONFLICT, which is
 * also said when nobody knows whether it has begun.
 */
enum status crew_start(struct crew *c, const struct proc_spec *spec, loop_fn *on_done, void *ctx,
                       struct member **out, struct proc_id *id, struct err *e);
void crew_expect(struct member *m);  /* its terminal line is there: it will soon be done */
void crew_rest(struct member *m);    /* it takes the next attempt */
void crew_dismiss(struct member *m); /* it ends when it is done; NULL is fine */

/* A child of ours was reaped. */
void crew_exited(struct crew *c, pid_t pid);
/* All of them that were not reaped: crew_count processes, written to `to`. */
size_t crew_count(const struct crew *c);
void crew_pids(const struct crew *c, pid_t *to);

#endif
