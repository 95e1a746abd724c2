/* release - give a claim back, for others to take. */
#include "cmd/lib/hub_show.h"

static const struct hub_simple work = {
    .op = HUB_RELEASE,
    .fields = hub_held_fields,
    .words = { "signal_id" },
    .columns = hub_state_columns,
};

const struct cmd cmd_release = {
    .name = "release",
    .words = "ID",
    .choose = "held tasks",
    .min_words = 1,
    .max_words = 1,
    .brief = "give a claim back, for others to take",
    .about = "The task is open and pending again at once. It counts as no failure.",
    .examples = "cliq release signal:abc123",
    .opts = hub_held_opts,
    .hub = &work,
};
