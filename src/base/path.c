#include "base/path.h"

#include "base/sys.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool
path_is_name(const char *s)
{
    size_t n = 0;

    while ((s[n] >= 'a' && s[n] <= 'z') || (s[n] >= 'A' && s[n] <= 'Z') ||
           (s[n] >= '0' && s[n] <= '9') || s[n] == '.' || s[n] == '_' || s[n] == '-')
        n++;
    return n > 0 && n <= PATH_NAME_MAX && s[n] == '\0' && s[0] != '.' && s[0] != '-';
}

enum status
path_check_name(const char *what, const char *s, struct err *e)
{
    if (path_is_name(s))
        return ST_OK;
    if (!*s)
        return err_set(e, ST_INVALID, "the %s is empty", what);
    return err_set(e, ST_INVALID,
                   "bad %s \"%s\": use 1 to %d of A-Z a-z 0-9 . _ - and start with a letter, "
                   "a digit or _",
                   what, s, PATH_NAME_MAX);
}

const char *
path_told(int dir, const char *name, char to[PATH_MAX])
{
    char link[40];
    const char *otherwise = name ? name : "it";
    int saved = errno;

    if (dir < 0 || (name && *name == '/')) /* AT_FDCWD: as it was given */
        return otherwise;
    snprintf(link, sizeof link, "/proc/self/fd/%d", dir);
    ssize_t n = readlink(link, to, PATH_MAX - 1);
    errno = saved;
    if (n <= 0 || *to != '/')
        return otherwise;
    to[n] = '\0';
    if (name && snprintf(to + n, PATH_MAX - (size_t)n, "/%s", name) >= PATH_MAX - n)
        return otherwise;
    return to;
}

enum { DIR_FLAGS = O_RDONLY | O_DIRECTORY | O_CLOEXEC };

/* Creates a directory durably; an existing one is fine. */
static enum status
make_dir(int dir, const char *name, struct err *e)
{
    if (SYS_RETRY(sys->mkdirat(dir, name, 0700)) != 0)
        return errno == EEXIST ? ST_OK : err_sys(e, "create directory %s", name);

    /* Syncs the parent, which holds the new entry. */
    char parent[PATH_MAX];
    size_t n = strlen(name);
    while (n > 0 && name[n - 1] != '/')
        n--;
    if (n >= sizeof parent)
        return err_set(e, ST_INVALID, "path too long: %s", name);
    memcpy(parent, n ? name : ".", n ? n : 1);
    parent[n ? n : 1] = '\0';
    int fd = SYS_RETRY(sys->openat(dir, parent, DIR_FLAGS, 0));
    if (fd < 0)
        return err_sys(e, "open directory %s", parent);
    enum status s = ST_OK;
    if (SYS_RETRY(sys->fsync(fd)) != 0)
        s = err_sys(e, "sync directory %s", parent);
    close(fd);
    return s;
}

static enum status
make_parents(const char *path, struct err *e)
{
    char part[PATH_MAX];
    size_t len = strlen(path);
    enum status s = ST_OK;

    if (len >= sizeof part)
        return err_set(e, ST_INVALID, "path too long: %s", path);
    memcpy(part, path, len + 1);
    while (len > 1 && part[len - 1] == '/')
        part[--len] = '\0';
    for (size_t i = 1; i <= len && !s; i++) {
        if (part[i] != '/' && part[i] != '\0')
            continue;
        char c = part[i];
        part[i] = '\0';
        s = make_dir(AT_FDCWD, part, e);
        part[i] = c;
    }
    return s;
}

enum status
path_open_dir(const char *path, bool create, int *out, struct err *e)
{
    int fd = SYS_RETRY(sys->openat(AT_FDCWD, path, DIR_FLAGS, 0));

    if (fd < 0 && errno == ENOENT && create) {
        enum status s = make_parents(path, e);
        if (s)
            return s;
        fd = SYS_RETRY(sys->openat(AT_FDCWD, path, DIR_FLAGS, 0));
    }
    if (fd < 0)
        return errno == ENOENT ? err_set(e, ST_NOT_FOUND, "no directory %s", path)
                               : err_sys(e, "open directory %s", path);
    *out = fd;
    return ST_OK;
}

enum status
path_dir_failed(int dir, const char *name, struct err *e)
{
    char told[PATH_MAX];

    if (errno == ENOENT)
        return err_set(e, ST_NOT_FOUND, "no directory %s", name);
    if (errno == ENOTDIR || errno == ELOOP)
        return err_set(e, ST_INVALID, "%s is not a directory (links are not followed)",
                       path_told(dir, name, told));
    return err_sys(e, "open directory %s", path_told(dir, name, told));
}

