/*
 * Tests torn tails, short writes and failed syncs: no acknowledged line is lost, and no line is
 * half.
 */
#define _GNU_SOURCE
#include "fault.h"
#include "logs.h"

static struct err e;

/* ---- torn tails and short writes ---- */

static void
a_torn_tail_is_sealed_before_the_next_record(void **state)
{
    (void)state;
    write_file(NAME, "{\"a\":1}\n{\"b\":");
    append_once(&plain, "{\"c\":1}");
    CHECK_FILE(NAME, "{\"a\":1}\n{\"b\":\n{\"c\":1}\n");
    CHECK_LINES(NAME, 0, "{\"a\":1}\n{\"c\":1}\n");
}

static void
a_file_of_nothing_but_a_torn_line_is_sealed(void **state)
{
    (void)state;
    write_file(NAME, "{");
    append_once(&plain, "{\"c\":1}");
    CHECK_FILE(NAME, "{\n{\"c\":1}\n");
}

static void
a_tail_torn_by_another_while_we_are_open_is_sealed(void **state)
{
    struct log l = open_log(&plain);

    (void)state;
    CHECK_OK(append(&l, "{\"a\":1}", &e), &e);
    append_file(NAME, "{\"torn");
    CHECK_OK(append(&l, "{\"b\":1}", &e), &e);
    append_file(NAME, "{\"whole\":1}\n");
    CHECK_OK(append(&l, "{\"c\":1}", &e), &e);
    log_close(&l);
    CHECK_FILE(NAME, "{\"a\":1}\n{\"torn\n{\"b\":1}\n{\"whole\":1}\n{\"c\":1}\n");
}

/* One write through sys accepts only this many bytes. */
static size_t short_by;

static const char *intrusion; /* ... after a writer without the lock wrote this */
static int intrusions;

static ssize_t
write_some(int fd, const void *p, size_t n)
{
    if (intrusions > 0) {
        intrusions--;
        append_file(NAME, intrusion);
    }
    size_t less = short_by < n ? short_by : n;
    short_by = 0;
    return sys_kernel.write(fd, p, n - less);
}

static struct sys odd; /* the system's write */

static void
odd_kernel(void)
{
    odd = sys_kernel;
    odd.write = write_some;
    sys = &odd;
    short_by = 0;
    intrusions = 0;
}

static void
a_short_write_is_undone(void **state)
{
    struct log l = open_log(&plain);

    (void)state;
    CHECK_OK(append(&l, "{\"a\":1}", &e), &e);
    odd_kernel();
    for (short_by = 1; short_by < 8; short_by++) {
        size_t by = short_by;
        char want[120];
        snprintf(want, sizeof want,
                 "append to events.jsonl: only %zu of 8 bytes could be written (disk full?)",
                 8 - by);
        CHECK_FAILS(append(&l, "{\"b\":1}", &e), ST_IO, &e, want);
        CHECK_FILE(NAME, "{\"a\":1}\n");
        short_by = by;
    }
    sys = &sys_kernel;
    CHECK_OK(append(&l, "{\"c\":1}", &e), &e);
    log_close(&l);
    CHECK_FILE(NAME, "{\"a\":1}\n{\"c\":1}\n");
}

static void
a_short_write_that_cannot_be_undone_is_sealed_by_the_next_writer(void **state)
{
    struct log l = open_log(&plain);

    (void)state;
    CHECK_OK(append(&l, "{\"a\":1}", &e), &e);
    odd_kernel();
    odd.ftruncate = NULL; /* truncation is not tried: another writer appended after the half line */
    intrusions = 1;
    intrusion = "{\"x\":1}\n";
    short_by = 3;
    assert_int_equal(append(&l, "{\"b\":1}", &e), ST_IO);
    sys = &sys_kernel;
    CHECK_OK(append(&l, "{\"c\":1}", &e), &e);
    log_close(&l);
    CHECK_LINES(NAME, 0, "{\"a\":1}\n{\"x\":1}\n{\"c\":1}\n");
}

static void
a_short_write_into_an_empty_file_is_undone(void **state)
{
    struct log l = open_log(&sequenced);

    (void)state;
    odd_kernel();
    short_by = 2;
    assert_int_equal(append(&l, "{\"b\":1}", &e), ST_IO);
    assert_int_equal(file_size(NAME), 0);
    sys = &sys_kernel;
    CHECK_OK(append(&l, "{\"c\":1}", &e), &e);
    log_close(&l);
    CHECK_NUMBERS(NAME, "1");
}

