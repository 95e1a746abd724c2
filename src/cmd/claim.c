/* claim - a task, by its id or the next one; waits for one when told to. */
#include "base/clock.h"
#include "cmd/hub_follow.h"
#include "cmd/hub_show.h"

#include <signal.h>
#include <string.h>

enum { ROUND_S = 60 }; /* a server waits no longer than this for one request */

static const struct opt opts[] = {
    { "role", OPT_TEXT, "ROLE", "only tasks for this role, which you hold" },
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

struct wait {
    struct hub_call *c;
    struct json *args;
    struct hub_reply reply;
    struct arena scratch; /* of one try, so that waiting long takes no more memory */
    bool is_worth_it;     /* a line came that may have made something claimable */
};

static enum status
nothing(struct err *e)
{
    return err_set(e, ST_NOT_FOUND,
                   "nothing to claim: there is no open task for you (--wait TIME "
                   "waits for one)");
}

/* Only these can make a task that one may claim; looking for nothing else keeps a crowd of
 * waiting workers from the lock. */
static enum status
heard(void *ctx, const struct log_record *rec, bool *is_over, struct err *e)
{
    static const char *const ops[] = { "release", "expire", "retry", "requeue", "fill", "join" };
    struct wait *w = ctx;
    const struct json *op = json_get(rec->json, "op");

    (void)is_over;
    (void)e;
    w->is_worth_it = w->is_worth_it || !op;
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        w->is_worth_it = w->is_worth_it || json_eq(op, ops[i]);
    return ST_OK;
}

static enum status
try_claim(struct wait *w, struct err *e)
{
    struct arena kept = w->c->arena;

    arena_reset(&w->scratch);
    w->c->arena = w->scratch;
    enum status s = hub_call(w->c, HUB_CLAIM, w->args, &w->reply, e);
    w->scratch = w->c->arena;
    w->c->arena = kept;
    return s;
}

static enum status
try_again(void *ctx, bool *is_over, int64_t *wake_ms, struct err *e)
{
    struct wait *w = ctx;
    enum status s = ST_OK;

    if (w->is_worth_it || hub_due_in_ms(w->c->hub) == 0)
        s = try_claim(w, e);
    w->is_worth_it = false;
    *is_over = s || w->reply.data;
    if (!*is_over)
        *wake_ms = hub_due_in_ms(w->c->hub);
    return s;
}

static enum status
wait_on_files(struct wait *w, int64_t wait_ms, struct err *e)
{
    struct hub_follow f = { .call = w->c,
                            .from = LOG_FROM_END,
                            .timeout_ms = wait_ms,
                            .heard = heard,
                            .caught_up = try_again,
                            .ctx = w };
    enum status s = hub_call_files(w->c, "claim --wait", e);

    w->is_worth_it = true;
    if (!s)
        s = hub_follow_run(&f, e);
    return s == ST_TIMEOUT ? nothing(e) : s;
}

static enum status
wait_at_server(struct wait *w, int64_t wait_ms, struct err *e)
{
    int64_t end = clock_mono_ms() + wait_ms, left = wait_ms;
    enum status s = ST_OK;

    while (!s && !w->reply.data && left >= 0) {
        int64_t round = (left + 999) / 1000;
        json_set(w->args, "wait_seconds",
                 json_new_int(&w->c->arena, round < ROUND_S ? round : ROUND_S));
        s = hub_call(w->c, HUB_CLAIM, w->args, &w->reply, e);
        left = end - clock_mono_ms();
        if (left == 0)
            break;
    }
    return s;
}

/* When nobody could be told of the claim, it is given back. */
static enum status
show(struct hub_call *c, const struct json *task, struct err *e)
{
    static const struct hub_column columns[] = {
        { "ID", "id" },
        { "TYPE", "signal_type" },
        { "URGENCY", "urgency" },
        { "FROM", "@from" },
        { "UNTIL", "claim_expires_at" },
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
    struct wait w = { .c = &c };
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
        s = hub_args(&c, a, fields, &w.args, e);
    if (!s && a->n_words)
        s = hub_args_add(&c, w.args, "signal_id", a->words[0], e);
    if (!s)
        s = !wait_ms ? hub_call(&c, HUB_CLAIM, w.args, &w.reply, e)
            : c.url  ? wait_at_server(&w, wait_ms, e)
                     : wait_on_files(&w, wait_ms, e);
    if (!s)
        s = w.reply.data ? show(&c, w.reply.data, e) : nothing(e);
    arena_release(&w.scratch);
    hub_call_end(&c);
    return s;
}

const struct cmd cmd_claim = {
    .name = "claim",
    .words = "[ID]",
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
        "with --wait, nothing came in time; 5: somebody else has it. When the id cannot be\n"
        "printed, the claim is given back.",
    .examples = "cliq claim signal:abc123\n"
                "cliq claim --role reviewer --lease 10m\n"
                "while id=$(cliq claim --role reviewer --wait 60); do review \"$id\" && cliq ack "
                "\"$id\"; done",
    .opts = opts,
    .run = run,
};
