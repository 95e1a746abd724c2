/*
 * file_route - a route that works with files instead of the hub's log: teams, reviews, rooms, runs.
 *
 * A row of a table says all about such a route; dispatch, admission and /openapi.json read it. Each
 * table stands in the file of its noun, as `const struct file_route NOUN_routes[]`, ended by path
 * NULL, and file_route.c lists the tables.
 *
 * The loop must not wait for a disk, so a row's function runs on a thread of the pool: it sees its
 * file_call and nothing else of the server. Its status is the answer:
 *
 *     ST_OK         200: `out` is the JSON of `data`, or, with `type`, the whole body
 *     ST_INVALID    400 NOUN_INVALID         ST_NOT_FOUND  404 NOUN_NOT_FOUND
 *     ST_CONFLICT   409, the row's code      ST_REFUSED    403 AUTH_FORBIDDEN
 *     others        503 STORE_UNAVAILABLE
 *
 * or, when `refusal.status` is set (arg_text and its like do that), the refusal. Arguments that the
 * table does not know, and required ones that are missing, are refused before.
 *
 * file_answer.h calls them.
 *
 * Tests: test/scenario/team_hub.bats test/scenario/openapi.bats test/unit/test_admission.c
 */
#ifndef CLIQ_SERVE_FILE_ROUTE_H
#define CLIQ_SERVE_FILE_ROUTE_H

#include "base/err.h"
#include "base/json.h"
#include "hub/model/args.h"

struct file_call {
    const struct file_route *route;
    const char *config;   /* the directory of the server's store */
    const char *identity; /* the caller */
    bool is_admin;
    struct arena arena;     /* of the arguments; the function may use it */
    struct args_in in;      /* for arg_text and its like */
    struct refusal refusal; /* status 0: none */
    const struct buf *body; /* of a row with takes_package or takes_event */
    struct buf out;
};

struct file_route {
    const char *method, *path; /* "/teams/:scope/:name": `:x` becomes the argument x */
    const char *brief;
    unsigned scope;
    const struct hub_arg *args; /* those of the path first; NULL: none */
    const char *answer;         /* as in ops.def: "Team[]"; NULL with `type` */
    const char *type;           /* the answer's Content-Type; NULL: JSON */
    const char *noun;           /* "TEAM" of the code TEAM_NOT_FOUND */
    const char *conflict;       /* the code of a conflict; NULL: there is none */
    bool takes_package;         /* the body is application/gzip, not JSON */
    bool takes_event;           /* the body is any JSON, and no arguments */
    enum status (*run)(struct file_call *c, struct err *e);
};

extern const struct file_route *const file_route_tables[]; /* ended by NULL */

#endif
