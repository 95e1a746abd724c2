/* Tests log/tail: every record comes once and in order, whatever happens to the file. */
#define _GNU_SOURCE
#include "fault.h"
#include "logs.h"

#include "log/segment.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/timerfd.h>

static struct log_tail t;
static struct err e;

static int
enter(void **state)
{
    t = (struct log_tail){ .dir = -1, .fd = -1, .watch.fd = -1 };
    return case_enter(state);
}

static int
leave(void **state)
{
    log_tail_close(&t);
    return case_leave(state);
}
#define TAIL_CASE(fact) cmocka_unit_test_setup_teardown(fact, enter, leave)

static void
follow(const char *dir, enum log_from from)
{
    CHECK_OK(log_tail_open(&t, dir, NAME, false, from, &e), &e);
}

static void
follow_numbers(void)
{
    CHECK_OK(log_tail_open(&t, ".", NAME, true, LOG_FROM_START, &e), &e);
}

/* Waits for the next record, which must be this one. */
static void
check_next(const char *text, int line)
{
    struct log_record rec;

    while (!log_tail_next(&t, &rec)) {
        CHECK_OK(log_tail_status(&t, &e), &e);
        if (!is_readable(log_tail_fd(&t), 5000))
            fail_msg("line %d: %s did not come", line, text);
    }
    if (rec.len < strlen(text) || memcmp(rec.text, text, strlen(text)) != 0)
        fail_msg("line %d: %.*s came instead of %s", line, (int)rec.len, rec.text, text);
}
#define NEXT(text) check_next(text, __LINE__)

/* No record comes and, once all events are read, nothing wakes the tail. */
static void
check_nothing(int line)
{
    struct log_record rec;
    int hints = 0;

    do {
        if (log_tail_next(&t, &rec))
            fail_msg("line %d: %.*s came", line, (int)rec.len, rec.text);
        CHECK_OK(log_tail_status(&t, &e), &e);
        if (hints++ > 3)
            fail_msg("line %d: woken again and again", line);
    } while (is_readable(log_tail_fd(&t), 0));
}
#define NOTHING() check_nothing(__LINE__)

/* ---- beginning ---- */

static void
from_the_start_all_lines_come_then_the_new_ones(void **state)
{
    (void)state;
    write_file(NAME, "{\"a\":1}\n{\"b\":1}\n");
    follow(".", LOG_FROM_START);
    NEXT("{\"a\":1}");
    NEXT("{\"b\":1}");
    NOTHING();
    append_file(NAME, "{\"c\":1}\n");
    NEXT("{\"c\":1}");
    NOTHING();
}

static void
from_the_end_only_new_lines_come(void **state)
{
    (void)state;
    write_file(NAME, "{\"a\":1}\n\nbad\n{\"b\":1}\n\n");
    follow(".", LOG_FROM_END);
    NOTHING();
    append_file(NAME, "{\"c\":1}\n");
    NEXT("{\"c\":1}");
    NOTHING();
}

static void
from_the_end_a_line_that_is_being_written_counts_as_new(void **state)
{
    (void)state;
    write_file(NAME, "{\"a\":1}\n{\"b\"");
    follow(".", LOG_FROM_END);
    NOTHING();
    append_file(NAME, ":1}\n");
    NEXT("{\"b\":1}");
    NOTHING();
}

static void
from_the_end_of_an_empty_file_all_lines_come(void **state)
{
    (void)state;
    write_file(NAME, "");
    follow(".", LOG_FROM_END);
    append_file(NAME, "{\"a\":1}\n");
    NEXT("{\"a\":1}");
}

static void
a_file_created_later_is_read_from_its_start(void **state)
{
    (void)state;
    follow(".", LOG_FROM_END);
    NOTHING();
    write_file(NAME, "{\"a\":1}\n");
    NEXT("{\"a\":1}");
    append_file(NAME, "{\"b\":1}\n");
    NEXT("{\"b\":1}");
    NOTHING();
}

