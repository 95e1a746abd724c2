/* signal events - print the latest signals, oldest first. */
#include "cmd/lib/hub_show.h"

static const struct opt opts[] = {
    { "limit", OPT_NUMBER, "N", "how many at most: 1 to 1000, default 200" },
    HUB_OPTS,
    { 0 },
};

static const struct hub_field fields[] = {
    { "limit", "limit", HF_COUNT, 1000 },
    { 0 },
};

static const struct hub_simple work = {
    .op = HUB_EVENTS,
    .fields = fields,
    .inside = "events",
    .columns = hub_broadcast_columns,
};

const struct cmd cmd_signal_events = {
    .name = "signal events",
    .brief = "print the latest signals, oldest first",
    .about = "Every signal, for any receiver. A signal of `cliq emit` is a signal like any other.",
    .examples = "cliq signal events\n"
                "cliq signal events --limit 1 --json",
    .opts = opts,
    .hub = &work,
};
