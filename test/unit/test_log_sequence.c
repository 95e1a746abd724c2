/*
 * Tests the numbers of a sequenced log: readers and writers count lines by position, and no crash
 * makes them disagree.
 */
#include "fault.h"
#include "logs.h"

#include "log/seal.h"

#include <fcntl.h>

static struct err e;

/* Every good record of cliq carries the number that readers give it. */
static void
check_agree(const char *name)
{
    struct lines l = read_lines(name, SEQUENCED);
    uint64_t last = 0;

    for (size_t i = 0; i < l.n; i++) {
        const char *seq = strstr(l.v[i].text, "\"seq\":");
        if (seq && (uint64_t)strtoull(seq + 6, NULL, 10) != l.v[i].rec.seq)
            fail_msg("readers give %ju to %s", (uintmax_t)l.v[i].rec.seq, l.v[i].text);
        assert_int_equal(l.v[i].rec.seq, last + 1);
        last = l.v[i].rec.seq;
    }
    free_lines(&l);
}

static uint64_t
next_number(void)
{
    struct log l = open_log(&sequenced);

    CHECK_OK(log_lock(&l, &e), &e);
    uint64_t n = l.next_seq;
    log_unlock(&l);
    log_close(&l);
    return n;
}

/* A sealed line for a file that the test writes itself. */
static void
put_sealed(struct buf *b, const char *text, size_t nth, size_t of, uint64_t seq)
{
    seal_write(b, text, strlen(text), nth, of, seq);
}

static void
numbers_start_at_1_and_have_no_gaps(void **state)
{
    struct log l = open_log(&sequenced);

    (void)state;
    for (int i = 0; i < 5; i++)
        CHECK_OK(append(&l, "{\"k\":1}", &e), &e);
    CHECK_OK(append_group(&l, 1, 3, &e), &e);
    CHECK_OK(append(&l, "{\"k\":1}", &e), &e);
    log_close(&l);
    CHECK_NUMBERS(NAME, "1 2 3 4 5 6 7 8 9");
    check_agree(NAME);
}

static void
another_opener_goes_on_where_the_last_one_stopped(void **state)
{
    (void)state;
    for (int i = 1; i <= 5; i++) {
        append_once(&sequenced, "{\"k\":1}");
        assert_int_equal(next_number(), i + 1);
    }
    CHECK_NUMBERS(NAME, "1 2 3 4 5");
}

static void
writers_that_take_turns_agree(void **state)
{
    struct log a = open_log(&sequenced), b = open_log(&sequenced);

    (void)state;
    for (int i = 0; i < 5; i++) {
        CHECK_OK(append(&a, "{\"a\":1}", &e), &e);
        CHECK_OK(append_group(&b, 1, 2, &e), &e);
        CHECK_OK(append_group(&a, 1, 4, &e), &e);
    }
    log_close(&a);
    log_close(&b);
    check_agree(NAME);
    assert_int_equal(next_number(), 36);
}

static void
processes_that_race_agree(void **state)
{
    pid_t pids[3];

    (void)state;
    for (int p = 0; p < 3; p++)
        if ((pids[p] = fork()) == 0) {
            struct log_options o = { .is_sequenced = true };
            struct log l;
            int bad = log_open(&l, here(), NAME, &o, NULL) != ST_OK;
            for (int i = 0; i < 50 && !bad; i++)
                bad = append_group(&l, i, 1 + (size_t)i % 3, NULL) != ST_OK;
            _exit(bad);
        }
    for (int p = 0; p < 3; p++)
        assert_int_equal(wait_child(pids[p]), 0);
    check_agree(NAME);
    struct lines l = read_lines(NAME, SEQUENCED | WITH_BAD);
    assert_int_equal(l.bad, 0);
    assert_int_equal(l.n, 3 * (50 + 16 + 2 * 16 + 1));
    free_lines(&l);
}

/* ---- foreign lines ---- */

