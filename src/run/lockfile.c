#include "run/lockfile.h"

#include "base/clock.h"
#include "base/sys.h"
#include "run/procfs.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

/* A lock whose holder is dead goes away by itself: a child between fork and exec still has
 * it, a thread of it waits for the disk, or somebody looks (lockfile_is_held). */
enum { FADE_MS = 1000, POLL_MS = 5 };

static pid_t
read_holder(int fd)
{
    char text[32] = "";

    return sys->pread(fd, text, sizeof text - 1, 0) > 0 ? (pid_t)atoi(text) : 0;
}

/* Or dying: its main thread has ended. */
static bool
is_dead(pid_t pid)
{
    struct procfs p;

    if (pid <= 0 || (kill(pid, 0) != 0 && errno == ESRCH))
        return true;
    return procfs_read(&p, pid) == 0 && (p.state == 'Z' || p.state == 'X');
}

/* ST_CONFLICT names the holder. */
static enum status
lock(const struct frame *f, int fd, pid_t *holder, struct err *e)
{
    int64_t until = clock_mono_ms() + FADE_MS;

    while (SYS_RETRY(sys->flock(fd, LOCK_EX | LOCK_NB)) != 0) {
        if (errno != EWOULDBLOCK)
            return err_sys(e, "lock %s/run/lock", f->state_dir);
        *holder = read_holder(fd);
        if (!is_dead(*holder) || clock_mono_ms() >= until)
            return err_set(e, ST_CONFLICT,
                           "a run is active here (pid %d): cliq status shows it, cliq cancel ends "
                           "it",
                           (int)*holder);
        poll(NULL, 0, POLL_MS);
    }
    return ST_OK;
}

enum status
lockfile_take(const struct frame *f, int *out, pid_t *holder, struct err *e)
{
    char text[32];
    enum status s = frame_mkdir(f, "run", e);

    *out = -1;
    *holder = 0;
    if (s)
        return s;
    int fd =
        SYS_RETRY(sys->openat(f->dir, "run/lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (fd < 0)
        return err_sys(e, "open %s/run/lock", f->state_dir);
    s = lock(f, fd, holder, e);
    int n = snprintf(text, sizeof text, "%d\n", (int)getpid());
    if (!s && (sys->ftruncate(fd, 0) != 0 || pwrite(fd, text, (size_t)n, 0) != n))
        s = err_sys(e, "write %s/run/lock", f->state_dir);
    if (s)
        close(fd);
    else
        *out = fd;
    return s;
}

bool
lockfile_is_held(const struct frame *f)
{
    int fd = SYS_RETRY(sys->openat(f->dir, "run/lock", O_RDONLY | O_CLOEXEC | O_NOFOLLOW, 0));

    if (fd < 0)
        return false;
    bool is_held = SYS_RETRY(sys->flock(fd, LOCK_SH | LOCK_NB)) != 0 && errno == EWOULDBLOCK &&
                   !is_dead(read_holder(fd));
    close(fd); /* and with it the lock */
    return is_held;
}
