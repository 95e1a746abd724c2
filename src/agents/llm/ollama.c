/*
 * ollama - asks a model that Ollama serves, on this machine or another.
 *
 *     {model,message:{content,thinking?},done:false} …
 *     {…,done:true,done_reason,prompt_eval_count,eval_count}
 *
 * are the lines of the answer. Ollama cuts a prompt that does not fit its context without a word,
 * and the context of its default has 4,096 tokens. So the request asks for a larger one when the
 * conversation needs it.
 */
#include "agents/agent_main.h"
#include "agents/base_url.h"
#include "agents/llm/llm.h"
#include "cmd/cmd.h"

#include <string.h>

enum {
    CONTEXT_STEP = 4096,
    CONTEXT_MAX = 131072,
    ANSWER_TOKENS = 2048, /* room for an answer without max_tokens */
    TOKEN_BYTES = 3,      /* a token has rather more */
};

/* The length of the name in "name:port": "[::1]" and "::1" have no port. */
static size_t
name_of(const char *host, size_t n)
{
    const char *first = memchr(host, ':', n);
    size_t at = n;

    while (at && host[at - 1] != ':' && host[at - 1] != ']')
        at--;
    bool has_colon = at && host[at - 1] == ':';
    bool is_bare_v6 = has_colon && host[0] != '[' && first != host + at - 1;
    return has_colon && !is_bare_v6 ? at - 1 : n;
}

static void
add_host(struct buf *to, const char *host, size_t n, const char *port)
{
    size_t name = name_of(host, n);
    bool is_bare_v6 = host[0] != '[' && memchr(host, ':', name);

    if (!name || (name == 7 && !memcmp(host, "0.0.0.0", 7)))
        buf_adds(to, "127.0.0.1"); /* an address to listen on, not to call */
    else if ((name == 4 && !memcmp(host, "[::]", 4)) || (name == 2 && !memcmp(host, "::", 2)))
        buf_adds(to, "[::1]");
    else
        buf_addf(to, is_bare_v6 ? "[%.*s]" : "%.*s", (int)name, host);
    if (name + 1 < n)
        buf_add(to, host + name, n - name);
    else
        buf_addf(to, ":%s", port);
}

/* The forms of OLLAMA_HOST: host, host:port, :port, 0.0.0.0, http://host, https://host/path. */
static void
base(struct buf *to, const char *url)
{
    static const char *const endings[] = { "/api/chat", "/api", "/v1", NULL };
    struct buf whole = { 0 };
    const char *sign = strstr(url, "://"), *host = sign ? sign + 3 : url;
    size_t n = strcspn(host, "/");
    bool is_tls = sign && strncmp(url, "https:", 6) == 0;

    buf_addf(&whole, "%.*s://", sign ? (int)(sign - url) : 4, sign ? url : "http");
    add_host(&whole, host, n, !sign ? "11434" : is_tls ? "443" : "80");
    buf_adds(&whole, host + n);
    base_url_without(to, whole.p ? whole.p : "", endings);
    buf_release(&whole);
}

static void
path(const struct llm *l, struct buf *to)
{
    (void)l;
    buf_adds(to, "/api/chat");
}

/* The size of the context that the conversation needs; 0: the default is enough. */
static int64_t
context_size(const struct llm *l)
{
    size_t bytes = l->system.len;

    for (size_t i = 0; i < l->n_turns; i++)
        bytes += l->turns[i].len;
    int64_t need = (int64_t)(bytes / TOKEN_BYTES) + (l->max_tokens ? l->max_tokens : ANSWER_TOKENS);
    int64_t size = CONTEXT_STEP;
    while (size < need && size < CONTEXT_MAX)
        size *= 2;
    return size > CONTEXT_STEP ? size : 0;
}

static void
body(const struct llm *l, struct buf *to)
{
    int64_t size = context_size(l);

    json_open(to, '{');
    json_key_str(to, "model", l->model);
    json_key_bool(to, "stream", true);
    llm_write_turns(l, to, "messages", true);
    json_key(to, "options");
    json_open(to, '{');
    llm_write_max(l, to, "num_predict");
    llm_write_temperature(l, to);
    if (size)
        json_key_int(to, "num_ctx", size);
    json_close(to, '}');
    json_close(to, '}');
}

static void
event(struct llm_reply *r, const struct json *ev)
{
    static const struct json stop = { .type = JSON_STRING, .text = { "stop", 4 } };
    const struct json *message = json_get(ev, "message"), *why = json_get(ev, "done_reason");

    if (json_get(ev, "error")) {
        llm_fail(r, ev);
        return;
    }
    llm_model(r, json_get(ev, "model"));
    llm_say(r, json_get(message, "content"));
    llm_think(r, json_get(message, "thinking"));
    llm_count(&r->input_tokens, json_get(ev, "prompt_eval_count"));
    llm_count(&r->output_tokens, json_get(ev, "eval_count"));
    if (json_is(json_get(ev, "done"), JSON_TRUE))
        llm_stop(r, why ? why : &stop); /* older servers give no reason */
}

static const struct llm_api api = {
    .agent = "ollama",
    .base_url = "127.0.0.1",
    .url_env = "OLLAMA_HOST",
    .pull = "ollama pull",
    .start = "ollama serve",
    .is_lines = true,
    .models_path = "/api/tags",
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

const struct cmd cmd_agent_ollama = {
    .name = "agent ollama",
    .brief = "the built-in agent that asks a model served by Ollama",
    .about =
        "Works as `cliq agent claude-api` does, with Ollama.\n"
        "\n"
        "The phase's model, max_tokens and temperature, else the settings agents.ollama.model,\n"
        ".max_tokens and .temperature. Without a model, the server's only one is asked. The "
        "setting\n"
        ".base_url, else OLLAMA_HOST, names the server (127.0.0.1:11434). .timeout (5m) is how "
        "long\n"
        "the model may be silent, for example while it is loaded; .proxy is an HTTP proxy.\n"
        "\n"
        "The context is as large as the conversation needs (num_ctx): Ollama would cut it else.",
    .opts = agent_no_opts,
    .run = run,
};
