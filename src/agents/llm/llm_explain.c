/*
 * llm_explain - what people read when a model's API fails: what happened, and what to do.
 */
#include "agents/llm/llm.h"

#include "net/fetch.h"

#include <stdio.h>
#include <string.h>

void
llm_hide(const struct llm *l, char *text, size_t n)
{
    struct buf shown = { 0 };

    if (mask_text(&l->secrets, text, strlen(text), &shown, NULL) || buf_failed(&shown))
        snprintf(text, n, "(not shown: out of memory)");
    else
        snprintf(text, n, "%s", shown.p ? shown.p : "");
    buf_release(&shown);
}

/* "(429: Rate limit reached)", "(in the stream: Overloaded)" */
static const char *
shown(const struct llm_failure *f, char *to, size_t n)
{
    char status[16] = "in the stream";

    if (f->status)
        snprintf(status, sizeof status, "%d", f->status);
    snprintf(to, n, "(%s%s%s)", status, f->message[0] ? ": " : "", f->message);
    return to;
}

enum status
llm_explain(const struct llm *l, const struct llm_failure *f, struct err *e)
{
    const struct llm_api *api = l->api;
    const char *name = api->agent, *model = l->model ? l->model : "";
    char why[512], url[300];
    struct buf base = { 0 };

    fetch_show_url(&base, l->base_url);
    snprintf(url, sizeof url, "%s", base.p ? base.p : "");
    if (*url && url[strlen(url) - 1] == '/')
        url[strlen(url) - 1] = '\0';
    buf_release(&base);
    shown(f, why, sizeof why);
    switch (f->kind) {
    case LLM_BAD_KEY:
        return err_set(e, ST_REFUSED, "%s: %s %s %s%s%s%s%s", name, url,
                       l->key ? "does not accept the API key" : "wants an API key", why,
                       api->key_env ? ": run `cliq settings agents." : "", api->key_env ? name : "",
                       api->key_env ? ".api_key - --global`, or set " : "",
                       api->key_env ? api->key_env : "");
    case LLM_NO_CREDIT:
        return err_set(e, ST_FAILED,
                       "%s: the account has no credit left %s: add some at the vendor", name, why);
    case LLM_NO_MODEL:
        return err_set(e, ST_NOT_FOUND,
                       "%s: the model %.100s is not known at %s %s: choose another with `model` of "
                       "the phase, or `cliq settings agents.%s.model NAME`%s%s%s%.100s",
                       name, model, url, why, name, api->pull ? "; or get it: " : "",
                       api->pull ? api->pull : "", api->pull ? " " : "", api->pull ? model : "");
    case LLM_NO_SUCH_PATH:
        return err_set(e, ST_NOT_FOUND,
                       "%s: %s has no such API %s: check the setting agents.%s.base_url", name, url,
                       why, name);
    case LLM_TOO_LONG:
        return err_set(e, ST_FAILED,
                       "%s: the prompt is too long for %.100s %s: shorten the handoffs, design "
                       "documents or role, or choose a model with a larger context",
                       name, model, why);
    case LLM_LIMITED:
        return err_set(e, ST_FAILED, "%s: too many requests %s: try again later", name, why);
    case LLM_OVERLOADED:
        return err_set(e, ST_FAILED, "%s: the server is overloaded %s: try again later", name, why);
    case LLM_SERVER_ERROR:
        return err_set(e, ST_FAILED, "%s: %s failed %s: try again later", name, url, why);
    case LLM_BAD_REQUEST:
        break;
    }
    return err_set(e, ST_FAILED, "%s: %s refused the request %s", name, url, why);
}
