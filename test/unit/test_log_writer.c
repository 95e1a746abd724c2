/* Tests of log/writer: one write, one sync, whole lines; a failed append leaves others intact. */
#define _GNU_SOURCE
#include "fault.h"
#include "logs.h"

#include "log/lock.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>

static struct err e;

/* ---- appending ---- */

static void
a_record_becomes_one_line(void **state)
{
    (void)state;
    append_once(&plain, "{\"a\":1}");
    CHECK_FILE(NAME, "{\"a\":1}\n");
}

static void
many_records_become_lines_in_order(void **state)
{
    struct log l = open_log(&plain);
    struct buf want = { 0 };

    (void)state;
    for (int i = 0; i < 200; i++) {
        char text[32];
        snprintf(text, sizeof text, "{\"k\":%d}", i);
        CHECK_OK(append(&l, text, &e), &e);
        buf_addf(&want, "%s\n", text);
    }
    log_close(&l);
    CHECK_FILE(NAME, want.p);
    buf_release(&want);
}

static void
a_batch_is_one_write_and_one_sync(void **state)
{
    struct log l = open_log(&durable);

    (void)state;
    CHECK_OK(append(&l, "{}", &e), &e); /* the first record also syncs the directory */
    fault_count_from_here();
    CHECK_OK(append_group(&l, 1, 50, &e), &e);
    assert_int_equal(fault_count("write"), 1);
    assert_int_equal(fault_count("fdatasync"), 1);
    assert_int_equal(fault_count("fsync"), 0);
    log_close(&l);
    assert_int_equal(count_records(NAME, 0, "k"), 50);
}

static void
the_largest_batch_is_taken(void **state)
{
    struct log l = open_log(&plain);

    (void)state;
    CHECK_OK(append_group(&l, 1, LOG_BATCH_MAX, &e), &e);
    log_close(&l);
    assert_int_equal(count_records(NAME, 0, "k"), LOG_BATCH_MAX);
}

static void
a_log_that_is_not_durable_does_not_sync(void **state)
{
    struct log l = open_log(&plain);

    (void)state;
    fault_count_from_here();
    CHECK_OK(append(&l, "{}", &e), &e);
    assert_int_equal(fault_count("fdatasync") + fault_count("fsync"), 0);
    log_close(&l);
}

static void
the_first_record_of_a_durable_log_makes_its_name_durable(void **state)
{
    struct log l = open_log(&durable);

    (void)state;
    fault_count_from_here();
    CHECK_OK(append(&l, "{}", &e), &e);
    assert_int_equal(fault_count("fdatasync"), 1);
    assert_int_equal(fault_count("fsync"), 1);
    CHECK_OK(append(&l, "{}", &e), &e);
    assert_int_equal(fault_count("fdatasync"), 2);
    assert_int_equal(fault_count("fsync"), 1);
    log_close(&l);
}

static void
a_new_log_belongs_to_its_owner_alone(void **state)
{
    mode_t old = umask(0);

    (void)state;
    append_once(&plain, "{}");
    umask(old);
    assert_int_equal(file_mode(NAME), 0600);
}

static void
an_existing_log_keeps_its_content(void **state)
{
    (void)state;
    write_file(NAME, "{\"old\":1}\n");
    append_once(&plain, "{\"new\":1}");
    CHECK_FILE(NAME, "{\"old\":1}\n{\"new\":1}\n");
}

static void
two_writers_in_one_process_see_each_other(void **state)
{
    struct log a = open_log(&plain), b = open_log(&plain);

    (void)state;
    CHECK_OK(append(&a, "{\"a\":1}", &e), &e);
    CHECK_OK(append(&b, "{\"b\":1}", &e), &e);
    CHECK_OK(append(&a, "{\"a\":2}", &e), &e);
    log_close(&a);
    log_close(&b);
    CHECK_FILE(NAME, "{\"a\":1}\n{\"b\":1}\n{\"a\":2}\n");
}