static void
foreign_lines_take_numbers_by_position(void **state)
{
    (void)state;
    append_once(&sequenced, "{\"a\":1}");
    append_file(NAME, "{\"f\":1}\n{\"f\":2}\n");
    append_once(&sequenced, "{\"b\":1}");
    append_file(NAME, "{\"f\":3}\n");
    CHECK_NUMBERS(NAME, "1 2 3 4 5");
    check_agree(NAME);
    assert_int_equal(next_number(), 6);
}

static void
a_log_of_foreign_lines_only_is_counted(void **state)
{
    (void)state;
    write_file(NAME, "{\"f\":1}\n\n{\"f\":2}\nnonsense\n{\"f\":3}\n");
    assert_int_equal(next_number(), 4);
    append_once(&sequenced, "{\"a\":1}");
    CHECK_NUMBERS(NAME, "1 2 3 4");
    check_agree(NAME);
}

static void
a_writer_that_is_open_counts_foreign_lines_too(void **state)
{
    struct log l = open_log(&sequenced);

    (void)state;
    CHECK_OK(append(&l, "{\"a\":1}", &e), &e);
    append_file(NAME, "{\"f\":1}\n\n[]\n{\"f\":2}\n");
    CHECK_OK(append(&l, "{\"a\":2}", &e), &e);
    log_close(&l);
    CHECK_NUMBERS(NAME, "1 2 3 4");
    check_agree(NAME);
}

static void
foreign_lines_after_a_group_are_counted(void **state)
{
    struct log l = open_log(&sequenced);

    (void)state;
    CHECK_OK(append_group(&l, 1, 3, &e), &e);
    log_close(&l);
    append_file(NAME, "{\"f\":1}\n{\"f\":2}\n");
    append_once(&sequenced, "{\"a\":1}");
    CHECK_NUMBERS(NAME, "1 2 3 4 5 6");
    check_agree(NAME);
}

static void
a_foreign_seq_without_a_checksum_means_nothing(void **state)
{
    (void)state;
    append_once(&sequenced, "{\"a\":1}");
    append_file(NAME, "{\"seq\":900}\n");
    assert_int_equal(next_number(), 3);
    CHECK_NUMBERS(NAME, "1 2");
}

static void
a_whole_foreign_record_without_its_newline_takes_its_number(void **state)
{
    (void)state;
    append_once(&sequenced, "{\"a\":1}");
    append_file(NAME, "{\"f\":1}"); /* printf without \n */
    append_once(&sequenced, "{\"b\":1}");
    append_once(&sequenced, "{\"c\":1}");
    CHECK_NUMBERS(NAME, "1 2 3 4");
    check_agree(NAME);
}

static void
a_writer_that_is_open_counts_a_record_without_its_newline(void **state)
{
    struct log l = open_log(&sequenced);

    (void)state;
    CHECK_OK(append(&l, "{\"a\":1}", &e), &e);
    append_file(NAME, "{\"f\":1}");
    CHECK_OK(log_lock(&l, &e), &e);
    assert_int_equal(l.next_seq, 3); /* valid until the log is unlocked */
    log_unlock(&l);
    CHECK_OK(append(&l, "{\"b\":1}", &e), &e);
    log_close(&l);
    CHECK_NUMBERS(NAME, "1 2 3");
    check_agree(NAME);
}

/* ---- damage ---- */

static void
damaged_lines_take_no_number_and_are_skipped(void **state)
{
    size_t len;

    (void)state;
    for (int i = 0; i < 3; i++)
        append_once(&sequenced, "{\"key\":\"value\"}");
    char *text = read_file(NAME, &len);
    *strstr(strchr(text, '\n'), "value") = 'w'; /* in the second line */
    write_bytes(NAME, text, len);
    free(text);
    struct lines l = read_lines(NAME, SEQUENCED | WITH_BAD);
    assert_int_equal(l.n, 3);
    assert_int_equal(l.v[1].rec.verdict, LOG_BAD);
    assert_string_equal(l.v[1].rec.problem, "checksum does not match");
    assert_int_equal(l.v[2].rec.seq, 3);
    assert_int_equal(l.bad, 1);
    free_lines(&l);
    assert_int_equal(next_number(), 4);
}

