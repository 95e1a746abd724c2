#!/usr/bin/env bats
# What a team requires: agents that can run the types of its phases, programs, a version of cliq.
load ../lib/cli

# A team with one phase of the agent w, which has these capabilities.
team_of() { # CAPABILITIES PHASE [TEAM LINES]
    mkdir -p team/agents/w
    printf '{"name":"w","capabilities":%s}\n' "$1" >team/agents/w/manifest.json
    printf '#!/bin/sh\ncat >"$CLIQ_PROJECT_DIR/began"\n' >team/agents/w/agent.sh
    cat >team/team.yml <<END
name: "@a/t"
description: d
$3
agents: { w: { entry: agents/w/agent.sh } }
phases:
  - { name: first, agent: exec, commands: [{ name: c, run: "true" }] }
  - { name: one, depends_on: [first], $2 }
END
}

@test "an agent that only decides gates cannot run a standard phase, nor the other way round" {
    team_of '["phase:gate"]' 'agent: w'
    got team validate team
    is 1 "$code"
    has "$out" 'team.yml:7:46: error: the agent w decides gates: write type: gate (phase one, field agent)'
    team_of '["phase:standard", "test"]' 'agent: w, type: gate'
    got team validate team
    is 1 "$code"
    has "$out" 'error: the agent w runs phases of type: standard, and decides no gates (phase one, field agent)'
    team_of '["notify"]' 'agent: w'
    got team validate team
    has "$out" 'error: the agent w runs no phases: name it in notify (phase one, field agent)'
    team_of '["phase:gate", "phase:standard"]' 'agent: w'
    got team validate team
    succeeds
}

@test "the capabilities of built-in agents count, too" {
    team_of '[]' 'agent: curl, type: gate, sources: [{ name: x, url: "http://127.0.0.1" }]'
    got team validate team
    has "$out" 'error: the agent curl runs phases of type: standard, and decides no gates'
    team_of '[]' 'agent: slack'
    got team validate team
    has "$out" 'error: the agent slack runs no phases: name it in notify'
}

@test "notifying an agent that takes no notifications is a warning" {
    team_of '["phase:standard"]' 'agent: w, notify: { on_start: w }'
    got team validate team
    succeeds
    has "$out" 'warning: the agent w takes no notifications: its manifest lacks the capability notify'
}

@test "an agent that a run chooses must be able to run the phase; nothing is started" {
    team_of '["phase:gate"]' 'env: { A: b }'
    mkdir team/roles && printf 'Do what the requirement asks for, and say what you did.\n' >team/roles/one.md
    "$CLIQ" init >/dev/null
    "$CLIQ" assemble ./team >/dev/null 2>&1
    "$CLIQ" req -m go >/dev/null
    got run --headless --agent w
    is 1 "$code"
    has "$err" 'workflow.yml:7:5: error: the agent w decides gates: write type: gate (phase one, field agent)'
    [ ! -e .cliq/run/journal.jsonl ]
}

@test "a tool that is not on PATH is a warning of validate, and a run does not start" {
    team_of '[]' 'agent: exec, commands: [{ name: c, run: "true" }]' 'tools: [sh, no-such-tool]'
    got team validate team
    succeeds
    has "$out" 'team.yml:3:8: warning: the team needs the program no-such-tool, which is not on PATH (field tools)'
    "$CLIQ" init >/dev/null
    got assemble ./team
    succeeds
    "$CLIQ" req -m go >/dev/null
    got run --headless
    is 4 "$code"
    has "$err" 'the team needs the program no-such-tool (tools in its file), which is not on PATH; nothing was run'
    [ ! -e .cliq/run/journal.jsonl ]
}

@test "a team for another cliq is refused, and so is a range that cannot be read" {
    team_of '[]' 'agent: exec, commands: [{ name: c, run: "true" }]' 'cliq_version: ">=0.1 <900"'
    got team validate team
    succeeds
    sed -i 's/cliq_version.*/cliq_version: ^900.1/' team/team.yml
    got assemble ./team
    is 1 "$code"
    has "$err" 'team.yml:3:15: error: the team needs cliq ^900.1; this is cliq'
    sed -i 's/cliq_version.*/cliq_version: newest/' team/team.yml
    got team validate team
    is 1 "$code"
    has "$out" 'error: cliq_version: "newest" is not a range of versions: write it like ">=0.1 <2", "^0.1.0", "~1.2" or "1.x"'
}
