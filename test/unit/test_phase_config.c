/* Tests team/phase_config and team/schema: the keys of a phase that its agent asks for. */
#include "team/phase_config.h"
#include "teams.h"

#include <string.h>

#define CLAUDE(rest)  HEAD "  - { name: a, agent: claude-code, " rest " }\n"
#define NOBODYS(rest) HEAD "  - { name: a, " rest " }\n"

/* Some problem begins "team.yml:" start. */
static void
tells(const char *text, const char *start)
{
    struct fixture f = opened(text);

    if (!f.said.p || !strstr(f.said.p, start))
        fail_msg("not told: %s\nbut:\n%s", start, f.said.p ? f.said.p : "nothing");
    done(&f);
}

static void
an_agent_takes_the_fields_of_its_schema(void **state)
{
    (void)state;
    clean(CLAUDE("permission_mode: plan, max_turns: 3, session: fresh, allowed_tools: [Read]"));
    clean(CLAUDE("permission_mode: 5, max_turns: '3', args: null"));
    says(CLAUDE("sandbox: x"), "4:36: warning: unknown key \"sandbox\" in a phase (phase a)");
    says(CLAUDE("max_turn: 3"), "4:36: warning: unknown key \"max_turn\" in a phase (did you mean "
                                "\"max_turns\"?) (phase a)");
    says(HEAD "  - { name: a, agent: exec, max_turns: 3, commands: [{ name: c, run: 'true' }] }\n",
         "4:29: warning: unknown key \"max_turns\" in a phase (phase a)");
}

static void
a_value_must_fit(void **state)
{
    (void)state;
    says(CLAUDE("max_turns: many"),
         "4:47: error: max_turns must be a whole number, not \"many\" (agent claude-code) (phase "
         "a, field max_turns)");
    tells(CLAUDE("max_turns: 3.5"),
          "4:47: error: max_turns must be a whole number, not 3.5 (agent");
    tells(CLAUDE("max_turns: 1e99"),
          "4:47: error: max_turns must be a whole number, not 1e99 (agent");
    tells(CLAUDE("args: --x"), "4:42: error: args must be a list, not \"--x\" (agent");
    tells(CLAUDE("permission_mode: [x]"),
          "4:53: error: permission_mode must be a text, not a list (agent");
    tells(CLAUDE("session: old"),
          "4:45: error: session must be continue or fresh, not \"old\" (agent");
    tells(HEAD "  - { name: a, agent: ollama, temperature: warm }\n",
          "4:44: error: temperature must be a number, not \"warm\" (agent ollama)");
}

static void
a_template_is_judged_when_it_is_expanded(void **state)
{
    (void)state;
    clean(INPUTS("[{ name: n }]") "  - { name: a, agent: claude-code, max_turns: $(inputs.n) }\n");
    tells(CLAUDE("max_turns: $(inputs.n)"), "4:47: error: $(inputs.n): there is no such input");
    tells(CLAUDE("args: $(phase)"), "4:42: error: args must be a list, not \"$(phase)\"");
    tells(CLAUDE("args: ['$(inputs.n)']"), "4:43: error: $(inputs.n): there is no such input");
}

/* Which agent runs it is known when the run begins. */
static void
a_phase_without_an_agent_may_have_the_fields_of_any(void **state)
{
    (void)state;
    clean(NOBODYS("max_turns: 3, sandbox: read-only"));
    tells(NOBODYS("max_turns: many"),
          "4:27: error: max_turns must be a whole number, not \"many\" (agent");
    says(NOBODYS("permision_mode: plan"),
         "4:16: warning: unknown key \"permision_mode\" in a phase (did you mean "
         "\"permission_mode\"?) (phase a)");
    says(NOBODYS("colour: red"), "4:16: warning: unknown key \"colour\" in a phase (phase a)");
    clean(INPUTS("[{ name: n }]") "  - { name: a, args: [$(inputs.n)] }\n");
}

/* ---- any schema ---- */

static struct json *
parsed(struct arena *a, const char *text)
{
    struct json *v = NULL;

    assert_true(json_parse(a, text, strlen(text), &v, NULL));
    return v;
}

static enum status
keep(void *ctx, const char *field, const struct json *v, struct json **out, struct err *e)
{
    (void)ctx, (void)field, (void)e;
    *out = (struct json *)v;
    return ST_OK;
}

