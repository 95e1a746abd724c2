/* The index follows from the log: lost, damaged or behind, it is made again as it was. */
#include "fault.h"
#include "hubs.h"
#include "logs.h"

#include <unistd.h>

static struct err e;

static void
an_index_that_is_lost_or_damaged_is_made_again(void **state)
{
    (void)state;
    struct hub *h = open_hub();
    fill_hub(h);
    char *before = whole_hub(h);
    close_hub(h);

    for (int i = 0; i < 5; i++) {
        if (i == 0)
            remove_tree("config/signals/index.db");
        if (i == 1)
            write_file("config/signals/index.db", "this is not a database, by any means at all");
        if (i == 2) { /* the middle of it */
            char junk[4096];
            memset(junk, 'x', sizeof junk);
            FILE *f = fopen("config/signals/index.db", "r+");
            assert_non_null(f);
            for (int k = 1; k < 60; k++) {
                fseek(f, 4096L * k, SEEK_SET);
                fwrite(junk, 1, sizeof junk, f);
            }
            fclose(f);
        }
        if (i == 3)
            write_file("config/signals/index.db", "");
        if (i == 4) { /* another log than the one it was made from */
            size_t n;
            char *log = read_file(HUB_LOG, &n);
            remove_tree(HUB_LOG);
            write_bytes(HUB_LOG, log, n);
            free(log);
        }
        if (i < 4) {
            remove_tree("config/signals/index.db-wal");
            remove_tree("config/signals/index.db-shm");
        }
        h = open_hub();
        char *after = whole_hub(h);
        assert_string_equal(before, after);
        free(after);
        uint64_t problems;
        CHECK_OK(hub_check(h, NULL, NULL, &problems, &e), &e);
        assert_int_equal(problems, 0);
        close_hub(h);
    }
    free(before);
}

static void
an_index_of_many_signals_is_made_as_it_was_lived(void **state)
{
    uint64_t problems;
    struct hub *h = open_hub();

    (void)state;
    fake_clock(T0);
    fill_hub_much(h);
    append_file(HUB_LOG, "{\"type\":\"task\",\"id\":\"twice\",\"to_identity\":\"bob\"}\n"
                         "{\"type\":\"task\",\"id\":\"twice\",\"to_identity\":\"zoe\"}\n");
    fill_hub_much(h);
    CHECK_OK(hub_check(h, NULL, NULL, &problems, &e), &e); /* makes another, and compares */
    assert_int_equal(problems, 0);
    write_file("config/signals/index.db.new", "left by somebody who was killed");
    CHECK_OK(hub_rebuild(h, &e), &e);
    assert_int_equal(ask(h, HUB_CLAIM, "zoe", "{}")->status, 200);
    CHECK_OK(hub_check(h, NULL, NULL, &problems, &e), &e);
    assert_int_equal(problems, 0);
    assert_int_not_equal(access("config/signals/index.db.new", F_OK), 0);
    close_hub(h);
}

/* A thousand at once that need nothing of the index, each with its own texts. */
static void
emit_thousand(struct hub *h, int nth)
{
    struct buf b = { 0 };

    buf_adds(&b, "{\"signals\":[");
    for (int i = 0; i < 1000; i++)
        buf_addf(&b, "%s{\"signal_type\":\"t%d:%d\",\"to_identity\":\"%s\"}", i ? "," : "", nth, i,
                 i % 3 ? "bob" : "zoe");
    buf_adds(&b, "]}");
    assert_int_equal(ask(h, HUB_EMIT_BATCH, "ruby", "%s", b.p)->status, 200);
    forget_answers();
    buf_release(&b);
}

/* So many in a row that another thread adds them (row_thread.h), pile after pile. */
static void
an_index_is_made_by_two_threads_as_it_was_lived(void **state)
{
    uint64_t problems;
    struct hub *h = open_hub();

    (void)state;
    fake_clock(T0);
    for (int i = 0; i < 6; i++) {
        emit_thousand(h, i);
        if (i == 3) /* in the middle of it the helper is waited for */
            assert_int_equal(ask(h, HUB_CLAIM, "zoe", "{}")->status, 200);
    }
    CHECK_OK(hub_check(h, NULL, NULL, &problems, &e), &e); /* makes another, and compares */
    assert_int_equal(problems, 0);
    CHECK_OK(hub_rebuild(h, &e), &e);
    CHECK_OK(hub_check(h, NULL, NULL, &problems, &e), &e);
    assert_int_equal(problems, 0);
    close_hub(h);
}

