/*
 * What time does in the hub: leases end, failed tasks come back, delayed signals are delivered,
 * and a clock that is set changes none of it.
 */
#include "fault.h"
#include "hubs.h"
#include "logs.h"

static void
a_lease_ends_by_its_time_and_the_task_is_open_again(void **state)
{
    (void)state;
    fake_clock(T0);
    struct hub *h = open_hub();
    const char *id = emit(h, "ruby", TASK);
    const char *first = claim(h, "bob", id);

    assert_int_equal(hub_due_in_ms(h), 60000);
    fake_clock(T0 + 299 * S);
    assert_int_equal(hub_due_in_ms(h), 1000);
    CHECK_REPLY(ask(h, HUB_CLAIM, "eve", "{\"signal_id\":\"%s\"}", id), 409);
    CHECK_REPLY(ask(h, HUB_EXTEND, "bob", "{\"signal_id\":\"%s\",\"lease_seconds\":10}", id), 200);
    fake_clock(T0 + 308 * S + 999 * (S / 1000));
    CHECK_REPLY(ask(h, HUB_CLAIM, "eve", "{\"signal_id\":\"%s\"}", id), 409);
    fake_clock(T0 + 309 * S);
    assert_int_equal(hub_due_in_ms(h), 0);
    hub_submit(h, NULL, 0, NULL, NULL);
    struct hub_reply *r = ask(h, HUB_GET, "eve", "{\"id\":\"%s\"}", id);
    assert_string_equal(got(r, "delivery_state"), "pending");
    assert_string_equal(got(r, "task_status"), "open");
    assert_string_equal(got(r, "delivery_count"), "1");
    assert_string_equal(got(r, "claimed_by"), "null");
    assert_int_equal(hub_due_in_ms(h), -1);
    CHECK_REFUSED(ask(h, HUB_ACK, "bob", "{\"signal_id\":\"%s\",\"claim_id\":\"%s\"}", id, first),
                  409, "SIGNAL_LEASE_LOST", first);
    const char *second = claim(h, "bob", id); /* the same identity again: the old claim is dead */
    CHECK_REFUSED(ask(h, HUB_ACK, "bob", "{\"signal_id\":\"%s\",\"claim_id\":\"%s\"}", id, first),
                  409, "SIGNAL_LEASE_LOST", first);
    CHECK_REPLY(ask(h, HUB_ACK, "bob", "{\"signal_id\":\"%s\",\"claim_id\":\"%s\"}", id, second),
                200);
    assert_string_equal(each(ask(h, HUB_HISTORY, "bob", "{\"id\":\"%s\"}", id), "op"),
                        "emit claim extend expire claim ack");
    close_hub(h);
}

/* Both clocks are cut to milliseconds, and not at the same moment. */
static void
a_lease_does_not_end_a_part_of_a_millisecond_early(void **state)
{
    (void)state;
    fake_clock(T0 + 900000);
    fake_wall(T0 + 100000);
    struct hub *h = open_hub();
    const char *id = emit(h, "ruby", TASK);

    CHECK_REPLY(ask(h, HUB_CLAIM, "bob", "{\"signal_id\":\"%s\",\"lease_seconds\":10}", id), 200);
    fake_clock(T0 + 10 * S); /* 0.9 ms are missing */
    hub_submit(h, NULL, 0, NULL, NULL);
    assert_string_equal(got(ask(h, HUB_GET, "bob", "{\"id\":\"%s\"}", id), "delivery_state"),
                        "leased");
    fake_clock(T0 + 10 * S + 1000000);
    hub_submit(h, NULL, 0, NULL, NULL);
    assert_string_equal(got(ask(h, HUB_GET, "bob", "{\"id\":\"%s\"}", id), "delivery_state"),
                        "pending");
    close_hub(h);
}

