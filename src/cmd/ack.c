/* ack - acknowledge a signal: it is dealt with. */
#include "cmd/lib/hub_show.h"

/* An ack of a task mostly means that it is done. */
static void
note_open_task(const char *id, const struct json *status)
{
    bool is_begun = json_eq(status, "in_progress");

    if (json_eq(status, "open"))
        cmd_warn("nobody worked on this task, and nobody can claim it now; who means to work on it "
                 "says cliq claim, then cliq done");
    if (is_begun || json_eq(status, "blocked"))
        cmd_warn("the task is still %s; cliq done %s, instead of ack, ends it",
                 is_begun ? "in progress" : "blocked", id);
}

static enum status
ack(struct hub_call *c, const struct args *a, struct err *e)
{
    struct hub_reply reply;
    struct json *args;
    enum status s = hub_args(c, a, hub_held_fields, &args, e);

    if (!s)
        s = hub_args_add(c, args, "signal_id", a->words[0], e);
    if (!s)
        s = hub_call(c, HUB_ACK, args, &reply, e);
    if (!s)
        note_open_task(a->words[0], json_get(reply.data, "task_status"));
    return s ? s : hub_show_one(c, reply.data, hub_state_columns, e);
}

static enum status
run(const struct args *a, struct err *e)
{
    struct hub_call c;
    enum status s = hub_call_begin(&c, a, e);

    if (!s)
        s = ack(&c, a, e);
    hub_call_end(&c);
    return s;
}

const struct cmd cmd_ack = {
    .name = "ack",
    .words = "ID",
    .choose = "tasks",
    .min_words = 1,
    .max_words = 1,
    .brief = "acknowledge a signal: it is dealt with",
    .about =
        "For the holder of a claim, or for anyone whom an unclaimed signal is addressed to. What "
        "is\n"
        "for everyone is acked by its sender; others say cliq inbox --acknowledge ID. The\n"
        "delivery state becomes acked; the task's own status stays (cliq done ID does "
        "both).\n"
        "Again by the same identity is fine; after another identity it is a conflict (exit code "
        "5).\n"
        "\n"
        "Prints the id, the delivery state and the task's status.",
    .examples = "cliq ack signal:abc123",
    .opts = hub_held_opts,
    .run = run,
};
