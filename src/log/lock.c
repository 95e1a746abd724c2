#define _GNU_SOURCE
#include "log/lock.h"

#include "base/buf.h"
#include "base/path.h"
#include "base/sys.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/sysmacros.h>

/* Most holders are gone in microseconds: look again a few times before waiting. */
enum { QUICK_TRIES = 20 };

struct waiter {
    int fd;
    int result, error;
    bool is_done;
    pthread_mutex_t mutex;
    pthread_cond_t done;
};

static void *
wait_in_flock(void *arg)
{
    struct waiter *w = arg;
    int old;

    /* Cancelled only inside the system call, which holds nothing of ours. */
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &old);
    int result = SYS_RETRY(sys->flock(w->fd, LOCK_EX));
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
    pthread_mutex_lock(&w->mutex);
    w->result = result;
    w->error = errno;
    w->is_done = true;
    pthread_cond_signal(&w->done);
    pthread_mutex_unlock(&w->mutex);
    return NULL;
}

/* " by pid 4711 (python3)", from /proc/locks: "1: FLOCK ADVISORY WRITE 4711 fe:00:1234 0 EOF". */
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

static enum status
lock_slowly(int fd, const char *name, unsigned wait_ms, struct err *e)
{
    struct waiter w = { .fd = fd, .mutex = PTHREAD_MUTEX_INITIALIZER };
    struct timespec until;
    pthread_condattr_t attr;
    pthread_t thread;
    int rc;

    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&w.done, &attr);
    pthread_condattr_destroy(&attr);
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += wait_ms / 1000;
    until.tv_nsec += (long)(wait_ms % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }

    rc = pthread_create(&thread, NULL, wait_in_flock, &w);
    if (rc != 0) {
        pthread_cond_destroy(&w.done);
        errno = rc;
        return err_sys(e, "wait for the lock on %s", name);
    }
    pthread_mutex_lock(&w.mutex);
    rc = 0;
    while (!w.is_done && rc == 0)
        rc = pthread_cond_timedwait(&w.done, &w.mutex, &until);
    bool is_done = w.is_done;
    pthread_mutex_unlock(&w.mutex);
    if (!is_done)
        pthread_cancel(thread);
    pthread_join(thread, NULL);
    is_done = w.is_done; /* it may have come through while we gave up */
    pthread_cond_destroy(&w.done);

    if (!is_done) {
        sys->flock(fd, LOCK_UN); /* taken in the instant of being cancelled */
        return timed_out(fd, name, wait_ms, e);
    }
    if (w.result != 0) {
        errno = w.error;
        return err_sys(e, "lock %s", name);
    }
    return ST_OK;
}

enum status
lock_take(int fd, const char *name, unsigned wait_ms, struct err *e)
{
    for (int i = 0; i < QUICK_TRIES; i++) {
        if (SYS_RETRY(sys->flock(fd, LOCK_EX | LOCK_NB)) == 0)
            return ST_OK;
        if (errno != EWOULDBLOCK)
            return err_sys(e, "lock %s", name);
        sched_yield();
    }
    return lock_slowly(fd, name, wait_ms, e);
}

void
lock_drop(int fd)
{
    sys->flock(fd, LOCK_UN);
}