static void
a_clock_that_is_set_moves_no_lease(void **state)
{
    (void)state;
    fake_clock(T0);
    struct hub *h = open_hub();
    const char *id = emit(h, "ruby", TASK);

    claim(h, "bob", id);
    fake_clock(T0 + 100 * S);
    fake_wall(T0 + 86400 * S); /* a day ahead */
    CHECK_REPLY(ask(h, HUB_CLAIM, "eve", "{\"signal_id\":\"%s\"}", id), 409);
    fake_wall(T0 - 86400 * S); /* a day back */
    fake_clock(T0 + 299 * S);
    CHECK_REPLY(ask(h, HUB_CLAIM, "eve", "{\"signal_id\":\"%s\"}", id), 409);
    fake_clock(T0 + 300 * S);
    CHECK_REPLY(ask(h, HUB_CLAIM, "eve", "{\"signal_id\":\"%s\"}", id), 200);
    close_hub(h);
}

static void
what_fails_comes_back_later_each_time_and_then_is_a_dead_letter(void **state)
{
    static const int back_off[] = { 1, 2, 4, 8 };

    (void)state;
    int64_t now = T0;
    fake_clock(now);
    struct hub *h = open_hub();
    const char *id = emit(h, "ruby", TASK);
    struct hub_reply *r;
    for (size_t i = 0; i < 4; i++) {
        claim(h, "bob", id);
        r = ask(h, HUB_FAIL, "bob", "{\"signal_id\":\"%s\",\"error\":\"no\"}", id);
        CHECK_REPLY(r, 200);
        assert_string_equal(got(r, "delivery_state"), "failed");
        CHECK_REPLY(ask(h, HUB_FAIL, "bob", "{\"signal_id\":\"%s\"}", id), 200); /* again */
        assert_int_equal(hub_due_in_ms(h), back_off[i] * 1000);
        fake_clock(now + back_off[i] * S - 1000000);
        CHECK_REFUSED(ask(h, HUB_CLAIM, "bob", "{\"signal_id\":\"%s\"}", id), 409,
                      "SIGNAL_NOT_CLAIMABLE", "failed");
        fake_clock(now += back_off[i] * S);
    }
    claim(h, "bob", id);
    r = ask(h, HUB_FAIL, "bob", "{\"signal_id\":\"%s\"}", id);
    assert_string_equal(got(r, "delivery_state"), "dead_letter");
    assert_string_equal(got(r, "delivery_count"), "5");
    assert_int_equal(hub_due_in_ms(h), -1);
    assert_string_equal(each(ask(h, HUB_LIST, "bob", "{\"delivery_state\":\"dead_letter\"}"), "id"),
                        id);
    CHECK_REPLY(ask(h, HUB_REQUEUE, "bob", "{\"signal_id\":\"%s\"}", id), 200);
    CHECK_REPLY(ask(h, HUB_REQUEUE, "bob", "{\"signal_id\":\"%s\"}", id), 200);
    assert_int_equal(count_records(HUB_LOG, 0, "\"op\":\"requeue\""), 1);
    claim(h, "bob", id);
    CHECK_REPLY(ask(h, HUB_FAIL, "bob", "{\"signal_id\":\"%s\",\"retry_in\":0}", id), 200);
    claim(h, "bob", id);
    close_hub(h);
}

static void
five_lost_leases_make_a_dead_letter(void **state)
{
    (void)state;
    int64_t now = T0;
    fake_clock(now);
    struct hub *h = open_hub();
    const char *id = emit(h, "ruby", TASK);
    for (int i = 1; i <= HUB_MAX_DELIVERIES; i++) {
        claim(h, "bob", id);
        fake_clock(now += 300 * S);
        hub_submit(h, NULL, 0, NULL, NULL);
        struct hub_reply *r = ask(h, HUB_GET, "bob", "{\"id\":\"%s\"}", id);
        assert_string_equal(got(r, "delivery_state"), i < 5 ? "pending" : "dead_letter");
        assert_int_equal(atoi(got(r, "delivery_count")), i);
    }
    assert_int_equal(count_records(HUB_LOG, 0, "\"op\":\"expire\""), 5);
    CHECK_REFUSED(ask(h, HUB_CLAIM, "bob", "{\"signal_id\":\"%s\"}", id), 409,
                  "SIGNAL_NOT_CLAIMABLE", "dead_letter");
    assert_null(ask(h, HUB_CLAIM, "bob", "{}")->data);
    close_hub(h);
}

/* Somebody sets the clock at every step, up to a day ahead or back, and the store is closed and
 * opened now and then: each of many leases ends at its own time, not a millisecond before. */
