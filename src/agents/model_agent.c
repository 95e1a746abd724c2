#include "agents/model_agent.h"

#include "agents/command_results.h"
#include "agents/connector/connectors.h"
#include "base/utf8.h"
#include "context/prompt.h"

#include <ctype.h>
#include <string.h>

enum { SHOWN = 600 }; /* bytes of an unusable answer in the reason of an escalation */

/* ---- options ---- */

const struct json *
model_agent_option(const struct context *c, const char *key)
{
    const struct json *v = json_get(json_get(c->dispatch, "phase_config"), key);

    if (!v || json_is(v, JSON_NULL))
        v = json_get(c->settings, key);
    return json_is(v, JSON_NULL) ? NULL : v;
}

static const char *
text_of(const struct context *c, const struct json *v)
{
    const char *text = NULL;

    if (json_is(v, JSON_STRING))
        text = json_dup_text(c->arena, v);
    else if (json_is(v, JSON_NUMBER))
        text = arena_dup(c->arena, v->text.p, v->text.len);
    return text && *text ? text : NULL;
}

const char *
model_agent_text(const struct context *c, const char *key)
{
    return text_of(c, model_agent_option(c, key));
}

const char *
model_agent_model(const struct context *c)
{
    const char *model = text_of(c, json_get(c->dispatch, "model"));

    return model ? model : model_agent_text(c, "model");
}

const char *
model_agent_session(const struct context *c, struct usage *used)
{
    const struct json *session = json_get(c->dispatch, "session");

    if (!usage_read(c->arena, json_get(session, "usage"), used))
        *used = (struct usage){ 0 };
    return text_of(c, json_get(session, "id"));
}

/* ---- asking ---- */

/* One turn: a clean answer, or an error. */
static enum status
ask(struct context *c, const struct model_driver *d, const char *prompt, struct buf *answer,
    struct err *e)
{
    buf_reset(answer);
    enum status s = d->ask(d->ctx, prompt, answer, e);

    if (!s)
        s = buf_status(answer, "the model's answer", e);
    if (!s && (!answer->len || strspn(answer->p, " \t\r\n") >= answer->len))
        s = err_set(e, ST_FAILED, "%s: the model gave no answer", c->agent);
    if (!s && memchr(answer->p, '\0', answer->len))
        s = err_set(e, ST_FAILED, "%s: the model's answer has a NUL byte", c->agent);
    return s;
}

/* ---- standard phases ---- */

/* The handoff: the block's members when it is an object, else {"result":block}. NULL: no memory. */
static struct json *
data_of(struct context *c, struct json *block)
{
    struct json *o = block;

    if (!json_is(block, JSON_OBJECT)) {
        o = json_new(c->arena, JSON_OBJECT);
        if (o && block && !json_set(o, "result", block))
            return NULL;
    }
    return o;
}

static bool
set_copy(struct context *c, struct json *o, const char *key, const struct json *v)
{
    struct json *copy = v ? json_new(c->arena, v->type) : NULL;

    if (!v)
        return true;
    if (!copy)
        return false;
    *copy = *v;
    copy->next = NULL;
    return json_set(o, key, copy);
}

/* "denied: Bash" is worth a summary. */
static enum status
end_standard(struct context *c, const struct json *more, struct err *e)
{
    const char *denied = text_of(c, json_get(more, "denied"));
    struct buf text = { 0 };

    if (!denied)
        return context_finalize_standard(c, e);
    buf_addf(&text, "tools were denied: %s", denied);
    enum status s = buf_status(&text, "the summary", e);
    if (!s)
        s = context_finalize_summary(c, text.p, e);
    buf_release(&text);
    return s;
}

/* Adds what the driver has to say; keys of the answer stay. */
static bool
add_members(struct context *c, struct json *data, const struct json *more)
{
    json_each (v, more) {
        const char *key = arena_dup(c->arena, v->key, v->key_len);
        if (!key || (!json_get(data, key) && !set_copy(c, data, key, v)))
            return false;
    }
    return true;
}

/* ---- what is fetched before, and delivered after ---- */

static enum status
fetch_sources(struct context *c, struct connectors *w, struct err *e)
{
    enum status s = connectors_open(w, c, e);

    if (!s)
        s = connectors_fetch(w, e);
    json_each (record, w->got) {
        const char *name = s ? NULL : arena_dup(c->arena, record->key, record->key_len);
        if (!s && json_get(record, "file"))
            s = name ? context_add_fetched(c, name, e) : err_nomem(e);
    }
    return s;
}

