/* sdk fail - the bad end: it must work when little else does. */
#include "cmd/lib/sdk_session.h"

static const struct opt opts[] = {
    { "if-open", OPT_FLAG, NULL, "do nothing when the phase has ended already" },
    { 0 },
};

static enum status
run(const struct args *a, struct err *e)
{
    struct sdk_session k;
    struct buf text = { 0 };
    enum status s = sdk_open(&k, e);

    if (s && k.c.signal_dir >= 0)
        s = ST_OK; /* the frame is broken, but its signals can be written */
    if (!s)
        s = sdk_text_arg(a->words[0], "the text", &text, e);
    if (!s && !(s = sdk_claim(&k, e)))
        s = sdk_settle(&k, context_fail(&k.c, text.p, e));
    if (!s)
        sdk_say(&k, text.p);
    if (s == ST_CONFLICT && args_has(a, "if-open"))
        s = ST_OK;
    buf_release(&text);
    sdk_close(&k);
    return s;
}

const struct cmd cmd_sdk_fail = {
    .name = "sdk fail",
    .words = "TEXT|-",
    .min_words = 1,
    .max_words = 1,
    .brief = "end the phase: it failed, and why",
    .about =
        "Appends the error line, says it on standard error and removes the saved message. The\n"
        "script should exit 1 then. A second complete, verdict or fail is exit code 5.",
    .examples = "cliq sdk fail \"api_key is not set\"",
    .opts = opts,
    .run = run,
};
