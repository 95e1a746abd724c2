/* Tests log/fsck: every line that is not a good record is reported with its number. */
#include "logs.h"

#include "log/seal.h"
#include "log/segment.h"

#include <fcntl.h>

static struct err e;

/* The findings, one line each: "2 note: text" or "2:7 problem: text". */
static struct buf found;
static struct log_report report;

static void
note(void *ctx, const struct log_record *rec, bool is_note)
{
    assert_ptr_equal(ctx, &found);
    buf_addf(&found, "%ju", (uintmax_t)rec->line);
    if (rec->column)
        buf_addf(&found, ":%u", rec->column);
    buf_addf(&found, " %s: %s\n", is_note ? "note" : "problem", rec->problem);
}

static void
check(const char *name)
{
    int fd = open(name, O_RDONLY | O_CLOEXEC);

    assert_true(fd >= 0);
    buf_reset(&found);
    buf_adds(&found, "");
    CHECK_OK(log_fsck(fd, -1, &report, note, &found, &e), &e);
    close(fd);
}

static int
leave(void **state)
{
    buf_release(&found);
    return case_leave(state);
}
#define FSCK_CASE(fact) cmocka_unit_test_setup_teardown(fact, case_enter, leave)

#define CHECK_REPORT(l, g, n, p)                                                                   \
    do {                                                                                           \
        assert_int_equal(report.lines, l);                                                         \
        assert_int_equal(report.good, g);                                                          \
        assert_int_equal(report.notes, n);                                                         \
        assert_int_equal(report.problems, p);                                                      \
    } while (0)

static void
a_clean_log_has_no_findings(void **state)
{
    (void)state;
    write_file(NAME, "{\"a\":1}\n\n{\"b\":1}\r\n");
    check(NAME);
    CHECK_REPORT(3, 2, 0, 0);
    assert_string_equal(found.p, "");
}

static void
an_empty_log_is_clean(void **state)
{
    (void)state;
    write_file(NAME, "");
    check(NAME);
    CHECK_REPORT(0, 0, 0, 0);
}

static void
bad_lines_are_problems_with_line_and_column(void **state)
{
    (void)state;
    write_file(NAME, "{\"a\":1}\n\n[]\n{\"b\":1}\n{\"c\":1,}\n");
    check(NAME);
    CHECK_REPORT(5, 2, 0, 2);
    assert_non_null(strstr(found.p, "3:1 problem: not a JSON object\n"));
    assert_non_null(strstr(found.p, "5:8 problem: "));
}

static void
a_sealed_fragment_is_a_note(void **state)
{
    (void)state;
    write_file(NAME, "{\"a\":1}\n{\"torn\":\n{\"b\":1}\n");
    check(NAME);
    CHECK_REPORT(3, 2, 1, 0);
    assert_non_null(strstr(found.p, "2:9 note: a record cut off in the middle\n"));
}

static void
an_unfinished_tail_is_a_note(void **state)
{
    (void)state;
    write_file(NAME, "{\"a\":1}\n{\"torn\":");
    check(NAME);
    CHECK_REPORT(1, 1, 1, 0);
    assert_string_equal(
        found.p, "2 note: unfinished at the end of the file; the next writer ends the line\n");
}

static void
a_line_that_is_too_long_is_a_problem(void **state)
{
    char *text = malloc(LOG_LINE_MAX + 2);

    (void)state;
    memset(text, 'x', LOG_LINE_MAX);
    memcpy(text + LOG_LINE_MAX, "\n", 2);
    write_file(NAME, text);
    append_file(NAME, "{\"a\":1}\n");
    free(text);
    check(NAME);
    CHECK_REPORT(2, 1, 0, 1);
    assert_string_equal(found.p, "1 problem: line longer than 1 MiB\n");
}

static void
a_clean_numbered_log_has_no_findings(void **state)
{
    struct log l = open_log(&sequenced);

    (void)state;
    CHECK_OK(append(&l, "{\"a\":1}", &e), &e);
    CHECK_OK(append_group(&l, 1, 3, &e), &e);
    log_close(&l);
    append_file(NAME, "{\"foreign\":1}\n");
    append_once(&sequenced, "{\"b\":1}");
    check(NAME);
    CHECK_REPORT(6, 6, 0, 0);
}

