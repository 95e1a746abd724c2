/*
 * room_show - rooms for people: the rows of `cliq room list`, the page of `cliq room status ROOM`.
 */
#ifndef CLIQ_CMD_LIB_ROOM_SHOW_H
#define CLIQ_CMD_LIB_ROOM_SHOW_H

#include "base/table.h"
#include "manager/room_picture.h"

/* The table with its head; then a row a room. */
struct table room_show_table(void);
void room_show_row(struct table *t, const struct room_picture *p);
void room_show_page(const struct room_picture *p, struct buf *to);
/* What the room waits for, as a sentence without a full stop; "": nothing. */
void room_show_waits(const struct room_picture *p, struct buf *to);

#endif
