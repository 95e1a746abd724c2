/* status-of - the status of a task: shown, set, or all that happened to it. */
#include "cmd/lib/hub_show.h"

static const struct opt opts[] = {
    { "claim-id", OPT_TEXT, "CLAIM", "set it only if this is still your claim" },
    { "history", OPT_FLAG, NULL, "every transition, with who and when" },
    HUB_OPTS,
    { 0 },
};

static enum status
show(struct hub_call *c, struct json *args, const char *id, struct err *e)
{
    struct hub_reply reply = { 0 };
    enum status s = hub_args_add(c, args, "id", id, e);

    if (!s)
        s = hub_call(c, HUB_GET, args, &reply, e);
    const struct json *status = s ? NULL : json_get(reply.data, "task_status");
    if (!s && !json_is(status, JSON_STRING) && !c->is_json)
        s = err_set(e, ST_CONFLICT, "%s is not a task: only tasks have a status and can be claimed",
                    id);
    return s ? s : hub_show_text(c, status, reply.data, e);
}

static enum status
show_history(struct hub_call *c, struct json *args, const char *id, struct err *e)
{
    static const struct hub_column columns[] = {
        { "TIME", "@time:at" },      { "WHAT", "op" },     { "BY", "by" },
        { "STATUS", "task_status" }, { "ERROR", "error" }, { 0 },
    };
    struct hub_reply reply;
    enum status s = hub_args_add(c, args, "id", id, e);

    if (!s)
        s = hub_call(c, HUB_HISTORY, args, &reply, e);
    return s ? s : hub_show_list(c, reply.data, columns, e);
}

static enum status
set(struct hub_call *c, const struct args *a, struct json *args, struct err *e)
{
    struct hub_reply reply;
    enum status s = hub_args_add(c, args, "signal_id", a->words[0], e);

    if (!s)
        s = hub_args_add(c, args, "task_status", a->words[1], e);
    if (!s)
        s = hub_args_add(c, args, "claim_id", args_text(a, "claim-id"), e);
    if (!s)
        s = hub_call(c, HUB_STATUS, args, &reply, e);
    return s ? s : hub_show_one(c, reply.data, hub_state_columns, e);
}

static enum status
run(const struct args *a, struct err *e)
{
    struct hub_call c;
    struct json *args;
    bool is_set = a->n_words > 1, has_history = args_has(a, "history");

    if (is_set && has_history)
        return err_set(e, ST_INVALID, "--history shows, \"%s\" sets: choose one", a->words[1]);
    if (!is_set && args_has(a, "claim-id"))
        return err_set(e, ST_INVALID, "--claim-id is for setting a status: which one?");
    enum status s = hub_call_begin(&c, a, e);
    if (!s)
        s = hub_args(&c, a, NULL, &args, e);
    if (!s)
        s = is_set        ? set(&c, a, args, e)
            : has_history ? show_history(&c, args, a->words[0], e)
                          : show(&c, args, a->words[0], e);
    hub_call_end(&c);
    return s;
}

const struct cmd cmd_status_of = {
    .name = "status-of",
    .words = "ID [STATUS]",
    .choose = "tasks",
    .min_words = 1,
    .max_words = 2,
    .brief = "show or set the status of a task",
    .about =
        "A task goes from open to claimed (by a claim), in_progress, blocked and back, and ends\n"
        "done or cancelled. The one who claimed it sets it; cancelled may also be set while "
        "nobody\n"
        "has it. Any other way is a conflict (exit code 5).\n"
        "\n"
        "Without STATUS it prints the status; --json prints the whole signal.",
    .examples = "cliq status-of signal:abc123\n"
                "cliq status-of signal:abc123 in_progress\n"
                "cliq status-of signal:abc123 --history",
    .opts = opts,
    .run = run,
};
