#define _GNU_SOURCE
#include "team/package.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/sys.h"
#include "team/agent_files.h"
#include "team/libarchive.h"
#include "team/package_names.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { PIECE = 64 << 10 };

struct reading {
    struct archive *archive;
    int dir;              /* -1: nothing is written */
    struct buf *team_yml; /* receives that file's text; NULL: not asked for */
    bool has_team;
    struct arena arena; /* of the names */
    const char **paths; /* of all entries */
    const char **links; /* pairs of path and target, made last */
    size_t n, n_links, unpacked, n_headers;
};

/* The entry of an archive, looked at once. */
struct found_entry {
    const char *path, *target; /* target NULL: no link */
    unsigned mode;
    bool is_dir;
};

static enum status
refuse(const char *path, const char *why, struct err *e)
{
    return err_set(e, ST_REFUSED, "the package is refused: %.300s %s", path, why);
}

static enum status
damaged(const struct reading *r, struct err *e)
{
    const char *why = ar.error_string(r->archive);

    return err_set(e, ST_INVALID, "this is no package of a team, or it is damaged: %s",
                   why ? why : "it cannot be read");
}

static enum status
too_large(struct err *e)
{
    return err_set(e, ST_REFUSED, "the package is refused: it unpacks to more than %zu MiB",
                   PACKAGE_UNPACKED_MAX >> 20);
}

/* ---- the entry ---- */

/* Without "./" before it and "/" behind it, in the arena; NULL: no memory. */
static const char *
plain_path(struct reading *r, const char *path)
{
    while (path[0] == '.' && path[1] == '/') {
        path += 2;
        path += strspn(path, "/");
    }
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/')
        n--;
    return arena_dup(&r->arena, path, n == 1 && path[0] == '.' ? 0 : n);
}

/* Below agents/ of the team, or of one in its teams/. */
static bool
is_in_agents(const char *path)
{
    while (strncmp(path, "teams/", 6) == 0) {
        const char *slash = strchr(path + 6, '/');
        if (!slash)
            return false;
        path = slash + 1;
    }
    return strncmp(path, "agents/", 7) == 0;
}

static const char *
type_fault(struct archive_entry *entry, const char *path)
{
    unsigned type = ar.entry_filetype(entry);

    if (ar.entry_hardlink(entry))
        return "is a hard link";
    if (ar.entry_perm(entry) & 07000)
        return "has a setuid, setgid or sticky bit";
    if (type == AE_IFLNK && !is_in_agents(path))
        return "is a link: only agents/ may have links";
    if (type != AE_IFREG && type != AE_IFDIR && type != AE_IFLNK)
        return "is neither a file nor a directory nor a link";
    return NULL;
}

static enum status
look(struct reading *r, struct archive_entry *entry, struct found_entry *f, struct err *e)
{
    const char *raw = ar.entry_pathname(entry), *fault;
    unsigned type = ar.entry_filetype(entry);

    if (!raw)
        return refuse("an entry", "has no name, or one in no known alphabet", e);
    if (!(f->path = plain_path(r, raw)))
        return err_nomem(e);
    if (!*f->path)
        return type == AE_IFDIR ? ST_OK : refuse("an entry", "has no name", e);
    if ((fault = package_names_fault(f->path)) || (fault = type_fault(entry, f->path)))
        return refuse(f->path, fault, e);
    f->is_dir = type == AE_IFDIR;
    f->mode = ar.entry_perm(entry) & 0100 ? 0700 : 0600;
    if (type == AE_IFLNK) {
        const char *target = ar.entry_symlink(entry);
        if (!target || !*target || strlen(target) > PACKAGE_PATH_MAX)
            return refuse(f->path, "is a link to nowhere", e);
        if (!(f->target = arena_dup(&r->arena, target, strlen(target))))
            return err_nomem(e);
    }
    if (ar.entry_size(entry) > (la_int64_t)PACKAGE_UNPACKED_MAX)
        return too_large(e);
    return ST_OK;
}

/* ---- writing ---- */

/* Opens the directory that the path is in, making what is missing. *name is its last component. No
 * link is followed. */
