/* cursor - Cursor's agent, headless: `agent -p --output-format stream-json`. */
#include "agents/cli/cli.h"
#include "agents/model_agent.h"
#include "cmd/cmd.h"

#include <string.h>

enum { ARGUMENT_MAX = 100 << 10 }; /* the kernel's limit of one argument is 128 KiB */

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
    .install = "https://cursor.com/cli",
    .sign_in = "run agent login",
    .key_env = "CURSOR_API_KEY",
    .signed_in = ".config/cursor/auth.json",
    .command = command,
    .line = parse,
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
        "Reads an AgentMessage on standard input, and runs `agent -p` (or cursor-agent) with the\n"
        "phase's prompt in the working directory. Progress is reported while it works, and tokens\n"
        "when the program tells them; the raw stream is in run/logs/<phase>.<n>.raw. A phase that\n"
        "is sent back continues its conversation.\n"
        "\n"
        "Fields of the phase: model, args, sandbox. Settings agents.cursor.*: api_key, model, "
        "args,\n"
        "binary. Without api_key its own sign-in is used, or CURSOR_API_KEY.",
    .opts = agent_no_opts,
    .run = run,
};