static void
leases_end_exactly_while_the_clock_is_set_to_and_fro(void **state)
{
    enum { LEASES = 120, STEPS = 150 };
    int64_t ends_s[LEASES], now_s = 0;
    struct hub *h;

    (void)state;
    fake_clock(T0);
    h = open_hub();
    for (int i = 0; i < LEASES; i++) {
        ends_s[i] = 1 + random_below(600);
        const char *id = emit(h, "ruby", TASK);
        CHECK_REPLY(ask(h, HUB_CLAIM, "bob", "{\"signal_id\":\"%s\",\"lease_seconds\":%d}", id,
                        (int)ends_s[i]),
                    200);
    }
    for (int i = 0; i < STEPS; i++) {
        now_s += 1 + random_below(8);
        for (int is_reached = 0; is_reached < 2; is_reached++) { /* a ms before, then at it */
            int64_t at = T0 + now_s * S - (is_reached ? 0 : S / 1000);
            fake_clock(at);
            fake_wall(at + ((int64_t)random_below(2 * 86400) - 86400) * S);
            hub_submit(h, NULL, 0, NULL, NULL);
            size_t want = 0;
            for (int k = 0; k < LEASES; k++)
                want += ends_s[k] < now_s || (ends_s[k] == now_s && is_reached);
            assert_int_equal(count_records(HUB_LOG, 0, "\"op\":\"expire\""), want);
        }
        if (random_below(10) == 0) {
            close_hub(h);
            h = open_hub();
        }
    }
    assert_true(now_s > 400);
    close_hub(h);
}

/* What is delayed is for a time of the wall clock: by that clock it is never early, and a clock
 * that is set back brings nothing twice. */
static void
delayed_signals_come_once_while_the_clock_is_set_to_and_fro(void **state)
{
    enum { SIGNALS = 100, STEPS = 150, DAY = 86400 };
    int64_t at_s[SIGNALS], latest_s = -1;
    struct hub *h;

    (void)state;
    fake_clock(T0);
    h = open_hub();
    for (int i = 0; i < SIGNALS; i++) {
        at_s[i] = i * (DAY / SIGNALS) + 1 + random_below(DAY / SIGNALS);
        CHECK_REPLY(ask(h, HUB_SCHEDULE, "bob", "{\"type\":\"late\",\"deliverAt\":%jd}",
                        (intmax_t)(T0 / 1000000 + at_s[i] * 1000)),
                    200);
    }
    for (int i = 0; i < STEPS; i++) {
        int64_t wall_s = random_below(4) ? at_s[i * SIGNALS / STEPS] : -(int64_t)random_below(DAY);
        for (int is_reached = 0; is_reached < 2; is_reached++) {
            fake_clock(T0 + i * S);
            fake_wall(T0 + wall_s * S - (is_reached ? 0 : S / 1000));
            hub_submit(h, NULL, 0, NULL, NULL);
            if (is_reached && wall_s > latest_s)
                latest_s = wall_s;
            size_t want = 0;
            for (int k = 0; k < SIGNALS; k++)
                want += at_s[k] <= latest_s || (at_s[k] < wall_s);
            assert_int_equal(count_records(HUB_LOG, 0, "\"op\":\"deliver\""), want);
            assert_int_equal(count_records(HUB_LOG, 0, "\"delayed\":"), want);
        }
        if (random_below(10) == 0) {
            close_hub(h);
            h = open_hub();
        }
    }
    fake_wall(T0 + DAY * S);
    hub_submit(h, NULL, 0, NULL, NULL);
    assert_int_equal(count_records(HUB_LOG, 0, "\"op\":\"deliver\""), SIGNALS);
    assert_int_equal(hub_due_in_ms(h), -1);
    close_hub(h);
}

