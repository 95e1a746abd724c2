#include "run/review.h"

#include "base/clock.h"
#include "base/digest.h"
#include "base/path.h"
#include "base/suggest.h"
#include "base/sys.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define REVIEWS "reviews"
enum { GATE_SHOWN = 40, ID_HEX = 6 };

static const char *const verdicts[REVIEW_VERDICTS] = { "", "approve", "changes", "reject" };

const char *
review_verdict_name(enum review_verdict v)
{
    return verdicts[v];
}

enum review_verdict
review_verdict_of(const char *name)
{
    for (int i = 1; name && i < REVIEW_VERDICTS; i++)
        if (strcmp(name, verdicts[i]) == 0)
            return (enum review_verdict)i;
    return REVIEW_NONE;
}

void
review_make_id(char to[REVIEW_ID_SIZE], const char *run, const char *gate, int64_t attempt)
{
    struct buf text = { 0 };
    char hex[DIGEST_HEX_SIZE] = "";

    buf_addf(&text, "%s/%s/%" PRId64, run, gate, attempt);
    if (!buf_failed(&text))
        digest_sha256_hex(hex, text.p, text.len);
    snprintf(to, REVIEW_ID_SIZE, "%.*s-%" PRId64 "-%.*s", GATE_SHOWN, gate, attempt, ID_HEX, hex);
    buf_release(&text);
}

const char *
review_identity(const char *ref)
{
    const char *colon = strchr(ref, ':');

    ref = colon && colon[1] ? colon + 1 : ref;
    return *ref == '@' ? ref + 1 : ref;
}

/* ---- documents ---- */

const char *
review_text(struct arena *a, const struct json *doc, const char *key)
{
    const char *text = json_dup_text(a, json_get(doc, key));

    return text ? text : "";
}

bool
review_is(const struct json *doc, const char *state)
{
    return json_eq(json_get(doc, "state"), state);
}

bool
review_is_reviewer(const struct json *doc, const char *identity)
{
    json_each (r, json_get(doc, "reviewers"))
        if (json_eq(json_get(r, "identity"), identity))
            return true;
    return false;
}

static const struct json *
answer_of(const struct json *doc, const struct json *identity)
{
    json_each (v, json_get(doc, "answers"))
        if (json_same(json_get(v, "by"), identity))
            return v;
    return NULL;
}

bool
review_has_answer_of(const struct json *doc, const struct json *reviewer)
{
    return answer_of(doc, json_get(reviewer, "identity")) != NULL;
}

void
review_awaited(struct arena *a, const struct json *doc, struct buf *to)
{
    size_t n = 0;

    json_each (r, json_get(doc, "reviewers"))
        if (!review_has_answer_of(doc, r))
            buf_addf(to, "%s%s", n++ ? ", " : "", review_text(a, r, "identity"));
}

const struct json *
review_decision(const struct json *doc)
{
    bool needs_all = json_eq(json_get(doc, "require"), "all");
    const struct json *last = NULL;

    json_each (v, json_get(doc, "answers")) {
        last = v;
        if (!needs_all || !json_eq(json_get(v, "verdict"), verdicts[REVIEW_APPROVE]))
            return v;
    }
    json_each (r, json_get(doc, "reviewers"))
        if (!review_has_answer_of(doc, r))
            return NULL;
    return last;
}

int64_t
review_due_ms(const struct json *doc)
{
    int64_t created = 0, told = 0, every = 0, due = INT64_MAX;

    json_int(json_get(doc, "created_ms"), &created);
    json_int(json_get(doc, "expires_ms"), &due);
    json_int(json_get(doc, "remind_ms"), &every);
    if (!review_is(doc, "open") || !json_int(json_get(doc, "told_ms"), &told))
        return 0;
    if (every > 0 && told >= created) {
        int64_t next = created + ((told - created) / every + 1) * every;
        due = next < due ? next : due;
    }
    return due;
}

/* "elan and ops" */
static void
add_reviewers(const struct json *doc, struct buf *to)
{
    json_each (r, json_get(doc, "reviewers")) {
        const struct json *name = json_get(r, "identity");
        if (to->len)
            buf_adds(to, r->next ? ", " : " and ");
        if (json_is(name, JSON_STRING))
            buf_add(to, name->text.p, name->text.len);
    }
}

static enum status
refuse_stranger(const struct json *doc, const char *by, struct err *e)
{
    struct buf names = { 0 };

    add_reviewers(doc, &names);
    err_set(e, ST_REFUSED, "%s is no reviewer here; who decides: %s (--as NAME says who you are)",
            by, buf_failed(&names) || !names.len ? "nobody" : names.p);
    buf_release(&names);
    return ST_REFUSED;
}

