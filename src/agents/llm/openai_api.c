/*
 * openai-api - asks OpenAI's API, or any server that is compatible with it.
 *
 * Two APIs: chat completions, which every compatible server has,
 *
 *     {model,choices:[{delta:{content}|message:{content},finish_reason}],usage} …  [DONE]
 *
 * and responses, which all of OpenAI's own models have (some have nothing else):
 *
 *     response.output_text.delta {delta} …
 *     response.completed|incomplete|failed {response:{output,usage,incomplete_details,error}}
 */
#include "agents/agent_main.h"
#include "agents/base_url.h"
#include "agents/llm/llm.h"
#include "cmd/cmd.h"

#include <string.h>

static void
path(const struct llm *l, struct buf *to)
{
    buf_adds(to, l->is_responses ? "/responses" : "/chat/completions");
}

static void
body(const struct llm *l, struct buf *to)
{
    json_open(to, '{');
    json_key_str(to, "model", l->model);
    json_key_bool(to, "stream", true);
    llm_write_temperature(l, to);
    if (l->is_responses) {
        llm_write_max(l, to, "max_output_tokens");
        json_key_bool(to, "store", false);
        json_key_strn(to, "instructions", l->system.p, l->system.len);
        llm_write_turns(l, to, "input", false);
    } else { /* OpenAI's newer models refuse max_tokens, other servers know nothing else */
        llm_write_max(l, to, l->is_official ? "max_completion_tokens" : "max_tokens");
        json_key_raw(to, "stream_options", "{\"include_usage\":true}", 22);
        llm_write_turns(l, to, "messages", true);
    }
    json_close(to, '}');
}

/* ---- chat completions ---- */

static void
chat(struct llm_reply *r, const struct json *ev)
{
    const struct json *choice = json_path(ev, "choices[0]"), *delta = json_get(choice, "delta");
    const struct json *m = delta ? delta : json_get(choice, "message");
    const struct json *refusal = json_get(m, "refusal"), *usage = json_get(ev, "usage");

    llm_model(r, json_get(ev, "model"));
    llm_say(r, json_get(m, "content"));
    llm_think(r, json_get(m, "reasoning_content"));
    llm_stop(r, json_get(choice, "finish_reason"));
    if (json_is(refusal, JSON_STRING) && refusal->text.len) {
        llm_say(r, refusal);
        r->stop = LLM_REFUSED;
    }
    llm_count(&r->input_tokens, json_get(usage, "prompt_tokens"));
    llm_count(&r->output_tokens, json_get(usage, "completion_tokens"));
    llm_count(&r->cached_tokens, json_path(usage, "prompt_tokens_details.cached_tokens"));
    llm_count(&r->written_tokens, json_path(usage, "prompt_tokens_details.cache_write_tokens"));
}

/* ---- responses ---- */

/* A whole response; its text when no piece of it was streamed. */
static void
response(struct llm_reply *r, const struct json *v)
{
    const struct json *usage = json_get(v, "usage"),
                      *why = json_path(v, "incomplete_details.reason");
    bool has_text = r->text.len;

    llm_model(r, json_get(v, "model"));
    json_each (item, json_get(v, "output"))
        json_each (part, json_get(item, "content"))
            if (!has_text && json_eq(json_get(item, "type"), "message"))
                llm_say(r, json_get(part, "text"));
    llm_count(&r->input_tokens, json_get(usage, "input_tokens"));
    llm_count(&r->output_tokens, json_get(usage, "output_tokens"));
    llm_count(&r->cached_tokens, json_path(usage, "input_tokens_details.cached_tokens"));
    llm_count(&r->written_tokens, json_path(usage, "input_tokens_details.cache_write_tokens"));
    if (json_eq(json_get(v, "status"), "failed"))
        llm_fail(r, json_get(v, "error"));
    else if (!json_eq(json_get(v, "status"), "in_progress"))
        llm_stop(r, json_is(why, JSON_STRING) ? why : json_get(v, "status"));
}

static void
event(struct llm_reply *r, const struct json *ev)
{
    const struct json *type = json_get(ev, "type"), *error = json_get(ev, "error");

    if (json_eq(type, "error") || (error && !json_is(error, JSON_NULL))) {
        llm_fail(r, ev);
    } else if (json_eq(type, "response.output_text.delta")) {
        llm_say(r, json_get(ev, "delta"));
    } else if (json_eq(type, "response.reasoning_summary_text.delta")) {
        llm_think(r, json_get(ev, "delta"));
    } else if (json_eq(type, "response.refusal.delta")) {
        llm_say(r, json_get(ev, "delta"));
        r->stop = LLM_REFUSED;
    } else if (json_eq(type, "response.completed") || json_eq(type, "response.incomplete") ||
               json_eq(type, "response.failed")) {
        response(r, json_get(ev, "response"));
    } else if (json_eq(json_get(ev, "object"), "response")) {
        response(r, ev); /* a server that does not stream */
    } else {
        chat(r, ev);
    }
}

static const struct llm_api api = {
    .agent = "openai-api",
    .base_url = "https://api.openai.com/v1",
    .url_env = "OPENAI_BASE_URL",
    .key_env = "OPENAI_API_KEY",
    .key_header = "Authorization",
    .key_prefix = "Bearer ",
    .model = "gpt-4o",
    .models_path = "/models",
    .models_key = "data",
    .base = base_url_openai,
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

const struct cmd cmd_agent_openai_api = {
    .name = "agent openai-api",
    .brief = "the built-in agent that asks OpenAI's API or a compatible one",
    .about =
        "Works as `cliq agent claude-api` does, with OpenAI's API or any server that is "
        "compatible\n"
        "with it.\n"
        "\n"
        "The phase's model, max_tokens and temperature, else the settings agents.openai-api.model\n"
        "(gpt-4o), .max_tokens and .temperature. The key is the setting .api_key, else\n"
        "OPENAI_API_KEY; another server may need none. The setting .base_url, else "
        "OPENAI_BASE_URL,\n"
        "names another server: http://localhost:8000 (then /v1 is added) or with a path, as\n"
        "https://openrouter.ai/api/v1. .timeout (5m) is how long the model may be silent; .proxy "
        "is\n"
        "an HTTP proxy.\n"
        "\n"
        "The setting .api is chat (chat completions) or responses; without it, responses at "
        "OpenAI\n"
        "and chat elsewhere.",
    .opts = agent_no_opts,
    .run = run,
};
