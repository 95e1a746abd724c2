#include "base/watch.h"

#include "base/sys.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/timerfd.h>
#include <sys/vfs.h>
#include <unistd.h>

enum {
    CHANGES = IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_CLOSE_WRITE |
              IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR,
    WRITES = IN_MODIFY | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR,
    /* entries of an ancestor. IN_MASK_ADD, because "." is its own parent in go_up */
    ENTRIES = IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF |
              IN_ONLYDIR | IN_MASK_ADD,
    FILE_CHANGES = IN_MODIFY | IN_CLOSE_WRITE,
};

/* Adds an inotify watch; -1 and errno on failure. */
static int
add(struct watch *w, const char *path, uint32_t mask)
{
    int wd = sys->inotify_add(w->fd, path, mask);

    if (wd > w->last_wd)
        w->last_wd = wd;
    return wd;
}

/* Network file systems: inotify does not report writes of other machines. */
static bool
is_remote(const char *path)
{
    static const unsigned long types[] = {
        0x6969 /* NFS */,      0x517B /* SMB */,        0xFE534D42 /* SMB2 */,
        0xFF534D42 /* CIFS */, 0x01021997 /* 9P */,     0x65735546 /* FUSE */,
        0x00C36400 /* Ceph */, 0x0BD00BD0 /* Lustre */, 0x5346414F /* AFS */,
    };
    struct statfs fs;

    if (statfs(path, &fs) != 0)
        return false;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (((unsigned long)fs.f_type & 0xFFFFFFFFu) == types[i])
            return true;
    return false;
}

static enum status
poll_instead(struct watch *w, struct err *e)
{
    struct itimerspec every = { .it_interval = { .tv_sec = WATCH_POLL_MS / 1000 },
                                .it_value = { .tv_sec = WATCH_POLL_MS / 1000 } };

    if (w->fd >= 0)
        close(w->fd);
    w->is_polling = true;
    w->fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (w->fd < 0 || timerfd_settime(w->fd, 0, &every, NULL) != 0)
        return err_sys(e, "set a timer to watch %s", w->path);
    return ST_OK;
}

/* "a/b" -> "a", "a" -> ".", "/a" -> "/" */
static void
go_up(char *path)
{
    size_t n = strlen(path);

    while (n > 0 && path[n - 1] == '/')
        n--;
    while (n > 0 && path[n - 1] != '/')
        n--;
    while (n > 1 && path[n - 1] == '/')
        n--;
    strcpy(path + n, n ? "" : ".");
}

/* Adds a watch for the file w->name, or for the whole directory if that fails. False: neither
 * worked. A missing file is fine: the directory's watch reports its creation. */
static bool
aim_at_file(struct watch *w)
{
    char path[PATH_MAX + NAME_MAX + 2];

    snprintf(path, sizeof path, "%s/%s", w->path, w->name);
    int wd = add(w, path, FILE_CHANGES);
    bool is_aimed = wd >= 0 || errno == ENOENT || add(w, w->path, CHANGES) >= 0;
    if (w->file_wd > 0 && w->file_wd != wd)
        inotify_rm_watch(w->fd, w->file_wd); /* of an earlier file of this name */
    w->file_wd = wd;
    return is_aimed;
}

/* Watches the directory, or its nearest existing ancestor. */
static enum status
aim(struct watch *w, struct err *e)
{
    char part[PATH_MAX], above[PATH_MAX];

    strcpy(part, w->path); /* begin() checked its length */
    w->is_aimed = false;
    for (int tries = 0; tries < 1000; tries++) {
        bool is_target = strcmp(part, w->path) == 0;
        /* Only the parent's watch reports the deletion of a directory that a process holds open,
         * as a follower does. Ignore a parent that we may not watch. */
        strcpy(above, part);
        go_up(above);
        w->parent_wd = add(w, above, ENTRIES);
        int wd = add(w, part, !is_target || w->name ? ENTRIES : w->is_writes ? WRITES : CHANGES);
        if (wd >= 0 && is_target) {
            w->wd = wd;
            w->is_aimed = true;
            if (w->name && !aim_at_file(w))
                return poll_instead(w, e);
            return is_remote(part) ? poll_instead(w, e) : ST_OK;
        }
        if (wd >= 0) {
            /* The directory may have appeared before the watch was added: then try again. */
            struct stat st;
            if (sys->fstatat(AT_FDCWD, w->path, &st, 0) != 0 || !S_ISDIR(st.st_mode))
                return ST_OK;
            strcpy(part, w->path);
            continue;
        }
        if (errno != ENOENT && errno != ENOTDIR)
            return poll_instead(w, e);
        go_up(part);
    }
    return poll_instead(w, e);
}

