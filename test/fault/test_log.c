/*
 * Fault injection in log/: after any failing call, an acknowledged record is whole in the file,
 * older records are unchanged, and the next writer can append.
 */
#include "fault.h"
#include "logs.h"

#include "log/segment.h"

#include <fcntl.h>

static struct err e;

static const struct log_options durable_sequenced = { .lock_wait_ms = 50,
                                                      .is_durable = true,
                                                      .is_sequenced = true };
static const struct log_options rotating = {
    .lock_wait_ms = 50, .is_durable = true, .is_sequenced = true, .rotate_bytes = 200
};

#define NEIGHBOUR "{\"neighbour\":1}\n"

#define MUST(fact)                                                                                 \
    do {                                                                                           \
        if (!(fact))                                                                               \
            fail_msg("%s: not so: %s", fault_what(f), #fact);                                      \
    } while (0)

/* Three old records, and files beside them. */
static void
old_world(const struct log_options *o)
{
    struct log l = open_log(o);

    for (int i = 0; i < 3; i++)
        CHECK_OK(append(&l, "{\"old\":1}", &e), &e);
    log_close(&l);
    write_file("neighbour.jsonl", NEIGHBOUR);
    write_file("events.jsonl.bak", NEIGHBOUR);
}

/* Opens, appends a group of n and closes, while calls fail. */
static enum status
append_faulty(struct fault *f, const struct log_options *o, size_t n)
{
    struct log l;

    fault_on(f);
    e.text[0] = '\0';
    enum status s = log_open(&l, here(), NAME, o, &e);
    if (!s)
        s = append_group(&l, 1, n, &e);
    log_close(&l);
    fault_off(f);
    return s;
}

/* Checks what must hold after append_faulty, and that another append succeeds. */
static void
check_world(struct fault *f, const struct log_options *o, size_t n, enum status s)
{
    int how = o->is_sequenced ? SEQUENCED : 0;
    size_t there = count_records(NAME, how, "\"k\"");

    MUST(s != ST_OK || there == n);
    MUST(there == 0 || there == n);
    MUST(s == ST_OK || e.text[0] != '\0');
    MUST(s == ST_OK || f->has_failed);
    MUST(s == ST_OK || s == ST_IO);
    MUST(f->mode != FAULT_EINTR || s == ST_OK || there == 0 || there == n);
    MUST(count_records(NAME, how, "old") == 3);
    append_once(o, "{\"new\":1}");
    MUST(count_records(NAME, how, "new") == 1);
    MUST(count_records(NAME, how, "old") == 3);
    MUST(count_records(NAME, how, "\"k\"") == there);
    CHECK_FILE("neighbour.jsonl", NEIGHBOUR);
    CHECK_FILE("events.jsonl.bak", NEIGHBOUR);
    MUST(count_files(".") == 3);
}

/* Readers see the numbers that were written. */
static void
check_numbers(struct fault *f, const char *name, uint64_t *next)
{
    struct lines l = read_lines(name, SEQUENCED);

    for (size_t i = 0; i < l.n; i++, ++*next) {
        const char *seq = strstr(l.v[i].text, "\"seq\":");
        MUST(!seq || strtoull(seq + 6, NULL, 10) == *next);
    }
    free_lines(&l);
}

FAULT_STORY(a_plain_record_is_whole_or_absent)
{
    old_world(&plain);
    check_world(f, &plain, 1, append_faulty(f, &plain, 1));
}

FAULT_STORY(a_durable_record_is_whole_or_absent)
{
    old_world(&durable);
    check_world(f, &durable, 1, append_faulty(f, &durable, 1));
}

FAULT_STORY(a_numbered_record_is_whole_or_absent)
{
    uint64_t next = 1;

    old_world(&durable_sequenced);
    check_world(f, &durable_sequenced, 1, append_faulty(f, &durable_sequenced, 1));
    check_numbers(f, NAME, &next);
}

FAULT_STORY(a_batch_is_whole_or_absent)
{
    old_world(&durable);
    check_world(f, &durable, 20, append_faulty(f, &durable, 20));
}

FAULT_STORY(a_numbered_group_is_whole_or_absent)
{
    uint64_t next = 1;

    old_world(&durable_sequenced);
    check_world(f, &durable_sequenced, 20, append_faulty(f, &durable_sequenced, 20));
    check_numbers(f, NAME, &next);
}

FAULT_STORY(the_first_record_of_a_log_is_whole_or_absent)
{
    enum status s = append_faulty(f, &durable_sequenced, 2);
    size_t there = file_exists(NAME) ? count_records(NAME, SEQUENCED, "\"k\"") : 0;

    MUST(s != ST_OK || there == 2);
    MUST(there == 0 || there == 2);
    append_once(&durable_sequenced, "{\"new\":1}");
    MUST(count_records(NAME, SEQUENCED, "new") == 1);
    MUST(count_records(NAME, SEQUENCED, "\"k\"") == there);
}

FAULT_STORY(a_record_behind_a_torn_line_is_whole_or_absent)
{
    old_world(&plain);
    append_file(NAME, "{\"torn\":");
    check_world(f, &plain, 2, append_faulty(f, &plain, 2));
}

FAULT_STORY(a_numbered_group_behind_a_torn_line_is_whole_or_absent)
{
    uint64_t next = 1;

    old_world(&sequenced);
    append_file(NAME, "{\"torn\":1}"); /* a whole record without its '\n' */
    check_world(f, &sequenced, 2, append_faulty(f, &sequenced, 2));
    MUST(count_records(NAME, SEQUENCED, "torn") == 1);
    check_numbers(f, NAME, &next);
}

/* The writer stays open after the failure: the next append succeeds, or is rejected. */
FAULT_STORY(an_open_writer_goes_on_or_refuses)
{
    struct log l;
    uint64_t next = 1;

    old_world(&durable_sequenced);
    l = open_log(&durable_sequenced);
    CHECK_OK(append(&l, "{\"before\":1}", &e), &e);
    append_file(NAME, "{\"foreign\":1}\n");
    fault_on(f);
    enum status s = append_group(&l, 1, 3, &e);
    fault_off(f);
    size_t there = count_records(NAME, SEQUENCED, "\"k\"");
    MUST(s != ST_OK || there == 3);
    MUST(there == 0 || there == 3);
    struct err why;
    enum status after = append(&l, "{\"after\":1}", &why);
    MUST(after == ST_OK || (s && strstr(why.text, "until it is opened again")));
    MUST(count_records(NAME, SEQUENCED, "after") == (after == ST_OK));
    log_close(&l);
    append_once(&durable_sequenced, "{\"new\":1}");
    MUST(count_records(NAME, SEQUENCED, "new") == 1);
    MUST(count_records(NAME, SEQUENCED, "old") == 3);
    MUST(count_records(NAME, SEQUENCED, "before") == 1);
    MUST(count_records(NAME, SEQUENCED, "foreign") == 1);
    MUST(count_records(NAME, SEQUENCED, "\"k\"") == there);
    check_numbers(f, NAME, &next);
}

/* ---- rotation ---- */

/* Counts a text in all segments and the current file, and checks all numbers. */
static size_t
count_everywhere(struct fault *f, const char *text)
{
    char name[SEGMENT_NAME_SIZE];
    uint64_t next = 1, first;
    size_t n = 0;

    while (segment_find(here(), NAME, next, name, &first, &e) == ST_OK && first == next) {
        n += count_records(name, SEQUENCED, text);
        check_numbers(f, name, &next);
    }
    if (file_exists(NAME)) {
        n += count_records(NAME, SEQUENCED, text);
        check_numbers(f, NAME, &next);
    }
    return n;
}

FAULT_STORY(a_rotation_loses_nothing)
{
    struct log l;
    size_t ok = 0;

    fault_on(f);
    if (log_open(&l, here(), NAME, &rotating, &e) == ST_OK)
        for (int i = 0; i < 6; i++)
            ok += append(&l, "{\"data\":\"0123456789012345678901234\"}", &e) == ST_OK;
    log_close(&l);
    fault_off(f);
    append_once(&rotating, "{\"new\":1}");
    append_once(&rotating, "{\"new\":1}");
    MUST(count_everywhere(f, "data") >= ok);
    MUST(count_everywhere(f, "data") <= 6);
    MUST(count_everywhere(f, "new") == 2);
    MUST(f->has_failed || ok == 6);
}

FAULT_STORY(a_rotation_cut_short_is_finished_or_left)
{
    struct log l = open_log(&durable_sequenced);

    CHECK_OK(append(&l, "{\"old\":1}", &e), &e);
    fault_always("renameat", EIO);
    CHECK_OK(log_lock(&l, &e), &e);
    assert_int_equal(segment_rotate(&l, &e), ST_IO);
    fault_off(NULL);
    log_close(&l);
    enum status s = append_faulty(f, &durable_sequenced, 2);
    size_t there = count_everywhere(f, "\"k\"");
    MUST(s != ST_OK || there == 2);
    MUST(there == 0 || there == 2);
    append_once(&durable_sequenced, "{\"new\":1}");
    MUST(count_everywhere(f, "new") == 1);
    MUST(count_everywhere(f, "old") == 1);
    MUST(count_everywhere(f, "\"k\"") == there);
    MUST(count_records("events-1.jsonl", SEQUENCED, "rotate") == 1);
    MUST(count_records(NAME, SEQUENCED, "new") == 1);
}

FAULT_STORY(strays_are_carried_over_exactly_once)
{
    struct log_options huge = rotating;
    struct log l = open_log(&durable_sequenced);

    huge.rotate_bytes = 1 << 30;
    CHECK_OK(append(&l, "{\"old\":1}", &e), &e);
    CHECK_OK(log_lock(&l, &e), &e);
    CHECK_OK(segment_rotate(&l, &e), &e);
    log_close(&l);
    append_file("events-1.jsonl", "{\"stray\":1}\n{\"stray\":2}\n");
    enum status s = append_faulty(f, &huge, 2);
    size_t there = count_everywhere(f, "\"k\"");
    MUST(s != ST_OK || there == 2);
    MUST(count_everywhere(f, "stray") == 0 || count_everywhere(f, "stray") == 2);
    append_once(&huge, "{\"new\":1}");
    append_once(&huge, "{\"new\":1}");
    MUST(count_everywhere(f, "stray") == 2);
    MUST(count_everywhere(f, "new") == 2);
    MUST(count_everywhere(f, "old") == 1);
    MUST(count_everywhere(f, "\"k\"") == there);
    append_file("events-1.jsonl", "{\"stray\":3}\n");
    append_once(&huge, "{\"new\":1}");
    MUST(count_everywhere(f, "stray") == 3);
}

/* ---- reading ---- */

FAULT_STORY(a_reader_sees_all_or_tells_why_not)
{
    struct log_reader r;
    struct log_record rec;

    old_world(&durable_sequenced);
    for (int how = 0; how < 4; how++) {
        size_t n = 0;
        int fd = open(NAME, O_RDONLY | O_CLOEXEC);
        bool had_failed = f->has_failed && how > 0;
        log_reader_init(&r, fd, 0);
        r.is_sequenced = how & 2;
        fault_on(f);
        while (how & 1 ? log_prev(&r, &rec) : log_next(&r, &rec))
            n++;
        fault_off(f);
        MUST(log_reader_status(&r, &e) || n == 3);
        MUST(log_reader_status(&r, &e) == ST_OK || f->has_failed);
        f->has_failed = f->has_failed || had_failed;
        log_reader_release(&r);
        close(fd);
    }
}

FAULT_STORY(fsck_sees_all_or_tells_why_not)
{
    struct log_report report;

    old_world(&plain);
    int fd = open(NAME, O_RDONLY | O_CLOEXEC);
    fault_on(f);
    enum status s = log_fsck(fd, -1, &report, NULL, NULL, &e);
    fault_off(f);
    MUST(s || report.good == 3);
    close(fd);
}

FAULT_STORY(a_follower_gets_every_record_or_tells_why_not)
{
    struct log_tail t;
    struct log_record rec;
    size_t n = 0;

    make_dirs("room");
    write_file("room/" NAME, "{\"a\":1}\n{\"a\":2}\n");
    fault_on(f);
    enum status s = log_tail_open(&t, "room", NAME, false, LOG_FROM_START, &e);
    while (!s && log_tail_next(&t, &rec))
        n++;
    if (!s)
        s = log_tail_status(&t, &e);
    fault_off(f);
    MUST(s == ST_OK || s == ST_IO);
    MUST(s == ST_OK || f->has_failed);
    if (!s) { /* then no record is missing, and following continues */
        MUST(n == 2);
        append_file("room/" NAME, "{\"a\":3}\n");
        MUST(t.watch.is_polling || is_readable(log_tail_fd(&t), 5000));
        MUST(log_tail_next(&t, &rec));
    }
    log_tail_close(&t);
}

FAULT_STORY(a_follower_across_a_rotation_gets_every_record_or_tells_why_not)
{
    struct log_tail t;
    struct log_record rec;
    size_t n = 0;

    append_once(&sequenced, "{\"a\":1}");
    CHECK_OK(log_tail_open(&t, ".", NAME, true, LOG_FROM_START, &e), &e);
    MUST(log_tail_next(&t, &rec));
    for (int i = 0; i < 2; i++) {
        struct log l = open_log(&sequenced);
        CHECK_OK(log_lock(&l, &e), &e);
        CHECK_OK(segment_rotate(&l, &e), &e);
        log_close(&l);
        append_once(&sequenced, "{\"b\":1}");
    }
    fault_on(f);
    while (log_tail_next(&t, &rec))
        n++;
    enum status s = log_tail_status(&t, &e);
    fault_off(f);
    MUST(s || n == 4);
    MUST(s == ST_OK || f->has_failed);
    log_tail_close(&t);
}

/* After any failure in log_repair: old records are unchanged, acknowledged ones are there. */
FAULT_STORY(a_log_is_mended_or_goes_on_refusing)
{
    struct log l;
    struct err why;
    uint64_t next = 1;

    old_world(&durable_sequenced);
    l = open_log(&durable_sequenced);
    fault_always("fdatasync", EIO);
    CHECK_FAILS_WITH(append(&l, "{\"doubtful\":1}", &e), ST_IO, &e, "may or may not");
    fault_off(NULL);
    char *before = read_file(NAME, NULL);
    fault_on(f);
    enum status s = log_repair(&l, &e);
    fault_off(f);
    MUST(s == ST_OK || f->has_failed);
    CHECK_FILE(NAME, before);
    free(before);
    enum status after = append(&l, "{\"after\":1}", &why);
    MUST((after == ST_OK) == (s == ST_OK));
    MUST(count_records(NAME, SEQUENCED, "after") == (after == ST_OK));
    CHECK_OK(log_repair(&l, &e), &e);
    CHECK_OK(append(&l, "{\"last\":1}", &e), &e);
    log_close(&l);
    check_numbers(f, NAME, &next);
    MUST(count_records(NAME, SEQUENCED, "last") == 1);
}

int
main(void)
{
    static const struct story stories[] = {
        STORY(a_plain_record_is_whole_or_absent),
        STORY(a_durable_record_is_whole_or_absent),
        STORY(a_numbered_record_is_whole_or_absent),
        STORY(a_batch_is_whole_or_absent),
        STORY(a_numbered_group_is_whole_or_absent),
        STORY(the_first_record_of_a_log_is_whole_or_absent),
        STORY(a_record_behind_a_torn_line_is_whole_or_absent),
        STORY(a_numbered_group_behind_a_torn_line_is_whole_or_absent),
        STORY(an_open_writer_goes_on_or_refuses),
        STORY(a_log_is_mended_or_goes_on_refusing),
        STORY(a_rotation_loses_nothing),
        STORY(a_rotation_cut_short_is_finished_or_left),
        STORY(strays_are_carried_over_exactly_once),
        STORY(a_reader_sees_all_or_tells_why_not),
        STORY(fsck_sees_all_or_tells_why_not),
        STORY(a_follower_gets_every_record_or_tells_why_not),
        STORY(a_follower_across_a_rotation_gets_every_record_or_tells_why_not),
    };

    return run_stories("faults of the log", stories, sizeof stories / sizeof *stories);
}
