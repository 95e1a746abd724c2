/* Tests room/lifecycle: every state with every message, exact tries, and the file. */
#include "fault.h"
#include "test.h"

#include "room/lifecycle.h"
#include "room/message.h"

static struct err e;
static struct arena arena;
static struct lifecycle c;
static struct life l;
static struct life_move move;

static int
leave(void **state)
{
    arena_release(&arena);
    return case_leave(state);
}
#define LIFE_CASE(fact) cmocka_unit_test_setup_teardown(fact, case_enter, leave)

static void
begin(unsigned max_retries)
{
    static const char *const roles[] = { "engineer", "qa", "security" };

    CHECK_OK(lifecycle_default(&c, &arena, roles, 3, max_retries, &e), &e);
    life_begin(&l, &c);
}

static const char *
state(void)
{
    return life_state_of(&l)->name;
}

/* What the machine does with a message; NULL when it does not count. */
static const char *
say(const char *from, const char *type)
{
    size_t signal = life_answers(&l, from, type);

    if (signal == SIZE_MAX)
        return NULL;
    life_apply(&l, &(struct life_event){ LIFE_MESSAGE, signal }, &move);
    return state();
}

static enum life_answer
happen(enum life_event_kind kind)
{
    return life_apply(&l, &(struct life_event){ .kind = kind }, &move);
}

/* ---- every state with every message -------------------------------------- */

static const struct {
    const char *state, *from, *type;
    const char *to;
    unsigned retries; /* that it adds */
    const char *posts, *to_role;
} rows[] = {
    { "developing", "engineer", "done", "review", 0, NULL, NULL },
    { "developing", "engineer", "error", "developing", 1, "fix", "engineer" },
    { "optimize", "engineer", "done", "review", 0, NULL, NULL },
    { "optimize", "engineer", "error", "developing", 1, "fix", "engineer" },
    { "review", "qa", "pass", "review-2", 0, NULL, NULL },
    { "review", "qa", "done", "review-2", 0, NULL, NULL },
    { "review", "qa", "fail", "optimize", 1, "fix", "engineer" },
    { "review", "qa", "escalate", "triage", 0, NULL, NULL },
    { "review", "qa", "error", "developing", 1, "fix", "engineer" },
    { "review-2", "security", "pass", "passed", 0, NULL, NULL },
    { "review-2", "security", "done", "passed", 0, NULL, NULL },
    { "review-2", "security", "fail", "optimize", 1, "fix", "engineer" },
    { "review-2", "security", "escalate", "triage", 0, NULL, NULL },
    { "review-2", "security", "error", "developing", 1, "fix", "engineer" },
    { "triage", "manager", "fix", "optimize", 1, "fix", "engineer" },
    { "triage", "manager", "redesign", "developing", 1, "task", "engineer" },
    { "triage", "manager", "reject", "failed-final", 0, NULL, NULL },
};
enum { N_ROWS = sizeof rows / sizeof *rows };

static void
put(const char *name)
{
    life_begin(&l, &c);
    l.state = lifecycle_find(&c, name);
    assert_true(l.state != SIZE_MAX);
}

static bool
same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static void
check_cell(const char *from_state, const char *from, const char *type, size_t *n_hits)
{
    size_t row = 0;

    while (row < N_ROWS && (strcmp(rows[row].state, from_state) || strcmp(rows[row].from, from) ||
                            strcmp(rows[row].type, type)))
        row++;
    put(from_state);
    const char *to = say(from, type);
    if (row == N_ROWS) {
        if (to)
            fail_msg("%s answers to %s from %s", from_state, type, from);
        return;
    }
    ++*n_hits;
    if (!same(to, rows[row].to) || l.retries != rows[row].retries ||
        !same(move.posts, rows[row].posts) || !same(move.to_role, rows[row].to_role))
        fail_msg("%s + %s from %s: %s, %u tries, posts %s to %s", from_state, type, from,
                 to ? to : "nothing", l.retries, move.posts ? move.posts : "nothing",
                 move.to_role ? move.to_role : "nobody");
    assert_int_equal(l.visit, 2);
}

