/* Tests base/path_glob: two patterns overlap exactly when a path exists that both cover. */
#include "test.h"

#include "base/path_glob.h"

#include <string.h>

static void
yes(const char *a, const char *b)
{
    if (!path_glob_overlap(a, b) || !path_glob_overlap(b, a))
        fail_msg("\"%s\" and \"%s\" should overlap", a, b);
}

static void
no(const char *a, const char *b)
{
    if (path_glob_overlap(a, b) || path_glob_overlap(b, a))
        fail_msg("\"%s\" and \"%s\" should not overlap", a, b);
}

static void
a_path_is_one_file(void **state)
{
    (void)state;
    yes("src/main.c", "src/main.c");
    no("src", "src/main.c");
    yes("src/**", "src/deep/er/main.c");
    no("src/main.c", "src/main.h");
    no("src", "srcs");
    no("src/a", "src/ab/c");
    no("a", "A");
}

static void
a_star_stays_in_its_segment(void **state)
{
    (void)state;
    yes("src/*.c", "src/main.c");
    no("*", "src/main.c");
    yes("*", "src");
    no("src/*.c", "src/deep/main.c");
    no("src/*", "src/deep/main.c");
    yes("src/*", "src/deep");
    no("src/*", "src");
    no("src/*.c", "test/*.c");
    yes("*.c", ".c");
    yes("*.c", "main.c");
    yes("*.c", ".hidden.c");
}

static void
two_patterns_meet_where_one_name_fits_both(void **state)
{
    (void)state;
    yes("a*", "*b");
    yes("*a*", "*b*");
    no("a*", "b*");
    no("*.c", "*.h");
    yes("a*c", "*b*");
    no("a?c", "a*bcd");
    yes("?", "*");
    no("??", "?");
    yes("x*yz", "x*y?");
    no("*aa", "*ab");
}

static void
two_stars_are_any_number_of_directories(void **state)
{
    (void)state;
    yes("**", "anything/at/all");
    yes("**/main.c", "main.c");
    yes("**/main.c", "a/b/main.c");
    no("**/main.c", "a/b/main.h");
    yes("src/**/x", "src/x");
    yes("src/**", "src");
    yes("a/**/z", "**/b/**");
    yes("a/**/b", "a/*/c/b");
    no("a/**/b", "b/**/a");
    yes("**/test/*.c", "src/**");
    no("src/**/*.c", "src/**/*.h"); /* a directory x.c may hold an x.h, but is not meant */
    no("src/a*/**", "src/b*/**");
    yes("src/**", "sr*");
    no("src/*", "src/*/*");
}

static void
sets_are_characters_and_ranges(void **state)
{
    (void)state;
    yes("[a-c].c", "b.c");
    no("[a-c].c", "d.c");
    yes("[!a-c].c", "d.c");
    no("[!a-c].c", "b.c");
    no("[!a-c]", "[a-c]");
    yes("[a-m]", "[m-z]");
    no("[a-l]", "[m-z]");
    yes("[!a]", "[!b]");
    yes("[]]", "]");
    no("[]]", "a");
    yes("[a-]", "-");
    yes("[\\]a]", "]");
    no("[!]]", "]");
    yes("[x!]", "!");
    yes("[ä-ü]", "ö");
    no("[ä-ü]", "o");
}

static void
a_character_may_have_several_bytes(void **state)
{
    (void)state;
    yes("?.c", "ä.c");
    yes("?.c", "😀.c");
    no("??.c", "ä.c");
}

static void
a_backslash_takes_the_meaning_away(void **state)
{
    struct buf b = { 0 };

    (void)state;
    yes("a\\*b", "a\\*b");
    no("a\\*b", "axb");
    no("\\[id\\]", "i");
    yes("a\\bc", "abc");
    path_glob_escape(&b, "app/[id]/a*b?\\c.ts");
    assert_string_equal(b.p, "app/\\[id]/a\\*b\\?\\\\c.ts");
    assert_int_equal(path_glob_check(b.p, NULL), ST_OK);
    yes(b.p, "app/**");
    yes(b.p, "app/?id?/a?b??c.ts");
    no(b.p, "app/i/a*");
    buf_release(&b);
}

static void
what_is_not_in_normal_form_is_refused_with_the_reason(void **state)
{
    static const struct {
        const char *pattern, *says;
    } bad[] = {
        { "", "empty" },
        { "/etc", "empty segment" },
        { "a//b", "empty segment" },
        { "a/", "empty segment" },
        { ".", ". or .." },
        { "a/../b", ". or .." },
        { "a/[b", "has no ]" },
        { "[]", "has no ]" },
        { "[!]", "has no ]" },
        { "a[b/c]", "has no ]" },
        { "a\\", "end of a segment" },
        { "a\\/b", "end of a segment" },
        { "[z-a]", "backwards" },
        { "\xff", "not UTF-8" },
        { "a\\\\\\", "end of a segment" },
    };
    char longest[PATH_GLOB_MAX + 2];
    struct err e;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(path_glob_check(bad[i].pattern, &e), ST_INVALID);
        if (!strstr(e.text, bad[i].says))
            fail_msg("\"%s\": %s", bad[i].pattern, e.text);
    }
    memset(longest, 'a', sizeof longest);
    longest[PATH_GLOB_MAX + 1] = '\0';
    assert_int_equal(path_glob_check(longest, &e), ST_INVALID);
    for (size_t i = 1; i < sizeof longest; i += 2)
        longest[i] = '/';
    longest[PATH_GLOB_MAX + 1] = '\0';
    longest[PATH_GLOB_MAX] = '\0';
    longest[PATH_GLOB_MAX - 1] = 'b';
    assert_int_equal(path_glob_check(longest, &e), ST_INVALID); /* 256 segments */
    assert_non_null(strstr(e.text, "segments"));
    static const char *const good[] = { "a",   "a/b",   "**",  "a/**/b", "...",
                                        "..a", "a\\\\", "[]]", "[!]]",   "[a-]" };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_int_equal(path_glob_check(good[i], NULL), ST_OK);
}

static void
the_worst_pattern_takes_no_time(void **state)
{
    char a[256] = "", b[256] = "";

    (void)state;
    for (int i = 0; i < 80; i++) { /* backtracking would take 2^80 steps */
        strcat(a, "*a");
        strcat(b, "*b");
    }
    no(a, b);
    strcat(a, "*");
    strcat(b, "*");
    yes(a, b);
    strcat(b, "c");
    yes(a, b);
    strcat(a, "d");
    no(a, b);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_path_is_one_file),
        cmocka_unit_test(a_star_stays_in_its_segment),
        cmocka_unit_test(two_patterns_meet_where_one_name_fits_both),
        cmocka_unit_test(two_stars_are_any_number_of_directories),
        cmocka_unit_test(sets_are_characters_and_ranges),
        cmocka_unit_test(a_character_may_have_several_bytes),
        cmocka_unit_test(a_backslash_takes_the_meaning_away),
        cmocka_unit_test(what_is_not_in_normal_form_is_refused_with_the_reason),
        cmocka_unit_test(the_worst_pattern_takes_no_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
