/* fail - say that the work on a claim failed. */
#include "cmd/lib/hub_show.h"

static const struct opt opts[] = {
    { "error", OPT_TEXT, "TEXT", "what went wrong" },
    { "retry-in", OPT_TIME, "TIME", "try again after this long" },
    { "claim-id", OPT_TEXT, "CLAIM", "only if this is still your claim" },
    HUB_OPTS,
    { 0 },
};

static const struct hub_field fields[] = {
    { "error", "error", HF_TEXT },
    { "retry-in", "retry_in", HF_TIME },
    { "claim-id", "claim_id", HF_TEXT },
    { 0 },
};

static const struct hub_simple work = {
    .op = HUB_FAIL,
    .fields = fields,
    .words = { "signal_id" },
    .columns = hub_state_columns,
};

const struct cmd cmd_fail = {
    .name = "fail",
    .words = "ID",
    .choose = "held tasks",
    .min_words = 1,
    .max_words = 1,
    .brief = "say that the work on a claim failed",
    .about = "The task is failed, and pending again after a while: 1 s, doubled with every "
             "failure, at most\n"
             "5 min, or what --retry-in says. After the fifth time that nothing came of it, it is "
             "a dead\n"
             "letter: cliq signal list --delivery-state dead_letter lists those, cliq requeue ID "
             "brings one\n"
             "back.",
    .examples = "cliq fail signal:abc123 --error \"no network\"\n"
                "cliq fail signal:abc123 --retry-in 10m",
    .opts = opts,
    .hub = &work,
};
