/* gemini - Gemini CLI, headless: `gemini --output-format stream-json`. */
#define _GNU_SOURCE /* memmem */
#include "agents/cli/cli.h"
#include "agents/cli/cli_journal.h"
#include "agents/model_agent.h"
#include "base/path.h"
#include "cmd/cmd.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * With a base URL, gemini takes its sign-in for that of a gateway and ends with exit code 41,
 * unless its settings name a kind. It reads system settings only when root owns them, and we leave
 * the user's alone. So it gets a home of its own, in run/, unless the user chose a kind.
 */
#define HOME_DIR "gemini"
#define SETTINGS "{\"security\":{\"auth\":{\"selectedType\":\"gemini-api-key\"}}}\n"

/* Tools of cliq's MCP server, where cliq install put it, need no person's word. */
#define POLICY_FILE "gemini-policy.toml"
#define POLICY                                                                                     \
    "[[rule]]\nmcpName = \"cliq\"\ntoolName = \"*\"\ndecision = \"allow\"\npriority = 100\n"

/* Do the user's settings name a kind of sign-in? */
static bool
has_kind(void)
{
    const char *home = getenv("HOME");
    struct buf text = { 0 };
    struct err ignored;
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%s/.gemini/settings.json", home ? home : "");
    bool has = path_read_file(AT_FDCWD, path, &text, &ignored) == ST_OK && text.len &&
               memmem(text.p, text.len, "\"selectedType\"", 14);
    buf_release(&text);
    return has;
}

static void
set_sign_in(struct cli_command *k, const struct cli_request *r)
{
    bool has_url = r->base_url || getenv("GOOGLE_GEMINI_BASE_URL");

    if (!has_url || !(r->api_key || getenv("GEMINI_API_KEY")) || has_kind())
        return;
    cli_file(k, r->c, HOME_DIR "/.gemini/settings.json", SETTINGS);
    cli_env(k, "GEMINI_CLI_HOME", cli_format(k, "%s/run/" HOME_DIR, r->c->state_dir));
}

static void
command(struct cli_command *k, const struct cli_request *r)
{
    const char *mode = model_agent_text(r->c, "permission_mode");

    cli_option(k, "--output-format", "stream-json");
    cli_arg(k, "--skip-trust");
    cli_option(k, "--approval-mode", mode ? mode : "auto_edit");
    cli_option(k, "--model", r->model);
    cli_option(k, r->session ? "--resume" : "--session-id",
               r->session ? r->session : r->new_session);
    cli_file(k, r->c, POLICY_FILE, POLICY);
    cli_option(k, "--policy", cli_format(k, "%s/run/" POLICY_FILE, r->c->state_dir));
    cli_list_option(k, "--allowed-tools", r->c, "allowed_tools");
    cli_args_of(k, r->c, "args");
    cli_env(k, "GEMINI_API_KEY", r->api_key);
    cli_env(k, "GOOGLE_GEMINI_BASE_URL", cli_bare_url(k, r, "/v1beta"));
    set_sign_in(k, r);
}

/* A message comes in pieces, one behind the other. */
static void
message(struct turn *t, const struct json *line)
{
    bool is_first = !*t->message_id;

    if (!json_eq(json_get(line, "role"), "assistant"))
        return;
    turn_piece(t, json_get(line, "content"), is_first);
    memcpy(t->message_id, "open", sizeof "open");
}

/* A policy says no, or the path is none of the project's. */
static bool
is_denial(const struct json *line)
{
    static const char outside[] = "Path not in workspace";
    const struct json *output = json_get(line, "output");

    return json_eq(json_path(line, "error.type"), "policy_violation") ||
           (json_is(output, JSON_STRING) && output->text.len > sizeof outside &&
            !memcmp(output->text.p, outside, sizeof outside - 1));
}

/* The name is in the id: "write_file__c6". */
static void
tool_result(struct turn *t, const struct json *line)
{
    const struct json *id = json_get(line, "tool_id"), *output = json_get(line, "output");
    struct json name = { .type = JSON_STRING };

    if (!json_eq(json_get(line, "status"), "error"))
        return;
    turn_note(t, output ? output : json_path(line, "error.message"));
    if (!is_denial(line) || !json_is(id, JSON_STRING))
        return;
    const char *end = memmem(id->text.p, id->text.len, "__", 2);
    name.text.p = id->text.p;
    name.text.len = end ? (size_t)(end - id->text.p) : id->text.len;
    turn_denied(t, &name);
}

/* What the model thought is paid for as what it said; only the total has it. */
static int64_t
output_tokens(int64_t input, int64_t output, int64_t total)
{
    return total > input + output ? total - input : output;
}

static void
result(struct turn *t, const struct json *line)
{
    const struct json *stats = json_get(line, "stats");
    int64_t input = turn_count(stats, "input_tokens");

    t->usage =
        (struct usage){ .input_tokens = input,
                        .cached_tokens = turn_count(stats, "cached"),
                        .output_tokens = output_tokens(input, turn_count(stats, "output_tokens"),
                                                       turn_count(stats, "total_tokens")),
                        .duration_ms = turn_count(stats, "duration_ms"),
                        .turns = 1 };
    t->has_new_usage = true;
    if (json_eq(json_get(line, "status"), "success"))
        turn_done(t);
    else
        turn_fail_json(t, json_path(line, "error.message"), 0);
}

