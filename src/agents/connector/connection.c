/* connection - requests of a connector: settings, URLs, answers, pages, files. */
#include "agents/connector/connection.h"

#include "base/digest.h"
#include "base/sys.h"
#include "base/term.h"
#include "team/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum {
    EXCERPT = 200,                 /* bytes of an answer shown in an error */
    SECRET_MIN = 4,                /* bytes; masking shorter values would mask ordinary text */
    FILE_TIMEOUT_MS = 6 * 3600000, /* of a request that moves a file */
    FILE_IDLE_MS = 60000,          /* of the same, without a byte */
    HEADERS_MAX = 32,              /* of a request */
    PAGES_MAX = 10000,
    WAIT_MAX_MS = 600000, /* between two tries: a signature is good for 15 minutes */
};

/* ---- settings ---- */

const char *
connection_setting(struct connection *x, const char *key)
{
    const char *text = NULL;
    enum status s = transfer_text(x->c->arena, json_get(x->settings, key), &text, NULL);

    return !s && text && *text ? text : NULL;
}

const char *
connection_setting_or(struct connection *x, const char *key, const char *variable)
{
    const char *text = connection_setting(x, key), *own = getenv(variable);

    return text ? text : own && *own ? own : NULL;
}

enum status
connection_need_setting(struct connection *x, const char *key, const char **out, struct err *e)
{
    *out = connection_setting(x, key);
    return *out ? ST_OK
                : err_set(e, ST_INVALID,
                          "the agent %s needs the setting %s: run cliq settings agents.%s.%s %s",
                          x->kind->name, key, x->kind->name, key,
                          settings_is_secret(key) ? "-, and give it on standard input" : "VALUE");
}

enum status
connection_set_base(struct connection *x, const char *otherwise, struct err *e)
{
    const char *base = connection_setting(x, "base_url");

    if (!base && !otherwise)
        return connection_need_setting(x, "base_url", &base, e);
    if (!base)
        base = otherwise;
    if (strncmp(base, "https://", 8) != 0 && strncmp(base, "http://", 7) != 0)
        return err_set(e, ST_INVALID,
                       "the setting agents.%s.base_url must begin with https:// or http://",
                       x->kind->name);
    size_t n = strlen(base);
    while (n && base[n - 1] == '/')
        n--;
    x->base_url = arena_dup(x->c->arena, base, n);
    return x->base_url ? ST_OK : err_nomem(e);
}

enum status
connection_set_header(struct connection *x, const char *name, const char *value, struct err *e)
{
    size_t i = 0;
    const char *kept = arena_dup(x->c->arena, value, strlen(value));

    if (!kept)
        return err_nomem(e);
    while (i < x->n_headers && strcasecmp(x->headers[i].name, name) != 0)
        i++;
    if (i == CONNECTION_HEADERS)
        return err_set(e, ST_INVALID, "the agent %s has too many headers", x->kind->name);
    x->headers[i] = (struct fetch_header){ name, kept };
    x->n_headers += i == x->n_headers;
    return ST_OK;
}

enum status
connection_set_basic(struct connection *x, const char *user, const char *password, struct err *e)
{
    struct buf plain = { 0 }, value = { 0 };

    buf_addf(&plain, "%s:%s", user, password);
    enum status s = buf_status(&plain, "the credentials", e);
    if (!s) {
        buf_adds(&value, "Basic ");
        digest_base64(&value, plain.p, plain.len);
        s = buf_status(&value, "the credentials", e);
    }
    if (!s)
        s = connection_set_header(x, "Authorization", value.p, e);
    buf_release(&plain);
    buf_release(&value);
    return s;
}

enum status
connection_set_bearer(struct connection *x, const char *token, struct err *e)
{
    struct buf value = { 0 };

    buf_addf(&value, "Bearer %s", token);
    enum status s = buf_status(&value, "the token", e);
    if (!s)
        s = connection_set_header(x, "Authorization", value.p, e);
    buf_release(&value);
    return s;
}

/* ---- URLs and texts ---- */

void
connection_encode(struct buf *to, const char *text, const char *keep)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";

    for (; *text; text++) {
        if (strchr(plain, *text) || strchr(keep, *text))
            buf_addc(to, *text);
        else
            buf_addf(to, "%%%02X", (unsigned)(unsigned char)*text);
    }
}

