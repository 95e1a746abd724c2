/*
 * hub_show - how answers of the hub are printed.
 *
 *   --json          the answer as it is: an array or an object, on one line
 *   on a terminal   a table with a head, ids and times shortened
 *   otherwise       the same columns without a head, a TAB between them: for cut and while read
 */
#ifndef CLIQ_CMD_LIB_HUB_SHOW_H
#define CLIQ_CMD_LIB_HUB_SHOW_H

#include "cmd/lib/hub_call.h"

/* key: a member, or one of these, which stand for several or are spelt out:
 *   "@from"      bob, or bob as developer: from_identity, from_role
 *   "@to"        developer, +ops or @bob: to_role, to_ring, to_identity
 *   "@source"    agent:bob
 *   "@id"        the id of a signal; on a terminal its end
 *   "@time:KEY"  a time, in milliseconds or as ISO 8601; on a terminal how near it is */
struct hub_column {
    const char *head, *key;
};

/* Signals as inbox, thread and list show them; and what became of one. Roles and rings. */
extern const struct hub_column hub_signal_columns[], hub_broadcast_columns[], hub_state_columns[],
    hub_group_columns[], hub_subscription_columns[];

/* Options that several commands have: none of their own; those of who holds a claim; those of who
 * makes a role or a ring. And what they become. */
extern const struct opt hub_opts[], hub_held_opts[], hub_group_opts[];
extern const struct hub_field hub_held_fields[], hub_group_fields[];

/* The columns end with head NULL. An empty list prints nothing, in JSON [], and on a
 * terminal says so. */
enum status hub_show_list(struct hub_call *c, const struct json *list,
                          const struct hub_column *columns, struct err *e);
/* The same for one. */
enum status hub_show_one(struct hub_call *c, const struct json *object,
                         const struct hub_column *columns, struct err *e);
enum status hub_show_json(struct hub_call *c, const struct json *v, struct err *e);
/* A string on a line of its own; --json: `whole`. */
enum status
hub_show_text(struct hub_call *c, const struct json *text, const struct json *whole, struct err *e);

/*
 * Most commands, as data (`hub` of struct cmd): arguments from the options and the words, the call,
 * and what is shown of the answer: one of its members as a line of its own (text), or rows
 * (columns).
 */
struct hub_simple {
    enum hub_op op;
    const struct hub_field *fields; /* NULL: none */
    const char *words[3];           /* what the words are called in the arguments */
    const char *mine;   /* this one is the caller's identity when its word is missing; or NULL */
    const char *inside; /* of the answer only this member is shown; NULL: all of it */
    const char *text;
    const struct hub_column *columns;
};
enum status hub_run(const struct hub_simple *w, const struct args *a, struct err *e);

/* One object as a line, without a table: its cells with `between` between them. */
void hub_show_row(struct buf *to, const struct json *object, const struct hub_column *columns,
                  const char *between);
/* The text of a cell, escaped. */
void hub_show_cell(struct buf *to, const struct json *object, const char *key);

#endif
