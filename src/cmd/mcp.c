/* mcp - the tools of cliq for any agent that speaks the Model Context Protocol. */
#define _GNU_SOURCE
#include "cmd/cmd.h"
#include "mcp/stdio.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

static const struct opt opts[] = {
    { "as", OPT_TEXT, "IDENTITY", "who the agent is; see below for what holds without it" },
    { 0 },
};

/* Standard output carries only the protocol: whatever else prints, prints to standard error. */
static enum status
run(const struct args *a, struct err *e)
{
    struct mcp_stdio_options o = { .identity = args_text(a, "as"), .in = STDIN_FILENO };

    o.out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    if (o.out < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        return err_sys(e, "keep standard output for the protocol");
    signal(SIGPIPE, SIG_IGN);
    enum status s = mcp_stdio_run(&o, e);
    close(o.out);
    return s;
}

const struct cmd cmd_mcp = {
    .name = "mcp",
    .brief = "the tools of cliq for agents, over the Model Context Protocol",
    .about =
        "An MCP server on standard input and output, for Claude Code, Codex, Gemini CLI, Cursor,\n"
        "opencode and any other client. It speaks the handshake revisions 2025-06-18 and\n"
        "2025-11-25, and 2026-07-28, whichever a request is made in. It ends with its input.\n"
        "\n"
        "Tools: generate_signal, signal_subscribe, signal_unsubscribe; emit, inbox, claim, ack,\n"
        "fail, thread; room_post, room_read; pipeline_status, handoff, review; lease. Their\n"
        "arguments are those of the HTTP interface (/openapi.json), and what is wrong with one is\n"
        "told to the model. ack with task_status done ends a task. claim with wait_seconds waits\n"
        "for a task, can be cancelled, and tells progress.\n"
        "\n"
        "Resources: inbox://IDENTITY, room://ROOM and handoff://PROJECT/FROM--TO, with\n"
        "notifications when they change. Prompts: inbox, handoff.\n"
        "\n"
        "Without a server it works on the files, like every command. With CLIQ_URL and CLIQ_KEY\n"
        "signals go to that server, and the key says who the agent is; rooms, pipelines, handoffs\n"
        "and reviews are the files here.\n"
        "\n"
        "Who the agent is: --as, else CLIQ_IDENTITY, else the phase that cliq run started it for,\n"
        "else the client's name and the directory's, like codex-shop.\n"
        "\n"
        "cliq serve answers POST /mcp with the same tools, and subscriptions/listen with a stream\n"
        "of changes: a key needs for each tool the scope of its route, audit to read the project,\n"
        "emit for room_post and review.\n"
        "\n"
        "cliq install --client CLIENT registers it, with hooks where the client has them. By "
        "hand:\n"
        "  Claude Code  claude mcp add cliq -- cliq mcp\n"
        "  Codex        codex mcp add cliq -- cliq mcp\n"
        "  Gemini CLI   gemini mcp add cliq cliq mcp",
    .examples = "cliq install --client claude\n"
                "claude mcp add cliq -- cliq mcp --as ruby\n"
                "codex mcp add cliq -- cliq mcp",
    .opts = opts,
    .run = run,
};
