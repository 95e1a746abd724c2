#include "serve/job.h"

#include "base/clock.h"
#include "serve/mcp_route.h"

#include <stdlib.h>
#include <string.h>

enum {
    BODY_ROOM = 1000,    /* bytes of most answers */
    KEPT_MAX = 64 << 10, /* larger buffers are not kept for the next job */
    SPARE_MAX = 128,
};

/* A spare job has memory in its arena already. */
static struct job *
take(struct serve *s)
{
    struct job *j = s->spare;

    if (!j)
        return calloc(1, sizeof *j);
    s->spare = j->next;
    s->n_spare--;
    return j;
}

static struct http_text
keep_text(struct job *j, struct http_text t)
{
    return (struct http_text){ arena_dup(&j->arena, t.p, t.len), t.len };
}

/* When a claim that finds nothing is answered at the latest. */
static int64_t
wait_until(const struct route *route, const struct json *args)
{
    int64_t wait_s;

    if (route->op != HUB_CLAIM || !json_int(json_get(args, "wait_seconds"), &wait_s) ||
        wait_s <= 0 || wait_s > HUB_WAIT_MAX_S)
        return 0;
    return clock_mono_ms() + wait_s * 1000;
}

/* A job without arguments; without memory its identity is NULL. */
static struct job *
begin(const struct reply_to *to, const struct route *route, const struct caller *by)
{
    struct job *j = take(to->s);

    if (!j)
        return NULL;
    *j = (struct job){ .s = to->s, .conn = to->conn, .route = *route, .arena = j->arena };
    memcpy(j->request_id, to->id, strlen(to->id) + 1);
    memcpy(j->key, by->key, strlen(by->key) + 1); /* no longer than that */
    j->request = (struct hub_request){
        .op = route->op,
        .identity = arena_dup(&j->arena, by->identity, strlen(by->identity)),
        .key = j->key,
        .is_admin = by->is_admin,
        .reads_all = by->reads_all,
    };
    if (to->s->has_access) { /* its line is written with its answer */
        j->method = keep_text(j, to->method);
        j->path = keep_text(j, to->path);
    }
    return j;
}

static void
set_args(struct job *j, const struct json *args)
{
    j->request.args = args;
    j->wait_until_ms = wait_until(&j->route, args);
}

static struct job *
refuse_starved(const struct reply_to *to)
{
    reply_refuse(to, 503, "STORE_UNAVAILABLE", "out of memory", NULL);
    return NULL;
}

struct job *
job_new(const struct reply_to *to, const struct http_request *r, const struct caller *by)
{
    struct job *j = begin(to, to->route, by);
    struct http_text key = http_header(r, "Idempotency-Key"), query = http_query(r);
    struct json *args = NULL;
    struct err e;

    if (!j)
        return refuse_starved(to);
    const char *body = arena_dup(&j->arena, r->body.p ? r->body.p : "", r->body.len);
    enum status st =
        body && j->request.identity
            ? route_args(&j->arena, to->route, (struct route_text){ query.p, query.len },
                         (struct route_text){ body, r->body.len }, &args, &e)
            : err_nomem(&e);
    if (st) {
        reply_refuse(to, st == ST_INVALID ? 400 : 503,
                     st == ST_INVALID ? "VALIDATION_INVALID_TYPE" : "STORE_UNAVAILABLE", e.text,
                     NULL);
        job_free(j);
        return NULL;
    }
    set_args(j, args);
    j->request.dedup_key = key.p ? arena_dup(&j->arena, key.p, key.len) : NULL;
    j->bytes = r->body.len;
    return j;
}

struct job *
job_new_for(const struct reply_to *to, const struct caller *by, enum hub_op op,
            const struct json *args, struct mcp_call *mcp)
{
    const struct route route = { .kind = ROUTE_OP, .op = op, .scope = hub_ops[op].scope };
    struct job *j = begin(to, &route, by);

    if (!j)
        return refuse_starved(to);
    if (!j->request.identity) {
        job_free(j);
        return refuse_starved(to);
    }
    set_args(j, args);
    j->mcp = mcp;
    return j;
}

struct job *
job_new_own(struct serve *s, const struct hub_request *r, const struct buf *args)
{
    struct job *j = take(s);
    struct json *parsed;

    if (!j)
        return NULL;
    *j = (struct job){ .s = s, .request = *r, .arena = j->arena };
    j->request.identity = arena_dup(&j->arena, r->identity, strlen(r->identity));
    const char *text = buf_failed(args) ? NULL : arena_dup(&j->arena, args->p, args->len);
    if (j->request.identity && text && json_parse(&j->arena, text, args->len, &parsed, NULL)) {
        j->request.args = parsed;
        return j;
    }
    job_free(j);
    return NULL;
}

void
job_free(struct job *j)
{
    struct serve *s = j->s;

    if (j->mcp)
        mcp_call_free(j->mcp);
    loop_drop(j->timer);
    arena_reset(&j->arena);
    if (s->n_spare == SPARE_MAX || j->arena.used > KEPT_MAX) {
        arena_release(&j->arena);
        free(j);
        return;
    }
    j->next = s->spare;
    s->spare = j;
    s->n_spare++;
}

void
job_end(struct serve *s)
{
    for (struct job *j = s->spare, *next; j; j = next) {
        next = j->next;
        arena_release(&j->arena);
        free(j);
    }
    s->spare = NULL;
    buf_release(&s->body);
}

bool
job_tell(struct job *j, const struct hub_reply *reply)
{
    const struct reply_to to = { j->s, j->conn, &j->route, j->request_id, j->method, j->path };
    struct buf *body = &j->s->body;

    if (j->mcp)
        return mcp_call_tell(j, reply);
    buf_reset(body);
    buf_room(body, BODY_ROOM);
    reply_body(body, &j->route, reply, j->request_id);
    bool is_heard = reply_send(&to, reply->status,
                               reply->status == 401 ? "WWW-Authenticate: Bearer\r\n" : NULL, body);
    if (body->cap > KEPT_MAX)
        buf_release(body);
    return is_heard;
}

void
job_refuse(struct job *j)
{
    job_tell(
        j, &(struct hub_reply){ .status = 401, .code = "AUTH_REQUIRED", .message = SERVE_NO_KEY });
    job_free(j);
}
