#include "hub/args.h"

#include "base/path.h"
#include "hub/when.h"

#include <stdio.h>
#include <string.h>

static const struct json *
find(const struct args_in *in, const char *key)
{
    const struct json *v = json_get(in->object, key);

    return json_is(v, JSON_NULL) ? NULL : v;
}

bool
arg_missing(struct args_in *in, const char *key)
{
    return refuse(in->refusal, 400, in->code ? in->code : "VALIDATION_FIELD_REQUIRED",
                  "%s%s is required", in->prefix, key);
}

bool
arg_wrong(struct args_in *in, const char *key, const char *what)
{
    struct buf b = BUF_MAX(4096);
    const struct json *v = find(in, key);

    if (v && (v->type == JSON_ARRAY || v->type == JSON_OBJECT))
        buf_adds(&b, v->type == JSON_ARRAY ? "a list" : "an object");
    else if (v && v->type == JSON_STRING && v->text.len > 80)
        buf_addf(&b, "a text of %zu bytes", v->text.len);
    else
        json_write(&b, v);
    refuse(in->refusal, 400, in->code ? in->code : "VALIDATION_INVALID_TYPE", "%s%s %s, not %s",
           in->prefix, key, what, b.p ? b.p : "");
    buf_release(&b);
    return false;
}

bool
arg_text(struct args_in *in, const char *key, const char **out)
{
    const struct json *v = find(in, key);

    if (!v)
        return true;
    if (v->type != JSON_STRING || !v->text.len || memchr(v->text.p, '\0', v->text.len))
        return arg_wrong(in, key, "must be a text that is not empty");
    if (v->text.len > EVENT_TEXT_MAX)
        return arg_wrong(in, key, "must have at most 4096 bytes");
    *out = arena_dup(in->arena, v->text.p, v->text.len);
    return *out || refuse(in->refusal, 503, "STORE_UNAVAILABLE", "out of memory");
}

bool
arg_name(struct args_in *in, const char *key, const char **out)
{
    const char *text = NULL;

    if (!arg_text(in, key, &text))
        return false;
    if (text && *text == '@')
        text++;
    if (text && !path_is_name(text))
        return arg_wrong(in, key, "must be a name of 1 to 64 of A-Z a-z 0-9 . _ -");
    if (text)
        *out = text;
    return true;
}

bool
arg_id(struct args_in *in, const char *key, const char **out)
{
    const char *text = NULL;

    if (!arg_text(in, key, &text))
        return false;
    if (text)
        *out = event_bare_id(text);
    return true;
}

/* A number that came as a text, in a query. */
static const struct json *
number(const struct args_in *in, const char *key, struct json *parsed)
{
    const struct json *v = find(in, key);
    struct json *n;

    if (v && in->is_query && v->type == JSON_STRING &&
        json_parse(in->arena, v->text.p, v->text.len, &n, NULL) && n->type == JSON_NUMBER) {
        *parsed = *n;
        return parsed;
    }
    return v;
}

bool
arg_int(struct args_in *in, const char *key, int64_t min, int64_t max, int64_t *out)
{
    struct json parsed;
    const struct json *v = number(in, key, &parsed);
    char what[100];
    int64_t n;

    if (!v)
        return true;
    if (!json_int(v, &n) || n < min || n > max) {
        snprintf(what, sizeof what, "must be a whole number from %jd to %jd", (intmax_t)min,
                 (intmax_t)max);
        return arg_wrong(in, key, what);
    }
    *out = n;
    return true;
}

bool
arg_number(struct args_in *in, const char *key, double min, double max, double *out)
{
    struct json parsed;
    const struct json *v = number(in, key, &parsed);
    char what[100];
    double n;

    if (!v)
        return true;
    if (!json_double(v, &n) || n < min || n > max) {
        snprintf(what, sizeof what, "must be a number from %g to %g", min, max);
        return arg_wrong(in, key, what);
    }
    *out = n;
    return true;
}

bool
arg_flag(struct args_in *in, const char *key, enum event_flag *out)
{
    const struct json *v = find(in, key);
    bool is_on = false;

    if (!v)
        return true;
    if (in->is_query && (json_eq(v, "true") || json_eq(v, "1")))
        is_on = true;
    else if (!(in->is_query && (json_eq(v, "false") || json_eq(v, "0"))) && !json_bool(v, &is_on))
        return arg_wrong(in, key, "must be true or false");
    *out = is_on ? FLAG_YES : FLAG_NO;
    return true;
}

bool
arg_list(struct args_in *in, const char *key, const struct json **out)
{
    const struct json *v = find(in, key);

    if (!v)
        return true;
    if (v->type == JSON_STRING && in->is_query) {
        struct json *list = json_new(in->arena, JSON_ARRAY);
        const char *p = v->text.p, *end = p + v->text.len;
        while (list && p <= end) {
            const char *comma = memchr(p, ',', (size_t)(end - p));
            size_t len = (size_t)((comma ? comma : end) - p);
            if (len)
                json_add(list, json_new_str(in->arena, p, len));
            p += len + 1;
        }
        *out = list;
        return true;
    }
    bool is_good = v->type == JSON_ARRAY;
    json_each (t, v)
        is_good = is_good && t->type == JSON_STRING && t->text.len &&
                  !memchr(t->text.p, '\0', t->text.len);
    if (!is_good)
        return arg_wrong(in, key, "must be a list of texts");
    *out = v;
    return true;
}

bool
arg_typed(struct args_in *in, const char *key, enum json_type type, const struct json **out)
{
    const struct json *v = find(in, key);

    if (!v)
        return true;
    if (v->type != type)
        return arg_wrong(in, key,
                         type == JSON_STRING  ? "must be a text"
                         : type == JSON_ARRAY ? "must be a list"
                                              : "must be an object");
    *out = v;
    return true;
}

bool
arg_time(struct args_in *in, const char *key, int64_t *out)
{
    const struct json *v = find(in, key);
    const char *text = NULL;

    if (!v)
        return true;
    if (v->type == JSON_STRING
            ? arg_text(in, key, &text) && when_parse(text, in->now_ms, out, NULL) == ST_OK
            : when_from_json(v, out, NULL) == ST_OK)
        return true;
    return arg_wrong(in, key, "must be a time, in ms since 1970, ISO 8601 or like \"+30s\"");
}

bool
arg_word(struct args_in *in, const char *key, const char *const *words, const char **out)
{
    const char *text = NULL;
    struct buf b = { 0 };

    if (!arg_text(in, key, &text))
        return false;
    if (!text)
        return true;
    buf_adds(&b, "must be one of");
    for (size_t i = 0; words[i]; i++) {
        if (strcmp(words[i], text) == 0) {
            *out = words[i];
            buf_release(&b);
            return true;
        }
        buf_addf(&b, "%s %s", i ? "," : "", words[i]);
    }
    arg_wrong(in, key, b.p ? b.p : "");
    buf_release(&b);
    return false;
}
