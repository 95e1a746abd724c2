#include "agents/connector/transfer.h"

#include "base/path.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { ENTRIES_MAX = 1000 }; /* entries of a phase; the check for equal names is quadratic */

enum status
transfer_wrong(const struct transfer *n, const char *what, struct err *e)
{
    return err_set(e, ST_INVALID, "%s %.100s: %s", n->kind, n->name, what);
}

enum status
transfer_text(struct arena *a, const struct json *v, const char **out, struct err *e)
{
    const char *p = NULL;
    size_t n = 0;

    *out = NULL;
    if (json_is(v, JSON_STRING) || json_is(v, JSON_NUMBER)) {
        p = v->text.p;
        n = v->text.len;
    } else if (json_is(v, JSON_TRUE) || json_is(v, JSON_FALSE)) {
        p = json_is(v, JSON_TRUE) ? "true" : "false";
        n = strlen(p);
    }
    if (!p || memchr(p, '\0', n))
        return ST_OK;
    *out = arena_dup(a, p, n);
    return *out ? ST_OK : err_nomem(e);
}

/* A text member; NULL when absent. */
static enum status
member(struct context *c, const struct transfer *n, const struct json *v, const char *key,
       const char **out, struct err *e)
{
    const struct json *text = json_get(v, key);
    char what[64];

    *out = NULL;
    if (!text || json_is(text, JSON_NULL))
        return ST_OK;
    enum status s = transfer_text(c->arena, text, out, e);
    snprintf(what, sizeof what, "its %s must be a text", key);
    return s || *out ? s : transfer_wrong(n, what, e);
}

bool
transfer_is_inside(const char *path)
{
    for (const char *p = path; *p; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7F)
            return false;
    for (const char *p = path;; p++) {
        size_t n = strcspn(p, "/");
        if (n == 0 || (n == 1 && p[0] == '.') || (n == 2 && p[0] == '.' && p[1] == '.'))
            return false;
        p += n;
        if (!*p)
            return true;
    }
}

static enum status
get_headers(struct context *c, struct transfer *n, const struct json *map, struct err *e)
{
    enum status s = ST_OK;

    if (!map || json_is(map, JSON_NULL))
        return ST_OK;
    if (!json_is(map, JSON_OBJECT))
        return transfer_wrong(n, "its headers must be a map of names to values", e);
    n->headers = arena_alloc(c->arena, (map->kids.count + 1) * sizeof *n->headers);
    if (!n->headers)
        return err_nomem(e);
    json_each (v, map) {
        struct fetch_header *h = &n->headers[n->n_headers];
        h->name = arena_dup(c->arena, v->key, v->key_len);
        s = h->name ? transfer_text(c->arena, v, &h->value, e) : err_nomem(e);
        if (!s && !h->value)
            s = err_set(e, ST_INVALID, "%s %.100s: its header %.100s must be a text", n->kind,
                        n->name, h->name);
        if (s)
            return s;
        n->n_headers++;
    }
    return ST_OK;
}

/* Adds a header unless the entry has one of that name. */
static void
default_header(struct transfer *n, const char *name, const char *value)
{
    for (size_t i = 0; i < n->n_headers; i++)
        if (strcasecmp(n->headers[i].name, name) == 0)
            return;
    n->headers[n->n_headers++] = (struct fetch_header){ name, value }; /* get_entry left room */
}

static enum status
get_body(struct context *c, struct transfer *n, const struct json *v, struct err *e)
{
    struct buf text = { 0 };
    struct arena scratch = { 0 };
    struct json *doc;

    if (!v || json_is(v, JSON_NULL))
        return ST_OK;
    if (json_is(v, JSON_STRING))
        buf_add(&text, v->text.p, v->text.len);
    else
        json_write(&text, v); /* a YAML value becomes JSON */
    enum status s = buf_status(&text, "the body", e);
    if (!s && !(n->body = arena_dup(c->arena, text.p, text.len)))
        s = err_nomem(e);
    n->body_len = text.len;
    if (!s) /* for a body that is not JSON, the type that curl -d sends */
        default_header(n, "Content-Type",
                       json_parse(&scratch, text.p, text.len, &doc, NULL)
                           ? "application/json"
                           : "application/x-www-form-urlencoded");
    arena_release(&scratch);
    buf_release(&text);
    return s;
}

const char *
transfer_type(const char *file)
{
    static const struct {
        const char *end, *type;
    } types[] = {
        { ".json", "application/json" },
        { ".txt", "text/plain; charset=utf-8" },
        { ".csv", "text/csv; charset=utf-8" },
    };
    const char *end = strrchr(file, '.');

    for (size_t i = 0; end && i < sizeof types / sizeof *types; i++)
        if (strcasecmp(end, types[i].end) == 0)
            return types[i].type;
    return "application/octet-stream";
}

static enum status
get_entry(struct context *c, const struct transfers *list, const struct json *v, struct transfer *n,
          struct err *e)
{
    bool is_source = n->kind[0] == 's', may_retry = true;
    const struct json *name = json_get(v, "name");
    enum status s = transfer_text(c->arena, name, &n->name, e);

