/*
 * What base/json says of a text that is none: torn or wrong, at which place, and that memory ran
 * out.
 */
#include "jsons.h"

#include <string.h>

/* ---- torn lines ---- */

static const char *const whole[] = {
    "{\"v\":1,\"id\":\"done-1775215174499753000-85510\",\"ok\":true,\"no\":false,\"nil\":null}",
    "{\"body\":\"a\\n\\\"\\\\\\u00e9\\ud83d\\ude80 \xC3\xA9 \xE2\x98\x83 \xF0\x9F\x9A\x80\"}",
    "{ \"n\" : [ -0.5e+10 , 1E5, 0, -0, 10.25 ] , \"o\" : { \"p\" : { } } }",
    "[[],[{}],\"\",[[[1,2],3],4],{\"\\u006b\":\"\"}]",
    "\"\xED\x9F\xBF\xEE\x80\x80\xF4\x8F\xBF\xBF\xF0\x90\x80\x80\xE0\xA0\x80\"",
};

static void
every_prefix_of_a_document_is_torn(void **state)
{
    struct arena a = { 0 };
    struct json_fault f;

    (void)state;
    for (size_t i = 0; i < COUNT(whole); i++) {
        size_t len = strlen(whole[i]);
        accept_one(whole[i], len);
        for (size_t n = 0; n < len; n++) {
            if (parse(&a, whole[i], n, NULL, &f) || !f.is_cut_off || f.offset != n)
                fail_msg("%.*s is a beginning", (int)n, whole[i]);
            arena_reset(&a);
        }
    }
    arena_release(&a);
}

/* A prefix and one byte that cannot follow: never a torn line. */
static void
a_prefix_followed_by_garbage_is_not_torn(void **state)
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
empty_and_blank_texts_are_torn(void **state)
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
surrogate_escapes_are_torn_only_while_they_can_be_completed(void **state)
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

/* ---- error positions ---- */

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
the_error_argument_may_be_NULL(void **state)
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
running_out_of_memory_anywhere_is_reported_and_harmless(void **state)
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

/* 80 members nearly fill the first block: the list that sorts them does not fit. */
static void
running_out_of_memory_while_comparing_keys_is_reported(void **state)
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

/* ---- positions of values ---- */

static void
the_position_of_a_value_is_that_of_its_key_or_its_first_byte(void **state)
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

int
main(void)
{
    const struct CMUnitTest tests[] = {
        JSON_CASE(every_prefix_of_a_document_is_torn),
        JSON_CASE(a_prefix_followed_by_garbage_is_not_torn),
        JSON_CASE(empty_and_blank_texts_are_torn),
        JSON_CASE(surrogate_escapes_are_torn_only_while_they_can_be_completed),
        JSON_CASE(columns_count_characters_and_lines_count_newlines),
        JSON_CASE(the_error_argument_may_be_NULL),
        JSON_CASE(a_named_parse_says_file_line_and_column),
        JSON_CASE(running_out_of_memory_anywhere_is_reported_and_harmless),
        JSON_CASE(running_out_of_memory_while_comparing_keys_is_reported),
        JSON_CASE(building_without_memory_gives_NULL),
        JSON_CASE(an_arena_can_be_reset_between_messages),
        JSON_CASE(the_position_of_a_value_is_that_of_its_key_or_its_first_byte),
    };

    return cmocka_run_group_tests_name("json faults", tests, NULL, NULL);
}