static void
a_damaged_last_line_gives_its_number_to_the_next(void **state)
{
    size_t len;

    (void)state;
    append_once(&sequenced, "{\"key\":\"value\"}");
    append_once(&sequenced, "{\"key\":\"value\"}");
    char *text = read_file(NAME, &len);
    *strstr(strchr(text, '\n'), "value") = 'w';
    write_bytes(NAME, text, len);
    free(text);
    append_once(&sequenced, "{\"a\":1}");
    CHECK_NUMBERS(NAME, "1 2");
    check_agree(NAME);
}

/* A group of three after one line, with one line of the group damaged. */
static void
damage_in_group(int which)
{
    struct buf b = { 0 };
    size_t at[5];

    put_sealed(&b, "{\"a\":1}", 1, 1, 1);
    for (int i = 1; i <= 3; i++) {
        at[i] = b.len;
        put_sealed(&b, "{\"group\":1}", (size_t)i, 3, 1 + (uint64_t)i);
    }
    b.p[at[which] + 3] ^= 1;
    write_bytes(NAME, b.p, b.len);
    buf_release(&b);
}

static void
a_group_with_any_damaged_line_is_ignored_as_a_whole(void **state)
{
    (void)state;
    for (int which = 1; which <= 3; which++) {
        damage_in_group(which);
        CHECK_NUMBERS(NAME, "1");
        struct lines l = read_lines(NAME, SEQUENCED | WITH_BAD);
        assert_int_equal(l.n, 4);
        assert_int_equal(l.bad, 3);
        for (int i = 1; i <= 3; i++)
            assert_int_equal(l.v[i].rec.verdict, i == which ? LOG_BAD : LOG_UNGROUPED);
        free_lines(&l);
    }
}

static void
the_numbers_of_a_damaged_group_are_used_again(void **state)
{
    (void)state;
    for (int which = 1; which <= 3; which++) {
        damage_in_group(which);
        assert_int_equal(next_number(), 2);
        append_once(&sequenced, "{\"b\":1}");
        append_once(&sequenced, "{\"c\":1}");
        CHECK_NUMBERS(NAME, "1 2 3");
        check_agree(NAME);
    }
}

static void
a_damaged_group_at_the_start_of_a_file_is_skipped(void **state)
{
    struct buf b = { 0 };

    (void)state;
    for (size_t lost = 1; lost <= 3; lost++) {
        buf_reset(&b);
        for (size_t i = 1; i <= 3; i++)
            if (i != lost)
                put_sealed(&b, "{\"group\":1}", i, 3, i);
        write_bytes(NAME, b.p, b.len);
        append_once(&sequenced, "{\"a\":1}");
        CHECK_NUMBERS(NAME, "1");
        check_agree(NAME);
    }
    buf_release(&b);
}

static void
a_foreign_line_inside_a_group_breaks_it(void **state)
{
    struct buf b = { 0 };

    (void)state;
    put_sealed(&b, "{\"a\":1}", 1, 1, 1);
    put_sealed(&b, "{\"group\":1}", 1, 3, 2);
    buf_adds(&b, "{\"f\":1}\n");
    put_sealed(&b, "{\"group\":1}", 2, 3, 3);
    put_sealed(&b, "{\"group\":1}", 3, 3, 4);
    write_bytes(NAME, b.p, b.len);
    CHECK_NUMBERS(NAME, "1 2"); /* the line before, and the foreign one */
    assert_int_equal(next_number(), 3);
    append_once(&sequenced, "{\"b\":1}");
    CHECK_NUMBERS(NAME, "1 2 3");
    check_agree(NAME);
    buf_release(&b);
}

static void
a_blank_line_inside_a_group_breaks_it(void **state)
{
    struct buf b = { 0 };

    (void)state;
    put_sealed(&b, "{\"group\":1}", 1, 2, 1);
    buf_adds(&b, "\n");
    put_sealed(&b, "{\"group\":1}", 2, 2, 2);
    write_bytes(NAME, b.p, b.len);
    CHECK_NUMBERS(NAME, "");
    append_once(&sequenced, "{\"b\":1}");
    CHECK_NUMBERS(NAME, "1");
    check_agree(NAME);
    buf_release(&b);
}

