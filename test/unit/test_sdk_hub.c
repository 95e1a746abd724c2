/* Tests the hub calls of cliq.h on files. */
#include "test.h"

#include <cliq.h>
#include <pthread.h>
#include <unistd.h>

static cliq_error err;
static cliq_hub *ruby, *eve;
static cliq_signal_info got, more;

static cliq_hub *
open_as(const char *who)
{
    cliq_hub_options o = CLIQ_HUB_OPTIONS_INIT;
    cliq_hub *h = NULL;

    o.config = "config";
    o.url = "";
    o.identity = who;
    if (cliq_hub_open(&h, &o, &err))
        fail_msg("%s", err.text);
    return h;
}

static int
enter(void **state)
{
    int rc = case_enter(state);

    err = (cliq_error)CLIQ_ERROR_INIT;
    got = more = (cliq_signal_info)CLIQ_SIGNAL_INFO_INIT;
    ruby = open_as("ruby");
    eve = open_as("eve");
    return rc;
}

static int
leave(void **state)
{
    cliq_hub_close(ruby);
    cliq_hub_close(eve);
    return case_leave(state);
}
#define HUB_TEST(fact) cmocka_unit_test_setup_teardown(fact, enter, leave)

#define GOOD(call)                                                                                 \
    do {                                                                                           \
        cliq_status s_ = (call);                                                                   \
        if (s_)                                                                                    \
            fail_msg("%s:%d: %d: %s", __FILE__, __LINE__, s_, err.text);                           \
    } while (0)
#define BAD(call, want, says)                                                                      \
    do {                                                                                           \
        err.text[0] = '\0';                                                                        \
        assert_int_equal(call, want);                                                              \
        if (!strstr(err.text, says))                                                               \
            fail_msg("%s:%d: \"%s\" does not say \"%s\"", __FILE__, __LINE__, err.text, says);     \
    } while (0)

static void
a_task_from_emit_to_ack(void **state)
{
    cliq_emit_options o = CLIQ_EMIT_OPTIONS_INIT;
    cliq_claim_options by_id = CLIQ_CLAIM_OPTIONS_INIT;
    const char *json;
    char args[160];

    (void)state;
    o.to_identity = "eve";
    o.urgency = 0.75;
    o.more_json = "{\"tags\":[\"a\"],\"metadata\":{\"n\":1}}";
    GOOD(cliq_emit(ruby, "task", "Review \"PR\" 42\n", &o, &got, &err));
    assert_string_equal(got.type, "task");
    assert_string_equal(got.content, "Review \"PR\" 42\n");
    assert_string_equal(got.from, "ruby");
    assert_string_equal(got.to_identity, "eve");
    assert_null(got.to_role);
    assert_true(got.urgency == 0.75 && got.seq > 0 && got.delivery_count == 0);
    assert_int_equal(strlen(got.id), 31);
    assert_string_equal(got.claim_id, "");
    assert_non_null(strstr(got.json, "\"tags\":[\"a\"]"));

    GOOD(cliq_claim(eve, NULL, &more, &err));
    assert_string_equal(more.id, got.id);
    assert_true(more.claim_id[0]);
    BAD(cliq_claim(eve, NULL, &more, &err), CLIQ_NOT_FOUND, "nothing to claim");
    by_id.id = got.id;
    BAD(cliq_claim(ruby, &by_id, &more, &err), CLIQ_CONFLICT, "eve");
    BAD(cliq_ack(ruby, got.id, NULL, &err), CLIQ_CONFLICT, "");
    GOOD(cliq_extend(eve, got.id, more.claim_id, 60, &err));
    BAD(cliq_ack(eve, got.id, "another", &err), CLIQ_CONFLICT, "");
    GOOD(cliq_ack(eve, got.id, more.claim_id, &err));
    snprintf(args, sizeof args, "{\"id\":\"%s\"}", got.id);
    GOOD(cliq_hub_call(ruby, "get", args, &json, NULL, &err));
    assert_non_null(strstr(json, "\"delivery_state\":\"acked\""));
}

