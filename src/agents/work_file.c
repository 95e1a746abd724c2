#define _GNU_SOURCE
#include "agents/work_file.h"

#include "base/sys.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define FILES "files" /* of the run's directory: what agents make */

/* ---- the directory ---- */

/* The rest of the path behind `dir`: "" for the directory itself; NULL: it is elsewhere. */
static const char *
below(const char *dir, const char *path)
{
    size_t n = strlen(dir);

    if (strncmp(path, dir, n) != 0 || (path[n] != '/' && path[n] != '\0'))
        return NULL;
    return path + n + strspn(path + n, "/");
}

enum status
work_dir_open(struct work_dir *w, const char *path, const char *state_dir, struct err *e)
{
    size_t n = strlen(path);

    while (n > 1 && path[n - 1] == '/')
        n--;
    *w = (struct work_dir){ .given = strndup(path, n), .real = realpath(path, NULL) };
    if (w->real && w->given) {
        w->state_name = state_dir ? below(w->given, state_dir) : NULL;
        return ST_OK;
    }
    enum status s = w->given ? err_sys(e, "find the working directory %s", path) : err_nomem(e);
    work_dir_release(w);
    return s;
}

void
work_dir_release(struct work_dir *w)
{
    free(w->given);
    free(w->real);
    *w = (struct work_dir){ 0 };
}

/* Makes of the path that of its nearest parent. False: it has none. */
static bool
drop_name(char *path)
{
    char *slash = strrchr(path, '/');

    if (!slash || !path[1])
        return false;
    slash[slash == path] = '\0';
    return true;
}

/* A path that does not exist yet is where its nearest existing parent is, unless .. is in the rest
 * of it. */
bool
work_dir_holds(const struct work_dir *w, const char *path)
{
    char real[PATH_MAX], asked[PATH_MAX];
    int n = snprintf(asked, sizeof asked, "%s%s%s", *path == '/' ? "" : w->given,
                     *path == '/' ? "" : "/", path);

    if (n < 0 || (size_t)n >= sizeof asked)
        return false;
    while (!realpath(asked, real)) {
        const char *name = strrchr(asked, '/');
        struct stat st;
        if ((name && strcmp(name, "/..") == 0) || errno != ENOENT ||
            sys->fstatat(AT_FDCWD, asked, &st, AT_SYMLINK_NOFOLLOW) == 0 || !drop_name(asked))
            return false;
    }
    return below(w->real, real) != NULL;
}

/* ---- writing ---- */

static enum status
write_all(int fd, const char *p, size_t n, struct err *e)
{
    while (n > 0) {
        ssize_t got = SYS_RETRY(sys->write(fd, p, n));
        if (got < 0)
            return err_sys(e, "write");
        p += got;
        n -= (size_t)got;
    }
    return ST_OK;
}

/* A name for the temporary file; in the same directory, so that the rename is one step. */
static enum status
open_temp(int dir, char name[40], int *fd, struct err *e)
{
    unsigned long long random;

    if (SYS_RETRY(sys->getrandom(&random, sizeof random, 0)) != sizeof random)
        return err_sys(e, "get random bytes");
    snprintf(name, 40, ".cliq-%016llx.tmp", random);
    *fd = SYS_RETRY(
        sys->openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666));
    return *fd < 0 ? err_sys(e, "create a temporary file") : ST_OK;
}

/* Keeps the mode of the file that is replaced. */
static enum status
look_at_old(int dir, const char *name, int fd, struct err *e)
{
    struct stat st;

    if (sys->fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? ST_OK : err_sys(e, "look at %s", name);
    if (S_ISLNK(st.st_mode))
        return err_set(e, ST_REFUSED,
                       "%s is a symbolic link, and links are not followed: write to the file "
                       "itself",
                       name);
    if (!S_ISREG(st.st_mode))
        return err_set(e, ST_REFUSED, "%s is not a file", name);
    return fchmod(fd, st.st_mode & 07777) == 0 ? ST_OK : err_sys(e, "keep the mode of %s", name);
}

static enum status
replace(int dir, const char *name, const void *p, size_t n, struct err *e)
{
    char temp[40];
    int fd;
    enum status s = open_temp(dir, temp, &fd, e);

    if (s)
        return s;
    s = look_at_old(dir, name, fd, e);
    if (!s)
        s = write_all(fd, p, n, e);
    if (close(fd) != 0 && !s)
        s = err_sys(e, "write");
    if (!s && SYS_RETRY(sys->renameat(dir, temp, dir, name)) != 0)
        s = err_sys(e, "put %s in its place", name);
    if (s)
        unlinkat(dir, temp, 0);
    return s;
}

/* ---- the way to the file ---- */

/* Opens the directory `name` in `dir`; makes it when it is missing. */
static enum status
enter(int dir, const char *name, int *fd, struct err *e)
{
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

    *fd = SYS_RETRY(sys->openat(dir, name, flags, 0));
    if (*fd < 0 && errno == ENOENT && (sys->mkdirat(dir, name, 0777) == 0 || errno == EEXIST))
        *fd = SYS_RETRY(sys->openat(dir, name, flags, 0));
    if (*fd >= 0)
        return ST_OK;
    struct stat st;
    int error = errno;
    bool is_link = sys->fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode);
    errno = error;
    if (is_link)
        return err_set(e, ST_REFUSED,
                       "%s is a symbolic link, and links are not followed: use the directory that "
                       "it leads to",
                       name);
    return errno == ENOTDIR ? err_set(e, ST_REFUSED, "%s is not a directory", name)
                            : err_sys(e, "open the directory %s", name);
}

