#define _GNU_SOURCE
#include "team/settings.h"

#include "base/path.h"
#include "base/sys.h"
#include "log/lock.h"
#include "team/settings_check.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SETTINGS_MAX = 1 << 20, LOCK_WAIT_MS = 10000, SECRET_PATH = 512 };

/* ---- reading ---- */

static struct json *
copy_member(struct arena *a, const struct json *v)
{
    struct json *copy = arena_alloc(a, sizeof *copy);

    if (copy) {
        *copy = *v;
        copy->next = NULL;
    }
    return copy;
}

static void
append(struct json *object, struct json **last, struct json *v)
{
    if (!v)
        return;
    if (*last)
        (*last)->next = v;
    else
        object->kids.first = v;
    *last = v;
    object->kids.count++;
}

/* Merges two objects; values of `over` win. */
static struct json *
merge(struct arena *a, const struct json *under, const struct json *over)
{
    struct json *out = json_new(a, JSON_OBJECT), *last = NULL;

    if (!out)
        return NULL;
    json_each (v, under) {
        const struct json *w = json_getn(over, v->key, v->key_len);
        struct json *m;
        if (json_is(w, JSON_OBJECT) && json_is(v, JSON_OBJECT)) {
            m = merge(a, v, w);
            if (m) {
                m->key = v->key;
                m->key_len = v->key_len;
            }
        } else {
            m = copy_member(a, w ? w : v);
        }
        append(out, &last, m);
    }
    json_each (w, over)
        if (!json_getn(under, w->key, w->key_len))
            append(out, &last, copy_member(a, w));
    return out;
}

static enum status
settings_path(struct buf *to, const char *state_dir, bool is_global, struct err *e)
{
    if (is_global) {
        enum status s = path_config(to, e);
        if (s)
            return s;
    } else {
        buf_adds(to, state_dir);
    }
    buf_adds(to, "/settings.json");
    return buf_status(to, "the path of the settings", e);
}

/* Reads one file as an object; empty when the file does not exist. */
static enum status
load_file(struct arena *a, struct buf *text, const char *path, struct json **out, struct err *e)
{
    enum status s = path_read_file(AT_FDCWD, path, text, e);

    if (s == ST_NOT_FOUND || (!s && text->len == 0)) {
        *out = json_new(a, JSON_OBJECT);
        return *out ? ST_OK : err_nomem(e);
    }
    if (!s)
        s = json_parse_named(a, path, text->p, text->len, out, e);
    if (!s && (*out)->type != JSON_OBJECT)
        s = err_set(e, ST_INVALID, "%s:1:1: settings must be a JSON object", path);
    return s == ST_INVALID ? ST_FAILED : s; /* the file is wrong, not the arguments */
}

enum status
settings_load(struct settings *s, const char *state_dir, struct err *e)
{
    struct json *parts[2] = { NULL, NULL };
    struct buf path = { 0 };
    enum status st = ST_OK;

    *s = (struct settings){ .text = { BUF_MAX(SETTINGS_MAX), BUF_MAX(SETTINGS_MAX) } };
    for (int i = 0; i < 2 && !st; i++) {
        bool is_global = i == 0;
        buf_reset(&path);
        if (!is_global && !state_dir) {
            parts[i] = json_new(&s->arena, JSON_OBJECT);
            continue;
        }
        st = settings_path(&path, state_dir, is_global, e);
        if (!st)
            st = load_file(&s->arena, &s->text[i], path.p, &parts[i], e);
        if (!st)
            st = settings_check(parts[i], NULL, path.p, e);
    }
    buf_release(&path);
    s->parts[0] = parts[0];
    s->parts[1] = parts[1];
    if (!st && !(s->merged = merge(&s->arena, parts[0], parts[1])))
        st = err_nomem(e);
    if (st)
        settings_release(s);
    return st;
}

void
settings_release(struct settings *s)
{
    arena_release(&s->arena);
    buf_release(&s->text[0]);
    buf_release(&s->text[1]);
    s->merged = s->parts[0] = s->parts[1] = NULL;
}

const struct json *
settings_get(const struct settings *s, const char *path)
{
    if (strncmp(path, "prices.", 7) == 0) /* a model's name has dots */
        return json_get(json_get(s->merged, "prices"), path + 7);
    return json_path(s->merged, path);
}

const char *
settings_text(struct settings *s, const char *path)
{
    return json_dup_text(&s->arena, settings_get(s, path));
}

int64_t
settings_ms(const struct settings *s, const char *path, int64_t otherwise)
{
    int64_t ms;

    return setting_parse_ms(settings_get(s, path), &ms) ? ms : otherwise;
}

/* ---- secrets ---- */

