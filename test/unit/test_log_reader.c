/* Tests log/reader: whole lines only, and the same lines from either end. */
#define _GNU_SOURCE
#include "fault.h"
#include "logs.h"

#include <fcntl.h>

static struct err e;

/* Reads from both ends, compares, and returns the number of lines: good ones with flags 0, all
 * with WITH_BAD. */
static size_t
check_both_ways(const char *name, int flags)
{
    struct lines f = read_lines(name, FORWARD | flags), b = read_lines(name, BACKWARD | flags);
    size_t n = f.n;

    assert_int_equal(f.n, b.n);
    assert_int_equal(f.bad, b.bad);
    for (size_t i = 0; i < n; i++) {
        struct line *x = &f.v[i], *y = &b.v[n - 1 - i];
        assert_int_equal(x->rec.at, y->rec.at);
        assert_int_equal(x->rec.end, y->rec.end);
        assert_int_equal(x->rec.verdict, y->rec.verdict);
        assert_int_equal(x->rec.column, y->rec.column);
        assert_int_equal(x->len, y->len);
        assert_memory_equal(x->text, y->text, x->len);
        assert_true(x->rec.problem == y->rec.problem);
        assert_int_equal(y->rec.line, 0);
    }
    free_lines(&f);
    free_lines(&b);
    return n;
}

/* A JSON object of exactly len bytes (at least 8) without '\n'. */
static void
add_object(struct buf *b, size_t len, char fill)
{
    char *to;

    assert_true(len >= 8);
    to = buf_room(b, len);
    assert_non_null(to);
    memset(to, fill, len);
    memcpy(to, "{\"a\":\"", 6);
    memcpy(to + len - 2, "\"}", 2);
    buf_grew(b, len);
}

static void
an_empty_file_has_no_records(void **state)
{
    (void)state;
    write_file(NAME, "");
    assert_int_equal(check_both_ways(NAME, WITH_BAD), 0);
}

static void
records_have_their_offset_and_line_number(void **state)
{
    (void)state;
    write_file(NAME, "{\"a\":1}\n{\"b\":22}\n");
    struct lines l = read_lines(NAME, 0);
    assert_int_equal(l.n, 2);
    assert_string_equal(l.v[0].text, "{\"a\":1}");
    assert_int_equal(l.v[0].rec.at, 0);
    assert_int_equal(l.v[0].rec.end, 8);
    assert_int_equal(l.v[0].rec.line, 1);
    assert_string_equal(l.v[1].text, "{\"b\":22}");
    assert_int_equal(l.v[1].rec.at, 8);
    assert_int_equal(l.v[1].rec.end, 17);
    assert_int_equal(l.v[1].rec.line, 2);
    assert_int_equal(l.v[1].rec.seq, 0);
    free_lines(&l);
    check_both_ways(NAME, 0);
}

static void
the_object_of_a_record_is_parsed(void **state)
{
    struct log_reader r;
    struct log_record rec;

    (void)state;
    write_file(NAME, "{\"a\":{\"b\":[1,2]}}\n");
    int fd = open(NAME, O_RDONLY | O_CLOEXEC);
    log_reader_init(&r, fd, 0);
    assert_true(log_next(&r, &rec));
    int64_t n;
    assert_true(json_int(json_path(rec.json, "a.b[1]"), &n));
    assert_int_equal(n, 2);
    log_reader_release(&r);
    close(fd);
}

static void
reading_may_begin_at_any_line(void **state)
{
    struct log_reader r;
    struct log_record rec;

    (void)state;
    write_file(NAME, "{\"a\":1}\n{\"b\":1}\n{\"c\":1}\n");
    int fd = open(NAME, O_RDONLY | O_CLOEXEC);
    log_reader_init(&r, fd, 8);
    assert_true(log_next(&r, &rec));
    assert_int_equal(rec.at, 8);
    assert_true(log_next(&r, &rec));
    assert_false(log_next(&r, &rec));
    log_reader_release(&r);
    log_reader_init(&r, fd, 24); /* at the end */
    assert_false(log_next(&r, &rec));
    log_reader_release(&r);
    log_reader_init(&r, fd, 1000); /* after the end */
    assert_false(log_next(&r, &rec));
    CHECK_OK(log_reader_status(&r, &e), &e);
    log_reader_release(&r);
    close(fd);
}

