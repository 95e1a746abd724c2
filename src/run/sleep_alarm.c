/* The alarm of sleeping runs: one process of a user, that starts each of them when its time has
 * come. */
#include "run/sleeping.h"

#include "base/clock.h"
#include "base/path.h"
#include "base/sys.h"
#include "base/watch.h"
#include "proc/proc.h"
#include "team/agent.h"
#include "wake/wake.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define LIST      "sleeping"
#define LOCK_NAME ".lock"

enum {
    LOOK_MS = 1000,
    TRIES = 10,
    TRY_MS = 10,
};

struct alarm {
    const char *config;
    int dir;  /* <config>/sleeping */
    int lock; /* -1: not held */
    int timer;
    struct watch watch;
};

/* The .cliq/ that a link names. False: it is no link, or the directory is gone. */
static bool
open_link(const struct alarm *al, const char *name, struct state_dir *f)
{
    char path[PATH_MAX], project[PATH_MAX];
    ssize_t n = readlinkat(al->dir, name, path, sizeof path - 1);

    if (n <= 0)
        return false;
    path[n] = '\0';
    snprintf(project, sizeof project, "%s", path);
    char *slash = strrchr(project, '/');
    if (path[0] != '/' || !slash || slash == project)
        return false;
    *slash = '\0';
    return state_dir_open(f, path, project, NULL) == ST_OK;
}

