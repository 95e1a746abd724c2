/*
 * state_dir - opens, writes and replaces the files of a run below one directory descriptor.
 *
 * Each component of a path is opened with O_NOFOLLOW: whatever symbolic links an agent or a cloned
 * repository puts there, no file outside the directory is touched.
 */
#define _GNU_SOURCE
#include "context/state_dir.h"

#include "base/path.h"
#include "base/sys.h"
#include "base/term.h"
#include "base/utf8.h"

#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef RENAME_EXCHANGE
#define RENAME_NOREPLACE (1U << 0)
#define RENAME_EXCHANGE  (1U << 1)
#endif

bool
state_dir_is_phase_name(const char *s)
{
    size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-");

    return n > 0 && n <= 64 && !s[n] && s[0] >= 'a' && s[0] <= 'z' && !strstr(s, "--");
}

/* ---- opening ---- */

/* Makes the path absolute without following links. */
static char *
absolute(const char *path)
{
    char cwd[PATH_MAX];
    char *whole = NULL;

    if (path[0] == '/')
        return strdup(path);
    if (!getcwd(cwd, sizeof cwd))
        return NULL;
    size_t n = strlen(cwd), m = strlen(path);
    whole = malloc(n + m + 2);
    if (whole) {
        memcpy(whole, cwd, n);
        whole[n] = '/';
        memcpy(whole + n + 1, path, m + 1);
    }
    return whole;
}

enum status
state_dir_open(struct state_dir *f, const char *state_dir, const char *project_dir, struct err *e)
{
    *f = (struct state_dir){ .dir = -1 };
    f->state_dir = absolute(state_dir);
    if (!f->state_dir)
        return err_sys(e, "open %s", state_dir);
    size_t n = strlen(f->state_dir);
    while (n > 1 && f->state_dir[n - 1] == '/')
        f->state_dir[--n] = '\0';
    if (project_dir) {
        f->project_dir = absolute(project_dir);
    } else {
        while (n > 1 && f->state_dir[n - 1] != '/')
            n--;
        f->project_dir = strndup(f->state_dir, n > 1 ? n - 1 : 1);
    }
    enum status s = f->project_dir ? path_open_dir(f->state_dir, false, &f->dir, e)
                                   : err_sys(e, "open %s", state_dir);
    if (s)
        state_dir_close(f);
    return s;
}

enum status
state_dir_check_path(const char *path, struct err *e)
{
    struct buf told = { 0 };
    size_t n = strlen(path);

    if (utf8_valid_len(path, n) == n)
        return ST_OK;
    term_escape(&told, path, n, false);
    err_say(e,
            "the path %s is not UTF-8: agents get it in JSON, which cannot hold it. Rename that "
            "directory",
            told.p ? told.p : "");
    buf_release(&told);
    return ST_INVALID;
}

enum status
state_dir_check_owner(const struct stat *st, const char *path, struct err *e)
{
    char text[4096], number[32];
    struct passwd user, *u = NULL;

    if (st->st_uid == geteuid())
        return ST_OK;
    getpwuid_r(st->st_uid, &user, text, sizeof text, &u);
    snprintf(number, sizeof number, "with the id %ju", (uintmax_t)st->st_uid);
    return err_set(
        e, ST_REFUSED,
        "%s belongs to the user %s, not to you: nothing in it is run or changed. Work as "
        "that user, or make a project of your own in another directory (cliq init)",
        path, u ? u->pw_name : number);
}

/* There is no .cliq/ of this user: refuse with the owner of the nearest one, if there is one. */
static enum status
find_foreign(struct err *e)
{
    char path[PATH_MAX + sizeof "/.cliq"];
    struct stat st;

    if (!getcwd(path, PATH_MAX))
        return ST_OK;
    for (size_t len = strlen(path);; len--) {
        len -= len > 0 && path[len - 1] == '/';
        memcpy(path + len, "/.cliq", sizeof "/.cliq");
        if (sys->fstatat(AT_FDCWD, path, &st, 0) == 0 && S_ISDIR(st.st_mode))
            return state_dir_check_owner(&st, path, e);
        while (len > 0 && path[len - 1] != '/')
            len--;
        if (len == 0)
            return ST_OK;
    }
}

enum status
state_dir_find(struct state_dir *f, struct err *e)
{
    struct buf path = { 0 };
    enum status s = path_find_up(".cliq", &path, e);

    *f = (struct state_dir){ .dir = -1 };
    if (!s)
        s = state_dir_open(f, path.p, NULL, e);
    else if (s == ST_NOT_FOUND && !(s = find_foreign(e)))
        s = err_set(e, ST_NOT_FOUND, "no .cliq/ here or in a directory above: run cliq init first");
    buf_release(&path);
    return s;
}

