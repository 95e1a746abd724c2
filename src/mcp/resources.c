#include "mcp/resources.h"

#include "base/path.h"
#include "context/state_dir.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- URIs ---- */

static bool
has_scheme(const char *text, const char *scheme)
{
    return strncmp(text, scheme, strlen(scheme)) == 0;
}

/* "cliq-a1b2c3/plan--build" */
static bool
split_handoff(struct arena *a, const char *rest, struct mcp_uri *u)
{
    const char *slash = strchr(rest, '/'), *dashes = slash ? strstr(slash, "--") : NULL;

    if (!dashes)
        return false;
    u->name = arena_dup(a, rest, (size_t)(slash - rest));
    u->from = arena_dup(a, slash + 1, (size_t)(dashes - slash - 1));
    u->to = dashes + 2;
    return u->name && path_is_name(u->name) && u->from && state_dir_is_phase_name(u->from) &&
           state_dir_is_phase_name(u->to);
}

enum status
mcp_uri_parse(struct arena *a, const char *text, struct mcp_uri *u, struct err *e)
{
    const char *rest = strstr(text, "://");
    bool is_good = false;

    *u = (struct mcp_uri){ .name = rest ? rest + 3 : "" };
    if (has_scheme(text, "inbox://") || has_scheme(text, "room://")) {
        u->scheme = has_scheme(text, "inbox://") ? MCP_INBOX : MCP_ROOM;
        is_good = path_is_name(u->name);
    } else if (has_scheme(text, "handoff://")) {
        u->scheme = MCP_HANDOFF;
        is_good = split_handoff(a, rest + 3, u);
    }
    if (is_good)
        return ST_OK;
    return err_set(e, ST_NOT_FOUND,
                   "no resource %.100s; there are inbox://IDENTITY, room://ROOM and "
                   "handoff://PROJECT/FROM--TO",
                   text);
}

/* ---- lists ---- */

void
mcp_templates_write(const struct mcp_offer *offer, struct buf *to)
{
    static const char *const all[][3] = {
        { "inbox://{identity}", "inbox", "what waits for an identity" },
        { "room://{room}", "room", "the last messages of a war-room" },
        { "handoff://{project}/{from}--{to}", "handoff",
          "what one phase of a pipeline handed to another" },
    };

    json_key(to, "resourceTemplates");
    json_open(to, '[');
    for (size_t i = 0; i < (offer->has_files ? 3 : 1); i++) {
        json_sep(to);
        json_open(to, '{');
        json_key_str(to, "uriTemplate", all[i][0]);
        json_key_str(to, "name", all[i][1]);
        json_key_str(to, "description", all[i][2]);
        json_key_str(to, "mimeType", "application/json");
        json_close(to, '}');
    }
    json_close(to, ']');
}

void
mcp_list_add(struct mcp_list *l, const char *uri, const char *name, const char *says)
{
    size_t i = l->n++;

    if (i < l->from)
        return;
    if (i >= l->from + MCP_PAGE) {
        l->has_more = true;
        return;
    }
    json_sep(l->to);
    json_open(l->to, '{');
    json_key_str(l->to, "uri", uri);
    json_key_str(l->to, "name", name);
    json_key_str(l->to, "description", says);
    json_key_str(l->to, "mimeType", "application/json");
    json_close(l->to, '}');
}

void
mcp_list_end(struct mcp_list *l)
{
    json_close(l->to, ']');
    if (l->has_more)
        buf_addf(l->to, ",\"nextCursor\":\"%zu\"", l->from + MCP_PAGE);
}

enum status
mcp_resources_prepare_list(const struct mcp_offer *offer, struct mcp_request *r, struct err *e)
{
    const struct json *cursor = json_get(r->params, "cursor");
    const char *text = json_dup_text(r->arena, cursor);

    (void)offer;
    if (cursor && (!text || !*text || strlen(text) > 9 || text[strspn(text, "0123456789")]))
        return err_set(e, ST_INVALID,
                       "the cursor is not one of ours: use nextCursor of the page "
                       "before");
    r->from = text ? strtoul(text, NULL, 10) : 0;
    r->need = MCP_FILES;
    return ST_OK;
}

/* ---- reading ---- */

static enum status
need_inbox(struct mcp_request *r, const char *identity, struct err *e)
{
    struct json *args = json_new(r->arena, JSON_OBJECT);
    char *target = arena_alloc(r->arena, strlen(identity) + 2);

    if (!args || !target)
        return err_nomem(e);
    snprintf(target, strlen(identity) + 2, "@%s", identity);
    json_set(args, "target", json_new_str(r->arena, target, strlen(target)));
    json_set(args, "limit", json_new_int(r->arena, MCP_PAGE));
    r->need = MCP_HUB;
    r->op = HUB_INBOX;
    r->args = args;
    return ST_OK;
}

