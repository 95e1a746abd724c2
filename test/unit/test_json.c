/*
 * What must be true of base/json: which texts are JSON (RFC 8259, and our own
 * refusals), where the others go wrong, which of those are only torn, and that
 * what is written reads back the same.
 *
 * Texts stand in tables; each table is one fact and one test.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

#define COUNT(table) (sizeof(table) / sizeof *(table))
#define T(literal)   literal, sizeof(literal) - 1 /* text and length: it may hold NUL */

struct text {
    const char *p;
    size_t len;
};

struct bad {
    const char *p;
    size_t len;
    unsigned line, column;
    const char *what; /* NULL: the text ends too early */
};

/* ---- helpers ---- */

/* In a block of exactly its size, so that reading past the end is seen by ASan. */
static bool
parse(struct arena *a, const char *p, size_t len, struct json **doc, struct json_fault *where)
{
    char *exact = malloc(len ? len : 1);
    assert_non_null(exact);
    memcpy(exact, p, len);
    struct json *tree = NULL;
    bool is_good = json_parse(a, exact, len, &tree, where);
    if (is_good && doc) { /* the tree borrows the text: parse the lasting one */
        assert_true(json_parse(a, p, len, doc, NULL));
        assert_true(json_same(tree, *doc));
    }
    free(exact);
    return is_good;
}

static void
accept(const char *p, size_t len)
{
    struct arena a = { 0 };
    struct json *doc;
    struct json_fault f;

    if (!parse(&a, p, len, &doc, &f))
        fail_msg("refused: %.*s\nat %u:%u: %s", (int)len, p, f.line, f.column, f.what);
    arena_release(&a);
}

static void
accept_all(const struct text *t, size_t n)
{
    for (size_t i = 0; i < n; i++)
        accept(t[i].p, t[i].len);
}

static void
refuse_all(const struct bad *t, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct arena a = { 0 };
        struct json_fault f;
        if (parse(&a, t[i].p, t[i].len, NULL, &f))
            fail_msg("accepted: %.*s", (int)t[i].len, t[i].p);
        const char *what = t[i].what ? t[i].what : "the text ends too early";
        if (f.line != t[i].line || f.column != t[i].column || strcmp(f.what, what) ||
            f.is_cut_off != !t[i].what || f.is_cut_off != (f.offset == t[i].len) || f.is_starved)
            fail_msg("%.*s\nwant %u:%u: %s\ngot  %u:%u: %s%s", (int)t[i].len, t[i].p, t[i].line,
                     t[i].column, what, f.line, f.column, f.what, f.is_cut_off ? " (cut off)" : "");
        arena_release(&a);
    }
}

/* The whole fixture of the smaller tests: a tree and its arena. */
static struct arena arena;

static const struct json *
doc_of(const char *text)
{
    struct json *doc = NULL;

    assert_true(json_parse(&arena, text, strlen(text), &doc, NULL));
    return doc;
}

static void
is_written(const struct json *v, const char *want)
{
    struct buf b = { 0 };

    json_write(&b, v);
    assert_int_equal(buf_status(&b, "it", NULL), ST_OK);
    assert_string_equal(b.p, want);
    assert_int_equal(b.len, strlen(want));
    buf_release(&b);
}

