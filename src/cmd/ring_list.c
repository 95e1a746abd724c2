/* ring list - list the rings. */
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
        .op = HUB_RINGS,
        .columns = columns,
    };

    return hub_run(&work, a, e);
}

const struct cmd cmd_ring_list = {
    .name = "ring list",
    .brief = "list the rings",
    .about = "With those who are in them.",
    .examples = "cliq ring list",
    .opts = opts,
    .run = run,
};