static void
processes_never_mix_their_lines(void **state)
{
    enum { PROCESSES = 4, EACH = 100 };
    pid_t pids[PROCESSES];

    (void)state;
    for (int p = 0; p < PROCESSES; p++) {
        pids[p] = fork();
        if (pids[p] == 0) {
            struct log l;
            struct log_options o = { 0 };
            int bad = log_open(&l, here(), NAME, &o, NULL) != ST_OK;
            for (int i = 0; i < EACH && !bad; i++) {
                char text[600];
                int n = snprintf(text, sizeof text, "{\"p\":%d,\"i\":%d,\"pad\":\"%0*d\"}", p, i,
                                 1 + (i * 37) % 500, 0);
                bad = log_append(&l, &(struct log_text){ text, (size_t)n }, 1, NULL) != ST_OK;
            }
            _exit(bad);
        }
    }
    for (int p = 0; p < PROCESSES; p++)
        assert_int_equal(wait_child(pids[p]), 0);
    struct lines l = read_lines(NAME, WITH_BAD);
    assert_int_equal(l.n, PROCESSES * EACH);
    assert_int_equal(l.bad, 0);
    int next[PROCESSES] = { 0 };
    for (size_t i = 0; i < l.n; i++) {
        int p, k;
        assert_int_equal(sscanf(l.v[i].text, "{\"p\":%d,\"i\":%d,", &p, &k), 2);
        assert_int_equal(k, next[p]++); /* each one's own order holds */
    }
    free_lines(&l);
}

static void
a_log_can_be_locked_looked_at_and_let_go(void **state)
{
    struct log l = open_log(&plain);

    (void)state;
    write_file(NAME, "{\"a\":1}\n");
    CHECK_OK(log_lock(&l, &e), &e);
    assert_int_equal(l.end, 8);
    log_unlock(&l);
    log_unlock(&l);
    CHECK_OK(append(&l, "{\"b\":1}", &e), &e);
    log_close(&l);
    CHECK_FILE(NAME, "{\"a\":1}\n{\"b\":1}\n");
}

static void
several_puts_fit_under_one_lock(void **state)
{
    struct log l = open_log(&sequenced);

    (void)state;
    CHECK_OK(log_lock(&l, &e), &e);
    assert_int_equal(l.next_seq, 1);
    CHECK_OK(log_put(&l, &(struct log_text){ "{}", 2 }, 1, &e), &e);
    assert_int_equal(l.next_seq, 2);
    CHECK_OK(log_put(&l, &(struct log_text){ "{}", 2 }, 1, &e), &e);
    log_unlock(&l);
    log_close(&l);
    CHECK_NUMBERS(NAME, "1 2");
}

static void
closing_twice_and_closing_nothing_is_safe(void **state)
{
    struct log l = open_log(&plain), none = { .fd = -1 };

    (void)state;
    log_close(&l);
    log_close(&l);
    log_close(&none);
}

