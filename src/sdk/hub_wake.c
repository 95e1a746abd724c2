#define _GNU_SOURCE
#include "sdk/hub_wake.h"

#include "context/agent_env.h"
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

/* Nothing of the host's goes along: no descriptor, no mask, no ignored signal, no terminal. */
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
    struct env vars = { .arena = a };
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    pid_t pid;

    env_ours(&vars);
    env_add(&vars, "CLIQ_HOME", config); /* the store that was written */
    if (vars.is_starved || posix_spawn_file_actions_init(&files) != 0)
        return;
    if (posix_spawnattr_init(&attr) == 0) {
        if (describe(&files, &attr) &&
            posix_spawnp(&pid, "cliq", &files, &attr, argv, (char *const *)vars.v) == 0)
            while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
                ;
        posix_spawnattr_destroy(&attr);
    }
    posix_spawn_file_actions_destroy(&files);
}

void
hub_wake(void *unused, struct hub *h)
{
    struct arena a = { 0 };
    char whole[PATH_MAX];
    const char *const *ids;
    int saved = errno;

    (void)unused;
    size_t n = hub_agents_to_wake(h, &a, &ids);
    bool is_needed = false;
    if (n && realpath(hub_config(h), whole))
        for (size_t i = 0; i < n && !is_needed; i++)
            is_needed = wake_is_asleep(whole, ids[i]);
    if (is_needed)
        run_pump(&a, whole);
    arena_release(&a);
    errno = saved;
}