static void
a_directory_created_later_is_watched(void **state)
{
    (void)state;
    follow("room", LOG_FROM_START);
    NOTHING();
    make_dirs("room");
    NOTHING();
    write_file("room/" NAME, "{\"a\":1}\n");
    NEXT("{\"a\":1}");
    append_file("room/" NAME, "{\"b\":1}\n");
    NEXT("{\"b\":1}");
    NOTHING();
}

static void
several_missing_directories_may_be_created_with_the_file(void **state)
{
    (void)state;
    follow("a/b/room", LOG_FROM_END);
    NOTHING();
    make_dirs("a/b/room");
    write_file("a/b/room/" NAME, "{\"a\":1}\n");
    NEXT("{\"a\":1}");
    NOTHING();
}

static void
only_whole_lines_come(void **state)
{
    (void)state;
    follow(".", LOG_FROM_START);
    write_file(NAME, "{\"a\"");
    NOTHING();
    append_file(NAME, ":1}");
    NOTHING();
    append_file(NAME, "\n{");
    NEXT("{\"a\":1}");
    NOTHING();
}

static void
bad_lines_are_counted_over_files(void **state)
{
    (void)state;
    write_file(NAME, "bad\n{\"a\":1}\n");
    follow(".", LOG_FROM_START);
    NEXT("{\"a\":1}");
    assert_int_equal(t.reader.bad, 1);
    write_file("new", "bad\nbad\n{\"b\":1}\n");
    assert_int_equal(rename("new", NAME), 0);
    NEXT("{\"b\":1}");
    assert_int_equal(t.reader.bad, 3);
}

/* ---- files that change ---- */

static void
a_truncated_file_is_read_from_its_start_again(void **state)
{
    (void)state;
    write_file(NAME, "{\"a\":1}\n{\"b\":1}\n");
    follow(".", LOG_FROM_START);
    NEXT("{\"a\":1}");
    NEXT("{\"b\":1}");
    assert_int_equal(truncate(NAME, 0), 0);
    NOTHING();
    append_file(NAME, "{\"c\":1}\n");
    NEXT("{\"c\":1}");
    NOTHING();
}

static void
a_file_truncated_and_rewritten_between_two_reads_is_read_again(void **state)
{
    (void)state;
    write_file(NAME, "{\"a\":1}\n{\"b\":1}\n");
    follow(".", LOG_FROM_START);
    NEXT("{\"a\":1}");
    NEXT("{\"b\":1}");
    write_file(NAME, "{\"c\":1}\n"); /* truncates */
    NEXT("{\"c\":1}");
    NOTHING();
}

static void
a_replaced_file_is_read_to_its_end_first(void **state)
{
    (void)state;
    write_file(NAME, "{\"a\":1}\n");
    follow(".", LOG_FROM_START);
    NEXT("{\"a\":1}");
    append_file(NAME, "{\"b\":1}\n{\"c\":1}\n");
    write_file("new", "{\"d\":1}\n");
    assert_int_equal(rename("new", NAME), 0);
    NEXT("{\"b\":1}");
    NEXT("{\"c\":1}");
    NEXT("{\"d\":1}");
    append_file(NAME, "{\"e\":1}\n");
    NEXT("{\"e\":1}");
    NOTHING();
}

static void
a_file_written_just_before_its_replacement_is_read_to_its_end(void **state)
{
    (void)state;
    write_file(NAME, "{\"a\":1}\n");
    follow(".", LOG_FROM_START);
    NEXT("{\"a\":1}");
    int fd = open(NAME, O_WRONLY | O_APPEND | O_CLOEXEC);
    for (int i = 0; i < 3; i++) { /* moved away and back: two events */
        assert_int_equal(rename(NAME, "old"), 0);
        write_file(NAME, "");
        assert_int_equal(rename("old", NAME), 0);
        NOTHING();
    }
    assert_int_equal(write(fd, "{\"b\":1}\n", 8), 8);
    write_file("new", "{\"c\":1}\n");
    assert_int_equal(rename("new", NAME), 0);
    close(fd);
    NEXT("{\"b\":1}");
    NEXT("{\"c\":1}");
    NOTHING();
}

