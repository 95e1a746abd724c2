/* ring join - make an identity a member of a ring. */
#include "cmd/lib/hub_show.h"

static const struct hub_column columns[] = {
    { "RING", "ring" },
    { "IDENTITY", "identity" },
    { 0 },
};

static const struct hub_simple work = {
    .op = HUB_JOIN,
    .words = { "ring", "identity" },
    .mine = "identity",
    .columns = columns,
};

const struct cmd cmd_ring_join = {
    .name = "ring join",
    .words = "RING [IDENTITY]",
    .choose = "rings",
    .min_words = 1,
    .max_words = 2,
    .brief = "make an identity a member of a ring",
    .about = "Without IDENTITY: yourself.",
    .examples = "cliq ring join ops\n"
                "cliq ring join ops ruby",
    .opts = hub_opts,
    .hub = &work,
};
