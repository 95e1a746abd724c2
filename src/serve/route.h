/*
 * route - which operation a method and a path mean. Pure.
 *
 * Operations of the hub come from hub/model/ops.def; what only a server has stands in route.c's
 * own list. A literal segment wins over a parameter: /signals/list is not /signals/:id.
 */
#ifndef CLIQ_SERVE_ROUTE_H
#define CLIQ_SERVE_ROUTE_H

#include "hub/hub.h"

#include <stddef.h>

#define ROUTE_PARAMS 2

enum route_kind {
    ROUTE_OP, /* an operation of the hub */
    ROUTE_HOME,
    ROUTE_HEALTH,
    ROUTE_METRICS,
    ROUTE_OPENAPI,
    ROUTE_STREAM,        /* GET /signals/stream */
    ROUTE_TICKET,        /* POST /signals/ticket */
    ROUTE_ENGINE_EVENTS, /* GET /v1/engine/events */
};

struct route_param {
    char name[16];
    const char *value; /* a piece of the path, not decoded */
    size_t len;
};

struct route {
    enum route_kind kind;
    enum hub_op op; /* when kind is ROUTE_OP */
    unsigned scope;
    struct route_param params[ROUTE_PARAMS];
    size_t n_params;
};

/* 200 with *r, 404, or 405 with the methods that are allowed in `allow` ("GET, HEAD").
 * HEAD is answered wherever GET is. */
int route_find(const char *method, size_t method_len, const char *path, size_t path_len,
               struct route *r, char allow[64]);

/* Every route, for documents and tests: i from 0; false behind the last one. */
struct route_info {
    const char *method, *path, *brief;
    unsigned scope;
    enum route_kind kind;
    enum hub_op op;
};
bool route_nth(size_t i, struct route_info *info);

#endif