static void
forward_and_backward_may_be_mixed(void **state)
{
    struct log_reader r;
    struct log_record rec;

    (void)state;
    write_file(NAME, "{\"a\":1}\n{\"b\":1}\n{\"c\":1}\n");
    int fd = open(NAME, O_RDONLY | O_CLOEXEC);
    log_reader_init(&r, fd, 0);
    assert_true(log_next(&r, &rec));
    assert_int_equal(rec.at, 0);
    assert_true(log_prev(&r, &rec));
    assert_int_equal(rec.at, 16);
    assert_true(log_next(&r, &rec));
    assert_int_equal(rec.at, 8);
    assert_true(log_prev(&r, &rec));
    assert_int_equal(rec.at, 8);
    assert_true(log_next(&r, &rec));
    assert_int_equal(rec.at, 16);
    assert_false(log_next(&r, &rec));
    assert_true(log_prev(&r, &rec));
    assert_int_equal(rec.at, 0);
    assert_false(log_prev(&r, &rec));
    log_reader_release(&r);
    close(fd);
}

/* ---- bad lines ---- */

static void
blank_lines_are_ignored(void **state)
{
    (void)state;
    write_file(NAME, "\n\n{\"a\":1}\n  \t\n\r\n{\"b\":1}\n\n\n");
    struct lines l = read_lines(NAME, WITH_BAD);
    assert_int_equal(l.n, 2);
    assert_int_equal(l.bad, 0);
    assert_int_equal(l.v[0].rec.line, 3);
    assert_int_equal(l.v[1].rec.line, 6);
    free_lines(&l);
    check_both_ways(NAME, WITH_BAD);
}

static void
carriage_returns_and_spaces_around_an_object_are_ignored(void **state)
{
    (void)state;
    write_file(NAME, "{\"a\":1}\r\n  {\"b\":1}\t\r\n{ \"c\" : 1 }  \n");
    assert_int_equal(check_both_ways(NAME, 0), 3);
    assert_int_equal(count_records(NAME, 0, "\"b\""), 1);
}

static void
bad_lines_are_skipped_and_counted(void **state)
{
    (void)state;
    write_file(NAME, "{\"a\":1}\nnonsense\n[1,2]\n{\"b\":1}\n42\n{\"c\":}\n");
    struct lines l = read_lines(NAME, 0);
    assert_int_equal(l.n, 2);
    assert_int_equal(l.bad, 4);
    assert_int_equal(l.v[1].rec.line, 4);
    free_lines(&l);
    check_both_ways(NAME, 0);
}

