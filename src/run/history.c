#define _GNU_SOURCE
#include "run/history.h"

#include "base/path.h"
#include "base/suggest.h"
#include "base/sys.h"
#include "context/frames.h"
#include "run/journal.h"
#include "run/run.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RUNS    "runs"
#define NEW     ".new-" /* a run that is not whole yet */
#define OLD     ".old-" /* a run that is being removed */
#define JOURNAL "run/" JOURNAL_NAME

enum { DEPTH_MAX = 48, COPY_BYTES = 64 << 10 };

/* ---- what is kept of a run ---- */

static const struct kept {
    const char *from, *to; /* below .cliq/, below runs/<id>/ */
    const char *only;      /* of each directory in it, this file; NULL: all files of it */
    bool is_dir;
    bool is_tree;    /* directories in it, too */
    bool is_cleared; /* removed once it is kept; the rest is removed by plan_make_room */
} kept[] = {
    { JOURNAL, JOURNAL, NULL, false, false, true }, /* the first: without it there is no run */
    { HISTORY_WORKFLOW, "workflow.yml", NULL, false, false, true },
    { "orchestrator.log", "orchestrator.log", NULL, false, false, true },
    { "run/logs", "run/logs", NULL, true, false, false },
    { "run/prompts", "run/prompts", NULL, true, false, false },
    { "run/checks", "run/checks", NULL, true, false, false },
    { "signals", "signals", NULL, true, false, false },
    { "reviews", "reviews", NULL, true, true, true },
    { "channels", "channels", "handoff.json", true, false, true },
    { "gates", "gates", "gate_context.md", true, false, true },
};
enum { N_KEPT = sizeof kept / sizeof *kept };

/* Of the frame of a team phase: the runs of its attempts before the latest. */
static const struct kept kept_runs = { RUNS, RUNS, NULL, true, true, true };

/* ---- ids ---- */

/* "cliq-a1b2c3-18af03d2b7c9e1f0": the number is when the run began. 0: it is no run's id. */
static uint64_t
number_of(const char *id)
{
    static const char hex[] = "0123456789abcdef";
    const char *dash = strrchr(id, '-');
    size_t n = dash ? strspn(dash + 1, hex) : 0;

    if (!n || n > 16 || dash[1 + n] || strlen(id) >= HISTORY_ID_SIZE || !path_is_name(id))
        return 0;
    return strtoull(dash + 1, NULL, 16);
}

static int
compare_runs(const void *a, const void *b)
{
    const struct history_run *x = a, *y = b;
    uint64_t m = number_of(x->id), n = number_of(y->id);

    return m != n ? (m < n ? 1 : -1) : strcmp(y->id, x->id);
}

/* The id of a journal whose first line cannot be read: made of the time when it was last written,
 * so that it is the same when it is asked for again. is_file false: of what stands in the place of
 * a journal, such as a directory. */
