/* Tests base/json_get: members, paths, numbers, equality; and base/json_foreign. */
#include "jsons.h"

#include <math.h>

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
lookups_in_NULL_give_NULL(void **state)
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
json_each_visits_members_in_document_order(void **state)
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
bad_paths_and_missing_values_give_NULL(void **state)
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
whole_numbers_are_integers_in_every_notation(void **state)
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
fractions_and_numbers_out_of_range_are_no_integers(void **state)
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
values_are_equal_whatever_the_order_of_keys(void **state)
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

/* JavaScript cuts an emoji in half; the text around it, and what only looks like an escape, stays.
 */
static void
half_a_surrogate_pair_of_another_program_becomes_a_replacement(void **state)
{
    static const struct {
        const char *text, *want;
    } table[] = {
        { "\"ab\\ud83d\"", "ab\xEF\xBF\xBD" },
        { "\"\\ude80!\"", "\xEF\xBF\xBD!" },
        { "\"\\ud83d\\ud83d\\ude80\"", "\xEF\xBF\xBD\xF0\x9F\x9A\x80" },
        { "\"\\\\ud83d \\ud83d\"", "\\ud83d \xEF\xBF\xBD" },
        { "\"\\ud83d\\n\"", "\xEF\xBF\xBD\n" },
        { "\"\\ud83d\\\"\"", "\xEF\xBF\xBD\"" },
    };
    struct arena a = { 0 };
    struct json *doc;
    struct json_fault fault;

    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const char *text = table[i].text;
        assert_false(json_parse(&a, text, strlen(text), &doc, NULL));
        assert_true(json_parse_foreign(&a, text, strlen(text), &doc, &fault));
        assert_true(json_eq(doc, table[i].want));
    }
    assert_false(json_parse_foreign(&a, "[\"\\ud83d\",]", 11, &doc, &fault));
    assert_int_equal(fault.offset, 10);
    assert_false(json_parse_foreign(&a, "[\"\\ud83d", 8, &doc, &fault));
    assert_true(fault.is_cut_off);
    arena_release(&a);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        JSON_CASE(members_are_found_by_key),
        JSON_CASE(lookups_in_NULL_give_NULL),
        JSON_CASE(json_each_visits_members_in_document_order),
        JSON_CASE(paths_lead_through_members_and_elements),
        JSON_CASE(bad_paths_and_missing_values_give_NULL),
        JSON_CASE(whole_numbers_are_integers_in_every_notation),
        JSON_CASE(fractions_and_numbers_out_of_range_are_no_integers),
        JSON_CASE(doubles_are_the_nearest_ones),
        JSON_CASE(booleans_are_true_or_false_and_nothing_else),
        JSON_CASE(values_are_equal_whatever_the_order_of_keys),
        JSON_CASE(large_objects_are_compared_too),
        JSON_CASE(half_a_surrogate_pair_of_another_program_becomes_a_replacement),
    };

    return cmocka_run_group_tests_name("json read", tests, NULL, NULL);
}
