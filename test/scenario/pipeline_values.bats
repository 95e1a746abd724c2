#!/usr/bin/env bats
# Values in templates: the text of a handoff, an input or the project's path arrives
# byte for byte and is never run.
load pipeline

# Values that have broken such tools before, each in its own file in $T/values.
hostile() {
    mkdir -p "$T/values"
    cd "$T/values" || return
    printf '%s' "it's \"quoted\"" >quotes
    printf '%s' '$(touch pwned)' >dollar
    printf '%s' '`touch pwned`' >ticks
    printf '%s' "'; touch pwned; echo '" >single
    printf '%s' '"; touch pwned; echo "' >double
    printf 'a\n touch pwned\nb\n\n' >lines
    printf '%s' '; touch pwned & | > pwned < x \\ \n %s ${HOME} * ?' >signs
    printf '%s' '$(inputs.other) $((1+1)) \$(x)' >nested
    printf '%s' '-rf --help' >dashes
    printf ' \t lead and trail \t ' >blanks
    printf 'gr\xc3\xbc\xc3\x9fe \xf0\x9f\x98\x80' >unicode
    : >empty
    cd - >/dev/null || return
}
not_pwned() { is "" "$(find "$T" -name pwned)"; }

# Passes every value through one phase: as an input and as a handoff, quoted and not.
through() { # NAME
    local v=$1
    rm -f "$T"/got.*
    "$CLIQ" req --input "value=$(cat "$T/values/$v"; printf x | tr -d x)" >/dev/null || return
    run_ok || return
    local f
    for f in plain quoted handoff text env mixed; do
        [ -e "$T/got.$f" ] || complain "$v: no $f" || return
        cmp "$T/values/$v" "$T/got.$f" || complain "$v: $f differs: $(od -c "$T/got.$f" | head -3)" || return
    done
    not_pwned
}

@test "in commands and env, as input and as handoff: byte for byte, never run" {
    hostile
    agent first <<'END'
ok
python3 - "$T" "$CLIQ_STATE_DIR" <<'PY'
import json, sys
v = json.load(open(sys.argv[2] + "/inputs.json"))["value"]
json.dump({"version": 1, "phase_type": "standard", "phase": "first", "agent": "first", "data": {"v": v, "l": [{"v": v}]}, "text": v},
          open(sys.argv[2] + "/channels/first--second/handoff.json", "w"))
PY
complete
END
    team <<END
inputs: [{name: value, required: true}]
phases:
  - {name: first, agent: first}
  - name: second
    agent: exec
    depends_on: [first]
    env: {VALUE: "\$(inputs.value)"}
    commands:
      - {name: plain, escalate_on_fail: true, run: 'printf %s \$(inputs.value) > $T/got.plain'}
      - {name: quoted, escalate_on_fail: true, run: 'printf %s "\$(inputs.value)" > $T/got.quoted'}
      - {name: handoff, escalate_on_fail: true, run: 'printf %s \$(handoff.first.v) > $T/got.handoff'}
      - {name: text, escalate_on_fail: true, run: 'printf %s "\$(handoff.first.text)" > $T/got.text'}
      - {name: env, escalate_on_fail: true, run: 'printf %s "\$VALUE" > $T/got.env'}
      - {name: mixed, escalate_on_fail: true, run: 'x="\$(handoff.first.l[0].v)"; printf %s "\$x" > $T/got.mixed'}
END
    local v
    for v in quotes dollar ticks single double signs nested dashes blanks unicode; do
        through $v
    done
    # bash drops a newline at the end of an argument; as part of the value it stays.
    printf 'a\n touch pwned\nb' >"$T/values/lines"
    through lines
}

