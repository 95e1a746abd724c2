/*
 * Tests team/problem: the order and the forms of a team's problems, all reported at once; and
 * examples that have none.
 */
#include "teams.h"

/* ---- problems ---- */

static void
problems_are_sorted_by_file_line_and_column(void **state)
{
    (void)state;
    struct problems p = { 0 };
    struct buf said = { 0 };

    problem_error(&p, (struct problem_at){ "b", 1, 1, NULL, NULL }, "five");
    problem_error(&p, (struct problem_at){ "a", 10, 2, NULL, "f" }, "three");
    problem_warn(&p, (struct problem_at){ "a", 9, 3, "p", NULL }, "two");
    problem_error(&p, (struct problem_at){ "a", 10, 2, "p", "f" }, "four %d", 4);
    problem_warn(&p, (struct problem_at){ "a", 0, 0, NULL, NULL }, "one");
    problems_write(&said, &p);
    assert_string_equal(said.p, "a: warning: one\n"
                                "a:9:3: warning: two (phase p)\n"
                                "a:10:2: error: three (field f)\n"
                                "a:10:2: error: four 4 (phase p, field f)\n"
                                "b:1:1: error: five\n");
    assert_int_equal(p.errors, 3);
    assert_int_equal(p.warnings, 2);
    buf_reset(&said);
    problems_write(&said, &p); /* again: nothing is lost or reordered */
    assert_non_null(strstr(said.p, "three (field f)\na:10:2: error: four"));
    problem_error(&p, (struct problem_at){ "a", 11, 1, NULL, NULL }, "later");
    buf_reset(&said);
    problems_write(&said, &p);
    assert_non_null(strstr(said.p, "later\nb:1:1"));
    buf_release(&said);
    problems_release(&p);
}

static void
problems_as_json(void **state)
{
    (void)state;
    struct problems p = { 0 };
    struct buf said = { 0 };

    problems_write_json(&said, &p);
    assert_string_equal(said.p, "[]");
    buf_reset(&said);
    problem_warn(&p, (struct problem_at){ "f", 2, 3, "p", "x" }, "say \"hi\"");
    problem_error(&p, (struct problem_at){ "f", 1, 1, NULL, NULL }, "no");
    problems_write_json(&said, &p);
    assert_string_equal(
        said.p, "[{\"file\":\"f\",\"line\":1,\"column\":1,\"level\":\"error\",\"message\":\"no\"},"
                "{\"file\":\"f\",\"line\":2,\"column\":3,\"level\":\"warning\","
                "\"message\":\"say \\\"hi\\\"\",\"phase\":\"p\",\"field\":\"x\"}]");
    buf_release(&said);
    problems_release(&p);
}

static void
problems_are_escaped_for_a_terminal(void **state)
{
    (void)state;
    struct fixture f = opened(HEAD "  - { name: \"a\\e[2J\", agent: \"x\\nteam.yml: ok\" }\n");

    assert_null(strchr(f.said.p, '\x1b'));
    assert_null(strstr(f.said.p, "\nteam.yml: ok"));
    done(&f);
}

/* ---- all in one go ---- */

static void
ten_mistakes_are_ten_errors(void **state)
{
    (void)state;
    struct fixture f =
        opened("name: Bad Name\n"                                                  /* 1 */
               "inputs: [{ name: unused }]\n"                                      /* warning */
               "phases:\n"                                                         /* */
               "  - { name: One, agent: exec, commands: [{ name: c, run: x }] }\n" /* 2 */
               "  - { name: two, agent: exec }\n"                                  /* 3 */
               "  - { name: two, agent: nobody }\n"                                /* 4, 5 */
               "  - { name: three, depends_on: [too] }\n"                          /* 6 */
               "  - { name: four, depends_on: [four] }\n"                          /* 7 */
               "  - { name: five, agent: jira, sources: [{ name: s }] }\n"         /* 8 */
               "  - { name: six, team: x }\n"                                      /* 9 */
               "  - { name: seven, type: pull }\n"                                 /* 10 */
               "  - { name: eight, colour: red }\n");                              /* warning */
    static const char *const lines[] = {
        "team.yml:1:7: error: bad team name \"Bad Name\"",
        "team.yml:4:13: error: bad phase name \"One\"",
        "team.yml:5:5: error: the agent exec needs commands",
        "team.yml:6:13: error: two phases are named \"two\"",
        "team.yml:6:25: error: unknown agent \"nobody\"",
        "team.yml:7:33: error: depends on unknown phase \"too\" (did you mean \"two\"?)",
        "team.yml:8:32: error: depends on itself",
        "team.yml:9:5: error: the agent jira needs an action",
        "team.yml:10:24: error: team is only for phases of type: team",
        "team.yml:11:26: error: \"pull\" is no type any more",
        "team.yml:12:20: warning: unknown key \"colour\"",
        "team.yml: warning: the team has no description",
    };

    for (size_t i = 0; i < COUNT(lines); i++)
        must_say(&f, lines[i]);
    assert_int_equal(f.problems.errors, 10);
    done(&f);
}

