#define _GNU_SOURCE /* scandirat */
#include "team/package.h"

#include "base/path.h"
#include "base/sys.h"
#include "team/agent_files.h"
#include "team/libarchive.h"
#include "team/package_names.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ENTRY_TIME = 315532800 }; /* 1980-01-01, the first that every archive format has */

struct packing {
    const char *above; /* "" or "teams/research/": what is packed is in there */
    struct archive *archive;
    struct archive_entry *entry;
    size_t unpacked, n;
};

static la_ssize_t
take_bytes(struct archive *a, void *to, const void *p, size_t n)
{
    (void)a;
    buf_add(to, p, n);
    return buf_failed(to) ? -1 : (la_ssize_t)n;
}

static enum status
archive_failed(struct archive *a, const char *what, struct err *e)
{
    const char *why = ar.error_string(a);

    return err_set(e, ST_IO, "pack %s: %s", what, why ? why : "libarchive failed");
}

static enum status
too_large(const char *path, struct err *e)
{
    return err_set(e, ST_REFUSED, "the team has more than %zu MiB of files, with %s",
                   PACKAGE_UNPACKED_MAX >> 20, path);
}

static enum status
check_limits(const struct packing *k, const char *path, struct err *e)
{
    const char *fault = package_names_fault(path);

    if (fault)
        return err_set(e, ST_REFUSED, "the name %.300s %s; a package cannot have it", path, fault);
    if (k->n > PACKAGE_ENTRIES_MAX)
        return err_set(e, ST_REFUSED, "the team has more than %d files", PACKAGE_ENTRIES_MAX);
    return k->unpacked > PACKAGE_UNPACKED_MAX ? too_large(path, e) : ST_OK;
}

/* `text` for a file, `target` for a link, neither for a directory. */
static enum status
add_entry_at(struct packing *k, const char *path, unsigned mode, const struct buf *text,
             const char *target, struct err *e)
{
    size_t len = text ? text->len : 0;

    k->n++;
    k->unpacked += len;
    enum status s = check_limits(k, path, e);
    if (s)
        return s;
    ar.entry_clear(k->entry);
    ar.entry_set_pathname(k->entry, path);
    ar.entry_set_filetype(k->entry, text ? AE_IFREG : target ? AE_IFLNK : AE_IFDIR);
    ar.entry_set_perm(k->entry, mode);
    ar.entry_set_mtime(k->entry, ENTRY_TIME, 0);
    ar.entry_set_size(k->entry, (la_int64_t)len);
    if (target)
        ar.entry_set_symlink(k->entry, target);
    if (ar.write_header(k->archive, k->entry) != ARCHIVE_OK ||
        (len && ar.write_data(k->archive, text->p, len) != (la_ssize_t)len))
        return archive_failed(k->archive, path, e);
    return ST_OK;
}

static enum status
add_entry(struct packing *k, const char *name, unsigned mode, const struct buf *text,
          const char *target, struct err *e)
{
    struct buf path = { 0 };

    buf_addf(&path, "%s%s", k->above, name);
    enum status s = buf_status(&path, "the path", e);
    if (!s)
        s = add_entry_at(k, path.p, mode, text, target, e);
    buf_release(&path);
    return s;
}

static unsigned
file_mode(const struct stat *st)
{
    return st->st_mode & 0100 ? 0755 : 0644;
}

static enum status
add_open_file(struct packing *k, int fd, const struct stat *st, const char *path, struct err *e)
{
    struct buf text = BUF_MAX(PACKAGE_UNPACKED_MAX);
    enum status s = path_read_fd(fd, path, &text, e);

    if (s && text.is_over)
        s = too_large(path, e);
    if (!s)
        s = add_entry(k, path, file_mode(st), &text, NULL, e);
    buf_release(&text);
    return s;
}

/* A file `name` of `dir`, which the package calls `path`. None is fine; a link is not: it could be
 * any file of this machine. */
static enum status
add_file(struct packing *k, int dir, const char *name, const char *path, struct err *e)
{
    struct stat st;
    int fd = SYS_RETRY(
        sys->openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0));

    if (fd < 0 && errno == ENOENT)
        return ST_OK;
    if (fd < 0 && errno == ELOOP)
        return err_set(e, ST_REFUSED, "%s is a link: put a copy there instead", path);
    if (fd < 0)
        return err_sys(e, "open %s", path);
    enum status s = sys->fstat(fd, &st) != 0 ? err_sys(e, "look at %s", path)
                                             : path_check_regular(&st, path, e);
    if (!s)
        s = add_open_file(k, fd, &st, path, e);
    close(fd);
    return s;
}

static enum status
add_agent_file(void *ctx, const struct agent_file *f, struct err *e)
{
    if (f->kind == AGENT_FILE_TEXT)
        return add_open_file(ctx, f->fd, &f->st, f->path, e);
    return add_entry(ctx, f->path, 0755, NULL, f->target, e);
}

static int
is_role(const struct dirent *d)
{
    size_t n = strlen(d->d_name);

    return d->d_name[0] != '.' && n > 3 && strcmp(d->d_name + n - 3, ".md") == 0;
}

