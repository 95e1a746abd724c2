#define _GNU_SOURCE
#include "team/agent_files.h"

#include "base/buf.h"
#include "base/path.h"
#include "base/sys.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINKS_MAX = 40 }; /* followed to resolve one link; the kernel's limit */

struct walk {
    int agents; /* the directory agents/ */
    agent_file_fn *fn;
    void *ctx;
};

/* ---- where a link leads ---- */

enum lead { LEADS_IN, LEADS_OUT, LEADS_ROUND };

/* Reads the link `path` below `dir` into to, NUL-ended. False: it is no link, or does not exist. */
static bool
read_link(int dir, const char *path, char to[PATH_MAX])
{
    ssize_t n = readlinkat(dir, path, to, PATH_MAX - 1);

    if (n >= PATH_MAX - 1)
        errno = ENAMETOOLONG;
    if (n < 0 || n >= PATH_MAX - 1)
        return false;
    to[n] = '\0';
    return true;
}

/* Removes the last component of a relative path; false: it has none. */
static bool
drop_last(struct buf *path)
{
    if (!path->len)
        return false;
    char *slash = strrchr(path->p, '/');
    buf_cut(path, slash ? (size_t)(slash - path->p) : 0);
    return true;
}

/* Resolves `rest` against `at`, a path below agents/ without links. A component that does not exist
 * counts as a directory: a link that leads nowhere inside agents/ does no harm. */
static enum lead
resolve(int agents, struct buf *at, struct buf *rest)
{
    char target[PATH_MAX];
    size_t links = 0, from = 0;

    while (from < rest->len) {
        const char *name = rest->p + from;
        size_t n = strcspn(name, "/"), before = at->len;
        from += n + (name[n] == '/');
        if (n == 0 || (n == 1 && name[0] == '.'))
            continue;
        if (n == 2 && memcmp(name, "..", 2) == 0) {
            if (!drop_last(at))
                return LEADS_OUT;
            continue;
        }
        buf_addf(at, "%s%.*s", at->len ? "/" : "", (int)n, name);
        if (buf_failed(at) || !read_link(agents, at->p, target))
            continue;
        if (target[0] == '/')
            return LEADS_OUT;
        if (++links > LINKS_MAX)
            return LEADS_ROUND;
        buf_cut(at, before);
        struct buf next = { 0 };
        buf_addf(&next, "%s/%s", target, rest->p + from);
        buf_release(rest);
        *rest = next;
        from = 0;
        if (buf_failed(rest))
            break;
    }
    return LEADS_IN;
}

/* Where does the link at `path`, relative to agents/, lead? */
static enum status
find_lead(int agents, const char *path, const char *target, enum lead *out, struct err *e)
{
    struct buf at = { 0 }, rest = { 0 };

    *out = LEADS_OUT;
    if (target[0] == '/')
        return ST_OK;
    buf_adds(&at, path);
    drop_last(&at);
    buf_adds(&rest, target);
    if (!buf_failed(&at) && !buf_failed(&rest))
        *out = resolve(agents, &at, &rest);
    enum status s = buf_status(&at, path, e);
    if (!s)
        s = buf_status(&rest, path, e);
    buf_release(&at);
    buf_release(&rest);
    return s;
}

/* Is it the interpreter of a Python environment? */
static bool
is_venv_python(int dir, const char *name)
{
    struct stat st;

    return strncmp(name, "python", 6) == 0 && sys->fstatat(dir, "../pyvenv.cfg", &st, 0) == 0;
}

static enum status
check_link(const struct walk *w, int dir, const char *name, struct agent_file *f, struct err *e)
{
    enum lead lead;
    enum status s = find_lead(w->agents, f->path + strlen("agents/"), f->target, &lead, e);

    if (s || lead == LEADS_IN)
        return s;
    if (lead == LEADS_ROUND)
        return err_set(e, ST_REFUSED, "%s is a link to %s, which leads in a circle", f->path,
                       f->target);
    return err_set(e, ST_REFUSED, "%s is a link to %s, which leads out of the team's agents/: %s",
                   f->path, f->target,
                   is_venv_python(dir, name)
                       ? "make this environment with python3 -m venv --copies"
                       : "only links that stay inside are copied. Put a copy there instead");
}