static int
teardown(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

/* ---- the grammar ---- */

static void
accepts_every_kind_of_value_as_a_document(void **state)
{
    static const struct text good[] = {
        { T("null") }, { T("true") }, { T("false") }, { T("0") },
        { T("\"\"") }, { T("[]") },   { T("{}") },    { T("{\"\":{\"\":[{}]}}") },
    };

    (void)state;
    accept_all(good, COUNT(good));
}

static void
accepts_numbers_of_the_grammar(void **state)
{
    static const struct text good[] = {
        { T("0") },       { T("-0") },
        { T("1e5") },     { T("1E+05") },
        { T("10.010") },  { T("-0.0e-0") },
        { T("0e0") },     { T("1e400") },
        { T("0.1") },     { T("9007199254740993") },
        { T("[1,-2]") },  { T("1e-99999") },
        { T("0E00000") }, { T("-1.5E+10") },
        { T(" 7 ") },
    };

    (void)state;
    accept_all(good, COUNT(good));
}

static void
refuses_numbers_outside_the_grammar(void **state)
{
    static const struct bad bad[] = {
        { T("01"), 1, 2, "leading zero" },
        { T("-01"), 1, 3, "leading zero" },
        { T("[00]"), 1, 3, "leading zero" },
        { T("1.]"), 1, 3, "expected a digit" },
        { T("[1.e1]"), 1, 4, "expected a digit" },
        { T(".1"), 1, 1, "expected a value" },
        { T("+1"), 1, 1, "expected a value" },
        { T("[-]"), 1, 3, "expected a digit" },
        { T("--1"), 1, 2, "expected a digit" },
        { T("[0e]"), 1, 4, "expected a digit" },
        { T("[1e+]"), 1, 5, "expected a digit" },
        { T("1e1.5"), 1, 4, "text after the value" },
        { T("0x10"), 1, 2, "text after the value" },
        { T("1_000"), 1, 2, "text after the value" },
        { T("Infinity"), 1, 1, "expected a value" },
        { T("-Infinity"), 1, 2, "expected a digit" },
        { T("NaN"), 1, 1, "expected a value" },
        { T("1 2"), 1, 3, "text after the value" },
        { T("-"), 1, 2, NULL },
        { T("1."), 1, 3, NULL },
        { T("0e"), 1, 3, NULL },
        { T("1e+"), 1, 4, NULL },
    };

    (void)state;
    refuse_all(bad, COUNT(bad));
}

static void
refuses_misspelt_literals_at_the_wrong_letter(void **state)
{
    static const char what[] = "expected true, false or null";
    static const struct bad bad[] = {
        { T("trUe"), 1, 3, what },
        { T("[nul]"), 1, 5, what },
        { T("fals3"), 1, 5, what },
        { T("nan"), 1, 2, what },
        { T("True"), 1, 1, "expected a value" },
        { T("NULL"), 1, 1, "expected a value" },
        { T("truee"), 1, 5, "text after the value" },
        { T("undefined"), 1, 1, "expected a value" },
        { T("tru"), 1, 4, NULL },
        { T("[f"), 1, 3, NULL },
    };

    (void)state;
    refuse_all(bad, COUNT(bad));
}

static void
white_space_is_space_tab_and_line_ends(void **state)
{
    static const struct text good[] = {
        { T(" \t\r\n1\n\r\t ") },
        { T("\n{ \"a\" :\t[ 1 ,\r\n2 ] , \"b\" : { } }\n") },
    };
    static const struct bad bad[] = {
        { T("\v1"), 1, 1, "expected a value" },
        { T("\f1"), 1, 1, "expected a value" },
        { T("1\xC2\xA0"), 1, 2, "text after the value" },
        { T("[1,\xE2\x80\xA8 2]"), 1, 4, "expected a value" },
        { T("1\0"), 1, 2, "text after the value" },
        { T("\0"), 1, 1, "expected a value" },
    };

    (void)state;
    accept_all(good, COUNT(good));
    refuse_all(bad, COUNT(bad));
}

static void
refuses_structure_outside_the_grammar(void **state)
{
    static const struct bad bad[] = {
        { T("[1,]"), 1, 4, "expected a value" },
        { T("[,1]"), 1, 2, "expected a value" },
        { T("[1,,2]"), 1, 4, "expected a value" },
        { T("[1 2]"), 1, 4, "expected ',' or ']'" },
        { T("[1}"), 1, 3, "expected ',' or ']'" },
        { T("[1:2]"), 1, 3, "expected ',' or ']'" },
        { T("{\"a\":1,}"), 1, 8, "expected a key in double quotes" },
        { T("{,\"a\":1}"), 1, 2, "expected a key in double quotes" },
        { T("{\"a\" 1}"), 1, 6, "expected ':'" },
        { T("{\"a\",1}"), 1, 5, "expected ':'" },
        { T("{\"a\":}"), 1, 6, "expected a value" },
        { T("{\"a\":1 \"b\":2}"), 1, 8, "expected ',' or '}'" },
        { T("{\"a\":1]"), 1, 7, "expected ',' or '}'" },
        { T("{1:2}"), 1, 2, "expected a key in double quotes" },
        { T("{a:1}"), 1, 2, "expected a key in double quotes" },
        { T("{'a':1}"), 1, 2, "expected a key in double quotes" },
        { T("['a']"), 1, 2, "expected a value" },
        { T("]"), 1, 1, "expected a value" },
        { T("}"), 1, 1, "expected a value" },
    };

    (void)state;
    refuse_all(bad, COUNT(bad));
}

static void
refuses_comments(void **state)
{
    static const struct bad bad[] = {
        { T("// no\n1"), 1, 1, "expected a value" },
        { T("[1 /* no */]"), 1, 4, "expected ',' or ']'" },
        { T("1 # no"), 1, 3, "text after the value" },
    };

    (void)state;
    refuse_all(bad, COUNT(bad));
}

static void
refuses_anything_after_the_value(void **state)
{
    static const struct bad bad[] = {
        { T("{}{}"), 1, 3, "text after the value" },
        { T("[]\n]"), 2, 1, "text after the value" },
        { T("\"a\"\"b\""), 1, 4, "text after the value" },
        { T("null,"), 1, 5, "text after the value" },
    };

    (void)state;
    refuse_all(bad, COUNT(bad));
}

static void
refuses_a_byte_order_mark(void **state)
{
    static const struct bad bad[] = {
        { T("\xEF\xBB\xBF{}"), 1, 1, "byte order mark" },
        { T("\xEF\xBB\xBF"), 1, 1, "byte order mark" },
        { T("\xFE\xFF"), 1, 1, "expected a value" },
    };

    (void)state;
    refuse_all(bad, COUNT(bad));
}

static void
nesting_is_accepted_to_the_limit_and_refused_beyond(void **state)
{
    char text[2 * JSON_MAX_DEPTH + 3];
    struct arena a = { 0 };
    struct json_fault f;
    size_t n = JSON_MAX_DEPTH;

    (void)state;
    memset(text, '[', n);
    memset(text + n, ']', n);
    accept(text, 2 * n);
    memset(text, '[', n + 1);
    memset(text + n + 1, ']', n + 1);
    assert_false(parse(&a, text, 2 * n + 2, NULL, &f));
    assert_string_equal(f.what, "nested too deep");
    assert_int_equal(f.offset, n);
    assert_false(f.is_cut_off);
    /* Even as a torn line it can become nothing good; one bracket less can. */
    assert_false(parse(&a, text, n + 1, NULL, &f));
    assert_false(f.is_cut_off);
    assert_false(parse(&a, text, n, NULL, &f));
    assert_true(f.is_cut_off);
    arena_release(&a);
}

static void
siblings_do_not_count_as_nesting(void **state)
{
    struct buf b = { 0 };

    (void)state;
    buf_addc(&b, '[');
    for (int i = 0; i < 1000; i++)
        buf_adds(&b, "[{}],");
    buf_adds(&b, "{\"a\":[]}]");
    accept(b.p, b.len);
    buf_release(&b);
}

/* ---- strings ---- */

static void
decodes_every_escape(void **state)
{
    static const char want[] = "\"\\/\b\f\n\r\tA\xC3\xA9\xE2\x98\x83";
    const struct json *v = doc_of("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00e9\\u2603\"");

    (void)state;
    assert_int_equal(v->text.len, sizeof want - 1);
    assert_memory_equal(v->text.p, want, sizeof want - 1);
}

static void
decodes_escapes_wherever_they_stand(void **state)
{
    (void)state;
    for (size_t at = 0; at < 20; at++) {
        char text[64], want[32];
        memset(want, 'x', 20);
        want[at] = '\n';
        snprintf(text, sizeof text, "\"%.*s\\n%.*s\"", (int)at, "xxxxxxxxxxxxxxxxxxxx",
                 (int)(19 - at), "xxxxxxxxxxxxxxxxxxxx");
        const struct json *v = doc_of(text);
        assert_int_equal(v->text.len, 20);
        assert_memory_equal(v->text.p, want, 20);
        arena_reset(&arena);
    }
}

static void
joins_surrogate_pairs(void **state)
{
    (void)state;
    assert_true(json_eq(doc_of("\"\\ud83d\\ude80\""), "\xF0\x9F\x9A\x80"));
    assert_true(json_eq(doc_of("\"\\uD800\\uDC00\""), "\xF0\x90\x80\x80"));
    assert_true(json_eq(doc_of("\"\\udbff\\udfff!\""), "\xF4\x8F\xBF\xBF!"));
    assert_true(json_eq(doc_of("\"\\ud7ff\\ue000\""), "\xED\x9F\xBF\xEE\x80\x80"));
}

static void
refuses_lone_surrogates(void **state)
{
    static const struct bad bad[] = {
        { T("\"\\ud800\""), 1, 2, "lone surrogate" },
        { T("\"ab\\udc00\""), 1, 4, "lone surrogate" },
        { T("\"\\ud83dx\""), 1, 2, "lone surrogate" },
        { T("\"\\ud83d\\n\""), 1, 2, "lone surrogate" },
        { T("\"\\ud83d\\u0041\""), 1, 2, "lone surrogate" },
        { T("\"\\ud83d\\ud83d\\ude80\""), 1, 2, "lone surrogate" },
        { T("\"\\ude80\\ud83d\""), 1, 2, "lone surrogate" },
    };

    (void)state;
    refuse_all(bad, COUNT(bad));
}

static void
refuses_unknown_escapes(void **state)
{
    static const char hex[] = "expected four hex digits after \\u";
    static const struct bad bad[] = {
        { T("\"\\a\""), 1, 3, "unknown escape" },
        { T("\"\\'\""), 1, 3, "unknown escape" },
        { T("\"\\x41\""), 1, 3, "unknown escape" },
        { T("\"\\0\""), 1, 3, "unknown escape" },
        { T("\"\\\0\""), 1, 3, "unknown escape" },
        { T("\"\\\n\""), 1, 3, "unknown escape" },
        { T("\"\\U0041\""), 1, 3, "unknown escape" },
        { T("\"\\\xC3\xA9\""), 1, 3, "unknown escape" },
        { T("\"\\u00g1\""), 1, 6, hex },
        { T("\"\\u\""), 1, 4, hex },
        { T("\"\\u12\""), 1, 6, hex },
        { T("\"\\u+123\""), 1, 4, hex },
        { T("\"\\ud83d\\ude8\""), 1, 13, hex },
    };

    (void)state;
    refuse_all(bad, COUNT(bad));
}

static void
refuses_every_control_character_in_strings(void **state)
{
    struct arena a = { 0 };
    struct json_fault f;

    (void)state;
    for (char c = 0; c < 0x20; c++)
        for (size_t at = 1; at < 18; at++) {
            char text[] = "\"aaaaaaaaaaaaaaaaaa\"";
            text[at] = c;
            assert_false(parse(&a, text, sizeof text - 1, NULL, &f));
            assert_string_equal(f.what, "control character in a string");
            assert_int_equal(f.offset, at);
            assert_false(f.is_cut_off);
        }
    accept(T("\"\x7F\""));
    arena_release(&a);
}

static void
strings_may_hold_NUL_when_it_is_escaped(void **state)
{
    const struct json *v = doc_of("{\"a\\u0000b\":\"\\u0000\"}");

    (void)state;
    assert_int_equal(json_first(v)->key_len, 3);
    v = json_getn(v, "a\0b", 3);
    assert_non_null(v);
    assert_int_equal(v->text.len, 1);
    assert_int_equal(v->text.p[0], '\0');
    assert_false(json_eq(v, ""));
}

static void
strings_without_escapes_are_borrowed_from_the_text(void **state)
{
    static const char text[] = "[\"borrowed\"]";

    (void)state;
    assert_ptr_equal(json_first(doc_of(text))->text.p, text + 2);
}

static void
refuses_text_that_is_not_UTF8(void **state)
{
    static const struct bad bad[] = {
        { T("\"a\x80\""), 1, 3, "not UTF-8" },            /* a tail without a lead */
        { T("\"\xC0\xAF\""), 1, 2, "not UTF-8" },         /* overlong */
        { T("\"\xE0\x80\xAF\""), 1, 2, "not UTF-8" },     /* overlong */
        { T("\"\xF0\x80\x80\xAF\""), 1, 2, "not UTF-8" }, /* overlong */
        { T("\"\xED\xA0\x80\""), 1, 2, "not UTF-8" },     /* a surrogate */
        { T("\"\xF4\x90\x80\x80\""), 1, 2, "not UTF-8" }, /* beyond U+10FFFF */
        { T("\"\xFF\""), 1, 2, "not UTF-8" },
        { T("\"\xC3\""), 1, 2, "not UTF-8" }, /* too short */
        { T("\"\xE2\x98\""), 1, 2, "not UTF-8" },
        { T("\"\xF0\x9F\x9A\""), 1, 2, "not UTF-8" },
        { T("{\"\xE9\":1}"), 1, 3, "not UTF-8" }, /* Latin-1 in a key */
        { T("\"\xED\xA0"), 1, 2, "not UTF-8" },   /* torn, yet beyond repair */
        { T("\"\xE2\x98"), 1, 3, NULL },          /* torn, and it may come right */
    };

    (void)state;
    refuse_all(bad, COUNT(bad));
    accept(T("\"\xF0\x9F\x9A\x80\xED\x9F\xBF\xEF\xBF\xBF\xC2\x80\xEF\xBB\xBF\""));
}

/* ---- keys ---- */

static void
refuses_duplicate_keys(void **state)
{
    static const struct bad bad[] = {
        { T("{\"a\":1,\"a\":2}"), 1, 8, "duplicate key" },
        { T("{\"\":1,\n  \"\":2}"), 2, 3, "duplicate key" },
        { T("{\"a\":1,\"b\":2,\"b\":3,\"a\":4}"), 1, 14, "duplicate key" },
        { T("[{\"x\":{\"k\":1,\"k\":1}}]"), 1, 14, "duplicate key" },
    };

    (void)state;
    refuse_all(bad, COUNT(bad));
    accept(T("{\"a\":{\"a\":{\"a\":1}},\"b\":{\"a\":2},\"A\":3,\"aa\":4}"));
}

static void
refuses_duplicate_keys_even_when_escaped(void **state)
{
    static const struct bad bad[] = {
        { T("{\"a\":1,\"\\u0061\":2}"), 1, 8, "duplicate key" },
        { T("{\"\\u0061\":1,\"a\":2}"), 1, 13, "duplicate key" },
        { T("{\"\\/\":1, \"\\u002f\":2}"), 1, 10, "duplicate key" },
        { T("{\"\\u0000\":1,\"\\u0000\":2}"), 1, 13, "duplicate key" },
        { T("{\"\xC3\xA9\":1,\"\\u00e9\":2}"), 1, 8, "duplicate key" },
    };

    (void)state;
    refuse_all(bad, COUNT(bad));
    accept(T("{\"\\u0000\":1,\"\":2,\"\\u0000\\u0000\":3}"));
}

/* 20 members k0..k19, with `more` at the end; what is refused stands there. */
static void
many_keys(const char *more, const char *what)
{
    struct buf b = { 0 };
    struct arena a = { 0 };
    struct json_fault f;

    buf_addc(&b, '{');
    for (int i = 0; i < 20; i++)
        buf_addf(&b, "\"k%d\":%d,\n", i, i);
    size_t at = b.len;
    buf_adds(&b, more);
    bool is_good = parse(&a, b.p, b.len, NULL, &f);
    assert_int_equal(is_good, !what);
    if (what) {
        assert_string_equal(f.what, what);
        assert_int_equal(f.offset, at);
        assert_int_equal(f.line, 21);
        assert_int_equal(f.column, 1);
        assert_false(f.is_cut_off);
    }
    buf_release(&b);
    arena_release(&a);
}

static void
finds_duplicates_among_many_keys(void **state)
{
    (void)state;
    many_keys("\"k20\":0}", NULL);
    many_keys("\"k7\":0}", "duplicate key");
    many_keys("\"\\u006b7\":0}", "duplicate key");
    many_keys("\"k7\":0,\"k7\":0,\"k7\":0,\"k1\":0}", "duplicate key"); /* the first of them */
}

static void
a_torn_object_with_duplicate_keys_is_not_a_torn_line(void **state)
{
    static const struct bad bad[] = {
        { T("{\"a\":1,\"a\""), 1, 8, "duplicate key" },
        { T("{\"a\":1,\"a\":{\"b\":["), 1, 8, "duplicate key" },
        { T("[{\"x\":[{\"b\":1,\"b\":"), 1, 15, "duplicate key" },
        { T("{\"a\":1,\"a"), 1, 10, NULL }, /* it may become "ab" */
    };

    (void)state;
    refuse_all(bad, COUNT(bad));
    many_keys("\"k7\":[[[", "duplicate key");
}

static void
a_hundred_thousand_keys_do_not_take_their_square(void **state)
{
    struct buf b = { 0 };
    struct arena a = { 0 };
    struct json *doc, *again;
    struct json_fault f;

    (void)state;
    buf_addc(&b, '{');
    for (int i = 0; i < 100000; i++)
        buf_addf(&b, "%s\"%06d\":0", i ? "," : "", i * 7919 % 100000);
    buf_addc(&b, '}');
    assert_true(json_parse(&a, b.p, b.len, &doc, NULL));
    assert_int_equal(doc->kids.count, 100000);
    assert_true(json_parse(&a, b.p, b.len, &again, NULL));
    assert_true(json_same(doc, again));
    buf_cut(&b, b.len - 1);
    size_t at = b.len + 1;
    buf_adds(&b, ",\"000000\":1}");
    assert_false(json_parse(&a, b.p, b.len, &again, &f));
    assert_int_equal(f.offset, at);
    buf_release(&b);
    arena_release(&a);
}

/* ---- torn lines ---- */

static const char *const whole[] = {
    "{\"v\":1,\"id\":\"done-1775215174499753000-85510\",\"ok\":true,\"no\":false,\"nil\":null}",
    "{\"body\":\"a\\n\\\"\\\\\\u00e9\\ud83d\\ude80 \xC3\xA9 \xE2\x98\x83 \xF0\x9F\x9A\x80\"}",
    "{ \"n\" : [ -0.5e+10 , 1E5, 0, -0, 10.25 ] , \"o\" : { \"p\" : { } } }",
    "[[],[{}],\"\",[[[1,2],3],4],{\"\\u006b\":\"\"}]",
    "\"\xED\x9F\xBF\xEE\x80\x80\xF4\x8F\xBF\xBF\xF0\x90\x80\x80\xE0\xA0\x80\"",
};

static void
every_beginning_of_a_document_is_cut_off(void **state)
{
    struct arena a = { 0 };
    struct json_fault f;

    (void)state;
    for (size_t i = 0; i < COUNT(whole); i++) {
        size_t len = strlen(whole[i]);
        accept(whole[i], len);
        for (size_t n = 0; n < len; n++) {
            if (parse(&a, whole[i], n, NULL, &f) || !f.is_cut_off || f.offset != n)
                fail_msg("%.*s is a beginning", (int)n, whole[i]);
            arena_reset(&a);
        }
    }
    arena_release(&a);
}

/* One byte more than a beginning, and no way back: never a torn line. */
static void
a_beginning_followed_by_garbage_is_not_cut_off(void **state)
{
    struct arena a = { 0 };
    struct json_fault f;

    (void)state;
    for (size_t i = 0; i < COUNT(whole); i++)
        for (size_t n = 0; n < strlen(whole[i]); n++) {
            char text[256];
            memcpy(text, whole[i], n);
            text[n] = '\x01';
            assert_false(parse(&a, text, n + 1, NULL, &f));
            assert_false(f.is_cut_off);
            arena_reset(&a);
        }
    arena_release(&a);
}

static void
empty_and_white_texts_are_cut_off(void **state)
{
    static const struct bad bad[] = {
        { T(""), 1, 1, NULL },
        { T("  "), 1, 3, NULL },
        { T("\n\t\n "), 3, 2, NULL },
    };

    (void)state;
    refuse_all(bad, COUNT(bad));
}

static void
surrogate_escapes_are_torn_only_while_they_can_come_right(void **state)
{
    static const struct bad bad[] = {
        { T("\"\\"), 1, 3, NULL },
        { T("\"\\u"), 1, 4, NULL },
        { T("\"\\ud"), 1, 5, NULL },
        { T("\"\\ud8"), 1, 6, NULL },
        { T("\"\\udc"), 1, 2, "lone surrogate" },
        { T("\"\\ud83d"), 1, 8, NULL },
        { T("\"\\ud83d\\"), 1, 9, NULL },
        { T("\"\\ud83d\\u"), 1, 10, NULL },
        { T("\"\\ud83d\\ud"), 1, 11, NULL },
        { T("\"\\ud83d\\ude"), 1, 12, NULL },
        { T("\"\\ud83d\\u0"), 1, 2, "lone surrogate" },
        { T("\"\\ud83d\\ud8"), 1, 2, "lone surrogate" },
    };

    (void)state;
    refuse_all(bad, COUNT(bad));
}

/* ---- faults ---- */

static void
columns_count_characters_and_lines_count_newlines(void **state)
{
    static const struct bad bad[] = {
        { T("{\n  \"a\": 1,\n  \"b\": x\n}"), 3, 8, "expected a value" },
        { T("[\"\xC3\xA9\xE2\x98\x83\xF0\x9F\x9A\x80\", x]"), 1, 9, "expected a value" },
        { T("[\r\n1\r\n2]"), 3, 1, "expected ',' or ']'" },
    };

    (void)state;
    refuse_all(bad, COUNT(bad));
}

static void
a_fault_need_not_be_asked_for(void **state)
{
    struct arena a = { 0 };
    struct json *doc;

    (void)state;
    assert_false(json_parse(&a, "[1,", 3, &doc, NULL));
    assert_false(json_parse(&a, "{\"a\":1,\"a\":1}", 13, &doc, NULL));
    assert_false(json_parse(&a, NULL, 0, &doc, NULL));
    arena_release(&a);
}

static void
a_named_parse_says_file_line_and_column(void **state)
{
    struct arena a = { 0 };
    struct json *doc;
    struct err e;

    (void)state;
    assert_int_equal(json_parse_named(&a, "ok.json", "[1]", 3, &doc, &e), ST_OK);
    assert_int_equal(json_parse_named(&a, "team.json", "{\n \"a\" 1}", 9, &doc, &e), ST_INVALID);
    assert_string_equal(e.text, "team.json:2:6: expected ':'");
    assert_int_equal(json_parse_named(&a, "team.json", "[", 1, &doc, NULL), ST_INVALID);
    arena_release(&a);
    a.max = 16;
    assert_int_equal(json_parse_named(&a, "team.json", "[]", 2, &doc, &e), ST_IO);
    assert_string_equal(e.text, "team.json: out of memory while reading JSON");
}

/* ---- memory ---- */

/* A document of all kinds, larger than several blocks of the arena. */
static void
big_document(struct buf *b)
{
    buf_adds(b, "{\"list\":[");
    for (int i = 0; i < 300; i++)
        buf_addf(b, "%s[%d,\"\\u00e9scaped %d\",{\"k\\n\":null}]", i ? "," : "", i, i);
    buf_adds(b, "]");
    for (int i = 0; i < 100; i++)
        buf_addf(b, ",\"k%d\":{}", i);
    buf_adds(b, "}");
}

static void
running_out_of_memory_anywhere_is_said_and_harmless(void **state)
{
    struct buf b = { 0 };
    bool was_starved = false, is_good = false;

    (void)state;
    big_document(&b);
    for (size_t max = 1; !is_good; max += 997) {
        struct arena a = { .max = max };
        struct json_fault f = { 0 };
        struct json *doc;
        is_good = json_parse(&a, b.p, b.len, &doc, &f);
        if (!is_good) {
            assert_true(f.is_starved);
            assert_false(f.is_cut_off);
            was_starved = true;
        }
        arena_release(&a);
    }
    assert_true(was_starved);
    buf_release(&b);
}

/* 80 members all but fill the first block: the list to sort them by does not fit. */
static void
running_out_of_memory_while_comparing_keys_is_said_too(void **state)
{
    struct buf b = { 0 };

    (void)state;
    for (int i = 0; i < 80; i++)
        buf_addf(&b, "%s\"k%d\":0", i ? "," : "{", i);
    buf_addc(&b, '}');
    for (size_t torn = 0; torn < 2; torn++) {
        struct arena a = { .max = 4096 };
        struct json_fault f = { 0 };
        struct json *doc;
        assert_false(json_parse(&a, b.p, b.len - torn, &doc, &f));
        assert_true(f.is_starved);
        assert_false(f.is_cut_off);
        arena_release(&a);
    }
    buf_release(&b);
}

static void
building_without_memory_gives_NULL(void **state)
{
    struct arena a = { .max = 1 };

    (void)state;
    assert_null(json_new(&a, JSON_OBJECT));
    assert_null(json_new_str(&a, "x", 1));
    assert_null(json_new_int(&a, 1));
    arena_release(&a);
}

static void
an_arena_can_be_reset_between_messages(void **state)
{
    (void)state;
    for (int i = 0; i < 1000; i++) {
        const struct json *doc = doc_of("{\"body\":\"line\\nline\",\"n\":[1,2,3]}");
        assert_true(json_eq(json_get(doc, "body"), "line\nline"));
        arena_reset(&arena);
    }
}

/* ---- looking ---- */

static void
members_are_found_by_key(void **state)
{
    const struct json *doc = doc_of("{\"a\":1,\"ab\":2,\"\":3,\"c\\u0000\":4}");
    int64_t n;

    (void)state;
    assert_true(json_int(json_get(doc, "ab"), &n) && n == 2);
    assert_true(json_int(json_get(doc, ""), &n) && n == 3);
    assert_true(json_int(json_getn(doc, "c\0", 2), &n) && n == 4);
    assert_null(json_get(doc, "c"));
    assert_null(json_get(doc, "b"));
}

static void
looking_into_nothing_finds_nothing(void **state)
{
    const struct json *list = doc_of("[1]");
    int64_t n;
    double d;
    bool is;

    (void)state;
    assert_null(json_get(NULL, "a"));
    assert_null(json_get(list, "a"));
    assert_null(json_path(NULL, "a"));
    assert_null(json_first(NULL));
    assert_null(json_first(json_first(list)));
    assert_false(json_is(NULL, JSON_NULL));
    assert_false(json_eq(NULL, ""));
    assert_false(json_int(NULL, &n));
    assert_false(json_double(NULL, &d));
    assert_false(json_bool(NULL, &is));
    json_each (v, NULL)
        fail();
}

static void
each_walks_in_document_order(void **state)
{
    const struct json *doc = doc_of("{\"z\":1,\"a\":2,\"m\":3}");
    char keys[4] = "";
    size_t n = 0;

    (void)state;
    json_each (v, doc)
        keys[n++] = *v->key;
    assert_string_equal(keys, "zam");
}

static void
paths_lead_through_members_and_elements(void **state)
{
    const struct json *doc = doc_of("{\"a\":{\"b\":[10,[20,30],{\"c\":\"x\"}]},\"0\":7}");
    int64_t n;

    (void)state;
    assert_true(json_eq(json_path(doc, "a.b[2].c"), "x"));
    assert_true(json_int(json_path(doc, "a.b[0]"), &n) && n == 10);
    assert_true(json_int(json_path(doc, "a.b[1][1]"), &n) && n == 30);
    assert_true(json_int(json_path(doc, "0"), &n) && n == 7);
    assert_true(json_eq(json_path(json_path(doc, "a.b"), "[2].c"), "x"));
    assert_ptr_equal(json_path(doc, ""), doc);
}

static void
paths_that_are_bad_or_lead_nowhere_give_NULL(void **state)
{
    static const char *const bad[] = {
        "a.",     ".a",      "a..b",    "a.[0]",  "a.b[",    "a.b[]",
        "a.b[0",  "a.b[-1]", "a.b[+1]", "a.b[x]", "a.b[0]x", "a.b[0] ",
        "a.b[2]", "a.b.c",   "a[0]",    "b",      "[0]",     "a.b[99999999999999999999999999]",
        "a]",     "]",       ".",       "[",      "a b",     "a.b[0].c",
    };
    const struct json *doc = doc_of("{\"a\":{\"b\":[1,2]}}");

    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++)
        if (json_path(doc, bad[i]))
            fail_msg("%s leads somewhere", bad[i]);
}

