#include "serve/mcp_route.h"

#include "mcp/files.h"
#include "mcp/tools.h"
#include "serve/dispatch.h"
#include "serve/file_answer.h"
#include "serve/mcp_listen.h"
#include "serve/rounds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER_MISMATCH = -32020 };

/* A message on its way. */
struct mcp_call {
    struct serve *s;
    struct arena arena;
    struct mcp_request request;
    struct caller by; /* its texts are in the arena */
    /* of files: */
    struct http_conn *conn;
    struct route route;
    char id[REQUEST_ID_SIZE];
    struct http_text method, path;
    struct buf out;
    struct err why;
    enum status status;
};

static const struct mcp_offer offer = { .has_files = true, .has_listen = true };

void
mcp_call_free(struct mcp_call *c)
{
    if (!c)
        return;
    arena_release(&c->arena);
    buf_release(&c->out);
    free(c);
}

/* ---- answers ---- */

/* A notification has no body. */
static bool
send_line(const struct reply_to *to, int status, struct buf *line)
{
    if (line->len && line->p[line->len - 1] == '\n')
        buf_cut(line, line->len - 1);
    return reply_send(to, status, NULL, line);
}

/* ---- headers ---- */

static bool
is_text(struct http_text t, const struct json *v)
{
    return t.p && json_is(v, JSON_STRING) && v->text.len == t.len &&
           memcmp(t.p, v->text.p, t.len) == 0;
}

/* What of the message is repeated in headers must be the same there, so that what stands between
 * can go by them. NULL: it is. */
static const char *
find_mismatch(const struct http_request *r, const struct mcp_request *m, int64_t *code)
{
    const struct json *meta = json_get(m->params, "_meta");
    const struct json *version = json_get(meta, "io.modelcontextprotocol/protocolVersion");
    const struct json *name = json_get(m->params, "name");
    struct http_text header = http_header(r, "MCP-Protocol-Version"),
                     method = http_header(r, "Mcp-Method");
    bool is_header_modern = header.len == strlen(MCP_MODERN_VERSION) &&
                            memcmp(header.p, MCP_MODERN_VERSION, header.len) == 0;

    *code = HEADER_MISMATCH;
    if ((m->is_modern || is_header_modern) && !json_is(version, JSON_STRING)) {
        *code = JSONRPC_INVALID_PARAMS;
        return "_meta needs io.modelcontextprotocol/protocolVersion, as the header "
               "MCP-Protocol-Version has it";
    }
    if (!m->is_modern)
        return is_header_modern ? "the header MCP-Protocol-Version is not the version in _meta"
                                : NULL;
    if (!is_text(header, version))
        return "the header MCP-Protocol-Version is not the version in _meta";
    if (method.len != strlen(m->method) || memcmp(method.p, m->method, method.len) != 0)
        return "the header Mcp-Method is not the method";
    name = name ? name : json_get(m->params, "uri");
    bool is_named = strcmp(m->method, "tools/call") == 0 || strcmp(m->method, "prompts/get") == 0 ||
                    strcmp(m->method, "resources/read") == 0;
    return is_named && !is_text(http_header(r, "Mcp-Name"), name)
               ? "the header Mcp-Name is not the name or uri"
               : NULL;
}

/* ---- may the key do that? ---- */

static unsigned
scope_of(const struct mcp_request *m)
{
    if (m->need == MCP_HUB)
        return hub_ops[m->op].scope;
    if (!m->tool)
        return SCOPE_AUDIT;
    return m->tool->is_reading ? SCOPE_AUDIT : SCOPE_EMIT;
}

static bool
is_allowed(const struct mcp_request *m, unsigned scopes)
{
    struct route route = { .kind = m->need == MCP_HUB ? ROUTE_OP : ROUTE_FILE,
                           .op = m->op,
                           .scope = scope_of(m) };

    return admission_allows(scopes, &route);
}

static const char *
word_of(unsigned scope, struct arena *a)
{
    const char *word;
    size_t len;

    for (unsigned i = 0; (word = scope_word(i, &len)); i++)
        if (scope == 1u << i)
            return arena_dup(a, word, len);
    return NULL;
}

/* ---- operations of the hub ---- */

static bool
add_job(const struct reply_to *to, struct mcp_call *c)
{
    struct job *j = job_new_for(to, &c->by, c->request.op, c->request.args, c);

    return j && (dispatch_job(to, j), true);
}

bool
mcp_call_tell(struct job *j, const struct hub_reply *reply)
{
    const struct reply_to to = { j->s, j->conn, &j->route, j->request_id, j->method, j->path };
    struct mcp_call *c = j->mcp;
    struct buf out = { 0 };
    enum status s = reply->status < 300    ? ST_OK
                    : reply->status == 409 ? ST_CONFLICT
                    : reply->status == 404 ? ST_NOT_FOUND
                    : reply->status >= 500 ? ST_IO
                                           : ST_INVALID;

    if (reply->status == 401) /* the key was revoked meanwhile */
        return reply_refuse(&to, 401, reply->code, reply->message, "WWW-Authenticate: Bearer\r\n"),
               true;
    if (!mcp_finish_hub(&c->request, s, reply, reply->message ? reply->message : "", &out)) {
        j->mcp = NULL; /* the next job has it */
        if (!add_job(&to, c))
            mcp_call_free(c);
        return true;
    }
    bool is_heard = send_line(&to, c->request.http, &out);
    buf_release(&out);
    return is_heard;
}

