#!/usr/bin/env bats
# What a project is set up with: requirements, settings, trust, its id; and arguments that are missing.
load pipeline

@test "a missing argument is named" {
    got retry
    refused 2 "an argument is missing: cliq retry PHASE"
    got assemble
    refused 2 "an argument is missing: cliq assemble"
    got team new
    refused 2 "an argument is missing: cliq team new"
}

@test "req refuses an empty requirement and keeps what it cannot read; choices are listed" {
    team <<'END'
inputs:
  - {name: where, choices: [here, there], default: here, description: place}
  - {name: who, default: all, description: people}
phases: [{name: one, agent: exec, commands: [{name: x, run: "echo $(inputs.where) $(inputs.who)"}]}]
END
    got req -m " "
    refused 2 "the requirement is empty" "-m TEXT"
    : >"$T/empty"
    got req -f "$T/empty"
    refused 2 "the requirement is empty"
    got req --input where=nowhere
    refused 2 'input where cannot be "nowhere": choose here, there'
    got req --input whom=x
    refused 2 'no input "whom" (did you mean who?); it has where, who'
    printf '{"who":"ann",}' >.cliq/inputs.json
    got req --input where=there
    refused 2 "inputs.json:1:"
    is '{"who":"ann",}' "$(<.cliq/inputs.json)"
    printf '{"who":"ann"}' >.cliq/inputs.json
    got req --input where=there -m x
    succeeds
    is "ann there" "$(json .cliq/inputs.json 'd["who"] + " " + d["where"]')"
}

@test "settings: --unset of what is not set there says so; keys are checked before all else" {
    cd "$T/proj"
    "$CLIQ" init >/dev/null
    got settings default_agent script --global
    succeeds
    got settings default_agent --unset
    refused 4 "default_agent is not set in $STATE/settings.json (--global"
    got settings agents.x.y --unset
    refused 4 "agents.x.y is not set"
    got settings default_agent --unset --global
    succeeds
    got settings default_agent --unset --global
    refused 4 "default_agent is not set in $CLIQ_HOME/settings.json"
    local key
    for key in "" .x x. a..b; do
        got settings "$key"
        refused 2 "bad settings key \"$key\""
        got settings "$key" 1
        refused 2 "bad settings key \"$key\""
        lacks "$err" warning
    done
}

@test "settings: a value that its key cannot have is refused where it is set and where it is read" {
    agent a <<<'ok; complete'
    team <<<'phases:
  - {name: one, agent: a}'
    got settings channel.max_message_size_bytes abc
    refused 2 'channel.max_message_size_bytes must be a whole number of bytes, at least 1, not "abc"'
    got settings notifications.on_foo slack:ops
    refused 2 "notifications.on_foo: there is no such event; these are: on_start, on_phase_start"
    is '{}' "$(<.cliq/settings.json)"
    echo '{"notifications":{"on_foo":["slack"]}}' >.cliq/settings.json
    got run --headless
    refused 2 "$STATE/settings.json: notifications.on_foo: there is no such event"
    [ ! -e "$T/starts" ]
    got settings notifications.on_foo --unset
    succeeds
    run_ok
    got settings --info
    has "$out" channel.max_message_size_bytes
    has "$out" notifications.on_phase_complete
}

@test "settings --info of a key and as JSON; a file that is no JSON is no wrong usage" {
    team <<<'phases: [{name: one, agent: exec, commands: [{name: t, run: "true"}]}]'
    got settings --info --json
    succeeds
    is "True True" "$($PY -c 'import json,sys
d = json.load(sys.stdin)
print(len(d) > 10, all(r["key"] and r["says"] and r["takes"] for r in d))' <<<"$out")"
    got settings --info hub
    succeeds
    is "hub.retention hub.streams_per_key hub.url hub.token" "$(grep -o '^[a-z][^ ]*' <<<"$out" | paste -sd' ')"
    got settings --info agents.mine.entry --json
    succeeds
    is "agents.*.entry" "$($PY -c 'import json,sys; print(*[r["key"] for r in json.load(sys.stdin)])' <<<"$out")"
    got settings --info default_agnet
    refused 4 'knows no setting "default_agnet" (did you mean default_agent?)'
    got settings --info default_agent x
    refused 2 "--info changes nothing"
    local text c
    for text in '{"a":' '[]'; do
        echo "$text" >.cliq/settings.json
        for c in settings "settings default_agent x" "run --headless"; do
            got $c
            refused 1 "$STATE/settings.json:"
        done
        is "$text" "$(<.cliq/settings.json)"
    done
}

