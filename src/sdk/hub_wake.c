#define _GNU_SOURCE
#include "sdk/hub_wake.h"

#include "proc/child.h"
#include "wake/wake.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Ours, without what would lead it elsewhere, and with the store that was written. */
static const char *const *
pump_env(struct arena *a, const char *config)
{
    size_t n = 0, k = 0, size = strlen(config) + 16;

    while (environ[n])
        n++;
    const char **v = arena_alloc(a, (n + 2) * sizeof *v);
    char *home = arena_alloc(a, size);
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

/* Nothing of the host's goes along: no descriptor, no mask, no ignored signal, no terminal. */
static void
run_pump(struct arena *a, const char *config)
{
    static const char *const argv[] = { "cliq", "signal", "pump", NULL };
    struct child_spec spec = { .proc = {
                                   .argv = argv, .env = pump_env(a, config), .out = "/dev/null" } };
    struct child c = { 0 };

    if (spec.proc.env)
        child_run(&c, &spec, NULL);
    child_release(&c);
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