static void
a_file_renamed_away_is_followed_by_the_next_with_its_name(void **state)
{
    (void)state;
    write_file(NAME, "{\"a\":1}\n");
    follow(".", LOG_FROM_START);
    NEXT("{\"a\":1}");
    assert_int_equal(rename(NAME, "old"), 0);
    NOTHING();
    append_file("old", "{\"late\":1}\n"); /* its writer has not noticed */
    NEXT("{\"late\":1}");
    write_file(NAME, "{\"b\":1}\n");
    NEXT("{\"b\":1}");
    NOTHING();
}

static void
a_removed_file_is_followed_by_the_next_with_its_name(void **state)
{
    (void)state;
    write_file(NAME, "{\"a\":1}\n");
    follow(".", LOG_FROM_START);
    NEXT("{\"a\":1}");
    assert_int_equal(unlink(NAME), 0);
    NOTHING();
    write_file(NAME, "{\"b\":1}\n");
    NEXT("{\"b\":1}");
    NOTHING();
}

static void
a_link_in_place_of_the_file_is_not_followed(void **state)
{
    (void)state;
    write_file("secret", "{\"secret\":1}\n");
    assert_int_equal(symlink("secret", NAME), 0);
    follow(".", LOG_FROM_START);
    NOTHING();
    assert_int_equal(unlink(NAME), 0);
    write_file(NAME, "{\"a\":1}\n");
    NEXT("{\"a\":1}");
    NOTHING();
}

/* ---- directories that change ---- */

static void
a_room_removed_and_made_again_is_followed(void **state)
{
    (void)state;
    make_dirs("room");
    write_file("room/" NAME, "{\"a\":1}\n");
    follow("room", LOG_FROM_START);
    NEXT("{\"a\":1}");
    remove_tree("room");
    NOTHING();
    make_dirs("room");
    write_file("room/" NAME, "{\"b\":1}\n");
    NEXT("{\"b\":1}");
    NOTHING();
}

static void
a_room_removed_step_by_step_during_a_read_is_followed(void **state)
{
    (void)state;
    make_dirs("rooms/room");
    write_file("rooms/room/" NAME, "{\"a\":1}\n");
    follow("rooms/room", LOG_FROM_START);
    NEXT("{\"a\":1}");
    assert_int_equal(unlink("rooms/room/" NAME), 0);
    NOTHING();
    assert_int_equal(rmdir("rooms/room"), 0);
    NOTHING();
    assert_int_equal(rmdir("rooms"), 0);
    NOTHING();
    make_dirs("rooms");
    NOTHING();
    make_dirs("rooms/room");
    NOTHING();
    write_file("rooms/room/" NAME, "{\"b\":1}\n");
    NEXT("{\"b\":1}");
    NOTHING();
}

static void
an_empty_room_removed_and_made_again_is_followed(void **state)
{
    (void)state;
    make_dirs("room");
    follow("room", LOG_FROM_START); /* the file never existed */
    NOTHING();
    remove_tree("room");
    NOTHING();
    make_dirs("room");
    NOTHING();
    write_file("room/" NAME, "{\"a\":1}\n");
    NEXT("{\"a\":1}");
    NOTHING();
}

static void
a_room_renamed_away_is_replaced_by_a_new_one(void **state)
{
    (void)state;
    make_dirs("room");
    write_file("room/" NAME, "{\"a\":1}\n");
    follow("room", LOG_FROM_START);
    NEXT("{\"a\":1}");
    assert_int_equal(rename("room", "archived"), 0);
    make_dirs("room");
    write_file("room/" NAME, "{\"b\":1}\n");
    NEXT("{\"b\":1}");
    NOTHING();
}

/* ---- rotation ---- */

static void
rotate(void)
{
    struct log l = open_log(&sequenced);

    CHECK_OK(log_lock(&l, &e), &e);
    CHECK_OK(segment_rotate(&l, &e), &e);
    log_close(&l);
}

static void
a_rotated_log_is_followed_across(void **state)
{
    (void)state;
    append_once(&sequenced, "{\"a\":1}");
    follow_numbers();
    NEXT("{\"a\":1,\"seq\":1");
    rotate();
    NEXT("{\"op\":\"rotate\"");
    NOTHING();
    append_once(&sequenced, "{\"b\":1}");
    NEXT("{\"b\":1,\"seq\":3");
    NOTHING();
}

