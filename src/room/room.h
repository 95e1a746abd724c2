/*
 * room - a war-room: a directory in .war-rooms/ with a channel.jsonl in it.
 *
 * The directory of all rooms is the first of: $WARROOMS_DIR; the nearest
 * .war-rooms/ in the working directory or above it; .war-rooms/ beside the
 * nearest .cliq/; .war-rooms/ in the working directory, created by a post.
 *
 * Tests: test/unit/test_room.c test/fault/test_post.c
 */
#ifndef CLIQ_ROOM_ROOM_H
#define CLIQ_ROOM_ROOM_H

#include "log/log.h"
#include "room/message.h"

#define ROOM_CHANNEL     "channel.jsonl"
#define CHANNEL_POST_MAX 2 /* messages of one channel_post_as */

/* The directory of all rooms; it need not exist. */
enum status room_base(struct buf *to, struct err *e);
/* The directory of one room; the name is checked, the directory need not exist. */
enum status room_path(struct buf *to, const char *room, struct err *e);

/* The size limit of a body: from config.json beside the rooms, else the project's
 * .cliq/settings.json, else <config>/settings.json, else MESSAGE_BODY_MAX. An unreadable file is an
 * error, so that no body is truncated by mistake. */
enum status room_body_max(size_t *max, struct err *e);
/* The same for the rooms of that directory, wherever this process works. */
enum status room_body_max_in(const char *base, size_t *max, struct err *e);

/* A channel open for posting. */
struct channel {
    int dir;
    struct log log;
    size_t max_body;
};

/* Opens the room's channel for posting; creates both if needed. */
enum status channel_open(struct channel *c, const char *room, bool is_durable, struct err *e);
enum status channel_post(struct channel *c, const struct message *m, char id[MESSAGE_ID_SIZE],
                         bool *is_cut, struct err *e);
/* Opens the channel of the room whose directory is open as `dir`, which stays the caller's. */
enum status
channel_open_in(struct channel *c, int dir, size_t max_body, bool is_durable, struct err *e);
/* Posts n messages in one write, under the ids that are given. */
enum status channel_post_as(struct channel *c, const struct message *m, const char *const *ids,
                            size_t n, bool *is_cut, struct err *e);
void channel_close(struct channel *c);

/* Opens a room's channel for reading. *fd -1: no such room or channel. */
enum status channel_open_read(const char *room, int *fd, struct err *e);
/* The same in the room's open directory; `room` is for errors. */
enum status channel_open_read_in(int dir, const char *room, int *fd, struct err *e);

/* The offset behind the message with this id, searched from the end; -1: not found. */
enum status channel_find_after(int fd, const char *id, off_t *at, struct err *e);

/* Which messages: those from byte `from` on; of them, when is_last, the last `last`. */
struct channel_range {
    off_t from;
    bool is_last;
    uint64_t last;
};
typedef enum status channel_fn(void *ctx, const struct json *message, struct err *e);
/* Calls fn with each message that matches, in order, until it fails. The last few of a huge channel
 * are cheap: they are looked for from its end. *bad: lines that are no messages. */
enum status channel_read(int fd, const struct channel_range *range, const struct message_filter *f,
                         channel_fn *fn, void *ctx, uint64_t *bad, struct err *e);
/* The line of the last message from byte `from` on that matches; empty: there is none. */
enum status
channel_last(int fd, off_t from, const struct message_filter *f, struct buf *line, struct err *e);

#endif
