/* Tests team/runner: the program that it finds on PATH is the one that would be started. */
#include "test.h"

#include "team/runner.h"

#include <stdlib.h>
#include <sys/stat.h>

static void
a_directory_of_that_name_is_no_program(void **state)
{
    (void)state;
    struct runner r;
    struct err e;
    assert_int_equal(mkdir("bin", 0700), 0);
    assert_int_equal(mkdir("bin/python3", 0700), 0);
    setenv("PATH", "bin", 1);
    assert_false(runner_has("python3"));
    assert_false(runner_has("bin/python3"));
    assert_int_equal(runner_find("agent.py", &r, &e), ST_NOT_FOUND);
}

static void
an_empty_element_is_the_working_directory(void **state)
{
    (void)state;
    write_file("tool", "");
    assert_int_equal(chmod("tool", 0700), 0);
    setenv("PATH", "/nowhere", 1);
    assert_false(runner_has("tool"));
    setenv("PATH", "/nowhere:", 1);
    assert_true(runner_has("tool"));
    setenv("PATH", ":/nowhere", 1);
    assert_true(runner_has("tool"));
    assert_true(runner_has("./tool"));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_directory_of_that_name_is_no_program),
        CASE(an_empty_element_is_the_working_directory),
    };

    return cmocka_run_group_tests_name("runner", tests, NULL, NULL);
}
