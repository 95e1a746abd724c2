/* Tests context/handoff: envelopes between phases. */
#include "test.h"

#include "context/handoff.h"

static struct arena arena;
static struct err e;
static char channel[4096];

static int
enter(void **state)
{
    arena = (struct arena){ 0 };
    if (case_enter(state) || !getcwd(channel, sizeof channel - 64))
        return -1;
    strcat(channel, "/channels/architect--developer");
    return 0;
}

static int
leave(void **state)
{
    arena_release(&arena);
    return case_leave(state);
}

#undef CASE
#define CASE(fact) cmocka_unit_test_setup_teardown(fact, enter, leave)
#define FILE_NAME  "channels/architect--developer/handoff.json"

static struct json *
parse(const char *text)
{
    struct json *v = NULL;

    assert_true(json_parse(&arena, text, strlen(text), &v, NULL));
    return v;
}

static void
put(const char *text)
{
    make_dirs("channels/architect--developer");
    write_file(FILE_NAME, text);
}

static void
an_envelope_is_written_in_readable_form(void **state)
{
    struct handoff h = { "standard", "architect", "cursor", parse("{\"n\":[1,2]}"), "Do it.", 6 };

    (void)state;
    CHECK_OK(handoff_write(channel, &h, &e), &e);
    CHECK_FILE(FILE_NAME, "{\n"
                          "  \"version\": 1,\n"
                          "  \"phase_type\": \"standard\",\n"
                          "  \"phase\": \"architect\",\n"
                          "  \"agent\": \"cursor\",\n"
                          "  \"data\": {\n"
                          "    \"n\": [\n"
                          "      1,\n"
                          "      2\n"
                          "    ]\n"
                          "  },\n"
                          "  \"text\": \"Do it.\"\n"
                          "}\n");
    assert_int_equal(count_files("channels/architect--developer"), 1);
    assert_int_equal(file_mode(FILE_NAME) & 0777, 0600);
}

static void
a_written_envelope_is_read_back(void **state)
{
    struct handoff h = { "gate", "review", "hug", parse("[\"ü\",null]"), "a\0b", 3 }, back;

    (void)state;
    CHECK_OK(handoff_write(channel, &h, &e), &e);
    CHECK_OK(handoff_read(&arena, channel, &back, &e), &e);
    assert_string_equal(back.phase_type, "gate");
    assert_string_equal(back.phase, "review");
    assert_string_equal(back.agent, "hug");
    assert_true(json_same(back.data, h.data));
    assert_int_equal(back.text_len, 3);
    assert_memory_equal(back.text, "a\0b", 4);
}

static void
data_and_text_may_be_missing(void **state)
{
    struct handoff h = { "standard", "a", "exec", NULL, NULL, 0 }, back;

    (void)state;
    CHECK_OK(handoff_write(channel, &h, &e), &e);
    CHECK_OK(handoff_read(&arena, channel, &back, &e), &e);
    assert_null(back.data);
    assert_null(back.text);
    assert_null(json_get(handoff_json(&arena, &back), "data"));
    assert_null(json_get(handoff_json(&arena, &back), "text"));
}

static void
the_documented_example_is_read(void **state)
{
    struct handoff h;

    (void)state;
    put("{\"version\":1,\"phase_type\":\"standard\",\"phase\":\"researcher\",\"agent\":\"exec\","
        "\"text\":\"Research findings.\"}\n");
    CHECK_OK(handoff_read(&arena, channel, &h, &e), &e);
    assert_string_equal(h.phase, "researcher");
    assert_string_equal(h.text, "Research findings.");
    assert_null(h.data);
}

static void
an_edited_envelope_may_omit_members(void **state)
{
    struct handoff h;

    (void)state;
    put("{ \"text\": \"by hand\", \"data\": null, \"note\": 1 }");
    CHECK_OK(handoff_read(&arena, channel, &h, &e), &e);
    assert_string_equal(h.phase_type, "standard");
    assert_string_equal(h.phase, "architect");
    assert_string_equal(h.agent, "");
    assert_string_equal(h.text, "by hand");
    assert_null(h.data);
}

static void
an_invalid_envelope_is_reported_with_its_position(void **state)
{
    static const struct {
        const char *text, *says;
    } bad[] = {
        { "", "handoff.json:1:1" },
        { "{\n  \"text\": }", "handoff.json:2:11" },
        { "[]", "handoff.json:1:1: not a handoff: an envelope is a JSON object" },
        { "{\"version\":2}", "version must be 1" },
        { "{\"version\":\"1\"}", "version must be 1" },
        { "{\"text\":7}", "text must be text" },
        { "{\"phase\":7}", "phase must be text" },
        { "{\"agent\":[]}", "agent must be text" },
        { "{\"phase_type\":\"a\\u0000b\"}", "phase_type must be text" },
    };
    struct handoff h;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        put(bad[i].text);
        CHECK_FAILS_WITH(handoff_read(&arena, channel, &h, &e), ST_INVALID, &e, bad[i].says);
    }
}

static void
an_empty_or_missing_channel_has_no_handoff(void **state)
{
    struct handoff h;

    (void)state;
    CHECK_FAILS_WITH(handoff_read(&arena, channel, &h, &e), ST_NOT_FOUND, &e, "no handoff in");
    make_dirs("channels/architect--developer");
    CHECK_FAILS_WITH(handoff_read(&arena, channel, &h, &e), ST_NOT_FOUND, &e, "no handoff in");
}

static void
links_and_relative_paths_are_refused(void **state)
{
    struct handoff h = { "standard", "a", "b", NULL, "x", 1 };

    (void)state;
    make_dirs("outside");
    make_dirs("channels");
    assert_int_equal(symlink("../outside", "channels/architect--developer"), 0);
    assert_int_equal(handoff_write(channel, &h, &e), ST_INVALID);
    assert_int_equal(handoff_read(&arena, channel, &h, &e), ST_INVALID);
    assert_int_equal(count_files("outside"), 0);
    assert_int_equal(handoff_write("channels/a--b", &h, &e), ST_INVALID);
    assert_int_equal(handoff_write("", &h, &e), ST_INVALID);
    assert_int_equal(handoff_write("/", &h, &e), ST_INVALID);
}

static void
a_rendered_handoff_is_data_then_text(void **state)
{
    struct handoff h = { "standard", "a", "b", parse("{\"a\":1}"), "Done.", 5 };
    struct buf b = { 0 };

    (void)state;
    handoff_render(&b, &h);
    assert_string_equal(b.p, "```json\n{\n  \"a\": 1\n}\n```\n\nDone.\n");
    buf_reset(&b);
    h.data = NULL;
    handoff_render(&b, &h);
    assert_string_equal(b.p, "Done.\n");
    buf_reset(&b);
    h.text = NULL;
    h.text_len = 0;
    handoff_render(&b, &h);
    assert_int_equal(b.len, 0);
    buf_release(&b);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(an_envelope_is_written_in_readable_form),
        CASE(a_written_envelope_is_read_back),
        CASE(data_and_text_may_be_missing),
        CASE(the_documented_example_is_read),
        CASE(an_edited_envelope_may_omit_members),
        CASE(an_invalid_envelope_is_reported_with_its_position),
        CASE(an_empty_or_missing_channel_has_no_handoff),
        CASE(links_and_relative_paths_are_refused),
        CASE(a_rendered_handoff_is_data_then_text),
    };
    return cmocka_run_group_tests_name("handoff", tests, NULL, NULL);
}
