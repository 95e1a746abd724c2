#include "cmd/lib/hub_list.h"

#include <stdio.h>

enum status
hub_list(struct hub_call *c, enum hub_op op, struct json *args, bool is_all, struct err *e)
{
    struct json *list = json_new(&c->hub.arena, JSON_ARRAY);
    struct json **link = list ? &list->kids.first : NULL;
    struct hub_reply reply = { 0 };
    enum status s = list ? ST_OK : err_nomem(e);

    if (is_all && !json_get(args, "limit"))
        json_set(args, "limit", json_new_int(&c->hub.arena, HUB_LIMIT_MAX));
    do {
        if (!s && reply.cursor)
            s = hub_args_add(c, args, "after", reply.cursor, e);
        if (!s)
            s = hub_call(c, op, args, &reply, e);
        if (!s && json_is(reply.data, JSON_ARRAY) && reply.data->kids.first) {
            *link = reply.data->kids.first;
            list->kids.count += reply.data->kids.count;
            while (*link)
                link = &(*link)->next;
        }
    } while (!s && is_all && reply.cursor);
    if (!s)
        s = hub_show_list(c, list, hub_signal_columns, e);
    if (!s && reply.cursor)
        fprintf(stderr, "cliq: there is more: --after %s, or --all\n", reply.cursor);
    return s;
}
