/*
 * Which texts base/json takes for JSON (RFC 8259, and our own refusals), and where the others go
 * wrong.
 *
 * Texts stand in tables; each table is one fact and one test.
 */
#include "jsons.h"

#include <stdio.h>
#include <string.h>

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
    accept_one(text, 2 * n);
    memset(text, '[', n + 1);
    memset(text + n + 1, ']', n + 1);
    assert_false(parse(&a, text, 2 * n + 2, NULL, &f));
    assert_string_equal(f.what, "nested too deep");
    assert_int_equal(f.offset, n);
    assert_false(f.is_cut_off);
    /* Too deep even as a torn line; with one bracket less it is torn. */
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
    accept_one(b.p, b.len);
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
decodes_escapes_at_any_position(void **state)
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
    accept_one(T("\"\x7F\""));
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
        { T("\"\xED\xA0"), 1, 2, "not UTF-8" },   /* torn, and invalid already */
        { T("\"\xE2\x98"), 1, 3, NULL },          /* torn, and can be completed */
    };

    (void)state;
    refuse_all(bad, COUNT(bad));
    accept_one(T("\"\xF0\x9F\x9A\x80\xED\x9F\xBF\xEF\xBF\xBF\xC2\x80\xEF\xBB\xBF\""));
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
    accept_one(T("{\"a\":{\"a\":{\"a\":1}},\"b\":{\"a\":2},\"A\":3,\"aa\":4}"));
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
    accept_one(T("{\"\\u0000\":1,\"\":2,\"\\u0000\\u0000\":3}"));
}

/* 20 members k0..k19, then `more`, which holds the error. */
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
        { T("{\"a\":1,\"a"), 1, 10, NULL }, /* the key may become "ab" */
    };

    (void)state;
    refuse_all(bad, COUNT(bad));
    many_keys("\"k7\":[[[", "duplicate key");
}

static void
a_hundred_thousand_keys_do_not_take_quadratic_time(void **state)
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

int
main(void)
{
    const struct CMUnitTest tests[] = {
        JSON_CASE(accepts_every_kind_of_value_as_a_document),
        JSON_CASE(accepts_numbers_of_the_grammar),
        JSON_CASE(refuses_numbers_outside_the_grammar),
        JSON_CASE(refuses_misspelt_literals_at_the_wrong_letter),
        JSON_CASE(white_space_is_space_tab_and_line_ends),
        JSON_CASE(refuses_structure_outside_the_grammar),
        JSON_CASE(refuses_comments),
        JSON_CASE(refuses_anything_after_the_value),
        JSON_CASE(refuses_a_byte_order_mark),
        JSON_CASE(nesting_is_accepted_to_the_limit_and_refused_beyond),
        JSON_CASE(siblings_do_not_count_as_nesting),
        JSON_CASE(decodes_every_escape),
        JSON_CASE(decodes_escapes_at_any_position),
        JSON_CASE(joins_surrogate_pairs),
        JSON_CASE(refuses_lone_surrogates),
        JSON_CASE(refuses_unknown_escapes),
        JSON_CASE(refuses_every_control_character_in_strings),
        JSON_CASE(strings_may_hold_NUL_when_it_is_escaped),
        JSON_CASE(strings_without_escapes_are_borrowed_from_the_text),
        JSON_CASE(refuses_text_that_is_not_UTF8),
        JSON_CASE(refuses_duplicate_keys),
        JSON_CASE(refuses_duplicate_keys_even_when_escaped),
        JSON_CASE(finds_duplicates_among_many_keys),
        JSON_CASE(a_torn_object_with_duplicate_keys_is_not_a_torn_line),
        JSON_CASE(a_hundred_thousand_keys_do_not_take_quadratic_time),
    };

    return cmocka_run_group_tests_name("json parse", tests, NULL, NULL);
}
