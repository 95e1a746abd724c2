/*
 * Tests an interrupted rotation of a log, and strays: lines that a writer without the lock appends
 * after the rotate line. They are carried over, once.
 */
#include "fault.h"
#include "segments.h"

#include "log/seal.h"
#include "log/segment.h"

static struct err e;

/* ---- a crash during a rotation ---- */

/* Writes a rotate line, then stops as in a crash. */
static void
crash_before_rename(const struct log_options *o)
{
    struct log l = open_log(o);

    fault_always("renameat", EIO);
    CHECK_OK(append(&l, RECORD, &e), &e);
    fault_off(NULL);
    log_close(&l);
    assert_int_equal(count_records(NAME, SEQUENCED, "rotate"), 1);
    assert_false(file_exists("events-1.jsonl"));
}

static void
a_rotation_cut_short_is_finished_by_the_next_writer(void **state)
{
    (void)state;
    append_many(&rotating, 3);
    crash_before_rename(&rotating);
    append_once(&sequenced, RECORD); /* even by a writer that does not rotate */
    CHECK_NUMBERS("events-1.jsonl", "1 2 3 4 5");
    CHECK_NUMBERS(NAME, "6");
}

static void
a_rotation_cut_short_is_finished_by_a_writer_that_was_open(void **state)
{
    struct log l = open_log(&sequenced);

    (void)state;
    CHECK_OK(append(&l, RECORD, &e), &e);
    append_many(&rotating, 2);
    CHECK_OK(log_lock(&l, &e), &e); /* it has read the file up to here */
    log_unlock(&l);
    crash_before_rename(&rotating);
    CHECK_OK(append(&l, "{\"new\":1}", &e), &e);
    log_close(&l);
    CHECK_NUMBERS("events-1.jsonl", "1 2 3 4 5");
    CHECK_NUMBERS(NAME, "6");
    assert_int_equal(count_records(NAME, SEQUENCED, "new"), 1);
}

static void
a_log_cut_at_any_byte_of_its_rotate_line_goes_on(void **state)
{
    size_t len, before;

    (void)state;
    append_many(&rotating, 3);
    append_once(&sequenced, RECORD);
    before = (size_t)file_size(NAME);
    struct log l = open_log(&rotating);
    fault_always("renameat", EIO);
    CHECK_OK(log_lock(&l, &e), &e);
    log_unlock(&l);
    fault_off(NULL);
    log_close(&l);
    char *whole = read_file(NAME, &len);
    assert_true(len > before);
    for (size_t cut = before; cut <= len; cut++) {
        unlink("events-1.jsonl");
        write_bytes(NAME, whole, cut);
        append_once(&sequenced, "{\"new\":1}");
        bool is_whole = cut + 1 >= len; /* only '\n' is missing: sealed, it rotates */
        assert_int_equal(file_exists("events-1.jsonl"), is_whole);
        assert_int_equal(count_records(NAME, SEQUENCED, "new"), 1);
        if (is_whole)
            CHECK_NUMBERS(NAME, "6");
        else
            CHECK_NUMBERS(NAME, "1 2 3 4 5");
    }
    free(whole);
}

static void
an_append_succeeds_although_the_rotation_fails(void **state)
{
    struct log l = open_log(&rotating);

    (void)state;
    fault_always("renameat", EACCES);
    for (int i = 0; i < 4; i++)
        CHECK_OK(append(&l, RECORD, &e), &e);
    CHECK_FAILS_WITH(append(&l, RECORD, &e), ST_REFUSED, &e,
                     "rename events.jsonl to events-1.jsonl");
    fault_off(NULL);
    CHECK_OK(append(&l, RECORD, &e), &e);
    log_close(&l);
    assert_int_equal(check_all_numbers(), 6);
}

static void
a_lock_that_failed_does_not_rotate(void **state)
{
    struct log l = open_log(&rotating);

    (void)state;
    for (int i = 0; i < 4; i++)
        CHECK_OK(append(&l, RECORD, &e), &e); /* the handle remembers a large file */
    append_once(&sequenced, RECORD);
    fault_always("pread", EIO);
    assert_int_equal(append(&l, RECORD, &e), ST_IO);
    fault_off(NULL);
    log_close(&l);
    assert_int_equal(count_files("."), 2);
    CHECK_NUMBERS(NAME, "6");
}

