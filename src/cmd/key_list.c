/* key list - list the keys, without their text. */
#include "cmd/lib/hub_show.h"

static const struct hub_column columns[] = {
    { "ID", "id" },
    { "IDENTITY", "identity" },
    { "SCOPES", "scopes" },
    { "CREATED", "@time:created_at" },
    { "BY", "created_by" },
    { "EXPIRES", "@time:expires_at" },
    { 0 },
};

static const struct hub_simple work = {
    .op = HUB_KEYS,
    .columns = columns,
};

const struct cmd cmd_key_list = {
    .name = "key list",
    .brief = "list the keys, without their text",
    .about = "A key's text is shown once, when it is made; here stands its id.",
    .examples = "cliq key list",
    .opts = hub_opts,
    .hub = &work,
};
