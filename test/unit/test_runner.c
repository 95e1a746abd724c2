/* Tests team/runner: the program that it finds on PATH is the one that would be started. */
#include "test.h"

#include "proc/proc.h"
#include "team/runner.h"

#include <stdlib.h>
#include <string.h>
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

/* It takes 5 s, and is asked no further. What it started is stopped with it. */
static void
a_node_that_does_not_answer_is_not_said_to_refuse_and_leaves_no_process(void **state)
{
    (void)state;
    struct runner r;
    struct proc_id id;
    struct err e;
    assert_int_equal(mkdir("bin", 0700), 0);
    write_file("bin/node", "#!/bin/sh\nPATH=/usr/bin:/bin\n"
                           "setsid sh -c 'trap \"\" TERM; echo $$ >far.part; mv far.part far; "
                           "while :; do sleep 1000; done' &\nsleep 1000\n");
    assert_int_equal(chmod("bin/node", 0700), 0);
    setenv("PATH", "bin", 1);
    CHECK_OK(runner_find("agent.ts", &r, &e), &e);
    char *far = read_file("far", NULL);
    assert_true(proc_identify(atoi(far), &id, NULL) == ST_NOT_FOUND ||
                proc_alive(&id) == PROC_DEAD);
    free(far);
}

static void
make_program(const char *path, const char *text)
{
    write_file(path, text);
    assert_int_equal(chmod(path, 0700), 0);
}

/* A node that refuses the flag is an old one. The answer is cached, so this is one process of its
 * own. */
static void
typescript_runs_with_node_else_with_tsx(void **state)
{
    (void)state;
    struct runner r;
    struct err e;
    assert_int_equal(mkdir("bin", 0700), 0);
    setenv("PATH", "bin", 1);
    assert_int_equal(runner_find("agent.ts", &r, &e), ST_NOT_FOUND);
    assert_non_null(strstr(
        e.text, "needs node 22.6 or newer, or tsx (npm install -g tsx): neither is on PATH"));
    make_program("bin/tsx", "#!/bin/sh\n");
    CHECK_OK(runner_find("agent.ts", &r, &e), &e);
    assert_string_equal(r.program, "tsx");
    assert_null(r.flag);
    make_program("bin/node", "#!/bin/sh\n");
    CHECK_OK(runner_find("agent.ts", &r, &e), &e);
    assert_string_equal(r.program, "node");
    assert_string_equal(r.flag, "--experimental-strip-types");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_directory_of_that_name_is_no_program),
        CASE(an_empty_element_is_the_working_directory),
        CASE(a_node_that_does_not_answer_is_not_said_to_refuse_and_leaves_no_process),
        CASE(typescript_runs_with_node_else_with_tsx), /* last: the answer is cached */
    };

    return cmocka_run_group_tests_name("runner", tests, NULL, NULL);
}
