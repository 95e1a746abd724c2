#include "serve/teams.h"

#include "team/package.h"
#include "team/published_teams.h"

#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* ---- for the document ---- */

const struct hub_arg *
teams_args(enum route_kind kind)
{
    static const struct hub_arg none[] = { { .name = NULL } };
    static const struct hub_arg list[] = {
        { "query", A_TEXT, .brief = "words that the name or the description has" }, { .name = NULL }
    };
#define TEAM                                                                                       \
    { "scope", A_NAME, .is_required = true, .brief = "@acme of @acme/review" },                    \
    {                                                                                              \
        "name", A_NAME, .is_required = true, .brief = "review of @acme/review"                     \
    }
    static const struct hub_arg team[] = { TEAM, { .name = NULL } };
    static const struct hub_arg version[] = {
        TEAM, { "version", A_NAME, .is_required = true, .brief = "as 1.2.0" }, { .name = NULL }
    };
#undef TEAM

    return kind == ROUTE_TEAM_PUBLISH    ? none
           : kind == ROUTE_TEAM_LIST     ? list
           : kind == ROUTE_TEAM_VERSIONS ? team
           : kind == ROUTE_TEAM_DOWNLOAD ? version
                                         : NULL;
}

const char *
teams_schema(enum route_kind kind)
{
    return kind == ROUTE_TEAM_PUBLISH                               ? "Team"
           : kind == ROUTE_TEAM_LIST || kind == ROUTE_TEAM_VERSIONS ? "Team[]"
                                                                    : NULL;
}

/* ---- answers ---- */

static void
refuse(const struct reply_to *to, enum status st, const struct err *e)
{
    switch ((int)st) {
    case ST_INVALID:
        reply_refuse(to, 400, "TEAM_INVALID", e->text, NULL);
        break;
    case ST_REFUSED:
        reply_refuse(to, 403, "AUTH_FORBIDDEN", e->text, NULL);
        break;
    case ST_NOT_FOUND:
        reply_refuse(to, 404, "TEAM_NOT_FOUND", e->text, NULL);
        break;
    case ST_CONFLICT:
        reply_refuse(to, 409, "TEAM_EXISTS", e->text, NULL);
        break;
    default:
        reply_refuse(to, 503, "STORE_UNAVAILABLE", e->text, "Retry-After: 1\r\n");
    }
}

static void
answer(const struct reply_to *to, const struct buf *json)
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

/* ---- publishing ---- */

/* A package on its way to the disk. Between its start and `done` only the thread uses it. */
struct publishing {
    struct serve *s;
    struct http_conn *conn;
    struct route route;
    char id[REQUEST_ID_SIZE], identity[65];
    struct publisher by;
    struct buf package, json;
    enum status status;
    struct err why;
    int done; /* an eventfd */
    struct loop_source *source;
    pthread_t thread;
};

static void *
publish(void *ctx)
{
    struct publishing *p = ctx;
    uint64_t one = 1;

    p->status = published_teams_add(p->s->o->config, &p->by, &p->package, &p->json, &p->why);
    if (write(p->done, &one, sizeof one) < 0)
        assert(!"an eventfd takes a one");
    return NULL;
}

static void
release(struct publishing *p)
{
    loop_drop(p->source);
    if (p->done >= 0)
        close(p->done);
    buf_release(&p->package);
    buf_release(&p->json);
    free(p);
}

static void
on_published(void *ctx)
{
    struct publishing *p = ctx;
    struct reply_to to = { p->s, p->conn, &p->route, p->id, { 0 }, { 0 } };

    pthread_join(p->thread, NULL);
    p->s->publishing = NULL;
    if (p->status)
        refuse(&to, p->status, &p->why);
    else
        answer(&to, &p->json);
    release(p);
}

static enum status
start(struct publishing *p, struct err *e)
{
    p->done = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (p->done < 0)
        return err_sys(e, "make an eventfd");
    p->source = loop_on_readable(p->s->loop, p->done, on_published, p, e);
    if (!p->source)
        return ST_IO;
    if (pthread_create(&p->thread, NULL, publish, p) != 0)
        return err_set(e, ST_IO, "no thread can be started");
    p->s->publishing = p;
    return ST_OK;
}

static void
begin_publish(const struct reply_to *to, const struct http_request *r, const struct caller *by)
{
    struct publishing *p = to->s->publishing ? NULL : calloc(1, sizeof *p);
    struct err e = { "another team is being published; try again in a second" };
    enum status s = ST_IO;

    if (p) {
        *p = (struct publishing){ .s = to->s, .conn = to->conn, .route = *to->route, .done = -1 };
        p->package.max = PACKAGE_PACKED_MAX;
        snprintf(p->id, sizeof p->id, "%s", to->id);
        snprintf(p->identity, sizeof p->identity, "%s", by->identity);
        p->by = (struct publisher){ p->identity, by->is_admin };
        buf_add(&p->package, r->body.p, r->body.len);
        s = buf_status(&p->package, "the package", &e);
        if (!s)
            s = start(p, &e);
    }
    if (!s)
        return;
    refuse(to, s, &e);
    if (p)
        release(p);
}

void
teams_end(struct serve *s)
{
    struct publishing *p = s->publishing;

    if (!p)
        return;
    pthread_join(p->thread, NULL);
    s->publishing = NULL;
    release(p);
}

/* ---- the request ---- */

static const char *
text(struct arena *a, const struct json *args, const char *key)
{
    const char *value = json_dup_text(a, json_get(args, key));

    return value ? value : "";
}

static enum status
check_args(const struct hub_arg *all, const struct json *args, struct err *e)
{
    json_each (v, args) {
        const struct hub_arg *known = all;
        while (known && known->name &&
               (strlen(known->name) != v->key_len || memcmp(known->name, v->key, v->key_len) != 0))
            known++;
        if (!known || !known->name)
            return err_set(e, ST_INVALID, "the parameter %.*s is not known here", (int)v->key_len,
                           v->key);
    }
    return ST_OK;
}

static void
read_teams(const struct reply_to *to, struct arena *a, const struct json *args)
{
    const char *config = to->s->o->config, *scope = text(a, args, "scope"),
               *name = text(a, args, "name");
    struct buf found = { 0 };
    struct err e;
    enum status s;

    if (to->route->kind == ROUTE_TEAM_LIST)
        s = published_teams_list(config, text(a, args, "query"), &found, &e);
    else if (to->route->kind == ROUTE_TEAM_VERSIONS)
        s = published_teams_versions(config, scope, name, &found, &e);
    else
        s = published_teams_read(config, scope, name, text(a, args, "version"), &found, &e);
    if (s)
        refuse(to, s, &e);
    else if (to->route->kind == ROUTE_TEAM_DOWNLOAD)
        reply_page(to, "Content-Type: application/gzip\r\nCache-Control: no-store\r\n", &found);
    else
        answer(to, &found);
    buf_release(&found);
}

void
teams_answer(const struct reply_to *to, const struct http_request *r, struct arena *a,
             const struct caller *by)
{
    struct http_text query = http_query(r);
    struct json *args;
    struct err e;
    enum status s = route_args(a, to->route, (struct route_text){ query.p, query.len },
                               (struct route_text){ 0 }, &args, &e);

    if (!s)
        s = check_args(teams_args(to->route->kind), args, &e);
    if (s)
        reply_refuse(to, 400, "VALIDATION_INVALID_TYPE", e.text, NULL);
    else if (to->route->kind == ROUTE_TEAM_PUBLISH)
        begin_publish(to, r, by);
    else
        read_teams(to, a, args);
}
