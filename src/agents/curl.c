/*
 * curl - fetches the phase's sources and delivers its targets over HTTP.
 *
 *     sources:        - { name: report.json, url: "https://…", headers: {…}, method, body }
 *     target_entries: - { name: tracker, file: files/build/log.txt, url: "https://…" }
 *
 * A source becomes files/<phase>/<name>; the name may hold directories. A target's file is
 * files/<phase>/<name> of any phase, or a path in the work directory. The entries' shape is checked
 * before the first request. Headers hold secrets: their values are sent to the server and never
 * shown, even when an answer repeats them.
 *
 * The handoff's data:
 *
 *     {"sources":{"report.json":{"url":…,"file":…,"status":200,"bytes":17,
 *                                "content_type":"application/json","json":{…}}},
 *      "targets":{"tracker":{"url":…,"status":201,"bytes":512}}}
 *
 * file is relative to the work directory when it is below it; bytes is the number of bytes
 * transferred; json is present when the answer is JSON of at most JSON_MAX bytes.
 */
#include "agents/agent_main.h"
#include "agents/transfer.h"
#include "base/term.h"
#include "cmd/cmd.h"
#include "net/fetch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum {
    JSON_MAX = 64 * 1024,
    EXCERPT = 200,       /* bytes of an answer shown in an error */
    SECRET_MIN = 4,      /* bytes; masking shorter values would mask ordinary text */
    BYTES_MAX = 1 << 30, /* the limit of settings.max_bytes */
};

struct curl_work {
    struct context *c;
    struct transfers sources, targets;
    int64_t timeout_ms; /* 0: the default of net/fetch */
    size_t max_bytes;
    const char *proxy;
    struct json *got, *sent; /* the handoff's sources and targets */
    struct buf text;         /* the handoff's text */
};

/* ---- settings ---- */

static enum status
get_settings(struct curl_work *w, struct err *e)
{
    const char *timeout, *bytes;
    enum status s = transfer_text(w->c->arena, json_get(w->c->settings, "timeout"), &timeout, e);

    if (!s)
        s = transfer_text(w->c->arena, json_get(w->c->settings, "max_bytes"), &bytes, e);
    if (!s)
        s = transfer_text(w->c->arena, json_get(w->c->settings, "proxy"), &w->proxy, e);
    if (s)
        return s;
    if (timeout && (!opt_parse_ms(timeout, &w->timeout_ms) || w->timeout_ms < 1))
        return err_set(e, ST_INVALID,
                       "the setting agents.curl.timeout must be a time like 30, 90s or 2m");
    if (bytes) {
        char *end;
        long long n = strtoll(bytes, &end, 10);
        if (*end || n < 1 || n > BYTES_MAX)
            return err_set(e, ST_INVALID,
                           "the setting agents.curl.max_bytes must be a number from 1 to %d",
                           BYTES_MAX);
        w->max_bytes = (size_t)n;
    }
    return ST_OK;
}

/* ---- log, progress and handoff ---- */

static bool
is_public_header(const char *name)
{
    return strcasecmp(name, "Content-Type") == 0 || strcasecmp(name, "Accept") == 0 ||
           strcasecmp(name, "User-Agent") == 0;
}

/* The number of bytes at p that are a header's value; of "Bearer X", X alone counts too. */
static size_t
secret_at(const struct transfer *n, const char *p, size_t len)
{
    for (size_t i = 0; i < n->n_headers; i++) {
        const char *value = n->headers[i].value, *word = strchr(value, ' ');
        if (is_public_header(n->headers[i].name))
            continue;
        for (int k = 0; k < 2 && value; k++, value = word ? word + 1 : NULL) {
            size_t m = strlen(value);
            if (m >= SECRET_MIN && m <= len && memcmp(p, value, m) == 0)
                return m;
        }
    }
    return 0;
}

