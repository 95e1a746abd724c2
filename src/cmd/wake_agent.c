/* _wake - the supervisor of an agent that signals wake (wake/wake_supervisor.h). */
#include "base/path.h"
#include "cmd/cmd.h"
#include "wake/wake_supervisor.h"

static const struct opt opts[] = { { 0 } };

static enum status
run(const struct args *a, struct err *e)
{
    struct buf config = { 0 };
    enum status s = path_config(&config, e);

    if (!s)
        s = wake_supervisor_run(config.p, a->words[0], e);
    buf_release(&config);
    return s;
}

const struct cmd cmd_wake_agent = {
    .name = "_wake",
    .words = "ID",
    .min_words = 1,
    .max_words = 1,
    .brief = "start the agent of an identity with the signals that wait for it",
    .about =
        "Commands that write signals start it. It ends when no signals wait, and at once when\n"
        "another supervisor runs.",
    .opts = opts,
    .is_hidden = true,
    .run = run,
};
