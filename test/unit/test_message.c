/* Tests room/message: known types, exact limits, ids that never repeat. */
#include "fault.h"
#include "test.h"

#include "base/utf8.h"
#include "room/message.h"

static struct err e;
static struct arena arena;
static struct buf line;

static int
leave(void **state)
{
    arena_release(&arena);
    buf_release(&line);
    return case_leave(state);
}
#define MESSAGE_CASE(fact) cmocka_unit_test_setup_teardown(fact, case_enter, leave)

static struct message
message(const char *body)
{
    return (struct message){ "engineer", "qa", "done", "EPIC-001", body, strlen(body) };
}

static char id[MESSAGE_ID_SIZE];
static bool is_cut;

/* Writes the message with this limit and parses it again. */
static const struct json *
written(const struct message *m, size_t max)
{
    struct json *v;

    buf_reset(&line);
    arena_reset(&arena);
    message_id(m, id);
    is_cut = message_write(&line, m, max, id);
    CHECK_OK(buf_status(&line, "the line", &e), &e);
    assert_null(memchr(line.p, '\n', line.len));
    CHECK_OK(json_parse_named(&arena, "line", line.p, line.len, &v, &e), &e);
    return v;
}

/* The body as it is in the record. */
static const char *
body_of(const struct json *v)
{
    const struct json *b = json_get(v, "body");

    assert_true(json_is(b, JSON_STRING));
    return arena_dup(&arena, b->text.p, b->text.len);
}

/* ---- the record ---- */

static void
the_keys_are_in_the_documented_order(void **state)
{
    struct message m = message("Work complete");

    (void)state;
    fake_clock(4775215174499753000);
    fake_pid(85510);
    written(&m, 100);
    assert_string_equal(line.p,
                        "{\"v\":1,\"id\":\"engineer-done-4775215174499753000-85510\","
                        "\"ts\":\"2121-04-27T16:39:34Z\",\"from\":\"engineer\",\"to\":\"qa\","
                        "\"type\":\"done\",\"ref\":\"EPIC-001\",\"body\":\"Work complete\"}");
    assert_string_equal(id, "engineer-done-4775215174499753000-85510");
    assert_false(is_cut);
}

static void
ids_differ_although_the_clock_stands_still(void **state)
{
    struct message m = message("x");
    char last[MESSAGE_ID_SIZE] = "";

    (void)state;
    fake_clock(4800000000000000000);
    for (int i = 0; i < 100; i++) {
        written(&m, 100);
        assert_string_not_equal(id, last);
        strcpy(last, id);
    }
}

static void
the_longest_names_fit_in_an_id(void **state)
{
    char from[65], type[65];
    struct message m = message("x");

    (void)state;
    memset(from, 'f', 64);
    memset(type, 't', 64);
    from[64] = type[64] = '\0';
    m.from = from;
    m.type = type;
    CHECK_OK(message_check(&m, true, &e), &e);
    fake_clock(INT64_MAX);
    fake_pid(2147483647);
    const struct json *v = written(&m, 100);
    assert_true(json_eq(json_get(v, "id"), id));
    assert_non_null(strstr(id, "-2147483647"));
    assert_true(strlen(id) < MESSAGE_ID_SIZE - 1);
}

static void
any_text_survives_in_a_body(void **state)
{
    struct message m = message("");

    (void)state;
    m.body =
        "line\nbreak \"quoted\" back\\slash\ttab \x01 gr\xC3\xBC\xC3\x9F\x65 \xF0\x9F\x98\x80\0nul";
    m.body_len = strlen(m.body) + 4;
    CHECK_OK(message_check(&m, false, &e), &e);
    const struct json *b = json_get(written(&m, 100), "body");
    assert_int_equal(b->text.len, m.body_len);
    assert_memory_equal(b->text.p, m.body, m.body_len);
}

static void
an_empty_body_and_reference_are_allowed(void **state)
{
    struct message m = message("");

    (void)state;
    m.ref = "";
    CHECK_OK(message_check(&m, false, &e), &e);
    assert_string_equal(body_of(written(&m, 100)), "");
    assert_true(json_eq(json_get(written(&m, 100), "ref"), ""));
}

/* ---- the limit ---- */

static void
a_body_of_exactly_the_limit_is_kept(void **state)
{
    struct message m = message("0123456789");

    (void)state;
    assert_string_equal(body_of(written(&m, 10)), "0123456789");
    assert_false(is_cut);
}

static void
a_body_one_byte_over_the_limit_is_truncated_and_marked(void **state)
{
    struct message m = message("0123456789A");

    (void)state;
    assert_string_equal(body_of(written(&m, 10)),
                        "0123456789\n[TRUNCATED: original 11 bytes, max 10]");
    assert_true(is_cut);
}