/* The content of b, in the arena; b is released. */
static const char *
keep_text(struct connection *x, struct buf *b)
{
    const char *text = buf_failed(b) ? NULL : arena_dup(x->c->arena, b->p ? b->p : "", b->len);

    buf_release(b);
    return text;
}

static const char *
join(struct connection *x, const char *base, const char *const *parts)
{
    struct buf text = { 0 };

    if (!parts[0]) /* a part was not made: out of memory */
        return NULL;
    buf_adds(&text, base);
    for (size_t i = 0; parts[i]; i++)
        if (i % 2)
            connection_encode(&text, parts[i], "");
        else
            buf_adds(&text, parts[i]);
    return keep_text(x, &text);
}

const char *
connection_url(struct connection *x, const char *const *parts)
{
    bool is_whole = parts[0] && strncmp(parts[0], "http", 4) == 0;

    return join(x, is_whole ? "" : x->base_url, parts);
}

const char *
connection_encoded(struct connection *x, const char *const *parts)
{
    return join(x, "", parts);
}

const char *
connection_text(struct connection *x, const char *fmt, ...)
{
    char text[1024];
    va_list ap;

    va_start(ap, fmt);
    int n = vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return n >= 0 && (size_t)n < sizeof text ? arena_dup(x->c->arena, text, (size_t)n) : NULL;
}

/* ---- secrets ---- */

/* The number of bytes at p that are the value; of "Bearer X", X alone counts too. */
static size_t
value_at(const char *value, const char *p, size_t len)
{
    for (int k = 0; k < 2 && value; k++) {
        size_t m = strlen(value);
        if (m >= SECRET_MIN && m <= len && memcmp(p, value, m) == 0)
            return m;
        value = strchr(value, ' ');
        value = value ? value + 1 : NULL;
    }
    return 0;
}

static bool
is_public_header(const char *name)
{
    return strcasecmp(name, "Content-Type") == 0 || strcasecmp(name, "Accept") == 0 ||
           strcasecmp(name, "User-Agent") == 0;
}

static size_t
header_at(const struct fetch_header *v, size_t n, const char *p, size_t len)
{
    for (size_t i = 0; i < n; i++) {
        size_t m = is_public_header(v[i].name) ? 0 : value_at(v[i].value, p, len);
        if (m)
            return m;
    }
    return 0;
}

/* The number of bytes at p that are one of our secrets. */
static size_t
secret_at(struct connection *x, const char *p, size_t len)
{
    const struct transfer *n = x->entry;
    size_t m = header_at(x->headers, x->n_headers, p, len);

    if (!m && n)
        m = header_at(n->headers, n->n_headers, p, len);
    for (size_t i = 0; !m && i < sizeof x->secrets / sizeof *x->secrets; i++)
        m = x->secrets[i] ? value_at(x->secrets[i], p, len) : 0;
    json_each (v, x->settings) {
        const char *key = m ? NULL : arena_dup(x->c->arena, v->key, v->key_len), *text = NULL;
        if (key && settings_is_secret(key) && !transfer_text(x->c->arena, v, &text, NULL) && text)
            m = value_at(text, p, len);
    }
    return m;
}

/* Appends the beginning of an answer, safe for a terminal and without our secrets. */
static void
add_excerpt(struct buf *to, struct connection *x, const struct buf *body)
{
    struct buf raw = { 0 };
    size_t i = 0;

    while (i < body->len && raw.len < EXCERPT) {
        size_t m = secret_at(x, body->p + i, body->len - i);
        if (m)
            buf_adds(&raw, "***");
        else
            buf_addc(&raw, body->p[i]);
        i += m ? m : 1;
    }
    if (raw.len)
        term_escape(to, raw.p, raw.len, false);
    buf_adds(to, !body->len ? "(nothing)" : i < body->len ? "..." : "");
    buf_release(&raw);
}

/* Puts "source report.json: " before the sentence. */
static enum status
say(struct connection *x, enum status s, const struct err *why, struct err *e)
{
    if (x->entry)
        err_say(e, "%s %.100s: %s", x->entry->kind, x->entry->name, why->text);
    else
        err_say(e, "%s", why->text);
    return s;
}

/* ---- one request ---- */

/* The callbacks of net/fetch. */
struct reception {
    struct connection *x;
    struct connection_request *q;
    uint64_t max;
    struct err why;
    struct err late; /* why it is not tried again */
};

static bool
begin_file(void *ctx)
{
    struct reception *in = ctx;

    in->q->size = 0;
    return state_dir_rewind(in->q->to, &in->why) == ST_OK;
}

