#include "cmd/hub_call.h"

#include "base/clock.h"
#include "base/path.h"
#include "base/sys.h"
#include "base/term.h"
#include "base/utf8.h"
#include "hub/when.h"
#include "net/fetch.h"
#include "run/wake.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    STDIN_MAX = 64 << 20,
    ARGV_MAX = 4 << 20,
    ANSWER_MAX = 128 << 20,
    ANSWER_MS = 30000, /* beyond what the server was told to wait */
    KEY_BYTES = 16,
};

static enum status
no_memory(struct err *e)
{
    return err_set(e, ST_IO, "out of memory");
}

/* ---- who and where ---- */

static enum status
find_identity(struct hub_call *c, const char *as, struct err *e)
{
    const char *from = "--as", *name = as;

    if (!name) {
        from = "CLIQ_IDENTITY";
        name = getenv("CLIQ_IDENTITY");
    }
    if (!name || !*name) {
        struct passwd *p = getpwuid(geteuid());
        from = "your user's name";
        name = p ? p->pw_name : NULL;
    }
    if (!name)
        return err_set(e, ST_INVALID, "who are you? Your user has no name: say it with --as NAME");
    if (!path_is_name(name))
        return err_set(e, ST_INVALID,
                       "bad identity \"%s\" (%s): 1 to 64 of A-Z a-z 0-9 . _ -; say who you are "
                       "with --as NAME",
                       name, from);
    c->identity = arena_dup(&c->arena, name, strlen(name));
    return c->identity ? ST_OK : no_memory(e);
}

/* The same words again in cliq-net. Parsing moved those of main about; the kernel has them as
 * they came. */
static enum status
become_net(struct hub_call *c, struct err *e)
{
    struct buf text = BUF_MAX(ARGV_MAX);
    enum status s = path_read_file(-1, "/proc/self/cmdline", &text, e);
    size_t n = 0, i = 0;

    for (size_t k = 0; k < text.len; k++)
        n += text.p[k] == '\0';
    const char **argv = s ? NULL : arena_alloc(&c->arena, (n + 1) * sizeof *argv);
    if (!s && !argv)
        s = no_memory(e);
    for (size_t at = 0; !s && i < n; at += strlen(text.p + at) + 1)
        argv[i++] = text.p + at;
    if (!s) {
        argv[n] = NULL;
        s = cmd_become("cliq-net", argv, e);
    }
    buf_release(&text);
    return s;
}

/* A server on this machine: nobody else hears a key that is sent there. */
static bool
is_local(const char *url)
{
    static const char *const hosts[] = { "localhost", "127.0.0.1", "[::1]" };
    const char *host = strstr(url, "://") + 3;

    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        size_t n = strlen(hosts[i]);
        if (strncmp(host, hosts[i], n) == 0 && (!host[n] || host[n] == ':' || host[n] == '/'))
            return true;
    }
    return false;
}

/* The key that the first start of our own `cliq serve` left for us; NULL: none. */
static const char *
own_key(struct hub_call *c)
{
    struct buf path = { 0 }, text = { 0 };
    const char *key = NULL;

    if (path_config(&path, NULL) == ST_OK) {
        buf_adds(&path, "/admin.key");
        if (!buf_failed(&path) && path_read_file(AT_FDCWD, path.p, &text, NULL) == ST_OK &&
            text.len)
            key = arena_dup(&c->arena, text.p, strcspn(text.p, "\n"));
    }
    buf_release(&path);
    buf_release(&text);
    return key;
}