static void
whole_numbers_are_integers_however_written(void **state)
{
    static const struct {
        const char *text;
        int64_t n;
    } good[] = {
        { "3", 3 },
        { "3.0", 3 },
        { "3e2", 300 },
        { "30e-1", 3 },
        { "-0", 0 },
        { "0e999999999999999999999", 0 },
        { "0.0e-5", 0 },
        { "1.50e1", 15 },
        { "-2.5E+1", -25 },
        { "100000e-5", 1 },
        { "1e18", 1000000000000000000 },
        { "9223372036854775807", INT64_MAX },
        { "-9223372036854775808", INT64_MIN },
        { "9223372036854775807.000", INT64_MAX },
        { "922337203685477580700e-2", INT64_MAX },
        { "-9.223372036854775808e18", INT64_MIN },
        { "0.000000000000000000000000001e27", 1 },
        { "10000000000000000000000000000000e-31", 1 },
    };
    int64_t n;

    (void)state;
    for (size_t i = 0; i < COUNT(good); i++)
        if (!json_int(doc_of(good[i].text), &n) || n != good[i].n)
            fail_msg("%s is whole", good[i].text);
}

static void
fractions_and_what_does_not_fit_are_no_integers(void **state)
{
    static const char *const bad[] = {
        "3.5",
        "1e-1",
        "0.1",
        "1e400",
        "-1e400",
        "1e19",
        "1e99999999999999999999999",
        "1e-99999999999999999999999",
        "9223372036854775808",
        "-9223372036854775809",
        "18446744073709551616",
        "99999999999999999999",
        "1000000000000000000000000000001e-0",
        "123456789012345678901234567890",
        "9223372036854775807.5",
        "\"3\"",
        "true",
        "[3]",
        "null",
        "1.00000000000000000000000000000000000001",
    };
    int64_t n = 42;

    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++)
        if (json_int(doc_of(bad[i]), &n))
            fail_msg("%s is not an integer", bad[i]);
    assert_int_equal(n, 42);
}

