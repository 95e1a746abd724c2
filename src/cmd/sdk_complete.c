/* sdk complete - the good end of a phase, a notification or a test. */
#include "cmd/lib/sdk_session.h"

#include <string.h>

static const struct opt opts[] = { { 0 } };

static enum status
run(const struct args *a, struct err *e)
{
    static const char passed[] = "{\"passed\":true,\"message\":\"ready\"}";
    struct sdk_session k;
    const struct json *result = NULL;
    enum status s = sdk_open(&k, e);

    if (!s && k.c.is_gate)
        s = err_set(e, ST_INVALID, "phase %s is a gate: end it with cliq sdk verdict", k.c.phase);
    const char *json = a->n_words ? a->words[0] : NULL;
    if (!s && !json && strcmp(k.msg.type, "test") == 0)
        json = passed;
    if (!s)
        s = sdk_json_arg(&k, json, "the result", false, &result, e);
    if (!s && !(s = sdk_claim(&k, e)))
        s = sdk_settle(&k, context_complete(&k.c, result, e));
    sdk_close(&k);
    return s;
}

const struct cmd cmd_sdk_complete = {
    .name = "sdk complete",
    .words = "[JSON|-|@FILE]",
    .max_words = 1,
    .brief = "end the phase: it is done",
    .about =
        "Appends the complete line, with JSON as its result, and removes the saved message. A\n"
        "summary in it is what people see. A test message is answered\n"
        "{\"passed\":true,\"message\":\"ready\"} unless JSON says otherwise. A second complete,\n"
        "verdict or fail is exit code 5.",
    .examples = "cliq sdk complete\n"
                "cliq sdk complete '{\"summary\":\"3 files changed\"}'\n"
                "cliq sdk complete '{\"passed\":false,\"message\":\"no api_key\"}'",
    .opts = opts,
    .run = run,
};
