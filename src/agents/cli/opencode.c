/* opencode - opencode, headless: `opencode run --format json`. */
#define _GNU_SOURCE /* memmem */
#include "agents/cli/cli.h"
#include "agents/model_agent.h"
#include "cmd/cmd.h"

#include <stdlib.h>
#include <string.h>

/* The provider that a base_url makes, and the variable that holds its key. */
#define PROVIDER "cliq"
#define KEY_ENV  "CLIQ_OPENCODE_KEY"
enum { CUTS_MAX = 5 }; /* streams cut in a row: it would try for ever */

/* A configuration for the process: goes behind the user's. The key is only named in it. */
static const char *
config(struct cli_command *k, const struct cli_request *r)
{
    struct buf b = { 0 };
    size_t n = r->model ? strcspn(r->model, "/") : 0;

    buf_adds(&b, "{\"provider\":{");
    if (r->base_url) {
        buf_adds(&b, "\"" PROVIDER "\":{\"npm\":\"@ai-sdk/openai-compatible\",\"name\":\"" PROVIDER
                     "\",\"options\":{\"baseURL\":");
        const char *url = cli_openai_url(k, r);
        json_write_str(&b, url ? url : "", url ? strlen(url) : 0);
        buf_addf(&b, "%s},\"models\":{", r->api_key ? ",\"apiKey\":\"{env:" KEY_ENV "}\"" : "");
        json_write_str(&b, r->model ? r->model : "default",
                       strlen(r->model ? r->model : "default"));
        buf_adds(&b, ":{}}}");
    } else {
        json_write_str(&b, r->model, n);
        buf_adds(&b, ":{\"options\":{\"apiKey\":\"{env:" KEY_ENV "}\"}}");
    }
    buf_adds(&b, "}}");
    const char *text = buf_failed(&b) ? NULL : arena_dup(k->arena, b.p, b.len);
    k->is_over = k->is_over || !text;
    buf_release(&b);
    return text;
}

static void
command(struct cli_command *k, const struct cli_request *r)
{
    bool has_provider = r->model && strchr(r->model, '/');

    cli_arg(k, "run");
    cli_option(k, "--format", "json");
    cli_arg(k,
            "--print-logs"); /* its stream says nothing of errors that it handles by trying again */
    cli_option(k, "--log-level", "ERROR");
    if (r->base_url)
        cli_option(k, "--model", cli_format(k, PROVIDER "/%s", r->model ? r->model : "default"));
    else
        cli_option(k, "--model", r->model);
    cli_option(k, "--session", r->session);
    cli_args_of(k, r->c, "args");
    if (r->base_url || (r->api_key && has_provider))
        cli_env(k, "OPENCODE_CONFIG_CONTENT", config(k, r));
    cli_env(k, KEY_ENV, r->api_key);
    cli_env(k, "OPENCODE_DISABLE_AUTOUPDATE", "1");
    /* A server of one's own: nothing goes elsewhere. The list of models is not asked for. */
    cli_env(k, "OPENCODE_DISABLE_MODELS_FETCH", r->base_url ? "1" : NULL);
}

static void
tool(struct turn *t, const struct json *part)
{
    const struct json *state = json_get(part, "state"), *error = json_get(state, "error");

    turn_tool(t, json_get(part, "tool"), json_get(state, "input"));
    if (!json_eq(json_get(state, "status"), "error") || !json_is(error, JSON_STRING))
        return;
    if (memmem(error->text.p, error->text.len, "rejected permission", 19) ||
        memmem(error->text.p, error->text.len, "prevents you from using", 23))
        turn_denied(t, json_get(part, "tool"));
    else
        turn_note(t, error);
}

static void
text(struct turn *t, const struct json *part)
{
    bool is_synthetic = false;
    char id[128] = "";

    json_bool(json_get(part, "synthetic"), &is_synthetic);
    if (is_synthetic)
        return;
    turn_set(id, json_get(part, "messageID"));
    turn_piece(t, json_get(part, "text"), strcmp(id, t->message_id) != 0);
    memcpy(t->message_id, id, sizeof id);
}

