#include "cmd/lib/hub_call.h"

#include "base/clock.h"
#include "base/path.h"
#include "base/term.h"
#include "base/utf8.h"
#include "hub/model/hub_event.h"
#include "hub/model/time_arg.h"
#include "net/fetch.h"
#include "net/libcurl.h"
#include "wake/wake.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STDIN_MAX = 64 << 20 };

static void
on_progress(void *ctx, uint64_t done, uint64_t bytes, uint64_t of_bytes)
{
    (void)ctx;
    fprintf(stderr, "\rcliq: reading the log: %" PRIu64 " events, %d %%", done,
            of_bytes ? (int)(bytes * 100 / of_bytes) : 100);
    if (bytes >= of_bytes)
        fputc('\n', stderr);
}

static void
on_note(void *ctx, const char *text)
{
    (void)ctx;
    cmd_warn("%s", text);
}

static enum status
begin(struct hub_call *c, const char *as, const char *url, bool is_json, struct err *e)
{
    struct hubclient_options o = { .url = url,
                                   .identity = as,
                                   .says = "--as NAME",
                                   .hub.progress = term_is_tty(STDERR_FILENO) ? on_progress : NULL,
                                   .hub.note = on_note,
                                   .hub.may_be_read_only = true,
                                   .hub.on_round = wake_on_round,
                                   .secure = fetch_secure };

    *c = (struct hub_call){ .is_json = is_json, .is_tty = term_is_tty(STDOUT_FILENO) };
    enum status s = hubclient_open(&c->hub, &o, e);
    if (!s && c->hub.url && as)
        s = err_set(e, ST_INVALID,
                    "--as is for files: %s knows you by the key in CLIQ_KEY; leave --as away",
                    c->hub.url);
    return s || !c->hub.place.is_tls ? s : libcurl_load(e);
}

enum status
hub_call_begin(struct hub_call *c, const struct args *a, struct err *e)
{
    return begin(c, args_text(a, "as"), args_text(a, "url"), args_has(a, "json"), e);
}

void
hub_call_warn_of_bad(struct hub_call *c)
{
    uint64_t bad = c->hub.hub ? hub_bad_lines(c->hub.hub) : 0;

    if (bad > c->bad_told) {
        cmd_warn(HUB_BAD_LINES_SAYS, bad, bad == 1 ? "" : "s");
        c->bad_told = bad;
    }
}

void
hub_call_end(struct hub_call *c)
{
    hubclient_close(&c->hub);
}

enum status
hub_run_files(const char *what,
              enum status (*work)(struct hub_call *c, const struct args *a, struct err *e),
              const struct args *a, struct err *e)
{
    const char *url = getenv("CLIQ_URL");
    struct hub_call c;

    if (url && *url)
        return err_set(e, ST_INVALID,
                       "cliq %s works on the files of a hub, not over HTTP: run it where %s keeps "
                       "them, without CLIQ_URL",
                       what, url);
    enum status s = begin(&c, NULL, NULL, args_has(a, "json"), e);
    if (!s)
        s = hubclient_files(&c.hub, e);
    if (!s)
        s = work(&c, a, e);
    hub_call_warn_of_bad(&c);
    hub_call_end(&c);
    return s;
}

enum status
hub_call(struct hub_call *c, enum hub_op op, const struct json *args, struct hub_reply *reply,
         struct err *e)
{
    enum status s = hubclient_call(&c->hub, &c->hub.arena, op, args, reply, e);

    hub_call_warn_of_bad(c);
    for (size_t i = 0; !s && i < reply->n_warnings; i++)
        cmd_warn("%s", reply->warnings[i]);
    return s;
}

/* ---- options to arguments ---- */

const char *
hub_text(struct hub_call *c, const struct json *v)
{
    return json_dup_text(&c->hub.arena, v);
}

static enum status
make_text(struct hub_call *c, const char *name, const char *text, struct json **out, struct err *e)
{
    size_t n = strlen(text);

    if (utf8_valid_len(text, n) < n)
        return err_set(e, ST_INVALID, "%s is not UTF-8 (byte %zu)", name,
                       utf8_valid_len(text, n) + 1);
    *out = json_new_str(&c->hub.arena, text, n);
    return *out ? ST_OK : err_nomem(e);
}

static enum status
make_number(struct hub_call *c, const char *name, const char *text, struct json **out,
            struct err *e)
{
    if (!json_parse(&c->hub.arena, text, strlen(text), out, NULL) || (*out)->type != JSON_NUMBER)
        return err_set(e, ST_INVALID, "%s needs a number, not \"%s\"", name, text);
    return ST_OK;
}

static enum status
make_json(struct hub_call *c, const char *name, const char *text, struct json **out, struct err *e)
{
    struct json_fault where;

    if (json_parse(&c->hub.arena, text, strlen(text), out, &where))
        return ST_OK;
    if (where.is_starved)
        return err_nomem(e);
    return err_set(e, ST_INVALID,
                   "%s is not JSON: %s at character %u (a text needs quotes: '\"text\"')", name,
                   where.what, where.column);
}

static enum status
make_seconds(struct hub_call *c, const char *name, int64_t ms, bool is_whole, struct json **out,
             struct err *e)
{
    char text[40];

