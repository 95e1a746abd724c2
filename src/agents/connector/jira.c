/*
 * jira - Jira Cloud: issues, comments, searches, transitions (REST API 3).
 *
 *     sources:        - { name: issue.json, ref: PROJ-1 }
 *                     - { name: open.json, ref: "project = PROJ AND status = Open", action: search
 * } target_entries: - { name: note, ref: PROJ-1, file: files/review/review.md }
 *                     - { name: done, ref: PROJ-1, action: transition, to: Done }
 *                     - { name: bug, ref: PROJ, action: create_issue, summary: It fails, file:
 * bug.md }
 *
 * A text becomes a document of paragraphs (agents/connector/adf.h).
 *
 * A notification becomes a comment of its channel's issue (agents/notify/delivery.h):
 *
 *     agents.jira.channels.ops.issue    PROJ-7
 */
#include "agents/agent_main.h"
#include "agents/connector/adf.h"
#include "agents/connector/connection.h"
#include "agents/notify/delivery.h"
#include "cmd/cmd.h"

#include <string.h>
#include <strings.h>

static enum status
open_jira(struct connection *x, struct err *e)
{
    const char *email, *token;
    enum status s = connection_set_base(x, NULL, e);

    if (!s)
        s = connection_need_setting(x, "email", &email, e);
    if (!s)
        s = connection_need_setting(x, "api_token", &token, e);
    if (!s)
        s = connection_set_basic(x, email, token, e);
    return s ? s : connection_set_header(x, "Accept", "application/json", e);
}

/* ---- sources ---- */

static void
record_issue(struct connection *x, const struct json *issue)
{
    struct buf text = { 0 };
    const char *key = json_dup_text(x->c->arena, json_get(issue, "key"));

    RECORD(x, issue, "key", "key", "id", "id", "summary", "fields.summary", "status",
           "fields.status.name", "issue_type", "fields.issuetype.name", "priority",
           "fields.priority.name", "assignee", "fields.assignee.displayName", "updated",
           "fields.updated");
    if (key)
        record_text(x, "url", URL(x, "/browse/", key));
    adf_text(&text, json_path(issue, "fields.description"));
    record_text(x, "description", text.len && !buf_failed(&text) ? text.p : NULL);
    buf_release(&text);
}

static enum status
get_issue(struct connection *x, const struct transfer *n, struct err *e)
{
    const struct json *issue;
    enum status s = connection_get(x, URL(x, "/rest/api/3/issue/", n->ref), &issue, e);

    if (!s)
        record_issue(x, issue);
    return s ? s : connection_keep_json(x, issue, e);
}

static enum status
get_comments(struct connection *x, const struct transfer *n, struct err *e)
{
    static const struct paging how = { .items = "comments",
                                       .total = "total",
                                       .parameter = "startAt" };
    struct connection_request q = {
        .url = URL(x, "/rest/api/3/issue/", n->ref, "/comment?orderBy=created&maxResults=100"),
    };

    record_text(x, "url", URL(x, "/browse/", n->ref));
    return connection_keep_list(x, &q, &how, e);
}

static enum status
search(struct connection *x, const struct transfer *n, struct err *e)
{
    static const struct paging how = { .items = "issues",
                                       .next = "nextPageToken",
                                       .parameter = "nextPageToken" };
    const struct json *fields = json_get(n->node, "fields");
    struct buf body = { 0 };
    struct connection_request q = { .url = URL(x, "/rest/api/3/search/jql"),
                                    .body = &body,
                                    .is_repeatable = true };

    json_open(&body, '{');
    json_key_str(&body, "jql", n->ref);
    json_key_int(&body, "maxResults", 100);
    json_key(&body, "fields");
    if (json_is(fields, JSON_ARRAY))
        json_write(&body, fields);
    else
        buf_adds(&body,
                 "[\"summary\",\"status\",\"issuetype\",\"priority\",\"assignee\",\"labels\","
                 "\"created\",\"updated\"]");
    json_close(&body, '}');
    enum status s = buf_status(&body, "the search", e);
    if (!s)
        s = connection_keep_list(x, &q, &how, e);
    buf_release(&body);
    return s;
}

/* ---- targets ---- */

