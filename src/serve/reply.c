#include "serve/reply.h"

#include "base/clock.h"

#include <assert.h>
#include <string.h>

enum { LAST_WORDS = 1000 }; /* bytes of a body with a sentence of ours */

#define JSON_TYPE "Content-Type: application/json\r\nCache-Control: no-store\r\n"
#define ID_HEADER "X-Request-Id: "

/* Our own document explains each code. */
#define DOCS_URL "/openapi.json#/x-error-codes/"

/* ---- bodies ---- */

/* The broadcast API has its own form. */
static bool
is_engine(const struct route *route)
{
    static const char door[] = "/v1/engine/";

    return route && route->kind == ROUTE_OP &&
           strncmp(hub_ops[route->op].path, door, sizeof door - 1) == 0;
}

/* A member whose value is JSON already; NULL: null. */
static void
write_json(struct buf *to, const char *key, const char *json)
{
    json_key_raw(to, key, json ? json : "null", json ? strlen(json) : 4);
}

static void
write_error(struct buf *to, const struct route *route, const char *code, const char *message,
            const char *details, const char *request_id)
{
    json_open(to, '{');
    if (is_engine(route)) {
        json_key_bool(to, "ok", false);
        json_key_str(to, "error", message);
    } else {
        json_key(to, "error");
        json_open(to, '{');
        json_key_str(to, "code", code);
        json_key_str(to, "message", message);
        json_key_str(to, "request_id", request_id);
        write_json(to, "details", details);
        json_key(to, "docs_url");
        buf_addf(to, "\"" DOCS_URL "%s\"", code); /* codes are plain words */
        json_close(to, '}');
    }
    json_close(to, '}');
}

void
reply_body(struct buf *to, const struct route *route, const struct hub_reply *reply,
           const char *request_id)
{
    if (reply->status >= 300) {
        write_error(to, route, reply->code, reply->message, reply->details, request_id);
        return;
    }
    json_open(to, '{');
    if (is_engine(route)) {
        size_t len = reply->text ? strlen(reply->text) : 0;
        json_key_bool(to, "ok", true);
        if (len > 2) { /* an object: its members */
            json_sep(to);
            buf_add(to, reply->text + 1, len - 2);
        }
    } else {
        write_json(to, "data", reply->text);
        json_key(to, "meta");
        json_open(to, '{');
        json_key_str(to, "request_id", request_id);
        if (reply->cursor)
            json_key_str(to, "cursor", reply->cursor);
        else if (reply->has_cursor)
            write_json(to, "cursor", NULL);
        if (reply->n_warnings)
            json_key_strs(to, "warnings", reply->warnings, reply->n_warnings);
        json_close(to, '}');
    }
    json_close(to, '}');
}

void
reply_error_body(struct buf *to, const struct route *route, const char *code, const char *message,
                 const char *request_id)
{
    write_error(to, route, code, message, NULL, request_id);
}

/* ---- counters and the access log ---- */

/* A line of the access log. Without query and headers, which may hold keys. */
static void
log_access(struct serve *s, const struct http_conn *c, const char *id, struct http_text method,
           struct http_text path, int status)
{
    char peer[HTTP_PEER_SIZE], now[CLOCK_ISO_SIZE];
    struct buf line = { 0 };

    buf_addf(&line, "%s %s %s %.*s %.*s %d\n", clock_iso(now, clock_wall_ns(), 1), id,
             http_conn_peer(c, peer), (int)method.len, method.p, (int)path.len, path.p, status);
    if (!buf_failed(&line))
        async_out_write(&s->access, line.p, line.len);
    buf_release(&line);
    if (s->access.error && !s->is_access_told)
        fprintf(stderr, "cliq: warning: the access log cannot be written: %s\n",
                strerror(s->access.error));
    s->is_access_told = s->access.error != 0;
}

static void
note(struct serve *s, const struct http_conn *c, const char *id, struct http_text method,
     struct http_text path, int status)
{
    s->answers[status / 100 < 6 ? status / 100 : 5]++;
    s->limited += status == 429;
    if (s->has_access && method.p && path.p)
        log_access(s, c, id, method, path, status);
}