static void
the_end_of_one_group_does_not_complete_another(void **state)
{
    struct buf b = { 0 };

    (void)state;
    put_sealed(&b, "{\"one\":1}", 1, 2, 1); /* its second line was lost */
    put_sealed(&b, "{\"two\":1}", 2, 2, 9);
    write_bytes(NAME, b.p, b.len);
    CHECK_NUMBERS(NAME, "");
    assert_int_equal(next_number(), 1);
    buf_release(&b);
}

/* ---- groups that are not there yet ---- */

static void
an_unfinished_group_at_the_end_is_awaited(void **state)
{
    struct buf b = { 0 };
    struct log_reader r;
    struct log_record rec;

    (void)state;
    put_sealed(&b, "{\"k\":1}", 1, 3, 1);
    size_t one = b.len;
    put_sealed(&b, "{\"k\":2}", 2, 3, 2);
    put_sealed(&b, "{\"k\":3}", 3, 3, 3);
    write_bytes(NAME, b.p, one);
    int fd = open(NAME, O_RDONLY | O_CLOEXEC);
    log_reader_init(&r, fd, 0);
    r.is_sequenced = true;
    assert_false(log_next(&r, &rec));
    write_bytes(NAME, b.p, b.len - 1);
    assert_false(log_next(&r, &rec));
    assert_int_equal(r.bad, 0);
    write_bytes(NAME, b.p, b.len);
    for (uint64_t i = 1; i <= 3; i++) {
        assert_true(log_next(&r, &rec));
        assert_int_equal(rec.seq, i);
        assert_int_equal(rec.line, i);
    }
    assert_false(log_next(&r, &rec));
    CHECK_OK(log_reader_status(&r, &e), &e);
    log_reader_release(&r);
    close(fd);
    buf_release(&b);
}

static void
an_unfinished_group_followed_by_another_line_is_dropped(void **state)
{
    struct buf b = { 0 };
    struct log_reader r;
    struct log_record rec;

    (void)state;
    put_sealed(&b, "{\"k\":1}", 1, 3, 1);
    put_sealed(&b, "{\"k\":2}", 2, 3, 2);
    write_bytes(NAME, b.p, b.len);
    int fd = open(NAME, O_RDONLY | O_CLOEXEC);
    log_reader_init(&r, fd, 0);
    r.is_sequenced = true;
    assert_false(log_next(&r, &rec));
    append_file(NAME, "{\"f\":1}\n");
    assert_true(log_next(&r, &rec));
    assert_string_equal(rec.problem ? rec.problem : "", "");
    assert_int_equal(rec.seq, 1);
    assert_int_equal(rec.line, 3);
    assert_int_equal(r.bad, 2);
    log_reader_release(&r);
    close(fd);
    buf_release(&b);
}

static void
a_group_larger_than_the_window_is_read_whole(void **state)
{
    struct log l = open_log(&sequenced);
    struct log_text texts[20];
    char *text = malloc(200000);

    (void)state;
    memset(text, 'x', 200000);
    memcpy(text, "{\"a\":\"", 6);
    memcpy(text + 199998, "\"}", 2);
    for (int i = 0; i < 20; i++)
        texts[i] = (struct log_text){ text, 200000 };
    CHECK_OK(append(&l, "{\"first\":1}", &e), &e);
    CHECK_OK(log_append(&l, texts, 20, &e), &e);
    CHECK_OK(append(&l, "{\"last\":1}", &e), &e);
    log_close(&l);
    check_agree(NAME);
    assert_int_equal(next_number(), 23);
    free(text);
}

