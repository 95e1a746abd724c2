/* signal pump - does what is due, and nothing else. */
#include "cmd/lib/hub_call.h"
#include "run/sleeping.h"

#include <inttypes.h>

static const struct opt opts[] = {
    HUB_FILES_OPTS,
    { 0 },
};

static enum status
pump(struct hub_call *c, const struct args *a, struct err *e)
{
    (void)a;
    struct hub_stats before, after;
    struct buf out = { 0 };
    enum status s = hub_stats(c->hub.hub, &before, e);

    if (!s) {
        hub_submit(c->hub.hub, NULL, 0, &c->hub.arena, NULL);
        s = hub_stats(c->hub.hub, &after, e);
    }
    if (s)
        return s;
    if (hub_due_in_ms(c->hub.hub) == 0)
        return err_set(e, ST_IO, "what is due could not be written; cliq hub check tells more");
    sleeping_alarm_start(c->hub.config);
    uint64_t n = before.delayed > after.delayed ? before.delayed - after.delayed : 0;
    buf_addf(&out,
             c->is_json ? "{\"delivered\":%" PRIu64 ",\"delayed\":%" PRIu64 "}\n" : "%" PRIu64 "\n",
             n, after.delayed);
    s = cmd_print(&out, e);
    buf_release(&out);
    return s;
}

static enum status
run(const struct args *a, struct err *e)
{
    return hub_run_files("signal pump", pump, a, e);
}

const struct cmd cmd_signal_pump = {
    .name = "signal pump",
    .brief = "deliver the delayed signals that are due",
    .about =
        "For cron or a timer, where no server runs and no other command writes. Also ends\n"
        "leases that are over, brings failed tasks back whose time has come, and starts agents\n"
        "for which signals wait, and the alarm of runs that sleep. Prints how many signals were "
        "delivered.",
    .examples = "cliq signal pump",
    .opts = opts,
    .run = run,
};
