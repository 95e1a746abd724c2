#include "serve/envelope.h"

#include <string.h>

/* Served by ourselves: what each code means. */
#define DOCS_URL "/openapi.json#/x-error-codes/"

/* The broadcast door: its members stand beside "ok". */
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
envelope_write(struct buf *to, const struct route *route, const struct hub_reply *reply,
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
        json_close(to, '}');
    }
    json_close(to, '}');
}

void
envelope_refuse(struct buf *to, const struct route *route, const char *code, const char *message,
                const char *request_id)
{
    write_error(to, route, code, message, NULL, request_id);
}
