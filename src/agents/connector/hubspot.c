/*
 * hubspot - HubSpot's CRM: contacts, companies, deals, tickets, and notes on them.
 *
 *     sources:        - { name: contact.json, ref: contacts/101, properties: [email, firstname] }
 *                     - { name: deals.json, ref: deals, action: list, limit: 200 }
 *                     - { name: found.json, ref: contacts, action: search, query: example.org }
 *     target_entries: - { name: new, ref: contacts, properties: { email: a@example.org } }
 *                     - { name: deal, ref: deals/7, action: update, file: deal.json }
 *                     - { name: note, ref: contacts/101, action: add_note, file: summary.md }
 *
 * Properties are the entry's map, else the file's, which is JSON.
 */
#include "agents/agent_main.h"
#include "agents/connector/connection.h"
#include "base/clock.h"
#include "cmd/cmd.h"

#include <string.h>

/* The kinds of records, and how HubSpot numbers the association of a note with one. */
static const struct {
    const char *name;
    int note_type;
} types[] = { { "contacts", 202 }, { "companies", 190 }, { "deals", 214 }, { "tickets", 228 } };

enum { TYPES = sizeof types / sizeof *types };

struct object_ref {
    size_t type;
    const char *id; /* NULL: all of the type */
};

static enum status
open_hubspot(struct connection *x, struct err *e)
{
    const char *key;
    enum status s = connection_set_base(x, "https://api.hubapi.com", e);

    if (!s)
        s = connection_need_setting(x, "api_key", &key, e);
    return s ? s : connection_set_bearer(x, key, e);
}

/* "contacts" or "contacts/101" */
static enum status
split(const struct transfer *n, bool needs_id, struct object_ref *o, struct err *e)
{
    size_t len = strcspn(n->ref, "/");

    o->id = n->ref[len] && n->ref[len + 1] ? n->ref + len + 1 : NULL;
    for (o->type = 0; o->type < TYPES; o->type++)
        if (strlen(types[o->type].name) == len && memcmp(types[o->type].name, n->ref, len) == 0)
            break;
    if (o->type == TYPES)
        return transfer_wrong(n, "its ref must begin with contacts, companies, deals or tickets",
                              e);
    if (needs_id != (o->id != NULL))
        return transfer_wrong(
            n, needs_id ? "its ref must have an id, like contacts/101" : "its ref must have no id",
            e);
    return ST_OK;
}

static const char *
object_url(struct connection *x, const struct object_ref *o, const char *rest)
{
    return o->id ? URL(x, "/crm/v3/objects/", types[o->type].name, "/", o->id, rest)
                 : URL(x, "/crm/v3/objects/", types[o->type].name, rest);
}

static void
record_object(struct connection *x, const struct json *doc)
{
    RECORD(x, doc, "id", "id", "created", "createdAt", "updated", "updatedAt", "email",
           "properties.email", "name", "properties.name", "subject", "properties.subject");
}

/* ---- sources ---- */

/* "&properties=email,firstname", or "" */
static const char *
properties_query(struct connection *x, const struct transfer *n)
{
    const struct json *list = json_get(n->node, "properties");
    struct buf names = { 0 };

    json_each (v, list)
        if (json_is(v, JSON_STRING))
            buf_addf(&names, "%s%.*s", names.len ? "," : "", (int)v->text.len, v->text.p);
    const char *query = names.len ? ENCODED(x, "&properties=", names.p) : "";
    buf_release(&names);
    return query;
}

static enum status
get(struct connection *x, const struct transfer *n, struct err *e)
{
    struct object_ref o;
    const struct json *doc;
    enum status s = split(n, true, &o, e);
    const char *query = s ? NULL : properties_query(x, n);

    if (s)
        return s;
    if (!query)
        return err_nomem(e);
    s = connection_get(x, URL(x, object_url(x, &o, "?archived=false"), "", query), &doc, e);
    if (!s)
        record_object(x, doc);
    return s ? s : connection_keep_json(x, doc, e);
}

static const struct paging pages = { .items = "results",
                                     .next = "paging.next.after",
                                     .parameter = "after" };

static enum status
list(struct connection *x, const struct transfer *n, struct err *e)
{
    struct object_ref o;
    struct connection_request q = { 0 };
    enum status s = split(n, false, &o, e);
    const char *query = s ? NULL : properties_query(x, n);

    if (s)
        return s;
    if (!query)
        return err_nomem(e);
    q.url = URL(x, object_url(x, &o, "?limit=100"), "", query);
    return connection_keep_list(x, &q, &pages, e);
}

static const struct paging found_pages = { .items = "results",
                                           .next = "paging.next.after",
                                           .parameter = "after",
                                           .most = 10000 /* HubSpot refuses what follows */ };

static enum status
search(struct connection *x, const struct transfer *n, struct err *e)
{
    const struct json *filters = json_get(n->node, "filters"),
                      *properties = json_get(n->node, "properties");
    struct object_ref o;
    struct buf body = { 0 };
    struct connection_request q = { .body = &body, .is_repeatable = true };
    enum status s = split(n, false, &o, e);

    if (s)
        return s;
    q.url = object_url(x, &o, "/search");
    json_open(&body, '{');
    json_key_int(&body, "limit", 100);
    json_key_str(&body, "query", transfer_member(x->c, n, "query"));
    if (json_is(filters, JSON_ARRAY)) {
        json_key(&body, "filterGroups");
        buf_adds(&body, "[{");
        json_key_json(&body, "filters", filters);
        buf_adds(&body, "}]");
    }
    if (json_is(properties, JSON_ARRAY))
        json_key_json(&body, "properties", properties);
    json_close(&body, '}');
    s = buf_status(&body, "the search", e);
    if (!s)
        s = connection_keep_list(x, &q, &found_pages, e);
    buf_release(&body);
    return s;
}

