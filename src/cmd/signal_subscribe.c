/* signal subscribe - subscribe to a pattern of signals. */
#include "cmd/lib/hub_show.h"

static const struct opt opts[] = {
    { "silent", OPT_TEXT, "BOOL", "true (the default): the inbox only; false: also wakes" },
    { "agent", OPT_TEXT, "IDENTITY", "for this identity instead of yourself" },
    HUB_OPTS,
    { 0 },
};

static const struct hub_field fields[] = {
    { "silent", "silent", HF_BOOL },
    { "agent", "agentId", HF_TEXT },
    { 0 },
};

static const struct hub_simple work = {
    .op = HUB_SUBSCRIBE,
    .fields = fields,
    .words = { "pattern" },
    .columns = hub_subscription_columns,
};

const struct cmd cmd_signal_subscribe = {
    .name = "signal subscribe",
    .words = "PATTERN",
    .min_words = 1,
    .max_words = 1,
    .brief = "subscribe to a pattern of signals",
    .about =
        "A pattern has as many segments as the types it matches; * matches exactly one, and\n"
        "stands alone between its colons: there is no ** and no b*. Signals that match come to\n"
        "your inbox (cliq inbox), your own ones never. With --silent=false they also wake you.\n"
        "Subscribing again without --silent changes nothing.",
    .examples = "cliq signal subscribe 'build:*:done'\n"
                "cliq signal subscribe 'build:*:failed' --silent=false",
    .opts = opts,
    .hub = &work,
};
