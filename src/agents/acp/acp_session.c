#define _GNU_SOURCE
#include "agents/acp/acp_session.h"

#include "agents/acp/acp_program.h"
#include "agents/acp/acp_request.h"
#include "agents/acp/acp_terminal.h"
#include "agents/acp/acp_update.h"
#include "agents/model_agent.h"
#include "agents/raw_stream.h"
#include "base/clock.h"
#include "base/term.h"
#include "cliq.h"
#include "team/agent.h"
#include "team/builtin_agents.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    PROTOCOL = 1,
    LINE_SHOWN = 400, /* bytes of an agent's last words in an error */
};

/* ---- initialize ---- */

static void
write_initialize(struct buf *to)
{
    json_open(to, '{');
    json_key_int(to, "protocolVersion", PROTOCOL);
    json_key(to, "clientCapabilities");
    json_open(to, '{');
    json_key(to, "fs");
    json_open(to, '{');
    json_key_bool(to, "readTextFile", false); /* it reads by itself; writes come to us */
    json_key_bool(to, "writeTextFile", true);
    json_close(to, '}');
    json_key_bool(to, "terminal", true);
    json_close(to, '}');
    json_key(to, "clientInfo");
    json_open(to, '{');
    json_key_str(to, "name", "cliq");
    json_key_str(to, "title", "cliq");
    json_key_str(to, "version", CLIQ_VERSION);
    json_close(to, '}');
    json_close(to, '}');
}

static const char *
auth_names(struct acp_session *s, const struct json *methods)
{
    struct buf b = { 0 };
    const char *names = "";

    json_each (method, methods) {
        const struct json *name = json_get(method, "name");
        if (json_is(name, JSON_STRING))
            buf_addf(&b, "%s%.*s", b.len ? ", " : "", (int)name->text.len, name->text.p);
    }
    if (b.len && !buf_failed(&b))
        names = arena_dup(s->c->arena, b.p, b.len);
    buf_release(&b);
    return names ? names : "";
}

/* Ways to sign in that take over the sign-in or key that the program has, and ask nobody. */
static const char *
quiet_auth(const struct json *methods)
{
    static const char *const known[] = { "cursor_login" };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        json_each (method, methods)
            if (json_eq(json_get(method, "id"), known[i]))
                return known[i];
    return NULL;
}

static enum status
check_version(const struct acp_session *s, const struct json *result, struct err *e)
{
    const struct json *version = json_get(result, "protocolVersion");
    int64_t n;

    if (json_int(version, &n) && n == PROTOCOL)
        return ST_OK;
    struct buf b = { 0 };
    json_write(&b, version);
    err_set(e, ST_FAILED,
            "%s speaks version %.40s of the Agent Client Protocol, and cliq speaks version %d: %s",
            acp_program_name(s), b.p ? b.p : "?", PROTOCOL,
            json_int(version, &n) && n > PROTOCOL
                ? "look for an option or an older release of it that speaks 1"
                : "is it a newer release that you need, or another program?");
    buf_release(&b);
    return ST_FAILED;
}

static enum status
initialize(struct acp_session *s, const struct json **result, struct err *e)
{
    struct buf params = { 0 };

    write_initialize(&params);
    enum status st = acp_program_ask(s, "initialize", &params, ACP_START_MS, result, e);
    buf_release(&params);
    if (!st)
        st = check_version(s, *result, e);
    if (st)
        return st;
    const struct json *can = json_get(*result, "agentCapabilities");
    json_bool(json_get(can, "loadSession"), &s->can_load);
    s->can_resume = json_is(json_path(can, "sessionCapabilities.resume"), JSON_OBJECT);
    s->auth = auth_names(s, json_get(*result, "authMethods"));
    s->quiet_auth = quiet_auth(json_get(*result, "authMethods"));
    return ST_OK;
}

/* ---- the session ---- */

static bool
sign_in_quietly(struct acp_session *s)
{
    struct buf params = { 0 };
    const struct json *ignored;
    enum status st = ST_REFUSED;

    json_open(&params, '{');
    json_key_str(&params, "methodId", s->quiet_auth);
    json_close(&params, '}');
    if (s->quiet_auth)
        st = acp_program_ask(s, "authenticate", &params, ACP_START_MS, &ignored, NULL);
    buf_release(&params);
    s->quiet_auth = NULL; /* once */
    return !st;
}

/* cliq's own MCP server. An agent need not hand its environment on to a server, so the server gets
 * what it finds phase, project and hub by. */
