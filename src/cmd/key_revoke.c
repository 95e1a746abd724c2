/* key revoke - end a key at once. */
#include "cmd/lib/hub_show.h"

static const struct hub_simple work = {
    .op = HUB_KEY_REVOKE,
    .words = { "id" },
    .text = "id",
};

const struct cmd cmd_key_revoke = {
    .name = "key revoke",
    .words = "ID",
    .min_words = 1,
    .max_words = 1,
    .brief = "end a key at once",
    .about = "A server that is asked to (--url) refuses it from the next request on, one that runs "
             "over\n"
             "the same files as soon as it has heard of it, some milliseconds later.",
    .examples = "cliq key list\n"
                "cliq key revoke abc123",
    .opts = hub_opts,
    .hub = &work,
};
