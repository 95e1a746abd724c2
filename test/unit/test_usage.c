/* What a model used: read, written, summed, priced, shown. */
#include "context/usage.h"
#include "test.h"

#include <string.h>

static struct usage
read_text(struct arena *a, const char *text)
{
    struct json *v = NULL;
    struct usage u;

    assert_true(json_parse(a, text, strlen(text), &v, NULL));
    assert_true(usage_read(a, v, &u));
    return u;
}

static const char *
written(struct arena *a, const struct usage *u)
{
    struct buf b = { 0 };

    json_write(&b, usage_json(a, u));
    const char *text = arena_dup(a, b.p, b.len);
    buf_release(&b);
    return text;
}

static const char *
shown(struct arena *a, const struct usage *u)
{
    struct buf b = { 0 };

    usage_show(&b, u);
    const char *text = arena_dup(a, b.p, b.len);
    buf_release(&b);
    return text;
}

static void
it_is_written_as_it_was_read(void **state)
{
    static const char all[] =
        "{\"model\":\"m\",\"input_tokens\":5210,\"output_tokens\":830,"
        "\"cached_tokens\":4000,\"cache_write_tokens\":900,\"cost_usd\":0.017,\"turns\":4,"
        "\"duration_ms\":61200,\"session_id\":\"s\"}";
    struct arena a = { 0 };
    struct usage u = read_text(&a, all);

    (void)state;
    assert_string_equal(written(&a, &u), all);
    const struct field *row = usage_fields; /* the table has what is written, in order */
    json_each (v, usage_json(&a, &u)) {
        row += strcmp(row->key, "cost_usd_min") == 0; /* stands only where cost_usd does not */
        assert_non_null(row->key);
        assert_string_equal(arena_dup(&a, v->key, v->key_len), row->key);
        row++;
    }
    assert_null(row->key);
    u = read_text(&a, "{\"input_tokens\":1,\"output_tokens\":2}");
    assert_string_equal(written(&a, &u), "{\"input_tokens\":1,\"output_tokens\":2}");
    u.has_cost = true;
    assert_string_equal(written(&a, &u), "{\"input_tokens\":1,\"output_tokens\":2,\"cost_usd\":0}");
    arena_release(&a);
}

static void
wrong_members_are_left_out(void **state)
{
    struct arena a = { 0 };
    struct usage u = read_text(&a, "{\"model\":7,\"input_tokens\":-3,\"output_tokens\":2,"
                                   "\"cost_usd\":\"much\",\"turns\":1.5}");
    struct json *v = NULL;

    (void)state;
    assert_string_equal(written(&a, &u), "{\"input_tokens\":0,\"output_tokens\":2}");
    assert_false(usage_read(&a, NULL, &u));
    assert_true(json_parse(&a, "{\"model\":\"m\"}", 13, &v, NULL));
    assert_false(usage_read(&a, v, &u));
    arena_release(&a);
}

static void
a_sum_knows_its_cost_only_when_all_parts_do(void **state)
{
    struct arena a = { 0 };
    struct usage sum = { 0 };
    struct usage one = {
        .model = "m", .input_tokens = 1, .output_tokens = 2, .cost_usd = 0.5, .has_cost = true
    };

    (void)state;
    usage_add(&sum, &one);
    usage_add(&sum, &one);
    assert_string_equal(written(&a, &sum),
                        "{\"model\":\"m\",\"input_tokens\":2,\"output_tokens\":4,\"cost_usd\":1}");
    usage_add(&sum, &(struct usage){ 0 });
    assert_true(sum.has_cost);
    usage_add(&sum, &(struct usage){ .model = "free", .input_tokens = 10 });
    static const char part[] = "{\"input_tokens\":12,\"output_tokens\":4,\"cost_usd_min\":1}";
    assert_string_equal(written(&a, &sum), part);
    sum = read_text(&a, part);
    assert_true(!sum.has_cost && sum.cost_usd == 1);
    assert_string_equal(written(&a, &sum), part);
    arena_release(&a);
}

static double
cost_of(const char *model, const struct json *prices)
{
    struct usage u = {
        .model = model, .input_tokens = 1000000, .cached_tokens = 500000, .output_tokens = 100000
    };

    usage_price(&u, prices);
    return u.has_cost ? u.cost_usd : -1;
}

static void
only_known_models_have_a_price(void **state)
{
    static const char text[] = "{\"mine\":{\"input\":1,\"output\":10},"
                               "\"gpt-4o\":{\"input\":2,\"output\":20,\"cached_input\":0}}";
    struct arena a = { 0 };
    struct json *prices = NULL;

    (void)state;
    assert_true(json_parse(&a, text, sizeof text - 1, &prices, NULL));
    assert_true(cost_of("claude-sonnet-4-20250514", NULL) == 1.5 + 0.15 + 1.5);
    assert_true(cost_of("anthropic/claude-sonnet-4", NULL) == 1.5 + 0.15 + 1.5);
    assert_true(cost_of("gpt-4o-2024-08-06", NULL) == 1.25 + 0.625 + 1.0);
    assert_true(cost_of("gpt-4o-mini", NULL) < 0.2);
    assert_true(cost_of("gpt-4o-audio-preview", NULL) == -1);
    assert_true(cost_of("mine", NULL) == -1);
    assert_true(cost_of("mine", prices) == 1.0 + 1.0);
    assert_true(cost_of("gpt-4o", prices) == 1.0 + 2.0);
    arena_release(&a);
}