static void
the_descriptor_is_close_on_exec(void **state)
{
    struct log l = open_log(&plain);

    (void)state;
    assert_int_equal(fcntl(l.fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    log_close(&l);
}

/* ---- what is refused ---- */

static void
a_record_of_exactly_one_MiB_with_its_newline_is_taken(void **state)
{
    char *text = malloc(LOG_LINE_MAX);
    struct log l = open_log(&plain);

    (void)state;
    memset(text, 'x', LOG_LINE_MAX);
    memcpy(text, "{\"a\":\"", 6);
    memcpy(text + LOG_LINE_MAX - 3, "\"}", 2);
    CHECK_OK(log_append(&l, &(struct log_text){ text, LOG_LINE_MAX - 1 }, 1, &e), &e);
    log_close(&l);
    struct lines lines = read_lines(NAME, WITH_BAD);
    assert_int_equal(lines.n, 1);
    assert_int_equal(lines.v[0].rec.verdict, LOG_GOOD);
    assert_int_equal(lines.v[0].len, LOG_LINE_MAX - 1);
    free_lines(&lines);
    free(text);
}

static void
a_larger_record_is_refused_and_nothing_is_written(void **state)
{
    char *text = malloc(LOG_LINE_MAX + 1);
    struct log l = open_log(&plain);

    (void)state;
    memset(text, 'x', LOG_LINE_MAX);
    memcpy(text, "{\"a\":\"", 6);
    memcpy(text + LOG_LINE_MAX - 2, "\"}", 2);
    CHECK_FAILS(
        log_append(&l, &(struct log_text){ text, LOG_LINE_MAX }, 1, &e), ST_INVALID, &e,
        "events.jsonl: a record of 1048576 bytes is over the limit of 1048575 bytes a line");
    assert_int_equal(file_size(NAME), 0);
    CHECK_OK(append(&l, "{\"ok\":1}", &e), &e);
    log_close(&l);
    CHECK_FILE(NAME, "{\"ok\":1}\n");
    free(text);
}

static void
a_record_that_only_its_seal_makes_too_large_is_refused(void **state)
{
    char *text = malloc(LOG_LINE_MAX);
    struct log l = open_log(&sequenced);

    (void)state;
    memset(text, 'x', LOG_LINE_MAX);
    memcpy(text, "{\"a\":\"", 6);
    memcpy(text + LOG_LINE_MAX - 12, "\"}", 2);
    CHECK_FAILS(log_append(&l, &(struct log_text){ text, LOG_LINE_MAX - 10 }, 1, &e), ST_INVALID,
                &e, "events.jsonl: a record is over the limit of 1048575 bytes a line");
    assert_int_equal(file_size(NAME), 0);
    CHECK_OK(append(&l, "{\"ok\":1}", &e), &e);
    log_close(&l);
    CHECK_NUMBERS(NAME, "1");
    free(text);
}

static void
a_record_with_a_newline_in_it_is_refused(void **state)
{
    struct log l = open_log(&plain);

    (void)state;
    CHECK_FAILS(append(&l, "{\"a\":1}\n{\"b\":1}", &e), ST_INVALID, &e,
                "events.jsonl: a record must be one JSON object on one line");
    CHECK_FAILS_WITH(append(&l, "{\"a\":1}\n", &e), ST_INVALID, &e, "on one line");
    log_close(&l);
    assert_int_equal(file_size(NAME), 0);
}

static void
what_is_no_object_is_refused(void **state)
{
    static const char *const bad[] = { "", "1", "[]", "x", "{", "{\"a\":1", " {}", "null", "{]" };

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct log l = open_log(i ? &sequenced : &plain);
        for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
            CHECK_FAILS_WITH(append(&l, bad[k], &e), ST_INVALID, &e, "must be one JSON object");
        log_close(&l);
    }
    assert_int_equal(file_size(NAME), 0);
}

static void
a_record_with_the_names_of_the_seal_is_refused_where_it_is_sealed(void **state)
{
    static const char *const bad[] = { "{\"seq\":1}", "{\"a\":1,\"crc\":\"x\"}", "{\"of\":2}",
                                       "{ \"nth\" : 2 }" };
    static const char *const good[] = { "{\"data\":{\"seq\":1}}", "{\"a\":\"seq\"}",
                                        "{\"list\":[\"crc\",\"of\",{\"nth\":1}]}" };

    (void)state;
    struct log l = open_log(&sequenced);
    for (size_t i = 0; i < 4; i++)
        CHECK_FAILS(append(&l, bad[i], &e), ST_INVALID, &e,
                    "events.jsonl: a record may not have seq, crc, of or nth: the log writes them");
    for (size_t i = 0; i < 3; i++)
        CHECK_OK(append(&l, good[i], &e), &e);
    log_close(&l);
    CHECK_NUMBERS(NAME, "1 2 3");
    assert_int_equal(unlink(NAME), 0);
    append_once(&plain, "{\"seq\":1}"); /* a plain log does not care */
}

static void
one_bad_record_refuses_its_whole_batch(void **state)
{
    struct log l = open_log(&plain);
    struct log_text texts[] = { { "{\"a\":1}", 7 }, { "x", 1 }, { "{\"b\":1}", 7 } };

    (void)state;
    CHECK_FAILS_WITH(log_append(&l, texts, 3, &e), ST_INVALID, &e, "one JSON object");
    assert_int_equal(file_size(NAME), 0);
    CHECK_OK(log_append(&l, texts, 1, &e), &e);
    log_close(&l);
    CHECK_FILE(NAME, "{\"a\":1}\n");
}

static void
a_symbolic_link_is_refused(void **state)
{
    struct log l;

    (void)state;
    write_file("target", "");
    assert_int_equal(symlink("target", NAME), 0);
    CHECK_FAILS_WITH(log_open(&l, here(), NAME, &plain, &e), ST_INVALID, &e,
                     "/events.jsonl is a symbolic link, not a regular file");
    log_close(&l);
    assert_int_equal(file_size("target"), 0);
}

static void
a_dangling_link_is_refused_and_creates_nothing(void **state)
{
    struct log l;

    (void)state;
    assert_int_equal(symlink("target", NAME), 0);
    CHECK_FAILS_WITH(log_open(&l, here(), NAME, &plain, &e), ST_INVALID, &e, "symbolic link");
    log_close(&l);
    assert_false(file_exists("target"));
}

static void
a_FIFO_is_refused_without_waiting_for_a_reader(void **state)
{
    struct log l;

    (void)state;
    assert_int_equal(mkfifo(NAME, 0600), 0);
    CHECK_FAILS_WITH(log_open(&l, here(), NAME, &plain, &e), ST_INVALID, &e,
                     "/events.jsonl is a FIFO, not a regular file");
    log_close(&l);
}

static void
a_directory_is_refused(void **state)
{
    struct log l;

    (void)state;
    make_dirs(NAME);
    CHECK_FAILS_WITH(log_open(&l, here(), NAME, &plain, &e), ST_INVALID, &e,
                     "/events.jsonl is a directory, not a regular file");
    log_close(&l);
}

static void
a_name_that_is_too_long_is_refused(void **state)
{
    char name[300];
    struct log l;

    (void)state;
    memset(name, 'n', sizeof name);
    name[sizeof name - 1] = '\0';
    CHECK_FAILS_WITH(log_open(&l, here(), name, &plain, &e), ST_INVALID, &e, "log name too long");
    log_close(&l);
}

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

/* One write through the seam takes this many bytes only. */
static size_t short_by;
static const char *intrusion; /* ... after this was written by somebody without the lock */
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

static struct sys odd; /* a kernel with that write */

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
    odd.ftruncate = NULL; /* not even tried: somebody wrote behind the half line */
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

/* What was done while the lines went to the disk. */
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
what_is_done_meanwhile_comes_between_write_and_sync(void **state)
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
a_log_that_was_mended_goes_on(void **state)
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
    assert_int_equal(fault_count("write"), 1); /* a sync of nothing would tell nothing */
    assert_int_equal(fault_count("fdatasync"), 1);
    CHECK_FILE(NAME, before);
    free(before);
    CHECK_OK(append(&l, "{\"d\":1}", &e), &e);
    log_close(&l);
    CHECK_NUMBERS(NAME, "1 2 3 4");
}

