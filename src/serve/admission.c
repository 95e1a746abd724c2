#include "serve/admission.h"

#include <string.h>
#include <strings.h>

static bool
same(struct admission_text t, const char *s)
{
    return t.len == strlen(s) && strncasecmp(t.p, s, t.len) == 0;
}

static bool
is_one_of(const char *const *hosts, struct admission_text host)
{
    for (const char *const *h = hosts; h && *h; h++)
        if (same(host, *h))
            return true;
    return false;
}

/* The host of an origin with that scheme; empty: it has another one. */
static struct admission_text
host_of(struct admission_text origin, const char *scheme)
{
    size_t n = strlen(scheme);

    if (origin.len <= n || strncasecmp(origin.p, scheme, n) != 0)
        return (struct admission_text){ "", 0 };
    return (struct admission_text){ origin.p + n, origin.len - n };
}

/* "http://localhost:3000" of a page that we served; "https://hub.example" of one that went through
 * a reverse proxy. */
static bool
is_our_origin(const struct admission_rules *rules, struct admission_text origin)
{
    return is_one_of(rules->hosts, host_of(origin, "http://")) ||
           is_one_of(rules->proxied, host_of(origin, "https://"));
}

static void
deny(struct admission_verdict *v, int status, const char *code, const char *message)
{
    *v = (struct admission_verdict){ .status = status, .code = code, .message = message };
}

/* "application/json", whatever stands behind a ';'. */
static bool
is_json(struct admission_text type)
{
    const char *semicolon = type.p ? memchr(type.p, ';', type.len) : NULL;
    size_t n = semicolon ? (size_t)(semicolon - type.p) : type.len;

    while (n > 0 && (type.p[n - 1] == ' ' || type.p[n - 1] == '\t'))
        n--;
    return same((struct admission_text){ type.p, n }, "application/json");
}

/* The content type of the route's body: JSON, but for a package. */
static bool
is_right_type(const struct route *route, struct admission_text type)
{
    return route_takes_package(route) ? same(type, "application/gzip") : is_json(type);
}

/* Nothing is unpacked here: packed bytes would only be bad JSON to us. */
static bool
is_packed(struct admission_text encoding)
{
    return encoding.p && encoding.len > 0 && !same(encoding, "identity");
}

static struct admission_text
bearer(struct admission_text authorization)
{
    static const char scheme[] = "Bearer ";
    size_t n = sizeof scheme - 1;

    if (!authorization.p || authorization.len <= n || strncasecmp(authorization.p, scheme, n) != 0)
        return (struct admission_text){ 0 };
    while (n < authorization.len && authorization.p[n] == ' ')
        n++;
    return (struct admission_text){ authorization.p + n, authorization.len - n };
}

void
admission_check(const struct admission_rules *rules, const struct route *route,
                const struct admission_request *r, struct admission_verdict *v)
{
    bool is_stream = route->kind == ROUTE_STREAM || route->kind == ROUTE_ENGINE_EVENTS;

    *v = (struct admission_verdict){ .status = 200 };
    if (!r->is_local && (!r->host.p || !is_one_of(rules->hosts, r->host)))
        deny(v, 421, "HOST_NOT_SERVED", "this server does not answer to that Host");
    else if (r->origin.p && !is_our_origin(rules, r->origin))
        deny(v, 403, "ORIGIN_FORBIDDEN", "requests from pages of other origins are refused");
    else if (r->fetch_site.p && same(r->fetch_site, "cross-site") && route->kind != ROUTE_HOME)
        deny(v, 403, "ORIGIN_FORBIDDEN", "requests from pages of other sites are refused");
    else if (r->has_body && !r->is_get && !is_right_type(route, r->content_type))
        deny(v, 415, "CONTENT_TYPE",
             route_takes_package(route)
                 ? "the body must be a package, Content-Type: application/gzip"
                 : "the body must be Content-Type: application/json");
    else if (r->has_body && is_packed(r->encoding))
        deny(v, 415, "CONTENT_TYPE", "the body must be sent as it is, without Content-Encoding");
    if (v->status != 200 || route->scope == SCOPE_NONE)
        return;
    v->key = bearer(r->authorization);
    if (v->key.p)
        return;
    if (is_stream && r->ticket.p)
        v->ticket = r->ticket;
    else if (is_stream && r->token.p && rules->allows_token)
        v->key = r->token;
    else
        deny(v, 401, "AUTH_REQUIRED",
             "send a key: Authorization: Bearer cho_... (cliq key create makes one)");
}

bool
admission_allows(unsigned scopes, const struct route *route)
{
    bool is_reading = route->kind == ROUTE_OP
                          ? route->scope == SCOPE_INBOX && !hub_ops[route->op].writes
                      : route->kind == ROUTE_FILE ? route->scope == SCOPE_INBOX
                                                  : route->scope == SCOPE_STREAM;

    if (route->kind == ROUTE_MCP ||
        route->scope == ROUTE_ANY_KEY) /* each tool has its own (mcp_route.h) */
        return scopes != 0;
    return scopes & SCOPE_ADMIN || (scopes & route->scope) == route->scope ||
           (scopes & SCOPE_AUDIT && is_reading);
}
