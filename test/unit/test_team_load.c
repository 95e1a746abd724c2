/*
 * Tests team/load: fields, defaults, ranges, and the messages about unknown keys and wrong shapes.
 */
#include "team/load.h"

#include "teams.h"

static void
every_field_of_a_phase_is_read(void **state)
{
    (void)state;
    struct fixture f =
        opened("name: '@a/team'\n"
               "phases:\n"
               "  - name: work\n"
               "    type: gate\n"
               "    agent: exec\n"
               "    role: worker\n"
               "    model: m1\n"
               "    action: go\n"
               "    when: 'yes'\n"
               "    team: sub\n"
               "    depends_on: [first, nobody]\n"
               "    commands:\n"
               "      - { name: one, run: ./one.sh, escalate_on_fail: true, timeout: 90s }\n"
               "    max_iterations: 5\n"
               "    timeout: 20m\n"
               "    retries: 2\n"
               "    env: { A: 1, B: two }\n"
               "    inputs: { x: y }\n"
               "    sources: [{ name: s, n: 1 }]\n"
               "    target_entries: [{ name: t, file: f }]\n"
               "    review: { reviewer: ann }\n"
               "    notify: { on_complete: { agent: slack } }\n"
               "  - name: first\n");
    const struct phase *p = team_phase(&f.team, "work");

    assert_non_null(p);
    assert_int_equal(p->type, PHASE_GATE);
    assert_string_equal(p->agent, "exec");
    assert_string_equal(p->role, "worker");
    assert_string_equal(p->model, "m1");
    assert_string_equal(p->action, "go");
    assert_string_equal(p->when, "yes");
    assert_string_equal(p->team, "sub");
    assert_int_equal(p->n_depends_on, 2);
    assert_string_equal(p->depends_on[1], "nobody");
    assert_int_equal(p->deps[0], 1);
    assert_true(p->deps[1] == SIZE_MAX);
    assert_int_equal(p->n_commands, 1);
    assert_string_equal(p->commands[0].name, "one");
    assert_string_equal(p->commands[0].run, "./one.sh");
    assert_true(p->commands[0].escalate_on_fail);
    assert_int_equal(p->commands[0].timeout_ms, 90 * 1000);
    assert_int_equal(p->commands[0].line, 13);
    assert_int_equal(p->commands[0].column, 27);
    assert_int_equal(p->max_iterations, 5);
    assert_int_equal(p->timeout_ms, 20 * 60 * 1000);
    assert_int_equal(p->retries, 2);
    assert_int_equal(p->n_env, 2);
    assert_string_equal(p->env[1].key, "B");
    assert_string_equal(p->env[1].value, "two");
    assert_int_equal(p->n_inputs, 1);
    assert_true(json_eq(json_path(p->sources, "[0].name"), "s"));
    assert_true(json_is(json_path(p->sources, "[0].n"), JSON_NUMBER));
    assert_true(json_eq(json_path(p->target_entries, "[0].file"), "f"));
    assert_true(json_eq(json_path(p->review, "reviewer"), "ann"));
    assert_true(json_eq(json_path(p->notify, "on_complete.agent"), "slack"));
    assert_int_equal(p->line, 3);
    assert_int_equal(p->column, 5);
    done(&f);
}

static void
a_phase_has_defaults(void **state)
{
    (void)state;
    struct fixture f = opened(HEAD "  - { name: a }\n");
    const struct phase *p = &f.team.phases[0];

    assert_int_equal(p->type, PHASE_STANDARD);
    assert_int_equal(p->max_iterations, 3);
    assert_int_equal(p->retries, 0);
    assert_int_equal(p->timeout_ms, 0);
    assert_null(p->agent);
    assert_null(p->role);
    assert_null(p->sources);
    assert_false(p->is_support);
    assert_int_equal(p->n_depends_on, 0);
    done(&f);
}