enum status
path_open_dir_at(int dir, const char *name, bool create, int *out, struct err *e)
{
    int flags = DIR_FLAGS | O_NOFOLLOW;
    int fd = SYS_RETRY(sys->openat(dir, name, flags, 0));

    if (fd < 0 && errno == ENOENT && create) {
        enum status s = make_dir(dir, name, e);
        if (s)
            return s;
        fd = SYS_RETRY(sys->openat(dir, name, flags, 0));
    }
    if (fd < 0)
        return path_dir_failed(dir, name, e);
    *out = fd;
    return ST_OK;
}

enum status
path_check_regular(const struct stat *st, const char *what, struct err *e)
{
    const char *kind = S_ISDIR(st->st_mode)    ? "a directory"
                       : S_ISFIFO(st->st_mode) ? "a FIFO"
                       : S_ISSOCK(st->st_mode) ? "a socket"
                       : S_ISLNK(st->st_mode)  ? "a symbolic link"
                                               : "a device";

    return S_ISREG(st->st_mode)
               ? ST_OK
               : err_set(e, ST_INVALID, "%s is %s, not a regular file", what, kind);
}

enum status
path_open_failed(int dir, const char *path, const char *what, struct err *e)
{
    int error = errno;
    struct stat st;

    if (error == ENOENT)
        return err_set(e, ST_NOT_FOUND, "no file %s", what);
    /* ENXIO: a socket. EISDIR: a directory opened for writing. ELOOP: a symbolic link. */
    if ((error == ENXIO || error == EISDIR || error == ELOOP) &&
        sys->fstatat(dir, path, &st, AT_SYMLINK_NOFOLLOW) == 0 && path_check_regular(&st, what, e))
        return ST_INVALID;
    errno = error;
    return err_sys(e, "open %s", what);
}

enum status
path_read_fd(int fd, const char *what, struct buf *to, struct err *e)
{
    /* Read into a chunk, because buf_room would count a whole chunk against the buf's limit. Most
     * files are small, so the first one is. */
    char chunk[64 << 10];
    size_t want = 4096;
    ssize_t n;

    while ((n = SYS_RETRY(sys->read(fd, chunk, want))) > 0) {
        buf_add(to, chunk, (size_t)n);
        if (buf_failed(to))
            break;
        want = sizeof chunk;
    }
    if (n < 0 && errno == EBADF && fd == STDIN_FILENO)
        return err_set(e, ST_INVALID, "read %s: standard input is closed", what);
    return n < 0 ? err_sys(e, "read %s", what) : buf_status(to, what, e);
}

enum status
path_read_file(int dir, const char *path, struct buf *to, struct err *e)
{
    int fd = SYS_RETRY(sys->openat(dir, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0));
    char told[PATH_MAX];
    struct stat st;
    enum status s;

    if (fd < 0)
        return path_open_failed(dir, path, errno == ENOENT ? path : path_told(dir, path, told), e);
    if (sys->fstat(fd, &st) != 0)
        s = err_sys(e, "look at %s", path);
    else
        s = S_ISREG(st.st_mode) ? ST_OK : path_check_regular(&st, path_told(dir, path, told), e);
    if (!s)
        s = path_read_fd(fd, path, to, e);
    close(fd);
    return s;
}

enum status
path_find_up(const char *name, struct buf *to, struct err *e)
{
    char cwd[PATH_MAX];

    if (!getcwd(cwd, sizeof cwd))
        return err_sys(e, "find the working directory");
    for (size_t len = strlen(cwd);; len--) {
        struct stat st;
        buf_reset(to);
        buf_add(to, cwd, len);
        if (len == 0 || cwd[len - 1] != '/')
            buf_addc(to, '/');
        buf_adds(to, name);
        if (buf_failed(to))
            return buf_status(to, "the path", e);
        if (sys->fstatat(AT_FDCWD, to->p, &st, 0) == 0) {
            if (S_ISDIR(st.st_mode) && st.st_uid == geteuid())
                return ST_OK;
        } else if (errno != ENOENT && errno != ENOTDIR && errno != EACCES && errno != ELOOP &&
                   errno != ENAMETOOLONG) {
            return err_sys(e, "look for %s", to->p); /* it may exist */
        }
        if (len == 0)
            break;
        while (len > 0 && cwd[len - 1] != '/')
            len--;
        if (len == 0)
            break;
    }
    buf_reset(to);
    return err_set(e, ST_NOT_FOUND, "no %s here or in a directory above", name);
}

enum status
path_config(struct buf *to, struct err *e)
{
    const char *home = getenv("CLIQ_HOME");

    if (home && *home) {
        buf_adds(to, home);
        return buf_status(to, "CLIQ_HOME", e);
    }
    home = getenv("HOME");
    if (!home || !*home)
        return err_set(e, ST_INVALID,
                       "neither CLIQ_HOME nor HOME is set: set CLIQ_HOME to a "
                       "directory for cliq's own files");
    buf_addf(to, "%s/.cliqrc", home);
    return buf_status(to, "HOME", e);
}
