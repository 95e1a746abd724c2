/* ring list - list the rings. */
#include "cmd/lib/hub_show.h"

static const struct hub_simple work = {
    .op = HUB_RINGS,
    .columns = hub_group_columns,
};

const struct cmd cmd_ring_list = {
    .name = "ring list",
    .brief = "list the rings",
    .about = "Lists rings with their members.",
    .examples = "cliq ring list",
    .opts = hub_opts,
    .hub = &work,
};
