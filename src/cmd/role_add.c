/* role add - make a role, or change it. */
#include "cmd/hub_show.h"

static const struct opt opts[] = {
    { "name", OPT_TEXT, "TEXT", "what people call it" },
    { "purpose", OPT_TEXT, "TEXT", "what it is for" },
    HUB_OPTS,
    { 0 },
};

static const struct hub_field fields[] = {
    { "name", "name", HF_TEXT },
    { "purpose", "purpose", HF_TEXT },
    { 0 },
};

static enum status
run(const struct args *a, struct err *e)
{
    static const struct hub_simple work = {
        .op = HUB_ROLE_ADD,
        .fields = fields,
        .words = { "id" },
        .text = "id",
    };

    return hub_run(&work, a, e);
}

const struct cmd cmd_role_add = {
    .name = "role add",
    .words = "ID",
    .min_words = 1,
    .max_words = 1,
    .brief = "make a role, or change it",
    .about = "Makes a role: work is addressed to it, whoever holds it takes it.",
    .examples = "cliq role add reviewer --purpose \"Reviews changes\"",
    .opts = opts,
    .run = run,
};
