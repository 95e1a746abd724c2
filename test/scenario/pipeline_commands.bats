#!/usr/bin/env bats
# init, assemble, req, settings, graph, log, status: the commands around a run.
load pipeline

small() {
    agent a <<<'ok; complete'
    team <<'END'
inputs: [{name: topic, required: true, choices: [red, blue]}, {name: depth, default: "3"}]
phases:
  - {name: plan, agent: a, env: {T: "$(inputs.topic) $(inputs.depth)"}}
  - {name: build, agent: a, depends_on: [plan]}
  - {name: docs, agent: a, depends_on: [plan]}
  - {name: gate, type: gate, agent: checks, depends_on: [build, docs], commands: [{name: t, run: "true"}]}
support:
  - {name: fixer, agent: a}
END
}

@test "init creates .cliq/ once, private, with an id and a .gitignore" {
    cd "$T/proj"
    got init
    succeeds
    like "$(<.cliq/cliq.id)" '^cliq-[0-9a-f]{6}$'
    is "drwx------" "$(stat -c %A .cliq)"
    is "-rw-------" "$(stat -c %A .cliq/settings.json)"
    has "$(<.cliq/.gitignore)" settings.json
    exists "$CLIQ_HOME/settings.json"
    local id
    id=$(<.cliq/cliq.id)
    got init
    succeeds
    has "$out" "already"
    is "$id" "$(<.cliq/cliq.id)"
}

@test "assemble copies workflow, agents and roles; a team with errors changes nothing" {
    small
    exists .cliq/workflow.yml
    is "['a']" "$(json .cliq/agents.json 'sorted(d)')"
    exists .cliq/agents/a/agent.sh
    local before
    before=$(cat .cliq/workflow.yml)
    sed -i 's/depends_on: \[plan\]/depends_on: [plna]/' "$T/team/team.yml"
    got assemble ../team
    code_is 1
    like "$err" '^\.\./team/team.yml:[0-9]+:[0-9]+: error: .*plna'
    has "$err" plan
    is "$before" "$(cat .cliq/workflow.yml)"
    got assemble ../nowhere
    code_is 4
}

@test "assemble removes the roles and agents of an earlier team" {
    mkdir -p "$T/team/roles"
    echo "You plan everything, and you write it down for those who come after you." >"$T/team/roles/plan.md"
    small
    exists .cliq/roles/plan.md
    rm -r "$T/team/roles" "$T/team/agents"
    AGENTS=
    agent b <<<'ok; complete'
    team <<<'phases: [{name: other, agent: b}]'
    [ ! -e .cliq/roles/plan.md ] || complain "an old role is left"
    [ ! -e .cliq/agents/a ] || complain "an old agent is left"
    run_ok
}

@test "assemble refuses a team with links in its agents" {
    small
    ln -s /etc/passwd "$T/team/agents/a/link"
    got assemble ../team
    code_is 7
    has "$err" link
}

@test "req writes the requirement, the key and the inputs, and keeps earlier inputs" {
    small
    got req -m "Add a health endpoint" --key OPS-17 --input topic=red
    succeeds
    is "Add a health endpoint" "$(<.cliq/req_spec.md)"
    is "{'topic': 'red', 'depth': '3'}" "$(json .cliq/inputs.json d)"
    got req --input depth=5
    succeeds
    is "{'topic': 'red', 'depth': '5'}" "$(json .cliq/inputs.json d)"
    is "Add a health endpoint" "$(<.cliq/req_spec.md)"
    echo "from a file" >"$T/req.md"
    got req -f "$T/req.md"
    succeeds
    is "from a file" "$(<.cliq/req_spec.md)"
    echo "from standard input" | "$CLIQ" req -f - >/dev/null
    is "from standard input" "$(<.cliq/req_spec.md)"
    run_ok
    is "OPS-17" "$(json "$T/message.plan.1" 'd["req_key"]')"
    has "$(<"$T/message.plan.1")" req_spec.md
}

@test "req during a run says who reads it: the next run, and agents that start from now on" {
    hold go
    agent a <<<'ok; read -r _ <"$T/go"; complete'
    team <<<'phases: [{name: one, agent: a}]'
    start_run run
    until_true says .cliq/signals/one.jsonl ok
    got req -m "something else"
    code_is 0
    lacks "$out" "Next: cliq run"
    has "$err" "a run is active: the next run reads this"
    release go
    ended run "$PID"
    got req -m "something else"
    succeeds
    has "$out" "Next: cliq run"
}

@test "req reports missing and wrong inputs, and then changes nothing" {
    small
    got req -m "text"
    refused 2 topic
    [ ! -e .cliq/req_spec.md ]
    got req --input topic=green
    refused 2 topic green
    got req --input colour=red
    refused 2 colour
    got req --input topic
    refused 2 NAME=VALUE
    got req
    refused 2
    got req -m a -f b
    refused 2
    got req -f "$T/nowhere"
    code_is 4
}