@test "in sources and targets: the agent's message holds the value unchanged" {
    agent c <<<'ok; complete'
    team <<'END'
inputs: [{name: value, required: true}]
phases:
  - name: one
    agent: c
    sources: [{name: page, url: "https://example.test/$(inputs.value)?t=$(team_name)", headers: {X: "$(inputs.value)"}}]
    target_entries: [{name: out, file: "$(phase).txt", ref: "$(inputs.value)"}]
END
    local v='a"b\c$(touch pwned)`x`'$'\n'"'end"
    "$CLIQ" req --input "value=$v" >/dev/null
    run_ok
    is "https://example.test/$v?t=@local/test" "$(json "$T/message.one.1" 'd["payload"]["sources"][0]["url"]')"
    is "$v" "$(json "$T/message.one.1" 'd["payload"]["sources"][0]["headers"]["X"]')"
    is "one.txt $v" "$(json "$T/message.one.1" 'd["payload"]["target_entries"][0]["file"]+" "+d["payload"]["target_entries"][0]["ref"]')"
    not_pwned
}

@test "a project with a hostile path works" {
    AGENTS=
    agent a <<<'ok; complete'
    mkdir -p "$T/pro j'\$(touch pwned)\"; x"
    cat >"$T/team/team.yml" <<END
name: "@local/test"
description: x
phases:
  - {name: one, agent: exec, commands: [{name: a, run: 'printf %s \$(dirs.project) > $T/got'}]}
END
    cd "$T/pro j'\$(touch pwned)\"; x"
    "$CLIQ" assemble "$T/team" >/dev/null 2>&1
    got run $HEADLESS
    code_is 0
    is "$PWD" "$(<"$T/got")"
    not_pwned
}

@test "an unresolved template fails the phase before a process starts, naming phase, command and variable" {
    agent a <<<'ok; complete'
    team <<'END'
phases:
  - {name: one, agent: a}
  - {name: two, agent: exec, depends_on: [one], commands: [{name: go, run: "touch ran; echo $(handoff.one.nothing.there)"}]}
  - {name: three, agent: a, depends_on: [two]}
END
    run_is 3
    is "one.1" "$(starts)"
    [ ! -e ran ]
    has "$out" "phase two"
    has "$out" "go"
    has "$out" "handoff.one.nothing.there"
    [ ! -L .cliq/run/attempts/two.1 ]
    status_is ESCALATED
}

@test "an unresolved template in env, sources or when fails the phase too" {
    agent a <<<'ok; complete'
    team <<'END'
phases:
  - {name: one, agent: a}
  - {name: two, agent: a, depends_on: [one], env: {V: "$(handoff.one.x)"}}
END
    run_is 3
    has "$out" "phase two, env"
    has "$out" "handoff.one.x"
    AGENTS=
    agent a <<<'ok; complete'
    team <<'END'
phases:
  - {name: one, agent: a}
  - {name: two, agent: a, depends_on: [one], when: "$(handoff.one.x) == y"}
END
    run_is 3
    has "$out" "phase two, when"
    has "$out" "handoff.one.x"
    AGENTS=
    agent a <<<'ok; complete'
    team <<'END'
phases:
  - {name: one, agent: a}
  - {name: two, agent: a, depends_on: [one], sources: [{name: s, url: "http://x/$(handoff.one.x)"}]}
END
    run_is 3
    has "$out" "phase two, sources"
    is "one.1 one.1 one.1" "$(starts)"
}

@test "a value too large for the environment fails the phase and says to use a file" {
    agent a <<'END'
ok
python3 -c 'import json,sys; json.dump({"version":1,"phase_type":"standard","phase":"one","agent":"a","data":{"v":"x"*200000}}, open(sys.argv[1],"w"))' "$CLIQ_STATE_DIR/channels/one--two/handoff.json"
complete
END
    team <<'END'
phases:
  - {name: one, agent: a}
  - {name: two, agent: exec, depends_on: [one], commands: [{name: go, run: "printf %s $(handoff.one.v) | wc -c"}]}
END
    run_is 3
    has "$out" "file"
    has "$out" "phase two"
}

