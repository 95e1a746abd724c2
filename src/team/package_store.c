#define _GNU_SOURCE /* renameat2, syncfs, scandirat */
#include "team/package_store.h"

#include "base/clock.h"
#include "base/path.h"
#include "base/sys.h"
#include "base/tree.h"
#include "team/package.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define SOURCE_FILE ".source.json"
#define NEW_PREFIX  ".new-"

enum { SOURCE_MAX = 64 << 10 };

/* ---- the directory of all teams ---- */

static int
is_left_behind(const struct dirent *d)
{
    return strncmp(d->d_name, NEW_PREFIX, strlen(NEW_PREFIX)) == 0;
}

/* Under the lock, whatever is there belongs to a process that was killed. */
static void
remove_left_behind(int teams)
{
    struct dirent **found = NULL;
    int n = scandirat(teams, ".", &found, is_left_behind, NULL);

    for (int i = 0; i < n; i++) {
        (void)tree_remove(teams, found[i]->d_name, NULL);
        free(found[i]);
    }
    free(found);
}

static enum status
open_teams(struct buf *path, int *teams, int *lock, struct err *e)
{
    enum status s = path_config(path, e);

    buf_adds(path, "/teams");
    if (!s)
        s = buf_status(path, "the path of the teams", e);
    if (!s)
        s = path_open_dir(path->p, true, teams, e);
    if (s)
        return s;
    *lock =
        SYS_RETRY(sys->openat(*teams, ".lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (*lock < 0 || SYS_RETRY(sys->flock(*lock, LOCK_EX)) != 0)
        return err_sys(e, "lock %s", path->p);
    remove_left_behind(*teams);
    return ST_OK;
}

static enum status
new_name(char to[32], struct err *e)
{
    unsigned long long random;

    if (sys->getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random)
        return err_sys(e, "get a random number");
    snprintf(to, 32, NEW_PREFIX "%016llx", random);
    return ST_OK;
}

/* ---- unpacking ---- */

static int
is_visible(const struct dirent *d)
{
    return d->d_name[0] != '.';
}

/* Without a team.yml at its top, a package with one directory means that directory. */
static enum status
enter_single(struct package_place *p, struct err *e)
{
    struct dirent **found = NULL;
    struct stat st;
    int inner = -1;
    enum status s = ST_OK;

    if (sys->fstatat(p->dir, "team.yml", &st, AT_SYMLINK_NOFOLLOW) == 0)
        return ST_OK;
    int n = scandirat(p->dir, ".", &found, is_visible, NULL);
    if (n == 1 && path_open_dir_at(p->dir, found[0]->d_name, false, &inner, NULL) == ST_OK &&
        sys->fstatat(inner, "team.yml", &st, AT_SYMLINK_NOFOLLOW) == 0) {
        buf_addf(&p->path, "/%s", found[0]->d_name);
        s = buf_status(&p->path, "the path", e);
        int outer = p->dir;
        p->dir = inner;
        inner = outer;
    } else {
        s = err_set(e, ST_INVALID, "the package has no team.yml");
    }
    for (int i = 0; i < n; i++)
        free(found[i]);
    free(found);
    if (inner >= 0)
        close(inner);
    return s;
}

static enum status
load(struct package_place *p, struct err *e)
{
    enum status s = team_load_file(&p->team, p->dir, "team.yml", &p->problems, e);

    if (!s || (s == ST_INVALID && p->problems.errors)) {
        team_validate(&p->team, p->dir, NULL, &p->problems);
        s = ST_OK;
    }
    if (!s && p->problems.errors)
        s = err_set(e, ST_FAILED, "the team has %zu error%s, and cannot be used",
                    p->problems.errors, p->problems.errors == 1 ? "" : "s");
    return s;
}

enum status
package_place_open(struct package_place *p, const struct buf *package, struct err *e)
{
    *p = (struct package_place){ .teams = -1, .lock = -1, .dir = -1 };
    digest_sha256_hex(p->sha256, package->p ? package->p : "", package->len);

    enum status s = open_teams(&p->path, &p->teams, &p->lock, e);
    if (!s)
        s = new_name(p->name, e);
    p->base_len = p->path.len + 1;
    buf_addf(&p->path, "/%s", p->name);
    if (!s)
        s = buf_status(&p->path, "the path", e);
    if (!s)
        s = path_open_dir_at(p->teams, p->name, true, &p->dir, e);
    if (!s)
        s = package_unpack(package, p->dir, e);
    if (!s)
        s = enter_single(p, e);
    return s ? s : load(p, e);
}

void
package_place_close(struct package_place *p)
{
    if (p->dir >= 0)
        close(p->dir);
    if (p->teams >= 0 && p->name[0])
        (void)tree_remove(p->teams, p->name, NULL);
    if (p->lock >= 0)
        close(p->lock);
    if (p->teams >= 0)
        close(p->teams);
    team_release(&p->team);
    problems_release(&p->problems);
    buf_release(&p->path);
    *p = (struct package_place){ .teams = -1, .lock = -1, .dir = -1 };
}

/* ---- where it came from ---- */

static enum status
write_source(const struct package_place *p, const char *from, struct err *e)
{
    struct buf text = { 0 };
    char at[CLOCK_ISO_SIZE];

    json_open(&text, '{');
    json_key_int(&text, "v", 1);
    json_key_str(&text, "from", from);
    json_key_str(&text, "version", p->team.version);
    json_key_str(&text, "sha256", p->sha256);
    json_key_str(&text, "installed_at", clock_iso(at, clock_wall_ns(), false));
    json_close(&text, '}');
    buf_addc(&text, '\n');
    enum status s = buf_status(&text, SOURCE_FILE, e);
    int fd = s ? -1
               : SYS_RETRY(sys->openat(p->dir, SOURCE_FILE, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                                       0600));
    if (!s && fd < 0)
        s = errno == EEXIST
                ? err_set(e, ST_REFUSED, "the package is refused: it has a file %s", SOURCE_FILE)
                : err_sys(e, "create %s", SOURCE_FILE);
    if (!s && SYS_RETRY(sys->write(fd, text.p, text.len)) != (ssize_t)text.len)
        s = err_sys(e, "write %s", SOURCE_FILE);
    if (fd >= 0)
        close(fd);
    buf_release(&text);
    return s;
}

enum status
package_source_read(struct arena *a, const char *dir, struct package_source *out, struct err *e)
{
    struct buf path = { 0 }, text = BUF_MAX(SOURCE_MAX);
    struct json *doc = NULL;

    *out = (struct package_source){ 0 };
    buf_addf(&path, "%s/" SOURCE_FILE, dir);
    enum status s = buf_status(&path, "the path", e);
    if (!s)
        s = path_read_file(AT_FDCWD, path.p, &text, e);
    if (!s)
        s = json_parse_named(a, path.p, text.p ? text.p : "", text.len, &doc, e);
    if (!s) {
        out->from = json_dup_text(a, json_get(doc, "from"));
        out->version = json_dup_text(a, json_get(doc, "version"));
        out->sha256 = json_dup_text(a, json_get(doc, "sha256"));
        if (!out->from)
            s = err_set(e, ST_INVALID, "%s does not say where the team came from", path.p);
    }
    buf_release(&path);
    buf_release(&text);
    return s;
}

/* ---- putting in place ---- */

/* Opens the directory of the scope; *name is the team's name in it. */
static enum status
open_scope(int teams, const char *ref, bool create, int *scope, const char **name, struct err *e)
{
    const char *slash = strchr(ref, '/');
    struct buf part = { 0 };

    buf_add(&part, ref, (size_t)(slash - ref));
    *name = slash + 1;
    enum status s = buf_status(&part, "the scope", e);
    if (!s)
        s = path_open_dir_at(teams, part.p, create, scope, e);
    buf_release(&part);
    return s;
}

/* ST_CONFLICT: the installed team has the version that is to be installed. */
static enum status
check_installed(const struct package_place *p, int scope, const char *name, bool is_forced,
                struct arena *a, const char **was, struct err *e)
{
    struct team old = { 0 };
    struct problems ignored = { 0 };
    enum status s = ST_OK;
    int dir;

    *was = NULL;
    if (path_open_dir_at(scope, name, false, &dir, NULL) != ST_OK)
        return ST_OK;
    struct err why;
    bool is_loaded = team_load_file(&old, dir, "team.yml", &ignored, &why) == ST_OK;
    const char *then = old.version ? old.version : "", *now = p->team.version;
    if (!(*was = arena_dup(a, then, strlen(then))))
        s = err_nomem(e);
    else if (is_loaded && !is_forced && strcmp(then, now ? now : "") == 0)
        s = err_set(e, ST_CONFLICT, "%s %s is installed already; --force installs it again",
                    p->team.name, now ? now : "(without a version)");
    team_release(&old);
    problems_release(&ignored);
    close(dir);
    return s;
}

/* The new team to its place, the old one to where the new one was: one system call. */
static enum status
put(const struct package_place *p, int scope, const char *name, struct err *e)
{
    const char *from = p->path.p + p->base_len; /* below <config>/teams */
    bool is_there = faccessat(scope, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;

    if (syncfs(p->dir) != 0)
        return err_sys(e, "sync %s", p->path.p);
    if (renameat2(p->teams, from, scope, name, is_there ? RENAME_EXCHANGE : RENAME_NOREPLACE) != 0)
        return errno == EINVAL && is_there
                   ? err_set(e, ST_IO,
                             "this file system cannot exchange two directories: cliq team remove "
                             "%s first",
                             p->team.name)
                   : err_sys(e, "install %s", p->team.name);
    return sys->fsync(scope) == 0 && sys->fsync(p->teams) == 0
               ? ST_OK
               : err_sys(e, "sync the directory of the teams");
}

enum status
package_place_install(struct package_place *p, const char *from, bool is_forced, struct arena *a,
                      const char **was, struct err *e)
{
    struct buf ref = { 0 };
    const char *name;
    int scope = -1;
    enum status s = p->team.name ? ST_OK : err_set(e, ST_INVALID, "the team has no name");

    if (!s) { /* a name alone is @local/name */
        buf_addf(&ref, "%s%s", p->team.name[0] == '@' ? "" : "@local/", p->team.name);
        s = buf_status(&ref, "the name", e);
    }
    if (!s)
        s = write_source(p, from, e);
    if (!s)
        s = open_scope(p->teams, ref.p, true, &scope, &name, e);
    if (!s)
        s = check_installed(p, scope, name, is_forced, a, was, e);
    if (!s)
        s = put(p, scope, name, e);
    if (scope >= 0)
        close(scope);
    buf_release(&ref);
    return s;
}

enum status
package_store_remove(const char *ref, struct err *e)
{
    struct buf path = { 0 };
    const char *name;
    char gone[32];
    int teams = -1, lock = -1, scope = -1;
    enum status s = open_teams(&path, &teams, &lock, e);

    if (!s)
        s = open_scope(teams, ref, false, &scope, &name, e);
    if (!s)
        s = new_name(gone, e);
    if (!s && sys->renameat(scope, name, teams, gone) != 0)
        s = err_sys(e, "remove %s", ref);
    if (!s)
        s = tree_remove(teams, gone, e);
    if (!s) { /* the scope, when it was the last */
        buf_reset(&path);
        buf_add(&path, ref, (size_t)(strchr(ref, '/') - ref));
        if (!buf_failed(&path))
            (void)unlinkat(teams, path.p, AT_REMOVEDIR);
    }
    if (scope >= 0)
        close(scope);
    if (lock >= 0)
        close(lock);
    if (teams >= 0)
        close(teams);
    buf_release(&path);
    return s;
}