static void
every_state_answers_to_exactly_the_messages_of_the_table(void **state)
{
    static const char *const more[] = { "redesign", "reject", "retry", "exhaust", "state_changed" };
    static const char *const roles[] = { "engineer", "qa", "security", "manager", "script" };
    size_t n_hits = 0;

    (void)state;
    begin(3);
    for (size_t i = 0; i < c.n_states; i++)
        for (size_t r = 0; r < 5; r++) {
            const char *type;
            for (size_t t = 0; (type = message_type(t, NULL)); t++)
                check_cell(c.states[i].name, roles[r], type, &n_hits);
            for (size_t t = 0; t < 5; t++)
                if (strcmp(c.states[i].name, "failed") != 0)
                    check_cell(c.states[i].name, roles[r], more[t], &n_hits);
        }
    assert_int_equal(n_hits, N_ROWS);
}

static void
a_suffix_of_the_sender_is_stripped(void **state)
{
    (void)state;
    begin(3);
    assert_string_equal(say("engineer:fe", "done"), "review");
    assert_null(say("qax", "pass"));
    assert_null(say("q", "pass"));
}

static void
a_redesign_adds_its_notes_to_the_brief(void **state)
{
    (void)state;
    begin(3);
    put("triage");
    say("manager", "redesign");
    assert_true(move.adds_notes);
    put("triage");
    say("manager", "fix");
    assert_false(move.adds_notes);
}

/* ---- tries ---------------------------------------------------------------- */

static void
three_failed_reviews_are_the_end_of_max_retries_3(void **state)
{
    (void)state;
    begin(3);
    for (unsigned n = 1; n <= 2; n++) {
        say("engineer", "done");
        assert_string_equal(say("qa", "fail"), "optimize");
        assert_int_equal(l.retries, n);
    }
    say("engineer", "done");
    assert_string_equal(say("qa", "fail"), "failed-final");
    assert_int_equal(l.retries, 3);
    assert_int_equal(move.through, lifecycle_find(&c, "failed"));
    assert_null(move.posts);
    assert_true(life_is_over(&l));
}

static void
an_error_costs_one_try(void **state)
{
    (void)state;
    begin(3);
    assert_string_equal(say("engineer", "error"), "developing");
    assert_int_equal(l.retries, 1);
    assert_string_equal(say("engineer", "error"), "developing");
    assert_string_equal(say("engineer", "error"), "failed-final");
    assert_int_equal(l.retries, 3);
}

static void
a_state_that_is_late_costs_a_try_and_starts_again(void **state)
{
    (void)state;
    begin(2);
    say("engineer", "done");
    assert_int_equal(happen(LIFE_LATE), LIFE_MOVED);
    assert_string_equal(life_state_of(&l)->name, "developing");
    assert_string_equal(move.posts, "fix");
    assert_int_equal(happen(LIFE_LATE), LIFE_MOVED);
    assert_string_equal(life_state_of(&l)->name, "failed-final");
}

static void
a_crash_starts_the_role_again_three_times(void **state)
{
    (void)state;
    begin(3);
    for (int i = 0; i < 3; i++)
        assert_int_equal(happen(LIFE_CRASH), LIFE_RESTARTS);
    assert_int_equal(happen(LIFE_CRASH), LIFE_GIVES_UP);
    assert_int_equal(l.retries, 0);
    say("engineer", "error");
    assert_int_equal(happen(LIFE_CRASH), LIFE_RESTARTS); /* another visit */
}

static void
a_role_that_moves_nothing_is_recovered_three_times(void **state)
{
    (void)state;
    begin(3);
    for (int i = 0; i < 3; i++)
        assert_int_equal(happen(LIFE_STALL), LIFE_RESTARTS);
    assert_int_equal(happen(LIFE_STALL), LIFE_MOVED);
    assert_string_equal(life_state_of(&l)->name, "failed-final");
}

static void
nothing_moves_a_room_that_ended(void **state)
{
    (void)state;
    begin(3);
    put("passed");
    for (int k = LIFE_LATE; k <= LIFE_STALL; k++)
        assert_int_equal(happen((enum life_event_kind)k), LIFE_STAYS);
    assert_int_equal(life_answers(&l, "engineer", "done"), SIZE_MAX);
}

/* ---- roles and files ------------------------------------------------------ */