static enum status
make_up_id(const struct state_dir *f, bool is_file, char id[HISTORY_ID_SIZE], struct err *e)
{
    struct stat st;

    if (fstatat(f->dir, JOURNAL, &st, AT_SYMLINK_NOFOLLOW) != 0) /* that of sys has no times */
        return errno == ENOENT ? ST_NOT_FOUND : err_sys(e, "look at " JOURNAL);
    if (S_ISREG(st.st_mode) != is_file || (is_file && st.st_size == 0))
        return ST_NOT_FOUND;
    snprintf(id, HISTORY_ID_SIZE, "unknown-%" PRIx64,
             (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec);
    return ST_OK;
}

/* Of the run in .cliq/. ST_NOT_FOUND: there is none. */
static enum status
present_id(const struct state_dir *f, char id[HISTORY_ID_SIZE], struct err *e)
{
    struct run_latest run;

    if (run_latest(f, &run, NULL) == ST_OK && number_of(run.id)) {
        snprintf(id, HISTORY_ID_SIZE, "%s", run.id);
        return ST_OK;
    }
    return make_up_id(f, true, id, e);
}

/* ---- removing ---- */

/* A file, or a directory with all in it. */
static void
remove_tree(int dir, const char *name, int depth)
{
    if (unlinkat(dir, name, 0) == 0 || (errno != EISDIR && errno != EPERM) || depth > DEPTH_MAX)
        return;
    int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (!d && fd >= 0)
        close(fd);
    for (struct dirent *x; d && (x = readdir(d));)
        if (strcmp(x->d_name, ".") != 0 && strcmp(x->d_name, "..") != 0)
            remove_tree(fd, x->d_name, depth + 1);
    if (d)
        closedir(d);
    unlinkat(dir, name, AT_REMOVEDIR);
}

/* A run that is half removed must not be taken for one. */
static void
remove_run(int runs, const char *id)
{
    char name[HISTORY_ID_SIZE + sizeof OLD];

    snprintf(name, sizeof name, OLD "%s", id);
    if (sys->renameat(runs, id, runs, name) == 0)
        remove_tree(runs, name, 0);
}

/* Directories of a process that died. */
static void
remove_leftovers(int runs)
{
    int fd = openat(runs, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);

    if (!d && fd >= 0)
        close(fd);
    for (struct dirent *x; d && (x = readdir(d));)
        if (strncmp(x->d_name, NEW, strlen(NEW)) == 0 || strncmp(x->d_name, OLD, strlen(OLD)) == 0)
            remove_tree(runs, x->d_name, 0);
    if (d)
        closedir(d);
}

/* ---- keeping ---- */

static enum status
copy_file(int from, const char *name, int to, const char *as, struct err *e)
{
    char piece[COPY_BYTES];
    ssize_t n = 0;
    enum status s = ST_OK;
    int in = SYS_RETRY(sys->openat(from, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW, 0));
    int out =
        SYS_RETRY(sys->openat(to, as, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));

    if (in < 0 || out < 0)
        s = err_sys(e, "copy %s into " RUNS, name);
    while (!s && (n = SYS_RETRY(sys->read(in, piece, sizeof piece))) > 0)
        for (ssize_t at = 0, m; !s && at < n; at += m)
            if ((m = SYS_RETRY(sys->write(out, piece + at, (size_t)(n - at)))) < 0)
                s = err_sys(e, "copy %s into " RUNS, name);
    if (!s && n < 0)
        s = err_sys(e, "read %s", name);
    if (in >= 0)
        close(in);
    if (out >= 0)
        close(out);
    return s;
}

static bool
is_regular(int dir, const char *name)
{
    struct stat st;

    return sys->fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode);
}

/* A missing file, or one that is no regular file, is left out. */
static enum status
keep_file(int from, const char *name, int to, const char *as, struct err *e)
{
    if (!is_regular(from, name) || linkat(from, name, to, as, 0) == 0 || errno == ENOENT)
        return ST_OK;
    if (errno != EXDEV && errno != EPERM && errno != EMLINK && errno != ENOTSUP && errno != EACCES)
        return err_sys(e, "link %s into " RUNS, name);
    return copy_file(from, name, to, as, e); /* a file system without links */
}

static enum status
open_sub(int dir, const char *name, int *fd, struct err *e)
{
    if (sys->mkdirat(dir, name, 0700) != 0 && errno != EEXIST)
        return err_sys(e, "create directory %s in " RUNS, name);
    *fd = SYS_RETRY(sys->openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0));
    return *fd < 0 ? err_sys(e, "open directory %s in " RUNS, name) : ST_OK;
}

/* The file `only` of the directory `name` in `from`. */
static enum status
keep_only(int from, const char *name, const char *only, int to, struct err *e)
{
    int in = openat(from, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), out = -1;
    enum status s = ST_OK;

    if (in < 0)
        return ST_OK; /* no directory */
    if (is_regular(in, only)) {
        s = open_sub(to, name, &out, e);
        if (!s)
            s = keep_file(in, only, out, only, e);
    }
    if (out >= 0)
        close(out);
    close(in);
    return s;
}

/* Takes one name of a directory. */
typedef enum status each_fn(void *ctx, int dir, const char *name, struct err *e);

static enum status
each_name(const struct state_dir *f, const char *path, each_fn *fn, void *ctx, struct err *e)
{
    int fd;
    enum status s = state_dir_open_dir(f, path, false, &fd, NULL);
    DIR *d = s ? NULL : fdopendir(fd);

    if (!s && !d)
        close(fd);
    s = ST_OK;
    for (struct dirent *x; d && !s && (x = readdir(d));)
        if (x->d_name[0] != '.')
            s = fn(ctx, fd, x->d_name, e);
    if (d)
        closedir(d);
    return s;
}

