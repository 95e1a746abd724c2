/* signal list - signals by filter, the newest first. */
#include "cmd/lib/hub_list.h"

static const struct opt opts[] = {
    HUB_LIST_OPTS,
    { "task-status", OPT_TEXT, "STATUS", "only tasks of this status" },
    { "from-identity", OPT_TEXT, "ID", "only signals from this identity", .choose = "identities" },
    { "from-role", OPT_TEXT, "ROLE", "only signals from this role", .choose = "roles" },
    { "to-identity", OPT_TEXT, "ID", "only signals to this identity", .choose = "identities" },
    { "to-role", OPT_TEXT, "ROLE", "only signals to this role", .choose = "roles" },
    { "to-ring", OPT_TEXT, "RING", "only signals to this ring", .choose = "rings" },
    { "open-to-anyone", OPT_FLAG, NULL, "only open tasks that are addressed to nobody" },
    { "claimed-by", OPT_TEXT, "ID", "only tasks that this identity has", .choose = "identities" },
    HUB_OPTS,
    { 0 },
};

static const struct hub_field fields[] = {
    HUB_LIST_FIELDS,
    { "task-status", "task_status", HF_TEXT },
    { "from-identity", "from_identity", HF_TEXT },
    { "from-role", "from_role", HF_TEXT },
    { "to-identity", "to_identity", HF_TEXT },
    { "to-role", "to_role", HF_TEXT },
    { "to-ring", "to_ring", HF_TEXT },
    { "open-to-anyone", "open_to_anyone", HF_FLAG },
    { "claimed-by", "claimed_by", HF_TEXT },
    { 0 },
};

static enum status
run(const struct args *a, struct err *e)
{
    struct hub_call c;
    struct json *args;
    enum status s = hub_call_begin(&c, a, e);

    if (!s)
        s = hub_args(&c, a, fields, &args, e);
    if (!s)
        s = hub_list(&c, HUB_LIST, args, args_has(a, "all"), e);
    hub_call_end(&c);
    return s;
}

const struct cmd cmd_signal_list = {
    .name = "signal list",
    .brief = "list signals by filter, the newest first",
    .about = "Every signal that you may see, for any receiver.",
    .examples = "cliq signal list --delivery-state dead_letter\n"
                "cliq signal list --claimed-by ruby --json",
    .opts = opts,
    .run = run,
};
