/*
 * confluence - Confluence Cloud: pages read, searched, created and updated (REST API 2, search 1).
 *
 *     sources:        - { name: guide.html, ref: 12345 }
 *                     - { name: found.json, ref: "space = DOC AND text ~ release", action: search }
 *     target_entries: - { name: notes, ref: DOC/Release notes, file: notes.md, mode: replace }
 *                     - { name: log, ref: 12345, action: update_page, file: log.txt, mode: append }
 *
 * A page is named by its id, or by SPACE/Title. A page's file is its body in the storage format. A
 * delivered file whose name ends in .html, .xhtml or .xml is taken for that format; any other text
 * becomes paragraphs. An update carries the version it began from; when another one came first, it
 * begins again.
 */
#include "agents/agent_main.h"
#include "agents/connector/connection.h"
#include "agents/connector/xml.h"
#include "cmd/cmd.h"

#include <string.h>
#include <strings.h>

enum { UPDATES_MAX = 4 }; /* tries of an update that meets others */

struct page {
    const char *id;    /* NULL: there is none of that title */
    const char *space; /* the id of its space; NULL: named by its own id */
    const char *title;
    const struct json *doc;
};

static enum status
open_confluence(struct connection *x, struct err *e)
{
    const char *email, *token;
    enum status s = connection_set_base(x, NULL, e);
    size_t n = s ? 0 : strlen(x->base_url);

    if (n > 5 && strcmp(x->base_url + n - 5, "/wiki") == 0) /* paths begin with it */
        x->base_url = arena_dup(x->c->arena, x->base_url, n - 5);
    if (!s && !x->base_url)
        s = err_nomem(e);
    if (!s)
        s = connection_need_setting(x, "email", &email, e);
    if (!s)
        s = connection_need_setting(x, "api_token", &token, e);
    if (!s)
        s = connection_set_basic(x, email, token, e);
    return s ? s : connection_set_header(x, "Accept", "application/json", e);
}

/* ---- pages ---- */

static bool
is_id(const char *ref)
{
    return ref[0] && !ref[strspn(ref, "0123456789")];
}

static enum status
find_space(struct connection *x, const char *key, const char **id, struct err *e)
{
    const struct json *doc;
    enum status s = connection_get(x, URL(x, "/wiki/api/v2/spaces?keys=", key), &doc, e);

    if (s)
        return s;
    s = transfer_text(x->c->arena, json_path(doc, "results[0].id"), id, e);
    return s || *id ? s : err_set(e, ST_FAILED, "there is no space %.100s", key);
}

/* The page that the ref names. Of a title that no page has, only id and doc are NULL. */
static enum status
find_page(struct connection *x, const char *ref, struct page *p, struct err *e)
{
    const char *slash = strchr(ref, '/');
    const struct json *doc = NULL;

    *p = (struct page){ 0 };
    if (is_id(ref)) {
        enum status s = connection_get(
            x, URL(x, "/wiki/api/v2/pages/", ref, "?body-format=storage"), &p->doc, e);
        p->id = ref;
        p->title = s ? NULL : json_dup_text(x->c->arena, json_get(p->doc, "title"));
        return s || p->title ? s : err_set(e, ST_FAILED, "the page %.100s has no title", ref);
    }
    if (!slash || !slash[1])
        return err_set(e, ST_INVALID, "its ref must be a page's id, or SPACE/Title");
    const char *key = arena_dup(x->c->arena, ref, (size_t)(slash - ref));
    p->title = slash + 1;
    enum status s = key ? find_space(x, key, &p->space, e) : err_nomem(e);
    if (!s)
        s = connection_get(x,
                           URL(x, "/wiki/api/v2/pages?body-format=storage&status=current&space-id=",
                               p->space, "&title=", p->title),
                           &doc, e);
    p->doc = json_path(doc, "results[0]");
    if (!s && p->doc)
        s = transfer_text(x->c->arena, json_get(p->doc, "id"), &p->id, e);
    return s;
}

static void
record_page(struct connection *x, const struct json *doc)
{
    const char *link = json_dup_text(x->c->arena, json_path(doc, "_links.webui"));

    RECORD(x, doc, "id", "id", "title", "title", "version", "version.number", "space_id", "spaceId",
           "updated", "version.createdAt");
    if (link)
        record_text(x, "url", connection_text(x, "%s/wiki%s", x->base_url, link));
}