/* A directory in it with all that is in it. */
static enum status
keep_tree(int from, const char *name, int to, int depth, struct err *e)
{
    int in = openat(from, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), out = -1;
    DIR *d = in < 0 ? NULL : fdopendir(in);
    enum status s = d ? open_sub(to, name, &out, e) : ST_OK;

    for (struct dirent *x; d && !s && depth < DEPTH_MAX && (x = readdir(d));)
        if (x->d_name[0] != '.')
            s = is_regular(in, x->d_name) ? keep_file(in, x->d_name, out, x->d_name, e)
                                          : keep_tree(in, x->d_name, out, depth + 1, e);
    if (out >= 0)
        close(out);
    if (d)
        closedir(d);
    else if (in >= 0)
        close(in);
    return s;
}

struct keeping {
    const struct kept *kept;
    int to;
};

static enum status
keep_name(void *ctx, int dir, const char *name, struct err *e)
{
    const struct keeping *k = ctx;

    if (k->kept->only)
        return keep_only(dir, name, k->kept->only, k->to, e);
    return k->kept->is_tree && !is_regular(dir, name) ? keep_tree(dir, name, k->to, 0, e)
                                                      : keep_file(dir, name, k->to, name, e);
}

static enum status keep_all(const struct state_dir *f, int to, struct err *e);

/* The frame of a team phase, in which something has run, into the directory `*ctx`. */
static enum status
keep_frame(void *ctx, const struct state_dir *frame, const char *phase, struct err *e)
{
    struct keeping k = { .kept = &kept_runs, .to = -1 };
    int frames = -1, to = -1;

    if (!is_regular(frame->dir, JOURNAL))
        return ST_OK;
    enum status s = open_sub(*(const int *)ctx, FRAMES_DIR, &frames, e);
    if (!s)
        s = open_sub(frames, phase, &to, e);
    if (!s)
        s = keep_all(frame, to, e);
    if (!s)
        s = open_sub(to, RUNS, &k.to, e);
    if (!s)
        s = each_name(frame, RUNS, keep_name, &k, e);
    if (k.to >= 0)
        close(k.to);
    if (to >= 0)
        close(to);
    if (frames >= 0)
        close(frames);
    return s;
}

/* All of the table, and the frames, into the directory `to`, which is new. */
static enum status
keep_all(const struct state_dir *f, int to, struct err *e)
{
    int run;
    enum status s = open_sub(to, "run", &run, e);

    for (size_t i = 0; !s && i < N_KEPT; i++) {
        struct keeping k = { .kept = &kept[i], .to = -1 };
        if (!kept[i].is_dir) {
            s = keep_file(f->dir, kept[i].from, to, kept[i].to, e);
            continue;
        }
        s = open_sub(to, kept[i].to, &k.to, e);
        if (!s)
            s = each_name(f, kept[i].from, keep_name, &k, e);
        if (k.to >= 0)
            close(k.to);
    }
    /* a run of an older version has no workflow of its own */
    if (!s && !is_regular(to, "workflow.yml") && is_regular(f->dir, "workflow.yml"))
        s = copy_file(f->dir, "workflow.yml", to, "workflow.yml", e);
    if (!s)
        s = frames_each(f, keep_frame, &to, e);
    if (run >= 0)
        close(run);
    return s;
}

/* Where a process died after it had kept the run, an older copy is there: it is replaced at once,
 * or, on a file system that cannot do that, removed first, as the run itself is still in .cliq/. */
static enum status
publish(int runs, const char *new, const char *id, struct err *e)
{
    if (sys->renameat(runs, new, runs, id) == 0)
        return ST_OK;
    if (errno != ENOTEMPTY && errno != EEXIST)
        return err_sys(e, "rename " RUNS "/%s", new);
    if (renameat2(runs, new, runs, id, RENAME_EXCHANGE) == 0) {
        remove_tree(runs, new, 0);
        return ST_OK;
    }
    remove_run(runs, id);
    return sys->renameat(runs, new, runs, id) == 0 ? ST_OK : err_sys(e, "rename " RUNS "/%s", new);
}

/* A project that was made by an older version has no line for runs/ in its .gitignore. */
static void
hide_from_git(int runs)
{
    int fd =
        SYS_RETRY(sys->openat(runs, ".gitignore", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));

    if (fd < 0)
        return;
    ssize_t n = SYS_RETRY(sys->write(fd, "*\n", 2));
    (void)n; /* no part of the history */
    close(fd);
}

