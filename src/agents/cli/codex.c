/* codex - OpenAI Codex, headless: `codex exec --json`. */
#define _GNU_SOURCE /* strptime */
#include "agents/cli/cli.h"
#include "agents/cli/cli_journal.h"
#include "agents/model_agent.h"
#include "cmd/cmd.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The name of the provider that a base_url makes. */
#define PROVIDER "cliq"

/* The variable that holds the key: the setting's goes into OPENAI_API_KEY. NULL: there is none. */
static const char *
key_env(const struct cli_request *r)
{
    return r->api_key || getenv("OPENAI_API_KEY") ? "OPENAI_API_KEY"
           : getenv("CODEX_API_KEY")              ? "CODEX_API_KEY"
                                                  : NULL;
}

/* OPENAI_BASE_URL is ignored by codex; a provider of our own takes a URL. */
static void
set_provider(struct cli_command *k, const struct cli_request *r)
{
    const char *env = key_env(r), *url = cli_openai_url(k, r);

    if (!url)
        return;
    cli_option(k, "-c", "model_provider=\"" PROVIDER "\"");
    if (strpbrk(url, "\"\\\n")) /* no URL: it fails with the program's words */
        return;
    cli_option(k, "-c",
               cli_format(k,
                          "model_providers." PROVIDER "={name=\"" PROVIDER "\",base_url=\"%s\","
                          "wire_api=\"responses\"%s%s%s}",
                          url, env ? ",env_key=\"" : "", env ? env : "", env ? "\"" : ""));
}

static void
command(struct cli_command *k, const struct cli_request *r)
{
    const char *sandbox = model_agent_text(r->c, "sandbox");

    cli_arg(k, "exec");
    cli_arg(k, "--json");
    cli_arg(k, "--skip-git-repo-check");
    cli_option(k, "-s", sandbox ? sandbox : "workspace-write");
    cli_option(k, "-m", r->model);
    set_provider(k, r);
    cli_args_of(k, r->c, "args");
    cli_option(k, r->session ? "resume" : NULL, r->session);
    cli_arg(k, "-"); /* the prompt is on standard input */
    cli_env(k, "OPENAI_API_KEY", r->api_key);
    cli_env(k, "CODEX_API_KEY", r->api_key);
}

static void
file_change(struct turn *t, const struct json *item)
{
    json_each (change, json_get(item, "changes")) {
        const struct json *kind = json_get(change, "kind");
        turn_tool(t, kind, change); /* "add src/a.c" */
    }
}

static void
command_execution(struct turn *t, const struct json *item, bool is_end)
{
    static const struct json shell = { .type = JSON_STRING, .text = { "$", 1 } };
    static const struct json denied = { .type = JSON_STRING, .text = { "a command", 9 } };
    int64_t code = 0;

    if (!is_end)
        turn_tool(t, &shell, item);
    else if (json_eq(json_get(item, "status"), "declined"))
        turn_denied(t, &denied);
    else if (json_int(json_get(item, "exit_code"), &code) && code != 0)
        turn_say(t, "that ended with exit code %d", (int)code);
}

static void
item(struct turn *t, const struct json *v, bool is_end)
{
    const struct json *type = json_get(v, "type"), *text = json_get(v, "text");

    if (json_eq(type, "command_execution"))
        command_execution(t, v, is_end);
    else if (json_eq(type, "agent_message") && is_end)
        turn_text(t, text);
    else if (json_eq(type, "reasoning") && is_end && json_is(text, JSON_STRING))
        turn_say(t, "thinks: %.*s", (int)(text->text.len < 800 ? text->text.len : 800),
                 text->text.p);
    else if (json_eq(type, "file_change") && is_end)
        file_change(t, v);
    else if (json_eq(type, "mcp_tool_call") && !is_end)
        turn_tool(t, json_get(v, "tool"), json_get(v, "arguments"));
    else if (json_eq(type, "web_search") && is_end)
        turn_tool(t, type, v);
    else if (json_eq(type, "error") && is_end) /* harmless: it goes on */
        turn_note(t, json_get(v, "message"));
}

/* For a continued thread the sums are those of the whole thread. */
static void
count_usage(struct turn *t, const struct json *v)
{
    t->usage.input_tokens = turn_count(v, "input_tokens");
    t->usage.cached_tokens = turn_count(v, "cached_input_tokens");
    t->usage.written_tokens = turn_count(v, "cache_write_input_tokens");
    t->usage.output_tokens = turn_count(v, "output_tokens");
    t->usage.turns = 1;
    t->has_new_usage = true;
}