/* The reader keeps some lines of a group when it looks ahead, and reads the rest again. */
static void
a_group_larger_than_the_read_ahead_is_read_line_by_line(void **state)
{
    enum { LINES = 24, LEN = 500000 };
    struct log l = open_log(&sequenced);
    struct log_text texts[LINES];
    struct log_reader r;
    struct log_record rec;
    int64_t k;

    (void)state;
    for (int i = 0; i < LINES; i++) {
        char *text = malloc(LEN + 1);
        int n = sprintf(text, "{\"k\":%d,\"a\":\"", i);
        memset(text + n, 'a' + i, (size_t)(LEN - n));
        strcpy(text + LEN - 2, "\"}");
        texts[i] = (struct log_text){ text, LEN };
    }
    CHECK_OK(log_append(&l, texts, LINES, &e), &e);
    CHECK_OK(append(&l, "{\"k\":24}", &e), &e);
    log_close(&l);
    int fd = open(NAME, O_RDONLY | O_CLOEXEC);
    log_reader_init(&r, fd, 0);
    r.is_sequenced = true;
    for (int i = 0; i <= LINES; i++) {
        assert_true(log_next(&r, &rec));
        assert_int_equal(rec.line, i + 1);
        assert_int_equal(rec.seq, i + 1);
        assert_true(json_int(json_get(rec.json, "k"), &k) && k == i);
        if (i < LINES)
            assert_memory_equal(rec.text, texts[i].p, LEN - 1); /* then the seal */
        assert_true(r.group.used < 10 << 20);
    }
    assert_false(log_next(&r, &rec));
    assert_int_equal(rec.end, r.at);
    log_reader_release(&r);
    close(fd);
    for (int i = 0; i < LINES; i++)
        free((char *)texts[i].p);
}

/* Lines that a reader holds of an incomplete group must not be returned with the next group. */
static void
lines_of_an_awaited_group_are_returned_once(void **state)
{
    struct buf b = { 0 };
    struct log_reader r;
    struct log_record rec;

    (void)state;
    put_sealed(&b, "{\"k\":1}", 1, 3, 1);
    put_sealed(&b, "{\"k\":2}", 2, 3, 2);
    write_bytes(NAME, b.p, b.len);
    int fd = open(NAME, O_RDONLY | O_CLOEXEC);
    log_reader_init(&r, fd, 0);
    r.is_sequenced = true;
    r.wants_bad = true;
    assert_false(log_next(&r, &rec));
    assert_false(log_next(&r, &rec));
    put_sealed(&b, "{\"k\":7}", 1, 2, 1);
    put_sealed(&b, "{\"k\":8}", 2, 2, 2);
    write_bytes(NAME, b.p, b.len);
    for (uint64_t line = 1; line <= 4; line++) {
        assert_true(log_next(&r, &rec));
        assert_int_equal(rec.line, line);
        assert_int_equal(rec.verdict, line < 3 ? LOG_UNGROUPED : LOG_GOOD);
        assert_int_equal(rec.seq, line < 3 ? 0 : line - 2);
        assert_int_equal(rec.text[5], "1278"[line - 1]);
    }
    assert_false(log_next(&r, &rec));
    assert_int_equal(r.bad, 2);
    log_reader_release(&r);
    close(fd);
    buf_release(&b);
}

/* ---- a crash at every byte ---- */

/* Three lines, then a group of three; the file is cut at every byte of the group. The next
 * process that opens the log can append, and readers see the old lines, the group whole or not
 * at all, and the new lines, numbered without a gap. */
static void
a_log_cut_at_any_byte_of_its_last_group_goes_on(void **state)
{
    size_t len, before;

    (void)state;
    struct log l = open_log(&sequenced);
    for (int i = 0; i < 3; i++)
        CHECK_OK(append(&l, "{\"old\":1}", &e), &e);
    before = (size_t)file_size(NAME);
    CHECK_OK(append_group(&l, 1, 3, &e), &e);
    log_close(&l);
    char *whole = read_file(NAME, &len);
    for (size_t cut = before; cut <= len; cut++) {
        write_bytes(NAME, whole, cut);
        append_once(&sequenced, "{\"new\":1}");
        append_once(&sequenced, "{\"new\":2}");
        assert_int_equal(count_records(NAME, SEQUENCED, "old"), 3);
        assert_int_equal(count_records(NAME, SEQUENCED, "new"), 2);
        size_t of_group = count_records(NAME, SEQUENCED, "\"k\"");
        if (of_group != 0 && of_group != 3)
            fail_msg("cut at %zu: %zu lines of the group are seen", cut, of_group);
        if (cut == len)
            assert_int_equal(of_group, 3);
        if (cut + 1 < len)
            assert_int_equal(of_group, 0);
        check_agree(NAME);
    }
    free(whole);
}

