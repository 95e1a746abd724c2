/* Tests log/append: records become whole lines; invalid records are refused. */
#define _GNU_SOURCE
#include "fault.h"
#include "logs.h"

#include <fcntl.h>
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
the_largest_batch_is_accepted(void **state)
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
a_new_log_is_readable_by_its_owner_only(void **state)
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
lines_of_several_processes_never_interleave(void **state)
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
        assert_int_equal(k, next[p]++); /* the order within each process stays */
    }
    free_lines(&l);
}

static void
a_log_can_be_locked_read_and_unlocked(void **state)
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
closing_twice_and_closing_an_unopened_log_is_safe(void **state)
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

/* ---- refused records and files ---- */

static void
a_record_of_exactly_one_MiB_with_its_newline_is_accepted(void **state)
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
a_record_that_its_seal_makes_too_large_is_refused(void **state)
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
a_record_that_is_no_object_is_refused(void **state)
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
a_record_with_the_members_of_the_seal_is_refused_in_a_sealed_log(void **state)
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
    append_once(&plain, "{\"seq\":1}"); /* a plain log has no seals */
}

static void
one_bad_record_fails_its_whole_batch(void **state)
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

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_record_becomes_one_line),
        CASE(many_records_become_lines_in_order),
        CASE(a_batch_is_one_write_and_one_sync),
        CASE(the_largest_batch_is_accepted),
        CASE(a_log_that_is_not_durable_does_not_sync),
        CASE(the_first_record_of_a_durable_log_makes_its_name_durable),
        CASE(a_new_log_is_readable_by_its_owner_only),
        CASE(an_existing_log_keeps_its_content),
        CASE(two_writers_in_one_process_see_each_other),
        CASE(lines_of_several_processes_never_interleave),
        CASE(a_log_can_be_locked_read_and_unlocked),
        CASE(several_puts_fit_under_one_lock),
        CASE(closing_twice_and_closing_an_unopened_log_is_safe),
        CASE(the_descriptor_is_close_on_exec),
        CASE(a_record_of_exactly_one_MiB_with_its_newline_is_accepted),
        CASE(a_larger_record_is_refused_and_nothing_is_written),
        CASE(a_record_that_its_seal_makes_too_large_is_refused),
        CASE(a_record_with_a_newline_in_it_is_refused),
        CASE(a_record_that_is_no_object_is_refused),
        CASE(a_record_with_the_members_of_the_seal_is_refused_in_a_sealed_log),
        CASE(one_bad_record_fails_its_whole_batch),
        CASE(a_symbolic_link_is_refused),
        CASE(a_dangling_link_is_refused_and_creates_nothing),
        CASE(a_FIFO_is_refused_without_waiting_for_a_reader),
        CASE(a_directory_is_refused),
        CASE(a_name_that_is_too_long_is_refused),
    };

    return cmocka_run_group_tests_name("log append", tests, NULL, NULL);
}