/* Changes the first byte of `what` in the file. */
static void
damage(const char *what)
{
    size_t len;
    char *text = read_file(NAME, &len);

    *strstr(text, what) ^= 1;
    write_bytes(NAME, text, len);
    free(text);
}

static void
a_wrong_checksum_is_a_problem_and_leaves_a_gap(void **state)
{
    (void)state;
    append_once(&sequenced, "{\"a\":1}");
    append_once(&sequenced, "{\"hit\":1}");
    append_once(&sequenced, "{\"c\":1}");
    damage("hit");
    check(NAME);
    CHECK_REPORT(3, 2, 0, 2);
    assert_string_equal(found.p, "2 problem: checksum does not match\n"
                                 "3 problem: sequence numbers are missing before this line\n");
}

static void
a_wrong_checksum_in_the_first_line_is_found(void **state)
{
    (void)state;
    append_once(&sequenced, "{\"hit\":1}");
    append_once(&sequenced, "{\"b\":1}");
    damage("hit");
    check(NAME);
    CHECK_REPORT(2, 1, 0, 1);
    assert_string_equal(found.p, "1 problem: checksum does not match\n");
}

static void
a_wrong_checksum_in_the_only_line_is_found(void **state)
{
    (void)state;
    append_once(&sequenced, "{\"hit\":1}");
    damage("hit");
    check(NAME);
    CHECK_REPORT(1, 0, 0, 1);
}

static void
a_wrong_checksum_behind_foreign_lines_is_found(void **state)
{
    (void)state;
    write_file(NAME, "{\"foreign\":1}\n{\"foreign\":2}\n");
    append_once(&sequenced, "{\"a\":1}");
    append_once(&sequenced, "{\"hit\":1}");
    damage("hit");
    check(NAME);
    CHECK_REPORT(4, 3, 0, 1);
    assert_string_equal(found.p, "4 problem: checksum does not match\n");
}

static void
add_sealed(struct buf *to, const char *text, uint64_t seq)
{
    seal_write(to, text, strlen(text), 1, 1, seq);
}

static void
a_segment_that_begins_with_a_foreign_line_is_complete(void **state)
{
    struct buf b = { 0 };

    (void)state;
    buf_adds(&b, "{\"foreign\":1}\n");
    add_sealed(&b, "{\"a\":1}", 6);
    add_sealed(&b, "{\"a\":1}", 8);
    write_file("events-5.jsonl", b.p);
    check("events-5.jsonl");
    assert_string_equal(found.p, "3 problem: sequence numbers are missing before this line\n");
    buf_release(&b);
}

static void
a_file_of_retained_lines_may_skip_numbers(void **state)
{
    struct buf b = { 0 };

    (void)state;
    add_sealed(&b, "{\"op\":\"role\",\"id\":\"x\"}", 2);
    add_sealed(&b, "{\"op\":\"role\",\"id\":\"y\"}", 40);
    write_file("events-kept-51.jsonl", b.p);
    check("events-kept-51.jsonl"); /* its end is missing */
    assert_string_equal(found.p, "2 problem: sequence numbers are missing before this line\n");
    add_sealed(&b, "{\"op\":\"kept\",\"at\":1}", 50);
    write_file("events-kept-51.jsonl", b.p);
    check("events-kept-51.jsonl");
    CHECK_REPORT(3, 3, 0, 0);
    buf_release(&b);
}

static void
a_missing_line_is_a_problem(void **state)
{
    struct buf b = { 0 };

    (void)state;
    seal_write(&b, "{\"a\":1}", 7, 1, 1, 1);
    seal_write(&b, "{\"b\":1}", 7, 1, 1, 3);
    write_bytes(NAME, b.p, b.len);
    buf_release(&b);
    check(NAME);
    CHECK_REPORT(2, 2, 0, 1);
    assert_string_equal(found.p, "2 problem: sequence numbers are missing before this line\n");
}

