/* Tests manager/room_journal: what is written is folded to the same state; damage is counted. */
#include "test.h"

#include "manager/room_journal.h"

static struct arena arena;
static struct lifecycle cycle;
static struct err e;

static int
setup(void **state)
{
    static const char *const roles[] = { "engineer", "qa" };

    (void)state;
    CHECK_OK(lifecycle_default(&cycle, &arena, roles, 2, 3, &e), &e);
    return 0;
}

static int
teardown(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

/* Writes the event, reads it again, and applies it. */
static bool
apply(struct room_past *p, const struct room_event *ev, int64_t at)
{
    struct buf line = { 0 };
    struct json *v;

    room_event_write(&line, ev, at);
    char *kept = arena_dup(&arena, line.p, line.len);
    CHECK_OK(json_parse_named(&arena, "line", kept, line.len, &v, &e), &e);
    buf_release(&line);
    return room_past_apply(p, &arena, v);
}

static struct room_past
begun(void)
{
    struct room_past p;

    room_past_init(&p, &cycle);
    assert_false(p.has_begun);
    assert_true(
        apply(&p, &(struct room_event){ .kind = ROOM_BEGIN, .to = "developing", .after = 7 }, 5));
    return p;
}

static void
a_begin_and_a_move_set_the_state_and_where_messages_count(void **state)
{
    struct room_past p = begun();

    (void)state;
    assert_true(p.has_begun);
    assert_int_equal(p.after, 7);
    assert_int_equal(p.life.visit, 1);
    assert_true(apply(&p,
                      &(struct room_event){ .kind = ROOM_MOVE,
                                            .visit = 2,
                                            .from = "developing",
                                            .to = "review",
                                            .retries = 1,
                                            .by = "e-done-1-1",
                                            .after = 90,
                                            .type = "fix",
                                            .to_role = "qa",
                                            .id = "m-fix-1-1",
                                            .adds_notes = true },
                      6));
    assert_string_equal(life_state_of(&p.life)->name, "review");
    assert_int_equal(p.life.visit, 2);
    assert_int_equal(p.life.retries, 1);
    assert_int_equal(p.after, 90);
    assert_int_equal(p.moved_ms, 6);
    assert_string_equal(p.open_id, "m-fix-1-1");
    assert_string_equal(p.open_type, "fix");
    assert_string_equal(p.open_to, "qa");
    assert_string_equal(p.by, "e-done-1-1");
    assert_true(p.adds_notes);
    assert_false(p.is_late);
}

static void
attempts_are_open_until_they_end(void **state)
{
    struct room_past p = begun();
    struct room_event ev = {
        .kind = ROOM_START, .visit = 1, .n = 1, .role = "engineer", .player = "command"
    };

    (void)state;
    assert_true(apply(&p, &ev, 10));
    assert_true(p.is_open);
    assert_string_equal(p.player, "command");
    assert_int_equal(p.started_ms, 10);
    assert_true(apply(&p, &(struct room_event){ .kind = ROOM_CRASH, .visit = 1, .n = 1 }, 11));
    assert_false(p.is_open);
    assert_int_equal(p.life.crashes, 1);
    ev.n = 2;
    assert_true(apply(&p, &ev, 12));
    assert_int_equal(p.started_ms, 10); /* the limit is that of the state */
    assert_true(apply(
        &p,
        &(struct room_event){
            .kind = ROOM_RESULT, .visit = 1, .n = 2, .type = "done", .id = "engineer-done-1-1" },
        13));
    assert_string_equal(p.result_id, "engineer-done-1-1");
    assert_true(apply(&p, &(struct room_event){ .kind = ROOM_STALL, .visit = 1, .n = 2 }, 14));
    assert_null(p.result_id);
    assert_int_equal(p.life.recoveries, 1);
}

static void
a_move_begins_a_visit_anew_and_keeps_what_is_of_the_room(void **state)
{
    struct room_past p = begun();

    (void)state;
    apply(&p, &(struct room_event){ .kind = ROOM_START, .visit = 1, .n = 1, .player = "command" },
          1);
    apply(&p, &(struct room_event){ .kind = ROOM_STALL, .visit = 1, .n = 1 }, 1);
    apply(&p, &(struct room_event){ .kind = ROOM_START, .visit = 1, .n = 2, .player = "command" },
          1);
    apply(&p, &(struct room_event){ .kind = ROOM_CRASH, .visit = 1, .n = 2 }, 1);
    assert_true(
        apply(&p, &(struct room_event){ .kind = ROOM_MOVE, .visit = 2, .to = "review" }, 2));
    assert_int_equal(p.n, 0);
    assert_int_equal(p.started_ms, 0);
    assert_int_equal(p.life.crashes, 0);
    assert_int_equal(p.life.recoveries, 1);
}

static void
lines_of_another_attempt_or_an_unknown_state_are_not_used(void **state)
{
    struct room_past p = begun();

    (void)state;
    assert_false(apply(&p, &(struct room_event){ .kind = ROOM_START, .visit = 2, .n = 1 }, 1));
    assert_false(apply(&p, &(struct room_event){ .kind = ROOM_CRASH, .visit = 1, .n = 4 }, 1));
    assert_false(
        apply(&p, &(struct room_event){ .kind = ROOM_MOVE, .visit = 2, .to = "nowhere" }, 1));
    assert_int_equal(p.life.visit, 1);
}

static void
blocked_and_free_are_told(void **state)
{
    struct room_past p;

    (void)state;
    room_past_init(&p, &cycle);
    assert_true(apply(&p, &(struct room_event){ .kind = ROOM_BLOCKED_EVENT }, 1));
    assert_true(p.is_blocked);
    assert_true(apply(&p, &(struct room_event){ .kind = ROOM_FREE }, 1));
    assert_false(p.is_blocked);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_begin_and_a_move_set_the_state_and_where_messages_count),
        cmocka_unit_test(attempts_are_open_until_they_end),
        cmocka_unit_test(a_move_begins_a_visit_anew_and_keeps_what_is_of_the_room),
        cmocka_unit_test(lines_of_another_attempt_or_an_unknown_state_are_not_used),
        cmocka_unit_test(blocked_and_free_are_told),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
