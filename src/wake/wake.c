#include "wake/wake.h"

#include "proc/proc.h"
#include "team/agent.h"

#include <limits.h>
#include <stdlib.h>

/* Its pid; 0: it could not be started. */
static pid_t
start_supervisor(struct arena *a, const char *config, const char *identity)
{
    struct buf log = { 0 };
    struct proc_id id = { 0 };
    const char *argv[] = { agent_self(a), "_wake", identity, NULL };
    struct proc_spec spec = {
        .argv = argv, .env = wake_env(a, config, identity), .dir = "/", .is_woken = true
    };

    buf_addf(&log, "%s/wake/%s/log", config, identity);
    spec.out = buf_failed(&log) ? NULL : log.p;
    bool is_started = spec.env && spec.out && proc_spawn(&spec, &id, NULL) == ST_OK;
    buf_release(&log);
    return is_started ? id.pid : 0;
}

void
wake_agents(struct hub *h, const struct wake_watcher *w)
{
    struct arena a = { 0 };
    char whole[PATH_MAX];
    const char *const *ids;
    size_t n = hub_agents_to_wake(h, &a, &ids);

    if (n && !realpath(hub_config(h), whole))
        n = 0;
    for (size_t i = 0; i < n; i++) {
        if (w && w->is_awake(w->ctx, ids[i], hub_last_seq(h)))
            continue;
        pid_t pid = wake_is_asleep(whole, ids[i]) ? start_supervisor(&a, whole, ids[i])
                    : w                           ? wake_holder(whole, ids[i])
                                                  : 0;
        if (w && pid)
            w->attended(w->ctx, ids[i], pid);
    }
    arena_release(&a);
}

void
wake_on_round(void *unused, struct hub *h)
{
    (void)unused;
    wake_agents(h, NULL);
}
