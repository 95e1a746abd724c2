/* requeue - bring a dead letter or a failed task back. */
#include "cmd/lib/hub_show.h"

static const struct hub_simple work = {
    .op = HUB_REQUEUE,
    .words = { "signal_id" },
    .columns = hub_state_columns,
};

const struct cmd cmd_requeue = {
    .name = "requeue",
    .words = "ID",
    .choose = "dead letters",
    .min_words = 1,
    .max_words = 1,
    .brief = "bring a dead letter or a failed task back",
    .about = "The task is pending and open again, as if it had never been tried.",
    .examples = "cliq signal list --delivery-state dead_letter\n"
                "cliq requeue signal:abc123",
    .opts = hub_opts,
    .hub = &work,
};
