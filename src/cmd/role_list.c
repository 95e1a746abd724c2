/* role list - list the roles. */
#include "cmd/hub_show.h"

static const struct opt opts[] = {
    HUB_OPTS,
    { 0 },
};

static const struct hub_column columns[] = {
    { "ID", "id" }, { "NAME", "name" }, { "MEMBERS", "members" }, { "PURPOSE", "purpose" }, { 0 },
};

static enum status
run(const struct args *a, struct err *e)
{
    static const struct hub_simple work = {
        .op = HUB_ROLES,
        .columns = columns,
    };

    return hub_run(&work, a, e);
}

const struct cmd cmd_role_list = {
    .name = "role list",
    .brief = "list the roles",
    .about = "With those who hold them.",
    .examples = "cliq role list",
    .opts = opts,
    .run = run,
};
