/* Tests room/room_graph: readiness and circles. */
#include "test.h"

#include "room/room_graph.h"

static enum room_readiness
ready(const char *a, const char *b)
{
    const char *const states[] = { a, b };

    return room_readiness(states, 2);
}

static void
a_room_is_ready_when_all_before_it_passed(void **state)
{
    (void)state;
    assert_int_equal(room_readiness(NULL, 0), ROOM_READY);
    assert_int_equal(ready("passed", "passed"), ROOM_READY);
    assert_int_equal(ready("passed", "review"), ROOM_WAITING);
    assert_int_equal(ready("passed", NULL), ROOM_WAITING);
}

static void
a_room_is_blocked_by_one_that_failed(void **state)
{
    (void)state;
    assert_int_equal(ready("developing", "failed-final"), ROOM_BLOCKED);
    assert_int_equal(ready("blocked", NULL), ROOM_BLOCKED);
}

static void
a_circle_is_named(void **state)
{
    static const char *const a[] = { "b" }, *const b[] = { "elsewhere", "c" },
                             *const c[] = { "d", "b" };
    const struct room_node nodes[] = { { "a", a, 1 }, { "b", b, 2 }, { "c", c, 2 }, { "d", 0, 0 } };
    struct buf text = { 0 };

    (void)state;
    assert_true(room_graph_cycle(nodes, 4, &text));
    assert_string_equal(text.p, "b -> c -> b");
    buf_release(&text);
}

static void
a_diamond_is_no_circle(void **state)
{
    static const char *const top[] = { "l", "r" }, *const side[] = { "end" };
    const struct room_node nodes[] = {
        { "top", top, 2 }, { "l", side, 1 }, { "r", side, 1 }, { "end", NULL, 0 }
    };
    struct buf text = { 0 };

    (void)state;
    assert_false(room_graph_cycle(nodes, 4, &text));
    buf_release(&text);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_room_is_ready_when_all_before_it_passed),
        CASE(a_room_is_blocked_by_one_that_failed),
        CASE(a_circle_is_named),
        CASE(a_diamond_is_no_circle),
    };

    return cmocka_run_group_tests_name("room_graph", tests, NULL, NULL);
}
