#define _GNU_SOURCE
#include "base/watch_group.h"

#include "base/sys.h"
#include "base/watch.h"

#include <fcntl.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum {
    OF_FILE = IN_MODIFY | IN_DELETE_SELF | IN_MOVE_SELF,
    OF_DIRECTORY = IN_CREATE | IN_MOVED_TO | IN_DELETE | IN_MOVED_FROM | IN_ONLYDIR,
};

static enum status
poll_instead(struct watch_group *g, struct err *e)
{
    struct itimerspec every = { .it_interval = { .tv_sec = WATCH_POLL_MS / 1000 },
                                .it_value = { .tv_sec = WATCH_POLL_MS / 1000 } };
    int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);

    if (fd < 0 || timerfd_settime(fd, 0, &every, NULL) != 0) {
        enum status s = err_sys(e, "set a timer to watch files");
        if (fd >= 0)
            close(fd);
        return s;
    }
    if (g->fd >= 0) { /* the owner waits for this number */
        dup3(fd, g->fd, O_CLOEXEC);
        close(fd);
    } else {
        g->fd = fd;
    }
    g->is_polling = true;
    return ST_OK;
}

enum status
watch_group_open(struct watch_group *g, struct err *e)
{
    *g = (struct watch_group){ .fd = sys->inotify_init(IN_NONBLOCK | IN_CLOEXEC) };
    return g->fd < 0 ? poll_instead(g, e) : ST_OK;
}

void
watch_group_close(struct watch_group *g)
{
    if (g->fd >= 0)
        close(g->fd);
    *g = (struct watch_group){ .fd = -1 };
}

enum status
watch_group_add(struct watch_group *g, const char *path, bool is_dir, int *id, struct err *e)
{
    *id = WATCH_GROUP_ANY;
    if (g->is_polling)
        return ST_OK;
    int wd = sys->inotify_add(g->fd, path, is_dir ? OF_DIRECTORY : OF_FILE);
    if (wd < 0 && errno == ENOSPC)
        return poll_instead(g, e);
    if (wd < 0)
        return err_sys(e, "watch %s", path);
    *id = wd;
    return ST_OK;
}

void
watch_group_drop(struct watch_group *g, int id)
{
    if (!g->is_polling && id != WATCH_GROUP_ANY)
        inotify_rm_watch(g->fd, id);
}

void
watch_group_drain(struct watch_group *g, void (*fn)(void *ctx, int id), void *ctx)
{
    union {
        struct inotify_event event;
        char bytes[4096];
    } at;
    ssize_t n;

    while ((n = SYS_RETRY(sys->read(g->fd, at.bytes, sizeof at.bytes))) > 0) {
        if (g->is_polling) {
            fn(ctx, WATCH_GROUP_ANY);
            return;
        }
        for (ssize_t i = 0; i < n;) {
            struct inotify_event ev;
            memcpy(&ev, at.bytes + i, sizeof ev);
            if (ev.mask & IN_Q_OVERFLOW)
                fn(ctx, WATCH_GROUP_ANY);
            else if (!(ev.mask & IN_IGNORED))
                fn(ctx, ev.wd);
            i += (ssize_t)(sizeof ev + ev.len);
        }
    }
}
