/*
 * room_signals - messages of rooms as signals of the hub: room:<room>:<type>, with the message as
 * data. One that is published twice (by the command that posts it, and by the manager that reads
 * it) is written once: its id is the key.
 *
 * Tests: test/scenario/room_http.bats
 */
#ifndef CLIQ_MANAGER_ROOM_SIGNALS_H
#define CLIQ_MANAGER_ROOM_SIGNALS_H

#include "room/message.h"

/* Writes the request of `signal generate` for a message; nothing when it has no type or id that a
 * signal can have. */
void room_signals_write(struct buf *to, const char *room, const struct json *message);
/* Publishes one message, at once. `config` is the directory of the store; NULL: that of this user,
 * if it has a store. A failure is a warning on standard error: the message is posted. */
void room_signals_publish(const char *config, const char *room, const struct buf *line);
/* The same for a message that was posted under that id, with bodies of max_body bytes. */
void room_signals_posted(const char *config, const char *room, const struct message *m,
                         size_t max_body, const char *id);

#endif
