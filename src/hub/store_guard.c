/*
 * store_guard - only its owner may be able to write the store: a writer can speak as any identity,
 * make keys, and start programs as the owner (waking).
 *
 * Checked when the store is opened: the configuration directory, signals/ and the files in it. A
 * store of another owner that can only be read is opened for reading (readonly.c).
 *
 * Tests: test/cli/hub_store.bats
 */
#include "hub/hub_impl.h"

#include "base/sys.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* `path` is what people see. */
static enum status
check(const struct stat *st, const char *path, struct err *e)
{
    if (st->st_uid != geteuid())
        return err_set(e, ST_REFUSED,
                       "%s belongs to another user (uid %u), who could change it: chown -R %u %s "
                       "makes it yours, or run this as that user",
                       path, (unsigned)st->st_uid, (unsigned)geteuid(), path);
    if (st->st_mode & (S_IWGRP | S_IWOTH))
        return err_set(e, ST_REFUSED,
                       "others may write %s (mode %o), and so speak as anyone: chmod go-w %s", path,
                       (unsigned)st->st_mode & 07777, path);
    return ST_OK;
}

enum status
store_guard_check(const struct hub *h, struct err *e)
{
    static const char *const names[] = { "..",           ".",        HUB_EVENTS_NAME,
                                         "events.ahead", "index.db", "delayed.json" };
    struct stat st;
    enum status s = ST_OK;

    for (size_t i = 0; !s && i < sizeof names / sizeof *names; i++) {
        char path[PATH_MAX + 32];
        if (sys->fstatat(h->dir, names[i], &st, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        if (i < 2)
            snprintf(path, sizeof path, "%s", i ? h->path : h->config);
        else
            snprintf(path, sizeof path, "%s/%s", h->path, names[i]);
        s = check(&st, path, e);
    }
    return s;
}