int64_t
codex_resets_s(const char *words, int64_t now_s)
{
    static const char again[] = "try again at ";
    const char *at = strstr(words, again), *end;
    time_t now = (time_t)now_s;
    struct tm tm;

    if (!at || !localtime_r(&now, &tm))
        return 0;
    at += sizeof again - 1;
    end = strptime(at, "%b %d", &tm); /* "Nov 20th, 2026 1:23 AM" */
    if (end && strlen(end) > 2)
        at = strptime(end + 2, ", %Y ", &tm);
    if (!at || !strptime(at, "%I:%M %p", &tm))
        return 0;
    tm.tm_sec = 59; /* of that minute */
    tm.tm_isdst = -1;
    return (int64_t)mktime(&tm);
}

/* Fails the turn; a usage limit tells until when. */
static void
fail(struct turn *t, const struct json *message)
{
    const char *words = t->arena ? json_dup_text(t->arena, message) : NULL;

    turn_fail_json(t, message, 0);
    if (words && t->trouble == TROUBLE_RATE)
        t->resets_s = codex_resets_s(words, (int64_t)time(NULL));
}

static void
error(struct turn *t, const struct json *message)
{
    static const char again[] = "Reconnecting...";

    if (!json_is(message, JSON_STRING))
        return;
    if (message->text.len > sizeof again && !memcmp(message->text.p, again, sizeof again - 1))
        turn_retry(t, message->text.p, message->text.len, 0, 0);
    else
        fail(t, message);
}

static void
parse(struct turn *t, const struct json *line)
{
    const struct json *type = json_get(line, "type");

    if (json_eq(type, "thread.started")) {
        turn_set(t->session, json_get(line, "thread_id"));
    } else if (json_eq(type, "item.started")) {
        item(t, json_get(line, "item"), false);
    } else if (json_eq(type, "item.completed")) {
        item(t, json_get(line, "item"), true);
    } else if (json_eq(type, "turn.completed")) {
        count_usage(t, json_get(line, "usage"));
        turn_done(t);
    } else if (json_eq(type, "turn.failed")) {
        fail(t, json_path(line, "error.message"));
    } else if (json_eq(type, "error")) {
        error(t, json_get(line, "message"));
    }
}

/* CODEX_HOME/sessions/2026/11/19/rollout-2026-11-19T22-30-59-<thread id>.jsonl */
static const char *
journal(struct cli_command *k, const char *session)
{
    const char *home = cli_env_of(k, "CODEX_HOME");

    if (!home || !*home)
        home = cli_format(k, "%s/.codex", cli_env_of(k, "HOME"));
    const char *file = cli_format(k, "sessions/*/*/*/rollout-*-%s.jsonl", session);
    return home && file ? cli_journal_pattern(k->arena, home, file) : NULL;
}

/* The model that codex chose, and the usage of the thread after each answer. */
static void
journal_line(struct turn *t, const struct json *line)
{
    const struct json *payload = json_get(line, "payload");
    const struct json *total = json_path(payload, "info.total_token_usage");

    if (json_eq(json_get(line, "type"), "turn_context")) {
        turn_set(t->model, json_get(payload, "model"));
        t->has_new_usage = !usage_is_zero(&t->usage); /* its price is known now */
    } else if (!t->is_done && json_eq(json_get(payload, "type"), "token_count") &&
               json_is(total, JSON_OBJECT)) {
        count_usage(t, total);
    }
}

const struct cli_vendor cli_codex = {
    .agent = "codex",
    .sign_in = "run codex login",
    .key_env = "OPENAI_API_KEY",
    .signed_in = ".codex/auth.json",
    .command = command,
    .line = parse,
    .journal = journal,
    .journal_line = journal_line,
    .is_thread_total = true,
};

static enum status
run(const struct args *a, struct err *e)
{
    (void)a;
    return cli_agent_run(&cli_codex, e);
}

const struct cmd cmd_agent_codex = {
    .name = "agent codex",
    .brief = "the built-in agent that drives OpenAI Codex",
    .about =
        "Reads an AgentMessage on standard input, and runs `codex exec` with the phase's prompt "
        "in\n"
        "the working directory. Progress and tokens are reported while it works; the raw stream "
        "is\n"
        "in run/logs/<phase>.<n>.raw. A phase that is sent back continues its conversation.\n"
        "\n"
        "Fields of the phase: model, args, sandbox (workspace-write: it writes in the working\n"
        "directory only). Settings agents.codex.*: the same for all phases, and api_key, base_url\n"
        "(it ends in /v1), binary. Without api_key its own sign-in is used, or OPENAI_API_KEY or\n"
        "CODEX_API_KEY.",
    .opts = agent_no_opts,
    .run = run,
};
