#define _GNU_SOURCE
#include "cmd/lib/team_source.h"

#include "base/path.h"
#include "base/sys.h"
#include "base/tree.h"
#include "cmd/lib/team_hub.h"
#include "proc/child.h"
#include "team/package.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { GIT_MS = 300000, GIT_KEEP = 4096 };

static enum status
pack_dir(const char *path, struct buf *to, struct err *e)
{
    struct stat st;
    int dir;
    enum status s = path_open_dir(path, false, &dir, e);

    if (s)
        return s;
    if (sys->fstatat(dir, "team.yml", &st, AT_SYMLINK_NOFOLLOW) != 0)
        s = err_set(e, ST_NOT_FOUND, "there is no team.yml in %s", path);
    if (!s)
        s = package_pack(dir, to, e);
    close(dir);
    return s;
}

/* ---- git ---- */

/* The last line of what git said. */
static const char *
last_line(struct buf *said)
{
    while (said->len && said->p[said->len - 1] == '\n')
        buf_cut(said, said->len - 1);
    if (!said->len)
        return "it said nothing";
    const char *line = strrchr(said->p, '\n');
    return line ? line + 1 : said->p;
}

static enum status
clone(const struct team_ref *r, const char *into, struct err *e)
{
    const char *argv[24] = { "git",
                             "-c",
                             "core.hooksPath=/dev/null",
                             "-c",
                             "protocol.ext.allow=never",
                             "-c",
                             "core.symlinks=true",
                             "clone",
                             "--quiet",
                             "--depth=1",
                             "--template=" };
    size_t n = 11;
    struct child c = { 0 };

    if (r->version.len) {
        argv[n++] = "--branch";
        argv[n++] = r->version.p;
    }
    argv[n++] = "--";
    argv[n++] = r->at.p;
    argv[n] = into;
    struct child_spec spec = {
        .proc = { .argv = argv }, .keep = GIT_KEEP, .limit_ms = GIT_MS, .grace_ms = 2000
    };
    enum status s = child_run(&c, &spec, e);
    if (s == ST_NOT_FOUND)
        err_say(e, "git is not on PATH, and is needed to install from a repository");
    if (!s && c.is_timeout)
        s = err_set(e, ST_TIMEOUT, "git clone took longer than %d s", GIT_MS / 1000);
    if (!s && child_exit_code(&c) != 0)
        s = err_set(e, ST_IO, "git clone failed: %s", last_line(&c.output));
    child_release(&c);
    return s;
}

static enum status
read_git(const struct team_ref *r, struct buf *to, struct err *e)
{
    const char *base = getenv("TMPDIR");
    struct buf temp = { 0 }, into = { 0 };
    int parent = -1;

    buf_addf(&temp, "%s/cliq-git-XXXXXX", base && base[0] == '/' ? base : "/tmp");
    enum status s = buf_status(&temp, "the path", e);
    if (s)
        return s;
    if (!mkdtemp(temp.p)) {
        s = err_sys(e, "make a directory in %s", base ? base : "/tmp");
        buf_release(&temp);
        return s;
    }
    buf_addf(&into, "%s/team", temp.p);
    s = buf_status(&into, "the path", e);
    if (!s)
        s = clone(r, into.p, e);
    if (!s)
        s = pack_dir(into.p, to, e);
    if (path_open_dir(temp.p, false, &parent, NULL) == ST_OK) {
        (void)tree_empty(parent, temp.p, NULL);
        close(parent);
    }
    (void)rmdir(temp.p);
    buf_release(&temp);
    buf_release(&into);
    return s;
}

/* ---- any ---- */

static enum status
read_any(const struct team_ref *r, struct buf *to, struct err *e)
{
    switch (r->kind) {
    case TEAM_REF_DIR:
        return pack_dir(r->at.p, to, e);
    case TEAM_REF_PACKAGE:
        return path_read_file(AT_FDCWD, r->at.p, to, e);
    case TEAM_REF_HUB:
        return team_hub_download(r, to, e);
    case TEAM_REF_GIT:
        return read_git(r, to, e);
    default:
        return err_set(e, ST_INVALID, "%s names an installed team", r->at.p);
    }
}

static enum status
check_size(enum status s, const struct buf *package, struct err *e)
{
    return s && package->is_over
               ? err_set(e, ST_REFUSED, "the package is refused: it is larger than %zu MiB",
                         PACKAGE_PACKED_MAX >> 20)
               : s;
}

enum status
team_source_read(const struct team_ref *r, struct buf *to, struct err *e)
{
    return check_size(read_any(r, to, e), to, e);
}

enum status
team_source_package(const char *path, struct buf *to, struct err *e)
{
    return check_size(path_read_file(AT_FDCWD, path, to, e), to, e);
}

enum status
team_source_name(const struct team_ref *r, const char *text, struct buf *to, struct err *e)
{
    bool is_path = r->kind == TEAM_REF_DIR || r->kind == TEAM_REF_PACKAGE;
    char *real = is_path ? realpath(r->at.p, NULL) : NULL;

    if (is_path && !real)
        return errno == ENOENT ? err_set(e, ST_NOT_FOUND, "there is no %s", r->at.p)
                               : err_sys(e, "find %s", r->at.p);
    buf_adds(to, real ? real : text);
    free(real);
    return buf_status(to, "the reference", e);
}

enum status
team_source_open(const struct team_ref *r, struct package_place *p, struct err *e)
{
    struct buf bytes = BUF_MAX(PACKAGE_PACKED_MAX), out = { 0 };

    *p = (struct package_place){ .teams = -1, .lock = -1, .dir = -1 };
    enum status s = team_source_read(r, &bytes, e);
    if (!s)
        s = package_place_open(p, &bytes, e);
    if (!s && r->kind == TEAM_REF_HUB && strcmp(p->team.name, r->at.p) != 0)
        s = err_set(e, ST_REFUSED, "the package of %s is called %s", r->at.p, p->team.name);
    problems_write(&out, &p->problems);
    if (out.len)
        fputs(out.p, stderr);
    buf_release(&out);
    buf_release(&bytes);
    return s;
}