static void
a_signal_that_has_expired_is_neither_claimed_nor_in_an_inbox_now(void **state)
{
    uint64_t problems;
    struct hub_stats st;
    struct err e;

    (void)state;
    fake_clock(T0);
    struct hub *h = open_hub();
    CHECK_REPLY(ask(h, HUB_SUBSCRIBE, "eve", "{\"pattern\":\"task\"}"), 200);
    const char *task = emit(h, "ruby", "{\"signal_type\":\"task\",\"expires_at\":\"+10s\"}");
    const char *note =
        emit(h, "ruby", "{\"signal_type\":\"x\",\"to_identity\":\"eve\",\"expires_at\":\"+20s\"}");
    const char *taken = emit(h, "ruby", "{\"signal_type\":\"task\",\"expires_at\":\"+10s\"}");
    const char *acked = emit(h, "ruby", "{\"signal_type\":\"task\",\"expires_at\":\"+10s\"}");
    claim(h, "bob", taken);
    CHECK_REPLY(ask(h, HUB_ACK, "ruby", "{\"signal_id\":\"%s\"}", acked), 200);
    CHECK_REFUSED(ask(h, HUB_EMIT, "ruby", "{\"signal_type\":\"x\",\"expires_at\":1000}"), 400,
                  "SIGNAL_EMIT_VALIDATION_FAILED", "expires_at must be in the future");
    assert_int_equal(hub_due_in_ms(h), 10000);
    fake_clock(T0 + 10 * S);
    assert_string_equal(each(ask(h, HUB_INBOX, "eve", "{\"target\":\"@eve\"}"), "id"), note);
    assert_int_equal(hub_due_in_ms(h), 0);
    CHECK_REFUSED(ask(h, HUB_CLAIM, "eve", "{\"signal_id\":\"%s\"}", task), 409,
                  "SIGNAL_NOT_CLAIMABLE", "expired");
    assert_null(ask(h, HUB_CLAIM, "eve", "{}")->text); /* nothing to claim */
    struct hub_reply *r = ask(h, HUB_GET, "ruby", "{\"id\":\"%s\"}", task);
    assert_string_equal(got(r, "delivery_state"), "expired");
    assert_non_null(strstr(data(r), "\"expires_at\":\"2026-04-03T11:19:44.000Z\""));
    assert_string_equal(each(ask(h, HUB_HISTORY, "ruby", "{\"id\":\"%s\"}", task), "op"),
                        "emit lapse");
    assert_string_equal(each(ask(h, HUB_HISTORY, "ruby", "{\"id\":\"%s\"}", acked), "op"),
                        "emit ack");

    /* Who holds it may finish; given back, nobody gets it. */
    assert_int_equal(hub_due_in_ms(h), 10000);
    CHECK_REPLY(ask(h, HUB_RELEASE, "bob", "{\"signal_id\":\"%s\"}", taken), 200);
    assert_string_equal(each(ask(h, HUB_HISTORY, "ruby", "{\"id\":\"%s\"}", taken), "op"),
                        "emit claim release lapse");
    fake_clock(T0 + 20 * S);
    hub_submit(h, NULL, 0, NULL, NULL);
    assert_int_equal(hub_due_in_ms(h), -1);
    CHECK_OK(hub_stats(h, &st, &e), &e);
    assert_int_equal(st.expired, 3);
    assert_string_equal(data(ask(h, HUB_INBOX, "eve", "{\"target\":\"@eve\"}")), "[]");
    CHECK_OK(hub_check(h, NULL, NULL, &problems, &e), &e);
    assert_int_equal(problems, 0);
    close_hub(h);
}

static void
a_delayed_signal_of_the_past_comes_with_its_own_round(void **state)
{
    (void)state;
    fake_clock(T0);
    struct hub *h = open_hub();

    CHECK_REPLY(ask(h, HUB_SUBSCRIBE, "eve", "{\"pattern\":\"*\"}"), 200);
    CHECK_REPLY(ask(h, HUB_SCHEDULE, "bob", "{\"type\":\"a\",\"deliverAt\":0}"), 200);
    CHECK_REPLY(
        ask(h, HUB_SCHEDULE, "bob", "{\"type\":\"b\",\"deliverAt\":\"2020-01-01T00:00:00Z\"}"),
        200);
    CHECK_REPLY(ask_on(h, HUB_SCHEDULE, "bob", "{\"type\":\"c\",\"deliverAt\":%jd,\"data\":7}",
                       (intmax_t)(T0 / 1000000)),
                200);
    hub_settle(h);
    assert_string_equal(each(ask(h, HUB_INBOX, "eve", "{\"target\":\"@eve\"}"), "signal_type"),
                        "a b c");
    assert_string_equal(data(ask(h, HUB_DELAYED, "bob", "{}")), "{\"events\":[]}");
    assert_int_equal(count_records(HUB_LOG, 0, "\"op\":\"deliver\""), 3);
    assert_int_equal(hub_due_in_ms(h), -1);
    close_hub(h);
}