static void
without_a_reviewer_qa_reviews(void **state)
{
    static const char *const one[] = { "engineer:fe", "manager" };

    (void)state;
    CHECK_OK(lifecycle_default(&c, &arena, one, 2, 3, &e), &e);
    assert_string_equal(c.states[c.initial].role, "engineer");
    assert_string_equal(c.states[lifecycle_find(&c, "review")].role, "qa");
    assert_int_equal(lifecycle_find(&c, "review-2"), SIZE_MAX);
}

static void
roles_that_cannot_be_are_refused(void **state)
{
    static const char *const twice[] = { "a", "b", "a" }, *const qa[] = { "qa" },
                             *const nobody[] = { "manager" }, *const bad[] = { "a/b" };

    (void)state;
    assert_int_equal(lifecycle_default(&c, &arena, twice, 3, 3, &e), ST_INVALID);
    assert_string_equal(e.text, "the role a is named twice");
    assert_int_equal(lifecycle_default(&c, &arena, qa, 1, 3, &e), ST_INVALID);
    assert_int_equal(lifecycle_default(&c, &arena, nobody, 1, 3, &e), ST_INVALID);
    assert_int_equal(lifecycle_default(&c, &arena, bad, 1, 3, &e), ST_INVALID);
}

static void
a_pipeline_is_read_with_arrows_or_commas(void **state)
{
    const char **roles;
    size_t n;

    (void)state;
    CHECK_OK(lifecycle_roles(&arena, " a -> b->c , d", &roles, &n, &e), &e);
    assert_int_equal(n, 4);
    assert_string_equal(roles[1], "b");
    assert_string_equal(roles[3], "d");
}

static void
the_file_is_read_as_it_was_written(void **state)
{
    struct buf one = { 0 }, two = { 0 };
    struct lifecycle again;

    (void)state;
    begin(7);
    lifecycle_write(&one, &c);
    CHECK_OK(lifecycle_parse(&again, &arena, "lifecycle.json", one.p, one.len, &e), &e);
    lifecycle_write(&two, &again);
    assert_string_equal(one.p, two.p);
    assert_int_equal(again.max_retries, 7);
    assert_int_equal(again.decision, c.decision);
    buf_release(&one);
    buf_release(&two);
}

#define END "\"passed\":{\"type\":\"terminal\"},\"failed-final\":{\"type\":\"terminal\"}"
#define DOC(states)                                                                                \
    "{\"version\":2,\"initial_state\":\"work\",\"max_retries\":3,\"states\":{" states "}}"

static void
refused(const char *text, const char *part)
{
    assert_int_equal(lifecycle_parse(&c, &arena, "life.json", text, strlen(text), &e), ST_INVALID);
    if (!strstr(e.text, part))
        fail_msg("\"%s\" lacks \"%s\"", e.text, part);
}

static void
a_bad_file_is_refused_with_state_and_member(void **state)
{
    (void)state;
    refused("[1", "life.json:1:");
    refused("{\"version\":1,\"states\":{" END "}}", "version must be 2");
    refused(DOC(END), "initial_state");
    refused(DOC("\"work\":{\"type\":\"work\",\"signals\":{\"done\":{\"target\":\"pased\"}}}," END),
            "state work, signal done: there is no state \"pased\" (did you mean \"passed\"?)");
    refused(DOC("\"work\":{\"type\":\"work\"}," END), "needs signals");
    refused(DOC("\"work\":{\"type\":\"play\"}," END), "needs a type");
    refused(DOC("\"Work\":{\"type\":\"work\"}," END), "no name of a state");
    refused(DOC("\"work\":{\"type\":\"work\",\"signals\":{\"done\":{\"target\":\"failed-final\"}}"
                "}," END),
            "no way leads from work to passed");
    refused(DOC("\"work\":{\"type\":\"work\",\"signals\":{\"done\":{\"target\":\"passed\","
                "\"actions\":[\"dance\"]}}}," END),
            "unknown action dance");
    refused(DOC("\"work\":{\"type\":\"work\",\"signals\":{\"done\":{\"target\":\"passed\","
                "\"guard\":\"always\"}}}," END),
            "a guard is");
    refused(DOC("\"work\":{\"type\":\"work\",\"signals\":{\"done\":{\"target\":\"work\"}}},"
                "\"passed\":{\"type\":\"terminal\"}"),
            "terminal state failed-final");
}

