/* ring add - make a ring, or change it. */
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
        .op = HUB_RING_ADD,
        .fields = fields,
        .words = { "id" },
        .text = "id",
    };

    return hub_run(&work, a, e);
}

const struct cmd cmd_ring_add = {
    .name = "ring add",
    .words = "ID",
    .min_words = 1,
    .max_words = 1,
    .brief = "make a ring, or change it",
    .about = "Makes a ring: what is addressed to it is for its members only.",
    .examples = "cliq ring add ops --purpose \"Those on call\"",
    .opts = opts,
    .run = run,
};
