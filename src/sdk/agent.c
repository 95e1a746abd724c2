/*
 * agent - the agents of cliq.h: passes a message to its handler and writes the terminal
 * status line. context.c has the functions that a handler calls.
 */
#include "sdk/sdk.h"

#include "base/path.h"
#include "base/sys.h"
#include "base/term.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MESSAGE_MAX = 64 << 20 }; /* bytes, the limit of a buf */

static const char *const keys[] = { "phase:standard", "phase:gate", "notify", "test" };
enum { KEYS = sizeof keys / sizeof *keys };

struct cliq_agent {
    char *name;
    struct {
        cliq_handler handler;
        void *user;
    } on[KEYS];
};

cliq_agent *
cliq_agent_new(const char *name)
{
    cliq_agent *agent = name && path_is_name(name) ? calloc(1, sizeof *agent) : NULL;

    if (agent && !(agent->name = strdup(name))) {
        free(agent);
        return NULL;
    }
    return agent;
}

void
cliq_agent_free(cliq_agent *agent)
{
    if (agent)
        free(agent->name);
    free(agent);
}

cliq_status
cliq_agent_on(cliq_agent *agent, const char *key, cliq_handler handler, void *user)
{
    if (!agent || !key || !handler)
        return CLIQ_INVALID;
    for (size_t i = 0; i < KEYS; i++) {
        if (strcmp(keys[i], key) == 0) {
            agent->on[i].handler = handler;
            agent->on[i].user = user;
            return CLIQ_OK;
        }
    }
    return CLIQ_INVALID;
}

/* ---- one message ---- */

/* Ends the phase after a successful handler that did not end it itself. */
static enum status
finish(struct context *c, struct err *e)
{
    if (c->is_done)
        return ST_OK;
    if (c->is_gate)
        return err_set(e, ST_INVALID, "gate %s ended without a verdict", c->phase);
    if (c->phase)
        return context_finalize_standard(c, e);
    if (strcmp(c->msg->type, "test") == 0)
        return sdk_test_result(c, true, "ready", e);
    return context_complete(c, NULL, e);
}

static enum status
handle(const cliq_agent *agent, cliq_context *ctx, struct err *e)
{
    const struct agent_message *m = &ctx->msg;
    cliq_error why = CLIQ_ERROR_INIT;
    cliq_status s = CLIQ_OK;
    char key[80];
    size_t i = 0;

    snprintf(key, sizeof key, "%s%s%s", m->type, m->phase ? ":" : "",
             m->phase ? m->phase_type : "");
    while (i < KEYS && strcmp(keys[i], key) != 0)
        i++;
    if (i < KEYS && agent->on[i].handler)
        s = agent->on[i].handler(ctx, agent->on[i].user, &why);
    else if (strcmp(key, "test") != 0)
        return err_set(e, ST_FAILED, "agent %s has no handler for %s", agent->name, key);
    if (!s)
        return finish(&ctx->c, e);
    why.text[sizeof why.text - 1] = '\0';
    return why.text[0] ? err_set(e, ST_FAILED, "%s", why.text)
                       : err_set(e, ST_FAILED, "the handler for %s failed with status %d", key, s);
}

static enum status
dispatch(const cliq_agent *agent, const char *json, size_t len, bool is_speaking, struct err *e)
{
    cliq_context ctx = { .c = { .state.dir = -1, .signal_dir = -1 } };
    enum status s = agent_message_parse(&ctx.arena, json, len, &ctx.msg, e);

    if (!s) {
        ctx.speaker = is_speaking ? agent->name : NULL;
        s = context_build(&ctx.arena, &ctx.msg, &ctx.c, e);
        ctx.c.agent = agent->name;
        /* The ack confirms the message, so it is written even if the context has an error. */
        enum status ack = ctx.c.signal_dir >= 0 ? context_ack(&ctx.c, s ? NULL : e) : ST_OK;
        if (!s)
            s = ack;
        if (!s)
            s = handle(agent, &ctx, e);
        if (s && ctx.c.signal_dir >= 0)
            context_fail(&ctx.c, e->text, NULL);
        context_release(&ctx.c);
        s = s ? ST_FAILED : ST_OK;
    }
    arena_release(&ctx.arena);
    return s;
}

cliq_status
cliq_agent_dispatch(cliq_agent *agent, const char *json, size_t len, cliq_error *err)
{
    struct err e = { "" };

    if (!agent || !json)
        return sdk_invalid(err, "cliq_agent_dispatch: agent and json must be set");
    enum status s = len > MESSAGE_MAX ? err_set(&e, ST_INVALID,
                                                "the message is larger than %d bytes", MESSAGE_MAX)
                                      : dispatch(agent, json, len, false, &e);
    return sdk_outcome(s, &e, err);
}

/* ---- main ---- */

void
agent_say(const char *name, const char *text)
{
    struct buf b = { 0 };

    buf_addf(&b, "%s: ", name);
    term_escape(&b, text, strlen(text), true);
    buf_addc(&b, '\n');
    for (size_t at = 0; !buf_failed(&b) && at < b.len;) {
        ssize_t n = SYS_RETRY(sys->write(STDERR_FILENO, b.p + at, b.len - at));
        if (n <= 0)
            break; /* standard error is closed: ignore */
        at += (size_t)n;
    }
    buf_release(&b);
}

int
cliq_agent_run(cliq_agent *agent)
{
    struct buf text = BUF_MAX(MESSAGE_MAX);
    struct err e = { "" };

    if (!agent) {
        agent_say("cliq_agent_run", "there is no agent (a bad name, or no memory)");
        return 1;
    }
    enum status s = path_read_fd(STDIN_FILENO, "the message on standard input", &text, &e);
    if (!s)
        s = dispatch(agent, text.p ? text.p : "", text.len, true, &e);
    if (s)
        agent_say(agent->name, e.text);
    buf_release(&text);
    return s ? 1 : 0;
}
