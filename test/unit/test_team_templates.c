/*
 * Tests team/validate_template: the rules for variables and conditions. Each rule is once broken,
 * with the exact position and message, and once obeyed.
 */
#include "teams.h"

#define RUN(command) "  - { name: z, agent: exec, commands: [{ name: c, run: '" command "' }] }\n"

static void
undeclared_inputs_are_errors(void **state)
{
    (void)state;
    says(HEAD RUN("echo $(inputs.x)"), "4:56: error: $(inputs.x): there is no such input (phase z, "
                                       "field commands)");
    says(INPUTS("[{ name: topic }]") "  - { name: a, when: $(inputs.topci) }\n",
         "5:22: error: $(inputs.topci): there is no such input (did you mean \"topic\"?) (phase a, "
         "field when)");
}

#define WHEN(text)                                                                                 \
    INPUTS("[{ name: x }]")                                                                        \
    "  - { name: a, agent: exec, when: " text                                                      \
    ", env: { X: $(inputs.x) }, commands: [{ name: c, run: 'true' }] }\n"

static void
conditions_that_are_surely_mistakes_are_errors(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {
        { WHEN("'$(inputs.x) = high'"), "\"=\" compares nothing: write ==" },
        { WHEN("'$(inputs.x) === high'"), "\"===\" compares nothing: write ==" },
        { WHEN("'$(inputs.x) > 3'"), "there is no \">\" in a condition: only == and !=" },
        { WHEN("'$(inputs.x) >= 3'"), "there is no \">=\" in a condition: only == and !=" },
        { WHEN("'$(inputs.x) =~ a'"), "there is no \"=~\" in a condition" },
        { WHEN("'!$(inputs.x)'"), "there is no \"!\" in a condition: compare with !=" },
        { WHEN("'!$(inputs.x) == a'"), "there is no \"!\" in a condition" },
        { WHEN("'not $(inputs.x)'"), "the condition \"not $(inputs.x)\" is always true" },
        { WHEN("'$(inputs.x) && $(inputs.x)'"), "there is no \"&&\" in a condition" },
        { WHEN("'$(inputs.x) == a || $(inputs.x) == b'"), "there is no \"||\" in a condition" },
        { WHEN("'$(inputs.x) == a != b'"), "more than one == or !=" },
        { WHEN("handoff.b.x == low"), "\"handoff.b.x\" is only a text here: write $(handoff.b.x)" },
        { WHEN("inputs.x"), "\"inputs.x\" is only a text here: write $(inputs.x)" },
        { WHEN("phase == a"), "\"phase\" is only a text here: write $(phase)" },
        { WHEN("$(inputs.x) == inputs.y"), "\"inputs.y\" is only a text here" },
        { WHEN("'== high'"), "nothing comes before ==: write the variable there" },
        { WHEN("''"), "the condition is empty, so the phase would never run" },
        { WHEN("' '"), "the condition is empty" },
        { WHEN("'off'"), "the condition \"off\" is a fixed text: write true or false" },
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct fixture f = opened(cases[i].text);
        char part[200];
        snprintf(part, sizeof part, "team.yml:5:35: error: %s", cases[i].says);
        must_say(&f, part);
        must_say(&f, " (phase a, field when)\n");
        assert_int_equal(f.problems.errors, 1);
        done(&f);
    }
}

static void
reasonable_conditions_are_accepted(void **state)
{
    (void)state;
    clean(WHEN("$(inputs.x)"));
    clean(WHEN("$(inputs.x)$(phase)"));
    clean(WHEN("$(inputs.x) == high"));
    clean(WHEN("$(inputs.x) != ''"));
    clean(WHEN("'v$(inputs.x) == v1'"));
    clean(WHEN("$(inputs.x) == phase"));
    clean(WHEN("'$(inputs.x) == \"a && b > c!\"'"));
    clean(WHEN("\"$(inputs.x) == it's\""));
    clean(WHEN("'yes'"));
    clean(WHEN("true"));
    clean(WHEN("No"));
    says(WHEN("1 == 2"), "5:35: warning: both sides are fixed texts, so it is always the same: "
                         "write true or false, or compare a variable (phase a, field when)");
    says(WHEN("'$(inputs.x) =='"), "5:35: warning: nothing follows the operator: write '' "
                                   "for an empty text (phase a, field when)");
}

