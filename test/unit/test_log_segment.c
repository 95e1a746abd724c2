/* Tests log/segment: a log over its size continues in a new file and loses nothing. */
#include "fault.h"
#include "segments.h"

#include "log/log_snapshot.h"
#include "log/segment.h"

static struct err e;

/* ---- rotation ---- */

static void
a_log_over_its_size_continues_in_a_new_file(void **state)
{
    (void)state;
    append_many(&rotating, 5);
    assert_true(file_exists("events-1.jsonl"));
    CHECK_NUMBERS("events-1.jsonl", "1 2 3 4 5");
    assert_int_equal(count_records("events-1.jsonl", SEQUENCED, "rotate"), 1);
    CHECK_NUMBERS(NAME, "6");
    assert_int_equal(count_files("."), 2);
}

static void
numbers_continue_over_many_segments(void **state)
{
    (void)state;
    append_many(&rotating, 50);
    assert_int_equal(check_all_numbers(), 50 + 12);
    assert_int_equal(count_files("."), 12 + 1);
}

/* A reader cannot create the file, and the next writer may come much later. */
static void
a_rotation_creates_the_next_file(void **state)
{
    struct log l = open_log(&rotating);
    struct log_snapshot files;

    (void)state;
    for (int i = 0; i < 4; i++)
        CHECK_OK(append(&l, RECORD, &e), &e);
    assert_true(file_exists("events-1.jsonl"));
    for (int i = 0; i < 2; i++) {
        CHECK_OK(log_snapshot_open(&files, &l, &e), &e);
        assert_int_equal(files.n, 2);
        log_snapshot_close(&files);
        assert_int_equal(unlink(NAME), 0); /* as if the rotating process had been killed */
    }
    log_close(&l);
}

static void
each_opener_may_rotate(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++)
        append_once(&rotating, RECORD);
    assert_int_equal(check_all_numbers(), 25);
}

static void
a_segment_is_named_after_its_first_number(void **state)
{
    (void)state;
    append_many(&rotating, 9);
    assert_true(file_exists("events-1.jsonl"));
    assert_true(file_exists("events-6.jsonl"));
    CHECK_NUMBERS("events-6.jsonl", "6 7 8 9 10");
}

static void
without_a_size_nothing_rotates(void **state)
{
    (void)state;
    append_many(&sequenced, 50);
    assert_int_equal(count_files("."), 1);
    struct log_options o = { .rotate_bytes = 10 }; /* not sequenced: no segments */
    append_many(&o, 5);
    assert_int_equal(count_files("."), 1);
}

static void
a_group_is_never_split_over_two_files(void **state)
{
    struct log l = open_log(&rotating);

    (void)state;
    for (int i = 0; i < 5; i++)
        CHECK_OK(append_group(&l, 1, 20, &e), &e);
    log_close(&l);
    assert_int_equal(check_all_numbers(), 105);
    assert_int_equal(count_records("events-1.jsonl", SEQUENCED, "\"k\""), 20);
}

static void
writers_that_are_open_follow_a_rotation(void **state)
{
    struct log a = open_log(&rotating), b = open_log(&rotating), c = open_log(&sequenced);

    (void)state;
    for (int i = 0; i < 10; i++) {
        CHECK_OK(append(&a, RECORD, &e), &e);
        CHECK_OK(append(&b, RECORD, &e), &e);
        CHECK_OK(append(&c, RECORD, &e), &e);
    }
    log_close(&a);
    log_close(&b);
    log_close(&c);
    check_all_numbers();
}

