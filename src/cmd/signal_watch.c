/* signal watch - broadcasts as they come, by pattern. */
#include "cmd/lib/hub_show.h"
#include "cmd/lib/hub_watch.h"
#include "cmd/lib/message_show.h"

static const struct opt opts[] = {
    { "all", OPT_FLAG, NULL, "begin with the signals that are there already" },
    HUB_OPTS,
    { 0 },
};

static void
show_signal(void *ctx, struct buf *out, const struct json *signal)
{
    static const char *const keys[] = { "@time:createdAt", "type", "@source", "id", "data" };
    const struct hub_call *c = ctx;

    if (c->is_json) {
        show_json(out, signal, c->is_tty);
    } else {
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
            buf_adds(out, i == 0 ? "" : c->is_tty ? "  " : "\t");
            hub_show_cell(out, signal, keys[i]);
        }
    }
    buf_addc(out, '\n');
}

static enum status
run(const struct args *a, struct err *e)
{
    struct hub_call c;
    struct subscription_filter want = { .is_broadcast = true,
                                        .filter.patterns = { a->words, a->n_words },
                                        .has_since = args_has(a, "all") };
    enum status s = hub_call_begin(&c, a, e);

    if (!s)
        s = hub_watch(&c, &want, show_signal, &c, e);
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
        "subscribes to nothing and wakes nobody. With --url it follows a server, over its\n"
        "restarts too, without a gap.",
    .examples = "cliq signal watch\n"
                "cliq signal watch 'build:*:done' 'build:*:failed' --json",
    .opts = opts,
    .run = run,
};
