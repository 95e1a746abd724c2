/* The table of built-in agents, and the manifests that are made from it. */
#include "team/builtin_agents.h"
#include "team/manifest.h"
#include "team/schema.h"
#include "test.h"

#include <string.h>

static void
every_row_gives_a_manifest(void **state)
{
    (void)state;
    for (const struct builtin *b = builtins; b->name; b++) {
        struct arena a = { 0 };
        const struct json *m = builtin_manifest(&a, b);
        assert_non_null(m);
        assert_true(json_eq(json_get(m, "name"), b->name));
        assert_true(json_is(json_get(m, "description"), JSON_STRING));
        assert_true(json_get(m, "capabilities")->kids.count >= 2);
        json_each (f, json_get(m, "schema")) {
            if (!schema_type_of(f)) /* one without a type takes any value */
                fail_msg("%s: the field %.*s has an unknown type", b->name, (int)f->key_len,
                         f->key);
        }
        arena_release(&a);
    }
}

static void
the_words_of_a_row_become_members(void **state)
{
    const struct builtin b = { .name = "x",
                               .kind = AGENT_CLI,
                               .brief = "does it",
                               .can = "standard notify",
                               .settings = "api_key! model",
                               .fields = "mode=read|edit args:list command! n:integer!",
                               .binaries = "a|b c",
                               .env = "HOME" };
    struct arena a = { 0 };
    struct buf text = { 0 };

    (void)state;
    json_write(&text, builtin_manifest(&a, &b));
    assert_non_null(strstr(
        text.p, "\"capabilities\":[\"phase:standard\",\"notify\",\"test\"],"
                "\"role\":\"required\",\"binaries\":[\"a|b\",\"c\"],"
                "\"settings\":{\"required\":[\"api_key\"],\"optional\":[\"model\"]},"
                "\"env\":[\"HOME\"],\"schema\":{"
                "\"mode\":{\"type\":\"string\",\"required\":false,\"enum\":[\"read\",\"edit\"]},"
                "\"args\":{\"type\":\"list\",\"required\":false},"
                "\"command\":{\"type\":\"string\",\"required\":true},"
                "\"n\":{\"type\":\"integer\",\"required\":true}}"));
    buf_release(&text);
    arena_release(&a);
}

static void
one_of_several_programs_is_enough(void **state)
{
    struct builtin b = { .name = "x", .brief = "", .can = "standard", .binaries = "no-such|sh" };
    struct arena a = { 0 };

    (void)state;
    assert_null(manifest_lacks(&a, builtin_manifest(&a, &b)));
    b.binaries = "sh no-such|neither";
    assert_string_equal(manifest_lacks(&a, builtin_manifest(&a, &b)), "no-such|neither");
    arena_release(&a);
}

static void
a_manifest_says_what_an_agent_can_do(void **state)
{
    const struct builtin b = { .name = "x", .brief = "", .can = "gate" };
    struct arena a = { 0 };
    const struct json *m = builtin_manifest(&a, &b);

    (void)state;
    assert_true(manifest_can(m, "phase:gate"));
    assert_true(manifest_can(m, "test"));
    assert_false(manifest_can(m, "phase:standard"));
    assert_true(manifest_can(NULL, "phase:standard")); /* without a list: all */
    arena_release(&a);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        CASE(every_row_gives_a_manifest),
        CASE(the_words_of_a_row_become_members),
        CASE(one_of_several_programs_is_enough),
        CASE(a_manifest_says_what_an_agent_can_do),
    };

    return cmocka_run_group_tests_name("built-in agents", tests, NULL, NULL);
}
