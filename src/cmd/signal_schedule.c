/* signal schedule - broadcast a signal later, and print its id. */
#include "cmd/lib/hub_show.h"

static const struct opt opts[] = {
    { "at", OPT_TEXT, "WHEN", "+300ms, +30s, +5m, +2h, +1d, ms since 1970, or 2026-12-24T08:00:00Z",
      .is_required = true },
    { "data", OPT_TEXT, "JSON", "what it carries" },
    { "source", OPT_TEXT, "KIND", "agent (the default), webhook or process" },
    { "repeat-key", OPT_TEXT, "KEY", "replaces what waits under this type and key" },
    HUB_OPTS,
    { 0 },
};

static const struct hub_field fields[] = {
    { "at", "deliverAt", HF_WHEN },
    { "data", "data", HF_JSON },
    { "source", "source", HF_SOURCE },
    { "repeat-key", "repeatKey", HF_TEXT },
    { 0 },
};

static const struct hub_simple work = {
    .op = HUB_SCHEDULE,
    .fields = fields,
    .words = { "type" },
    .inside = "delayed",
    .text = "id",
};

const struct cmd cmd_signal_schedule = {
    .name = "signal schedule",
    .words = "TYPE",
    .min_words = 1,
    .max_words = 1,
    .brief = "broadcast a signal later, and print its id",
    .about =
        "Never early, at least once, whatever restarts meanwhile; a past time is delivered at "
        "once.\n"
        "What is scheduled with the same\n"
        "TYPE and --repeat-key replaces what waits. Without a server, every command that writes\n"
        "delivers what is due; cliq signal pump does only that, for cron or a timer.",
    .examples = "cliq signal schedule report:daily --at +30s\n"
                "cliq signal schedule report:daily --at 2026-12-24T08:00:00Z --repeat-key daily",
    .opts = opts,
    .hub = &work,
};
