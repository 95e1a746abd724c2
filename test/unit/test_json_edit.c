/* Tests base/json_edit: what is added and removed, and that nothing else moves. */
#include "test.h"

#include "base/json_edit.h"

static struct arena arena;

static int
leave(void **state)
{
    arena_release(&arena);
    return case_leave(state);
}

#define EDIT_CASE(fact) cmocka_unit_test_setup_teardown(fact, case_enter, leave)

static const char *const at_b[] = { "s", "b", NULL };

static struct buf
text_of_file(const char *text)
{
    struct buf b = { 0 };

    buf_adds(&b, text);
    return b;
}

static void
added(const char *before, const char *after)
{
    struct buf b = text_of_file(before);
    struct err e = { "" };

    if (json_edit_add(&b, at_b, "{\"c\":[1,\"x\"],\"d\":{}}", &e))
        fail_msg("%s: %s", before, e.text);
    assert_string_equal(b.p, after);
    assert_int_equal(json_edit_remove(&b, at_b, &e), ST_OK);
    struct json *x, *y;
    struct buf old = text_of_file(before);
    assert_int_equal(json_edit_read(&arena, "f", &b, &x, &e), ST_OK);
    assert_int_equal(json_edit_read(&arena, "f", &old, &y, &e), ST_OK);
    if (json_first(json_get(y, "s")))
        assert_string_equal(b.p, before);
    else
        assert_null(json_get(x, "s"));
    buf_release(&old);
    buf_release(&b);
}

static void
a_member_takes_over_how_the_file_is_written(void **state)
{
    (void)state;
    added("", "{\n  \"s\": {\n    \"b\": {\n      \"c\": [\n        1,\n        \"x\"\n      ],\n"
              "      \"d\": {}\n    }\n  }\n}\n");
    added("{\"s\":{\"a\":1}}", "{\"s\":{\"a\":1, \"b\": {\"c\": [1, \"x\"], \"d\": {}}}}");
    added("{\n\t\"s\": {\n\t\t\"a\": 1\n\t}\n}",
          "{\n\t\"s\": {\n\t\t\"a\": 1,\n\t\t\"b\": {\n\t\t\t\"c\": [\n\t\t\t\t1,\n\t\t\t\t\"x\"\n"
          "\t\t\t],\n\t\t\t\"d\": {}\n\t\t}\n\t}\n}");
    added("{ \"s\": { \"a\": 1, /* x */ } // y\n}",
          "{ \"s\": { \"a\": 1, /* x */ \"b\": {\"c\": [1, \"x\"], \"d\": {}}, } // y\n}");
    added("{\n  \"s\": {\n    \"a\": 1 // one\n    // end\n  }\n}\n",
          "{\n  \"s\": {\n    \"a\": 1, // one\n    // end\n    \"b\": {\n      \"c\": [\n        "
          "1,\n"
          "        \"x\"\n      ],\n      \"d\": {}\n    }\n  }\n}\n");
    added("{\r\n  \"s\": {}\r\n}\r\n",
          "{\r\n  \"s\": {\r\n    \"b\": {\r\n      \"c\": [\r\n        1,\r\n        \"x\"\r\n"
          "      ],\r\n      \"d\": {}\r\n    }\r\n  }\r\n}\r\n");
}

static void
a_comma_that_is_cut_out_is_the_right_one(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        { "{\"s\": {\"b\": 1, \"a\": 2}}", "{\"s\": {\"a\": 2}}" },
        { "{\"s\": {\"a\": 2, \"b\": 1}}", "{\"s\": {\"a\": 2}}" },
        { "{\"s\": {\"a\": 2, \"b\": 1,}}", "{\"s\": {\"a\": 2,}}" },
        { "{\"s\": {\"a\": 2 /* , */, \"b\": 1 /* , */ }}",
          "{\"s\": {\"a\": 2 /* , */ /* , */ }}" },
        { "{\n  \"s\": {\n    \"a\": 2, // x\n    \"b\": 1 // y\n  }\n}",
          "{\n  \"s\": {\n    \"a\": 2 // x\n // y\n  }\n}" },
        { "{\n  \"s\": {\n    \"b\": 1\n  },\n  \"t\": 1\n}\n", "{\n  \"t\": 1\n}\n" },
        { "{\n  \"t\": \"}, // \\\" \",\n  \"s\": {\n    \"b\": [\"]\", {\"x\": \"}\"}]\n  }\n}\n",
          "{\n  \"t\": \"}, // \\\" \"\n}\n" },
        { "{\"x\": 1}", "{\"x\": 1}" },
        { "{\"s\": [1]}", "{\"s\": [1]}" },
        { "", "" },
    };
    struct err e = { "" };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf b = text_of_file(cases[i][0]);
        assert_int_equal(json_edit_remove(&b, at_b, &e), ST_OK);
        struct json *tree;
        assert_int_equal(json_edit_read(&arena, "f", &b, &tree, &e), ST_OK);
        assert_string_equal(b.p ? b.p : "", cases[i][1]);
        buf_release(&b);
    }
}

static void
lists_grow_at_their_end_and_lose_any_element(void **state)
{
    (void)state;
    static const char *const list[] = { "h", "Stop", NULL };
    static const char *const inner[] = { "h", "Stop", "#1", "in", NULL };
    struct buf b = text_of_file("{}");
    struct err e = { "" };

    assert_int_equal(json_edit_append(&b, list, "1", &e), ST_OK);
    assert_int_equal(json_edit_append(&b, list, "{\"in\":[5,6,7]}", &e), ST_OK);
    assert_int_equal(json_edit_remove_nth(&b, inner, 1, &e), ST_OK);
    assert_int_equal(json_edit_remove_nth(&b, inner, 9, &e), ST_OK);
    struct json *tree;
    assert_int_equal(json_edit_read(&arena, "f", &b, &tree, &e), ST_OK);
    struct buf flat = { 0 };
    json_write(&flat, tree);
    assert_string_equal(flat.p, "{\"h\":{\"Stop\":[1,{\"in\":[5,7]}]}}");
    buf_release(&flat);
    assert_int_equal(json_edit_remove_nth(&b, list, 0, &e), ST_OK);
    assert_int_equal(json_edit_remove_nth(&b, list, 0, &e), ST_OK);
    assert_string_equal(b.p, "{}");
    buf_release(&b);
}

static void
what_is_in_the_way_is_refused_and_the_text_stays(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        { "{\"s\": []}", "\"s\" is no object" },
        { "{\"s\": {\"b\": 1}}", "\"b\" is there already" },
        { "// only a comment\n", "no object" },
    };
    struct err e = { "" };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf b = text_of_file(cases[i][0]);
        assert_int_equal(json_edit_add(&b, at_b, "1", &e), ST_CONFLICT);
        assert_non_null(strstr(e.text, cases[i][1]));
        assert_string_equal(b.p, cases[i][0]);
        buf_release(&b);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        EDIT_CASE(a_member_takes_over_how_the_file_is_written),
        EDIT_CASE(a_comma_that_is_cut_out_is_the_right_one),
        EDIT_CASE(lists_grow_at_their_end_and_lose_any_element),
        EDIT_CASE(what_is_in_the_way_is_refused_and_the_text_stays),
    };

    return cmocka_run_group_tests_name("json_edit", tests, NULL, NULL);
}
