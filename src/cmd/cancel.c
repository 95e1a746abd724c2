/* cancel - ends the active run. */
#include "agents/review/review_task.h"
#include "cmd/cmd.h"
#include "run/run.h"

#include <stdio.h>

static const struct opt opts[] = { { 0 } };

/* Agents have 10 s to end by themselves: a person who waits learns what for. */
static void
say_wait(const char *what)
{
    fprintf(stderr, "cliq: waiting for %s; SIGKILL comes 10 s after SIGTERM\n", what);
}

static enum status
run(const struct args *a, struct err *e)
{
    struct state_dir f = { .dir = -1 };
    struct buf out = { 0 };
    struct run_cancelled c;
    enum status s = state_dir_find(&f, e);

    (void)a;
    if (!s)
        s = run_cancel(&f, say_wait, &c, e);
    if (!s) {
        review_task_cancel_all(&f, "hug");
        if (c.is_unwritten)
            cmd_warn("everything is stopped, but the journal cannot tell: %s; cliq run --force "
                     "starts anew",
                     c.why.text);
        buf_addf(&out, "%s\n", c.was_active ? run_status_name(c.end) : "nothing was running");
        s = cmd_print(&out, e);
    }
    state_dir_close(&f);
    buf_release(&out);
    return s;
}

const struct cmd cmd_cancel = {
    .name = "cancel",
    .brief = "end the active run",
    .about =
        "Every process of every agent is stopped (SIGTERM, then SIGKILL after 10 seconds) and\n"
        "CANCELLED is written to .cliq/signals/_pipeline_status. When cliq run itself was killed,\n"
        "the agents it left behind are stopped all the same. Neither the workflow nor the journal\n"
        "of the run need be readable for that.",
    .examples = "cliq cancel",
    .opts = opts,
    .run = run,
};
