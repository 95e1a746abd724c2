/* lease release - end leases of files. */
#include "cmd/lib/lease_call.h"

static const struct opt opts[] = {
    { "holder", OPT_TEXT, "IDENTITY", "end this identity's leases instead of yours" },
    HUB_OPTS,
    { 0 },
};

static const struct hub_field fields[] = {
    { "holder", "holder", HF_TEXT },
    { 0 },
};

static enum status
run(const struct args *a, struct err *e)
{
    return lease_call(a, HUB_LEASE_RELEASE, fields, e);
}

const struct cmd cmd_lease_release = {
    .name = "lease release",
    .words = "[PATH]...",
    .max_words = 100,
    .brief = "end leases of files",
    .about =
        "Ends the leases of these paths, as they were taken, or all of yours in this project. The\n"
        "answer lists what ended. With --holder an admin ends the leases of an agent that is "
        "gone,\n"
        "before their time; the holder is told in its inbox.",
    .examples = "cliq lease release src/parser/\n"
                "cliq lease release\n"
                "cliq lease release --holder eve",
    .opts = opts,
    .run = run,
};
