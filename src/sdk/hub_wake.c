#include "sdk/hub_wake.h"

#include "proc/child.h"
#include "wake/wake.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

/* The child inherits no descriptor, signal mask, ignored signal or terminal of the host. */
static void
run_pump(struct arena *a, const char *config)
{
    static const char *const argv[] = { "cliq", "signal", "pump", NULL };
    struct child_spec spec = {
        .proc = { .argv = argv, .env = wake_env(a, config, NULL), .out = "/dev/null" }
    };
    struct child c = { 0 };

    if (spec.proc.env)
        child_run(&c, &spec, NULL);
    child_release(&c);
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
