/* ring add - make a ring, or change it. */
#include "cmd/lib/hub_show.h"

static const struct hub_simple work = {
    .op = HUB_RING_ADD,
    .fields = hub_group_fields,
    .words = { "id" },
    .text = "id",
};

const struct cmd cmd_ring_add = {
    .name = "ring add",
    .words = "ID",
    .min_words = 1,
    .max_words = 1,
    .brief = "make a ring, or change it",
    .about = "Makes a ring: what is addressed to it is for its members only.",
    .examples = "cliq ring add ops --purpose \"Those on call\"",
    .opts = hub_group_opts,
    .hub = &work,
};
