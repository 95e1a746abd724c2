/*
 * Tests log/presync_recover: after a power cut the acknowledged lines are in the log, once, in
 * order, whatever the disk kept of it, and lines of other writers stay. Also what fsck reports
 * about it.
 */
#define _GNU_SOURCE
#include "fault.h"
#include "logs.h"
#include "power_cut.h"

#include "base/crc32c.h"
#include "log/lock.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/stat.h>

static struct err e;

/* ---- after a power cut ---- */

static void
a_complete_log_is_not_changed(void **state)
{
    (void)state;
    struct world w = make_world(5);
    open_and_close(&after);
    check_log(w.log, w.len);
    assert_true(is_empty(AHEAD));
    free_world(&w);
}

static void
nothing_is_restored_before_a_reboot(void **state)
{
    (void)state;
    struct log_options same = after;
    struct world w = make_world(5);
    same.boot = before.boot;
    disk_has(w.log, w.synced); /* truncated on purpose, not by a power cut */
    open_and_close(&same);
    check_log(w.log, w.synced);
    free_world(&w);
}

static void
a_log_cut_at_any_byte_is_restored(void **state)
{
    (void)state;
    struct world w = make_world(5);
    for (size_t n = w.synced; n <= w.len; n++) {
        disk_has(w.log, n);
        ahead_has(&w);
        open_and_close(&after);
        check_log(w.log, w.len);
        assert_true(is_empty(AHEAD));
        assert_string_equal(noted, "");
    }
    free_world(&w);
}

static void
blocks_of_zeros_are_restored(void **state)
{
    (void)state;
    struct world w = make_world(6);
    char *torn = malloc(w.len);
    assert_non_null(torn);
    for (size_t from = w.synced; from < w.len; from += 7)
        for (size_t to = from + 1; to <= w.len; to += 31) {
            memcpy(torn, w.log, w.len);
            memset(torn + from, 0, to - from);
            disk_has(torn, w.len);
            ahead_has(&w);
            open_and_close(&after);
            check_log(w.log, w.len);
        }
    free(torn);
    free_world(&w);
}

/* The disk kept the log up to byte n; then another process appended before cliq started. */
static void
check_foreign_tail(const struct world *w, size_t n)
{
    static const char foreign[] = "{\"foreign\":1}\n{\"id\":\"foreign\"}\n";
    struct buf want = { 0 };

    disk_has(w->log, n);
    append_file(NAME, foreign);
    ahead_has(w);
    fake_pid(getpid()); /* installs the counting sys table */
    fault_count_from_here();
    open_and_close(&after);
    if (n < w->len) /* the new file is synced, and its name */
        assert_true(fault_count("fsync") >= 2);
    buf_add(&want, w->log, w->len);
    buf_adds(&want, foreign);
    check_log(want.p, want.len);
    buf_release(&want);
    assert_true(is_empty(AHEAD));
    assert_int_equal(count_files("."), 2);
}

static void
lines_appended_before_the_recovery_come_after_the_restored_ones(void **state)
{
    (void)state;
    struct world w = make_world(4);
    for (size_t n = w.synced; n <= w.len; n++)
        check_foreign_tail(&w, n);
    free_world(&w);
}

static void
a_torn_last_record_was_never_acknowledged(void **state)
{
    (void)state;
    struct world w = make_world(5);
    size_t last = (w.ahead_len / PRESYNC_BLOCK - 1) * PRESYNC_BLOCK;
    while (w.ahead[last] != 'c')
        last -= PRESYNC_BLOCK;
    size_t len = 0;
    for (int i = 3; i >= 0; i--)
        len = len << 8 | (unsigned char)w.ahead[last + 12 + (size_t)i];
    for (size_t at = 0; at < PRESYNC_HEAD + len; at++) {
        disk_has(w.log, w.synced);
        ahead_has(&w);
        int fd = open(AHEAD, O_RDWR | O_CLOEXEC);
        char flipped = (char)(w.ahead[last + at] ^ 1);
        assert_true(fd >= 0 && pwrite(fd, &flipped, 1, (off_t)(last + at)) == 1);
        close(fd);
        open_and_close(&after);
        check_log(w.log, w.len - len);
    }
    free_world(&w);
}