static void
several_rotations_between_two_reads_lose_nothing(void **state)
{
    (void)state;
    append_once(&sequenced, "{\"a\":1}");
    follow_numbers();
    NEXT("{\"a\":1,\"seq\":1");
    append_once(&sequenced, "{\"b\":1}");
    rotate();
    append_once(&sequenced, "{\"c\":1}");
    rotate();
    append_file(NAME, "{\"foreign\":1}\n");
    append_once(&sequenced, "{\"d\":1}");
    rotate();
    append_once(&sequenced, "{\"e\":1}");
    NEXT("{\"b\":1,\"seq\":2");
    NEXT("{\"op\":\"rotate\"");
    NEXT("{\"c\":1,\"seq\":4");
    NEXT("{\"op\":\"rotate\"");
    NEXT("{\"foreign\":1}");
    NEXT("{\"d\":1,\"seq\":7");
    NEXT("{\"op\":\"rotate\"");
    NEXT("{\"e\":1,\"seq\":9");
    NOTHING();
}

static void
the_start_of_a_rotated_log_is_its_first_segment(void **state)
{
    (void)state;
    append_once(&sequenced, "{\"a\":1}");
    rotate();
    append_once(&sequenced, "{\"b\":1}");
    rotate();
    append_once(&sequenced, "{\"c\":1}");
    follow_numbers();
    NEXT("{\"a\":1,\"seq\":1");
    NEXT("{\"op\":\"rotate\"");
    NEXT("{\"b\":1,\"seq\":3");
    NEXT("{\"op\":\"rotate\"");
    NEXT("{\"c\":1,\"seq\":5");
    NOTHING();
}

static void
a_log_created_and_rotated_between_two_reads_loses_nothing(void **state)
{
    (void)state;
    follow_numbers();
    NOTHING();
    append_once(&sequenced, "{\"a\":1}");
    rotate();
    NEXT("{\"a\":1,\"seq\":1");
    NEXT("{\"op\":\"rotate\"");
    NOTHING();
    append_once(&sequenced, "{\"b\":1}");
    NEXT("{\"b\":1,\"seq\":3");
    NOTHING();
}

static void
a_rotation_that_left_no_current_file_hides_nothing(void **state)
{
    (void)state;
    append_once(&sequenced, "{\"a\":1}");
    follow_numbers();
    NEXT("{\"a\":1,\"seq\":1");
    rotate();
    append_once(&sequenced, "{\"b\":1}");
    rotate();
    NEXT("{\"op\":\"rotate\"");
    NEXT("{\"b\":1,\"seq\":3");
    NEXT("{\"op\":\"rotate\"");
    NOTHING();
    append_once(&sequenced, "{\"c\":1}");
    NEXT("{\"c\":1,\"seq\":5");
    NOTHING();
}

static void
from_the_end_of_a_rotated_log_only_new_lines_come(void **state)
{
    (void)state;
    append_once(&sequenced, "{\"a\":1}");
    rotate(); /* the current file is empty now */
    CHECK_OK(log_tail_open(&t, ".", NAME, true, LOG_FROM_END, &e), &e);
    NOTHING();
    append_once(&sequenced, "{\"b\":1}");
    NEXT("{\"b\":1,\"seq\":3");
    rotate();
    append_once(&sequenced, "{\"c\":1}");
    NEXT("{\"op\":\"rotate\"");
    NEXT("{\"c\":1,\"seq\":5");
    NOTHING();
}

static void
carried_strays_come_once(void **state)
{
    static const struct log_options huge = { .lock_wait_ms = 50,
                                             .is_sequenced = true,
                                             .rotate_bytes = 1 << 30 };

    (void)state;
    append_once(&sequenced, "{\"a\":1}");
    follow_numbers();
    NEXT("{\"a\":1,\"seq\":1");
    rotate();
    append_file("events-1.jsonl", "{\"stray\":1}\n");
    append_once(&huge, "{\"b\":1}");
    NEXT("{\"op\":\"rotate\"");
    NEXT("{\"stray\":1,");
    NEXT("{\"op\":\"carry\"");
    NEXT("{\"b\":1,");
    NOTHING();
}