static void
a_released_or_failed_task_can_be_claimed_again(void **state)
{
    cliq_claim_options next = CLIQ_CLAIM_OPTIONS_INIT;
    const char *const types[] = { "chore", NULL };

    (void)state;
    GOOD(cliq_emit(ruby, "task", "first", NULL, NULL, &err));
    next.types = types;
    BAD(cliq_claim(eve, &next, &got, &err), CLIQ_NOT_FOUND, "");
    next.types = NULL;
    GOOD(cliq_claim(eve, &next, &got, &err));
    GOOD(cliq_release(eve, got.id, NULL, &err));
    GOOD(cliq_claim(ruby, &next, &more, &err));
    assert_string_equal(more.id, got.id);
    assert_int_equal(more.delivery_count, 0); /* a release does not count */
    GOOD(cliq_fail(ruby, more.id, NULL, "no network", 0, &err));
    next.wait_ms = 5000;
    GOOD(cliq_claim(ruby, &next, &more, &err));
    assert_int_equal(more.delivery_count, 1);
    next.wait_ms = 20;
    BAD(cliq_claim(eve, &next, &got, &err), CLIQ_NOT_FOUND, "nothing to claim");
}

/* ---- waiting ---- */

static void *
emit_from_another_thread(void *arg)
{
    cliq_hub *h = open_as("other");

    (void)arg;
    usleep(50000); /* so that usually the other process waits; both orders must work */
    GOOD(cliq_emit(h, "task", "late", NULL, NULL, &err));
    cliq_hub_close(h);
    return NULL;
}

static void
a_claim_waits_for_its_task(void **state)
{
    cliq_claim_options next = CLIQ_CLAIM_OPTIONS_INIT;
    pthread_t t;

    (void)state;
    next.wait_ms = -1;
    assert_int_equal(pthread_create(&t, NULL, emit_from_another_thread, NULL), 0);
    GOOD(cliq_claim(ruby, &next, &got, &err));
    pthread_join(t, NULL);
    assert_string_equal(got.content, "late");
}

static void *
stop_from_another_thread(void *arg)
{
    usleep(20000);
    cliq_hub_stop(arg);
    return NULL;
}

static void
stop_ends_a_waiting_call_and_nothing_else(void **state)
{
    cliq_claim_options next = CLIQ_CLAIM_OPTIONS_INIT;
    pthread_t t;

    (void)state;
    next.wait_ms = -1;
    assert_int_equal(pthread_create(&t, NULL, stop_from_another_thread, ruby), 0);
    BAD(cliq_claim(ruby, &next, &got, &err), CLIQ_CANCELLED, "cancelled");
    pthread_join(t, NULL);
    BAD(cliq_next(ruby, -1, &got, &err), CLIQ_CANCELLED, "cancelled");
    GOOD(cliq_emit(ruby, "task", "still", NULL, &got, &err));
    next.wait_ms = 0;
    GOOD(cliq_claim(ruby, &next, &got, &err));
    GOOD(cliq_ack(ruby, got.id, NULL, &err));
    cliq_hub_stop(NULL);
}

static void
next_returns_the_inbox_in_order(void **state)
{
    cliq_emit_options to_eve = CLIQ_EMIT_OPTIONS_INIT;
    uint64_t first;

    (void)state;
    to_eve.to_identity = "eve";
    GOOD(cliq_emit(ruby, "note", "before", &to_eve, NULL, &err));
    GOOD(cliq_listen(eve, NULL, &err));
    BAD(cliq_next(eve, 0, &got, &err), CLIQ_TIMEOUT, "before the timeout");
    GOOD(cliq_emit(ruby, "note", "one", &to_eve, NULL, &err));
    GOOD(cliq_emit(ruby, "note", "for everyone", NULL, NULL, &err));
    GOOD(cliq_subscribe(eve, "build:*:done", -1, &err));
    GOOD(cliq_generate(ruby, "build:web:done", "{\"ok\":true}", &more, &err));
    assert_string_equal(more.payload_json, "{\"ok\":true}");
    GOOD(cliq_emit(ruby, "note", "two", &to_eve, NULL, &err));
    GOOD(cliq_next(eve, -1, &got, &err));
    assert_string_equal(got.content, "one");
    first = got.seq;
    GOOD(cliq_next(eve, -1, &got, &err));
    assert_string_equal(got.type, "build:web:done");
    assert_string_equal(got.id, more.id); /* every call returns the same id */
    assert_memory_equal(got.id, "signal:c", 8);
    assert_string_equal(got.payload_json, "{\"ok\":true}");
    GOOD(cliq_next(eve, -1, &got, &err));
    assert_string_equal(got.content, "two");
    BAD(cliq_next(eve, 10, &got, &err), CLIQ_TIMEOUT, "");

    cliq_listen_options o = CLIQ_LISTEN_OPTIONS_INIT;
    o.after = first;
    GOOD(cliq_listen(eve, &o, &err));
    GOOD(cliq_next(eve, 0, &got, &err));
    assert_string_equal(got.type, "build:web:done");
    o.from_start = 1;
    GOOD(cliq_listen(eve, &o, &err));
    GOOD(cliq_next(eve, 0, &got, &err));
    assert_string_equal(got.content, "before");
    GOOD(cliq_unsubscribe(eve, "build:*:done", &err));
    GOOD(cliq_listen(eve, &o, &err));
    for (int i = 0; i < 3; i++)
        GOOD(cliq_next(eve, 0, &got, &err));
    assert_string_equal(got.content, "two");
    BAD(cliq_next(eve, 0, &got, &err), CLIQ_TIMEOUT, "");
}