/* ---- targets ---- */

/* Writes {"properties":…}: the entry's map, else the file, which is JSON. */
static enum status
write_properties(struct connection *x, const struct transfer *n, struct buf *body, struct err *e)
{
    const struct json *map = json_get(n->node, "properties");
    struct buf text = { 0 };
    struct json *doc = NULL;
    enum status s = ST_OK;

    if (!json_is(map, JSON_OBJECT)) {
        if (!n->file)
            return transfer_wrong(n, "it has neither properties nor a file", e);
        s = transfer_read(x->c, n, &text, e);
        if (!s)
            s = json_parse_named(x->c->arena, n->file, text.p, text.len, &doc, e);
        map = json_is(json_get(doc, "properties"), JSON_OBJECT) ? json_get(doc, "properties") : doc;
        if (!s && !json_is(map, JSON_OBJECT))
            s = transfer_wrong(n, "its file must hold an object of properties", e);
    }
    if (!s) {
        json_open(body, '{');
        json_key_json(body, "properties", map);
        json_close(body, '}');
    }
    buf_release(&text);
    return s;
}

static enum status
write_object(struct connection *x, const struct transfer *n, const char *method, struct err *e)
{
    struct object_ref o;
    struct buf body = { 0 };
    const struct json *doc;
    enum status s = split(n, strcmp(method, "PATCH") == 0, &o, e);

    if (!s)
        s = write_properties(x, n, &body, e);
    if (!s)
        s = connection_send(x, method, object_url(x, &o, ""), &body, &doc, e);
    if (!s)
        record_object(x, doc);
    buf_release(&body);
    return s;
}

static enum status
create(struct connection *x, const struct transfer *n, struct err *e)
{
    return write_object(x, n, "POST", e);
}

static enum status
update(struct connection *x, const struct transfer *n, struct err *e)
{
    return write_object(x, n, "PATCH", e);
}

static enum status
add_note(struct connection *x, const struct transfer *n, struct err *e)
{
    struct object_ref o;
    struct buf text = { 0 }, body = { 0 };
    const struct json *doc;
    enum status s = split(n, true, &o, e);

    if (!s)
        s = transfer_read(x->c, n, &text, e);
    if (s)
        return s;
    json_open(&body, '{');
    json_key(&body, "properties");
    json_open(&body, '{');
    json_key_int(&body, "hs_timestamp", clock_wall_ns() / 1000000);
    json_key_strn(&body, "hs_note_body", text.p, text.len);
    json_close(&body, '}');
    json_key(&body, "associations");
    buf_adds(&body, "[{\"to\":{");
    json_key_str(&body, "id", o.id);
    buf_addf(
        &body,
        "},\"types\":[{\"associationCategory\":\"HUBSPOT_DEFINED\",\"associationTypeId\":%d}]}]",
        types[o.type].note_type);
    json_close(&body, '}');
    s = connection_send(x, "POST", URL(x, "/crm/v3/objects/notes"), &body, &doc, e);
    if (!s)
        record_object(x, doc);
    buf_release(&text);
    buf_release(&body);
    return s;
}

/* ---- the agent ---- */

static const struct connector_action actions[] = {
    { "get", get, .needs = NEEDS_REF },
    { "list", list, .needs = NEEDS_REF },
    { "search", search, .needs = NEEDS_REF },
    { "create", create, .is_target = true, .needs = NEEDS_REF },
    { "update", update, .is_target = true, .needs = NEEDS_REF },
    { "add_note", add_note, .is_target = true, .needs = NEEDS_REF | NEEDS_FILE },
    { 0 },
};

const struct connector connector_hubspot = { "hubspot", actions, open_hubspot, .keys = "api_key",
                                             .probe = "/crm/v3/objects/contacts?limit=1" };

static enum status
run(const struct args *a, struct err *e)
{
    (void)a;
    return connector_run(&connector_hubspot, e);
}

const struct cmd cmd_agent_hubspot = {
    .name = "agent hubspot",
    .brief = "the built-in agent for HubSpot records",
    .about =
        "Reads an AgentMessage on standard input. A ref is contacts, companies, deals or tickets,\n"
        "with /ID for one record. Actions of sources: get, list, search (query: words; filters: a\n"
        "list of {propertyName, operator, value}), each with properties (a list) and limit.\n"
        "Actions of targets: create and update (properties: a map, else the file's JSON), "
        "add_note\n"
        "(file: the text of a note on the record).\n"
        "\n"
        "Settings: agents.hubspot.api_key (the token of a private app), base_url, timeout,\n"
        "max_bytes, proxy.\n"
        "\n"
        "The handoff's data by name: ref, id, name, email, subject, created, updated; file and\n"
        "size; count of a list.",
    .examples = "cliq settings agents.hubspot.api_key - <token.txt",
    .opts = agent_no_opts,
    .run = run,
};
