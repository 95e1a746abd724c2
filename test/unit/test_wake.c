/* What must be true of the hub's option on_round, by which wake/ starts agents: it comes after each
 * round, and finds then what the round wrote. That agents start, through every writer, is in
 * scenario/wake.bats. */
#include "hubs.h"

static struct {
    unsigned calls;
    size_t waiting; /* agents with signals, as the last call found it */
} seen;

static void
on_round(void *ctx, struct hub *h)
{
    struct arena a = { 0 };
    const char *const *ids;

    assert_ptr_equal(ctx, &seen);
    assert_string_equal(hub_config(h), "config");
    seen.calls++;
    seen.waiting = hub_agents_to_wake(h, &a, &ids);
    if (seen.waiting)
        assert_string_equal(ids[0], "ruby");
    arena_release(&a);
}

#define GOOD(...) CHECK_REPLY(ask(__VA_ARGS__), 200)

static struct hub *
open_noting(void)
{
    struct hub *h;
    struct err e;

    seen.calls = 0;
    seen.waiting = 0;
    CHECK_OK(
        hub_open(&h, "config", &(struct hub_options){ .on_round = on_round, .ctx = &seen }, &e),
        &e);
    return h;
}

static void
after_a_round_the_agent_that_sleeps_is_found(void **state)
{
    struct hub *h = open_noting();

    (void)state;
    GOOD(h, HUB_IDENTITY_ADD, "!ruby", "{\"id\":\"ruby\",\"agent\":\"helper\",\"dir\":\"/\"}");
    GOOD(h, HUB_SUBSCRIBE, "!ruby", "{\"pattern\":\"a:*\",\"silent\":false}");
    assert_int_equal(seen.calls, 2);
    assert_int_equal(seen.waiting, 0);
    GOOD(h, HUB_GENERATE, "!bob", "{\"type\":\"a:b\"}");
    assert_int_equal(seen.calls, 3);
    assert_int_equal(seen.waiting, 1);
    close_hub(h);
}

static void
a_round_without_requests_counts_and_a_read_does_not(void **state)
{
    struct hub *h = open_noting();
    struct arena a = { 0 };

    (void)state;
    hub_submit(h, NULL, 0, &a, NULL);
    assert_int_equal(seen.calls, 1);
    GOOD(h, HUB_ROLES, "!ruby", "{}");
    assert_int_equal(seen.calls, 1);
    arena_release(&a);
    close_hub(h);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(after_a_round_the_agent_that_sleeps_is_found),
        CASE(a_round_without_requests_counts_and_a_read_does_not),
    };

    return cmocka_run_group_tests_name("wake", tests, NULL, NULL);
}
