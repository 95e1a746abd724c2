#include "agents/acp/acp_request.h"

#include "agents/acp/acp_lease.h"
#include "agents/acp/acp_terminal.h"
#include "agents/acp/acp_update.h"
#include "base/utf8.h"

#include <string.h>

enum { INPUT_SHOWN = 1000 };

/* ---- permissions ---- */

/* option NULL: the request is cancelled, for want of one that fits. */
static void
select_option(struct acp_session *s, const struct json *id, const char *option)
{
    struct buf b = { 0 };

    json_open(&b, '{');
    json_key(&b, "outcome");
    json_open(&b, '{');
    json_key_str(&b, "outcome", option ? "selected" : "cancelled");
    json_key_str(&b, "optionId", option);
    json_close(&b, '}');
    json_close(&b, '}');
    jsonrpc_answer(&s->peer, id, b.p);
    buf_release(&b);
}

static const char *
name_of(const struct acp_tool *tool)
{
    return *tool->title ? tool->title : tool->id;
}

/* Told as progress; a turn that ends without words gives it as the reason. */
static void
tell_rejected(struct acp_session *s, const char *what, const char *why)
{
    struct buf b = { 0 };

    buf_addf(&b, "%s: %s", what, why);
    if (!buf_failed(&b)) {
        s->rejected = arena_dup(s->c->arena, b.p, b.len);
        acp_note(s, "rejected: %s", b.p);
    }
    buf_release(&b);
}

/* "/etc/hosts is outside of the working directory" */
static const char *
why_rejected(struct acp_session *s, const char *outside)
{
    static const char *const whys[] = {
        [ACP_READ] = "the phase's permissions are read",
        [ACP_EDIT] = "the phase's permissions are edit",
        [ACP_ALL] = "",
        [ACP_ASK] = "no person was asked",
    };
    struct buf b = { 0 };

    if (!outside)
        return whys[s->policy];
    buf_addf(&b, "%s is outside of the working directory", outside);
    const char *why = buf_failed(&b) ? NULL : arena_dup(&s->scratch, b.p, b.len);
    buf_release(&b);
    return why ? why : "a path is outside of the working directory";
}

/* ---- questions to people ---- */

static void
write_input(struct buf *to, const struct json *input)
{
    struct buf b = { 0 };

    json_write(&b, input);
    if (input && !buf_failed(&b)) {
        size_t n = utf8_cut(b.p, b.len, INPUT_SHOWN);
        buf_addf(to, "    %.*s%s\n", (int)n, b.p, n < b.len ? " …" : "");
    }
    buf_release(&b);
}

static void
write_question(struct acp_session *s, struct buf *to, const char *kind, const char *what)
{
    buf_addf(to, "May the agent %s do this in the phase %s?\n\n    %s: %s\n", s->c->agent,
             s->c->phase, kind, what);
}

static void
write_how(struct buf *to)
{
    buf_adds(to, "\nAnswer in this thread with allow or reject:\n"
                 "    cliq emit answer allow --parent ID\n");
}

/* Keeps the request and asks. False: no person can be asked, and *why says so. */
static bool
ask(struct acp_session *s, const struct json *rpc_id, struct acp_question q, const struct buf *text,
    struct err *why)
{
    struct arena *a = s->c->arena;
    struct acp_question *kept = arena_alloc(a, sizeof *kept);
    const char *id = arena_dup(a, rpc_id->text.p, rpc_id->text.len);

    if (!kept || !id || buf_status(text, "the question", why)) {
        err_nomem(why);
        return false;
    }
    q.rpc_id = *rpc_id;
    q.rpc_id.text.p = id;
    q.rpc_id.next = NULL;
    if (acp_person_ask(&s->person, s->c, text->p, &q.id, why))
        return false;
    q.next = s->questions;
    *kept = q;
    s->questions = kept;
    return true;
}

/* The agent hears what became of its request. */
static void
settle(struct acp_session *s, const struct acp_question *q, bool is_allowed, const char *why);

/* ---- permission requests ---- */

static void
ask_permission(struct acp_session *s, const struct jsonrpc_message *m, struct acp_question q)
{
    struct buf text = { 0 };
    struct err why;

    write_question(s, &text, q.tool->kind, name_of(q.tool));
    for (const struct acp_path *p = q.tool->paths; p; p = p->next)
        buf_addf(&text, "    %s\n", p->path);
    write_input(&text, json_path(m->params, "toolCall.rawInput"));
    write_how(&text);
    if (ask(s, m->id, q, &text, &why)) {
        acp_note(s, "waits for a person: %s: %s (%s)", q.tool->kind, name_of(q.tool),
                 s->questions->id);
    } else {
        tell_rejected(s, name_of(q.tool), why.text);
        select_option(s, m->id, q.no);
    }
    buf_release(&text);
}

