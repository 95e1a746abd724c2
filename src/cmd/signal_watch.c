/* signal watch - broadcasts as they come, by pattern. */
#include "cmd/lib/hub_watch.h"

static const struct opt opts[] = {
    { "all", OPT_FLAG, NULL, "begin with the signals that are there already" },
    HUB_OPTS,
    { 0 },
};

static enum status
run(const struct args *a, struct err *e)
{
    struct hub_call c;
    struct subscription_filter want = { .is_broadcast = true,
                                        .filter.patterns = { a->words, a->n_words },
                                        .has_since = args_has(a, "all") };
    enum status s = hub_call_begin(&c, a, e);

    if (!s)
        s = hub_watch(&c, &want, hub_broadcast_columns, NULL, e);
    hub_call_end(&c);
    return s;
}

const struct cmd cmd_signal_watch = {
    .name = "signal watch",
    .words = "[PATTERN]...",
    .max_words = SIZE_MAX,
    .brief = "print broadcasts as they come",
    .about =
        "Goes on until it is interrupted (exit code 130). With patterns only signals whose type\n"
        "matches one of them: * matches exactly one segment, and stands alone in it. It\n"
        "subscribes to nothing and wakes no agent. With --url it follows a server, over its\n"
        "restarts too, without a gap.",
    .examples = "cliq signal watch\n"
                "cliq signal watch 'build:*:done' 'build:*:failed' --json",
    .opts = opts,
    .run = run,
};