static void
bad_lines_are_reported_with_reason_and_column_on_demand(void **state)
{
    static const struct {
        const char *line;
        enum log_verdict verdict;
        unsigned column;
    } cases[] = {
        { "xyz", LOG_BAD, 1 },
        { "{\"a\":tru}", LOG_BAD, 9 },
        { "{\"a\":1}x", LOG_BAD, 8 },
        { "{\"a\":1,\"a\":2}", LOG_BAD, 8 }, /* twice */
        { "[]", LOG_BAD, 1 },
        { "\"text\"", LOG_BAD, 1 },
        { "{\"\xC3\xA9\":\xFF}", LOG_BAD, 6 }, /* columns are characters */
        { "\xEF\xBB\xBF{}", LOG_BAD, 1 },      /* a byte order mark */
        { "{\"a\":", LOG_FRAGMENT, 6 },
        { "{", LOG_FRAGMENT, 2 },
        { "  {\"a", LOG_FRAGMENT, 6 },
        { "{\"a\":\"\xE2\x82", LOG_FRAGMENT, 0 }, /* torn inside a character */
        { "\"a", LOG_BAD, 0 },                    /* the beginning of something else */
        { "[1,", LOG_BAD, 0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf b = { 0 };
        buf_addf(&b, "{\"before\":1}\n%s\n{\"after\":1}\n", cases[i].line);
        write_file(NAME, b.p);
        struct lines l = read_lines(NAME, WITH_BAD);
        assert_int_equal(l.n, 3);
        struct log_record *rec = &l.v[1].rec;
        if (rec->verdict != cases[i].verdict)
            fail_msg("%s is taken for %d: %s", cases[i].line, (int)rec->verdict, rec->problem);
        if (cases[i].column && rec->column != cases[i].column)
            fail_msg("%s: column %u", cases[i].line, rec->column);
        assert_non_null(rec->problem);
        assert_int_equal(rec->line, 2);
        assert_string_equal(l.v[1].text, cases[i].line);
        free_lines(&l);
        check_both_ways(NAME, WITH_BAD);
        buf_release(&b);
    }
}

static void
a_line_with_NUL_bytes_is_bad(void **state)
{
    (void)state;
    write_bytes(NAME, "{\"a\":1}\n\0\0\0\0\n{\"b\":1}\n \0 \n", 25);
    struct lines l = read_lines(NAME, WITH_BAD);
    assert_int_equal(l.n, 4);
    assert_int_equal(l.v[1].rec.verdict, LOG_BAD);
    assert_int_equal(l.v[3].rec.verdict, LOG_BAD);
    free_lines(&l);
    check_both_ways(NAME, WITH_BAD);
}

/* ---- tails ---- */

static void
a_line_exists_once_its_newline_does(void **state)
{
    struct log_reader r;
    struct log_record rec;
    static const char line[] = "{\"b\":\"two\"}";

    (void)state;
    write_file(NAME, "{\"a\":1}\n");
    int fd = open(NAME, O_RDONLY | O_CLOEXEC);
    log_reader_init(&r, fd, 0);
    assert_true(log_next(&r, &rec));
    for (const char *p = line; *p; p++) {
        append_file(NAME, (char[]){ *p, '\0' });
        assert_false(log_next(&r, &rec));
        struct lines b = read_lines(NAME, BACKWARD | WITH_BAD);
        assert_int_equal(b.n, 1); /* from the end, too */
        free_lines(&b);
    }
    append_file(NAME, "\n");
    assert_true(log_next(&r, &rec));
    assert_memory_equal(rec.text, line, rec.len);
    assert_int_equal(rec.line, 2);
    assert_int_equal(r.bad, 0);
    log_reader_release(&r);
    close(fd);
}

static void
a_file_without_any_newline_has_no_records(void **state)
{
    (void)state;
    write_file(NAME, "{\"a\":1}");
    assert_int_equal(check_both_ways(NAME, WITH_BAD), 0);
}

static void
an_unfinished_line_that_was_undone_leaves_nothing(void **state)
{
    struct log_reader r;
    struct log_record rec;

    (void)state;
    write_file(NAME, "{\"a\":1}\n{\"half\":");
    int fd = open(NAME, O_RDONLY | O_CLOEXEC);
    log_reader_init(&r, fd, 0);
    assert_true(log_next(&r, &rec));
    assert_false(log_next(&r, &rec));
    assert_int_equal(truncate(NAME, 8), 0); /* its writer undoes it ... */
    append_file(NAME, "{\"b\":1}\n");       /* ... and another writer appends */
    assert_true(log_next(&r, &rec));
    assert_int_equal(rec.len, 7);
    assert_memory_equal(rec.text, "{\"b\":1}", 7);
    log_reader_release(&r);
    close(fd);
}

/* ---- sizes ---- */

static void
lines_of_any_size_around_the_chunks_are_read_from_both_ends(void **state)
{
    static const size_t centres[] = { 16, 4096, 65536, 65536 + 4096, 2 * 65536, 5 * 65536 };
    struct buf b = { 0 };

    (void)state;
    for (size_t c = 0; c < sizeof centres / sizeof *centres; c++)
        for (int d = -3; d <= 3; d++) {
            size_t len = (size_t)((int)centres[c] + d);
            buf_reset(&b);
            for (int i = 0; i < 3; i++) { /* alone, among small lines, among lines of its size */
                add_object(&b, len, (char)('a' + i));
                buf_adds(&b, "\n{\"s\":1}\n\n");
            }
            add_object(&b, len, 'x');
            buf_adds(&b, "\n");
            add_object(&b, len, 'y');
            buf_adds(&b, "\n{\"torn");
            write_bytes(NAME, b.p, b.len);
            assert_int_equal(check_both_ways(NAME, WITH_BAD), 8);
            struct lines l = read_lines(NAME, 0);
            assert_int_equal(l.v[6].len, len);
            assert_int_equal(l.v[6].text[10 % (len - 2)], 'x');
            free_lines(&l);
        }
    buf_release(&b);
}

/* The chunk boundary falls on every byte of a short line. */
static void
a_chunk_may_end_at_any_byte_of_a_line(void **state)
{
    static const size_t borders[] = { 4096, 65536 };
    struct buf b = { 0 };

    (void)state;
    for (size_t k = 0; k < 2; k++)
        for (size_t shift = 0; shift < 24; shift++) {
            buf_reset(&b);
            add_object(&b, borders[k] - shift, 'p');
            buf_adds(&b, "\n");
            for (int i = 0; i < 4; i++)
                buf_addf(&b, "{\"line\":%d}\n", i);
            add_object(&b, borders[k] - shift, 'q');
            buf_adds(&b, "\n");
            write_bytes(NAME, b.p, b.len);
            assert_int_equal(check_both_ways(NAME, WITH_BAD), 6);
        }
    buf_release(&b);
}

static void
many_small_lines_over_many_chunks_are_read_from_both_ends(void **state)
{
    struct buf b = { 0 };

    (void)state;
    for (int i = 0; i < 20000; i++)
        buf_addf(&b, "{\"k\":%d}%s\n", i, i % 100 == 7 ? "!" : "");
    write_bytes(NAME, b.p, b.len);
    assert_int_equal(check_both_ways(NAME, WITH_BAD), 20000);
    assert_int_equal(check_both_ways(NAME, 0), 19800);
    buf_release(&b);
}

static void
a_line_of_one_MiB_is_good_and_one_byte_more_is_too_long(void **state)
{
    struct buf b = { 0 };

    (void)state;
    for (int more = -2; more <= 2; more++) {
        buf_reset(&b);
        buf_adds(&b, "{\"before\":1}\n");
        add_object(&b, (size_t)((int)LOG_LINE_MAX - 1 + more), 'x');
        buf_adds(&b, "\n{\"after\":1}\n");
        write_bytes(NAME, b.p, b.len);
        assert_int_equal(check_both_ways(NAME, WITH_BAD), 3);
        struct lines l = read_lines(NAME, WITH_BAD);
        assert_int_equal(l.v[1].rec.verdict, more > 0 ? LOG_TOO_LONG : LOG_GOOD);
        if (more > 0)
            assert_string_equal(l.v[1].rec.problem, "line longer than 1 MiB");
        assert_string_equal(l.v[2].text, "{\"after\":1}");
        assert_int_equal(l.v[2].rec.line, 3);
        free_lines(&l);
    }
    buf_release(&b);
}

static void
very_long_lines_cost_only_themselves(void **state)
{
    struct buf b = { 0 };

    (void)state;
    for (int i = 0; i < 3; i++) {
        buf_addf(&b, "{\"k\":%d}\n", i);
        add_object(&b, (size_t)(3 + i) << 20, 'x');
        buf_adds(&b, "\n");
    }
    buf_adds(&b, "{\"k\":3}\n");
    write_bytes(NAME, b.p, b.len);
    assert_int_equal(check_both_ways(NAME, WITH_BAD), 7);
    assert_int_equal(check_both_ways(NAME, 0), 4);
    CHECK_LINES(NAME, 0, "{\"k\":0}\n{\"k\":1}\n{\"k\":2}\n{\"k\":3}\n");
    buf_release(&b);
}

static void
a_very_long_first_line_and_tail_are_skipped(void **state)
{
    struct buf b = { 0 };

    (void)state;
    add_object(&b, 2 << 20, 'x');
    buf_adds(&b, "\n{\"k\":1}\n");
    add_object(&b, 2 << 20, 'y'); /* no '\n' behind it */
    write_bytes(NAME, b.p, b.len);
    assert_int_equal(check_both_ways(NAME, WITH_BAD), 2);
    assert_int_equal(check_both_ways(NAME, 0), 1);
    write_bytes(NAME, b.p, 2 << 20);
    assert_int_equal(check_both_ways(NAME, WITH_BAD), 0);
    buf_release(&b);
}

static void
a_long_line_of_newline_free_garbage_is_too_long_not_a_fragment(void **state)
{
    char *p = malloc(3 << 20);

    (void)state;
    memset(p, 0, 3 << 20); /* as some file systems leave after a crash */
    write_bytes(NAME, p, 3 << 20);
    append_file(NAME, "\n{\"k\":1}\n");
    struct lines l = read_lines(NAME, WITH_BAD);
    assert_int_equal(l.n, 2);
    assert_int_equal(l.v[0].rec.verdict, LOG_TOO_LONG);
    free_lines(&l);
    free(p);
    check_both_ways(NAME, WITH_BAD);
}

/* ---- reading while others write ---- */

static void
a_reader_beside_a_writer_sees_every_record_once(void **state)
{
    enum { RECORDS = 300 };
    struct log_reader r;
    struct log_record rec;
    int fds[2], seen = 0;

    (void)state;
    write_file(NAME, "");
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct log_options o = { 0 };
        struct log l;
        int bad = log_open(&l, here(), NAME, &o, NULL) != ST_OK;
        for (int i = 0; i < RECORDS && !bad; i++) {
            char text[9000];
            int n = snprintf(text, sizeof text, "{\"k\":%d,\"pad\":\"%0*d\"}", i,
                             1 + (i * 997) % 8000, 0);
            bad = log_append(&l, &(struct log_text){ text, (size_t)n }, 1, NULL) != ST_OK ||
                  write(fds[1], "x", 1) != 1;
        }
        _exit(bad);
    }
    int fd = open(NAME, O_RDONLY | O_CLOEXEC);
    log_reader_init(&r, fd, 0);
    while (seen < RECORDS) {
        char c[16];
        wait_readable(fds[0]);
        assert_true(read(fds[0], c, sizeof c) > 0);
        while (log_next(&r, &rec)) {
            int k;
            assert_int_equal(sscanf(rec.text, "{\"k\":%d,", &k), 1);
            assert_int_equal(k, seen++);
        }
    }
    CHECK_OK(log_reader_status(&r, &e), &e);
    assert_int_equal(r.bad, 0);
    log_reader_release(&r);
    assert_int_equal(wait_child(pid), 0);
    close(fd);
    close(fds[0]);
    close(fds[1]);
    assert_int_equal(check_both_ways(NAME, WITH_BAD), RECORDS);
}

