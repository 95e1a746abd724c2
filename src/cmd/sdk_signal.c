/* sdk signal - a named signal: signals/<phase>_<name>.json. */
#include "cmd/lib/sdk_session.h"

static const struct opt opts[] = { { 0 } };

static enum status
run(const struct args *a, struct err *e)
{
    struct sdk_session k;
    const struct json *payload;
    enum status s = sdk_open(&k, e);

    if (!s)
        s = sdk_json_arg(&k, a->words[1], "the payload", false, &payload, e);
    if (!s)
        s = context_signal(&k.c, a->words[0], payload, e);
    sdk_close(&k);
    return s;
}

const struct cmd cmd_sdk_signal = {
    .name = "sdk signal",
    .words = "NAME JSON|-|@FILE",
    .min_words = 2,
    .max_words = 2,
    .brief = "write the signal file signals/<phase>_<name>.json",
    .about =
        "For what other tools look at: the file is replaced as a whole, so that they see the old\n"
        "or the new one. The name is of A-Z a-z 0-9 . _ -; command_results and routed are "
        "reserved.",
    .examples = "cliq sdk signal coverage '{\"lines\":94.2}'",
    .opts = opts,
    .run = run,
};