static void
doubles_are_the_nearest_ones(void **state)
{
    double d;

    (void)state;
    assert_true(json_double(doc_of("0.1"), &d) && d == 0.1);
    assert_true(json_double(doc_of("-2.5e3"), &d) && d == -2500.0);
    assert_true(json_double(doc_of("1e-999"), &d) && d == 0.0);
    assert_true(json_double(doc_of("-0"), &d) && d == 0.0 && signbit(d));
    assert_true(json_double(
        doc_of("0.1000000000000000000000000000000000000000000000000000000000000000000000000001"),
        &d));
    assert_true(d == 0.1);
    assert_false(json_double(doc_of("1e400"), &d));
    assert_false(json_double(doc_of("\"1\""), &d));
}

static void
booleans_are_true_or_false_and_nothing_else(void **state)
{
    bool is = false;

    (void)state;
    assert_true(json_bool(doc_of("true"), &is) && is);
    assert_true(json_bool(doc_of("false"), &is) && !is);
    assert_false(json_bool(doc_of("null"), &is));
    assert_false(json_bool(doc_of("1"), &is));
}

static void
values_are_the_same_whatever_the_order_of_keys(void **state)
{
    (void)state;
    assert_true(json_same(doc_of("{\"a\":[1,{}],\"b\":\"\\u0041\"}"),
                          doc_of(" { \"b\" : \"A\" , \"a\" : [ 1 , { } ] } ")));
    assert_false(json_same(doc_of("[1,2]"), doc_of("[2,1]")));
    assert_false(json_same(doc_of("[1]"), doc_of("[1,1]")));
    assert_false(json_same(doc_of("{\"a\":1}"), doc_of("{\"b\":1}")));
    assert_false(json_same(doc_of("{\"a\":1}"), doc_of("{\"a\":1,\"b\":1}")));
    assert_false(json_same(doc_of("1"), doc_of("1.0")));
    assert_false(json_same(doc_of("1"), doc_of("\"1\"")));
    assert_false(json_same(doc_of("true"), doc_of("false")));
    assert_true(json_same(NULL, NULL));
    assert_false(json_same(NULL, doc_of("null")));
}

