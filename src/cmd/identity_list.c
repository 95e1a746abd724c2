/* identity list - list the identities. */
#include "cmd/lib/hub_show.h"

static const struct hub_column columns[] = {
    { "ID", "id" },       { "NAME", "name" },   { "TYPE", "type" }, { "ROLES", "roles" },
    { "RINGS", "rings" }, { "AGENT", "agent" }, { "DIR", "dir" },   { 0 },
};

static const struct hub_simple work = {
    .op = HUB_IDENTITIES,
    .columns = columns,
};

const struct cmd cmd_identity_list = {
    .name = "identity list",
    .brief = "list the identities",
    .about = "With the roles they hold and the rings they are in.",
    .examples = "cliq identity list",
    .opts = hub_opts,
    .hub = &work,
};
