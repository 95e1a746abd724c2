/* Tests the rules for role files: which phases need one, where it may be, what it may say. */
#include "teams.h"

#define ROLE "Read what was found before and write down, in plain words, what follows from it.\n"

static void
agents_with_a_model_need_a_role(void **state)
{
    (void)state;
    static const char *const agents[] = { "claude-code", "codex",      "gemini",
                                          "cursor",      "opencode",   "claude-api",
                                          "openai-api",  "gemini-api", "ollama" };

    for (size_t i = 0; i < COUNT(agents); i++) {
        char text[200];
        snprintf(text, sizeof text, HEAD "  - { name: a, agent: %s }\n", agents[i]);
        says_in(here(), text,
                "4:5: error: no role file roles/a.md: it tells the agent what to do (phase a, "
                "field role)");
    }
    says_in(here(), HEAD "  - { name: a }\n",
            "4:5: error: no role file roles/a.md: it tells the agent what to do (phase a, field "
            "role)");
    says_in(here(), HEAD "  - { name: a, type: team, team: x }\n",
            "4:5: error: no role file roles/a.md: it tells the agent what to do (phase a, field "
            "role)");
    make_dirs("roles");
    write_file("roles/a.md", ROLE);
    clean_in(here(), HEAD "  - { name: a }\n");
    clean_in(here(), HEAD "  - { name: a, type: team, team: x }\n");
}

static void
the_other_agents_need_no_role(void **state)
{
    (void)state;
    make_dirs("agents");
    write_file("agents/x.sh", "");
    clean_in(here(), "agents: { mine: { entry: agents/x.sh } }\n" HEAD EXEC(
                         "a") "  - { name: b, agent: curl, sources: [{ name: s }] }\n"
                              "  - { name: c, agent: s3, sources: [{ name: s }] }\n"
                              "  - { name: d, agent: mine }\n"
                              "  - { name: e, agent: script, commands: [{ name: c, run: x }] }\n"
                              "  - { name: f, type: gate, agent: checks, depends_on: [a], "
                              "commands: [{ name: c, run: x "
                              "}] }\n"
                              "  - { name: g, type: gate, agent: hug, review: { reviewer: ann }, "
                              "commands: [{ name: c, run: x }] }\n");
}

static void
a_role_may_have_another_name_than_its_phase(void **state)
{
    (void)state;
    make_dirs("roles");
    write_file("roles/writer.md", ROLE);
    clean_in(here(), HEAD "  - { name: a, role: writer }\n  - { name: b, role: writer }\n");
    says_in(here(), HEAD "  - { name: a, role: reader }\n",
            "4:22: error: no role file roles/reader.md: it tells the agent what to do (phase a, "
            "field role)");
}

static void
a_role_cannot_leave_its_directory(void **state)
{
    (void)state;
    says_in(here(), HEAD "  - { name: a, role: ../secret }\n",
            "4:22: error: bad role \"../secret\": it names a file roles/ROLE.md (phase a, field "
            "role)");
    says(HEAD "  - { name: a, role: ../secret }\n",
         "4:22: error: bad role \"../secret\": it names a file roles/ROLE.md (phase a, field "
         "role)");
}

static void
in_an_assembled_team_roles_are_named_after_phases(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    const char *text = HEAD "  - { name: a, role: writer }\n";

    make_dirs("roles");
    write_file("roles/a.md", ROLE);
    f.s = team_load(&f.team, ".cliq/workflow.yml", text, strlen(text), &f.problems, &f.e);
    team_validate(&f.team, here(), NULL, &f.problems);
    assert_int_equal(f.problems.errors, 0);
    done(&f);
}

static void
a_short_role_is_a_warning(void **state)
{
    (void)state;
    make_dirs("roles");
    write_file("roles/a.md", "Do it.\n\n");
    says_in(here(), HEAD "  - { name: a }\n",
            "roles/a.md: warning: the role has only 6 characters: say what to do (phase a, field "
            "role)");
}

static void
a_role_that_invents_tools_is_a_warning(void **state)
{
    (void)state;
    make_dirs("roles");
    write_file("roles/a.md", ROLE "<tool_call>{\"name\": \"search\"}</tool_call>\n");
    says_in(here(), HEAD "  - { name: a }\n",
            "roles/a.md: warning: the role spells out tool calls: agents bring their own tools "
            "(phase a, field role)");
}

static void
variables_in_roles_are_reported_at_their_position(void **state)
{
    (void)state;
    make_dirs("roles");
    write_file("roles/a.md", ROLE "\nÜber $(inputs.topic) and $(inputs.other)\n");
    says_in(here(), INPUTS("[{ name: topic }]") "  - { name: a }\n",
            "roles/a.md:3:26: error: $(inputs.other): there is no such input (phase a, field "
            "role)");
    write_file("roles/a.md", ROLE "\nAbout $(inputs.topic)\n");
    clean_in(here(), INPUTS("[{ name: topic }]") "  - { name: a }\n");
    write_file("roles/a.md", ROLE);
    says_in(here(), INPUTS("[{ name: topic }]") "  - { name: a }\n",
            "3:10: warning: the input \"topic\" is never used: no $(inputs.topic) anywhere (field "
            "inputs)");
}

static void
an_agent_of_the_team_may_read_any_input(void **state)
{
    (void)state;
    make_dirs("agents");
    write_file("agents/r.sh", "cliq sdk get inputs.topic\n");
    clean_in(here(), "agents: { r: { entry: agents/r.sh } }\n" INPUTS(
                         "[{ name: topic }]") "  - { name: a, agent: r }\n");
}

static void
a_role_must_be_text(void **state)
{
    (void)state;
    make_dirs("roles");
    write_file("roles/a.md", "one\ntwo \xff\n");
    says_in(here(), HEAD "  - { name: a }\n",
            "roles/a.md:2:5: error: the role is not plain UTF-8 text (phase a, field role)");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(agents_with_a_model_need_a_role),
        CASE(the_other_agents_need_no_role),
        CASE(a_role_may_have_another_name_than_its_phase),
        CASE(a_role_cannot_leave_its_directory),
        CASE(in_an_assembled_team_roles_are_named_after_phases),
        CASE(a_short_role_is_a_warning),
        CASE(a_role_that_invents_tools_is_a_warning),
        CASE(variables_in_roles_are_reported_at_their_position),
        CASE(an_agent_of_the_team_may_read_any_input),
        CASE(a_role_must_be_text),
    };

    return cmocka_run_group_tests_name("team roles", tests, NULL, NULL);
}