void
state_dir_close(struct state_dir *f)
{
    if (f->dir >= 0 && f->state_dir) /* a zeroed struct owns nothing, and not descriptor 0 */
        close(f->dir);
    free(f->state_dir);
    free(f->project_dir);
    *f = (struct state_dir){ .dir = -1 };
}

void
state_dir_path(const struct state_dir *f, struct buf *to, const char *path)
{
    buf_addf(to, "%s/%s", f->state_dir, path);
}

/* ---- paths ---- */

enum { DIR_FLAGS = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW };

static enum status
check_path(const char *path, struct err *e)
{
    for (const char *p = path;; p++) {
        size_t n = strcspn(p, "/");
        if (n == 0 || n > NAME_MAX || (n == 1 && p[0] == '.') ||
            (n == 2 && p[0] == '.' && p[1] == '.'))
            return err_set(e, ST_INVALID,
                           "bad path \"%.200s\": use names separated by single slashes, no . or ..",
                           path);
        p += n;
        if (!*p)
            return ST_OK;
    }
}

/* Opens the directory `name` in dir; creates it when asked. */
static enum status
step(int dir, const char *name, bool create, int *out, struct err *e)
{
    int fd = SYS_RETRY(sys->openat(dir, name, DIR_FLAGS, 0));

    if (fd < 0 && errno == ENOENT && create) {
        if (SYS_RETRY(sys->mkdirat(dir, name, 0700)) != 0 && errno != EEXIST)
            return err_sys(e, "create directory %s", name);
        fd = SYS_RETRY(sys->openat(dir, name, DIR_FLAGS, 0));
    }
    if (fd < 0)
        return path_dir_failed(dir, name, e);
    *out = fd;
    return ST_OK;
}

/* Opens the directory that holds the path's last component, *name. *dir is the state directory's
 * own descriptor or one that close_parent closes. */
static enum status
open_parent(const struct state_dir *f, const char *path, bool create, int *dir, const char **name,
            struct err *e)
{
    enum status s = check_path(path, e);
    char part[NAME_MAX + 1];

    *dir = f->dir;
    for (const char *slash; !s && (slash = strchr(path, '/')); path = slash + 1) {
        int next = -1;
        memcpy(part, path, (size_t)(slash - path));
        part[slash - path] = '\0';
        s = step(*dir, part, create, &next, e);
        if (*dir != f->dir)
            close(*dir);
        *dir = s ? f->dir : next;
    }
    *name = path;
    return s;
}

static void
close_parent(const struct state_dir *f, int dir)
{
    if (dir != f->dir)
        close(dir);
}

/* ---- files ---- */

static enum status
write_all(int fd, const char *p, size_t n, const char *name, struct err *e)
{
    while (n) {
        ssize_t done = SYS_RETRY(sys->write(fd, p, n));
        if (done < 0)
            return err_sys(e, "write %s", name);
        if (done == 0)
            return err_set(e, ST_IO, "write %s: nothing was written", name);
        p += done;
        n -= (size_t)done;
    }
    return ST_OK;
}

/* ".tmp-" and 24 random hex digits, so that no other process can create that name beforehand. */
static enum status
make_temp(int dir, char name[40], int *fd, struct err *e)
{
    static const char hex[] = "0123456789abcdef";
    unsigned char random[12];
    size_t got = 0;

    while (got < sizeof random) {
        ssize_t n = SYS_RETRY(sys->getrandom(random + got, sizeof random - got, 0));
        if (n <= 0)
            return err_sys(e, "get random bytes");
        got += (size_t)n;
    }
    char *p = stpcpy(name, ".tmp-");
    for (size_t i = 0; i < sizeof random; i++) {
        *p++ = hex[random[i] >> 4];
        *p++ = hex[random[i] & 15];
    }
    *p = '\0';
    int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
    *fd = SYS_RETRY(sys->openat(dir, name, flags, 0600));
    return *fd < 0 ? err_sys(e, "create a temporary file") : ST_OK;
}

/* Moves `temp` over `name` in one step. A rename over an existing file makes ext4 flush the new
 * one first, the slowest step here; exchanging the two names does not. */
static int
put_in_place(int from, const char *temp, int dir, const char *name)
{
    if (syscall(SYS_renameat2, from, temp, dir, name, (unsigned)RENAME_NOREPLACE) == 0)
        return 0;
    if (syscall(SYS_renameat2, from, temp, dir, name, (unsigned)RENAME_EXCHANGE) == 0) {
        if (unlinkat(from, temp, 0) == 0)
            return 0;
        /* `name` was a directory: exchange back; the rename below then sets errno */
        syscall(SYS_renameat2, from, temp, dir, name, (unsigned)RENAME_EXCHANGE);
    }
    return SYS_RETRY(sys->renameat(from, temp, dir, name));
}

