/* Tests base/watch: every change of the directory is reported. */
#include "fault.h"
#include "test.h"

#include "base/watch.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/timerfd.h>

static struct watch w;
static struct err e;

static int
enter(void **state)
{
    w = (struct watch){ .fd = -1 };
    return case_enter(state);
}

static int
leave(void **state)
{
    watch_close(&w);
    return case_leave(state);
}
#define WATCH_CASE(fact) cmocka_unit_test_setup_teardown(fact, enter, leave)

/* A change is reported; once it is read, all is quiet. */
#define CHECK_TOLD()                                                                               \
    do {                                                                                           \
        wait_readable(w.fd);                                                                       \
        watch_drain(&w);                                                                           \
        assert_false(is_readable(w.fd, 0));                                                        \
    } while (0)

static void
every_change_in_the_directory_is_reported(void **state)
{
    (void)state;
    make_dirs("d");
    CHECK_OK(watch_open(&w, "d", &e), &e);
    assert_false(w.is_polling);
    assert_true(w.is_aimed);
    assert_false(is_readable(w.fd, 0));
    write_file("d/f", "");
    CHECK_TOLD();
    append_file("d/f", "more");
    CHECK_TOLD();
    assert_int_equal(rename("d/f", "d/g"), 0);
    CHECK_TOLD();
    assert_int_equal(rename("d/g", "away"), 0);
    CHECK_TOLD();
    assert_int_equal(rename("away", "d/back"), 0);
    CHECK_TOLD();
    assert_int_equal(truncate("d/back", 0), 0);
    CHECK_TOLD();
    assert_int_equal(unlink("d/back"), 0);
    CHECK_TOLD();
}

static char told[256];
static int n_named;

static void
count_name(void *ctx, const char *name)
{
    (void)ctx;
    n_named += name != NULL;
}

static void
note(void *ctx, const char *name)
{
    (void)ctx;
    strcat(told, name ? name : "?");
    strcat(told, " ");
}

/* Exactly these files were named. */
#define CHECK_NAMED(names)                                                                         \
    do {                                                                                           \
        wait_readable(w.fd);                                                                       \
        told[0] = '\0';                                                                            \
        watch_drain_names(&w, note, NULL);                                                         \
        assert_string_equal(told, names);                                                          \
        assert_false(is_readable(w.fd, 0));                                                        \
    } while (0)

