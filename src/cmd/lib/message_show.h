/*
 * message_show - selects and prints the messages of a channel, shared by the
 * commands that read one.
 *
 *   array  [{...},\n {...}]     the default for programs
 *   lines  one object a line
 *   table  a row a message      the default of `read` on a terminal
 *   talk   a conversation       the default of `follow` on a terminal
 *
 * The objects are the channel's own, unknown fields and all.
 */
#ifndef CLIQ_CMD_LIB_MESSAGE_SHOW_H
#define CLIQ_CMD_LIB_MESSAGE_SHOW_H

#include "base/clock.h"
#include "base/table.h"
#include "cmd/cmd.h"
#include "room/room.h"

enum show_form { SHOW_ARRAY, SHOW_LINES, SHOW_TABLE, SHOW_TALK };

struct message_show {
    enum show_form form;
    struct buf out;
    struct table table;
    bool has_color, is_tty;
    size_t n;
};

/* Options of every reading command, to be listed in its table. */
/* clang-format off */
#define SHOW_OPT_ROOM                                                                              \
    { "room", OPT_TEXT, "ROOM", "the war-room", .is_required = true, .choose = "rooms" }
#define SHOW_OPTS_FILTER                                                                           \
    { "type", OPT_TEXT, "TYPE", "only messages of this type; may be repeated", .is_many = true,    \
      .choose = "types" },                                                                         \
    { "from", OPT_TEXT, "ROLE", "only messages from this role" },                                  \
    { "to", OPT_TEXT, "ROLE", "only messages to this role" },                                      \
    { "ref", OPT_TEXT, "REF", "only messages about this task or epic" },                           \
    { "after", OPT_TEXT, "ID", "only messages behind the one with this id" },                      \
    { "any-type", OPT_FLAG, NULL, "accept a --type that is not one of the known ones" }
/* clang-format on */

/* The filter that those options describe; types are checked. Borrows from `a`. */
enum status show_filter(const struct args *a, struct message_filter *f, struct err *e);

void show_init(struct message_show *s, enum show_form form);
void show_message(struct message_show *s, const struct json *message);
/* Prints what there is so far. The last call of an array or a table: is_end. */
enum status show_flush(struct message_show *s, bool is_end, struct err *e);
void show_release(struct message_show *s);

/* Appends JSON for standard output. On a terminal the characters that it would obey
 * (C1 and direction controls) are spelt \uXXXX: the same JSON, harmless. */
void show_json(struct buf *to, const struct json *v, bool is_tty);

/* A time as the files have it, for people: "3 min ago". False: it is none. */
bool show_near(char to[CLOCK_ISO_SIZE], const char *iso, size_t len);

/* Says on a terminal why nothing is shown: a room that is not there, with the nearest that is. */
void show_nothing(const char *room, bool is_there);

/* Says once how many bad lines were passed over. */
void show_bad_lines(const char *room, uint64_t n);

#endif