static void
the_examples_of_the_sdk_page_are_valid(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "name: \"@local/research-team\"\n"
        "agents:\n"
        "  openai-analyst:\n"
        "    entry: agents/analyst/index.ts\n"
        "workflow:\n"
        "  phases:\n"
        "    - name: research\n"
        "      type: standard\n"
        "    - name: analysis\n"
        "      type: standard\n"
        "      agent: openai-analyst\n"
        "      depends_on: [research]\n"
        "    - name: review\n"
        "      type: gate\n"
        "      depends_on: [analysis]\n",
        "name: x\n"
        "workflow:\n"
        "  phases:\n"
        "    - name: research\n"
        "      type: standard\n"
        "      agent: gemini\n"
        "    - name: implementation\n"
        "      type: standard\n"
        "      # uses the default (cursor or whatever default_agent is set to)\n",
        "name: x\n"
        "phases: [{ name: research, agent: gemini }]\n",
        "name: x\n"
        "agents: { acme-connector: { entry: agents/acme/index.js } }\n"
        "phases:\n"
        "  - name: fetch-issues\n"
        "    agent: acme-connector\n"
        "    action: get\n"
        "    sources:\n"
        "      - name: report.json\n"
        "        ref: \"reports/latest\"\n"
        "  - name: analyst\n"
        "    depends_on: [fetch-issues]\n"
        "  - name: push-results\n"
        "    agent: acme-connector\n"
        "    action: create\n"
        "    depends_on: [analyst]\n"
        "    target_entries:\n"
        "      - name: result\n"
        "        file: analysis.json\n"
        "        ref: \"results/new\"\n",
    };

    for (size_t i = 0; i < COUNT(texts); i++) {
        struct fixture f = opened(texts[i]);
        if (f.problems.errors || f.problems.warnings != 1) /* no description */
            fail_msg("%s", f.said.p);
        done(&f);
    }
}

static void
the_example_of_the_header_is_valid(void **state)
{
    (void)state;
    struct fixture f = opened("name: \"@local/research\"\n"
                              "inputs:   [{ name: topic, required: true }]\n"
                              "agents:   { analyst: { entry: agents/analyst/index.js, env: "
                              "[HTTP_PROXY] } }\n"
                              "workflow:\n"
                              "  phases:\n"
                              "    - name: research\n"
                              "      agent: script\n"
                              "      commands: [{ name: go, run: ./research.sh }]\n"
                              "    - { name: review, type: gate, depends_on: [research], "
                              "max_iterations: 3 }\n"
                              "  support:\n"
                              "    - { name: fixer, agent: script, commands: [{ name: fix, run: "
                              "./fix.sh }] }\n");

    assert_int_equal(f.problems.errors, 0);
    done(&f);
}

static void
errors_are_counted_and_nothing_leaks_when_memory_runs_out(void **state)
{
    (void)state;
    const char *text = HEAD EXEC("a") "  - { name: b, depends_on: [x] }\n";

    for (size_t max = 1; max < 40000; max += 1000) {
        struct problems p = { .arena = { .max = max } };
        struct team t;
        struct err e;
        assert_int_equal(team_load(&t, "f", text, strlen(text), &p, &e), ST_OK);
        team_validate(&t, -1, NULL, &p);
        assert_int_equal(p.errors, 1); /* counted even without memory for its message */
        team_release(&t);
        problems_release(&p);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(problems_are_sorted_by_file_line_and_column),
        CASE(problems_as_json),
        CASE(problems_are_escaped_for_a_terminal),
        CASE(ten_mistakes_are_ten_errors),
        CASE(the_examples_of_the_sdk_page_are_valid),
        CASE(the_example_of_the_header_is_valid),
        CASE(errors_are_counted_and_nothing_leaks_when_memory_runs_out),
    };

    return cmocka_run_group_tests_name("team problems", tests, NULL, NULL);
}