/* Adds the records to the handoff's data. */
static enum status
deliver_targets(struct context *c, struct connectors *w, const struct buf *text, struct json *data,
                struct err *e)
{
    enum status s = ST_OK;

    if (w->targets.n)
        s = context_write_file(c, "answer.md", text->p, text->len, e);
    if (!s)
        s = connectors_deliver(w, e);
    if (!s && w->sources.n && !set_copy(c, data, "sources", w->got))
        s = err_nomem(e);
    if (!s && w->targets.n && !set_copy(c, data, "targets", w->sent))
        s = err_nomem(e);
    return s;
}

static enum status
hand_over(struct context *c, const struct model_driver *d, struct connectors *w,
          const struct buf *answer, struct err *e)
{
    struct command_results checks = { 0 };
    struct json *block = NULL, *data;
    struct buf text = { 0 };
    size_t before = answer->len;
    bool has_checks = json_first(json_get(c->dispatch, "commands"));
    struct err why;
    enum status s = prompt_extract(c->arena, answer->p, answer->len, &block, &before, &why);

    if (s == ST_INVALID)
        context_progress(c, why.text, NULL); /* the answer stays whole, as text */
    if (s) {
        block = NULL;
        before = answer->len;
    }
    data = data_of(c, block);
    if (!data)
        return err_nomem(e);
    buf_add(&text, answer->p, before ? before : answer->len);
    s = has_checks ? command_results_run(c, &checks, e) : ST_OK;
    if (!s && has_checks) {
        buf_addf(&text, "\n\n%s\n", checks.text.p ? checks.text.p : "");
        if (!set_copy(c, data, "checks", json_get(command_results_data(c, &checks), "results")))
            s = err_nomem(e);
    }
    if (!s && (!set_copy(c, data, "usage", c->usage) || !add_members(c, data, d->data)))
        s = err_nomem(e);
    if (!s)
        s = buf_status(&text, "the handoff", e);
    if (!s)
        s = deliver_targets(c, w, &text, data, e);
    for (size_t i = 0; !s && i < c->n_targets; i++)
        s = context_send(c, c->targets[i].name, data, text.p, e);
    if (!s)
        s = has_checks ? context_finalize_summary(c, checks.summary.p, e)
                       : end_standard(c, d->data, e);
    command_results_release(&checks);
    buf_release(&text);
    return s;
}

/* ---- gates ---- */

/* "pass" is PASS. NULL: no outcome. */
static const char *
outcome_of(struct context *c, const struct json *v)
{
    char *text = json_is(v, JSON_STRING) ? json_dup_text(c->arena, v) : NULL;

    for (char *p = text; p && *p; p++)
        *p = (char)toupper((unsigned char)*p);
    return text;
}

static bool
is_target(const struct context *c, const char *name)
{
    for (size_t i = 0; name && i < c->n_route_targets; i++)
        if (strcmp(c->route_targets[i], name) == 0)
            return true;
    return false;
}

static void
list_targets(const struct context *c, struct buf *to)
{
    for (size_t i = 0; i < c->n_route_targets; i++)
        buf_addf(to, "%s%s", i ? ", " : "", c->route_targets[i]);
}

/* Reads {"verdict":{"outcome":…,"target":…},"comment":…}; a verdict that is a text, and members at
 * the top, are taken too. ST_FAILED says why it cannot be used. */
static enum status
read_verdict(struct context *c, const struct buf *answer, struct context_verdict *out,
             struct err *e)
{
    struct json *block;
    struct buf known = { 0 };
    size_t before = 0;
    enum status s = prompt_extract(c->arena, answer->p, answer->len, &block, &before, e);

    if (s)
        return s;
    const struct json *v = json_get(block, "verdict"), *in = json_is(v, JSON_OBJECT) ? v : block;
    const struct json *comment = json_get(block, "comment");
    *out = (struct context_verdict){
        .outcome = outcome_of(c, json_is(v, JSON_STRING) ? v : json_get(in, "outcome")),
        .target = text_of(c, json_get(in, "target")),
        .comment = text_of(c, comment ? comment : json_get(in, "reason")),
    };
    if (!out->outcome)
        return err_set(e, ST_FAILED, "the answer's last json block has no verdict.outcome");
    if (strcmp(out->outcome, "PASS") != 0 && strcmp(out->outcome, "ROUTE") != 0 &&
        strcmp(out->outcome, "ESCALATE") != 0)
        return err_set(e, ST_FAILED, "the outcome \"%.40s\" is none of PASS, ROUTE and ESCALATE",
                       out->outcome);
    list_targets(c, &known);
    if (strcmp(out->outcome, "ROUTE") == 0 && !is_target(c, out->target))
        s = err_set(e, ST_FAILED, "ROUTE to \"%.80s\" is not possible: the route targets are %s",
                    out->target ? out->target : "", known.len ? known.p : "(none)");
    buf_release(&known);
    if (!s && !out->comment) /* the words before the block */
        out->comment = arena_dup(c->arena, answer->p, before);
    return s;
}

