/*
 * fuzz_json - compares base/json with jansson: both must agree on any bytes.
 *
 *     make build/fuzz/json
 *     build/fuzz/json -max_len=512 -dict=test/fuzz/json.dict NEW_CORPUS test/fuzz/corpus/json
 *
 * For every input, each in a function of its own:
 *   - cliq accepts it exactly when jansson does, with the same tree;
 *     known_difference() lists all exceptions
 *   - writing, reading and writing again changes nothing, compact or pretty
 *   - every prefix of an accepted object is torn
 *   - a torn text can be completed so that it is accepted
 *   - any bytes, written as a string, are read back (bad UTF-8 as U+FFFD)
 *   - a parse that runs out of memory reports only that
 */
#include "fuzz.h"

#include <math.h>

/* Both headers define types named JSON_..., so those of jansson are renamed. Its json_is_...
 * macros name them too, so json_typeof is used instead. */
#define JSON_NULL   JANSSON_NULL
#define JSON_FALSE  JANSSON_FALSE
#define JSON_TRUE   JANSSON_TRUE
#define JSON_STRING JANSSON_STRING
#define JSON_ARRAY  JANSSON_ARRAY
#define JSON_OBJECT JANSSON_OBJECT
#include <jansson.h>
#undef JSON_NULL
#undef JSON_FALSE
#undef JSON_TRUE
#undef JSON_STRING
#undef JSON_ARRAY
#undef JSON_OBJECT

#include "base/json.h"
#include "base/utf8.h"

enum { JANSSON_FLAGS = JSON_DECODE_ANY | JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL };

/*
 * jansson rejects and we accept, on purpose:
 *   - numbers beyond int64 or double: we keep them as text
 *   - "\u0000" in a key: our keys have a length
 * We reject and jansson accepts:
 *   - nesting between our 128 and its 2048
 *   - a NUL byte right behind a number or a literal: jansson pushes back the byte
 *     that ended the token, mistakes a NUL for an empty buffer and skips it
 */
static bool
known_difference(bool is_ours, const char *p, const struct json_fault *f, const json_error_t *e)
{
    if (is_ours)
        return json_error_code(e) == json_error_numeric_overflow ||
               json_error_code(e) == json_error_null_byte_in_key;
    if (!strcmp(f->what, "nested too deep"))
        return true;
    return f->offset && !p[f->offset] && strchr("0123456789el", p[f->offset - 1]);
}

/* jansson's tree; integers too large for it are read as doubles. */
static json_t *
jansson_parse(const char *p, size_t len, json_error_t *e)
{
    json_t *j = json_loadb(p, len, JANSSON_FLAGS, e);

    if (!j && json_error_code(e) == json_error_numeric_overflow)
        j = json_loadb(p, len, JANSSON_FLAGS | JSON_DECODE_INT_AS_REAL, e);
    return j;
}

/* ---- trees ---- */

static void
same_number(const struct json *v, json_t *j)
{
    int64_t n;
    double d;

    if (json_is_integer(j)) {
        MUST(json_int(v, &n) && n == json_integer_value(j));
        return;
    }
    MUST(json_double(v, &d) && d == json_real_value(j));
    if (json_int(v, &n)) /* 3.0 and 3e2: as far as a double can tell */
        MUST((double)n == d);
    else if (fabs(d) < 9e15 && d == floor(d))
        MUST(memchr(v->text.p, '.', v->text.len) || memchr(v->text.p, '-', v->text.len));
}

static void
same_tree(const struct json *v, json_t *j)
{
    size_t n = 0;

    switch (v->type) {
    case JSON_NULL:
        MUST(json_typeof(j) == JANSSON_NULL);
        return;
    case JSON_FALSE:
        MUST(json_typeof(j) == JANSSON_FALSE);
        return;
    case JSON_TRUE:
        MUST(json_typeof(j) == JANSSON_TRUE);
        return;
    case JSON_NUMBER:
        MUST(json_is_number(j));
        same_number(v, j);
        return;
    case JSON_STRING:
        MUST(json_typeof(j) == JANSSON_STRING && json_string_length(j) == v->text.len);
        MUST(!memcmp(json_string_value(j), v->text.p, v->text.len));
        return;
    case JSON_ARRAY:
        MUST(json_typeof(j) == JANSSON_ARRAY && json_array_size(j) == v->kids.count);
        json_each (kid, v)
            same_tree(kid, json_array_get(j, n++));
        MUST(n == v->kids.count);
        return;
    case JSON_OBJECT:
        MUST(json_typeof(j) == JANSSON_OBJECT && json_object_size(j) == v->kids.count);
        json_each (kid, v) {
            char key[1024];
            MUST(kid->key_len < sizeof key);
            memcpy(key, kid->key, kid->key_len);
            key[kid->key_len] = '\0';
            json_t *their = json_object_get(j, key);
            MUST(their);
            same_tree(kid, their);
            MUST(json_getn(v, kid->key, kid->key_len) == kid);
            n++;
        }
        MUST(n == v->kids.count);
    }
}

