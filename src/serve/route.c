#include "serve/route.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static const struct route_info own[] = {
    { "GET", "/", "the page for people", SCOPE_NONE, ROUTE_HOME, 0 },
    { "GET", "/health", "is the store there?", SCOPE_NONE, ROUTE_HEALTH, 0 },
    { "GET", "/metrics", "counters, for Prometheus", SCOPE_INBOX, ROUTE_METRICS, 0 },
    { "GET", "/openapi.json", "this interface, as OpenAPI 3.1", SCOPE_NONE, ROUTE_OPENAPI, 0 },
    { "GET", "/signals/stream", "signals as they come (SSE)", SCOPE_STREAM, ROUTE_STREAM, 0 },
    { "POST", "/signals/ticket", "a ticket for one stream", SCOPE_STREAM, ROUTE_TICKET, 0 },
    { "GET", "/v1/engine/events", "broadcast signals as they come (SSE)", SCOPE_STREAM,
      ROUTE_ENGINE_EVENTS, 0 },
};

enum { N_OWN = sizeof own / sizeof *own };

/* NULL: no more. */
static const char *
path_nth(size_t i)
{
    return i < N_OWN ? own[i].path : i - N_OWN < HUB_N_OPS ? hub_ops[i - N_OWN].path : NULL;
}

bool
route_nth(size_t i, struct route_info *info)
{
    if (i < N_OWN) {
        *info = own[i];
        return true;
    }
    i -= N_OWN;
    if (i >= HUB_N_OPS || !hub_ops[i].path) /* those without stand last */
        return false;
    *info = (struct route_info){ hub_ops[i].method, hub_ops[i].path, hub_ops[i].brief,
                                 hub_ops[i].scope,  ROUTE_OP,        (enum hub_op)i };
    return true;
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
    struct route_info info = { 0 };
    const char *template;
    bool is_found = false;

    *allow = '\0';
    if (path_len == 0 || path[0] != '/')
        return 404;
    if (method_len == 4 && memcmp(method, "HEAD", 4) == 0) {
        method = "GET";
        method_len = 3;
    }
    /* Two passes would be simpler to say: literal paths first. One is enough, since a
     * parameter never beats a literal that was found. */
    for (size_t i = 0; (template = path_nth(i)); i++) {
        if ((path_len > 1 && template[1] != path[1]) || !may_fit(template, path, path_len))
            continue; /* no template begins with a parameter */
        route_nth(i, &info);
        struct route at = { .kind = info.kind, .op = info.op, .scope = info.scope };
        if (!fits(info.path, path, path_len, &at))
            continue;
        if (strlen(info.method) != method_len || memcmp(info.method, method, method_len) != 0) {
            add_method(allow, info.method);
            continue;
        }
        if (!is_found || at.n_params < r->n_params)
            *r = at;
        is_found = true;
    }
    return is_found ? 200 : *allow ? 405 : 404;
}