    if (is_whole && ms % 1000)
        return err_set(e, ST_INVALID, "%s needs whole seconds", name);
    int n = snprintf(text, sizeof text, ms % 1000 ? "%" PRId64 ".%03" PRId64 : "%" PRId64,
                     ms / 1000, ms % 1000);
    const char *kept = arena_dup(&c->hub.arena, text, (size_t)n);
    return kept ? make_number(c, name, kept, out, e) : err_nomem(e);
}

/* "+3600000ms" */
static enum status
make_delay(struct hub_call *c, int64_t ms, struct json **out, struct err *e)
{
    char text[40];
    int n = snprintf(text, sizeof text, "+%" PRId64 "ms", ms);

    *out = json_new_copy(&c->hub.arena, text, (size_t)n);
    return *out ? ST_OK : err_nomem(e);
}

static enum status
make_when(struct hub_call *c, const char *name, const char *text, struct json **out, struct err *e)
{
    struct err why;
    int64_t ms;

    if (time_arg_parse(text, clock_wall_ns() / 1000000, &ms, &why))
        return err_set(e, ST_INVALID, "%s: %s", name, why.text);
    *out = json_new_int(&c->hub.arena, ms);
    return *out ? ST_OK : err_nomem(e);
}

static enum status
make_list(struct hub_call *c, const char *name, const char *const *texts, size_t n,
          struct json **out, struct err *e)
{
    enum status s = ST_OK;

    *out = json_new(&c->hub.arena, JSON_ARRAY);
    for (size_t i = 0; !s && *out && i < n; i++) {
        struct json *v = NULL;
        s = make_text(c, name, texts[i], &v, e);
        json_add(*out, v);
    }
    return s || *out ? s : err_nomem(e);
}

/* The messages for these two are part of the contract and name neither bounds nor choices. */
static enum status
make_count(struct hub_call *c, const char *name, uint64_t n, uint64_t max, struct json **out,
           struct err *e)
{
    if (n < 1 || n > max)
        return err_set(e, ST_INVALID, "%s must be from 1 to %" PRIu64 ", not %" PRIu64, name, max,
                       n);
    *out = json_new_int(&c->hub.arena, (int64_t)n);
    return *out ? ST_OK : err_nomem(e);
}

static enum status
make_source(struct hub_call *c, const char *name, const char *text, struct json **out,
            struct err *e)
{
    enum signal_source_kind kind;
    struct err why;
    enum status s = make_text(c, name, text, out, e);

    if (!s && signal_source_read_kind(*out, &kind, &why))
        s = err_set(e, ST_INVALID, "%s must be agent, webhook or process, not \"%s\"", name, text);
    return s;
}

static enum status
make_value(struct hub_call *c, const struct args *a, const struct hub_field *f, struct json **out,
           struct err *e)
{
    const char *text = args_text(a, f->opt);
    char name[64];
    size_t n;
    const char *const *many = args_many(a, f->opt, &n);

    snprintf(name, sizeof name, "--%s", f->opt);
    switch (f->kind) {
    case HF_TEXT:
        return make_text(c, name, text, out, e);
    case HF_TEXTS:
        return make_list(c, name, many, n, out, e);
    case HF_NUMBER:
        return make_number(c, name, text, out, e);
    case HF_FLAG:
        *out = json_new(&c->hub.arena, JSON_TRUE);
        break;
    case HF_BOOL:
        if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
            return err_set(e, ST_INVALID, "%s needs true or false, not \"%s\"", name, text);
        *out = json_new(&c->hub.arena, *text == 't' ? JSON_TRUE : JSON_FALSE);
        break;
    case HF_SECONDS:
    case HF_TIME:
        return make_seconds(c, name, args_ms(a, f->opt, 0), f->kind == HF_SECONDS, out, e);
    case HF_IN:
        return make_delay(c, args_ms(a, f->opt, 0), out, e);
    case HF_WHEN:
        return make_when(c, name, text, out, e);
    case HF_JSON:
        return make_json(c, name, text, out, e);
    case HF_COUNT:
        return make_count(c, name, args_number(a, f->opt, 0), f->max, out, e);
    case HF_SOURCE:
        return make_source(c, name, text, out, e);
    }
    return *out ? ST_OK : err_nomem(e);
}

enum status
hub_args(struct hub_call *c, const struct args *a, const struct hub_field *fields,
         struct json **out, struct err *e)
{
    enum status s = ST_OK;

    *out = json_new(&c->hub.arena, JSON_OBJECT);
    if (!*out)
        return err_nomem(e);
    for (const struct hub_field *f = fields; !s && f && f->opt; f++) {
        struct json *v = NULL;
        if (!args_has(a, f->opt))
            continue;
        s = make_value(c, a, f, &v, e);
        if (!s)
            json_set(*out, f->key, v);
    }
    return s;
}

enum status
hub_args_add(struct hub_call *c, struct json *args, const char *key, const char *text,
             struct err *e)
{
    struct json *v = NULL;
    enum status s = text ? make_text(c, key, text, &v, e) : ST_OK;

    if (v)
        json_set(args, key, v);
    return s;
}

enum status
hub_read_stdin(struct hub_call *c, const char *what, const char **text, size_t *len, struct err *e)
{
    struct buf b = BUF_MAX(STDIN_MAX);
    enum status s = path_read_fd(STDIN_FILENO, what, &b, e);

    if (!s) {
        *text = arena_dup(&c->hub.arena, b.p ? b.p : "", b.len);
        *len = b.len;
        s = *text ? ST_OK : err_nomem(e);
    }
    buf_release(&b);
    return s;
}