static void
take_permission(struct acp_session *s, const struct jsonrpc_message *m)
{
    struct acp_tool *tool = acp_update_tool(s, json_get(m->params, "toolCall"));
    const struct json *options = json_get(m->params, "options");
    const char *outside;

    if (s->is_stopping) {
        select_option(s, m->id, NULL);
        return;
    }
    if (!tool) {
        jsonrpc_refuse(&s->peer, m->id, JSONRPC_INVALID_PARAMS, "toolCall.toolCallId is missing");
        return;
    }
    struct acp_question q = { .tool = tool,
                              .yes = acp_option(s->c->arena, options, true),
                              .no = acp_option(s->c->arena, options, false) };
    switch (acp_permission(s->policy, tool, &s->dir, &outside)) {
    case ACP_ALLOW:
        select_option(s, m->id, q.yes);
        break;
    case ACP_PERSON:
        ask_permission(s, m, q);
        break;
    case ACP_REJECT:
        tell_rejected(s, name_of(tool), why_rejected(s, outside));
        select_option(s, m->id, q.no);
        break;
    }
}

/* ---- files ---- */

static void
write_file(struct acp_session *s, const struct json *id, const char *path, const char *text,
           size_t len)
{
    struct err why;
    struct buf leased = { 0 };
    bool is_inside = work_dir_holds(&s->dir, path), anywhere = s->policy == ACP_ALL && !is_inside;

    if ((is_inside || anywhere) && acp_lease_forbids(s->c, path, &leased)) {
        const char *says = buf_failed(&leased) ? path : leased.p;
        s->rejected = arena_dup(s->c->arena, says, strlen(says));
        acp_note(s, "refused: %s", says);
        jsonrpc_refuse(&s->peer, id, status_rpc(ST_CONFLICT), says);
        buf_release(&leased);
        return;
    }
    enum status st = anywhere ? work_file_write_anywhere(path, text, len, &why)
                              : work_file_write(&s->dir, path, text, len, &why);

    if (st) {
        s->rejected = arena_dup(s->c->arena, why.text, strlen(why.text));
        acp_note(s, "refused: %s", why.text);
        jsonrpc_refuse(&s->peer, id, status_rpc(st), why.text);
    } else {
        acp_note(s, "wrote %s (%zu bytes)", path, len);
        jsonrpc_answer(&s->peer, id, NULL);
    }
}

static void
ask_to_write(struct acp_session *s, const struct jsonrpc_message *m, const char *path,
             const struct json *content)
{
    struct acp_question q = { .path = arena_dup(s->c->arena, path, strlen(path)),
                              .text = arena_dup(s->c->arena, content->text.p, content->text.len),
                              .len = content->text.len };
    struct buf text = { 0 };
    struct err why;

    write_question(s, &text, "write", path);
    write_input(&text, content);
    write_how(&text);
    if (q.path && q.text && ask(s, m->id, q, &text, &why)) {
        acp_note(s, "waits for a person: write %s (%s)", path, s->questions->id);
    } else {
        tell_rejected(s, path, why.text);
        jsonrpc_refuse(&s->peer, m->id, JSONRPC_INTERNAL, why.text);
    }
    buf_release(&text);
}

static void
take_write(struct acp_session *s, const struct jsonrpc_message *m)
{
    const struct json *content = json_get(m->params, "content");
    const struct json *named = json_get(m->params, "path");
    const char *path = json_dup_text(&s->scratch, named);

    if (!path || !json_is(content, JSON_STRING)) {
        jsonrpc_refuse(&s->peer, m->id, JSONRPC_INVALID_PARAMS, "path and content must be texts");
    } else if (strlen(path) < named->text.len) { /* what is before the NUL is another file */
        jsonrpc_refuse(&s->peer, m->id, JSONRPC_INVALID_PARAMS,
                       "the path has a NUL in it: give the path without");
    } else if (s->policy == ACP_READ) {
        tell_rejected(s, path, why_rejected(s, NULL));
        jsonrpc_refuse(&s->peer, m->id, status_rpc(ST_REFUSED),
                       "this phase may only read: nothing was written");
    } else if (s->policy == ACP_ASK && work_dir_holds(&s->dir, path) &&
               !acp_tools_grant(&s->tools, path)) {
        ask_to_write(s, m, path, content);
    } else {
        write_file(s, m->id, path, content->text.p, content->text.len);
    }
}

/* ---- commands ---- */

static void
ask_to_run(struct acp_session *s, const struct jsonrpc_message *m, const char *line,
           const char *cwd)
{
    struct buf text = { 0 }, params = { 0 };
    struct err why;

    json_write(&params, m->params);
    struct acp_question q = { .line = arena_dup(s->c->arena, line, strlen(line)),
                              .len = params.len,
                              .text = buf_failed(&params)
                                          ? NULL
                                          : arena_dup(s->c->arena, params.p, params.len) };
    write_question(s, &text, "run", line);
    if (cwd)
        buf_addf(&text, "    in %s\n", cwd);
    write_how(&text);
    if (!q.line || !q.text)
        jsonrpc_refuse(&s->peer, m->id, JSONRPC_INTERNAL, "out of memory");
    else if (ask(s, m->id, q, &text, &why)) {
        acp_note(s, "waits for a person: run %s (%s)", line, s->questions->id);
    } else {
        tell_rejected(s, line, why.text);
        jsonrpc_refuse(&s->peer, m->id, JSONRPC_INTERNAL, why.text);
    }
    buf_release(&params);
    buf_release(&text);
}