static enum status
add_comment(struct connection *x, const struct transfer *n, struct err *e)
{
    struct buf text = { 0 }, body = { 0 };
    const struct json *doc;
    enum status s = transfer_read(x->c, n, &text, e);

    if (!s) {
        json_open(&body, '{');
        json_key(&body, "body");
        adf_write(&body, text.p, text.len);
        json_close(&body, '}');
        s = connection_send(x, "POST", URL(x, "/rest/api/3/issue/", n->ref, "/comment"), &body,
                            &doc, e);
    }
    buf_release(&text);
    buf_release(&body);
    if (s)
        return s;
    RECORD(x, doc, "id", "id", "created", "created");
    const char *id = json_dup_text(x->c->arena, json_get(doc, "id"));
    record_text(x, "url", URL(x, "/browse/", n->ref, id ? "?focusedCommentId=" : "", id ? id : ""));
    return ST_OK;
}

/* The transition of that name, or the one that leads to a status of that name. */
static const struct json *
find_transition(const struct json *all, const char *name, struct buf *known)
{
    json_each (t, all) {
        const struct json *const names[] = { json_get(t, "name"), json_path(t, "to.name") };
        for (size_t i = 0; i < 2; i++)
            if (json_is(names[i], JSON_STRING) && names[i]->text.len == strlen(name) &&
                strncasecmp(names[i]->text.p, name, names[i]->text.len) == 0)
                return t;
        if (json_is(names[0], JSON_STRING))
            buf_addf(known, "%s%.*s", known->len ? ", " : "", (int)names[0]->text.len,
                     names[0]->text.p);
    }
    return NULL;
}

static enum status
transition(struct connection *x, const struct transfer *n, struct err *e)
{
    const char *url = URL(x, "/rest/api/3/issue/", n->ref, "/transitions");
    const char *name = transfer_member(x->c, n, "to");
    struct buf body = { 0 }, known = { 0 };
    const struct json *doc;

    if (!name)
        return transfer_wrong(n, "it has no `to`, the name of a transition or status", e);
    enum status s = n->file ? add_comment(x, n, e) : ST_OK;
    if (!s)
        s = connection_get(x, url, &doc, e);
    if (s)
        return s;
    const struct json *t = find_transition(json_get(doc, "transitions"), name, &known);
    if (!t) {
        s = err_set(e, ST_FAILED, "%s has no transition to %.100s now; these are: %.500s", n->ref,
                    name, known.p ? known.p : "none");
    } else {
        json_open(&body, '{');
        json_key(&body, "transition");
        json_open(&body, '{');
        json_key_json(&body, "id", json_get(t, "id"));
        json_close(&body, '}');
        json_close(&body, '}');
        s = connection_send(x, "POST", url, &body, &doc, e);
        RECORD(x, t, "transition", "name", "status", "to.name");
        record_text(x, "url", URL(x, "/browse/", n->ref));
    }
    buf_release(&body);
    buf_release(&known);
    return s;
}

/* A field that is an object with one member: "issuetype":{"name":"Bug"}. */
static void
write_named(struct buf *to, const char *field, const char *key, const char *value)
{
    if (!value)
        return;
    json_key(to, field);
    json_open(to, '{');
    json_key_str(to, key, value);
    json_close(to, '}');
}

static enum status
create_issue(struct connection *x, const struct transfer *n, struct err *e)
{
    const char *summary = transfer_member(x->c, n, "summary"),
               *type = transfer_member(x->c, n, "issue_type");
    const struct json *labels = json_get(n->node, "labels"), *doc;
    struct buf text = { 0 }, body = { 0 };

    if (!summary)
        return transfer_wrong(n, "it has no summary", e);
    enum status s = n->file ? transfer_read(x->c, n, &text, e) : ST_OK;
    json_open(&body, '{');
    json_key(&body, "fields");
    json_open(&body, '{');
    write_named(&body, "project", "key", n->ref);
    write_named(&body, "issuetype", "name", type ? type : "Task");
    json_key_str(&body, "summary", summary);
    write_named(&body, "priority", "name", transfer_member(x->c, n, "priority"));
    write_named(&body, "parent", "key", transfer_member(x->c, n, "parent"));
    if (json_is(labels, JSON_ARRAY))
        json_key_json(&body, "labels", labels);
    if (text.len) {
        json_key(&body, "description");
        adf_write(&body, text.p, text.len);
    }
    json_close(&body, '}');
    json_close(&body, '}');
    if (!s)
        s = connection_send(x, "POST", URL(x, "/rest/api/3/issue"), &body, &doc, e);
    buf_release(&text);
    buf_release(&body);
    if (s)
        return s;
    const char *key = json_dup_text(x->c->arena, json_get(doc, "key"));
    RECORD(x, doc, "key", "key", "id", "id");
    if (key)
        record_text(x, "url", URL(x, "/browse/", key));
    return ST_OK;
}

