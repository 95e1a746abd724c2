/*
 * What must be true of hub/request/render: every signal has every member, values keep their
 * spelling, and foreign lines are shown as they are understood, not as they are spelt.
 */
#include "hub/request/render.h"

#include "test.h"

#define HEAD "{\"id\":\"abc\",\"type\":\"task\""

static const struct item PENDING = { .seq = 41, .id = "abc", .work = W_OPEN };

/* The signal of this line, in one text. */
static const char *
render(struct arena *a, const char *line, const char *thread, const struct item *it)
{
    struct buf b = { 0 };
    struct signal_row x = { .it = *it, .thread = thread, .body = line };
    struct json *v;

    if (!render_row(&b, &x, NULL, NULL, a))
        fail_msg("no signal: %s", line);
    if (!json_parse(a, b.p, b.len, &v, NULL))
        fail_msg("not JSON: %s", b.p);
    const char *text = arena_dup(a, b.p, b.len);
    buf_release(&b);
    return text;
}

static void
a_signal_has_every_member(void **state)
{
    struct arena a = { 0 };

    (void)state;
    assert_string_equal(
        render(&a, "{\"type\":\"x\"}", NULL, &(struct item){ .seq = 7, .id = "abc" }),
        "{\"id\":\"signal:abc\",\"signal_type\":\"x\",\"content\":null,\"urgency\":0.5,"
        "\"from_role\":null,\"from_identity\":null,\"to_role\":null,\"to_ring\":null,"
        "\"to_identity\":null,\"parent_id\":null,\"thread_id\":\"signal:abc\",\"sequence\":7,"
        "\"tags\":[],\"resources\":[],\"attachments\":[],\"metadata\":{},\"payload\":null,"
        "\"delivery_state\":\"pending\",\"delivery_count\":0,\"task_status\":null,"
        "\"claimed_by\":null,\"claimed_at\":null,\"claim_expires_at\":null,"
        "\"created_at\":\"1970-01-01T00:00:00.001Z\",\"protocol_version\":\"chorus/1.0\"}");
    arena_release(&a);
}

/* line: what it has; shown: parts of the answer. */
struct line_case {
    const char *line, *shown[4];
};

static void
check_cases(const struct line_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct arena a = { 0 };
        const char *text = render(&a, cases[i].line, NULL, &PENDING);
        for (size_t k = 0; k < 4 && cases[i].shown[k]; k++)
            if (!strstr(text, cases[i].shown[k]))
                fail_msg("%s\nis shown as %s\nwithout %s", cases[i].line, text, cases[i].shown[k]);
        arena_release(&a);
    }
}

static void
values_keep_their_spelling(void **state)
{
    static const struct line_case cases[] = {
        { HEAD ",\"source\":{\"type\":\"agent\",\"id\":\"a}b\"},\"data\":null,\"createdAt\":"
               "1794845642653}",
          { "\"payload\":null", "\"created_at\":\"2026-11-16T", ":02.653Z\"" } },
        { HEAD ",\"data\":{\"a\":[1,{\"b\":\"]}\\\"\"}]},\"createdAt\":1,\"content\":\"x\\\\\"}",
          { "\"payload\":{\"a\":[1,{\"b\":\"]}\\\"\"}]}", "\"content\":\"x\\\\\"" } },
        { HEAD ",\"content\":\"say \\\"hi\\\", \\u00e9 \xc3\xa9 {[\",\"urgency\":0.25}",
          { "\"content\":\"say \\\"hi\\\", \xc3\xa9 \xc3\xa9 {[\"", "\"urgency\":0.25" } },
        { HEAD ",\"content\":[],\"urgency\":1e-1,\"from_role\":\"qa\",\"from_identity\":\"ruby\"}",
          { "\"content\":[]", "\"urgency\":1e-1", "\"from_role\":\"qa\"",
            "\"from_identity\":\"ruby\"" } },
        { HEAD ",\"content\":true,\"to_role\":\"dev\"}",
          { "\"content\":true", "\"to_role\":\"dev\"" } },
        { HEAD ",\"content\":null,\"urgency\":null,\"to_ring\":\"ops\",\"tags\":null}",
          { "\"content\":null", "\"urgency\":0.5", "\"to_ring\":\"ops\"", "\"tags\":[]" } },
        { HEAD ",\"to_identity\":\"bob\",\"parent_id\":\"root\",\"thread_id\":\"root\"}",
          { "\"to_identity\":\"bob\"", "\"parent_id\":\"signal:root\"" } },
        { HEAD ",\"tags\":[\"a\",\"b\"],\"resources\":[{\"kind\":\"k\"}],\"attachments\":[{}],"
               "\"metadata\":{\"m\":null},\"delayed\":\"d\",\"dedup_key\":\"k\"}",
          { "\"tags\":[\"a\",\"b\"]", "\"resources\":[{\"kind\":\"k\"}]", "\"attachments\":[{}]",
            "\"metadata\":{\"m\":null}" } },
    };

    (void)state;
    check_cases(cases, sizeof cases / sizeof *cases);
}