static void
a_segment_may_begin_with_any_number(void **state)
{
    struct buf b = { 0 };

    (void)state;
    seal_write(&b, "{\"a\":1}", 7, 1, 1, 5001);
    seal_write(&b, "{\"b\":1}", 7, 1, 1, 5002);
    write_bytes(NAME, b.p, b.len);
    buf_release(&b);
    check(NAME);
    CHECK_REPORT(2, 2, 0, 0);
}

static void
the_lines_of_an_incomplete_group_are_notes(void **state)
{
    struct buf b = { 0 };

    (void)state;
    seal_write(&b, "{\"a\":1}", 7, 1, 1, 1);
    seal_write(&b, "{\"b\":1}", 7, 1, 3, 2);
    seal_write(&b, "{\"b\":2}", 7, 2, 3, 3);
    buf_adds(&b, "{\"torn\n");
    seal_write(&b, "{\"c\":1}", 7, 1, 1, 2);
    write_bytes(NAME, b.p, b.len);
    buf_release(&b);
    check(NAME);
    CHECK_REPORT(5, 2, 3, 0);
    assert_non_null(strstr(found.p, "2 note: part of an incomplete group\n"
                                    "3 note: part of an incomplete group\n"
                                    "4:7 note: a record cut off in the middle\n"));
}

static void
a_group_that_is_still_being_written_is_a_note(void **state)
{
    struct buf b = { 0 };

    (void)state;
    seal_write(&b, "{\"a\":1}", 7, 1, 1, 1);
    seal_write(&b, "{\"b\":1}", 7, 1, 3, 2);
    write_bytes(NAME, b.p, b.len);
    buf_release(&b);
    check(NAME);
    CHECK_REPORT(1, 1, 1, 0);
}

static void
a_finished_segment_is_clean_with_strays_after_it(void **state)
{
    struct log l = open_log(&sequenced);

    (void)state;
    CHECK_OK(append(&l, "{\"a\":1}", &e), &e);
    CHECK_OK(log_lock(&l, &e), &e);
    CHECK_OK(segment_rotate(&l, &e), &e);
    log_close(&l);
    append_file("events-1.jsonl", "{\"stray\":1}\nnonsense\n{\"torn");
    check("events-1.jsonl");
    CHECK_REPORT(2, 2, 0, 0);
}

static void
a_plain_log_may_use_the_names_of_the_seal(void **state)
{
    (void)state;
    write_file(NAME, "{\"seq\":9}\n{\"of\":2}\n{\"nth\":7}\n{\"seq\":3}\n{\"crc\":\"x\"}\n");
    check(NAME);
    CHECK_REPORT(5, 5, 0, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        FSCK_CASE(a_clean_log_has_no_findings),
        FSCK_CASE(an_empty_log_is_clean),
        FSCK_CASE(bad_lines_are_problems_with_line_and_column),
        FSCK_CASE(a_sealed_fragment_is_a_note),
        FSCK_CASE(an_unfinished_tail_is_a_note),
        FSCK_CASE(a_line_that_is_too_long_is_a_problem),
        FSCK_CASE(a_clean_numbered_log_has_no_findings),
        FSCK_CASE(a_wrong_checksum_is_a_problem_and_leaves_a_gap),
        FSCK_CASE(a_wrong_checksum_in_the_first_line_is_found),
        FSCK_CASE(a_wrong_checksum_in_the_only_line_is_found),
        FSCK_CASE(a_wrong_checksum_behind_foreign_lines_is_found),
        FSCK_CASE(a_segment_that_begins_with_a_foreign_line_is_complete),
        FSCK_CASE(a_file_of_retained_lines_may_skip_numbers),
        FSCK_CASE(a_missing_line_is_a_problem),
        FSCK_CASE(a_segment_may_begin_with_any_number),
        FSCK_CASE(the_lines_of_an_incomplete_group_are_notes),
        FSCK_CASE(a_group_that_is_still_being_written_is_a_note),
        FSCK_CASE(a_finished_segment_is_clean_with_strays_after_it),
        FSCK_CASE(a_plain_log_may_use_the_names_of_the_seal),
    };

    return cmocka_run_group_tests_name("log fsck", tests, NULL, NULL);
}