static void
a_record_lost_in_the_middle_is_reported(void **state)
{
    (void)state;
    struct world w = make_world(5);
    disk_has(w.log, w.synced);
    ahead_has(&w);
    int fd = open(AHEAD, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0 && pwrite(fd, "x", 1, 2 * PRESYNC_BLOCK + PRESYNC_HEAD + 3) == 1);
    close(fd);
    open_and_close(&after);
    assert_non_null(strstr(noted, "are damaged; the lines before"));
    assert_non_null(strstr(noted, "kept as events.ahead-"));
    assert_false(file_exists(AHEAD));
    size_t n;
    char *got = read_file(NAME, &n); /* the lines before it are restored */
    assert_true(n > w.synced && n < w.len);
    assert_memory_equal(got, w.log, n);
    free(got);
    free_world(&w);
}

static void
a_lost_first_record_is_reported(void **state)
{
    (void)state;
    struct world w = make_world(5);
    disk_has(w.log, w.synced);
    ahead_has(&w);
    int fd = open(AHEAD, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0 && pwrite(fd, "x", 1, PRESYNC_HEAD + 3) == 1);
    close(fd);
    open_and_close(&after);
    assert_non_null(strstr(noted, "kept as events.ahead-"));
    assert_false(file_exists(AHEAD));
    check_log(w.log, w.synced);
    free_world(&w);
}

/* Another process restores the log and appends while this one waits for the old file's lock. */
static void
a_segment_restored_by_another_process_is_left_alone(void **state)
{
    (void)state;
    struct log_options patient = after;
    struct world w = make_world(5);
    patient.lock_wait_ms = 10000;
    disk_has(w.log, w.synced);
    append_file(NAME, "{\"foreign\":1}\n");
    ahead_has(&w);
    int held = open(NAME, O_RDONLY | O_CLOEXEC);
    assert_true(held >= 0 && flock(held, LOCK_EX) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct log l;
        _exit(log_open(&l, here(), NAME, &patient, &e) != ST_OK);
    }
    int queue = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); /* a descriptor of its own */
    UNTIL(lock_is_wanted(queue), 10000);
    close(queue);
    assert_int_equal(rename(NAME, "old"), 0);
    assert_int_equal(rename(AHEAD, "aside"), 0);
    append_file(NAME, w.log);
    append_file(NAME, "{\"newest\":1}\n");
    flock(held, LOCK_UN);
    close(held);
    assert_int_equal(wait_child(pid), 0);
    assert_int_equal(count_records(NAME, SEQUENCED, "newest"), 1);
    free_world(&w);
}

static void
a_restored_log_keeps_its_owner(void **state)
{
    (void)state;
    struct world w = make_world(5);
    struct stat st;
    if (geteuid() == 0) {
        disk_has(w.log, w.synced);
        append_file(NAME, "{\"foreign\":1}\n");
        ahead_has(&w);
        assert_int_equal(chown(NAME, 4711, 4712), 0);
        open_and_close(&after);
        assert_int_equal(count_records(NAME, SEQUENCED, "foreign"), 1);
        assert_int_equal(stat(NAME, &st), 0);
        assert_int_equal(st.st_uid, 4711);
        assert_int_equal(st.st_gid, 4712);
    }
    free_world(&w);
}

static void
a_line_of_another_writer_may_equal_a_part_of_a_lost_line(void **state)
{
    (void)state;
    static const char theirs[] = "{\"type\":\"deploy\"}\n";
    struct log l;
    size_t n;
    pid_t pid = fork();

    if (pid == 0)
        _exit(log_open(&l, here(), NAME, &before, &e) || append(&l, "{\"first\":1}", &e) ||
              append(&l, "{\"k\":{\"type\":\"deploy\"}}", &e));
    assert_int_equal(wait_child(pid), 0);
    char *was = read_file(NAME, &n), *end = strchr(was, '\n') + 1;
    assert_int_equal(truncate(NAME, end - was), 0);
    append_file(NAME, theirs);
    open_and_close(&after);
    char *got = read_file(NAME, &n);
    assert_memory_equal(got, was, strlen(was));
    assert_string_equal(got + strlen(was), theirs);
    free(got);
    free(was);
}

static void
records_of_an_older_generation_are_void(void **state)
{
    (void)state;
    struct world old = make_world(6);
    struct world w = make_world(2); /* the next writer begins at 0 */
    disk_has(w.log, old.len + w.synced);
    open_and_close(&after);
    check_log(w.log, w.len);
    free_world(&old);
    free_world(&w);
}