static int
by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static enum status
add_roles(struct packing *k, int dir, struct err *e)
{
    struct dirent **found = NULL;
    int roles;
    enum status s = path_open_dir_at(dir, "roles", false, &roles, e);

    if (s)
        return s == ST_NOT_FOUND ? ST_OK : s;
    int n = scandirat(roles, ".", &found, is_role, by_name);
    s = n < 0 ? err_sys(e, "list roles") : n ? add_entry(k, "roles", 0755, NULL, NULL, e) : ST_OK;
    for (int i = 0; i < n; i++) {
        struct buf path = { 0 };
        buf_addf(&path, "roles/%s", found[i]->d_name);
        if (!s)
            s = buf_status(&path, "the path", e);
        if (!s)
            s = add_file(k, roles, found[i]->d_name, path.p, e);
        buf_release(&path);
        free(found[i]);
    }
    free(found);
    close(roles);
    return s;
}

static enum status add_team(struct packing *k, int dir, struct err *e);

static int
is_team(const struct dirent *d)
{
    return path_is_name(d->d_name);
}

/* A team in teams/, which has a team.yml; what has none is left out. */
static enum status
add_sub(struct packing *k, int teams, const char *name, struct err *e)
{
    const char *above = k->above;
    struct buf path = { 0 };
    struct stat st;
    int dir =
        SYS_RETRY(sys->openat(teams, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0));
    enum status s = ST_OK;

    if (dir < 0)
        return errno == ENOTDIR || errno == ELOOP ? ST_OK : err_sys(e, "open teams/%s", name);
    if (sys->fstatat(dir, "team.yml", &st, AT_SYMLINK_NOFOLLOW) == 0) {
        buf_addf(&path, "teams/%s", name);
        s = buf_status(&path, "the path", e);
        if (!s)
            s = add_entry(k, path.p, 0755, NULL, NULL, e);
        buf_reset(&path);
        buf_addf(&path, "%steams/%s/", above, name);
        if (!s)
            s = buf_status(&path, "the path", e);
        k->above = path.p;
        if (!s)
            s = add_team(k, dir, e);
        k->above = above;
    }
    close(dir);
    buf_release(&path);
    return s;
}

/* The teams that team phases run: teams/<name>/, and theirs. */
static enum status
add_teams(struct packing *k, int dir, struct err *e)
{
    struct dirent **found = NULL;
    int teams;
    enum status s = path_open_dir_at(dir, "teams", false, &teams, e);

    if (s)
        return s == ST_NOT_FOUND ? ST_OK : s;
    int n = scandirat(teams, ".", &found, is_team, by_name);
    s = n < 0 ? err_sys(e, "list teams") : n ? add_entry(k, "teams", 0755, NULL, NULL, e) : ST_OK;
    for (int i = 0; i < n; i++) {
        if (!s)
            s = add_sub(k, teams, found[i]->d_name, e);
        free(found[i]);
    }
    free(found);
    close(teams);
    return s;
}

/* In the order of their names. */
static enum status
add_team(struct packing *k, int dir, struct err *e)
{
    static const char *const about[] = { "CHANGELOG.md", "LICENSE", "LICENSE.md", "README.md" };
    struct stat st;
    enum status s = ST_OK;

    for (size_t i = 0; !s && i < sizeof about / sizeof *about; i++)
        s = add_file(k, dir, about[i], about[i], e);
    if (!s && sys->fstatat(dir, "agents", &st, AT_SYMLINK_NOFOLLOW) == 0)
        s = add_entry(k, "agents", 0755, NULL, NULL, e);
    if (!s)
        s = agent_files_walk(dir, add_agent_file, k, e);
    if (!s)
        s = add_roles(k, dir, e);
    if (!s)
        s = add_file(k, dir, "team.yml", "team.yml", e);
    return s ? s : add_teams(k, dir, e);
}

static bool
begin(struct packing *k, struct buf *to)
{
    return k->archive && k->entry && ar.write_set_format_pax_restricted(k->archive) == ARCHIVE_OK &&
           ar.write_add_filter_gzip(k->archive) == ARCHIVE_OK &&
           ar.write_set_options(k->archive, "gzip:!timestamp,gzip:compression-level=9") ==
               ARCHIVE_OK &&
           ar.write_set_bytes_in_last_block(k->archive, 1) == ARCHIVE_OK &&
           ar.write_open(k->archive, to, NULL, take_bytes, NULL) == ARCHIVE_OK;
}

enum status
package_pack(int dir, struct buf *to, struct err *e)
{
    struct packing k = { .above = "" };
    struct buf bytes = BUF_MAX(PACKAGE_PACKED_MAX);
    enum status s = libarchive_load(e);

    if (s)
        return s;
    k.archive = ar.write_new();
    k.entry = ar.entry_new();
    if (!begin(&k, &bytes))
        s = k.archive ? archive_failed(k.archive, "the team", e) : err_nomem(e);
    if (!s)
        s = add_team(&k, dir, e);
    if (!s && ar.write_close(k.archive) != ARCHIVE_OK)
        s = archive_failed(k.archive, "the team", e);
    if (bytes.is_over)
        s = err_set(e, ST_REFUSED, "the package is larger than %zu MiB", PACKAGE_PACKED_MAX >> 20);
    if (k.entry)
        ar.entry_free(k.entry);
    if (k.archive)
        ar.write_free(k.archive);
    if (!s) {
        buf_add(to, bytes.p, bytes.len);
        s = buf_status(to, "the package", e);
    }
    buf_release(&bytes);
    return s;
}
