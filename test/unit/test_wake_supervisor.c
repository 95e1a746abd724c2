/*
 * Tests wake/wake_supervisor and hub_waiting: which identities are woken, for which signals, and
 * what their supervisor does next.
 */
#include "hubs.h"

#include "serve/respawn.h"
#include "wake/wake.h"
#include "wake/wake_supervisor.h"

static struct err e;
static struct arena arena;

static const char *
sleepers(struct hub *h)
{
    static char text[400];
    const char *const *ids;
    size_t n = hub_agents_to_wake(h, &arena, &ids);

    text[0] = '\0';
    for (size_t i = 0; i < n; i++)
        sprintf(text + strlen(text), "%s%s", i ? " " : "", ids[i]);
    return text;
}

/* The types of the waiting signals, in order. */
static const char *
waiting(struct hub *h, const char *who, uint64_t *upto)
{
    static char text[4000];
    struct hub_batch b;

    CHECK_OK(hub_waiting(h, who, 0, &arena, &b, &e), &e);
    text[0] = '\0';
    json_each (v, b.list) {
        const struct json *type = json_path(v, "signal.type");
        sprintf(text + strlen(text), "%s%.*s", *text ? " " : "", (int)type->text.len, type->text.p);
    }
    if (upto)
        *upto = b.upto;
    return text;
}

static void
note(struct hub *h, const char *who, uint64_t upto)
{
    struct json *args = NULL;
    struct hub_reply reply;
    char text[100];

    snprintf(text, sizeof text, "{\"identity\":\"%s\",\"upto\":%ju}", who, (uintmax_t)upto);
    assert_true(json_parse(&arena, text, strlen(text), &args, NULL));
    struct hub_request r = {
        .op = HUB_WOKEN, .identity = "cliq", .is_admin = true, .is_system = true, .args = args
    };
    hub_submit(h, &r, 1, &arena, &reply);
    CHECK_REPLY(&reply, 200);
}

static struct hub *
begin(void)
{
    struct hub *h = open_hub();

    CHECK_REPLY(ask(h, HUB_IDENTITY_ADD, "!root",
                    "{\"id\":\"ruby\",\"agent\":\"helper\",\"dir\":\"/tmp\"}"),
                200);
    return h;
}

static void
loud(struct hub *h, const char *who, const char *pattern)
{
    CHECK_REPLY(ask(h, HUB_SUBSCRIBE, who, "{\"pattern\":\"%s\",\"silent\":false}", pattern), 200);
}

static void
gen(struct hub *h, const char *who, const char *type)
{
    CHECK_REPLY(ask(h, HUB_GENERATE, who, "{\"type\":\"%s\"}", type), 200);
}

static void
end(struct hub *h)
{
    close_hub(h);
    arena_release(&arena);
}

static void
matches_of_a_waking_subscription_wait_until_they_are_noted(void **state)
{
    (void)state;
    struct hub *h = begin();
    uint64_t upto;

    loud(h, "ruby", "x:*");
    assert_string_equal(sleepers(h), "");
    gen(h, "bob", "x:1");
    gen(h, "bob", "y:1");
    gen(h, "bob", "x:2");
    assert_string_equal(sleepers(h), "ruby");
    assert_string_equal(waiting(h, "ruby", &upto), "x:1 x:2");
    gen(h, "bob", "x:3");
    note(h, "ruby", upto);
    assert_string_equal(waiting(h, "ruby", &upto), "x:3");
    note(h, "ruby", upto);
    note(h, "ruby", 1); /* the position never goes back */
    assert_string_equal(sleepers(h), "");
    CHECK_OK(hub_rebuild(h, &e), &e);
    assert_string_equal(sleepers(h), "");
    end(h);
}

static void
silent_own_and_unsubscribed_signals_do_not_wake(void **state)
{
    (void)state;
    struct hub *h = begin();

    CHECK_REPLY(ask(h, HUB_SUBSCRIBE, "ruby", "{\"pattern\":\"x:*\"}"), 200);
    gen(h, "bob", "x:silent");
    assert_string_equal(sleepers(h), "");
    loud(h, "ruby", "x:*");
    assert_string_equal(sleepers(h), ""); /* earlier signals were silent */
    gen(h, "ruby", "x:own");
    assert_string_equal(sleepers(h), "");
    gen(h, "bob", "x:1");
    assert_string_equal(sleepers(h), "ruby");
    CHECK_REPLY(ask(h, HUB_SUBSCRIBE, "ruby", "{\"pattern\":\"x:*\",\"silent\":true}"), 200);
    assert_string_equal(sleepers(h), "");
    loud(h, "ruby", "x:*");
    gen(h, "bob", "x:2");
    assert_string_equal(waiting(h, "ruby", NULL), "x:2");
    CHECK_REPLY(ask(h, HUB_UNSUBSCRIBE, "ruby", "{\"pattern\":\"x:*\"}"), 200);
    assert_string_equal(sleepers(h), "");
    assert_string_equal(waiting(h, "ruby", NULL), "");
    loud(h, "ruby", "x:*"); /* a new subscription: only for later signals */
    assert_string_equal(sleepers(h), "");
    end(h);
}

