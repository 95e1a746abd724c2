#include "serve/route.h"

#include "base/buf.h"
#include "serve/file_route.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static const struct route_info own[] = {
    { "GET", "/", "the page for people", SCOPE_NONE, ROUTE_HOME, 0, NULL },
    { "GET", "/web/:version/:name", "a file of that page", SCOPE_NONE, ROUTE_WEB, 0, NULL },
    { "GET", "/health", "is the store there?", SCOPE_NONE, ROUTE_HEALTH, 0, NULL },
    { "GET", "/metrics", "counters, for Prometheus", SCOPE_INBOX, ROUTE_METRICS, 0, NULL },
    { "GET", "/openapi.json", "this interface, as OpenAPI 3.1", SCOPE_NONE, ROUTE_OPENAPI, 0,
      NULL },
    { "GET", "/signals/stream", "signals as they come (SSE)", SCOPE_STREAM, ROUTE_STREAM, 0, NULL },
    { "POST", "/signals/ticket", "a ticket for one stream", SCOPE_STREAM, ROUTE_TICKET, 0, NULL },
    { "GET", "/whoami", "the key's identity and scopes", ROUTE_ANY_KEY, ROUTE_WHOAMI, 0, NULL },
    { "POST", "/sign-in", "exchange a ticket of /sign-in/ticket for its key, once", SCOPE_NONE,
      ROUTE_SIGN_IN, 0, NULL },
    { "POST", "/sign-in/ticket", "a ticket that hands this key to a browser", ROUTE_ANY_KEY,
      ROUTE_SIGN_IN_TICKET, 0, NULL },
    { "POST", "/mcp", "the tools of cliq for agents, as JSON-RPC (Model Context Protocol)",
      SCOPE_INBOX, ROUTE_MCP, 0, NULL },
    { "GET", "/v1/engine/events", "broadcast signals as they come (SSE)", SCOPE_STREAM,
      ROUTE_ENGINE_EVENTS, 0, NULL },
};

enum { ROUTES_MAX = 160 };

/* All of them, gathered at the first call: every request walks through them. */
static struct route_info routes[ROUTES_MAX];
static size_t n_routes;

static void
add_route(struct route_info r)
{
    assert(n_routes < ROUTES_MAX);
    routes[n_routes++] = r;
}

static void
gather(void)
{
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        add_route(own[i]);
    for (size_t i = 0; i < HUB_N_OPS && hub_ops[i].path; i++) { /* those without stand last */
        const struct hub_op_info *op = &hub_ops[i];
        add_route((struct route_info){ op->method, op->path, op->brief, op->scope, ROUTE_OP,
                                       (enum hub_op)i, NULL });
    }
    for (const struct file_route *const *t = file_route_tables; *t; t++)
        for (const struct file_route *f = *t; f->path; f++)
            add_route(
                (struct route_info){ f->method, f->path, f->brief, f->scope, ROUTE_FILE, 0, f });
}

bool
route_nth(size_t i, struct route_info *info)
{
    if (!n_routes)
        gather();
    if (i < n_routes)
        *info = routes[i];
    return i < n_routes;
}

bool
route_takes_package(const struct route *r)
{
    return r->kind == ROUTE_FILE && r->file->takes_package;
}

/* Up to the template's first parameter, are they the same? */
static bool
may_fit(const char *template, const char *path, size_t len)
{
    size_t i = 0;

    while (i < len && template[i] == path[i] && template[i] != ':')
        i++;
    return template[i] == ':' || (i == len && !template[i]);
}

/* Does the path have the template's form? Its parameters come in *r. */
static bool
fits(const char *template, const char *path, size_t len, struct route *r)
{
    const char *t = template + 1, *p = path + 1, *end = path + len;

    r->n_params = 0;
    for (;;) {
        size_t tn = strcspn(t, "/");
        const char *slash = memchr(p, '/', (size_t)(end - p));
        size_t pn = (size_t)((slash ? slash : end) - p);
        if (*t == ':') {
            struct route_param *param = &r->params[r->n_params++];
            if (pn == 0)
                return false;
            assert(tn <= sizeof param->name);
            memcpy(param->name, t + 1, tn - 1);
            param->name[tn - 1] = '\0';
            param->value = p;
            param->len = pn;
        } else if (pn != tn || memcmp(t, p, tn) != 0) {
            return false;
        }
        if (!t[tn] || !slash)
            return !t[tn] && !slash;
        t += tn + 1;
        p += pn + 1;
    }
}

static void
add_method(char allow[64], const char *method)
{
    size_t n = strlen(allow);

    if (!strstr(allow, method))
        snprintf(allow + n, 64 - n, "%s%s%s", n ? ", " : "", method,
                 strcmp(method, "GET") == 0 ? ", HEAD" : "");
}

int
route_find(const char *method, size_t method_len, const char *path, size_t path_len,
           struct route *r, char allow[64])
{
    bool is_found = false;

    *allow = '\0';
    if (path_len == 0 || path[0] != '/')
        return 404;
    if (method_len == 4 && memcmp(method, "HEAD", 4) == 0) {
        method = "GET";
        method_len = 3;
    }
    if (!n_routes)
        gather();
    for (const struct route_info *i = routes; i < routes + n_routes; i++) {
        if ((path_len > 1 && i->path[1] != path[1]) || !may_fit(i->path, path, path_len))
            continue; /* no template begins with a parameter */
        struct route at = { .kind = i->kind, .op = i->op, .file = i->file, .scope = i->scope };
        if (!fits(i->path, path, path_len, &at))
            continue;
        if (strlen(i->method) != method_len || memcmp(i->method, method, method_len) != 0) {
            add_method(allow, i->method);
            continue;
        }
        if (!is_found || at.n_params < r->n_params)
            *r = at;
        is_found = true;
        if (at.n_params == 0)
            break; /* a literal path wins */
    }
    return is_found ? 200 : *allow ? 405 : 404;
}

/* ---- arguments ---- */

static enum status
set_text(struct arena *a, struct json *args, const char *key, const char *value, struct err *e)
{
    struct json *v = json_new_str(a, value, strlen(value));
    const char *kept = arena_dup(a, key, strlen(key));

    if (!v || !kept)
        return err_nomem(e);
    json_set(args, kept, v);
    return ST_OK;
}

/* Admission reads these. */
static bool
is_secret(const char *name)
{
    return strcmp(name, "token") == 0 || strcmp(name, "ticket") == 0;
}

static enum status
read_query(struct arena *a, struct route_text text, struct json *args, struct err *e)
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
route_no_query(const struct query *q, struct err *e)
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
read_body(struct arena *a, struct route_text query, struct route_text body, struct json **args,
          struct err *e)
{
    struct json_fault where;
    struct query q;
    enum status s = query_parse(&q, a, query.p ? query.p : "", query.len, e);

    if (!s)
        s = route_no_query(&q, e);
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
route_args(struct arena *a, const struct route *route, struct route_text query,
           struct route_text body, struct json **args, struct err *e)
{
    bool is_query = body.len == 0 || (route->kind == ROUTE_OP && !hub_ops[route->op].writes);
    enum status s;

    *args = json_new(a, JSON_OBJECT);
    if (!*args)
        return err_nomem(e);
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
