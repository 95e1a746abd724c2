/*
 * Writes and syncs that fail, and disks that are full: each is told, changes nothing, and is over
 * when it is over.
 */
#include "fault.h"
#include "hubs.h"

#include "hub/hub_impl.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

static struct err e;

static void
an_index_that_does_not_fit_on_the_disk_is_told_and_leaves_nothing(void **state)
{
    struct rlimit was, small;
    struct hub *h = open_hub();

    (void)state;
    fake_clock(T0);
    fill_hub_much(h);
    close_hub(h);
    remove_tree("config/signals/index.db");
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
    small = (struct rlimit){ 200000, was.rlim_max };
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    assert_int_equal(hub_open(&h, "config", NULL, &e), ST_IO);
    assert_non_null(strstr(e.text, "index.db"));
    assert_int_not_equal(access("config/signals/index.db.new", F_OK), 0);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
    h = open_hub();
    assert_int_equal(ask(h, HUB_CLAIM, "bob", "{}")->status, 200);
    close_hub(h);
}

static void
a_failed_write_or_sync_is_told_and_changes_nothing(void **state)
{
    (void)state;
    struct hub *h = open_hub();
    const char *id = emit(h, "ruby", TASK);

    fault_always("write", ENOSPC);
    CHECK_REFUSED(ask(h, HUB_CLAIM, "bob", "{\"signal_id\":\"%s\"}", id), 503, "STORE_UNAVAILABLE",
                  "events.jsonl");
    fault_off(NULL);
    assert_string_equal(got(ask(h, HUB_GET, "bob", "{\"id\":\"%s\"}", id), "delivery_state"),
                        "pending");
    CHECK_REPLY(ask(h, HUB_CLAIM, "bob", "{\"signal_id\":\"%s\"}", id), 200);
    fault_always("fdatasync", EIO);
    CHECK_REPLY(ask(h, HUB_RELEASE, "bob", "{\"signal_id\":\"%s\"}", id), 503);
    fault_off(NULL);
    CHECK_REFUSED(ask(h, HUB_EMIT, "bob", TASK), 503, "STORE_UNAVAILABLE", "failed fdatasync");
    close_hub(h);
    h = open_hub();
    CHECK_REPLY(ask(h, HUB_EMIT, "bob", TASK), 200);
    close_hub(h);
}

static void
a_store_whose_sync_failed_is_retried_but_not_at_once(void **state)
{
    (void)state;
    uint64_t problems;

    fake_clock(T0);
    struct hub *h = open_hub();
    const char *id = emit(h, "ruby", TASK);
    assert_null(hub_trouble(h));
    fault_always("fdatasync", EIO);
    CHECK_REPLY(ask(h, HUB_CLAIM, "bob", "{\"signal_id\":\"%s\"}", id), 503);
    assert_non_null(strstr(hub_trouble(h), "sync events.jsonl"));
    fault_count_from_here();
    int64_t at = T0, waited[8];
    for (int i = 0; i < 8; i++) { /* one try each time it says so, and none before */
        waited[i] = hub_write_retry_in_ms(h);
        at += waited[i] * (S / 1000) - 1;
        fake_clock(at);
        CHECK_REFUSED(ask(h, HUB_EMIT, "bob", TASK), 503, "STORE_UNAVAILABLE", "sync");
        fake_clock(++at);
        CHECK_REFUSED(ask(h, HUB_EMIT, "bob", TASK), 503, "STORE_UNAVAILABLE", "sync");
        assert_int_equal(fault_count("fdatasync"), i + 1);
        assert_true(i == 0 || waited[i] == 2 * waited[i - 1] || waited[i] == 10000);
    }
    assert_int_equal(waited[0], 100);
    assert_int_equal(waited[7], 10000);
    fault_off(NULL);
    fake_clock(at + 10 * S);
    CHECK_REPLY(ask(h, HUB_EMIT, "bob", TASK), 200);
    assert_null(hub_trouble(h));
    assert_int_equal(hub_write_retry_in_ms(h), -1);
    /* nobody knew about the claim; it is there, so it counts */
    assert_string_equal(got(ask(h, HUB_GET, "bob", "{\"id\":\"%s\"}", id), "delivery_state"),
                        "leased");
    CHECK_OK(hub_check(h, NULL, NULL, &problems, &e), &e);
    assert_int_equal(problems, 0);
    close_hub(h);
}