static void
step_finish(struct turn *t, const struct json *part)
{
    const struct json *tokens = json_get(part, "tokens"), *reason = json_get(part, "reason");
    int64_t cached = turn_count(tokens, "cache.read");
    int64_t written = turn_count(tokens, "cache.write");
    double cost = 0;

    t->usage.input_tokens += turn_count(tokens, "input") + written + cached;
    t->usage.cached_tokens += cached;
    t->usage.written_tokens += written;
    t->usage.output_tokens += turn_count(tokens, "output") + turn_count(tokens, "reasoning");
    t->usage.turns++;
    if (json_double(json_get(part, "cost"), &cost) && cost > 0) { /* 0: it does not know */
        t->usage.cost_usd += cost;
        t->usage.has_cost = true;
    }
    t->has_new_usage = true;
    t->n_retries = 0;
    if (!json_eq(reason, "tool-calls"))
        turn_done(t);
}

/* A step that begins behind one that did not finish: its stream was cut. */
static void
step_start(struct turn *t)
{
    static const char cut[] = "the stream of the model's answer was cut";

    t->is_done = false;
    if (t->n_retries == 0) {
        t->n_retries = 1; /* the first try */
        return;
    }
    turn_retry(t, cut, sizeof cut - 1, 0, 0);
    if (t->n_retries > CUTS_MAX) {
        turn_fail(t, cut, sizeof cut - 1, 0);
        t->is_hopeless = true;
    }
}

static void
parse(struct turn *t, const struct json *line)
{
    const struct json *type = json_get(line, "type"), *part = json_get(line, "part");

    turn_set(t->session, json_get(line, "sessionID"));
    if (json_eq(type, "step_start")) {
        step_start(t);
    } else if (json_eq(type, "text")) {
        text(t, part);
    } else if (json_eq(type, "tool_use")) {
        tool(t, part);
    } else if (json_eq(type, "step_finish")) {
        step_finish(t, part);
    } else if (json_eq(type, "error")) {
        const struct json *words = json_path(line, "error.data.message");
        turn_fail_json(t, words ? words : json_path(line, "error.name"),
                       turn_count(line, "error.data.statusCode"));
    }
}

/* … level=ERROR … message="stream error" … small=false … error.error="AI_APICallError: Too Many
 * Requests": the model's answer failed, and opencode tries again, or its stream says why not. */
static bool
error_line(struct turn *t, const char *p, size_t n)
{
    static const char message[] = "message=\"stream error\"", words[] = " error.error=\"";
    const char *from = memmem(p, n, words, sizeof words - 1);

    if (!memmem(p, n, message, sizeof message - 1) || !from)
        return false;
    if (memmem(p, n, " small=true", 11)) /* a title, or the like */
        return true;
    from += sizeof words - 1;
    size_t len = (size_t)(p + n - from);
    const char *end = memchr(from, '"', len);
    if (end)
        len = (size_t)(end - from);
    turn_say(t, "%s: %.*s", model_trouble_of(from, len, 0) == TROUBLE_RATE ? "rate limit" : "error",
             (int)len, from);
    return true;
}

const struct cli_vendor cli_opencode = {
    .agent = "opencode",
    .sign_in = "run opencode auth login",
    .key_env = "the key of its provider",
    .signed_in = ".local/share/opencode/auth.json",
    .command = command,
    .line = parse,
    .error_line = error_line,
};

static enum status
run(const struct args *a, struct err *e)
{
    (void)a;
    return cli_agent_run(&cli_opencode, e);
}

const struct cmd cmd_agent_opencode = {
    .name = "agent opencode",
    .brief = "the built-in agent that drives opencode",
    .about =
        "Reads an AgentMessage on standard input, and runs `opencode run` with the phase's prompt\n"
        "in the working directory. Progress, tokens and cost are reported while it works; the raw\n"
        "stream is in run/logs/<phase>.<n>.raw. A phase that is sent back continues its\n"
        "conversation.\n"
        "\n"
        "Fields of the phase: model (provider/model), args. Settings agents.opencode.*: api_key,\n"
        "base_url (any server compatible with OpenAI's; it includes /v1), model, args, binary.\n"
        "Without them its own configuration and sign-in are used.",
    .opts = agent_no_opts,
    .run = run,
};
