#include "hub/index/file_leases.h"

#include "base/path_glob.h"

#include <string.h>

bool
file_lease_read(struct row *r, struct arena *a, struct file_lease *out)
{
    const char **const texts[] = { &out->id, &out->project, &out->path, &out->holder };

    for (int i = 0; i < 4; i++) {
        *texts[i] = row_dup(r, i, a);
        if (!*texts[i])
            return false;
    }
    out->reason = row_dup(r, 4, a);
    out->taken = row_int(r, 5);
    out->until = row_int(r, 6);
    out->boot_until = row_int(r, 7);
    out->boot = row_dup(r, 8, a);
    return out->boot && (out->reason || row_is_null(r, 4));
}

static const char *
path_text(const struct json *v, struct arena *a)
{
    return json_is(v, JSON_STRING) && !memchr(v->text.p, '\0', v->text.len)
               ? arena_dup(a, v->text.p, v->text.len)
               : NULL;
}

bool
file_leases_find_other(struct index *ix, const char *project, const char *holder,
                       const struct json *paths, struct arena *a, struct file_lease *out,
                       const struct json **path)
{
    struct row *r = index_run(ix,
                              "SELECT" FILE_LEASE_ROW " FROM file_leases WHERE project = ?1"
                              " AND holder <> ?2 ORDER BY holder, path",
                              "ss", project, holder);

    while (index_next(ix, r)) {
        const char *theirs = row_text(r, 2);
        json_each (v, paths) {
            const char *ours = path_text(v, a);
            if (!ours || !path_glob_overlap(ours, theirs))
                continue;
            *path = v;
            if (!file_lease_read(r, a, out))
                index_out_of_memory(ix);
            return true;
        }
    }
    return false;
}

static bool
are_patterns(const struct json *paths, struct arena *a)
{
    json_each (v, paths) {
        const char *text = path_text(v, a);
        if (!text || path_glob_check(text, NULL))
            return false;
    }
    return json_is(paths, JSON_ARRAY) && json_first(paths);
}

static bool
take(struct index *ix, const struct hub_event *ev, uint64_t seq, struct arena *a)
{
    struct file_lease other;
    const struct json *path;

    if (!ev->until || !are_patterns(ev->paths, a) ||
        file_leases_find_other(ix, ev->project, ev->by, ev->paths, a, &other, &path))
        return false;
    json_each (v, ev->paths)
        index_do(ix, "INSERT OR REPLACE INTO file_leases VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                 "ssssisiisi", ev->project, ev->by, path_text(v, a), ev->id, ev->at, ev->reason,
                 ev->until, ev->boot_until, ev->boot, (int64_t)seq);
    return true;
}

static bool
end(struct index *ix, const struct hub_event *ev, struct arena *a)
{
    int n = 0;

    if (!ev->paths)
        return index_do(ix, "DELETE FROM file_leases WHERE id = ?", "s", ev->id) > 0;
    json_each (v, ev->paths) {
        const char *text = path_text(v, a);
        if (text)
            n += index_do(ix, "DELETE FROM file_leases WHERE id = ? AND path = ?", "ss", ev->id,
                          text);
    }
    return n > 0;
}

bool
file_leases_apply(struct index *ix, const struct hub_event *ev, uint64_t seq, struct arena *a)
{
    return ev->kind == EV_LEASE ? take(ix, ev, seq, a) : end(ix, ev, a);
}