static void
a_log_that_was_mended_looks_at_its_tail(void **state)
{
    struct log l = open_log(&(struct log_options){ .is_durable = true, .is_sequenced = true });

    (void)state;
    CHECK_OK(append(&l, "{\"a\":1}", &e), &e);
    off_t end = file_size(NAME);
    fault_always("fdatasync", EIO);
    CHECK_FAILS_WITH(append(&l, "{\"b\":1}", &e), ST_IO, &e, "may or may not survive");
    fault_off(NULL);
    assert_int_equal(truncate(NAME, end + 5), 0); /* what the disk has of it */
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

/* ---- files that change under us ---- */

static void
a_replaced_file_is_opened_again(void **state)
{
    struct log l = open_log(&plain);

    (void)state;
    CHECK_OK(append(&l, "{\"a\":1}", &e), &e);
    assert_int_equal(rename(NAME, "old"), 0);
    write_file("new", "{\"n\":1}\n");
    assert_int_equal(rename("new", NAME), 0);
    CHECK_OK(append(&l, "{\"b\":1}", &e), &e);
    log_close(&l);
    CHECK_FILE("old", "{\"a\":1}\n");
    CHECK_FILE(NAME, "{\"n\":1}\n{\"b\":1}\n");
}

static void
a_removed_file_is_created_again(void **state)
{
    struct log l = open_log(&sequenced);

    (void)state;
    CHECK_OK(append(&l, "{\"a\":1}", &e), &e);
    assert_int_equal(unlink(NAME), 0);
    CHECK_OK(append(&l, "{\"b\":1}", &e), &e);
    log_close(&l);
    CHECK_NUMBERS(NAME, "1");
    assert_int_equal(count_records(NAME, SEQUENCED, "\"b\""), 1);
}

static void
a_file_replaced_by_a_link_is_refused(void **state)
{
    struct log l = open_log(&plain);

    (void)state;
    write_file("target", "");
    assert_int_equal(unlink(NAME), 0);
    assert_int_equal(symlink("target", NAME), 0);
    CHECK_FAILS_WITH(append(&l, "{\"a\":1}", &e), ST_INVALID, &e, "symbolic link");
    log_close(&l);
    assert_int_equal(file_size("target"), 0);
}

static void
a_truncated_file_is_continued_at_its_new_end(void **state)
{
    struct log l = open_log(&plain);

    (void)state;
    CHECK_OK(append(&l, "{\"a\":1}", &e), &e);
    CHECK_OK(append(&l, "{\"b\":1}", &e), &e);
    assert_int_equal(truncate(NAME, 8), 0);
    CHECK_OK(append(&l, "{\"c\":1}", &e), &e);
    log_close(&l);
    CHECK_FILE(NAME, "{\"a\":1}\n{\"c\":1}\n");
}

static int replacements; /* how often the name gets another file while we lock */

static int
flock_late(int fd, int op)
{
    if ((op & LOCK_EX) && replacements > 0) {
        replacements--;
        unlink(NAME);
        write_file(NAME, "");
    }
    return sys_kernel.flock(fd, op);
}

static void
a_file_replaced_while_we_waited_for_its_lock_is_opened_again(void **state)
{
    struct log l = open_log(&plain);

    (void)state;
    odd = sys_kernel;
    odd.flock = flock_late;
    sys = &odd;
    replacements = 5;
    CHECK_OK(append(&l, "{\"a\":1}", &e), &e);
    assert_int_equal(replacements, 0);
    sys = &sys_kernel;
    log_close(&l);
    CHECK_FILE(NAME, "{\"a\":1}\n");
}

static void
a_file_replaced_for_ever_is_given_up(void **state)
{
    struct log l = open_log(&plain);

    (void)state;
    odd = sys_kernel;
    odd.flock = flock_late;
    sys = &odd;
    replacements = 1000000;
    CHECK_FAILS(append(&l, "{\"a\":1}", &e), ST_IO, &e,
                "events.jsonl was replaced 1000 times while it was being locked");
    sys = &sys_kernel;
    log_close(&l);
}

/* ---- somebody without the lock ---- */

static void
a_whole_line_of_an_unlocked_writer_does_no_harm(void **state)
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
a_record_welded_to_a_torn_line_is_written_again(void **state)
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
an_unlocked_writer_that_never_ends_its_lines_is_told(void **state)
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

/* ---- the lock ---- */

static void
a_lock_held_by_another_process_is_told_with_its_pid(void **state)
{
    struct log l = open_log(&plain);
    char pid[32];

    (void)state;
    struct holder h = hold_lock(NAME);
    snprintf(pid, sizeof pid, "by pid %d (", (int)h.pid);
    CHECK_FAILS_WITH(append(&l, "{\"a\":1}", &e), ST_IO, &e, pid);
    assert_non_null(strstr(e.text, "events.jsonl has been locked"));
    assert_non_null(strstr(e.text, "for more than 0.05 s; nothing was written"));
    assert_int_equal(file_size(NAME), 0);
    let_go(&h);
    CHECK_OK(append(&l, "{\"a\":1}", &e), &e);
    log_close(&l);
}

static void
after_a_timeout_the_lock_is_not_held_by_us(void **state)
{
    struct log l = open_log(&plain);

    (void)state;
    struct holder h = hold_lock(NAME);
    assert_int_equal(append(&l, "{\"a\":1}", &e), ST_IO);
    let_go(&h);
    int fd = open(NAME, O_RDWR | O_CLOEXEC);
    assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
    close(fd);
    log_close(&l);
}

static void
the_lock_is_ours_the_moment_its_holder_goes(void **state)
{
    struct log_options o = { .lock_wait_ms = 10000 };
    struct log l = open_log(&o);
    int fds[2];

    (void)state;
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    struct holder h = hold_lock(NAME);
    pid_t pid = fork(); /* waits for the lock, then appends */
    if (pid == 0) {
        struct log mine;
        close(h.pipe);
        if (log_open(&mine, here(), NAME, &o, NULL) || write(fds[1], "x", 1) != 1)
            _exit(1);
        _exit(append(&mine, "{\"waited\":1}", NULL) ? 2 : 0);
    }
    wait_readable(fds[0]); /* it is about to wait */
    assert_int_equal(file_size(NAME), 0);
    let_go(&h);
    assert_int_equal(wait_child(pid), 0);
    CHECK_FILE(NAME, "{\"waited\":1}\n");
    close(fds[0]);
    close(fds[1]);
    log_close(&l);
}

static void
a_holder_that_is_killed_lets_go(void **state)
{
    struct log_options o = { .lock_wait_ms = 10000 };
    struct log l = open_log(&o);

    (void)state;
    struct holder h = hold_lock(NAME);
    assert_int_equal(kill(h.pid, SIGKILL), 0);
    CHECK_OK(append(&l, "{\"a\":1}", &e), &e);
    assert_int_equal(wait_child(h.pid), -1);
    close(h.pipe);
    log_close(&l);
}

static void
the_lock_is_held_while_we_say_so_and_no_longer(void **state)
{
    struct log l = open_log(&plain);
    int fd = open(NAME, O_RDWR | O_CLOEXEC);

    (void)state;
    CHECK_OK(log_lock(&l, &e), &e);
    assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), -1);
    log_unlock(&l);
    assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
    assert_int_equal(flock(fd, LOCK_UN), 0);
    CHECK_OK(log_lock(&l, &e), &e);
    log_close(&l); /* lets go, too */
    assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
    close(fd);
}

