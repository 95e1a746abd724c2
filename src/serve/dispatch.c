#include "serve/dispatch.h"

#include "base/clock.h"
#include "net/query.h"
#include "serve/auth.h"
#include "serve/claim_waiters.h"
#include "serve/file_answer.h"
#include "serve/mcp_route.h"
#include "serve/openapi.h"
#include "serve/rounds.h"
#include "serve/sign_in.h"
#include "serve/status_page.h"
#include "serve/web.h"
#include "team/package.h"

#include <inttypes.h>
#include <string.h>

/* ---- admission ---- */

static struct admission_text
admission_text(struct http_text t)
{
    return (struct admission_text){ t.p, t.len };
}

/* c NULL: before the body came; Host is checked behind it. */
static struct admission_request
admission_request_of(const struct http_request *r, struct http_conn *c, const struct query *q)
{
    const char *token = query_get(q, "token"), *ticket = query_get(q, "ticket");

    return (struct admission_request){
        .host =
            admission_text(r->is_absolute ? http_text(r, r->authority) : http_header(r, "Host")),
        .origin = admission_text(http_header(r, "Origin")),
        .fetch_site = admission_text(http_header(r, "Sec-Fetch-Site")),
        .authorization = admission_text(http_header(r, "Authorization")),
        .content_type = admission_text(http_header(r, "Content-Type")),
        .encoding = admission_text(http_header(r, "Content-Encoding")),
        .token = { token, token ? strlen(token) : 0 },
        .ticket = { ticket, ticket ? strlen(ticket) : 0 },
        .is_local = !c || http_conn_is_unix(c),
        .has_body = r->body.len > 0,
        .is_get = r->method == METHOD_GET || r->method == METHOD_HEAD,
    };
}

/* Is the operation done in rounds? Not a GET of one signal, which takes no time; nor other reads
 * while the worker waits for a lock. */
static bool
is_gathered(const struct serve *s, const struct route *route)
{
    return route->kind == ROUTE_OP && route->op != HUB_GET &&
           (hub_ops[route->op].writes || !rounds_are_stuck(s));
}

/* A connection over the limit is for what shows or ends the trouble: /health, and admins. A stream
 * would keep it. */
static bool
is_for_reserve(const struct route *route, const struct caller *by)
{
    return route->kind == ROUTE_HEALTH ||
           (by->is_admin && route->kind != ROUTE_STREAM && route->kind != ROUTE_ENGINE_EVENTS);
}

/* Finds the caller; false: refused and answered. */
static bool
admit(const struct reply_to *to, const struct http_request *r, const struct query *q,
      struct arena *a, struct caller *by)
{
    struct serve *s = to->s;
    struct admission_request asked = admission_request_of(r, to->conn, q);
    struct admission_verdict v;
    struct ticket *ticket = NULL;
    int64_t now = clock_mono_ms(), wait_ms = 0;
    char retry[40] = "";

    *by = (struct caller){ .identity = "", .key = "" };
    admission_check(&s->rules, to->route, &asked, &v);
    if (v.status == 200 && (v.ticket.p || v.key.p) && !is_gathered(s, to->route))
        auth_check_revoked(s); /* else rounds_turn does, once for the whole round */
    if (v.status == 200 && v.ticket.p)
        ticket = auth_by_ticket(s, &v, by);
    else if (v.status == 200 && v.key.p)
        auth_by_key(s, to->route, a, &v, by);
    if (!rate_take(&s->rate, rates_find(&s->rates, &s->rate, by->who, now), now, &wait_ms)) {
        v.status = 429;
        v.code = "RATE_LIMITED";
        v.message = by->who ? "this key asks too often; wait as long as Retry-After says"
                            : "too many requests without a known key; wait as long as Retry-After "
                              "says";
        snprintf(retry, sizeof retry, "Retry-After: %" PRId64 "\r\n", (wait_ms + 999) / 1000);
    }
    if (v.status == 200 && http_conn_is_reserve(to->conn) && !is_for_reserve(to->route, by)) {
        v.status = 503;
        v.code = "SERVER_BUSY";
        v.message = "too many connections; try again in a second";
    }
    if (v.status == 200) {
        if (ticket)
            ticket->text[0] = '\0';
        return true;
    }
    reply_refuse(to, v.status, v.code, v.message,
                 v.status == 401   ? "WWW-Authenticate: Bearer\r\n"
                 : v.status == 503 ? "Retry-After: 1\r\n"
                                   : retry);
    return false;
}

