#include "hubclient/file_lease.h"

#include "base/path_glob.h"

#include <string.h>

enum status
file_lease_others(struct hubclient *d, struct arena *a, const char *project,
                  const struct json **out, struct err *e)
{
    struct json *args = json_new(a, JSON_OBJECT), *yes = json_new(a, JSON_TRUE),
                *name = json_new_copy(a, project, strlen(project));
    struct hub_reply reply = { 0 };

    *out = NULL;
    if (!args || !yes || !name)
        return err_nomem(e);
    json_set(args, "project", name);
    json_set(args, "others", yes);
    enum status s = hubclient_call(d, a, HUB_LEASES, args, &reply, e);
    if (!s)
        *out = reply.data;
    return s;
}

const struct json *
file_lease_over(const struct json *leases, const char *path)
{
    char pattern[PATH_GLOB_MAX + 1];

    if (path_glob_check(path, NULL))
        return NULL;
    json_each (lease, leases) {
        const struct json *v = json_get(lease, "path");
        if (!json_is(v, JSON_STRING) || v->text.len > PATH_GLOB_MAX)
            continue;
        memcpy(pattern, v->text.p, v->text.len);
        pattern[v->text.len] = '\0';
        if (!path_glob_check(pattern, NULL) && path_glob_overlap(path, pattern))
            return lease;
    }
    return NULL;
}

static void
add_text(struct buf *to, const struct json *v)
{
    if (json_is(v, JSON_STRING))
        buf_add(to, v->text.p, v->text.len);
}

void
file_lease_says(struct buf *to, const char *file, const struct json *lease)
{
    const struct json *reason = json_get(lease, "reason");

    buf_addf(to, "%s is leased by ", file);
    add_text(to, json_get(lease, "holder"));
    buf_adds(to, " until ");
    add_text(to, json_get(lease, "expires_at"));
    if (json_is(reason, JSON_STRING)) {
        buf_adds(to, " (");
        add_text(to, reason);
        buf_addc(to, ')');
    }
}