static void
handoffs_come_from_predecessors(void **state)
{
    (void)state;
    clean(
        HEAD EXEC("a") "  - { name: b, depends_on: [a], env: { X: '$(handoff.a.results[0].name)' } "
                       "}\n");
    says(HEAD EXEC("a") "  - { name: b, env: { X: $(handoff.a.x) } }\n",
         "5:26: error: $(handoff.a.x): \"a\" is not a predecessor: add it to depends_on (phase b, "
         "field env)");
    says(HEAD EXEC("plan") "  - { name: b, depends_on: [plan], env: { X: $(handoff.plam.x) } }\n",
         "5:46: error: $(handoff.plam.x): there is no phase \"plam\" (did you mean \"plan\"?) "
         "(phase b, field env)");
    clean(HEAD EXEC("a") "  - { name: b, depends_on: [a], agent: exec, commands: [{ name: c, run: "
                         "x }] }\n  - { name: c, depends_on: [b], env: { X: $(handoff.a.x) } }\n");
    says(HEAD EXEC("a") "  - { name: b, agent: exec, commands: [{ name: c, run: x }], env: { X: "
                        "$(handoff.c.x) } }\n  - { name: c, depends_on: [b] }\n",
         "5:72: error: $(handoff.c.x): \"c\" is not a predecessor: add it to depends_on (phase b, "
         "field env)");
    says(HEAD "  - { name: a, env: { X: $(handoff.a) } }\n",
         "4:26: error: $(handoff.a): \"a\" is not a predecessor: add it to depends_on (phase a, "
         "field env)");
}

#define URL(text) HEAD "  - { name: a, agent: curl, sources: [{ name: s, url: '" text "' }] }\n"

static void
a_misspelt_variable_outside_a_command_is_an_error(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {
        { URL("$(input.who)"),
          "$(input.who): there is no such variable (did you mean $(inputs.who)?)" },
        { URL("$(Inputs.who)"),
          "$(Inputs.who): there is no such variable (did you mean $(inputs.who)?)" },
        { URL("$(handoffs.a.b)"), "(did you mean $(handoff.a.b)?)" },
        { URL("$(dir.work)"), "(did you mean $(dirs.work)?)" },
        { URL("$(team-name)"),
          "$(team-name): there is no such variable (did you mean $(team_name)?)" },
        { URL("$(run_di)"), "(did you mean $(run_id)?)" },
        { URL("$(time_stamp)"), "(did you mean $(timestamp)?)" },
        { URL("$(inputs)"), "(did you mean $(inputs.NAME)?)" },
        { URL("h/$(date"), "$(date is not closed: write $(date)" },
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct fixture f = opened(cases[i].text);
        must_say(&f, "team.yml:4:55: error: ");
        must_say(&f, cases[i].says);
        assert_int_equal(f.problems.errors, 1);
        assert_int_equal(f.problems.warnings, 0);
        done(&f);
    }
    says(
        HEAD "  - { name: a, when: '$(phsae) == a' }\n",
        "4:22: error: $(phsae): there is no such variable (did you mean $(phase)?) (phase a, field "
        "when)");
    says(URL("$(document)"),
         "4:55: warning: $(document) is no variable and no shell reads it here: "
         "it stays as it is (phase a, field sources)");
}

