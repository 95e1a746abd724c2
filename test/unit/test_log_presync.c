/*
 * Tests log/presync: acknowledged lines are in the presync file or in the log, whatever fails.
 */
#define _GNU_SOURCE
#include "fault.h"
#include "power_cut.h"

#include <fcntl.h>

static struct err e;

/* ---- writing ---- */

static void
a_commit_syncs_the_presync_file_and_not_the_log(void **state)
{
    (void)state;
    struct log l;
    CHECK_OK(log_open(&l, here(), NAME, &before, &e), &e);
    CHECK_OK(append(&l, "{\"first\":1}", &e), &e);
    fake_pid(getpid()); /* installs the counting sys table */
    fault_count_from_here();
    for (int i = 0; i < 20; i++)
        CHECK_OK(append(&l, "{\"k\":1}", &e), &e);
    assert_int_equal(fault_count("fdatasync"), 0);
    assert_int_equal(file_size(AHEAD), PRESYNC_BYTES);
    log_close(&l);
    assert_int_equal(fault_count("fdatasync"), 1);
    assert_false(file_exists(AHEAD));
}

static void
a_full_presync_file_is_restarted_after_a_sync_of_the_log(void **state)
{
    (void)state;
    struct log l;
    CHECK_OK(log_open(&l, here(), NAME, &before, &e), &e);
    CHECK_OK(append(&l, "{\"first\":1}", &e), &e);
    fake_pid(getpid());
    fault_count_from_here();
    for (int i = 0; i < 2 * PRESYNC_BYTES / PRESYNC_BLOCK + 2; i++)
        CHECK_OK(append(&l, "{\"k\":1}", &e), &e);
    assert_int_equal(fault_count("fdatasync"), 2);
    assert_int_equal(file_size(AHEAD), PRESYNC_BYTES);
    log_close(&l);
}

static void
only_one_process_writes_the_presync_file(void **state)
{
    (void)state;
    struct log l, other;
    CHECK_OK(log_open(&l, here(), NAME, &before, &e), &e);
    CHECK_OK(log_open(&other, here(), NAME, &before, &e), &e);
    assert_non_null(l.presync);
    assert_null(other.presync);
    CHECK_OK(append(&l, "{\"k\":1}", &e), &e);
    CHECK_OK(append(&other, "{\"k\":2}", &e), &e);
    CHECK_OK(append(&l, "{\"k\":3}", &e), &e);
    CHECK_OK(append(&l, "{\"k\":4}", &e), &e);
    log_close(&other);
    log_close(&l);
    CHECK_NUMBERS(NAME, "1 2 3 4");
}

static void
after_a_line_of_another_process_the_log_is_synced(void **state)
{
    (void)state;
    struct log l;
    CHECK_OK(log_open(&l, here(), NAME, &before, &e), &e);
    CHECK_OK(append(&l, "{\"k\":1}", &e), &e);
    CHECK_OK(append(&l, "{\"k\":2}", &e), &e);
    append_file(NAME, "{\"foreign\":1}\n");
    fake_pid(getpid());
    fault_count_from_here();
    CHECK_OK(append(&l, "{\"k\":3}", &e), &e);
    assert_int_equal(fault_count("fdatasync"), 1);
    CHECK_OK(append(&l, "{\"k\":4}", &e), &e);
    assert_int_equal(fault_count("fdatasync"), 1);
    log_close(&l);
}

static void
check_lost_file(bool is_moved)
{
    struct log l;
    CHECK_OK(log_open(&l, here(), NAME, &before, &e), &e);
    CHECK_OK(append(&l, "{\"k\":1}", &e), &e);
    CHECK_OK(append(&l, "{\"k\":2}", &e), &e);
    assert_int_equal(is_moved ? rename(AHEAD, "moved") : unlink(AHEAD), 0);
    fake_pid(getpid());
    fault_count_from_here();
    CHECK_OK(append(&l, "{\"k\":3}", &e), &e);
    CHECK_OK(append(&l, "{\"k\":4}", &e), &e);
    assert_int_equal(fault_count("fdatasync"), 2);
    log_close(&l);
    assert_false(file_exists(AHEAD));
}

static void
a_presync_file_that_was_deleted_or_moved_is_not_written(void **state)
{
    (void)state;
    check_lost_file(false);
    check_lost_file(true);
}