/* ---- facts ---- */

static void
writes_to_a_fixed_point(struct arena *a, const struct json *doc, json_t *j)
{
    struct buf once = { 0 }, twice = { 0 }, pretty = { 0 };
    struct json *again;

    json_write(&once, doc);
    MUST(!buf_failed(&once) && strlen(once.p) == once.len);
    MUST(json_parse(a, once.p, once.len, &again, NULL) && json_same(doc, again));
    json_write(&twice, again);
    MUST(once.len == twice.len && !memcmp(once.p, twice.p, once.len));
    json_write_pretty(&pretty, doc, 0);
    MUST(json_parse(a, pretty.p, pretty.len, &again, NULL) && json_same(again, doc));
    if (j) {
        json_error_t e;
        json_t *j_again = jansson_parse(once.p, once.len, &e);
        MUST(j_again && json_equal(j, j_again));
        json_decref(j_again);
    }
    buf_release(&once);
    buf_release(&twice);
    buf_release(&pretty);
}

static void
beginnings_are_cut_off(struct arena *a, const char *p, size_t len, uint32_t seed)
{
    struct json *doc;
    struct json_fault f;

    while (len && strchr(" \t\r\n", p[len - 1]))
        len--;
    for (int i = 0; i < 4; i++) {
        seed = seed * 1664525 + 1013904223;
        size_t n = (seed >> 8) % len;
        char *exact = malloc(n ? n : 1); /* so that ASan detects a read past the end */
        MUST(exact);
        memcpy(exact, p, n);
        MUST(!json_parse(a, exact, n, &doc, &f));
        MUST(f.is_cut_off && f.offset == n && !f.is_starved);
        free(exact);
    }
}

/* Completes a torn text byte by byte, keeping each byte after which it is still
 * torn or valid. Tries closing bytes first, so that it terminates. */
static void
can_be_ended(struct arena *a, const char *p, size_t len)
{
    static const char bytes[] = "\"}]:0aelsur\\dcDC\x80\xBF\x90\xA0z";
    char text[2048];
    struct json *doc;
    struct json_fault f;

    memcpy(text, p, len);
    while (len < sizeof text) {
        size_t i;
        for (i = 0; i < sizeof bytes - 1; i++) {
            text[len] = bytes[i];
            if (json_parse(a, text, len + 1, &doc, &f))
                return;
            if (f.is_cut_off)
                break;
        }
        MUST(i < sizeof bytes - 1);
        len++;
    }
    MUST(!"a torn text that ends");
}

static void
any_bytes_make_a_string(struct arena *a, const char *p, size_t len)
{
    struct buf b = { 0 };
    struct json *v;

    json_write_str(&b, p, len);
    MUST(json_parse(a, b.p, b.len, &v, NULL) && json_is(v, JSON_STRING));
    MUST(utf8_valid_len(v->text.p, v->text.len) == v->text.len);
    if (utf8_valid_len(p, len) == len)
        MUST(v->text.len == len && !memcmp(v->text.p, p, len));
    buf_release(&b);
}

static void
starving_is_harmless(const char *p, size_t len, bool is_good, size_t max)
{
    struct arena small = { .max = max };
    struct json *doc;
    struct json_fault f;

    if (json_parse(&small, p, len, &doc, &f))
        MUST(is_good);
    else
        MUST(f.is_starved || !is_good);
    arena_release(&small);
}

static uint32_t
hash(const char *p, size_t len)
{
    uint32_t h = 2166136261u;

    for (size_t i = 0; i < len; i++)
        h = (h ^ (unsigned char)p[i]) * 16777619u;
    return h;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static struct arena a;
    const char *p = (const char *)data;
    uint32_t seed = hash(p, len);
    struct json *doc = NULL;
    struct json_fault f = { 0 };
    json_error_t e;

    arena_reset(&a);
    if (len > 1000) /* same_tree copies keys to the stack */
        return -1;
    bool is_good = json_parse(&a, p, len, &doc, &f);
    json_t *j = jansson_parse(p, len, &e);
    MUST(is_good == (j != NULL) || known_difference(is_good, p, &f, &e));
    if (is_good) {
        if (j)
            same_tree(doc, j);
        writes_to_a_fixed_point(&a, doc, j);
        if (json_is(doc, JSON_OBJECT))
            beginnings_are_cut_off(&a, p, len, seed);
    } else {
        MUST(f.what && f.line && f.column && f.offset <= len);
        MUST(f.is_cut_off == (f.offset == len) && !f.is_starved);
        if (f.is_cut_off && len < 100)
            can_be_ended(&a, p, len);
    }
    any_bytes_make_a_string(&a, p, len);
    starving_is_harmless(p, len, is_good, 4096 + seed % 16384);
    json_decref(j);
    return 0;
}