static void
the_head_is_read(void **state)
{
    (void)state;
    struct fixture f = opened("name: '@a/team'\n"
                              "description: what it does\n"
                              "version: 1.2.3\n"
                              "cliq_version: '>=0.1'\n"
                              "tools: [git, make]\n"
                              "tags: [x]\n"
                              "outputs: [{ name: o }]\n"
                              "use_when: [a]\n"
                              "not_for: [b]\n"
                              "inputs:\n"
                              "  - name: topic\n"
                              "    description: about\n"
                              "    type: select\n"
                              "    required: true\n"
                              "    default: a\n"
                              "    choices: [a, b]\n"
                              "    label: L\n"
                              "    help: H\n"
                              "    placeholder: P\n"
                              "agents:\n"
                              "  mine: { entry: agents/mine/index.js, env: [HTTP_PROXY] }\n"
                              "phases:\n"
                              "  - { name: a, agent: mine, env: { T: $(inputs.topic) } }\n");
    const struct team *t = &f.team;

    assert_string_equal(f.said.p, "");
    assert_int_equal(f.s, ST_OK);
    assert_string_equal(t->name, "@a/team");
    assert_string_equal(t->description, "what it does");
    assert_string_equal(t->version, "1.2.3");
    assert_string_equal(t->cliq_version, ">=0.1");
    assert_int_equal(t->n_tools, 2);
    assert_string_equal(t->tools[1], "make");
    assert_int_equal(t->n_tags, 1);
    assert_int_equal(t->n_inputs, 1);
    assert_string_equal(t->inputs[0].name, "topic");
    assert_string_equal(t->inputs[0].type, "select");
    assert_string_equal(t->inputs[0].fallback, "a");
    assert_true(t->inputs[0].is_required);
    assert_int_equal(t->inputs[0].n_choices, 2);
    assert_int_equal(t->n_agents, 1);
    assert_string_equal(t->agents[0].name, "mine");
    assert_string_equal(t->agents[0].entry, "agents/mine/index.js");
    assert_string_equal(t->agents[0].env[0], "HTTP_PROXY");
    done(&f);
}

static void
phases_may_be_in_workflow_or_at_the_top(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "name: t\ndescription: d\nworkflow:\n  phases:\n" EXEC("a") "  support:\n" EXEC("b"),
        "name: t\ndescription: d\nphases:\n" EXEC("a") "support:\n" EXEC("b"),
    };

    for (size_t i = 0; i < COUNT(texts); i++) {
        struct fixture f = opened(texts[i]);
        assert_string_equal(f.said.p, "");
        assert_int_equal(f.team.n_phases, 2);
        assert_int_equal(f.team.n_main, 1);
        assert_false(f.team.phases[0].is_support);
        assert_true(f.team.phases[1].is_support);
        done(&f);
    }
}

static void
phases_in_both_places_are_an_error(void **state)
{
    (void)state;
    says("name: t\nphases:\n" EXEC("a") "workflow:\n  phases:\n" EXEC("b"),
         "5:3: error: phases stands at the top and in workflow: only one of them can be meant "
         "(field phases)");
}

static void
depends_on_may_be_a_list_or_commas(void **state)
{
    (void)state;
    struct fixture f = opened(HEAD EXEC("a") EXEC("b") "  - { name: c, depends_on: ' a , b,' }\n"
                                                       "  - { name: d, depends_on: a }\n"
                                                       "  - { name: e, depends_on: [a, b] }\n");

    assert_int_equal(f.team.phases[2].n_depends_on, 2);
    assert_int_equal(f.team.phases[2].deps[0], 0);
    assert_int_equal(f.team.phases[2].deps[1], 1);
    assert_int_equal(f.team.phases[3].n_depends_on, 1);
    assert_int_equal(f.team.phases[4].n_depends_on, 2);
    assert_int_equal(f.problems.errors, 0);
    done(&f);
}

