/* context - the context of cliq.h, over context/context.h. */
#define _GNU_SOURCE /* vasprintf */
#include "sdk/sdk.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- values ---- */

/* A string's text, or another value as JSON, in the arena; NULL: absent, null or out of memory. */
static const char *
value_text(const cliq_context *ctx, const struct json *v)
{
    struct buf b = { 0 };
    const char *text = NULL;

    if (!v || json_is(v, JSON_NULL))
        return NULL;
    if (json_is(v, JSON_STRING))
        return arena_dup(ctx->c.arena, v->text.p, v->text.len);
    json_write(&b, v);
    if (!buf_failed(&b))
        text = arena_dup(ctx->c.arena, b.p, b.len);
    buf_release(&b);
    return text;
}

/* Looks for a key first, then for a path: a key may contain a point ("a.b"). */
static const char *
look(const cliq_context *ctx, const struct json *root, const char *path)
{
    const struct json *v = !path || !*path ? root : json_get(root, path);

    return value_text(ctx, v ? v : json_path(root, path ? path : ""));
}

const char *
cliq_context_settings(const cliq_context *ctx, const char *path)
{
    return ctx ? look(ctx, ctx->c.settings, path) : NULL;
}

const char *
cliq_context_payload(const cliq_context *ctx, const char *path)
{
    return ctx ? look(ctx, ctx->c.dispatch, path) : NULL;
}

const char *
cliq_context_dispatch(const cliq_context *ctx, const char *path)
{
    static const char prefix[] = "phase_config";
    size_t n = sizeof prefix - 1;

    if (ctx && path && !strncmp(path, prefix, n) && (!path[n] || path[n] == '.'))
        return look(ctx, ctx->c.phase_config, path + n + (path[n] == '.'));
    return cliq_context_payload(ctx, path);
}

const char *
cliq_context_message(const cliq_context *ctx, const char *path)
{
    return ctx ? look(ctx, ctx->msg.root, path) : NULL;
}

const char *
cliq_context_workflow_inputs(const cliq_context *ctx, const char *path)
{
    return ctx ? look(ctx, ctx->c.workflow_inputs, path) : NULL;
}

/* ---- plain fields ---- */

#define TEXT_FIELD(name, value)                                                                    \
    const char *cliq_context_##name(const cliq_context *ctx)                                       \
    {                                                                                              \
        return ctx ? (value) : NULL;                                                               \
    }

TEXT_FIELD(type, ctx->msg.type)
TEXT_FIELD(agent, ctx->c.agent)
TEXT_FIELD(instance_id, ctx->c.instance_id)
TEXT_FIELD(team_name, ctx->c.team_name)
TEXT_FIELD(req_key, ctx->c.req_key)
TEXT_FIELD(project_dir, ctx->c.project_dir)
TEXT_FIELD(work_dir, ctx->c.work_dir)
TEXT_FIELD(state_dir, ctx->c.state_dir)
TEXT_FIELD(signal_dir, ctx->msg.signal_dir)
TEXT_FIELD(phase, ctx->c.phase)
TEXT_FIELD(phase_type, ctx->c.phase_type)
TEXT_FIELD(role, ctx->c.role)
TEXT_FIELD(req_spec, ctx->c.req_spec)

int
cliq_context_is_support(const cliq_context *ctx)
{
    return ctx && ctx->c.is_support;
}

const char *
cliq_context_prompt(cliq_context *ctx)
{
    struct buf b = { 0 };
    const char *text = NULL;

    if (!ctx || !ctx->c.phase)
        return NULL;
    if (!context_prompt(&ctx->c, &b, NULL) && !buf_failed(&b))
        text = arena_dup(&ctx->arena, b.p ? b.p : "", b.len);
    buf_release(&b);
    return text;
}

/* ---- lists ---- */

size_t
cliq_context_input_count(const cliq_context *ctx)
{
    size_t n = 0;

    for (size_t i = 0; ctx && i < ctx->c.n_inputs; i++)
        n += ctx->c.inputs[i].is_there;
    return n;
}

const char *
cliq_context_input_channel(const cliq_context *ctx, size_t i)
{
    for (size_t k = 0; ctx && k < ctx->c.n_inputs; k++)
        if (ctx->c.inputs[k].is_there && i-- == 0)
            return ctx->c.inputs[k].channel;
    return NULL;
}