static void
a_record_of_another_generation_ends_the_chain(void **state)
{
    (void)state;
    struct world w = make_world(3);
    struct presync_chain c;
    struct buf one = { 0 }, all = { 0 };
    assert_true(presync_read(w.ahead, w.ahead_len, &c, &all));
    assert_int_equal(all.len, w.len - w.synced);
    w.ahead[PRESYNC_BLOCK + 16] ^= 1;
    ahead_has(&w); /* with a valid checksum */
    assert_true(presync_read(w.ahead, w.ahead_len, &c, &one));
    assert_int_equal(one.len, (unsigned char)w.ahead[12]);
    buf_release(&one);
    buf_release(&all);
    free_world(&w);
}

/* On a file system without birth times. */
static void
without_a_birth_time_a_log_is_identified_by_its_inode(void **state)
{
    (void)state;
    struct world w = make_world(1);
    memset(w.ahead + 40, 0, 8);
    put_number(w.ahead + 32, 1, 8);
    put_number(w.ahead + 8, crc32c(w.ahead + 12, PRESYNC_HEAD - 12 + (unsigned char)w.ahead[12]),
               4);
    write_bytes(AHEAD, w.ahead, PRESYNC_BLOCK);
    disk_has(w.log, w.synced);
    open_and_close(&after);
    check_log(w.log, w.synced);
    assert_non_null(strstr(noted, "kept as events.ahead-"));
    free_world(&w);
}

static void
the_presync_file_of_another_log_is_moved_aside(void **state)
{
    (void)state;
    struct world w = make_world(3);
    assert_int_equal(rename(NAME, "elsewhere"), 0);
    write_bytes(NAME, w.log, w.synced); /* a restored backup, for example */
    open_and_close(&after);
    check_log(w.log, w.synced);
    assert_false(file_exists(AHEAD));
    assert_int_equal(count_files("."), 3);
    assert_non_null(strstr(noted, "belong to another file"));
    assert_non_null(strstr(noted, "kept as events.ahead-"));
    free_world(&w);
}

static void
a_log_shorter_than_its_synced_size_is_left_alone(void **state)
{
    (void)state;
    struct world w = make_world(3);
    disk_has(w.log, w.synced - 1);
    open_and_close(&after);
    check_log(w.log, w.synced - 1);
    assert_non_null(strstr(noted, "truncated"));
    free_world(&w);
}

static void
a_segment_finished_by_another_process_needs_no_recovery(void **state)
{
    (void)state;
    struct log_options o = after;
    struct world w = make_world(3);
    o.boot = before.boot;
    o.rotate_bytes = 100;
    struct log l;
    CHECK_OK(log_open(&l, here(), NAME, &o, &e), &e);
    CHECK_OK(append(&l, "{\"k\":1}", &e), &e); /* the segment is full now */
    log_close(&l);
    assert_true(file_exists("events-1.jsonl"));
    open_and_close(&after);
    assert_string_equal(noted, "");
    assert_true(is_empty(AHEAD));
    free_world(&w);
}

/* ---- what fsck reports ---- */

static void
on_finding(void *ctx, const struct log_record *rec, bool is_note)
{
    (void)ctx;
    assert_true(is_note);
    snprintf(noted, sizeof noted, "%jd-%jd %s", (intmax_t)rec->at, (intmax_t)rec->end,
             rec->problem);
}

/* fsck reports and changes nothing; the next open does what fsck announced. */
static void
fsck_says(const char *boot, const char *want)
{
    size_t n, ahead_n, now_n, ahead_now_n;
    char *log = read_file(NAME, &n), *ahead = read_file(AHEAD, &ahead_n);
    struct log_report r = { 0 };
    int fd = open(NAME, O_RDONLY | O_CLOEXEC);

    noted[0] = '\0';
    CHECK_OK(log_fsck_presync(here(), NAME, fd, boot, &r, on_finding, NULL, &e), &e);
    close(fd);
    assert_string_equal(noted, want);
    assert_int_equal(r.notes, *want != '\0');
    char *now = read_file(NAME, &now_n), *ahead_now = read_file(AHEAD, &ahead_now_n);
    assert_int_equal(now_n, n);
    assert_memory_equal(now, log, n);
    assert_int_equal(ahead_now_n, ahead_n);
    assert_memory_equal(ahead_now, ahead, ahead_n);
    free(log);
    free(ahead);
    free(now);
    free(ahead_now);
}

