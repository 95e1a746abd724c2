/*
 * message - one line of a war-room's channel.jsonl.
 *
 *   {"v":1,"id":"engineer-done-1775215174499753000-85510","ts":"2026-04-03T11:19:34Z",
 *    "from":"engineer","to":"qa","type":"done","ref":"EPIC-001","body":"Work complete"}
 *
 *   field  type    what
 *   v      int     1
 *   id     string  {from}-{type}-{unix_nanos}-{pid}
 *   ts     string  UTC, whole seconds
 *   from   string  role that says it; to: role it is for
 *   type   string  see types.def
 *   ref    string  the task or epic it is about
 *   body   string  markdown; at most max_message_size_bytes, then cut and marked
 *
 * We write the keys in this order, compact. We read any order, spacing and
 * escapes, unknown fields, and lines without v or id (other tools write such).
 *
 * Tests: test/unit/test_message.c test/fuzz/fuzz_message.c
 */
#ifndef CLIQ_ROOM_MESSAGE_H
#define CLIQ_ROOM_MESSAGE_H

#include "base/json.h"

#define MESSAGE_BODY_MAX 65536 /* bytes; the setting channel.max_message_size_bytes */
#define MESSAGE_REF_MAX  1024  /* bytes; a reference is a name, not a text */
#define MESSAGE_ID_SIZE  192   /* two names of 64, two numbers, dashes, NUL */

struct message {
    const char *from, *to, *type, *ref;
    const char *body;
    size_t body_len;
};

/* Names, type and texts as they must be. An unknown type is refused with the list
 * and the nearest known one, unless any_type. */
enum status message_check(const struct message *m, bool any_type, struct err *e);
enum status message_check_type(const char *type, struct err *e);
/* The known types, in order; NULL behind the last. *says (or NULL): what it is for. */
const char *message_type(size_t i, const char **says);

/* Appends the JSON line (no '\n') with a new id and the present time. A body over
 * max_body bytes is cut at a character and marked; *is_cut tells. */
void message_write(struct buf *to, const struct message *m, size_t max_body,
                   char id[MESSAGE_ID_SIZE], bool *is_cut);

/* Which messages a reader wants; NULL or 0: all. Strings are borrowed. */
struct message_filter {
    const char *const *types; /* any of these */
    size_t n_types;
    const char *from, *to, *ref;
};
bool message_matches(const struct message_filter *f, const struct json *message);

#endif