static void
large_objects_are_compared_too(void **state)
{
    struct buf up = { 0 }, down = { 0 };

    (void)state;
    for (int i = 0; i < 50; i++) {
        buf_addf(&up, "%s\"k%d\":[%d]", i ? "," : "{", i, i);
        buf_addf(&down, "%s\"k%d\":[%d]", i ? "," : "{", 49 - i, 49 - i);
    }
    buf_adds(&up, "}");
    buf_adds(&down, "}");
    assert_true(json_same(doc_of(up.p), doc_of(down.p)));
    down.p[down.len - 3] = '9';
    assert_false(json_same(doc_of(up.p), doc_of(down.p)));
    buf_release(&up);
    buf_release(&down);
}

/* ---- building ---- */

static void
a_tree_can_be_built_and_written(void **state)
{
    struct json *doc = json_new(&arena, JSON_OBJECT), *list = json_new(&arena, JSON_ARRAY);

    (void)state;
    json_add(list, json_new_int(&arena, INT64_MIN));
    json_add(list, NULL);
    json_add(list, json_new(&arena, JSON_NULL));
    json_add(list, json_new(&arena, JSON_NUMBER));
    json_add(list, json_new(&arena, JSON_STRING));
    json_set(doc, "list", list);
    json_set(doc, "none", NULL);
    json_set(doc, "ok", json_new(&arena, JSON_TRUE));
    json_set(doc, "s", json_new_str(&arena, "a\"b", 3));
    json_set(doc, "e", json_new_str(&arena, NULL, 0));
    assert_int_equal(list->kids.count, 4);
    is_written(doc, "{\"list\":[-9223372036854775808,null,0,\"\"],\"ok\":true,\"s\":\"a\\\"b\","
                    "\"e\":\"\"}");
}

