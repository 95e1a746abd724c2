/* Tests base/mask: no secret gets through, however it is split, and all other bytes do. */
#include "test.h"

#include "base/mask.h"

/* What is left of a text that is written in steps of `step` bytes. */
static void
check_masked(const struct mask *m, const char *text, size_t step, const char *want)
{
    struct mask_stream in;
    struct buf out = { 0 };
    struct err e;
    size_t n = strlen(text);

    assert_int_equal(mask_stream_init(&in, m, &e), ST_OK);
    for (size_t i = 0; i < n; i += step)
        mask_write(&in, text + i, n - i < step ? n - i : step, &out);
    mask_end(&in, &out);
    buf_adds(&out, "");
    assert_string_equal(out.p, want);
    mask_stream_release(&in);
    buf_release(&out);
}

/* ... in every step. */
static void
check_every_way(const struct mask *m, const char *text, const char *want)
{
    for (size_t step = 1; step <= strlen(text); step++)
        check_masked(m, text, step, want);
}

static struct mask
mask_of(const char *const *values)
{
    struct mask m = { 0 };
    struct err e;

    for (; *values; values++)
        mask_add(&m, *values, strlen(*values));
    assert_int_equal(mask_build(&m, &e), ST_OK);
    return m;
}

static void
a_value_is_hidden_wherever_it_is_split(void **state)
{
    (void)state;
    struct mask m = mask_of((const char *[]){ "sk-abc123", NULL });

    check_every_way(&m, "key=sk-abc123;", "key=***;");
    check_every_way(&m, "sk-abc123", "***");
    check_every_way(&m, "sk-absk-abc123sk-abc12", "sk-ab***sk-abc12");
    check_every_way(&m, "nothing of it: sk-abc124", "nothing of it: sk-abc124");
    mask_release(&m);
}

static void
values_that_overlap_are_hidden_whole(void **state)
{
    (void)state;
    struct mask m = mask_of((const char *[]){ "abcdefgh", "efghijkl", "cdefgh", "abcdefghijklmnop",
                                              "secret", "secret-longer", NULL });

    check_every_way(&m, "<abcdefghijkl>", "<***>");
    check_every_way(&m, "<abcdefghijklmnoq>", "<***mnoq>");
    check_every_way(&m, "<xxcdefgh>", "<xx***>");
    check_every_way(&m, "secret-longed", "***-longed");
    check_every_way(&m, "secret-longer", "***");
    check_every_way(&m, "secretsecret one", "*** one");
    mask_release(&m);
}

static void
a_value_that_repeats_itself_is_found(void **state)
{
    (void)state;
    struct mask m = mask_of((const char *[]){ "aabaaab", NULL });

    check_every_way(&m, "aaabaaabaaab", "a***");
    check_every_way(&m, "aabaaacaabaaab!", "aabaaac***!");
    mask_release(&m);
}

static void
the_form_inside_a_json_string_is_hidden_too(void **state)
{
    (void)state;
    struct mask m = mask_of((const char *[]){ "line\nwith \"quotes\"", NULL });

    check_every_way(&m, "{\"k\":\"line\\nwith \\\"quotes\\\"\"}", "{\"k\":\"***\"}");
    check_every_way(&m, "plain: line\nwith \"quotes\".", "plain: ***.");
    mask_release(&m);
}

static void
short_values_and_no_values_change_nothing(void **state)
{
    (void)state;
    struct mask m = mask_of((const char *[]){ "", "12345", NULL });

    assert_true(mask_is_empty(&m));
    check_every_way(&m, "12345 and so on", "12345 and so on");
    mask_release(&m);
}

static void
every_byte_can_be_part_of_a_value(void **state)
{
    (void)state;
    struct mask m = { 0 };
    struct buf out = { 0 };
    struct err e;
    char all[256];

    for (int i = 0; i < 256; i++)
        all[i] = (char)i;
    mask_add(&m, all, sizeof all);
    assert_int_equal(mask_build(&m, &e), ST_OK);
    assert_int_equal(mask_text(&m, all, sizeof all, &out, &e), ST_OK);
    assert_string_equal(out.p, "***");
    mask_release(&m);
    buf_release(&out);
}

static void
too_many_values_are_an_error(void **state)
{
    (void)state;
    struct mask m = { 0 };
    struct err e;
    char value[1024];

    for (int i = 0; i < 100; i++) {
        memset(value, 'a' + i % 26, sizeof value);
        value[0] = (char)('0' + i);
        mask_add(&m, value, sizeof value);
    }
    assert_int_equal(mask_build(&m, &e), ST_INVALID);
    assert_non_null(strstr(e.text, "larger than 65536 bytes"));
    mask_release(&m);
}

static void
a_tree_is_copied_without_secrets(void **state)
{
    (void)state;
    struct mask m = mask_of((const char *[]){ "sk-abc123", "12345678", NULL });
    struct arena a = { 0 };
    struct buf out = { 0 };
    struct json *v;
    const char *text = "{\"a\":[\"x sk-abc123 y\",null,12345678,7],\"sk-abc123\":{\"b\":true}}";

    assert_true(json_parse(&a, text, strlen(text), &v, NULL));
    json_write(&out, mask_json(&m, &a, v));
    assert_string_equal(out.p, "{\"a\":[\"x *** y\",null,\"***\",7],\"***\":{\"b\":true}}");
    buf_reset(&out);
    json_write(&out, v);
    assert_string_equal(out.p, text);
    buf_release(&out);
    arena_release(&a);
    mask_release(&m);
}

static void
keys_that_were_secrets_stay_different(void **state)
{
    (void)state;
    struct mask m = mask_of((const char *[]){ "secret-one", "secret-two", NULL });
    struct arena a = { 0 };
    struct buf out = { 0 };
    struct json *v;
    const char *text = "{\"secret-one\":1,\"secret-two\":2,\"third\":3}";

    assert_true(json_parse(&a, text, strlen(text), &v, NULL));
    json_write(&out, mask_json(&m, &a, v));
    assert_string_equal(out.p, "{\"***\":1,\"***2\":2,\"third\":3}");
    buf_release(&out);
    arena_release(&a);
    mask_release(&m);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_value_is_hidden_wherever_it_is_split),
        CASE(values_that_overlap_are_hidden_whole),
        CASE(a_value_that_repeats_itself_is_found),
        CASE(the_form_inside_a_json_string_is_hidden_too),
        CASE(short_values_and_no_values_change_nothing),
        CASE(every_byte_can_be_part_of_a_value),
        CASE(too_many_values_are_an_error),
        CASE(a_tree_is_copied_without_secrets),
        CASE(keys_that_were_secrets_stay_different),
    };
    return cmocka_run_group_tests_name("mask", tests, NULL, NULL);
}
