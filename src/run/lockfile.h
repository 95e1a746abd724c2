/*
 * lockfile - run/lock: one orchestrator a frame.
 *
 * Held with flock for the life of the process, so it goes with its holder whatever
 * happens; the pid in it is only for people and for `cliq cancel`.
 */
#ifndef CLIQ_RUN_LOCKFILE_H
#define CLIQ_RUN_LOCKFILE_H

#include "run/frame.h"

#include <sys/types.h>

/* *fd holds the lock until it is closed. ST_CONFLICT names the pid that has it. */
enum status lockfile_take(const struct frame *f, int *fd, pid_t *holder, struct err *e);
/* Does somebody drive a run here? Asking disturbs nobody. */
bool lockfile_is_held(const struct frame *f);

#endif