static void
processes_that_race_rotate_without_loss(void **state)
{
    enum { PROCESSES = 3, EACH = 60 };
    pid_t pids[PROCESSES];
    size_t found = 0;

    (void)state;
    for (int p = 0; p < PROCESSES; p++)
        if ((pids[p] = fork()) == 0) {
            struct log_options o = { .is_sequenced = true, .rotate_bytes = 500 };
            struct log l;
            int bad = log_open(&l, here(), NAME, &o, NULL) != ST_OK;
            for (int i = 0; i < EACH && !bad; i++)
                bad = append_group(&l, p * EACH + i, 1, NULL) != ST_OK;
            _exit(bad);
        }
    for (int p = 0; p < PROCESSES; p++)
        assert_int_equal(wait_child(pids[p]), 0);
    uint64_t last = check_all_numbers();
    char name[SEGMENT_NAME_SIZE];
    for (uint64_t first = UINT64_MAX;
         segment_find(here(), NAME, first - 1, name, &first, &e) == ST_OK && first > 0;)
        found += count_records(name, SEQUENCED, "\"k\"");
    if (file_exists(NAME))
        found += count_records(NAME, SEQUENCED, "\"k\"");
    assert_int_equal(found, PROCESSES * EACH);
    assert_int_equal(last, found + count_files(".") - (file_exists(NAME) ? 1 : 0));
}

static void
a_new_segments_name_is_made_durable(void **state)
{
    struct log_options o = rotating;

    (void)state;
    o.is_durable = true;
    struct log l = open_log(&o);
    for (int i = 0; i < 3; i++)
        CHECK_OK(append(&l, RECORD, &e), &e);
    fault_count_from_here();
    CHECK_OK(append(&l, RECORD, &e), &e);
    /* the record, the rotate line, and lines that another process synced in a presync file only */
    assert_int_equal(fault_count("fdatasync"), 3);
    assert_int_equal(fault_count("renameat"), 1);
    assert_int_equal(fault_count("fsync"), 1); /* the directory */
    fault_count_from_here();
    CHECK_OK(append(&l, RECORD, &e), &e);
    assert_int_equal(fault_count("fsync"), 1); /* the new file's name */
    log_close(&l);
}

static void
a_segment_that_begins_with_foreign_lines_has_the_right_name(void **state)
{
    (void)state;
    write_file(NAME, "{\"f\":1}\n{\"f\":2}\n");
    append_many(&rotating, 4);
    assert_true(file_exists("events-1.jsonl"));
    CHECK_NUMBERS("events-1.jsonl", "1 2 3 4 5 6 7");
    append_file(NAME, "{\"f\":3}\n");
    append_many(&rotating, 4);
    assert_true(file_exists("events-8.jsonl"));
}

static void
a_name_without_the_usual_ending_rotates_too(void **state)
{
    struct log l;

    (void)state;
    CHECK_OK(log_open(&l, here(), "journal", &rotating, &e), &e);
    for (int i = 0; i < 5; i++)
        CHECK_OK(append(&l, RECORD, &e), &e);
    log_close(&l);
    assert_true(file_exists("journal-1.jsonl"));
    CHECK_NUMBERS("journal", "6");
}

static void
a_log_whose_old_segments_were_removed_goes_on(void **state)
{
    (void)state;
    append_many(&rotating, 9);
    assert_int_equal(unlink("events-1.jsonl"), 0);
    append_many(&rotating, 4);
    assert_true(file_exists("events-11.jsonl"));
    CHECK_NUMBERS("events-11.jsonl", "11 12 13 14 15");
}

static void
a_removed_current_file_continues_the_numbers_of_the_segments(void **state)
{
    (void)state;
    append_many(&rotating, 5);
    assert_int_equal(unlink(NAME), 0);
    append_once(&rotating, RECORD);
    CHECK_NUMBERS(NAME, "6");
}

static const char *intrusion;

static ssize_t
write_late(int fd, const void *p, size_t n)
{
    if (intrusion) {
        append_file(NAME, intrusion);
        intrusion = NULL;
    }
    return sys_kernel.write(fd, p, n);
}

static void
an_unlocked_line_before_the_first_of_a_segment_does_not_block_it(void **state)
{
    struct sys odd = sys_kernel;

    (void)state;
    for (int round = 0; round < 2; round++) { /* the first segment, and the second */
        odd.write = write_late;
        sys = &odd;
        intrusion = "{\"f\":1}\n";
        append_once(&rotating, RECORD);
        sys = &sys_kernel;
        append_many(&rotating, 3);
    }
    assert_true(file_exists("events-1.jsonl"));
    assert_true(file_exists("events-7.jsonl"));
    CHECK_NUMBERS("events-1.jsonl", "1 2 3 4 5 6");
}

