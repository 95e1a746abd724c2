/*
 * zendesk - Zendesk tickets and their comments (Ticketing API).
 *
 *     sources:        - { name: ticket.json, ref: 42 }
 *                     - { name: open.json, ref: "type:ticket status:open", action: search }
 *     target_entries: - { name: answer, ref: 42, file: answer.md, public: true }
 *                     - { name: solved, ref: 42, action: update_status, status: solved }
 *                     - { name: new, action: create_ticket, subject: It fails, file: report.md }
 */
#include "agents/agent_main.h"
#include "agents/connector/connection.h"
#include "base/digest.h"
#include "cmd/cmd.h"

#include <string.h>

static enum status
open_zendesk(struct connection *x, struct err *e)
{
    const char *email, *token;
    enum status s = connection_set_base(x, NULL, e);

    if (!s)
        s = connection_need_setting(x, "email", &email, e);
    if (!s)
        s = connection_need_setting(x, "api_token", &token, e);
    if (s)
        return s;
    x->secrets[0] = token;
    const char *user = connection_text(x, "%s/token", email);
    return user ? connection_set_basic(x, user, token, e) : err_nomem(e);
}

static void
record_ticket(struct connection *x, const struct json *doc)
{
    int64_t id;

    RECORD(x, doc, "id", "ticket.id", "subject", "ticket.subject", "status", "ticket.status",
           "priority", "ticket.priority", "updated", "ticket.updated_at");
    if (json_int(json_path(doc, "ticket.id"), &id))
        record_text(x, "url",
                    connection_text(x, "%s/agent/tickets/%jd", x->base_url, (intmax_t)id));
}

static const char *
ticket_url(struct connection *x, const struct transfer *n)
{
    return URL(x, "/api/v2/tickets/", n->ref, ".json");
}

/* ---- sources ---- */

static enum status
get_ticket(struct connection *x, const struct transfer *n, struct err *e)
{
    const struct json *doc;
    enum status s = connection_get(x, ticket_url(x, n), &doc, e);

    if (s)
        return s;
    record_ticket(x, doc);
    return connection_keep_json(x, json_get(doc, "ticket"), e);
}

static enum status
get_comments(struct connection *x, const struct transfer *n, struct err *e)
{
    static const struct paging how = { .items = "comments",
                                       .next = "links.next",
                                       .more = "meta.has_more" };
    struct connection_request q = {
        .url = URL(x, "/api/v2/tickets/", n->ref, "/comments.json?page[size]=100"),
    };

    return connection_keep_list(x, &q, &how, e);
}

static enum status
search(struct connection *x, const struct transfer *n, struct err *e)
{
    static const struct paging how = { .items = "results",
                                       .next = "next_page",
                                       .most = 1000 /* Zendesk refuses page 11 */ };
    struct connection_request q = {
        .url = URL(x, "/api/v2/search.json?per_page=100&query=", n->ref),
    };

    return connection_keep_list(x, &q, &how, e);
}

/* ---- targets ---- */

/* Writes "comment":{"body":…,"public":…}; an entry without a file writes nothing. */
static enum status
write_comment(struct connection *x, const struct transfer *n, struct buf *body, struct err *e)
{
    struct buf text = { 0 };
    bool is_public = true;
    enum status s = n->file ? transfer_read(x->c, n, &text, e) : ST_OK;

    if (!s && n->file) {
        json_bool(json_get(n->node, "public"), &is_public);
        json_key(body, "comment");
        json_open(body, '{');
        json_key_strn(body, "body", text.p, text.len);
        json_key_bool(body, "public", is_public);
        json_close(body, '}');
    }
    buf_release(&text);
    return s;
}

static void
write_text_member(struct connection *x, const struct transfer *n, struct buf *body, const char *key)
{
    json_key_str(body, key, transfer_member(x->c, n, key));
}

static enum status
update(struct connection *x, const struct transfer *n, const char *status, struct err *e)
{
    struct buf body = { 0 };
    const struct json *doc;

    buf_adds(&body, "{\"ticket\":{");
    json_key_str(&body, "status", status);
    enum status s = write_comment(x, n, &body, e);
    buf_adds(&body, "}}");
    if (!s)
        s = connection_send(x, "PUT", ticket_url(x, n), &body, &doc, e);
    if (!s)
        record_ticket(x, doc);
    buf_release(&body);
    return s;
}

