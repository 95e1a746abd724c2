/* Tests room/lifecycle with random agents that work, fail, crash, hang and lie: it always ends, and
 * the tries are exact. ROOM_LIVES sets how many lives. */
#include "fault.h"
#include "test.h"

#include "room/lifecycle.h"
#include "room/message.h"

static uint64_t seed;

static unsigned
pick(unsigned n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (unsigned)(seed % n);
}

static const char *
any_type(void)
{
    static const char *const more[] = { "redesign", "reject", "retry", "exhaust" };
    unsigned n = pick(18);
    const char *type = n < 4 ? more[n] : message_type(n - 4, NULL);

    return type ? type : "done";
}

/* One event of such an agent; false: nothing that counts. */
static bool
act(struct life *l, struct life_event *ev)
{
    const char *role = life_state_of(l)->role;

    *ev = (struct life_event){ .kind = LIFE_MESSAGE };
    switch (pick(8)) {
    case 0:
        ev->kind = LIFE_LATE;
        return true;
    case 1:
        ev->kind = LIFE_CRASH;
        return true;
    case 2:
        ev->kind = LIFE_STALL;
        return true;
    case 3: /* a liar: says anything in another's name */
        ev->signal = life_answers(l, pick(2) ? "qa" : "stranger", any_type());
        return ev->signal != SIZE_MAX;
    default:
        ev->signal = life_answers(l, role ? role : "engineer", any_type());
        return ev->signal != SIZE_MAX;
    }
}

static void
live(unsigned max_retries, size_t n_roles)
{
    static const char *const roles[] = { "engineer", "qa", "security", "docs" };
    struct arena a = { 0 };
    struct lifecycle c;
    struct life l;
    struct err e;
    unsigned tries = 0, steps = 0;

    CHECK_OK(lifecycle_default(&c, &a, roles, n_roles, max_retries, &e), &e);
    life_begin(&l, &c);
    while (!life_is_over(&l)) {
        struct life_event ev;
        struct life_move m;
        if (++steps > 100000)
            fail_msg("no end: seed %ju", (uintmax_t)seed);
        if (!act(&l, &ev))
            continue;
        unsigned before = l.visit;
        enum life_answer answer = life_apply(&l, &ev, &m);
        if (answer == LIFE_GIVES_UP) { /* the manager says so for the role */
            const char *role = life_state_of(&l)->role;
            ev.signal = life_answers(&l, role ? role : "engineer", "error");
            ev.kind = ev.signal == SIZE_MAX ? LIFE_STALL : LIFE_MESSAGE;
            answer = life_apply(&l, &ev, &m);
        }
        assert_true((answer == LIFE_MOVED) == (l.visit == before + 1));
        if (answer == LIFE_MOVED)
            tries += m.is_retry;
        assert_int_equal(l.retries, tries);
        assert_true(l.retries <= max_retries);
        assert_true(l.crashes <= LIFE_CRASHES_MAX || answer == LIFE_RESTARTS);
        assert_true(life_state_of(&l)->type != LIFE_DECISION);
        if (tries == max_retries)
            assert_int_equal(l.state, c.failed_final);
        if (l.state == c.passed)
            assert_true(tries < max_retries);
    }
    arena_release(&a);
}

static void
a_life_always_ends_and_its_tries_are_exact(void **state)
{
    const char *n = getenv("ROOM_LIVES");

    (void)state;
    for (uint64_t i = 1, lives = n ? strtoull(n, NULL, 10) : 20000; i <= lives; i++) {
        seed = i * 0x9e3779b97f4a7c15u;
        live(1 + pick(5), 1 + pick(4));
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = { CASE(a_life_always_ends_and_its_tries_are_exact) };

    return cmocka_run_group_tests_name("lifecycle_random", tests, NULL, NULL);
}
