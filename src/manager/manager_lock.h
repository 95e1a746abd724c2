/*
 * manager_lock - manager.lock: one manager for a directory of rooms.
 *
 * Held with flock for the life of the process. Its text, "4711\n", tells people the holder.
 *
 * Tests: test/scenario/room_run.bats
 */
#ifndef CLIQ_MANAGER_MANAGER_LOCK_H
#define CLIQ_MANAGER_MANAGER_LOCK_H

#include "manager/rooms.h"

/* *fd holds the lock until manager_lock_drop. ST_CONFLICT names the holder. */
enum status manager_lock_take(const struct rooms *r, int *fd, struct err *e);
void manager_lock_drop(int fd); /* -1 is fine */

#endif
