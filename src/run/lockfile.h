/*
 * lockfile - run/lock: one orchestrator a frame.
 *
 * Held with flock for the life of the process, so it goes with its holder whatever
 * happens; what is in it, "4711 run\n", is only for people and for `cliq cancel`: the pid, and the
 * command, which is run, cancel or assemble.
 */
#ifndef CLIQ_RUN_LOCKFILE_H
#define CLIQ_RUN_LOCKFILE_H

#include "context/state_dir.h"

#include <sys/types.h>

struct lock_holder {
    pid_t pid;   /* 0: not known */
    bool is_run; /* it drives a run, which SIGTERM cancels */
};

/* *fd holds the lock until it is closed. ST_CONFLICT names the holder. */
enum status lockfile_take(const struct state_dir *f, const char *command, int *fd,
                          struct lock_holder *holder, struct err *e);
/* Writes pid and command into a lock that the caller took by other means. */
enum status lockfile_sign(const struct state_dir *f, int fd, const char *command, struct err *e);
/* Is it held? The question takes no lock that a run could meet. */
bool lockfile_is_held(const struct state_dir *f);
/* The process that drives a run here; 0: none. */
pid_t lockfile_runner(const struct state_dir *f);

#endif