/* Appends the beginning of an answer, safe for a terminal and without our secrets. */
static void
add_excerpt(struct buf *to, const struct transfer *n, const struct buf *body)
{
    struct buf raw = { 0 };
    size_t i = 0;

    while (i < body->len && raw.len < EXCERPT) {
        size_t m = secret_at(n, body->p + i, body->len - i);
        if (m)
            buf_adds(&raw, "***");
        else
            buf_addc(&raw, body->p[i]);
        i += m ? m : 1;
    }
    if (raw.len)
        term_escape(to, raw.p, raw.len, false);
    buf_adds(to, !body->len ? "(nothing)" : i < body->len ? "..." : "");
    buf_release(&raw);
}

/* Writes "source report: GET https://host/path: 200, 17 bytes, 2 tries" to log, progress and
 * text. */
static enum status
report(struct curl_work *w, const struct transfer *n, const struct fetch_request *q,
       const struct fetch_response *r, size_t bytes, struct err *e)
{
    struct buf line = { 0 }, shown = { 0 };

    fetch_show_url(&line, q->url);
    buf_addf(&shown, "%s %s: %s %s: %d, %zu bytes", n->kind, n->name,
             q->method ? q->method : (q->body ? "POST" : "GET"), line.p ? line.p : "", r->status,
             bytes);
    if (r->tries > 1)
        buf_addf(&shown, ", %u tries", r->tries);
    buf_reset(&line);
    if (!buf_failed(&shown))
        term_escape(&line, shown.p, shown.len, false);
    enum status s = buf_status(&line, "the note", e);
    if (!s) {
        dprintf(STDOUT_FILENO, "%s\n", line.p);
        buf_addf(&w->text, "- %s\n", line.p);
        s = context_progress(w->c, line.p, e);
    }
    buf_release(&line);
    buf_release(&shown);
    return s;
}

/* Adds {"url":…,"status":…,"bytes":…} to `in`; NULL: out of memory. */
static struct json *
add_record(struct curl_work *w, struct json *in, const struct transfer *n, int status, size_t bytes)
{
    struct arena *a = w->c->arena;
    struct json *o = json_new(a, JSON_OBJECT);
    struct buf url = { 0 };

    fetch_public_url(&url, n->url);
    bool ok = o && !buf_failed(&url) &&
              json_set(o, "url", json_new_copy(w->c->arena, url.p, url.len)) &&
              json_set(o, "status", json_new_int(a, status)) &&
              json_set(o, "bytes", json_new_int(a, (int64_t)bytes));
    buf_release(&url);
    if (ok)
        json_set(in, n->name, o);
    return ok ? o : NULL;
}

/* ---- requests ---- */

/* Sends the request. An answer of 400 or more is a failure. */
static enum status
ask(struct curl_work *w, const struct transfer *n, struct fetch_request *q,
    struct fetch_response *r, struct err *e)
{
    struct err why = { "" };

    q->url = n->url;
    q->method = n->method;
    q->headers = n->headers;
    q->n_headers = n->n_headers;
    q->timeout_ms = w->timeout_ms;
    q->max_bytes = w->max_bytes;
    q->proxy = w->proxy;
    q->tries = n->is_once ? 1 : 0;
    q->is_repeatable = true; /* three tries, whatever the method */
    enum status s = fetch(q, r, &why);
    if (s) {
        err_say(e, "%s %.100s: %s", n->kind, n->name, why.text);
        return s;
    }
    if (r->status < 400)
        return ST_OK;
    struct buf url = { 0 }, excerpt = { 0 };
    char tries[32] = "";
    fetch_show_url(&url, r->url);
    add_excerpt(&excerpt, n, &r->body);
    if (r->tries > 1)
        snprintf(tries, sizeof tries, " after %u tries", r->tries);
    err_say(e, "%s %.100s: %.300s answered %d%s: %s", n->kind, n->name, url.p ? url.p : "",
            r->status, tries, excerpt.p ? excerpt.p : "");
    buf_release(&url);
    buf_release(&excerpt);
    return ST_FAILED;
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
keep(struct curl_work *w, const struct transfer *n, const struct fetch_response *r,
     struct json **doc, struct err *e)
{
    struct buf pretty = { 0 };
    const char *text = NULL;

