/*
 * ask - from the path, query and body of a request to the arguments of an operation. Pure.
 */
#ifndef CLIQ_SERVE_ASK_H
#define CLIQ_SERVE_ASK_H

#include "net/query.h"
#include "serve/route.h"

struct ask_text {
    const char *p;
    size_t len;
};

/* An object in the arena: the body's members (or the query's, as texts), then those of the
 * path. Beside a body there is no query. ST_INVALID with a sentence for whoever asked. The body
 * must outlive the arena's use. */
enum status ask_args(struct arena *a, const struct route *route, struct ask_text query,
                     struct ask_text body, struct json **args, struct err *e);

/* ST_INVALID that names what stands in a query where nothing of it is heard. */
enum status ask_no_query(const struct query *q, struct err *e);

#endif
