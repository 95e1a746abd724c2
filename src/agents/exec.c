/* exec - runs the phase's commands in order and hands their results on. */
#include "agents/agent_main.h"
#include "agents/command_agent.h"
#include "cmd/cmd.h"

static enum status
end(struct context *c, const struct command_results *r, struct err *e)
{
    struct json *data = command_results_data(c, r);
    enum status s = ST_OK;

    if (r->escalated)
        return err_set(e, ST_FAILED, "command %s", r->escalated);
    for (size_t i = 0; !s && i < c->n_targets; i++)
        s = context_send(c, c->targets[i].name, data, r->text.p, e);
    return s ? s : context_finalize_summary(c, r->summary.p, e);
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

const struct cmd cmd_agent_exec = {
    .name = "agent exec",
    .brief = "the built-in agent that runs commands",
    .about =
        "Reads an AgentMessage on standard input. Runs payload.commands in order with sh. The "
        "time\n"
        "limit of a command is its timeout, else the phase's timeout, else the setting\n"
        "run.command_timeout (2m). A failing command is recorded and the next one runs, unless it\n"
        "says escalate_on_fail. The handoff's data: results, all_passed, total, failed.",
    .opts = agent_no_opts,
    .run = run,
};