static void
times_have_units(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t ms;
    } times[] = { { "90s", 90000 },
                  { "20m", 1200000 },
                  { "2h", 7200000 },
                  { "90", 90000 },
                  { "0.5", 500 },
                  { "250ms", 250 },
                  { "720h", INT64_C(2592000000) } };

    for (size_t i = 0; i < COUNT(times); i++) {
        char text[200];
        snprintf(text, sizeof text, HEAD "  - { name: a, timeout: %s }\n", times[i].text);
        struct fixture f = opened(text);
        assert_int_equal(f.problems.errors, 0);
        assert_int_equal(f.team.phases[0].timeout_ms, times[i].ms);
        done(&f);
    }
}

static void
times_have_a_range(void **state)
{
    (void)state;
    says(HEAD "  - { name: a, timeout: 0 }\n",
         "4:25: error: timeout must be more than 0 and at most 720h, not \"0\" (phase a, field "
         "timeout)");
    says(HEAD "  - { name: a, timeout: 721h }\n",
         "4:25: error: timeout must be more than 0 and at most 720h, not \"721h\" (phase a, field "
         "timeout)");
    says(HEAD "  - { name: a, timeout: soon }\n",
         "4:25: error: timeout must be a time like 90s, 20m or 2h, not \"soon\" (phase a, field "
         "timeout)");
    says(HEAD "  - { name: a, timeout: [1] }\n",
         "4:25: error: timeout must be a time like 90s, 20m or 2h, not a list (phase a, field "
         "timeout)");
}

static void
retries_are_0_to_5(void **state)
{
    (void)state;
    clean(HEAD "  - { name: a, retries: 0 }\n  - { name: b, retries: 5 }\n");
    static const char *const bad[] = { "6", "-1", "1.5", "many", "99999999999999999999" };
    for (size_t i = 0; i < COUNT(bad); i++) {
        char text[200], want[200];
        snprintf(text, sizeof text, HEAD "  - { name: a, retries: %s }\n", bad[i]);
        snprintf(want, sizeof want,
                 "4:25: error: retries must be a whole number from 0 to 5, not \"%s\" (phase a, "
                 "field retries)",
                 bad[i]);
        says(text, want);
    }
}

static void
max_iterations_are_1_to_5(void **state)
{
    (void)state;
    clean(HEAD EXEC("x") "  - { name: a, type: gate, depends_on: [x], max_iterations: 1 }\n"
                         "  - { name: b, type: gate, depends_on: [x], max_iterations: 5 }\n");
    says(HEAD "  - { name: a, type: [gate] }\n",
         "4:22: error: type must be a text, not a list (phase a, field type)");
    says(
        HEAD "  - { name: a, type: gate, max_iterations: 0 }\n",
        "4:44: error: max_iterations must be a whole number from 1 to 5, not \"0\" (phase a, field "
        "max_iterations)");
    says(
        HEAD "  - { name: a, type: gate, max_iterations: 6 }\n",
        "4:44: error: max_iterations must be a whole number from 1 to 5, not \"6\" (phase a, field "
        "max_iterations)");
    says(
        HEAD "  - { name: a, type: gate, max_iterations: {} }\n",
        "4:44: error: max_iterations must be a whole number from 1 to 5, not a map (phase a, field "
        "max_iterations)");
}