static enum status
add_comment(struct connection *x, const struct transfer *n, struct err *e)
{
    return update(x, n, NULL, e);
}

static enum status
update_status(struct connection *x, const struct transfer *n, struct err *e)
{
    const char *status = transfer_member(x->c, n, "status");

    return status ? update(x, n, status, e)
                  : transfer_wrong(n, "it has no status: open, pending, hold, solved or closed", e);
}

/* The same for every try of this entry in this run, so that a repeated phase makes no second
 * ticket. */
static void
write_idempotency_key(struct connection *x, const struct buf *body, char to[DIGEST_HEX_SIZE])
{
    struct buf all = { 0 };

    buf_addf(&all, "%s\n%s\n%s\n%s", x->c->instance_id, x->c->phase, x->entry->name,
             body->p ? body->p : "");
    digest_sha256_hex(to, all.p ? all.p : "", all.len);
    buf_release(&all);
}

static enum status
create_ticket(struct connection *x, const struct transfer *n, struct err *e)
{
    const struct json *tags = json_get(n->node, "tags"), *doc;
    char key[DIGEST_HEX_SIZE];
    struct buf body = { 0 };
    struct fetch_header once = { "Idempotency-Key", key };
    struct connection_request q = { .url = URL(x, "/api/v2/tickets.json"),
                                    .body = &body,
                                    .headers = &once,
                                    .n_headers = 1,
                                    .is_repeatable = true };

    if (!transfer_member(x->c, n, "subject"))
        return transfer_wrong(n, "it has no subject", e);
    buf_adds(&body, "{\"ticket\":{");
    write_text_member(x, n, &body, "subject");
    write_text_member(x, n, &body, "priority");
    write_text_member(x, n, &body, "type");
    if (json_is(tags, JSON_ARRAY))
        json_key_json(&body, "tags", tags);
    enum status s = write_comment(x, n, &body, e);
    buf_adds(&body, "}}");
    if (!s)
        s = buf_status(&body, "the ticket", e);
    write_idempotency_key(x, &body, key);
    if (!s)
        s = connection_json(x, &q, &doc, e);
    if (!s)
        record_ticket(x, doc);
    buf_release(&body);
    return s;
}

/* ---- the agent ---- */

static const struct connector_action actions[] = {
    { "get_ticket", get_ticket, .needs = NEEDS_REF },
    { "get_comments", get_comments, .needs = NEEDS_REF },
    { "search", search, .needs = NEEDS_REF },
    { "add_comment", add_comment, .is_target = true, .needs = NEEDS_REF | NEEDS_FILE },
    { "update_status", update_status, .is_target = true, .needs = NEEDS_REF },
    { "create_ticket", create_ticket, .is_target = true, .needs = NEEDS_FILE },
    { 0 },
};

const struct connector connector_zendesk = { "zendesk", actions, open_zendesk,
                                             .keys = "email api_token",
                                             .probe = "/api/v2/users/me.json" };

static enum status
run(const struct args *a, struct err *e)
{
    (void)a;
    return connector_run(&connector_zendesk, e);
}

const struct cmd cmd_agent_zendesk = {
    .name = "agent zendesk",
    .brief = "the built-in agent for Zendesk tickets",
    .about =
        "Reads an AgentMessage on standard input. Actions of sources: get_ticket and get_comments\n"
        "(ref: a ticket's number), search (ref: a query like type:ticket status:open; limit).\n"
        "Actions of targets: add_comment (ref: the ticket; file: the text; public: false for an\n"
        "internal note), update_status (status: open, pending, hold, solved or closed; file: a\n"
        "comment with it), create_ticket (subject, priority, type, tags; file: its first "
        "comment).\n"
        "\n"
        "Settings: agents.zendesk.base_url (https://SITE.zendesk.com), email, api_token, timeout,\n"
        "max_bytes, proxy.\n"
        "\n"
        "The handoff's data by name: ref, id, url, subject, status, priority, updated of a "
        "ticket;\n"
        "file and size; count of a list.",
    .examples = "cliq settings agents.zendesk.base_url https://example.zendesk.com\n"
                "cliq settings agents.zendesk.email eve@example.org\n"
                "cliq settings agents.zendesk.api_token - <token.txt",
    .opts = agent_no_opts,
    .run = run,
};
