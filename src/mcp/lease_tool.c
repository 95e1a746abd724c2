#include "mcp/lease_tool.h"

#include "context/checkout.h"

#include <string.h>

static enum status
add_paths(struct arena *a, const struct checkout *here, const struct json *given, struct json *to,
          struct err *e)
{
    enum status s = ST_OK;

    json_each (v, given) {
        const char *text = json_dup_text(a, v), *path = NULL;
        if (!text) /* the hub refuses what is no text */
            return err_set(e, ST_INVALID, "paths must be a list of texts");
        s = checkout_path(here, ".", text, false, a, &path, e);
        if (s)
            break;
        json_add(to, json_new_str(a, path, strlen(path)));
    }
    return s;
}

/* The list of leases is asked for one path. */
static enum status
use_as_path(struct json *args, const struct json *paths, struct err *e)
{
    const struct json *first = json_first(paths);

    if (!first)
        return ST_OK;
    if (first->next)
        return err_set(e, ST_INVALID, "paths: list takes one path, or none for all leases");
    return json_set(args, "path", (struct json *)(uintptr_t)first) ? ST_OK : err_nomem(e);
}

enum status
mcp_lease_complete(struct mcp_request *r, struct err *e)
{
    const struct json *given = json_get(r->args, "paths"), *project = json_get(r->args, "project");
    struct json *args = json_new(r->arena, JSON_OBJECT), *paths = json_new(r->arena, JSON_ARRAY);
    struct checkout here;
    enum status s = ST_OK;

    if (!args || !paths)
        return err_nomem(e);
    if (given && !json_is(given, JSON_ARRAY))
        return err_set(e, ST_INVALID, "paths must be a list of texts");
    if (!project) {
        s = checkout_find(&here, ".", r->arena, e);
        if (!s)
            s = add_paths(r->arena, &here, given, paths, e);
        if (!s &&
            !json_set(args, "project", json_new_str(r->arena, here.project, strlen(here.project))))
            s = err_nomem(e);
    }
    json_each (v, r->args) {
        const char *key = arena_dup(r->arena, v->key, v->key_len);
        struct json *copy = json_new(r->arena, v->type);
        if (!key || !copy)
            return err_nomem(e);
        *copy = *v;
        copy->next = NULL;
        if (strcmp(key, "action") != 0 && (project || strcmp(key, "paths") != 0) &&
            !(r->op == HUB_LEASES && strcmp(key, "paths") == 0) && !json_set(args, key, copy))
            return err_nomem(e);
    }
    if (!s && r->op == HUB_LEASES)
        s = use_as_path(args, project ? given : paths, e);
    else if (!s && given && !project && !json_set(args, "paths", paths))
        s = err_nomem(e);
    r->args = args;
    return s;
}
