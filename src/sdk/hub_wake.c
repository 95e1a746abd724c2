#define _GNU_SOURCE
#include "sdk/hub_wake.h"

#include "wake/wake.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The environment without CLIQ_ variables, plus CLIQ_HOME for the hub that was written. */
static char *const *
pump_env(struct arena *a, const char *config)
{
    size_t n = 0, k = 0, size = strlen(config) + 16;

    while (environ[n])
        n++;
    char **v = arena_alloc(a, (n + 2) * sizeof *v), *home = arena_alloc(a, size);
    if (!v || !home)
        return NULL;
    for (size_t i = 0; i < n; i++)
        if (strncmp(environ[i], "CLIQ_", 5) != 0)
            v[k++] = environ[i];
    snprintf(home, size, "CLIQ_HOME=%s", config);
    v[k++] = home;
    v[k] = NULL;
    return v;
}

/* Isolates the child: no descriptors, signal mask, ignored signals or terminal of the host. */
static bool
describe(posix_spawn_file_actions_t *files, posix_spawnattr_t *attr)
{
    sigset_t none, all;

    sigemptyset(&none);
    sigfillset(&all);
    return posix_spawn_file_actions_addopen(files, 0, "/dev/null", O_RDWR, 0) == 0 &&
           posix_spawn_file_actions_adddup2(files, 0, 1) == 0 &&
           posix_spawn_file_actions_adddup2(files, 0, 2) == 0 &&
           posix_spawn_file_actions_addclosefrom_np(files, 3) == 0 &&
           posix_spawnattr_setsigmask(attr, &none) == 0 &&
           posix_spawnattr_setsigdefault(attr, &all) == 0 &&
           posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK |
                                              POSIX_SPAWN_SETSIGDEF) == 0;
}

static void
run_pump(struct arena *a, const char *config)
{
    char name[] = "cliq", group[] = "signal", pump[] = "pump",
         *argv[] = { name, group, pump, NULL };
    char *const *env = pump_env(a, config);
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    pid_t pid;

    if (!env || posix_spawn_file_actions_init(&files) != 0)
        return;
    if (posix_spawnattr_init(&attr) == 0) {
        if (describe(&files, &attr) && posix_spawnp(&pid, "cliq", &files, &attr, argv, env) == 0)
            while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
                ;
        posix_spawnattr_destroy(&attr);
    }
    posix_spawn_file_actions_destroy(&files);
}

void
hub_wake(struct hubclient *d)
{
    struct arena a = { 0 };
    char whole[PATH_MAX];
    const char *const *ids;
    int saved = errno;

    if (!d->hub || !d->has_written)
        return;
    d->has_written = false;
    size_t n = hub_agents_to_wake(d->hub, &a, &ids);
    bool is_needed = false;
    if (n && realpath(d->config, whole))
        for (size_t i = 0; i < n && !is_needed; i++)
            is_needed = wake_is_asleep(whole, ids[i]);
    if (is_needed)
        run_pump(&a, whole);
    arena_release(&a);
    errno = saved;
}