static void
unknown_keys_warn_with_the_nearest_known_one(void **state)
{
    (void)state;
    says("nmae: x\n", "1:1: warning: unknown key \"nmae\" in a team (did you mean \"name\"?)");
    says(HEAD "  - name: a\n    dependson: [b]\n",
         "5:5: warning: unknown key \"dependson\" in a phase (did you mean \"depends_on\"?) (phase "
         "a)");
    says(HEAD "  - { name: a, agent: exec, commands: [{ name: c, run: x, rnu: y }] }\n",
         "4:59: warning: unknown key \"rnu\" in a command (name: and run:) (did you mean \"run\"?) "
         "(phase a)");
    says("inputs: [{ name: x, requird: true }]\n",
         "1:21: warning: unknown key \"requird\" in an input (name:, required:, ...) (did you mean "
         "\"required\"?)");
    says("agents: { x: { entri: y } }\n",
         "1:16: warning: unknown key \"entri\" in an agent (entry:, acp:, env:) (did you mean "
         "\"entry\"?)");
    says("workflow: { phase: [] }\n",
         "1:13: warning: unknown key \"phase\" in workflow (did you mean \"phases\"?)");
    says(HEAD "  - { name: a, review: { reviewers: x } }\n",
         "4:26: warning: unknown key \"reviewers\" in review (did you mean \"reviewer\"?) (phase "
         "a)");
    says(HEAD "  - { name: a, notify: { on_completed: x } }\n",
         "4:26: warning: unknown key \"on_completed\" in notify (did you mean \"on_complete\"?) "
         "(phase a)");
    says("zzzzzz: 1\n", "1:1: warning: unknown key \"zzzzzz\" in a team");
}

static void
merge_keys_are_warned_about(void **state)
{
    (void)state;
    says(HEAD "  - &a { name: a }\n  - { <<: *a, name: b }\n",
         "5:7: warning: merge keys (<<) have no meaning here (phase b)");
}

static void
wrong_shapes_are_errors_at_their_position(void **state)
{
    (void)state;
    says("name: [x]\n", "1:7: error: name must be a text, not a list (field name)");
    says("phases: {}\n", "1:9: error: phases must be a list, not a map (field phases)");
    says("phases: x\n", "1:9: error: phases must be a list, not \"x\" (field phases)");
    says(HEAD "  - just text\n", "4:5: error: a phase must be a map, not a text");
    says("support: [x]\n", "1:11: error: a support phase must be a map, not a text");
    says("workflow: []\n", "1:11: error: workflow must be a map, not a list");
    says("tools: git\n", "1:8: error: tools must be a list, not \"git\" (field tools)");
    says("tools: [[git]]\n",
         "1:9: error: tools must be a list of texts: this is a list (field tools)");
    says("tags: [~]\n", "1:8: error: tags must be a list of texts: this is nothing (field tags)");
    says("inputs: { topic: x }\n", "1:9: error: inputs must be a list, not a map (field inputs)");
    says("inputs: [topic]\n",
         "1:10: error: an input (name:, required:, ...) must be a map, not a text");
    says("inputs: [{ name: a, required: yes }]\n",
         "1:31: error: required must be true or false, not \"yes\" (field required)");
    says(
        "agents: [x]\n",
        "1:9: error: agents must be a map from names to {entry: ...} or {acp: ...} (field agents)");
    says("agents: { x: y }\n",
         "1:14: error: an agent (entry:, acp:, env:) must be a map, not a text");
    says(HEAD "  - { name: a, commands: make }\n",
         "4:26: error: commands must be a list, not \"make\" (phase a, field commands)");
    says(HEAD "  - { name: a, commands: [make] }\n",
         "4:27: error: a command (name: and run:) must be a map, not a text (phase a)");
    says(HEAD "  - { name: a, env: [A] }\n",
         "4:21: error: env must be a map, not a list (phase a, field env)");
    says(HEAD "  - { name: a, env: { A: [1] } }\n",
         "4:26: error: env.A must be a text, not a list (phase a, field env)");
    says(HEAD "  - { name: a, sources: {} }\n",
         "4:25: error: sources must be a list, not a map (phase a, field sources)");
    says(HEAD "  - { name: a, review: ann }\n",
         "4:24: error: review must be a map, not \"ann\" (phase a, field review)");
    says(HEAD "  - { name: a, depends_on: {} }\n",
         "4:28: error: depends_on must be a list, not a map (phase a, field depends_on)");
    says(HEAD "  - { name: a, agent: [exec] }\n",
         "4:23: error: agent must be a text, not a list (phase a, field agent)");
}

static void
null_is_the_same_as_absent(void **state)
{
    (void)state;
    clean("name: t\ndescription: d\ninputs:\nagents: ~\ntools: null\nsupport:\nphases:\n"
          "  - name: a\n    depends_on:\n    commands:\n    env:\n    timeout: ~\n    type:\n");
}

