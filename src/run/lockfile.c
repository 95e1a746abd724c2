#include "run/lockfile.h"

#include "base/clock.h"
#include "base/sys.h"
#include "proc/procfs.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

/* A lock whose holder is dead goes away by itself: a child between fork and exec still has
 * it, a thread of it waits for the disk, or another process asks for it (lockfile_is_held). */
enum { FADE_MS = 1000, POLL_MS = 5 };

enum { COMMAND_MAX = 16 };

static void
read_holder(int fd, struct lock_holder *h, char command[COMMAND_MAX])
{
    char text[48] = "";
    int pid = 0;

    strcpy(command, "run"); /* of one that wrote nothing but its pid, too */
    if (sys->pread(fd, text, sizeof text - 1, 0) > 0)
        sscanf(text, "%d %15[a-z]", &pid, command);
    *h = (struct lock_holder){ .pid = (pid_t)pid, .is_run = strcmp(command, "run") == 0 };
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

static enum status
refuse(const struct state_dir *f, const struct lock_holder *h, const char *command, struct err *e)
{
    if (is_dead(h->pid))
        return err_set(e, ST_CONFLICT,
                       "%s/run/lock is held, and not by the process that it names (pid %d), which "
                       "is dead: try again when the process that holds it has ended",
                       f->state_dir, (int)h->pid);
    if (!h->is_run)
        return err_set(e, ST_CONFLICT,
                       "cliq %s is at work here (pid %d): try again when it has ended", command,
                       (int)h->pid);
    return err_set(e, ST_CONFLICT,
                   "a run is active here (pid %d): cliq attach shows it, cliq cancel ends it",
                   (int)h->pid);
}

static enum status
lock(const struct state_dir *f, int fd, struct lock_holder *holder, struct err *e)
{
    int64_t until = clock_mono_ms() + FADE_MS;
    char command[COMMAND_MAX];

    while (SYS_RETRY(sys->flock(fd, LOCK_EX | LOCK_NB)) != 0) {
        if (errno != EWOULDBLOCK)
            return err_sys(e, "lock %s/run/lock", f->state_dir);
        read_holder(fd, holder, command);
        if (!is_dead(holder->pid) || clock_mono_ms() >= until)
            return refuse(f, holder, command, e);
        poll(NULL, 0, POLL_MS);
    }
    return ST_OK;
}

/* Written over what is there, which a full disk has room for, too. */
enum status
lockfile_sign(const struct state_dir *f, int fd, const char *command, struct err *e)
{
    char text[48];
    int n = snprintf(text, sizeof text, "%d %.15s\n", (int)getpid(), command);

    if (pwrite(fd, text, (size_t)n, 0) != n || sys->ftruncate(fd, n) != 0)
        return err_sys(e, "write %s/run/lock", f->state_dir);
    return ST_OK;
}

enum status
lockfile_take(const struct state_dir *f, const char *command, int *out, struct lock_holder *holder,
              struct err *e)
{
    enum status s = state_dir_mkdir(f, "run", e);

    *out = -1;
    *holder = (struct lock_holder){ 0 };
    if (s)
        return s;
    int fd =
        SYS_RETRY(sys->openat(f->dir, "run/lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (fd < 0)
        return err_sys(e, "open %s/run/lock", f->state_dir);
    s = lock(f, fd, holder, e);
    if (!s)
        s = lockfile_sign(f, fd, command, e);
    if (s)
        close(fd);
    else
        *out = fd;
    return s;
}

/* False: it is free, or was its holder's who is dead. */
static bool
find_holder(const struct state_dir *f, struct lock_holder *holder)
{
    int fd = SYS_RETRY(sys->openat(f->dir, "run/lock", O_RDONLY | O_CLOEXEC | O_NOFOLLOW, 0));
    char command[COMMAND_MAX];

    if (fd < 0)
        return false;
    bool is_held = SYS_RETRY(sys->flock(fd, LOCK_SH | LOCK_NB)) != 0 && errno == EWOULDBLOCK;
    if (is_held)
        read_holder(fd, holder, command);
    close(fd); /* and with it the lock */
    return is_held && !is_dead(holder->pid);
}

bool
lockfile_is_held(const struct state_dir *f)
{
    struct lock_holder holder;

    return find_holder(f, &holder);
}

pid_t
lockfile_runner(const struct state_dir *f)
{
    struct lock_holder holder;

    return find_holder(f, &holder) && holder.is_run ? holder.pid : 0;
}