static void
a_misspelt_variable_in_a_command_is_a_warning(void **state)
{
    (void)state;
    says(HEAD RUN("echo $(input.url)"),
         "4:56: warning: $(input.url) is no variable, so the shell will run a command of that name "
         "(did you mean $(inputs.url)?) (phase z, field commands)");
    says(HEAD RUN("echo $(handoffs.a.b)"),
         "4:56: warning: $(handoffs.a.b) is no variable, so the shell will run a command of that "
         "name (did you mean $(handoff.a.b)?) (phase z, field commands)");
    says(HEAD RUN("echo $(TEAM_NAME)"),
         "4:56: warning: $(TEAM_NAME) is no variable, so the shell will run a command of that name "
         "(did you mean $(team_name)?) (phase z, field commands)");
    says(HEAD RUN("echo $(date"), "4:56: warning: $(date is not closed: write $(date) (phase z, "
                                  "field commands)");
    clean(HEAD RUN("echo $(ls) $(make) $(pwd) $(id) $(dirs) $(dir) $(time) $(paste) $(date +%F)"));
    clean(
        HEAD RUN("echo $(./input.sh) $(run.sh) $(cat input.txt) \\$(input.x) $((phases)) $(jobs)"));
}

static void
a_bad_name_is_reported_once(void **state)
{
    (void)state;
    static const char *const texts[] = {
        INPUTS("[{ name: who }]") RUN("echo $(inputs.who )"),
        INPUTS("[{ name: who }]") "  - { name: a, agent: exec, env: { X: '$(inputs.who )' }, "
                                  "commands: [{ name: c, run: x }] }\n"
    };

    for (size_t i = 0; i < COUNT(texts); i++) {
        struct fixture f = opened(texts[i]);
        must_say(&f, "$(inputs.who  is not a template variable: write $(inputs.");
        assert_int_equal(f.problems.errors, 1);
        done(&f);
    }
}

static void
a_gate_judges_what_it_depends_on(void **state)
{
    (void)state;
#define GATE(more)                                                                                 \
    "  - { name: g, type: gate, agent: checks, " more "commands: [{ name: c, run: x }] }\n"
    says(HEAD EXEC("a") GATE(""), "5:22: warning: a gate without depends_on has nothing to judge "
                                  "and no phase to route to: name "
                                  "in depends_on what it judges (phase g, field type)");
    clean(HEAD EXEC("a") GATE("depends_on: [a], "));
#undef GATE
}

static void
the_path_of_a_handoff_must_name_a_value(void **state)
{
    (void)state;
#define PATH(path)                                                                                 \
    HEAD EXEC("a") "  - { name: b, depends_on: [a], env: { X: '$(handoff." path ")' } }\n"
    says(PATH("a."), "5:43: error: $(handoff.a.): say what of the handoff, as in $(handoff.a.text) "
                     "(phase b, field env)");
    says(PATH("a"), "5:43: error: $(handoff.a): say what of the handoff, as in $(handoff.a.text) "
                    "(phase b, field env)");
    says(PATH("a.b."), "5:43: error: $(handoff.a.b.) ends in a dot: a name must follow (phase b, "
                       "field env)");
    says(PATH("a.results[x]"),
         "5:43: warning: $(handoff.a.results[x]): lists are counted from 0, as "
         "in [0]; keys follow a dot (phase b, field env)");
    clean(PATH("a.results[0].name"));
    clean(PATH("a.text"));
#undef PATH
}

static void
support_phases_get_handoffs_from_gates(void **state)
{
    (void)state;
    clean(HEAD EXEC("a") "  - { name: g, type: gate, depends_on: [a] }\n"
                         "support:\n  - { name: s, env: { X: $(handoff.g.text) } }\n");
    says(HEAD EXEC("a") "support:\n  - { name: s, env: { X: $(handoff.a.text) } }\n",
         "6:26: error: $(handoff.a.text): a support phase only gets handoffs from gates, and \"a\" "
         "is none "
         "(phase s, field env)");
}