static void
backward_reading_sees_the_log_as_it_was_at_the_start(void **state)
{
    struct log_reader r;
    struct log_record rec;

    (void)state;
    write_file(NAME, "{\"a\":1}\n{\"b\":1}\n");
    int fd = open(NAME, O_RDONLY | O_CLOEXEC);
    log_reader_init(&r, fd, 0);
    assert_true(log_prev(&r, &rec));
    append_file(NAME, "{\"c\":1}\n");
    assert_true(log_prev(&r, &rec));
    assert_int_equal(rec.at, 0);
    assert_false(log_prev(&r, &rec));
    log_reader_release(&r);
    close(fd);
}

/* ---- failing reads ---- */

static void
a_failing_read_is_reported_and_final(void **state)
{
    struct log_reader r;
    struct log_record rec;

    (void)state;
    write_file(NAME, "{\"a\":1}\n");
    int fd = open(NAME, O_RDONLY | O_CLOEXEC);
    for (int back = 0; back < 2; back++) {
        log_reader_init(&r, fd, 0);
        fault_always("pread", EIO);
        assert_false(back ? log_prev(&r, &rec) : log_next(&r, &rec));
        fault_off(NULL);
        CHECK_FAILS(log_reader_status(&r, &e), ST_IO, &e, "read the log: Input/output error");
        assert_false(back ? log_prev(&r, &rec) : log_next(&r, &rec));
        log_reader_release(&r);
    }
    close(fd);
}