/* Unnamed files that were opened ahead of time; single-threaded programs only. */
static int spares[STATE_DIR_SPARES];
static size_t n_spares;

static int
open_unnamed(int dir)
{
    return SYS_RETRY(sys->openat(dir, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
}

void
state_dir_spare(int dir)
{
    while (n_spares < STATE_DIR_SPARES) {
        int fd = open_unnamed(dir);
        if (fd < 0)
            return;
        spares[n_spares++] = fd;
    }
}

bool
state_dir_link_new(int from, int dir, const char *name, const void *p, size_t n)
{
    char self[32];
    int fd = n_spares ? spares[--n_spares] : open_unnamed(from);

    if (fd < 0)
        return false;
    bool is_there = SYS_RETRY(sys->write(fd, p, n)) == (ssize_t)n;
    if (is_there && linkat(fd, "", dir, name, AT_EMPTY_PATH) != 0) {
        snprintf(self, sizeof self, "/proc/self/fd/%d", fd); /* for older kernels */
        is_there = errno == ENOENT && linkat(AT_FDCWD, self, dir, name, AT_SYMLINK_FOLLOW) == 0;
    }
    close(fd);
    return is_there;
}

/* Creates the file in the directory `from` and moves it into place once it is whole. */
static enum status
replace_from(int from, int dir, const char *name, const void *p, size_t n, struct err *e)
{
    char temp[40];
    int fd;
    enum status s = make_temp(from, temp, &fd, e);

    if (s)
        return s;
    s = write_all(fd, p, n, name, e);
    if (close(fd) != 0 && !s)
        s = err_sys(e, "write %s", name);
    if (!s && put_in_place(from, temp, dir, name) != 0)
        s = err_sys(e, "replace %s", name);
    if (s)
        unlinkat(from, temp, 0);
    return s;
}

enum status
state_dir_replace_at(int dir, const char *name, const void *p, size_t n, struct err *e)
{
    bool is_new = faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW) != 0;

    return is_new && state_dir_link_new(dir, dir, name, p, n)
               ? ST_OK
               : replace_from(dir, dir, name, p, n, e);
}

/* The orchestrator waits for _pipeline_status in signals/. It must be moved there: the inotify
 * watch (base/watch.h) reports a move, but not a link. */
static bool
is_watched(const char *path)
{
    return strncmp(path, "signals/_", 9) == 0;
}

/* Every write in signals/ wakes the orchestrator, so files for it are written in run/ and then
 * moved. */
static int
open_temp_dir(const struct state_dir *f, const char *path, int dir)
{
    int run = dir;

    if (strncmp(path, "signals/", 8) == 0 && step(f->dir, "run", false, &run, NULL))
        return dir;
    return run;
}

enum status
state_dir_replace(const struct state_dir *f, const char *path, const void *p, size_t n,
                  struct err *e)
{
    int dir;
    const char *name;
    enum status s = open_parent(f, path, true, &dir, &name, e);

    /* A new file is linked into place; one that is there takes an exchange of names. */
    bool is_new = !s && !is_watched(path) && faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW) != 0;
    if (!s && (!is_new || !state_dir_link_new(f->dir, dir, name, p, n))) {
        int from = open_temp_dir(f, path, dir);
        s = replace_from(from, dir, name, p, n, e);
        if (from != dir)
            close(from);
    }
    close_parent(f, dir);
    return s;
}

/* Creates a new file; removes one of that name first. */
static int
open_new(int dir, const char *name)
{
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
    int fd = SYS_RETRY(sys->openat(dir, name, flags, 0600));

    if (fd < 0 && errno == EEXIST && unlinkat(dir, name, 0) == 0)
        fd = SYS_RETRY(sys->openat(dir, name, flags, 0600));
    return fd;
}

enum status
state_dir_create(const struct state_dir *f, const char *path, const void *p, size_t n,
                 struct err *e)
{
    int dir;
    const char *name;
    enum status s = open_parent(f, path, true, &dir, &name, e);
    int fd = s ? -1 : open_new(dir, name);

    if (!s && fd < 0)
        s = err_sys(e, "create %s", path);
    if (!s)
        s = write_all(fd, p, n, path, e);
    if (fd >= 0 && close(fd) != 0 && !s)
        s = err_sys(e, "write %s", path);
    if (s && fd >= 0)
        unlinkat(dir, name, 0);
    close_parent(f, dir);
    return s;
}