static void
write_servers(struct buf *to, const struct context *c)
{
    static const char *const names[] = { "CLIQ_HOME",        "CLIQ_URL",    "CLIQ_KEY",
                                         "CLIQ_IDENTITY",    "CLIQ_PHASE",  "CLIQ_STATE_DIR",
                                         "CLIQ_PROJECT_DIR", "WARROOMS_DIR" };
    static const char *const args[] = { "mcp" };

    json_key(to, "mcpServers");
    json_open(to, '[');
    json_sep(to);
    json_open(to, '{');
    json_key_str(to, "name", "cliq");
    json_key_str(to, "command", agent_self(c->arena));
    json_key_strs(to, "args", args, 1);
    json_key(to, "env");
    json_open(to, '[');
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (strcmp(names[i], "CLIQ_PHASE") == 0)
            value = c->phase;
        if (!value || !*value)
            continue;
        json_sep(to);
        json_open(to, '{');
        json_key_str(to, "name", names[i]);
        json_key_str(to, "value", value);
        json_close(to, '}');
    }
    json_close(to, ']');
    json_close(to, '}');
    json_close(to, ']');
}

/* The members of session/new, and of session/load and session/resume with an id. */
static enum status
ask_session(struct acp_session *s, const char *method, const char *id, const struct json **result,
            struct err *e)
{
    struct buf params = { 0 };

    json_open(&params, '{');
    json_key_str(&params, "sessionId", id);
    json_key_str(&params, "cwd", s->dir.given);
    write_servers(&params, s->c);
    json_close(&params, '}');
    enum status st = acp_program_ask(s, method, &params, ACP_START_MS, result, e);
    if (st == ST_REFUSED && sign_in_quietly(s))
        st = acp_program_ask(s, method, &params, ACP_START_MS, result, e);
    buf_release(&params);
    return st;
}

static enum status
begin_new(struct acp_session *s, const struct json **result, struct err *e)
{
    enum status st = ask_session(s, "session/new", NULL, result, e);

    s->id = st ? NULL : json_dup_text(s->c->arena, json_get(*result, "sessionId"));
    return st || s->id ? st
                       : err_set(e, ST_FAILED, "%s answered session/new without a sessionId",
                                 acp_program_name(s));
}

/* Goes on with the conversation of an earlier attempt. When that cannot be, a new one is begun: the
 * prompt has all that a phase must know. */
static enum status
begin(struct acp_session *s, const struct json **result, struct err *e)
{
    struct usage before;
    const char *id = model_agent_session(s->c, &before);
    const char *method = s->can_resume ? "session/resume" : "session/load";
    struct err why;

    if (!id)
        return begin_new(s, result, e);
    if (!s->can_resume && !s->can_load) {
        acp_note(s, "%s cannot go on with an earlier conversation: a new one begins",
                 acp_program_name(s));
        return begin_new(s, result, e);
    }
    enum status st = ask_session(s, method, id, result, &why);
    if (st == ST_FAILED && !s->peer.has_ended && !s->child.has_exited) {
        acp_note(s, "a new conversation begins: %s", why.text);
        return begin_new(s, result, e);
    }
    if (st) {
        err_say(e, "%s", why.text);
        return st;
    }
    s->is_loaded = !s->can_resume;
    s->id = arena_dup(s->c->arena, id, strlen(id));
    s->cost_before = before.has_cost ? before.cost_usd : 0;
    acp_note(s, "goes on with the conversation %s", id);
    return s->id ? ST_OK : err_nomem(e);
}

/* ---- the model ---- */

static const struct json *
model_option(const struct json *session)
{
    json_each (option, json_get(session, "configOptions"))
        if (json_eq(json_get(option, "category"), "model"))
            return option;
    return NULL;
}

/* "a, b, c": the models that the session offers. */
static void
list_models(struct buf *to, const struct json *session)
{
    json_each (one, json_path(session, "models.availableModels")) {
        const struct json *id = json_get(one, "modelId");
        buf_addf(to, "%s%.*s", to->len ? ", " : "",
                 json_is(id, JSON_STRING) ? (int)id->text.len : 0,
                 json_is(id, JSON_STRING) ? id->text.p : "");
    }
    json_each (one, json_get(model_option(session), "options")) {
        const struct json *id = json_get(one, "value");
        if (json_is(id, JSON_STRING))
            buf_addf(to, "%s%.*s", to->len ? ", " : "", (int)id->text.len, id->text.p);
    }
}

