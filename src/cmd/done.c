/* done - a task is done: its status, and the acknowledgement with it. */
#include "cmd/lib/hub_show.h"

static enum status
set(struct hub_call *c, const struct args *a, const char *status, struct hub_reply *reply,
    struct err *e)
{
    struct json *args;
    enum status s = hub_args(c, a, hub_held_fields, &args, e);

    if (!s)
        s = hub_args_add(c, args, "signal_id", a->words[0], e);
    if (!s)
        s = hub_args_add(c, args, "task_status", status, e);
    return s ? s : hub_call(c, HUB_STATUS, args, reply, e);
}

/* Only a task in progress can be done: a claimed one is begun first. */
static enum status
finish(struct hub_call *c, const struct args *a, struct err *e)
{
    struct json *args = json_new(&c->hub.arena, JSON_OBJECT);
    struct hub_reply reply;
    enum status s = args ? hub_args_add(c, args, "id", a->words[0], e) : err_nomem(e);

    if (!s)
        s = hub_call(c, HUB_GET, args, &reply, e);
    if (!s && json_eq(json_get(reply.data, "task_status"), "claimed"))
        s = set(c, a, "in_progress", &reply, e);
    if (!s)
        s = set(c, a, "done", &reply, e);
    return s ? s : hub_show_one(c, reply.data, hub_state_columns, e);
}

static enum status
run(const struct args *a, struct err *e)
{
    struct hub_call c;
    enum status s = hub_call_begin(&c, a, e);

    if (!s)
        s = finish(&c, a, e);
    hub_call_end(&c);
    return s;
}

const struct cmd cmd_done = {
    .name = "done",
    .words = "ID",
    .choose = "held tasks",
    .min_words = 1,
    .max_words = 1,
    .brief = "a claimed task is done: set its status and acknowledge it",
    .about =
        "For the holder of the claim, whether the task is claimed, in progress or blocked. Its\n"
        "status becomes done and its delivery state acked, so its lease no longer ends. Again by\n"
        "the same identity is fine; a task of another is a conflict (exit code 5).\n"
        "\n"
        "Prints the id, the delivery state and the task's status.",
    .examples = "cliq done signal:abc123",
    .opts = hub_held_opts,
    .run = run,
};
