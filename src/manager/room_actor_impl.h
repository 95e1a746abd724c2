/*
 * room_actor_impl - private to the files of a room at work.
 *
 *     room_actor.c  the room: its channel read, its journal, its states
 *     room_role.c   the role whose turn it is: its process started, or taken over from an earlier
 *                   manager; what it amounts to is posted
 *
 * Tests: test/scenario/room_run.bats test/scenario/room_resume.bats
 */
#ifndef CLIQ_MANAGER_ROOM_ACTOR_IMPL_H
#define CLIQ_MANAGER_ROOM_ACTOR_IMPL_H

#include "manager/room_actor.h"

/* ---- room_actor.c ---- */

const struct life_state *room_actor_now(const struct room_actor *a); /* its present state */
/* The room can do no more here: says why, once. */
void room_actor_give_up(struct room_actor *a, enum status s, const struct err *why);
/* Writes an event, and applies it to the past, as a later manager will. False: it gave up. */
bool room_actor_note(struct room_actor *a, const struct room_event *ev);
/* The line of the message with that id (NULL: not wanted); its end in *end. False: it is not in the
 * channel. */
bool
room_actor_find_message(const struct room_actor *a, const char *id, struct buf *line, off_t *end);
/* Posts messages under these ids, in one write. False: not posted; it gave up, or tries later. */
bool
room_actor_post(struct room_actor *a, const struct message *m, const char *const *ids, size_t n);
/* Enters a state as life_apply decided: `id` and `end` are of the message that led there. The
 * process of the state before may end by itself when may_linger. */
bool room_actor_move(struct room_actor *a, const struct life *next, const struct life_move *mv,
                     const char *id, off_t end, bool may_linger);
/* The room's first state: messages behind past.after count. */
void room_actor_begin(struct room_actor *a);
off_t room_actor_channel_end(const struct room_actor *a); /* the size of its channel */
void room_actor_drop_timer(struct loop_source **timer);
/* Appends a text member of a message; a file of the room's directory. */
void room_actor_add_member(struct buf *to, const struct json *m, const char *key);
void room_actor_add_file(struct room_actor *a, const char *name, struct buf *to);

/* ---- room_role.c ---- (room_actor_start and room_actor_interrupt are there, too) */

void room_role_free(struct room_actor *a);
/* After a restart: the attempt ended and was announced; its message may be missing. */
void room_role_recover_result(struct room_actor *a);
/* After a restart: the attempt was begun; its process may live, have ended, or never have been. */
void room_role_recover_process(struct room_actor *a);

#endif
