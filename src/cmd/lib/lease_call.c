#include "cmd/lib/lease_call.h"

#include "context/checkout.h"

#include <string.h>

const struct hub_column lease_columns[] = {
    { "PATH", "path" },     { "HOLDER", "holder" },   { "UNTIL", "expires_at" },
    { "REASON", "reason" }, { "PROJECT", "project" }, { 0 },
};

/* Adds "project" and, of the words, "paths". */
static enum status
add_paths(struct hub_call *c, struct json *args, const struct args *a, struct err *e)
{
    struct arena *arena = &c->hub.arena;
    struct json *paths = json_new(arena, JSON_ARRAY);
    struct checkout here;
    enum status s = paths ? checkout_find(&here, ".", arena, e) : err_nomem(e);

    for (size_t i = 0; !s && i < a->n_words; i++) {
        const char *path = NULL;
        s = checkout_path(&here, ".", a->words[i], false, arena, &path, e);
        struct json *v = s ? NULL : json_new_str(arena, path, strlen(path));
        if (v)
            json_add(paths, v);
        else if (!s)
            s = err_nomem(e);
    }
    if (!s)
        s = hub_args_add(c, args, "project", here.project, e);
    if (!s && a->n_words)
        json_set(args, "paths", paths);
    return s;
}

enum status
lease_call(const struct args *a, enum hub_op op, const struct hub_field *fields, struct err *e)
{
    struct hub_call c;
    struct hub_reply reply;
    struct json *args;
    enum status s = hub_call_begin(&c, a, e);

    if (!s)
        s = hub_args(&c, a, fields, &args, e);
    if (!s)
        s = add_paths(&c, args, a, e);
    if (!s)
        s = hub_call(&c, op, args, &reply, e);
    if (!s)
        s = hub_show_list(&c, reply.data, lease_columns, e);
    hub_call_end(&c);
    return s;
}
