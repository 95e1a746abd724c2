/*
 * rooms - the directories of war-rooms: found, listed, made, read, archived.
 *
 *     .war-rooms/
 *       config.json            channel.max_message_size_bytes, for all rooms
 *       manager.lock           held by the manager of these rooms (manager.h)
 *       RELEASE.md             release notes, once every room passed
 *       .archives/             rooms that were archived
 *       room-001/
 *         config.json          what the room is for: struct room_config
 *         lifecycle.json       its states (room/lifecycle.h)
 *         brief.md             the task
 *         channel.jsonl        its conversation
 *         journal.jsonl        what the manager did (room_journal.h): the truth about its state
 *         status state_changed_at retries task-ref audit.log
 *                              the state for other tools, written after the journal
 *         attempts/<visit>.<n>/  one process of a role (role.h)
 *
 * The layout is that of the war-rooms page, so that tools of other makers read it; and a room that
 * such a tool made has no journal: its state is that of its files.
 *
 * Ownership: what is read lives in the caller's arena.
 *
 * Tests: test/cli/room.bats
 */
#ifndef CLIQ_MANAGER_ROOMS_H
#define CLIQ_MANAGER_ROOMS_H

#include "room/epics.h"
#include "room/lifecycle.h"
#include "room/room.h"

#define ROOM_PENDING    "pending" /* the state of a room that has not begun */
#define ROOM_BLOCKED_BY "blocked" /* one that it depends on failed for good */
#define ROOM_TIMEOUT_MS (900 * 1000)

/* A directory of rooms. */
struct rooms {
    int dir;           /* -1: it does not exist */
    char *base;        /* its absolute path */
    char *project_dir; /* where roles work, unless the room's config says otherwise */
    char *state_dir;   /* the project's .cliq; NULL: it has none */
};

/* The directory that commands use here (room_base); `create` makes it. */
enum status rooms_open(struct rooms *r, bool create, struct err *e);
/* Those of the project in that directory: its .war-rooms. */
enum status
rooms_open_project(struct rooms *r, const char *project_dir, bool create, struct err *e);
void rooms_close(struct rooms *r); /* safe on a zeroed struct with dir -1, and twice */

/* The names of all rooms, sorted: directories with a config.json or a task-ref, or with a channel
 * alone when `has_talks`. */
enum status rooms_list(const struct rooms *r, struct arena *a, bool has_talks, const char ***names,
                       size_t *n, struct err *e);
/* Opens a room's directory. ST_NOT_FOUND suggests the nearest name. */
enum status rooms_open_room(const struct rooms *r, const char *room, int *dir, struct err *e);

/* What a room is for. */
struct room_config {
    const char *room, *ref, *title, *task; /* title NULL: the task's first line */
    const char *plan;                      /* the plan that it came from; NULL: none */
    const char *opening;                   /* the type of its first message; NULL: task. Not read */
    const char *working_dir, *created_at;  /* NULL: the project; now */
    struct epic_list roles;                /* the first works, the others review */
    struct epic_list depends_on;           /* rooms, or their references: rooms_resolve */
    struct epic_list criteria, done;
    unsigned max_retries;
    int64_t timeout_ms; /* of a state, from the first start of its role */
};

/* Makes the room, with the task message in its channel, in one step: all of it or nothing.
 * `lifecycle` is the text of lifecycle.json; NULL: the default of its roles. ST_CONFLICT: there is
 * such a room. */
enum status rooms_create(const struct rooms *r, const struct room_config *c,
                         const struct buf *lifecycle, struct err *e);

enum status
room_config_read(struct arena *a, int dir, const char *room, struct room_config *c, struct err *e);
/* Tools of other makers write references (EPIC-001) into depends_on: those that are no room become
 * the room that has them. What no room has stays, and is waited for. */
void rooms_resolve(const struct rooms *r, struct arena *a, struct room_config *c);
/* Its lifecycle.json, else the default of its roles. */
enum status room_lifecycle_read(struct arena *a, int dir, const struct room_config *c,
                                struct lifecycle *l, struct err *e);

/* One word from a file of a room ("status"), in the arena; "": there is none. */
const char *room_word(struct arena *a, int dir, const char *name);
/* Writes the files that tell other tools the state, and a line of audit.log when it changed. */
enum status room_files_tell(int dir, const char *state, unsigned retries, struct err *e);

/* ST_INVALID names the circle among the dependencies of all rooms, and of one that is about to be
 * made; NULL: of none. */
enum status
rooms_check_circles(const struct rooms *r, const struct room_config *with, struct err *e);

/* Moves the room to .archives/; appends its path. ST_CONFLICT: it is at work. */
enum status rooms_archive(const struct rooms *r, const char *room, struct buf *path, struct err *e);

#endif
