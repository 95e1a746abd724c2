/* signal delayed - list the signals that wait for their time. */
#include "cmd/lib/hub_show.h"

static const struct hub_column columns[] = {
    { "ID", "id" },
    { "TYPE", "type" },
    { "AT", "@time:deliverAt" },
    { "KEY", "repeatKey" },
    { "SOURCE", "@source" },
    { "DATA", "data" },
    { 0 },
};

static const struct hub_simple work = {
    .op = HUB_DELAYED,
    .inside = "events",
    .columns = columns,
};

const struct cmd cmd_signal_delayed = {
    .name = "signal delayed",
    .brief = "list the signals that wait for their time",
    .about = "The next one first.",
    .examples = "cliq signal delayed",
    .opts = hub_opts,
    .hub = &work,
};
