/*
 * What must be true of a team's file: what loading makes of it, and each rule of
 * validation once broken (with the exact place and sentence) and once kept.
 *
 * Most texts are HEAD, which fills lines 1 to 3, and phases from line 4 on.
 */
#include "team/team.h"
#include "test.h"

#include <fcntl.h>
#include <time.h>

#define HEAD         "name: '@a/team'\ndescription: d\nphases:\n"
#define FILE_NAME    "team.yml"
#define EXEC(name)   "  - { name: " name ", agent: exec, commands: [{ name: c, run: 'true' }] }\n"
#define COUNT(table) (sizeof(table) / sizeof *(table))

/* ---- helpers ---- */

struct fixture {
    struct team team;
    struct problems problems;
    struct buf said;
    struct err e;
    enum status s;
};

static void
open_text(struct fixture *f, const char *text, size_t len, int dir)
{
    *f = (struct fixture){ 0 };
    f->s = team_load(&f->team, FILE_NAME, text, len, &f->problems, &f->e);
    team_validate(&f->team, dir, &f->problems);
    problems_write(&f->said, &f->problems);
    buf_addc(&f->said, '\0');
}

static struct fixture
opened(const char *text)
{
    struct fixture f;

    open_text(&f, text, strlen(text), -1);
    return f;
}

static void
done(struct fixture *f)
{
    team_release(&f->team);
    problems_release(&f->problems);
    buf_release(&f->said);
}

static void
must_say(const struct fixture *f, const char *part)
{
    if (!strstr(f->said.p, part))
        fail_msg("nobody says\n%s\nbut:\n%s", part, f->said.p);
}

/* One problem is the line "team.yml:" part, among others or alone. */
static void
says_in(int dir, const char *text, const char *part)
{
    struct fixture f;
    char line[512];

    open_text(&f, text, strlen(text), dir);
    snprintf(line, sizeof line, "%s%s\n", *part == 'r' ? "" : FILE_NAME ":", part);
    must_say(&f, line);
    done(&f);
}

static void
says(const char *text, const char *part)
{
    says_in(-1, text, part);
}

/* No problem at all, not even a warning. */
static void
clean_in(int dir, const char *text)
{
    struct fixture f;

    open_text(&f, text, strlen(text), dir);
    if (f.s || f.problems.errors || f.problems.warnings)
        fail_msg("not clean:\n%s\n%s", f.said.p, text);
    done(&f);
}

static void
clean(const char *text)
{
    clean_in(-1, text);
}

static double
cpu_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Whatever it says, it says it soon. */
static void
ends_soon(const struct buf *text)
{
    struct fixture f;
    double before = cpu_seconds();

    open_text(&f, text->p, text->len, -1);
    double took = cpu_seconds() - before;
    if (took > 10)
        fail_msg("took %.1f s", took);
    done(&f);
}

/* ---- loading ---- */

