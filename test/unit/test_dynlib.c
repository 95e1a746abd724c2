/* Tests base/dynlib: what is found, and what the sentence says of what is not. */
#include "test.h"

#include "base/dynlib.h"

static double (*cosine)(double), (*again)(double);
static char why[256];

static void
functions_of_a_library_can_be_called(void **state)
{
    static const struct dynlib_function functions[] = {
        { "cos", &cosine, NULL },
        { "cos_of_a_newer_version", &again, "cos" },
    };

    (void)state;
    assert_true(dynlib_load("libm.so.6", functions, 2, why, sizeof why));
    assert_true(cosine(0) == 1.0);
    assert_true(again(0) == 1.0);
}

static void
what_is_missing_is_named(void **state)
{
    static const struct dynlib_function functions[] = { { "no_such_function", &cosine, NULL } };

    (void)state;
    assert_false(dynlib_load("libm.so.6", functions, 1, why, sizeof why));
    assert_non_null(strstr(why, "no_such_function"));
    assert_false(dynlib_load("libnosuch.so.1", functions, 1, why, sizeof why));
    assert_non_null(strstr(why, "libnosuch.so.1"));
}

int
main(void)
{
    const struct CMUnitTest cases[] = {
        CASE(functions_of_a_library_can_be_called),
        CASE(what_is_missing_is_named),
    };

    return cmocka_run_group_tests_name("dynlib", cases, NULL, NULL);
}