/* "API-Key", "apiKey" and "api_key" are one name. */
static bool
names_secret(const char *part, size_t n)
{
    static const char *const words[] = { "key",        "token",      "secret",       "password",
                                         "passwd",     "passphrase", "credential",   "bearer",
                                         "webhookurl", "cookie",     "authorization" };
    char plain[64];
    size_t len = 0;

    for (size_t i = 0; i < n && len < sizeof plain - 1; i++)
        if (isalnum((unsigned char)part[i]))
            plain[len++] = (char)tolower((unsigned char)part[i]);
    plain[len] = '\0';
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(plain, words[i]))
            return true;
    return false;
}

/* agents.webhook.channels.<name>.url: its holder may post there. */
static bool
is_webhook_url(const char *path)
{
    static const char begin[] = "agents.webhook.channels.";
    const char *name = path + sizeof begin - 1;

    return strncmp(path, begin, sizeof begin - 1) == 0 &&
           strcmp(name + strcspn(name, "."), ".url") == 0;
}

bool
settings_is_secret(const char *path)
{
    bool is_named = strncmp(path, "agents.", 7) == 0 || strncmp(path, "roles.", 6) == 0;

    if (is_webhook_url(path))
        return true;
    for (size_t i = 0; *path; i++) {
        size_t n = strcspn(path, ".");
        if (!(is_named && i == 1) && names_secret(path, n))
            return true;
        path += n + (path[n] == '.');
    }
    return false;
}

/* A password may be a number, so numbers are masked too; max_tokens is a number, but no secret. */
static bool
is_masked(const struct json *v, const char *path)
{
    return v->type == JSON_STRING || (v->type == JSON_NUMBER && !strstr(path, "tokens"));
}

/* The first `len` bytes of `path` lead to v. A value whose path is longer than the buffer is
 * masked. */
static struct json *
mask(struct arena *a, const struct json *v, char path[SECRET_PATH], size_t len)
{
    struct json *out = copy_member(a, v);

    if (!out)
        return NULL;
    if (v->type == JSON_OBJECT || v->type == JSON_ARRAY) {
        struct json *last = NULL;
        out->kids.first = NULL;
        out->kids.count = 0;
        json_each (w, v) {
            size_t more = len;
            if (w->key && len < SECRET_PATH)
                more += (size_t)snprintf(path + len, SECRET_PATH - len, "%s%.*s", len ? "." : "",
                                         (int)w->key_len, w->key);
            append(out, &last, mask(a, w, path, more));
            path[len < SECRET_PATH ? len : SECRET_PATH - 1] = '\0';
        }
    } else if ((len >= SECRET_PATH || settings_is_secret(path)) && is_masked(v, path)) {
        out->type = JSON_STRING;
        out->text.p = "********";
        out->text.len = 8;
    }
    return out;
}

static void
add_secrets(struct mask *m, const struct json *v, char path[SECRET_PATH], size_t len)
{
    if (v->type != JSON_OBJECT && v->type != JSON_ARRAY) {
        if ((len >= SECRET_PATH || settings_is_secret(path)) && is_masked(v, path))
            mask_add(m, v->text.p, v->text.len);
        return;
    }
    json_each (w, v) {
        size_t more = len;
        if (w->key && len < SECRET_PATH)
            more += (size_t)snprintf(path + len, SECRET_PATH - len, "%s%.*s", len ? "." : "",
                                     (int)w->key_len, w->key);
        add_secrets(m, w, path, more);
        path[len < SECRET_PATH ? len : SECRET_PATH - 1] = '\0';
    }
}

void
settings_add_secrets(struct mask *m, const struct json *v, const char *key)
{
    char path[SECRET_PATH] = "";

    if (v)
        add_secrets(m, v, path, (size_t)snprintf(path, sizeof path, "%s", key));
}

void
settings_add_env_secrets(struct mask *m, const char *const *vars)
{
    for (; vars && *vars; vars++) {
        const char *value = strchr(*vars, '=');
        bool is_count =
            value && strcasestr(*vars, "tokens") && !value[1 + strspn(value + 1, "0123456789")];
        /* the key of a requirement is its name, such as a ticket's */
        bool is_name = strncmp(*vars, "CLIQ_REQ_KEY=", strlen("CLIQ_REQ_KEY=")) == 0;
        if (value && !is_count && !is_name && names_secret(*vars, (size_t)(value - *vars)))
            mask_add(m, value + 1, strlen(value + 1));
    }
}

const struct json *
settings_masked(struct arena *a, const struct json *v, const char *key)
{
    char path[SECRET_PATH] = "";

    return mask(a, v, path, (size_t)snprintf(path, sizeof path, "%s", key ? key : ""));
}

/* ---- writing ---- */

/* Parses the value as JSON when it looks like JSON, unless the key wants a text: a token may be
 * all digits. */