void
reply_next_id(struct serve *s, char id[REQUEST_ID_SIZE])
{
    char digits[16], *p = digits + sizeof digits;
    uint64_t n = ++s->n_ids;

    do
        *--p = "0123456789abcdef"[n % 16];
    while (n /= 16);
    size_t len = strlen(s->id_prefix), n_digits = (size_t)(digits + sizeof digits - p);
    memcpy(id, s->id_prefix, len);
    id[len] = '-';
    memcpy(id + len + 1, p, n_digits);
    id[len + 1 + n_digits] = '\0';
}

/* ---- answers ---- */

static void
put(const struct reply_to *to, int status, const char *type, const char *more,
    const struct buf *body)
{
    char headers[HTTP_HEADERS_ROOM - 64];

    note(to->s, to->conn, to->id, to->method, to->path, status);
    assert(strlen(type) + REQUEST_ID_SIZE + (more ? strlen(more) : 0) < sizeof headers - 32);
    stpcpy(stpcpy(stpcpy(stpcpy(stpcpy(headers, type), ID_HEADER), to->id), "\r\n"),
           more ? more : "");
    http_answer(to->conn, status, headers, body->p, body->len);
}

/* Instead of an answer that is too large, or that there is no memory for. */
static void
put_last_words(const struct reply_to *to, const struct buf *body)
{
    struct buf *words = &to->s->last_words;
    struct err e;

    if (buf_status(body, "the answer", &e) == ST_OK)
        err_set(&e, ST_IO, "out of memory for the answer");
    buf_reset(words);
    reply_error_body(words, to->route, "STORE_UNAVAILABLE", e.text, to->id);
    put(to, 503, JSON_TYPE, NULL, words);
}

static bool
send(const struct reply_to *to, int status, const char *type, const char *more,
     const struct buf *body)
{
    bool is_whole = !buf_failed(body) && http_answer_fits(to->conn, body->len);
    bool is_heard = is_whole && !http_conn_is_gone(to->conn);

    if (is_whole)
        put(to, status, type, more, body);
    else
        put_last_words(to, body);
    return is_heard;
}

bool
reply_send(const struct reply_to *to, int status, const char *more, const struct buf *json)
{
    return send(to, status, JSON_TYPE, more, json);
}

bool
reply_page(const struct reply_to *to, const char *type, const struct buf *text)
{
    return send(to, 200, type, NULL, text);
}

bool
reply_file(const struct reply_to *to, int status, const char *headers, const char *p, size_t len)
{
    const struct buf body = { .p = (char *)p, .len = len };

    return send(to, status, headers, NULL, &body);
}

void
reply_refuse(const struct reply_to *to, int status, const char *code, const char *message,
             const char *more)
{
    struct buf body = { 0 };

    reply_error_body(&body, to->route, code, message, to->id);
    reply_send(to, status, more, &body);
    buf_release(&body);
}

void
reply_streams(const struct reply_to *to)
{
    note(to->s, to->conn, to->id, to->method, to->path, 200);
}

/* If the request line could not be read, the access log has dashes. */
void
reply_fault(void *ctx, const struct http_conn *c, const struct http_request *r, int status,
            const char *reason, struct buf *headers, struct buf *body)
{
    static const struct http_text unknown = { "-", 1 };
    struct serve *s = ctx;
    char id[REQUEST_ID_SIZE];

    reply_next_id(s, id);
    note(s, c, id, r ? http_text(r, r->method_name) : unknown, r ? http_path(r) : unknown, status);
    buf_addf(headers, JSON_TYPE ID_HEADER "%s\r\n", id);
    reply_error_body(body, NULL,
                     status == 413   ? "BODY_TOO_LARGE"
                     : status == 503 ? "SERVER_BUSY"
                                     : "HTTP_MALFORMED",
                     reason, id);
}

bool
reply_init(struct serve *s)
{
    return buf_room(&s->last_words, LAST_WORDS);
}

void
reply_release(struct serve *s)
{
    buf_release(&s->last_words);
}
