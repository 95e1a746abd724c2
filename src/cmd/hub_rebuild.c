/* hub rebuild - the index again, from the log. */
#include "cmd/lib/hub_call.h"

#include <inttypes.h>

static const struct opt opts[] = {
    HUB_FILES_OPTS,
    { 0 },
};

static enum status
rebuild(struct hub_call *c, const struct args *a, struct err *e)
{
    (void)a;
    struct hub_stats st;
    struct buf out = { 0 };
    enum status s = hub_rebuild(c->hub.hub, e);

    if (!s)
        s = hub_stats(c->hub.hub, &st, e);
    if (s)
        return s;
    buf_addf(&out,
             c->is_json ? "{\"events\":%" PRIu64 ",\"signals\":%" PRIu64 "}\n"
                        : "%" PRIu64 " events, %" PRIu64 " signals\n",
             st.events, st.signals);
    s = cmd_print(&out, e);
    buf_release(&out);
    return s;
}

static enum status
run(const struct args *a, struct err *e)
{
    return hub_run_files("hub rebuild", rebuild, a, e);
}

const struct cmd cmd_hub_rebuild = {
    .name = "hub rebuild",
    .brief = "make the hub's index again from its log",
    .about =
        "The log is the truth; the index is a view of it, and may be deleted at any time. Others\n"
        "may go on meanwhile: they wait for their turn (4 s with a million signals), and are told "
        "so\n"
        "when that takes longer than 10 s.",
    .examples = "cliq hub rebuild",
    .opts = opts,
    .run = run,
};