/* Its result says success also when it ended the turn for such a reason. */
static void
error(struct turn *t, const struct json *line)
{
    const struct json *words = json_get(line, "message");

    if (json_eq(json_get(line, "severity"), "error") ||
        json_eq(words, "Loop detected, stopping execution"))
        turn_stopped(t, words);
    else
        turn_note(t, words);
}

static void
parse(struct turn *t, const struct json *line)
{
    const struct json *type = json_get(line, "type");

    if (json_eq(type, "message")) {
        message(t, line);
        return;
    }
    *t->message_id = '\0';
    if (json_eq(type, "init")) {
        turn_set(t->session, json_get(line, "session_id"));
        turn_set(t->model, json_get(line, "model"));
    } else if (json_eq(type, "tool_use")) {
        turn_tool(t, json_get(line, "tool_name"), json_get(line, "parameters"));
    } else if (json_eq(type, "tool_result")) {
        tool_result(t, line);
    } else if (json_eq(type, "error")) {
        error(t, line);
    } else if (json_eq(type, "result")) {
        result(t, line);
    }
}

/* ~/.gemini/tmp/<project>/chats/session-2026-11-19T22-39-<the id's first eight>.jsonl */
static const char *
journal(struct cli_command *k, const char *session)
{
    const char *home = cli_env_of(k, "GEMINI_CLI_HOME");
    const char *file = cli_format(k, ".gemini/tmp/*/chats/session-*-%.8s.jsonl", session);

    if (!home || !*home)
        home = cli_env_of(k, "HOME");
    return home && file ? cli_journal_pattern(k->arena, home, file) : NULL;
}

/* A message of the model is written again when it has grown. */
static void
journal_line(struct turn *t, const struct json *line)
{
    const struct json *tokens = json_get(line, "tokens");
    char id[128] = "";

    turn_set(id, json_get(line, "id"));
    if (t->is_done || t->is_failed || !json_eq(json_get(line, "type"), "gemini") ||
        !json_is(tokens, JSON_OBJECT) || !*id || strcmp(id, t->counted_id) == 0)
        return;
    memcpy(t->counted_id, id, sizeof id);
    int64_t input = turn_count(tokens, "input");
    t->usage.input_tokens += input;
    t->usage.cached_tokens += turn_count(tokens, "cached");
    t->usage.output_tokens +=
        output_tokens(input, turn_count(tokens, "output"), turn_count(tokens, "total"));
    t->usage.turns = 1;
    t->has_new_usage = true;
}

/* node's stack trace, and the object that the error is: "    at f (file:…) {", "  status: 500", "}"
 */
static bool
is_trace(const struct turn *t, const char *p, size_t n)
{
    bool is_frame = n > 7 && !memcmp(p, "    at ", 7);

    return is_frame ||
           (t->is_in_trace && ((n > 2 && !memcmp(p, "  ", 2)) || (n == 1 && *p == '}')));
}

/* Its message while it tries again: "Attempt 1 failed with status 500. Retrying with backoff... ".
 */
static bool
error_line(struct turn *t, const char *p, size_t n)
{
    static const char attempt[] = "Attempt ";
    bool is_retry = n > sizeof attempt && !memcmp(p, attempt, sizeof attempt - 1) &&
                    memmem(p, n, "failed with status", 18);

    if (is_retry)
        turn_retry(t, p, n, 0, 0);
    t->is_in_trace = is_retry || (t->is_in_trace && is_trace(t, p, n));
    return t->is_in_trace;
}

static void
exited(struct turn *t, int code)
{
    static const struct {
        int code;
        const char *words;
    } table[] = {
        { 41, "it has no sign-in: not logged in" },
        { 42, "it refuses its input" },
        { 52, "its settings are wrong" },
        { 53, "its limit of turns was reached" },
        { 401 % 256, "the API answered 401: unauthorized" },
        { 403 % 256, "the API answered 403: unauthorized" },
        { 429 % 256, "the API answered 429: rate limit" },
    };

    for (size_t i = 0; !t->is_failed && i < sizeof table / sizeof *table; i++)
        if (table[i].code == code)
            turn_fail(t, table[i].words, strlen(table[i].words), 0);
}

const struct cli_vendor cli_gemini = {
    .agent = "gemini",
    .sign_in = "run gemini once and choose how",
    .key_env = "GEMINI_API_KEY",
    .signed_in = ".gemini/oauth_creds.json",
    .command = command,
    .line = parse,
    .journal = journal,
    .journal_line = journal_line,
    .error_line = error_line,
    .exited = exited,
};

static enum status
run(const struct args *a, struct err *e)
{
    (void)a;
    return cli_agent_run(&cli_gemini, e);
}

const struct cmd cmd_agent_gemini = {
    .name = "agent gemini",
    .brief = "the built-in agent that drives Gemini CLI",
    .about =
        "Reads an AgentMessage on standard input, and runs `gemini` headless with the phase's\n"
        "prompt in the working directory. Progress and tokens are reported while it works; the "
        "raw\n"
        "stream is in run/logs/<phase>.<n>.raw. A phase that is sent back continues its\n"
        "conversation.\n"
        "\n"
        "Fields of the phase: model, args, permission_mode (auto_edit: it edits files; yolo: it\n"
        "also runs commands), allowed_tools. Settings agents.gemini.*: the same for all phases, "
        "and\n"
        "api_key, base_url, binary. Without api_key its own sign-in is used, or GEMINI_API_KEY.",
    .opts = agent_no_opts,
    .run = run,
};
