/*
 * What must be true of log/ahead: lines that were acknowledged are in the log after a power cut,
 * once, in order, whatever the disk kept of it; and nobody else's lines are lost for that.
 *
 * A power cut is made of its traces: the log is given the bytes that the disk might have had, and
 * the log is opened under another boot id.
 */
#define _GNU_SOURCE
#include "fault.h"
#include "logs.h"

#include "base/crc32c.h"
#include "log/lock.h"
#include "log/presync.h"
#include "log/segment.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/stat.h>

#define AHEAD "events.ahead"

static struct err e;
static char noted[600];

static void
on_note(void *ctx, const char *text)
{
    (void)ctx;
    snprintf(noted, sizeof noted, "%s", text);
}

enum { PRESYNC_BYTES = 128 << 10 };

static const struct log_options before = { .lock_wait_ms = 50,
                                           .is_durable = true,
                                           .is_sequenced = true,
                                           .ahead_name = AHEAD,
                                           .boot = "11111111-1111-1111-1111-111111111111",
                                           .ahead_bytes = PRESYNC_BYTES,
                                           .note = on_note };
/* After the machine was started again; by one who does not write ahead. */
static const struct log_options after = { .lock_wait_ms = 50,
                                          .is_durable = true,
                                          .is_sequenced = true,
                                          .ahead_name = AHEAD,
                                          .boot = "22222222-2222-2222-2222-222222222222",
                                          .note = on_note };

/* ---- a store whose writer was killed ---- */

struct world {
    char *log, *ahead; /* their bytes */
    size_t len, ahead_len;
    size_t synced; /* bytes of the log that are on disk for sure */
};

/* One record that is synced in the log, and n that are in the file ahead only. */
static struct world
make_world(int n)
{
    struct world w = { 0 };
    pid_t pid = fork();

    if (pid == 0) { /* killed in the end: what it has in memory is gone */
        struct log l;
        if (log_open(&l, here(), NAME, &before, &e) || append(&l, "{\"first\":1}", &e))
            _exit(1);
        for (int i = 0; i < n; i++)
            if (append_group(&l, 10 * i, 1 + (size_t)i % 3, &e))
                _exit(1);
        _exit(0);
    }
    assert_int_equal(wait_child(pid), 0);
    w.log = read_file(NAME, &w.len);
    w.ahead = read_file(AHEAD, &w.ahead_len);
    w.synced = (size_t)(strchr(w.log, '\n') - w.log) + 1;
    return w;
}

static void
free_world(struct world *w)
{
    free(w->log);
    free(w->ahead);
}

/* The disk as the power cut left it; same inode. */
static void
disk_has(const void *p, size_t n)
{
    int fd = open(NAME, O_WRONLY | O_TRUNC | O_CLOEXEC);

    assert_true(fd >= 0 && write(fd, p, n) == (ssize_t)n);
    close(fd);
}

static void
put_number(char *to, uint64_t v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = (char)(v >> 8 * i);
}

/* The file ahead again, as if it were for the log that is there now. */
static void
ahead_has(const struct world *w)
{
    int fd = open(NAME, O_RDONLY | O_CLOEXEC);
    size_t used = 0;
    struct stat st;

    assert_true(fd >= 0 && fstat(fd, &st) == 0);
    for (; w->ahead[used] == 'c'; used += PRESYNC_BLOCK) { /* all records are of one block here */
        char *r = w->ahead + used;
        put_number(r + 32, st.st_ino, 8);
        put_number(r + 40, presync_born(fd), 8);
        put_number(r + 8,
                   crc32c(r + 12, PRESYNC_HEAD - 12 + (unsigned char)r[12] +
                                      ((size_t)(unsigned char)r[13] << 8)),
                   4);
    }
    close(fd);
    fd = open(AHEAD, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0 && pwrite(fd, w->ahead, used, 0) == (ssize_t)used);
    close(fd);
}

static void
open_and_close(const struct log_options *o)
{
    struct log l;

    noted[0] = '\0';
    CHECK_OK(log_open(&l, here(), NAME, o, &e), &e);
    log_close(&l);
}

static bool
is_empty(const char *name)
{
    size_t n;
    char *p = read_file(name, &n);
    struct presync_chain c;
    bool is = !presync_read_head(p, n, &c);

    free(p);
    return is;
}

static void
check_log(const char *want, size_t len)
{
    size_t n;
    char *got = read_file(NAME, &n);

    assert_int_equal(n, len);
    assert_memory_equal(got, want, len);
    free(got);
}

/* ---- writing ---- */