static bool
take_piece(void *ctx, const char *p, size_t n)
{
    struct reception *in = ctx;

    in->q->size += n;
    if (in->q->size > in->max) {
        err_say(&in->why, "the file is larger than %ju bytes", (uintmax_t)in->max);
        return false;
    }
    while (n) {
        ssize_t done = SYS_RETRY(sys->write(in->q->to->fd, p, n));
        if (done <= 0) {
            err_say_errno(&in->why, "write %s", in->q->to->name);
            return false;
        }
        p += done;
        n -= (size_t)done;
    }
    return true;
}

static bool
report_pause(void *ctx, int64_t ms, int status)
{
    struct reception *in = ctx;
    char note[256], answer[48] = "gave no answer";

    if (status)
        snprintf(answer, sizeof answer, "answered %d", status);
    if (!context_may_wait(in->x->c, ms, &in->late))
        return false;
    if (ms >= WAIT_MAX_MS) {
        err_say(&in->late, "in %d minutes or later", WAIT_MAX_MS / 60000);
        return false;
    }
    if (ms >= 1000 && in->x->entry) {
        snprintf(note, sizeof note, "%s %.100s: the server %s; next try in %jd s",
                 in->x->entry->kind, in->x->entry->name, answer, (intmax_t)(ms / 1000));
        context_progress(in->x->c, note, NULL);
    }
    return true;
}

static enum status
add_headers(struct connection *x, const struct connection_request *q, const char *method,
            struct fetch_header to[HEADERS_MAX], size_t *n, struct err *e)
{
    struct fetch_header signs[CONNECTOR_SIGNED];
    size_t n_signs = 0;
    enum status s =
        x->kind->sign && !q->is_foreign ? x->kind->sign(x, q, method, signs, &n_signs, e) : ST_OK;

    if (s)
        return s;
    if (q->n_headers > HEADERS_MAX - CONNECTION_HEADERS - CONNECTOR_SIGNED - 1)
        return err_set(e, ST_INVALID, "%zu headers are too many", q->n_headers);
    *n = 0;
    for (size_t i = 0; i < x->n_headers && !q->is_foreign; i++)
        to[(*n)++] = x->headers[i];
    for (size_t i = 0; i < q->n_headers; i++)
        to[(*n)++] = q->headers[i];
    for (size_t i = 0; i < n_signs; i++)
        to[(*n)++] = signs[i];
    if (q->type || (q->body && !q->has_own_type))
        to[(*n)++] =
            (struct fetch_header){ "Content-Type", q->type ? q->type : "application/json" };
    return ST_OK;
}

/* Sends it once, with the tries of net/fetch. *late: why there were no more of them, or "". */
static enum status
send_request(struct connection *x, struct connection_request *q, struct fetch_response *r,
             struct err *late, struct err *e)
{
    struct fetch_header headers[HEADERS_MAX];
    bool moves_file = q->file || q->to;
    struct reception in = { .x = x,
                            .q = q,
                            .max = x->max_bytes ? x->max_bytes : CONNECTION_FILE_MAX };
    struct fetch_request f = {
        .url = q->url,
        .method = q->method            ? q->method
                  : q->body || q->file ? "POST"
                                       : "GET",
        .headers = headers,
        .body = q->body ? (q->body->p ? q->body->p : "") : NULL,
        .body_len = q->body ? q->body->len : 0,
        .file = q->file,
        .timeout_ms = moves_file && !x->timeout_ms ? FILE_TIMEOUT_MS : x->timeout_ms,
        .idle_ms = moves_file ? FILE_IDLE_MS : 0,
        .max_bytes = x->max_bytes,
        .proxy = x->proxy,
        .tries = q->is_once ? 1 : 0,
        .is_repeatable = q->is_repeatable,
        .is_single = q->is_single,
        .wait_max = WAIT_MAX_MS,
        .stop = x->stop,
        .on_wait = report_pause,
        .on_start = q->to ? begin_file : NULL,
        .on_body = q->to ? take_piece : NULL,
        .ctx = &in,
    };
    enum status s = add_headers(x, q, f.method, headers, &f.n_headers, e);

    if (s)
        return s;
    s = fetch(&f, r, e);
    if (s && *in.why.text)
        err_say(e, "%s", in.why.text);
    *late = in.late;
    return s;
}

