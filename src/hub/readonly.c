/*
 * readonly - a store that may be read but not written: another user's, or on a disk that is
 * mounted so.
 *
 * The index there may be out of date, and SQLite must write beside it even to read it. So each
 * process folds the log into an index in memory, from the log's beginning; for a long log that is
 * slow. No lock is taken: a line exists once its '\n' does. If the file was rotated while we read,
 * we read again.
 */
#define _GNU_SOURCE
#include "hub/hub_impl.h"

#include "base/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { TRIES = 5 };

enum status
readonly_refuse(const struct hub *h, struct err *e)
{
    return h->is_disk_read_only
               ? err_set(e, ST_IO, "%s is on a disk that is mounted read-only: it can only be read",
                         h->path)
               : err_set(e, ST_REFUSED,
                         "%s may be read by you, but not written: ask its owner for the right, or "
                         "ask their server (--url)",
                         h->path);
}

/* Is the file that has the name the one that we have open? */
static bool
is_same_file(const struct hub *h)
{
    struct stat st;

    return h->log.fd >= 0 && sys->fstatat(h->dir, HUB_EVENTS_NAME, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
           st.st_ino == h->log.ino && st.st_dev == h->log.dev;
}

static enum status
look_at_log(struct hub *h, struct err *e)
{
    struct stat st;

    if (!is_same_file(h)) {
        if (h->log.fd >= 0)
            close(h->log.fd);
        h->log.fd = SYS_RETRY(sys->openat(h->dir, HUB_EVENTS_NAME,
                                          O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0));
        if (h->log.fd < 0)
            return err_sys(e, "open %s/%s", h->path, HUB_EVENTS_NAME);
    }
    if (sys->fstat(h->log.fd, &st) != 0)
        return err_sys(e, "look at %s/%s", h->path, HUB_EVENTS_NAME);
    if (!S_ISREG(st.st_mode))
        return err_set(e, ST_INVALID, "%s/%s is not a file", h->path, HUB_EVENTS_NAME);
    h->log.dir = h->dir;
    snprintf(h->log.name, sizeof h->log.name, "%s", HUB_EVENTS_NAME);
    h->log.dev = st.st_dev;
    h->log.ino = st.st_ino;
    h->log.end = st.st_size;
    return ST_OK;
}

enum status
readonly_catch_up(struct hub *h, struct err *e)
{
    enum status s = h->ix ? ST_OK : index_create(&h->ix, NULL, h->boot, e);

    fold_use(&h->fold, h->ix);
    for (int tries = 0; !s && tries < TRIES; tries++) {
        s = look_at_log(h, e);
        if (!s)
            s = index_begin(h->ix, true, e);
        if (s)
            return s;
        fold_enter(&h->fold);
        s = fold_log(&h->fold, &h->log, e);
        if (!s) {
            fold_leave(&h->fold);
            s = index_commit(h->ix, e);
        } else {
            index_rollback(h->ix);
            fold_forget(&h->fold);
        }
        if (!s && is_same_file(h))
            return ST_OK;
    }
    return s ? s : err_set(e, ST_IO, "%s changes faster than it can be read; try again", h->path);
}