static void
setting_an_equal_key_replaces_in_place(void **state)
{
    struct json *doc = json_new(&arena, JSON_OBJECT);

    (void)state;
    json_set(doc, "a", json_new_int(&arena, 1));
    json_set(doc, "b", json_new_int(&arena, 2));
    json_set(doc, "c", json_new_int(&arena, 3));
    json_set(doc, "b", json_new_str(&arena, "new", 3));
    json_set(doc, "c", json_new(&arena, JSON_NULL));
    assert_int_equal(doc->kids.count, 3);
    is_written(doc, "{\"a\":1,\"b\":\"new\",\"c\":null}");
}

static void
a_parsed_object_can_be_added_to(void **state)
{
    struct json *doc;

    (void)state;
    assert_true(json_parse(&arena, "{\"\\u0061\":1}", 12, &doc, NULL));
    json_set(doc, "a", json_new_int(&arena, 2));
    json_set(doc, "b", json_new_int(&arena, 3));
    is_written(doc, "{\"a\":2,\"b\":3}");
}

static void
twins_are_found_in_built_objects(void **state)
{
    struct json *doc = json_new(&arena, JSON_OBJECT);
    const struct json *twin;
    char keys[40][16];

    (void)state;
    for (int i = 0; i < 40; i++) {
        snprintf(keys[i], sizeof keys[i], "k%d", i);
        json_set(doc, keys[i], json_new(&arena, JSON_NULL));
    }
    assert_true(json_find_duplicate(doc, &arena, &twin));
    assert_null(twin);
    memcpy(keys[35], "k12", 4); /* keys are borrowed: this renames two of them */
    memcpy(keys[1], "k3", 3);
    assert_true(json_find_duplicate(doc, &arena, &twin));
    assert_ptr_equal(twin->key, keys[3]); /* of both twins the first in the object */
    assert_true(json_find_duplicate(NULL, &arena, &twin));
    assert_null(twin);
}

/* ---- writing ---- */

static void
compact_documents_come_back_byte_for_byte(void **state)
{
    static const char *const same[] = {
        "null",
        "true",
        "false",
        "0",
        "-0",
        "\"\"",
        "[]",
        "{}",
        "{\"z\":1,\"a\":[true,false,null,{}],\"\":\"\"}",
        "\"\\\"\\\\\\b\\f\\n\\r\\t\\u0000\\u001f\\u007f/\"",
        "[\"\xC3\xA9\",\"\xE2\x98\x83\",\"\xF0\x9F\x9A\x80 and a longer text behind it\"]",
        "{\"k\\n\":{\"k\\\\\":{\"k\\\"\":[[[[\"deep\"]]]]}}}",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(same); i++)
        is_written(doc_of(same[i]), same[i]);
}

