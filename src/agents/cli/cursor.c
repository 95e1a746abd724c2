/*
 * cursor - Cursor's agent: over the Agent Client Protocol (`agent acp`) where the program has it,
 * because then its writes and permissions come to us; else headless: `agent -p --output-format
 * stream-json`. `args` and `sandbox` are options of the headless way, and choose it.
 */
#include "agents/acp/acp.h"
#include "agents/cli/cli.h"
#include "agents/model_agent.h"
#include "cmd/cmd.h"
#include "proc/child.h"

#include <string.h>

enum {
    ARGUMENT_MAX = 100 << 10, /* the kernel's limit of one argument is 128 KiB */
    HELP_MAX = 64 << 10,
    HELP_MS = 20 * 1000,
    KILL_MS = 2000,
};

/* ---- over the Agent Client Protocol ---- */

/* Is "acp" the first word of a line? */
static bool
lists_acp(const char *help)
{
    for (const char *p = help; p && *p; p += *p == '\n') {
        p += strspn(p, " \t");
        if (strncmp(p, "acp", 3) == 0 && strchr(" \t\r\n|[", p[3])) /* the end of the text, too */
            return true;
        p += strcspn(p, "\n");
    }
    return false;
}

/* Older programs would take the word acp for a prompt: so the help is asked. */
static bool
speaks_acp(const char *binary)
{
    const char *const argv[] = { binary, "--help", NULL };
    struct child child = { 0 };
    struct err ignored;
    enum status s = child_run(&child,
                              &(struct child_spec){ .proc = { .argv = argv, .is_group = true },
                                                    .keep = HELP_MAX,
                                                    .limit_ms = HELP_MS,
                                                    .kill_ms = KILL_MS },
                              &ignored);
    bool does = !s && child_exit_code(&child) == 0 && lists_acp(child.output.p);

    child_release(&child);
    return does;
}

static bool
over_acp(struct context *c, const char *binary, enum status *s, struct err *e)
{
    const char *const argv[] = { binary, "acp", NULL };

    if (model_agent_option(c, "args") || model_agent_option(c, "sandbox") || !speaks_acp(binary))
        return false;
    *s = acp_work(c, argv, e);
    return true;
}

/* ---- headless ---- */

/* The prompt is an argument; a longer one is a file that the argument names. */
static const char *
prompt(struct cli_command *k, const struct cli_request *r)
{
    struct err ignored;
    size_t n = strlen(r->prompt);

    if (n <= ARGUMENT_MAX)
        return r->prompt;
    if (context_write_file((struct context *)r->c, "prompt.md", r->prompt, n, &ignored)) {
        k->is_over = true;
        return NULL;
    }
    return cli_format(k,
                      "Your task is in the file %s/files/%s/prompt.md. Read all of it, and do "
                      "what it says.",
                      r->c->state_dir, r->c->phase);
}

static void
command(struct cli_command *k, const struct cli_request *r)
{
    cli_arg(k, "-p");
    cli_option(k, "--output-format", "stream-json");
    cli_arg(k, "--force"); /* else it only proposes changes */
    cli_option(k, "--sandbox", model_agent_text(r->c, "sandbox"));
    cli_option(k, "--model", r->model);
    cli_option(k, "--resume", r->session);
    cli_args_of(k, r->c, "args");
    cli_arg(k, prompt(k, r));
    cli_env(k, "CURSOR_API_KEY", r->api_key);
}

/* {"writeToolCall":{"args":{"path":"a.c"},"result":{"success":{}}}}: "write a.c" */
static void
tool_call(struct turn *t, const struct json *call, bool is_end)
{
    static const char suffix[] = "ToolCall";
    const struct json *one = json_first(call);
    struct json name = { .type = JSON_STRING };

    if (!one)
        return;
    name.text.p = one->key;
    name.text.len = one->key_len;
    if (name.text.len > sizeof suffix - 1 &&
        !memcmp(name.text.p + name.text.len - (sizeof suffix - 1), suffix, sizeof suffix - 1))
        name.text.len -= sizeof suffix - 1;
    if (!is_end)
        turn_tool(t, &name, json_get(one, "args"));
    else if (json_path(one, "result.rejected") || json_path(one, "result.permissionDenied"))
        turn_denied(t, &name);
}

static void
result(struct turn *t, const struct json *line)
{
    const struct json *usage = json_get(line, "usage"), *words = json_get(line, "result");
    bool is_error = false;

    t->usage = (struct usage){ .input_tokens = turn_count(usage, "inputTokens"),
                               .output_tokens = turn_count(usage, "outputTokens"),
                               .cached_tokens = turn_count(usage, "cacheReadTokens"),
                               .duration_ms = turn_count(line, "duration_ms") };
    t->usage.input_tokens += t->usage.cached_tokens;
    t->has_new_usage = !usage_is_zero(&t->usage); /* older versions tell none */
    json_bool(json_get(line, "is_error"), &is_error);
    if (is_error || !json_eq(json_get(line, "subtype"), "success")) {
        turn_fail_json(t, words ? words : json_get(line, "subtype"), 0);
        return;
    }
    if (!t->answer.len) /* it repeats all messages, one behind the other */
        turn_answer(t, words);
    turn_done(t);
}

static void
parse(struct turn *t, const struct json *line)
{
    const struct json *type = json_get(line, "type");

    turn_set(t->session, json_get(line, "session_id"));
    if (json_eq(type, "system")) {
        turn_set(t->model, json_get(line, "model"));
    } else if (json_eq(type, "assistant")) {
        json_each (part, json_path(line, "message.content"))
            turn_text(t, json_get(part, "text"));
    } else if (json_eq(type, "tool_call")) {
        tool_call(t, json_get(line, "tool_call"), json_eq(json_get(line, "subtype"), "completed"));
    } else if (json_eq(type, "result")) {
        result(t, line);
    }
}

const struct cli_vendor cli_cursor = {
    .agent = "cursor",
    .sign_in = "run agent login",
    .key_env = "CURSOR_API_KEY",
    .signed_in = ".config/cursor/auth.json",
    .command = command,
    .line = parse,
    .instead = over_acp,
    .is_prompt_in_args = true,
};

static enum status
run(const struct args *a, struct err *e)
{
    (void)a;
    return cli_agent_run(&cli_cursor, e);
}

const struct cmd cmd_agent_cursor = {
    .name = "agent cursor",
    .brief = "the built-in agent that drives Cursor's agent",
    .about =
        "Reads an AgentMessage on standard input, and runs Cursor's agent (or cursor-agent) with "
        "the\n"
        "phase's prompt in the working directory: `agent acp` where its help lists acp, else\n"
        "`agent -p`. Over acp its writes and permissions come to cliq, as cliq agent acp --help\n"
        "says. The fields args and sandbox choose `agent -p`. The raw stream is in\n"
        "run/logs/<phase>.<n>.raw. A phase that is sent back continues its conversation.\n"
        "\n"
        "Fields of the phase: model, permissions, reviewer, args, sandbox. Settings\n"
        "agents.cursor.*: the same for all phases, and api_key, binary. Without api_key its own\n"
        "sign-in is used, or CURSOR_API_KEY.",
    .opts = agent_no_opts,
    .run = run,
};
