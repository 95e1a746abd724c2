/* checks - a gate's commands. Alone it is the whole gate; before another agent's
 * judgement (payload.checks_only) it only writes the results. */
#include "agents/agent_main.h"
#include "agents/check_verdict.h"
#include "agents/command_results.h"
#include "cmd/cmd.h"

static enum status
handle(struct context *c, struct err *e)
{
    struct command_results r;
    bool is_only = false;
    enum status s = command_results_run(c, &r, e);

    json_bool(json_get(c->dispatch, "checks_only"), &is_only);
    if (!s && is_only)
        s = context_complete(c, command_results_data(c, &r), e);
    else if (!s && c->is_gate)
        s = verdict_from_results(c, &r, e);
    else if (!s && r.failed)
        s = err_set(e, ST_FAILED, "%zu of %zu checks failed", r.failed, r.total);
    else if (!s)
        s = context_finalize_standard(c, e);
    command_results_release(&r);
    return s;
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
        "routes to the first target otherwise.",
    .opts = agent_no_opts,
    .run = run,
};
