/* thread - a signal and all that answers it, in order. */
#include "cmd/lib/hub_show.h"

static const struct hub_simple work = {
    .op = HUB_THREAD,
    .words = { "id" },
    .columns = hub_signal_columns,
};

const struct cmd cmd_thread = {
    .name = "thread",
    .words = "ID",
    .choose = "tasks",
    .min_words = 1,
    .max_words = 1,
    .brief = "a signal and all that answers it, in order",
    .about = "Shows the root and every descendant by parent_id, whichever of their ids is given.",
    .examples = "cliq thread signal:abc123\n"
                "cliq thread signal:abc123 --json | jq -r .[].content",
    .opts = hub_opts,
    .hub = &work,
};