/* ---- sources ---- */

static enum status
get_page(struct connection *x, const struct transfer *n, struct err *e)
{
    struct page p;
    enum status s = find_page(x, n->ref, &p, e);

    if (s)
        return s;
    if (!p.doc)
        return err_set(e, ST_FAILED, "there is no page %.200s", n->ref);
    const struct json *body = json_path(p.doc, "body.storage.value");
    if (!json_is(body, JSON_STRING))
        return err_set(e, ST_FAILED, "the page %.200s has no body", n->ref);
    record_page(x, p.doc);
    return connection_keep(x, body->text.p, body->text.len, e);
}

static enum status
search(struct connection *x, const struct transfer *n, struct err *e)
{
    static const struct paging how = { .items = "results",
                                       .next = "_links.next",
                                       .context = "/wiki" };
    struct connection_request q = { .url = URL(x, "/wiki/rest/api/search?limit=50&cql=", n->ref) };

    return connection_keep_list(x, &q, &how, e);
}

/* ---- targets ---- */

static bool
is_storage_format(const char *file)
{
    const char *end = strrchr(file, '.');

    return end && (strcasecmp(end, ".html") == 0 || strcasecmp(end, ".xhtml") == 0 ||
                   strcasecmp(end, ".xml") == 0);
}

/* Appends text as paragraphs: an empty line ends one, a line end in one is a break. */
static void
add_paragraphs(struct buf *to, char *text)
{
    bool is_open = false;

    for (char *line = text, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        if (!line[strspn(line, " \t\r")]) {
            buf_adds(to, is_open ? "</p>" : "");
            is_open = false;
            continue;
        }
        buf_adds(to, is_open ? "<br />" : "<p>");
        xml_escape(to, line);
        is_open = true;
    }
    buf_adds(to, is_open ? "</p>" : "");
}

/* The file as a body in the storage format. */
static enum status
read_body(struct connection *x, const struct transfer *n, struct buf *to, struct err *e)
{
    struct buf text = { 0 };
    enum status s = transfer_read(x->c, n, &text, e);

    if (!s && is_storage_format(n->file))
        buf_add(to, text.p, text.len);
    else if (!s)
        add_paragraphs(to, text.p);
    buf_release(&text);
    return s ? s : buf_status(to, "the page", e);
}

static void
write_body(struct buf *to, const struct buf *before, const struct buf *body)
{
    struct buf whole = { 0 };

    buf_add(&whole, before->p, before->len);
    buf_add(&whole, body->p, body->len);
    json_key(to, "body");
    json_open(to, '{');
    json_key_str(to, "representation", "storage");
    json_key_strn(to, "value", whole.p ? whole.p : "", whole.len);
    json_close(to, '}');
    buf_release(&whole);
}

/* Another version came first? Then *was_late is set, and the answer is no error. */
static enum status
put_page(struct connection *x, const struct page *p, const struct buf *body, bool appends,
         bool *was_late, struct err *e)
{
    const struct json *old = json_path(p->doc, "body.storage.value");
    struct buf before = { 0 }, text = { 0 };
    struct connection_request q = { .method = "PUT",
                                    .url = URL(x, "/wiki/api/v2/pages/", p->id),
                                    .body = &text,
                                    .takes_status = 409 };
    const struct json *doc;
    int64_t version = 0;

    json_int(json_path(p->doc, "version.number"), &version);
    if (appends && json_is(old, JSON_STRING))
        buf_add(&before, old->text.p, old->text.len);
    json_open(&text, '{');
    json_key_str(&text, "id", p->id);
    json_key_str(&text, "status", "current");
    json_key_str(&text, "title", p->title);
    write_body(&text, &before, body);
    json_key(&text, "version");
    json_open(&text, '{');
    json_key_int(&text, "number", version + 1);
    json_close(&text, '}');
    json_close(&text, '}');
    enum status s = buf_status(&text, "the page", e);
    if (!s)
        s = connection_json(x, &q, &doc, e);
    *was_late = !s && q.status == 409;
    if (!s && !*was_late)
        record_page(x, doc);
    buf_release(&before);
    buf_release(&text);
    return s;
}

static enum status
update(struct connection *x, const struct transfer *n, struct page *p, const struct buf *body,
       struct err *e)
{
    bool appends = n->mode && strcmp(n->mode, "append") == 0, was_late = true;
    enum status s = ST_OK;