static void
rounds_are_synced_in_the_file_and_not_in_the_log(void **state)
{
    (void)state;
    struct log l;
    CHECK_OK(log_open(&l, here(), NAME, &before, &e), &e);
    CHECK_OK(append(&l, "{\"first\":1}", &e), &e);
    fake_pid(getpid()); /* puts the counting table in place */
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
a_full_file_is_begun_again_and_the_log_synced(void **state)
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
only_one_process_writes_it(void **state)
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
after_a_line_of_somebody_else_the_log_is_synced(void **state)
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
a_file_that_was_deleted_or_moved_is_not_written_to(void **state)
{
    (void)state;
    check_lost_file(false);
    check_lost_file(true);
}

static void
a_file_that_somebody_else_writes_meanwhile_is_not_removed(void **state)
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

/* What was done, by the names of calls. */
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

/* Who had the file may have written to it until he was killed, just now. */
static void
the_log_is_synced_when_the_file_is_ours(void **state)
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

/* ---- after a power cut ---- */

static void
a_log_that_lacks_nothing_stays_as_it_is(void **state)
{
    (void)state;
    struct world w = make_world(5);
    open_and_close(&after);
    check_log(w.log, w.len);
    assert_true(is_empty(AHEAD));
    free_world(&w);
}

static void
nothing_is_put_back_while_the_machine_runs(void **state)
{
    (void)state;
    struct log_options same = after;
    struct world w = make_world(5);
    same.boot = before.boot;
    disk_has(w.log, w.synced); /* somebody wanted it so */
    open_and_close(&same);
    check_log(w.log, w.synced);
    free_world(&w);
}

static void
a_log_cut_anywhere_gets_its_lines_back(void **state)
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
blocks_of_zeros_get_their_lines_back(void **state)
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

/* A disk that kept the log up to byte n; then somebody appended before cliq was started. */
static void
check_foreign_tail(const struct world *w, size_t n)
{
    static const char foreign[] = "{\"foreign\":1}\n{\"id\":\"foreign\"}\n";
    struct buf want = { 0 };

    disk_has(w->log, n);
    append_file(NAME, foreign);
    ahead_has(w);
    fake_pid(getpid()); /* puts the counting table in place */
    fault_count_from_here();
    open_and_close(&after);
    if (n < w->len) /* a new file is synced, and its name */
        assert_true(fault_count("fsync") >= 2);
    buf_add(&want, w->log, w->len);
    buf_adds(&want, foreign);
    check_log(want.p, want.len);
    buf_release(&want);
    assert_true(is_empty(AHEAD));
    assert_int_equal(count_files("."), 2);
}

static void
what_others_appended_meanwhile_goes_behind(void **state)
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
a_record_that_was_lost_in_the_middle_is_told(void **state)
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
    char *got = read_file(NAME, &n); /* those before it are back */
    assert_true(n > w.synced && n < w.len);
    assert_memory_equal(got, w.log, n);
    free(got);
    free_world(&w);
}

static void
a_first_record_that_was_lost_is_told(void **state)
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

/* Somebody else puts back, and appends, while we wait for the lock of the file that was. */
static void
what_somebody_else_has_put_back_is_left_alone(void **state)
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
    int queue = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); /* not the one that it has, too */
    while (!lock_is_wanted(queue))
        sched_yield();
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
a_log_stays_its_owners_whoever_puts_back(void **state)
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
a_line_of_others_may_be_part_of_ours(void **state)
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
    struct world w = make_world(2); /* the next writer: begins at 0 */
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
    ahead_has(&w); /* and its checksum is right */
    assert_true(presync_read(w.ahead, w.ahead_len, &c, &one));
    assert_int_equal(one.len, (unsigned char)w.ahead[12]);
    buf_release(&one);
    buf_release(&all);
    free_world(&w);
}

/* Where the file system does not tell when an inode was made. */
static void
another_log_is_known_by_its_inode_alone(void **state)
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
the_file_of_another_log_is_set_aside(void **state)
{
    (void)state;
    struct world w = make_world(3);
    assert_int_equal(rename(NAME, "elsewhere"), 0);
    write_bytes(NAME, w.log, w.synced); /* a backup, say */
    open_and_close(&after);
    check_log(w.log, w.synced);
    assert_false(file_exists(AHEAD));
    assert_int_equal(count_files("."), 3);
    assert_non_null(strstr(noted, "belong to another file"));
    assert_non_null(strstr(noted, "kept as events.ahead-"));
    free_world(&w);
}

