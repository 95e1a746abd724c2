/* Tests net/query: pairs are decoded, or the error says why not. */
#include "test.h"

#include "net/query.h"

static struct arena arena;
static struct query q;
static struct err e;

static int
leave(void **state)
{
    arena_release(&arena);
    return case_leave(state);
}
#define QUERY_CASE(fact) cmocka_unit_test_setup_teardown(fact, case_enter, leave)

static enum status
parse(const char *text)
{
    return query_parse(&q, &arena, text, strlen(text), &e);
}

/* "a=1 b=2" of the pairs. */
static void
check_pairs(const char *text, const char *want)
{
    struct buf got = { 0 };

    buf_adds(&got, "");
    CHECK_OK(parse(text), &e);
    for (size_t i = 0; i < q.n; i++) {
        assert_int_equal(strlen(q.pairs[i].name), q.pairs[i].name_len);
        assert_int_equal(strlen(q.pairs[i].value), q.pairs[i].value_len);
        buf_addf(&got, "%s<%s>=<%s>", i ? " " : "", q.pairs[i].name, q.pairs[i].value);
    }
    assert_string_equal(got.p, want);
    buf_release(&got);
}

static void
pairs_are_decoded_and_kept_in_order(void **state)
{
    (void)state;
    check_pairs("", "");
    check_pairs("a=1", "<a>=<1>");
    check_pairs("a=1&b=2&a=3", "<a>=<1> <b>=<2> <a>=<3>");
    check_pairs("a", "<a>=<>");
    check_pairs("a=", "<a>=<>");
    check_pairs("a=b=c", "<a>=<b=c>");
    check_pairs("&&a=1&&=x&", "<a>=<1>");
    check_pairs("x=a+b%20c%2Bd", "<x>=<a b c+d>");
    check_pairs("%61%3D=%26%3d", "<a=>=<&=>");
    check_pairs("x=%C3%A4\xC3\xA4", "<x>=<\xC3\xA4\xC3\xA4>");
    check_pairs("type=build:*&tags=a,b", "<type>=<build:*> <tags>=<a,b>");
    CHECK_OK(query_parse(&q, &arena, NULL, 0, &e), &e);
    assert_int_equal(q.n, 0);
}

static void
an_error_names_the_parameter(void **state)
{
    (void)state;
    CHECK_FAILS(parse("a=1&limit=%2"), ST_INVALID, &e,
                "the query parameter limit has a % that is not followed by two hexadecimal digits");
    CHECK_FAILS(parse("x=%"), ST_INVALID, &e,
                "the query parameter x has a % that is not followed by two hexadecimal digits");
    CHECK_FAILS_WITH(parse("x=%zz&y=1"), ST_INVALID, &e, "parameter x has");
    CHECK_FAILS_WITH(parse("x=%4&y=1"), ST_INVALID, &e, "parameter x has");
    CHECK_FAILS(parse("x=a%00b"), ST_INVALID, &e, "the query parameter x holds a NUL byte");
    CHECK_FAILS(parse("x=%ff"), ST_INVALID, &e, "the query parameter x is not UTF-8");
    CHECK_FAILS(parse("x=%C3&y=%A4"), ST_INVALID, &e, "the query parameter x is not UTF-8");
    CHECK_FAILS(parse("%C3=1"), ST_INVALID, &e, "the name of the query parameter %C3 is not UTF-8");
    CHECK_FAILS(parse("a%0ab=%ff"), ST_INVALID, &e, "the query parameter a?b is not UTF-8");
}

static void
a_long_name_is_truncated_in_the_message(void **state)
{
    struct buf text = { 0 };

    (void)state;
    for (int i = 0; i < 2000; i++)
        buf_addc(&text, 'n');
    buf_adds(&text, "=%00");
    CHECK_FAILS_WITH(parse(text.p), ST_INVALID, &e, "nnn... holds a NUL byte");
    assert_true(strlen(e.text) < 200);
    buf_release(&text);
}

static void
the_number_of_pairs_is_limited(void **state)
{
    struct buf text = { 0 };

    (void)state;
    for (int i = 0; i < QUERY_PAIRS; i++)
        buf_adds(&text, "&&a=1");
    CHECK_OK(parse(text.p), &e);
    assert_int_equal(q.n, QUERY_PAIRS);
    buf_adds(&text, "&b");
    CHECK_FAILS(parse(text.p), ST_INVALID, &e, "more than 100 query parameters");
    buf_release(&text);
}