/* ---- syncs ---- */

static void
a_failed_sync_refuses_all_writes_until_opened_again(void **state)
{
    struct log l = open_log(&durable);

    (void)state;
    CHECK_OK(append(&l, "{\"a\":1}", &e), &e);
    fault_always("fdatasync", EIO);
    CHECK_FAILS(append(&l, "{\"b\":1}", &e), ST_IO, &e,
                "sync events.jsonl: the record may or may not survive a crash: "
                "Input/output error");
    fault_off(NULL);
    CHECK_FAILS(append(&l, "{\"c\":1}", &e), ST_IO, &e,
                "events.jsonl: a sync failed earlier, so writes are refused until it is opened "
                "again");
    log_close(&l);
    append_once(&durable, "{\"d\":1}");
    assert_int_equal(count_records(NAME, 0, "\"c\""), 0);
    assert_int_equal(count_records(NAME, 0, "\"d\""), 1);
    assert_int_equal(count_records(NAME, 0, "\"a\""), 1);
}

/* The calls made while the lines were synced. */
struct between {
    unsigned calls, syncs;
    bool is_written;
};

static void
note_between(void *ctx)
{
    struct between *b = ctx;

    b->calls++;
    b->syncs = fault_count("fdatasync");
    b->is_written = count_records(NAME, 0, "\"b\"") == 1;
}

static void
the_meanwhile_callback_runs_between_write_and_sync(void **state)
{
    struct between b = { 0 };
    struct log l = open_log(&durable);

    (void)state;
    CHECK_OK(append(&l, "{\"a\":1}", &e), &e);
    l.o.meanwhile = note_between;
    l.o.ctx = &b;
    fault_count_from_here();
    CHECK_OK(append(&l, "{\"b\":1}", &e), &e);
    assert_int_equal(b.calls, 1);
    assert_true(b.is_written);
    assert_int_equal(b.syncs, 0);
    assert_int_equal(fault_count("fdatasync"), 1);
    fault_always("fdatasync", EIO);
    CHECK_FAILS_WITH(append(&l, "{\"c\":1}", &e), ST_IO, &e, "may or may not survive");
    fault_off(NULL);
    log_close(&l);
}

static void
a_failed_sync_of_the_new_name_refuses_too(void **state)
{
    struct log l = open_log(&durable);

    (void)state;
    fault_always("fsync", EIO);
    CHECK_FAILS_WITH(append(&l, "{\"a\":1}", &e), ST_IO, &e, "may or may not survive");
    fault_off(NULL);
    CHECK_FAILS_WITH(append(&l, "{\"b\":1}", &e), ST_IO, &e, "opened again");
    log_close(&l);
}

static void
a_log_that_was_repaired_goes_on(void **state)
{
    struct log l = open_log(&(struct log_options){ .is_durable = true, .is_sequenced = true });

    (void)state;
    CHECK_OK(append(&l, "{\"a\":1}", &e), &e);
    CHECK_OK(log_repair(&l, &e), &e); /* nothing to do */
    fault_always("fdatasync", EIO);
    CHECK_FAILS_WITH(append(&l, "{\"b\":1}", &e), ST_IO, &e, "may or may not survive");
    CHECK_FAILS_WITH(log_repair(&l, &e), ST_IO, &e, "sync events.jsonl: Input/output error");
    fault_off(NULL);
    CHECK_FAILS_WITH(append(&l, "{\"c\":1}", &e), ST_IO, &e, "opened again");
    append_file(NAME, "{\"foreign\":1}\n");
    char *before = read_file(NAME, NULL);
    fault_count_from_here();
    CHECK_OK(log_repair(&l, &e), &e);
    assert_int_equal(fault_count("write"), 1); /* syncing nothing would not find the error */
    assert_int_equal(fault_count("fdatasync"), 1);
    CHECK_FILE(NAME, before);
    free(before);
    CHECK_OK(append(&l, "{\"d\":1}", &e), &e);
    log_close(&l);
    CHECK_NUMBERS(NAME, "1 2 3 4");
}