static enum status
open_parent(int dir, const char *path, int *fd, const char **name, struct err *e)
{
    char part[PACKAGE_NAME_MAX + 1];
    int at = SYS_RETRY(sys->openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0));
    const char *p = path;

    for (size_t n; at >= 0 && p[n = strcspn(p, "/")]; p += n + 1) {
        memcpy(part, p, n);
        part[n] = '\0';
        int next = -1;
        if (sys->mkdirat(at, part, 0700) == 0 || errno == EEXIST)
            next = SYS_RETRY(
                sys->openat(at, part, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW, 0));
        int why = errno;
        close(at);
        errno = why;
        at = next;
    }
    *name = p;
    *fd = at;
    if (at < 0 && (errno == ENOTDIR || errno == ELOOP))
        return refuse(path, "is below something that is no directory", e);
    return at < 0 ? err_sys(e, "make the directory of %s", path) : ST_OK;
}

static enum status
write_piece(int fd, const char *p, size_t len, const char *path, struct err *e)
{
    while (len) {
        ssize_t n = SYS_RETRY(sys->write(fd, p, len));
        if (n < 0)
            return err_sys(e, "write %s", path);
        p += n;
        len -= (size_t)n;
    }
    return ST_OK;
}

/* The bytes of the present entry, to fd and `copy` where they are there. */
static enum status
read_data(struct reading *r, const char *path, int fd, struct buf *copy, struct err *e)
{
    char piece[PIECE];
    la_ssize_t n;
    enum status s = ST_OK;

    while (!s && (n = ar.read_data(r->archive, piece, sizeof piece)) != 0) {
        if (n < 0)
            return damaged(r, e);
        if ((r->unpacked += (size_t)n) > PACKAGE_UNPACKED_MAX)
            return too_large(e);
        if (copy)
            buf_add(copy, piece, (size_t)n);
        if (fd >= 0)
            s = write_piece(fd, piece, (size_t)n, path, e);
    }
    return s || !copy ? s : buf_status(copy, path, e);
}

static enum status
write_file(struct reading *r, const struct found_entry *f, struct err *e)
{
    const char *name;
    int parent, fd;
    enum status s = open_parent(r->dir, f->path, &parent, &name, e);

    if (s)
        return s;
    fd = SYS_RETRY(
        sys->openat(parent, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, f->mode));
    if (fd < 0)
        s = errno == EEXIST ? refuse(f->path, "is in it twice", e)
                            : err_sys(e, "create %s", f->path);
    close(parent);
    if (s)
        return s;
    s = read_data(r, f->path, fd, NULL, e);
    close(fd);
    return s;
}

static enum status
make_dir(struct reading *r, const struct found_entry *f, struct err *e)
{
    const char *name;
    int parent;
    enum status s = open_parent(r->dir, f->path, &parent, &name, e);

    if (s)
        return s;
    if (sys->mkdirat(parent, name, 0700) != 0 && errno != EEXIST)
        s = err_sys(e, "create %s", f->path);
    close(parent);
    return s;
}

static enum status check_teams(int dir, unsigned depth, struct err *e);

/* Links below agents/ stay inside, of the team and of those in its teams/. */
static enum status
check_links(int dir, unsigned depth, struct err *e)
{
    enum status s = agent_files_walk(dir, NULL, NULL, e);

    return s || depth > PACKAGE_DEPTH_MAX ? s : check_teams(dir, depth, e);
}

static enum status
check_teams(int dir, unsigned depth, struct err *e)
{
    int teams;
    enum status s = path_open_dir_at(dir, "teams", false, &teams, e);

    if (s)
        return s == ST_NOT_FOUND ? ST_OK : s;
    DIR *d = fdopendir(teams);
    if (!d) {
        close(teams);
        return err_nomem(e);
    }
    for (struct dirent *x; !s && (x = readdir(d));) {
        int team;
        if (strcmp(x->d_name, ".") == 0 || strcmp(x->d_name, "..") == 0 || x->d_type == DT_REG)
            continue;
        s = path_open_dir_at(teams, x->d_name, false, &team, e);
        if (!s) {
            s = check_links(team, depth + 1, e);
            close(team);
        }
    }
    closedir(d);
    return s;
}

