/*
 * room_act - what people do in a room: make it, post, sign off. Used by commands and HTTP.
 *
 * Tests: test/cli/room.bats test/scenario/room_http.bats
 */
#ifndef CLIQ_MANAGER_ROOM_ACT_H
#define CLIQ_MANAGER_ROOM_ACT_H

#include "manager/rooms.h"

/* rooms_create, and publishes the task. */
enum status room_act_create(const struct rooms *r, const char *config, const struct room_config *c,
                            const struct buf *lifecycle, struct err *e);
/* Is that a message type that a state of the room answers to? */
bool room_act_knows(const struct rooms *r, const char *room, const char *type);
/* Posts a checked message into the room, which exists, and publishes it (room_signals.h). */
enum status
room_act_post(const struct rooms *r, const char *config, const char *room, const struct message *m,
              char id[MESSAGE_ID_SIZE], bool *is_cut, struct err *e);
/* Posts the role's signoff. ST_CONFLICT: the room has not passed. ST_INVALID: it has no such role.
 * Then RELEASE.md is written anew when every room passed. `config` as in room_signals_publish. */
enum status
room_act_signoff(const struct rooms *r, const char *config, const char *room, const char *role,
                 const char *text, char id[MESSAGE_ID_SIZE], struct err *e);

#endif
