#include "agents/acp/acp_person.h"

#include "agents/model_agent.h"
#include "net/fetch.h"
#include "net/libcurl.h"
#include "wake/wake.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- what an answer means ---- */

static bool
is_one_of(const char *text, size_t n, const char *const *words)
{
    for (; *words; words++)
        if (strlen(*words) == n && strncasecmp(text, *words, n) == 0)
            return true;
    return false;
}

int
acp_person_meaning(const char *text)
{
    static const char *const yes[] = { "allow",   "allowed",  "yes", "y",
                                       "approve", "approved", "ok",  NULL };
    static const char *const no[] = { "reject", "rejected", "no",      "n", "deny",
                                      "denied", "refuse",   "refused", NULL };

    text += strspn(text, " \t\r\n");
    size_t n = strcspn(text, " \t\r\n.,:;!-");
    return is_one_of(text, n, yes) ? 1 : is_one_of(text, n, no) ? 0 : -1;
}

/* ---- the hub ---- */

static enum status
open_hub(struct acp_person *p, const struct context *c, struct err *e)
{
    const char *reviewer = model_agent_text(c, "reviewer");
    struct hubclient_options o = {
        .says = "CLIQ_IDENTITY",
        .hub.on_round = wake_on_round,
        .secure = fetch_secure,
    };

    if (p->is_open)
        return ST_OK;
    p->context = c;
    p->role = reviewer && *reviewer != '@' ? reviewer : NULL;
    p->to = reviewer && *reviewer == '@' ? reviewer + 1 : NULL;
    enum status s = hubclient_open(&p->hub, &o, e);
    if (!s && p->hub.place.is_tls)
        s = libcurl_load(e);
    if (!s)
        s = subscription_open(&p->follow, &p->hub, &(struct subscription_filter){ 0 }, e);
    if (s) {
        subscription_close(&p->follow);
        hubclient_close(&p->hub);
        return s;
    }
    if (!p->hub.url && !getenv("CLIQ_IDENTITY")) { /* we are started by the user */
        p->to = reviewer ? p->to : p->hub.identity;
        p->hub.identity = c->agent;
    }
    p->identity = p->hub.identity;
    p->is_open = true;
    return ST_OK;
}

static bool
set_text(struct arena *a, struct json *args, const char *key, const char *text)
{
    return !text || json_set(args, key, json_new_str(a, text, strlen(text)));
}

static bool
set_tags(struct acp_person *p, struct json *args)
{
    struct json *tags = json_new(&p->arena, JSON_ARRAY);
    const char *phase = p->context->phase;

    if (!tags)
        return false;
    json_add(tags, json_new_str(&p->arena, "permission", strlen("permission")));
    json_add(tags, json_new_str(&p->arena, phase, strlen(phase)));
    return json_set(args, "tags", tags);
}

static enum status
emit(struct acp_person *p, const char *question, struct hub_reply *reply, struct err *e)
{
    struct arena *a = &p->arena;
    struct json *args = json_new(a, JSON_OBJECT);
    struct buf masked = { 0 };
    if (mask_text(&p->context->mask, question, strlen(question), &masked, e))
        return ST_IO;
    question = arena_dup(a, masked.p, masked.len);
    buf_release(&masked);
    bool ok = args && question && set_text(a, args, "signal_type", "task") &&
              set_text(a, args, "content", question) && set_text(a, args, "to_role", p->role) &&
              set_text(a, args, "to_identity", p->to) && set_tags(p, args);

    return ok ? hubclient_call(&p->hub, a, HUB_EMIT, args, reply, e) : err_nomem(e);
}

enum status
acp_person_ask(struct acp_person *p, const struct context *c, const char *question, const char **id,
               struct err *e)
{
    struct hub_reply reply;
    struct err why;

    arena_reset(&p->arena);
    enum status s = open_hub(p, c, &why);
    if (!s)
        s = emit(p, question, &reply, &why);
    if (s) {
        err_say(e, "no person can be asked: %s", why.text);
        return s;
    }
    *id = json_dup_text(c->arena, json_get(reply.data, "id"));
    return *id ? ST_OK : err_set(e, ST_IO, "no person can be asked: the hub gave no id");
}

int
acp_person_fd(struct acp_person *p)
{
    int fd = -1;

    return p->is_open && subscription_fd(&p->follow, &fd, NULL) == ST_OK ? fd : -1;
}

/* Does the identity hold the role that was asked? A role without a holder is held by everyone. */
static bool
holds_role(struct acp_person *p, const char *by)
{
    struct arena a = { 0 };
    struct hub_reply reply = { 0 };
    const struct json *args = json_new(&a, JSON_OBJECT), *members = NULL;
    bool is_known = args && hubclient_call(&p->hub, &a, HUB_ROLES, args, &reply, NULL) == ST_OK;
    bool holds = false;

    json_each (role, is_known ? reply.data : NULL)
        if (json_eq(json_get(role, "id"), p->role))
            members = json_get(role, "members");
    json_each (member, members)
        holds |= json_eq(member, by);
    holds |= is_known && !json_first(members);
    arena_release(&a);
    return holds;
}

/* May the answer count? */
static bool
may_answer(struct acp_person *p, const char *by)
{
    return strcmp(by, p->context->agent) != 0 && (!p->identity || strcmp(by, p->identity) != 0) &&
           (!p->to || strcmp(by, p->to) == 0) && (!p->role || holds_role(p, by));
}

bool
acp_person_next(struct acp_person *p, struct acp_reply *out)
{
    const struct json *signal;

    while (p->is_open && subscription_next(&p->follow, 0, &signal, NULL) == ST_OK) {
        arena_reset(&p->arena);
        const char *by = json_dup_text(&p->arena, json_get(signal, "from_identity"));
        out->question = json_dup_text(&p->arena, json_get(signal, "parent_id"));
        out->says = json_dup_text(&p->arena, json_get(signal, "content"));
        int meaning = out->says ? acp_person_meaning(out->says) : -1;
        out->by = by;
        out->is_allowed = meaning == 1;
        if (out->question && by && meaning >= 0 && may_answer(p, by))
            return true;
    }
    return false;
}

void
acp_person_end(struct acp_person *p, const char *id, bool is_answered)
{
    struct hub_reply reply;

    arena_reset(&p->arena);
    struct json *args = json_new(&p->arena, JSON_OBJECT);
    if (!args || !set_text(&p->arena, args, "signal_id", id))
        return;
    if (is_answered && hubclient_call(&p->hub, &p->arena, HUB_ACK, args, &reply, NULL) == ST_OK)
        return;
    if (set_text(&p->arena, args, "task_status", "cancelled"))
        hubclient_call(&p->hub, &p->arena, HUB_STATUS, args, &reply, NULL);
}

void
acp_person_close(struct acp_person *p)
{
    if (p->is_open) {
        subscription_close(&p->follow);
        hubclient_close(&p->hub);
    }
    arena_release(&p->arena);
    *p = (struct acp_person){ 0 };
}
