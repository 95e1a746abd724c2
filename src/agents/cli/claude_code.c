/* claude-code - Claude Code, headless: `claude -p --output-format stream-json`. */
#include "agents/cli/cli.h"
#include "agents/model_agent.h"
#include "cmd/cmd.h"

#include <string.h>

static void
command(struct cli_command *k, const struct cli_request *r)
{
    const char *mode = model_agent_text(r->c, "permission_mode");

    cli_arg(k, "-p");
    cli_option(k, "--output-format", "stream-json");
    cli_arg(k, "--verbose");
    cli_option(k, r->session ? "--resume" : "--session-id",
               r->session ? r->session : r->new_session);
    cli_option(k, "--permission-mode", mode ? mode : "acceptEdits");
    cli_option(k, "--model", r->model);
    cli_option(k, "--max-turns", model_agent_text(r->c, "max_turns"));
    cli_option(k, "--allowedTools",
               "mcp__cliq"); /* where cliq install put it: nobody can be asked */
    cli_list_option(k, "--allowedTools", r->c, "allowed_tools");
    cli_args_of(k, r->c, "args");
    cli_env(k, "ANTHROPIC_API_KEY", r->api_key);
    cli_env(k, "ANTHROPIC_BASE_URL", cli_bare_url(k, r, "/v1"));
    cli_env(k, "DISABLE_AUTOUPDATER", "1");
    /* A server of one's own: nothing goes elsewhere. */
    cli_env(k, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", r->base_url ? "1" : NULL);
}

/* Its input_tokens are without those from the cache. */
static void
add_usage(struct usage *u, const struct json *v)
{
    int64_t cached = turn_count(v, "cache_read_input_tokens");
    int64_t written = turn_count(v, "cache_creation_input_tokens");

    u->input_tokens += turn_count(v, "input_tokens") + written + cached;
    u->cached_tokens += cached;
    u->written_tokens += written;
    u->output_tokens += turn_count(v, "output_tokens");
}

/* A message comes in several events; each repeats its usage. */
static void
count_message(struct turn *t, const struct json *message)
{
    char id[128] = "";

    turn_set(id, json_get(message, "id"));
    if (!*id || strcmp(id, t->message_id) == 0)
        return;
    memcpy(t->message_id, id, sizeof id);
    add_usage(&t->usage, json_get(message, "usage"));
    t->usage.turns++;
    t->has_new_usage = true;
}

static void
assistant(struct turn *t, const struct json *line)
{
    const struct json *message = json_get(line, "message");
    const struct json *parent = json_get(line, "parent_tool_use_id");
    bool is_helper = json_is(parent, JSON_STRING); /* a subagent */

    if (json_eq(json_get(message, "model"), "<synthetic>"))
        return; /* an error's words; the result has them, too */
    count_message(t, message);
    json_each (part, json_get(message, "content")) {
        const struct json *type = json_get(part, "type"), *text = json_get(part, "text");
        if (json_eq(type, "tool_use"))
            turn_tool(t, json_get(part, "name"), json_get(part, "input"));
        else if (json_eq(type, "text") && !is_helper)
            turn_text(t, text);
        else if (json_eq(type, "thinking") &&
                 json_is(text = json_get(part, "thinking"), JSON_STRING))
            turn_say(t, "thinks: %.*s", (int)(text->text.len < 800 ? text->text.len : 800),
                     text->text.p);
    }
}

static void
result(struct turn *t, const struct json *line)
{
    const struct json *subtype = json_get(line, "subtype"), *text = json_get(line, "result");
    const struct json *errors = json_first(json_get(line, "errors"));
    bool is_error = false;

    t->usage = (struct usage){ .turns = turn_count(line, "num_turns"),
                               .duration_ms = turn_count(line, "duration_ms") };
    add_usage(&t->usage, json_get(line, "usage"));
    t->usage.has_cost =
        t->usage.input_tokens && json_double(json_get(line, "total_cost_usd"), &t->usage.cost_usd);
    t->has_new_usage = true;
    json_each (denial, json_get(line, "permission_denials"))
        turn_denied(t, json_get(denial, "tool_name"));
    json_bool(json_get(line, "is_error"), &is_error); /* subtype says "success" then, too */
    if (is_error || !json_eq(subtype, "success")) {
        turn_fail_json(t,
                       text     ? text
                       : errors ? errors
                                : subtype,
                       turn_count(line, "api_error_status"));
        return;
    }
    turn_answer(t, text);
    turn_done(t);
}

static void
rate_limit(struct turn *t, const struct json *info)
{
    if (!json_eq(json_get(info, "status"), "rejected"))
        return;
    t->resets_s = turn_count(info, "resetsAt");
    turn_say(t, "rate limit: the vendor refuses more for now");
}

static void
parse(struct turn *t, const struct json *line)
{
    const struct json *type = json_get(line, "type"), *subtype = json_get(line, "subtype");

    turn_set(t->session, json_get(line, "session_id"));
    if (json_eq(type, "system") && json_eq(subtype, "init")) {
        turn_set(t->model, json_get(line, "model"));
    } else if (json_eq(type, "system") && json_eq(subtype, "api_retry")) {
        char why[128] = "unknown";
        turn_set(why, json_get(line, "error"));
        turn_retry(t, why, strlen(why), turn_count(line, "error_status"),
                   turn_count(line, "retry_delay_ms"));
    } else if (json_eq(type, "assistant")) {
        assistant(t, line);
    } else if (json_eq(type, "rate_limit_event")) {
        rate_limit(t, json_get(line, "rate_limit_info"));
    } else if (json_eq(type, "result")) {
        result(t, line);
    }
}

const struct cli_vendor cli_claude_code = {
    .agent = "claude-code",
    .sign_in = "run claude once and type /login",
    .key_env = "ANTHROPIC_API_KEY",
    .signed_in = ".claude/.credentials.json",
    .command = command,
    .line = parse,
    .is_cost_total = true,
};

static enum status
run(const struct args *a, struct err *e)
{
    (void)a;
    return cli_agent_run(&cli_claude_code, e);
}

const struct cmd cmd_agent_claude_code = {
    .name = "agent claude-code",
    .brief = "the built-in agent that drives Claude Code",
    .about =
        "Reads an AgentMessage on standard input, and runs `claude -p` with the phase's prompt\n"
        "in the working directory. Progress, tokens and cost are reported while it works; the\n"
        "raw stream is in run/logs/<phase>.<n>.raw. A phase that is sent back continues its\n"
        "conversation.\n"
        "\n"
        "Fields of the phase: model, args, permission_mode (acceptEdits: it edits files without\n"
        "asking, other tools only when allowed), allowed_tools, max_turns. Settings\n"
        "agents.claude-code.*: the same for all phases, and api_key, base_url, binary. Without\n"
        "api_key its own sign-in is used, or ANTHROPIC_API_KEY.",
    .opts = agent_no_opts,
    .run = run,
};