/* Writes the file `rest`, relative to dir, which is closed. */
static enum status
write_below(int dir, const char *rest, const void *p, size_t n, struct err *e)
{
    char name[NAME_MAX + 1];
    enum status s = ST_OK;

    while (!s) {
        size_t len = strcspn(rest, "/");
        const char *next = rest + len + strspn(rest + len, "/");
        int sub;
        if (len > NAME_MAX)
            s = err_set(e, ST_REFUSED, "a name of the path is too long");
        else if (len == 0 || (len == 1 && *rest == '.' && !*next))
            s = err_set(e, ST_REFUSED, "the path names a directory, not a file");
        if (s)
            break;
        memcpy(name, rest, len);
        name[len] = '\0';
        if (strcmp(name, "..") == 0) {
            s = err_set(e, ST_REFUSED, "the path has .. in it: give the path without");
        } else if (!rest[len]) {
            s = replace(dir, name, p, n, e);
            break;
        } else if (strcmp(name, ".") != 0) {
            s = enter(dir, name, &sub, e);
            if (!s) {
                close(dir);
                dir = sub;
            }
        }
        rest = next;
    }
    close(dir);
    return s;
}

/* Is it the run's own? Agents may write into its files/. */
static bool
is_of_run(const struct work_dir *w, const char *rest)
{
    const char *in = w->state_name && *w->state_name ? below(w->state_name, rest) : NULL;

    return in && (!below(FILES, in) || !*below(FILES, in));
}

/* Is the file below a .git directory? What stands there can be run by the next git command. */
static bool
is_of_git(const char *rest)
{
    enum { NAME = 4 };

    for (const char *part = rest; *part; part += strcspn(part, "/"), part += strspn(part, "/"))
        if (strcspn(part, "/") == NAME && strncasecmp(part, ".git", NAME) == 0)
            return true;
    return false;
}

enum status
work_file_write(const struct work_dir *w, const char *path, const void *p, size_t n, struct err *e)
{
    const char *rest = below(w->given, path);
    struct err why;

    if (*path != '/')
        return err_set(e, ST_INVALID, "%s is not an absolute path", path);
    if (!rest)
        rest = below(w->real, path);
    if (!rest)
        return err_set(e, ST_REFUSED,
                       "%s is outside of the working directory %s: only files inside may be "
                       "written",
                       path, w->given);
    if (is_of_run(w, rest))
        return err_set(e, ST_REFUSED,
                       "%s belongs to the run: of its directory only " FILES "/ may be written",
                       path);
    if (is_of_git(rest))
        return err_set(e, ST_REFUSED, "%s belongs to git, which may run it: write it yourself",
                       path);
    int dir = SYS_RETRY(sys->openat(AT_FDCWD, w->real, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0));
    if (dir < 0)
        return err_sys(e, "open the working directory %s", w->real);
    enum status s = write_below(dir, rest, p, n, &why);
    if (s)
        err_say(e, "%s was not written: %s", path, why.text);
    return s;
}

enum status
work_file_write_anywhere(const char *path, const void *p, size_t n, struct err *e)
{
    const char *name = strrchr(path, '/');
    char parent[PATH_MAX];
    struct err why;

    if (*path != '/')
        return err_set(e, ST_INVALID, "%s is not an absolute path", path);
    snprintf(parent, sizeof parent, "%.*s/", (int)(name - path), path);
    int dir = SYS_RETRY(sys->openat(AT_FDCWD, parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0));
    if (dir < 0)
        return err_sys(e, "open the directory %s", parent);
    enum status s = write_below(dir, name + 1, p, n, &why);
    if (s)
        err_say(e, "%s was not written: %s", path, why.text);
    return s;
}
