/*
 * gemini-api - asks Google's Gemini API.
 *
 *     {candidates:[{content:{parts:[{text,thought?}]},finishReason?}],usageMetadata,modelVersion}
 *
 * is every event; the last one has a finishReason.
 */
#include "agents/agent_main.h"
#include "agents/base_url.h"
#include "agents/llm/llm.h"
#include "cmd/cmd.h"

#include <string.h>

static void
base(struct buf *to, const char *url)
{
    static const char *const endings[] = { "/v1beta/models", "/v1beta", "/v1", NULL };

    base_url_without(to, url, endings);
}

static void
path(const struct llm *l, struct buf *to)
{
    const char *name = strncmp(l->model, "models/", 7) == 0 ? l->model + 7 : l->model;

    buf_addf(to, "/v1beta/models/%s:streamGenerateContent?alt=sse", name);
}

static void
write_parts(struct buf *to, const char *text, size_t len)
{
    json_key(to, "parts");
    buf_adds(to, "[{\"text\":");
    json_write_str(to, text, len);
    buf_adds(to, "}]");
}

static void
body(const struct llm *l, struct buf *to)
{
    json_open(to, '{');
    json_key(to, "systemInstruction");
    json_open(to, '{');
    write_parts(to, l->system.p, l->system.len);
    json_close(to, '}');
    json_key(to, "contents");
    json_open(to, '[');
    for (size_t i = 0; i < l->n_turns; i++) {
        json_sep(to);
        json_open(to, '{');
        json_key_str(to, "role", l->turns[i].is_model ? "model" : "user");
        write_parts(to, l->turns[i].text, l->turns[i].len);
        json_close(to, '}');
    }
    json_close(to, ']');
    json_key(to, "generationConfig");
    json_open(to, '{');
    llm_write_max(l, to, "maxOutputTokens");
    llm_write_temperature(l, to);
    json_close(to, '}');
    json_close(to, '}');
}

static void
count(struct llm_reply *r, const struct json *usage)
{
    int64_t answer = -1, thought = 0;

    llm_count(&r->input_tokens, json_get(usage, "promptTokenCount"));
    llm_count(&r->cached_tokens, json_get(usage, "cachedContentTokenCount"));
    llm_count(&answer, json_get(usage, "candidatesTokenCount"));
    llm_count(&thought, json_get(usage, "thoughtsTokenCount"));
    if (answer >= 0 || thought) /* one that only thought, up to its limit, has no answer */
        r->output_tokens = (answer > 0 ? answer : 0) + thought;
}

static void
event(struct llm_reply *r, const struct json *ev)
{
    const struct json *candidate = json_path(ev, "candidates[0]");
    const struct json *blocked = json_path(ev, "promptFeedback.blockReason");

    if (json_get(ev, "error") || json_is(ev, JSON_ARRAY)) {
        llm_fail(r, ev);
        return;
    }
    llm_model(r, json_get(ev, "modelVersion"));
    json_each (part, json_path(candidate, "content.parts"))
        if (json_is(json_get(part, "thought"), JSON_TRUE))
            llm_think(r, json_get(part, "text"));
        else
            llm_say(r, json_get(part, "text"));
    count(r, json_get(ev, "usageMetadata"));
    llm_stop(r, json_get(candidate, "finishReason"));
    if (json_is(blocked, JSON_STRING)) {
        llm_stop(r, blocked);
        r->stop = LLM_REFUSED;
    }
}

static const struct llm_api api = {
    .agent = "gemini-api",
    .base_url = "https://generativelanguage.googleapis.com",
    .url_env = "GOOGLE_GEMINI_BASE_URL",
    .key_env = "GEMINI_API_KEY",
    .key_header = "x-goog-api-key",
    .key_prefix = "",
    .model = "gemini-2.5-flash",
    .models_path = "/v1beta/models?pageSize=1000",
    .models_key = "models",
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

const struct cmd cmd_agent_gemini_api = {
    .name = "agent gemini-api",
    .brief = "the built-in agent that asks Google's Gemini API",
    .about =
        "Works as `cliq agent claude-api` does, with Google's Gemini API.\n"
        "\n"
        "The phase's model, max_tokens and temperature, else the settings agents.gemini-api.model\n"
        "(gemini-2.5-flash), .max_tokens and .temperature. The key is the setting .api_key, else\n"
        "GEMINI_API_KEY. The setting .base_url, else GOOGLE_GEMINI_BASE_URL, names another "
        "server,\n"
        "without /v1beta. .timeout (5m) is how long the model may be silent; .proxy is an HTTP\n"
        "proxy.",
    .opts = agent_no_opts,
    .run = run,
};
