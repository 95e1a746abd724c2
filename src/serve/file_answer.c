#include "serve/file_answer.h"

#include "base/clock.h"
#include "serve/file_route.h"
#include "team/package.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A request on its way. Between loop_work and its end only the thread uses `call`. */
struct file_answer {
    struct serve *s;
    struct http_conn *conn;
    struct route route;
    char id[REQUEST_ID_SIZE];
    struct http_text method, path; /* for the access log */
    struct file_call call;
    struct buf package;
    enum status status;
    struct err why;
};

static void
release(struct file_answer *f)
{
    arena_release(&f->call.arena);
    buf_release(&f->call.out);
    buf_release(&f->package);
    free(f);
}

/* ---- answers ---- */

static void
refuse_status(const struct reply_to *to, const struct file_route *route, enum status st,
              const struct err *e)
{
    char code[64];

    snprintf(code, sizeof code, "%s_%s", route->noun, st == ST_NOT_FOUND ? "NOT_FOUND" : "INVALID");
    if (st == ST_INVALID || st == ST_NOT_FOUND)
        reply_refuse(to, st == ST_INVALID ? 400 : 404, code, e->text, NULL);
    else if (st == ST_REFUSED)
        reply_refuse(to, 403, "AUTH_FORBIDDEN", e->text, NULL);
    else if (st == ST_CONFLICT && route->conflict)
        reply_refuse(to, 409, route->conflict, e->text, NULL);
    else
        reply_refuse(to, 503, "STORE_UNAVAILABLE", e->text, "Retry-After: 1\r\n");
}

static void
send_data(const struct reply_to *to, const struct buf *json)
{
    struct buf body = { 0 };

    json_open(&body, '{');
    json_key_raw(&body, "data", json->p, json->len);
    json_key(&body, "meta");
    json_open(&body, '{');
    json_key_str(&body, "request_id", to->id);
    json_close(&body, '}');
    json_close(&body, '}');
    reply_send(to, 200, NULL, &body);
    buf_release(&body);
}

static void
send_page(const struct reply_to *to, const char *type, const struct buf *page)
{
    char headers[160];

    snprintf(headers, sizeof headers, "Content-Type: %s\r\nCache-Control: no-store\r\n", type);
    reply_page(to, headers, page);
}

static void
tell(struct file_answer *f)
{
    struct reply_to to = { f->s, f->conn, &f->route, f->id, f->method, f->path };
    const struct file_call *c = &f->call;

    if (c->refusal.status)
        reply_refuse(&to, c->refusal.status, c->refusal.code, c->refusal.message, NULL);
    else if (f->status)
        refuse_status(&to, c->route, f->status, &f->why);
    else if (c->route->type)
        send_page(&to, c->route->type, &c->out);
    else
        send_data(&to, &c->out);
}

/* ---- the thread, and back ---- */

static void
work(void *ctx)
{
    struct file_answer *f = ctx;

    f->status = f->call.route->run(&f->call, &f->why);
    if (!f->status && !f->call.refusal.status)
        f->status = buf_status(&f->call.out, "the answer", &f->why);
}

static void
on_done(void *ctx)
{
    struct file_answer *f = ctx;

    f->s->n_file_answers--;
    if (!f->s->is_over)
        tell(f);
    release(f);
}

/* ---- the request ---- */

static const char *
keep(struct arena *a, struct http_text t)
{
    return arena_dup(a, t.p ? t.p : "", t.len);
}

/* The arguments of the request, checked against the row. */
static bool
read_args(struct file_answer *f, const struct http_request *r)
{
    static const struct hub_arg none[] = { { .name = NULL } };
    struct file_call *c = &f->call;
    struct http_text query = http_query(r);
    size_t len = c->route->takes_package || c->route->takes_event ? 0 : r->body.len;
    const char *body = arena_dup(&c->arena, r->body.p ? r->body.p : "", len);
    struct json *args;
    struct err e;
    enum status st =
        body ? route_args(&c->arena, &f->route, (struct route_text){ query.p, query.len },
                          (struct route_text){ body, len }, &args, &e)
             : err_nomem(&e);

    if (st)
        return refuse(&c->refusal, st == ST_INVALID ? 400 : 503,
                      st == ST_INVALID ? "VALIDATION_INVALID_TYPE" : "STORE_UNAVAILABLE", "%s",
                      e.text);
    c->in = (struct args_in){ .object = args,
                              .known = c->route->args ? c->route->args : none,
                              .is_query = len == 0,
                              .prefix = "",
                              .now_ms = clock_wall_ns() / 1000000,
                              .arena = &c->arena,
                              .refusal = &c->refusal };
    if (!args_known(&c->in, c->route->path))
        return false;
    for (const struct hub_arg *a = c->in.known; a->name; a++)
        if (a->is_required && !json_get(args, a->name))
            return arg_missing(&c->in, a->name);
    return true;
}

static struct file_answer *
new_answer(const struct reply_to *to, const struct http_request *r, const struct caller *by)
{
    struct file_answer *f = to->s->n_file_answers < FILE_ANSWERS_MAX ? calloc(1, sizeof *f) : NULL;

    if (!f)
        return NULL;
    *f = (struct file_answer){ .s = to->s, .conn = to->conn, .route = *to->route };
    snprintf(f->id, sizeof f->id, "%s", to->id);
    f->call.route = to->route->file;
    f->call.config = to->s->o->config;
    f->call.is_admin = by->is_admin;
    f->call.identity = arena_dup(&f->call.arena, by->identity, strlen(by->identity));
    f->call.body = &f->package;
    f->package.max = PACKAGE_PACKED_MAX;
    if (f->call.route->takes_package || f->call.route->takes_event)
        buf_add(&f->package, r->body.p, r->body.len);
    if (to->s->has_access) {
        f->method = (struct http_text){ keep(&f->call.arena, to->method), to->method.len };
        f->path = (struct http_text){ keep(&f->call.arena, to->path), to->path.len };
    }
    if (f->call.identity && !buf_failed(&f->package))
        return f;
    release(f);
    return NULL;
}

void
file_answer_begin(const struct reply_to *to, const struct http_request *r, const struct caller *by)
{
    struct file_answer *f = new_answer(to, r, by);
    struct err e;

    if (!f) {
        reply_refuse(to, 503, "STORE_UNAVAILABLE", "too many requests at once; try again",
                     "Retry-After: 1\r\n");
        return;
    }
    if (read_args(f, r) && loop_work(to->s->loop, work, on_done, f, &e) == ST_OK) {
        to->s->n_file_answers++;
        return;
    }
    if (!f->call.refusal.status)
        refuse(&f->call.refusal, 503, "STORE_UNAVAILABLE", "%s", e.text);
    tell(f);
    release(f);
}

void
file_answer_stop(struct serve *s)
{
    s->is_over = true;
}