static void
a_presync_file_in_use_by_another_process_is_not_removed(void **state)
{
    (void)state;
    struct log l, other;
    CHECK_OK(log_open(&l, here(), NAME, &before, &e), &e);
    CHECK_OK(append(&l, "{\"k\":1}", &e), &e);
    assert_int_equal(unlink(AHEAD), 0);
    CHECK_OK(append(&l, "{\"k\":2}", &e), &e);
    CHECK_OK(log_open(&other, here(), NAME, &before, &e), &e);
    assert_non_null(other.presync);
    CHECK_OK(append(&other, "{\"k\":3}", &e), &e); /* on disk there alone */
    log_close(&l);
    assert_true(file_exists(AHEAD));
    log_close(&other);
    assert_false(file_exists(AHEAD));
}

/* The calls that were made, by name. */
static char order[16];

static struct sys watched;

static int
open_watched(int dir, const char *path, int flags, mode_t mode)
{
    if (strcmp(path, AHEAD) == 0 && flags & O_CREAT)
        strcat(order, "open ");
    return sys_kernel.openat(dir, path, flags, mode);
}

static int
sync_watched(int fd)
{
    if (!strstr(order, "sync"))
        strcat(order, "sync ");
    return sys_kernel.fdatasync(fd);
}

/* The previous owner of the file may have written to it until it was killed, just now. */
static void
the_log_is_synced_when_a_process_takes_over_the_presync_file(void **state)
{
    (void)state;
    struct log l;
    watched = sys_kernel;
    watched.openat = open_watched;
    watched.fdatasync = sync_watched;
    order[0] = '\0';
    sys = &watched;
    CHECK_OK(log_open(&l, here(), NAME, &before, &e), &e);
    sys = &sys_kernel;
    assert_string_equal(order, "open sync ");
    log_close(&l);
}

static void
lines_that_do_not_fit_are_synced_in_the_log(void **state)
{
    (void)state;
    struct log l;
    struct log_text v[3];
    char *big = malloc(LOG_LINE_MAX / 2);

    assert_non_null(big);
    memset(big, 'x', LOG_LINE_MAX / 2);
    memcpy(big, "{\"k\":\"", 6);
    memcpy(big + LOG_LINE_MAX / 2 - 2, "\"}", 2);
    for (int i = 0; i < 3; i++)
        v[i] = (struct log_text){ big, LOG_LINE_MAX / 2 };
    CHECK_OK(log_open(&l, here(), NAME, &before, &e), &e);
    CHECK_OK(append(&l, "{\"k\":1}", &e), &e);
    fake_pid(getpid());
    fault_count_from_here();
    CHECK_OK(log_append(&l, v, 3, &e), &e);
    assert_int_equal(fault_count("fdatasync"), 1);
    CHECK_OK(append(&l, "{\"k\":2}", &e), &e);
    assert_int_equal(fault_count("fdatasync"), 1);
    log_close(&l);
    free(big);
    CHECK_NUMBERS(NAME, "1 2 3 4 5");
}

static void
a_segment_is_synced_before_it_is_finished(void **state)
{
    (void)state;
    struct log_options o = before;
    struct log l;
    o.rotate_bytes = 300;
    CHECK_OK(log_open(&l, here(), NAME, &o, &e), &e);
    for (int i = 0; i < 20; i++)
        CHECK_OK(append(&l, "{\"k\":1}", &e), &e);
    log_close(&l);
    assert_true(file_exists("events-1.jsonl"));
    assert_false(file_exists(AHEAD));
    open_and_close(&after);
    assert_string_equal(noted, "");
}

/* ---- when calls fail ---- */

static void
a_failed_recovery_is_repeated_by_the_next_opener(void **state)
{
    (void)state;
    struct world w = make_world(4);
    for (int has_foreign = 0; has_foreign < 2; has_foreign++)
        FAULT_SWEEP(f)
        {
            struct log l;
            disk_has(w.log, w.synced + 30);
            if (has_foreign)
                append_file(NAME, "\n{\"foreign\":1}\n");
            ahead_has(&w);
            fault_on(&f);
            e.text[0] = '\0';
            enum status s = log_open(&l, here(), NAME, &after, &e);
            log_close(&l);
            fault_off(&f);
            if (s && !e.text[0])
                fail_msg("%s: no reason is given", fault_what(&f));
            open_and_close(&after);
            size_t n;
            char *got = read_file(NAME, &n);
            if (n < w.len || memcmp(got, w.log, w.len) != 0)
                fail_msg("%s: lines are missing", fault_what(&f));
            if (strcmp(got + w.len, has_foreign ? "{\"foreign\":1}\n" : "") != 0)
                fail_msg("%s: behind the lines: %s", fault_what(&f), got + w.len);
            free(got);
        }
    free_world(&w);
}

