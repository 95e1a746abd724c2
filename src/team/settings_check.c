#include "team/settings_check.h"

#include "base/opt.h"
#include "base/path.h"
#include "base/suggest.h"
#include "base/utf8.h"
#include "team/settings.h"

#include <stdio.h>
#include <string.h>

enum { SEGMENTS_MAX = 5, SHOWN_MAX = 60 }; /* names in a key; bytes of a value that are shown */

const struct setting settings_known[] = {
#define SETTING(key, kind, most, otherwise, read_by, says)                                         \
    { key, SETTING_##kind, most, otherwise, read_by, says },
#include "team/settings.def"
#undef SETTING
    { 0 },
};

/* ---- kinds ---- */

static bool
is_text(const struct json *v)
{
    return json_is(v, JSON_STRING) && v->text.len && !memchr(v->text.p, '\0', v->text.len);
}

static bool
is_name(const char *p, size_t len)
{
    char name[PATH_NAME_MAX + 1];

    if (len > PATH_NAME_MAX || memchr(p, '\0', len))
        return false;
    memcpy(name, p, len);
    name[len] = '\0';
    return path_is_name(name);
}

static bool
is_url(const struct json *v)
{
    static const char *const schemes[] = { "http://", "https://" };
    struct buf text = { 0 };
    bool is_good = false;

    if (!is_text(v))
        return false;
    buf_add(&text, v->text.p, v->text.len);
    for (size_t i = 0; !buf_failed(&text) && i < 2; i++) {
        size_t n = strlen(schemes[i]);
        if (strncmp(text.p, schemes[i], n) == 0)
            is_good = text.p[n] != '\0' && text.p[n] != '/' && !strpbrk(text.p, " \t\r\n");
    }
    buf_release(&text);
    return is_good;
}

bool
setting_parse_ms(const struct json *v, int64_t *ms)
{
    char text[40];

    if (!json_is(v, JSON_NUMBER) && !is_text(v))
        return false;
    snprintf(text, sizeof text, "%.*s", (int)(v->text.len < 39 ? v->text.len : 39), v->text.p);
    return v->text.len < sizeof text && opt_parse_ms(text, ms) && *ms >= 1;
}

static bool
is_size(const struct json *v, int64_t most)
{
    int64_t n;

    return json_int(v, &n) && n >= 1 && (!most || n <= most);
}

/* US dollars for a million tokens. */
static bool
is_price(const struct json *v)
{
    double usd;

    if (!json_is(v, JSON_OBJECT) || !json_get(v, "input") || !json_get(v, "output"))
        return false;
    json_each (m, v)
        if (!json_double(m, &usd) || usd < 0)
            return false;
    return true;
}

static bool
is_count(const struct json *v, int64_t most)
{
    int64_t n;

    return json_int(v, &n) && n >= 0 && (!most || n <= most);
}

/* "agent" or "agent:channel", or an object with these members. */
static bool
is_receiver(const struct json *v)
{
    const struct json *ref = json_is(v, JSON_OBJECT) ? json_get(v, "agent") : v;

    if (!is_text(ref))
        return false;
    const char *colon = memchr(ref->text.p, ':', ref->text.len);
    return is_name(ref->text.p, colon ? (size_t)(colon - ref->text.p) : ref->text.len);
}

static bool
is_receivers(const struct json *v)
{
    if (!json_is(v, JSON_ARRAY))
        return is_receiver(v);
    json_each (one, v)
        if (!is_receiver(one))
            return false;
    return true;
}

/* A mail address, or a list of them. */
static bool
is_addresses(const struct json *v)
{
    if (!json_is(v, JSON_ARRAY))
        return is_text(v) && memchr(v->text.p, '@', v->text.len);
    json_each (one, v)
        if (json_is(one, JSON_ARRAY) || !is_addresses(one))
            return false;
    return json_first(v) != NULL;
}

/* Names of roles. */
static bool
is_roles(const struct json *v)
{
    json_each (one, v)
        if (!is_text(one) || !is_name(one->text.p, one->text.len))
            return false;
    return json_is(v, JSON_ARRAY);
}

/* A text, or a list of words. */
static bool
is_command(const struct json *v)
{
    if (!json_is(v, JSON_ARRAY))
        return is_text(v);
    json_each (word, v)
        if (!json_is(word, JSON_STRING))
            return false;
    return is_text(json_first(v));
}

static bool
is_good(const struct setting *s, const struct json *v)
{
    int64_t ms;

    switch (s->kind) {
    case SETTING_TEXT:
        return is_text(v);
    case SETTING_NAME:
        return is_text(v) && is_name(v->text.p, v->text.len);
    case SETTING_URL:
        return is_url(v);
    case SETTING_TIME:
        return setting_parse_ms(v, &ms);
    case SETTING_SIZE:
        return is_size(v, s->most);
    case SETTING_PRICE:
        return is_price(v);
    case SETTING_COUNT:
        return is_count(v, s->most);
    case SETTING_RECEIVERS:
        return is_receivers(v);
    case SETTING_COMMAND:
        return is_command(v);
    case SETTING_ADDRESSES:
        return is_addresses(v);
    case SETTING_ROLES:
        return is_roles(v);
    }
    return true;
}

const char *
setting_kind_says(enum setting_kind kind)
{
    static const char *const says[] = {
        [SETTING_TEXT] = "a text that is not empty",
        [SETTING_NAME] = "the name of an agent",
        [SETTING_URL] = "a URL like https://host/path",
        [SETTING_TIME] = "a time like 30, \"90s\", \"2m\" or \"30d\"",
        [SETTING_SIZE] = "a whole number of bytes, at least 1",
        [SETTING_PRICE] =
            ("{\"input\": USD, \"output\": USD, \"cached_input\": USD, \"cache_write\": USD} for a "
             "million tokens"),
        [SETTING_COUNT] = "a whole number, 0 or more",
        [SETTING_COMMAND] = "a command like goose acp, or a list of its words",
        [SETTING_ADDRESSES] = "an address like eve@example.org, or a list of them",
        [SETTING_ROLES] = "a list of roles like [\"engineer\", \"qa\"]",
        [SETTING_RECEIVERS] = "a list of \"agent\" or \"agent:channel\"",
    };

    return says[kind];
}

bool
setting_is_text(enum setting_kind kind)
{
    return kind == SETTING_TEXT || kind == SETTING_NAME || kind == SETTING_URL;
}

/* ---- keys ---- struct way is the path to a value from the root: names with their lengths */

struct way {
    const char *name[SEGMENTS_MAX];
    size_t len[SEGMENTS_MAX];
    size_t n;
};

enum fit { FITS_NOT, FITS_SECTION, FITS, FITS_INSIDE };

/* Does the path lead to the row's key, to a section that contains it, or into its value? */
static enum fit
fit(const char *key, const struct way *w)
{
    for (size_t i = 0; i < w->n; i++) {
        size_t n = strcspn(key, ".");
        bool is_any = n == 1 && *key == '*';
        if (!is_any && (n != w->len[i] || memcmp(key, w->name[i], n) != 0))
            return FITS_NOT;
        key += n;
        if (*key == '\0')
            return i + 1 == w->n ? FITS : FITS_INSIDE;
        key++;
    }
    return FITS_SECTION;
}

static const struct setting *
find(const struct way *w, bool *is_section)
{
    *is_section = false;
    for (const struct setting *s = settings_known; s->key; s++) {
        enum fit f = fit(s->key, w);
        if (f == FITS)
            return s;
        *is_section |= f == FITS_SECTION;
    }
    return NULL;
}

size_t
setting_name_len(const char *path, const char *at)
{
    bool is_model = at - path == 7 && memcmp(path, "prices.", 7) == 0;

    return is_model ? strlen(at) : strcspn(at, ".");
}

/* false: it has more names than any row. */
static bool
find_way(struct way *w, const char *key)
{
    const char *path = key;

    w->n = 0;
    for (;; key++) {
        if (w->n == SEGMENTS_MAX)
            return false;
        w->name[w->n] = key;
        w->len[w->n++] = setting_name_len(path, key);
        key += setting_name_len(path, key);
        if (*key == '\0')
            return true;
    }
}

const struct setting *
setting_find(const char *key)
{
    struct way w;
    bool is_section;

    return find_way(&w, key) ? find(&w, &is_section) : NULL;
}

bool
setting_is_read(const char *key)
{
    struct way w;

    if (!find_way(&w, key))
        return false;
    for (const struct setting *s = settings_known; s->key; s++)
        if (fit(s->key, &w) != FITS_NOT)
            return true;
    return false;
}

/* ---- the tree ---- */

static void
add_way(struct buf *to, const struct way *w)
{
    for (size_t i = 0; i < w->n; i++)
        buf_addf(to, "%s%.*s", i ? "." : "", (int)w->len[i], w->name[i]);
}

/* Error: FILE: KEY must be WHAT, not VALUE. */
static enum status
wrong(const char *file, const struct way *w, const struct setting *s, const struct json *v,
      struct err *e)
{
    struct buf key = { 0 }, shown = { 0 }, most = { 0 };

    add_way(&key, w);
    json_write(&shown, v);
    if (s && s->most)
        buf_addf(&most, " and at most %jd", (intmax_t)s->most);
    if (key.p && settings_is_secret(key.p)) { /* a secret is never shown, even when it is wrong */
        buf_reset(&shown);
        buf_adds(&shown, json_is(v, JSON_STRING) ? "this one" : "another kind of value");
    }
    err_say(e, "%s%s%s must be %s%s, not %.*s%s", file ? file : "", file ? ": " : "",
            key.p ? key.p : "", s ? setting_kind_says(s->kind) : "an object of settings",
            most.p ? most.p : "", (int)utf8_cut(shown.p ? shown.p : "", shown.len, SHOWN_MAX),
            shown.p ? shown.p : "", shown.len > SHOWN_MAX ? "..." : "");
    buf_release(&key);
    buf_release(&shown);
    buf_release(&most);
    return ST_INVALID;
}

static bool
is_event(const struct way *w)
{
    return w->n == 2 && w->len[0] == 13 && memcmp(w->name[0], "notifications", 13) == 0 &&
           w->len[1] > 3 && memcmp(w->name[1], "on_", 3) == 0;
}

/* Error: the event is unknown; lists the known ones. */
static enum status
unknown_event(const char *file, const struct way *w, struct err *e)
{
    struct buf list = { 0 }, word = { 0 };

    buf_add(&word, w->name[1], w->len[1]);
    struct suggest near = { .word = word.p ? word.p : "" };
    for (const struct setting *s = settings_known; s->key; s++)
        if (s->kind == SETTING_RECEIVERS) {
            const char *name = strchr(s->key, '.') + 1;
            buf_addf(&list, "%s%s", list.len ? ", " : "", name);
            suggest_try(&near, name);
        }
    err_say(e, "%s%snotifications.%s: there is no such event%s%s%s; these are: %s",
            file ? file : "", file ? ": " : "", near.word, near.best ? " (did you mean " : "",
            near.best ? near.best : "", near.best ? "?)" : "", list.p ? list.p : "");
    buf_release(&list);
    buf_release(&word);
    return ST_INVALID;
}

static enum status
check(const struct json *v, struct way w, const char *key, const char *file, struct err *e)
{
    bool is_section;
    const struct setting *s = w.n ? find(&w, &is_section) : NULL;

    if (s)
        return is_good(s, v) ? ST_OK : wrong(file, &w, s, v, e);
    if (w.n && !is_section)
        return is_event(&w) ? unknown_event(file, &w, e) : ST_OK;
    if (v->type != JSON_OBJECT) /* null counts as absent */
        return w.n && v->type == JSON_NULL ? ST_OK : wrong(file, &w, NULL, v, e);
    /* No row has more names than SEGMENTS_MAX, so a section has fewer. */
    bool is_model = w.n == 1 && w.len[0] == 6 && memcmp(w.name[0], "prices", 6) == 0;
    size_t n = !key ? 0 : is_model ? strlen(key) : strcspn(key, ".");
    const char *rest = key && key[n] ? key + n + 1 : NULL;
    json_each (m, v) {
        if (key && (m->key_len != n || memcmp(m->key, key, n) != 0))
            continue;
        struct way below = w;
        below.name[below.n] = m->key;
        below.len[below.n++] = m->key_len;
        enum status st = check(m, below, rest, file, e);
        if (st)
            return st;
    }
    return ST_OK;
}

enum status
settings_check(const struct json *root, const char *key, const char *file, struct err *e)
{
    return check(root, (struct way){ .n = 0 }, key, file, e);
}
