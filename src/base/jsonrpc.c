#include "base/jsonrpc.h"

#include <string.h>

enum { SHOWN = 60 }; /* bytes of a bad line in an error */

/* ---- reading ---- */

static bool
is_id(const struct json *v)
{
    int64_t n;

    return json_is(v, JSON_STRING) || json_int(v, &n);
}

static enum status
no_message(struct jsonrpc_message *m, enum jsonrpc_code code, const char *what, const char *line,
           size_t n, struct err *e)
{
    size_t shown = 0;

    m->code = code;
    while (shown < n && shown < SHOWN && line[shown] >= ' ' && line[shown] <= '~')
        shown++;
    return err_set(e, ST_INVALID, "%s: %.*s%s", what, (int)shown, line, shown < n ? "…" : "");
}

/* Takes the members of an error; false: it is none. */
static bool
take_error(struct arena *a, const struct json *error, struct jsonrpc_message *m)
{
    const struct json *text = json_get(error, "message");

    m->kind = JSONRPC_ERROR;
    m->data = json_get(error, "data");
    m->message = json_is(text, JSON_STRING) ? json_dup_text(a, text) : "";
    return json_int(json_get(error, "code"), &m->code) && m->message;
}

/* Says what is wrong with the document, or NULL. */
static const char *
take_members(struct arena *a, const struct json *doc, struct jsonrpc_message *m)
{
    const struct json *method = json_get(doc, "method"), *id = json_get(doc, "id");
    const struct json *error = json_get(doc, "error");

    if (json_is(doc, JSON_ARRAY))
        return "a batch, which is not supported";
    if (!json_is(doc, JSON_OBJECT))
        return "not an object";
    if (id && !json_is(id, JSON_NULL) && !is_id(id))
        return "an id that is neither a text nor a whole number";
    m->id = json_is(id, JSON_NULL) ? NULL : id;
    if (!json_eq(json_get(doc, "jsonrpc"), "2.0"))
        return "a message without \"jsonrpc\":\"2.0\"";
    if (method) {
        m->kind = id ? JSONRPC_REQUEST : JSONRPC_NOTIFICATION;
        m->method = json_dup_text(a, method);
        m->params = json_get(doc, "params");
        if (json_is(m->params, JSON_NULL))
            m->params = NULL;
        if (id && !m->id)
            return "a request whose id is null";
        if (!m->method)
            return "a method that is no text";
        if (m->params && !json_is(m->params, JSON_OBJECT) && !json_is(m->params, JSON_ARRAY))
            return "params that are neither an object nor a list";
        return NULL;
    }
    m->kind = JSONRPC_RESULT;
    m->result = json_get(doc, "result");
    if (error && !json_is(error, JSON_NULL))
        return take_error(a, error, m) ? NULL : "an error without a code";
    if (!m->result)
        return "neither a method nor a result nor an error";
    return m->id ? NULL : "a result without an id";
}

enum status
jsonrpc_parse(struct arena *a, const char *line, size_t n, struct jsonrpc_message *m, struct err *e)
{
    struct json *doc;
    struct json_fault fault = { 0 };

    *m = (struct jsonrpc_message){ 0 };
    if (!json_parse_foreign(a, line, n, &doc, &fault))
        return fault.is_starved ? err_nomem(e)
                                : no_message(m, JSONRPC_PARSE_ERROR, "not JSON", line, n, e);
    const char *wrong = take_members(a, doc, m);
    return wrong ? no_message(m, JSONRPC_INVALID_REQUEST, wrong, line, n, e) : ST_OK;
}

/* ---- writing ---- */

static void
begin(struct buf *to)
{
    json_open(to, '{');
    json_key_str(to, "jsonrpc", "2.0");
}

static void
end(struct buf *to)
{
    json_close(to, '}');
    buf_addc(to, '\n');
}

static void
write_json(struct buf *to, const char *key, const char *json)
{
    if (json)
        json_key_raw(to, key, json, strlen(json));
}

static void
write_id(struct buf *to, const struct json *id)
{
    json_key(to, "id");
    json_write(to, id);
}

void
jsonrpc_write_request(struct buf *to, int64_t id, const char *method, const char *params)
{
    begin(to);
    json_key_int(to, "id", id);
    json_key_str(to, "method", method);
    write_json(to, "params", params);
    end(to);
}

void
jsonrpc_write_notification(struct buf *to, const char *method, const char *params)
{
    begin(to);
    json_key_str(to, "method", method);
    write_json(to, "params", params);
    end(to);
}

void
jsonrpc_write_result(struct buf *to, const struct json *id, const char *result)
{
    begin(to);
    write_id(to, id);
    write_json(to, "result", result ? result : "null");
    end(to);
}

void
jsonrpc_write_error(struct buf *to, const struct json *id, int64_t code, const char *message,
                    const char *data)
{
    begin(to);
    write_id(to, id);
    json_key(to, "error");
    json_open(to, '{');
    json_key_int(to, "code", code);
    json_key_str(to, "message", message);
    write_json(to, "data", data);
    json_close(to, '}');
    end(to);
}

/* ---- lines ---- */

static size_t
limit(const struct jsonrpc_lines *in)
{
    return in->max ? in->max : JSONRPC_LINE_MAX;
}

void
jsonrpc_feed(struct jsonrpc_lines *in, const char *p, size_t n)
{
    const char *end = in->is_skipping ? memchr(p, '\n', n) : NULL;

    if (in->at) { /* the lines before are used */
        buf_drop(&in->bytes, in->at);
        in->at = 0;
    }
    in->bytes.max = SIZE_MAX; /* jsonrpc_line keeps it short */
    if (!in->is_skipping) {
        buf_add(&in->bytes, p, n);
    } else if (end) {
        in->is_skipping = false;
        buf_add(&in->bytes, end + 1, n - (size_t)(end + 1 - p));
    }
}

/* Drops the bytes behind the searched ones up to their line end, here or in a later feed. */
static enum jsonrpc_got
pass_over(struct jsonrpc_lines *in, const char *end)
{
    in->is_skipping = !end;
    in->at = end ? (size_t)(end + 1 - in->bytes.p) : in->bytes.len;
    in->searched = 0;
    in->n_too_long++;
    return JSONRPC_TOO_LONG;
}

static bool
is_blank(const char *p, size_t n)
{
    while (n && (*p == ' ' || *p == '\t' || *p == '\r'))
        p++, n--;
    return n == 0;
}

enum jsonrpc_got
jsonrpc_line(struct jsonrpc_lines *in, const char **line, size_t *len)
{
    for (;;) {
        size_t left = in->bytes.len - in->at;
        const char *p = left ? in->bytes.p + in->at : "";
        const char *end = left ? memchr(p + in->searched, '\n', left - in->searched) : NULL;
        size_t n = end ? (size_t)(end - p) : left;
        if (n > limit(in))
            return pass_over(in, end);
        if (!end) {
            in->searched = left;
            return JSONRPC_MORE;
        }
        in->at += n + 1;
        in->searched = 0;
        *line = p;
        *len = n;
        if (!is_blank(p, n))
            return JSONRPC_LINE;
    }
}

size_t
jsonrpc_rest(const struct jsonrpc_lines *in)
{
    return in->bytes.len - in->at;
}

enum status
jsonrpc_lines_status(const struct jsonrpc_lines *in, struct err *e)
{
    return buf_status(&in->bytes, "what the peer sends", e);
}

void
jsonrpc_lines_release(struct jsonrpc_lines *in)
{
    buf_release(&in->bytes);
    *in = (struct jsonrpc_lines){ 0 };
}