static enum status
tell_over(struct arena *a, const struct json *doc, struct err *e)
{
    const struct json *v = review_decision(doc);

    if (v)
        return err_set(e, ST_CONFLICT, "%s was answered already: %s by %s",
                       review_text(a, doc, "id"), review_text(a, v, "verdict"),
                       review_text(a, v, "by"));
    return err_set(e, ST_CONFLICT, "%s is %s: it can no longer be answered",
                   review_text(a, doc, "id"), review_text(a, doc, "state"));
}

static enum status
check_target(struct arena *a, const struct json *doc, struct review_answer *given, struct err *e)
{
    const struct json *targets = json_get(doc, "route_targets");
    struct suggest near = { .word = given->to };

    if (!json_first(targets))
        return err_set(e, ST_INVALID,
                       "gate %s has no phase that it could send the work back to: "
                       "approve or reject",
                       review_text(a, doc, "gate"));
    if (!given->to)
        given->to = json_dup_text(a, json_first(targets));
    if (!given->to)
        return err_nomem(e);
    json_each (t, targets) {
        const char *name = json_dup_text(a, t);
        if (name && strcmp(name, given->to) == 0)
            return ST_OK;
        if (name && near.word)
            suggest_try(&near, name);
    }
    return err_set(e, ST_INVALID, "gate %s cannot send the work back to %s%s%s%s",
                   review_text(a, doc, "gate"), given->to, near.best ? " (did you mean " : "",
                   near.best ? near.best : "", near.best ? "?)" : "");
}

enum status
review_check(struct arena *a, const struct json *doc, struct review_answer *given, int64_t now_ms,
             struct err *e)
{
    int64_t expires_ms = INT64_MAX;

    json_int(json_get(doc, "expires_ms"), &expires_ms);
    if (!review_is_reviewer(doc, given->by))
        return refuse_stranger(doc, given->by, e);
    if (!review_is(doc, "open"))
        return tell_over(a, doc, e);
    if (now_ms >= expires_ms)
        return err_set(e, ST_CONFLICT, "%s has expired: it can no longer be answered",
                       review_text(a, doc, "id"));
    if (answer_of(doc, json_new_str(a, given->by, strlen(given->by))))
        return err_set(e, ST_CONFLICT, "%s has answered already", given->by);
    if (given->to && given->verdict != REVIEW_CHANGES)
        return err_set(e, ST_INVALID, "--to is only for changes: the phase that works on it again");
    if (given->text && strlen(given->text) > REVIEW_TEXT_MAX)
        return err_set(e, ST_INVALID, "the text is longer than %zu KiB", REVIEW_TEXT_MAX >> 10);
    return given->verdict == REVIEW_CHANGES ? check_target(a, doc, given, e) : ST_OK;
}

/* ---- files ---- */

static enum status
open_dir(const struct state_dir *f, int *dir, struct err *e)
{
    return state_dir_open_dir(f, REVIEWS, true, dir, e);
}