/* "; check the settings agents.jira.email and agents.jira.api_token" */
static void
add_advice(struct buf *to, struct connection *x, const struct fetch_response *r)
{
    const struct connector *k = x->kind;

    if (k->advise)
        k->advise(x, r, to);
    if (!k->keys || (r->status != 401 && r->status != 403) || to->len)
        return;
    buf_adds(to, "; check the settings");
    for (const char *p = k->keys; *p; p += strcspn(p, " ") + (p[strcspn(p, " ")] == ' '))
        buf_addf(to, "%s agents.%s.%.*s", p == k->keys ? "" : " and", k->name, (int)strcspn(p, " "),
                 p);
    if (r->status == 403)
        buf_adds(to, ", and what that key may do");
}

static enum status
say_answer(struct connection *x, const struct connection_request *q, const struct fetch_response *r,
           const struct err *late, struct err *e)
{
    struct buf url = { 0 }, excerpt = { 0 }, advice = { 0 };
    struct err why = { "" };
    char tries[32] = "";

    if (!q->is_foreign)
        add_advice(&advice, x, r);
    fetch_show_url(&url, r->url ? r->url : q->url);
    add_excerpt(&excerpt, x, &r->body);
    if (r->tries > 1)
        snprintf(tries, sizeof tries, " after %u tries", r->tries);
    err_say(&why, "%.300s answered %d%s%s%.300s: %s%s", url.p ? url.p : "", r->status, tries,
            *late->text ? ", and wants to be asked again " : "", late->text,
            excerpt.p ? excerpt.p : "", advice.p ? advice.p : "");
    buf_release(&advice);
    buf_release(&url);
    buf_release(&excerpt);
    return say(x, ST_FAILED, &why, e);
}

enum status
connection_ask(struct connection *x, struct connection_request *q, struct fetch_response *r,
               struct err *e)
{
    struct err why = { "" }, late = { "" };

    *r = (struct fetch_response){ 0 };
    if (!q->url)
        return err_nomem(e);
    enum status s = send_request(x, q, r, &late, &why);
    if (!s && r->status == 401 && x->kind->renew && !q->is_foreign) {
        fetch_response_release(r);
        *r = (struct fetch_response){ 0 };
        s = x->kind->renew(x, &why);
        if (!s)
            s = send_request(x, q, r, &late, &why);
    }
    if (s)
        return say(x, s, &why, e);
    q->status = r->status;
    bool is_good = r->status < (q->takes_3xx ? 400 : 300) || r->status == q->takes_status;
    return is_good ? ST_OK : say_answer(x, q, r, &late, e);
}

/* ---- JSON ---- */

static enum status
parse_answer(struct connection *x, const struct connection_request *q,
             const struct fetch_response *r, const struct json **out, struct err *e)
{
    struct json *doc = NULL;
    struct json_fault where;
    struct err why = { "" };
    const char *text = arena_dup(x->c->arena, r->body.p, r->body.len);

    *out = NULL;
    if (!text)
        return err_nomem(e);
    if (!r->body.len)
        return ST_OK;
    if (json_parse_foreign(x->c->arena, text, r->body.len, &doc, &where)) {
        *out = doc;
        return ST_OK;
    }
    struct buf url = { 0 };
    fetch_show_url(&url, q->url);
    err_say(&why, "%.300s answered %d with what is not JSON: %s in line %u", url.p ? url.p : "",
            r->status, where.what, where.line);
    buf_release(&url);
    return say(x, ST_FAILED, &why, e);
}

enum status
connection_json(struct connection *x, struct connection_request *q, const struct json **doc,
                struct err *e)
{
    struct fetch_response r;
    enum status s = connection_ask(x, q, &r, e);

    *doc = NULL;
    if (!s)
        s = parse_answer(x, q, &r, doc, e);
    fetch_response_release(&r);
    return s;
}

enum status
connection_get(struct connection *x, const char *url, const struct json **doc, struct err *e)
{
    struct connection_request q = { .url = url };

    return connection_json(x, &q, doc, e);
}

enum status
connection_send(struct connection *x, const char *method, const char *url, const struct buf *body,
                const struct json **doc, struct err *e)
{
    struct connection_request q = { .method = method, .url = url, .body = body, .is_single = true };
    enum status s = buf_status(body, "the request", e);

    *doc = NULL;
    return s ? s : connection_json(x, &q, doc, e);
}

/* ---- files ---- */

