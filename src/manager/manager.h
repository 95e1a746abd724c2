/*
 * manager - carries rooms through their life cycles: cliq room run.
 *
 *     channel.jsonl --messages--> room_actor -> lifecycle (pure): which state, what is posted
 *                                    |  ^
 *               journal, posts, role |  | its process is gone, its time is over
 *                                    v  |
 *                                role_process
 *
 * One manager for a directory of rooms (manager_lock.h). It waits for events and looks at nothing
 * in between: writes to a channel, ends of processes, time limits. At most `jobs` processes run at
 * once; rooms that have begun come before those that have not, in the order of their names. A room
 * that awaits a person has no process and takes no place.
 *
 * It ends when every room is in a final state or blocked for good; with `is_once` also when only
 * people are awaited. SIGINT and SIGTERM stop the processes; their attempts do not count, and the
 * next manager starts them again. After kill -9 the processes run on, and the next manager takes
 * them over.
 *
 *     room_actor.h    one room: its events, in order, and what they lead to
 *     role_process.h  one attempt of a role
 *     manager_tell.h  what people see of it
 *
 * Tests: test/scenario/room_run.bats test/scenario/room_resume.bats test/scenario/room_graph.bats
 */
#ifndef CLIQ_MANAGER_MANAGER_H
#define CLIQ_MANAGER_MANAGER_H

#include "manager/rooms.h"

#define MANAGER_JOBS 10 /* processes at once when nothing says otherwise */

struct manager_options {
    const char *const *rooms; /* with all that they depend on; none: all rooms, new ones, too */
    size_t n_rooms;
    unsigned jobs; /* 0: MANAGER_JOBS */
    bool is_once, is_json;
};

struct manager_outcome {
    size_t total, passed;
    size_t unsigned_roles; /* that release.require_signoffs names and that did not sign a room */
    bool is_stopped;       /* by a signal */
};

/* ST_CONFLICT: there is another manager. ST_INVALID: a circle, a bad room, a role whose agent
 * cannot be started. */
enum status manager_run(const struct rooms *r, const struct manager_options *o,
                        struct manager_outcome *out, struct err *e);

#endif