static void
unknown_directories_are_errors(void **state)
{
    (void)state;
    clean(HEAD RUN("ls $(dirs.project) $(dirs.work) $(dirs.state) $(dirs.files)"));
    says(HEAD RUN("ls $(dirs.home)"),
         "4:56: error: $(dirs.home): there are dirs.project, dirs.work, dirs.state and dirs.files "
         "(phase z, field commands)");
}

static void
variables_of_a_run_and_command_substitutions_are_fine(void **state)
{
    (void)state;
    clean(HEAD RUN("echo $(team_name) $(phase) $(date) $(timestamp) $(run_id) $(pwd) $(date +%s)"));
}

static void
variables_cannot_be_in_single_quotes(void **state)
{
    (void)state;
    struct fixture f = opened(INPUTS("[{ name: x }]") RUN("echo ''$(inputs.x)''"));

    must_say(&f, "team.yml:5:56: error: ");
    assert_int_equal(f.problems.errors, 1);
    done(&f);
    clean(INPUTS("[{ name: x }]") RUN("echo \"$(inputs.x)\" ''plain''"));
}

static void
variables_cannot_be_in_a_quoted_here_document(void **state)
{
    (void)state;
    struct fixture f =
        opened(INPUTS("[{ name: x }]") "  - name: a\n    agent: exec\n    commands:\n"
                                       "      - name: c\n"
                                       "        run: |\n"
                                       "          cat <<'E'\n"
                                       "          $(inputs.x)\n"
                                       "          E\n");

    must_say(&f, "team.yml:9:14: error: ");
    assert_int_equal(f.problems.errors, 1);
    done(&f);
}

static void
variables_under_another_shell_are_warnings(void **state)
{
    (void)state;
    static const char *const commands[] = { "eval \"$(inputs.x)\"", "sh -c \"$(inputs.x)\"",
                                            "ssh host \"$(inputs.x)\"" };

    for (size_t i = 0; i < COUNT(commands); i++) {
        char text[300];
        snprintf(text, sizeof text, INPUTS("[{ name: x }]") RUN("%s"), commands[i]);
        struct fixture f = opened(text);
        must_say(&f, "team.yml:5:56: warning: ");
        assert_int_equal(f.problems.errors, 0);
        assert_int_equal(f.problems.warnings, 1);
        done(&f);
    }
}

static void
fields_that_are_not_expanded_warn(void **state)
{
    (void)state;
    says(INPUTS("[{ name: x }]") "  - { name: a, model: $(inputs.x) }\n",
         "5:23: warning: $(...) is not expanded in model (phase a, field model)");
}

static void
notifications_may_hold_variables(void **state)
{
    (void)state;
    says(HEAD EXEC("b") "  - { name: a, agent: exec, commands: [{ name: c, run: 'true' }],\n"
                        "      notify: { on_start: { agent: slack, message: '$(phase) of "
                        "$(team_name): $(inputs.who)' } } }\n",
         "6:52: error: $(inputs.who): there is no such input (phase a, field notify)");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(undeclared_inputs_are_errors),
        CASE(conditions_that_are_surely_mistakes_are_errors),
        CASE(reasonable_conditions_are_accepted),
        CASE(handoffs_come_from_predecessors),
        CASE(a_misspelt_variable_outside_a_command_is_an_error),
        CASE(a_misspelt_variable_in_a_command_is_a_warning),
        CASE(the_path_of_a_handoff_must_name_a_value),
        CASE(a_bad_name_is_reported_once),
        CASE(a_gate_judges_what_it_depends_on),
        CASE(support_phases_get_handoffs_from_gates),
        CASE(unknown_directories_are_errors),
        CASE(variables_of_a_run_and_command_substitutions_are_fine),
        CASE(variables_cannot_be_in_single_quotes),
        CASE(variables_cannot_be_in_a_quoted_here_document),
        CASE(variables_under_another_shell_are_warnings),
        CASE(fields_that_are_not_expanded_warn),
        CASE(notifications_may_hold_variables),
    };

    return cmocka_run_group_tests_name("team templates", tests, NULL, NULL);
}
