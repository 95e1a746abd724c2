/*
 * What must be true of hub/splice: a line is shown the same whether it is cut or parsed, and what
 * might be shown otherwise is not cut.
 */
#include "hub/hub_impl.h"
#include "hub/request/splice.h"

#include "test.h"

#define HEAD "{\"id\":\"abc\",\"type\":\"task\""

/* As an answer shows it, in one spelling. */
static const char *
spell_tree(struct arena *a, const struct json *v)
{
    struct buf b = { 0 };

    json_write(&b, v);
    const char *spelt = arena_dup(a, b.p, b.len);
    buf_release(&b);
    return spelt;
}

static const char *
spell(struct arena *a, const char *text)
{
    struct json *v;

    if (!json_parse(a, text, strlen(text), &v, NULL))
        fail_msg("not JSON: %s", text);
    return spell_tree(a, v);
}

static void
check_shown(const char *line, const char *thread, const struct item *it)
{
    struct arena a = { 0 };
    struct buf b = { 0 };
    struct json *v;
    struct hub_event ev;
    struct signal_row x = { .it = *it, .thread = thread, .body = line };

    assert_true(json_parse(&a, line, strlen(line), &v, NULL));
    assert_true(hub_event_read(&ev, v, &a));
    const char *parsed = spell_tree(&a, render_signal(&ev, it, thread, &a));
    assert_true(render_prepare(&x, &b, &a));
    assert_string_equal(spell(&a, render_signal_row_text(&x, NULL, &b, &a)), parsed);
    if (!thread) /* as who brought it is answered */
        assert_string_equal(spell(&a, render_line_text(&ev, line, strlen(line), it, &b, &a)),
                            parsed);
    buf_release(&b);
    arena_release(&a);
}

static const struct item PENDING = { .seq = 41, .id = "abc", .work = W_OPEN };

static void
lines_of_ours_are_cut_and_shown_as_if_parsed(void **state)
{
    static const char *const lines[] = {
        "{\"type\":\"x\"}",
        HEAD "}",
        HEAD ",\"source\":{\"type\":\"agent\",\"id\":\"a}b\"},\"data\":null,\"createdAt\":"
             "1794845642653}",
        HEAD ",\"data\":{\"a\":[1,{\"b\":\"]}\\\"\"}]},\"createdAt\":1,\"content\":\"x\\\\\"}",
        HEAD ",\"content\":\"say \\\"hi\\\", \\u00e9 \xc3\xa9 {[\",\"urgency\":0.25}",
        HEAD ",\"content\":[],\"urgency\":1e-1,\"from_role\":\"qa\",\"from_identity\":\"ruby\"}",
        HEAD ",\"content\":true,\"to_role\":\"dev\"}",
        HEAD ",\"content\":null,\"urgency\":null,\"to_ring\":\"ops\",\"tags\":null}",
        HEAD ",\"to_identity\":\"bob\",\"parent_id\":\"root\",\"thread_id\":\"root\"}",
        HEAD
        ",\"tags\":[\"a\",\"b\"],\"resources\":[{\"kind\":\"k\"}],\"attachments\":[{}],"
        "\"metadata\":{\"m\":null},\"delayed\":\"d\",\"task_status\":\"open\",\"dedup_key\":\"k\","
        "\"dedup_hash\":\"h\",\"dedup_lines\":2}",
        "{\"createdAt\":5,\"type\":\"in any order\",\"id\":\"abc\"}",
    };

    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct splice s;
        if (!splice_line(&s, lines[i], strlen(lines[i])))
            fail_msg("not cut: %s", lines[i]);
        check_shown(lines[i], NULL, &PENDING);
        check_shown(lines[i], "thread \"of\" others", &PENDING);
    }
}

static void
what_might_mean_something_else_is_parsed(void **state)
{
    static const char *const lines[] = {
        "{ \"type\":\"x\"}",
        "{\"type\" :\"x\"}",
        "{\"type\": \"x\"}",
        "{\"type\":\"x\" }",
        "{\"type\":\"x\", \"urgency\":1}",
        "{\"type\":\"x\",\"urgency\":1 }",
        "{\"type\":\" x\"}",
        "{\"type\":\"x\\n\"}",
        "{\"type\":\"\\u0078\"}",
        "{\"type\":\"x\",\"unknown\":1}",
        "{\"t\\u0079pe\":\"y\"}",
        "{\"type\":\"x\",\"from_role\":\"\"}",
        "{\"type\":\"x\",\"from_role\":7}",
        "{\"type\":\"x\",\"to_role\":\"a\\\"b\"}",
        "{\"type\":\"x\",\"parent_id\":\"signal:root\"}",
        "{\"type\":\"x\",\"createdAt\":-1}",
        "{\"type\":\"x\",\"createdAt\":1.5}",
        "{\"type\":\"x\",\"createdAt\":\"1\"}",
        "{\"type\":\"x\",\"createdAt\":99999999999999999999}",
    };
    struct splice s;

    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        if (splice_line(&s, lines[i], strlen(lines[i])))
            fail_msg("cut: %s", lines[i]);
        check_shown(lines[i], NULL, &PENDING);
    }
    static const char twice[] = "{\"type\":\"x\",\"type\":\"y\"}";
    assert_false(splice_line(&s, twice, sizeof twice - 1));
    assert_false(splice_line(&s, "", 0));
    assert_false(splice_line(&s, "{}", 2));
    assert_false(splice_line(&s, "{\"id\":\"x\"}", 10)); /* no signal */
    assert_false(splice_line(&s, "{\"op\":\"ack\",\"signal\":\"x\"}", 26));
}

static void
a_line_cut_off_anywhere_is_not_cut(void **state)
{
    static const char line[] =
        HEAD ",\"data\":{\"a\":[\"\\\"\"]},\"createdAt\":12,\"tags\":[\"x\"]}";
    struct splice s;

    (void)state;
    assert_true(splice_line(&s, line, sizeof line - 1));
    for (size_t n = 0; n < sizeof line - 1; n++) {
        char *part = test_malloc(n + 1); /* so that a byte too far is found */
        memcpy(part, line, n);
        assert_false(splice_line(&s, part, n));
        test_free(part);
    }
}

static void
what_became_of_it_is_shown_as_if_parsed(void **state)
{
    static const char *const names[] = { NULL, "bob", "a \"b\" \\ c", "" };
    static const int64_t counts[] = { 0, 9, 10, 12345 }, times[] = { 0, 1, 1794845642653, 16, 32 };

    (void)state;
    for (int st = 0; st < DELIVERIES; st++)
        for (size_t i = 0; i < 4; i++)
            for (size_t t = 0; t < 5; t++) {
                struct item it = { .seq = 7,
                                   .id = "abc",
                                   .state = (enum delivery)st,
                                   .work = (enum work)(st % WORKS),
                                   .count = counts[i],
                                   .claimed_by = names[i],
                                   .claimed_at = times[t],
                                   .until = times[4 - t] };
                check_shown(HEAD "}", NULL, &it);
            }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(lines_of_ours_are_cut_and_shown_as_if_parsed),
        CASE(what_might_mean_something_else_is_parsed),
        CASE(a_line_cut_off_anywhere_is_not_cut),
        CASE(what_became_of_it_is_shown_as_if_parsed),
    };

    return cmocka_run_group_tests_name("hub splice", tests, NULL, NULL);
}
