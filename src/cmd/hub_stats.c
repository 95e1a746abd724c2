/* hub stats - how much there is of what. */
#include "base/json.h"
#include "cmd/lib/hub_call.h"

#include <inttypes.h>
#include <stddef.h>

static const struct opt opts[] = {
    HUB_FILES_OPTS,
    { 0 },
};

#define F(name)                                                                                    \
    {                                                                                              \
#name, offsetof(struct hub_stats, name)                                                    \
    }
static const struct {
    const char *name;
    size_t at;
} figures[] = {
    F(signals),     F(pending),  F(leased),    F(acked),         F(failed),
    F(dead_letter), F(expired),  F(delayed),   F(subscriptions), F(events),
    F(first_seq),   F(last_seq), F(log_bytes), F(index_bytes),   F(bad_lines),
};
#undef F

static enum status
show(struct hub_call *c, const struct args *a, struct err *e)
{
    (void)a;
    struct hub_stats st;
    struct buf out = { 0 };
    enum status s = hub_stats(c->hub.hub, &st, e);

    if (s)
        return s;
    if (c->is_json)
        json_open(&out, '{');
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        uint64_t n = *(const uint64_t *)((const char *)&st + figures[i].at);
        if (c->is_json)
            json_key_int(&out, figures[i].name, (int64_t)n);
        else
            buf_addf(&out, c->is_tty ? "%-14s %12" PRIu64 "\n" : "%s\t%" PRIu64 "\n",
                     figures[i].name, n);
    }
    if (c->is_json) {
        json_close(&out, '}');
        buf_addc(&out, '\n');
    }
    s = cmd_print(&out, e);
    buf_release(&out);
    return s;
}

static enum status
run(const struct args *a, struct err *e)
{
    return hub_run_files("hub stats", show, a, e);
}

const struct cmd cmd_hub_stats = {
    .name = "hub stats",
    .brief = "how many signals of which state, and how large the files are",
    .about =
        "Counts by delivery state, what waits for its time, subscriptions, the numbers of the\n"
        "first and the last line of the log, bytes of the log and of its index, and bad lines, "
        "which\n"
        "have no number and are not among the events: cliq hub check tells them.",
    .examples = "cliq hub stats\n"
                "cliq hub stats --json | jq .dead_letter",
    .opts = opts,
    .run = run,
};
