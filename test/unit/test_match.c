/* Tests hub/model/match: the rule of patterns, and the index that applies it. */
#include "hub/model/match.h"

#include "base/sys.h"
#include "test.h"

static bool
matches(const char *type, const char *pattern)
{
    return match_pattern(pattern, strlen(pattern), type, strlen(type));
}

/* ---- the ids that a match visits ---- */

struct visits {
    uint64_t ids[20000];
    size_t n;
};

static void
note_visit(void *context, uint64_t id)
{
    struct visits *v = context;

    assert_true(v->n < sizeof v->ids / sizeof *v->ids);
    v->ids[v->n++] = id;
}

static struct visits *
ask(struct matcher *m, const char *type)
{
    static struct visits v;

    v.n = 0;
    size_t n = matcher_match(m, type, strlen(type), note_visit, &v);
    assert_int_equal(n, v.n);
    return &v;
}

static struct matcher *
new_matcher(void)
{
    struct matcher *m;
    struct err e;

    CHECK_OK(matcher_new(&m, &e), &e);
    return m;
}

static void
add(struct matcher *m, const char *pattern, uint64_t id)
{
    struct err e;

    CHECK_OK(matcher_add(m, pattern, strlen(pattern), id, &e), &e);
}

static bool
drop(struct matcher *m, const char *pattern, uint64_t id)
{
    return matcher_remove(m, pattern, strlen(pattern), id);
}

/* ---- the rule ---- */

static const struct {
    const char *type, *pattern;
    bool is_match;
} table[] = {
    /* the table of the reference */
    { "a:b:c", "a:*", false },
    { "a::c", "a:*:c", true },
    { "a", "*", true },
    { " a:b ", "a:b", true },
    { "a:b", "*:*", true },
    { "a:*", "a:b", false },
    { "a:bc", "a:b*", false },
    { "a:b", "**", false },
    { "", "", false },
    /* rows that its text implies */
    { "a:b", "a:b", true },
    { "a:b", "A:b", false },
    { "a:b", " a:* \n", true },
    { "a:b", "a: b", false },
    { "a", "", false },
    { "", "*", false },
    { " \t", "*", false },
    { "a:", "a:*", true },
    { ":", "*:*", true },
    { ":", ":", true },
    { "::", "*:*", false },
    { "a:b", "a:b:*", false },
    { "a:b:c", "**:c", false },
    { "a:*", "a:*", true },
    { "a.b", "a.b", true },
    { "a.b", "a.*", false },
    { "build:web:done", "build:*:done", true },
    { "build:web:failed", "build:*:done", false },
    { "\xC2\xA0"
      "a:b\xE2\x80\x83\xEF\xBB\xBF",
      "a:b", true }, /* the white space of JavaScript's trim */
};

static void
every_row_of_the_pattern_table_holds(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (matches(table[i].type, table[i].pattern) != table[i].is_match)
            fail_msg("type \"%s\", pattern \"%s\": should %smatch", table[i].type, table[i].pattern,
                     table[i].is_match ? "" : "not ");
}

static void
an_index_of_one_pattern_agrees_with_the_rule(void **state)
{
    struct err e;

    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct matcher *m = new_matcher();
        if (*table[i].pattern)
            add(m, table[i].pattern, 7);
        else
            CHECK_FAILS(matcher_add(m, "", 0, 7, &e), ST_INVALID, &e,
                        "Signal subscription pattern is required");
        if ((ask(m, table[i].type)->n == 1) != table[i].is_match)
            fail_msg("type \"%s\", pattern \"%s\": the index disagrees", table[i].type,
                     table[i].pattern);
        matcher_free(m);
    }
}

static void
a_NUL_is_a_byte_like_others(void **state)
{
    (void)state;
    assert_true(match_pattern("a\0b:*", 5, "a\0b:c", 5));
    assert_false(match_pattern("a\0b:*", 5, "a\0c:c", 5));
}

/* ---- the index ---- */

static void
ids_come_ascending_whatever_the_order_of_adding(void **state)
{
    struct matcher *m = new_matcher();

    (void)state;
    add(m, "a:*", 9);
    add(m, "*:b", 3);
    add(m, "a:b", 7);
    add(m, "a:b", 1);
    add(m, "*:*", 5);
    add(m, "a:c", 2);
    struct visits *v = ask(m, " a:b ");
    const uint64_t want[] = { 1, 3, 5, 7, 9 };
    assert_int_equal(v->n, 5);
    assert_memory_equal(v->ids, want, sizeof want);
    matcher_free(m);
}

static void
one_id_with_two_matching_patterns_is_visited_twice(void **state)
{
    struct matcher *m = new_matcher();

    (void)state;
    add(m, "a:*", 4);
    add(m, "a:b", 4);
    add(m, "a:b", 4); /* adding a pattern again changes nothing */
    assert_int_equal(ask(m, "a:b")->n, 2);
    assert_int_equal(matcher_count(m), 2);
    matcher_free(m);
}