static void
the_descriptor_becomes_readable_when_there_is_more(void **state)
{
    cliq_emit_options to_eve = CLIQ_EMIT_OPTIONS_INIT;

    (void)state;
    to_eve.to_identity = "eve";
    assert_int_equal(cliq_hub_fd(NULL), -1);
    int fd = cliq_hub_fd(eve); /* a second listener */
    assert_true(fd >= 0);
    assert_int_equal(cliq_hub_fd(eve), fd);
    BAD(cliq_next(eve, 0, &got, &err), CLIQ_TIMEOUT, "before the timeout");
    assert_false(is_readable(fd, 0));
    for (int i = 0; i < 3; i++) {
        GOOD(cliq_emit(ruby, "note", "one", &to_eve, NULL, &err));
        GOOD(cliq_emit(ruby, "note", "two", &to_eve, NULL, &err));
        wait_readable(fd);
        GOOD(cliq_next(eve, 0, &got, &err));
        assert_string_equal(got.content, "one");
        GOOD(cliq_next(eve, 0, &got, &err));
        assert_string_equal(got.content, "two");
        BAD(cliq_next(eve, 0, &got, &err), CLIQ_TIMEOUT, "before the timeout");
        assert_false(is_readable(fd, 0));
    }
    cliq_hub_stop(eve);
    assert_true(is_readable(fd, 0));
    BAD(cliq_next(eve, 0, &got, &err), CLIQ_CANCELLED, "");
    GOOD(cliq_listen(eve, NULL, &err));
    assert_true(cliq_hub_fd(eve) >= 0);
}

static void
next_by_pattern_and_filter(void **state)
{
    cliq_listen_options o = CLIQ_LISTEN_OPTIONS_INIT;
    cliq_emit_options urgent = CLIQ_EMIT_OPTIONS_INIT;

    (void)state;
    o.pattern = "a:*";
    GOOD(cliq_listen(ruby, &o, &err));
    urgent.urgency = 0.9;
    GOOD(cliq_emit(ruby, "a:b", "own", NULL, NULL, &err));
    GOOD(cliq_emit(ruby, "a:b:c", "no", NULL, NULL, &err));
    GOOD(cliq_emit(eve, "a:c", "hers", &urgent, NULL, &err));
    GOOD(cliq_next(ruby, 0, &got, &err));
    assert_string_equal(got.content, "own");
    GOOD(cliq_next(ruby, 0, &got, &err));
    assert_string_equal(got.content, "hers");
    o.pattern = NULL;
    o.everything = 1;
    o.from_start = 1;
    o.min_urgency = 0.8;
    GOOD(cliq_listen(ruby, &o, &err));
    GOOD(cliq_next(ruby, 0, &got, &err));
    assert_string_equal(got.content, "hers");
    BAD(cliq_next(ruby, 0, &got, &err), CLIQ_TIMEOUT, "");
}

/* ---- the rest ---- */