/* A version without a row had the price of an older model that its name begins with: three times
 * too much. */
static void
another_model_is_no_dated_version(void **state)
{
    (void)state;
    assert_true(cost_of("claude-opus-4-20250514", NULL) == 7.5 + 0.75 + 7.5);
    assert_true(cost_of("claude-opus-4-6-20260205", NULL) == 2.5 + 0.25 + 2.5);
    assert_true(cost_of("claude-opus-4-6@20260205", NULL) == 2.5 + 0.25 + 2.5);
    assert_true(cost_of("claude-opus-4-9-20270101", NULL) == -1);
    assert_true(cost_of("gpt-4o-2024-05-13", NULL) == 2.5 + 2.5 + 1.5); /* has a row of its own */
    assert_true(cost_of("gpt-4o-12345678-1", NULL) == -1);
    assert_true(cost_of("gpt-4o-", NULL) == -1);
}

static void
a_long_prompt_has_its_own_price(void **state)
{
    struct usage u = { .model = "gemini-2.5-pro", .input_tokens = 200000, .output_tokens = 100000 };
    struct usage sum = u, large = u;

    (void)state;
    usage_price_request(&u, NULL);
    assert_true(u.has_cost && u.cost_usd == 0.25 + 1.0);
    large.input_tokens = 400000;
    usage_price_request(&large, NULL);
    assert_true(large.has_cost && large.cost_usd == 1.0 + 1.5);
    usage_price(&sum, NULL); /* of one request, or of ten? */
    assert_false(sum.has_cost);
    assert_true(sum.cost_usd == 0.25 + 1.0);
}

static void
what_is_written_to_the_cache_has_its_price(void **state)
{
    static const char text[] = "{\"mine\":{\"input\":1,\"output\":10,\"cache_write\":4}}";
    struct arena a = { 0 };
    struct json *prices = NULL;
    struct usage u = { .model = "claude-sonnet-5",
                       .input_tokens = 1000000,
                       .cached_tokens = 250000,
                       .written_tokens = 500000 };
    struct usage mine = u;

    (void)state;
    assert_true(json_parse(&a, text, sizeof text - 1, &prices, NULL));
    usage_price(&u, NULL);
    assert_true(u.cost_usd == 0.5 + 0.05 + 1.25);
    assert_string_equal(written(&a, &u), "{\"model\":\"claude-sonnet-5\",\"input_tokens\":1000000,"
                                         "\"output_tokens\":0,\"cached_tokens\":250000,"
                                         "\"cache_write_tokens\":500000,\"cost_usd\":1.8}");
    mine.model = "mine";
    usage_price(&mine, prices);
    assert_true(mine.cost_usd == 0.25 + 0.25 + 2.0);
    arena_release(&a);
}

static void
a_known_cost_is_not_computed_again(void **state)
{
    struct usage u = {
        .model = "gpt-4o", .input_tokens = 1000000, .cost_usd = 0.25, .has_cost = true
    };

    (void)state;
    usage_price(&u, NULL);
    assert_true(u.cost_usd == 0.25);
}

static void
people_read_it_in_short(void **state)
{
    struct arena a = { 0 };
    struct usage u = {
        .input_tokens = 5210, .output_tokens = 830, .cost_usd = 0.0171, .has_cost = true
    };

    (void)state;
    assert_string_equal(shown(&a, &u), "5.2k in, 830 out, $0.0171");
    u = (struct usage){ .input_tokens = 2500000, .cost_usd = 12.345, .has_cost = true };
    assert_string_equal(shown(&a, &u), "2.5M in, 0 out, $12.35");
    usage_add(&u, &(struct usage){ .model = "no price", .input_tokens = 100000 });
    assert_string_equal(shown(&a, &u), "2.6M in, 0 out, $12.35 or more");
    struct buf b = { 0 };
    usage_show_short(&b, &u);
    assert_string_equal(b.p, "$12.35+");
    buf_release(&b);
    u = (struct usage){ .input_tokens = 2500000 };
    assert_string_equal(shown(&a, &u), "2.5M in, 0 out");
    arena_release(&a);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        CASE(it_is_written_as_it_was_read),
        CASE(wrong_members_are_left_out),
        CASE(a_sum_knows_its_cost_only_when_all_parts_do),
        CASE(only_known_models_have_a_price),
        CASE(another_model_is_no_dated_version),
        CASE(a_long_prompt_has_its_own_price),
        CASE(what_is_written_to_the_cache_has_its_price),
        CASE(a_known_cost_is_not_computed_again),
        CASE(people_read_it_in_short),
    };

    return cmocka_run_group_tests_name("usage", tests, NULL, NULL);
}
