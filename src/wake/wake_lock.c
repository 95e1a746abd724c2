/* wake_lock - the lock in <config>/wake/<id>/ of an agent that is awake. Apart from wake.c because
 * the library asks for it, too, and starts no agents itself. */
#define _GNU_SOURCE
#include "wake/wake.h"

#include "base/path.h"
#include "base/sys.h"
#include "context/env.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum status
wake_open_dir(const char *config, const char *identity, int *dir, struct err *e)
{
    int top = -1, all = -1;
    enum status s = path_check_name("identity", identity, e);

    *dir = -1;
    if (!s)
        s = path_open_dir(config, true, &top, e);
    if (!s)
        s = path_open_dir_at(top, "wake", true, &all, e);
    if (!s)
        s = path_open_dir_at(all, identity, true, dir, e);
    if (top >= 0)
        close(top);
    if (all >= 0)
        close(all);
    return s;
}

enum status
wake_lock(int dir, int *fd, struct err *e)
{
    char text[32];
    int n = snprintf(text, sizeof text, "%d\n", (int)getpid());

    *fd = SYS_RETRY(sys->openat(dir, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (*fd < 0)
        return err_sys(e, "open the lock of an agent");
    if (SYS_RETRY(sys->flock(*fd, LOCK_EX | LOCK_NB)) != 0) {
        enum status s = errno == EWOULDBLOCK ? err_set(e, ST_CONFLICT, "it is awake")
                                             : err_sys(e, "lock an agent");
        close(*fd);
        *fd = -1;
        return s;
    }
    /* For people only: the lock is what counts. */
    if (sys->ftruncate(*fd, 0) == 0 && pwrite(*fd, text, (size_t)n, 0) != n)
        return ST_OK;
    return ST_OK;
}

void
wake_unlock(int fd)
{
    sys->ftruncate(fd, 0); /* if not, it looks as if it had been killed, which costs one start */
    close(fd);
}

pid_t
wake_holder(const char *config, const char *identity)
{
    char text[32] = "";
    int dir;

    if (wake_open_dir(config, identity, &dir, NULL))
        return 0;
    int fd = SYS_RETRY(sys->openat(dir, "lock", O_RDONLY | O_CLOEXEC | O_NOFOLLOW, 0));
    if (fd >= 0 && SYS_RETRY(sys->read(fd, text, sizeof text - 1)) < 0)
        text[0] = '\0';
    if (fd >= 0)
        close(fd);
    close(dir);
    long pid = strtol(text, NULL, 10);
    return pid > 0 && pid <= INT_MAX ? (pid_t)pid : 0;
}

bool
wake_is_asleep(const char *config, const char *identity)
{
    int dir, fd = -1;
    bool is_free = false;

    if (wake_open_dir(config, identity, &dir, NULL))
        return false;
    is_free = wake_lock(dir, &fd, NULL) == ST_OK;
    if (is_free)
        wake_unlock(fd);
    close(dir);
    return is_free;
}

const char *const *
wake_env(struct arena *a, const char *config, const char *identity)
{
    struct env vars = { .arena = a };

    env_ours(&vars);
    env_add(&vars, "CLIQ_HOME", config);
    if (identity)
        env_add(&vars, "CLIQ_WAKE", identity);
    return vars.is_starved ? NULL : vars.v;
}
