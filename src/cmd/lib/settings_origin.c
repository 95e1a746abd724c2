#include "cmd/lib/settings_origin.h"

#include "team/settings_check.h"

struct origin_walk {
    struct buf path;
    settings_value_fn *fn;
    void *ctx;
};

/* A section holds other keys; a value may be an object, too, as prices are. */
static bool
is_section(const char *path, const struct json *v)
{
    return json_is(v, JSON_OBJECT) && json_first(v) && !setting_find(path);
}

/* user and project are the same place in the two files; NULL: it is not in that one. */
static void
walk(struct origin_walk *w, const struct json *merged, const struct json *user,
     const struct json *project)
{
    size_t begin = w->path.len;

    json_each (v, merged) {
        const struct json *mine = json_getn(user, v->key, v->key_len);
        const struct json *theirs = json_getn(project, v->key, v->key_len);
        buf_cut(&w->path, begin);
        buf_addf(&w->path, "%s%.*s", begin ? "." : "", (int)v->key_len, v->key);
        if (buf_failed(&w->path))
            return;
        if (is_section(w->path.p, v))
            walk(w, v, mine, theirs);
        else
            w->fn(w->ctx, &(struct settings_value){ w->path.p, v, theirs != NULL, theirs && mine });
    }
    buf_cut(&w->path, begin);
}

void
settings_each(const struct settings *s, settings_value_fn *fn, void *ctx)
{
    struct origin_walk w = { .fn = fn, .ctx = ctx };

    walk(&w, s->merged, s->parts[0], s->parts[1]);
    buf_release(&w.path);
}