static void
every_field_of_a_phase_is_read(void **state)
{
    (void)state;
    struct fixture f = opened("name: '@a/team'\n"
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
                              "      - { name: one, run: ./one.sh, escalate_on_fail: true }\n"
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
phases_may_stand_in_workflow_or_at_the_top(void **state)
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
         "1:16: warning: unknown key \"entri\" in an agent (entry:, env:) (did you mean "
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
merge_keys_are_said_to_mean_nothing(void **state)
{
    (void)state;
    says(HEAD "  - &a { name: a }\n  - { <<: *a, name: b }\n",
         "5:7: warning: merge keys (<<) have no meaning here (phase b)");
}

static void
wrong_shapes_are_errors_where_they_stand(void **state)
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
    says("agents: [x]\n",
         "1:9: error: agents must be a map from names to {entry: ...} (field agents)");
    says("agents: { x: y }\n", "1:14: error: an agent (entry:, env:) must be a map, not a text");
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
bad_yaml_is_a_problem_with_its_place(void **state)
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
    problems_write(&said, &p); /* again: nothing is lost or turned */
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
problems_cannot_drive_a_terminal(void **state)
{
    (void)state;
    struct fixture f = opened(HEAD "  - { name: \"a\\e[2J\", agent: \"x\\nteam.yml: ok\" }\n");

    assert_null(strchr(f.said.p, '\x1b'));
    assert_null(strstr(f.said.p, "\nteam.yml: ok"));
    done(&f);
}

/* ---- the team ---- */

static void
a_team_needs_a_name(void **state)
{
    (void)state;
    says("phases: []\n", " error: the team has no name (field name)");
    says("name: ''\nphases: []\n", "1:7: error: the team has no name (field name)");
}

static void
team_names_have_a_pattern(void **state)
{
    (void)state;
    static const char *const good[] = { "@local/a", "@a-b/c-1", "plain", "1st" };
    static const char *const bad[] = { "@local", "@/a", "@a/",  "A",   "a b",  "a/b",
                                       "@a/b/c", "-a",  "../x", "a_b", "@a/.b" };

    for (size_t i = 0; i < COUNT(good); i++)
        assert_true(team_is_name(good[i]));
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_false(team_is_name(bad[i]));
    assert_false(team_is_name(""));
    says("name: My Team\n", "1:7: error: bad team name \"My Team\": write @scope/name with a-z, "
                            "0-9 and - (field name)");
}

static void
a_team_needs_phases(void **state)
{
    (void)state;
    says("name: t\n", " error: the team has no phases (field phases)");
    says("name: t\nphases: []\n", "2:9: error: the team has no phases (field phases)");
    says("name: t\nworkflow: { phases: [] }\n", "2:21: error: the team has no phases (field "
                                                "phases)");
}

static void
a_missing_description_is_a_warning(void **state)
{
    (void)state;
    says("name: t\nphases:\n" EXEC("a"),
         " warning: the team has no description (field description)");
    says("name: t\ndescription: ''\nphases:\n" EXEC("a"),
         "2:14: warning: the team has no description (field description)");
    clean(HEAD EXEC("a"));
}

static void
versions_look_like_1_2_3(void **state)
{
    (void)state;
    static const char *const good[] = { "1.2.3", "0.0.1", "10.20.30-rc.1", "1.0.0+b5" };
    static const char *const bad[] = { "1.0", "v1.2.3", "1.2.3.4", "01.2.3", "1.2.x", "1.2.3-" };
    char text[200];

    for (size_t i = 0; i < COUNT(good); i++) {
        snprintf(text, sizeof text, "version: %s\n" HEAD EXEC("a"), good[i]);
        clean(text);
    }
    for (size_t i = 0; i < COUNT(bad); i++) {
        char want[100];
        snprintf(text, sizeof text, "version: %s\n" HEAD EXEC("a"), bad[i]);
        snprintf(want, sizeof want,
                 "1:10: warning: the version \"%s\" is not like 1.2.3 (field "
                 "version)",
                 bad[i]);
        says(text, want);
    }
}

/* ---- inputs ---- */

#define INPUTS(list) "name: t\ndescription: d\ninputs: " list "\nphases:\n"

static void
inputs_need_a_name_of_their_own(void **state)
{
    (void)state;
    says(INPUTS("[{ description: x }]"), "3:10: error: an input without a name (field inputs)");
    says(INPUTS("[{ name: a.b }]"), "3:10: error: bad input name \"a.b\": use letters, digits, _ "
                                    "and - only (field inputs)");
    says(INPUTS("[{ name: x }, { name: x }]"),
         "3:23: error: two inputs are named \"x\" (field inputs)");
}

static void
unused_inputs_are_warnings(void **state)
{
    (void)state;
    says(INPUTS("[{ name: x }]") EXEC("a"), "3:10: warning: the input \"x\" is never used: no "
                                            "$(inputs.x) anywhere (field inputs)");
    clean(INPUTS("[{ name: x }]") "  - { name: a, agent: exec, commands: [{ name: c, run: echo "
                                  "$(inputs.x) }] }\n");
}

static void
an_input_that_a_role_may_use_is_not_called_unused(void **state)
{
    (void)state;
    clean(INPUTS("[{ name: x }]") "  - { name: a }\n"); /* roles/a.md is not looked at */
}

static void
every_text_counts_as_a_use(void **state)
{
    (void)state;
    static const char *const phases[] = {
        "{ name: a, agent: curl, sources: [{ name: s, url: 'http://h/$(inputs.x)' }] }",
        "{ name: a, agent: curl, sources: [{ name: s, headers: { A: $(inputs.x) } }] }",
        "{ name: a, agent: curl, target_entries: [{ name: t, file: $(inputs.x) }] }",
        "{ name: a, agent: exec, env: { A: $(inputs.x) }, commands: [{ name: c, run: x }] }",
        "{ name: a, agent: exec, when: $(inputs.x) == 1, commands: [{ name: c, run: x }] }",
        ("{ name: a, type: gate, agent: hug, commands: [{ name: c, run: x }], "
         "review: { reviewer: $(inputs.x) } }"),
        "{ name: a, type: team, team: sub, inputs: { y: $(inputs.x) } }",
        "{ name: a, agent: exec, commands: [{ name: c, run: 'echo \"$(inputs.x)\"' }] }",
    };

    for (size_t i = 0; i < COUNT(phases); i++) {
        char text[400];
        snprintf(text, sizeof text, INPUTS("[{ name: x }]") "  - %s\n", phases[i]);
        clean(text);
    }
}

static void
input_types_and_defaults_are_checked(void **state)
{
    (void)state;
    says(INPUTS("[{ name: x, type: colour }]"),
         "3:10: warning: unknown type \"colour\" of input \"x\" is taken as text: there are text, "
         "textarea, number, boolean, select and channel (field inputs)");
    says(INPUTS("[{ name: x, default: c, choices: [a, b] }]"),
         "3:10: error: the default \"c\" of input \"x\" is not among its choices (field inputs)");
}

/* ---- agents of the team ---- */

static void
own_agents_need_an_entry_inside_the_team(void **state)
{
    (void)state;
    says("agents: { x: { env: [A] } }\n",
         "1:11: error: the agent \"x\" has no entry (field agents)");
    says("agents: { x: { entry: /bin/sh } }\n",
         "1:23: error: the entry \"/bin/sh\" must be a path inside the team's directory (field "
         "agents)");
    says("agents: { x: { entry: a/../../b } }\n",
         "1:23: error: the entry \"a/../../b\" must be a path inside the team's directory (field "
         "agents)");
    says("agents: { '': { entry: a } }\n", "1:11: error: an agent without a name (field agents)");
    says("agents: { 'a/b': { entry: a } }\n",
         "1:11: error: bad agent name \"a/b\": use 1 to 64 of A-Z a-z 0-9 . _ - and start with a "
         "letter, a digit or _ (field agents)");
    says("agents: { x: { entry: a, env: ['A=1'] } }\n",
         "1:31: error: \"A=1\" is not the name of a variable (agent x) (field agents)");
}

static void
entries_must_be_there(void **state)
{
    (void)state;
    const char *text = "agents: { x: { entry: agents/x.sh } }\n" HEAD "  - { name: a, agent: x }\n";

    says_in(here(), text,
            "1:23: error: no file agents/x.sh (the entry of agent \"x\") (field agents)");
    make_dirs("agents/x.sh");
    says_in(here(), text,
            "1:23: error: agents/x.sh is not a file (the entry of agent \"x\") (field agents)");
    assert_int_equal(rmdir("agents/x.sh"), 0);
    write_file("agents/x.sh", "");
    clean_in(here(), text);
}

/* ---- phases ---- */

static void
phases_need_a_name(void **state)
{
    (void)state;
    says(HEAD "  - { agent: exec }\n", "4:5: error: a phase without a name (field name)");
    says(HEAD "  - { name: '' }\n", "4:13: error: a phase without a name (field name)");
}

static void
phase_names_have_a_pattern(void **state)
{
    (void)state;
    static const char *const bad[] = { "A", "1a", "a_b", "a--b", "-a", "a.b", "a/b", "ä" };

    clean(HEAD EXEC("a") EXEC("a-b") EXEC("a1-2-c"));
    for (size_t i = 0; i < COUNT(bad); i++) {
        char text[200], want[300];
        snprintf(text, sizeof text, HEAD "  - { name: %s }\n", bad[i]);
        snprintf(want, sizeof want,
                 "4:13: error: bad phase name \"%s\": begin with a-z, then a-z, 0-9 and single -, "
                 "at most 64 (phase %s, field name)",
                 bad[i], bad[i]);
        says(text, want);
    }
}

static void
phase_names_end_at_64(void **state)
{
    (void)state;
    char text[300];

    snprintf(text, sizeof text, HEAD "  - { name: %064d }\n", 0);
    memset(strchr(text, '0'), 'a', 64);
    clean(text);
    snprintf(text, sizeof text, HEAD "  - { name: %065d }\n", 0);
    memset(strchr(text, '0'), 'a', 65);
    struct fixture f = opened(text);
    must_say(&f, "team.yml:4:13: error: bad phase name");
    done(&f);
}

static void
two_phases_cannot_share_a_name(void **state)
{
    (void)state;
    says(HEAD EXEC("a") EXEC("a"), "5:13: error: two phases are named \"a\": the first is in line "
                                   "4 (phase a, field name)");
    says("name: t\nphases:\n" EXEC("a") "support:\n" EXEC("a"),
         "5:13: error: two phases are named \"a\": the first is in line 3 (phase a, field name)");
}

static void
agents_are_built_in_or_declared(void **state)
{
    (void)state;
    says(HEAD "  - { name: a, agent: claud-code }\n",
         "4:23: error: unknown agent \"claud-code\" (did you mean \"claude-code\"?): it is neither "
         "built in nor installed here nor declared under agents (phase a, field agent)");
    says(HEAD "  - { name: a, agent: qqqqqqq }\n",
         "4:23: error: unknown agent \"qqqqqqq\": it is neither built in nor installed here nor "
         "declared under agents "
         "(phase a, field agent)");
    says("agents: { analyst: { entry: x } }\n" HEAD "  - { name: a, agent: analist }\n",
         "5:23: error: unknown agent \"analist\" (did you mean \"analyst\"?): it is neither built "
         "in nor installed here nor declared under agents (phase a, field agent)");
    clean("agents: { analyst: { entry: x } }\n" HEAD "  - { name: a, agent: analyst }\n");
    clean(HEAD "  - { name: a, agent: claude-code }\n");
}

static void
every_agent_of_the_list_is_built_in(void **state)
{
    (void)state;
    static const char *const names[] = {
        "exec",    "checks", "script", "curl",       "hug",        "team",       "claude-code",
        "codex",   "gemini", "cursor", "opencode",   "claude-api", "openai-api", "gemini-api",
        "ollama",  "s3",     "jira",   "confluence", "gdrive",     "zendesk",    "hubspot",
        "datadog", "slack",  "email",  "webhook",
    };

    for (size_t i = 0; i < COUNT(names); i++)
        assert_true(team_is_builtin_agent(names[i]));
    assert_false(team_is_builtin_agent("mesh"));
    assert_false(team_is_builtin_agent(""));
}

static void
exec_checks_and_script_need_commands(void **state)
{
    (void)state;
    says(HEAD "  - { name: a, agent: exec }\n",
         "4:5: error: the agent exec needs commands: a list of {name, run} (phase a, field "
         "commands)");
    says(HEAD "  - { name: a, agent: exec, commands: [] }\n",
         "4:39: error: the agent exec needs commands: a list of {name, run} (phase a, field "
         "commands)");
    says(HEAD "  - { name: a, type: gate, agent: checks }\n",
         "4:5: error: the agent checks needs commands: a list of {name, run} (phase a, field "
         "commands)");
    says(HEAD "  - { name: a, type: gate, agent: exec }\n",
         "4:5: error: the agent exec needs commands: a list of {name, run} (phase a, field "
         "commands)");
    says(HEAD "  - { name: a, agent: script }\n",
         "4:5: error: the agent script needs commands: a list of {name, run} (phase a, field "
         "commands)");
    clean(HEAD EXEC("a"));
    clean(HEAD EXEC("x") "  - { name: a, type: gate, depends_on: [x], agent: checks, commands: [{ "
                         "name: c, run: x }] }\n");
}

static void
a_gate_needs_no_commands(void **state)
{
    (void)state;
    clean(HEAD EXEC("x") "  - { name: a, type: gate, depends_on: [x], agent: claude-code }\n");
}

static void
an_agent_of_the_team_hides_the_built_in_one(void **state)
{
    (void)state;
    clean("agents: { exec: { entry: x } }\n" HEAD "  - { name: a, agent: exec }\n");
    clean("agents: { jira: { entry: x } }\n" HEAD "  - { name: a, agent: jira }\n");
}

static void
commands_need_a_name_and_something_to_run(void **state)
{
    (void)state;
    says(HEAD "  - { name: a, agent: exec, commands: [{ run: x }] }\n",
         "4:40: error: a command without a name (phase a, field commands)");
    says(HEAD "  - { name: a, agent: exec, commands: [{ name: x }] }\n",
         "4:40: error: a command without run: nothing to do (phase a, field commands)");
    says(HEAD "  - { name: a, agent: exec, commands: [{ name: x, run: ' ' }] }\n",
         "4:40: error: a command without run: nothing to do (phase a, field commands)");
}

static void
escalate_on_fail_is_for_exec_alone(void **state)
{
    (void)state;
    clean(HEAD
          "  - { name: a, agent: exec, commands: [{ name: c, run: x, escalate_on_fail: true }] "
          "}\n");
    says(HEAD "  - name: g\n    type: gate\n    agent: checks\n    commands:\n"
              "      - { name: c, run: x, escalate_on_fail: false }\n",
         "8:46: error: escalate_on_fail is only for the commands of agent: exec: a gate's verdict "
         "decides here (phase g, field commands)");
    says(HEAD "  - { name: a, commands: [{ name: c, run: x, escalate_on_fail: true }] }\n",
         "4:64: error: escalate_on_fail is only for the commands of agent: exec (phase a, field "
         "commands)");
}

static void
hug_needs_a_reviewer(void **state)
{
    (void)state;
    says(HEAD "  - { name: a, type: gate, agent: hug }\n",
         "4:5: error: the agent hug needs review.reviewer: who decides (phase a, field review)");
    says(HEAD "  - { name: a, type: gate, agent: hug, review: { timeout: 1h } }\n",
         "4:48: error: review.reviewer must be a text or a list of texts: who decides (phase a, "
         "field review)");
    says(HEAD "  - { name: a, type: gate, agent: hug, review: { reviewer: [] } }\n",
         "4:60: error: review.reviewer must be a text or a list of texts: who decides (phase a, "
         "field review)");
    clean(HEAD "  - { name: a, type: gate, agent: hug, review: { reviewer: ann }, commands: [{ "
               "name: c, run: x }] }\n");
    clean(HEAD "  - { name: a, type: gate, agent: hug, review: { reviewer: [ann, bob] }, commands: "
               "[{ name: c, run: x }] }\n");
}

static void
hug_without_commands_is_a_warning(void **state)
{
    (void)state;
    says(HEAD "  - { name: a, type: gate, agent: hug, review: { reviewer: ann } }\n",
         "4:5: warning: no commands: people review without any checks (phase a, field commands)");
}

static void
hug_decides_gates_only(void **state)
{
    (void)state;
    says(HEAD "  - { name: a, agent: hug, review: { reviewer: ann } }\n",
         "4:23: error: the agent hug decides gates: write type: gate (phase a, field agent)");
}

static void
review_is_for_hug_gates_alone(void **state)
{
    (void)state;
    says(HEAD "  - { name: a, type: gate, agent: claude-code, review: { reviewer: ann } }\n",
         "4:56: error: review is only for gates with agent: hug (phase a, field review)");
    says(HEAD "  - { name: a, review: { reviewer: ann } }\n",
         "4:24: error: review is only for gates with agent: hug (phase a, field review)");
}

static void
reviews_have_times_and_artifacts(void **state)
{
    (void)state;
#define HUG(more)                                                                                  \
    HEAD "  - { name: a, type: gate, agent: hug, commands: [{ name: c, run: x }], review: { "      \
         "reviewer: ann, " more " } }\n"
    clean(HUG("timeout: 24h, remind_every: 2d, artifacts: ['*.md']"));
    says(HUG("timeout: never"), "4:107: error: review.timeout must be a time like 30m, 24h or 2d "
                                "(phase a, field review)");
    says(HUG("remind_every: 0d"), "4:112: error: review.remind_every must be a time like 30m, 24h "
                                  "or 2d (phase a, field review)");
    says(HUG("artifacts: x"),
         "4:109: error: review.artifacts must be a list of texts (phase a, field review)");
}

static void
team_phases_name_a_team(void **state)
{
    (void)state;
    says(HEAD "  - { name: a, type: team }\n",
         "4:5: error: a team phase needs team: the name of an installed team (phase a, field "
         "team)");
    clean(HEAD "  - { name: a, type: team, team: '@x/y', inputs: { a: b } }\n");
}

static void
team_is_for_team_phases_alone(void **state)
{
    (void)state;
    says(HEAD "  - { name: a, team: x }\n",
         "4:22: error: team is only for phases of type: team (phase a, field team)");
    says(HEAD "  - { name: a, agent: team }\n",
         "4:23: error: the agent team runs phases of type: team (phase a, field agent)");
    says(HEAD "  - { name: a, inputs: { x: y } }\n",
         "4:24: warning: inputs of a phase are only for type: team (phase a, field inputs)");
}

static void
connectors_need_an_action(void **state)
{
    (void)state;
    static const char *const names[] = { "jira", "confluence", "zendesk", "hubspot", "datadog" };

    for (size_t i = 0; i < COUNT(names); i++) {
        char text[200], want[200];
        snprintf(text, sizeof text, HEAD "  - { name: a, agent: %s, sources: [{ name: s }] }\n",
                 names[i]);
        snprintf(want, sizeof want,
                 "4:5: error: the agent %s needs an action (phase a, field action)", names[i]);
        says(text, want);
        snprintf(text, sizeof text,
                 HEAD "  - { name: a, agent: %s, action: get, sources: [{ name: s }] }\n",
                 names[i]);
        clean(text);
    }
}

static void
s3_gdrive_and_curl_need_no_action(void **state)
{
    (void)state;
    clean(HEAD "  - { name: a, agent: s3, sources: [{ name: s }] }\n"
               "  - { name: b, agent: gdrive, target_entries: [{ name: s, file: f }] }\n"
               "  - { name: c, agent: curl, sources: [{ name: s, url: u }] }\n");
}

static void
curl_needs_a_source_or_a_target(void **state)
{
    (void)state;
    says(HEAD "  - { name: a, agent: curl }\n",
         "4:23: error: the agent curl needs sources or target_entries (phase a, field agent)");
    clean(HEAD "  - { name: a, agent: curl, target_entries: [{ name: t, file: f }] }\n");
}

static void
a_connector_without_work_is_a_warning(void **state)
{
    (void)state;
    says(HEAD "  - { name: a, agent: jira, action: search }\n",
         "4:5: warning: the agent jira has neither sources nor target_entries (phase a, field "
         "sources)");
}

static void
sources_need_a_name_and_targets_a_file(void **state)
{
    (void)state;
    says(HEAD "  - { name: a, agent: curl, sources: [{ url: u }] }\n",
         "4:39: error: a source without a name (phase a, field sources)");
    says(HEAD "  - { name: a, agent: curl, sources: [u] }\n",
         "4:39: error: a source must be a map (phase a, field sources)");
    says(HEAD "  - { name: a, agent: curl, target_entries: [{ file: f }] }\n",
         "4:46: error: a target without a name (phase a, field target_entries)");
    says(HEAD "  - { name: a, agent: curl, target_entries: [{ name: n }] }\n",
         "4:46: error: a target without a file (phase a, field target_entries)");
    clean(HEAD "  - { name: a, agent: curl, sources: [{ name: s, extra: [1] }] }\n");
}

static void
targets_have_three_modes(void **state)
{
    (void)state;
    static const char *const modes[] = { "create", "append", "replace" };

    for (size_t i = 0; i < COUNT(modes); i++) {
        char text[200];
        snprintf(text, sizeof text,
                 HEAD "  - { name: a, agent: s3, target_entries: [{ name: n, file: f, mode: %s }] "
                      "}\n",
                 modes[i]);
        clean(text);
    }
    says(HEAD "  - { name: a, agent: s3, target_entries: [{ name: n, file: f, mode: x }] }\n",
         "4:70: error: the mode of a target must be create, append or replace, not \"x\" (phase a, "
         "field target_entries)");
    says(HEAD "  - { name: a, agent: s3, target_entries: [{ name: n, file: f, mode: [] }] }\n",
         "4:70: error: the mode of a target must be create, append or replace (phase a, field "
         "target_entries)");
}

static void
whom_to_notify_must_be_known(void **state)
{
    (void)state;
    clean(HEAD "  - { name: a, notify: { on_complete: { agent: slack, channel: ops }, on_fail: "
               "'email:ops', on_escalate: [webhook, { agent: jira }] } }\n");
    says(
        HEAD "  - { name: a, notify: { on_fail: { agent: slak } } }\n",
        "4:44: error: unknown agent \"slak\" (did you mean \"slack\"?): it is neither built in nor "
        "installed here nor declared under agents (phase a, field notify)");
    says(HEAD "  - { name: a, notify: { on_fail: { channel: x } } }\n",
         "4:35: error: say whom to notify: {agent: slack, channel: ops} (phase a, field notify)");
}

static void
names_of_variables_are_checked(void **state)
{
    (void)state;
    clean(HEAD "  - { name: a, env: { PATH: /x, _a1: '' } }\n");
    says(HEAD "  - { name: a, env: { A-B: x } }\n",
         "4:28: error: \"A-B\" cannot be the name of a variable (phase a, field env)");
    says(HEAD "  - { name: a, env: { 1A: x } }\n",
         "4:27: error: \"1A\" cannot be the name of a variable (phase a, field env)");
    says(HEAD "  - { name: a, env: { CLIQ_X: y } }\n",
         "4:31: warning: CLIQ_X: names that begin with CLIQ_ are set by cliq (phase a, field env)");
}

/* ---- the graph ---- */

static void
unknown_dependencies_suggest_the_nearest(void **state)
{
    (void)state;
    says(
        HEAD EXEC("design") "  - { name: build, depends_on: [desing] }\n",
        "5:33: error: depends on unknown phase \"desing\" (did you mean \"design\"?) (phase build, "
        "field depends_on)");
    says(HEAD EXEC("design") "  - name: build\n    depends_on:\n      - design\n      - other\n",
         "8:9: error: depends on unknown phase \"other\" (phase build, field depends_on)");
    says(HEAD EXEC("design") "  - { name: build, depends_on: 'design, other' }\n",
         "5:32: error: depends on unknown phase \"other\" (phase build, field depends_on)");
    says(HEAD EXEC("a") "  - { name: b, depends_on: [[x], nobody] }\n",
         "5:34: error: depends on unknown phase \"nobody\" (phase b, field depends_on)");
}

static void
a_phase_cannot_depend_on_itself(void **state)
{
    (void)state;
    struct fixture f = opened(HEAD EXEC("a") "  - { name: b, depends_on: [a, b] }\n");

    must_say(&f, "team.yml:5:32: error: depends on itself (phase b, field depends_on)\n");
    assert_int_equal(f.problems.errors, 1);
    done(&f);
}

static void
circles_are_written_out(void **state)
{
    (void)state;
    says(HEAD EXEC("r") "  - { name: a, depends_on: [b, r] }\n  - { name: b, depends_on: [a] }\n",
         "5:28: error: phases depend on each other in a circle: a → b → a (phase a, field "
         "depends_on)");
    says(HEAD EXEC("r") "  - { name: a, depends_on: [c] }\n  - { name: b, depends_on: [a] }\n"
                        "  - { name: c, depends_on: [b, r] }\n",
         "5:28: error: phases depend on each other in a circle: a → c → b → a (phase a, field "
         "depends_on)");
}

static void
a_circle_of_all_has_no_root_either(void **state)
{
    (void)state;
    struct fixture f =
        opened(HEAD "  - { name: a, depends_on: [b] }\n  - { name: b, depends_on: [a] }\n");

    must_say(&f, "team.yml:4:3: error: no phase can start: each one depends on another (field "
                 "phases)\n");
    must_say(&f, "circle: a → b → a (");
    assert_int_equal(f.problems.errors, 2);
    done(&f);
}

static void
diamonds_are_no_circles(void **state)
{
    (void)state;
    clean(HEAD EXEC("a") "  - { name: b, depends_on: [a] }\n  - { name: c, depends_on: [a] }\n"
                         "  - { name: d, depends_on: [b, c, a] }\n");
}

static void
circles_that_share_a_phase_are_told_separately(void **state)
{
    (void)state;
    struct fixture f = opened(HEAD EXEC("r") "  - { name: a, depends_on: [b, c] }\n"
                                             "  - { name: b, depends_on: [a] }\n"
                                             "  - { name: c, depends_on: [a] }\n");

    must_say(&f, "a → b → a (");
    must_say(&f, "a → c → a (");
    assert_int_equal(f.problems.errors, 2);
    done(&f);
}

static void
a_dependency_named_twice_is_a_warning(void **state)
{
    (void)state;
    says(HEAD EXEC("a") "  - { name: b, depends_on: [a, a] }\n",
         "5:32: warning: depends on \"a\" twice (phase b, field depends_on)");
}

static void
support_phases_stand_outside_the_graph(void **state)
{
    (void)state;
    says("name: t\nphases:\n" EXEC("a") "support:\n  - { name: s, depends_on: [a] }\n",
         "5:28: error: a support phase cannot depend on others: it runs when a gate routes to it "
         "(phase s, field depends_on)");
    says(
        "name: t\nphases:\n  - { name: a, depends_on: [s] }\nsupport:\n" EXEC("s"),
        "3:29: error: depends on the support phase \"s\", which only runs when a gate routes to it "
        "(phase a, field depends_on)");
    clean("name: t\ndescription: d\nphases:\n" EXEC("a") "support:\n" EXEC("s"));
}

/* ---- templates ---- */

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
conditions_that_cannot_be_meant_are_errors(void **state)
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
        { WHEN("'== high'"), "nothing stands before ==: write the variable there" },
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
conditions_that_can_be_meant_are_taken(void **state)
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
    says(WHEN("'$(inputs.x) =='"), "5:35: warning: nothing stands behind the operator: write '' "
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
    says(HEAD EXEC("a") "  - { name: b, depends_on: [a], agent: exec, commands: [{ name: c, run: "
                        "x }] }\n  - { name: c, depends_on: [b], env: { X: $(handoff.a) } }\n",
         "6:43: error: $(handoff.a): \"a\" is not a predecessor: add it to depends_on (phase c, "
         "field env)");
    says(HEAD "  - { name: a, env: { X: $(handoff.a) } }\n",
         "4:26: error: $(handoff.a): \"a\" is not a predecessor: add it to depends_on (phase a, "
         "field env)");
}

#define URL(text) HEAD "  - { name: a, agent: curl, sources: [{ name: s, url: '" text "' }] }\n"

static void
what_is_nearly_a_variable_is_an_error_where_no_shell_is(void **state)
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
in_commands_it_is_a_warning(void **state)
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
a_bad_name_is_told_once(void **state)
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
paths_of_handoffs_name_something(void **state)
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
support_phases_hear_from_gates(void **state)
{
    (void)state;
    clean(HEAD EXEC("a") "  - { name: g, type: gate, depends_on: [a] }\n"
                         "support:\n  - { name: s, env: { X: $(handoff.g.text) } }\n");
    says(HEAD EXEC("a") "support:\n  - { name: s, env: { X: $(handoff.a.text) } }\n",
         "6:26: error: $(handoff.a.text): a support phase only hears from gates, and \"a\" is none "
         "(phase s, field env)");
}

static void
directories_are_known_ones(void **state)
{
    (void)state;
    clean(HEAD RUN("ls $(dirs.project) $(dirs.work) $(dirs.state) $(dirs.files)"));
    says(HEAD RUN("ls $(dirs.home)"),
         "4:56: error: $(dirs.home): there are dirs.project, dirs.work, dirs.state and dirs.files "
         "(phase z, field commands)");
}

static void
the_words_of_a_run_and_the_shells_own_are_fine(void **state)
{
    (void)state;
    clean(HEAD RUN("echo $(team_name) $(phase) $(date) $(timestamp) $(run_id) $(pwd) $(date +%s)"));
}

static void
variables_cannot_stand_in_single_quotes(void **state)
{
    (void)state;
    struct fixture f = opened(INPUTS("[{ name: x }]") RUN("echo ''$(inputs.x)''"));

    must_say(&f, "team.yml:5:56: error: ");
    assert_int_equal(f.problems.errors, 1);
    done(&f);
    clean(INPUTS("[{ name: x }]") RUN("echo \"$(inputs.x)\" ''plain''"));
}

static void
variables_cannot_stand_in_a_quoted_here_document(void **state)
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

/* ---- roles ---- */

#define ROLE "Read what was found before and write down, in plain words, what follows from it.\n"

static void
thinking_agents_need_a_role(void **state)
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
the_others_need_none(void **state)
{
    (void)state;
    write_file("x.sh", "");
    clean_in(here(), "agents: { mine: { entry: x.sh } }\n" HEAD EXEC(
                         "a") "  - { name: b, agent: curl, sources: [{ name: s }] }\n"
                              "  - { name: c, agent: s3, sources: [{ name: s }] }\n"
                              "  - { name: d, agent: mine }\n"
                              "  - { name: e, agent: script, commands: [{ name: c, run: x }] }\n"
                              "  - { name: f, type: gate, agent: checks, depends_on: [a], "
                              "commands: [{ name: c, run: x "
                              "}] }\n"
                              "  - { name: g, type: gate, agent: hug, review: { reviewer: ann }, "
                              "commands: [{ name: c, run: x }] }\n"
                              "  - { name: h, agent: slack }\n");
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
    team_validate(&f.team, here(), &f.problems);
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
variables_in_roles_are_checked_where_they_stand(void **state)
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
a_role_must_be_text(void **state)
{
    (void)state;
    make_dirs("roles");
    write_file("roles/a.md", "one\ntwo \xff\n");
    says_in(here(), HEAD "  - { name: a }\n",
            "roles/a.md:2:5: error: the role is not plain UTF-8 text (phase a, field role)");
}

/* ---- all in one go ---- */

static void
ten_faults_are_ten_errors(void **state)
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
nothing_is_leaked_or_missed_without_memory(void **state)
{
    (void)state;
    const char *text = HEAD EXEC("a") "  - { name: b, depends_on: [x] }\n";

    for (size_t max = 1; max < 40000; max += 1000) {
        struct problems p = { .arena = { .max = max } };
        struct team t;
        struct err e;
        assert_int_equal(team_load(&t, "f", text, strlen(text), &p, &e), ST_OK);
        team_validate(&t, -1, &p);
        assert_int_equal(p.errors, 1); /* counted, even where it cannot be told */
        team_release(&t);
        problems_release(&p);
    }
}

/* ---- hostile teams ---- */

static void
ten_thousand_phases_in_a_chain_end_soon(void **state)
{
    (void)state;
    struct buf b = { 0 };

    buf_adds(&b, HEAD "  - { name: p0 }\n");
    for (int i = 1; i < 10000; i++)
        buf_addf(&b, "  - { name: p%d, depends_on: [p%d] }\n", i, i - 1);
    ends_soon(&b);
    buf_adds(&b, "  - { name: p0 }\n");
    ends_soon(&b);
    buf_release(&b);
}

static void
a_circle_of_ten_thousand_ends_soon(void **state)
{
    (void)state;
    struct buf b = { 0 };

    buf_adds(&b, HEAD);
    for (int i = 0; i < 10000; i++)
        buf_addf(&b, "  - { name: p%d, depends_on: [p%d] }\n", i, (i + 1) % 10000);
    struct fixture f = opened(b.p);
    must_say(&f, "(9980 more) → p0 (");
    done(&f);
    buf_release(&b);
}

static void
many_unknown_names_end_soon(void **state)
{
    (void)state;
    struct buf b = { 0 };

    buf_adds(&b, HEAD);
    for (int i = 0; i < 3000; i++)
        buf_addf(&b, "  - { name: phase-with-a-long-name-%d }\n", i);
    buf_adds(&b, "  - name: last\n    depends_on:\n");
    for (int i = 0; i < 15000; i++)
        buf_addf(&b, "      - phase-with-a-long-mane-%d\n", i);
    ends_soon(&b);
    buf_reset(&b);
    for (int i = 0; i < 40000; i++)
        buf_addf(&b, "descripton-%d: x\n", i);
    ends_soon(&b);
    buf_reset(&b);
    buf_adds(&b, HEAD "  - name: a\n    env:\n");
    for (int i = 0; i < 20000; i++)
        buf_addf(&b, "      K%d: $(inputs.nobody-%d)\n", i, i);
    ends_soon(&b);
    buf_reset(&b);
    buf_adds(&b, "agents:\n");
    for (int i = 0; i < 40000; i++)
        buf_addf(&b, "  a%d: { entry: x }\n", i);
    ends_soon(&b);
    buf_reset(&b);
    buf_adds(&b, "inputs:\n");
    for (int i = 0; i < 40000; i++)
        buf_addf(&b, "  - { name: i%d }\n", i);
    ends_soon(&b);
    buf_release(&b);
}

static void
many_circles_end_soon(void **state)
{
    (void)state;
    struct buf b = { 0 };

    buf_adds(&b, HEAD);
    for (int i = 0; i < 200; i++) {
        buf_addf(&b, "  - name: p%d\n    depends_on: [", i);
        for (int k = 0; k < 200; k++)
            buf_addf(&b, "%sp%d", k ? "," : "", k);
        buf_adds(&b, "]\n");
    }
    ends_soon(&b);
    buf_release(&b);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(every_field_of_a_phase_is_read),
        CASE(a_phase_has_defaults),
        CASE(the_head_is_read),
        CASE(phases_may_stand_in_workflow_or_at_the_top),
        CASE(phases_in_both_places_are_an_error),
        CASE(depends_on_may_be_a_list_or_commas),
        CASE(times_have_units),
        CASE(times_have_a_range),
        CASE(retries_are_0_to_5),
        CASE(max_iterations_are_1_to_5),
        CASE(unknown_keys_warn_with_the_nearest_known_one),
        CASE(merge_keys_are_said_to_mean_nothing),
        CASE(wrong_shapes_are_errors_where_they_stand),
        CASE(null_is_the_same_as_absent),
        CASE(types_are_known_ones),
        CASE(type_names_are_those_of_the_file),
        CASE(bad_yaml_is_a_problem_with_its_place),
        CASE(an_empty_file_and_a_list_are_no_teams),
        CASE(too_many_phases_are_refused),
        CASE(a_file_is_read_and_a_missing_one_is_not_found),
        CASE(a_file_of_more_than_a_mebibyte_is_a_problem),
        CASE(releasing_twice_is_fine),
        CASE(problems_outlive_the_team),
        CASE(problems_are_sorted_by_file_line_and_column),
        CASE(problems_as_json),
        CASE(problems_cannot_drive_a_terminal),
        CASE(a_team_needs_a_name),
        CASE(team_names_have_a_pattern),
        CASE(a_team_needs_phases),
        CASE(a_missing_description_is_a_warning),
        CASE(versions_look_like_1_2_3),
        CASE(inputs_need_a_name_of_their_own),
        CASE(unused_inputs_are_warnings),
        CASE(an_input_that_a_role_may_use_is_not_called_unused),
        CASE(every_text_counts_as_a_use),
        CASE(input_types_and_defaults_are_checked),
        CASE(own_agents_need_an_entry_inside_the_team),
        CASE(entries_must_be_there),
        CASE(phases_need_a_name),
        CASE(phase_names_have_a_pattern),
        CASE(phase_names_end_at_64),
        CASE(two_phases_cannot_share_a_name),
        CASE(agents_are_built_in_or_declared),
        CASE(every_agent_of_the_list_is_built_in),
        CASE(exec_checks_and_script_need_commands),
        CASE(a_gate_needs_no_commands),
        CASE(an_agent_of_the_team_hides_the_built_in_one),
        CASE(commands_need_a_name_and_something_to_run),
        CASE(escalate_on_fail_is_for_exec_alone),
        CASE(hug_needs_a_reviewer),
        CASE(hug_without_commands_is_a_warning),
        CASE(hug_decides_gates_only),
        CASE(review_is_for_hug_gates_alone),
        CASE(reviews_have_times_and_artifacts),
        CASE(team_phases_name_a_team),
        CASE(team_is_for_team_phases_alone),
        CASE(connectors_need_an_action),
        CASE(s3_gdrive_and_curl_need_no_action),
        CASE(curl_needs_a_source_or_a_target),
        CASE(a_connector_without_work_is_a_warning),
        CASE(sources_need_a_name_and_targets_a_file),
        CASE(targets_have_three_modes),
        CASE(whom_to_notify_must_be_known),
        CASE(names_of_variables_are_checked),
        CASE(unknown_dependencies_suggest_the_nearest),
        CASE(a_phase_cannot_depend_on_itself),
        CASE(circles_are_written_out),
        CASE(a_circle_of_all_has_no_root_either),
        CASE(diamonds_are_no_circles),
        CASE(circles_that_share_a_phase_are_told_separately),
        CASE(a_dependency_named_twice_is_a_warning),
        CASE(support_phases_stand_outside_the_graph),
        CASE(undeclared_inputs_are_errors),
        CASE(conditions_that_cannot_be_meant_are_errors),
        CASE(conditions_that_can_be_meant_are_taken),
        CASE(handoffs_come_from_predecessors),
        CASE(what_is_nearly_a_variable_is_an_error_where_no_shell_is),
        CASE(in_commands_it_is_a_warning),
        CASE(paths_of_handoffs_name_something),
        CASE(a_bad_name_is_told_once),
        CASE(a_gate_judges_what_it_depends_on),
        CASE(support_phases_hear_from_gates),
        CASE(directories_are_known_ones),
        CASE(the_words_of_a_run_and_the_shells_own_are_fine),
        CASE(variables_cannot_stand_in_single_quotes),
        CASE(variables_cannot_stand_in_a_quoted_here_document),
        CASE(variables_under_another_shell_are_warnings),
        CASE(fields_that_are_not_expanded_warn),
        CASE(thinking_agents_need_a_role),
        CASE(the_others_need_none),
        CASE(a_role_may_have_another_name_than_its_phase),
        CASE(a_role_cannot_leave_its_directory),
        CASE(in_an_assembled_team_roles_are_named_after_phases),
        CASE(a_short_role_is_a_warning),
        CASE(a_role_that_invents_tools_is_a_warning),
        CASE(variables_in_roles_are_checked_where_they_stand),
        CASE(a_role_must_be_text),
        CASE(ten_faults_are_ten_errors),
        CASE(the_examples_of_the_sdk_page_are_valid),
        CASE(the_example_of_the_header_is_valid),
        CASE(nothing_is_leaked_or_missed_without_memory),
        CASE(ten_thousand_phases_in_a_chain_end_soon),
        CASE(a_circle_of_ten_thousand_ends_soon),
        CASE(many_unknown_names_end_soon),
        CASE(many_circles_end_soon),
    };

    return cmocka_run_group_tests_name("team", tests, NULL, NULL);
}