static void
a_value_is_found_by_name(void **state)
{
    const char *value;

    (void)state;
    CHECK_OK(parse("a=1&b=2&b=3"), &e);
    CHECK_OK(query_one(&q, "a", &value, &e), &e);
    assert_string_equal(value, "1");
    CHECK_OK(query_one(&q, "c", &value, &e), &e);
    assert_null(value);
    CHECK_FAILS(query_one(&q, "b", &value, &e), ST_INVALID, &e,
                "the query parameter b is given more than once");
    assert_string_equal(query_get(&q, "b"), "2");
    assert_int_equal(query_count(&q, "b"), 2);
}

static void
whole_numbers_have_a_range(void **state)
{
    static const char *const bad[] = { "n=0",
                                       "n=101",
                                       "n=-1",
                                       "n=+5",
                                       "n=5.0",
                                       "n=0x5",
                                       "n=",
                                       "n",
                                       "n=5a",
                                       "n=%205",
                                       "n=99999999999999999999",
                                       "n=18446744073709551621" };
    uint64_t n;

    (void)state;
    CHECK_OK(parse("n=100"), &e);
    CHECK_OK(query_unsigned(&q, "n", 1, 100, 20, &n, &e), &e);
    assert_int_equal(n, 100);
    CHECK_OK(query_unsigned(&q, "m", 1, 100, 20, &n, &e), &e);
    assert_int_equal(n, 20);
    CHECK_OK(parse("n=18446744073709551615"), &e);
    CHECK_OK(query_unsigned(&q, "n", 0, UINT64_MAX, 0, &n, &e), &e);
    assert_true(n == UINT64_MAX);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_OK(parse(bad[i]), &e);
        CHECK_FAILS(query_unsigned(&q, "n", 1, 100, 20, &n, &e), ST_INVALID, &e,
                    "the query parameter n must be a whole number from 1 to 100");
        assert_int_equal(n, 20);
    }
    CHECK_OK(parse("n=1&n=2"), &e);
    CHECK_FAILS_WITH(query_unsigned(&q, "n", 1, 100, 20, &n, &e), ST_INVALID, &e, "more than once");
}

static void
a_path_keeps_its_plus(void **state)
{
    const char *text;

    (void)state;
    CHECK_OK(url_decode(&arena, "a+b%2Fc%C3%A4", 13, "the path", &text, &e), &e);
    assert_string_equal(text, "a+b/c\xC3\xA4");
    CHECK_FAILS(url_decode(&arena, "%", 1, "the path", &text, &e), ST_INVALID, &e,
                "the path has a % that is not followed by two hexadecimal digits");
    CHECK_FAILS(url_decode(&arena, "%00", 3, "the path", &text, &e), ST_INVALID, &e,
                "the path holds a NUL byte");
    CHECK_FAILS(url_decode(&arena, "\xFF", 1, "the path", &text, &e), ST_INVALID, &e,
                "the path is not UTF-8");
    CHECK_OK(url_decode(&arena, "", 0, "the path", &text, &e), &e);
    assert_string_equal(text, "");
}

static void
running_out_of_memory_is_reported(void **state)
{
    struct arena small = { .max = 16 };
    const char *text;

    (void)state;
    assert_int_equal(query_parse(&q, &small, "a=1&b=2", 7, &e), ST_IO);
    assert_int_equal(
        url_decode(&small, "0123456789012345678901234567890123456789", 40, "it", &text, &e), ST_IO);
    arena_release(&small);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        QUERY_CASE(pairs_are_decoded_and_kept_in_order),
        QUERY_CASE(an_error_names_the_parameter),
        QUERY_CASE(a_long_name_is_truncated_in_the_message),
        QUERY_CASE(the_number_of_pairs_is_limited),
        QUERY_CASE(a_value_is_found_by_name),
        QUERY_CASE(whole_numbers_have_a_range),
        QUERY_CASE(a_path_keeps_its_plus),
        QUERY_CASE(running_out_of_memory_is_reported),
    };
    return cmocka_run_group_tests_name("query", tests, NULL, NULL);
}