    if (s)
        return s;
    if (!n->name || !*n->name)
        return err_set(e, ST_INVALID, "%s number %zu has no name", n->kind, list->n + 1);
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->v[i].name, n->name) == 0)
            return transfer_wrong(n, "there are two of that name", e);
    if (is_source && !transfer_is_inside(n->name))
        return err_set(e, ST_INVALID,
                       "bad name of a source \"%.100s\": it becomes a file below files/%s/, so "
                       "use names separated by single slashes, no . or ..",
                       n->name, c->phase);
    const struct {
        const char *key;
        const char **to;
    } texts[] = {
        { "url", &n->url },       { "ref", &n->ref },       { "agent", &n->agent },
        { "action", &n->action }, { "method", &n->method }, { "file", &n->file },
        { "mode", &n->mode }, /* only of a target */
    };
    for (size_t i = 0; !s && i < (is_source ? 5 : 7); i++)
        s = member(c, n, v, texts[i].key, texts[i].to, e);
    if (!s && n->mode && strcmp(n->mode, "create") != 0 && strcmp(n->mode, "append") != 0 &&
        strcmp(n->mode, "replace") != 0)
        s = transfer_wrong(n, "its mode must be create, append or replace", e);
    if (!s)
        s = get_headers(c, n, json_get(v, "headers"), e);
    if (!s && !n->headers) /* room for default_header */
        n->headers = arena_alloc(c->arena, sizeof *n->headers);
    if (!s && !n->headers)
        s = err_nomem(e);
    if (!s && is_source)
        s = get_body(c, n, json_get(v, "body"), e);
    else if (!s && n->file)
        default_header(n, "Content-Type", transfer_type(n->file));
    if (json_bool(json_get(v, "retry"), &may_retry))
        n->is_once = !may_retry;
    return s;
}

enum status
transfers_get(struct transfers *out, struct context *c, const char *key, const char *kind,
              struct err *e)
{
    const struct json *list = json_get(c->dispatch, key);

    if (!list || json_is(list, JSON_NULL))
        return ST_OK;
    if (!json_is(list, JSON_ARRAY))
        return err_set(e, ST_INVALID, "%s must be a list", key);
    if (list->kids.count > ENTRIES_MAX)
        return err_set(e, ST_INVALID, "%zu %ss are too many; the limit is %d", list->kids.count,
                       kind, ENTRIES_MAX);
    out->v = arena_alloc(c->arena, (list->kids.count + 1) * sizeof *out->v);
    if (!out->v)
        return err_nomem(e);
    json_each (v, list) {
        out->v[out->n] = (struct transfer){ .kind = kind, .node = v };
        enum status s = get_entry(c, out, v, &out->v[out->n], e);
        if (s)
            return s;
        out->n++;
    }
    return ST_OK;
}

const char *
transfer_member(struct context *c, const struct transfer *n, const char *key)
{
    const char *text = NULL;

    return transfer_text(c->arena, json_get(n->node, key), &text, NULL) ? NULL : text;
}

/* ---- files ---- */

/* `path` relative to `dir`; NULL when it is not below it. */
static const char *
below(const char *path, const char *dir)
{
    size_t n = dir ? strlen(dir) : 0;

    return n && strncmp(path, dir, n) == 0 && path[n] == '/' ? path + n + 1 : NULL;
}

/* Settings and a run's messages may hold keys, so they are never sent. */
static bool
is_ours(const char *path)
{
    const char *name = strrchr(path, '/');

    return strncmp(path, ".cliq/", 6) == 0 &&
           (strstr(path, "/run/") || strcmp(name, "/settings.json") == 0);
}

static enum status
open_in_work_dir(struct context *c, const char *path, int *fd, struct stat *st, struct err *e)
{
    struct state_dir f;
    enum status s = c->work_dir ? state_dir_open(&f, c->work_dir, NULL, e)
                                : err_set(e, ST_INVALID, "the message has no work_dir");

    if (s)
        return s;
    s = state_dir_open_file(&f, path, fd, st, e);
    state_dir_close(&f);
    return s;
}

enum status
transfer_open(struct context *c, const struct transfer *n, struct fetch_file *out, struct err *e)
{
    const char *path = n->file;
    struct err why = { "" };
    struct stat st = { 0 };
    enum status s = ST_NOT_FOUND;

    *out = (struct fetch_file){ .fd = -1 };
    if (path[0] == '/' && !(path = below(n->file, c->work_dir)))
        path = below(n->file, c->state.state_dir);
    if (!path || !transfer_is_inside(path))
        return transfer_wrong(
            n, "its file must be files/<phase>/<name> or a path inside the work directory", e);
    if (is_ours(path))
        return transfer_wrong(
            n, "its file may hold keys: settings and the run's own files are not sent", e);
    if (strncmp(path, "files/", 6) == 0)
        s = state_dir_open_file(&c->state, path, &out->fd, &st, &why);
    if (s == ST_NOT_FOUND)
        s = open_in_work_dir(c, path, &out->fd, &st, &why);
    if (s)
        err_say(e, "%s %.100s: cannot read %.300s: %s", n->kind, n->name, n->file, why.text);
    out->len = (uint64_t)st.st_size;
    return s;
}

enum status
transfer_read(struct context *c, const struct transfer *n, struct buf *to, struct err *e)
{
    struct fetch_file file;
    enum status s = transfer_open(c, n, &file, e);

    if (s)
        return s;
    if (file.len > TRANSFER_TEXT_MAX) {
        s = transfer_wrong(n, "its file is larger than 8 MiB, too large for a text", e);
    } else {
        buf_adds(to, "");
        s = path_read_fd(file.fd, n->file, to, e);
    }
    close(file.fd);
    return s;
}

struct json *
transfer_path(struct context *c, const struct transfer *n)
{
    struct buf path = { 0 };

    state_dir_path(&c->state, &path, "files/");
    buf_addf(&path, "%s/%s", c->phase, n->name);
    const char *shown = buf_failed(&path) ? NULL : below(path.p, c->work_dir);
    if (!shown)
        shown = path.p;
    struct json *v = buf_failed(&path) ? NULL : json_new_copy(c->arena, shown, strlen(shown));
    buf_release(&path);
    return v;
}
