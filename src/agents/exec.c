/* exec - runs the phase's commands in order and hands their results on. */
#include "agents/agent_main.h"
#include "agents/check_verdict.h"
#include "agents/command_results.h"
#include "cmd/cmd.h"

static enum status
handle(struct context *c, struct err *e)
{
    struct command_results r;
    enum status s = command_results_run(c, &r, e);

    if (!s && c->is_gate)
        s = verdict_from_results(c, &r, e);
    else if (!s && r.escalated)
        s = err_set(e, ST_FAILED, "command %s failed", r.escalated);
    struct json *data = s || c->is_gate ? NULL : command_results_data(c, &r);
    for (size_t i = 0; !s && !c->is_gate && i < c->n_targets; i++)
        s = context_send(c, c->targets[i].name, data, r.text.p, e);
    if (!s && !c->is_gate)
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

const struct cmd cmd_agent_exec = {
    .name = "agent exec",
    .brief = "the built-in agent that runs commands",
    .about =
        "Reads an AgentMessage on standard input. Runs payload.commands in order with sh, two\n"
        "minutes each; a failing command is recorded and the next one runs, unless it says\n"
        "escalate_on_fail. The handoff's data: results, all_passed, total, failed.",
    .opts = agent_no_opts,
    .run = run,
};
