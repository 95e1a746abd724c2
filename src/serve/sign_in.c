#include "serve/sign_in.h"

#include "base/clock.h"
#include "cliq.h"
#include "hub/model/scope.h"

#include <string.h>

/* ---- answers ---- */

static void
begin(struct buf *body)
{
    json_open(body, '{');
    json_key(body, "data");
    json_open(body, '{');
}

static void
end(const struct reply_to *to, struct buf *body)
{
    json_close(body, '}');
    json_key(body, "meta");
    json_open(body, '{');
    json_key_str(body, "request_id", to->id);
    json_close(body, '}');
    json_close(body, '}');
    reply_send(to, 200, NULL, body);
    buf_release(body);
}

static void
key_time(struct buf *body, const char *key, int64_t at_ms)
{
    char text[CLOCK_ISO_SIZE];

    if (at_ms)
        json_key_str(body, key, clock_iso_ms(text, at_ms));
    else
        json_key_raw(body, key, "null", 4);
}

/* ---- requests ---- */

void
sign_in_whoami(const struct reply_to *to, const struct caller *by)
{
    struct buf body = { 0 };
    const char *word;
    size_t len;

    begin(&body);
    json_key_str(&body, "identity", by->identity);
    json_key(&body, "scopes");
    json_open(&body, '[');
    for (unsigned i = 0; (word = scope_word(i, &len)); i++)
        if (by->scopes & 1u << i) {
            json_sep(&body);
            json_write_str(&body, word, len);
        }
    json_close(&body, ']');
    json_key_str(&body, "key", by->key);
    key_time(&body, "expires_at", by->key_until_ms);
    json_key_str(&body, "version", CLIQ_VERSION);
    json_key_int(&body, "sequence", (int64_t)hub_last_seq(to->s->reader));
    key_time(&body, "now", clock_wall_ns() / 1000000);
    end(to, &body);
}

void
sign_in_ticket(const struct reply_to *to, const struct caller *by)
{
    struct buf body = { 0 };
    struct ticket *t;
    struct err e;
    enum status st = auth_make_ticket(to->s, by, true, &t, &e);

    if (st) {
        bool is_many = st == ST_CONFLICT;
        reply_refuse(to, is_many ? 429 : 503, is_many ? "RATE_LIMITED" : "STORE_UNAVAILABLE",
                     e.text, "Retry-After: 1\r\n");
        return;
    }
    begin(&body);
    json_key_str(&body, "ticket", t->text);
    json_key_int(&body, "expires_in", TICKET_MS / 1000);
    end(to, &body);
}

void
sign_in_exchange(const struct reply_to *to, const struct http_request *r)
{
    struct arena a = { 0 };
    struct buf body = { 0 };
    struct json *args;
    struct err e;
    struct http_text query = http_query(r);
    char key[SERVE_KEY_SIZE];

    if (route_args(&a, to->route, (struct route_text){ query.p, query.len },
                   (struct route_text){ r->body.p, r->body.len }, &args, &e) != ST_OK) {
        reply_refuse(to, 400, "VALIDATION_INVALID_TYPE", e.text, NULL);
    } else if (!r->body.len || !json_is(json_get(args, "ticket"), JSON_STRING) ||
               args->kids.count != 1) {
        reply_refuse(to, 400, "VALIDATION_INVALID_TYPE",
                     "the body must be {\"ticket\":\"…\"}, with one of POST /sign-in/ticket", NULL);
    } else {
        const char *ticket = json_dup_text(&a, json_get(args, "ticket"));
        if (ticket && auth_take_key(to->s, ticket, key)) {
            begin(&body);
            json_key_str(&body, "key", key);
            end(to, &body);
        } else {
            reply_refuse(to, 401, "AUTH_REQUIRED",
                         "the ticket is not known, was used, or is older than a minute, or its key "
                         "was revoked: cliq web makes another",
                         NULL);
        }
    }
    arena_release(&a);
}
