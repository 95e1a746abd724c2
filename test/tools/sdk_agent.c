/*
 * sdk_agent - an agent over cliq.h that does what payload.script of its message says. test/sdk has
 * the same agent in JavaScript and Python; test/sdk/conformance.py compares what they leave.
 */
#include "cliq.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *
text_at(const json_t *step, size_t i)
{
    return json_string_value(json_array_get(step, i));
}

/* A value as JSON; NULL: null or absent. The caller frees it. */
static char *
json_at(const json_t *step, size_t i)
{
    const json_t *v = json_array_get(step, i);

    return !v || json_is_null(v) ? NULL : json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT);
}

static cliq_status
verdict(cliq_context *ctx, const json_t *step, cliq_error *err)
{
    cliq_verdict v = CLIQ_VERDICT_INIT;

    v.outcome = strcmp(text_at(step, 1), "PASS") == 0    ? CLIQ_VERDICT_PASS
                : strcmp(text_at(step, 1), "ROUTE") == 0 ? CLIQ_VERDICT_ROUTE
                                                         : CLIQ_VERDICT_ESCALATE;
    v.target = text_at(step, 2);
    v.comment = text_at(step, 3);
    v.reviewer = text_at(step, 4);
    v.decided_at = text_at(step, 5);
    return cliq_finalize_gate(ctx, &v, err);
}

/* Writes a text that the agent was given into a file. */
static cliq_status
show(cliq_context *ctx, const json_t *step, cliq_error *err)
{
    const char *what = text_at(step, 2), *text = "";

    if (strcmp(what, "role") == 0)
        text = cliq_context_role(ctx);
    else if (strcmp(what, "req_spec") == 0)
        text = cliq_context_req_spec(ctx);
    else if (strcmp(what, "input_text") == 0)
        text = cliq_context_input_text(ctx, NULL);
    else if (strcmp(what, "board") == 0)
        text = cliq_board_content(ctx);
    else
        text = cliq_context_input_text(ctx, what);
    return cliq_write_file(ctx, text_at(step, 1), text, strlen(text), err);
}

static cliq_status
take_step(cliq_context *ctx, const json_t *step, cliq_error *err)
{
    const char *deed = text_at(step, 0), *one = text_at(step, 1), *two = text_at(step, 2);
    cliq_status s = CLIQ_OK;
    char *json = NULL;

    if (strcmp(deed, "progress") == 0) {
        s = cliq_progress(ctx, one, err);
    } else if (strcmp(deed, "send") == 0) {
        json = json_at(step, 2);
        s = cliq_send(ctx, one, json, text_at(step, 3), err);
    } else if (strcmp(deed, "write_file") == 0) {
        s = cliq_write_file(ctx, one, two, strlen(two), err);
    } else if (strcmp(deed, "signal") == 0) {
        json = json_at(step, 2);
        s = cliq_signal(ctx, one, json, err);
    } else if (strcmp(deed, "notify") == 0) {
        json = json_at(step, 3);
        s = cliq_register_notification(ctx, one, two, json, err);
    } else if (strcmp(deed, "mark") == 0) {
        s = cliq_board_mark_complete(ctx, one);
    } else if (strcmp(deed, "unmark") == 0) {
        s = cliq_board_mark_incomplete(ctx, one);
    } else if (strcmp(deed, "note") == 0) {
        s = cliq_board_add_note(ctx, one, two);
    } else if (strcmp(deed, "replace") == 0) {
        s = cliq_board_replace(ctx, one);
    } else if (strcmp(deed, "show") == 0) {
        s = show(ctx, step, err);
    } else if (strcmp(deed, "verdict") == 0) {
        s = verdict(ctx, step, err);
    } else if (strcmp(deed, "result") == 0) {
        json = json_at(step, 1);
        s = cliq_finalize_result(ctx, json, err);
    } else if (strcmp(deed, "finalize") == 0) {
        s = cliq_finalize_standard(ctx, err);
    } else {
        snprintf(err->text, sizeof err->text, "%s", one);
        s = CLIQ_FAILED;
    }
    free(json);
    return s;
}

static cliq_status
follow(cliq_context *ctx, void *user, cliq_error *err)
{
    json_t *script = json_loads(cliq_context_payload(ctx, "script"), 0, NULL), *step;
    cliq_status s = CLIQ_OK;
    size_t i;

    (void)user;
    json_array_foreach(script, i, step)
    {
        if (!s)
            s = take_step(ctx, step, err);
    }
    json_decref(script);
    return s;
}

int
main(void)
{
    cliq_agent *agent = cliq_agent_new("scripted");

    cliq_agent_on(agent, "phase:standard", follow, NULL);
    cliq_agent_on(agent, "phase:gate", follow, NULL);
    cliq_agent_on(agent, "notify", follow, NULL);
    int code = cliq_agent_run(agent);
    cliq_agent_free(agent);
    return code;
}