static enum status
keep_run(const struct state_dir *f, int runs, const char *id, struct err *e)
{
    char new[HISTORY_ID_SIZE + sizeof NEW];
    int to = -1;

    snprintf(new, sizeof new, NEW "%s", id);
    hide_from_git(runs);
    enum status s = open_sub(runs, new, &to, e);
    if (!s)
        s = keep_all(f, to, e);
    if (to >= 0)
        close(to);
    if (!s)
        s = publish(runs, new, id, e);
    /* the names are on disk before those in .cliq/ go */
    if (!s && sys->fsync(runs) != 0)
        s = err_sys(e, "sync " RUNS);
    if (s)
        remove_tree(runs, new, 0);
    return s;
}

static enum status
clear_name(void *ctx, int dir, const char *name, struct err *e)
{
    const struct kept *k = ctx;

    (void)e;
    if (!k->only) {
        if (k->is_tree)
            remove_tree(dir, name, 0);
        else if (is_regular(dir, name))
            unlinkat(dir, name, 0);
        return ST_OK;
    }
    int sub = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (sub >= 0) {
        unlinkat(sub, k->only, 0);
        close(sub);
    }
    return ST_OK;
}

static enum status clear(const struct state_dir *f, struct err *e);

/* A frame that no phase has any more goes as a whole: assemble took its team away. */
static enum status
clear_frame(void *ctx, const struct state_dir *frame, const char *phase, struct err *e)
{
    const struct state_dir *above = ctx;
    int frames;
    enum status s = clear(frame, e);

    each_name(frame, RUNS, clear_name, (void *)(uintptr_t)&kept_runs, NULL);
    if (!is_regular(frame->dir, "workflow.yml") &&
        state_dir_open_dir(above, FRAMES_DIR, false, &frames, NULL) == ST_OK) {
        remove_tree(frames, phase, 0);
        close(frames);
    }
    return s;
}

/* The journal goes first: from then on nothing is in .cliq/ that could be taken for a run. */
static enum status
clear(const struct state_dir *f, struct err *e)
{
    for (size_t i = 0; i < N_KEPT; i++) {
        if (!kept[i].is_cleared)
            continue;
        if (kept[i].is_dir)
            each_name(f, kept[i].from, clear_name, (void *)(uintptr_t)&kept[i], NULL);
        else if (is_regular(f->dir, kept[i].from) && unlinkat(f->dir, kept[i].from, 0) != 0 &&
                 i == 0)
            return err_sys(e, "remove %s/%s", f->state_dir, kept[i].from);
    }
    return frames_each(f, clear_frame, (void *)(uintptr_t)f, e);
}

/* ---- the list ---- */

static bool
add_run(struct history *h, const char *id, bool is_present)
{
    struct history_run *runs = realloc(h->runs, (h->n + 1) * sizeof *runs);

    if (!runs)
        return false;
    h->runs = runs;
    h->runs[h->n].is_present = is_present;
    snprintf(h->runs[h->n].id, sizeof h->runs[h->n].id, "%s", id);
    h->n++;
    return true;
}

struct listing {
    struct history *to;
    const char *present; /* "": none */
};

static enum status
list_name(void *ctx, int dir, const char *name, struct err *e)
{
    struct listing *l = ctx;
    struct stat st;

    if (!number_of(name) || strcmp(name, l->present) == 0 ||
        sys->fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISDIR(st.st_mode))
        return ST_OK;
    return add_run(l->to, name, false) ? ST_OK : err_nomem(e);
}

static enum status
list_kept(const struct state_dir *f, const char *present, struct history *h, struct err *e)
{
    struct listing l = { .to = h, .present = present };
    enum status s = each_name(f, RUNS, list_name, &l, e);

    if (h->n)
        qsort(h->runs, h->n, sizeof *h->runs, compare_runs);
    return s;
}

enum status
history_list(const struct state_dir *f, struct history *h, struct err *e)
{
    char id[HISTORY_ID_SIZE] = "";
    enum status s = present_id(f, id, e);

    *h = (struct history){ 0 };
    if (s == ST_NOT_FOUND)
        s = make_up_id(f, false, id, e);
    if (s == ST_NOT_FOUND) {
        id[0] = '\0';
        s = ST_OK;
    } else if (!s && !add_run(h, id, true)) {
        s = err_nomem(e);
    }
    if (!s)
        s = list_kept(f, id, h, e);
    if (s)
        history_release(h);
    return s;
}

