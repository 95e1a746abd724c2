/*
 * file_lease_ops - leases of files: taken, released, listed, and ended when their time is over.
 *
 * Each change is a group of two lines: the bookkeeping line that counts (index/file_leases.h), and
 * a signal that tells it: lease:<holder>:taken, :released or :expired, with
 *
 *     {"lease":"k3v9…","project":"git:example.org/web","paths":["src"],"reason":null,"until":…}
 *
 * as data. It goes to everyone: streams show it, and the inboxes of those that subscribe to
 * lease:*:released. A holder whose lease ends without its doing finds it in its inbox, because the
 * signal is addressed to it. A holder that takes again what it has, to have it longer, writes no
 * signal.
 *
 * Tests: test/unit/test_hub_leases.c test/cli/lease.bats
 */
#include "hub/hub_impl.h"

#include "base/clock.h"
#include "base/path_glob.h"
#include "hub/index/file_leases.h"
#include "hub/model/signal_id.h"

#include <inttypes.h>
#include <string.h>

static const char *
new_bare_id(struct arena *a, struct refusal *r)
{
    char id[HUB_ID_SIZE];
    struct err e;

    if (hub_new_id(id, &e)) {
        refuse(r, 503, "STORE_UNAVAILABLE", "%s", e.text);
        return NULL;
    }
    const char *kept = arena_dup(a, hub_event_bare_id(id), EVENT_ID_LEN);
    if (!kept)
        refuse_starved(r);
    return kept;
}

/* ---- the lines ---- */

/* {"lease":…,"project":…,"paths":…,"reason":…,"until":…} */
static struct json *
signal_data(const struct hub_event *lease, struct arena *a)
{
    struct buf b = { 0 };
    struct json *data = NULL;

    json_open(&b, '{');
    render_text(&b, "lease", lease->id);
    render_text(&b, "project", lease->project);
    json_key_json(&b, "paths", lease->paths);
    render_text(&b, "reason", lease->reason);
    json_key_int(&b, "until", lease->until);
    json_close(&b, '}');
    const char *text = buf_failed(&b) ? NULL : arena_dup(a, b.p, b.len);
    if (text && !json_parse(a, text, b.len, &data, NULL))
        data = NULL;
    buf_release(&b);
    return data;
}

/* Writes the event, and before it the signal that tells it. `lease` has all members of the lease;
 * by: the identity that did it, NULL: its time is over. */
static bool
put(struct hub *h, const struct hub_event *ev, const struct hub_event *lease, const char *by,
    const char *what, struct arena *a, struct refusal *r)
{
    struct buf type = { 0 };
    const char *id = new_bare_id(a, r);
    bool is_holder = by && strcmp(by, lease->by) == 0;

    buf_addf(&type, "lease:%s:%s", lease->by, what);
    struct hub_event signal = { .kind = EV_SIGNAL,
                                .id = id,
                                .type = buf_failed(&type) ? NULL : arena_dup(a, type.p, type.len),
                                .data = signal_data(lease, a),
                                .by = by,
                                .to_identity = is_holder ? NULL : lease->by,
                                .at = h->now.wall_ms };
    signal.source = signal_source_json(
        a, &(struct signal_source){ .kind = by ? SOURCE_AGENT : SOURCE_SYSTEM,
                                    .id = { by ? by : "", by ? strlen(by) : 0 } });
    buf_release(&type);
    if (!id)
        return false;
    if (!signal.type || !signal.data || !signal.source)
        return refuse_starved(r);
    return hub_add_line(h, &signal, r) && hub_add_line(h, ev, r);
}

/* ---- the answer ---- */

static void
render_lease(struct buf *to, const struct file_lease *l)
{
    json_sep(to);
    json_open(to, '{');
    render_text(to, "id", l->id);
    render_text(to, "project", l->project);
    render_text(to, "path", l->path);
    render_text(to, "holder", l->holder);
    render_text(to, "reason", l->reason);
    render_time(to, "taken_at", l->taken);
    render_time(to, "expires_at", l->until);
    json_close(to, '}');
}

/* Refuses, and tells the lease as details. */
static bool
refuse_leased(struct op *t, const struct file_lease *l, const struct json *path)
{
    char until[CLOCK_ISO_SIZE];

    buf_reset(t->out);
    render_lease(t->out, l);
    t->reply->details = buf_failed(t->out) ? NULL : arena_dup(t->a, t->out->p, t->out->len);
    return refuse(&t->refusal, 409, "FILE_LEASED",
                  "paths: %.*s is leased by %s until %s%s%.200s%s%s%.200s", (int)path->text.len,
                  path->text.p, l->holder, clock_iso_ms(until, l->until), l->reason ? " (" : "",
                  l->reason ? l->reason : "", l->reason ? ")" : "",
                  json_eq(path, l->path) ? "" : ", as ", json_eq(path, l->path) ? "" : l->path);
}

/* ---- take ---- */