/* ---- strays ---- */

static void
a_stray_is_carried_over_by_the_next_writer(void **state)
{
    (void)state;
    make_segment(2);
    append_file("events-1.jsonl", "{\"stray\":1}\n{\"stray\":2}\n");
    append_once(&huge, "{\"new\":1}");
    struct lines l = read_lines(NAME, SEQUENCED);
    assert_int_equal(l.n, 4);
    assert_non_null(strstr(l.v[0].text, "{\"stray\":1,"));
    assert_non_null(strstr(l.v[1].text, "{\"stray\":2,"));
    assert_non_null(strstr(l.v[2].text, "{\"op\":\"carry\",\"segment\":\"events-1.jsonl\""));
    assert_non_null(strstr(l.v[3].text, "{\"new\":1,"));
    assert_int_equal(l.v[0].rec.seq, 4);
    assert_int_equal(l.v[3].rec.seq, 7);
    free_lines(&l);
}

static void
readers_stop_at_the_rotate_line(void **state)
{
    (void)state;
    make_segment(2);
    append_file("events-1.jsonl", "{\"stray\":1}\n");
    CHECK_NUMBERS("events-1.jsonl", "1 2 3");
    append_once(&huge, "{\"new\":1}");
    CHECK_NUMBERS("events-1.jsonl", "1 2 3");
}

static void
a_stray_is_carried_over_once(void **state)
{
    (void)state;
    make_segment(2);
    append_file("events-1.jsonl", "{\"stray\":1}\n");
    for (int i = 0; i < 4; i++)
        append_once(&huge, "{\"new\":1}");
    assert_int_equal(count_records(NAME, SEQUENCED, "stray"), 1);
    assert_int_equal(count_records(NAME, SEQUENCED, "carry"), 1);
}

static void
a_stray_is_carried_over_once_by_a_writer_that_stays_open(void **state)
{
    (void)state;
    make_segment(2);
    struct log l = open_log(&huge);
    CHECK_OK(append(&l, "{\"new\":1}", &e), &e);
    append_file("events-1.jsonl", "{\"stray\":1}\n");
    CHECK_OK(append(&l, "{\"new\":2}", &e), &e);
    CHECK_OK(append(&l, "{\"new\":3}", &e), &e);
    log_close(&l);
    assert_int_equal(count_records(NAME, SEQUENCED, "stray"), 1);
    assert_int_equal(count_records(NAME, SEQUENCED, "new"), 3);
}

static void
strays_that_come_again_and_again_are_all_carried(void **state)
{
    (void)state;
    make_segment(2);
    for (int i = 1; i <= 5; i++) {
        append_file("events-1.jsonl", "{\"stray\":1}\n"); /* always the same bytes */
        append_once(&huge, "{\"new\":1}");
        assert_int_equal(count_records(NAME, SEQUENCED, "stray"), i);
    }
}

static void
strays_are_not_carried_again_after_a_crash_after_the_copy(void **state)
{
    size_t len;

    (void)state;
    make_segment(2);
    append_file("events-1.jsonl", "{\"stray\":1}\n{\"stray\":2}\n");
    char *before = read_file("events-1.jsonl", &len);
    append_once(&huge, "{\"new\":1}");
    write_bytes("events-1.jsonl", before, len); /* undoes the steps after the copy */
    append_once(&huge, "{\"new\":2}");
    append_once(&huge, "{\"new\":3}");
    assert_int_equal(count_records(NAME, SEQUENCED, "stray"), 2);
    append_file("events-1.jsonl", "{\"stray\":3}\n");
    append_once(&huge, "{\"new\":4}");
    assert_int_equal(count_records(NAME, SEQUENCED, "stray"), 3);
    free(before);
}