/* Characters of 2, 3 and 4 bytes, with the limit on each of their bytes. */
static void
a_body_is_truncated_between_characters(void **state)
{
    static const char *const chars[] = { "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80" };

    (void)state;
    for (size_t c = 0; c < 3; c++) {
        size_t width = strlen(chars[c]);
        struct buf body = { 0 };
        for (int i = 0; i < 10; i++)
            buf_adds(&body, chars[c]);
        struct message m = message(body.p);
        for (size_t max = 1; max < body.len; max++) {
            char mark[80];
            const char *got = body_of(written(&m, max));
            size_t kept = max / width * width;
            snprintf(mark, sizeof mark, "\n[TRUNCATED: original %zu bytes, max %zu]", body.len,
                     max);
            assert_memory_equal(got, body.p, kept);
            assert_string_equal(got + kept, mark);
            assert_int_equal(utf8_valid_len(got, strlen(got)), strlen(got));
        }
        buf_release(&body);
    }
}

static void
characters_of_mixed_width_are_truncated_after_the_last_that_fits(void **state)
{
    struct message m = message("a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80z"); /* 1 2 3 4 1 */
    static const size_t kept[] = { 0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10 };

    (void)state;
    for (size_t max = 1; max <= 10; max++) {
        const char *got = body_of(written(&m, max));
        assert_int_equal(strchr(got, '\n') - got, kept[max]);
    }
}

static void
the_limit_counts_bytes_not_escapes(void **state)
{
    struct message m = message("\"\"\"\"\"\n\n\n\n\n"); /* 10 bytes, 20 in JSON */

    (void)state;
    body_of(written(&m, 10));
    assert_false(is_cut);
}

static void
the_usual_limit_is_64_KiB(void **state)
{
    char *body = malloc(65538);

    (void)state;
    memset(body, 'x', 65537);
    body[65537] = '\0';
    struct message m = message(body);
    const char *got = body_of(written(&m, MESSAGE_BODY_MAX));
    assert_int_equal(strchr(got, '\n') - got, 65536);
    assert_string_equal(strchr(got, '\n'), "\n[TRUNCATED: original 65537 bytes, max 65536]");
    free(body);
}

/* ---- refused messages ---- */

static void
all_the_types_of_the_contract_are_known(void **state)
{
    static const char *const types[] = { "task",         "done",       "review",   "pass",
                                         "fail",         "fix",        "error",    "signoff",
                                         "release",      "escalate",   "progress", "plan-review",
                                         "plan-approve", "plan-reject" };
    const char *says;

    (void)state;
    for (size_t i = 0; i < 14; i++) {
        assert_string_equal(message_type(i, &says), types[i]);
        assert_true(strlen(says) > 0);
        CHECK_OK(message_check_type(types[i], &e), &e);
    }
    assert_null(message_type(14, NULL));
}

static void
an_unknown_type_is_reported_with_a_suggestion_and_the_list(void **state)
{
    (void)state;
    CHECK_FAILS(
        message_check_type("doen", &e), ST_INVALID, &e,
        "unknown message type \"doen\" (did you mean \"done\"?); known types: task, done, "
        "review, pass, fail, fix, error, signoff, release, escalate, progress, plan-review, "
        "plan-approve, plan-reject");
    CHECK_FAILS_WITH(message_check_type("xyzzy", &e), ST_INVALID, &e,
                     "unknown message type \"xyzzy\"; known types: task,");
    CHECK_FAILS_WITH(message_check_type("", &e), ST_INVALID, &e, "unknown message type \"\"");
    CHECK_FAILS_WITH(message_check_type("DONE", &e), ST_INVALID, &e, "unknown message type");
}

static void
any_valid_type_is_accepted_when_allowed(void **state)
{
    struct message m = message("x");

    (void)state;
    m.type = "custom-type";
    CHECK_FAILS_WITH(message_check(&m, false, &e), ST_INVALID, &e, "unknown message type");
    CHECK_OK(message_check(&m, true, &e), &e);
    m.type = "two words";
    CHECK_FAILS_WITH(message_check(&m, true, &e), ST_INVALID, &e, "bad message type \"two words\"");
}

static void
bad_senders_and_recipients_are_reported(void **state)
{
    struct message m = message("x");

    (void)state;
    m.from = "../x";
    CHECK_FAILS_WITH(message_check(&m, false, &e), ST_INVALID, &e, "bad sender (--from) \"../x\"");
    m = message("x");
    m.to = "";
    CHECK_FAILS(message_check(&m, false, &e), ST_INVALID, &e, "the recipient (--to) is empty");
}

static void
a_reference_has_1024_bytes_at_most(void **state)
{
    char ref[1026];
    struct message m = message("x");

    (void)state;
    memset(ref, 'r', sizeof ref);
    ref[1025] = '\0';
    m.ref = ref;
    CHECK_FAILS(message_check(&m, false, &e), ST_INVALID, &e,
                "the reference is longer than 1024 bytes");
    ref[1024] = '\0';
    CHECK_OK(message_check(&m, false, &e), &e);
}

