/* signal subscriptions - list the subscriptions of everyone. */
#include "cmd/hub_show.h"

static const struct opt opts[] = {
    HUB_OPTS,
    { 0 },
};

static const struct hub_column columns[] = {
    { "AGENT", "agentId" },
    { "PATTERN", "pattern" },
    { "SILENT", "silent" },
    { 0 },
};

static enum status
run(const struct args *a, struct err *e)
{
    static const struct hub_simple work = {
        .op = HUB_SUBSCRIPTIONS,
        .inside = "subscriptions",
        .columns = columns,
    };

    return hub_run(&work, a, e);
}

const struct cmd cmd_signal_subscriptions = {
    .name = "signal subscriptions",
    .brief = "list the subscriptions of everyone",
    .about = "Who listens to what, and whether it wakes them.",
    .examples = "cliq signal subscriptions --json",
    .opts = opts,
    .run = run,
};