static bool
has_record(const struct state_dir *f)
{
    struct stat st;

    return sys->fstatat(f->dir, "run/asleep", &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Wakes the run of a link when its time has come; a link whose run does not sleep, or cannot be
 * started, is removed. Returns when it has to be looked at again; INT64_MAX: when the list changes.
 */
static int64_t
serve_link(const struct alarm *al, const char *name)
{
    struct state_dir f = { .dir = -1 };
    struct sleeping now = { .wake_ms = 0 };
    struct err e;
    int64_t next_ms = INT64_MAX, now_ms = clock_wall_ns() / 1000000;
    bool is_there = open_link(al, name, &f);
    bool is_asleep = is_there && sleeping_read(&f, &now);
    bool is_dropped = !is_there;

    if (is_asleep && now.wake_ms <= now_ms)
        is_dropped = sleeping_wake(&f, al->config, &e) != ST_OK; /* orchestrator.log says why */
    else if (is_asleep)
        next_ms = now.wake_ms;
    else if (is_there && has_record(&f)) /* its orchestrator begins to sleep, or wakes */
        next_ms = now_ms + LOOK_MS;
    else
        is_dropped = true;
    state_dir_close(&f);
    if (is_dropped)
        unlinkat(al->dir, name, 0);
    return next_ms;
}

static DIR *
open_links(const struct alarm *al)
{
    int fd = SYS_RETRY(sys->openat(al->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0));
    DIR *d = fd < 0 ? NULL : fdopendir(fd);

    if (!d && fd >= 0)
        close(fd);
    return d;
}

/* All links; *n of them are there. */
static int64_t
serve_all(const struct alarm *al, size_t *n)
{
    int64_t first_ms = INT64_MAX;
    DIR *d = open_links(al);

    *n = 0;
    for (struct dirent *x; d && (x = readdir(d));) {
        if (x->d_name[0] == '.')
            continue;
        int64_t at_ms = al->lock < 0 ? 0 : serve_link(al, x->d_name);
        first_ms = at_ms < first_ms ? at_ms : first_ms;
        *n += 1;
    }
    if (d)
        closedir(d);
    return first_ms;
}

/* ---- the alarm ---- */

static int
open_lock(const struct alarm *al)
{
    return SYS_RETRY(
        sys->openat(al->dir, LOCK_NAME, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
}

/* False: another process has it. One that only asks (is_held) lets go at once. */
static bool
take_lock(struct alarm *al)
{
    al->lock = open_lock(al);
    for (int i = 0; al->lock >= 0 && i < TRIES; i++) {
        if (SYS_RETRY(sys->flock(al->lock, LOCK_EX | LOCK_NB)) == 0)
            return true;
        poll(NULL, 0, TRY_MS);
    }
    if (al->lock >= 0)
        close(al->lock);
    al->lock = -1;
    return false;
}

/* Until a time, or a change of the list. */
static void
wait_until(struct alarm *al, int64_t at_ms)
{
    struct itimerspec t = { .it_value = { .tv_sec = at_ms / 1000,
                                          .tv_nsec = at_ms % 1000 * 1000000 } };
    struct pollfd p[] = { { .fd = al->watch.fd, .events = POLLIN },
                          { .fd = al->timer, .events = POLLIN } };

    timerfd_settime(al->timer, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &t, NULL);
    poll(p, 2, -1);
    watch_drain(&al->watch);
}

static bool
open_list(struct alarm *al, const char *config, struct buf *path)
{
    if (config)
        buf_adds(path, config);
    else if (path_config(path, NULL) != ST_OK)
        return false;
    al->config = buf_failed(path) ? NULL : path->p;
    int top = al->config ? open(al->config, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (top >= 0)
        al->dir =
            SYS_RETRY(sys->openat(top, LIST, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW, 0));
    if (top >= 0)
        close(top);
    return al->dir >= 0;
}

static enum status
open_events(struct alarm *al, struct err *e)
{
    struct buf path = { 0 };

    buf_addf(&path, "%s/" LIST, al->config);
    enum status s = buf_status(&path, "the path", e);
    if (!s)
        s = watch_open(&al->watch, path.p, e);
    buf_release(&path);
    al->timer = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    return !s && al->timer < 0 ? err_sys(e, "make a timer") : s;
}

static void
release(struct alarm *al, struct buf *path)
{
    watch_close(&al->watch);
    for (size_t i = 0; i < 3; i++) {
        int fd = i == 0 ? al->dir : i == 1 ? al->lock : al->timer;
        if (fd >= 0)
            close(fd);
    }
    buf_release(path);
}

enum status
sleeping_alarm_run(const char *config, struct err *e)
{
    struct alarm al = { .dir = -1, .lock = -1, .timer = -1, .watch.fd = -1 };
    struct buf path = { 0 };
    enum status s = ST_OK;
    size_t n = 1;

    if (!open_list(&al, config, &path))
        n = 0; /* no run has ever slept */
    else
        s = open_events(&al, e);
    while (!s && n && take_lock(&al)) {
        for (int64_t at = serve_all(&al, &n); n; at = serve_all(&al, &n))
            wait_until(&al, at);
        close(al.lock);
        al.lock = -1;
        serve_all(&al, &n); /* one that began to sleep found us alive */
    }
    release(&al, &path);
    return s;
}

/* ---- others ask for it ---- */

static bool
is_held(const struct alarm *al)
{
    int fd = open_lock(al);
    bool is_held = fd >= 0 && SYS_RETRY(sys->flock(fd, LOCK_SH | LOCK_NB)) != 0;

    if (fd >= 0)
        close(fd);
    return is_held;
}

void
sleeping_alarm_start(const char *config)
{
    struct alarm al = { .dir = -1, .lock = -1, .timer = -1, .watch.fd = -1 };
    struct arena a = { 0 };
    struct buf path = { 0 };
    struct proc_id id;
    size_t n = 0;

    if (open_list(&al, config, &path))
        serve_all(&al, &n);
    if (n && !is_held(&al)) {
        const char *argv[] = { agent_self(&a), "_alarm", NULL };
        struct proc_spec spec = { .argv = argv,
                                  .env = wake_env(&a, al.config, NULL),
                                  .dir = "/",
                                  .out = "/dev/null",
                                  .is_woken = true };
        if (spec.env)
            proc_spawn(&spec, &id, NULL);
    }
    release(&al, &path);
    arena_release(&a);
}

static bool
is_asleep(const struct alarm *al, const char *name)
{
    struct state_dir f = { .dir = -1 };
    struct sleeping now;
    bool is_asleep = open_link(al, name, &f) && sleeping_read(&f, &now);

    state_dir_close(&f);
    return is_asleep;
}

size_t
sleeping_count(const char *config, bool *is_watched)
{
    struct alarm al = { .dir = -1, .lock = -1, .timer = -1, .watch.fd = -1 };
    struct buf path = { 0 };
    size_t n = 0;
    DIR *d = open_list(&al, config, &path) ? open_links(&al) : NULL;

    for (struct dirent *x; d && (x = readdir(d));)
        n += x->d_name[0] != '.' && is_asleep(&al, x->d_name);
    if (d)
        closedir(d);
    *is_watched = n && is_held(&al);
    release(&al, &path);
    return n;
}
