/*
 * The hub and its log on disk: several processes, other writers, older versions, segments, a
 * writer that is killed.
 */
#include "fault.h"
#include "hubs.h"
#include "logs.h"

#include "base/sys.h"

#include <signal.h>
#include <unistd.h>

static struct err e;

/* Logs of before, and of others: what is refused today stands in them. */
static void
types_and_patterns_with_stars_in_an_old_log_are_folded(void **state)
{
    (void)state;
    make_dirs("config/signals");
    write_file(HUB_LOG, "{\"op\":\"subscribe\",\"by\":\"bob\",\"at\":1,\"pattern\":\"a:**\"}\n"
                        "{\"op\":\"subscribe\",\"by\":\"bob\",\"at\":1,\"pattern\":\"*:b\"}\n"
                        "{\"id\":\"one1\",\"type\":\"a:**\",\"createdAt\":5}\n"
                        "{\"id\":\"two2\",\"type\":\"*:b\",\"createdAt\":6}\n"
                        "{\"id\":\"three3\",\"type\":\"a:x\",\"createdAt\":7}\n");
    struct hub *h = open_hub();
    struct hub_reply *r = ask(h, HUB_EVENTS, "ruby", "{}");
    CHECK_REPLY(r, 200);
    assert_string_equal(each(r, "type"), "a:** *:b a:x");
    r = ask(h, HUB_INBOX, "bob", "{\"target\":\"@bob\"}");
    assert_string_equal(each(r, "signal_type"), "a:** *:b"); /* as text, and by the one star */
    r = ask(h, HUB_UNSUBSCRIBE, "bob", "{\"pattern\":\"a:**\"}");
    CHECK_REPLY(r, 200);
    assert_string_equal(got(r, "removed"), "true");
    close_hub(h);
}

static void
two_hubs_on_one_store_are_one(void **state)
{
    (void)state;
    struct hub *a = open_hub(), *b = open_hub();
    const char *id = emit(a, "ruby", TASK);

    assert_string_equal(got(ask(b, HUB_GET, "bob", "{\"id\":\"%s\"}", id), "sequence"), "1");
    claim(b, "bob", id);
    CHECK_REPLY(ask(a, HUB_CLAIM, "eve", "{\"signal_id\":\"%s\"}", id), 409);
    CHECK_REPLY(ask(a, HUB_SUBSCRIBE, "eve", "{\"pattern\":\"x\"}"), 200);
    CHECK_REPLY(ask(b, HUB_GENERATE, "bob", "{\"type\":\"x\"}"), 200);
    assert_string_equal(each(ask(a, HUB_INBOX, "eve", "{\"target\":\"@eve\"}"), "signal_type"),
                        "x");
    CHECK_REPLY(ask(b, HUB_UNSUBSCRIBE, "eve", "{\"pattern\":\"x\"}"), 200);
    CHECK_REPLY(ask(a, HUB_GENERATE, "bob", "{\"type\":\"x\"}"), 200);
    CHECK_REPLY(ask(b, HUB_SUBSCRIBE, "eve", "{\"pattern\":\"x\"}"), 200);
    assert_string_equal(each(ask(b, HUB_INBOX, "eve", "{\"target\":\"@eve\"}"), "signal_type"),
                        "x");
    for (int i = 0; i < 20; i++)
        emit(i % 2 ? a : b, "ruby", TASK);
    CHECK_NUMBERS(HUB_LOG,
                  "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27");
    /* one of them makes the index again under the other */
    CHECK_OK(hub_rebuild(a, &e), &e);
    assert_string_equal(got(ask(b, HUB_GET, "bob", "{\"id\":\"%s\"}", id), "claimed_by"), "bob");
    remove_tree("config/signals/index.db");
    remove_tree("config/signals/index.db-wal");
    remove_tree("config/signals/index.db-shm");
    assert_string_equal(got(ask(a, HUB_GET, "bob", "{\"id\":\"%s\"}", id), "claimed_by"), "bob");
    assert_string_equal(got(ask(b, HUB_ACK, "bob", "{\"signal_id\":\"%s\"}", id), "delivery_state"),
                        "acked");
    assert_string_equal(got(ask(a, HUB_GET, "bob", "{\"id\":\"%s\"}", id), "delivery_state"),
                        "acked");
    hub_close(a);
    close_hub(b);
}