static void
foreign_lines_are_shown_as_understood(void **state)
{
    static const struct line_case cases[] = {
        { "{ \"type\" : \"x\" , \"urgency\" : 1 }", { "\"signal_type\":\"x\"", "\"urgency\":1," } },
        { "{\"createdAt\":5,\"type\":\" in any order \",\"unknown\":1}",
          { "\"signal_type\":\"in any order\"", ".005Z\"" } },
        { "{\"t\\u0079pe\":\"\\u0078\\n\"}", { "\"signal_type\":\"x\"" } },
        { "{\"type\":\"x\",\"from_role\":\"\",\"to_role\":7}",
          { "\"from_role\":null", "\"to_role\":null" } },
        { "{\"type\":\"x\",\"to_role\":\"a\\\"b\"}", { "\"to_role\":\"a\\\"b\"" } },
        { "{\"type\":\"x\",\"parent_id\":\"signal:root\"}", { "\"parent_id\":\"signal:root\"" } },
        { "{\"type\":\"x\",\"parent_id\":\"a\\\"b\"}", { "\"parent_id\":\"signal:a\\\"b\"" } },
        { "{\"type\":\"x\",\"createdAt\":-1}", { "\"created_at\":\"1970-01-01T00:00:00.001Z\"" } },
        { "{\"type\":\"x\",\"createdAt\":99999999999999999999}", { "00:00:00.001Z" } },
    };
    static const char *const none[] = { "", "{}", "{\"id\":\"x\"}", "{\"type\":\"x\"",
                                        "{\"type\":\"x\",\"type\":\"y\"}" };

    (void)state;
    check_cases(cases, sizeof cases / sizeof *cases);
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        struct arena a = { 0 };
        struct buf b = { 0 };
        struct signal_row x = { .it = PENDING, .body = none[i] };
        assert_false(render_row(&b, &x, NULL, NULL, &a));
        assert_int_equal(b.len, 0);
        arena_release(&a);
    }
}

static void
its_state_is_shown(void **state)
{
    struct arena a = { 0 };
    struct item it = { .seq = 7,
                       .id = "abc",
                       .state = D_LEASED,
                       .work = W_CLAIMED,
                       .count = 12345,
                       .claimed_by = "a \"b\" \\ c",
                       .claimed_at = 16,
                       .until = 1794845642653 };
    const char *text = render(&a, HEAD "}", "of \"others\"", &it);

    (void)state;
    assert_non_null(strstr(text, "\"thread_id\":\"signal:of \\\"others\\\"\""));
    assert_non_null(strstr(text,
                           "\"delivery_state\":\"leased\",\"delivery_count\":12345,"
                           "\"task_status\":\"claimed\",\"claimed_by\":\"a \\\"b\\\" \\\\ c\","
                           "\"claimed_at\":\"1970-01-01T00:00:00.016Z\","
                           "\"claim_expires_at\":\"2026-11-16T"));
    it.state = D_ACKED; /* its lease ends no more */
    assert_non_null(strstr(render(&a, HEAD "}", NULL, &it), "\"claim_expires_at\":null"));
    arena_release(&a);
}

static void
one_member_more_stands_at_the_end(void **state)
{
    struct arena a = { 0 };
    struct buf b = { 0 };
    struct signal_row x = { .it = PENDING, .body = HEAD "}" };

    (void)state;
    assert_true(render_row(&b, &x, "claim_id", "c1", &a));
    assert_string_equal(b.p + b.len - 16, "\"claim_id\":\"c1\"}");
    buf_release(&b);
    arena_release(&a);
}

static void
broadcasts_have_few_members(void **state)
{
    struct arena a = { 0 };
    struct buf b = { 0 };

    (void)state;
    assert_true(
        render_broadcast_line(&b, HEAD ",\"createdAt\":5,\"data\":null,\"content\":1}", false, &a));
    assert_string_equal(b.p, "{\"id\":\"abc\",\"type\":\"task\",\"source\":{\"type\":\"process\"},"
                             "\"data\":null,\"createdAt\":5}");
    buf_reset(&b);
    assert_true(render_broadcast_line(&b, HEAD ",\"content\":1}", true, &a));
    assert_non_null(strstr(b.p, "\"content\":1}"));
    buf_reset(&b);
    assert_true(render_broadcast_line(
        &b,
        "{\"op\":\"schedule\",\"id\":\"abc\",\"at\":5,\"type\":\"x\",\"source\":{},"
        "\"deliverAt\":9,\"repeatKey\":\"k\"}",
        false, &a));
    assert_string_equal(b.p, "{\"id\":\"abc\",\"type\":\"x\",\"deliverAt\":9,\"source\":{},"
                             "\"repeatKey\":\"k\",\"createdAt\":5,\"updatedAt\":5}");
    buf_release(&b);
    arena_release(&a);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_signal_has_every_member),
        CASE(values_keep_their_spelling),
        CASE(foreign_lines_are_shown_as_understood),
        CASE(its_state_is_shown),
        CASE(one_member_more_stands_at_the_end),
        CASE(broadcasts_have_few_members),
    };

    return cmocka_run_group_tests_name("hub render", tests, NULL, NULL);
}
