#include "mcp/tools.h"

#include "hub/model/arg_schema.h"
#include "mcp/files.h"
#include "mcp/lease_tool.h"

#include <string.h>

/* ---- the table ---- */

static const struct hub_arg ack_more[] = {
    { "task_status", A_WORD("done"), .brief = "done: the task is done" },
    { 0 },
};

static const struct hub_arg lease_more[] = {
    { "action", A_WORD("take release list"), .is_required = true, .brief = "what to do" },
    { 0 },
};

static const struct mcp_tool tools[] = {
    { "generate_signal", "Broadcast a signal to all who subscribe to its type.", .op = HUB_GENERATE,
      .takes = "type source data" },
    { "signal_subscribe",
      "Subscribe to broadcasts by pattern. They wait in the inbox; with silent=false they wake the "
      "agent.",
      .op = HUB_SUBSCRIBE, .takes = "pattern silent agentId" },
    { "signal_unsubscribe", "End the subscription to exactly this pattern.", .op = HUB_UNSUBSCRIBE,
      .takes = "pattern agentId" },
    { "emit", "Send a message or task to a role, a ring, an identity, or everyone.", .op = HUB_EMIT,
      .takes = "signal_type content urgency from_role to_role to_ring to_identity parent_id tags "
               "resources metadata payload task_status expires_at dedup_key" },
    { "inbox", "Messages and tasks that wait for you. More than a page: pass the cursor as after.",
      .is_reading = true, .op = HUB_INBOX,
      .takes = "target view receipt_state type min_urgency delivery_state limit after",
      .given = "{\"target\":\"@\"}" },
    { "claim", "Claim a task before working on it: this one, or the next. null: there is none.",
      .op = HUB_CLAIM, .takes = "signal_id role types lease_seconds wait_seconds" },
    { "ack", "Acknowledge a message, or finish a task (task_status: done).", .op = HUB_ACK,
      .takes = "signal_id claim_id", .more = ack_more },
    { "fail", "Say that a task you claimed failed; it is tried again later.", .op = HUB_FAIL,
      .takes = "signal_id claim_id error retry_in" },
    { "thread", "A message and all that answers it, in order.", .is_reading = true,
      .op = HUB_THREAD, .takes = "id" },
    { "room_post", "Post a message to a war-room.", .run = mcp_room_post,
      .args = mcp_room_post_args },
    { "room_read", "Messages of a war-room; without room: all rooms, and the role each waits for.",
      .is_reading = true, .run = mcp_room_read, .args = mcp_room_read_args },
    { "pipeline_status", "How far the pipeline is: phases, agents, gates, usage.",
      .is_reading = true, .run = mcp_pipeline_status, .args = mcp_pipeline_status_args },
    { "handoff", "What one phase of the pipeline handed to another.", .is_reading = true,
      .run = mcp_handoff, .args = mcp_handoff_args },
    { "review",
      "Gates that wait for a person's decision: a list; with id one of them; with verdict your "
      "answer.",
      .is_deciding = true, .run = mcp_review, .args = mcp_review_args },
    { "lease", "Lease files before you edit them, so that others keep off; list shows all.",
      .op = HUB_LEASE_TAKE, .takes = "paths ttl_seconds reason project", .finds = "project paths",
      .more = lease_more, .complete = mcp_lease_complete },
};

const struct mcp_tool *
mcp_tool_nth(const struct mcp_offer *offer, size_t i)
{
    for (size_t k = 0; k < sizeof tools / sizeof *tools; k++)
        if (((!tools[k].run && !tools[k].complete) || offer->has_files) && i-- == 0)
            return &tools[k];
    return NULL;
}

const struct mcp_tool *
mcp_tool_find(const struct mcp_offer *offer, const struct json *name, struct suggest *near)
{
    const struct mcp_tool *t;

    for (size_t i = 0; (t = mcp_tool_nth(offer, i)); i++) {
        if (json_eq(name, t->name))
            return t;
        if (near->word)
            suggest_try(near, t->name);
    }
    return NULL;
}

/* ---- arguments ---- */

static bool
has_word(const char *words, const char *word)
{
    size_t n = strlen(word);

    for (const char *w = words; *w; w += strspn(w, " ")) {
        size_t len = strcspn(w, " ");
        if (len == n && memcmp(w, word, n) == 0)
            return true;
        w += len;
    }
    return false;
}

void
mcp_tool_args(const struct mcp_tool *t, struct hub_arg to[MCP_ARGS_MAX])
{
    struct arena a = { 0 };
    struct json *given = NULL;
    size_t n = 0;

    if (t->given)
        json_parse(&a, t->given, strlen(t->given), &given, NULL);
    for (const struct hub_arg *arg = t->run ? t->args : hub_op_args(t->op); arg->name; arg++) {
        if (!t->run && !has_word(t->takes, arg->name))
            continue;
        to[n] = *arg;
        to[n++].is_required = arg->is_required && !json_get(given, arg->name) &&
                              !(t->finds && has_word(t->finds, arg->name));
    }
    for (const struct hub_arg *arg = t->more; arg && arg->name; arg++)
        to[n++] = *arg;
    to[n] = (struct hub_arg){ .name = NULL };
    arena_release(&a);
}

