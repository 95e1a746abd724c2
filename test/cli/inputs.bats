#!/usr/bin/env bats
# Wrong input from people: files of another kind, files that they may not
# read, unknown names, bytes that are not text.
load ../scenario/pipeline

project() {
    team <<<'phases: [{name: plan, agent: exec, commands: [{name: t, run: "true"}]}]'
}

# Creates a file of that kind at the path.
put() { # KIND PATH
    rm -rf "$2"
    case $1 in
    directory) mkdir "$2" ;;
    FIFO) mkfifo "$2" ;;
    socket) (cd "$(dirname "$2")" && $PY -c 'import socket,sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$(basename "$2")") ;;
    esac
}

@test "a directory, a FIFO or a socket in place of a file is exit 2, and the message names its kind" {
    project
    mkdir "$T/other"
    local kind words
    for kind in directory FIFO socket; do
        put $kind .cliq/workflow.yml
        for words in run status graph "req -m x"; do
            start it "$CLIQ" $words
            ended it "$PID"
            refused 2 "workflow.yml is a $kind, not a regular file"
        done
        put $kind "$T/other/team.yml"
        for words in "team validate" "team info" assemble; do
            start it "$CLIQ" $words "$T/other"
            ended it "$PID"
            refused 2 "team.yml is a $kind, not a regular file"
        done
    done
    assemble
    for kind in directory FIFO socket; do
        put $kind "$T/req"
        start it "$CLIQ" req -f "$T/req"
        ended it "$PID"
        refused 2 "$T/req is a $kind, not a regular file"
    done
    [ ! -e .cliq/req_spec.md ]
}

@test "an unreadable file is exit 7, with its name" {
    project
    echo text >"$T/req"
    chmod 0 "$T/req" .cliq/workflow.yml "$T/team/team.yml"
    local words
    for words in status graph run "req -m x"; do
        meekly $words
        refused 7 "open $STATE/workflow.yml: Permission denied"
    done
    meekly team validate ../team
    refused 7 "team.yml: Permission denied"
    meekly assemble ../team
    refused 7 "team.yml: Permission denied"
    chmod 600 .cliq/workflow.yml
    meekly req -f "$T/req"
    refused 7 "open $T/req: Permission denied"
}

@test "req refuses bytes that are not UTF-8, with their position, and changes nothing" {
    agent a <<<'ok; complete'
    team <<<$'inputs: [{name: topic, default: x}]\nphases: [{name: plan, agent: a}]'
    got req -m "before" --key K-1
    succeeds
    printf 'first\nzw\xc3\xb6lf \xff\n' >"$T/req"
    got req -f "$T/req"
    refused 2 "$T/req:2:7: not UTF-8 text: byte 14 is 0xff"
    got req -f - <"$T/req"
    refused 2 "standard input:2:7: not UTF-8 text: byte 14 is 0xff"
    got req -m $'a\xc3'
    refused 2 "--message:1:2: not UTF-8 text: byte 2 is 0xc3"
    got req --key $'\xed\xa0\x80'
    refused 2 "--key:1:1: not UTF-8 text: byte 1 is 0xed"
    got req --input topic=$'\xfe'
    refused 2 "--input:1:7: not UTF-8 text: byte 7 is 0xfe"
    is before "$(<.cliq/req_spec.md)"
    is K-1 "$(<.cliq/req_key)"
    is "{'topic': 'x'}" "$(json .cliq/inputs.json d)"
    printf 'zw\xc3\xb6lf \xf0\x9f\x98\x80' >"$T/req"
    got req -f "$T/req"
    succeeds
    cmp "$T/req" .cliq/req_spec.md
    got req -f - </dev/null
    refused 2 "the requirement is empty"
    cmp "$T/req" .cliq/req_spec.md
}

@test "status, graph and req report the errors of a workflow as run does, with positions" {
    project
    cp .cliq/workflow.yml "$T/good"
    run_ok
    local words
    # no team at all; no name; a cycle; an unknown dependency
    local bad
    for bad in 'phases: [{name: plan' 'phases: [{agent: exec}]' $'phases:\n  - {name: a, agent: exec, depends_on: [b]}\n  - {name: b, agent: exec, depends_on: [a]}' \
        $'name: x\nphases:\n  - {name: a, agent: exec, depends_on: [nobody]}'; do
        printf '%s\n' "$bad" >.cliq/workflow.yml
        cliq team trust .cliq >/dev/null
        got team validate .cliq/workflow.yml
        code_is 1
        sed -n 's/^\.cliq\/\(.*: error: .*\)/\1/p' "$T/out" >"$T/want"
        [ -s "$T/want" ]
        for words in run status "status --json" graph; do
            got $words
            refused_with_places
        done
    done
    printf 'phases: [{name: plan\n' >.cliq/workflow.yml
    got team validate .cliq/workflow.yml
    sed -n 's/^\.cliq\/\(.*: error: .*\)/\1/p' "$T/out" >"$T/want"
    for words in "req -m x" "log nope"; do
        got $words
        refused_with_places
    done
    cp "$T/good" .cliq/workflow.yml
    got status
    succeeds
}
refused_with_places() {
    code_is 1
    is "" "$out"
    like "$err" 'workflow.yml:[0-9]+:[0-9]+: error: '
    is "$(<"$T/want")" "$(grep ': error: ' "$T/err")"
    has "$err" "cliq: the workflow has "
}

@test "log of an unknown phase lists the known ones and suggests the nearest" {
    agent a <<<'ok; complete'
    team <<<$'phases:\n  - {name: plan, agent: a}\n  - {name: build, agent: a, depends_on: [plan]}'
    got log plan
    refused 4 "no log of phase plan: it has not run yet"
    run_ok
    got log nope
    refused 4 'there is no phase "nope"; the phases are plan, build'
    got log biuld
    refused 4 'there is no phase "biuld" (did you mean "build"?); the phases are plan, build'
    got log Plan
    refused 4 'there is no phase "Plan" (did you mean "plan"?); the phases are plan, build'
    got log ../plan
    refused 4 'there is no phase ".."' # what stands before a slash is a team phase
    got log plan
    succeeds
}

@test "log --attempt refuses an attempt that does not exist" {
    agent a <<<'ok; complete'
    team <<<$'phases: [{name: plan, agent: a}]'
    run_ok
    got log plan --attempt 1
    succeeds
    got log plan --attempt 0
    refused 2 "--attempt must be 1 or more"
    got log plan --attempt 9
    refused 4 "no log of attempt 9 of phase plan; its latest attempt is 1"
    got log --attempt 1
    refused 2 "--attempt needs the PHASE it is of"
}