static void
types_are_known_ones(void **state)
{
    (void)state;
    says(HEAD "  - { name: a, type: gat }\n",
         "4:22: error: unknown type \"gat\" (did you mean \"gate\"?) (phase a, field type)");
    says(HEAD "  - { name: a, type: magic }\n",
         "4:22: error: unknown type \"magic\": there are standard, gate and team (phase a, field "
         "type)");
    says(HEAD "  - { name: a, type: exec }\n",
         "4:22: error: \"exec\" is an agent, not a type: write agent: exec (phase a, field type)");
    says(HEAD "  - { name: a, type: hug }\n",
         "4:22: error: \"hug\" is an agent, not a type: write agent: hug and type: gate (phase a, "
         "field type)");
    says(HEAD "  - { name: a, type: pull }\n",
         "4:22: error: \"pull\" is no type any more: use a connector as the agent, with sources "
         "(phase a, field type)");
    says(HEAD "  - { name: a, type: push }\n",
         "4:22: error: \"push\" is no type any more: use a connector as the agent, with "
         "target_entries (phase a, field type)");
    clean(HEAD "  - { name: a, type: standard }\n  - { name: b, type: gate, depends_on: [a] }\n"
               "  - { name: c, type: team, team: x }\n");
}

static void
type_names_are_those_of_the_file(void **state)
{
    (void)state;
    assert_string_equal(phase_type_name(PHASE_STANDARD), "standard");
    assert_string_equal(phase_type_name(PHASE_GATE), "gate");
    assert_string_equal(phase_type_name(PHASE_TEAM), "team");
}

static void
bad_yaml_is_a_problem_with_its_position(void **state)
{
    (void)state;
    struct fixture f = opened("name: x\nname: y\nname: z\n");

    assert_string_equal(
        f.said.p,
        "team.yml:2:1: error: duplicate key \"name\": the first is in line 1, column 1\n"
        "team.yml:3:1: error: duplicate key \"name\": the first is in line 1, column 1\n");
    assert_int_equal(f.s, ST_INVALID);
    assert_string_equal(f.e.text, "team.yml has 2 errors");
    done(&f);
}

static void
an_empty_file_and_a_list_are_no_teams(void **state)
{
    (void)state;
    struct fixture f = opened("");

    assert_string_equal(f.said.p, "team.yml: error: the file is empty\n");
    assert_int_equal(f.s, ST_INVALID);
    done(&f);
    says("- a\n", "1:1: error: a team must be a map: name:, phases:, ...");
}

static void
too_many_phases_are_refused(void **state)
{
    (void)state;
    struct buf b = { 0 };

    buf_adds(&b, HEAD);
    for (int i = 0; i < 10001; i++)
        buf_addf(&b, "  - { name: p%d }\n", i);
    says(b.p, "4:3: error: 10001 phases: at most 10000 are allowed (field phases)");
    buf_release(&b);
}

static void
a_file_is_read_and_a_missing_one_is_not_found(void **state)
{
    (void)state;
    struct team t;
    struct problems p = { 0 };
    struct err e;

    write_file("team.yml", HEAD EXEC("a"));
    CHECK_OK(team_load_file(&t, here(), "team.yml", &p, &e), &e);
    assert_string_equal(t.file, "team.yml");
    assert_int_equal(t.n_phases, 1);
    team_release(&t);
    CHECK_FAILS_WITH(team_load_file(&t, here(), "none.yml", &p, &e), ST_NOT_FOUND, &e, "none.yml");
    assert_int_equal(p.errors, 0);
    team_release(&t);
    problems_release(&p);
}

