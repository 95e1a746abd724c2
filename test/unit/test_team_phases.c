/*
 * Tests team/validate and team/validate_phase: the rules for a team, its inputs, its agents and its
 * phases. Each rule is once broken, with the exact position and message, and once obeyed.
 */
#include "teams.h"

#include "team/builtin_agents.h"

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
    clean(INPUTS("[{ name: x }]") "  - { name: a }\n"); /* roles/a.md is not read */
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

#define OUTSIDE                                                                                    \
    " must be a path inside agents/ of the team's directory: assemble copies only these files to " \
    "the project (field agents)"

static void
own_agents_need_an_entry_below_agents(void **state)
{
    (void)state;
    says("agents: { x: { env: [A] } }\n",
         "1:11: error: the agent \"x\" has no entry (field agents)");
    says("agents: { x: { entry: /bin/sh } }\n", "1:23: error: the entry \"/bin/sh\"" OUTSIDE);
    says("agents: { x: { entry: agents/../../b } }\n",
         "1:23: error: the entry \"agents/../../b\"" OUTSIDE);
    says("agents: { x: { entry: bin/a.sh } }\n", "1:23: error: the entry \"bin/a.sh\"" OUTSIDE);
    says("agents: { x: { entry: ./a.sh } }\n", "1:23: error: the entry \"./a.sh\"" OUTSIDE);
    says("agents: { x: { entry: agents } }\n", "1:23: error: the entry \"agents\"" OUTSIDE);
    clean("agents: { x: { entry: ./agents/x } }\n" HEAD "  - { name: a, agent: x }\n");
    says("agents: { '': { entry: agents/a } }\n",
         "1:11: error: an agent without a name (field agents)");
    says("agents: { 'a/b': { entry: agents/a } }\n",
         "1:11: error: bad agent name \"a/b\": use 1 to 64 of A-Z a-z 0-9 . _ - and start with a "
         "letter, a digit or _ (field agents)");
    says("agents: { x: { entry: agents/a, env: ['A=1'] } }\n",
         "1:38: error: \"A=1\" is not the name of a variable (agent x) (field agents)");
}

static void
entries_must_exist(void **state)
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
    says("agents: { analyst: { entry: agents/x } }\n" HEAD "  - { name: a, agent: analist }\n",
         "5:23: error: unknown agent \"analist\" (did you mean \"analyst\"?): it is neither built "
         "in nor installed here nor declared under agents (phase a, field agent)");
    clean("agents: { analyst: { entry: agents/x } }\n" HEAD "  - { name: a, agent: analyst }\n");
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
        assert_non_null(builtin_find(names[i]));
    assert_null(builtin_find("mesh"));
    assert_null(builtin_find(""));
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
    clean("agents: { exec: { entry: agents/x } }\n" HEAD "  - { name: a, agent: exec }\n");
    clean("agents: { jira: { entry: agents/x } }\n" HEAD "  - { name: a, agent: jira }\n");
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
a_commands_timeout_is_for_exec_and_checks(void **state)
{
    (void)state;
    clean(HEAD "  - { name: a, agent: exec, commands: [{ name: c, run: x, timeout: 20m }] }\n"
               "  - { name: g, type: gate, depends_on: [a], commands: [{ name: c, run: x, timeout: "
               "90s }] }\n");
    says(HEAD "  - { name: a, agent: script, commands: [{ name: c, run: x, timeout: 1s }] }\n",
         "4:70: error: timeout of a command is only for agent: exec and for a gate's checks: set "
         "the phase's timeout (phase a, field commands)");
    says(HEAD "  - { name: a, agent: exec, commands: [{ name: c, run: x, timeout: soon }] }\n",
         "4:68: error: timeout must be a time like 90s, 20m or 2h, not \"soon\" (phase a, field "
         "timeout)");
    says(HEAD "  - { name: a, agent: exec, commands: [{ name: c, run: x, timeout: 0s }] }\n",
         "4:68: error: timeout must be more than 0 and at most 720h, not \"0s\" (phase a, field "
         "timeout)");
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
    says(HEAD "  - { name: a, type: gate, agent: hug, review: { reviewer: [ann, the boss] } }\n",
         "4:66: error: the reviewer \"the boss\" names nobody: write slack:elan, email:ops or a "
         "name (phase a, field review)");
    says(
        HEAD "  - { name: a, type: gate, agent: hug, review: { reviewer: \"slak:elan\" } }\n",
        "4:60: error: unknown agent \"slak\" (did you mean \"slack\"?): it is neither built in nor "
        "installed here nor declared under agents (phase a, field review)");
    says(HEAD "  - { name: a, type: gate, agent: hug, review: { reviewer: ann, require: one } }\n",
         "4:74: error: review.require must be any or all (phase a, field review)");
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
    clean(HUG("artifacts: ['a/..b/*', '..c', './d']"));
    says(HUG("artifacts: [ok, a/../../b]"),
         "4:114: warning: the artifacts \"a/../../b\" lead out of the project: no file is shown "
         "(phase a, field review)");
    says(HUG("artifacts: [/etc/*]"),
         "4:110: warning: the artifacts \"/etc/*\" lead out of the project: no file is shown "
         "(phase a, field review)");
    says(HUG("artifacts: ['..']"),
         "4:110: warning: the artifacts \"..\" lead out of the project: no file is shown "
         "(phase a, field review)");
}

