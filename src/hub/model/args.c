#include "hub/model/args.h"

#include "base/path.h"
#include "base/suggest.h"
#include "base/text.h"
#include "base/utf8.h"
#include "hub/model/time_arg.h"

#include <assert.h>

#include <stdio.h>
#include <string.h>

/* ---- ops.def as tables ---- */

const struct hub_op_info hub_ops[HUB_N_OPS] = {
#define OP(id, name, method, path, scope, writes, answer, brief)                                   \
    [HUB_##id] = { name, method, path, scope, writes, answer, brief },
#include "hub/model/ops.def"
};

/* The arguments of all operations in one array; each operation's end where the next one starts. */
enum {
#define OP(id, ...)         AT_##id,
#define MUST(id, name, ...) AT_##id##_##name,
#define MAY(id, name, ...)  AT_##id##_##name,
#include "hub/model/ops.def"
};

static const struct hub_arg op_args[] = {
#define OP(...)                   { .name = NULL },
#define MUST(id, arg, what, says) { .name = #arg, what, .is_required = true, .brief = says },
#define MAY(id, arg, what, says)  { .name = #arg, what, .brief = says },
#include "hub/model/ops.def"
    { .name = NULL },
};

const struct hub_arg *
hub_op_args(enum hub_op op)
{
    static const short first[HUB_N_OPS] = {
#define OP(id, ...) [HUB_##id] = AT_##id + 1,
#include "hub/model/ops.def"
    };

    return &op_args[first[op]];
}

/* ---- looking ---- */

static const struct json *
find(const struct args_in *in, const char *key)
{
    const struct json *v = json_get(in->object, key);

    return json_is(v, JSON_NULL) ? NULL : v;
}

/* Looks from the last one found on: members are mostly asked for in the order of the table. */
static const struct hub_arg *
find_known(struct args_in *in, const char *key, size_t len)
{
    const struct hub_arg *from = in->last ? in->last : in->known, *a = from;

    if (!from->name || !len)
        return NULL;
    do {
        if (a->name[0] == key[0] && strncmp(a->name, key, len) == 0 && !a->name[len])
            return in->last = a;
        a = a[1].name ? a + 1 : in->known;
    } while (a != from);
    return NULL;
}

/* The member of that name, or NULL. It must be in the table, as one of two kinds; in->last becomes
 * its line there. */
static const struct json *
take(struct args_in *in, const char *key, enum hub_arg_kind kind, enum hub_arg_kind other)
{
    const struct json *v = find(in, key);
    const struct hub_arg *a = v ? find_known(in, key, strlen(key)) : NULL;

    assert(!v || (a && (a->kind == kind || a->kind == other)));
    return a ? v : NULL;
}

/* ---- unknown members ---- */

static bool
refuse_unknown(struct args_in *in, const struct json *v, const char *what)
{
    struct buf names = BUF_MAX(300);
    int shown = (int)utf8_cut(v->key, v->key_len, 64);
    const char *word = arena_dup(in->arena, v->key, (size_t)shown);
    struct suggest near = { .word = word ? word : "" };

    for (const struct hub_arg *a = in->known; a->name; a++) {
        suggest_try(&near, a->name);
        buf_addf(&names, "%s%s", names.len ? ", " : "", a->name);
    }
    if (near.best)
        refuse(in->refusal, 400, in->code ? in->code : "VALIDATION_UNKNOWN_FIELD",
               "%s%.*s is not known to %s; did you mean %s?", in->prefix, shown, v->key, what,
               near.best);
    else
        refuse(in->refusal, 400, in->code ? in->code : "VALIDATION_UNKNOWN_FIELD",
               "%s%.*s is not known to %s, which takes %s", in->prefix, shown, v->key, what,
               names.len ? names.p : "nothing");
    buf_release(&names);
    return false;
}

bool
args_known(struct args_in *in, const char *what)
{
    json_each (v, in->object)
        if (v->type != JSON_NULL && !find_known(in, v->key, v->key_len))
            return refuse_unknown(in, v, what);
    return true;
}

/* ---- numbers ---- */

enum { DIGITS_MAX = 4300, DIGITS_SAFE = 300 /* fit into a double, without an exponent */ };

static size_t
count_digits(const struct json *v)
{
    size_t n = 0;

    for (size_t i = 0; i < v->text.len; i++)
        n += v->text.p[i] >= '0' && v->text.p[i] <= '9';
    return n;
}

static bool
is_readable(const struct json *v)
{
    double d;

    if (v->text.len <= DIGITS_SAFE && !memchr(v->text.p, 'e', v->text.len) &&
        !memchr(v->text.p, 'E', v->text.len))
        return true;
    return count_digits(v) <= DIGITS_MAX && json_double(v, &d);
}

/* The first number in v that is not readable, or NULL. */
static const struct json *
find_wild(const struct json *v)
{
    const struct json *wild = NULL;

    if (json_is(v, JSON_NUMBER))
        return is_readable(v) ? NULL : v;
    if (!json_is(v, JSON_ARRAY) && !json_is(v, JSON_OBJECT))
        return NULL;
    json_each (member, v)
        if ((wild = find_wild(member)))
            break;
    return wild;
}

bool
args_numbers(struct args_in *in)
{
    json_each (v, in->object) {
        const struct json *wild = find_wild(v);
        if (!wild)
            continue;
        int shown = (int)utf8_cut(v->key, v->key_len, 64);
        size_t n = count_digits(wild);
        if (n > DIGITS_MAX)
            return refuse(
                in->refusal, 400, "VALIDATION_INVALID_TYPE",
                "%.*s has a number of %zu digits; other programs read %d at most: send it "
                "as a text",
                shown, v->key, n, DIGITS_MAX);
        return refuse(
            in->refusal, 400, "VALIDATION_INVALID_TYPE",
            "%.*s has the number %.*s%s, which is outside the range of a double, so other "
            "programs cannot read it: send it as a text",
            shown, v->key, (int)(wild->text.len < 40 ? wild->text.len : 40), wild->text.p,
            wild->text.len > 40 ? "..." : "");
    }
    return true;
}

/* ---- refusals ---- */

bool
arg_missing(struct args_in *in, const char *key)
{
    const struct hub_arg *a = find_known(in, key, strlen(key));

    assert(a && a->is_required);
    (void)a;
    return refuse(in->refusal, 400, in->code ? in->code : "VALIDATION_FIELD_REQUIRED",
                  "%s%s is required", in->prefix, key);
}

bool
arg_wrong(struct args_in *in, const char *key, const char *what)
{
    struct buf b = BUF_MAX(4096);
    const struct json *v = find(in, key);
    bool is_list = json_is(v, JSON_ARRAY);

    if (v && v->type == JSON_STRING && v->text.len > 80)
        buf_addf(&b, "a text of %zu bytes", v->text.len);
    else
        json_write(&b, v);
    if ((is_list || json_is(v, JSON_OBJECT)) && (buf_failed(&b) || b.len > 80)) {
        buf_reset(&b);
        buf_adds(&b, is_list ? "a list" : "an object");
    }
    refuse(in->refusal, 400, in->code ? in->code : "VALIDATION_INVALID_TYPE", "%s%s %s, not %s",
           in->prefix, key, what, b.p ? b.p : "");
    buf_release(&b);
    return false;
}

/* ---- texts and numbers ---- */

static bool
take_text(struct args_in *in, const char *key, enum hub_arg_kind kind, const char **out)
{
    const struct json *v = take(in, key, kind, kind);

    if (!v)
        return true;
    if (v->type != JSON_STRING || !v->text.len || memchr(v->text.p, '\0', v->text.len))
        return arg_wrong(in, key, "must be a text that is not empty");
    if (v->text.len > EVENT_TEXT_MAX)
        return arg_wrong(in, key, "must have at most 4096 bytes");
    *out = arena_dup(in->arena, v->text.p, v->text.len);
    return *out || refuse_starved(in->refusal);
}

bool
arg_text(struct args_in *in, const char *key, const char **out)
{
    return take_text(in, key, ARG_TEXT, out);
}

bool
arg_trimmed(struct args_in *in, const char *key, const char **out)
{
    const struct json *v = take(in, key, ARG_TRIMMED, ARG_STRING);

    if (!v)
        return true;
    if (v->type != JSON_STRING)
        return arg_wrong(in, key, "must be a text");
    struct text t = text_trim((struct text){ v->text.p, v->text.len });
    if (!t.len)
        return true;
    if (t.len > EVENT_TEXT_MAX || memchr(t.p, '\0', t.len))
        return arg_wrong(in, key, "must have at most 4096 bytes, and no NUL");
    *out = arena_dup(in->arena, t.p, t.len);
    return *out || refuse_starved(in->refusal);
}

bool
arg_name(struct args_in *in, const char *key, const char **out)
{
    const char *text = NULL;

    if (!take_text(in, key, ARG_NAME, &text))
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

    if (!take_text(in, key, ARG_ID, &text))
        return false;
    if (text)
        *out = hub_event_bare_id(text);
    return true;
}

/* A number that came as a text, in a query. */
static const struct json *
take_number(struct args_in *in, const char *key, enum hub_arg_kind kind, struct json *parsed)
{
    const struct json *v = take(in, key, kind, kind);
    struct json *n;

    if (v && in->is_query && v->type == JSON_STRING &&
        json_parse(in->arena, v->text.p, v->text.len, &n, NULL) && n->type == JSON_NUMBER) {
        *parsed = *n;
        return parsed;
    }
    return v;
}

bool
arg_int(struct args_in *in, const char *key, int64_t *out)
{
    struct json parsed;
    const struct json *v = take_number(in, key, ARG_INT, &parsed);
    const struct hub_arg *a = in->last;
    char what[100];
    int64_t n;

    if (!v)
        return true;
    if (!json_int(v, &n) || n < (int64_t)a->min || n > (int64_t)a->max) {
        snprintf(what, sizeof what, "must be a whole number from %.0f to %.0f", a->min, a->max);
        return arg_wrong(in, key, what);
    }
    *out = n;
    return true;
}

bool
arg_number(struct args_in *in, const char *key, double *out)
{
    struct json parsed;
    const struct json *v = take_number(in, key, ARG_NUMBER, &parsed);
    const struct hub_arg *a = in->last;
    char what[100];
    double n;

    if (!v)
        return true;
    if (!json_double(v, &n) || n < a->min || n > a->max) {
        snprintf(what, sizeof what, "must be a number from %.10g to %.10g", a->min, a->max);
        return arg_wrong(in, key, what);
    }
    *out = n;
    return true;
}

bool
arg_flag(struct args_in *in, const char *key, enum hub_event_flag *out)
{
    const struct json *v = take(in, key, ARG_FLAG, ARG_FLAG);
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

/* "a,b" of a query as a list. */
static const struct json *
split(struct args_in *in, const struct json *v)
{
    struct json *list = json_new(in->arena, JSON_ARRAY);
    const char *p = v->text.p, *end = p + v->text.len;

    while (list && p <= end) {
        const char *comma = memchr(p, ',', (size_t)(end - p));
        size_t len = (size_t)((comma ? comma : end) - p);
        if (len)
            json_add(list, json_new_str(in->arena, p, len));
        p += len + 1;
    }
    return list;
}

/* ---- words ---- "now recent history" */

static bool
is_word_of(const char *words, const char *p, size_t len)
{
    for (const char *w = words; *w; w += strspn(w, " ")) {
        size_t n = strcspn(w, " ");
        if (n == len && memcmp(w, p, n) == 0)
            return true;
        w += n;
    }
    return false;
}

/* Refuses, and names all words: "must be one of now, recent, not \"old\"" */
static bool
no_word(struct args_in *in, const char *key, const char *words, const struct json *v)
{
    struct buf b = { 0 };

    for (const char *w = words; *w; w++)
        buf_adds(&b, *w == ' ' ? ", " : (char[]){ *w, '\0' });
    refuse(in->refusal, 400, in->code ? in->code : "VALIDATION_INVALID_TYPE",
           "%s%s must be one of %s, not \"%.*s\"", in->prefix, key, b.p ? b.p : "",
           (int)utf8_cut(v->text.p, v->text.len, 64), v->text.p);
    buf_release(&b);
    return false;
}

bool
arg_texts(struct args_in *in, const char *key, const struct json **out)
{
    const struct json *v = take(in, key, ARG_TEXTS, ARG_WORDS);
    const struct hub_arg *a = in->last;

    if (!v)
        return true;
    if (v->type == JSON_STRING && in->is_query)
        v = split(in, v);
    bool is_good = json_is(v, JSON_ARRAY);
    json_each (t, v) {
        is_good = is_good && t->type == JSON_STRING && t->text.len &&
                  !memchr(t->text.p, '\0', t->text.len);
        if (is_good && a->words && !is_word_of(a->words, t->text.p, t->text.len))
            return no_word(in, key, a->words, t);
    }
    if (!is_good)
        return arg_wrong(in, key, "must be a list of texts, none of them empty");
    *out = v;
    return true;
}

bool
arg_word(struct args_in *in, const char *key, const char **out)
{
    const char *text = NULL;

    if (!take_text(in, key, ARG_WORD, &text))
        return false;
    if (!text)
        return true;
    *out = text;
    return is_word_of(in->last->words, text, strlen(text)) ||
           no_word(in, key, in->last->words, find(in, key));
}

/* ---- JSON ---- */

bool
arg_json(struct args_in *in, const char *key, const struct json **out)
{
    const struct json *v = find(in, key);

    if (!v)
        return true;
    const struct hub_arg *a = find_known(in, key, strlen(key));
    assert(a);
    bool is_text = v->type == JSON_STRING, is_object = v->type == JSON_OBJECT;
    switch ((int)a->kind) {
    case ARG_STRING:
        if (!is_text)
            return arg_wrong(in, key, "must be a text");
        break;
    case ARG_LIST:
    case ARG_SIGNALS:
        if (v->type != JSON_ARRAY)
            return arg_wrong(in, key, "must be a list");
        break;
    case ARG_OBJECT:
        if (!is_object)
            return arg_wrong(in, key, "must be an object");
        break;
    case ARG_TEXT_OR_OBJECT:
        if (!is_text && !is_object)
            return arg_wrong(in, key, "must be a text or an object");
        break;
    default:
        assert(a->kind == ARG_ANY || a->kind == ARG_SOURCE);
    }
    *out = v;
    return true;
}

bool
arg_time(struct args_in *in, const char *key, int64_t *out)
{
    const struct json *v = take(in, key, ARG_TIME, ARG_TIME);
    const char *text = NULL;

    if (!v)
        return true;
    if (v->type == JSON_STRING ? take_text(in, key, ARG_TIME, &text) &&
                                     time_arg_parse(text, in->now_ms, out, NULL) == ST_OK
                               : time_arg_from_json(v, out, NULL) == ST_OK)
        return true;
    return arg_wrong(in, key, "must be a time, in ms since 1970, ISO 8601 or like \"+30s\"");
}