static const struct context_input *
find_input(const cliq_context *ctx, const char *channel)
{
    for (size_t i = 0; ctx && channel && i < ctx->c.n_inputs; i++) {
        const struct context_input *in = &ctx->c.inputs[i];
        if (in->is_there && (!strcmp(in->channel, channel) || !strcmp(in->from, channel)))
            return in;
    }
    return NULL;
}

const char *
cliq_context_input_text(const cliq_context *ctx, const char *channel)
{
    const struct context_input *in = find_input(ctx, channel);

    if (ctx && !channel)
        return ctx->c.input_text;
    return in ? in->text : NULL;
}

const char *
cliq_context_input(const cliq_context *ctx, const char *via, const char *path)
{
    const struct context_input *in = find_input(ctx, via);

    return in ? look(ctx, in->envelope, path) : NULL;
}

size_t
cliq_context_design_doc_count(const cliq_context *ctx)
{
    return ctx ? ctx->c.n_design_docs : 0;
}

const char *
cliq_context_design_doc_name(const cliq_context *ctx, size_t i)
{
    return ctx && i < ctx->c.n_design_docs ? ctx->c.design_docs[i].name : NULL;
}

const char *
cliq_context_design_doc(const cliq_context *ctx, const char *name)
{
    for (size_t i = 0; ctx && name && i < ctx->c.n_design_docs; i++)
        if (strcmp(ctx->c.design_docs[i].name, name) == 0)
            return ctx->c.design_docs[i].text;
    return NULL;
}

size_t
cliq_context_target_count(const cliq_context *ctx)
{
    return ctx ? ctx->c.n_targets : 0;
}

const char *
cliq_context_target(const cliq_context *ctx, size_t i)
{
    return ctx && i < ctx->c.n_targets ? ctx->c.targets[i].name : NULL;
}

/* ---- gates ---- */

size_t
cliq_context_check_count(const cliq_context *ctx)
{
    return ctx && ctx->c.check_results ? ctx->c.check_results->kids.count : 0;
}

static const char *
member_text(const cliq_context *ctx, const struct json *object, const char *key)
{
    const char *text = value_text(ctx, json_get(object, key));

    return text ? text : "";
}

cliq_status
cliq_context_check(const cliq_context *ctx, size_t i, cliq_check *check, cliq_error *err)
{
    struct err e;

    if (!ctx || !check || check->size < sizeof *check)
        return sdk_invalid(err, "cliq_context_check: ctx and check must be set");
    if (i >= cliq_context_check_count(ctx))
        return sdk_outcome(err_set(&e, ST_NOT_FOUND, "no check number %zu", i), &e, err);
    const struct json *v = json_first(ctx->c.check_results);
    while (i--)
        v = v->next;
    bool pass = false;
    int64_t code = -1;
    json_bool(json_get(v, "pass"), &pass);
    json_int(json_get(v, "exit_code"), &code);
    check->name = member_text(ctx, v, "name");
    check->output = member_text(ctx, v, "output");
    check->pass = pass;
    check->exit_code = code >= INT_MIN && code <= INT_MAX ? (int)code : -1;
    return sdk_outcome(ST_OK, NULL, err);
}

size_t
cliq_context_route_target_count(const cliq_context *ctx)
{
    return ctx ? ctx->c.n_route_targets : 0;
}

const char *
cliq_context_route_target(const cliq_context *ctx, size_t i)
{
    return ctx && i < ctx->c.n_route_targets ? ctx->c.route_targets[i] : NULL;
}

int64_t
cliq_context_iteration(const cliq_context *ctx)
{
    return ctx ? ctx->c.iteration : 0;
}

int64_t
cliq_context_max_iterations(const cliq_context *ctx)
{
    return ctx ? ctx->c.max_iterations : 0;
}

/* ---- actions ---- */

/* Parses the caller's JSON; NULL text: NULL. `what` names it in the error. */
static enum status
parse(cliq_context *ctx, const char *what, const char *text, bool is_object,
      const struct json **out, struct err *e)
{
    struct json *v = NULL;
    enum status s = text ? json_parse_named(&ctx->arena, what, text, strlen(text), &v, e) : ST_OK;

    if (!s && v && is_object && !json_is(v, JSON_OBJECT))
        s = err_set(e, ST_INVALID, "%s: it must be a JSON object", what);
    *out = v;
    return s;
}

