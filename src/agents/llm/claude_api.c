/*
 * claude-api - asks Anthropic's messages API, or a server that speaks it.
 *
 *     message_start {message:{model,usage}}  content_block_delta {delta:{text|thinking}} …
 *     message_delta {delta:{stop_reason},usage}  message_stop
 */
#include "agents/agent_main.h"
#include "agents/base_url.h"
#include "agents/llm/llm.h"
#include "cmd/cmd.h"

enum { MAX_TOKENS = 32000 }; /* the API wants a number; every model since Claude 3.7 has so many */

static void
base(struct buf *to, const char *url)
{
    static const char *const endings[] = { "/v1/messages", "/v1", NULL };

    base_url_without(to, url, endings);
}

static void
path(const struct llm *l, struct buf *to)
{
    (void)l;
    buf_adds(to, "/v1/messages");
}

static void
body(const struct llm *l, struct buf *to)
{
    json_open(to, '{');
    json_key_str(to, "model", l->model);
    json_key_int(to, "max_tokens", l->max_tokens ? l->max_tokens : MAX_TOKENS);
    llm_write_temperature(l, to);
    json_key_bool(to, "stream", true);
    json_key_strn(to, "system", l->system.p, l->system.len);
    llm_write_turns(l, to, "messages", false);
    json_close(to, '}');
}

/* The three kinds of input are counted apart; usage comes at the start and at the end. */
static void
count(struct llm_reply *r, const struct json *usage)
{
    int64_t fresh = -1;

    llm_count(&fresh, json_get(usage, "input_tokens"));
    if (fresh >= 0) {
        llm_count(&r->written_tokens, json_get(usage, "cache_creation_input_tokens"));
        llm_count(&r->cached_tokens, json_get(usage, "cache_read_input_tokens"));
        r->input_tokens = fresh + r->written_tokens + r->cached_tokens;
    }
    llm_count(&r->output_tokens, json_get(usage, "output_tokens"));
}

static void
message(struct llm_reply *r, const struct json *m)
{
    llm_model(r, json_get(m, "model"));
    json_each (block, json_get(m, "content"))
        llm_say(r, json_get(block, "text"));
    count(r, json_get(m, "usage"));
    llm_stop(r, json_get(m, "stop_reason"));
}

static void
event(struct llm_reply *r, const struct json *ev)
{
    const struct json *type = json_get(ev, "type"), *delta = json_get(ev, "delta");

    if (json_eq(type, "message_start")) {
        message(r, json_get(ev, "message"));
    } else if (json_eq(type, "message")) {
        message(r, ev); /* a server that does not stream */
    } else if (json_eq(type, "content_block_start")) {
        llm_say(r, json_path(ev, "content_block.text"));
    } else if (json_eq(type, "content_block_delta")) {
        llm_say(r, json_get(delta, "text"));
        llm_think(r, json_get(delta, "thinking"));
    } else if (json_eq(type, "message_delta")) {
        count(r, json_get(ev, "usage"));
        llm_stop(r, json_get(delta, "stop_reason"));
    } else if (json_eq(type, "error")) {
        llm_fail(r, ev);
    }
}

static const struct llm_api api = {
    .agent = "claude-api",
    .base_url = "https://api.anthropic.com",
    .url_env = "ANTHROPIC_BASE_URL",
    .key_env = "ANTHROPIC_API_KEY",
    .key_header = "x-api-key",
    .key_prefix = "",
    .extra_header = { "anthropic-version", "2023-06-01" },
    .model = "claude-sonnet-4-20250514",
    .models_path = "/v1/models?limit=1000",
    .models_key = "data",
    .base = base,
    .path = path,
    .body = body,
    .event = event,
};

static enum status
run(const struct args *a, struct err *e)
{
    (void)a;
    return llm_serve(&api, e);
}

const struct cmd cmd_agent_claude_api = {
    .name = "agent claude-api",
    .brief = "the built-in agent that asks Anthropic's messages API",
    .about =
        "Reads an AgentMessage on standard input and asks the model. Identity and role are the\n"
        "system prompt, the rest of the phase's prompt is the question. The answer is streamed to\n"
        "standard output. Its last fenced json block becomes the handoff's data, with data.usage.\n"
        "\n"
        "The phase's model, max_tokens and temperature, else the settings agents.claude-api.model\n"
        "(claude-sonnet-4-20250514), .max_tokens (32000) and .temperature. The key is the setting\n"
        ".api_key, else ANTHROPIC_API_KEY. The setting .base_url, else ANTHROPIC_BASE_URL, names\n"
        "another server, without /v1. .timeout (5m) is how long the model may be silent; .proxy "
        "is\n"
        "an HTTP proxy.\n"
        "\n"
        "Limits and overload (429, 503, 529) are waited for as Retry-After says; other errors of\n"
        "the server and answers that were cut are asked for again twice.",
    .opts = agent_no_opts,
    .run = run,
};