static void
a_log_that_shrinks_under_a_backward_reader_is_reported(void **state)
{
    struct log_reader r;
    struct log_record rec;
    struct buf b = { 0 };

    (void)state;
    for (int i = 0; i < 20000; i++)
        buf_addf(&b, "{\"k\":%d}\n", i);
    write_bytes(NAME, b.p, b.len);
    buf_release(&b);
    int fd = open(NAME, O_RDONLY | O_CLOEXEC);
    log_reader_init(&r, fd, 0);
    assert_true(log_prev(&r, &rec));
    assert_int_equal(truncate(NAME, 0), 0);
    while (log_prev(&r, &rec))
        ;
    CHECK_FAILS(log_reader_status(&r, &e), ST_IO, &e, "the log shrank while it was read");
    log_reader_release(&r);
    close(fd);
}

/* Reads of one byte at a time, as from a bad network disk. */
static ssize_t
pread_one(int fd, void *to, size_t n, off_t at)
{
    return sys_kernel.pread(fd, to, n ? 1 : 0, at);
}

static void
short_reads_make_no_difference(void **state)
{
    struct sys slow = sys_kernel;
    struct buf b = { 0 };

    (void)state;
    for (int i = 0; i < 60; i++)
        buf_addf(&b, "{\"k\":%d,\"pad\":\"%0*d\"}\n", i, 1 + i * 3, 0);
    write_bytes(NAME, b.p, b.len);
    buf_release(&b);
    slow.pread = pread_one;
    sys = &slow;
    assert_int_equal(check_both_ways(NAME, WITH_BAD), 60);
    sys = &sys_kernel;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(an_empty_file_has_no_records),
        CASE(records_have_their_offset_and_line_number),
        CASE(the_object_of_a_record_is_parsed),
        CASE(reading_may_begin_at_any_line),
        CASE(forward_and_backward_may_be_mixed),
        CASE(blank_lines_are_ignored),
        CASE(carriage_returns_and_spaces_around_an_object_are_ignored),
        CASE(bad_lines_are_skipped_and_counted),
        CASE(bad_lines_are_reported_with_reason_and_column_on_demand),
        CASE(a_line_with_NUL_bytes_is_bad),
        CASE(a_line_exists_once_its_newline_does),
        CASE(a_file_without_any_newline_has_no_records),
        CASE(an_unfinished_line_that_was_undone_leaves_nothing),
        CASE(lines_of_any_size_around_the_chunks_are_read_from_both_ends),
        CASE(a_chunk_may_end_at_any_byte_of_a_line),
        CASE(many_small_lines_over_many_chunks_are_read_from_both_ends),
        CASE(a_line_of_one_MiB_is_good_and_one_byte_more_is_too_long),
        CASE(very_long_lines_cost_only_themselves),
        CASE(a_very_long_first_line_and_tail_are_skipped),
        CASE(a_long_line_of_newline_free_garbage_is_too_long_not_a_fragment),
        CASE(a_reader_beside_a_writer_sees_every_record_once),
        CASE(backward_reading_sees_the_log_as_it_was_at_the_start),
        CASE(a_failing_read_is_reported_and_final),
        CASE(a_log_that_shrinks_under_a_backward_reader_is_reported),
        CASE(short_reads_make_no_difference),
    };

    return cmocka_run_group_tests_name("log reader", tests, NULL, NULL);
}