static void
fsck_reports_the_pending_recovery_and_changes_nothing(void **state)
{
    (void)state;
    char want[200];
    struct world w = make_world(3); /* groups of 1, 2 and 3 lines */
    fsck_says(before.boot, "");
    fsck_says(after.boot, ""); /* the log has all of them */
    disk_has(w.log, w.len - 2);
    fsck_says(before.boot, "");
    const char *last = memrchr(w.log, '\n', w.len - 1);
    snprintf(want, sizeof want,
             "%zu-%zu 1 line from before a power cut is only in events.ahead: opening the log "
             "restores it",
             (size_t)(last - w.log) + 1, w.len);
    fsck_says(after.boot, want);
    disk_has(w.log, w.synced);
    snprintf(want, sizeof want,
             "%zu-%zu 6 lines from before a power cut are only in events.ahead: opening the log "
             "restores them",
             w.synced, w.len);
    fsck_says(after.boot, want);
    open_and_close(&after);
    check_log(w.log, w.len);
    fsck_says(after.boot, "");
    free_world(&w);
}

static void
fsck_reports_lines_of_another_log(void **state)
{
    (void)state;
    struct world w = make_world(3);
    disk_has(w.log, w.synced - 1);
    fsck_says(after.boot, "0-0 events.ahead has lines of another file (the log was "
                          "replaced, copied or truncated): opening the log renames it");
    free_world(&w);
}

static void
fsck_reports_damage_in_the_presync_file(void **state)
{
    (void)state;
    struct world w = make_world(5);
    int fd = open(AHEAD, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0 && pwrite(fd, "x", 1, 2 * PRESYNC_BLOCK + PRESYNC_HEAD + 3) == 1);
    close(fd);
    fsck_says(after.boot, "0-0 events.ahead has damaged lines: opening the log renames it");
    disk_has(w.log, w.synced);
    char want[200];
    const char *third = w.log + w.synced;
    for (int i = 0; i < 3; i++) /* a group of 1, one of 2 */
        third = (const char *)memchr(third, '\n', w.len) + 1;
    snprintf(want, sizeof want,
             "%zu-%zu 3 lines from before a power cut are only in events.ahead: opening the log "
             "restores them; further lines are damaged, and the file is renamed",
             w.synced, (size_t)(third - w.log));
    fsck_says(after.boot, want);
    free_world(&w);
}

static void
an_invalid_presync_file_is_refused_or_ignored(void **state)
{
    (void)state;
    struct log l;
    write_file(AHEAD, "notes of mine\n");
    open_and_close(&after);
    CHECK_FILE(AHEAD, "notes of mine\n");
    assert_int_equal(unlink(AHEAD), 0);
    assert_int_equal(mkdir(AHEAD, 0700), 0);
    CHECK_FAILS_WITH(log_open(&l, here(), NAME, &after, &e), ST_INVALID, &e, "directory");
    log_close(&l);
    assert_int_equal(rmdir(AHEAD), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_complete_log_is_not_changed),
        CASE(nothing_is_restored_before_a_reboot),
        CASE(a_log_cut_at_any_byte_is_restored),
        CASE(blocks_of_zeros_are_restored),
        CASE(lines_appended_before_the_recovery_come_after_the_restored_ones),
        CASE(a_torn_last_record_was_never_acknowledged),
        CASE(a_record_lost_in_the_middle_is_reported),
        CASE(a_lost_first_record_is_reported),
        CASE(a_segment_restored_by_another_process_is_left_alone),
        CASE(a_restored_log_keeps_its_owner),
        CASE(a_line_of_another_writer_may_equal_a_part_of_a_lost_line),
        CASE(records_of_an_older_generation_are_void),
        CASE(a_record_of_another_generation_ends_the_chain),
        CASE(without_a_birth_time_a_log_is_identified_by_its_inode),
        CASE(the_presync_file_of_another_log_is_moved_aside),
        CASE(a_log_shorter_than_its_synced_size_is_left_alone),
        CASE(a_segment_finished_by_another_process_needs_no_recovery),
        CASE(an_invalid_presync_file_is_refused_or_ignored),
        CASE(fsck_reports_the_pending_recovery_and_changes_nothing),
        CASE(fsck_reports_lines_of_another_log),
        CASE(fsck_reports_damage_in_the_presync_file),
    };

    return cmocka_run_group_tests_name("log recover", tests, NULL, NULL);
}
