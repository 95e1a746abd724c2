#define _GNU_SOURCE
#include "log/lock.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/path.h"
#include "base/sys.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

/* Non-blocking tries before flock blocks. A holder that does not sync needs only microseconds, less
 * than a sleep and a wake-up: then many tries with sched_yield are faster (BRIEF_TRIES). */
enum { QUICK_TRIES = 4, BRIEF_TRIES = 200 };

/* ---- the deadline ---- */

/* The signal that interrupts flock at the deadline. */
#define DEADLINE_SIGNAL (SIGRTMAX - 1)

static void
on_deadline(int signo)
{
    (void)signo; /* flock returns EINTR */
}

/* Signals this thread after wait_ms, and then every 50 ms, because the first signal may arrive
 * before flock is entered. */
static bool
signal_after(unsigned wait_ms, timer_t *timer)
{
    struct sigevent ev = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = DEADLINE_SIGNAL };
    struct itimerspec when = {
        .it_value = { wait_ms / 1000, (long)(wait_ms % 1000) * 1000000 + 1 },
        .it_interval = { 0, 50 * 1000000 },
    };

    ev.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
    if (timer_create(CLOCK_MONOTONIC, &ev, timer) != 0)
        return false;
    timer_settime(*timer, 0, &when, NULL);
    return true;
}

/* Writes " by pid 4711 (python3)", or "" if unknown. The source is /proc/locks, whose lines look
 * like "1: FLOCK ADVISORY WRITE 4711 fe:00:1234 0 EOF". */
static void
name_holder(int fd, char *to, size_t size)
{
    struct buf text = BUF_MAX(4 << 20);
    struct stat st;
    char inode[64];

    to[0] = '\0';
    if (sys->fstat(fd, &st) == 0 && path_read_file(AT_FDCWD, "/proc/locks", &text, NULL) == ST_OK) {
        snprintf(inode, sizeof inode, " %02x:%02x:%" PRIuMAX " ", major(st.st_dev),
                 minor(st.st_dev), (uintmax_t)st.st_ino);
        char *rest = text.p;
        for (char *line; (line = strsep(&rest, "\n"));) {
            int pid;
            if (!strstr(line, inode) || strstr(line, "->") ||
                sscanf(line, "%*s FLOCK %*s %*s %d", &pid) != 1 || pid <= 0)
                continue;
            char path[64], comm[32] = "";
            struct buf name = BUF_MAX(sizeof comm - 1);
            snprintf(path, sizeof path, "/proc/%d/comm", pid);
            path_read_file(AT_FDCWD, path, &name, NULL);
            if (name.len)
                snprintf(comm, sizeof comm, " (%.*s)", (int)strcspn(name.p, "\n"), name.p);
            buf_release(&name);
            snprintf(to, size, " by pid %d%s", pid, comm);
            break;
        }
    }
    buf_release(&text);
}

static enum status
timed_out(int fd, const char *name, unsigned wait_ms, struct err *e)
{
    char holder[80];

    name_holder(fd, holder, sizeof holder);
    return err_set(e, ST_IO, "%s has been locked%s for more than %g s; nothing was written", name,
                   holder, wait_ms / 1000.0);
}

/* Blocks in flock until it has the lock or wait_ms have passed. Installs the signal's handler
 * unless the program has its own. */
static enum status
lock_with_deadline(int fd, const char *name, unsigned wait_ms, struct err *e)
{
    struct sigaction act = { .sa_handler = on_deadline }, before;
    sigset_t deadline, mask;
    int64_t until = clock_mono_ms() + wait_ms;
    timer_t timer;
    int rc;

    sigemptyset(&deadline);
    sigaddset(&deadline, DEADLINE_SIGNAL);
    sigaction(DEADLINE_SIGNAL, NULL, &before);
    if (before.sa_handler == SIG_DFL || before.sa_handler == SIG_IGN)
        sigaction(DEADLINE_SIGNAL, &act, NULL); /* never removed: another thread may be waiting */
    if (!signal_after(wait_ms, &timer))
        return err_sys(e, "set a timer to wait for the lock on %s", name);
    pthread_sigmask(SIG_UNBLOCK, &deadline, &mask);
    do
        rc = sys->flock(fd, LOCK_EX);
    while (rc != 0 && errno == EINTR && clock_mono_ms() < until);
    int error = errno;
    timer_delete(timer);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    errno = error;
    if (rc == 0)
        return ST_OK;
    return error == EINTR ? timed_out(fd, name, wait_ms, e) : err_sys(e, "lock %s", name);
}

static enum status
take(int fd, int queue, const char *name, int tries, unsigned wait_ms, struct err *e)
{
    for (int i = 0; i < tries; i++) {
        if (SYS_RETRY(sys->flock(fd, LOCK_EX | LOCK_NB)) == 0)
            return ST_OK;
        if (errno != EWOULDBLOCK)
            return err_sys(e, "lock %s", name);
        if (tries == BRIEF_TRIES)
            sched_yield();
    }
    if (wait_ms == 0)
        return ST_CONFLICT;
    /* lock_is_wanted holds the queue for a moment, so the first try may fail. */
    for (int i = 0; queue >= 0 && i < BRIEF_TRIES; i++) {
        if (sys->flock(queue, LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK)
            break;
        sched_yield();
    }
    enum status s = lock_with_deadline(fd, name, wait_ms, e);
    if (queue >= 0)
        sys->flock(queue, LOCK_UN);
    return s;
}

enum status
lock_take(int fd, const char *name, unsigned wait_ms, struct err *e)
{
    return take(fd, -1, name, QUICK_TRIES, wait_ms, e);
}

enum status
lock_take_brief(int fd, const char *name, unsigned wait_ms, struct err *e)
{
    return take(fd, -1, name, BRIEF_TRIES, wait_ms, e);
}

void
lock_drop(int fd)
{
    sys->flock(fd, LOCK_UN);
}

enum status
lock_take_queued(int fd, int queue, const char *name, unsigned wait_ms, struct err *e)
{
    return take(fd, queue, name, QUICK_TRIES, wait_ms, e);
}

bool
lock_is_wanted(int queue)
{
    if (SYS_RETRY(sys->flock(queue, LOCK_EX | LOCK_NB)) != 0)
        return errno == EWOULDBLOCK;
    sys->flock(queue, LOCK_UN);
    return false;
}
