/* inbox - what is for a role or an identity, and what one has done about it oneself. */
#include "cmd/lib/hub_list.h"

#include <stdio.h>
#include <string.h>

static const struct opt opts[] = {
    { "view", OPT_TEXT, "VIEW", "now (the default), recent, history or stale" },
    HUB_LIST_OPTS,
    { "receipt-state", OPT_TEXT, "STATE", "unread, acknowledged, resolved or snoozed" },
    { "include-snoozed", OPT_FLAG, NULL, "also what is snoozed" },
    { "include-resolved", OPT_FLAG, NULL, "also what is resolved" },
    { "acknowledge", OPT_TEXT, "ID", "mark this signal as seen, for yourself" },
    { "resolve", OPT_TEXT, "ID", "mark this signal as settled, for yourself" },
    { "snooze", OPT_TEXT, "ID", "hide this signal for yourself until --until" },
    { "unsnooze", OPT_TEXT, "ID", "show this signal again" },
    { "until", OPT_TEXT, "WHEN", "+30m, ms since 1970, or 2026-12-24T08:00:00Z" },
    HUB_OPTS,
    { 0 },
};

static const struct hub_field fields[] = {
    HUB_LIST_FIELDS,
    { "view", "view", HF_TEXT },
    { "receipt-state", "receipt_state", HF_TEXT },
    { "include-snoozed", "include_snoozed", HF_FLAG },
    { "include-resolved", "include_resolved", HF_FLAG },
    { 0 },
};

static const struct hub_field until[] = { { "until", "until", HF_WHEN }, { 0 } };

static const struct {
    const char *opt;
    enum hub_op op;
} acts[] = {
    { "acknowledge", HUB_INBOX_ACKNOWLEDGE },
    { "resolve", HUB_INBOX_RESOLVE },
    { "snooze", HUB_INBOX_SNOOZE },
    { "unsnooze", HUB_INBOX_UNSNOOZE },
};
enum { ACTS = sizeof acts / sizeof *acts };

/* The one thing to do with a signal; ACTS: none, the inbox is shown. */
static enum status
find_act(const struct args *a, size_t *act, struct err *e)
{
    *act = ACTS;
    for (size_t i = 0; i < ACTS; i++) {
        if (!args_has(a, acts[i].opt))
            continue;
        if (*act < ACTS)
            return err_set(e, ST_INVALID, "choose one of --%s and --%s", acts[*act].opt,
                           acts[i].opt);
        *act = i;
    }
    bool is_snooze = *act < ACTS && acts[*act].op == HUB_INBOX_SNOOZE;
    if (*act < ACTS && a->n_words)
        return err_set(e, ST_INVALID, "--%s is about your own inbox: leave \"%s\" away",
                       acts[*act].opt, a->words[0]);
    if (is_snooze && !args_has(a, "until"))
        return err_set(e, ST_INVALID, "--snooze needs --until WHEN, like --until +2h");
    if (!is_snooze && args_has(a, "until"))
        return err_set(e, ST_INVALID, "--until is for --snooze ID");
    for (const struct hub_field *f = fields; *act < ACTS && f->opt; f++)
        if (args_has(a, f->opt))
            return err_set(e, ST_INVALID, "--%s filters what is shown: leave it away with --%s",
                           f->opt, acts[*act].opt);
    return ST_OK;
}

static enum status
do_act(struct hub_call *c, const struct args *a, size_t act, struct err *e)
{
    static const struct hub_column columns[] = { { "ID", "signal_id" },
                                                 { "RECEIPT", "receipt_state" },
                                                 { "UNTIL", "@time:snoozed_until" },
                                                 { 0 } };
    struct hub_reply reply;
    struct json *args;
    enum status s = hub_args(c, a, until, &args, e);

    if (!s)
        s = hub_args_add(c, args, "signal_id", args_text(a, acts[act].opt), e);
    if (!s)
        s = hub_call(c, acts[act].op, args, &reply, e);
    return s ? s : hub_show_one(c, reply.data, columns, e);
}

/* Behind one's own inbox: tasks that anybody may claim, which no inbox has. */
static enum status
show_open(struct hub_call *c, struct err *e)
{
    struct json *args = json_new(&c->hub.arena, JSON_OBJECT);
    struct hub_reply reply;

    if (!args || !json_set(args, "open_to_anyone", json_new(&c->hub.arena, JSON_TRUE)))
        return err_nomem(e);
    enum status s = hub_call(c, HUB_LIST, args, &reply, e);
    if (s || !json_first(reply.data))
        return s;
    if (c->is_tty) {
        struct buf head = { 0 };
        buf_adds(&head, "\nOpen to anyone (cliq claim ID):\n");
        s = cmd_print(&head, e);
        buf_release(&head);
        return s ? s : hub_show_list(c, reply.data, hub_signal_columns, e);
    }
    fprintf(stderr,
            "cliq: %zu%s open task%s addressed to nobody: cliq signal list --open-to-anyone\n",
            reply.data->kids.count, reply.cursor ? " or more" : "",
            reply.data->kids.count == 1 ? " is" : "s are");
    return ST_OK;
}

static enum status
show(struct hub_call *c, const struct args *a, struct err *e)
{
    struct json *args;
    const char *target = a->n_words ? a->words[0] : "@"; /* one's own: at a server, the key's */
    enum status s = hub_args(c, a, fields, &args, e);

    if (!s)
        s = hub_args_add(c, args, "target", target, e);
    bool is_plain = !a->n_words && !json_get(args, "view") && !json_get(args, "type");
    if (!s)
        s = hub_list(c, HUB_INBOX, args, args_has(a, "all"), e);
    return s || !is_plain || c->is_json ? s : show_open(c, e);
}

static enum status
run(const struct args *a, struct err *e)
{
    struct hub_call c;
    size_t act;
    enum status s = find_act(a, &act, e);

    if (s)
        return s;
    s = hub_call_begin(&c, a, e);
    if (!s)
        s = act < ACTS ? do_act(&c, a, act, e) : show(&c, a, e);
    hub_call_end(&c);
    return s;
}

const struct cmd cmd_inbox = {
    .name = "inbox",
    .words = "[ROLE|@IDENTITY]",
    .choose = "roles",
    .max_words = 1,
    .brief = "what is for a role or an identity; without one, for you",
    .about =
        "An identity's inbox has what is addressed to it, to its roles and to its rings, and what\n"
        "its subscriptions match. Views: now is what is not dealt with, the most urgent first;\n"
        "recent the last 24 hours; history everything; stale what is unresolved for 72 hours.\n"
        "\n"
        "Behind your own inbox stand the open tasks that are addressed to nobody.\n"
        "\n"
        "Acknowledging, resolving and snoozing are yours alone: nobody else sees a difference.\n"
        "Dealing with a signal for everyone is cliq claim and cliq ack.",
    .examples = "cliq inbox\n"
                "cliq inbox reviewer --min-urgency 0.7 --type task\n"
                "cliq inbox @ruby --view history --all --json\n"
                "cliq inbox --snooze signal:abc123 --until +2h",
    .opts = opts,
    .run = run,
};