static bool
take_paths(struct op *t, const struct json **out)
{
    const struct json *paths = NULL;
    size_t n = 0;
    struct err e;

    if (!arg_texts(&t->in, "paths", &paths))
        return false;
    json_each (v, paths) {
        const char *text = arena_dup(t->a, v->text.p, v->text.len);
        if (!text)
            return refuse_starved(&t->refusal);
        if (path_glob_check(text, &e))
            return refuse(&t->refusal, 400, "VALIDATION_INVALID_TYPE", "paths: %s", e.text);
        if (++n > FILE_LEASE_PATHS_MAX)
            return refuse(&t->refusal, 400, "VALIDATION_INVALID_TYPE", "paths has more than %d",
                          FILE_LEASE_PATHS_MAX);
    }
    *out = n ? paths : NULL;
    return true;
}

static bool
take_project(struct op *t, const char **out)
{
    if (!arg_text(&t->in, "project", out))
        return false;
    return *out || arg_missing(&t->in, "project");
}

/* Does the caller hold each of these paths already? */
static bool
holds_all(struct op *t, const char *project, const struct json *paths)
{
    json_each (v, paths) {
        const char *text = arena_dup(t->a, v->text.p, v->text.len);
        struct row *r = index_run(
            t->h->ix, "SELECT 1 FROM file_leases WHERE project = ? AND holder = ? AND path = ?",
            "sss", project, t->req->identity, text ? text : "");
        if (!index_next(t->h->ix, r))
            return false;
    }
    return true;
}

static bool
has_room(struct op *t, const char *project)
{
    struct row *r =
        index_run(t->h->ix, "SELECT count(*) FROM file_leases WHERE project = ?", "s", project);

    return !index_next(t->h->ix, r) ||
           row_int(r, 0) + FILE_LEASE_PATHS_MAX <= FILE_LEASE_PROJECT_MAX ||
           refuse(&t->refusal, 409, "FILE_LEASED",
                  "project: %d of its paths are leased; a pattern as src/** is one path",
                  (int)row_int(r, 0));
}

bool
op_lease_take(struct op *t)
{
    const struct hub_now *now = &t->h->now;
    struct hub_event ev = { .kind = EV_LEASE, .by = t->req->identity, .at = now->wall_ms };
    const struct json *path;
    struct file_lease other;
    int64_t ttl_s = HUB_FILE_LEASE_S;

    if (!take_project(t, &ev.project) || !take_paths(t, &ev.paths) ||
        !arg_int(&t->in, "ttl_seconds", &ttl_s) || !arg_text(&t->in, "reason", &ev.reason))
        return false;
    if (!ev.paths)
        return arg_missing(&t->in, "paths");
    if (file_leases_find_other(t->h->ix, ev.project, ev.by, ev.paths, t->a, &other, &path))
        return refuse_leased(t, &other, path);
    ev.until = now->wall_ms + ttl_s * 1000;
    if (now->boot[0]) {
        ev.boot = now->boot;
        ev.boot_until = now->boot_up_ms + ttl_s * 1000;
    }
    ev.id = new_bare_id(t->a, &t->refusal);
    if (!ev.id || !has_room(t, ev.project))
        return false;
    bool is_good = holds_all(t, ev.project, ev.paths)
                       ? op_event(t, &ev)
                       : put(t->h, &ev, &ev, ev.by, "taken", t->a, &t->refusal);
    if (!is_good)
        return false;
    t->reply->seq = t->h->next_seq - 1;
    json_open(t->out, '[');
    json_each (v, ev.paths)
        render_lease(t->out, &(struct file_lease){ .id = ev.id,
                                                   .project = ev.project,
                                                   .path = arena_dup(t->a, v->text.p, v->text.len),
                                                   .holder = ev.by,
                                                   .reason = ev.reason,
                                                   .taken = ev.at,
                                                   .until = ev.until });
    json_close(t->out, ']');
    return true;
}

/* ---- ends ---- */

/* Is it one of the paths? NULL: all are. */
static bool
is_among(const struct json *paths, const char *path)
{
    json_each (v, paths)
        if (json_eq(v, path))
            return true;
    return !paths;
}

/* Ends these paths of a lease: those from `at` on that have its id. Returns the first other one. */
static size_t
end_lease(struct hub *h, const struct file_lease *list, size_t at, size_t n, const char *by,
          struct arena *a, struct refusal *r, bool *is_good)
{
    const struct file_lease *l = &list[at];
    struct json *paths = json_new(a, JSON_ARRAY);
    size_t i = at;

    for (; i < n && strcmp(list[i].id, l->id) == 0; i++) {
        struct json *path = json_new_str(a, list[i].path, strlen(list[i].path));
        if (paths && path)
            json_add(paths, path);
        else
            paths = NULL;
    }
    const struct hub_event ev = { .kind = EV_LEASE_END,
                                  .id = l->id,
                                  .by = by,
                                  .at = h->now.wall_ms,
                                  .state = by ? "released" : "expired",
                                  .paths = paths };
    const struct hub_event lease = { .id = l->id,
                                     .by = l->holder,
                                     .project = l->project,
                                     .paths = paths,
                                     .reason = l->reason,
                                     .until = l->until };
    *is_good = paths ? put(h, &ev, &lease, by, ev.state, a, r) : refuse_starved(r);
    return i;
}