/* ---- notifications ---- */

extern const struct connector connector_jira;

static enum status
tell(struct notice_delivery *d, struct err *e)
{
    struct connection x = { .kind = &connector_jira, .c = d->c, .settings = d->c->settings };
    const char *issue = delivery_setting(d, "issue");
    struct fetch_header headers[CONNECTION_HEADERS + 1] = { { "Content-Type",
                                                              "application/json" } };
    struct fetch_request q = { .headers = headers, .n_headers = 1 };
    struct fetch_response r = { 0 };
    struct buf text = { 0 }, body = { 0 };

    if (!issue)
        return delivery_lacks(d, "issue", e);
    enum status s = open_jira(&x, e);
    if (s)
        return s;
    for (size_t i = 0; i < x.n_headers; i++)
        headers[q.n_headers++] = x.headers[i];
    notice_write(&text, &d->notice);
    buf_adds(&body, "{\"body\":");
    adf_write(&body, text.p ? text.p : "", text.len);
    buf_adds(&body, "}");
    q.url = URL(&x, "/rest/api/3/issue/", issue, "/comment");
    q.body = body.p;
    q.body_len = body.len;
    s = q.url ? buf_status(&body, "the comment", e) : err_nomem(e);
    if (!s)
        s = delivery_post(d, &q, &r, e);
    if (!s && r.status / 100 != 2)
        s = delivery_answered(&q, &r, e);
    fetch_response_release(&r);
    buf_release(&text);
    buf_release(&body);
    return s;
}

static enum status
notify(struct context *c, struct err *e)
{
    return delivery_run(c, tell, e);
}

/* ---- the agent ---- */

static const struct connector_action actions[] = {
    { "get_issue", get_issue, .needs = NEEDS_REF },
    { "get_comments", get_comments, .needs = NEEDS_REF },
    { "search", search, .needs = NEEDS_REF },
    { "add_comment", add_comment, .is_target = true, .needs = NEEDS_REF | NEEDS_FILE },
    { "transition", transition, .is_target = true, .needs = NEEDS_REF },
    { "create_issue", create_issue, .is_target = true, .needs = NEEDS_REF },
    { 0 },
};

const struct connector connector_jira = { "jira",
                                          actions,
                                          open_jira,
                                          .notify = notify,
                                          .keys = "email api_token",
                                          .probe = "/rest/api/3/myself" };

static enum status
run(const struct args *a, struct err *e)
{
    (void)a;
    return connector_run(&connector_jira, e);
}

const struct cmd cmd_agent_jira = {
    .name = "agent jira",
    .brief = "the built-in agent for Jira issues",
    .about =
        "Reads an AgentMessage on standard input. Actions of sources: get_issue and get_comments\n"
        "(ref: an issue's key), search (ref: JQL; fields: a list; limit). Actions of targets:\n"
        "add_comment (ref: the issue; file: the text), transition (to: a transition's or status's\n"
        "name; file: a comment before it), create_issue (ref: the project; summary, issue_type,\n"
        "priority, labels, parent; file: the description).\n"
        "\n"
        "A notification to jira:ops becomes a comment of the issue "
        "agents.jira.channels.ops.issue.\n"
        "\n"
        "Settings: agents.jira.base_url (https://SITE.atlassian.net), email, api_token, timeout,\n"
        "max_bytes, proxy.\n"
        "\n"
        "The handoff's data by name: ref, key, url, summary, status, issue_type, priority,\n"
        "assignee, updated, description of an issue; file and size; count of a list; id of what\n"
        "was made.",
    .examples = "cliq settings agents.jira.base_url https://example.atlassian.net\n"
                "cliq settings agents.jira.email eve@example.org\n"
                "cliq settings agents.jira.api_token - <token.txt",
    .opts = agent_no_opts,
    .run = run,
};