static void
strings_of_a_signal_may_be_passed_back_to_calls(void **state)
{
    (void)state;
    GOOD(cliq_emit(ruby, "note", "an echo", NULL, &got, &err));
    for (int i = 0; i < 3; i++)
        GOOD(cliq_emit(ruby, got.type, got.content, NULL, &got, &err));
    assert_string_equal(got.content, "an echo");
    assert_string_equal(got.type, "note");
}

static void
the_inbox_comes_in_pages(void **state)
{
    cliq_emit_options o = CLIQ_EMIT_OPTIONS_INIT;
    const char *json, *cursor;
    char args[128];

    (void)state;
    o.to_identity = "eve";
    GOOD(cliq_emit(ruby, "note", "one", &o, NULL, &err));
    GOOD(cliq_emit(ruby, "note", "two", &o, NULL, &err));
    GOOD(cliq_inbox(eve, "{\"limit\":1}", &json, &cursor, &err));
    assert_non_null(strstr(json, "\"content\":\"one\""));
    assert_non_null(cursor);
    snprintf(args, sizeof args, "{\"limit\":1,\"after\":\"%s\"}", cursor);
    GOOD(cliq_inbox(eve, args, &json, &cursor, &err));
    assert_non_null(strstr(json, "\"content\":\"two\""));
    assert_null(cursor);
    GOOD(cliq_inbox(ruby, NULL, &json, NULL, &err));
    assert_string_equal(json, "[]");
    GOOD(cliq_inbox(ruby, "{\"target\":\"@eve\"}", &json, NULL, &err));
    assert_non_null(strstr(json, "two"));
}

static void
wrong_arguments_are_invalid_and_change_nothing(void **state)
{
    cliq_claim_options both = CLIQ_CLAIM_OPTIONS_INIT;
    cliq_emit_options o = CLIQ_EMIT_OPTIONS_INIT;
    cliq_hub_options h = CLIQ_HUB_OPTIONS_INIT;
    cliq_signal_info unset = { 0 };
    const char *json;
    cliq_hub *none = NULL;

    (void)state;
    BAD(cliq_emit(NULL, "x", NULL, NULL, NULL, &err), CLIQ_INVALID, "cliq_emit");
    BAD(cliq_emit(ruby, NULL, NULL, NULL, NULL, &err), CLIQ_INVALID, "type is missing");
    BAD(cliq_emit(ruby, "", NULL, NULL, NULL, &err), CLIQ_INVALID, "signal_type");
    BAD(cliq_emit(ruby, "x", "\xFF", NULL, NULL, &err), CLIQ_INVALID, "content is not UTF-8");
    BAD(cliq_emit(ruby, "x", NULL, NULL, &unset, &err), CLIQ_INVALID, "_INIT");
    o.more_json = "[]";
    BAD(cliq_emit(ruby, "x", NULL, &o, NULL, &err), CLIQ_INVALID, "more_json");
    o.more_json = NULL;
    o.urgency = 7;
    BAD(cliq_emit(ruby, "x", NULL, &o, NULL, &err), CLIQ_INVALID, "urgency");
    BAD(cliq_generate(ruby, "a:b", "{", NULL, &err), CLIQ_INVALID, "data_json");
    both.id = "signal:x";
    both.wait_ms = 1;
    BAD(cliq_claim(ruby, &both, &got, &err), CLIQ_INVALID, "cannot be combined with id");
    BAD(cliq_claim(ruby, NULL, NULL, &err), CLIQ_INVALID, "cliq_claim");
    BAD(cliq_ack(ruby, NULL, NULL, &err), CLIQ_INVALID, "id is missing");
    BAD(cliq_ack(ruby, "signal:none", NULL, &err), CLIQ_NOT_FOUND, "signal:none");
    BAD(cliq_next(ruby, 0, &unset, &err), CLIQ_INVALID, "_INIT");
    BAD(cliq_inbox(ruby, "7", &json, NULL, &err), CLIQ_INVALID, "object");
    BAD(cliq_hub_call(ruby, "dance", NULL, &json, NULL, &err), CLIQ_INVALID, "\"dance\"");
    h.url = "gopher://x";
    BAD(cliq_hub_open(&none, &h, &err), CLIQ_INVALID, "gopher://x");
    h.url = "https://127.0.0.1";
    h.key = NULL; /* it is not even asked for */
    BAD(cliq_hub_open(&none, &h, &err), CLIQ_INVALID,
        "https://127.0.0.1: libcliq supports only http:// and unix:");
    h.key = "cho_x";
    BAD(cliq_hub_open(&none, &h, &err), CLIQ_INVALID, "https");
    h.url = "";
    h.identity = "no good";
    BAD(cliq_hub_open(&none, &h, &err), CLIQ_INVALID, "no good");
    assert_null(none);
    cliq_hub_close(NULL);
    assert_int_equal(cliq_emit(ruby, NULL, NULL, NULL, NULL, NULL), CLIQ_INVALID);
    GOOD(cliq_hub_call(ruby, "list", NULL, &json, NULL, &err));
    assert_string_equal(json, "[]");
}

