/* signal delayed - list the signals that wait for their time. */
#include "cmd/hub_show.h"

static const struct opt opts[] = {
    HUB_OPTS,
    { 0 },
};

static const struct hub_column columns[] = {
    { "ID", "id" },
    { "TYPE", "type" },
    { "AT", "@time:deliverAt" },
    { "KEY", "repeatKey" },
    { "SOURCE", "@source" },
    { "DATA", "data" },
    { 0 },
};

static enum status
run(const struct args *a, struct err *e)
{
    static const struct hub_simple work = {
        .op = HUB_DELAYED,
        .inside = "events",
        .columns = columns,
    };

    return hub_run(&work, a, e);
}

const struct cmd cmd_signal_delayed = {
    .name = "signal delayed",
    .brief = "list the signals that wait for their time",
    .about = "The next one first.",
    .examples = "cliq signal delayed",
    .opts = opts,
    .run = run,
};