/* Rotates the log and starts another file while the tail opens the current one. */
static bool is_armed;

static int
openat_late(int dir, const char *path, int flags, mode_t mode)
{
    if (is_armed && strcmp(path, NAME) == 0) {
        is_armed = false;
        rotate();
        append_once(&sequenced, "{\"c\":1}");
    }
    return sys_kernel.openat(dir, path, flags, mode);
}

static void
a_rotation_during_the_switch_of_files_loses_nothing(void **state)
{
    struct sys odd = sys_kernel;

    (void)state;
    append_once(&sequenced, "{\"a\":1}");
    follow_numbers();
    NEXT("{\"a\":1,\"seq\":1");
    rotate();
    append_once(&sequenced, "{\"b\":1}");
    odd.openat = openat_late;
    sys = &odd;
    is_armed = true;
    NEXT("{\"op\":\"rotate\"");
    NEXT("{\"b\":1,\"seq\":3");
    sys = &sys_kernel;
    assert_false(is_armed);
    NEXT("{\"op\":\"rotate\"");
    NEXT("{\"c\":1,\"seq\":5");
    NOTHING();
}

static void
only_whole_groups_come(void **state)
{
    size_t len;

    (void)state;
    struct log l = open_log(&sequenced);
    CHECK_OK(append_group(&l, 1, 3, &e), &e);
    log_close(&l);
    char *whole = read_file(NAME, &len);
    write_bytes(NAME, whole, len - 5);
    follow_numbers();
    NOTHING();
    append_file(NAME, whole + len - 5);
    NEXT("{\"k\":1,");
    NEXT("{\"k\":2,");
    NEXT("{\"k\":3,");
    NOTHING();
    free(whole);
}

/* ---- beside writers ---- */

static void
a_follower_of_many_rotating_writers_sees_every_number_once(void **state)
{
    enum { PROCESSES = 3, EACH = 60 };
    pid_t pids[PROCESSES];
    struct log_record rec;
    uint64_t last = 0;

    (void)state;
    follow_numbers();
    for (int p = 0; p < PROCESSES; p++)
        if ((pids[p] = fork()) == 0) {
            struct log_options o = { .is_sequenced = true, .rotate_bytes = 600 };
            struct log l;
            int bad = log_open(&l, here(), NAME, &o, NULL) != ST_OK;
            for (int i = 0; i < EACH && !bad; i++)
                bad = append_group(&l, i, 1 + (size_t)i % 2, NULL) != ST_OK;
            _exit(bad);
        }
    for (int seen = 0; seen < PROCESSES * EACH * 3 / 2;) {
        while (!log_tail_next(&t, &rec)) {
            CHECK_OK(log_tail_status(&t, &e), &e);
            wait_readable(log_tail_fd(&t));
        }
        assert_int_equal(rec.seq, ++last);
        seen += json_get(rec.json, "k") != NULL;
    }
    for (int p = 0; p < PROCESSES; p++)
        assert_int_equal(wait_child(pids[p]), 0);
    assert_int_equal(t.reader.bad, 0);
}

/* ---- without inotify, and failing calls ---- */

static void
without_inotify_a_timer_finds_the_same_records(void **state)
{
    struct itimerspec soon = { .it_value = { .tv_nsec = 1 } };

    (void)state;
    fault_always("inotify_init", EMFILE);
    follow("room", LOG_FROM_START);
    fault_off(NULL);
    assert_true(t.watch.is_polling);
    NOTHING();
    make_dirs("room");
    write_file("room/" NAME, "{\"a\":1}\n");
    assert_int_equal(timerfd_settime(log_tail_fd(&t), 0, &soon, NULL), 0);
    NEXT("{\"a\":1}");
    append_file("room/" NAME, "{\"b\":1}\n");
    assert_int_equal(timerfd_settime(log_tail_fd(&t), 0, &soon, NULL), 0);
    NEXT("{\"b\":1}");
}

