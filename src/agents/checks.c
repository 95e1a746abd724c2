/* checks - a gate's commands. Alone it is the whole gate; before another agent's
 * judgement (payload.checks_only) it only writes the results. */
#include "agents/agent_main.h"
#include "agents/command_agent.h"
#include "cmd/cmd.h"

static enum status
end(struct context *c, const struct command_results *r, struct err *e)
{
    if (r->failed)
        return err_set(e, ST_FAILED, "%s", r->summary.p);
    return context_finalize_summary(c, r->summary.p, e);
}

static enum status
handle(struct context *c, struct err *e)
{
    return command_agent(c, end, e);
}

static enum status
run(const struct args *a, struct err *e)
{
    (void)a;
    return agent_run_at_once(handle, e);
}

const struct cmd cmd_agent_checks = {
    .name = "agent checks",
    .brief = "the built-in agent that judges a gate by its commands",
    .about =
        "Reads an AgentMessage on standard input. Passes when all of payload.commands pass and\n"
        "routes to the first target otherwise. The time limit of a command is its timeout, else "
        "the\n"
        "phase's timeout, else the setting run.command_timeout (2m). It ends before the gate's "
        "own\n"
        "limit, so that a check that hangs is a failed check.",
    .opts = agent_no_opts,
    .run = run,
};