static void
a_repaired_log_checks_its_tail(void **state)
{
    struct log l = open_log(&(struct log_options){ .is_durable = true, .is_sequenced = true });

    (void)state;
    CHECK_OK(append(&l, "{\"a\":1}", &e), &e);
    off_t end = file_size(NAME);
    fault_always("fdatasync", EIO);
    CHECK_FAILS_WITH(append(&l, "{\"b\":1}", &e), ST_IO, &e, "may or may not survive");
    fault_off(NULL);
    assert_int_equal(truncate(NAME, end + 5), 0); /* the part of the line that is on disk */
    CHECK_OK(log_repair(&l, &e), &e);
    assert_int_equal(file_size(NAME), end + 5);
    CHECK_OK(append(&l, "{\"c\":1}", &e), &e);
    log_close(&l);
    CHECK_NUMBERS(NAME, "1 2");
    assert_int_equal(count_records(NAME, SEQUENCED, "\"c\""), 1);
}

static void
a_failed_write_can_be_tried_again(void **state)
{
    struct log l = open_log(&durable);

    (void)state;
    fault_always("write", ENOSPC);
    CHECK_FAILS(append(&l, "{\"a\":1}", &e), ST_IO, &e,
                "append to events.jsonl: No space left on device");
    fault_off(NULL);
    CHECK_OK(append(&l, "{\"a\":1}", &e), &e);
    log_close(&l);
    CHECK_FILE(NAME, "{\"a\":1}\n");
}

/* ---- writers without the lock ---- */

static void
a_whole_line_of_an_unlocked_writer_is_harmless(void **state)
{
    struct log l = open_log(&plain);

    (void)state;
    CHECK_OK(append(&l, "{\"a\":1}", &e), &e);
    odd_kernel();
    intrusions = 1;
    intrusion = "{\"x\":1}\n";
    CHECK_OK(append(&l, "{\"b\":1}", &e), &e);
    CHECK_OK(append(&l, "{\"c\":1}", &e), &e);
    sys = &sys_kernel;
    log_close(&l);
    CHECK_FILE(NAME, "{\"a\":1}\n{\"x\":1}\n{\"b\":1}\n{\"c\":1}\n");
}

static void
a_record_appended_to_a_torn_line_is_written_again(void **state)
{
    struct log l = open_log(&durable);

    (void)state;
    CHECK_OK(append(&l, "{\"a\":1}", &e), &e);
    odd_kernel();
    intrusions = 1;
    intrusion = "{\"torn";
    CHECK_OK(append(&l, "{\"b\":1}", &e), &e);
    CHECK_OK(append(&l, "{\"c\":1}", &e), &e);
    sys = &sys_kernel;
    log_close(&l);
    CHECK_LINES(NAME, 0, "{\"a\":1}\n{\"b\":1}\n{\"c\":1}\n");
}

static void
an_unlocked_writer_that_never_ends_its_lines_is_reported(void **state)
{
    struct log l = open_log(&plain);

    (void)state;
    odd_kernel();
    intrusions = 1000;
    intrusion = "{\"torn";
    CHECK_FAILS(append(&l, "{\"b\":1}", &e), ST_IO, &e,
                "append to events.jsonl: another program writes torn lines without the lock");
    sys = &sys_kernel;
    CHECK_OK(append(&l, "{\"c\":1}", &e), &e);
    log_close(&l);
    CHECK_LINES(NAME, 0, "{\"c\":1}\n");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_torn_tail_is_sealed_before_the_next_record),
        CASE(a_file_of_nothing_but_a_torn_line_is_sealed),
        CASE(a_tail_torn_by_another_while_we_are_open_is_sealed),
        CASE(a_short_write_is_undone),
        CASE(a_short_write_that_cannot_be_undone_is_sealed_by_the_next_writer),
        CASE(a_short_write_into_an_empty_file_is_undone),
        CASE(a_failed_sync_refuses_all_writes_until_opened_again),
        CASE(the_meanwhile_callback_runs_between_write_and_sync),
        CASE(a_failed_sync_of_the_new_name_refuses_too),
        CASE(a_log_that_was_repaired_goes_on),
        CASE(a_repaired_log_checks_its_tail),
        CASE(a_failed_write_can_be_tried_again),
        CASE(a_whole_line_of_an_unlocked_writer_is_harmless),
        CASE(a_record_appended_to_a_torn_line_is_written_again),
        CASE(an_unlocked_writer_that_never_ends_its_lines_is_reported),
    };

    return cmocka_run_group_tests_name("log write errors", tests, NULL, NULL);
}
