/*
 * ask - from the path, query and body of a request to the arguments of an operation. Pure.
 */
#ifndef CLIQ_SERVE_REQUEST_ARGS_H
#define CLIQ_SERVE_REQUEST_ARGS_H

#include "net/query.h"
#include "serve/route.h"

struct request_text {
    const char *p;
    size_t len;
};

/* An object in the arena: the body's members (or the query's, as texts), then those of the
 * path. Beside a body there is no query. ST_INVALID with a sentence for whoever asked. The body
 * must outlive the arena's use. */
enum status request_args_read(struct arena *a, const struct route *route, struct request_text query,
                              struct request_text body, struct json **args, struct err *e);

/* ST_INVALID that names what stands in a query where nothing of it is heard. */
enum status request_args_no_query(const struct query *q, struct err *e);

#endif
