/* hub compact - drops what is old. */
#include "cmd/lib/hub_call.h"

#include <inttypes.h>

static const struct opt opts[] = {
    { "older-than", OPT_TIME, "TIME", "drop what is older: 720h; without it nothing is dropped" },
    HUB_FILES_OPTS,
    { 0 },
};

static enum status
compact(struct hub_call *c, const struct args *a, struct err *e)
{
    uint64_t bytes = 0;
    struct buf out = { 0 };
    enum status s = args_has(a, "older-than")
                        ? hub_compact(c->hub.hub, args_ms(a, "older-than", 0), &bytes, e)
                        : ST_OK;

    if (s)
        return s;
    if (c->is_json)
        buf_addf(&out, "{\"dropped_bytes\":%" PRIu64 "}\n", bytes);
    else
        buf_addf(&out, "%" PRIu64 " bytes dropped%s\n", bytes,
                 bytes || !args_has(a, "older-than")
                     ? ""
                     : ": there is no finished segment that is old enough and not needed any more");
    s = cmd_print(&out, e);
    buf_release(&out);
    return s;
}

static enum status
run(const struct args *a, struct err *e)
{
    return hub_run_files("hub compact", compact, a, e);
}

const struct cmd cmd_hub_compact = {
    .name = "hub compact",
    .brief = "drop old segments of the hub's log",
    .about =
        "Only finished segments (of 256 MiB) in which everything is older and that nothing needs\n"
        "any more: no task and no addressed signal that was not acked, no key of a request "
        "that\n"
        "may be retried (for 24 h), no subscription. Such a segment stays, and all after it; so\n"
        "does the newest finished one. "
        "Of\n"
        "what goes, identities, roles, rings, keys and schedules are kept, in\n"
        "events-kept-<number>.jsonl. The index is made anew, which takes as long as hub rebuild.\n"
        "Streams that ask for what is gone are told so by an event: reset.",
    .examples = "cliq hub compact --older-than 720h",
    .opts = opts,
    .run = run,
};
