/* Tests team/version: versions, their order, ranges of them, and the next one. */
#include "team/version.h"
#include "test.h"

static struct version
version(const char *s)
{
    struct version v;

    if (!version_parse(s, &v))
        fail_msg("no version: %s", s);
    return v;
}

static void
versions_are_three_numbers_and_more(void **state)
{
    static const char *const bad[] = { "",       "1",     "1.2",    "1.2.3.4", "01.2.3",
                                       "v1.2.3", "1.2.x", "1.2.3-", "-1.2.3",  "1234567890.0.0" };
    struct version v;

    (void)state;
    assert_true(version_parse("1.2.3-rc.1+b5", &v) && v.is_pre && v.n[2] == 3);
    assert_true(version_parse("10.20.30", &v) && !v.is_pre);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (version_parse(bad[i], &v))
            fail_msg("a version: %s", bad[i]);
}

static void
in(const char *range, const char *versions_in, const char *versions_out)
{
    for (int want = 0; want < 2; want++) {
        char one[32];
        int n;
        for (const char *s = want ? versions_in : versions_out; sscanf(s, "%31s%n", one, &n) == 1;
             s += n) {
            struct version v = version(one);
            struct err e;
            bool is_in;
            if (version_in_range(&v, range, &is_in, &e))
                fail_msg("%s", e.text);
            if (is_in != want)
                fail_msg("%s is %sin %s", one, want ? "not " : "", range);
        }
    }
}

static void
a_range_holds_what_it_says(void **state)
{
    (void)state;
    in(">=0.1 <2", "0.1.0 0.1.0-rc 1.9.9", "0.0.9 2.0.0");
    in(">= 0.1, < 2", "0.1.0 1.0.0", "2.0.0");
    in("^0.1.0", "0.1.0 0.1.7", "0.0.9 0.2.0 1.0.0");
    in("^1.2.3", "1.2.3 1.9.0", "1.2.2 2.0.0");
    in("^0.0.3", "0.0.3", "0.0.4");
    in("^0.0", "0.0.9", "0.1.0");
    in("^0", "0.9.0", "1.0.0");
    in("~1.2", "1.2.0 1.2.9", "1.3.0 1.1.9");
    in("~1.2.3", "1.2.3 1.2.9", "1.2.2 1.3.0");
    in("~1", "1.9.0", "2.0.0");
    in("1.x", "1.0.0 1.9.9", "0.9.0 2.0.0");
    in("1.2.*", "1.2.5", "1.3.0");
    in("1", "1.0.0 1.9.9", "2.0.0");
    in("=1.2.3", "1.2.3", "1.2.4");
    in("v1.2.3", "1.2.3", "1.2.4");
    in("*", "0.0.0 9.9.9", "");
    in("", "0.0.0 9.9.9", "");
    in(">1", "2.0.0", "1.0.0 1.9.9");
    in(">1.2.3", "1.2.4", "1.2.3");
    in("<=1.2", "1.2.9 0.1.0", "1.3.0");
    in("1.2 - 1.4", "1.2.0 1.4.9", "1.1.9 1.5.0");
    in("1.x || >=3", "1.5.0 3.0.0", "2.0.0");
}

static void
what_is_no_range_is_refused(void **state)
{
    static const char *const bad[] = { "new", "1.2.3.4",  ">=", "1.x.3", ">>1",
                                       "1 -", "1.2.3 -x", "!1", "1|2",   "12345678901" };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct version v = version("1.0.0");
        struct err e;
        bool is_in;
        if (version_in_range(&v, bad[i], &is_in, &e) != ST_INVALID)
            fail_msg("a range: %s", bad[i]);
    }
}

static void
bumps(const char *from, enum version_part part, const char *to)
{
    struct version v = version(from), want = version(to), got = version_bump(&v, part);

    if (version_compare(&got, &want) || got.is_pre)
        fail_msg("%s becomes %u.%u.%u", from, got.n[0], got.n[1], got.n[2]);
}

static void
the_next_version_begins_the_smaller_numbers_anew(void **state)
{
    (void)state;
    bumps("1.2.3", VERSION_PATCH, "1.2.4");
    bumps("1.2.3", VERSION_MINOR, "1.3.0");
    bumps("1.2.3", VERSION_MAJOR, "2.0.0");
    bumps("1.2.3+b", VERSION_PATCH, "1.2.4");
    bumps("1.2.3-rc.1", VERSION_PATCH, "1.2.3");
    bumps("1.2.3-rc.1", VERSION_MINOR, "1.3.0");
    bumps("2.0.0-rc.1", VERSION_MAJOR, "2.0.0");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions_are_three_numbers_and_more),
        cmocka_unit_test(a_range_holds_what_it_says),
        cmocka_unit_test(what_is_no_range_is_refused),
        cmocka_unit_test(the_next_version_begins_the_smaller_numbers_anew),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