/* ---- finding ---- */

static void
segments_are_found_by_number(void **state)
{
    char name[SEGMENT_NAME_SIZE];
    uint64_t first;

    (void)state;
    write_file("events-1.jsonl", "");
    write_file("events-100.jsonl", "");
    write_file("events-2000.jsonl", "");
    CHECK_OK(segment_find(here(), NAME, 1, name, &first, &e), &e);
    assert_string_equal(name, "events-1.jsonl");
    CHECK_OK(segment_find(here(), NAME, 99, name, &first, &e), &e);
    assert_int_equal(first, 1);
    CHECK_OK(segment_find(here(), NAME, 100, name, &first, &e), &e);
    assert_int_equal(first, 100);
    CHECK_OK(segment_find(here(), NAME, 1999, name, NULL, &e), &e);
    assert_string_equal(name, "events-100.jsonl");
    CHECK_OK(segment_find(here(), NAME, UINT64_MAX, name, &first, &e), &e);
    assert_string_equal(name, "events-2000.jsonl");
}

static void
a_missing_segment_is_not_found(void **state)
{
    char name[SEGMENT_NAME_SIZE];

    (void)state;
    write_file(NAME, "");
    CHECK_FAILS(segment_find(here(), NAME, UINT64_MAX, name, NULL, &e), ST_NOT_FOUND, &e,
                "events.jsonl has no older segments");
    write_file("events-5.jsonl", "");
    assert_int_equal(segment_find(here(), NAME, 4, name, NULL, &e), ST_NOT_FOUND);
}

static void
files_with_similar_names_are_not_segments(void **state)
{
    static const char *const names[] = {
        "events-.jsonl",      "events-0.jsonl",  "events-01.jsonl",
        "events--1.jsonl",    "events-1",        "events-1.json",
        "events-1.jsonl.bak", "events-1x.jsonl", "event-1.jsonl",
        "xevents-1.jsonl",    "events1.jsonl",   "events-+1.jsonl",
        "events- 1.jsonl",    "events-a.jsonl",  "events-99999999999999999999999.jsonl",
    };
    char name[SEGMENT_NAME_SIZE];

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        write_file(names[i], "");
    if (segment_find(here(), NAME, UINT64_MAX, name, NULL, &e) == ST_OK)
        fail_msg("%s was taken for a segment", name);
}

static void
a_directory_that_cannot_be_listed_is_reported(void **state)
{
    char name[SEGMENT_NAME_SIZE];

    (void)state;
    fault_always("openat", EMFILE);
    CHECK_FAILS(segment_find(here(), NAME, 1, name, NULL, &e), ST_IO, &e,
                "list the segments of events.jsonl: Too many open files (raise the limit with "
                "ulimit -n)");
    fault_off(NULL);
}

static struct sys failing;
static int syncs_left;

static int
sync_some(int fd)
{
    errno = EIO;
    return syncs_left-- > 0 ? sys_kernel.fdatasync(fd) : -1;
}

/* The rotate line, or the file after it, cannot be synced. */
static void
check_failed_sync(bool is_line)
{
    struct log_options o = rotating;
    struct log_text big = { RECORD, strlen(RECORD) };
    o.is_durable = true;
    struct log l = open_log(&o);
    CHECK_OK(log_lock(&l, &e), &e);
    for (int i = 0; i < 4; i++)
        CHECK_OK(log_put(&l, &big, 1, &e), &e);
    syncs_left = is_line ? 0 : 1;
    failing = sys_kernel;
    failing.fdatasync = sync_some;
    sys = &failing;
    log_unlock(&l);
    sys = &sys_kernel;
    assert_int_equal(append(&l, RECORD, &e), ST_IO);
    CHECK_OK(log_repair(&l, &e), &e);
    CHECK_OK(append(&l, RECORD, &e), &e);
    log_close(&l);
    assert_int_equal(check_all_numbers(), 6);
}

static void
a_sync_that_fails_while_rotating_is_repaired(void **state)
{
    (void)state;
    check_failed_sync(true);
}