static void
only_writes_are_reported_by_name(void **state)
{
    (void)state;
    make_dirs("d");
    make_dirs("made/elsewhere");
    write_file("made/elsewhere/g", "");
    CHECK_OK(watch_open_writes(&w, "d", &e), &e);
    int fd = open("d/f", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_false(is_readable(w.fd, 0)); /* created */
    assert_int_equal(write(fd, "x", 1), 1);
    CHECK_NAMED("f ");
    close(fd);
    assert_false(is_readable(w.fd, 0));
    assert_int_equal(rename("made/elsewhere/g", "d/g"), 0);
    append_file("d/f", "x");
    CHECK_NAMED("g f ");
    assert_int_equal(unlink("d/f"), 0);
    assert_false(is_readable(w.fd, 0));
}

static void
a_replaced_directory_reports_that_any_file_may_have_changed(void **state)
{
    (void)state;
    make_dirs("d");
    CHECK_OK(watch_open_writes(&w, "d", &e), &e);
    assert_int_equal(rename("d", "old"), 0);
    make_dirs("d");
    CHECK_NAMED("? ");
    append_file("d/f", "x");
    CHECK_NAMED("f ");
}

static void
what_happens_beside_the_directory_is_not_told(void **state)
{
    (void)state;
    make_dirs("a/d");
    CHECK_OK(watch_open_writes(&w, "a/d", &e), &e);
    write_file("a/other", "x");
    CHECK_NAMED("");
    assert_int_equal(rename("a/other", "a/d2"), 0);
    CHECK_NAMED("");
    append_file("a/d/f", "x");
    CHECK_NAMED("f ");
}

static void
a_stopped_watch_reports_nothing_and_does_not_restart(void **state)
{
    (void)state;
    make_dirs("d");
    CHECK_OK(watch_open_file(&w, "d", "f", &e), &e);
    write_file("d/f", "x");
    watch_drain(&w);
    watch_stop(&w);
    n_named = 0;
    watch_drain_names(&w, count_name, NULL);
    append_file("d/f", "x");
    assert_int_equal(rename("d", "old"), 0);
    make_dirs("d");
    assert_false(is_readable(w.fd, 0));
    watch_drain_names(&w, count_name, NULL);
    assert_int_equal(n_named, 0);
}

/* More events than one read takes. */
static void
no_name_of_many_is_missed(void **state)
{
    enum { MANY = 300 };

    (void)state;
    make_dirs("d");
    CHECK_OK(watch_open_writes(&w, "d", &e), &e);
    for (int i = 0; i < MANY; i++) {
        char path[16];
        snprintf(path, sizeof path, "d/%d", i);
        append_file(path, "x");
    }
    n_named = 0;
    watch_drain_names(&w, count_name, NULL);
    assert_int_equal(n_named, MANY);
    assert_false(is_readable(w.fd, 0));
}

static void
the_working_directory_can_be_watched(void **state)
{
    (void)state;
    CHECK_OK(watch_open(&w, ".", &e), &e);
    write_file("f", "");
    CHECK_TOLD();
    append_file("f", "x");
    CHECK_TOLD();
}

static void
draining_when_nothing_happened_does_not_block(void **state)
{
    (void)state;
    make_dirs("d");
    CHECK_OK(watch_open(&w, "d", &e), &e);
    watch_drain(&w);
    watch_drain(&w);
}

static void
a_directory_created_later_is_reported(void **state)
{
    (void)state;
    CHECK_OK(watch_open(&w, "d", &e), &e);
    assert_false(w.is_aimed);
    make_dirs("d");
    CHECK_TOLD();
    assert_true(w.is_aimed);
    write_file("d/f", "");
    CHECK_TOLD();
}

static void
several_missing_levels_may_be_created_one_by_one(void **state)
{
    (void)state;
    CHECK_OK(watch_open(&w, "a/b/c/d", &e), &e);
    make_dirs("a");
    CHECK_TOLD();
    make_dirs("a/b");
    CHECK_TOLD();
    make_dirs("a/b/c");
    CHECK_TOLD();
    make_dirs("a/b/c/d");
    CHECK_TOLD();
    assert_true(w.is_aimed);
    append_file("a/b/c/d/f", "x");
    CHECK_TOLD();
}

static void
several_missing_levels_may_be_created_all_at_once(void **state)
{
    (void)state;
    CHECK_OK(watch_open(&w, "a/b/c/d", &e), &e);
    make_dirs("a/b/c/d");
    CHECK_TOLD();
    assert_true(w.is_aimed);
    append_file("a/b/c/d/f", "x");
    CHECK_TOLD();
}

static void
an_absolute_path_may_be_missing_too(void **state)
{
    char cwd[PATH_MAX / 2], path[PATH_MAX];

    (void)state;
    assert_non_null(getcwd(cwd, sizeof cwd));
    snprintf(path, sizeof path, "%s/a/b/", cwd);
    CHECK_OK(watch_open(&w, path, &e), &e);
    make_dirs("a/b");
    CHECK_TOLD();
    append_file("a/b/f", "x");
    CHECK_TOLD();
}

static void
a_directory_moved_into_place_is_reported(void **state)
{
    (void)state;
    make_dirs("elsewhere/b");
    CHECK_OK(watch_open(&w, "a/b", &e), &e);
    assert_int_equal(rename("elsewhere", "a"), 0);
    CHECK_TOLD();
    append_file("a/b/f", "x");
    CHECK_TOLD();
}

static void
a_file_in_place_of_the_directory_does_no_harm(void **state)
{
    (void)state;
    write_file("a", "");
    CHECK_OK(watch_open(&w, "a/b", &e), &e);
    assert_int_equal(unlink("a"), 0);
    make_dirs("a/b");
    CHECK_TOLD();
    append_file("a/b/f", "x");
    CHECK_TOLD();
}

static void
a_file_with_the_directorys_name_does_no_harm(void **state)
{
    (void)state;
    write_file("d", "");
    CHECK_OK(watch_open(&w, "d", &e), &e);
    assert_false(w.is_polling);
    assert_int_equal(unlink("d"), 0);
    make_dirs("d");
    CHECK_TOLD();
    append_file("d/f", "x");
    CHECK_TOLD();
}

static void
a_directory_removed_and_made_again_is_reported(void **state)
{
    (void)state;
    make_dirs("d");
    CHECK_OK(watch_open(&w, "d", &e), &e);
    remove_tree("d");
    CHECK_TOLD();
    make_dirs("d");
    CHECK_TOLD();
    append_file("d/f", "x");
    CHECK_TOLD();
}

static void
a_directory_removed_and_made_again_between_two_reads_is_reported(void **state)
{
    (void)state;
    make_dirs("d");
    CHECK_OK(watch_open(&w, "d", &e), &e);
    remove_tree("d");
    make_dirs("d");
    CHECK_TOLD();
    append_file("d/f", "x");
    CHECK_TOLD();
}

/* The kernel reports the removal of a directory only when no process holds it open. A follower
 * does hold it, and must still learn of the new one. */
static void
a_directory_held_open_removed_and_made_again_is_reported(void **state)
{
    (void)state;
    make_dirs("d");
    write_file("d/f", "");
    int fd = open("d/f", O_RDONLY | O_CLOEXEC), dir = open("d", O_RDONLY | O_CLOEXEC);
    CHECK_OK(watch_open(&w, "d", &e), &e);
    assert_int_equal(unlink("d/f"), 0);
    CHECK_TOLD(); /* the directory still exists here */
    remove_tree("d");
    make_dirs("d");
    CHECK_TOLD();
    append_file("d/f", "x");
    CHECK_TOLD();
    close(fd);
    close(dir);
}

static void
a_tree_held_open_removed_and_made_again_is_reported(void **state)
{
    (void)state;
    make_dirs("a/b/d");
    write_file("a/b/d/f", "");
    int fd = open("a/b/d/f", O_RDONLY | O_CLOEXEC);
    CHECK_OK(watch_open(&w, "a/b/d", &e), &e);
    assert_int_equal(unlink("a/b/d/f"), 0);
    CHECK_TOLD();
    assert_int_equal(rmdir("a/b/d"), 0);
    CHECK_TOLD();
    assert_int_equal(rmdir("a/b"), 0);
    CHECK_TOLD();
    assert_int_equal(rmdir("a"), 0);
    CHECK_TOLD();
    make_dirs("a/b/d");
    CHECK_TOLD();
    append_file("a/b/d/f", "x");
    CHECK_TOLD();
    close(fd);
}

static void
a_directory_renamed_away_is_replaced_by_a_new_one(void **state)
{
    (void)state;
    make_dirs("d");
    CHECK_OK(watch_open(&w, "d", &e), &e);
    assert_int_equal(rename("d", "old"), 0);
    make_dirs("d");
    CHECK_TOLD();
    append_file("d/f", "x");
    CHECK_TOLD();
}

static void
a_parent_renamed_away_and_made_again_is_reported(void **state)
{
    (void)state;
    make_dirs("a/d");
    CHECK_OK(watch_open(&w, "a/d", &e), &e);
    assert_int_equal(rename("a", "old"), 0);
    CHECK_TOLD();
    make_dirs("a/d");
    CHECK_TOLD();
    append_file("a/d/f", "x");
    CHECK_TOLD();
}

static void
overflow(const char *dir)
{
    char a[64], b[64];
    FILE *f = fopen("/proc/sys/fs/inotify/max_queued_events", "re");
    int n = 0;

    assert_non_null(f);
    assert_int_equal(fscanf(f, "%d", &n), 1);
    fclose(f);
    snprintf(a, sizeof a, "%s/a", dir);
    snprintf(b, sizeof b, "%s/b", dir);
    write_file(a, "");
    for (int i = 0; i < n / 2 + 10; i++) /* each is two events that never merge */
        assert_int_equal(i % 2 ? rename(b, a) : rename(a, b), 0);
}

static void
the_watch_continues_after_a_queue_overflow(void **state)
{
    (void)state;
    make_dirs("d");
    CHECK_OK(watch_open(&w, "d", &e), &e);
    overflow("d");
    CHECK_TOLD();
    append_file("d/f", "x");
    CHECK_TOLD();
}

static void
changes_lost_in_an_overflow_are_found(void **state)
{
    (void)state;
    make_dirs("d");
    CHECK_OK(watch_open(&w, "d", &e), &e);
    overflow("d");
    remove_tree("d"); /* the event that the overflow lost */
    make_dirs("d");
    CHECK_TOLD();
    append_file("d/f", "x");
    CHECK_TOLD();
}

/* A timer that is set; the test makes it expire now instead of waiting. */
static void
check_polling(void)
{
    struct itimerspec every, soon = { .it_value = { .tv_nsec = 1 } };

    assert_true(w.is_polling);
    assert_int_equal(timerfd_gettime(w.fd, &every), 0);
    assert_int_equal(every.it_interval.tv_sec * 1000, WATCH_POLL_MS);
    assert_true(every.it_value.tv_sec * 1000 <= WATCH_POLL_MS);
    soon.it_interval = every.it_interval;
    assert_int_equal(timerfd_settime(w.fd, 0, &soon, NULL), 0);
    CHECK_TOLD();
    assert_true(w.is_polling);
}

static void
without_inotify_instances_a_timer_reports_changes(void **state)
{
    (void)state;
    make_dirs("d");
    fault_always("inotify_init", EMFILE);
    CHECK_OK(watch_open(&w, "d", &e), &e);
    check_polling();
    fault_off(NULL);
}

static void
without_inotify_watches_a_timer_reports_changes(void **state)
{
    (void)state;
    make_dirs("d");
    fault_always("inotify_add", ENOSPC);
    CHECK_OK(watch_open(&w, "d", &e), &e);
    check_polling();
    fault_off(NULL);
}

static void
a_watch_that_loses_inotify_later_continues_by_timer(void **state)
{
    (void)state;
    CHECK_OK(watch_open(&w, "d", &e), &e);
    assert_false(w.is_polling);
    make_dirs("d");
    fault_always("inotify_add", ENOSPC);
    wait_readable(w.fd);
    watch_drain(&w);
    check_polling();
    fault_off(NULL);
}

static void
descriptors_are_close_on_exec_and_do_not_block(void **state)
{
    (void)state;
    CHECK_OK(watch_open(&w, ".", &e), &e);
    assert_int_equal(fcntl(w.fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    assert_int_equal(fcntl(w.fd, F_GETFL) & O_NONBLOCK, O_NONBLOCK);
    watch_close(&w);
    fault_always("inotify_init", EMFILE);
    CHECK_OK(watch_open(&w, ".", &e), &e);
    assert_int_equal(fcntl(w.fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    assert_int_equal(fcntl(w.fd, F_GETFL) & O_NONBLOCK, O_NONBLOCK);
    fault_off(NULL);
}

static void
a_path_that_is_too_long_is_refused(void **state)
{
    char path[PATH_MAX + 1];

    (void)state;
    memset(path, 'x', sizeof path);
    path[PATH_MAX] = '\0';
    CHECK_FAILS_WITH(watch_open(&w, path, &e), ST_INVALID, &e, "path too long");
}

static void
closing_twice_is_safe(void **state)
{
    (void)state;
    CHECK_OK(watch_open(&w, ".", &e), &e);
    watch_close(&w);
    watch_close(&w);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        WATCH_CASE(every_change_in_the_directory_is_reported),
        WATCH_CASE(only_writes_are_reported_by_name),
        WATCH_CASE(a_replaced_directory_reports_that_any_file_may_have_changed),
        WATCH_CASE(what_happens_beside_the_directory_is_not_told),
        WATCH_CASE(no_name_of_many_is_missed),
        WATCH_CASE(a_stopped_watch_reports_nothing_and_does_not_restart),
        WATCH_CASE(the_working_directory_can_be_watched),
        WATCH_CASE(draining_when_nothing_happened_does_not_block),
        WATCH_CASE(a_directory_created_later_is_reported),
        WATCH_CASE(several_missing_levels_may_be_created_one_by_one),
        WATCH_CASE(several_missing_levels_may_be_created_all_at_once),
        WATCH_CASE(an_absolute_path_may_be_missing_too),
        WATCH_CASE(a_directory_moved_into_place_is_reported),
        WATCH_CASE(a_file_in_place_of_the_directory_does_no_harm),
        WATCH_CASE(a_file_with_the_directorys_name_does_no_harm),
        WATCH_CASE(a_directory_removed_and_made_again_is_reported),
        WATCH_CASE(a_directory_removed_and_made_again_between_two_reads_is_reported),
        WATCH_CASE(a_directory_held_open_removed_and_made_again_is_reported),
        WATCH_CASE(a_tree_held_open_removed_and_made_again_is_reported),
        WATCH_CASE(a_directory_renamed_away_is_replaced_by_a_new_one),
        WATCH_CASE(a_parent_renamed_away_and_made_again_is_reported),
        WATCH_CASE(the_watch_continues_after_a_queue_overflow),
        WATCH_CASE(changes_lost_in_an_overflow_are_found),
        WATCH_CASE(without_inotify_instances_a_timer_reports_changes),
        WATCH_CASE(without_inotify_watches_a_timer_reports_changes),
        WATCH_CASE(a_watch_that_loses_inotify_later_continues_by_timer),
        WATCH_CASE(descriptors_are_close_on_exec_and_do_not_block),
        WATCH_CASE(a_path_that_is_too_long_is_refused),
        WATCH_CASE(closing_twice_is_safe),
    };

    return cmocka_run_group_tests_name("watch", tests, NULL, NULL);
}
