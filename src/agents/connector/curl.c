/*
 * curl - fetches the phase's sources and delivers its targets over HTTP.
 *
 *     sources:        - { name: report.json, url: "https://…", headers: {…}, method, body }
 *     target_entries: - { name: tracker, file: files/build/log.txt, url: "https://…" }
 *
 * The handoff's data:
 *
 *     {"sources":{"report.json":{"url":…,"status":200,"bytes":17,"file":…,
 *                                "content_type":"application/json","json":{…}}},
 *      "targets":{"tracker":{"url":…,"status":201,"bytes":512}}}
 *
 * bytes is the number of bytes transferred; json is present when the answer is JSON of at most
 * JSON_MAX bytes.
 */
#include "agents/agent_main.h"
#include "agents/connector/connection.h"
#include "cmd/cmd.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { JSON_MAX = 64 * 1024 };

/* Fills the record, and the note "GET https://host/path: 200, 17 bytes, 2 tries". */
static void
note(struct connection *x, const struct transfer *n, const char *method,
     const struct fetch_response *r, uint64_t bytes)
{
    struct buf url = { 0 };

    fetch_public_url(&url, n->url);
    record_text(x, "url", url.p);
    record_int(x, "status", r->status);
    record_int(x, "bytes", (int64_t)bytes);
    buf_reset(&url);
    fetch_show_url(&url, n->url);
    buf_addf(&x->note, "%s %s: %d, %ju bytes", n->method ? n->method : method, url.p ? url.p : "",
             r->status, (uintmax_t)bytes);
    if (r->tries > 1)
        buf_addf(&x->note, ", %u tries", r->tries);
    buf_release(&url);
}

static struct connection_request
request_of(const struct transfer *n)
{
    return (struct connection_request){
        .url = n->url,
        .method = n->method,
        .headers = n->headers,
        .n_headers = n->n_headers,
        .is_once = n->is_once,
        .takes_3xx = true,
        .is_repeatable = true, /* three tries, whatever the method */
    };
}

static bool
is_json_type(const char *type)
{
    size_t n = strcspn(type, "; \t");

    return (n == 16 && strncasecmp(type, "application/json", n) == 0) ||
           (n == 9 && strncasecmp(type, "text/json", n) == 0) ||
           (n > 5 && strncasecmp(type + n - 5, "+json", 5) == 0);
}

/* Writes a source's file: JSON is pretty-printed, anything else is unchanged. */
static enum status
keep(struct connection *x, const struct transfer *n, const struct fetch_response *r, struct err *e)
{
    struct arena *a = x->c->arena;
    struct buf pretty = { 0 };
    struct json *doc = NULL;
    bool is_json = is_json_type(r->content_type);
    const char *text = is_json ? arena_dup(a, r->body.p, r->body.len) : NULL;

    if (is_json && !text)
        return err_nomem(e);
    if (is_json && json_parse(a, text, r->body.len, &doc, NULL)) {
        json_write_pretty(&pretty, doc, 0);
        buf_addc(&pretty, '\n');
    }
    const struct buf *b = pretty.len && !buf_failed(&pretty) ? &pretty : &r->body;
    enum status s = context_write_file(x->c, n->name, b->p, b->len, e);
    buf_release(&pretty);
    const char *type = r->content_type;
    if (!json_set(x->record, "file", transfer_path(x->c, n)) ||
        !json_set(x->record, "content_type", json_new_copy(a, type, strlen(type))) ||
        (doc && r->body.len <= JSON_MAX && !json_set(x->record, "json", doc)))
        x->is_starved = true;
    return s;
}

static enum status
get(struct connection *x, const struct transfer *n, struct err *e)
{
    struct connection_request q = request_of(n);
    struct buf body = { .p = (char *)n->body, .len = n->body_len };
    struct fetch_response r;

    q.body = n->body ? &body : NULL;
    q.has_own_type = true;
    enum status s = connection_ask(x, &q, &r, e);
    if (!s) {
        note(x, n, n->body ? "POST" : "GET", &r, r.body.len);
        s = keep(x, n, &r, e);
    }
    fetch_response_release(&r);
    return s;
}

static enum status
put(struct connection *x, const struct transfer *n, struct err *e)
{
    struct connection_request q = request_of(n);
    struct fetch_response r = { 0 };
    struct fetch_file file;
    char says[256];
    enum status s = ST_OK;

    if (n->mode && strcmp(n->mode, "create") != 0) {
        snprintf(says, sizeof says,
                 "target %.100s: mode %.20s means nothing over HTTP; the file is sent whole",
                 n->name, n->mode);
        s = context_progress(x->c, says, e);
    }
    if (!s)
        s = transfer_open(x->c, n, &file, e);
    if (s)
        return s;
    q.file = &file;
    s = connection_ask(x, &q, &r, e);
    if (!s)
        note(x, n, "POST", &r, file.len);
    close(file.fd);
    fetch_response_release(&r);
    return s;
}

static const struct connector_action actions[] = {
    { "get", get, .needs = NEEDS_URL },
    { "put", put, .is_target = true, .needs = NEEDS_URL | NEEDS_FILE },
    { 0 },
};

const struct connector connector_curl = { "curl", actions };

static enum status
run(const struct args *a, struct err *e)
{
    (void)a;
    return connector_run(&connector_curl, e);
}

const struct cmd cmd_agent_curl = {
    .name = "agent curl",
    .brief = "the built-in agent that speaks HTTP",
    .about =
        "Reads an AgentMessage on standard input. Fetches payload.sources (GET, or POST with a\n"
        "body) into files/<phase>/<name>, JSON pretty-printed; then sends the file of each of\n"
        "payload.target_entries (POST) to its url. action get or put does only one of them.\n"
        "\n"
        "Three tries on 429, 500, 502, 503, 504 and broken connections, as Retry-After says; an\n"
        "entry with retry: false gets one. An answer of 400 or more fails the phase. Settings:\n"
        "agents.curl.timeout (60s, of a try), agents.curl.max_bytes (10485760, of an answer).\n"
        "The handoff's data: sources and targets by name, each with url, status and bytes.",
    .opts = agent_no_opts,
    .run = run,
};