/* Clients go by them when they choose which calls a person has to allow: Codex, for one, lets only
 * pass what says that it destroys nothing and stays in its own world. */
static void
write_hints(struct buf *to, const struct mcp_tool *t)
{
    if (t->is_deciding)
        return;
    json_key(to, "annotations");
    buf_adds(to, t->is_reading ? "{\"readOnlyHint\":true}"
                               : "{\"destructiveHint\":false,\"openWorldHint\":false}");
}

void
mcp_tools_write(const struct mcp_offer *offer, struct buf *to)
{
    static const struct arg_schema_refs refs = {
        .source = "{\"type\":\"object\"}", /* the line of the argument says the rest */
        .is_short = true,
    };
    const struct mcp_tool *t;

    json_key(to, "tools");
    json_open(to, '[');
    for (size_t i = 0; (t = mcp_tool_nth(offer, i)); i++) {
        struct hub_arg args[MCP_ARGS_MAX];
        mcp_tool_args(t, args);
        json_sep(to);
        json_open(to, '{');
        json_key_str(to, "name", t->name);
        json_key_str(to, "description", t->brief);
        json_key(to, "inputSchema");
        arg_schema_write_object(to, args, &refs);
        write_hints(to, t);
        json_close(to, '}');
    }
    json_close(to, ']');
}

/* The arguments as a new object: those that are given when the caller leaves them out, and his,
 * but not null. */
static enum status
merge(struct mcp_request *r, const struct json *arguments, struct json **out, struct err *e)
{
    const char *given = r->tool->given ? r->tool->given : "{}";

    if (!json_parse(r->arena, given, strlen(given), out, NULL))
        return err_nomem(e);
    json_each (v, arguments) {
        const char *key = arena_dup(r->arena, v->key, v->key_len);
        struct json *copy = json_new(r->arena, v->type);
        if (!key || !copy)
            return err_nomem(e);
        *copy = *v;
        copy->next = NULL;
        if (v->type != JSON_NULL)
            json_set(*out, key, copy);
    }
    return ST_OK;
}

enum status
mcp_tool_prepare(struct mcp_request *r, const struct json *arguments, struct err *e)
{
    struct hub_arg known[MCP_ARGS_MAX];
    struct refusal refusal = { 0 };
    struct args_in in = {
        .object = arguments, .known = known, .prefix = "", .arena = r->arena, .refusal = &refusal
    };
    struct json *args;

    mcp_tool_args(r->tool, known);
    if (json_is(arguments, JSON_OBJECT) && !args_known(&in, r->tool->name))
        return err_set(e, ST_INVALID, "%s", refusal.message);
    enum status s = merge(r, arguments, &args, e);
    if (s)
        return s;
    in.object = args;
    for (const struct hub_arg *a = known; a->name; a++)
        if (a->is_required && !json_get(args, a->name))
            return err_set(e, ST_INVALID, "%s needs %s: %s", r->tool->name, a->name, a->brief);
    for (const struct hub_arg *a = r->tool->more; a && a->name; a++) {
        const char *word = NULL;
        if (!arg_word(&in, a->name, &word))
            return err_set(e, ST_INVALID, "%s", refusal.message);
    }
    r->need = r->tool->run ? MCP_FILES : MCP_HUB;
    r->op = r->tool->op;
    r->args = args;
    if (r->op == HUB_ACK && json_get(args, "task_status"))
        r->op = HUB_STATUS;
    if (r->op == HUB_LEASE_TAKE && json_eq(json_get(args, "action"), "release"))
        r->op = HUB_LEASE_RELEASE;
    if (r->op == HUB_LEASE_TAKE && json_eq(json_get(args, "action"), "list"))
        r->op = HUB_LEASES;
    return ST_OK;
}

/* ---- operations in turn ---- */

/*
 * ack with task_status done: status done. Only a task in progress can be done, so when that is
 * refused because the task is merely claimed, it is begun first:
 *
 *     step 0  done         refused: step 1, else the end
 *     step 1  in_progress  refused: the end, with that reason
 *     step 2  done
 */
bool
mcp_tool_next(struct mcp_request *r, enum status *s, const struct hub_reply *reply)
{
    (void)reply;
    if (r->op != HUB_STATUS || r->step == 2 || (r->step == 0 && *s != ST_CONFLICT) ||
        (r->step == 1 && *s))
        return true;
    const char *word = r->step++ == 0 ? "in_progress" : "done";
    struct json *v = json_new_str(r->arena, word, strlen(word));
    if (!json_set((struct json *)(uintptr_t)r->args, "task_status", v)) {
        *s = ST_IO;
        return true;
    }
    return false;
}