static void
take_command(struct acp_session *s, const struct jsonrpc_message *m)
{
    const char *line = acp_terminal_line(s, m->params), *outside;
    const char *cwd = json_dup_text(&s->scratch, json_get(m->params, "cwd"));
    struct buf why = { 0 };

    if (s->is_stopping) {
        jsonrpc_refuse(&s->peer, m->id, ACP_CANCELLED, "cancelled");
        return;
    }
    if (!line) {
        jsonrpc_refuse(&s->peer, m->id, JSONRPC_INVALID_PARAMS,
                       "command must be a text, and args a list of texts, none with a NUL");
        return;
    }
    enum acp_answer answer = acp_permission_command(s->policy, cwd, &s->dir, &outside);
    if (answer == ACP_PERSON && acp_tools_grant_command(&s->tools, line))
        answer = ACP_ALLOW;
    switch (answer) {
    case ACP_PERSON:
        ask_to_run(s, m, line, cwd);
        break;
    case ACP_ALLOW:
        acp_terminal_create(s, m->id, m->params);
        break;
    case ACP_REJECT:
        tell_rejected(s, line, why_rejected(s, outside));
        buf_addf(&why, "%s: the command was not run", why_rejected(s, outside));
        jsonrpc_refuse(&s->peer, m->id, status_rpc(ST_REFUSED), why.p ? why.p : "");
        buf_release(&why);
        break;
    }
}

/* A person allowed it. */
static void
run_asked(struct acp_session *s, const struct acp_question *q)
{
    struct json *params;

    if (json_parse(&s->scratch, q->text, q->len, &params, NULL))
        acp_terminal_create(s, &q->rpc_id, params);
    else
        jsonrpc_refuse(&s->peer, &q->rpc_id, JSONRPC_INTERNAL, "out of memory");
}

/* ---- all of them ---- */

void
acp_request(struct acp_session *s, const struct jsonrpc_message *m)
{
    struct buf why = { 0 };

    if (strcmp(m->method, "session/request_permission") == 0) {
        take_permission(s, m);
    } else if (strcmp(m->method, "fs/write_text_file") == 0) {
        take_write(s, m);
    } else if (strcmp(m->method, "terminal/create") == 0) {
        take_command(s, m);
    } else if (!acp_terminal_request(s, m)) {
        buf_addf(&why, "cliq does not offer %s", m->method);
        jsonrpc_refuse(&s->peer, m->id, JSONRPC_NO_METHOD, why.p ? why.p : "");
    }
    buf_release(&why);
}

static void
settle(struct acp_session *s, const struct acp_question *q, bool is_allowed, const char *why)
{
    if (q->tool) {
        q->tool->is_granted |= is_allowed;
        select_option(s, &q->rpc_id, is_allowed ? q->yes : q->no);
    } else if (is_allowed && !q->path) {
        run_asked(s, q);
    } else if (is_allowed) {
        write_file(s, &q->rpc_id, q->path, q->text, q->len);
    } else {
        jsonrpc_refuse(&s->peer, &q->rpc_id, status_rpc(ST_REFUSED), why);
    }
}

void
acp_request_hear(struct acp_session *s)
{
    struct acp_reply r;

    while (acp_person_next(&s->person, &r)) {
        struct acp_question **at = &s->questions;
        while (*at && strcmp((*at)->id, r.question) != 0)
            at = &(*at)->next;
        if (!*at)
            continue;
        const struct acp_question *q = *at;
        *at = q->next;
        const char *what = q->tool ? name_of(q->tool) : q->path ? q->path : q->line;
        acp_note(s, "%s %s: %s", r.by, r.is_allowed ? "allowed" : "rejected", what);
        if (!r.is_allowed)
            s->rejected = arena_dup(s->c->arena, what, strlen(what));
        settle(s, q, r.is_allowed, r.says);
        acp_person_end(&s->person, q->id, true);
    }
}

void
acp_request_take_back(struct acp_session *s, const struct json *id)
{
    struct acp_question **at = &s->questions;

    while (*at) {
        const struct acp_question *q = *at;
        if (id && !json_same(&q->rpc_id, id)) {
            at = &(*at)->next;
            continue;
        }
        *at = q->next;
        if (id || !q->tool)
            jsonrpc_refuse(&s->peer, &q->rpc_id, ACP_CANCELLED, "cancelled");
        else
            select_option(s, &q->rpc_id, NULL);
        acp_person_end(&s->person, q->id, false);
    }
}