static void
foreign_lines_count_and_invalid_ones_change_nothing(void **state)
{
    (void)state;
    struct hub *h = open_hub();
    const char *id = emit(h, "ruby", "{\"signal_type\":\"task\",\"content\":\"mine\"}");
    char line[300];

    append_file(HUB_LOG, "{\"type\":\"hello:world\"}\n");
    append_file(HUB_LOG, "{ \"createdAt\": 5, \"type\" : \"task\", \"content\":\"foreign\","
                         " \"id\":\"mine1\", \"odd\":[] }\n");
    append_file(HUB_LOG, "not json\n{\"type\":\"task\",\"id\":\"mine1\",\"content\":\"again\"}\n");
    struct hub_reply *r = ask(h, HUB_EVENTS, "bob", "{}");
    assert_string_equal(each(r, "type"), "task hello:world task");
    assert_string_equal(got(r, "events[1].id"), "f00000000000000000000002");
    assert_string_equal(each(ask(h, HUB_LIST, "bob", "{}"), "content"), "foreign null mine");
    snprintf(line, sizeof line,
             "{\"op\":\"claim\",\"signal\":\"%s\",\"by\":\"zoe\",\"claim\":\"c1\",\"until\":1}\n",
             id);
    append_file(HUB_LOG, line);
    snprintf(line, sizeof line,
             "{\"op\":\"claim\",\"signal\":\"%s\",\"by\":\"max\",\"claim\":\"c2\",\"until\":1}\n",
             id);
    append_file(HUB_LOG, line);
    r = ask(h, HUB_GET, "bob", "{\"id\":\"%s\"}", id);
    assert_string_equal(got(r, "claimed_by"), "zoe"); /* the first valid one wins */
    snprintf(line, sizeof line, "{\"op\":\"ack\",\"signal\":\"%s\",\"by\":\"max\"}\n", id);
    append_file(HUB_LOG, line);
    append_file(HUB_LOG,
                "{\"op\":\"dance\"}\n{\"op\":7}\n{\"op\":\"claim\"}\n{\"type\":\"\"}\n{}\n");
    r = ask(h, HUB_GET, "bob", "{\"id\":\"%s\"}", id);
    assert_string_equal(got(r, "delivery_state"), "leased");
    append_file(HUB_LOG, "{\"type\":\"torn");
    r = ask(h, HUB_CLAIM, "bob", "{}"); /* the foreign lease is long over */
    CHECK_REPLY(r, 200);
    assert_string_equal(got(r, "content"), "mine");
    uint64_t problems;
    CHECK_OK(hub_check(h, NULL, NULL, &problems, &e), &e);
    assert_int_equal(problems, 1); /* "not json"; what was torn is a note */
    close_hub(h);
}

static void
a_hub_stays_where_it_was_opened(void **state)
{
    (void)state;
    struct hub *h = open_hub();
    const char *id = emit(h, "ruby", TASK);

    make_dirs("elsewhere");
    assert_int_equal(chdir("elsewhere"), 0);
    CHECK_REPLY(ask(h, HUB_GET, "ruby", "{\"id\":\"%s\"}", id), 200);
    claim(h, "bob", id);
    assert_int_equal(chdir(".."), 0);
    assert_int_equal(count_files("elsewhere"), 0);
    close_hub(h);
}

static void
segments_are_one_log(void **state)
{
    (void)state;
    struct hub *h, *b = open_hub();
    struct hub_options o = { .rotate_bytes = 2000, .lock_wait_ms = 50 };
    const char *last = NULL;

    CHECK_OK(hub_open(&h, "config", &o, &e), &e);
    fill_hub(h);
    for (int i = 0; i < 30; i++)
        last = emit(h, "ruby", TASK);
    assert_true(count_files("config/signals") > 6);
    char *before = whole_hub(h), *other = whole_hub(b);
    assert_string_equal(before, other);
    free(other);
    claim(b, "zoe", last);
    assert_string_equal(got(ask(h, HUB_GET, "bob", "{\"id\":\"%s\"}", last), "claimed_by"), "zoe");
    CHECK_REPLY(ask(b, HUB_RELEASE, "zoe", "{\"signal_id\":\"%s\"}", last), 200);
    hub_close(b);
    hub_close(h);
    remove_tree("config/signals/index.db");
    remove_tree("config/signals/index.db-wal");
    remove_tree("config/signals/index.db-shm");
    CHECK_OK(hub_open(&h, "config", &o, &e), &e);
    char *after = whole_hub(h);
    assert_string_equal(before, after);
    struct hub_stats s;
    CHECK_OK(hub_stats(h, &s, &e), &e);
    assert_int_equal(s.first_seq, 1);
    uint64_t problems;
    CHECK_OK(hub_check(h, NULL, NULL, &problems, &e), &e);
    assert_int_equal(problems, 0);
    free(before);
    free(after);
    close_hub(h);
}

static void
emit_for_ever(int fd, int n)
{
    struct hub *h = open_hub();

    (void)n;
    for (;;) {
        const char *id = emit(h, "ruby", TASK);
        if (write(fd, id, 31) != 31)
            _exit(1);
        forget_answers();
    }
}