/* ---- answers ---- */

static bool
is_empty(const struct json *v)
{
    return v->type == JSON_NULL ||
           ((v->type == JSON_ARRAY || v->type == JSON_OBJECT) && !json_first(v));
}

/* A signal without its members that say nothing; other values as they are. `depth` keeps data of
 * the caller whole: only the signals themselves are shortened. */
static void
write_lean(struct buf *to, const struct json *v, int depth)
{
    if (!v || depth == 0 || (v->type != JSON_ARRAY && v->type != JSON_OBJECT)) {
        json_write(to, v);
        return;
    }
    json_open(to, v->type == JSON_ARRAY ? '[' : '{');
    json_each (m, v) {
        if (v->type == JSON_ARRAY) {
            json_sep(to);
            write_lean(to, m, depth);
            continue;
        }
        if (is_empty(m) || json_eq(m, "chorus/1.0"))
            continue;
        struct buf key = { 0 };
        buf_add(&key, m->key, m->key_len);
        json_key(to, key.p ? key.p : "");
        json_write(to, m);
        buf_release(&key);
    }
    json_close(to, v->type == JSON_ARRAY ? ']' : '}');
}

void
mcp_lean_reply(const struct mcp_request *r, const struct hub_reply *reply, struct buf *to)
{
    const struct json *data = reply->data ? reply->data : hub_reply_data(reply, r->arena);

    bool is_lease = r->op == HUB_LEASE_TAKE || r->op == HUB_LEASE_RELEASE || r->op == HUB_LEASES;

    if (reply->has_cursor || json_is(data, JSON_ARRAY)) {
        json_open(to, '{');
        json_key(to, is_lease ? "leases" : "signals");
        write_lean(to, data, 1);
        json_key_str(to, "cursor", reply->cursor);
        json_close(to, '}');
    } else {
        write_lean(to, data, 1);
    }
}

/* "agent:ruby" */
static void
write_source(struct buf *to, const struct json *source)
{
    const struct json *type = json_get(source, "type"), *id = json_get(source, "id");

    if (json_is(type, JSON_STRING))
        buf_add(to, type->text.p, type->text.len);
    if (json_is(id, JSON_STRING)) {
        buf_addc(to, ':');
        buf_add(to, id->text.p, id->text.len);
    }
}

/* The form that the tools of the broadcast door have always had. */
static void
write_generated(struct buf *to, const struct json *signal)
{
    struct buf source = { 0 }, summary = { 0 };
    const struct json *type = json_get(signal, "type");

    write_source(&source, json_get(signal, "source"));
    buf_adds(&summary, "Signal ");
    if (json_is(type, JSON_STRING))
        buf_add(&summary, type->text.p, type->text.len);
    buf_addf(&summary, " generated by %s", source.p ? source.p : "?");
    json_open(to, '{');
    json_key_strn(to, "summary", summary.p ? summary.p : "", summary.len);
    json_key_json(to, "signalId", json_get(signal, "id"));
    json_key_json(to, "signalType", type);
    json_key_strn(to, "source", source.p ? source.p : "", source.len);
    json_close(to, '}');
    buf_release(&source);
    buf_release(&summary);
}

static void
write_subscription(struct buf *to, const struct mcp_request *r, const struct json *data)
{
    const struct json *sub = json_get(data, "subscription");
    const struct json *pattern, *agent;
    struct buf summary = { 0 };

    sub = sub ? sub : data;
    pattern = json_get(sub, "pattern");
    pattern = pattern ? pattern : json_get(r->args, "pattern");
    agent = json_get(sub, "agentId");
    bool is_on = r->op == HUB_SUBSCRIBE, was_on = json_is(json_get(data, "removed"), JSON_TRUE);
    buf_adds(&summary, is_on    ? "Subscribed to "
                       : was_on ? "Unsubscribed from "
                                : "There was no subscription to ");
    if (json_is(pattern, JSON_STRING))
        buf_add(&summary, pattern->text.p, pattern->text.len);
    json_open(to, '{');
    json_key_strn(to, "summary", summary.p ? summary.p : "", summary.len);
    json_key_json(to, "agentId", agent);
    json_key_json(to, "pattern", pattern);
    json_key_json(to, "silent", json_get(sub, "silent"));
    json_key_json(to, "removed", json_get(data, "removed"));
    json_close(to, '}');
    buf_release(&summary);
}

void
mcp_tool_write(const struct mcp_request *r, const struct hub_reply *reply, struct buf *to)
{
    const struct json *data = reply->data ? reply->data : hub_reply_data(reply, r->arena);

    switch ((int)r->op) {
    case HUB_GENERATE:
        write_generated(to, json_get(data, "signal") ? json_get(data, "signal") : data);
        break;
    case HUB_SUBSCRIBE:
    case HUB_UNSUBSCRIBE:
        write_subscription(to, r, data);
        break;
    default:
        mcp_lean_reply(r, reply, to);
    }
}