static void
a_removed_pattern_does_not_match_and_a_second_removal_fails(void **state)
{
    struct matcher *m = new_matcher();

    (void)state;
    add(m, "a:*:c", 1);
    add(m, "a:b:c", 2);
    assert_false(drop(m, "a:*", 1));
    assert_false(drop(m, "a:*:c", 2));
    assert_true(drop(m, " a:*:c ", 1));
    assert_false(drop(m, "a:*:c", 1));
    assert_int_equal(ask(m, "a:b:c")->n, 1);
    assert_true(drop(m, "a:b:c", 2));
    assert_int_equal(ask(m, "a:b:c")->n, 0);
    assert_int_equal(matcher_count(m), 0);
    assert_int_equal(matcher_nodes(m), 0); /* and no memory is left */
    assert_false(drop(m, "", 0));
    matcher_free(m);
    matcher_free(NULL);
}

static void
patterns_that_do_not_match_cost_no_steps(void **state)
{
    struct matcher *m = new_matcher();
    char pattern[64];

    (void)state;
    add(m, "build:*:done", 1);
    ask(m, "build:web:done");
    size_t alone = matcher_steps(m);
    for (uint64_t i = 0; i < 10000; i++) {
        snprintf(pattern, sizeof pattern, i % 2 ? "agent:a%d:done" : "job%d:*:done", (int)i);
        add(m, pattern, 100 + i);
    }
    assert_int_equal(ask(m, "build:web:done")->n, 1);
    assert_int_equal(matcher_steps(m), alone);
    assert_int_equal(ask(m, "agent:a4711:done")->n, 1);
    matcher_free(m);
}

/* Each of k segments is 'a' or '*', then a last one: 2^k patterns. */
static void
add_all_ways(struct matcher *m, unsigned k, const char *last)
{
    char pattern[128];

    for (uint64_t way = 0; way < (uint64_t)1 << k; way++) {
        char *p = pattern;
        for (unsigned i = 0; i < k; i++) {
            *p++ = way >> i & 1 ? '*' : 'a';
            *p++ = ':';
        }
        strcpy(p, last);
        add(m, pattern, way);
    }
}

static void
a_match_visits_no_more_nodes_than_exist(void **state)
{
    struct matcher *m = new_matcher();

    (void)state;
    add_all_ways(m, 12, "z");
    assert_int_equal(ask(m, "a:a:a:a:a:a:a:a:a:a:a:a:z")->n, 4096);
    assert_int_equal(matcher_steps(m), 8191 + 4096); /* a tree of 12 levels and the last segment */
    assert_int_equal(matcher_steps(m), matcher_nodes(m));
    assert_int_equal(ask(m, "a:a:a:a:a:a:a:a:a:a:a:a:b")->n, 0); /* fails at the very end */
    assert_in_range(matcher_steps(m), 1, matcher_nodes(m));
    assert_int_equal(ask(m, "a:a:a:a:a:a:a:a:a:a:a:z")->n, 0); /* other count: not visited */
    assert_int_equal(matcher_steps(m), 0);
    matcher_free(m);
}

static void
a_thousand_stars_in_a_thousand_patterns_do_not_explode(void **state)
{
    enum { SEGMENTS = MATCH_SEGMENTS_MAX, PATTERNS = 1000 };
    static char type[2 * SEGMENTS], pattern[2 * SEGMENTS];
    struct matcher *m = new_matcher();

    (void)state;
    for (size_t i = 0; i < SEGMENTS; i++)
        memcpy(type + 2 * i, i + 1 < SEGMENTS ? "a:" : "a", i + 1 < SEGMENTS ? 2 : 1);
    memset(pattern, 0, sizeof pattern);
    for (uint64_t id = 0; id < PATTERNS; id++) { /* all stars, except one name at position id */
        for (size_t i = 0; i + 1 < 2 * (size_t)SEGMENTS; i++)
            pattern[i] = i % 2 ? ':' : i / 2 == id ? 'a' : '*';
        add(m, pattern, id);
    }
    assert_int_equal(ask(m, type)->n, PATTERNS); /* 2^1000 paths, of which these exist */
    assert_int_equal(matcher_steps(m), matcher_nodes(m));
    for (uint64_t id = 0; id < PATTERNS; id++) {
        for (size_t i = 0; i + 1 < 2 * (size_t)SEGMENTS; i++)
            pattern[i] = i % 2 ? ':' : i / 2 == id ? 'a' : '*';
        assert_true(drop(m, pattern, id));
    }
    assert_int_equal(matcher_nodes(m), 0);
    matcher_free(m);
}