/* ---- files ---- */

static bool
is_to_complete(const struct mcp_request *m)
{
    return m->need == MCP_HUB && m->tool && m->tool->complete;
}

static void
work(void *ctx)
{
    struct mcp_call *c = ctx;

    if (is_to_complete(&c->request)) {
        c->status = c->request.tool->complete(&c->request, &c->why);
        return;
    }
    struct mcp_files files = { .identity = c->by.identity, .arena = &c->arena };

    c->status = mcp_files_run(&files, &c->request, &c->out, &c->why);
}

static void
on_done(void *ctx)
{
    struct mcp_call *c = ctx;
    struct reply_to to = { c->s, c->conn, &c->route, c->id, c->method, c->path };
    struct buf line = { 0 };

    c->s->n_file_answers--;
    if (!c->s->is_over && !c->status && is_to_complete(&c->request)) {
        if (!add_job(&to, c))
            mcp_call_free(c);
        rounds_turn(to.s); /* this is no turn of the connections, which would do it */
        return;
    }
    if (!c->s->is_over) {
        mcp_finish_files(&c->request, c->status, &c->out, c->why.text, &line);
        send_line(&to, c->request.http, &line);
    }
    buf_release(&line);
    mcp_call_free(c);
}

static void
read_files(const struct reply_to *to, struct mcp_call *c)
{
    struct err e = { "" };

    c->conn = to->conn;
    c->route = *to->route;
    snprintf(c->id, sizeof c->id, "%s", to->id);
    if (to->s->has_access) {
        c->method = (struct http_text){ arena_dup(&c->arena, to->method.p, to->method.len),
                                        to->method.len };
        c->path =
            (struct http_text){ arena_dup(&c->arena, to->path.p, to->path.len), to->path.len };
    }
    if (to->s->n_file_answers < FILE_ANSWERS_MAX &&
        loop_work(to->s->loop, work, on_done, c, &e) == ST_OK) {
        to->s->n_file_answers++;
        return;
    }
    reply_refuse(to, 503, "STORE_UNAVAILABLE", "too many requests at once; try again",
                 "Retry-After: 1\r\n");
    mcp_call_free(c);
}

/* ---- a message ---- */

static struct mcp_call *
new_call(const struct reply_to *to, const struct http_request *r, const struct caller *by,
         struct buf *line)
{
    struct mcp_call *c = calloc(1, sizeof *c);
    const char *text = c ? arena_dup(&c->arena, r->body.p ? r->body.p : "", r->body.len) : NULL;
    char *identity = c ? arena_dup(&c->arena, by->identity, strlen(by->identity)) : NULL;
    char *key = c ? arena_dup(&c->arena, by->key, strlen(by->key)) : NULL;

    if (!text || !identity || !key) {
        mcp_call_free(c);
        return NULL;
    }
    struct mcp_offer own = offer;
    own.identity = identity;
    c->s = to->s;
    c->by = *by;
    c->by.identity = identity;
    c->by.key = key;
    mcp_take(&own, &c->arena, text, r->body.len, &c->request, line);
    return c;
}

void
mcp_route_answer(const struct reply_to *to, const struct http_request *r, const struct caller *by)
{
    struct buf line = { 0 };
    struct mcp_call *c = new_call(to, r, by, &line);

    if (!c) {
        reply_refuse(to, 503, "STORE_UNAVAILABLE", "out of memory", NULL);
        buf_release(&line);
        return;
    }
    struct mcp_request *m = &c->request;
    int64_t code = 0;
    const char *mismatch = m->method && m->id ? find_mismatch(r, m, &code) : NULL;
    if (mismatch) {
        buf_reset(&line);
        m->is_modern = true;
        mcp_refuse(m, code, mismatch, &line);
        m->http = 400;
    } else if ((m->need == MCP_HUB || m->need == MCP_FILES) && !is_allowed(m, by->scopes)) {
        char why[160];
        const char *word = word_of(scope_of(m), &c->arena);
        snprintf(why, sizeof why, "the key's scopes do not allow this: it needs the scope %s",
                 word ? word : "?");
        mcp_finish_files(m, ST_REFUSED, &line, why, &line);
        m->need = MCP_NOTHING;
    }
    bool is_later = m->need == MCP_HUB || m->need == MCP_FILES;
    if (m->need == MCP_LISTEN)
        mcp_listen_begin(to, m, by);
    else if (!is_later)
        send_line(to, m->http, &line);
    buf_release(&line);
    if (!is_later)
        mcp_call_free(c);
    else if (m->need == MCP_FILES || is_to_complete(m))
        read_files(to, c);
    else if (!add_job(to, c))
        mcp_call_free(c);
}