/* The second question. */
static void
ask_again(struct context *c, struct buf *to, const struct err *why)
{
    buf_addf(to,
             "Your verdict could not be used: %s.\n\nAnswer once more with your verdict only, as "
             "one fenced block and nothing behind it:\n\n"
             "```json\n{\"verdict\":{\"outcome\":\"PASS\"},\"comment\":\"why\"}\n```\n\n"
             "outcome is PASS, ROUTE or ESCALATE",
             why->text);
    if (c->n_route_targets) {
        buf_adds(to, "; ROUTE also needs \"target\", one of: ");
        list_targets(c, to);
    }
    buf_adds(to, ".\n");
}

/* ESCALATE, with what the model said. */
static enum status
give_up(struct context *c, const struct buf *answer, const struct err *why, struct err *e)
{
    struct buf comment = { 0 };
    size_t n = utf8_cut(answer->p, answer->len, SHOWN);

    buf_addf(&comment, "the model gave no usable verdict in two answers (%s). It said: %.*s%s",
             why->text, (int)n, answer->p, n < answer->len ? " …" : "");
    struct context_verdict v = { .outcome = "ESCALATE", .comment = comment.p };
    enum status s = buf_status(&comment, "the verdict", e);
    if (!s)
        s = context_finalize_gate(c, &v, e);
    buf_release(&comment);
    return s;
}

static enum status
judge(struct context *c, const struct model_driver *d, struct buf *answer, struct err *e)
{
    struct context_verdict v;
    struct err why;

    if (read_verdict(c, answer, &v, &why) == ST_OK)
        return context_finalize_gate(c, &v, e);
    struct buf question = { 0 }, note = { 0 };
    ask_again(c, &question, &why);
    buf_addf(&note, "asked again for a verdict: %s", why.text);
    enum status s = buf_status(&question, "the question", e);
    if (!s && !buf_failed(&note))
        s = context_progress(c, note.p, e);
    if (!s)
        s = ask(c, d, question.p, answer, e);
    if (!s)
        s = read_verdict(c, answer, &v, &why) == ST_OK ? context_finalize_gate(c, &v, e)
                                                       : give_up(c, answer, &why, e);
    buf_release(&question);
    buf_release(&note);
    return s;
}

/* run/prompts/ has the prompt without what was fetched since: writes what the model is told. */
static enum status
keep_prompt(struct context *c, const struct buf *system, const struct buf *prompt, struct err *e)
{
    const char *path = text_of(c, json_get(c->dispatch, "prompt"));
    size_t n = strlen(c->state.state_dir);
    struct buf all = { 0 };

    if (!c->n_fetched || !path || strncmp(path, c->state.state_dir, n) != 0 || path[n] != '/')
        return ST_OK;
    if (system && system != prompt && system->len)
        buf_add(&all, system->p, system->len);
    buf_add(&all, prompt->p, prompt->len);
    enum status s = buf_status(&all, "the prompt", e);
    if (!s)
        s = state_dir_replace(&c->state, path + n + 1, all.p, all.len, e);
    buf_release(&all);
    return s;
}

enum status
model_agent_work(struct context *c, const struct model_driver *d, struct err *e)
{
    struct buf prompt = { 0 }, answer = { 0 };
    struct connectors w = { 0 };
    enum status s = context_read(c, e);

    if (!s)
        s = fetch_sources(c, &w, e);
    if (!s)
        s = context_prompt_parts(c, d->system ? d->system : &prompt, &prompt, e);
    if (!s)
        s = keep_prompt(c, d->system, &prompt, e);
    if (!s)
        s = ask(c, d, prompt.p, &answer, e);
    if (!s)
        s = c->is_gate ? judge(c, d, &answer, e) : hand_over(c, d, &w, &answer, e);
    connectors_release(&w);
    buf_release(&prompt);
    buf_release(&answer);
    return s;
}