static void
strays_are_carried_after_a_crash_before_the_copy(void **state)
{
    size_t len;

    (void)state;
    make_segment(2);
    append_file("events-1.jsonl", "{\"stray\":1}\n{\"stray\":2}\n");
    char *segment = read_file("events-1.jsonl", &len);
    append_once(&huge, "{\"new\":1}");
    char *text = read_file(NAME, NULL);
    size_t group = (size_t)(strstr(text, "{\"new\"") - text);
    free(text);
    assert_int_equal(truncate(NAME, (off_t)group - 5), 0); /* the group is torn */
    write_bytes("events-1.jsonl", segment, len);
    free(segment);
    append_once(&huge, "{\"new\":2}");
    assert_int_equal(count_records(NAME, SEQUENCED, "stray"), 2);
    assert_int_equal(count_records(NAME, SEQUENCED, "new"), 1);
}

static void
an_unfinished_stray_waits_for_its_end(void **state)
{
    (void)state;
    make_segment(2);
    append_file("events-1.jsonl", "{\"stray\":1}\n{\"stray\"");
    append_once(&huge, "{\"new\":1}");
    assert_int_equal(count_records(NAME, SEQUENCED, "stray"), 1);
    append_once(&huge, "{\"new\":2}");
    assert_int_equal(count_records(NAME, SEQUENCED, "stray"), 1);
    append_file("events-1.jsonl", ":2}\n");
    append_once(&huge, "{\"new\":3}");
    append_once(&huge, "{\"new\":4}");
    assert_int_equal(count_records(NAME, SEQUENCED, "stray"), 2);
    assert_int_equal(count_records(NAME, SEQUENCED, "\"stray\":2"), 1);
}

static void
bad_strays_are_left_where_they_are(void **state)
{
    (void)state;
    make_segment(2);
    append_file("events-1.jsonl", "nonsense\n\n[]\n{\"stray\":1}\n");
    append_once(&huge, "{\"new\":1}");
    append_once(&huge, "{\"new\":2}");
    assert_int_equal(count_records(NAME, SEQUENCED, "stray"), 1);
    CHECK_NUMBERS(NAME, "4 5 6 7");
}

static void
a_stray_with_a_seal_of_its_own_gets_ours(void **state)
{
    struct buf b = { 0 };

    (void)state;
    make_segment(2);
    seal_write(&b, "{\"stray\":1}", 11, 1, 1, 77); /* copies of some other log's lines */
    seal_write(&b, "{\"stray\":2}", 11, 1, 1, 78);
    buf_adds(&b, "{\"stray\":3,\"seq\":1,\"crc\":\"wrong\"}\n");
    append_file("events-1.jsonl", b.p);
    buf_release(&b);
    append_once(&huge, "{\"new\":1}");
    append_once(&huge, "{\"new\":2}");
    assert_int_equal(count_records(NAME, SEQUENCED, "stray"), 3);
    CHECK_NUMBERS(NAME, "4 5 6 7 8 9");
}

static void
a_stray_cannot_end_the_log(void **state)
{
    (void)state;
    make_segment(2);
    append_file("events-1.jsonl", "{\"op\":\"rotate\"}\n{\"stray\":1}\n"
                                  "{\"op\":\"carry\",\"segment\":\"events-1.jsonl\",\"to\":999}\n");
    append_once(&huge, "{\"new\":1}");
    append_file("events-1.jsonl", "{\"stray\":2}\n");
    append_once(&huge, "{\"new\":2}");
    assert_int_equal(count_records(NAME, SEQUENCED, "stray"), 2);
    assert_int_equal(count_records(NAME, SEQUENCED, "new"), 2);
}

static void
a_stray_too_large_to_be_sealed_does_not_block_the_log(void **state)
{
    char *big = malloc(LOG_LINE_MAX + 1);

    (void)state;
    memset(big, 'x', LOG_LINE_MAX);
    memcpy(big, "{\"a\":\"", 6);
    memcpy(big + LOG_LINE_MAX - 10, "\"}\n", 4);
    make_segment(2);
    append_file("events-1.jsonl", big);
    append_file("events-1.jsonl", "{\"stray\":1}\n");
    free(big);
    append_once(&huge, "{\"new\":1}");
    append_once(&huge, "{\"new\":2}");
    assert_int_equal(count_records(NAME, SEQUENCED, "stray"), 1);
    assert_int_equal(count_records(NAME, SEQUENCED, "new"), 2);
}

