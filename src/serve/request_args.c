#include "serve/request_args.h"

#include "base/buf.h"

#include <string.h>

static enum status
set_text(struct arena *a, struct json *args, const char *key, const char *value, struct err *e)
{
    struct json *v = json_new_str(a, value, strlen(value));
    const char *kept = arena_dup(a, key, strlen(key));

    if (!v || !kept)
        return err_set(e, ST_IO, "out of memory");
    json_set(args, kept, v);
    return ST_OK;
}

/* It is the gate that reads these. */
static bool
is_secret(const char *name)
{
    return strcmp(name, "token") == 0 || strcmp(name, "ticket") == 0;
}

static enum status
read_query(struct arena *a, struct request_text text, struct json *args, struct err *e)
{
    struct query q;
    enum status s = query_parse(&q, a, text.p ? text.p : "", text.len, e);

    for (size_t i = 0; !s && i < q.n; i++) {
        if (query_count(&q, q.pairs[i].name) > 1)
            return err_set(e, ST_INVALID, "the parameter %s is given more than once",
                           q.pairs[i].name);
        if (!is_secret(q.pairs[i].name))
            s = set_text(a, args, q.pairs[i].name, q.pairs[i].value, e);
    }
    return s;
}

enum status
request_args_no_query(const struct query *q, struct err *e)
{
    struct buf names = { 0 };
    enum status s = ST_OK;

    for (size_t i = 0; i < q->n; i++)
        if (!is_secret(q->pairs[i].name))
            buf_addf(&names, "%s%.40s", names.len ? ", " : "", q->pairs[i].name);
    if (names.len)
        s = err_set(e, ST_INVALID,
                    "the query has %.200s, and only the body is heard here: put it there, or leave "
                    "it away",
                    names.p);
    buf_release(&names);
    return s;
}

static enum status
read_body(struct arena *a, struct request_text query, struct request_text body, struct json **args,
          struct err *e)
{
    struct json_fault where;
    struct query q;
    enum status s = query_parse(&q, a, query.p ? query.p : "", query.len, e);

    if (!s)
        s = request_args_no_query(&q, e);
    if (s)
        return s;
    if (!json_parse(a, body.p, body.len, args, &where))
        return err_set(e, ST_INVALID, "the body is not JSON: %zu:%zu: %s", (size_t)where.line,
                       (size_t)where.column, where.what);
    if (!json_is(*args, JSON_OBJECT))
        return err_set(e, ST_INVALID, "the body must be a JSON object");
    return ST_OK;
}

enum status
request_args_read(struct arena *a, const struct route *route, struct request_text query,
                  struct request_text body, struct json **args, struct err *e)
{
    bool is_query = route->kind != ROUTE_OP || !hub_ops[route->op].writes || body.len == 0;
    enum status s;

    *args = json_new(a, JSON_OBJECT);
    if (!*args)
        return err_set(e, ST_IO, "out of memory");
    s = is_query ? read_query(a, query, *args, e) : read_body(a, query, body, args, e);
    for (size_t i = 0; !s && i < route->n_params; i++) {
        const char *value;
        s = url_decode(a, route->params[i].value, route->params[i].len, "the path", &value, e);
        if (!s && json_get(*args, route->params[i].name))
            return err_set(e, ST_INVALID, "%s stands in the path; leave the parameter away",
                           route->params[i].name);
        if (!s)
            s = set_text(a, *args, route->params[i].name, value, e);
    }
    return s;
}
