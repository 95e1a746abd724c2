/* ack - acknowledge a signal: it is dealt with. */
#include "cmd/lib/hub_show.h"

static const struct hub_simple work = {
    .op = HUB_ACK,
    .fields = hub_held_fields,
    .words = { "signal_id" },
    .columns = hub_state_columns,
};

const struct cmd cmd_ack = {
    .name = "ack",
    .words = "ID",
    .min_words = 1,
    .max_words = 1,
    .brief = "acknowledge a signal: it is dealt with",
    .about =
        "For the holder of a claim, or for anyone whom an unclaimed signal is addressed to. What "
        "is\n"
        "for everyone is acked by its sender; others say cliq inbox --acknowledge ID. The\n"
        "delivery state becomes acked; the task's own status stays (cliq status-of ID done sets "
        "it).\n"
        "Again by the same identity is fine; after another identity it is a conflict (exit code "
        "5).\n"
        "\n"
        "Prints the id, the delivery state and the task's status.",
    .examples = "cliq ack signal:abc123",
    .opts = hub_held_opts,
    .hub = &work,
};