/* ---- the walk ---- */

static int
is_entry(const struct dirent *d)
{
    return strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0;
}

static int
by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static enum status
call(const struct walk *w, const struct agent_file *f, struct err *e)
{
    return w->fn ? w->fn(w->ctx, f, e) : ST_OK;
}

static enum status
visit_link(const struct walk *w, int dir, const char *name, struct agent_file *f, struct err *e)
{
    char target[PATH_MAX];

    if (!read_link(dir, name, target))
        return err_sys(e, "read the link %s", f->path);
    f->kind = AGENT_FILE_LINK;
    f->target = target;
    enum status s = check_link(w, dir, name, f, e);
    if (!s)
        s = call(w, f, e);
    f->target = NULL;
    return s;
}

static enum status
visit_file(const struct walk *w, int dir, const char *name, struct agent_file *f, struct err *e)
{
    enum status s = ST_OK;

    f->kind = AGENT_FILE_TEXT;
    if (!w->fn)
        return ST_OK;
    f->fd = SYS_RETRY(
        sys->openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0));
    if (f->fd < 0)
        return err_sys(e, "open %s", f->path);
    if (sys->fstat(f->fd, &f->st) != 0)
        s = err_sys(e, "look at %s", f->path);
    if (!s)
        s = path_check_regular(&f->st, f->path, e);
    if (!s)
        s = call(w, f, e);
    close(f->fd);
    f->fd = -1;
    return s;
}

static enum status
walk_dir(const struct walk *w, int dir, const char *path, int depth, struct err *e);

static enum status
visit(const struct walk *w, int dir, const char *name, const char *path, int depth, struct err *e)
{
    struct agent_file f = { .path = path, .fd = -1 };
    int sub;

    if (sys->fstatat(dir, name, &f.st, AT_SYMLINK_NOFOLLOW) != 0)
        return err_sys(e, "look at %s", path);
    if (S_ISLNK(f.st.st_mode))
        return visit_link(w, dir, name, &f, e);
    if (S_ISREG(f.st.st_mode))
        return visit_file(w, dir, name, &f, e);
    if (!S_ISDIR(f.st.st_mode))
        return err_set(e, ST_REFUSED, "%s is neither a file nor a directory nor a link", path);
    f.kind = AGENT_FILE_DIR;
    enum status s = call(w, &f, e);
    if (!s)
        s = path_open_dir_at(dir, name, false, &sub, e);
    if (s)
        return s;
    s = walk_dir(w, sub, path, depth + 1, e);
    close(sub);
    return s;
}

static enum status
walk_dir(const struct walk *w, int dir, const char *path, int depth, struct err *e)
{
    struct dirent **found = NULL;
    int n = scandirat(dir, ".", &found, is_entry, by_name);
    enum status s = n < 0 ? err_sys(e, "list %s", path) : ST_OK;

    if (depth > AGENT_FILES_DEPTH_MAX)
        s = err_set(e, ST_INVALID, "%s is nested too deeply: at most %d directories", path,
                    AGENT_FILES_DEPTH_MAX);
    for (int i = 0; i < n; i++) {
        struct buf sub = { 0 };
        if (!s)
            buf_addf(&sub, "%s/%s", path, found[i]->d_name);
        if (!s)
            s = buf_status(&sub, path, e);
        if (!s)
            s = visit(w, dir, found[i]->d_name, sub.p, depth, e);
        buf_release(&sub);
        free(found[i]);
    }
    free(found);
    return s;
}

enum status
agent_files_walk(int dir, agent_file_fn *fn, void *ctx, struct err *e)
{
    struct walk w = { .fn = fn, .ctx = ctx };
    struct stat st;

    if (sys->fstatat(dir, "agents", &st, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? ST_OK : err_sys(e, "look at agents");
    enum status s = path_open_dir_at(dir, "agents", false, &w.agents, e);
    if (s)
        return s;
    s = walk_dir(&w, w.agents, "agents", 0, e);
    close(w.agents);
    return s;
}
