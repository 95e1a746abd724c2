/* extend - extend the lease of a claim. */
#include "cmd/lib/hub_show.h"

static const struct opt opts[] = {
    { "lease", OPT_TIME, "TIME", "how long from now; default 300 s" },
    { "claim-id", OPT_TEXT, "CLAIM", "only if this is still your claim" },
    HUB_OPTS,
    { 0 },
};

static const struct hub_field fields[] = {
    { "lease", "lease_seconds", HF_SECONDS },
    { "claim-id", "claim_id", HF_TEXT },
    { 0 },
};

static const struct hub_simple work = {
    .op = HUB_EXTEND,
    .fields = fields,
    .words = { "signal_id" },
    .columns = hub_state_columns,
};

const struct cmd cmd_extend = {
    .name = "extend",
    .words = "ID",
    .choose = "held tasks",
    .min_words = 1,
    .max_words = 1,
    .brief = "extend the lease of a claim",
    .about = "The lease then ends so many seconds from now. A lease that was lost meanwhile (it "
             "ended, and\n"
             "another worker may have the task) is exit code 5: stop working on it.",
    .examples = "cliq extend signal:abc123 --lease 10m",
    .opts = opts,
    .hub = &work,
};
