/* sdk notify - asks the orchestrator to tell somebody. */
#include "cmd/lib/sdk_session.h"

static const struct opt opts[] = { { 0 } };

static enum status
run(const struct args *a, struct err *e)
{
    struct sdk_session k;
    const struct json *payload = NULL;
    enum status s = sdk_open(&k, e);

    if (!s && a->n_words > 2)
        s = sdk_json_arg(&k, a->words[2], "the payload", true, &payload, e);
    if (!s)
        s = context_notify(&k.c, a->words[0], a->words[1], payload, e);
    sdk_close(&k);
    return s;
}

const struct cmd cmd_sdk_notify = {
    .name = "sdk notify",
    .words = "EVENT AGENT[:CHANNEL] [JSON|-|@FILE]",
    .min_words = 2,
    .max_words = 3,
    .brief = "ask for a notification of EVENT by slack:oncall, email:ops, ...",
    .about = "Appends a notify line to the phase's signals. The orchestrator hands EVENT and the\n"
             "payload to the agent that is named, at once.",
    .examples = "cliq sdk notify budget_exceeded slack:oncall '{\"spent\":120}'",
    .opts = opts,
    .run = run,
};
