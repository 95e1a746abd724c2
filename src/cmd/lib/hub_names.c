#include "cmd/lib/hub_names.h"

#include "base/suggest.h"

#include <string.h>

bool
hub_names_has(struct hub_call *c, enum hub_op op, const char *name, const char **near)
{
    struct suggest close = { .word = name };
    struct hub_reply reply;
    struct json *args;

    *near = NULL;
    if (hub_args(c, NULL, NULL, &args, NULL) || hub_call(c, op, args, &reply, NULL))
        return true;
    json_each (v, reply.data) {
        const char *id = hub_text(c, json_get(v, "id"));
        if (id && strcmp(id, name) == 0)
            return true;
        if (id)
            suggest_try(&close, id);
    }
    *near = close.best;
    return false;
}