static void
a_lock_that_fails_is_told(void **state)
{
    struct log l = open_log(&plain);

    (void)state;
    fault_always("flock", ENOLCK);
    CHECK_FAILS(append(&l, "{\"a\":1}", &e), ST_IO, &e, "lock events.jsonl: No locks available");
    fault_off(NULL);
    log_close(&l);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_record_becomes_one_line),
        CASE(many_records_become_lines_in_order),
        CASE(a_batch_is_one_write_and_one_sync),
        CASE(the_largest_batch_is_taken),
        CASE(a_log_that_is_not_durable_does_not_sync),
        CASE(the_first_record_of_a_durable_log_makes_its_name_durable),
        CASE(a_new_log_belongs_to_its_owner_alone),
        CASE(an_existing_log_keeps_its_content),
        CASE(two_writers_in_one_process_see_each_other),
        CASE(processes_never_mix_their_lines),
        CASE(a_log_can_be_locked_looked_at_and_let_go),
        CASE(several_puts_fit_under_one_lock),
        CASE(closing_twice_and_closing_nothing_is_safe),
        CASE(the_descriptor_is_close_on_exec),
        CASE(a_record_of_exactly_one_MiB_with_its_newline_is_taken),
        CASE(a_larger_record_is_refused_and_nothing_is_written),
        CASE(a_record_that_only_its_seal_makes_too_large_is_refused),
        CASE(a_record_with_a_newline_in_it_is_refused),
        CASE(what_is_no_object_is_refused),
        CASE(a_record_with_the_names_of_the_seal_is_refused_where_it_is_sealed),
        CASE(one_bad_record_refuses_its_whole_batch),
        CASE(a_symbolic_link_is_refused),
        CASE(a_dangling_link_is_refused_and_creates_nothing),
        CASE(a_FIFO_is_refused_without_waiting_for_a_reader),
        CASE(a_directory_is_refused),
        CASE(a_name_that_is_too_long_is_refused),
        CASE(a_torn_tail_is_sealed_before_the_next_record),
        CASE(a_file_of_nothing_but_a_torn_line_is_sealed),
        CASE(a_tail_torn_by_another_while_we_are_open_is_sealed),
        CASE(a_short_write_is_undone),
        CASE(a_short_write_that_cannot_be_undone_is_sealed_by_the_next_writer),
        CASE(a_short_write_into_an_empty_file_is_undone),
        CASE(a_failed_sync_refuses_all_writes_until_opened_again),
        CASE(what_is_done_meanwhile_comes_between_write_and_sync),
        CASE(a_failed_sync_of_the_new_name_refuses_too),
        CASE(a_log_that_was_mended_goes_on),
        CASE(a_log_that_was_mended_looks_at_its_tail),
        CASE(a_failed_write_can_be_tried_again),
        CASE(a_replaced_file_is_opened_again),
        CASE(a_removed_file_is_created_again),
        CASE(a_file_replaced_by_a_link_is_refused),
        CASE(a_truncated_file_is_continued_at_its_new_end),
        CASE(a_file_replaced_while_we_waited_for_its_lock_is_opened_again),
        CASE(a_file_replaced_for_ever_is_given_up),
        CASE(a_whole_line_of_an_unlocked_writer_does_no_harm),
        CASE(a_record_welded_to_a_torn_line_is_written_again),
        CASE(an_unlocked_writer_that_never_ends_its_lines_is_told),
        CASE(a_lock_held_by_another_process_is_told_with_its_pid),
        CASE(after_a_timeout_the_lock_is_not_held_by_us),
        CASE(the_lock_is_ours_the_moment_its_holder_goes),
        CASE(a_holder_that_is_killed_lets_go),
        CASE(the_lock_is_held_while_we_say_so_and_no_longer),
        CASE(a_lock_that_fails_is_told),
    };

    return cmocka_run_group_tests_name("log file", tests, NULL, NULL);
}
