#include "agents/review/review_desk.h"

#include "agents/review/review_task.h"
#include "base/clock.h"
#include "base/digest.h"
#include "base/path.h"
#include "hubclient/hubclient.h"
#include "run/lockfile.h"
#include "run/review_line.h"
#include "run/run.h"
#include "run/sleeping.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE = 100 };

static bool
set_text(struct arena *a, struct json *to, const char *key, const char *text)
{
    return json_set(to, key, json_new_copy(a, text, strlen(text)));
}

const char *
review_next_name(enum review_next n)
{
    static const char *const names[] = { "others", "runs", "started", "resume" };

    return names[n];
}

const char *
review_desk_state(const struct state_dir *f, struct arena *a, const struct json *doc)
{
    struct run_latest run;
    bool is_present =
        run_latest(f, &run, NULL) == ST_OK && !run.has_end && json_eq(json_get(doc, "run"), run.id);

    return review_line_state(a, doc, !is_present);
}

/* ---- what the hub knows ---- */

/* The .cliq/ of a task's project. ST_NOT_FOUND: it is gone, or another user's. */
static enum status
open_project(struct arena *a, const struct json *task, struct state_dir *f)
{
    const char *project = json_dup_text(a, json_path(task, "metadata.project"));
    struct buf path = { 0 };
    enum status s = ST_NOT_FOUND;

    *f = (struct state_dir){ .dir = -1 };
    buf_addf(&path, "%s/.cliq", project ? project : "");
    if (project && *project == '/' && !buf_failed(&path))
        s = state_dir_open(f, path.p, project, NULL);
    buf_release(&path);
    return s;
}

/* Does the review name the task, as its own? */
static bool
is_task_of(const struct json *doc, const struct json *task)
{
    json_each (r, json_get(doc, "reviewers"))
        if (json_same(json_get(r, "task"), json_get(task, "id")) &&
            json_same(json_get(r, "identity"), json_get(task, "to_identity")))
            return true;
    return false;
}

/* The review of a task, in the project that it names. */
static enum status
load_task(struct arena *a, const struct json *task, struct state_dir *f, struct json **doc)
{
    const char *id = json_dup_text(a, json_path(task, "metadata.review"));
    enum status s = id ? open_project(a, task, f) : ST_NOT_FOUND;

    if (!s)
        s = review_load(f, a, id, doc, NULL);
    return !s && !is_task_of(*doc, task) ? ST_NOT_FOUND : s;
}

/* Called with a review and its project, which is closed behind it unless it takes it (dir -1).
 * False ends the search. */
typedef bool take_fn(void *ctx, struct arena *a, struct state_dir *f, struct json *doc);

/* Asks the hub for tasks of reviews, newest first, a page at a time. */
struct task_query {
    const char *to;     /* an identity; NULL: anyone */
    const char *review; /* only of this one; NULL: of any */
    take_fn *take;
    void *ctx;
};

static bool
take_page(const struct task_query *q, struct arena *a, const struct json *tasks)
{
    bool goes_on = true;

    json_each (task, tasks) {
        struct state_dir f = { .dir = -1 };
        struct json *doc;
        if (!goes_on || (q->review && !json_eq(json_path(task, "metadata.review"), q->review)))
            continue;
        if (load_task(a, task, &f, &doc) == ST_OK)
            goes_on = q->take(q->ctx, a, &f, doc);
        state_dir_close(&f);
    }
    return goes_on;
}

static enum status
search(const struct review_asker *by, const struct task_query *q, struct arena *a, struct err *e)
{
    struct hubclient_options o = { .config = by->config, .identity = by->identity, .url = "" };
    struct hubclient hub = { 0 };
    struct hub_reply reply = { .cursor = NULL };
    enum status s = hubclient_open(&hub, &o, e);

    do {
        struct json *args = json_new(a, JSON_OBJECT);
        bool ok = args && set_text(a, args, "type", "task") &&
                  set_text(a, args, "project_tag", "review") &&
                  json_set(args, "limit", json_new_int(a, PAGE)) &&
                  (!q->to || set_text(a, args, "to_identity", q->to)) &&
                  (!reply.cursor || set_text(a, args, "after", reply.cursor));
        if (!s)
            s = ok ? hubclient_call(&hub, a, HUB_LIST, args, &reply, e) : err_nomem(e);
    } while (!s && take_page(q, a, reply.data) && reply.cursor);
    hubclient_close(&hub);
    return s;
}