/* The rows as a list in the arena, at most `most`; those of one lease stand together. */
static struct file_lease *
read_leases(struct index *ix, struct row *r, size_t most, struct arena *a, size_t *n)
{
    struct file_lease *list = arena_alloc(a, most * sizeof *list);

    *n = 0;
    while (list && *n < most && index_next(ix, r))
        if (!file_lease_read(r, a, &list[(*n)++])) {
            index_out_of_memory(ix);
            return NULL;
        }
    return list;
}

bool
op_lease_release(struct op *t)
{
    const char *project = NULL, *holder = NULL;
    const struct json *paths = NULL;
    size_t n = 0, kept = 0;
    bool is_good = true;

    if (!take_project(t, &project) || !take_paths(t, &paths) ||
        !arg_name(&t->in, "holder", &holder))
        return false;
    if (holder && strcmp(holder, t->req->identity) != 0 && !t->req->is_admin)
        return refuse(&t->refusal, 403, "AUTH_FORBIDDEN", "holder: only an admin ends leases of %s",
                      holder);
    holder = holder ? holder : t->req->identity;
    struct file_lease *list =
        read_leases(t->h->ix,
                    index_run(t->h->ix,
                              "SELECT" FILE_LEASE_ROW " FROM file_leases WHERE project = ?"
                              " AND holder = ? ORDER BY id, path",
                              "ss", project, holder),
                    FILE_LEASE_PROJECT_MAX, t->a, &n);
    if (!list)
        return refuse_starved(&t->refusal);
    for (size_t i = 0; i < n; i++)
        if (is_among(paths, list[i].path))
            list[kept++] = list[i];
    if (!kept && paths)
        return refuse(&t->refusal, 404, "SIGNAL_NOT_FOUND", "paths: %s has leased none of them",
                      holder);
    for (size_t i = 0; is_good && i < kept;)
        i = end_lease(t->h, list, i, kept, t->req->identity, t->a, &t->refusal, &is_good);
    if (!is_good)
        return false;
    if (kept)
        t->reply->seq = t->h->next_seq - 1;
    json_open(t->out, '[');
    for (size_t i = 0; i < kept; i++)
        render_lease(t->out, &list[i]);
    json_close(t->out, ']');
    return true;
}

size_t
hub_do_file_leases(struct hub *h, struct arena *a, size_t most)
{
    struct refusal r;
    size_t n = 0;
    bool is_good = true;
    struct file_lease *list =
        read_leases(h->ix,
                    index_run(h->ix,
                              "SELECT" FILE_LEASE_ROW " FROM file_leases WHERE"
                              " CASE WHEN boot = ?1 AND ?1 <> '' THEN boot_until <= ?2"
                              " ELSE until <= ?3 END ORDER BY id, path LIMIT ?4",
                              "siii", h->boot, h->now.boot_ms, h->now.wall_ms, (int64_t)most),
                    most, a, &n);

    for (size_t i = 0; list && is_good && i < n;) {
        h->unit++;
        i = end_lease(h, list, i, n, NULL, a, &r, &is_good);
    }
    return list && is_good ? n : 0;
}

/* ---- list ---- */

bool
op_leases(struct op *t)
{
    const char *project = NULL, *holder = NULL, *path = NULL;
    enum hub_event_flag others = FLAG_UNSET;
    struct file_lease l;
    struct err e;

    if (!arg_text(&t->in, "project", &project) || !arg_name(&t->in, "holder", &holder) ||
        !arg_text(&t->in, "path", &path) || !arg_flag(&t->in, "others", &others))
        return false;
    if (path && path_glob_check(path, &e))
        return refuse(&t->refusal, 400, "VALIDATION_INVALID_TYPE", "path: %s", e.text);
    struct row *r = index_run(t->h->ix,
                              "SELECT" FILE_LEASE_ROW " FROM file_leases WHERE project ="
                              " coalesce(?1, project) AND holder = coalesce(?2, holder)"
                              " ORDER BY project, path, holder",
                              "ss", project, holder);
    json_open(t->out, '[');
    while (index_next(t->h->ix, r)) {
        if (!file_lease_read(r, t->a, &l))
            return refuse_starved(&t->refusal);
        /* Over, but no writer has recorded it yet. */
        if (is_due(&t->h->now, l.until, l.boot_until, l.boot) ||
            (path && !path_glob_overlap(path, l.path)) ||
            (others == FLAG_YES && strcmp(l.holder, t->req->identity) == 0))
            continue;
        render_lease(t->out, &l);
    }
    json_close(t->out, ']');
    return true;
}
