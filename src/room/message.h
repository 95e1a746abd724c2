/*
 * message - a message: one line of a war-room's channel.jsonl.
 *
 *   {"v":1,"id":"engineer-done-1775215174499753000-85510","ts":"2026-04-03T11:19:34Z",
 *    "from":"engineer","to":"qa","type":"done","ref":"EPIC-001","body":"Work complete"}
 *
 *   field  type    content
 *   v      int     1
 *   id     string  {from}-{type}-{unix_nanos}-{pid}
 *   ts     string  UTC, whole seconds
 *   from   string  role of the sender
 *   to     string  role of the recipient
 *   type   string  see types.def
 *   ref    string  task or epic that the message is about
 *   body   string  Markdown; truncated and marked beyond max_message_size_bytes
 *
 * The writer uses this order, compact. The reader accepts any order, spacing
 * and escapes, unknown fields, and lines of other tools without v or id.
 *
 * Tests: test/unit/test_message.c test/fuzz/fuzz_message.c
 */
#ifndef CLIQ_ROOM_MESSAGE_H
#define CLIQ_ROOM_MESSAGE_H

#include "base/json.h"

#define MESSAGE_BODY_MAX 65536 /* bytes; the setting channel.max_message_size_bytes */
#define MESSAGE_REF_MAX  1024  /* bytes */
#define MESSAGE_ID_SIZE  192   /* two names of 64, two numbers, dashes, NUL */

struct message {
    const char *from, *to, *type, *ref;
    const char *body;
    size_t body_len;
};

/* Checks names, type and texts. An unknown type is ST_INVALID, unless any_type; the message lists
 * the known types and suggests the closest. */
enum status message_check(const struct message *m, bool any_type, struct err *e);
enum status message_check_type(const char *type, struct err *e);
/* The i-th known type; NULL: none. *says (may be NULL): its purpose. */
const char *message_type(size_t i, const char **says);

/* A new id: {from}-{type}-{unix_nanos}-{pid}. */
void message_id(const struct message *m, char id[MESSAGE_ID_SIZE]);
/* Appends the JSON line (no '\n') with that id and the current time. True: the body exceeded
 * max_body and was truncated at a character boundary and marked. */
bool message_write(struct buf *to, const struct message *m, size_t max_body, const char *id);

/* A filter for readers; NULL or 0: no restriction. Strings are borrowed. */
struct message_filter {
    const char *const *types; /* any of these */
    size_t n_types;
    const char *from, *to, *ref;
};
bool message_matches(const struct message_filter *f, const struct json *message);

#endif
