/* release - give a claim back, for others to take. */
#include "cmd/hub_show.h"

static const struct opt opts[] = {
    { "claim-id", OPT_TEXT, "CLAIM", "only if this is still your claim" },
    HUB_OPTS,
    { 0 },
};

static const struct hub_field fields[] = {
    { "claim-id", "claim_id", HF_TEXT },
    { 0 },
};

static enum status
run(const struct args *a, struct err *e)
{
    static const struct hub_simple work = {
        .op = HUB_RELEASE,
        .fields = fields,
        .words = { "signal_id" },
        .columns = hub_state_columns,
    };

    return hub_run(&work, a, e);
}

const struct cmd cmd_release = {
    .name = "release",
    .words = "ID",
    .min_words = 1,
    .max_words = 1,
    .brief = "give a claim back, for others to take",
    .about = "The task is open and pending again at once. It counts as no failure.",
    .examples = "cliq release signal:abc123",
    .opts = opts,
    .run = run,
};
