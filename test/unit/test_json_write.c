/* Tests base/json_write: trees that are built, written and read back. */
#include "jsons.h"

#include <stdio.h>
#include <string.h>

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
duplicate_keys_are_found_in_built_objects(void **state)
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
    assert_ptr_equal(twin->key, keys[3]); /* of the two, the first in the object */
    assert_true(json_find_duplicate(NULL, &arena, &twin));
    assert_null(twin);
}

/* ---- writing ---- */

static void
compact_documents_are_written_back_byte_for_byte(void **state)
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
every_byte_is_escaped_correctly_at_any_position(void **state)
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
    accept_one(b.p, b.len);
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
lines_are_written_member_by_member(void **state)
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
    accept_one(b.p, b.len);
    buf_release(&b);
}

static void
several_lines_fit_in_one_buf(void **state)
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

/* A text of `len` bytes is written under the limit `len` and refused under len - 1. */
static void
the_limit_of_a_buf_is_exact_to_the_byte(void **state)
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
        json_write(&b, doc); /* after a failure writes do nothing */
        json_key_int(&b, "x", 1);
        buf_release(&b);
    }
}

static void
a_string_that_grows_over_the_limit_is_refused(void **state)
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
    accept_one(b.p, b.len);
    buf_release(&b);
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
    const struct CMUnitTest tests[] = {
        JSON_CASE(a_tree_can_be_built_and_written),
        JSON_CASE(setting_an_equal_key_replaces_in_place),
        JSON_CASE(a_parsed_object_can_be_added_to),
        JSON_CASE(duplicate_keys_are_found_in_built_objects),
        JSON_CASE(compact_documents_are_written_back_byte_for_byte),
        JSON_CASE(numbers_are_kept_as_written),
        JSON_CASE(escapes_are_written_in_their_short_form),
        JSON_CASE(every_byte_is_escaped_correctly_at_any_position),
        JSON_CASE(bytes_that_are_not_UTF8_become_U_FFFD_each),
        JSON_CASE(pretty_text_is_indented_by_two_spaces),
        JSON_CASE(pretty_text_can_start_at_a_level),
        JSON_CASE(an_absent_value_is_written_as_null),
        JSON_CASE(lines_are_written_member_by_member),
        JSON_CASE(several_lines_fit_in_one_buf),
        JSON_CASE(the_limit_of_a_buf_is_exact_to_the_byte),
        JSON_CASE(a_string_that_grows_over_the_limit_is_refused),
        JSON_CASE(writing_many_times_grows_one_buf),
        JSON_CASE(texts_are_copied_out_in_and_as_lists),
    };

    return cmocka_run_group_tests_name("json write", tests, NULL, NULL);
}
