/*
 * route - finds the operation of a method and a path, and its arguments in path, query and body.
 * Pure.
 *
 * Operations of the hub come from hub/model/ops.def, those that work with files from
 * serve/file_route.h; what else only a server has stands in route.c's own list. A literal segment
 * wins over a parameter: /signals/list is not /signals/:id.
 */
#ifndef CLIQ_SERVE_ROUTE_H
#define CLIQ_SERVE_ROUTE_H

#include "hub/hub.h"
#include "net/query.h"

#include <stddef.h>

struct file_route; /* serve/file_route.h */

#define ROUTE_PARAMS  3
#define ROUTE_ANY_KEY (1u << 30) /* in place of a scope: a key is needed, whatever it allows */

enum route_kind {
    ROUTE_OP, /* an operation of the hub */
    ROUTE_HOME,
    ROUTE_WEB, /* GET /web/:version/:name, the page's files */
    ROUTE_HEALTH,
    ROUTE_METRICS,
    ROUTE_OPENAPI,
    ROUTE_STREAM,         /* GET /signals/stream */
    ROUTE_TICKET,         /* POST /signals/ticket */
    ROUTE_WHOAMI,         /* GET /whoami */
    ROUTE_SIGN_IN,        /* POST /sign-in */
    ROUTE_SIGN_IN_TICKET, /* POST /sign-in/ticket */
    ROUTE_ENGINE_EVENTS,  /* GET /v1/engine/events */
    ROUTE_MCP,            /* POST /mcp */
    ROUTE_FILE,           /* a row of file_route.h */
};

struct route_param {
    char name[16];
    const char *value; /* a piece of the path, not decoded */
    size_t len;
};

struct route {
    enum route_kind kind;
    enum hub_op op;                /* when kind is ROUTE_OP */
    const struct file_route *file; /* when kind is ROUTE_FILE */
    unsigned scope;
    struct route_param params[ROUTE_PARAMS];
    size_t n_params;
};

/* 200 with *r, 404, or 405 with the methods that are allowed in `allow` ("GET, HEAD").
 * HEAD is answered wherever GET is. */
int route_find(const char *method, size_t method_len, const char *path, size_t path_len,
               struct route *r, char allow[64]);

/* Is its body a package, which may be larger than others? */
bool route_takes_package(const struct route *r);

struct route_text {
    const char *p;
    size_t len;
};

/* The arguments as an object in the arena: the body's members (or the query's, as texts), then the
 * path's parameters. With a body there must be no query. ST_INVALID with a sentence for the
 * client. The body must outlive the arena's use. */
enum status route_args(struct arena *a, const struct route *route, struct route_text query,
                       struct route_text body, struct json **args, struct err *e);
/* ST_INVALID with the names of the query's parameters, where a query is not allowed. */
enum status route_no_query(const struct query *q, struct err *e);

/* Every route, for documents and tests: i from 0; false after the last one. */
struct route_info {
    const char *method, *path, *brief;
    unsigned scope;
    enum route_kind kind;
    enum hub_op op;
    const struct file_route *file;
};
bool route_nth(size_t i, struct route_info *info);

#endif
