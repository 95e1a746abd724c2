/* hub compact - drops what retention allows. */
#include "cmd/hub_call.h"

#include <inttypes.h>

static const struct opt opts[] = {
    HUB_OPTS,
    { 0 },
};

static enum status
compact(struct hub_call *c, struct err *e)
{
    uint64_t bytes = 0;
    struct buf out = { 0 };
    enum status s = hub_compact(c->door.hub, &bytes, e);

    if (s)
        return s;
    buf_addf(&out, c->is_json ? "{\"dropped_bytes\":%" PRIu64 "}\n" : "%" PRIu64 " bytes dropped\n",
             bytes);
    s = cmd_print(&out, e);
    buf_release(&out);
    return s;
}

static enum status
run(const struct args *a, struct err *e)
{
    struct hub_call c;
    enum status s = hub_call_begin(&c, a, e);

    if (!s)
        s = hub_call_files(&c, "hub compact", e);
    if (!s)
        s = compact(&c, e);
    hub_call_end(&c);
    return s;
}

const struct cmd cmd_hub_compact = {
    .name = "hub compact",
    .brief = "drop old segments of the hub's log",
    .about = "Only finished segments that are older than the retention and that nothing needs any\n"
             "more. Without a retention everything is kept, and nothing is dropped.",
    .examples = "cliq hub compact",
    .opts = opts,
    .run = run,
};