static void
a_full_disk_is_trouble_until_there_is_room(void **state)
{
    (void)state;
    struct rlimit before, tight;
    struct arena a = { 0 };

    fake_clock(T0);
    struct hub *h = open_hub();
    emit(h, "ruby", TASK);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    tight = before;
    tight.rlim_cur = (rlim_t)hub_log_end(h) + 100; /* more than nothing, less than a signal */
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
    CHECK_REPLY(ask(h, HUB_EMIT, "bob", TASK), 503);
    assert_non_null(strstr(hub_trouble(h), "append to events.jsonl"));
    assert_int_equal(hub_write_retry_in_ms(h), 100);
    fake_clock(T0 + S / 10);
    hub_submit(h, NULL, 0, &a, NULL);
    assert_non_null(hub_trouble(h));
    assert_int_equal(hub_write_retry_in_ms(h), 200);
    CHECK_REPLY(ask(h, HUB_EMIT, "bob", TASK), 503); /* is tried, and puts nothing off */
    assert_int_equal(hub_write_retry_in_ms(h), 200);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    fake_clock(T0 + S);
    hub_submit(h, NULL, 0, &a, NULL); /* nobody writes */
    assert_null(hub_trouble(h));
    assert_int_equal(hub_write_retry_in_ms(h), -1);
    CHECK_REPLY(ask(h, HUB_EMIT, "bob", TASK), 200);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
    CHECK_REPLY(ask(h, HUB_EMIT, "bob", TASK), 503);
    assert_int_equal(hub_write_retry_in_ms(h), 100);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    CHECK_REPLY(ask(h, HUB_EMIT, "bob", TASK), 200); /* or somebody does */
    assert_null(hub_trouble(h));
    arena_release(&a);
    close_hub(h);
}

/* Somebody reads the index for long: what is written meanwhile makes its write-ahead log long. A
 * full disk gets that back, whether the reader is still there (then the index goes) or not. */
static void
an_index_that_has_filled_the_disk_gives_it_back(void **state)
{
    static const char db[] = "config/signals/index.db";

    (void)state;
    for (int reads_on = 0; reads_on < 2; reads_on++) {
        struct hub *h = open_hub(), *reader = open_hub();
        struct index_place place;
        struct stat before, after;
        uint64_t problems;

        emit(h, "ruby", TASK);
        CHECK_OK(hub_begin_read(reader, &e), &e);
        assert_true(index_get_place(reader->ix, &place));
        while (!index_is_swollen(db)) {
            emit(h, "ruby", TASK);
            forget_answers();
        }
        if (!reads_on)
            hub_end_read(reader);
        assert_int_equal(stat(db, &before), 0);
        fault_always("write", ENOSPC);
        CHECK_REPLY(ask(h, HUB_EMIT, "ruby", TASK), 503);
        fault_off(NULL);
        assert_false(index_is_swollen(db));
        CHECK_REPLY(ask(h, HUB_EMIT, "ruby", TASK), 200);
        assert_int_equal(stat(db, &after), 0);
        assert_int_equal(after.st_ino != before.st_ino, reads_on);
        CHECK_OK(hub_check(h, NULL, NULL, &problems, &e), &e);
        assert_int_equal(problems, 0);
        if (reads_on)
            hub_end_read(reader);
        close_hub(reader);
        close_hub(h);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(an_index_that_has_filled_the_disk_gives_it_back),
        CASE(an_index_that_does_not_fit_on_the_disk_is_told_and_leaves_nothing),
        CASE(a_failed_write_or_sync_is_told_and_changes_nothing),
        CASE(a_store_whose_sync_failed_is_retried_but_not_at_once),
        CASE(a_full_disk_is_trouble_until_there_is_room),
    };

    return cmocka_run_group_tests_name("hub write errors", tests, NULL, NULL);
}