/* Opens the regular file `name` of dir for reading. */
static enum status
open_file_at(int dir, const char *name, int *out, struct stat *st, struct err *e)
{
    int flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
    int fd = SYS_RETRY(sys->openat(dir, name, flags, 0));
    enum status s = ST_OK;
    char told[PATH_MAX];

    if (fd < 0) {
        if (errno == ENOENT)
            return err_set(e, ST_NOT_FOUND, "no file %s", name);
        if (errno == ELOOP)
            return err_set(e, ST_INVALID, "%s is a symbolic link, which is not followed",
                           path_told(dir, name, told));
        return err_sys(e, "open %s", path_told(dir, name, told));
    }
    if (sys->fstat(fd, st) != 0)
        s = err_sys(e, "look at %s", name);
    else if (!S_ISREG(st->st_mode))
        s = path_check_regular(st, path_told(dir, name, told), e);
    if (s)
        close(fd);
    else
        *out = fd;
    return s;
}

enum status
state_dir_read_at(int dir, const char *name, struct buf *to, struct err *e)
{
    struct stat st;
    int fd;
    enum status s = open_file_at(dir, name, &fd, &st, e);

    if (s)
        return s;
    buf_adds(to, ""); /* an empty file gives an empty text, not NULL */
    while (!s) {
        char *room = buf_room(to, 4096);
        ssize_t n = room ? SYS_RETRY(sys->read(fd, room, 4096)) : 0;
        if (!room)
            s = buf_status(to, name, e);
        else if (n < 0)
            s = err_sys(e, "read %s", name);
        if (n <= 0)
            break;
        buf_grew(to, (size_t)n);
    }
    close(fd);
    return s;
}

enum status
state_dir_open_file(const struct state_dir *f, const char *path, int *fd, struct stat *st,
                    struct err *e)
{
    int dir;
    const char *name;
    enum status s = open_parent(f, path, false, &dir, &name, e);

    if (!s)
        s = open_file_at(dir, name, fd, st, e);
    close_parent(f, dir);
    return s;
}

/* ---- a file in pieces ---- */

enum status
state_dir_begin(const struct state_dir *f, const char *path, struct state_file *to, struct err *e)
{
    int dir;
    enum status s = open_parent(f, path, true, &dir, &to->name, e);

    if (s)
        return s;
    s = make_temp(dir, to->temp, &to->fd, e);
    to->dir = s || dir != f->dir ? dir : SYS_RETRY(sys->openat(dir, ".", DIR_FLAGS, 0));
    if (!s && to->dir < 0) {
        s = err_sys(e, "open %s", f->state_dir);
        close(to->fd);
        unlinkat(dir, to->temp, 0);
    } else if (s) {
        close_parent(f, dir);
    }
    to->is_open = !s;
    return s;
}

enum status
state_dir_rewind(struct state_file *to, struct err *e)
{
    if (sys->ftruncate(to->fd, 0) != 0 || lseek(to->fd, 0, SEEK_SET) != 0)
        return err_sys(e, "empty %s", to->name);
    return ST_OK;
}

enum status
state_dir_end(struct state_file *to, bool is_kept, struct err *e)
{
    enum status s = ST_OK;

    if (!to->is_open)
        return ST_OK;
    if (close(to->fd) != 0 && is_kept)
        s = err_sys(e, "write %s", to->name);
    if (!s && is_kept && put_in_place(to->dir, to->temp, to->dir, to->name) != 0)
        s = err_sys(e, "replace %s", to->name);
    if (s || !is_kept)
        unlinkat(to->dir, to->temp, 0);
    close(to->dir);
    to->is_open = false;
    return s;
}

enum status
state_dir_read(const struct state_dir *f, const char *path, struct buf *to, struct err *e)
{
    int dir;
    const char *name;
    enum status s = open_parent(f, path, false, &dir, &name, e);

    if (!s)
        s = state_dir_read_at(dir, name, to, e);
    close_parent(f, dir);
    return s;
}

enum status
state_dir_open_dir(const struct state_dir *f, const char *path, bool create, int *fd, struct err *e)
{
    int dir;
    const char *name;
    enum status s = open_parent(f, path, create, &dir, &name, e);

    if (!s)
        s = step(dir, name, create, fd, e);
    close_parent(f, dir);
    return s;
}

enum status
state_dir_mkdir(const struct state_dir *f, const char *path, struct err *e)
{
    int fd;
    enum status s = state_dir_open_dir(f, path, true, &fd, e);

    if (!s)
        close(fd);
    return s;
}

enum status
state_dir_remove(const struct state_dir *f, const char *path, struct err *e)
{
    int dir;
    const char *name;
    enum status s = open_parent(f, path, false, &dir, &name, e);

    if (!s && unlinkat(dir, name, 0) != 0 && errno != ENOENT)
        s = err_sys(e, "remove %s", path);
    close_parent(f, dir);
    return s == ST_NOT_FOUND ? ST_OK : s;
}