@test "settings: secrets are masked in lists and objects, and in every spelling of their names" {
    cd "$T/proj"
    "$CLIQ" init >/dev/null
    local key
    cliq settings agents.x.api_keys '["HIDE1",{"of":"HIDE2"}]'
    cliq settings agents.x.token '{"a":"HIDE3","n":[["HIDE4"]]}'
    cliq settings agents.x.Authorization "Bearer HIDE5"
    cliq settings agents.x.webhookUrl "http://HIDE6"
    cliq settings agents.x.pass-phrase HIDE7
    cliq settings agents.x.password 98765
    cliq settings agents.x.max_tokens 4096
    cliq settings agents.token-counter.model shown-model
    for key in "" agents agents.x agents.x.api_keys agents.x.token agents.x.token.a agents.x.token.n agents.x.Authorization \
        agents.x.webhookUrl agents.x.pass-phrase agents.x.password; do
        got settings $key
        succeeds
        lacks "$out" HIDE
        lacks "$out" 98765
        has "$out" "********"
        got settings $key --json
        lacks "$out" HIDE
        lacks "$out" 98765
    done
    got settings
    has "$out" shown-model
    has "$out" 4096
    has "$(<.cliq/settings.json)" HIDE4
}

@test "settings can be set, shown, merged, masked and removed" {
    cd "$T/proj"
    "$CLIQ" init >/dev/null
    got settings default_agent scrpt
    code_is 0
    is 'cliq: warning: there is no agent "scrpt" here (did you mean script?)' "$err"
    got settings default_agent script
    succeeds
    got settings default_agent
    is script "$out"
    got settings default_agent other --global
    succeeds
    got settings default_agent
    is script "$out"
    got settings default_agent --unset
    succeeds
    got settings default_agent
    is other "$out"
    printf 'sk-secret\n' | "$CLIQ" settings agents.x.api_key -
    got settings agents.x.api_key
    lacks "$out" sk-secret
    got settings --json
    lacks "$out" sk-secret
    is sk-secret "$(json .cliq/settings.json 'd["agents"]["x"]["api_key"]')"
    is "-rw-------" "$(stat -c %A .cliq/settings.json)"
    got settings nothing.here
    code_is 4
    got settings defautl_agent x
    has "$err" default_agent
    got settings channel.max_message_size_bytes 100
    is 100 "$(json .cliq/settings.json 'd["channel"]["max_message_size_bytes"]')"
}

@test "graph prints four formats" {
    small
    got graph
    succeeds
    has "$out" "[build]  <- plan"
    has "$out" "<gate>  <- build, docs"
    has "$out" "(fixer)  <- gate"
    got graph --format mermaid
    has "$out" "plan --> build"
    has "$out" "gate -.-> build"
    has "$out" "gate -.-> fixer"
    got graph --format dot
    has "$out" '"gate" -> "docs" [style=dotted]'
    has "$out" '"gate" -> "fixer" [style=dotted]'
    has "$out" '"build" -> "gate"'
    if command -v dot >/dev/null; then dot -Tsvg <"$T/out" >/dev/null; fi
    got graph --format svg
    succeeds
    $PY -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' "$T/out"
    has "$out" ">fixer</text>"
    is "gate back to build gate back to docs gate back to fixer" "$(grep -o 'gate back to [a-z]*' "$T/out" | xargs)"
    got graph --format png
    refused 2 png
}

@test "status and log before anything ran, and log -f while it runs" {
    small
    got status
    refused 4 "cliq run"
    got log
    refused 4
    "$CLIQ" req --input topic=red >/dev/null
    run_ok
    start follow "$CLIQ" log -f
    until_true says "$T/follow.out" COMPLETED
    run_ok
    until_true two_ends
}
two_ends() { [ "$(grep -c 'completed COMPLETED' "$T/follow.out")" = 2 ]; }

@test "status --watch ends with the run" {
    hold go
    agent a <<<'ok; await go; complete'
    team <<<'phases: [{name: one, agent: a}]'
    start_run run
    local run=$PID
    until_true says .cliq/signals/one.jsonl ok
    start watch "$CLIQ" status --watch
    until_true says "$T/watch.out" RUNNING
    release go
    ended watch "$PID"
    code_is 0
    has "$out" COMPLETED
    ended run "$run"
}

@test "status never disturbs a run that starts" {
    agent a <<<'ok; complete'
    team <<<'phases: [{name: one, agent: a}]'
    run_ok
    (while [ ! -e "$T/stop" ]; do "$CLIQ" status >/dev/null 2>&1; done) 3>&- &
    local asker=$!
    PIDS+=("$asker")
    for _ in 1 2 3 4 5 6 7 8 9 10; do run_ok; done
    touch "$T/stop"
    wait "$asker" || true
}