/* ---- the list ---- */

struct desk_list {
    const struct review_asker *by;
    const char *state;
    struct json *list, *last;
};

static bool
set_time(struct arena *a, struct json *to, const char *key, const struct json *ms)
{
    char text[CLOCK_ISO_SIZE];
    int64_t at_ms = 0;

    json_int(ms, &at_ms);
    return set_text(a, to, key, clock_iso_ms(text, at_ms));
}

static bool
copy_member(struct arena *a, struct json *to, const struct json *from, const char *key)
{
    int64_t n;
    const struct json *v = json_get(from, key);

    return json_int(v, &n) ? json_set(to, key, json_new_int(a, n))
                           : set_text(a, to, key, review_text(a, from, key));
}

static struct json *
row_of(struct arena *a, const struct state_dir *f, const struct json *doc, const char *state)
{
    static const char *const keys[] = { "id",      "gate",      "team",          "run",
                                        "require", "iteration", "max_iterations" };
    struct json *row = json_new(a, JSON_OBJECT), *names = json_new(a, JSON_ARRAY);
    struct json *awaits = json_new(a, JSON_ARRAY);
    bool ok = row && names && awaits, is_open = strcmp(state, "open") == 0;

    for (size_t i = 0; ok && i < sizeof keys / sizeof *keys; i++)
        ok = copy_member(a, row, doc, keys[i]);
    json_each (r, json_get(doc, "reviewers")) {
        const char *name = review_text(a, r, "identity");
        if (ok)
            json_add(names, json_new_str(a, name, strlen(name)));
        if (ok && is_open && !review_has_answer_of(doc, r))
            json_add(awaits, json_new_str(a, name, strlen(name)));
    }
    ok = ok && set_text(a, row, "project", f->project_dir) && set_text(a, row, "state", state) &&
         json_set(row, "reviewers", names) && json_set(row, "awaits", awaits) &&
         set_time(a, row, "since", json_get(doc, "created_ms")) &&
         set_time(a, row, "until", json_get(doc, "expires_ms"));
    return ok ? row : NULL;
}

static bool
has_row(const struct json *list, const struct json *doc)
{
    json_each (row, list)
        if (json_same(json_get(row, "id"), json_get(doc, "id")))
            return true;
    return false;
}

static bool
add_row(void *ctx, struct arena *a, struct state_dir *f, struct json *doc)
{
    struct desk_list *l = ctx;
    const char *state = review_desk_state(f, a, doc);

    if ((!l->state || strcmp(state, l->state) == 0) && !has_row(l->list, doc))
        json_add_behind(l->list, &l->last, row_of(a, f, doc, state));
    return true;
}

enum status
review_desk_list(const struct review_asker *by, const char *state, struct arena *a,
                 struct json **list, struct err *e)
{
    struct desk_list l = { .by = by, .state = state, .list = json_new(a, JSON_ARRAY) };
    struct task_query q = { .to = by->reads_all ? NULL : by->identity, .take = add_row, .ctx = &l };

    *list = l.list;
    return l.list ? search(by, &q, a, e) : err_nomem(e);
}

/* ---- one ---- */

struct desk_find {
    const struct review_asker *by;
    struct state_dir *project;
    struct json *doc;
};

static bool
take_first(void *ctx, struct arena *a, struct state_dir *f, struct json *doc)
{
    struct desk_find *x = ctx;

    (void)a;
    x->doc = doc;
    *x->project = *f;
    *f = (struct state_dir){ .dir = -1 };
    return false;
}

enum status
review_desk_find(const struct review_asker *by, const char *id, struct arena *a,
                 struct state_dir *project, struct json **doc, struct err *e)
{
    struct desk_find x = { .by = by, .project = project };
    struct task_query q = { .review = id, .take = take_first, .ctx = &x };