static enum status
make_links(struct reading *r, struct err *e)
{
    enum status s = ST_OK;

    for (size_t i = 0; !s && i < r->n_links; i++) {
        const char *path = r->links[2 * i], *name;
        int parent;
        s = open_parent(r->dir, path, &parent, &name, e);
        if (s)
            return s;
        if (sys->symlinkat(r->links[2 * i + 1], parent, name) != 0)
            s = errno == EEXIST ? refuse(path, "is in it twice", e)
                                : err_sys(e, "make the link %s", path);
        close(parent);
    }
    return s ? s : check_links(r->dir, 0, e);
}

/* ---- the walk ---- */

static enum status
take(struct reading *r, const struct found_entry *f, struct err *e)
{
    bool is_team = !f->is_dir && !f->target && strcmp(f->path, "team.yml") == 0;

    if (!f->is_dir)
        r->paths[r->n++] = f->path;
    r->has_team |= is_team;
    if (f->target) {
        r->links[2 * r->n_links] = f->path;
        r->links[2 * r->n_links++ + 1] = f->target;
        return ST_OK;
    }
    if (f->is_dir)
        return r->dir >= 0 ? make_dir(r, f, e) : ST_OK;
    return r->dir >= 0 ? write_file(r, f, e)
                       : read_data(r, f->path, -1, is_team ? r->team_yml : NULL, e);
}

static enum status
walk(struct reading *r, struct err *e)
{
    struct archive_entry *entry;
    enum status s = ST_OK;
    int got;

    while (!s && (got = ar.read_next_header(r->archive, &entry)) != ARCHIVE_EOF) {
        struct found_entry f = { 0 };
        if (got != ARCHIVE_OK)
            return damaged(r, e);
        if (++r->n_headers > PACKAGE_ENTRIES_MAX)
            return err_set(e, ST_REFUSED, "the package is refused: it has more than %d entries",
                           PACKAGE_ENTRIES_MAX);
        s = look(r, entry, &f, e);
        if (!s && *f.path)
            s = take(r, &f, e);
    }
    return s;
}

static enum status
check_clash(struct reading *r, struct err *e)
{
    const char *const *pair = package_names_clash(r->paths, r->n);

    if (!pair)
        return ST_OK;
    return err_set(e, ST_REFUSED,
                   "the package is refused: %.200s and %.200s are the same name to some systems",
                   pair[0], pair[1]);
}

static enum status
read_package(struct reading *r, const struct buf *package, struct err *e)
{
    enum status s = libarchive_load(e);

    if (s)
        return s;
    if (package->len > PACKAGE_PACKED_MAX)
        return err_set(e, ST_REFUSED, "the package is refused: it is larger than %zu MiB",
                       PACKAGE_PACKED_MAX >> 20);
    r->arena.max = (size_t)64 << 20;
    r->paths = arena_alloc(&r->arena, PACKAGE_ENTRIES_MAX * sizeof *r->paths);
    r->links = arena_alloc(&r->arena, 2 * PACKAGE_ENTRIES_MAX * sizeof *r->links);
    r->archive = ar.read_new();
    if (!r->paths || !r->links || !r->archive)
        s = err_nomem(e);
    else if (ar.read_support_filter_gzip(r->archive) != ARCHIVE_OK ||
             ar.read_support_format_tar(r->archive) != ARCHIVE_OK ||
             ar.read_open_memory(r->archive, package->p ? package->p : "", package->len) !=
                 ARCHIVE_OK)
        s = damaged(r, e);
    if (!s)
        s = walk(r, e);
    if (!s)
        s = check_clash(r, e);
    if (!s && r->dir >= 0)
        s = make_links(r, e);
    if (r->archive)
        ar.read_free(r->archive);
    return s;
}

enum status
package_unpack(const struct buf *package, int dir, struct err *e)
{
    struct reading r = { .dir = dir };
    enum status s = read_package(&r, package, e);

    arena_release(&r.arena);
    return s;
}

enum status
package_check(const struct buf *package, struct buf *team_yml, struct err *e)
{
    struct reading r = { .dir = -1, .team_yml = team_yml };
    enum status s = read_package(&r, package, e);

    if (!s && !r.has_team)
        s = err_set(e, ST_INVALID, "the package has no team.yml at its top");
    arena_release(&r.arena);
    return s;
}