/* ---- answers ---- */

/* Reads without waiting. False: the index is behind the log. */
static bool
answer_at_once(struct job *j)
{
    struct hub_reply reply;

    if (!hub_try_read(j->s->reader, &j->request, &j->arena, &reply))
        return false;
    job_tell(j, &reply);
    job_free(j);
    return true;
}

/* The round keeps the job, or it is freed here; gcc 12's analyser loses sight of it. */
#ifndef __clang__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wanalyzer-malloc-leak"
#endif
void
dispatch_job(const struct reply_to *to, struct job *j)
{
    if (!is_gathered(to->s, &j->route) && answer_at_once(j))
        return;
    if (j->route.op == HUB_CLAIM)
        claim_waiters_watch(j);
    bool is_in = rounds_add(to->s, j);
    if (!is_in) { /* the round is full */
        rounds_turn(to->s);
        is_in = rounds_add(to->s, j);
    }
    if (is_in)
        return;
    reply_refuse(to, 503, "STORE_UNAVAILABLE", "too many requests at once; try again",
                 "Retry-After: 1\r\n");
    job_free(j);
}

static void
hand_over(const struct reply_to *to, const struct http_request *r, const struct caller *by)
{
    struct job *j = job_new(to, r, by);

    if (j)
        dispatch_job(to, j);
}
#ifndef __clang__
#pragma GCC diagnostic pop
#endif

static void
begin_stream(const struct reply_to *to, const struct http_request *r, const struct caller *by,
             struct arena *a)
{
    struct http_text query = http_query(r), last = http_header(r, "Last-Event-ID");
    struct json *args;
    struct err e;
    int status = 400;
    const char *code = "VALIDATION_INVALID_TYPE";

    if (route_args(a, to->route, (struct route_text){ query.p, query.len },
                   (struct route_text){ 0 }, &args, &e) != ST_OK ||
        !streams_add(to->s->streams, to->conn,
                     &(struct stream_caller){ by->identity, by->key, by->is_admin || by->reads_all,
                                              by->key_until_ms },
                     args, a, last.p ? arena_dup(a, last.p, last.len) : NULL,
                     to->route->kind == ROUTE_ENGINE_EVENTS, NULL, to->id, &status, &code, &e))
        reply_refuse(to, status, code, e.text, NULL);
    else
        reply_streams(to);
}

static void
answer_ticket(const struct reply_to *to, const struct query *q, const struct caller *by,
              struct buf *body)
{
    struct ticket *t;
    struct err e;
    enum status st = route_no_query(q, &e);

    if (st) {
        reply_refuse(to, 400, "VALIDATION_INVALID_TYPE", e.text, NULL);
    } else if ((st = auth_make_ticket(to->s, by, false, &t, &e))) {
        bool is_many = st == ST_CONFLICT;
        reply_refuse(to, is_many ? 429 : 503, is_many ? "RATE_LIMITED" : "STORE_UNAVAILABLE",
                     e.text, "Retry-After: 1\r\n");
    } else {
        buf_addf(body,
                 "{\"data\":{\"ticket\":\"%s\",\"expires_in\":%d},\"meta\":{\"request_id\":"
                 "\"%s\"}}",
                 t->text, TICKET_MS / 1000, to->id);
        reply_send(to, 200, NULL, body);
    }
}

