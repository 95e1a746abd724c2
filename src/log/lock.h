/*
 * lock - flock(2) with a deadline.
 *
 * flock has no timeout, and polling for it is slow and unfair beside writers
 * that block. So a busy lock is awaited by a short-lived thread that blocks in
 * flock on our descriptor: the lock belongs to the open file, so what the
 * thread gets, we have. At the deadline the thread is cancelled.
 */
#ifndef CLIQ_LOG_LOCK_H
#define CLIQ_LOG_LOCK_H

#include "base/err.h"

/* Takes the exclusive lock on fd within wait_ms. ST_IO on timeout; the sentence
 * names the file and, when the kernel tells, the process that holds it. */
enum status lock_take(int fd, const char *name, unsigned wait_ms, struct err *e);
void lock_drop(int fd);

#endif