static void
numbers_are_kept_as_written(void **state)
{
    (void)state;
    is_written(doc_of("[0.1,1e400,123456789012345678901234567890,1E+05,-0.0,3.00]"),
               "[0.1,1e400,123456789012345678901234567890,1E+05,-0.0,3.00]");
}

static void
escapes_are_written_in_their_short_form(void **state)
{
    (void)state;
    is_written(doc_of("\"\\u000a\\u0022\\/\\u0041\\u00e9\\ud83d\\ude80\\u007F\x7F\""),
               "\"\\n\\\"/A\xC3\xA9\xF0\x9F\x9A\x80\\u007f\\u007f\"");
}

static void
every_byte_is_spelt_right_wherever_it_stands(void **state)
{
    (void)state;
    for (unsigned c = 0; c < 0x80; c++)
        for (size_t at = 0; at < 20; at++) {
            char raw[20];
            struct buf b = { 0 };
            struct json *v;
            memset(raw, 'x', sizeof raw);
            raw[at] = (char)c;
            json_write_str(&b, raw, sizeof raw);
            assert_true(json_parse(&arena, b.p, b.len, &v, NULL));
            assert_int_equal(v->text.len, sizeof raw);
            assert_memory_equal(v->text.p, raw, sizeof raw);
            bool is_escaped = c < 0x20 || c == '"' || c == '\\' || c == 0x7F;
            assert_int_equal(b.len > sizeof raw + 2, is_escaped);
            buf_release(&b);
            arena_reset(&arena);
        }
}

static void
bytes_that_are_not_UTF8_become_U_FFFD_each(void **state)
{
    static const char raw[] = "a\xFF"
                              "b\xE2\x98"
                              "c\xC3\xA9\xED\xA0\x80\xF0\x9F\x9A";
    struct buf b = { 0 };

    (void)state;
    json_write_str(&b, raw, sizeof raw - 1);
#define FFFD "\xEF\xBF\xBD"
    assert_string_equal(b.p,
                        "\"a" FFFD "b" FFFD FFFD "c\xC3\xA9" FFFD FFFD FFFD FFFD FFFD FFFD "\"");
    accept(b.p, b.len);
    buf_release(&b);
}

static void
pretty_text_is_indented_by_two_spaces(void **state)
{
    static const char want[] = "{\n"
                               "  \"a\": 1,\n"
                               "  \"b\": [\n"
                               "    true,\n"
                               "    {\n"
                               "      \"c\": null\n"
                               "    }\n"
                               "  ],\n"
                               "  \"d\": [],\n"
                               "  \"e\": {}\n"
                               "}";
    const struct json *doc = doc_of("{\"a\":1,\"b\":[true,{\"c\":null}],\"d\":[],\"e\":{}}");
    struct buf b = { 0 };

    (void)state;
    json_write_pretty(&b, doc, 0);
    assert_string_equal(b.p, want);
    assert_true(json_same(doc, doc_of(b.p)));
    buf_release(&b);
}

static void
pretty_text_can_start_at_a_level(void **state)
{
    struct buf b = { 0 };

    (void)state;
    json_write_pretty(&b, doc_of("[1,[]]"), 2);
    assert_string_equal(b.p, "[\n      1,\n      []\n    ]");
    buf_reset(&b);
    json_write_pretty(&b, doc_of("\"x\""), 5);
    assert_string_equal(b.p, "\"x\"");
    buf_release(&b);
}

static void
an_absent_value_is_written_as_null(void **state)
{
    (void)state;
    is_written(NULL, "null");
}

static void
lines_are_written_by_hand(void **state)
{
    struct buf b = { 0 };

    (void)state;
    json_open(&b, '{');
    json_key_str(&b, "type", "a \"b\"");
    json_key_str(&b, "absent", NULL);
    json_key_int(&b, "v", 1);
    json_key_int(&b, "min", INT64_MIN);
    json_key_int(&b, "zero", 0);
    json_key_bool(&b, "yes", true);
    json_key_bool(&b, "no", false);
    json_key_strn(&b, "nul", "\0{", 2);
    json_key_strn(&b, "empty", NULL, 0);
    json_key_json(&b, "doc", doc_of("[1,{\"a\":null}]"));
    json_key_json(&b, "absent", NULL);
    json_key(&b, "list\n");
    json_open(&b, '[');
    for (int i = 0; i < 3; i++) {
        json_sep(&b);
        json_write_str(&b, "x[", 2);
    }
    json_sep(&b);
    json_open(&b, '{');
    json_key_int(&b, "n", -7);
    json_close(&b, '}');
    json_close(&b, ']');
    json_key_int(&b, "last", INT64_MAX);
    json_close(&b, '}');
    assert_string_equal(
        b.p,
        "{\"type\":\"a \\\"b\\\"\",\"v\":1,\"min\":-9223372036854775808,\"zero\":0,\"yes\":true,"
        "\"no\":false,\"nul\":\"\\u0000{\",\"empty\":\"\",\"doc\":[1,{\"a\":null}],"
        "\"list\\n\":[\"x[\",\"x[\",\"x[\",{\"n\":-7}],\"last\":9223372036854775807}");
    accept(b.p, b.len);
    buf_release(&b);
}

static void
lines_follow_lines_in_one_buf(void **state)
{
    struct buf b = { 0 };

    (void)state;
    for (int i = 0; i < 2; i++) {
        json_open(&b, '{');
        json_key_int(&b, "n", i);
        json_close(&b, '}');
        buf_addc(&b, '\n');
    }
    assert_string_equal(b.p, "{\"n\":0}\n{\"n\":1}\n");
    buf_release(&b);
}

/* Text of `len` bytes is written under the ceiling `len` and refused under len - 1. */
static void
the_ceiling_of_a_buf_is_kept_to_the_byte(void **state)
{
    static const char text[] =
        "{\"k\\n\":[\"a\\u0001 and a longer run of plain text\",12345,true]}";
    const struct json *doc = doc_of(text);

    (void)state;
    for (size_t max = 1; max < 2 * sizeof text; max++) {
        struct buf b = BUF_MAX(max);
        json_write(&b, doc);
        assert_int_equal(buf_failed(&b), max < sizeof text - 1);
        if (!buf_failed(&b))
            assert_string_equal(b.p, text);
        json_write(&b, doc); /* once failed, nothing happens */
        json_key_int(&b, "x", 1);
        buf_release(&b);
    }
}

static void
a_string_that_grows_past_the_ceiling_is_refused(void **state)
{
    static const char ones[] = "\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1";
    struct buf b = BUF_MAX(100);

    (void)state;
    json_write_str(&b, ones, sizeof ones - 1);
    assert_true(b.is_over);
    buf_release(&b);
}

