#include "team/installed_agents.h"

#include "base/path.h"
#include "base/sys.h"
#include "team/manifest.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

enum { INSTALLED_MAX = 10000 }; /* more than this is an error: the directory holds something else */

/* Reads one agent; `all` is the directory of all installed agents. */
static enum status
read_one(struct arena *a, const char *all, const char *name, struct installed *out, struct err *e)
{
    struct buf path = { 0 };

    *out = (struct installed){ .name = arena_dup(a, name, strlen(name)) };
    buf_addf(&path, "%s/%s", all, name);
    out->dir = buf_failed(&path) ? NULL : arena_dup(a, path.p, path.len);
    buf_release(&path);
    if (!out->name || !out->dir)
        return err_nomem(e);
    enum status s = manifest_read(a, out->dir, &out->manifest, e);
    const struct json *entry = json_get(out->manifest, "entry");
    if (!s && json_is(entry, JSON_STRING) && entry->text.len &&
        !(out->entry = arena_dup(a, entry->text.p, entry->text.len)))
        return err_nomem(e);
    return s;
}

static enum status
directory(struct buf *to, struct err *e)
{
    enum status s = path_config(to, e);

    if (s)
        return s;
    buf_adds(to, "/agents");
    return buf_status(to, "the path of the agents", e);
}

enum status
installed_read(struct arena *a, const char *name, struct installed *out, struct err *e)
{
    struct buf all = { 0 };
    enum status s = directory(&all, e);

    *out = (struct installed){ .name = name };
    if (!s)
        s = read_one(a, all.p, name, out, e);
    buf_release(&all);
    return s;
}

/* ---- all ---- */

static int
by_name(const void *a, const void *b)
{
    return strcmp(((const struct installed *)a)->name, ((const struct installed *)b)->name);
}

/* Adds it when it is an agent; an error in its manifest becomes its `fault`. */
static enum status
add(struct arena *a, const char *all, const char *name, struct installed *to, size_t *n,
    struct err *e)
{
    struct err why;
    enum status s = read_one(a, all, name, to, &why);

    if (s && !to->dir) {
        err_say(e, "%s", why.text);
        return s;
    }
    if (s && !(to->fault = arena_dup(a, why.text, strlen(why.text))))
        return err_nomem(e);
    *n += to->fault || to->entry;
    return ST_OK;
}

static size_t
count(DIR *d)
{
    size_t n = 0;

    while (n < INSTALLED_MAX && readdir(d))
        n++;
    rewinddir(d);
    return n;
}

enum status
installed_list(struct arena *a, struct installed **out, size_t *n, struct err *e)
{
    struct buf all = { 0 };
    enum status s = directory(&all, e);
    DIR *d = s ? NULL : opendir(all.p);

    *n = 0;
    *out = NULL;
    if (!s && !d && errno != ENOENT)
        s = err_sys(e, "read %s", all.p);
    size_t room = d ? count(d) : 0;
    if (room && !(*out = arena_alloc(a, room * sizeof **out)))
        s = err_nomem(e);
    for (struct dirent *f; d && !s && *n < room && (f = readdir(d));)
        if (path_is_name(f->d_name))
            s = add(a, all.p, f->d_name, &(*out)[*n], n, e);
    if (!s && *out)
        qsort(*out, *n, sizeof **out, by_name);
    if (d)
        closedir(d);
    buf_release(&all);
    return s;
}