static void
a_lifecycle_of_ones_own_moves_a_room(void **state)
{
    static const char text[] = DOC(
        "\"work\":{\"type\":\"work\",\"role\":\"writer\",\"signals\":{\"draft\":{\"target\":"
        "\"edit\"}}},\"edit\":{\"type\":\"review\",\"signals\":{\"pass\":{\"target\":\"passed\"},"
        "\"fail\":{\"target\":\"work\",\"actions\":[\"increment_retries\"]}}}," END);

    (void)state;
    CHECK_OK(lifecycle_parse(&c, &arena, "l", text, strlen(text), &e), &e);
    life_begin(&l, &c);
    assert_null(say("writer", "done"));
    assert_string_equal(say("writer", "draft"), "edit");
    assert_string_equal(say("anyone", "fail"), "work"); /* a state without a role: any sender */
    for (int i = 0; i < 2; i++) {
        say("writer", "draft");
        say("anyone", "fail");
    }
    assert_string_equal(life_state_of(&l)->name, "failed-final"); /* there is no decision state */
}

static void
a_drawing_names_every_state_and_marks_one(void **state)
{
    (void)state;
    begin(3);
    for (int form = LIFECYCLE_TEXT; form <= LIFECYCLE_DOT; form++) {
        struct buf b = { 0 };
        lifecycle_draw(&b, &c, (enum lifecycle_form)form, lifecycle_find(&c, "review-2"));
        CHECK_OK(buf_status(&b, "the drawing", &e), &e);
        for (size_t i = 0; i < c.n_states; i++)
            assert_non_null(strstr(b.p, c.states[i].name));
        assert_non_null(strstr(b.p, form == LIFECYCLE_TEXT      ? "=> review-2"
                                    : form == LIFECYCLE_MERMAID ? "class review_2 here"
                                                                : "penwidth=3"));
        buf_release(&b);
    }
}

static void
each_message_has_its_receiver(void **state_)
{
    static const struct {
        const char *state, *type, *to;
    } want[] = {
        { "developing", "done", "qa" },       { "developing", "error", "manager" },
        { "optimize", "done", "qa" },         { "review", "pass", "manager" },
        { "review", "fail", "manager" },      { "review-2", "fail", "manager" },
        { "review", "escalate", "manager" },  { "triage", "fix", "engineer" },
        { "triage", "redesign", "engineer" }, { "triage", "reject", "manager" },
    };

    (void)state_;
    begin(3);
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        l.state = lifecycle_find(&c, want[i].state);
        assert_string_equal(life_receiver(&l, want[i].type), want[i].to);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        LIFE_CASE(every_state_answers_to_exactly_the_messages_of_the_table),
        LIFE_CASE(a_suffix_of_the_sender_is_stripped),
        LIFE_CASE(a_redesign_adds_its_notes_to_the_brief),
        LIFE_CASE(three_failed_reviews_are_the_end_of_max_retries_3),
        LIFE_CASE(an_error_costs_one_try),
        LIFE_CASE(a_state_that_is_late_costs_a_try_and_starts_again),
        LIFE_CASE(a_crash_starts_the_role_again_three_times),
        LIFE_CASE(a_role_that_moves_nothing_is_recovered_three_times),
        LIFE_CASE(nothing_moves_a_room_that_ended),
        LIFE_CASE(without_a_reviewer_qa_reviews),
        LIFE_CASE(roles_that_cannot_be_are_refused),
        LIFE_CASE(a_pipeline_is_read_with_arrows_or_commas),
        LIFE_CASE(the_file_is_read_as_it_was_written),
        LIFE_CASE(a_bad_file_is_refused_with_state_and_member),
        LIFE_CASE(a_lifecycle_of_ones_own_moves_a_room),
        LIFE_CASE(a_drawing_names_every_state_and_marks_one),
        LIFE_CASE(each_message_has_its_receiver),
    };

    return cmocka_run_group_tests_name("lifecycle", tests, NULL, NULL);
}
