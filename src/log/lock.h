/*
 * lock - flock(2) with a deadline.
 *
 * flock has no timeout, and polling is slow and unfair beside writers that
 * block. So lock_take makes a few non-blocking tries and then blocks in flock,
 * with a timer that interrupts it at the deadline by a signal to this thread
 * (SIGRTMAX - 1, an empty handler). A free lock costs one system call.
 *
 * Tests: test/unit/test_log_lock.c
 */
#ifndef CLIQ_LOG_LOCK_H
#define CLIQ_LOG_LOCK_H

#include "base/err.h"

#include <stdbool.h>

/* Takes the exclusive lock on fd within wait_ms. ST_IO: timeout; the message names the file and, if
 * known, the process that holds the lock. wait_ms 0: does not wait; ST_CONFLICT without a message
 * when the lock is held. */
enum status lock_take(int fd, const char *name, unsigned wait_ms, struct err *e);

/* The same for locks that are held for microseconds, because no holder syncs: makes many
 * non-blocking tries with sched_yield before it blocks. */
enum status lock_take_brief(int fd, const char *name, unsigned wait_ms, struct err *e);
void lock_drop(int fd);

/* flock is not fair: a process that unlocks and locks again at once can starve all others. While
 * lock_take_queued waits, it holds a shared lock on `queue` (the log's directory). A process that
 * takes the lock repeatedly calls lock_is_wanted and pauses if a waiter exists. */
enum status lock_take_queued(int fd, int queue, const char *name, unsigned wait_ms, struct err *e);
bool lock_is_wanted(int queue);

#endif
