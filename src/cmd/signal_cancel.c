/* signal cancel - takes back what waits for its time. */
#include "cmd/hub_show.h"

static const struct opt opts[] = {
    { "repeat-key", OPT_TEXT, "KEY", "all that wait under this key" },
    { "type", OPT_TEXT, "TYPE", "of those only the one of this type" },
    HUB_OPTS,
    { 0 },
};

static const struct hub_field fields[] = {
    { "repeat-key", "repeatKey", HF_TEXT },
    { "type", "type", HF_TEXT },
    { 0 },
};

static enum status
run(const struct args *a, struct err *e)
{
    struct hub_call c;
    struct hub_reply reply;
    struct json *args;
    int64_t n = 0;

    if (!a->n_words && !args_has(a, "repeat-key"))
        return err_set(e, ST_INVALID,
                       "which one? Give its id or --repeat-key KEY; cliq signal "
                       "delayed lists them");
    enum status s = hub_call_begin(&c, a, e);
    if (!s)
        s = hub_args(&c, a, fields, &args, e);
    if (!s && a->n_words)
        s = hub_args_add(&c, args, "id", a->words[0], e);
    if (!s)
        s = hub_call(&c, HUB_CANCEL, args, &reply, e);
    if (!s && (!json_int(json_get(reply.data, "removed"), &n) || n == 0))
        s = err_set(e, ST_NOT_FOUND,
                    "no such signal waits; cliq signal delayed lists those that do");
    if (!s)
        s = hub_show_text(&c, json_get(reply.data, "removed"), reply.data, e);
    hub_call_end(&c);
    return s;
}

const struct cmd cmd_signal_cancel = {
    .name = "signal cancel",
    .words = "[ID]",
    .max_words = 1,
    .brief = "cancel what was scheduled, by id or key",
    .about = "Prints how many it were. Exit code 4: none.",
    .examples = "cliq signal cancel abc123\n"
                "cliq signal cancel --repeat-key daily",
    .opts = opts,
    .run = run,
};
