/* acp - drives any agent that speaks the Agent Client Protocol (agentclientprotocol.com). */
#include "agents/acp/acp.h"

#include "agents/acp/acp_command.h"
#include "agents/acp/acp_session.h"
#include "agents/agent_main.h"
#include "agents/model_agent.h"
#include "cmd/cmd.h"

static enum status
ask(void *ctx, const char *prompt, struct buf *answer, struct err *e)
{
    struct acp_session *session = ctx;
    int64_t wait_ms = 0;
    enum status s;

    do {
        s = acp_session_prompt(session, prompt, answer, e);
    } while (s == ST_FAILED && session->trouble == TROUBLE_RATE &&
             model_trouble_wait(session->c, 0, &wait_ms, e));
    return s;
}

enum status
acp_work(struct context *c, const char *const *argv, struct err *e)
{
    struct acp_session session = { 0 };
    enum status s = acp_session_open(&session, c, argv, e);

    if (!s)
        s = model_agent_work(c, &(struct model_driver){ ask, &session }, e);
    acp_session_close(&session);
    return s;
}

static enum status
handle(struct context *c, struct err *e)
{
    const char *const *argv;
    enum status s = acp_command(c, &argv, e);

    return s ? s : acp_work(c, argv, e);
}

static enum status
test(struct context *c, struct buf *says, struct err *e)
{
    const char *const *argv;
    enum status s = acp_command(c, &argv, e);

    return s ? s : acp_session_test(c, argv, says, e);
}

static enum status
run(const struct args *a, struct err *e)
{
    (void)a;
    return agent_serve(&(struct agent_handlers){ .phase = handle, .test = test }, e);
}

const struct cmd cmd_agent_acp = {
    .name = "agent acp",
    .brief = "the built-in agent that drives agents over the Agent Client Protocol",
    .about =
        "Reads an AgentMessage on standard input. Starts the phase's command, an agent that "
        "speaks\n"
        "the Agent Client Protocol (version 1) on its standard input and output, and gives it the\n"
        "phase's prompt. Its last words are the text of the handoff, their last fenced json block\n"
        "the data; at a gate the block is the verdict.\n"
        "\n"
        "The phase's fields:\n"
        "  command      the program: \"goose acp\", or a list of words. No shell runs it. Without "
        "it\n"
        "               the setting agents.<name>.acp; named agents (cliq team info --agents) "
        "have\n"
        "               one\n"
        "  args         a list of further words\n"
        "  permissions  read: it may look only. edit (the default): files inside the working\n"
        "               directory, and commands. all: everything. ask: a person decides about "
        "each\n"
        "               edit and command, in the hub\n"
        "  reviewer     ask: the role, or the @identity, that is asked; without it you\n"
        "  model        as the agent names it, if it lets us choose\n"
        "\n"
        "What the agent sends is kept, as it came, in run/logs/<phase>.<n>.raw (cliq log PHASE "
        "--raw).\n"
        "\n"
        "Settings agents.<name>.*: model, permissions, reviewer, args; of agents of whom cliq "
        "knows\n"
        "the variable of their key (cliq team info --agents NAME), api_key.\n"
        "\n"
        "A question is a task in the hub. Answer it with\n"
        "  cliq emit answer allow --parent ID        (or reject, and why)\n"
        "\n"
        "Files that the agent writes through the protocol are written by cliq: inside the working\n"
        "directory only (unless permissions are all), and through no symbolic link there. "
        "Commands\n"
        "that it runs through the protocol's terminals are run by cliq. An agent that writes and\n"
        "runs by itself, or does not ask, is held back by its own settings only.",
    .opts = agent_no_opts,
    .run = run,
};
