/* Tests agents/shell: a command ends, is stopped, or never starts. */
#include "test.h"

#include "agents/shell.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

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

/* From now on pidfd_open fails in this process. */
static bool
forbid_pidfd(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pidfd_open, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENFILE),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { sizeof code / sizeof *code, code };

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static void
without_a_pidfd_the_command_is_an_error_and_no_timeout(void **state)
{
    (void)state;
    pid_t pid = fork();
    if (pid == 0) {
        struct shell_result r;
        if (!forbid_pidfd())
            _exit(0); /* not here */
        enum status s = shell_run("sleep 60", &(struct shell_options){ .limit_ms = 50 }, &r, &e);
        _exit(s != ST_IO || r.is_timeout);
    }
    assert_int_equal(wait_child(pid), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(the_exit_is_reported_at_once_although_a_background_process_remains),
        CASE(a_command_that_takes_too_long_is_stopped),
        CASE(without_a_pidfd_the_command_is_an_error_and_no_timeout),
    };

    return cmocka_run_group_tests_name("shell", tests, NULL, NULL);
}
