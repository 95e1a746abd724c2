/* role list - list the roles. */
#include "cmd/lib/hub_show.h"

static const struct hub_simple work = {
    .op = HUB_ROLES,
    .columns = hub_group_columns,
};

const struct cmd cmd_role_list = {
    .name = "role list",
    .brief = "list the roles",
    .about = "Lists roles with the identities that hold them.",
    .examples = "cliq role list",
    .opts = hub_opts,
    .hub = &work,
};
