/* team - the agent of team phases. It is no program: the run of the phase runs the team as well,
 * with its own loop (run/subrun.h). What is here answers whoever asks for it by its name. */
#include "agents/agent_main.h"
#include "cmd/cmd.h"

static enum status
handle(struct context *c, struct err *e)
{
    (void)c;
    return err_set(e, ST_FAILED,
                   "cliq run itself runs the team of a phase of type: team; no other program can");
}

static enum status
run(const struct args *a, struct err *e)
{
    (void)a;
    return agent_run_at_once(handle, e);
}

const struct cmd cmd_agent_team = {
    .name = "agent team",
    .brief = "the built-in agent of team phases",
    .about =
        "A phase of type: team runs a whole team: phases, gates and all, in .cliq/frames/PHASE/. "
        "The\n"
        "run does that itself, without another process, so this command answers tests only.\n"
        "\n"
        "team: ./teams/NAME is a team in the directory of this one, @scope/NAME an installed one.\n"
        "inputs: gives its inputs; roles/PHASE.md is its requirement. The handoff has the data of "
        "its\n"
        "last phases (outputs.PHASE) and their texts.",
    .opts = agent_no_opts,
    .run = run,
};
