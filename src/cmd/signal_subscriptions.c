/* signal subscriptions - list the subscriptions of everyone. */
#include "cmd/lib/hub_show.h"

static const struct hub_simple work = {
    .op = HUB_SUBSCRIPTIONS,
    .inside = "subscriptions",
    .columns = hub_subscription_columns,
};

const struct cmd cmd_signal_subscriptions = {
    .name = "signal subscriptions",
    .brief = "list the subscriptions of everyone",
    .about = "Who listens to what, and whether it wakes them.",
    .examples = "cliq signal subscriptions --json",
    .opts = hub_opts,
    .hub = &work,
};
