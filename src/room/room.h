/*
 * room - a war-room: a directory in .war-rooms/ with a channel.jsonl in it.
 *
 * Where rooms live: $WARROOMS_DIR; else the nearest .war-rooms/ in the working
 * directory or above it; else .war-rooms/ beside the nearest .cliq/; else (to
 * be created) in the working directory.
 *
 * Tests: test/unit/test_room.c test/fault/test_post.c
 */
#ifndef CLIQ_ROOM_ROOM_H
#define CLIQ_ROOM_ROOM_H

#include "log/log.h"
#include "room/message.h"

#define ROOM_CHANNEL "channel.jsonl"

/* The directory of all rooms; it need not exist. */
enum status room_base(struct buf *to, struct err *e);
/* The directory of one room; the name is checked, the directory need not exist. */
enum status room_path(struct buf *to, const char *room, struct err *e);

/* The body limit in force: config.json beside the rooms, else the project's
 * .cliq/settings.json, else <config>/settings.json, else MESSAGE_BODY_MAX. A
 * limit that cannot be read is an error: nothing is cut by mistake. */
enum status room_body_max(size_t *max, struct err *e);

/* A channel open for posting. */
struct channel {
    int dir;
    struct log log;
    size_t max_body;
};

/* Opens the room's channel for posting, creating both. Durable unless told not. */
enum status channel_open(struct channel *c, const char *room, bool is_durable, struct err *e);
enum status channel_post(struct channel *c, const struct message *m, char id[MESSAGE_ID_SIZE],
                         bool *is_cut, struct err *e);
void channel_close(struct channel *c);

/* Opens a room's channel for reading. *fd is -1 when there is no room or channel. */
enum status channel_open_read(const char *room, int *fd, struct err *e);

/* The byte behind the message with this id, looked for from the end; -1: not there. */
enum status channel_find_after(int fd, const char *id, off_t *at, struct err *e);

#endif