static void
a_log_shorter_than_what_was_synced_is_left_alone(void **state)
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
a_segment_finished_by_somebody_else_needs_nothing(void **state)
{
    (void)state;
    struct log_options o = after;
    struct world w = make_world(3);
    o.boot = before.boot;
    o.rotate_bytes = 100;
    struct log l;
    CHECK_OK(log_open(&l, here(), NAME, &o, &e), &e);
    CHECK_OK(append(&l, "{\"k\":1}", &e), &e); /* and with that it is full */
    log_close(&l);
    assert_true(file_exists("events-1.jsonl"));
    open_and_close(&after);
    assert_string_equal(noted, "");
    assert_true(is_empty(AHEAD));
    free_world(&w);
}

/* ---- what fsck says of it ---- */

static void
on_finding(void *ctx, const struct log_record *rec, bool is_note)
{
    (void)ctx;
    assert_true(is_note);
    snprintf(noted, sizeof noted, "%jd-%jd %s", (intmax_t)rec->at, (intmax_t)rec->end,
             rec->problem);
}

/* Said, and nothing changed: the next one to open the log does what was said. */
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
fsck_tells_what_waits_and_changes_nothing(void **state)
{
    (void)state;
    char want[200];
    struct world w = make_world(3); /* groups of 1, 2 and 3 lines */
    fsck_says(before.boot, "");
    fsck_says(after.boot, ""); /* the log has them all */
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
fsck_tells_of_lines_of_another_file(void **state)
{
    (void)state;
    struct world w = make_world(3);
    disk_has(w.log, w.synced - 1);
    fsck_says(after.boot, "0-0 events.ahead has lines of another file (the log was "
                          "replaced, copied or truncated): opening the log renames it");
    free_world(&w);
}

static void
fsck_tells_of_damage_in_the_file(void **state)
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
what_is_no_file_ahead_is_refused_or_ignored(void **state)
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

/* ---- when calls fail ---- */

static void
recovery_that_fails_is_done_by_the_next_one(void **state)
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

/* After any failure of a call: what was acknowledged is in the log or in the file ahead. */
static void
whatever_fails_acknowledged_lines_survive_a_power_cut(void **state)
{
    (void)state;
    FAULT_SWEEP(f)
    {
        struct log l;
        size_t acked = 0, n;
        if (f.mode <= FAULT_ENOSPC) /* and making the file fails, too: that takes its time */
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
        /* the cut: of what no sync of the log told of, nothing is left */
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
a_failed_sync_of_the_log_is_mended_from_the_file(void **state)
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
    /* and the kernel dropped what it could not write */
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
        CASE(rounds_are_synced_in_the_file_and_not_in_the_log),
        CASE(a_full_file_is_begun_again_and_the_log_synced),
        CASE(only_one_process_writes_it),
        CASE(after_a_line_of_somebody_else_the_log_is_synced),
        CASE(a_file_that_was_deleted_or_moved_is_not_written_to),
        CASE(a_file_that_somebody_else_writes_meanwhile_is_not_removed),
        CASE(the_log_is_synced_when_the_file_is_ours),
        CASE(lines_that_do_not_fit_are_synced_in_the_log),
        CASE(a_segment_is_synced_before_it_is_finished),
        CASE(a_log_that_lacks_nothing_stays_as_it_is),
        CASE(nothing_is_put_back_while_the_machine_runs),
        CASE(a_log_cut_anywhere_gets_its_lines_back),
        CASE(blocks_of_zeros_get_their_lines_back),
        CASE(what_others_appended_meanwhile_goes_behind),
        CASE(a_torn_last_record_was_never_acknowledged),
        CASE(a_record_that_was_lost_in_the_middle_is_told),
        CASE(a_first_record_that_was_lost_is_told),
        CASE(what_somebody_else_has_put_back_is_left_alone),
        CASE(a_log_stays_its_owners_whoever_puts_back),
        CASE(a_line_of_others_may_be_part_of_ours),
        CASE(records_of_an_older_generation_are_void),
        CASE(a_record_of_another_generation_ends_the_chain),
        CASE(another_log_is_known_by_its_inode_alone),
        CASE(the_file_of_another_log_is_set_aside),
        CASE(a_log_shorter_than_what_was_synced_is_left_alone),
        CASE(a_segment_finished_by_somebody_else_needs_nothing),
        CASE(what_is_no_file_ahead_is_refused_or_ignored),
        CASE(fsck_tells_what_waits_and_changes_nothing),
        CASE(fsck_tells_of_lines_of_another_file),
        CASE(fsck_tells_of_damage_in_the_file),
        CASE(recovery_that_fails_is_done_by_the_next_one),
        CASE(whatever_fails_acknowledged_lines_survive_a_power_cut),
        CASE(a_failed_sync_of_the_log_is_mended_from_the_file),
    };

    return cmocka_run_group_tests_name("ahead", tests, NULL, NULL);
}