static void
a_killed_writer_loses_nothing_that_it_was_told(void **state)
{
    (void)state;
    for (int round = 0; round < 5; round++) {
        char ids[200][32] = { "" };
        int fd, n = 0;
        pid_t pid = fork_worker(emit_for_ever, 0, &fd);
        while (n < 20 + round && read(fd, ids[n], 31) == 31)
            n++;
        kill(pid, SIGKILL);
        wait_child(pid);
        while (n < 200 && read(fd, ids[n], 31) == 31)
            n++;
        close(fd);
        assert_true(n >= 20 + round);
        struct hub *h = open_hub();
        for (int i = 0; i < n; i++)
            CHECK_REPLY(ask(h, HUB_GET, "ruby", "{\"id\":\"%s\"}", ids[i]), 200);
        uint64_t problems;
        CHECK_OK(hub_check(h, NULL, NULL, &problems, &e), &e);
        assert_int_equal(problems, 0);
        close_hub(h);
    }
}

static const char *sneaked;

static ssize_t
sneaky_write(int fd, const void *p, size_t n)
{
    if (sneaked) {
        append_file(HUB_LOG, sneaked);
        sneaked = NULL;
    }
    return sys_kernel.write(fd, p, n);
}

static void
a_line_that_slips_in_before_ours_counts_first(void **state)
{
    (void)state;
    struct sys sly = sys_kernel;
    struct hub *h = open_hub();
    const char *id = emit(h, "ruby", TASK);
    char line[200];

    sly.write = sneaky_write;
    sys = &sly;
    sneaked = "{\"type\":\"sly\"}\n";
    struct hub_reply *r = ask(h, HUB_EMIT, "ruby", "{\"signal_type\":\"mine\"}");
    assert_string_equal(got(r, "sequence"), "3");
    assert_int_equal(r->seq, 3);
    assert_string_equal(each(ask(h, HUB_EVENTS, "ruby", "{}"), "type"), "task sly mine");
    snprintf(line, sizeof line,
             "{\"op\":\"claim\",\"signal\":\"%s\",\"by\":\"sly\",\"claim\":\"c\"}\n", id);
    sneaked = line;
    CHECK_REFUSED(ask(h, HUB_CLAIM, "bob", "{\"signal_id\":\"%s\"}", id), 409,
                  "SIGNAL_CLAIM_CONFLICT", "another writer");
    assert_string_equal(got(ask(h, HUB_GET, "bob", "{\"id\":\"%s\"}", id), "claimed_by"), "sly");
    uint64_t problems;
    CHECK_OK(hub_check(h, NULL, NULL, &problems, &e), &e);
    assert_int_equal(problems, 0);
    close_hub(h);
}

static void
old_segments_go_when_nothing_needs_them(void **state)
{
    (void)state;
    fake_clock(T0);
    struct hub_options o = { .rotate_bytes = 2000, .lock_wait_ms = 50 };
    struct hub *h;
    uint64_t dropped;

    CHECK_OK(hub_open(&h, "config", &o, &e), &e);
    for (int i = 0; i < 30; i++)
        CHECK_REPLY(ask(h, HUB_GENERATE, "ruby", "{\"type\":\"a:b\"}"), 200);
    const char *open = emit(h, "ruby", TASK);
    for (int i = 0; i < 30; i++)
        CHECK_REPLY(ask(h, HUB_GENERATE, "ruby", "{\"type\":\"a:b\"}"), 200);
    CHECK_OK(hub_compact(h, 3600000, &dropped, &e), &e);
    assert_int_equal(dropped, 0); /* young */
    fake_clock(T0 + 7200 * S);
    CHECK_OK(hub_compact(h, 3600000, &dropped, &e), &e);
    assert_true(dropped > 0);
    struct hub_stats s;
    CHECK_OK(hub_stats(h, &s, &e), &e);
    assert_true(s.first_seq > 1 && s.signals < 61);
    CHECK_REPLY(ask(h, HUB_GET, "bob", "{\"id\":\"%s\"}", open), 200); /* it waits */
    claim(h, "bob", open);
    uint64_t problems;
    CHECK_OK(hub_check(h, NULL, NULL, &problems, &e), &e);
    assert_int_equal(problems, 0);
    hub_close(h);
    remove_tree("config/signals/index.db");
    CHECK_OK(hub_open(&h, "config", &o, &e), &e);
    assert_string_equal(got(ask(h, HUB_GET, "bob", "{\"id\":\"%s\"}", open), "claimed_by"), "bob");
    close_hub(h);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(types_and_patterns_with_stars_in_an_old_log_are_folded),
        CASE(two_hubs_on_one_store_are_one),
        CASE(foreign_lines_count_and_invalid_ones_change_nothing),
        CASE(a_hub_stays_where_it_was_opened),
        CASE(segments_are_one_log),
        CASE(a_killed_writer_loses_nothing_that_it_was_told),
        CASE(a_line_that_slips_in_before_ours_counts_first),
        CASE(old_segments_go_when_nothing_needs_them),
    };

    return cmocka_run_group_tests_name("hub log", tests, NULL, NULL);
}