@test "inputs have their defaults without cliq req; a missing required one is reported" {
    team <<END
inputs: [{name: who, default: world}]
phases:
  - {name: one, agent: exec, commands: [{name: a, run: 'echo hello \$(inputs.who) > $T/got'}]}
END
    run_ok
    is "hello world" "$(<"$T/got")"
    "$CLIQ" req --input who=you >/dev/null
    run_ok
    is "hello you" "$(<"$T/got")"
    team <<END
inputs: [{name: whom, required: true}]
phases:
  - {name: one, agent: exec, commands: [{name: a, run: 'echo hello \$(inputs.whom) > $T/got'}]}
END
    got run $HEADLESS
    refused 2 whom "cliq req"
}

@test "an optional input that is not given is empty" {
    team <<END
inputs: [{name: tag}]
phases:
  - {name: one, agent: exec, env: {TAG: "<\$(inputs.tag)>"}, commands: [{name: a, run: 'echo "\$TAG[\$(inputs.tag)]" > $T/got'}]}
  - {name: two, agent: exec, depends_on: [one], when: "\$(inputs.tag)", commands: [{name: a, run: 'echo ran > $T/two'}]}
END
    run_ok
    is "<>[]" "$(<"$T/got")"
    [ ! -e "$T/two" ]
}

@test "run --input: a value for this run, kept in inputs.json; a bad one starts nothing" {
    team <<END
inputs: [{name: env, choices: [dev, prod]}, {name: who, default: world}]
phases:
  - {name: one, agent: exec, commands: [{name: a, run: 'echo \$(inputs.env) \$(inputs.who) > $T/got'}]}
END
    "$CLIQ" req -m x --input env=dev >/dev/null
    run_ok --input env=prod --input who=you --input who=all
    is "prod all" "$(<"$T/got")"
    is "prod all" "$(json .cliq/inputs.json 'd["env"]+" "+d["who"]')"
    rm "$T/got"
    run_is 2 --input env=test
    has "$err" 'input env cannot be "test": choose dev, prod'
    run_is 2 --input enf=dev
    has "$err" 'the team has no input "enf" (did you mean env?)'
    run_is 2 --input env
    has "$err" "NAME=VALUE"
    run_is 2 --resume --input env=dev
    has "$err" "--from PHASE"
    is "prod all" "$(json .cliq/inputs.json 'd["env"]+" "+d["who"]')"
    [ ! -e "$T/got" ]
    run_ok --from one --input env=dev
    is "dev all" "$(<"$T/got")"
}

@test "run --input beside an active run: exit code 5, and inputs.json stays as it is" {
    hold go
    agent a <<<'ok; await go; complete'
    team <<'END'
inputs: [{name: env, default: dev}]
phases: [{name: one, agent: a}]
END
    "$CLIQ" req -m x --input env=dev >/dev/null
    start_run run
    until_true says .cliq/signals/one.jsonl ok
    run_is 5 --input env=prod
    is dev "$(json .cliq/inputs.json 'd["env"]')"
    release go
    wait "$PID"
}

@test "a handoff of a predecessor further up: the envelope it wrote on the way here" {
    agent a <<'END'
ok
case $P in a) hand b '{"data":{"v":"to-b"}}'; hand c '{"data":{"v":"to-c"}}'; hand x '{"data":{"v":"to-x"}}' ;; esac
complete
END
    team <<END
phases:
  - {name: a, agent: a}
  - {name: b, agent: a, depends_on: [a]}
  - {name: x, agent: a, depends_on: [a]}
  - {name: c, agent: exec, depends_on: [b, a], commands: [{name: c, run: 'echo \$(handoff.a.v) > $T/c'}]}
  - {name: d, agent: exec, depends_on: [b], commands: [{name: c, run: 'echo \$(handoff.a.v) > $T/d'}]}
  - {name: e, agent: exec, depends_on: [d, c], commands: [{name: c, run: 'echo \$(handoff.a.v) > $T/e'}]}