/* What the phase with these fields gives, as JSON; or why it gives nothing. */
static void
gives(const char *schema, const char *fields, const char *want)
{
    char text[512];
    struct arena a = { 0 };
    struct buf out = { 0 };
    struct json *config;
    struct err e = { "" };

    snprintf(text, sizeof text, HEAD "  - { name: a, agent: x%s }\n", fields);
    struct fixture f = opened(text);
    if (phase_config_make(&a, &f.team.phases[0], parsed(&a, schema), keep, NULL, &config, &e))
        buf_adds(&out, e.text);
    else
        json_write(&out, config);
    assert_string_equal(out.p, want);
    buf_release(&out);
    arena_release(&a);
    done(&f);
}

static void
values_have_the_type_of_the_schema(void **state)
{
    (void)state;
    gives("{}", ", depth: 3", "{}");
    gives("{\"v\":{\"type\":\"string\"}}", ", v: 1.10", "{\"v\":\"1.10\"}");
    gives("{\"v\":{\"type\":\"string\"}}", ", v: true", "{\"v\":\"true\"}");
    gives("{\"v\":{\"type\":\"integer\"}}", ", v: '12'", "{\"v\":12}");
    gives("{\"v\":{\"type\":\"integer\"}}", ", v: x",
          "phase a: v must be a whole number, not \"x\"");
    gives("{\"v\":{\"type\":\"boolean\"}}", ", v: 'true'", "{\"v\":true}");
    gives("{\"v\":{\"type\":\"boolean\"}}", ", v: yes",
          "phase a: v must be true or false, not \"yes\"");
    gives("{\"v\":{\"type\":\"array\"}}", ", v: [1, b]", "{\"v\":[1,\"b\"]}");
    gives("{\"v\":{\"type\":\"object\"}}", ", v: { k: 1 }", "{\"v\":{\"k\":1}}");
    gives("{\"v\":{}}", ", v: [x]", "{\"v\":[\"x\"]}");
    gives("{\"v\":{\"type\":\"number\",\"enum\":[1,2]}}", ", v: 1.0", "{\"v\":1.0}");
    gives("{\"v\":{\"type\":\"list\",\"enum\":[\"a\",\"b\"]}}", ", v: [a, c]",
          "phase a: v must be a or b, not \"c\"");
}

static void
what_is_not_given_has_its_default(void **state)
{
    (void)state;
    gives("{\"v\":{\"type\":\"integer\",\"default\":2},\"w\":{}}", "", "{\"v\":2}");
    gives("{\"v\":{\"default\":2}}", ", v: null", "{\"v\":2}");
    gives("{\"v\":{\"default\":2}}", ", v: 4", "{\"v\":4}");
    gives("{\"v\":{\"default\":null}}", "", "{}");
    gives("{\"model\":{\"default\":\"m\"},\"commands\":{\"default\":[]}}", "", "{\"model\":\"m\"}");
    gives("{\"model\":{}}", ", model: big", "{\"model\":\"big\"}");
}

static void
a_required_field_must_be_there(void **state)
{
    struct arena a = { 0 };
    struct problems p = { 0 };
    struct buf said = { 0 };
    struct fixture f = opened(HEAD "  - { name: a, agent: x, w: 1 }\n");

    (void)state;
    phase_config_check(&f.team, &f.team.phases[0], "x",
                       parsed(&a, "{\"v\":{\"required\":true,\"description\":\"how far\"},"
                                  "\"w\":{\"required\":true},"
                                  "\"u\":{\"required\":true,\"default\":1}}"),
                       &p);
    problems_write(&said, &p);
    assert_string_equal(said.p,
                        "team.yml:4:5: error: the agent x needs v: how far (phase a, field v)\n");
    buf_release(&said);
    problems_release(&p);
    arena_release(&a);
    done(&f);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_agent_takes_the_fields_of_its_schema),
        cmocka_unit_test(a_value_must_fit),
        cmocka_unit_test(a_template_is_judged_when_it_is_expanded),
        cmocka_unit_test(a_phase_without_an_agent_may_have_the_fields_of_any),
        cmocka_unit_test(values_have_the_type_of_the_schema),
        cmocka_unit_test(what_is_not_given_has_its_default),
        cmocka_unit_test(a_required_field_must_be_there),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