cliq_status
cliq_send(cliq_context *ctx, const char *target, const char *data_json, const char *text,
          cliq_error *err)
{
    const struct json *data;
    struct err e;

    if (!ctx || !target)
        return sdk_invalid(err, "cliq_send: ctx and target must be set");
    enum status s = parse(ctx, "the handoff's data", data_json, true, &data, &e);
    if (!s)
        s = context_send(&ctx->c, target, data, text, &e);
    return sdk_outcome(s, &e, err);
}

cliq_status
cliq_send_text(cliq_context *ctx, const char *target, const char *text, cliq_error *err)
{
    if (!text)
        return sdk_invalid(err, "cliq_send_text: text must be set");
    return cliq_send(ctx, target, NULL, text, err);
}

cliq_status
cliq_write_file(cliq_context *ctx, const char *name, const void *content, size_t len,
                cliq_error *err)
{
    struct err e;

    if (!ctx || !name || (!content && len))
        return sdk_invalid(err, "cliq_write_file: ctx, name and content must be set");
    return sdk_outcome(context_write_file(&ctx->c, name, content ? content : "", len, &e), &e, err);
}

cliq_status
cliq_progress(cliq_context *ctx, const char *text, cliq_error *err)
{
    struct err e;

    if (!ctx || !text)
        return sdk_invalid(err, "cliq_progress: ctx and text must be set");
    if (ctx->speaker)
        agent_say(ctx->speaker, text);
    return sdk_outcome(context_progress(&ctx->c, text, &e), &e, err);
}

cliq_status
cliq_progressf(cliq_context *ctx, const char *format, ...)
{
    char *text = NULL;
    va_list ap;

    if (!ctx || !format)
        return CLIQ_INVALID;
    va_start(ap, format);
    int n = vasprintf(&text, format, ap);
    va_end(ap);
    if (n < 0)
        return CLIQ_IO;
    cliq_status s = cliq_progress(ctx, text, NULL);
    free(text);
    return s;
}

cliq_status
cliq_signal(cliq_context *ctx, const char *name, const char *payload_json, cliq_error *err)
{
    const struct json *payload;
    struct err e;

    if (!ctx || !name)
        return sdk_invalid(err, "cliq_signal: ctx and name must be set");
    enum status s =
        parse(ctx, "the signal's payload", payload_json ? payload_json : "{}", false, &payload, &e);
    if (!s)
        s = context_signal(&ctx->c, name, payload, &e);
    return sdk_outcome(s, &e, err);
}

cliq_status
cliq_register_notification(cliq_context *ctx, const char *event, const char *channel_ref,
                           const char *payload_json, cliq_error *err)
{
    const struct json *payload;
    struct err e;

    if (!ctx || !event || !channel_ref)
        return sdk_invalid(err,
                           "cliq_register_notification: ctx, event and channel_ref must be set");
    enum status s = parse(ctx, "the notification's payload", payload_json, true, &payload, &e);
    if (!s)
        s = context_notify(&ctx->c, event, channel_ref, payload, &e);
    return sdk_outcome(s, &e, err);
}

/* ---- the task board ---- */

cliq_status
cliq_board_mark_complete(cliq_context *ctx, const char *phase)
{
    if (!ctx || !ctx->c.phase || !phase)
        return CLIQ_INVALID;
    board_mark(&ctx->c.board, phase, true);
    return CLIQ_OK;
}

cliq_status
cliq_board_mark_incomplete(cliq_context *ctx, const char *phase)
{
    if (!ctx || !ctx->c.phase || !phase)
        return CLIQ_INVALID;
    board_mark(&ctx->c.board, phase, false);
    return CLIQ_OK;
}

cliq_status
cliq_board_add_note(cliq_context *ctx, const char *phase, const char *note)
{
    if (!ctx || !ctx->c.phase || !phase || !note)
        return CLIQ_INVALID;
    board_note(&ctx->c.board, phase, note);
    return CLIQ_OK;
}

