#!/usr/bin/env bats
# The keys of a phase that its agent's manifest declares: checked, expanded, delivered.
load ../lib/cli

# A team whose agent w writes the message that it gets to message.json: with this schema and a phase
# with these keys.
team_of() { # SCHEMA KEYS [TEAM LINES]
    mkdir -p team/agents/w
    printf '{"name":"w","schema":%s}\n' "$1" >team/agents/w/manifest.json
    printf '#!/bin/sh\ncat >"$CLIQ_PROJECT_DIR/message.json"\n"%s" sdk begin <"$CLIQ_PROJECT_DIR/message.json" >"$CLIQ_PROJECT_DIR/vars"
. "$CLIQ_PROJECT_DIR/vars"\nfor f in $FIELDS; do "%s" sdk get "$f"; done >"$CLIQ_PROJECT_DIR/fields"\n"%s" sdk complete\n' \
        "$CLIQ" "$CLIQ" "$CLIQ" >team/agents/w/agent.sh
    cat >team/team.yml <<END
name: "@a/t"
description: d
agents: { w: { entry: agents/w/agent.sh, env: [FIELDS] } }
$3
phases:
  - name: one
    agent: w
$2
END
}
config() { $PY -c 'import json; print(json.dumps(json.load(open("message.json"))["payload"]["phase_config"], separators=(",",":")))'; }
runs() { "$CLIQ" init >/dev/null && "$CLIQ" assemble ./team >/dev/null && "$CLIQ" req -m go "$@" >/dev/null && got run --headless && succeeds; }

@test "declared fields are accepted, expanded, and delivered with their types and defaults" {
    team_of '{"depth":{"type":"integer","required":true},"mode":{"type":"string","enum":["read","edit"],"default":"read"},
"words":{"type":"list"},"map":{"type":"object"},"loud":{"type":"boolean"},"none":{"type":"string"}}' \
        '    depth: $(inputs.depth)
    words: [$(inputs.word), plain]
    map: { k: "$(phase)" }
    loud: true' 'inputs: [{ name: depth }, { name: word, default: hi }]'
    got team validate team
    succeeds
    is "team/team.yml: valid: @a/t, 1 phase" "$out"
    runs --input depth=7
    is '{"depth":7,"mode":"read","words":["hi","plain"],"map":{"k":"one"},"loud":true}' "$(config)"
}

@test "an agent reads them as dispatch.phase_config, with the fields that every phase may have" {
    team_of '{"depth":{"type":"integer","default":2}}' '    model: big'
    export FIELDS="dispatch.phase_config.depth dispatch.phase_config.model phase_config"
    runs
    is $'2\nbig\n{"depth":2,"model":"big"}' "$(<fields)"
}

@test "team info shows what an agent takes" {
    team_of '{"depth":{"type":"integer","required":true,"description":"how far"},"mode":{"type":"string","enum":["read","edit"],"default":"read"}}' \
        '    depth: 1'
    mkdir -p "$CLIQ_HOME/agents" && cp -r team/agents/w "$CLIQ_HOME/agents/"
    sed -i 's/{"name"/{"entry":"agent.sh","name"/' "$CLIQ_HOME/agents/w/manifest.json"
    got team info --agents w
    succeeds
    has "$out" "depth (required): integer: how far"
    has "$out" 'mode: string, one of "read", "edit", default "read"'
}

@test "a wrong value, a missing one and an unknown key have their line and column" {
    team_of '{"depth":{"type":"integer","required":true,"description":"how far"},"mode":{"enum":["read","edit"]}}' \
        '    mode: write
    dept: 3'
    got team validate team
    is 1 "$code"
    has "$out" 'team/team.yml:6:5: error: the agent w needs depth: how far (phase one, field depth)'
    has "$out" 'team/team.yml:8:11: error: mode must be read or edit, not "write" (agent w) (phase one, field mode)'
    has "$out" 'team/team.yml:9:5: warning: unknown key "dept" in a phase (did you mean "depth"?) (phase one)'
}

@test "a value that does not fit once it is expanded fails the phase, and says why" {
    team_of '{"depth":{"type":"integer"}}' '    depth: $(inputs.depth)' 'inputs: [{ name: depth }]'
    "$CLIQ" init >/dev/null && "$CLIQ" assemble ./team >/dev/null && "$CLIQ" req -m go --input depth=deep >/dev/null
    got run --headless
    is 3 "$code"
    has "$out$err" 'phase one: depth must be a whole number, not "deep"'
    [ ! -e message.json ]
}

@test "the agent that a run chooses for a phase without one checks the phase's fields" {
    team_of '{"depth":{"type":"integer","required":true}}' ''
    sed -i '/agent: w/d' team/team.yml
    mkdir team/roles && printf 'Do what the requirement asks for, and say what you did.\n' >team/roles/one.md
    got team validate team
    succeeds
    "$CLIQ" init >/dev/null && "$CLIQ" assemble ./team 2>/dev/null >/dev/null && "$CLIQ" req -m go >/dev/null
    got run --headless --agent w
    is 1 "$code"
    has "$err" 'workflow.yml:6:5: error: the agent w needs depth (phase one, field depth)'
    has "$err" 'nothing was run'
}

@test "a program without a manifest that stands in for a built-in agent gets that one's fields" {
    team_of '{}' '    permission_mode: plan
    max_turns: 4'
    rm team/agents/w/manifest.json
    sed -i 's/agent: w/agent: claude-code/' team/team.yml
    mkdir team/roles && printf 'Do what the requirement asks for, and say what you did.\n' >team/roles/one.md
    "$CLIQ" init >/dev/null
    "$CLIQ" settings agents.claude-code.entry agents/w/agent.sh >/dev/null
    runs
    is '{"permission_mode":"plan","max_turns":4}' "$(config)"
}

@test "a schema that describes nothing that a phase could have is an error of the manifest" {
    team_of '{"a":"integer","b":{"type":"int"},"c":{"type":"integer","default":"x"},"d":{"requird":true},"e":{"enum":"x"}}' ''
    got team validate team
    is 1 "$code"
    has "$out" 'manifest.json:1:23: error: schema.a must be an object that describes a phase'"'"'s field: {"type": "string"}'
    has "$out" 'error: schema.b.type must be string, integer, number, boolean, list or object, not "int"'
    has "$out" 'error: schema.c.default must be a whole number, not "x"'
    has "$out" 'warning: unknown key "schema.d.requird" (did you mean "schema.d.required"?)'
    has "$out" 'error: schema.e.enum must be a list'
    team_of '{"":{},"f":{"enum":[]}}' ''
    got team validate team
    has "$out" 'error: schema has a field without a name'
    has "$out" 'error: schema.f.enum is empty: no value fits'
    team_of '{"type":"object","properties":{"depth":{"type":"integer"}}}' ''
    got team validate team
    has "$out" 'manifest.json:1:13: error: schema is a JSON Schema: write what its properties hold as schema itself'
}