END
    run_ok
    is to-c "$(<"$T/c")" # its own channel
    is to-b "$(<"$T/d")"
    is to-c "$(<"$T/e")" # c is nearer than b
    rm .cliq/channels/a--c/handoff.json
    run_ok --from d
    is to-b "$(<"$T/e")" # the nearest that has one
    rm .cliq/channels/a--b/handoff.json
    run_is 3 --from d
    has "$out" "phase a left no handoff" # what it gave to x is not on the way
}

@test "run --dry-run shows values, when and routes, and changes nothing" {
    agent a <<<'ok; [ "$P" != plan ] || hand build '"'"'{"data":{"v":"7"}}'"'"'; complete'
    team <<'END'
inputs: [{name: env, default: dev}, {name: tag}]
phases:
  - {name: plan, agent: a, when: "$(inputs.env) == dev"}
  - {name: build, agent: exec, depends_on: [plan], when: "$(handoff.plan.v)", commands: [{name: b, run: 'echo $(inputs.env) $(handoff.plan.v)'}]}
  - {name: check, type: gate, agent: exec, depends_on: [build], env: {TAG: "$(inputs.tag)"}, commands: [{name: c, run: 'true'}]}
END
    got run --dry-run --input env=prod
    code_is 0
    has "$out" 'when $(inputs.env) == dev: false, so it would be skipped'
    has "$out" 'when $(handoff.plan.v): decided before it starts'
    has "$out" '$(inputs.env) = "prod"'
    has "$out" '$(handoff.plan.v): known when plan has run'
    has "$out" '$(inputs.tag) = ""'
    has "$out" 'may route to build, plan'
    [ ! -e .cliq/inputs.json ]
    got run --dry-run --json --input env=prod
    printf %s "$out" >"$T/plan.json"
    is "False None" "$(json "$T/plan.json" '"%s %s" % (d[0]["when"]["result"], d[1]["when"]["result"])')"
    is "prod None" "$(json "$T/plan.json" '"%s %s" % (d[1]["values"]["inputs.env"], d[1]["values"]["handoff.plan.v"])')"
    is "['build', 'plan']" "$(json "$T/plan.json" 'd[2]["route_targets"]')"
    run_ok
    got run --dry-run --from build
    code_is 0
    has "$out" '$(handoff.plan.v) = "7"' # it is kept
    has "$out" 'when $(handoff.plan.v): true'
}

@test "a handoff that is not JSON is reported with its position, and a corrected one is used" {
    agent a <<'END'
ok
[ "$P" = one ] && echo '{"version":1,' >"$CLIQ_STATE_DIR/channels/one--two/handoff.json"
complete
END
    team <<END
phases:
  - {name: one, agent: a}
  - {name: two, agent: exec, depends_on: [one], commands: [{name: x, run: 'printf %s \$(handoff.one.text) > $T/got'}]}
END
    run_is 3
    has "$out" "phase two"
    has "$out" "handoff.json:"
    echo '{"version":1,"phase_type":"standard","phase":"one","agent":"me","text":"mended"}' >.cliq/channels/one--two/handoff.json
    got retry two $HEADLESS
    code_is 0
    is mended "$(<"$T/got")"
}

@test "a command starts with no signal ignored: SIGPIPE ends it" {
    team <<'END'
phases:
  - {name: one, agent: exec, commands: [{name: a, run: "while :; do echo y; done | head -1"}]}
  - {name: two, agent: script, depends_on: [one], commands: [{name: a, run: "grep SigIgn /proc/self/status"}]}
END
    run_ok
    has "$(<.cliq/signals/one_command_results.json)" '"output":"y\n"'
    has "$(<.cliq/run/logs/two.1.log)" "SigIgn:	0000000000000000"
}