/* The session's answer is gone once the agent was asked for more: what is needed is copied. */
static enum status
choose_model(struct acp_session *s, const struct json *session, struct err *e)
{
    const char *model = model_agent_model(s->c);
    const struct json *option = model_option(session), *result;
    const struct json *models = json_get(session, "models");
    const struct json *now =
        option ? json_get(option, "currentValue") : json_get(models, "currentModelId");
    struct buf params = { 0 }, known = { 0 };
    struct err why;
    enum status st = ST_OK;

    s->model = model ? model : json_is(now, JSON_STRING) ? json_dup_text(s->c->arena, now) : NULL;
    if (!model || json_eq(now, model))
        return ST_OK;
    if (!option && !json_is(models, JSON_OBJECT)) {
        s->model = NULL;
        acp_note(s, "%s offers no choice of a model: %s is not used", acp_program_name(s), model);
        return ST_OK;
    }
    list_models(&known, session);
    acp_program_write_id(s, &params);
    if (option)
        json_key_json(&params, "configId", json_get(option, "id"));
    json_key_str(&params, option ? "value" : "modelId", model);
    json_close(&params, '}');
    st = acp_program_ask(s, option ? "session/set_config_option" : "session/set_model", &params,
                         ACP_START_MS, &result, &why);
    if (st)
        err_say(e, "the model %s cannot be used: %s. %s offers: %.300s", model, why.text,
                acp_program_name(s), known.len ? known.p : "none");
    buf_release(&params);
    buf_release(&known);
    return st;
}

/* ---- open, prompt, close ---- */

const char *
acp_key_env(const struct context *c)
{
    const struct builtin *b = builtin_find(c->agent);

    return b ? b->key_env : NULL;
}

/* The program inherits our environment; its arguments hold no secrets. */
static void
hand_over_key(const struct context *c)
{
    const char *name = acp_key_env(c), *key = model_agent_text(c, "api_key");

    if (name && key)
        setenv(name, key, 1);
}

/* Keeps a piece of the agent's output as it came; n 0: the output ended. */
static void
keep_raw(void *ctx, const char *p, size_t n)
{
    struct acp_session *s = ctx;
    struct buf out = { 0 };

    if (s->raw < 0)
        return;
    if (n)
        mask_write(&s->shown_raw, p, n, &out);
    else
        mask_end(&s->shown_raw, &out);
    acp_write(s->raw, out.p, out.len);
    buf_release(&out);
}

static enum status
connect(struct acp_session *s, struct context *c, const char *const *argv,
        const struct json **initialized, struct err *e)
{
    const char *dir = c->work_dir ? c->work_dir : c->project_dir ? c->project_dir : ".";

    *s = (struct acp_session){ .c = c,
                               .argv = argv,
                               .auth = "",
                               .peer = { .in = -1, .out = -1, .copy = keep_raw, .ctx = s },
                               .raw = -1,
                               .errors = -1,
                               .signals = -1,
                               .tools.arena = c->arena };
    signal(SIGPIPE, SIG_IGN);
    hand_over_key(c);
    enum status st = acp_policy_read(model_agent_text(c, "permissions"), &s->policy, e);
    if (!st)
        st = mask_stream_init(&s->shown, &c->mask, e);
    if (!st)
        st = mask_stream_init(&s->shown_errors, &c->mask, e);
    if (!st)
        st = mask_stream_init(&s->shown_raw, &c->mask, e);
    if (!st)
        s->raw = raw_stream_open();
    if (!st)
        st = work_dir_open(&s->dir, dir, c->state_dir, e);
    if (!st)
        st = acp_program_listen(s, e);
    if (!st)
        st = acp_program_start(s, e);
    return st ? st : initialize(s, initialized, e);
}

enum status
acp_session_open(struct acp_session *s, struct context *c, const char *const *argv, struct err *e)
{
    const struct json *result;
    enum status st = connect(s, c, argv, &result, e);

    if (!st)
        st = begin(s, &result, e);
    if (!st)
        st = choose_model(s, result, e);
    if (!st && s->is_loaded)
        acp_program_hear_history(s);
    acp_program_leave();
    return st;
}

enum status
acp_session_test(struct context *c, const char *const *argv, struct buf *says, struct err *e)
{
    struct acp_session s;
    const struct json *result;
    enum status st = connect(&s, c, argv, &result, e);

    acp_program_leave();
    if (!st) {
        const struct json *name = json_path(result, "agentInfo.name");
        const struct json *version = json_path(result, "agentInfo.version");
        const char *who =
            json_is(name, JSON_STRING) ? json_dup_text(c->arena, name) : acp_program_name(&s);
        const char *which =
            json_is(version, JSON_STRING) ? json_dup_text(c->arena, version) : "of no version";
        buf_addf(says, "%s %s", who ? who : "", which ? which : "");
    }
    acp_session_close(&s);
    return st;
}

