/* signal generate - broadcast a signal and print its id. */
#include "cmd/lib/hub_show.h"

static const struct opt opts[] = {
    { "data", OPT_TEXT, "JSON", "what it carries" },
    { "source", OPT_TEXT, "KIND", "agent (the default), webhook or process" },
    { "dedup-key", OPT_TEXT, "KEY", "the same key again within 24 h is the same signal" },
    HUB_OPTS,
    { 0 },
};

static const struct hub_field fields[] = {
    { "data", "data", HF_JSON },
    { "source", "source", HF_SOURCE },
    { "dedup-key", "dedup_key", HF_TEXT },
    { 0 },
};

static const struct hub_simple work = {
    .op = HUB_GENERATE,
    .fields = fields,
    .words = { "type" },
    .inside = "signal",
    .text = "id",
};

const struct cmd cmd_signal_generate = {
    .name = "signal generate",
    .words = "TYPE",
    .min_words = 1,
    .max_words = 1,
    .brief = "broadcast a signal and print its id",
    .about =
        "Fire and forget: everyone whose subscription matches TYPE finds it in the inbox. TYPE is\n"
        "segments joined by colons, build:web:done, without a *, which is for patterns. The\n"
        "signal is on disk before its id is printed.\n"
        "\n"
        "The source is you as an agent; --source webhook or process says what else you are. "
        "\"system\"\n"
        "is cliq's own.",
    .examples = "cliq signal generate build:web:done --data '{\"ok\":true}'",
    .opts = opts,
    .hub = &work,
};