static void
an_identity_without_an_agent_is_not_woken_and_later_only_for_new_signals(void **state)
{
    (void)state;
    struct hub *h = begin();

    loud(h, "eve", "x:*");
    gen(h, "bob", "x:1");
    assert_string_equal(sleepers(h), "");
    CHECK_REPLY(ask(h, HUB_IDENTITY_ADD, "!root", "{\"id\":\"eve\",\"agent\":\"a\",\"dir\":\"/\"}"),
                200);
    assert_string_equal(sleepers(h), "");
    gen(h, "bob", "x:2");
    assert_string_equal(sleepers(h), "eve");
    CHECK_REPLY(ask(h, HUB_IDENTITY_ADD, "!root", "{\"id\":\"eve\",\"agent\":\"b\",\"dir\":\"/\"}"),
                200);
    assert_string_equal(waiting(h, "eve", NULL), "x:2"); /* another agent, the same position */
    end(h);
}

static void
two_patterns_deliver_a_signal_once_and_a_ring_only_to_its_identities(void **state)
{
    (void)state;
    struct hub *h = begin();

    loud(h, "ruby", "x:*");
    loud(h, "ruby", "*:1");
    gen(h, "bob", "x:1");
    assert_string_equal(waiting(h, "ruby", NULL), "x:1");
    CHECK_REPLY(ask(h, HUB_RING_ADD, "!root", "{\"id\":\"ops\"}"), 200);
    CHECK_REPLY(ask(h, HUB_EMIT, "bob", "{\"signal_type\":\"x:ring\",\"to_ring\":\"ops\"}"), 200);
    assert_string_equal(waiting(h, "ruby", NULL), "x:1");
    CHECK_REPLY(ask(h, HUB_JOIN, "!root", "{\"identity\":\"ruby\",\"ring\":\"ops\"}"), 200);
    assert_string_equal(waiting(h, "ruby", NULL), "x:1 x:ring");
    end(h);
}

static void
only_cliq_itself_notes_and_a_directory_is_absolute(void **state)
{
    (void)state;
    struct hub *h = begin();

    CHECK_REFUSED(ask(h, HUB_WOKEN, "!root", "{\"identity\":\"ruby\",\"upto\":1}"), 403,
                  "AUTH_FORBIDDEN", "cliq itself");
    CHECK_REFUSED(ask(h, HUB_IDENTITY_ADD, "!root", "{\"id\":\"x\",\"agent\":\"a\",\"dir\":\"b\"}"),
                  400, "VALIDATION_INVALID_TYPE", "absolute");
    end(h);
}

static void
a_supervisor_starts_waits_quarantines_and_exits(void **state)
{
    static const struct {
        struct wake_facts f;
        enum wake_action act;
        int64_t rest_ms;
    } rows[] = {
        { { 0 }, WAKE_LEAVE, 0 },
        { { .failures = 3 }, WAKE_LEAVE, 0 },
        { { .n_waiting = 1 }, WAKE_START, 0 },
        { { .n_waiting = 1, .failures = 1 }, WAKE_REST, 1000 },
        { { .n_waiting = 1, .failures = 1, .has_rested = true }, WAKE_START, 0 },
        { { .n_waiting = 9, .failures = 4 }, WAKE_REST, 8000 },
        { { .n_waiting = 9, .failures = 4, .has_rested = true }, WAKE_START, 0 },
        { { .n_waiting = 9, .failures = WAKE_TRIES }, WAKE_SET_ASIDE, 0 },
        { { .n_waiting = 9, .failures = 1, .is_hopeless = true }, WAKE_LEAVE, 0 },
    };
    (void)state;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t rest_ms;
        enum wake_action act = wake_supervisor_decide(&rows[i].f, &rest_ms);
        if (act != rows[i].act || rest_ms != rows[i].rest_ms)
            fail_msg("row %zu: %d, %jd ms", i, (int)act, (intmax_t)rest_ms);
    }
}

static void
repeated_crashes_wait_longer_each_time(void **state)
{
    static const int64_t want[] = { 200, 1000, 2000, 4000, 8000, 16000, 32000, 60000, 60000 };

    (void)state;
    for (unsigned i = 0; i < sizeof want / sizeof *want; i++)
        assert_int_equal(respawn_rest_ms(i + 1), want[i]);
    assert_int_equal(respawn_rest_ms(4000000000u), 60000);
}

static void
an_orderly_release_leaves_no_holder_name(void **state)
{
    int dir, fd;

    (void)state;
    assert_int_equal(wake_holder("config", "ruby"), 0);
    CHECK_OK(wake_open_dir("config", "ruby", &dir, &e), &e);
    CHECK_OK(wake_lock(dir, &fd, &e), &e);
    assert_int_equal(wake_holder("config", "ruby"), getpid());
    wake_unlock(fd);
    assert_int_equal(wake_holder("config", "ruby"), 0);
    CHECK_OK(wake_lock(dir, &fd, &e), &e);
    close(fd); /* as a kill does */
    assert_int_equal(wake_holder("config", "ruby"), getpid());
    close(dir);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(matches_of_a_waking_subscription_wait_until_they_are_noted),
        CASE(silent_own_and_unsubscribed_signals_do_not_wake),
        CASE(an_identity_without_an_agent_is_not_woken_and_later_only_for_new_signals),
        CASE(two_patterns_deliver_a_signal_once_and_a_ring_only_to_its_identities),
        CASE(only_cliq_itself_notes_and_a_directory_is_absolute),
        CASE(a_supervisor_starts_waits_quarantines_and_exits),
        CASE(repeated_crashes_wait_longer_each_time),
        CASE(an_orderly_release_leaves_no_holder_name),
    };

    return cmocka_run_group_tests_name("wake", tests, NULL, NULL);
}
