#include "manager/manager_lock.h"

#include "base/sys.h"
#include "log/lock.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define LOCK_NAME "manager.lock"

static enum status
refuse(const struct rooms *r, int fd, struct err *e)
{
    char text[24] = "";
    ssize_t n = SYS_RETRY(sys->pread(fd, text, sizeof text - 1, 0));

    (void)n; /* one that wrote nothing yet has no name */
    return err_set(e, ST_CONFLICT,
                   "the rooms in %s have a manager already (cliq room run, pid %d): it sees what "
                   "you post; end it with Ctrl-C or kill",
                   r->base, atoi(text));
}

enum status
manager_lock_take(const struct rooms *r, int *out, struct err *e)
{
    char text[24];
    int fd =
        SYS_RETRY(sys->openat(r->dir, LOCK_NAME, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));

    *out = -1;
    if (fd < 0)
        return err_sys(e, "open %s/" LOCK_NAME, r->base);
    enum status s = lock_take(fd, LOCK_NAME, 0, e);
    if (s == ST_CONFLICT)
        s = refuse(r, fd, e);
    if (!s) {
        int n = snprintf(text, sizeof text, "%d\n", (int)getpid());
        if (pwrite(fd, text, (size_t)n, 0) != n || sys->ftruncate(fd, n) != 0)
            s = err_sys(e, "write %s/" LOCK_NAME, r->base);
    }
    if (s)
        close(fd);
    else
        *out = fd;
    return s;
}

void
manager_lock_drop(int fd)
{
    if (fd >= 0)
        close(fd);
}