static enum status
find_server(struct hub_call *c, const char *url, struct err *e)
{
    size_t n = strlen(url);

    if (strncmp(url, "http://", 7) != 0 && strncmp(url, "https://", 8) != 0)
        return err_set(e, ST_INVALID,
                       "the server's URL must begin with http:// or https://, not \"%s\"", url);
    if (strpbrk(url, "?#"))
        return err_set(e, ST_INVALID, "the server's URL must have no ? and no #: \"%s\"", url);
    while (n && url[n - 1] == '/')
        n--;
    c->url = arena_dup(&c->arena, url, n);
    c->key = getenv("CLIQ_KEY");
    if ((!c->key || !*c->key) && is_local(url))
        c->key = own_key(c);
    if (!c->url)
        return no_memory(e);
    if (!c->key || !*c->key)
        return err_set(
            e, ST_REFUSED,
            "no key for %s: set CLIQ_KEY to one that its admin made with cliq key create", c->url);
    if (c->key[strspn(c->key, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")])
        return err_set(e, ST_REFUSED,
                       "CLIQ_KEY is not a key: keys are cho_ and 43 letters, digits, "
                       "- and _");
    return ST_OK;
}

enum status
hub_call_begin(struct hub_call *c, const struct args *a, struct err *e)
{
    const char *as = args_text(a, "as"), *url = args_text(a, "url");
    enum status s;

    *c = (struct hub_call){ .is_json = args_has(a, "json"), .is_tty = term_is_tty(STDOUT_FILENO) };
    if (!url)
        url = getenv("CLIQ_URL");
    if (!url || !*url) {
        s = path_config(&c->config, e);
        return s ? s : find_identity(c, as, e);
    }
    s = find_server(c, url, e);
    const char *name = getenv("CLIQ_IDENTITY");
    if (name && path_is_name(name))
        c->identity = name;
    if (!s && as)
        s = err_set(e, ST_INVALID,
                    "--as is for files: %s knows you by the key in CLIQ_KEY; leave --as away",
                    c->url);
    return s || fetch ? s : become_net(c, e);
}

void
hub_call_end(struct hub_call *c)
{
    if (c->hub && c->has_written)
        wake_sleepers(c->hub, c->config.p, NULL, NULL);
    hub_close(c->hub);
    buf_release(&c->config);
    arena_release(&c->arena);
}

/* ---- what failed ---- */

static enum status
status_of(int http)
{
    switch (http) {
    case 401:
    case 403:
    case 421:
        return ST_REFUSED;
    case 404:
        return ST_NOT_FOUND;
    case 409:
        return ST_CONFLICT;
    case 408:
    case 504:
        return ST_TIMEOUT;
    default:
        return http == 429 || http >= 500 || http < 400 ? ST_IO : ST_INVALID;
    }
}

/* What to do about it. */
static const char *
hint(enum hub_op op, const char *code)
{
    static const char *const not_found[HUB_N_OPS] = {
        [HUB_FILL] = "cliq role list shows those there are, cliq role add makes one",
        [HUB_JOIN] = "cliq ring list shows those there are, cliq ring add makes one",
        [HUB_KEY_REVOKE] = "cliq key list shows the keys and their ids",
    };
    static const struct {
        const char *code, *says;
    } hints[] = {
        { "SIGNAL_NOT_FOUND", "cliq signal list and cliq inbox show what there is" },
        { "SIGNAL_CLAIM_CONFLICT", "leave it to them, or wait until its lease ends" },
        { "SIGNAL_LEASE_LOST", "stop working on it; claim it again first" },
        { "SIGNAL_NOT_CLAIMABLE", "cliq status-of ID --history tells what became of it" },
        { "SIGNAL_ROLE_NOT_HELD", "cliq role fill ROLE IDENTITY gives it the role" },
        { "SIGNAL_EMIT_CONFLICT", "choose another key for another request" },
        { "AUTH_REQUIRED", "set CLIQ_KEY to a key of this server" },
        { "AUTH_FORBIDDEN", "ask an admin for the role, or for a key with that scope" },
        { "RATE_LIMITED", "wait a little and try again" },
        { "STORE_UNAVAILABLE", "it may or may not have been done; try again when it is mended" },
    };

    if (code && strcmp(code, "SIGNAL_NOT_FOUND") == 0 && not_found[op])
        return not_found[op];
    for (size_t i = 0; code && i < sizeof hints / sizeof *hints; i++)
        if (strcmp(hints[i].code, code) == 0)
            return hints[i].says;
    return NULL;
}

static enum status
tell(enum hub_op op, const struct hub_reply *r, struct err *e)
{
    const char *says = hint(op, r->code), *message = r->message ? r->message : "the hub refused it";

    return says ? err_set(e, status_of(r->status), "%s (%s)", message, says)
                : err_set(e, status_of(r->status), "%s", message);
}

/* ---- files ---- */

static void
on_progress(void *ctx, uint64_t done, uint64_t bytes, uint64_t of_bytes)
{
    (void)ctx;
    fprintf(stderr, "\rcliq: reading the log: %" PRIu64 " events, %d %%", done,
            of_bytes ? (int)(bytes * 100 / of_bytes) : 100);
    if (bytes >= of_bytes)
        fputc('\n', stderr);
}

static enum status
open_files(struct hub_call *c, struct err *e)
{
    struct hub_options o = { .progress = term_is_tty(STDERR_FILENO) ? on_progress : NULL,
                             .may_be_read_only = true };

    return c->hub ? ST_OK : hub_open(&c->hub, c->config.p, &o, e);
}

enum status
hub_call_files(struct hub_call *c, const char *what, struct err *e)
{
    if (c->url)
        return err_set(e, ST_INVALID,
                       "cliq %s works on the files of a hub, not over HTTP: run it where %s keeps "
                       "them, without --url and CLIQ_URL",
                       what, c->url);
    return open_files(c, e);
}

enum status
hub_run_files(const char *what,
              enum status (*work)(struct hub_call *c, const struct args *a, struct err *e),
              const struct args *a, struct err *e)
{
    struct hub_call c;
    enum status s = hub_call_begin(&c, a, e);

    if (!s)
        s = hub_call_files(&c, what, e);
    if (!s)
        s = work(&c, a, e);
    hub_call_end(&c);
    return s;
}

static enum status
call_files(struct hub_call *c, enum hub_op op, const struct json *args, struct hub_reply *reply,
           struct err *e)
{
    struct hub_request r = {
        .op = op, .identity = c->identity, .is_admin = true, .is_file = true, .args = args
    };
    enum status s = open_files(c, e);

    if (s)
        return s;
    if (hub_ops[op].writes) {
        if (c->has_written) /* one that writes again and again: for what it wrote before */
            wake_sleepers(c->hub, c->config.p, NULL, NULL);
        hub_submit(c->hub, &r, 1, &c->arena, reply);
        c->has_written = true;
    } else {
        hub_read(c->hub, &r, &c->arena, reply);
    }
    return reply->status < 300 ? ST_OK : tell(op, reply, e);
}

/* ---- HTTP ---- */

static void
add_encoded(struct buf *to, const char *p, size_t len)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~:@";

    for (size_t i = 0; i < len; i++)
        if (p[i] && strchr(plain, p[i]))
            buf_addc(to, p[i]);
        else
            buf_addf(to, "%%%02X", (unsigned char)p[i]);
}

/* A value of a query or of a path; a list is joined by commas. */
static enum status
add_value(struct buf *to, const struct json *v, const char *key, size_t key_len, struct err *e)
{
    struct buf text = { 0 };
    bool is_first = true;

    switch (v->type) {
    case JSON_STRING:
        add_encoded(to, v->text.p, v->text.len);
        return ST_OK;
    case JSON_ARRAY:
        json_each (part, v) {
            if (json_is(part, JSON_STRING) && memchr(part->text.p, ',', part->text.len))
                return err_set(e, ST_INVALID, "over HTTP no value of %.*s may have a comma",
                               (int)key_len, key);
            if (!is_first)
                buf_addc(to, ',');
            add_encoded(to, part->text.p, part->text.len);
            is_first = false;
        }
        return ST_OK;
    default:
        json_write(&text, v);
        add_encoded(to, text.p ? text.p : "", text.len);
        to->is_starved = to->is_starved || text.is_starved;
        buf_release(&text);
        return ST_OK;
    }
}

/* "/inbox/:target" with its parameters filled; in_path tells which those are. */
static enum status
add_path(struct buf *to, const char *path, const struct json *args, struct err *e)
{
    enum status s = ST_OK;

    while (!s && *path) {
        size_t n = strcspn(path, ":");
        buf_add(to, path, n);
        path += n;
        if (!*path)
            break;
        n = strcspn(++path, "/");
        const struct json *v = json_getn(args, path, n);
        if (!v || (v->type == JSON_STRING && !v->text.len))
            return err_set(e, ST_INVALID, "%.*s is missing", (int)n, path);
        s = add_value(to, v, path, n, e);
        path += n;
    }
    return s;
}

static bool
is_in_path(const char *path, const struct json *v)
{
    for (const char *p = path; (p = strchr(p, ':'));) {
        size_t n = strcspn(++p, "/");
        if (n == v->key_len && memcmp(p, v->key, n) == 0)
            return true;
    }
    return false;
}

static enum status
add_query(struct buf *to, const char *path, const struct json *args, struct err *e)
{
    char before = '?';
    enum status s = ST_OK;

    json_each (v, args) {
        if (s || is_in_path(path, v))
            continue;
        buf_addc(to, before);
        before = '&';
        add_encoded(to, v->key, v->key_len);
        buf_addc(to, '=');
        s = add_value(to, v, v->key, v->key_len, e);
    }
    return s;
}

/* The answer without its envelope: {"data":…,"meta":…}, {"ok":true,…} or {"error":…}. */
static enum status
unwrap(struct hub_call *c, enum hub_op op, const struct json *answer, struct hub_reply *reply,
       struct err *e)
{
    const struct json *error = json_get(answer, "error"), *ok = json_get(answer, "ok");
    bool is_ok = reply->status < 300;

    if (!json_is(answer, JSON_OBJECT) || (!error && !ok && !json_get(answer, "data")) ||
        (!is_ok && !error))
        return err_set(e, reply->status < 400 ? ST_IO : status_of(reply->status),
                       "%s answered %d, but not as a hub does: is it a cliq server?", c->url,
                       reply->status);
    if (!is_ok || json_is(ok, JSON_FALSE)) {
        const struct json *message =
            json_is(error, JSON_OBJECT) ? json_get(error, "message") : error;
        reply->code = hub_text(c, json_get(error, "code"));
        reply->message = hub_text(c, message);
        reply->details = json_get(error, "details");
        if (is_ok)
            reply->status = 400;
        return tell(op, reply, e);
    }
    if (ok) {
        struct json *rest = json_new(&c->arena, JSON_OBJECT),
                    **link = rest ? &rest->kids.first : NULL;
        if (!rest)
            return no_memory(e);
        json_each (v, answer) {
            struct json *copy = v == ok ? NULL : json_new(&c->arena, v->type);
            if (!copy)
                continue;
            *copy = *v;
            copy->next = NULL;
            *link = copy;
            link = &copy->next;
            rest->kids.count++;
        }
        reply->data = rest;
        return ST_OK;
    }
    reply->data = json_get(answer, "data");
    if (json_is(reply->data, JSON_NULL))
        reply->data = NULL;
    const struct json *cursor = json_get(json_get(answer, "meta"), "cursor");
    reply->has_cursor = cursor != NULL;
    reply->cursor = hub_text(c, cursor);
    return ST_OK;
}

/* May it be sent again when nobody knows whether it arrived? */
static bool
is_harmless_twice(enum hub_op op, const struct json *args)
{
    return op != HUB_KEY_CREATE && (op != HUB_SCHEDULE || json_get(args, "repeatKey"));
}

static enum status
make_key(char to[2 * KEY_BYTES + 1], struct err *e)
{
    unsigned char random[KEY_BYTES];

    if (sys->getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        return err_sys(e, "get random bytes");
    for (size_t i = 0; i < sizeof random; i++)
        snprintf(to + 2 * i, 3, "%02x", random[i]);
    return ST_OK;
}

static enum status
ask(struct hub_call *c, enum hub_op op, const struct fetch_request *q, struct hub_reply *reply,
    struct err *e)
{
    struct fetch_response r;
    struct json *answer;
    enum status s = fetch(q, &r, e);
    const char *text = s ? NULL : arena_dup(&c->arena, r.body.p, r.body.len);

    if (!s && !text)
        s = no_memory(e);
    if (!s) {
        *reply = (struct hub_reply){ .status = r.status };
        if (!json_parse(&c->arena, text, r.body.len, &answer, NULL))
            answer = NULL;
        s = unwrap(c, op, answer, reply, e);
    }
    fetch_response_release(&r);
    return s;
}

static enum status
call_server(struct hub_call *c, enum hub_op op, const struct json *args, struct hub_reply *reply,
            struct err *e)
{
    const struct hub_op_info *o = &hub_ops[op];
    struct buf url = { 0 }, body = { 0 }, bearer = { 0 };
    char once[2 * KEY_BYTES + 1];
    bool has_body = strcmp(o->method, "POST") == 0;
    int64_t wait_s = 0;
    struct fetch_header headers[4];
    struct fetch_request q = { .method = o->method, .headers = headers, .max_bytes = ANSWER_MAX };

    buf_adds(&url, c->url);
    enum status s = add_path(&url, o->path, args, e);
    if (has_body)
        json_write(&body, args);
    else if (!s)
        s = add_query(&url, o->path, args, e);
    buf_addf(&bearer, "Bearer %s", c->key);
    headers[q.n_headers++] = (struct fetch_header){ "Authorization", bearer.p };
    if (has_body) {
        headers[q.n_headers++] = (struct fetch_header){ "Content-Type", "application/json" };
        q.body = body.p;
        q.body_len = body.len;
    }
    if (!s && (op == HUB_EMIT || op == HUB_EMIT_BATCH || op == HUB_GENERATE || op == HUB_CLAIM) &&
        !json_get(args, "dedup_key")) {
        s = make_key(once, e);
        headers[q.n_headers++] = (struct fetch_header){ "Idempotency-Key", once };
    }
    q.is_repeatable = is_harmless_twice(op, args);
    if (!q.is_repeatable)
        q.tries = 1;
    json_int(json_get(args, "wait_seconds"), &wait_s);
    q.timeout_ms = wait_s * 1000 + ANSWER_MS;
    if (!s)
        s = buf_status(&url, "the URL", e);
    if (!s)
        s = buf_status(&body, "the request", e);
    if (!s)
        s = buf_status(&bearer, "the key", e);
    q.url = url.p;
    if (!s)
        s = ask(c, op, &q, reply, e);
    buf_release(&url);
    buf_release(&body);
    buf_release(&bearer);
    return s;
}

enum status
hub_call(struct hub_call *c, enum hub_op op, const struct json *args, struct hub_reply *reply,
         struct err *e)
{
    *reply = (struct hub_reply){ 0 };
    return c->url ? call_server(c, op, args, reply, e) : call_files(c, op, args, reply, e);
}

/* ---- options to arguments ---- */

const char *
hub_text(struct hub_call *c, const struct json *v)
{
    return json_is(v, JSON_STRING) ? arena_dup(&c->arena, v->text.p, v->text.len) : NULL;
}

static enum status
make_text(struct hub_call *c, const char *name, const char *text, struct json **out, struct err *e)
{
    size_t n = strlen(text);

    if (utf8_valid_len(text, n) < n)
        return err_set(e, ST_INVALID, "%s is not UTF-8 (byte %zu)", name,
                       utf8_valid_len(text, n) + 1);
    *out = json_new_str(&c->arena, text, n);
    return *out ? ST_OK : no_memory(e);
}

static enum status
make_number(struct hub_call *c, const char *name, const char *text, struct json **out,
            struct err *e)
{
    if (!json_parse(&c->arena, text, strlen(text), out, NULL) || (*out)->type != JSON_NUMBER)
        return err_set(e, ST_INVALID, "%s needs a number, not \"%s\"", name, text);
    return ST_OK;
}

static enum status
make_json(struct hub_call *c, const char *name, const char *text, struct json **out, struct err *e)
{
    struct json_fault where;

    if (json_parse(&c->arena, text, strlen(text), out, &where))
        return ST_OK;
    if (where.is_starved)
        return no_memory(e);
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
    const char *kept = arena_dup(&c->arena, text, (size_t)n);
    return kept ? make_number(c, name, kept, out, e) : no_memory(e);
}

static enum status
make_when(struct hub_call *c, const char *name, const char *text, struct json **out, struct err *e)
{
    struct err why;
    int64_t ms;

    if (when_parse(text, clock_wall_ns() / 1000000, &ms, &why))
        return err_set(e, ST_INVALID, "%s: %s", name, why.text);
    *out = json_new_int(&c->arena, ms);
    return *out ? ST_OK : no_memory(e);
}

static enum status
make_list(struct hub_call *c, const char *name, const char *const *texts, size_t n,
          struct json **out, struct err *e)
{
    enum status s = ST_OK;

    *out = json_new(&c->arena, JSON_ARRAY);
    for (size_t i = 0; !s && *out && i < n; i++) {
        struct json *v = NULL;
        s = make_text(c, name, texts[i], &v, e);
        json_add(*out, v);
    }
    return s || *out ? s : no_memory(e);
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
        *out = json_new(&c->arena, JSON_TRUE);
        break;
    case HF_BOOL:
        if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
            return err_set(e, ST_INVALID, "%s needs true or false, not \"%s\"", name, text);
        *out = json_new(&c->arena, *text == 't' ? JSON_TRUE : JSON_FALSE);
        break;
    case HF_SECONDS:
    case HF_TIME:
        return make_seconds(c, name, args_ms(a, f->opt, 0), f->kind == HF_SECONDS, out, e);
    case HF_WHEN:
        return make_when(c, name, text, out, e);
    case HF_JSON:
        return make_json(c, name, text, out, e);
    }
    return *out ? ST_OK : no_memory(e);
}

enum status
hub_args(struct hub_call *c, const struct args *a, const struct hub_field *fields,
         struct json **out, struct err *e)
{
    enum status s = ST_OK;

    *out = json_new(&c->arena, JSON_OBJECT);
    if (!*out)
        return no_memory(e);
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
        *text = arena_dup(&c->arena, b.p ? b.p : "", b.len);
        *len = b.len;
        s = *text ? ST_OK : no_memory(e);
    }
    buf_release(&b);
    return s;
}