    *project = (struct state_dir){ .dir = -1 };
    enum status s = path_is_name(id) ? search(by, &q, a, e) : ST_OK;
    if (!s && !x.doc)
        s = err_set(e, ST_NOT_FOUND,
                    "there is no review %.100s in a project that the hub of this machine knows",
                    id);
    if (!s && !by->reads_all && !review_is_reviewer(x.doc, by->identity))
        s = err_set(e, ST_REFUSED, "%s is no reviewer of %s", by->identity, id);
    if (!s && (!set_text(a, x.doc, "project", project->project_dir) ||
               !set_text(a, x.doc, "state", review_desk_state(project, a, x.doc))))
        s = err_nomem(e);
    *doc = x.doc;
    return s;
}

/* "changed", "gone" or "": the file of the project, compared with the copy. */
static const char *
change_of(const struct state_dir *f, struct arena *a, const struct json *artifact)
{
    struct buf path = { 0 };
    char hex[DIGEST_HEX_SIZE];
    const char *sha = review_text(a, artifact, "sha256"), *says = "";

    buf_addf(&path, "%s/%s", f->project_dir, review_text(a, artifact, "path"));
    if (*sha && !buf_failed(&path)) {
        int fd = open(path.p, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        struct stat st = { .st_size = 0 };
        struct err ignored;
        enum status s = fd < 0 || fstat(fd, &st) != 0
                            ? ST_NOT_FOUND
                            : digest_sha256_file(hex, fd, 0, (uint64_t)st.st_size, &ignored);
        says = s ? "gone" : strcmp(hex, sha) != 0 ? "changed" : "";
        if (fd >= 0)
            close(fd);
    }
    buf_release(&path);
    return says;
}

void
review_desk_compare(const struct state_dir *f, struct arena *a, struct json *doc)
{
    json_each (v, json_get(doc, "artifacts")) {
        const char *change = change_of(f, a, v);
        if (*change)
            set_text(a, (struct json *)(uintptr_t)v, "change", change);
    }
}

/* ---- what it keeps ---- */

static const struct json *
artifact_of(const struct json *doc, const char *path)
{
    json_each (v, json_get(doc, "artifacts"))
        if (json_eq(json_get(v, "path"), path))
            return v;
    return NULL;
}

enum status
review_desk_read(const struct state_dir *f, struct arena *a, const struct json *doc,
                 const char *path, struct buf *to, struct err *e)
{
    const char *id = review_text(a, doc, "id");
    const struct json *artifact = path ? artifact_of(doc, path) : NULL;
    struct buf at = { 0 };

    if (!path && !json_get(doc, "diff"))
        return err_set(e, ST_NOT_FOUND, "review %s has no diff: the project was no git repository",
                       id);
    if (path && !artifact)
        return err_set(e, ST_NOT_FOUND, "review %s has no file %.200s", id, path);
    if (path && !json_get(artifact, "sha256"))
        return err_set(e, ST_NOT_FOUND, "%.200s was not copied: it is too large", path);
    if (path)
        buf_addf(&at, "reviews/%s/files/%s", id, path);
    else
        buf_addf(&at, "reviews/%s/changes.diff", id);
    enum status s = buf_status(&at, "the path", e);
    if (!s)
        s = state_dir_read(f, at.p, to, e);
    buf_release(&at);
    return s;
}

/* ---- answers ---- */

enum status
review_desk_answer(const struct state_dir *f, const char *config, struct arena *a, const char *id,
                   struct review_answer *given, struct json **doc, enum review_next *next,
                   struct err *e)
{
    struct sleeping sleep;
    struct err why;
    enum status s = review_load(f, a, id, doc, e);

    if (!s && review_is(*doc, "open") && strcmp(review_desk_state(f, a, *doc), "open") != 0)
        s = err_set(e, ST_CONFLICT, "%s can no longer be answered: its run has ended", id);
    if (!s)
        s = review_answer(f, a, id, given, doc, e);
    if (s)
        return s;
    *next = review_is(*doc, "open")    ? REVIEW_NEXT_OTHERS
            : sleeping_read(f, &sleep) ? REVIEW_NEXT_STARTED
            : lockfile_is_held(f)      ? REVIEW_NEXT_RUNS
                                       : REVIEW_NEXT_RESUME;
    if (*next == REVIEW_NEXT_STARTED && sleeping_wake(f, config, &why) != ST_OK)
        *next = REVIEW_NEXT_RESUME;
    if (*next == REVIEW_NEXT_RESUME)
        review_task_close("hug", *doc); /* else the gate's agent does */
    return ST_OK;
}