    *doc = NULL;
    if (is_json_type(r->content_type)) {
        text = arena_dup(w->c->arena, r->body.p, r->body.len);
        if (!text)
            return err_nomem(e);
        if (json_parse(w->c->arena, text, r->body.len, doc, NULL)) {
            json_write_pretty(&pretty, *doc, 0);
            buf_addc(&pretty, '\n');
        }
    }
    const struct buf *b = pretty.len && !buf_failed(&pretty) ? &pretty : &r->body;
    enum status s = context_write_file(w->c, n->name, b->p, b->len, e);
    buf_release(&pretty);
    if (r->body.len > JSON_MAX)
        *doc = NULL;
    return s;
}

/* The file's path as commands in the work directory can open it. */
static struct json *
file_json(struct curl_work *w, const struct transfer *n)
{
    struct buf path = { 0 };
    const char *dir = w->c->work_dir;
    size_t k = dir ? strlen(dir) : 0, skip = 0;

    state_dir_path(&w->c->state, &path, "files/");
    buf_addf(&path, "%s/%s", w->c->phase, n->name);
    if (k && !buf_failed(&path) && strncmp(path.p, dir, k) == 0 && path.p[k] == '/')
        skip = k + 1;
    struct json *v =
        buf_failed(&path) ? NULL : json_new_copy(w->c->arena, path.p + skip, path.len - skip);
    buf_release(&path);
    return v;
}

static enum status
get(struct curl_work *w, const struct transfer *n, struct err *e)
{
    struct fetch_request q = { .body = n->body, .body_len = n->body_len };
    struct fetch_response r = { 0 };
    struct json *doc = NULL;
    enum status s = ask(w, n, &q, &r, e);

    if (!s)
        s = keep(w, n, &r, &doc, e);
    if (!s) {
        struct json *o = add_record(w, w->got, n, r.status, r.body.len);
        const char *type = r.content_type;
        if (!o || !json_set(o, "file", file_json(w, n)) ||
            !json_set(o, "content_type", json_new_copy(w->c->arena, type, strlen(type))) ||
            (doc && !json_set(o, "json", doc)))
            s = err_nomem(e);
    }
    if (!s)
        s = report(w, n, &q, &r, r.body.len, e);
    fetch_response_release(&r);
    return s;
}

/* `path` relative to `dir`; NULL when it is not below it. */
static const char *
below(const char *path, const char *dir)
{
    size_t n = dir ? strlen(dir) : 0;

    return n && strncmp(path, dir, n) == 0 && path[n] == '/' ? path + n + 1 : NULL;
}

/* Settings and a run's messages may hold keys, so they are never sent. */
static bool
is_ours(const char *path)
{
    const char *name = strrchr(path, '/');

    return strncmp(path, ".cliq/", 6) == 0 &&
           (strstr(path, "/run/") || strcmp(name, "/settings.json") == 0);
}

static enum status
read_in_work_dir(struct curl_work *w, const char *path, struct buf *to, struct err *e)
{
    struct state_dir f;
    enum status s = w->c->work_dir ? state_dir_open(&f, w->c->work_dir, NULL, e)
                                   : err_set(e, ST_INVALID, "the message has no work_dir");

    if (s)
        return s;
    s = state_dir_read(&f, path, to, e);
    state_dir_close(&f);
    return s;
}

static enum status
read_file(struct curl_work *w, const struct transfer *n, struct buf *to, struct err *e)
{
    const char *path = n->file;
    struct err why = { "" };
    enum status s = ST_NOT_FOUND;

    if (path[0] == '/' && !(path = below(n->file, w->c->work_dir)))
        path = below(n->file, w->c->state.state_dir);
    if (!path || !transfer_is_inside(path))
        return transfer_wrong(
            n, "its file must be files/<phase>/<name> or a path inside the work directory", e);
    if (is_ours(path))
        return transfer_wrong(
            n, "its file may hold keys: settings and the run's own files are not sent", e);
    if (strncmp(path, "files/", 6) == 0)
        s = state_dir_read(&w->c->state, path, to, &why);
    if (s == ST_NOT_FOUND)
        s = read_in_work_dir(w, path, to, &why);
    if (s)
        err_say(e, "%s %.100s: cannot read %.300s: %s", n->kind, n->name, n->file, why.text);
    return s;
}

static enum status
put(struct curl_work *w, const struct transfer *n, struct err *e)
{
    struct fetch_request q = { 0 };
    struct fetch_response r = { 0 };
    struct buf file = { 0 };
    char note[256];
    enum status s = ST_OK;

    if (n->mode && strcmp(n->mode, "create") != 0) {
        snprintf(note, sizeof note,
                 "target %.100s: mode %.20s means nothing over HTTP; the file is sent whole",
                 n->name, n->mode);
        s = context_progress(w->c, note, e);
    }
    if (!s)
        s = read_file(w, n, &file, e);
    q.body = file.p;
    q.body_len = file.len;
    if (!s)
        s = ask(w, n, &q, &r, e);
    if (!s && !add_record(w, w->sent, n, r.status, file.len))
        s = err_nomem(e);
    if (!s)
        s = report(w, n, &q, &r, file.len, e);
    fetch_response_release(&r);
    buf_release(&file);
    return s;
}

/* ---- the phase ---- */

static enum status
check_action(struct curl_work *w, struct err *e)
{
    const struct json *action = json_get(w->c->dispatch, "action");

    if (json_is(action, JSON_STRING) && action->text.len) {
        if (json_eq(action, "get"))
            w->targets.n = 0;
        else if (json_eq(action, "put"))
            w->sources.n = 0;
        else
            return err_set(e, ST_INVALID, "phase %s: the agent curl knows the actions get and put",
                           w->c->phase);
        if (!w->sources.n && !w->targets.n)
            return err_set(e, ST_INVALID, "phase %s: there is nothing to %.*s", w->c->phase,
                           (int)action->text.len, action->text.p);
    }
    return w->sources.n || w->targets.n
               ? ST_OK
               : err_set(e, ST_INVALID, "phase %s has neither sources nor target_entries",
                         w->c->phase);
}

static enum status
send_handoff(struct curl_work *w, struct err *e)
{
    struct json *data = json_new(w->c->arena, JSON_OBJECT);
    enum status s = buf_status(&w->text, "the summary", e);

    if (!data)
        return err_nomem(e);
    json_set(data, "sources", w->got);
    json_set(data, "targets", w->sent);
    for (size_t i = 0; !s && i < w->c->n_targets; i++)
        s = context_send(w->c, w->c->targets[i].name, data, w->text.p, e);
    return s ? s : context_finalize_standard(w->c, e);
}

static enum status
handle(struct context *c, struct err *e)
{
    struct curl_work w = { .c = c,
                           .got = json_new(c->arena, JSON_OBJECT),
                           .sent = json_new(c->arena, JSON_OBJECT) };

    if (c->is_gate)
        return err_set(e, ST_INVALID,
                       "phase %s is a gate, and the agent curl cannot judge: use checks, hug or a "
                       "model",
                       c->phase);
    if (!w.got || !w.sent)
        return err_nomem(e);
    enum status s = get_settings(&w, e);
    if (!s)
        s = transfers_get(&w.sources, c, "sources", "source", e);
    if (!s)
        s = transfers_get(&w.targets, c, "target_entries", "target", e);
    if (!s)
        s = check_action(&w, e);
    buf_addf(&w.text, "## %s\n\n", c->phase);
    for (size_t i = 0; !s && i < w.sources.n; i++)
        s = get(&w, &w.sources.v[i], e);
    for (size_t i = 0; !s && i < w.targets.n; i++)
        s = put(&w, &w.targets.v[i], e);
    if (!s)
        s = send_handoff(&w, e);
    buf_release(&w.text);
    return s;
}

static enum status
run(const struct args *a, struct err *e)
{
    (void)a;
    return agent_run(handle, e);
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
