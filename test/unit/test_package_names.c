/* Tests team/package_names: names that a package may have, and pairs of them that clash. */
#include "team/package_names.h"
#include "test.h"

static void
plain_relative_names_are_fine(void **state)
{
    static const char *const good[] = { "team.yml", "roles/a b.md", "agents/x/.bin/tsc",
                                        "..a/b..",  "a/...",        "@s/n" };

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (package_names_fault(good[i]))
            fail_msg("%s %s", good[i], package_names_fault(good[i]));
}

static void
names_that_lead_out_or_hide_are_refused(void **state)
{
    static const char *const bad[] = { "",     "/a",        "..",    "../a",     "a/../b",
                                       "a/..", "./a",       "a//b",  "a/",       "a\\b",
                                       "a\nb", "a\033[2Jb", "a\x7f", "\xc3\xa9", "a/./b" };
    char deep[200] = "a", longer[300];

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (!package_names_fault(bad[i]))
            fail_msg("accepted: \"%s\"", bad[i]);
    for (int i = 1; i < PACKAGE_DEPTH_MAX; i++)
        strcat(deep, "/a");
    assert_null(package_names_fault(deep));
    assert_non_null(package_names_fault(strcat(deep, "/a")));
    memset(longer, 'x', sizeof longer);
    longer[PACKAGE_NAME_MAX] = '\0';
    assert_null(package_names_fault(longer));
    longer[PACKAGE_NAME_MAX] = 'x';
    longer[PACKAGE_NAME_MAX + 1] = '\0';
    assert_non_null(package_names_fault(longer));
}

static bool
clash(const char *a, const char *b, const char *c)
{
    const char *paths[] = { a, b, c };

    return package_names_clash(paths, 3) != NULL;
}

static void
names_that_differ_in_case_alone_clash(void **state)
{
    (void)state;
    assert_false(clash("a", "b", "c"));
    assert_false(clash("a/x", "a/y", "a!"));
    assert_false(clash("roles/a.md", "roles/b.md", "rolesx"));
    assert_true(clash("a", "b", "a"));
    assert_true(clash("a", "b", "A"));
    assert_true(clash("Roles/a.md", "m", "roles/b.md"));
    assert_true(clash("x/Y/z", "x/y", "m"));
    assert_true(clash("A", "a/x", "a!"));
    assert_null(package_names_clash(NULL, 0));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_relative_names_are_fine),
        cmocka_unit_test(names_that_lead_out_or_hide_are_refused),
        cmocka_unit_test(names_that_differ_in_case_alone_clash),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