static void
a_log_cut_at_any_byte_of_its_last_line_goes_on(void **state)
{
    size_t len, before;

    (void)state;
    append_once(&sequenced, "{\"old\":1}");
    before = (size_t)file_size(NAME);
    append_once(&sequenced, "{\"last\":1}");
    char *whole = read_file(NAME, &len);
    for (size_t cut = before; cut <= len; cut++) {
        write_bytes(NAME, whole, cut);
        append_once(&sequenced, "{\"new\":1}");
        assert_int_equal(count_records(NAME, SEQUENCED, "old"), 1);
        assert_int_equal(count_records(NAME, SEQUENCED, "new"), 1);
        check_agree(NAME);
    }
    free(whole);
}

static void
a_writer_that_stays_open_survives_a_cut_at_any_byte(void **state)
{
    size_t len, before;

    (void)state;
    struct log l = open_log(&sequenced);
    CHECK_OK(append(&l, "{\"old\":1}", &e), &e);
    before = (size_t)file_size(NAME);
    CHECK_OK(append_group(&l, 1, 2, &e), &e);
    char *whole = read_file(NAME, &len);
    for (size_t cut = before; cut <= len; cut++) {
        write_bytes(NAME, whole, len);
        CHECK_OK(log_lock(&l, &e), &e); /* it has read the whole file */
        log_unlock(&l);
        assert_int_equal(truncate(NAME, (off_t)cut), 0);
        CHECK_OK(append(&l, "{\"new\":1}", &e), &e);
        assert_int_equal(count_records(NAME, SEQUENCED, "old"), 1);
        assert_int_equal(count_records(NAME, SEQUENCED, "new"), 1);
        check_agree(NAME);
    }
    log_close(&l);
    free(whole);
}

/* ---- writers without the lock ---- */

static const char *intrusion;
static int intrusions;

static ssize_t
write_late(int fd, const void *p, size_t n)
{
    if (intrusions > 0) {
        intrusions--;
        append_file(NAME, intrusion);
    }
    return sys_kernel.write(fd, p, n);
}

static struct sys odd;

static void
intrude(const char *text)
{
    odd = sys_kernel;
    odd.write = write_late;
    sys = &odd;
    intrusion = text;
    intrusions = 1;
}

/* The record keeps the number it was sealed with, and readers count it one higher; all later
 * lines must agree again. */
static size_t
count_disagreeing(void)
{
    struct lines l = read_lines(NAME, SEQUENCED);
    size_t n = 0;

    for (size_t i = 0; i < l.n; i++) {
        const char *seq = strstr(l.v[i].text, "\"seq\":");
        n += seq && (uint64_t)strtoull(seq + 6, NULL, 10) != l.v[i].rec.seq;
        assert_int_equal(l.v[i].rec.seq, i + 1);
    }
    free_lines(&l);
    return n;
}

static void
an_unlocked_line_before_ours_moves_only_ours(void **state)
{
    struct log l = open_log(&sequenced);

    (void)state;
    CHECK_OK(append(&l, "{\"a\":1}", &e), &e);
    intrude("{\"x\":1}\n");
    CHECK_OK(append(&l, "{\"b\":1}", &e), &e);
    CHECK_OK(append(&l, "{\"c\":1}", &e), &e);
    CHECK_OK(append_group(&l, 1, 2, &e), &e);
    log_close(&l);
    CHECK_NUMBERS(NAME, "1 2 3 4 5 6");
    assert_int_equal(count_disagreeing(), 1);
}

static void
a_new_opener_sees_that_an_unlocked_line_moved_ours(void **state)
{
    struct log l = open_log(&sequenced);

    (void)state;
    CHECK_OK(append(&l, "{\"a\":1}", &e), &e);
    intrude("{\"x\":1}\n{\"x\":2}\n");
    CHECK_OK(append(&l, "{\"b\":1}", &e), &e);
    log_close(&l);
    append_once(&sequenced, "{\"c\":1}");
    CHECK_NUMBERS(NAME, "1 2 3 4 5");
    assert_int_equal(count_disagreeing(), 1);
}

