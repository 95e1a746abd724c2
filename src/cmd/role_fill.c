/* role fill - let an identity hold a role. */
#include "cmd/lib/hub_show.h"

static const struct hub_column columns[] = {
    { "ROLE", "role" },
    { "IDENTITY", "identity" },
    { 0 },
};

static const struct hub_simple work = {
    .op = HUB_FILL,
    .words = { "role", "identity" },
    .mine = "identity",
    .columns = columns,
};

const struct cmd cmd_role_fill = {
    .name = "role fill",
    .words = "ROLE [IDENTITY]",
    .choose = "roles",
    .min_words = 1,
    .max_words = 2,
    .brief = "let an identity hold a role",
    .about =
        "Without IDENTITY: yourself. An identity may hold many roles, and a role many identities.",
    .examples = "cliq role fill reviewer\n"
                "cliq role fill reviewer ruby",
    .opts = hub_opts,
    .hub = &work,
};
