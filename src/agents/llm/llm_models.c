/*
 * llm_models - the models that a server has: for the test of an agent, and for a default.
 */
#include "agents/llm/llm.h"

#include "agents/model_agent.h"
#include "net/fetch.h"

#include <string.h>

enum { TEST_MS = 20000 }; /* time for the list */

/* GET the list of models; *list goes into the arena. */
static enum status
get_models(struct llm *l, const struct json **list, struct err *e)
{
    struct fetch_header headers[LLM_HEADERS];
    struct fetch_request q = { .timeout_ms = TEST_MS, .tries = 1, .proxy = l->proxy };
    struct fetch_response r = { 0 };
    struct buf url = { 0 };
    struct json *doc = NULL;

    buf_addf(&url, "%s%s", l->base_url, l->api->models_path);
    enum status s = buf_status(&url, "the URL", e);
    q.url = url.p;
    if (!s)
        s = llm_set_headers(l, headers, &q, e);
    if (!s)
        s = fetch(&q, &r, e);
    if (!s && r.status / 100 != 2) {
        struct llm_failure f;
        llm_failure_read_body(&f, r.status, r.body.p, r.body.len);
        s = llm_explain(l, &f, e);
    } else if (!s) {
        const char *text = arena_dup(l->c->arena, r.body.p, r.body.len);
        if (!text)
            s = err_nomem(e);
        else if (!json_parse_foreign(l->c->arena, text, r.body.len, &doc, NULL))
            s = err_set(e, ST_FAILED, "the answer is not JSON");
        *list = json_get(doc, l->api->models_key);
        if (!s && !json_is(*list, JSON_ARRAY))
            s = err_set(e, ST_FAILED, "the answer is no list of models");
    } else {
        struct err why = *e;
        err_say(e, "%s: %.600s%s%s", l->api->agent, why.text,
                l->api->start ? ": start the server: " : "", l->api->start ? l->api->start : "");
    }
    fetch_response_release(&r);
    buf_release(&url);
    llm_hide(l, e->text, sizeof e->text);
    return s;
}

enum status
llm_choose_model(struct llm *l, struct err *e)
{
    const struct json *list = NULL;
    struct buf names = { 0 };

    l->model = model_agent_model(l->c);
    if (!l->model)
        l->model = l->api->model;
    if (l->model)
        return ST_OK;
    enum status s = get_models(l, &list, e);
    if (!s && json_first(list) && !json_first(list)->next)
        l->model = json_dup_text(l->c->arena, json_get(json_first(list), "name"));
    if (s || l->model)
        return s;
    json_each (m, list) {
        const struct json *name = json_get(m, "name");
        if (json_is(name, JSON_STRING))
            buf_addf(&names, "%s%.*s", names.len ? ", " : "", (int)name->text.len, name->text.p);
    }
    if (names.len)
        err_say(e,
                "%s: no model is chosen: set `model` of the phase, or run `cliq settings "
                "agents.%s.model NAME`. The server has: %.600s",
                l->api->agent, l->api->agent, names.p);
    else
        err_say(e, "%s: the server has no model: get one, for example with: %s llama3.2",
                l->api->agent, l->api->pull);
    buf_release(&names);
    return ST_INVALID;
}

enum status
llm_test(struct context *c, const struct llm_api *api, struct buf *says, struct err *e)
{
    struct llm l;
    const struct json *list = NULL;
    enum status s = llm_open(&l, c, api, e);

    if (!s)
        s = get_models(&l, &list, e);
    if (!s) {
        size_t n = list->kids.count;
        buf_addf(says, "%s: %zu model%s at ", l.key ? "the key works" : "the server answers", n,
                 n == 1 ? "" : "s");
        fetch_show_url(says, l.base_url);
    }
    llm_close(&l);
    return s;
}
