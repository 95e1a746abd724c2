/* claim - a task, by its id or the next one; waits for one when told to. */
#include "cmd/lib/hub_show.h"
#include "cmd/lib/interrupt.h"

#include <signal.h>

static const struct opt opts[] = {
    { "role", OPT_TEXT, "ROLE", "only tasks for this role, which you hold", .choose = "roles" },
    { "type", OPT_TEXT, "TYPE", "only tasks of this type; may be repeated", .is_many = true },
    { "wait", OPT_TIME, "TIME", "wait so long for one" },
    { "lease", OPT_TIME, "TIME", "how long you have before it is given to others; default 300 s" },
    HUB_OPTS,
    { 0 },
};

static const struct hub_field fields[] = {
    { "role", "role", HF_TEXT },
    { "type", "types", HF_TEXTS },
    { "lease", "lease_seconds", HF_SECONDS },
    { 0 },
};

static enum status
nothing(int64_t waited_ms, struct err *e)
{
    return err_set(e, ST_NOT_FOUND, "nothing to claim: there is no open task for you%s",
                   waited_ms > 0 ? ", and none came" : " (--wait TIME waits for one)");
}

static enum status
wait_for(struct hub_call *c, struct arena *answer, struct json *args, int64_t wait_ms,
         struct hub_reply *reply, struct err *e)
{
    struct cancel stop;
    enum status s = interrupt_begin(&stop, e);

    c->hub.cancel = &stop;
    if (!s)
        s = hubclient_claim(&c->hub, answer, args, wait_ms, reply, e);
    c->hub.cancel = NULL;
    return interrupt_end(&stop, s, e);
}

/* Releases a claim whose id could not be printed. */
static enum status
show(struct hub_call *c, const struct json *task, struct err *e)
{
    static const struct hub_column columns[] = {
        { "ID", "id" },
        { "TYPE", "signal_type" },
        { "URGENCY", "urgency" },
        { "FROM", "@from" },
        { "UNTIL", "@time:claim_expires_at" },
        { "CONTENT", "content" },
        { 0 },
    };
    struct hub_reply reply;
    struct json *args;

    signal(SIGPIPE, SIG_IGN);
    enum status s = c->is_tty ? hub_show_one(c, task, columns, e)
                              : hub_show_text(c, json_get(task, "id"), task, e);
    if (s && !hub_args(c, NULL, NULL, &args, NULL)) {
        hub_args_add(c, args, "signal_id", hub_text(c, json_get(task, "id")), NULL);
        hub_args_add(c, args, "claim_id", hub_text(c, json_get(task, "claim_id")), NULL);
        hub_call(c, HUB_RELEASE, args, &reply, NULL);
    }
    return s;
}

static enum status
run(const struct args *a, struct err *e)
{
    struct hub_call c;
    struct arena answer = { 0 };
    struct hub_reply reply = { 0 };
    struct json *args;
    int64_t wait_ms = args_ms(a, "wait", 0);
    enum status s = ST_OK;

    if (a->n_words)
        for (size_t i = 0; !s && i < 3; i++)
            if (args_has(a, opts[i].name))
                s = err_set(e, ST_INVALID, "--%s chooses among tasks: leave it away, or the id",
                            opts[i].name);
    if (s)
        return s;
    s = hub_call_begin(&c, a, e);
    if (!s)
        s = hub_args(&c, a, fields, &args, e);
    if (!s && a->n_words)
        s = hub_args_add(&c, args, "signal_id", a->words[0], e);
    if (!s && (!wait_ms || args_has(a, "role"))) /* a wrong role is told before the wait */
        s = hub_call(&c, HUB_CLAIM, args, &reply, e);
    if (!s && !reply.data && wait_ms)
        s = wait_for(&c, &answer, args, wait_ms, &reply, e);
    if (!s)
        s = reply.data ? show(&c, reply.data, e) : nothing(wait_ms, e);
    arena_release(&answer);
    hub_call_end(&c);
    return s;
}

const struct cmd cmd_claim = {
    .name = "claim",
    .words = "[ID]",
    .choose = "open tasks",
    .max_words = 1,
    .brief = "claim a task, or the next one, and print its id",
    .about =
        "Exactly one of all who try gets a task. Without ID it is the most urgent, and of equally\n"
        "urgent ones the oldest, that is for you, your roles or your rings, or for everyone; with\n"
        "--role, one for that role. The task is yours until the lease ends: extend it with cliq\n"
        "extend, end it with cliq ack, cliq fail or cliq release. A lease that ends gives the "
        "task\n"
        "to others.\n"
        "\n"
        "Prints the id; --json the whole task and its claim_id. Exit code 4: nothing to claim, "
        "or,\n"
        "with --wait, nothing came in time; 5: another identity holds it. When the id cannot be\n"
        "printed, the claim is given back.",
    .examples = "cliq claim signal:abc123\n"
                "cliq claim --role reviewer --lease 10m\n"
                "while id=$(cliq claim --role reviewer --wait 60); do review \"$id\" && cliq ack "
                "\"$id\"; done",
    .opts = opts,
    .run = run,
};