@test "a script that prints one JSON object hands it on as data, and judges with it" {
    team <<'END'
phases:
  - {name: triage, agent: script, commands: [{name: c, run: 'echo "{\"severity\":\"high\", \"n\": [1, 2]}"'}]}
  - {name: fix, agent: exec, depends_on: [triage], when: "$(handoff.triage.severity) == high",
     commands: [{name: c, run: 'echo $(handoff.triage.n[1]) > said'}]}
  - {name: judge, type: gate, agent: script, depends_on: [fix], commands: [{name: c, run:
     'echo "{\"verdict\":{\"outcome\":\"ESCALATE\"},\"comment\":\"ask Ann\"}"'}]}
END
    run_is 3
    is 2 "$(<said)"
    has "$out" "gate judge escalated: ask Ann"
    has "$(<.cliq/channels/triage--fix/handoff.json)" '"text": "{'
}

@test "a script's output becomes the whole handoff, or the phase fails with the reason" {
    team <<<'phases: [{name: one, agent: script, commands: [{name: a, run: "printf \"one\\0two\""}]}]'
    run_is 3
    has "$out" "byte 4 of what the command printed is NUL"
}

@test "a run ends although its parent had blocked SIGCHLD" {
    team <<<'phases: [{name: one, agent: exec, commands: [{name: a, run: "true"}]}]'
    got_from timeout 20 $PY -c 'import os, signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD, signal.SIGTERM])
os.execv(sys.argv[1], sys.argv[1:])' "$CLIQ" run $HEADLESS
    code_is 0
}

@test "a command's time limit is its own, else its phase's, else the setting's" {
    team <<'END'
phases:
  - name: own
    agent: exec
    timeout: 1h
    commands: [{name: a, run: "true", timeout: 90s}, {name: b, run: "true"}]
  - {name: none, type: gate, agent: checks, depends_on: [own], commands: [{name: c, run: "true"}]}
END
    limits() { json ".cliq/run/messages/$1.1.json" '[c["timeout_ms"] for c in d["payload"]["commands"]]'; }
    run_ok
    is "[90000, 3600000]" "$(limits own)"
    is "[120000]" "$(limits none)"
    cliq settings run.command_timeout 20m
    run_ok --force
    is "[90000, 3600000]" "$(limits own)"
    is "[1200000]" "$(limits none)"
}

@test "a command is stopped at its time limit, and the next one runs" {
    team <<'END'
phases:
  - {name: one, agent: exec, commands: [{name: wait, run: "cat go", timeout: 200ms}, {name: next, run: "touch next"}]}
END
    mkfifo go
    run_ok
    exists next
    is "[('wait', 124), ('next', 0)]" "$(json .cliq/signals/one_command_results.json '[(r["name"], r["exit_code"]) for r in d]')"
}

@test "a check that hangs until its gate's time is over has failed: the gate says so, and sends the work back" {
    agent work <<<'ok; complete'
    team <<'END'
phases:
  - {name: work, agent: work}
  - name: gate
    type: gate
    agent: checks
    depends_on: [work]
    timeout: 4s
    max_iterations: 2
    commands: [{name: hang, run: "[ -e mended ] || { touch mended; echo waiting >&2; exec cat go; }"},
               {name: next, run: "touch next"}]
END
    mkfifo go
    run_ok
    like "$out" "hang timed out after [34]\.[0-9] s: waiting; next was not run: the gate's time was over"
    has "$out" "PASS: 2 of 2 checks passed"
    exists next
}

@test "a command's time limit that is not a number is an error of the message" {
    team <<<'phases: [{name: one, agent: exec, commands: [{name: a, run: "true"}]}]'
    run_ok
    sed 's/"timeout_ms":120000\([,}]\)/"timeout_ms":"soon"\1/' .cliq/run/messages/one.1.json >"$T/message"
    got agent exec <"$T/message"
    code_is 1
    has "$err" "timeout_ms of a command must be a whole number"
}