@test "agents that the settings of a cloned project put in others' place are not run before they are trusted" {
    team <<'END'
phases:
  - {name: one, agent: exec, commands: [{name: x, run: "true"}]}
END
    run_ok
    printf '#!/bin/sh\ntouch %s/owned\n' "$T" >.cliq/evil.sh
    chmod +x .cliq/evil.sh
    echo '{"agents":{"exec":{"entry":"evil.sh"}}}' >.cliq/settings.json
    got run $HEADLESS --force
    code_is 7
    has "$err" "cliq team trust"
    [ ! -e "$T/owned" ]
    "$CLIQ" team trust .cliq >/dev/null
    got run $HEADLESS --force
    code_is 3 # it says nothing
    [ -e "$T/owned" ]
    echo "# other content" >>.cliq/evil.sh # nor after it was changed
    got run $HEADLESS --force
    code_is 7
    # who sets it by the command has not trusted the rest; but what was trusted is, then
    "$CLIQ" settings agents.checks.entry evil.sh
    got run $HEADLESS --force
    code_is 7
    "$CLIQ" settings agents --unset
    run_ok --force
    "$CLIQ" settings agents.exec.entry evil.sh
    got run $HEADLESS --force
    code_is 3
}

@test "an id of a project that is none is refused, and init makes a new one" {
    team <<'END'
phases:
  - {name: one, agent: exec, commands: [{name: x, run: "true"}]}
END
    for id in '' ../../../evil cliq-12345 cliq-1234567 cliq-ABCDEF; do
        echo "$id" >.cliq/cliq.id
        got run $HEADLESS
        code_is 1
        has "$err" "cliq.id is missing or damaged"
    done
    rm .cliq/cliq.id
    got run $HEADLESS
    code_is 1
    "$CLIQ" init >/dev/null
    run_ok
}

@test "a team that was changed after it was assembled runs as it was, and a note says so" {
    agent a <<<'ok; complete'
    mkdir -p "$T/team/roles" && echo "You work with care, and you write down what you did." >"$T/team/roles/one.md"
    team <<<'phases: [{name: one, agent: a, role: one}]'
    run_ok
    is "" "$err"
    local file
    for file in agents/a/agent.sh agents/a/lib/new.sh roles/one.md team.yml; do
        mkdir -p "$T/team/agents/a/lib"
        [ -e "$T/team/$file" ] || echo true >"$T/team/$file"
        touch -d '+1 hour' "$T/team/$file"
        got run --headless
        code_is 0
        is "cliq: note: $T/team/$file was changed after the team was assembled, and the copy in .cliq/ runs: cliq assemble $T/team" "$err"
        got assemble ../team
        touch -d '-1 hour' "$T/team/$file"
        run_ok
        is "" "$err"
    done
    mkdir -p "$T/team/agents/a/__pycache__" && touch -d '+2 hours' "$T/team/agents/a/__pycache__/x.pyc"
    run_ok
    is "" "$err"
    (cd "$T" && cp -r proj/.cliq/run/assembled.json before && "$CLIQ" init >/dev/null && cd team && touch -d '+3 hours' team.yml)
    cd "$T/team" && got assemble .
    touch -d '+4 hours' team.yml
    got run --headless
    has "$err" "note: ./team.yml was changed after the team was assembled, and the copy in .cliq/ runs: cliq assemble ."
    cd "$T/proj" && rm -r "$T/team"
    run_ok
    is "" "$err"
}