static void
record_put(struct connection *x, const char *key, struct json *v)
{
    if (!json_set(x->record, key, v))
        x->is_starved = true;
}

static void
record_file(struct connection *x, uint64_t size)
{
    record_put(x, "file", transfer_path(x->c, x->entry));
    record_int(x, "size", (int64_t)size);
}

enum status
connection_keep(struct connection *x, const void *p, size_t n, struct err *e)
{
    record_file(x, n);
    return context_write_file(x->c, x->entry->name, p, n, e);
}

enum status
connection_keep_json(struct connection *x, const struct json *doc, struct err *e)
{
    const struct json *shown = mask_json(&x->c->mask, x->c->arena, doc);
    struct buf text = { 0 };

    if (!shown)
        return err_nomem(e);
    json_write_pretty(&text, shown, 0);
    buf_addc(&text, '\n');
    enum status s = buf_status(&text, "the answer", e);
    if (!s)
        s = connection_keep(x, text.p, text.len, e);
    buf_release(&text);
    return s;
}

enum status
connection_download(struct connection *x, const struct connection_request *q,
                    struct fetch_response *r, struct err *e)
{
    struct connection_request own = *q;
    struct state_file to = { 0 };
    struct buf path = { 0 };

    *r = (struct fetch_response){ 0 };
    buf_addf(&path, "files/%s/%s", x->c->phase, x->entry->name);
    enum status s = buf_status(&path, "the path", e);
    if (!s)
        s = state_dir_begin(&x->c->state, path.p, &to, e);
    own.to = &to;
    if (!s)
        s = connection_ask(x, &own, r, e);
    enum status end = state_dir_end(&to, !s, s ? NULL : e);
    if (!s)
        s = end;
    if (!s) {
        record_file(x, own.size);
        record_text(x, "content_type", *r->content_type ? r->content_type : NULL);
    }
    buf_release(&path);
    return s;
}

/* ---- pages ---- */

/* Copies the node: a tree's child becomes a child of another tree. */
static struct json *
graft(struct arena *a, const struct json *v)
{
    struct json *node = json_new(a, v->type);

    if (node) {
        *node = *v;
        node->next = NULL;
    }
    return node;
}

/* Sets the member at "a.b" in the body; objects on the way are made. */
static enum status
set_in_body(struct connection *x, struct json *body, const char *path, const char *value,
            struct err *e)
{
    struct arena *a = x->c->arena;
    const char *dot = strchr(path, '.');

    if (!dot)
        return json_set(body, path, json_new_str(a, value, strlen(value))) ? ST_OK : err_nomem(e);
    char *name = arena_dup(a, path, (size_t)(dot - path));
    struct json *in = name ? (struct json *)json_get(body, name) : NULL;
    if (name && !in && (in = json_new(a, JSON_OBJECT)))
        json_set(body, name, in);
    return in ? set_in_body(x, in, dot + 1, value, e) : err_nomem(e);
}

static bool
has_same_origin(const char *url, const char *base)
{
    const char *host = strstr(base, "://");
    size_t n = host ? (size_t)(host + 3 - base) + strcspn(host + 3, "/") : 0;

    return n && strncmp(url, base, n) == 0 && (url[n] == '/' || url[n] == '?');
}

/* Makes q the request of the next page. `first` is the URL of the first one. */
static enum status
turn_page(struct connection *x, struct connection_request *q, const struct paging *how,
          const char *first, const char *next, struct buf *body, struct err *e)
{
    struct json *doc = NULL;

    if (!how->parameter) {
        const char *context = how->context ? how->context : "";
        bool is_whole = strncmp(next, context, strlen(context)) == 0;
        q->url = next[0] == '/' ? URL(x, is_whole ? "" : context, "", next) : next;
        return !q->url || has_same_origin(q->url, x->base_url)
                   ? ST_OK
                   : err_set(e, ST_REFUSED, "the next page is on another server: not followed");
    }
    if (!q->body) {
        q->url = URL(x, first, "", strchr(first, '?') ? "&" : "?", how->parameter, "=", next);
        return ST_OK;
    }
    const char *text = arena_dup(x->c->arena, q->body->p, q->body->len);
    if (!text || !json_parse(x->c->arena, text, q->body->len, &doc, NULL))
        return err_nomem(e);
    enum status s = set_in_body(x, doc, how->parameter, next, e);
    buf_reset(body);
    json_write(body, doc);
    q->body = body;
    return s ? s : buf_status(body, "the request", e);
}