/* After any failed call the acknowledged lines are in the log or in the presync file. */
static void
acknowledged_lines_survive_a_power_cut_after_any_failed_call(void **state)
{
    (void)state;
    FAULT_SWEEP(f)
    {
        struct log l;
        size_t acked = 0, n;
        if (f.mode <= FAULT_ENOSPC) /* creating the file fails too */
            empty_dir();
        else
            unlink(NAME);
        append_once(&sequenced, "{\"first\":1}");
        size_t synced = (size_t)file_size(NAME);
        fault_on(&f);
        enum status s = log_open(&l, here(), NAME, &before, &e);
        for (int i = 0; !s && i < 3; i++) {
            s = append_group(&l, i, 1, &e);
            acked += !s;
        }
        fault_off(&f);
        /* the power cut: lines that no sync of the log covers are lost */
        bool is_ahead = !s && l.presync && presync_first(l.presync, l.ino, -1) >= 0;
        off_t from = is_ahead ? presync_first(l.presync, l.ino, -1) : 0;
        struct presync *a = l.presync;
        l.presync = NULL;
        log_close(&l);
        presync_close(a);
        if (is_ahead) {
            assert_true(from >= (off_t)synced);
            assert_int_equal(truncate(NAME, from), 0);
        }
        open_and_close(&after);
        n = count_records(NAME, SEQUENCED, "\"k\"");
        if (n < acked)
            fail_msg("%s: %zu of %zu acknowledged lines", fault_what(&f), n, acked);
    }
}

static void
a_failed_sync_of_the_log_is_repaired_from_the_presync_file(void **state)
{
    (void)state;
    struct log l;
    size_t n;
    CHECK_OK(log_open(&l, here(), NAME, &before, &e), &e);
    CHECK_OK(append(&l, "{\"first\":1}", &e), &e);
    size_t synced = (size_t)file_size(NAME);
    CHECK_OK(append(&l, "{\"k\":1}", &e), &e);
    CHECK_OK(append(&l, "{\"k\":2}", &e), &e);
    char *want = read_file(NAME, &n);
    append_file(NAME, "{\"foreign\":1}\n"); /* so that the log itself is synced */
    fault_always("fdatasync", EIO);
    assert_int_equal(append(&l, "{\"k\":3}", &e), ST_IO);
    fault_off(NULL);
    /* and the kernel drops the pages it could not write */
    int fd = open(NAME, O_WRONLY | O_CLOEXEC);
    char zeros[4096] = "";
    assert_int_equal(pwrite(fd, zeros, n - synced, (off_t)synced), (ssize_t)(n - synced));
    close(fd);
    CHECK_OK(log_repair(&l, &e), &e);
    char *got = read_file(NAME, NULL);
    assert_memory_equal(got, want, n);
    CHECK_OK(append(&l, "{\"k\":4}", &e), &e);
    CHECK_OK(append(&l, "{\"k\":5}", &e), &e);
    log_close(&l);
    assert_int_equal(count_records(NAME, SEQUENCED, "\"k\""), 5);
    free(got);
    free(want);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_commit_syncs_the_presync_file_and_not_the_log),
        CASE(a_full_presync_file_is_restarted_after_a_sync_of_the_log),
        CASE(only_one_process_writes_the_presync_file),
        CASE(after_a_line_of_another_process_the_log_is_synced),
        CASE(a_presync_file_that_was_deleted_or_moved_is_not_written),
        CASE(a_presync_file_in_use_by_another_process_is_not_removed),
        CASE(the_log_is_synced_when_a_process_takes_over_the_presync_file),
        CASE(lines_that_do_not_fit_are_synced_in_the_log),
        CASE(a_segment_is_synced_before_it_is_finished),
        CASE(a_failed_recovery_is_repeated_by_the_next_opener),
        CASE(acknowledged_lines_survive_a_power_cut_after_any_failed_call),
        CASE(a_failed_sync_of_the_log_is_repaired_from_the_presync_file),
    };

    return cmocka_run_group_tests_name("log ahead", tests, NULL, NULL);
}