static void
patterns_over_a_limit_are_refused_and_leave_nothing(void **state)
{
    struct matcher *m = new_matcher();
    struct err e;
    char *text = malloc(MATCH_PATTERN_MAX + 1);

    (void)state;
    assert_non_null(text);
    memset(text, 'x', MATCH_PATTERN_MAX + 1);
    CHECK_FAILS(matcher_add(m, text, MATCH_PATTERN_MAX + 1, 1, &e), ST_INVALID, &e,
                "the pattern is longer than 65536 bytes");
    CHECK_OK(matcher_add(m, text, MATCH_PATTERN_MAX, 1, &e), &e);
    assert_true(matcher_remove(m, text, MATCH_PATTERN_MAX, 1));
    memset(text, ':', MATCH_PATTERN_MAX);
    CHECK_FAILS(matcher_add(m, text, MATCH_SEGMENTS_MAX, 1, &e), ST_INVALID, &e,
                "the pattern has more than 1000 segments");
    CHECK_OK(matcher_add(m, text, MATCH_SEGMENTS_MAX - 1, 1, &e), &e);
    struct visits *v = ask(m, "x");
    assert_int_equal(v->n, 0);
    assert_int_equal(matcher_match(m, text, MATCH_SEGMENTS_MAX - 1, note_visit, v), 1);
    assert_int_equal(matcher_match(m, text, MATCH_PATTERN_MAX, note_visit, v), 0);
    assert_true(matcher_remove(m, text, MATCH_SEGMENTS_MAX - 1, 1));
    assert_int_equal(matcher_nodes(m), 0);
    free(text);
    matcher_free(m);
}

static void
all_patterns_together_have_a_size_limit(void **state)
{
    struct matcher *m = new_matcher();
    struct err e = { "" };
    enum status s = ST_OK;
    char *text = malloc(MATCH_PATTERN_MAX);
    uint64_t n = 0;

    (void)state;
    assert_non_null(text);
    memset(text, 'x', MATCH_PATTERN_MAX);
    while (!s && n < 10000) {
        snprintf(text, 16, "%015d", (int)n);
        s = matcher_add(m, text, MATCH_PATTERN_MAX, n, &e);
        n += !s;
    }
    assert_int_equal(s, ST_INVALID);
    assert_string_equal(e.text, "all patterns together take more than 268435456 bytes");
    assert_in_range(n, 4000, 4096);
    free(text);
    matcher_free(m);
}

static ssize_t
no_random(void *to, size_t n, unsigned flags)
{
    (void)to, (void)n, (void)flags;
    errno = ENOSYS;
    return -1;
}

static void
without_random_bytes_there_is_no_matcher(void **state)
{
    struct matcher *m;
    struct err e;

    (void)state;
    struct sys mute = *sys;
    mute.getrandom = no_random;
    sys = &mute;
    CHECK_FAILS_WITH(matcher_new(&m, &e), ST_IO, &e, "get random bytes");
    sys = &sys_kernel;
    assert_null(m);
}

static void
the_index_agrees_with_the_rule_on_random_sets(void **state)
{
    enum { SUBSCRIPTIONS = 60, ROUNDS = 300 };
    static const char *const words[] = { "a", "b", "*", "", "ab", "**" };
    char patterns[SUBSCRIPTIONS][32];
    unsigned seed = 1;

    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct matcher *m = new_matcher();
        bool is_in[SUBSCRIPTIONS] = { false };
        for (int step = 0; step < 2 * SUBSCRIPTIONS; step++) {
            int i = rand_r(&seed) % SUBSCRIPTIONS;
            if (is_in[i]) {
                assert_true(drop(m, patterns[i], (uint64_t)i));
                is_in[i] = false;
                continue;
            }
            patterns[i][0] = '\0';
            for (int k = rand_r(&seed) % 4; k >= 0; k--) {
                strcat(patterns[i], words[rand_r(&seed) % 6]);
                strcat(patterns[i], k ? ":" : "");
            }
            if (!*patterns[i])
                continue;
            add(m, patterns[i], (uint64_t)i);
            is_in[i] = true;
        }
        static const char *const types[] = { "a", "a:b", "b:a", "a:b:ab", "a::b", ":::", "*:a" };
        for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
            struct visits *v = ask(m, types[t]);
            size_t at = 0;
            for (uint64_t i = 0; i < SUBSCRIPTIONS; i++)
                if (is_in[i] && matches(types[t], patterns[i]))
                    assert_int_equal(v->ids[at++], i);
            assert_int_equal(v->n, at);
        }
        matcher_free(m);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(every_row_of_the_pattern_table_holds),
        CASE(an_index_of_one_pattern_agrees_with_the_rule),
        CASE(a_NUL_is_a_byte_like_others),
        CASE(ids_come_ascending_whatever_the_order_of_adding),
        CASE(one_id_with_two_matching_patterns_is_visited_twice),
        CASE(a_removed_pattern_does_not_match_and_a_second_removal_fails),
        CASE(patterns_that_do_not_match_cost_no_steps),
        CASE(a_match_visits_no_more_nodes_than_exist),
        CASE(a_thousand_stars_in_a_thousand_patterns_do_not_explode),
        CASE(patterns_over_a_limit_are_refused_and_leave_nothing),
        CASE(all_patterns_together_have_a_size_limit),
        CASE(without_random_bytes_there_is_no_matcher),
        CASE(the_index_agrees_with_the_rule_on_random_sets),
    };
    return cmocka_run_group_tests_name("match", tests, NULL, NULL);
}