static void
a_file_of_more_than_a_mebibyte_is_a_problem(void **state)
{
    (void)state;
    struct team t;
    struct problems p = { 0 };
    struct err e;
    struct buf said = { 0 };
    char *text = malloc(YAML_MAX_BYTES + 8192);

    assert_non_null(text);
    memset(text, '#', YAML_MAX_BYTES + 8192);
    for (size_t more = 1; more <= 8192; more += 8191) {
        write_bytes("team.yml", text, YAML_MAX_BYTES + more);
        assert_int_equal(team_load_file(&t, here(), "team.yml", &p, &e), ST_INVALID);
        team_release(&t);
    }
    problems_write(&said, &p);
    assert_int_equal(p.errors, 2);
    assert_non_null(strstr(said.p, "larger than 1048576 bytes"));
    buf_release(&said);
    problems_release(&p);
    free(text);
}

static void
releasing_twice_is_fine(void **state)
{
    (void)state;
    struct fixture f = opened(HEAD EXEC("a"));

    team_release(&f.team);
    problems_release(&f.problems);
    done(&f);
}

static void
problems_outlive_the_team(void **state)
{
    (void)state;
    struct fixture f = opened(HEAD "  - { name: a, agent: nobody }\n");

    team_release(&f.team);
    buf_reset(&f.said);
    problems_write(&f.said, &f.problems);
    must_say(&f, "(phase a, field agent)");
    done(&f);
}

/* Pages are made from these rows: one without a description would be a heading without text. */
static void
every_key_is_described(void **state)
{
    (void)state;
    struct arena a = { 0 };
    size_t n = 0;

    for (const struct load_table *t = team_tables; t->path; t++) {
        assert_non_null(t->says);
        for (const struct load_field *f = t->fields; f->key; f++, n++) {
            struct field row = load_describe(&a, f);
            if (!row.takes || !row.says || !*row.says)
                fail_msg("%s.%s has no %s", t->path, f->key, row.says ? "takes" : "says");
        }
    }
    assert_true(n > 60);
    arena_release(&a);
}

static void
a_misspelt_key_of_a_source_is_reported_and_an_unknown_one_is_not(void **state)
{
    (void)state;
    says(HEAD "  - { name: a, agent: curl, sources: [{ name: x, ulr: 'http://h/' }] }\n",
         "4:50: warning: unknown key \"ulr\" in a source (did you mean \"url\"?) (phase a)");
    says(HEAD "  - { name: a, agent: curl, target_entries: [{ name: x, file: f, mod: create }] }\n",
         "4:66: warning: unknown key \"mod\" in a target (did you mean \"mode\"?) (phase a)");
    clean(HEAD
          "  - { name: a, agent: curl, sources: [{ name: x, url: 'http://h/', region: y }] }\n");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(every_field_of_a_phase_is_read),
        CASE(a_phase_has_defaults),
        CASE(the_head_is_read),
        CASE(phases_may_be_in_workflow_or_at_the_top),
        CASE(phases_in_both_places_are_an_error),
        CASE(depends_on_may_be_a_list_or_commas),
        CASE(times_have_units),
        CASE(times_have_a_range),
        CASE(retries_are_0_to_5),
        CASE(max_iterations_are_1_to_5),
        CASE(unknown_keys_warn_with_the_nearest_known_one),
        CASE(merge_keys_are_warned_about),
        CASE(wrong_shapes_are_errors_at_their_position),
        CASE(null_is_the_same_as_absent),
        CASE(types_are_known_ones),
        CASE(type_names_are_those_of_the_file),
        CASE(bad_yaml_is_a_problem_with_its_position),
        CASE(an_empty_file_and_a_list_are_no_teams),
        CASE(too_many_phases_are_refused),
        CASE(a_file_is_read_and_a_missing_one_is_not_found),
        CASE(a_file_of_more_than_a_mebibyte_is_a_problem),
        CASE(releasing_twice_is_fine),
        CASE(problems_outlive_the_team),
        CASE(every_key_is_described),
        CASE(a_misspelt_key_of_a_source_is_reported_and_an_unknown_one_is_not),
    };

    return cmocka_run_group_tests_name("team load", tests, NULL, NULL);
}