static enum status
parse_value(struct arena *a, const char *key, const char *text, struct json **out, struct err *e)
{
    const struct setting *known = setting_find(key);
    bool is_text = known && setting_is_text(known->kind);
    bool is_json = strcmp(text, "true") == 0 || strcmp(text, "false") == 0 ||
                   strcmp(text, "null") == 0 || strchr("{[-0123456789", text[0]);

    if (!is_text && *text && is_json && json_parse(a, text, strlen(text), out, NULL))
        return ST_OK;
    if (!is_text && (*text == '{' || *text == '['))
        return json_parse_named(a, "value", text, strlen(text), out, e);
    *out = json_new_str(a, text, strlen(text));
    return *out ? ST_OK : err_nomem(e);
}

/* Removes a member; objects only. False: there is none. */
static bool
unset(struct json *object, const char *key, size_t len)
{
    for (struct json **at = &object->kids.first; *at; at = &(*at)->next) {
        if ((*at)->key_len == len && memcmp((*at)->key, key, len) == 0) {
            *at = (*at)->next;
            object->kids.count--;
            return true;
        }
    }
    return false;
}

/* Follows "a.b.c" down, creating objects when a value is set. ST_NOT_FOUND, without a sentence:
 * the key to remove does not exist. */
static enum status
change(struct arena *a, struct json *root, const char *path, struct json *value, struct err *e)
{
    const char *whole = path;

    for (;;) {
        size_t n = setting_name_len(whole, path);
        if (n == 0)
            return settings_check_key("", e);
        const char *key = arena_dup(a, path, n);
        if (!key)
            return err_nomem(e);
        if (path[n] == '\0') {
            if (value)
                json_set(root, key, value);
            else if (!unset(root, key, n))
                return ST_NOT_FOUND;
            return ST_OK;
        }
        struct json *next = (struct json *)json_getn(root, path, n);
        if (next && next->type != JSON_OBJECT)
            return err_set(e, ST_INVALID, "the setting %s is a value, not a section", key);
        if (!next) {
            if (!value)
                return ST_NOT_FOUND;
            next = json_new(a, JSON_OBJECT);
            if (!next)
                return err_nomem(e);
            json_set(root, key, next);
        }
        root = next;
        path += n + 1;
    }
}

static enum status
store(int dir, const struct json *root, struct err *e)
{
    struct buf text = { 0 };
    int fd = -1;
    enum status s;

    json_write_pretty(&text, root, 0);
    buf_addc(&text, '\n');
    s = buf_status(&text, "the settings", e);
    if (!s) {
        unlinkat(dir, ".settings.json.new", 0);
        fd = SYS_RETRY(sys->openat(dir, ".settings.json.new",
                                   O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
        if (fd < 0 || SYS_RETRY(sys->write(fd, text.p, text.len)) != (ssize_t)text.len ||
            SYS_RETRY(sys->fsync(fd)) != 0 ||
            sys->renameat(dir, ".settings.json.new", dir, "settings.json") != 0 ||
            SYS_RETRY(sys->fsync(dir)) != 0)
            s = err_sys(e, "write settings.json");
    }
    if (fd >= 0)
        close(fd);
    buf_release(&text);
    return s;
}

enum status
settings_check_key(const char *path, struct err *e)
{
    size_t n = strlen(path);

    if (n == 0 || path[0] == '.' || path[n - 1] == '.' || strstr(path, ".."))
        return err_set(e, ST_INVALID, "bad settings key \"%s\": one is like agents.cursor.api_key",
                       path);
    return ST_OK;
}

enum status
settings_set(const char *state_dir, bool is_global, const char *path, const char *value,
             struct err *e)
{
    struct arena a = { 0 };
    struct buf file = { 0 }, text = BUF_MAX(SETTINGS_MAX), where = { 0 };
    struct json *root, *v = NULL;
    int dir = -1;
    enum status s = settings_path(&file, state_dir, is_global, e);

    if (!s) {
        buf_add(&where, file.p, file.len - strlen("/settings.json"));
        s = path_open_dir(where.p, true, &dir, e);
    }
    if (!s)
        s = lock_take(dir, "the settings", LOCK_WAIT_MS, e);
    if (!s)
        s = load_file(&a, &text, file.p, &root, e);
    if (!s && value)
        s = parse_value(&a, path, value, &v, e);
    if (!s)
        s = change(&a, root, path, v, e);
    if (!s && value) /* only this key: errors can be fixed one by one */
        s = settings_check(root, path, NULL, e);
    if (s == ST_NOT_FOUND)
        err_say(e, "%s is not set in %s%s", path, file.p,
                is_global ? "" : " (--global: in the settings of all projects)");
    if (!s)
        s = store(dir, root, e);
    if (dir >= 0)
        close(dir);
    arena_release(&a);
    buf_release(&file);
    buf_release(&text);
    buf_release(&where);
    return s;
}