cliq_status
cliq_board_replace(cliq_context *ctx, const char *content)
{
    if (!ctx || !ctx->c.phase || !content)
        return CLIQ_INVALID;
    board_replace(&ctx->c.board, content);
    return CLIQ_OK;
}

const char *
cliq_board_content(const cliq_context *ctx)
{
    if (!ctx)
        return NULL;
    return ctx->c.board.text.p ? ctx->c.board.text.p : "";
}

int
cliq_board_is_dirty(const cliq_context *ctx)
{
    return ctx && ctx->c.board.is_dirty;
}

/* ---- the end ---- */

/* A gate ends with a verdict and nothing else. */
static enum status
need_no_gate(const cliq_context *ctx, struct err *e)
{
    return ctx->c.is_gate
               ? err_set(e, ST_INVALID, "phase %s is a gate: it ends with a verdict", ctx->c.phase)
               : ST_OK;
}

cliq_status
cliq_finalize_standard(cliq_context *ctx, cliq_error *err)
{
    struct err e;

    if (!ctx)
        return sdk_invalid(err, "cliq_finalize_standard: ctx must be set");
    enum status s = need_no_gate(ctx, &e);
    if (!s)
        s = context_finalize_standard(&ctx->c, &e);
    return sdk_outcome(s, &e, err);
}

cliq_status
cliq_finalize_result(cliq_context *ctx, const char *result_json, cliq_error *err)
{
    const struct json *result = NULL;
    struct err e;

    if (!ctx)
        return sdk_invalid(err, "cliq_finalize_result: ctx must be set");
    enum status s = need_no_gate(ctx, &e);
    if (!s)
        s = parse(ctx, "the result", result_json, false, &result, &e);
    if (!s && !ctx->c.is_done)
        s = context_write_board(&ctx->c, &e);
    if (!s)
        s = context_complete(&ctx->c, result, &e);
    return sdk_outcome(s, &e, err);
}

cliq_status
cliq_finalize_gate(cliq_context *ctx, const cliq_verdict *verdict, cliq_error *err)
{
    static const char *const outcomes[] = {
        [CLIQ_VERDICT_PASS] = "PASS",
        [CLIQ_VERDICT_ROUTE] = "ROUTE",
        [CLIQ_VERDICT_ESCALATE] = "ESCALATE",
    };
    struct err e;

    if (!ctx || !verdict || verdict->size < sizeof *verdict)
        return sdk_invalid(err, "cliq_finalize_gate: ctx and verdict must be set");
    if (verdict->outcome < CLIQ_VERDICT_PASS || verdict->outcome > CLIQ_VERDICT_ESCALATE)
        return sdk_invalid(err,
                           "cliq_finalize_gate: verdict.outcome must be PASS, ROUTE or ESCALATE");
    if (!verdict->comment)
        return sdk_invalid(err, "cliq_finalize_gate: verdict.comment must be set");
    struct context_verdict v = {
        .outcome = outcomes[verdict->outcome],
        .target = verdict->target,
        .comment = verdict->comment,
        .reviewer = verdict->reviewer,
        .decided_at = verdict->decided_at,
    };
    return sdk_outcome(context_finalize_gate(&ctx->c, &v, &e), &e, err);
}

enum status
sdk_test_result(struct context *c, bool passed, const char *message, struct err *e)
{
    struct json *result = json_new(c->arena, JSON_OBJECT);
    struct json *is_passed = json_new(c->arena, passed ? JSON_TRUE : JSON_FALSE);
    struct json *text = json_new_str(c->arena, message, strlen(message));

    if (!result || !is_passed || !text)
        return err_nomem(e);
    json_set(result, "passed", is_passed);
    json_set(result, "message", text);
    return context_complete(c, result, e);
}

cliq_status
cliq_test_result(cliq_context *ctx, int passed, const char *message, cliq_error *err)
{
    struct err e;

    if (!ctx || !message)
        return sdk_invalid(err, "cliq_test_result: ctx and message must be set");
    if (strcmp(ctx->msg.type, "test") != 0)
        return sdk_invalid(err, "cliq_test_result: the message is not a test");
    return sdk_outcome(sdk_test_result(&ctx->c, passed, message, &e), &e, err);
}