/* Somebody else writes whenever a finding is told. */
struct others {
    struct hub *hub;
    uint64_t written, dropped, notes, differences;
};

static void
write_on(struct others *o)
{
    uint64_t dropped;

    for (int i = 0; i < 20; i++) {
        struct hub_reply *r =
            ask_on(o->hub, HUB_EMIT, "zoe", "{\"signal_type\":\"task\",\"to_identity\":\"bob\"}");
        assert_int_equal(r->status, 200);
        o->written++;
    }
    assert_int_equal(ask_on(o->hub, HUB_CLAIM, "bob", "{}")->status, 200);
    hub_settle(o->hub);
    CHECK_OK(hub_compact(o->hub, -5000, &dropped, &e), &e);
    o->dropped += dropped;
    forget_answers();
}

static void
on_finding(void *ctx, const struct hub_finding *f)
{
    struct others *o = ctx;

    o->notes += f->is_note;
    o->differences += !f->file;
    write_on(o);
}

static void
others_write_rotate_and_compact_while_it_is_checked(void **state)
{
    struct hub_options quick = { .rotate_bytes = 3000, .lock_wait_ms = 100 };
    struct others o = { 0 };
    uint64_t problems;
    struct hub *h, *checked;

    (void)state;
    CHECK_OK(hub_open(&h, "config", &quick, &e), &e);
    for (int i = 0; i < 60; i++)
        ask_on(h, HUB_EMIT, "ruby", "{\"signal_type\":\"note\"}");
    hub_settle(h);
    forget_answers();
    append_file(HUB_LOG,
                "no record\n{\"type\":\"task\",\"id\":\"last\",\"to_iden"); /* unfinished */
    o.hub = h;
    CHECK_OK(hub_open(&checked, "config", &quick, &e), &e);
    CHECK_OK(hub_check(checked, on_finding, &o, &problems, &e), &e);
    assert_int_equal(problems, 1);
    assert_int_equal(o.differences, 0);
    assert_int_equal(o.notes, 1);
    assert_int_equal(o.written, 40);
    assert_true(o.dropped > 0);
    CHECK_OK(hub_check(checked, NULL, NULL, &problems, &e), &e); /* of what is there now */
    close_hub(checked);
    close_hub(h);
}

/* Bytes of any kind in the middle of an index that is in use. */
static void
a_damaged_page_is_noticed_and_repaired(void **state)
{
    static char content[60001], text[60100], junk[4096];

    (void)state;
    struct hub *h = open_hub();
    memset(content, 'x', sizeof content - 1);
    snprintf(text, sizeof text, "{\"signal_type\":\"task\",\"content\":\"%s\"}", content);
    for (int i = 0; i < 60; i++)
        emit(h, "ruby", text);
    for (int i = 0; i < 20; i++)
        emit(h, "ruby", TASK);
    close_hub(h);
    off_t size = file_size("config/signals/index.db");
    assert_true(size > 1000000); /* it was checkpointed */
    memset(junk, 0xa5, sizeof junk);
    for (int round = 0; round < 3; round++) {
        FILE *f = fopen("config/signals/index.db", "r+");
        assert_non_null(f);
        for (off_t at = 4096 * (1 + round); at < file_size("config/signals/index.db"); at += 4096) {
            fseek(f, at, SEEK_SET);
            fwrite(junk, 1, sizeof junk, f);
        }
        fclose(f);
        remove_tree("config/signals/index.db-wal");
        remove_tree("config/signals/index.db-shm");
        h = open_hub();
        struct hub_reply *r =
            round == 0 ? ask(h, HUB_LIST, "bob", "{\"limit\":3}") : ask(h, HUB_CLAIM, "bob", "{}");
        CHECK_REPLY(r, 200);
        if (round == 0)
            assert_string_equal(each(r, "sequence"), "80 79 78");
        else
            assert_int_equal(atoi(got(r, "sequence")), round);
        uint64_t problems;
        CHECK_OK(hub_check(h, NULL, NULL, &problems, &e), &e);
        assert_int_equal(problems, 0);
        close_hub(h);
    }
}