static void
a_failing_read_is_reported(void **state)
{
    struct log_record rec;

    (void)state;
    write_file(NAME, "{\"a\":1}\n");
    follow(".", LOG_FROM_START);
    fault_always("pread", EIO);
    assert_false(log_tail_next(&t, &rec));
    fault_off(NULL);
    CHECK_FAILS(log_tail_status(&t, &e), ST_IO, &e, "read the log: Input/output error");
}

static void
a_path_that_is_too_long_is_refused(void **state)
{
    char path[PATH_MAX + 1];

    (void)state;
    memset(path, 'x', sizeof path);
    path[PATH_MAX] = '\0';
    CHECK_FAILS_WITH(log_tail_open(&t, path, NAME, false, LOG_FROM_START, &e), ST_INVALID, &e,
                     "path too long");
}

static void
descriptors_are_close_on_exec(void **state)
{
    (void)state;
    write_file(NAME, "");
    follow(".", LOG_FROM_START);
    assert_int_equal(fcntl(t.fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    assert_int_equal(fcntl(t.dir, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    append_file(NAME, "{\"a\":1}\n");
    NEXT("{\"a\":1}");
    write_file(NAME, ""); /* after a truncation too */
    NOTHING();
    assert_int_equal(fcntl(t.fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

static void
closing_twice_is_safe(void **state)
{
    (void)state;
    follow(".", LOG_FROM_START);
    log_tail_close(&t);
    log_tail_close(&t);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TAIL_CASE(from_the_start_all_lines_come_then_the_new_ones),
        TAIL_CASE(from_the_end_only_new_lines_come),
        TAIL_CASE(from_the_end_a_line_that_is_being_written_counts_as_new),
        TAIL_CASE(from_the_end_of_an_empty_file_all_lines_come),
        TAIL_CASE(a_file_created_later_is_read_from_its_start),
        TAIL_CASE(a_directory_created_later_is_watched),
        TAIL_CASE(several_missing_directories_may_be_created_with_the_file),
        TAIL_CASE(only_whole_lines_come),
        TAIL_CASE(bad_lines_are_counted_over_files),
        TAIL_CASE(a_truncated_file_is_read_from_its_start_again),
        TAIL_CASE(a_file_truncated_and_rewritten_between_two_reads_is_read_again),
        TAIL_CASE(a_replaced_file_is_read_to_its_end_first),
        TAIL_CASE(a_file_written_just_before_its_replacement_is_read_to_its_end),
        TAIL_CASE(a_file_renamed_away_is_followed_by_the_next_with_its_name),
        TAIL_CASE(a_removed_file_is_followed_by_the_next_with_its_name),
        TAIL_CASE(a_link_in_place_of_the_file_is_not_followed),
        TAIL_CASE(a_room_removed_and_made_again_is_followed),
        TAIL_CASE(a_room_removed_step_by_step_during_a_read_is_followed),
        TAIL_CASE(an_empty_room_removed_and_made_again_is_followed),
        TAIL_CASE(a_room_renamed_away_is_replaced_by_a_new_one),
        TAIL_CASE(a_rotated_log_is_followed_across),
        TAIL_CASE(several_rotations_between_two_reads_lose_nothing),
        TAIL_CASE(the_start_of_a_rotated_log_is_its_first_segment),
        TAIL_CASE(a_log_created_and_rotated_between_two_reads_loses_nothing),
        TAIL_CASE(a_rotation_that_left_no_current_file_hides_nothing),
        TAIL_CASE(from_the_end_of_a_rotated_log_only_new_lines_come),
        TAIL_CASE(carried_strays_come_once),
        TAIL_CASE(a_rotation_during_the_switch_of_files_loses_nothing),
        TAIL_CASE(only_whole_groups_come),
        TAIL_CASE(a_follower_of_many_rotating_writers_sees_every_number_once),
        TAIL_CASE(without_inotify_a_timer_finds_the_same_records),
        TAIL_CASE(a_failing_read_is_reported),
        TAIL_CASE(a_path_that_is_too_long_is_refused),
        TAIL_CASE(descriptors_are_close_on_exec),
        TAIL_CASE(closing_twice_is_safe),
    };

    return cmocka_run_group_tests_name("log tail", tests, NULL, NULL);
}