static void
more_strays_than_fit_in_one_group_are_carried_in_several(void **state)
{
    struct buf b = { 0 };

    (void)state;
    make_segment(1);
    for (int i = 0; i < 2500; i++)
        buf_addf(&b, "{\"stray\":%d}\n", i);
    append_file("events-1.jsonl", b.p);
    buf_release(&b);
    append_once(&huge, "{\"new\":1}");
    append_once(&huge, "{\"new\":2}");
    assert_int_equal(count_records(NAME, SEQUENCED, "stray\":"), 2500);
    assert_int_equal(count_records(NAME, SEQUENCED, "\"carry\""), 3);
}

static void
strays_are_not_carried_while_their_writer_holds_the_lock(void **state)
{
    struct log l;

    (void)state;
    make_segment(2);
    l = open_log(&huge);
    append_file("events-1.jsonl", "{\"stray\":1}\n");
    struct holder h = hold_lock("events-1.jsonl");
    CHECK_OK(append(&l, "{\"new\":1}", &e), &e);
    assert_int_equal(count_records(NAME, SEQUENCED, "stray"), 0);
    let_go(&h);
    CHECK_OK(append(&l, "{\"new\":2}", &e), &e);
    assert_int_equal(count_records(NAME, SEQUENCED, "stray"), 1);
    log_close(&l);
}

static void
strays_are_carried_over_when_the_next_rotation_is_near(void **state)
{
    (void)state;
    append_many(&rotating, 4);
    append_file("events-1.jsonl", "{\"stray\":1}\n");
    append_many(&rotating, 8);
    size_t n = 0;
    char name[SEGMENT_NAME_SIZE];
    for (uint64_t first = UINT64_MAX;
         segment_find(here(), NAME, first - 1, name, &first, &e) == ST_OK;)
        n += count_records(name, SEQUENCED, "stray");
    if (file_exists(NAME))
        n += count_records(NAME, SEQUENCED, "stray");
    assert_int_equal(n, 1);
}

static void
a_segment_without_strays_is_not_read_again(void **state)
{
    (void)state;
    make_segment(2);
    struct log l = open_log(&huge);
    CHECK_OK(append(&l, "{\"new\":1}", &e), &e);
    fault_count_from_here();
    CHECK_OK(append(&l, "{\"new\":2}", &e), &e);
    assert_int_equal(fault_count("openat"), 0);
    assert_int_equal(fault_count("pread"), 0);
    log_close(&l);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_rotation_cut_short_is_finished_by_the_next_writer),
        CASE(a_rotation_cut_short_is_finished_by_a_writer_that_was_open),
        CASE(a_log_cut_at_any_byte_of_its_rotate_line_goes_on),
        CASE(an_append_succeeds_although_the_rotation_fails),
        CASE(a_lock_that_failed_does_not_rotate),
        CASE(a_stray_is_carried_over_by_the_next_writer),
        CASE(readers_stop_at_the_rotate_line),
        CASE(a_stray_is_carried_over_once),
        CASE(a_stray_is_carried_over_once_by_a_writer_that_stays_open),
        CASE(strays_that_come_again_and_again_are_all_carried),
        CASE(strays_are_not_carried_again_after_a_crash_after_the_copy),
        CASE(strays_are_carried_after_a_crash_before_the_copy),
        CASE(an_unfinished_stray_waits_for_its_end),
        CASE(bad_strays_are_left_where_they_are),
        CASE(a_stray_with_a_seal_of_its_own_gets_ours),
        CASE(a_stray_cannot_end_the_log),
        CASE(a_stray_too_large_to_be_sealed_does_not_block_the_log),
        CASE(more_strays_than_fit_in_one_group_are_carried_in_several),
        CASE(strays_are_not_carried_while_their_writer_holds_the_lock),
        CASE(strays_are_carried_over_when_the_next_rotation_is_near),
        CASE(a_segment_without_strays_is_not_read_again),
    };

    return cmocka_run_group_tests_name("log rotation crash", tests, NULL, NULL);
}