static void
a_log_cut_short_is_what_counts(void **state)
{
    (void)state;
    struct hub *h = open_hub();
    const char *id = emit(h, "ruby", TASK);
    off_t size = file_size(HUB_LOG);

    claim(h, "bob", id);
    assert_int_equal(truncate(HUB_LOG, size), 0);
    assert_string_equal(got(ask(h, HUB_GET, "bob", "{\"id\":\"%s\"}", id), "delivery_state"),
                        "pending");
    claim(h, "eve", id);
    assert_int_equal(truncate(HUB_LOG, 0), 0);
    CHECK_REPLY(ask(h, HUB_GET, "bob", "{\"id\":\"%s\"}", id), 404);
    close_hub(h);
}

static void
numbers_of_lines_that_were_cut_off_are_not_used_again(void **state)
{
    uint64_t problems;

    (void)state;
    struct hub *h = open_hub();
    const char *one = emit(h, "ruby", TASK);
    off_t size = file_size(HUB_LOG);
    emit(h, "ruby", TASK);
    emit(h, "ruby", TASK);
    assert_int_equal(hub_last_cut(h), 0);
    assert_int_equal(truncate(HUB_LOG, size), 0);
    CHECK_REPLY(ask(h, HUB_GET, "bob", "{\"id\":\"%s\"}", one), 200); /* a reader notices it */
    assert_int_equal(hub_last_cut(h), 4);
    assert_int_equal(count_records(HUB_LOG, 0, "\"op\":\"cut\",\"at\":"), 1);
    assert_int_equal(count_records(HUB_LOG, 0, "\"from\":2,\"upto\":3,\"seq\":4"), 1);
    assert_string_equal(got(ask(h, HUB_EMIT, "ruby", TASK), "sequence"), "5");
    hub_close(h);

    /* All of it, while nobody has it open, and a writer comes next. */
    assert_int_equal(truncate(HUB_LOG, 0), 0);
    h = open_hub();
    assert_string_equal(got(ask_on(h, HUB_EMIT, "ruby", TASK), "sequence"), "7");
    hub_settle(h);
    assert_int_equal(hub_last_cut(h), 6);
    CHECK_OK(hub_rebuild(h, &e), &e); /* the log itself tells it */
    assert_int_equal(hub_last_cut(h), 6);
    assert_string_equal(got(ask(h, HUB_EMIT, "ruby", TASK), "sequence"), "8");
    CHECK_OK(hub_check(h, NULL, NULL, &problems, &e), &e);
    assert_int_equal(problems, 0);
    close_hub(h);
}

static void
bad_lines_are_counted_once_and_what_a_crash_left_is_not(void **state)
{
    (void)state;
    struct hub *h = open_hub();
    emit(h, "ruby", TASK);
    assert_int_equal(hub_bad_lines(h), 0);
    append_file(HUB_LOG, "garbage\n{\"type\":\"torn\n[1]\n");
    emit(h, "ruby", TASK);
    assert_int_equal(hub_bad_lines(h), 2);
    emit(h, "ruby", TASK);
    hub_close(h);
    h = open_hub();
    assert_int_equal(hub_bad_lines(h), 2);
    CHECK_OK(hub_rebuild(h, &e), &e);
    assert_int_equal(hub_bad_lines(h), 2);
    close_hub(h);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(an_index_that_is_lost_or_damaged_is_made_again),
        CASE(an_index_of_many_signals_is_made_as_it_was_lived),
        CASE(an_index_is_made_by_two_threads_as_it_was_lived),
        CASE(others_write_rotate_and_compact_while_it_is_checked),
        CASE(a_damaged_page_is_noticed_and_repaired),
        CASE(a_log_cut_short_is_what_counts),
        CASE(numbers_of_lines_that_were_cut_off_are_not_used_again),
        CASE(bad_lines_are_counted_once_and_what_a_crash_left_is_not),
    };

    return cmocka_run_group_tests_name("hub rebuild", tests, NULL, NULL);
}
