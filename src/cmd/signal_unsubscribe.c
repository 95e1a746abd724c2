/* signal unsubscribe - ends a subscription. */
#include "cmd/lib/hub_show.h"

static const struct opt opts[] = {
    { "agent", OPT_TEXT, "IDENTITY", "for this identity instead of yourself" },
    HUB_OPTS,
    { 0 },
};

static const struct hub_field fields[] = { { "agent", "agentId", HF_TEXT }, { 0 } };

static enum status
run(const struct args *a, struct err *e)
{
    static const struct hub_column columns[] = { { "AGENT", "agentId" },
                                                 { "PATTERN", "pattern" },
                                                 { 0 } };
    struct hub_call c;
    struct hub_reply reply;
    struct json *args;
    enum status s = hub_call_begin(&c, a, e);

    if (!s)
        s = hub_args(&c, a, fields, &args, e);
    if (!s)
        s = hub_args_add(&c, args, "pattern", a->words[0], e);
    if (!s)
        s = hub_call(&c, HUB_UNSUBSCRIBE, args, &reply, e);
    if (!s && !json_is(json_get(reply.data, "removed"), JSON_TRUE))
        s = err_set(e, ST_NOT_FOUND,
                    "no subscription to exactly \"%s\"; cliq signal subscriptions lists them",
                    a->words[0]);
    if (!s)
        s = hub_show_one(&c, reply.data, columns, e);
    hub_call_end(&c);
    return s;
}

const struct cmd cmd_signal_unsubscribe = {
    .name = "signal unsubscribe",
    .words = "PATTERN",
    .min_words = 1,
    .max_words = 1,
    .brief = "end a subscription",
    .about = "PATTERN is exactly the one that was subscribed to. What it brought and was not yet\n"
             "read is gone from the inbox. Exit code 4: there is no such subscription.",
    .examples = "cliq signal unsubscribe 'build:*:done'",
    .opts = opts,
    .run = run,
};
