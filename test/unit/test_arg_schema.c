/* Tests hub/model/arg_schema: each kind of argument as JSON Schema. */
#include "test.h"

#include "base/json.h"
#include "hub/model/arg_schema.h"

static const struct arg_schema_refs refs = { .source = "{\"S\":1}", .signal = "{\"E\":1}" };

static void
each_kind_has_its_schema(void **state)
{
    (void)state;
    static const struct {
        struct hub_arg arg;
        const char *want;
    } cases[] = {
        { { "a", A_TEXT }, "{\"type\":\"string\",\"minLength\":1,\"maxLength\":4096}" },
        { { "a", A_STRING }, "{\"type\":\"string\"}" },
        { { "a", A_INT(1, 1e18) }, "{\"type\":\"integer\",\"minimum\":1,\"maximum\":1e+18}" },
        { { "a", A_NUMBER(0, 1) }, "{\"type\":\"number\",\"minimum\":0,\"maximum\":1}" },
        { { "a", A_FLAG }, "{\"type\":\"boolean\"}" },
        { { "a", A_WORD("now recent") }, "{\"type\":\"string\",\"enum\":[\"now\",\"recent\"]}" },
        { { "a", A_WORDS("x y") },
          "{\"type\":\"array\",\"items\":{\"type\":\"string\",\"enum\":[\"x\",\"y\"]}}" },
        { { "a", A_SOURCE }, "{\"anyOf\":[{\"type\":\"string\"},{\"S\":1}]}" },
        { { "a", A_SIGNALS },
          "{\"type\":\"array\",\"minItems\":1,\"maxItems\":1000,\"items\":{\"E\":1}}" },
        { { "a", A_ANY }, "{}" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf b = { 0 };
        arg_schema_write(&b, &cases[i].arg, false, &refs);
        assert_string_equal(b.p, cases[i].want);
        buf_release(&b);
    }
}

static void
an_object_lists_what_is_required_and_refuses_the_rest(void **state)
{
    (void)state;
    static const struct hub_arg args[] = {
        { "id", A_ID, .is_required = true, .brief = "which \"one\"" },
        { "data", A_ANY, .brief = "what" },
        { 0 },
    };
    struct buf b = { 0 };

    arg_schema_write_object(&b, args, &refs);
    assert_string_equal(b.p, "{\"type\":\"object\",\"additionalProperties\":false,\"required\":"
                             "[\"id\"],\"properties\":{\"id\":{\"type\":\"string\","
                             "\"description\":\"which \\\"one\\\"\"},\"data\":{\"description\":"
                             "\"what\"}}}");
    buf_release(&b);
}

static void
a_short_schema_leaves_lengths_and_patterns_to_the_refusals(void **state)
{
    (void)state;
    static const struct arg_schema_refs brief = { .is_short = true };
    static const struct hub_arg name = { "a", A_NAME }, texts = { "a", A_TEXTS },
                                limit = { "a", A_INT(1, 9) };
    struct buf b = { 0 };

    arg_schema_write(&b, &name, false, &brief);
    arg_schema_write(&b, &texts, false, &brief);
    arg_schema_write(&b, &limit, false, &brief);
    assert_string_equal(b.p, "{\"type\":\"string\"}"
                             "{\"type\":\"array\",\"items\":{\"type\":\"string\"}}"
                             "{\"type\":\"integer\",\"maximum\":9}");
    buf_release(&b);
}

int
main(void)
{
    const struct CMUnitTest cases[] = {
        CASE(each_kind_has_its_schema),
        CASE(an_object_lists_what_is_required_and_refuses_the_rest),
        CASE(a_short_schema_leaves_lengths_and_patterns_to_the_refusals),
    };

    return cmocka_run_group_tests(cases, NULL, NULL);
}