static void
write_prompt(struct acp_session *s, const char *prompt, struct buf *to)
{
    acp_program_write_id(s, to);
    json_key(to, "prompt");
    json_open(to, '[');
    json_open(to, '{');
    json_key_str(to, "type", "text");
    json_key_str(to, "text", prompt);
    json_close(to, '}');
    json_close(to, ']');
    json_close(to, '}');
}

/* The meaning for a phase of a turn that ended otherwise than by end_turn. */
static enum status
check_stop(struct acp_session *s, const struct json *result, struct err *e)
{
    static const struct {
        const char *name, *says;
    } reasons[] = {
        { "refusal", "refused to go on" },
        { "max_tokens", "stopped at its limit of tokens, in the middle of its answer" },
        { "max_turn_requests", "stopped at its limit of model requests in one turn" },
        { "cancelled", "ended the turn as cancelled, although it was not cancelled by cliq" },
    };
    const struct json *reason = json_get(result, "stopReason");
    struct text words = acp_update_answer(s);
    struct buf line = { 0 };
    enum status st = ST_OK;

    if (words.len)
        term_last_line(&line, words.p, words.len, LINE_SHOWN);
    if (json_is(reason, JSON_STRING) && !json_eq(reason, "end_turn"))
        st = err_set(e, ST_FAILED, "%s ended its turn for a reason that cliq does not know: %.*s",
                     acp_program_name(s), (int)(reason->text.len < 80 ? reason->text.len : 80),
                     reason->text.p);
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (json_eq(reason, reasons[i].name))
            st = err_set(e, ST_FAILED, "%s %s (%s)%s%s", acp_program_name(s), reasons[i].says,
                         reasons[i].name, line.len ? ". Its last words: " : "",
                         line.len ? line.p : "");
    buf_release(&line);
    return st;
}

/* Words that are not whole UTF-8 could not be kept: JSON has no others. */
static enum status
end_turn(struct acp_session *s, const struct json *result, struct buf *answer, struct err *e)
{
    acp_update_usage(s, result);
    if (s->is_stopping)
        return err_set(e, ST_CANCELLED, "stopped: %s was told to cancel, and ended its turn",
                       acp_program_name(s));
    enum status st = buf_status(&s->words, "the agent's answer", e);
    if (!st)
        st = check_stop(s, result, e);
    if (!st && s->peer.lines.n_too_long)
        st = err_set(e, ST_FAILED,
                     "%s wrote a line of more than %zu MiB: a part of its answer is lost; let it "
                     "write a file instead",
                     acp_program_name(s), JSONRPC_LINE_MAX >> 20);
    struct text words = acp_update_answer(s);
    if (!st && !text_trim(words).len && s->rejected)
        st = err_set(e, ST_FAILED, "%s ended its turn without an answer, after it was refused: %s",
                     acp_program_name(s), s->rejected);
    if (!st)
        buf_add(answer, words.p, words.len);
    return st;
}

enum status
acp_session_prompt(struct acp_session *s, const char *prompt, struct buf *answer, struct err *e)
{
    struct buf params = { 0 };
    const struct json *result;
    int64_t began = clock_mono_ms();
    enum status st = acp_program_listen(s, e);

    buf_reset(&s->words);
    s->last_words = 0;
    s->message_id = s->rejected = NULL;
    write_prompt(s, prompt, &params);
    s->is_prompting = true;
    if (!st)
        st = acp_program_ask(s, "session/prompt", &params, 0, &result, e);
    s->is_prompting = false;
    s->usage.duration_ms += clock_mono_ms() - began;
    s->usage.turns++;
    acp_request_take_back(s, NULL);
    acp_show(s, "\n", 1);
    acp_show(s, NULL, 0);
    if (!st)
        st = end_turn(s, result, answer, e);
    acp_program_leave();
    buf_release(&params);
    return st;
}

void
acp_session_close(struct acp_session *s)
{
    acp_program_end(s);
    keep_raw(s, NULL, 0);
    if (s->raw >= 0)
        close(s->raw);
    mask_stream_release(&s->shown_raw);
    acp_terminal_end_all(s);
    acp_person_close(&s->person);
    buf_release(&s->words);
    mask_stream_release(&s->shown);
    work_dir_release(&s->dir);
}