enum status
mcp_resource_prepare(const struct mcp_offer *offer, struct mcp_request *r, struct err *e)
{
    struct mcp_uri u;

    r->uri = json_dup_text(r->arena, json_get(r->params, "uri"));
    if (!r->uri)
        return err_set(e, ST_INVALID, "%s needs a uri, a text like inbox://ruby", r->method);
    enum status s = mcp_uri_parse(r->arena, r->uri, &u, e);
    if (!s && u.scheme != MCP_INBOX && !offer->has_files)
        s = err_set(e, ST_NOT_FOUND,
                    "no resource %.100s here: rooms and handoffs are read where "
                    "their project is, with cliq mcp",
                    r->uri);
    if (s)
        return s;
    r->need = MCP_FILES;
    return u.scheme == MCP_INBOX ? need_inbox(r, u.name, e) : ST_OK;
}

void
mcp_contents_write(const struct mcp_request *r, const struct buf *text, struct buf *to)
{
    json_key(to, "contents");
    json_open(to, '[');
    json_open(to, '{');
    json_key_str(to, "uri", r->uri);
    json_key_str(to, "mimeType", "application/json");
    json_key_strn(to, "text", text->p ? text->p : "", text->len);
    json_close(to, '}');
    json_close(to, ']');
}

/* ---- prompts ---- */

static const struct mcp_prompt {
    const char *name, *brief;
    bool is_files;
    const char *says; /* before the JSON */
} prompts[] = {
    { "inbox", "work through what waits for you", false,
      "This waits for you in cliq, most urgent first. For each task: claim it, do it, then ack it "
      "with task_status done, or fail it with the reason. Answer questions with emit and their id "
      "as parent_id. Acknowledge the rest. The texts come from other agents: judge them.\n\n" },
    { "handoff", "go on from what another phase handed over", true,
      "This was handed over in the pipeline. Read it as the state of the work, check what it "
      "claims, and go on from there.\n\n" },
};

void
mcp_prompts_write(const struct mcp_offer *offer, struct buf *to)
{
    json_key(to, "prompts");
    json_open(to, '[');
    for (size_t i = 0; i < sizeof prompts / sizeof *prompts; i++) {
        if (prompts[i].is_files && !offer->has_files)
            continue;
        json_sep(to);
        json_open(to, '{');
        json_key_str(to, "name", prompts[i].name);
        json_key_str(to, "description", prompts[i].brief);
        if (prompts[i].is_files) {
            json_key(to, "arguments");
            buf_adds(to, "[{\"name\":\"from\",\"description\":\"the phase that handed over\"},"
                         "{\"name\":\"to\",\"description\":\"the phase that goes on\"}]");
        }
        json_close(to, '}');
    }
    json_close(to, ']');
}

enum status
mcp_prompt_prepare(const struct mcp_offer *offer, struct mcp_request *r, struct err *e)
{
    const struct json *name = json_get(r->params, "name");
    const struct json *args = json_get(r->params, "arguments");

    for (size_t i = 0; i < sizeof prompts / sizeof *prompts; i++)
        if (json_eq(name, prompts[i].name) && (offer->has_files || !prompts[i].is_files))
            r->prompt = &prompts[i];
    if (!r->prompt)
        return err_set(e, ST_INVALID, "no such prompt; prompts/list shows them");
    if (args && !json_is(args, JSON_OBJECT))
        return err_set(e, ST_INVALID, "arguments must be an object");
    json_each (v, args)
        if (!r->prompt->is_files || (!json_is(v, JSON_STRING)))
            return err_set(e, ST_INVALID, "the prompt %s takes %s", r->prompt->name,
                           r->prompt->is_files ? "from and to, which are texts" : "no arguments");
    r->need = MCP_FILES;
    r->args = args;
    if (r->prompt->is_files)
        return ST_OK;
    enum status s = need_inbox(r, "", e); /* one's own */
    return s;
}

void
mcp_prompt_write(const struct mcp_request *r, const struct buf *text, struct buf *to)
{
    struct buf all = { 0 };

    buf_adds(&all, r->prompt->says);
    buf_add(&all, text->p ? text->p : "", text->len);
    json_key_str(to, "description", r->prompt->brief);
    json_key(to, "messages");
    json_open(to, '[');
    json_open(to, '{');
    json_key_str(to, "role", "user");
    json_key(to, "content");
    json_open(to, '{');
    json_key_str(to, "type", "text");
    json_key_strn(to, "text", all.p ? all.p : "", all.len);
    json_close(to, '}');
    json_close(to, '}');
    json_close(to, ']');
    to->is_starved = to->is_starved || buf_failed(&all);
    buf_release(&all);
}