static void
answer_own(const struct reply_to *to, const struct http_request *r, const struct query *q,
           const struct caller *by)
{
    struct buf body = { 0 };

    switch ((int)to->route->kind) {
    case ROUTE_HOME:
        web_answer_home(to, r);
        break;
    case ROUTE_WEB:
        web_answer_file(to, r);
        break;
    case ROUTE_HEALTH:
        status_page_health(to);
        break;
    case ROUTE_METRICS:
        status_page_metrics(to->s, &body);
        reply_page(to, "Content-Type: text/plain; version=0.0.4\r\nCache-Control: no-store\r\n",
                   &body);
        break;
    case ROUTE_OPENAPI:
        openapi_write(&body);
        reply_send(to, 200, NULL, &body);
        break;
    case ROUTE_TICKET:
        answer_ticket(to, q, by, &body);
        break;
    case ROUTE_WHOAMI:
        sign_in_whoami(to, by);
        break;
    case ROUTE_SIGN_IN:
        sign_in_exchange(to, r);
        break;
    case ROUTE_SIGN_IN_TICKET:
        sign_in_ticket(to, by);
        break;
    }
    buf_release(&body);
}

/* ---- the request ---- */

static void
refuse_path(const struct reply_to *to, int status, const char *allow)
{
    char header[96];

    snprintf(header, sizeof header, "Allow: %s\r\n", allow);
    if (status == 404)
        reply_refuse(to, 404, "ROUTE_NOT_FOUND", "there is nothing at this path; see /openapi.json",
                     NULL);
    else
        reply_refuse(to, status, "METHOD_NOT_ALLOWED",
                     "this path does not take that method; see Allow", header);
}

/* A package may be larger than other bodies, of a caller whose key allows it. */
size_t
dispatch_body_max(void *ctx, const struct http_request *r)
{
    struct serve *s = ctx;
    struct arena a = { 0 };
    struct query none = { 0 };
    struct route route;
    struct caller by = { .identity = "", .key = "" };
    struct admission_verdict v = { .status = 404 };
    struct http_text method = http_text(r, r->method_name), path = http_path(r);
    char allow[64];

    if (route_find(method.p, method.len, path.p, path.len, &route, allow) == 200 &&
        route_takes_package(&route)) {
        struct admission_request asked = admission_request_of(r, NULL, &none);
        admission_check(&s->rules, &route, &asked, &v);
        if (v.status == 200)
            auth_by_key(s, &route, &a, &v, &by);
    }
    arena_release(&a);
    return v.status == 200 ? PACKAGE_PACKED_MAX : HTTP_BODY_MAX;
}

void
dispatch_request(void *ctx, struct http_conn *c, const struct http_request *r)
{
    struct serve *s = ctx;
    struct arena a = { 0 };
    struct http_text query = http_query(r);
    struct query q = { 0 };
    struct route route;
    struct err e;
    struct caller by;
    char allow[64], id[REQUEST_ID_SIZE];
    struct reply_to to = { s, c, &route, id, http_text(r, r->method_name), http_path(r) };

    reply_next_id(s, id);
    int found = route_find(to.method.p, to.method.len, to.path.p, to.path.len, &route, allow);
    if (found != 200) /* admission comes first here, too: strangers learn nothing */
        route = (struct route){ .kind = ROUTE_HEALTH, .scope = SCOPE_NONE };
    if (query_parse(&q, &a, query.p ? query.p : "", query.len, &e) != ST_OK)
        reply_refuse(&to, 400, "VALIDATION_INVALID_TYPE", e.text, NULL);
    else if (!admit(&to, r, &q, &a, &by))
        ;
    else if (found != 200)
        refuse_path(&to, found, allow);
    else if (route.kind == ROUTE_OP)
        hand_over(&to, r, &by);
    else if (route.kind == ROUTE_STREAM || route.kind == ROUTE_ENGINE_EVENTS)
        begin_stream(&to, r, &by, &a);
    else if (route.kind == ROUTE_MCP)
        mcp_route_answer(&to, r, &by);
    else if (route.kind == ROUTE_FILE)
        file_answer_begin(&to, r, &by);
    else
        answer_own(&to, r, &q, &by);
    arena_release(&a);
}
