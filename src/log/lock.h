/*
 * lock - flock(2) with a deadline.
 *
 * flock has no timeout, and polling for it is slow and unfair beside writers
 * that block. So we block in it too, after a few quick tries, with a timer that
 * taps this thread on the shoulder (SIGRTMAX - 1, an empty handler) when the
 * time is up. Nothing of this happens while the lock is free.
 *
 * Tests: test/unit/test_log_lock.c
 */
#ifndef CLIQ_LOG_LOCK_H
#define CLIQ_LOG_LOCK_H

#include "base/err.h"

#include <stdbool.h>

/* Takes the exclusive lock on fd within wait_ms. ST_IO on timeout; the sentence
 * names the file and, when the kernel tells, the process that holds it. wait_ms 0: takes it when it
 * is free, else ST_CONFLICT without a sentence. */
enum status lock_take(int fd, const char *name, unsigned wait_ms, struct err *e);

/* The same where every holder is gone in microseconds, because nothing is synced under
 * the lock: looks many times, letting others run, before it sleeps. */
enum status lock_take_brief(int fd, const char *name, unsigned wait_ms, struct err *e);
void lock_drop(int fd);

/* flock is not fair: who lets go and takes again at once keeps others away for ever. Who waits
 * here has a shared lock on `queue` (the log's directory) meanwhile; whoever takes the lock again
 * and again asks whether somebody does, and then lets them go first. */
enum status lock_take_queued(int fd, int queue, const char *name, unsigned wait_ms, struct err *e);
bool lock_is_wanted(int queue);

#endif