    for (int i = 0; !s && was_late && i < UPDATES_MAX; i++) {
        if (i > 0)
            s = find_page(x, p->id, p, e);
        if (!s)
            s = put_page(x, p, body, appends, &was_late, e);
    }
    return s || !was_late
               ? s
               : err_set(e, ST_CONFLICT, "the page %.200s was changed by others again and again",
                         n->ref);
}

static enum status
post_page(struct connection *x, const struct transfer *n, const struct page *p,
          const struct buf *body, struct err *e)
{
    struct buf none = { 0 }, text = { 0 };
    const struct json *doc;

    json_open(&text, '{');
    json_key_str(&text, "spaceId", p->space);
    json_key_str(&text, "status", "current");
    json_key_str(&text, "title", p->title);
    json_key_str(&text, "parentId", transfer_member(x->c, n, "parent"));
    write_body(&text, &none, body);
    json_close(&text, '}');
    enum status s = connection_send(x, "POST", URL(x, "/wiki/api/v2/pages"), &text, &doc, e);
    if (!s)
        record_page(x, doc);
    buf_release(&text);
    return s;
}

/* mode create: the title must be new; append and replace change the page that has it. */
static enum status
create_page(struct connection *x, const struct transfer *n, struct err *e)
{
    struct buf body = { 0 };
    struct page p = { 0 };
    enum status s = read_body(x, n, &body, e);

    if (!s)
        s = find_page(x, n->ref, &p, e);
    bool may_exist = n->mode && strcmp(n->mode, "create") != 0;
    if (!s && p.id && !may_exist)
        s = err_set(e, ST_CONFLICT,
                    "there is a page %.200s already: use mode replace or append to change it",
                    n->ref);
    if (!s)
        s = p.id ? update(x, n, &p, &body, e) : post_page(x, n, &p, &body, e);
    buf_release(&body);
    return s;
}

static enum status
update_page(struct connection *x, const struct transfer *n, struct err *e)
{
    struct buf body = { 0 };
    struct page p = { 0 };
    enum status s = read_body(x, n, &body, e);

    if (!s)
        s = find_page(x, n->ref, &p, e);
    if (!s && !p.id)
        s = err_set(e, ST_FAILED, "there is no page %.200s to update", n->ref);
    if (!s)
        s = update(x, n, &p, &body, e);
    buf_release(&body);
    return s;
}

/* ---- the agent ---- */

static const struct connector_action actions[] = {
    { "get_page", get_page, .needs = NEEDS_REF },
    { "search", search, .needs = NEEDS_REF },
    { "create_page", create_page, .is_target = true, .needs = NEEDS_REF | NEEDS_FILE },
    { "update_page", update_page, .is_target = true, .needs = NEEDS_REF | NEEDS_FILE },
    { 0 },
};

const struct connector connector_confluence = { "confluence", actions, open_confluence,
                                                .keys = "email api_token",
                                                .probe = "/wiki/rest/api/user/current" };

static enum status
run(const struct args *a, struct err *e)
{
    (void)a;
    return connector_run(&connector_confluence, e);
}

const struct cmd cmd_agent_confluence = {
    .name = "agent confluence",
    .brief = "the built-in agent for Confluence pages",
    .about =
        "Reads an AgentMessage on standard input. A ref is a page's id, or SPACE/Title. Actions "
        "of\n"
        "sources: get_page (the file is its body in the storage format), search (ref: CQL; "
        "limit).\n"
        "Actions of targets: create_page (mode create: the title must be new; replace and append\n"
        "change the page that has it; parent: the id of a page), update_page (mode append adds to\n"
        "the page, else its body is replaced). A file .html, .xhtml or .xml is in the storage\n"
        "format; any other text becomes paragraphs.\n"
        "\n"
        "Settings: agents.confluence.base_url (https://SITE.atlassian.net), email, api_token,\n"
        "timeout, max_bytes, proxy.\n"
        "\n"
        "The handoff's data by name: ref, id, url, title, version, space_id, updated; file and\n"
        "size; count of a search.",
    .examples = "cliq settings agents.confluence.base_url https://example.atlassian.net\n"
                "cliq settings agents.confluence.email eve@example.org\n"
                "cliq settings agents.confluence.api_token - <token.txt",
    .opts = agent_no_opts,
    .run = run,
};