static void
team_phases_name_a_team(void **state)
{
    (void)state;
    says(HEAD "  - { name: a, type: team }\n",
         "4:5: error: a team phase needs team: ./teams/NAME of this directory, or the name of an "
         "installed team (phase a, field "
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
    static const struct {
        const char *name, *action;
    } agents[] = { { "jira", "search" },
                   { "confluence", "search" },
                   { "zendesk", "search" },
                   { "hubspot", "list" },
                   { "datadog", "search_logs" } };

    for (size_t i = 0; i < COUNT(agents); i++) {
        char text[200], want[200];
        snprintf(text, sizeof text, HEAD "  - { name: a, agent: %s, sources: [{ name: s }] }\n",
                 agents[i].name);
        snprintf(want, sizeof want,
                 "4:5: error: the agent %s needs an action (phase a, field action)",
                 agents[i].name);
        says(text, want);
        snprintf(text, sizeof text,
                 HEAD "  - { name: a, agent: %s, action: %s, sources: [{ name: s }] }\n",
                 agents[i].name, agents[i].action);
        clean(text);
        snprintf(text, sizeof text,
                 HEAD "  - { name: a, agent: %s, sources: [{ name: s, action: %s }] }\n",
                 agents[i].name, agents[i].action);
        clean(text);
    }
}

static void
an_action_that_a_built_in_agent_lacks_is_an_error(void **state)
{
    (void)state;
    says(HEAD "  - { name: a, agent: s3, action: fetch, sources: [{ name: s }] }\n",
         "4:35: error: the agent s3 has no action \"fetch\"; these are: get list put (phase a, "
         "field "
         "action)");
    clean(HEAD "  - { name: a, agent: exec, action: any, commands: [{ name: c, run: x }] }\n");
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
the_receivers_of_notifications_are_checked(void **state)
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

int
main(void)
{
    const struct CMUnitTest tests[] = {
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
        CASE(own_agents_need_an_entry_below_agents),
        CASE(entries_must_exist),
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
        CASE(a_commands_timeout_is_for_exec_and_checks),
        CASE(hug_needs_a_reviewer),
        CASE(hug_without_commands_is_a_warning),
        CASE(hug_decides_gates_only),
        CASE(review_is_for_hug_gates_alone),
        CASE(reviews_have_times_and_artifacts),
        CASE(team_phases_name_a_team),
        CASE(team_is_for_team_phases_alone),
        CASE(connectors_need_an_action),
        CASE(an_action_that_a_built_in_agent_lacks_is_an_error),
        CASE(s3_gdrive_and_curl_need_no_action),
        CASE(curl_needs_a_source_or_a_target),
        CASE(a_connector_without_work_is_a_warning),
        CASE(sources_need_a_name_and_targets_a_file),
        CASE(targets_have_three_modes),
        CASE(the_receivers_of_notifications_are_checked),
        CASE(names_of_variables_are_checked),
    };

    return cmocka_run_group_tests_name("team phases", tests, NULL, NULL);
}