/* *fd holds the lock until it is closed. */
static enum status
lock(int dir, int *fd, struct err *e)
{
    *fd = SYS_RETRY(
        sys->openat(dir, ".lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
    if (*fd < 0)
        return err_sys(e, "open " REVIEWS "/.lock");
    return SYS_RETRY(sys->flock(*fd, LOCK_EX)) == 0 ? ST_OK : err_sys(e, "lock " REVIEWS);
}

static enum status
load_at(int dir, struct arena *a, const char *id, struct json **doc, struct err *e)
{
    struct buf text = { 0 };
    char name[REVIEW_ID_SIZE + 8];

    snprintf(name, sizeof name, "%s.json", id);
    enum status s = path_is_name(id) ? state_dir_read_at(dir, name, &text, e)
                                     : err_set(e, ST_NOT_FOUND, "there is no review %s", id);
    const char *kept = s ? NULL : arena_dup(a, text.p ? text.p : "", text.len);
    if (!s && !kept)
        s = err_nomem(e);
    if (!s)
        s = json_parse_named(a, name, kept, text.len, doc, e);
    buf_release(&text);
    return s;
}

/* Old or new, whole, and on disk. */
static enum status
save_at(const struct state_dir *f, int dir, const struct json *doc, struct err *e)
{
    struct buf text = { 0 }, path = { 0 };
    struct state_file to = { 0 };
    const struct json *id = json_get(doc, "id");

    buf_addf(&path, REVIEWS "/%.*s.json", (int)id->text.len, id->text.p);
    json_write_pretty(&text, doc, 0);
    buf_addc(&text, '\n');
    enum status s = buf_status(&text, "the review", e);
    if (!s)
        s = buf_status(&path, "the review", e);
    if (!s)
        s = state_dir_begin(f, path.p, &to, e);
    for (size_t at = 0; !s && at < text.len;) {
        ssize_t n = SYS_RETRY(sys->write(to.fd, text.p + at, text.len - at));
        if (n <= 0)
            s = err_sys(e, "write %s", path.p);
        else
            at += (size_t)n;
    }
    if (!s && sys->fdatasync(to.fd) != 0)
        s = err_sys(e, "sync %s", path.p);
    struct err ignored;
    enum status ended = state_dir_end(&to, s == ST_OK, s ? &ignored : e);
    s = s ? s : ended;
    if (!s && sys->fsync(dir) != 0)
        s = err_sys(e, "sync " REVIEWS);
    buf_release(&text);
    buf_release(&path);
    return s;
}

/* A change: false says that there is nothing to write. */
typedef bool change_fn(void *ctx, struct arena *a, struct json *doc, enum status *s, struct err *e);

static enum status
change(const struct state_dir *f, struct arena *a, const char *id, change_fn *fn, void *ctx,
       struct json **doc, struct err *e)
{
    int dir = -1, held = -1;
    enum status s = open_dir(f, &dir, e);

    if (!s)
        s = lock(dir, &held, e);
    if (!s)
        s = load_at(dir, a, id, doc, e);
    if (!s && fn(ctx, a, *doc, &s, e) && !s)
        s = save_at(f, dir, *doc, e);
    if (held >= 0)
        close(held);
    if (dir >= 0)
        close(dir);
    return s;
}

enum status
review_load(const struct state_dir *f, struct arena *a, const char *id, struct json **doc,
            struct err *e)
{
    int dir;
    enum status s = state_dir_open_dir(f, REVIEWS, false, &dir, e);

    if (s)
        return s;
    s = load_at(dir, a, id, doc, e);
    close(dir);
    return s;
}

enum status
review_make(const struct state_dir *f, const struct json *doc, struct err *e)
{
    int dir;
    enum status s = open_dir(f, &dir, e);

    if (s)
        return s;
    s = save_at(f, dir, doc, e);
    close(dir);
    return s;
}

/* ---- the list ---- */

static int
compare_age(const void *x, const void *y)
{
    int64_t a = 0, b = 0;

    json_int(json_get(*(struct json *const *)x, "created_ms"), &a);
    json_int(json_get(*(struct json *const *)y, "created_ms"), &b);
    return a < b ? -1 : a > b;
}

/* The id of a file: its name without .json; false: it is no review's. */
static bool
id_of(const char *name, char id[REVIEW_ID_SIZE])
{
    size_t n = strlen(name);

    if (*name == '.' || n < 6 || n - 5 >= REVIEW_ID_SIZE || strcmp(name + n - 5, ".json") != 0)
        return false;
    memcpy(id, name, n - 5);
    id[n - 5] = '\0';
    return path_is_name(id);
}

static enum status
add_sorted(struct json *list, struct json **v, size_t n)
{
    struct json *last = NULL;

    if (n)
        qsort(v, n, sizeof(*v), compare_age);
    for (size_t i = 0; i < n; i++)
        json_add_behind(list, &last, v[i]);
    free(v);
    return ST_OK;
}

enum status
review_list(const struct state_dir *f, struct arena *a, struct json **docs, struct err *e)
{
    char id[REVIEW_ID_SIZE];
    struct json **v = NULL;
    size_t n = 0;
    int fd;

    *docs = json_new(a, JSON_ARRAY);
    if (!*docs)
        return err_nomem(e);
    if (state_dir_open_dir(f, REVIEWS, false, &fd, NULL))
        return ST_OK;
    DIR *d = fdopendir(fd);
    if (!d) {
        close(fd);
        return err_nomem(e);
    }
    for (struct dirent *x; (x = readdir(d));) {
        struct json *doc, **grown;
        if (!id_of(x->d_name, id) || load_at(fd, a, id, &doc, NULL) ||
            !json_eq(json_get(doc, "id"), id))
            continue;
        if (!(grown = realloc(v, (n + 1) * sizeof(*v)))) {
            closedir(d);
            free(v);
            return err_nomem(e);
        }
        v = grown;
        v[n++] = doc;
    }
    closedir(d);
    return add_sorted(*docs, v, n);
}

enum status
review_find(const struct state_dir *f, struct arena *a, const char *prefix, struct json **doc,
            struct err *e)
{
    struct suggest near = { .word = prefix };
    struct json *docs;
    const struct json *found = NULL;
    size_t n = 0;
    enum status s = path_is_name(prefix) ? review_load(f, a, prefix, doc, e) : ST_NOT_FOUND;

    if (s != ST_NOT_FOUND)
        return s;
    s = review_list(f, a, &docs, e);
    if (s)
        return s;
    json_each (one, docs) {
        const char *id = review_text(a, one, "id"), *gate = review_text(a, one, "gate");
        if (strncmp(id, prefix, strlen(prefix)) == 0) {
            found = one;
            n++;
        }
        suggest_try(&near, id);
        suggest_try(&near, gate);
    }
    if (n == 1)
        return review_load(f, a, review_text(a, found, "id"), doc, e);
    if (n > 1)
        return err_set(e, ST_INVALID, "%zu reviews begin with %s: cliq review list", n, prefix);
    return err_set(e, ST_NOT_FOUND, "there is no review %s%s%s%s: cliq review list", prefix,
                   near.best ? " (did you mean " : "", near.best ? near.best : "",
                   near.best ? "?)" : "");
}

/* ---- changes ---- */

static bool
set_text(struct arena *a, struct json *to, const char *key, const char *text)
{
    return !text || json_set(to, key, json_new_copy(a, text, strlen(text)));
}

static bool
add_answer(void *ctx, struct arena *a, struct json *doc, enum status *s, struct err *e)
{
    struct review_answer *given = ctx;
    char at[CLOCK_ISO_SIZE];
    struct json *answer = json_new(a, JSON_OBJECT);
    struct json *list = (struct json *)(uintptr_t)json_get(doc, "answers");

    *s = review_check(a, doc, given, clock_wall_ns() / 1000000, e);
    if (*s)
        return false;
    clock_iso(at, clock_wall_ns(), 1);
    if (!json_is(list, JSON_ARRAY) && !json_set(doc, "answers", list = json_new(a, JSON_ARRAY)))
        *s = err_nomem(e);
    if (!answer || !set_text(a, answer, "by", given->by) ||
        !set_text(a, answer, "verdict", verdicts[given->verdict]) ||
        !set_text(a, answer, "to", given->to) || !set_text(a, answer, "text", given->text) ||
        !set_text(a, answer, "at", at))
        *s = err_nomem(e);
    if (*s)
        return false;
    json_add(list, answer);
    const struct json *decides = review_decision(doc);
    if (decides && !set_text(a, doc, "state", review_text(a, decides, "verdict")))
        *s = err_nomem(e);
    return true;
}

enum status
review_answer(const struct state_dir *f, struct arena *a, const char *id,
              struct review_answer *given, struct json **doc, struct err *e)
{
    return change(f, a, id, add_answer, given, doc, e);
}

struct move {
    const char *from, *to;
};

static bool
set_state(void *ctx, struct arena *a, struct json *doc, enum status *s, struct err *e)
{
    const struct move *m = ctx;

    if (!review_is(doc, m->from))
        return false;
    if (!set_text(a, doc, "state", m->to))
        *s = err_nomem(e);
    return true;
}

enum status
review_move(const struct state_dir *f, struct arena *a, const char *id, const char *from,
            const char *to, struct json **doc, struct err *e)
{
    return change(f, a, id, set_state, &(struct move){ from, to }, doc, e);
}

static bool
set_told(void *ctx, struct arena *a, struct json *doc, enum status *s, struct err *e)
{
    const int64_t *now_ms = ctx;

    if (!json_set(doc, "told_ms", json_new_int(a, *now_ms)))
        *s = err_nomem(e);
    return true;
}

enum status
review_note_told(const struct state_dir *f, struct arena *a, const char *id, int64_t now_ms,
                 struct err *e)
{
    struct json *doc;

    return change(f, a, id, set_told, &now_ms, &doc, e);
}

struct task_note {
    const char *identity, *task;
};

static bool
set_task(void *ctx, struct arena *a, struct json *doc, enum status *s, struct err *e)
{
    const struct task_note *n = ctx;

    json_each (r, json_get(doc, "reviewers"))
        if (json_eq(json_get(r, "identity"), n->identity) &&
            !set_text(a, (struct json *)(uintptr_t)r, "task", n->task))
            *s = err_nomem(e);
    return true;
}

enum status
review_note_task(const struct state_dir *f, struct arena *a, const char *id, const char *identity,
                 const char *task, struct err *e)
{
    struct json *doc;

    return change(f, a, id, set_task, &(struct task_note){ identity, task }, &doc, e);
}