static void
a_segment_that_cannot_be_synced_is_not_finished_until_it_is_repaired(void **state)
{
    (void)state;
    check_failed_sync(false);
}

/* ---- dropping ---- */

static void
a_retention_file_drops_older_segments_by_its_name_alone(void **state)
{
    char name[SEGMENT_NAME_SIZE];
    uint64_t first, bytes;
    struct log_snapshot files;

    (void)state;
    append_many(&rotating, 14);
    assert_int_equal(segment_oldest(here(), NAME), 1);
    CHECK_OK(segment_find_kept(here(), NAME, &first, &e), &e);
    assert_int_equal(first, 0);
    segment_kept_name(name, NAME, 11);
    assert_string_equal(name, "events-kept-11.jsonl");
    write_file("events-kept-6.jsonl", "{\"op\":\"kept\"}\n");
    write_file(name, "{\"op\":\"kept\"}\n");
    CHECK_OK(segment_find_kept(here(), NAME, &first, &e), &e);
    assert_int_equal(first, 11);
    assert_int_equal(segment_oldest(here(), NAME), 11);
    assert_int_equal(segment_find(here(), NAME, 10, name, &first, &e), ST_NOT_FOUND);

    struct log l = open_log(&rotating);
    CHECK_OK(log_snapshot_open(&files, &l, &e), &e);
    assert_int_equal(files.n, 3);
    assert_string_equal(files.list[0].name, "events-kept-11.jsonl");
    assert_int_equal(files.list[0].first, 1);
    assert_string_equal(files.list[1].name, "events-11.jsonl");
    assert_string_equal(log_snapshot_last(&files)->name, NAME);
    for (uint64_t seq = 1; seq < 20; seq++)
        assert_int_equal(log_snapshot_find(&files, seq), seq >= 11);
    log_snapshot_close(&files);
    log_close(&l);

    off_t size = file_size("events-1.jsonl") + file_size("events-6.jsonl") + 14;
    CHECK_OK(segment_sweep(here(), NAME, &bytes, &e), &e);
    assert_int_equal(bytes, size);
    assert_false(file_exists("events-1.jsonl") || file_exists("events-6.jsonl") ||
                 file_exists("events-kept-6.jsonl"));
    assert_true(file_exists("events-11.jsonl") && file_exists("events-kept-11.jsonl"));
    CHECK_OK(segment_sweep(here(), NAME, &bytes, &e), &e);
    assert_int_equal(bytes, 0);
    append_many(&rotating, 1);
    CHECK_NUMBERS("events-11.jsonl", "11 12 13 14 15");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_log_over_its_size_continues_in_a_new_file),
        CASE(numbers_continue_over_many_segments),
        CASE(a_rotation_creates_the_next_file),
        CASE(each_opener_may_rotate),
        CASE(a_segment_is_named_after_its_first_number),
        CASE(without_a_size_nothing_rotates),
        CASE(a_group_is_never_split_over_two_files),
        CASE(writers_that_are_open_follow_a_rotation),
        CASE(processes_that_race_rotate_without_loss),
        CASE(a_new_segments_name_is_made_durable),
        CASE(a_segment_that_begins_with_foreign_lines_has_the_right_name),
        CASE(a_name_without_the_usual_ending_rotates_too),
        CASE(a_log_whose_old_segments_were_removed_goes_on),
        CASE(a_removed_current_file_continues_the_numbers_of_the_segments),
        CASE(an_unlocked_line_before_the_first_of_a_segment_does_not_block_it),
        CASE(segments_are_found_by_number),
        CASE(a_missing_segment_is_not_found),
        CASE(files_with_similar_names_are_not_segments),
        CASE(a_directory_that_cannot_be_listed_is_reported),
        CASE(a_sync_that_fails_while_rotating_is_repaired),
        CASE(a_segment_that_cannot_be_synced_is_not_finished_until_it_is_repaired),
        CASE(a_retention_file_drops_older_segments_by_its_name_alone),
    };

    return cmocka_run_group_tests_name("log segment", tests, NULL, NULL);
}