static void
an_unlocked_line_before_the_very_first_is_counted(void **state)
{
    struct log l = open_log(&sequenced);

    (void)state;
    intrude("{\"x\":1}\n");
    CHECK_OK(append(&l, "{\"a\":1}", &e), &e);
    CHECK_OK(append(&l, "{\"b\":1}", &e), &e);
    log_close(&l);
    append_once(&sequenced, "{\"c\":1}");
    CHECK_NUMBERS(NAME, "1 2 3 4");
    assert_int_equal(count_disagreeing(), 1);
}

static void
a_group_moved_by_an_unlocked_line_is_still_whole(void **state)
{
    struct log l = open_log(&sequenced);

    (void)state;
    CHECK_OK(append(&l, "{\"a\":1}", &e), &e);
    intrude("{\"x\":1}\n");
    CHECK_OK(append_group(&l, 1, 3, &e), &e);
    CHECK_OK(append(&l, "{\"b\":1}", &e), &e);
    log_close(&l);
    append_once(&sequenced, "{\"c\":1}");
    CHECK_NUMBERS(NAME, "1 2 3 4 5 6 7");
    assert_int_equal(count_disagreeing(), 3);
}

static void
a_record_appended_to_a_torn_line_keeps_the_numbers_right(void **state)
{
    struct log l = open_log(&sequenced);

    (void)state;
    CHECK_OK(append(&l, "{\"a\":1}", &e), &e);
    intrude("{\"torn");
    CHECK_OK(append(&l, "{\"b\":1}", &e), &e);
    CHECK_OK(append(&l, "{\"c\":1}", &e), &e);
    log_close(&l);
    CHECK_NUMBERS(NAME, "1 2 3");
    check_agree(NAME);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(numbers_start_at_1_and_have_no_gaps),
        CASE(another_opener_goes_on_where_the_last_one_stopped),
        CASE(writers_that_take_turns_agree),
        CASE(processes_that_race_agree),
        CASE(foreign_lines_take_numbers_by_position),
        CASE(a_log_of_foreign_lines_only_is_counted),
        CASE(a_writer_that_is_open_counts_foreign_lines_too),
        CASE(foreign_lines_after_a_group_are_counted),
        CASE(a_foreign_seq_without_a_checksum_means_nothing),
        CASE(a_whole_foreign_record_without_its_newline_takes_its_number),
        CASE(a_writer_that_is_open_counts_a_record_without_its_newline),
        CASE(damaged_lines_take_no_number_and_are_skipped),
        CASE(a_damaged_last_line_gives_its_number_to_the_next),
        CASE(a_group_with_any_damaged_line_is_ignored_as_a_whole),
        CASE(the_numbers_of_a_damaged_group_are_used_again),
        CASE(a_damaged_group_at_the_start_of_a_file_is_skipped),
        CASE(a_foreign_line_inside_a_group_breaks_it),
        CASE(a_blank_line_inside_a_group_breaks_it),
        CASE(the_end_of_one_group_does_not_complete_another),
        CASE(an_unfinished_group_at_the_end_is_awaited),
        CASE(an_unfinished_group_followed_by_another_line_is_dropped),
        CASE(a_group_larger_than_the_window_is_read_whole),
        CASE(a_group_larger_than_the_read_ahead_is_read_line_by_line),
        CASE(lines_of_an_awaited_group_are_returned_once),
        CASE(a_log_cut_at_any_byte_of_its_last_group_goes_on),
        CASE(a_log_cut_at_any_byte_of_its_last_line_goes_on),
        CASE(a_writer_that_stays_open_survives_a_cut_at_any_byte),
        CASE(an_unlocked_line_before_ours_moves_only_ours),
        CASE(a_new_opener_sees_that_an_unlocked_line_moved_ours),
        CASE(an_unlocked_line_before_the_very_first_is_counted),
        CASE(a_group_moved_by_an_unlocked_line_is_still_whole),
        CASE(a_record_appended_to_a_torn_line_keeps_the_numbers_right),
    };

    return cmocka_run_group_tests_name("log numbers", tests, NULL, NULL);
}
