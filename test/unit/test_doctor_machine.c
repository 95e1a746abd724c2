/* Tests doctor/machine: too little room, too few watches, and a wrong clock. */
#include "test.h"

#include "base/sys.h"
#include "doctor/machine.h"

#define MIB ((uint64_t)1 << 20)

static void
a_disk_is_full_before_the_last_byte(void **state)
{
    (void)state;
    assert_int_equal(machine_judge_space(0), DOCTOR_ERROR);
    assert_int_equal(machine_judge_space(64 * MIB - 1), DOCTOR_ERROR);
    assert_int_equal(machine_judge_space(64 * MIB), DOCTOR_WARNING);
    assert_int_equal(machine_judge_space(1024 * MIB), DOCTOR_OK);
}

static void
the_usual_inotify_limits_are_fine(void **state)
{
    (void)state;
    assert_int_equal(machine_judge_inotify(128, 8192), DOCTOR_OK);
    assert_int_equal(machine_judge_inotify(16, 8192), DOCTOR_WARNING);
    assert_int_equal(machine_judge_inotify(128, 100), DOCTOR_WARNING);
}

static void
a_clock_before_2024_was_never_set(void **state)
{
    (void)state;
    assert_int_equal(machine_judge_clock(0, 0), DOCTOR_ERROR);
    assert_int_equal(machine_judge_clock(1704067199999, 0), DOCTOR_ERROR);
    assert_int_equal(machine_judge_clock(1704067200000, 0), DOCTOR_OK);
}

static void
a_log_of_the_future_means_that_the_clock_was_set_back(void **state)
{
    const int64_t now = 1800000000000;

    (void)state;
    assert_int_equal(machine_judge_clock(now, now - 1), DOCTOR_OK);
    assert_int_equal(machine_judge_clock(now, now + 120000), DOCTOR_OK);
    assert_int_equal(machine_judge_clock(now, now + 120001), DOCTOR_WARNING);
}

/* ---- with a kernel of our own ---- */

static struct sys broken;

static int
no_inotify(int flags)
{
    (void)flags;
    errno = EMFILE;
    return -1;
}

static int
in_1970(clockid_t id, struct timespec *t)
{
    (void)id;
    *t = (struct timespec){ .tv_sec = 3600 };
    return 0;
}

static const struct doctor_finding *
find(const struct doctor *d, const char *name)
{
    const struct doctor_finding *f = d->first;

    while (f && strcmp(f->name, name) != 0)
        f = f->next;
    return f;
}

static void
what_is_wrong_comes_with_a_command(void **state)
{
    struct doctor d = { .project = { .dir = -1 }, .section = "Machine" };
    const struct doctor_finding *f;

    (void)state;
    d.end = &d.first;
    broken = sys_kernel;
    broken.inotify_init = no_inotify;
    broken.clock_gettime = in_1970;
    sys = &broken;
    machine_look(&d);
    sys = &sys_kernel;
    assert_non_null(f = find(&d, "inotify"));
    assert_int_equal(f->level, DOCTOR_ERROR);
    assert_non_null(f->fix);
    assert_non_null(f = find(&d, "clock"));
    assert_int_equal(f->level, DOCTOR_ERROR);
    assert_non_null(strstr(f->says, "1970-01-01"));
    assert_non_null(f->fix);
    doctor_release(&d);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_disk_is_full_before_the_last_byte),
        CASE(the_usual_inotify_limits_are_fine),
        CASE(a_clock_before_2024_was_never_set),
        CASE(a_log_of_the_future_means_that_the_clock_was_set_back),
        CASE(what_is_wrong_comes_with_a_command),
    };

    return cmocka_run_group_tests_name("doctor_machine", tests, NULL, NULL);
}