/* The link or cursor of the next page after `n` items, or NULL at the end. */
static enum status
next_of(struct connection *x, const struct json *doc, const struct paging *how, size_t n,
        const char **out, struct err *e)
{
    int64_t total = 0;
    enum status s = ST_OK;

    *out = NULL;
    if (how->more && json_is(json_path(doc, how->more), JSON_FALSE))
        return ST_OK;
    if (how->total) {
        json_int(json_path(doc, how->total), &total);
        if ((int64_t)n >= total)
            return ST_OK;
        *out = connection_text(x, "%zu", n);
        return *out ? ST_OK : err_nomem(e);
    }
    s = transfer_text(x->c->arena, json_path(doc, how->next), out, e);
    if (!s && *out && !**out)
        *out = NULL;
    return s;
}

size_t
connection_limit(struct connection *x, size_t most)
{
    int64_t limit = 0;
    const struct json *given = json_get(x->entry->node, "limit");
    const char *text = NULL;

    if (!json_int(given, &limit) && !transfer_text(x->c->arena, given, &text, NULL) && text)
        limit = strtoll(text, NULL, 10);
    return limit > 0 && (uint64_t)limit < most ? (size_t)limit : most;
}

enum status
connection_tell_more(struct connection *x, size_t n, size_t most, struct err *e)
{
    char note[256];

    if (n < most)
        return ST_OK;
    snprintf(note, sizeof note,
             "source %.100s: there are more than %zu items; these are the first %zu",
             x->entry->name, most, most);
    return context_progress(x->c, note, e);
}

enum status
connection_list(struct connection *x, struct connection_request *q, const struct paging *how,
                struct json *to, struct err *e)
{
    const char *first = q->url, *next = NULL;
    const size_t most = how->most ? how->most : CONNECTION_ITEMS_MAX;
    const size_t limit = connection_limit(x, most);
    struct json *last = NULL;
    struct buf body = { 0 };
    enum status s = ST_OK;

    for (int page = 0; !s && page < PAGES_MAX; page++) {
        const struct json *doc, *items;
        s = connection_json(x, q, &doc, e);
        if (s)
            break;
        items = json_path(doc, how->items); /* "": the answer is the list */
        json_each (v, items) {
            struct json *copy = to->kids.count < limit ? graft(x->c->arena, v) : NULL;
            if (copy)
                json_add_behind(to, &last, copy);
        }
        const char *before = next;
        s = next_of(x, doc, how, to->kids.count, &next, e);
        if (s || !next || to->kids.count >= limit || (before && strcmp(before, next) == 0))
            break;
        s = turn_page(x, q, how, first, next, &body, e);
    }
    buf_release(&body);
    return s || !next ? s : connection_tell_more(x, to->kids.count, most, e);
}

enum status
connection_keep_list(struct connection *x, struct connection_request *q, const struct paging *how,
                     struct err *e)
{
    struct json *all = json_new(x->c->arena, JSON_ARRAY);
    enum status s = all ? connection_list(x, q, how, all, e) : err_nomem(e);

    if (!s)
        s = connection_keep_json(x, all, e);
    if (!s)
        record_int(x, "count", (int64_t)all->kids.count);
    return s;
}

/* ---- the record ---- */

void
record_text(struct connection *x, const char *key, const char *text)
{
    if (text)
        record_put(x, key, json_new_copy(x->c->arena, text, strlen(text)));
}

void
record_int(struct connection *x, const char *key, int64_t n)
{
    record_put(x, key, json_new_int(x->c->arena, n));
}

void
record_header(struct connection *x, const char *key, const struct fetch_response *r,
              const char *name)
{
    struct buf value = { 0 };

    if (fetch_response_header(r, name, &value) && !buf_failed(&value) && value.len) {
        size_t n = value.len, quoted = n > 1 && value.p[0] == '"' && value.p[n - 1] == '"';
        record_put(x, key, json_new_copy(x->c->arena, value.p + quoted, n - 2 * quoted));
    }
    buf_release(&value);
}

void
record_members(struct connection *x, const struct json *doc, const char *const *pairs)
{
    for (; pairs[0]; pairs += 2) {
        const struct json *v = json_path(doc, pairs[1]);
        if (v && !json_is(v, JSON_NULL) && !json_is(v, JSON_OBJECT) && !json_is(v, JSON_ARRAY))
            record_put(x, pairs[0], graft(x->c->arena, v));
    }
}
