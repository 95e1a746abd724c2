/* Tests agents/shell: a command ends, is stopped, or never starts. */
#include "test.h"

#include "agents/shell.h"
#include "proc/proc.h"

#include <signal.h>

static struct err e;

static void
the_exit_is_reported_at_once_although_a_background_process_remains(void **state)
{
    (void)state;
    struct shell_result r;
    CHECK_OK(shell_run("echo hi; sleep 5 & exit 3", &(struct shell_options){ 0 }, &r, &e), &e);
    assert_int_equal(r.exit_code, 3);
    assert_string_equal(r.output.p, "hi\n");
    assert_true(r.duration_ms < 4000);
    shell_result_release(&r);
}

static void
a_command_that_takes_too_long_is_stopped(void **state)
{
    (void)state;
    struct shell_result r;
    CHECK_OK(shell_run("sleep 60", &(struct shell_options){ .limit_ms = 50 }, &r, &e), &e);
    assert_true(r.is_timeout);
    assert_int_equal(r.exit_code, 124);
    shell_result_release(&r);
}

/* It ignores SIGTERM, in a session of its own, and its parent is gone. */
static void
what_a_command_that_takes_too_long_left_is_stopped_too(void **state)
{
    (void)state;
    struct shell_result r;
    struct proc_id id;
    CHECK_OK(shell_run("(setsid sh -c 'trap \"\" TERM; echo $$ >far.part; mv far.part far; "
                       "while :; do sleep 1000; done' &); "
                       "while [ ! -e far ]; do sleep 0.01; done; sleep 1000",
                       &(struct shell_options){ .limit_ms = 2000 }, &r, &e),
             &e);
    assert_true(r.is_timeout);
    shell_result_release(&r);
    char *far = read_file("far", NULL);
    assert_true(proc_identify(atoi(far), &id, NULL) == ST_NOT_FOUND ||
                proc_alive(&id) == PROC_DEAD);
    free(far);
}

static void
what_an_earlier_command_left_runs_on(void **state)
{
    (void)state;
    struct shell_result r;
    CHECK_OK(shell_run("sleep 1000 & echo $! >left", &(struct shell_options){ 0 }, &r, &e), &e);
    shell_result_release(&r);
    CHECK_OK(shell_run("sleep 1000", &(struct shell_options){ .limit_ms = 50 }, &r, &e), &e);
    assert_true(r.is_timeout);
    shell_result_release(&r);
    char *left = read_file("left", NULL);
    assert_int_equal(kill(atoi(left), SIGKILL), 0);
    free(left);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(the_exit_is_reported_at_once_although_a_background_process_remains),
        CASE(a_command_that_takes_too_long_is_stopped),
        CASE(what_a_command_that_takes_too_long_left_is_stopped_too),
        CASE(what_an_earlier_command_left_runs_on),
    };

    return cmocka_run_group_tests_name("shell", tests, NULL, NULL);
}
