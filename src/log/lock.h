/*
 * lock - flock(2) with a deadline.
 *
 * flock has no timeout, and polling for it is slow and unfair beside writers
 * that block. So we block in it too, after a few quick tries, with a timer that
 * taps this thread on the shoulder (SIGRTMAX - 1, an empty handler) when the
 * time is up. Nothing of this happens while the lock is free.
 */
#ifndef CLIQ_LOG_LOCK_H
#define CLIQ_LOG_LOCK_H

#include "base/err.h"

/* Takes the exclusive lock on fd within wait_ms. ST_IO on timeout; the sentence
 * names the file and, when the kernel tells, the process that holds it. */
enum status lock_take(int fd, const char *name, unsigned wait_ms, struct err *e);

/* The same where every holder is gone in microseconds, because nothing is synced under
 * the lock: looks many times, letting others run, before it sleeps. */
enum status lock_take_brief(int fd, const char *name, unsigned wait_ms, struct err *e);
void lock_drop(int fd);

#endif
