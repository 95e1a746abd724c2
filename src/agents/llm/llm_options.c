/*
 * llm_options - the options of an agent that asks a model, and what requests are made of.
 */
#include "agents/llm/llm.h"

#include "agents/model_agent.h"
#include "base/opt.h"
#include "net/fetch.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOKENS_MAX = 100000000 }; /* of max_tokens */

/* ---- options ---- */

static enum status
wrong_option(const struct llm *l, const char *key, const char *want, struct err *e)
{
    return err_set(e, ST_INVALID, "%s of the phase, or the setting agents.%s.%s, must be %s", key,
                   l->api->agent, key, want);
}

static enum status
read_max_tokens(struct llm *l, struct err *e)
{
    const char *text = model_agent_text(l->c, "max_tokens");
    char *end;

    if (!text)
        return ST_OK;
    errno = 0;
    l->max_tokens = strtoll(text, &end, 10);
    return *end || errno || l->max_tokens < 1 || l->max_tokens > TOKENS_MAX
               ? wrong_option(l, "max_tokens", "a whole number, 1 or more", e)
               : ST_OK;
}

static enum status
read_temperature(struct llm *l, struct err *e)
{
    const char *text = model_agent_text(l->c, "temperature");
    char *end, number[32];

    if (!text)
        return ST_OK;
    double t = strtod(text, &end);
    if (*end || !isfinite(t) || t < 0 || t > 2)
        return wrong_option(l, "temperature", "a number from 0 to 2", e);
    snprintf(number, sizeof number, "%g", t);
    l->temperature = arena_dup(l->c->arena, number, strlen(number));
    return l->temperature ? ST_OK : err_nomem(e);
}

static enum status
read_silence(struct llm *l, struct err *e)
{
    const char *text = model_agent_text(l->c, "timeout");

    l->silence_ms = LLM_SILENCE_MS;
    if (text && (!opt_parse_ms(text, &l->silence_ms) || l->silence_ms < 1000))
        return wrong_option(l, "timeout", "a time like 30s or 5m, at least a second", e);
    return ST_OK;
}

static const char *
variable(const char *name)
{
    const char *value = name ? getenv(name) : NULL;

    return value && *value ? value : NULL;
}

static enum status
read_base(struct llm *l, struct err *e)
{
    const char *url = model_agent_text(l->c, "base_url");
    struct buf base = { 0 };

    if (!url)
        url = variable(l->api->url_env);
    l->api->base(&base, url ? url : l->api->base_url);
    enum status s = buf_status(&base, "the base URL", e);
    if (!s && !(l->base_url = arena_dup(l->c->arena, base.p, base.len)))
        s = err_nomem(e);
    if (!s)
        l->is_official = strcmp(l->base_url, l->api->base_url) == 0;
    buf_release(&base);
    return s;
}

static enum status
read_key(struct llm *l, struct err *e)
{
    const struct llm_api *api = l->api;

    if (!api->key_env)
        return ST_OK;
    l->key = model_agent_text(l->c, "api_key");
    if (!l->key)
        l->key = variable(api->key_env);
    if (!l->key && l->is_official)
        return err_set(e, ST_INVALID,
                       "%s has no API key: run `cliq settings agents.%s.api_key - --global`, or "
                       "set %s",
                       api->agent, api->agent, api->key_env);
    if (l->key)
        mask_add(&l->secrets, l->key, strlen(l->key));
    return mask_build(&l->secrets, e);
}

static enum status
read_api(struct llm *l, struct err *e)
{
    const char *api = model_agent_text(l->c, "api");
    bool has_choice = strcmp(l->api->agent, "openai-api") == 0;

    l->is_responses = api ? strcmp(api, "responses") == 0 : has_choice && l->is_official;
    return api && !l->is_responses && strcmp(api, "chat") != 0
               ? wrong_option(l, "api", "chat or responses", e)
               : ST_OK;
}

enum status
llm_open(struct llm *l, struct context *c, const struct llm_api *api, struct err *e)
{
    *l = (struct llm){ .c = c, .api = api, .proxy = model_agent_text(c, "proxy") };
    enum status s = read_base(l, e);
    if (!s)
        s = read_key(l, e);
    if (!s)
        s = read_api(l, e);
    if (!s)
        s = read_max_tokens(l, e);
    if (!s)
        s = read_temperature(l, e);
    return s ? s : read_silence(l, e);
}

void
llm_close(struct llm *l)
{
    buf_release(&l->system);
    mask_release(&l->secrets);
}

/* ---- what requests are made of ---- */

void
llm_write_turns(const struct llm *l, struct buf *to, const char *key, bool with_system)
{
    json_key(to, key);
    json_open(to, '[');
    for (size_t i = 0; i < l->n_turns + with_system; i++) {
        bool is_system = with_system && i == 0;
        const struct llm_turn *t = &l->turns[is_system ? 0 : i - with_system];
        json_sep(to);
        json_open(to, '{');
        json_key_str(to, "role", is_system ? "system" : t->is_model ? "assistant" : "user");
        json_key_strn(to, "content", is_system ? l->system.p : t->text,
                      is_system ? l->system.len : t->len);
        json_close(to, '}');
    }
    json_close(to, ']');
}

void
llm_write_max(const struct llm *l, struct buf *to, const char *key)
{
    if (l->max_tokens)
        json_key_int(to, key, l->max_tokens);
}

void
llm_write_temperature(const struct llm *l, struct buf *to)
{
    if (l->temperature)
        json_key_raw(to, "temperature", l->temperature, strlen(l->temperature));
}

enum status
llm_set_headers(const struct llm *l, struct fetch_header to[LLM_HEADERS], struct fetch_request *q,
                struct err *e)
{
    to[q->n_headers++] = (struct fetch_header){ "Content-Type", "application/json" };
    if (l->api->extra_header[0])
        to[q->n_headers++] =
            (struct fetch_header){ l->api->extra_header[0], l->api->extra_header[1] };
    if (l->key) {
        size_t n = strlen(l->api->key_prefix), m = strlen(l->key);
        char *value = arena_alloc(l->c->arena, n + m + 1);
        if (!value)
            return err_nomem(e);
        memcpy(value, l->api->key_prefix, n);
        memcpy(value + n, l->key, m + 1);
        to[q->n_headers++] = (struct fetch_header){ l->api->key_header, value };
    }
    q->headers = to;
    return ST_OK;
}