static void
a_delayed_signal_comes_at_its_time_never_early(void **state)
{
    (void)state;
    fake_clock(T0);
    struct hub *h = open_hub();
    int64_t now_ms = T0 / 1000000;
    struct hub_reply *r;

    CHECK_REPLY(ask(h, HUB_SCHEDULE, "bob",
                    "{\"type\":\"b\",\"deliverAt\":%jd,\"data\":1,\"repeatKey\":\" k \"}",
                    (intmax_t)now_ms + 1000),
                200);
    r = ask(h, HUB_SCHEDULE, "bob",
            "{\"type\":\"b\",\"deliverAt\":%jd.9,\"data\":2,\"repeatKey\":\"k\"}",
            (intmax_t)now_ms + 5000);
    CHECK_REPLY(r, 200);
    CHECK_REPLY(
        ask(h, HUB_SCHEDULE, "bob", "{\"type\":\"a\",\"deliverAt\":%jd}", (intmax_t)now_ms + 9000),
        200);
    const char *first = got(r, "delayed.id");
    r = ask(h, HUB_DELAYED, "bob", "{}");
    assert_string_equal(each(r, "type"), "b a");
    char *view = read_file("config/signals/delayed.json", NULL);
    assert_memory_equal(view, "{\n  \"version\": 1,\n  \"events\": [\n    {\n      \"id\": ", 50);
    assert_non_null(strstr(view, first));
    assert_int_equal(file_mode("config/signals/delayed.json"), 0600);
    free(view);
    assert_int_equal(hub_due_in_ms(h), 5000);
    fake_clock(T0 + 4999 * (S / 1000));
    hub_submit(h, NULL, 0, NULL, NULL);
    assert_string_equal(each(ask(h, HUB_EVENTS, "bob", "{}"), "type"), "");
    close_hub(h); /* survives */
    fake_clock(T0 + 6000 * (S / 1000));
    h = open_hub();
    hub_submit(h, NULL, 0, NULL, NULL);
    r = ask(h, HUB_EVENTS, "bob", "{}");
    assert_string_equal(each(r, "type"), "b");
    assert_string_equal(each(r, "data"), "2");
    assert_string_equal(each(r, "createdAt"), "1775215180000");
    hub_submit(h, NULL, 0, NULL, NULL);
    assert_string_equal(each(ask(h, HUB_EVENTS, "bob", "{}"), "type"), "b"); /* once */
    assert_string_equal(got(ask(h, HUB_CANCEL, "bob", "{\"repeatKey\":\"k\"}"), "removed"), "0");
    r = ask(h, HUB_DELAYED, "bob", "{}");
    assert_string_equal(
        got(ask(h, HUB_CANCEL, "bob", "{\"id\":\"%s\"}", got(r, "events[0].id")), "removed"), "1");
    CHECK_FILE("config/signals/delayed.json", "{\n  \"version\": 1,\n  \"events\": []\n}\n");
    assert_int_equal(hub_due_in_ms(h), -1);
    close_hub(h);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_lease_ends_by_its_time_and_the_task_is_open_again),
        CASE(a_lease_does_not_end_a_part_of_a_millisecond_early),
        CASE(a_clock_that_is_set_moves_no_lease),
        CASE(what_fails_comes_back_later_each_time_and_then_is_a_dead_letter),
        CASE(five_lost_leases_make_a_dead_letter),
        CASE(leases_end_exactly_while_the_clock_is_set_to_and_fro),
        CASE(delayed_signals_come_once_while_the_clock_is_set_to_and_fro),
        CASE(a_signal_that_has_expired_is_neither_claimed_nor_in_an_inbox_now),
        CASE(a_delayed_signal_of_the_past_comes_with_its_own_round),
        CASE(a_delayed_signal_comes_at_its_time_never_early),
    };

    return cmocka_run_group_tests_name("hub timers", tests, NULL, NULL);
}