void
history_release(struct history *h)
{
    free(h->runs);
    *h = (struct history){ 0 };
}

enum status
history_keep(const struct state_dir *f, unsigned keep, struct err *e)
{
    char id[HISTORY_ID_SIZE];
    struct history h = { 0 };
    int runs = -1;
    enum status s = present_id(f, id, e);
    bool is_there = s == ST_OK;

    if (s && s != ST_NOT_FOUND)
        return s;
    s = state_dir_open_dir(f, RUNS, is_there && keep > 0, &runs, e);
    if (s == ST_NOT_FOUND)
        return is_there ? clear(f, e) : ST_OK;
    if (!s)
        remove_leftovers(runs);
    if (!s && is_there && keep)
        s = keep_run(f, runs, id, e);
    if (!s) /* without a run, too: what is left of one that is kept must not be written to */
        s = clear(f, e);
    if (!s)
        s = list_kept(f, "", &h, e);
    for (size_t i = keep; !s && i < h.n; i++)
        remove_run(runs, h.runs[i].id);
    if (runs >= 0)
        close(runs);
    history_release(&h);
    return s;
}

/* ---- one of them ---- */

static bool
has_prefix(const char *id, const char *prefix)
{
    const char *dash = strrchr(id, '-');
    size_t n = strlen(prefix);

    return strncmp(id, prefix, n) == 0 || (dash && strncmp(dash + 1, prefix, n) == 0);
}

/* The id, or its own part after the project's, that was probably meant; NULL: none. */
static const char *
nearest(const struct history *h, const char *prefix)
{
    struct suggest near = { .word = prefix };

    for (size_t i = 0; i < h->n; i++) {
        const char *id = h->runs[i].id, *dash = strrchr(id, '-');
        suggest_try(&near, dash && !strchr(prefix, '-') ? dash + 1 : id);
    }
    return near.best;
}

/* h->n when there is none. */
static enum status
choose(const struct history *h, const char *prefix, size_t *out, struct err *e)
{
    struct buf names = { 0 };
    size_t n = 0;

    for (size_t i = 0; i < h->n; i++) {
        if (!has_prefix(h->runs[i].id, prefix))
            continue;
        if (!n++ || strcmp(h->runs[i].id, prefix) == 0)
            *out = i;
        if (n <= 5)
            buf_addf(&names, "%s%s", n > 1 ? ", " : "", h->runs[i].id);
    }
    enum status s = ST_OK;
    const char *near = n ? NULL : nearest(h, prefix);
    if (!n)
        s = err_set(e, ST_NOT_FOUND, "no run here has the id %.100s%s%s%s: cliq runs lists them",
                    prefix, near ? " (did you mean " : "", near ? near : "", near ? "?)" : "");
    else if (n > 1 && strcmp(h->runs[*out].id, prefix) != 0)
        s = err_set(e, ST_INVALID, "%.100s is the begin of %zu ids: %s%s; give more of it", prefix,
                    n, names.p ? names.p : "", n > 5 ? ", …" : "");
    buf_release(&names);
    return s;
}

enum status
history_open(const struct state_dir *f, const char *prefix, struct state_dir *out, bool *is_present,
             struct err *e)
{
    struct history h = { 0 };
    struct buf path = { 0 };
    size_t i = 0;
    enum status s = ST_OK;

    *out = (struct state_dir){ .dir = -1 };
    *is_present = true;
    if (prefix) {
        s = *prefix ? history_list(f, &h, e)
                    : err_set(e, ST_INVALID, "--run needs the id of a run: cliq runs lists them");
        if (!s)
            s = choose(&h, prefix, &i, e);
        *is_present = !s && h.runs[i].is_present;
    }
    if (!s && *is_present)
        buf_adds(&path, f->state_dir);
    else if (!s)
        buf_addf(&path, "%s/" RUNS "/%s", f->state_dir, h.runs[i].id);
    if (!s)
        s = buf_status(&path, "the path", e);
    if (!s)
        s = state_dir_open(out, path.p, f->project_dir, e);
    buf_release(&path);
    history_release(&h);
    return s;
}

bool
history_is_earlier(const struct state_dir *f)
{
    static const char runs[] = "/" RUNS;
    const char *id = strrchr(f->state_dir, '/'); /* or "/.cliq" */
    size_t n = sizeof runs - 1;

    return id && id[1] != '.' && (size_t)(id - f->state_dir) >= n && memcmp(id - n, runs, n) == 0;
}
