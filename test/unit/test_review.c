/* Tests run/review: ids, identities, and which answer decides. */
#include "run/review.h"
#include "test.h"

#include <string.h>

static struct arena arena;

static const struct json *
parse(const char *text)
{
    struct json *v = NULL;

    assert_true(json_parse(&arena, text, strlen(text), &v, NULL));
    return v;
}

/* A review by ann and bob: its state, what is required, and the answers. */
#define REVIEW(state, require, answers)                                                            \
    "{\"id\":\"g-1-abc\",\"gate\":\"g\",\"state\":\"" state "\",\"require\":\"" require            \
    "\",\"expires_ms\":1000,\"route_targets\":[\"build\",\"plan\"],\"reviewers\":["                \
    "{\"identity\":\"ann\"},{\"identity\":\"bob\"}],\"answers\":[" answers "]}"
#define ANSWER(by, verdict) "{\"by\":\"" by "\",\"verdict\":\"" verdict "\"}"

static void
decides(const char *by, const char *doc)
{
    const struct json *v = review_decision(parse(doc));

    if (by)
        assert_string_equal(review_text(&arena, v, "by"), by);
    else
        assert_null(v);
}

static void
with_any_the_first_answer_decides(void **state)
{
    (void)state;
    decides(NULL, REVIEW("open", "any", ""));
    decides("bob", REVIEW("open", "any", ANSWER("bob", "approve")));
    decides("bob", REVIEW("open", "any", ANSWER("bob", "reject") "," ANSWER("ann", "approve")));
    arena_release(&arena);
}

static void
with_all_everyone_approves_or_one_does_not(void **state)
{
    (void)state;
    decides(NULL, REVIEW("open", "all", ANSWER("bob", "approve")));
    decides("ann", REVIEW("open", "all", ANSWER("bob", "approve") "," ANSWER("ann", "approve")));
    decides("ann", REVIEW("open", "all", ANSWER("bob", "approve") "," ANSWER("ann", "changes")));
    decides("bob", REVIEW("open", "all", ANSWER("bob", "reject")));
    arena_release(&arena);
}

static void
checks(enum status want, struct review_answer given, int64_t now_ms, const char *doc)
{
    struct err e = { "" };

    assert_int_equal(want, review_check(&arena, parse(doc), &given, now_ms, &e));
    arena_release(&arena);
}

static void
an_answer_is_of_a_reviewer_in_time_and_the_first(void **state)
{
    const struct review_answer ann = { .by = "ann", .verdict = REVIEW_APPROVE };
    const struct review_answer eve = { .by = "eve", .verdict = REVIEW_APPROVE };

    (void)state;
    checks(ST_OK, ann, 999, REVIEW("open", "any", ""));
    checks(ST_CONFLICT, ann, 1000, REVIEW("open", "any", ""));
    checks(ST_REFUSED, eve, 0, REVIEW("open", "any", ""));
    checks(ST_CONFLICT, ann, 0, REVIEW("approve", "any", ANSWER("bob", "approve")));
    checks(ST_CONFLICT, ann, 0, REVIEW("expired", "any", ""));
    checks(ST_CONFLICT, ann, 0, REVIEW("open", "all", ANSWER("ann", "approve")));
    checks(ST_OK, ann, 0, REVIEW("open", "all", ANSWER("bob", "approve")));
}

static void
changes_go_to_a_route_target(void **state)
{
    struct review_answer given = { .by = "ann", .verdict = REVIEW_CHANGES };
    struct err e = { "" };

    (void)state;
    assert_int_equal(ST_OK, review_check(&arena, parse(REVIEW("open", "any", "")), &given, 0, &e));
    assert_string_equal(given.to, "build");
    given.to = "plan";
    checks(ST_OK, given, 0, REVIEW("open", "any", ""));
    given.to = "ship";
    checks(ST_INVALID, given, 0, REVIEW("open", "any", ""));
    given.verdict = REVIEW_APPROVE;
    checks(ST_INVALID, given, 0, REVIEW("open", "any", ""));
}

static void
an_id_is_of_run_gate_and_attempt(void **state)
{
    char a[REVIEW_ID_SIZE], b[REVIEW_ID_SIZE];

    (void)state;
    review_make_id(a, "run", "accept", 1);
    review_make_id(b, "run", "accept", 1);
    assert_string_equal(a, b);
    assert_memory_equal(a, "accept-1-", 9);
    review_make_id(b, "other", "accept", 1);
    assert_string_not_equal(a, b);
}

static void
a_reviewer_is_the_name_of_its_channel(void **state)
{
    (void)state;
    assert_string_equal(review_identity("slack:elan"), "elan");
    assert_string_equal(review_identity("@ann"), "ann");
    assert_string_equal(review_identity("ann"), "ann");
    assert_string_equal(review_identity("slack:"), "slack:");
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        CASE(with_any_the_first_answer_decides),
        CASE(with_all_everyone_approves_or_one_does_not),
        CASE(an_answer_is_of_a_reviewer_in_time_and_the_first),
        CASE(changes_go_to_a_route_target),
        CASE(an_id_is_of_run_gate_and_attempt),
        CASE(a_reviewer_is_the_name_of_its_channel),
    };
    return cmocka_run_group_tests_name("review", tests, NULL, NULL);
}
