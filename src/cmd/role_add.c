/* role add - make a role, or change it. */
#include "cmd/lib/hub_show.h"

static const struct hub_simple work = {
    .op = HUB_ROLE_ADD,
    .fields = hub_group_fields,
    .words = { "id" },
    .text = "id",
};

const struct cmd cmd_role_add = {
    .name = "role add",
    .words = "ID",
    .min_words = 1,
    .max_words = 1,
    .brief = "make a role, or change it",
    .about = "Makes a role. Work is addressed to the role; identities that hold it take the work.",
    .examples = "cliq role add reviewer --purpose \"Reviews changes\"",
    .opts = hub_group_opts,
    .hub = &work,
};