static void
extra_json_members_override_nothing(void **state)
{
    static const char *const bad[][2] = {
        { "{\"signal_type\":\"x\"}", "more_json has \"signal_type\", which is set already" },
        { "{\"content\":\"t\"}", "more_json has \"content\"" }, /* even an equal value is refused */
        { "{\"tags\":[],\"to_identity\":null}", "more_json has \"to_identity\"" },
        { "{\"urgency\":1}", "more_json has \"urgency\"" },
        { "{\"dedup_key\":\"k\"}", "more_json has \"dedup_key\"" },
    };
    cliq_emit_options o = CLIQ_EMIT_OPTIONS_INIT;
    const char *json;

    (void)state;
    o.to_identity = "eve";
    o.urgency = 0.25;
    o.dedup_key = "k";
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        o.more_json = bad[i][0];
        BAD(cliq_emit(ruby, "task", "t", &o, NULL, &err), CLIQ_INVALID, bad[i][1]);
    }
    GOOD(cliq_hub_call(ruby, "list", NULL, &json, NULL, &err));
    assert_string_equal(json, "[]");
    o = (cliq_emit_options)CLIQ_EMIT_OPTIONS_INIT;
    o.more_json = "{\"urgency\":0,\"content\":\"said here\",\"to_identity\":\"eve\"}";
    GOOD(cliq_emit(ruby, "task", NULL, &o, &got, &err));
    assert_true(got.urgency == 0);
    assert_string_equal(got.content, "said here");
    assert_string_equal(got.to_identity, "eve");
}

static void
a_star_is_a_segment_of_patterns_only(void **state)
{
    cliq_listen_options l = CLIQ_LISTEN_OPTIONS_INIT;
    const char *json;

    (void)state;
    BAD(cliq_generate(ruby, "a:*", NULL, NULL, &err), CLIQ_INVALID, "type must be segments");
    BAD(cliq_emit(ruby, "a*", "x", NULL, NULL, &err), CLIQ_INVALID, "signal_type must be segments");
    BAD(cliq_subscribe(ruby, "a:**:b", -1, &err), CLIQ_INVALID,
        "pattern must have each * alone between colons, where it is one segment, not \"a:**:b\"");
    l.pattern = "a:b*";
    BAD(cliq_listen(ruby, &l, &err), CLIQ_INVALID, "not \"a:b*\"");
    GOOD(cliq_hub_call(ruby, "list", NULL, &json, NULL, &err));
    assert_string_equal(json, "[]");
    GOOD(cliq_hub_call(ruby, "signal subscriptions", NULL, &json, NULL, &err));
    assert_null(strstr(json, "a:"));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        HUB_TEST(extra_json_members_override_nothing),
        HUB_TEST(a_star_is_a_segment_of_patterns_only),
        HUB_TEST(a_task_from_emit_to_ack),
        HUB_TEST(a_released_or_failed_task_can_be_claimed_again),
        HUB_TEST(a_claim_waits_for_its_task),
        HUB_TEST(stop_ends_a_waiting_call_and_nothing_else),
        HUB_TEST(next_returns_the_inbox_in_order),
        HUB_TEST(the_descriptor_becomes_readable_when_there_is_more),
        HUB_TEST(next_by_pattern_and_filter),
        HUB_TEST(strings_of_a_signal_may_be_passed_back_to_calls),
        HUB_TEST(the_inbox_comes_in_pages),
        HUB_TEST(wrong_arguments_are_invalid_and_change_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
