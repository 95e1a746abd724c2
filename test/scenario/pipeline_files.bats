#!/usr/bin/env bats
# Phases with `files`: two that write the same files do not run at once, and others keep off them.
load pipeline
load ../lib/hub

held() { "$CLIQ" lease list --json | field "$1" | paste -sd' '; }
nothing_held() { [ "$("$CLIQ" lease list --json)" = "[]" ]; }

@test "a phase waits while one that writes the same files runs, and status says so" {
    hold one && hold two && hold three
    agent a <<<'ok; await "$P"; complete'
    team <<'END'
phases:
  - {name: one, agent: a, files: [src/, doc/a.md]}
  - {name: two, agent: a, files: ["src/**/*.c"]}
  - {name: three, agent: a, files: ["doc/b*"]}
END
    start_run run
    until_true says "$T/starts" three
    is "one.1 three.1" "$(sort "$T/starts" | paste -sd' ')"
    like "$("$CLIQ" status)" "two +waiting .*waits for the files of one"
    is one "$("$CLIQ" status --json | $PY -c 'import json,sys; print([p for p in json.load(sys.stdin)["phases"] if p["phase"]=="two"][0]["waits_for_files_of"])')"
    until_true eval '[ "$(held holder)" = "one three one" ]'
    is "doc/a.md doc/b* src/**" "$(held path)"
    has "$("$CLIQ" lease list)" "phase one of cliq-"
    got lease take src/x.c --as eve
    refused 5 "src/x.c is leased by one"
    release one
    until_true says "$T/starts" two
    until_true eval '[ "$(held holder)" = "three two" ]'
    release two
    release three
    ended run "$PID"
    code_is 0
    nothing_held
}

@test "a lease of a killed run lasts while its agent lives, and a resumed run ends it" {
    hold go
    agent a <<<'ok; await go; complete'
    team <<<'phases: [{name: one, agent: a, files: [x], timeout: 10m}]'
    start_run run
    until_true eval '[ "$(held holder)" = one ]'
    kill -KILL "$PID"
    wait "$PID" || true
    is one "$(held holder)"
    release go
    got run $HEADLESS --resume
    code_is 0
    nothing_held
}

@test "cancelling a run whose orchestrator is dead ends its leases" {
    hold go
    agent a <<<'ok; await go; complete'
    team <<<'phases: [{name: one, agent: a, files: [x], timeout: 10m}]'
    start_run run
    until_true eval '[ "$(held holder)" = one ]'
    kill -KILL "$PID"
    wait "$PID" || true
    got cancel
    nothing_held
}

@test "a lease that another identity has is told, and the run goes on" {
    agent a <<<'ok; complete'
    team <<<'phases: [{name: one, agent: a, files: [x]}]'
    "$CLIQ" lease take x --as eve >/dev/null
    run_ok
    has "$out$err$(cat .cliq/orchestrator.log)" "one: paths: x is leased by eve until 20"
    is eve "$(held holder)"
}

@test "files that cannot be are told with their place" {
    mkdir -p t/roles && cd t
    cat >team.yml <<'END'
name: "@local/t"
description: d
phases:
  - name: one
    agent: exec
    commands: [{name: a, run: "true"}]
    files: [good/, ../x, "a[", "$(inputs.x)"]
END
    got team validate .
    code_is 1
    has "$out" 'team.yml:7:20: error: "../x": has a segment . or ..'
    has "$out" 'a [ has no ]'
    has "$out" 'variables are not replaced in files'
}