static enum status
begin(struct watch *w, const char *path, const char *name, bool is_writes, struct err *e)
{
    *w = (struct watch){ .fd = -1, .is_writes = is_writes };
    if (strlen(path) >= PATH_MAX || (name && strlen(name) > NAME_MAX))
        return err_set(e, ST_INVALID, "path too long: %s", path);
    w->path = strdup(path);
    w->name = name ? strdup(name) : NULL;
    if (!w->path || (name && !w->name))
        return err_nomem(e);
    w->fd = sys->inotify_init(IN_NONBLOCK | IN_CLOEXEC);
    return w->fd < 0 ? poll_instead(w, e) : aim(w, e);
}

enum status
watch_open(struct watch *w, const char *path, struct err *e)
{
    return begin(w, path, NULL, false, e);
}

enum status
watch_open_file(struct watch *w, const char *path, const char *name, struct err *e)
{
    return begin(w, path, name, false, e);
}

enum status
watch_open_writes(struct watch *w, const char *path, struct err *e)
{
    return begin(w, path, NULL, true, e);
}

void
watch_stop(struct watch *w)
{
    for (int wd = 1; wd <= w->last_wd && !w->is_polling; wd++)
        inotify_rm_watch(w->fd, wd);
    w->is_stopped = true;
}

void
watch_close(struct watch *w)
{
    if (w->fd >= 0)
        close(w->fd);
    free(w->path);
    free(w->name);
    *w = (struct watch){ .fd = -1 };
}

/* Is it about another entry of the directory's parent? */
static bool
is_beside(const struct watch *w, const struct inotify_event *ev, const char *name)
{
    const char *slash = strrchr(w->path, '/'), *own = slash ? slash + 1 : w->path;

    return w->is_aimed && ev->wd == w->parent_wd && ev->wd != w->wd && ev->len && *own &&
           strcmp(name, own) != 0;
}

/* May the path now be another directory, or the name another file? */
static bool
is_lost_by(const struct watch *w, const struct inotify_event *ev)
{
    return ev->wd != (w->name ? w->file_wd : w->wd) ||
           ev->mask & (IN_IGNORED | IN_DELETE_SELF | IN_MOVE_SELF | IN_Q_OVERFLOW);
}

void
watch_drain_names(struct watch *w, watch_fn *fn, void *ctx)
{
    _Alignas(struct inotify_event) char events[4096];
    const ssize_t room = sizeof(struct inotify_event) + NAME_MAX + 1; /* for any event */
    bool is_lost = !w->is_aimed;
    ssize_t n;

    do {
        n = read(w->fd, events, sizeof events);
        for (ssize_t i = 0; !w->is_polling && !w->is_stopped && i < n;) {
            struct inotify_event ev;
            memcpy(&ev, events + i, sizeof ev);
            const char *name = events + i + sizeof ev;
            if (is_beside(w, &ev, name))
                ; /* not ours */
            else if (is_lost_by(w, &ev))
                is_lost = true;
            else if (fn && ev.len)
                fn(ctx, name);
            i += (ssize_t)(sizeof ev + ev.len);
        }
    } while (n + room > (ssize_t)sizeof events); /* a nearly full buffer: more may follow */
    if (w->is_stopped)
        return;
    if (is_lost && !w->is_polling)
        aim(w, NULL);
    if (fn && (is_lost || w->is_polling))
        fn(ctx, NULL);
}

void
watch_drain(struct watch *w)
{
    watch_drain_names(w, NULL, NULL);
}
