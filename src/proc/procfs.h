/*
 * procfs - what /proc tells about one process.
 *
 * Nothing here allocates or keeps state, so that a child may ask between vfork
 * and exec. The command name in a stat line may hold blanks and parentheses of
 * any number: the fields are those behind the last ')'.
 */
#ifndef CLIQ_PROC_PROCFS_H
#define CLIQ_PROC_PROCFS_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct procfs {
    pid_t pid, ppid, pgrp, session;
    char state;       /* R S D T t Z X I ... */
    uint64_t threads; /* a main thread that ended is a 'Z' beside living ones */
    uint64_t start;   /* clock ticks since boot */
    int exit_status;  /* of a zombie: as wait(2) gives it; 0 where we may not know */
};

/* The text of /proc/<pid>/stat; false when it is not one. */
bool procfs_parse(struct procfs *p, const char *text, size_t len);
/* 0, or -1 and errno (ENOENT, ESRCH: perhaps gone; ENODATA: not such a text). pid 0: this
 * process. */
int procfs_read(struct procfs *p, pid_t pid);
/* False for zombies, which are dead but for their parent's asking. */
bool procfs_is_live(const struct procfs *p);
bool procfs_is_stopped(const struct procfs *p); /* by a signal or a debugger */

/* n in decimal at `to`, not NUL-ended; returns the end. Room for 20 digits. */
char *procfs_decimal(char *to, uint64_t n);

#endif
