#include "serve/mcp_listen.h"

#include "mcp/resource_watch.h"
#include "mcp/resources.h"
#include "serve/admission.h"
#include "serve/stream.h"

#include <stdlib.h>
#include <string.h>

enum { FILES_MAX = 16 }; /* of one listener: each is a descriptor */

struct mcp_listener;

struct listened_file {
    struct mcp_listener *of;
    struct resource_watch watch;
    struct loop_source *source;
    struct buf note;
    bool is_owed; /* it changed while the queue was full */
};

struct mcp_listener {
    struct serve *s;
    struct http_conn *conn;
    struct stream_form form;
    struct buf first, note;
    struct listened_file files[FILES_MAX];
    size_t n_files;
};

static void
release(struct mcp_listener *l)
{
    for (size_t i = 0; i < l->n_files; i++) {
        loop_drop(l->files[i].source);
        resource_watch_close(&l->files[i].watch);
        buf_release(&l->files[i].note);
    }
    buf_release(&l->first);
    buf_release(&l->note);
    free(l);
}

/* ---- telling ---- */

/* A line of JSON as an event. */
static void
write_event(struct buf *to, struct buf *line)
{
    buf_adds(to, "data: ");
    buf_add(to, line->p ? line->p : "", line->len);
    buf_adds(to, "\n"); /* the line has its own */
    to->is_starved = to->is_starved || buf_failed(line);
    buf_release(line);
}

static void
write_note(struct buf *to, const struct mcp_request *m, const char *uri)
{
    struct buf line = { 0 };

    mcp_write_updated(m->id, uri, &line);
    write_event(to, &line);
}

static void
tell(struct listened_file *f)
{
    f->is_owed = !http_stream_write(f->of->conn, f->note.p, f->note.len);
}

static void
on_file(void *ctx)
{
    struct listened_file *f = ctx;

    if (resource_watch_changed(&f->watch))
        tell(f);
}

static void
on_drained(void *ctx)
{
    struct mcp_listener *l = ctx;

    for (size_t i = 0; i < l->n_files; i++)
        if (l->files[i].is_owed)
            tell(&l->files[i]);
}

static void
on_ended(void *ctx)
{
    release(ctx);
}

/* ---- what is asked for ---- */

static bool
may(const struct caller *by, unsigned scope)
{
    const struct route route = { .kind = ROUTE_FILE, .scope = scope };

    return admission_allows(by->scopes, &route);
}

static bool
add_file(struct mcp_listener *l, const struct mcp_request *m, const char *uri)
{
    const struct hubclient_options none = { 0 };
    struct listened_file *f = &l->files[l->n_files];

    if (l->n_files == FILES_MAX || resource_watch_open(&f->watch, uri, m->id, &none, NULL))
        return false;
    f->of = l;
    l->n_files++;
    resource_watch_changed(&f->watch); /* as it is now */
    write_note(&f->note, m, uri);
    f->source = loop_on_readable(l->s->loop, f->watch.fd, on_file, f, NULL);
    return f->source && !buf_failed(&f->note);
}

/* False: it is not told of. */
static bool
add_uri(struct mcp_listener *l, const struct mcp_request *m, const struct caller *by,
        const char *uri)
{
    struct mcp_uri u;

    if (!uri || mcp_uri_parse(m->arena, uri, &u, NULL))
        return false;
    if (u.scheme != MCP_INBOX)
        return may(by, SCOPE_AUDIT) && add_file(l, m, uri);
    if (strcmp(u.name, by->identity) != 0 || !may(by, SCOPE_INBOX))
        return false;
    if (!l->note.len)
        write_note(&l->note, m, uri);
    return true;
}

static void
add_all(struct mcp_listener *l, const struct mcp_request *m, const struct caller *by)
{
    struct json *kept = json_new(m->arena, JSON_ARRAY);
    struct buf line = { 0 };

    json_each (v, m->uris) {
        const char *uri = json_dup_text(m->arena, v);
        if (kept && add_uri(l, m, by, uri))
            json_add(kept, json_new_str(m->arena, uri, strlen(uri)));
    }
    mcp_write_acknowledged(m, kept, &line);
    write_event(&l->first, &line);
}

void
mcp_listen_begin(const struct reply_to *to, const struct mcp_request *m, const struct caller *by)
{
    struct mcp_listener *l = calloc(1, sizeof *l);
    struct json *args = json_new(m->arena, JSON_OBJECT), *yes = json_new_str(m->arena, "true", 4);
    const char *code = "STORE_UNAVAILABLE";
    struct err e = { "out of memory" };
    int status = 503;

    if (l) {
        l->s = to->s;
        l->conn = to->conn;
        add_all(l, m, by);
    }
    bool is_ready = l && args && yes && json_set(args, "inbox", yes) && !buf_failed(&l->first) &&
                    !buf_failed(&l->note);
    if (is_ready) {
        l->form = (struct stream_form){ .first = l->first.p,
                                        .note = l->note.len ? l->note.p : NULL,
                                        .drained = on_drained,
                                        .ended = on_ended,
                                        .ctx = l };
        is_ready =
            streams_add(to->s->streams, to->conn,
                        &(struct stream_caller){ by->identity, by->key, false, by->key_until_ms },
                        args, m->arena, NULL, false, &l->form, to->id, &status, &code, &e);
    }
    if (is_ready) {
        reply_streams(to);
        return;
    }
    reply_refuse(to, status, code, e.text, NULL);
    if (l)
        release(l);
}
