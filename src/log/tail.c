/*
 * tail - a reader that follows a log as it grows.
 *
 * The file may not exist yet, and may be truncated, replaced or rotated. So at
 * each end of the file the tail compares its open file with the file that has
 * the name now.
 */
#include "base/path.h"
#include "base/sys.h"
#include "log/log.h"
#include "log/segment.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Starts reading the open file fd from byte `at`. */
static void
enter(struct log_tail *t, int fd, const struct stat *st, off_t at)
{
    uint64_t bad = t->reader.bad, next_seq = t->reader.next_seq;

    if (t->fd >= 0)
        close(t->fd);
    log_reader_release(&t->reader);
    log_reader_init(&t->reader, fd, at);
    t->reader.is_sequenced = t->is_sequenced;
    t->reader.bad = bad;
    if (next_seq)
        t->reader.next_seq = next_seq;
    t->fd = fd;
    t->dev = st->st_dev;
    t->ino = st->st_ino;
}

/* Fails: a file or directory exists but cannot be read, so waiting would not help. */
static bool
broken(struct log_tail *t, const char *what, const char *name)
{
    t->reader.failed = err_sys(&t->reader.failed_why, "%s %s", what, name);
    return false;
}

/* The end of the last whole line; -1: failure. */
static off_t
last_line_end(struct log_tail *t, int fd)
{
    struct log_reader r;
    struct log_record rec;

    log_reader_init(&r, fd, 0);
    r.wants_bad = true;
    off_t end = log_prev(&r, &rec) ? rec.end : 0;
    t->reader.failed = log_reader_status(&r, &t->reader.failed_why);
    log_reader_release(&r);
    return t->reader.failed ? -1 : end;
}

static int
open_file(struct log_tail *t, const char *name, struct stat *st)
{
    int fd =
        SYS_RETRY(sys->openat(t->dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0));

    if (fd < 0) {
        if (errno != ENOENT && errno != ELOOP && errno != ENXIO)
            broken(t, "open", name);
        return -1;
    }
    if (sys->fstat(fd, st) != 0)
        broken(t, "look at", name);
    else if (S_ISREG(st->st_mode))
        return fd;
    close(fd);
    return -1;
}

/* Opens the first file, or the one after the file that was read: the current file or, in a
 * sequenced log, the segment that begins with the next number. */
static int
open_next(struct log_tail *t, struct stat *st)
{
    char segment[SEGMENT_NAME_SIZE];
    uint64_t first = 0;
    int fd = open_file(t, t->name, st);

    /* Search segments after that: a rotation in between renames the file we want before it creates
     * the new one. */
    if (t->is_sequenced && t->is_counting && !t->reader.failed) {
        enum status s = segment_find(t->dir, t->name, t->reader.next_seq, segment, &first,
                                     &t->reader.failed_why);
        t->reader.failed = s == ST_NOT_FOUND ? ST_OK : s;
        if (!s && first != t->reader.next_seq)
            return fd;
        if (s != ST_NOT_FOUND && fd >= 0) {
            close(fd);
            fd = -1;
        }
        if (!s)
            fd = open_file(t, segment, st);
    }
    return fd;
}

/* Opens the directory that has the path now. False: none. */
static bool
open_dir(struct log_tail *t)
{
    struct stat now, held;

    if (t->dir >= 0) {
        if (sys->fstatat(AT_FDCWD, t->path, &now, 0) != 0)
            return errno == ENOENT || errno == ENOTDIR || broken(t, "look at", t->path);
        if (sys->fstat(t->dir, &held) != 0)
            return broken(t, "look at", t->path);
        if (now.st_ino == held.st_ino && now.st_dev == held.st_dev)
            return true;
        close(t->dir);
        t->dir = -1;
    }
    enum status s = path_open_dir(t->path, false, &t->dir, &t->reader.failed_why);
    t->reader.failed = s == ST_NOT_FOUND ? ST_OK : s;
    return !s;
}

/* Opens the next file, or the same one after a truncation. True: there may be more to read. */
static bool
look(struct log_tail *t)
{
    struct stat st;

    if (!open_dir(t))
        return false;
    if (t->fd >= 0) {
        bool is_there = sys->fstatat(t->dir, t->name, &st, AT_SYMLINK_NOFOLLOW) == 0;
        if (!is_there && errno != ENOENT)
            return broken(t, "look at", t->name);
        if (!is_there && !t->reader.is_rotated)
            return false;
        if (is_there && st.st_ino == t->ino && st.st_dev == t->dev) {
            t->is_leaving = false;
            if (st.st_size >= t->reader.at)
                return false;
            int fd = fcntl(t->fd, F_DUPFD_CLOEXEC, 0); /* truncated: read the same file again */
            if (fd < 0)
                return broken(t, "open", t->name);
            enter(t, fd, &st, 0);
            t->cuts++;
            return true;
        }
        if (!t->is_leaving) {
            /* The file was replaced or rotated. Lines may have been written before that: read to
             * its end once more, then go on to the next file. */
            t->is_leaving = true;
            return true;
        }
    }
    int fd = open_next(t, &st);
    if (fd < 0)
        return false;
    off_t at = t->fd < 0 && t->from == LOG_FROM_END ? last_line_end(t, fd) : 0;
    if (at < 0) {
        close(fd);
        return false;
    }
    enter(t, fd, &st, at);
    t->from = LOG_FROM_START; /* every later file is read from its start */
    t->is_counting = true;
    t->is_leaving = false;
    return true;
}

enum status
log_tail_open(struct log_tail *t, const char *path, const char *name, bool is_sequenced,
              enum log_from from, struct err *e)
{
    *t = (struct log_tail){ .is_sequenced = is_sequenced, .from = from, .dir = -1, .fd = -1 };
    t->is_counting = from == LOG_FROM_START;
    t->watch.fd = -1;
    log_reader_init(&t->reader, -1, 0);
    t->path = strdup(path);
    t->name = strdup(name);
    if (!t->path || !t->name)
        return err_nomem(e);
    /* Watch first, then open: no event is lost in between. */
    enum status s = watch_open_file(&t->watch, path, name, e);
    if (s)
        return s;
    look(t);
    t->from = LOG_FROM_START;
    return log_tail_status(t, e);
}

bool
log_tail_next(struct log_tail *t, struct log_record *rec)
{
    do {
        if (t->fd >= 0 && log_next(&t->reader, rec))
            return true;
        if (t->reader.failed)
            return false;
        /* Discard the events, then read: a later event makes the descriptor readable again. */
        watch_drain(&t->watch);
        if (t->fd >= 0 && log_next(&t->reader, rec))
            return true;
    } while (!t->reader.failed && look(t));
    return false;
}

int
log_tail_fd(const struct log_tail *t)
{
    return t->watch.fd;
}

enum status
log_tail_status(const struct log_tail *t, struct err *e)
{
    return log_reader_status(&t->reader, e);
}

void
log_tail_close(struct log_tail *t)
{
    log_reader_release(&t->reader);
    watch_close(&t->watch);
    if (t->fd >= 0)
        close(t->fd);
    if (t->dir >= 0)
        close(t->dir);
    free(t->path);
    free(t->name);
    *t = (struct log_tail){ .dir = -1, .fd = -1, .watch.fd = -1 };
}