static void
writing_many_times_grows_one_buf(void **state)
{
    struct buf b = { 0 };
    const struct json *doc = doc_of("[\"\\n\\n\\n\\n\\n\\n\\u0001\\u0001\\u0001\",\"\xC3\xA9\",1]");

    (void)state;
    json_open(&b, '[');
    for (int i = 0; i < 5000; i++) {
        json_sep(&b);
        json_write(&b, doc);
    }
    json_close(&b, ']');
    accept(b.p, b.len);
    buf_release(&b);
}

static void
the_place_of_a_value_is_that_of_its_key_or_its_first_byte(void **state)
{
    static const char text[] = "{\n  \"a\": [1, \"x:\\\"y\", {\"b\" : null}, [], true],\n"
                               "  \"k\\u0041\": -2.5, \"ä\": {\"é\": \"ö\", \"z\":[[7]]}}\n";
    static const struct {
        const char *path;
        unsigned line, column;
    } want[] = {
        { "", 1, 1 },        { "a", 2, 3 },          { "a[0]", 2, 9 },  { "a[1]", 2, 12 },
        { "a[2]", 2, 21 },   { "a[2].b", 2, 22 },    { "a[3]", 2, 35 }, { "a[4]", 2, 39 },
        { "kA", 3, 3 },      { "ä", 3, 20 },         { "ä.é", 3, 26 },  { "ä.z", 3, 36 },
        { "ä.z[0]", 3, 41 }, { "ä.z[0][0]", 3, 42 },
    };
    struct arena a = { 0 };
    struct json *root;
    unsigned line, column;

    (void)state;
    assert_true(json_parse(&a, text, sizeof text - 1, &root, NULL));
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        const struct json *v = json_path(root, want[i].path);
        assert_non_null(v);
        json_place(text, sizeof text - 1, root, v, &line, &column);
        if (line != want[i].line || column != want[i].column)
            fail_msg("%s is said to stand at %u:%u", want[i].path, line, column);
    }
    arena_release(&a);
}

static void
texts_are_copied_out_in_and_as_lists(void **state)
{
    const char *const words[] = { "a", "b\"c", "" };
    struct arena a = { 0 };
    struct buf b = { 0 };
    char changing[] = "first";

    (void)state;
    struct json *v = json_new_copy(&a, changing, strlen(changing));
    changing[0] = 'x';
    assert_string_equal(json_dup_text(&a, v), "first");
    assert_null(json_dup_text(&a, json_new_int(&a, 1)));
    assert_null(json_dup_text(&a, NULL));
    struct json *o = json_new(&a, JSON_OBJECT);
    assert_true(json_set(o, "word", v));
    assert_false(json_set(o, "word", NULL));
    assert_true(json_eq(json_get(o, "word"), "first"));
    json_open(&b, '{');
    json_key_strs(&b, "words", words, 3);
    json_key_strs(&b, "none", NULL, 0);
    json_close(&b, '}');
    assert_string_equal(b.p, "{\"words\":[\"a\",\"b\\\"c\",\"\"],\"none\":[]}");
    buf_release(&b);
    arena_release(&a);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, teardown)
    const struct CMUnitTest tests[] = {
        TEST(accepts_every_kind_of_value_as_a_document),
        TEST(accepts_numbers_of_the_grammar),
        TEST(refuses_numbers_outside_the_grammar),
        TEST(refuses_misspelt_literals_at_the_wrong_letter),
        TEST(white_space_is_space_tab_and_line_ends),
        TEST(refuses_structure_outside_the_grammar),
        TEST(refuses_comments),
        TEST(refuses_anything_after_the_value),
        TEST(refuses_a_byte_order_mark),
        TEST(nesting_is_accepted_to_the_limit_and_refused_beyond),
        TEST(siblings_do_not_count_as_nesting),
        TEST(decodes_every_escape),
        TEST(decodes_escapes_wherever_they_stand),
        TEST(joins_surrogate_pairs),
        TEST(refuses_lone_surrogates),
        TEST(refuses_unknown_escapes),
        TEST(refuses_every_control_character_in_strings),
        TEST(strings_may_hold_NUL_when_it_is_escaped),
        TEST(strings_without_escapes_are_borrowed_from_the_text),
        TEST(refuses_text_that_is_not_UTF8),
        TEST(refuses_duplicate_keys),
        TEST(refuses_duplicate_keys_even_when_escaped),
        TEST(finds_duplicates_among_many_keys),
        TEST(a_torn_object_with_duplicate_keys_is_not_a_torn_line),
        TEST(a_hundred_thousand_keys_do_not_take_their_square),
        TEST(every_beginning_of_a_document_is_cut_off),
        TEST(a_beginning_followed_by_garbage_is_not_cut_off),
        TEST(empty_and_white_texts_are_cut_off),
        TEST(surrogate_escapes_are_torn_only_while_they_can_come_right),
        TEST(columns_count_characters_and_lines_count_newlines),
        TEST(a_fault_need_not_be_asked_for),
        TEST(a_named_parse_says_file_line_and_column),
        TEST(running_out_of_memory_anywhere_is_said_and_harmless),
        TEST(running_out_of_memory_while_comparing_keys_is_said_too),
        TEST(building_without_memory_gives_NULL),
        TEST(an_arena_can_be_reset_between_messages),
        TEST(members_are_found_by_key),
        TEST(looking_into_nothing_finds_nothing),
        TEST(each_walks_in_document_order),
        TEST(paths_lead_through_members_and_elements),
        TEST(paths_that_are_bad_or_lead_nowhere_give_NULL),
        TEST(whole_numbers_are_integers_however_written),
        TEST(fractions_and_what_does_not_fit_are_no_integers),
        TEST(doubles_are_the_nearest_ones),
        TEST(booleans_are_true_or_false_and_nothing_else),
        TEST(values_are_the_same_whatever_the_order_of_keys),
        TEST(large_objects_are_compared_too),
        TEST(a_tree_can_be_built_and_written),
        TEST(setting_an_equal_key_replaces_in_place),
        TEST(a_parsed_object_can_be_added_to),
        TEST(twins_are_found_in_built_objects),
        TEST(compact_documents_come_back_byte_for_byte),
        TEST(numbers_are_kept_as_written),
        TEST(escapes_are_written_in_their_short_form),
        TEST(every_byte_is_spelt_right_wherever_it_stands),
        TEST(bytes_that_are_not_UTF8_become_U_FFFD_each),
        TEST(pretty_text_is_indented_by_two_spaces),
        TEST(pretty_text_can_start_at_a_level),
        TEST(an_absent_value_is_written_as_null),
        TEST(lines_are_written_by_hand),
        TEST(lines_follow_lines_in_one_buf),
        TEST(the_ceiling_of_a_buf_is_kept_to_the_byte),
        TEST(a_string_that_grows_past_the_ceiling_is_refused),
        TEST(writing_many_times_grows_one_buf),
        TEST(the_place_of_a_value_is_that_of_its_key_or_its_first_byte),
        TEST(texts_are_copied_out_in_and_as_lists),
    };

    return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}