static void
text_that_is_not_UTF_8_is_reported_with_its_position(void **state)
{
    struct message m = message("good \xC3\xA9 \xFF bad");

    (void)state;
    CHECK_FAILS(message_check(&m, false, &e), ST_INVALID, &e,
                "the body is not UTF-8 text: byte 9 is 0xff");
    m = message("\xE2\x82"); /* truncated within a character */
    CHECK_FAILS(message_check(&m, false, &e), ST_INVALID, &e,
                "the body is not UTF-8 text: byte 1 is 0xe2");
    m = message("x");
    m.ref = "a\x80";
    CHECK_FAILS(message_check(&m, false, &e), ST_INVALID, &e,
                "the reference is not UTF-8 text: byte 2 is 0x80");
}

/* ---- filters ---- */

static bool
matches(const struct message_filter *f, const char *text)
{
    struct json *v;

    arena_reset(&arena);
    assert_true(json_parse(&arena, text, strlen(text), &v, NULL));
    return message_matches(f, v);
}

static const char sample[] =
    "{\"from\":\"engineer\",\"to\":\"qa\",\"type\":\"done\",\"ref\":\"EPIC-001\"}";

static void
no_filter_matches_everything(void **state)
{
    struct message_filter f = { 0 };

    (void)state;
    assert_true(matches(&f, sample));
    assert_true(matches(&f, "{}"));
}

static void
any_of_several_types_matches(void **state)
{
    static const char *const types[] = { "fail", "done" };
    struct message_filter f = { .types = types, .n_types = 2 };

    (void)state;
    assert_true(matches(&f, sample));
    f.n_types = 1;
    assert_false(matches(&f, sample));
    assert_false(matches(&f, "{}"));
    assert_false(matches(&f, "{\"type\":[\"fail\"]}"));
}

static void
all_parts_of_a_filter_must_match(void **state)
{
    static const char *const types[] = { "done" };
    struct message_filter f = {
        .types = types, .n_types = 1, .from = "engineer", .to = "qa", .ref = "EPIC-001"
    };

    (void)state;
    assert_true(matches(&f, sample));
    f.from = "manager";
    assert_false(matches(&f, sample));
    f.from = "engineer";
    f.to = "q";
    assert_false(matches(&f, sample));
    f.to = NULL;
    f.ref = "EPIC-0010";
    assert_false(matches(&f, sample));
    f.ref = NULL;
    assert_true(matches(&f, sample));
}

static void
a_field_that_is_missing_or_no_text_matches_nothing(void **state)
{
    struct message_filter f = { .from = "1" };

    (void)state;
    assert_false(matches(&f, "{}"));
    assert_false(matches(&f, "{\"from\":1}"));
    assert_false(matches(&f, "{\"from\":null}"));
    assert_true(matches(&f, "{\"from\":\"1\"}"));
    assert_true(matches(&f, "{\"from\":\"\\u0031\"}"));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        MESSAGE_CASE(the_keys_are_in_the_documented_order),
        MESSAGE_CASE(ids_differ_although_the_clock_stands_still),
        MESSAGE_CASE(any_text_survives_in_a_body),
        MESSAGE_CASE(an_empty_body_and_reference_are_allowed),
        MESSAGE_CASE(a_body_of_exactly_the_limit_is_kept),
        MESSAGE_CASE(a_body_one_byte_over_the_limit_is_truncated_and_marked),
        MESSAGE_CASE(a_body_is_truncated_between_characters),
        MESSAGE_CASE(characters_of_mixed_width_are_truncated_after_the_last_that_fits),
        MESSAGE_CASE(the_limit_counts_bytes_not_escapes),
        MESSAGE_CASE(the_usual_limit_is_64_KiB),
        MESSAGE_CASE(all_the_types_of_the_contract_are_known),
        MESSAGE_CASE(an_unknown_type_is_reported_with_a_suggestion_and_the_list),
        MESSAGE_CASE(any_valid_type_is_accepted_when_allowed),
        MESSAGE_CASE(bad_senders_and_recipients_are_reported),
        MESSAGE_CASE(a_reference_has_1024_bytes_at_most),
        MESSAGE_CASE(text_that_is_not_UTF_8_is_reported_with_its_position),
        MESSAGE_CASE(no_filter_matches_everything),
        MESSAGE_CASE(any_of_several_types_matches),
        MESSAGE_CASE(all_parts_of_a_filter_must_match),
        MESSAGE_CASE(a_field_that_is_missing_or_no_text_matches_nothing),
        MESSAGE_CASE(the_longest_names_fit_in_an_id), /* last: the clock ends here */
    };

    return cmocka_run_group_tests_name("message", tests, NULL, NULL);
}
