#!/usr/bin/env bats
# cliq doctor: each kind of damage is made on purpose, found with the command that mends it, and mended by --fix
# where that loses nothing. doctor_connections.bats has the agents' own tests.
load ../lib/cli

# A PATH of our own: tmux, node and git answer as in the manual's example; $BINS is where more programs go.
programs() {
    BINS=$T/bin
    mkdir -p "$BINS"
    program tmux "tmux 3.3a"
    program node v20.11.0
    program git "git version 2.43.0"
    program agent "Cursor 0.45.0"
    export PATH=$BINS:/usr/bin:/bin
}
program() { # NAME VERSION
    printf '#!/bin/sh\necho "%s"\n' "$2" >"$BINS/$1"
    chmod +x "$BINS/$1"
}
doctor() { got doctor --offline "$@"; }
# levels: "name level" of every finding that is not ok.
levels() { $PY -c 'import json,sys
for c in json.load(open(sys.argv[1]))["checks"]:
    if c["level"] != "ok": print(c["name"], c["level"])' "$T/out"; }
# sick NAME [LEVEL]: the finding is there, with a command. well: nothing is a problem or a warning.
sick() {
    doctor --json
    has "$(levels)" "$1 ${2:-error}" || return 1
    is "$([ "${2:-error}" = error ] && echo 1 || echo 0)" "$code"
    $PY -c 'import json,sys
d = json.load(open(sys.argv[1]))
assert [c for c in d["checks"] if c["name"] == sys.argv[2] and c.get("fix")], d
assert d["ok"] == (d["problems"] == 0)' "$T/out" "$1"
}
well() {
    doctor --json
    code_is 0 && is "" "$(levels | grep -v ' note$')"
}
# mended NAME: --fix says so, and another look finds nothing.
mended() {
    doctor --fix
    has "$out" "$1... - mended: " && has "$out" "mended." && well
}
home() { # a user's directory with the default agent script, which needs nothing
    programs
    cliq settings default_agent script --global
}
project() {
    home
    cliq init >/dev/null
    cliq team new team >/dev/null
    cliq assemble ./team >/dev/null
}

@test "the picture of the manual: programs with their versions, the default agent, its key" {
    programs
    printf 'sk-secret-1' | cliq settings agents.cursor.api_key - --global
    export CURSOR_API_KEY=
    got doctor
    has "$out" "Checking dependencies...
  tmux... ✓ (tmux 3.3a)
  node... ✓ (v20.11.0)
  git... ✓ (git version 2.43.0)

Agents:
  cursor... ✓ (built in)
    agent... ✓ (Cursor 0.45.0)
    api_key... ✓
"
    lacks "$out" secret
    code_is 0
    has "$out" "No problems"
}

@test "without a terminal there is no colour; with CLICOLOR_FORCE there is" {
    home
    doctor
    lacks "$out" $'\033['
    CLICOLOR_FORCE=1 got doctor --offline
    has "$out" $'... \033[32m✓\033[0m'
}

@test "a program that is missing, or does not answer, is a warning; the program of an agent is a problem" {
    home
    rm "$BINS/tmux"
    printf '#!/bin/sh\nexit 1\n' >"$BINS/node"
    PATH=$BINS doctor --json
    code_is 0
    has "$(levels)" "tmux warning"
    has "$(levels)" "node warning"
    programs
    rm "$BINS/agent"
    cliq settings default_agent cursor --global
    PATH=$BINS got doctor --offline
    code_is 1
    has "$out" "    agent... ✗ not on PATH, nor cursor-agent; or choose another default agent: cliq setup
      Fix: curl https://cursor.com/install -fsS | bash"
    has "$out" "1 problem"
}

@test "doctor agent NAME: only that agent; its required settings; an unknown one" {
    home
    got doctor agent jira --offline
    code_is 1
    has "$out" "api_token... ✗ the setting agents.jira.api_token is missing
      Fix: cliq settings agents.jira.api_token - --global"
    lacks "$out" tmux
    cliq settings agents.jira.base_url http://127.0.0.1:1 --global
    cliq settings agents.jira.email eve@example.org --global
    printf geheim1 | cliq settings agents.jira.api_token - --global
    got doctor agent jira --offline
    succeeds
    has "$out" "    api_token... ✓"
    lacks "$out" geheim1
    got doctor agent jria --offline
    code_is 1
    has "$out" 'did you mean jira?'
    got doctor agents
    refused 2 "cliq doctor agent NAME"
    got doctor agent
    refused 2 "which agent?"
}

@test "an installed agent: version, entry, program, variable, setting" {
    home
    local dir=$CLIQ_HOME/agents/helper
    mkdir -p "$dir"
    printf 'exit 0\n' >"$dir/agent.sh"
    manifest() { printf '{"name":"helper","entry":"agent.sh","capabilities":["phase:standard"]%s}' "$1" >"$dir/manifest.json"; }
    manifest ',"version":"1.0.0"'
    doctor
    code_is 0
    has "$out" "  helper... ✓ (installed: agent.sh)
    version... ✓ (1.0.0)"
    manifest ''
    doctor --json
    code_is 0
    has "$(levels)" "version warning"
    manifest ',"version":"one"'
    doctor --json
    code_is 1
    has "$(levels)" "version error"
    manifest ',"version":"1.0.0","binaries":["nothere"],"env":["HELPER_HOST"],"settings":{"required":["token"]}'
    doctor --json
    has "$(levels)" "nothere error"
    has "$(levels)" "HELPER_HOST warning"
    has "$(levels)" "token error"
    manifest ',"version":"1.0.0"'
    rm "$dir/agent.sh"
    doctor
    code_is 1
    has "$out" "agent.sh cannot be read"
    printf '{' >"$dir/manifest.json"
    doctor
    code_is 1
    has "$out" "helper... ✗"
}

@test "in a project the agents of its workflow are looked at, and no others" {
    project
    doctor
    code_is 0
    has "$out" "exec... ✓"
    lacks "$out" cursor
    has "$out" "workflow... ✓ (@local/team, 3 phases)"
}

@test "who is to be told: the channels of reviewers and notifications, in the teams inside, too" {
    home
    cliq init >/dev/null
    mkdir -p team/teams/inner team/roles
    echo "Do what the inner team does, and nothing else." >team/roles/sub.md
    gate='{ name: ok, type: gate, agent: hug, depends_on: [work], review: { reviewer: ["slack:bob", zoe, "@eve", "$(inputs.who)"] } }'
    cat >team/teams/inner/team.yml <<EOF
name: "@local/inner"
description: people decide
inputs: [{ name: who, default: "email:late" }]
phases:
  - { name: work, agent: exec, commands: [{ name: w, run: "true" }] }
  - $gate
EOF
    cat >team/team.yml <<EOF
name: "@local/outer"
description: a team in a team
phases:
  - { name: sub, type: team, team: ./teams/inner }
EOF
    cliq assemble ./team >/dev/null
    cliq settings notifications.on_complete '["email:ops", "slack:bob"]'
    doctor
    code_is 0
    has "$out" "  slack... ✓ (built in)
    channel bob... ! slack does not know where it is: people are not told there
      Fix: cliq settings agents.slack.channels.bob.webhook_url -"
    has "$out" "    channel ops... ! email does not know where it is: people are not told there
      Fix: cliq settings agents.email.channels.ops.to ADDRESS"
    is 1 "$(grep -c "channel bob" <<<"$out")"
    for word in zoe eve late; do lacks "$out" "$word"; done
    echo https://hooks.example.org/x | cliq settings agents.slack.channels.bob.webhook_url -
    cliq settings agents.email.to ops@example.org
    doctor
    lacks "$out" "channel"
}

@test "your files: others may read the keys, may write; settings that are damaged" {
    home
    well
    chmod 644 "$CLIQ_HOME/settings.json"
    sick settings.json
    has "$out" "others, and holds secrets"
    mended settings.json
    is 600 "$(stat -c %a "$CLIQ_HOME/settings.json")"
    chmod 777 "$CLIQ_HOME"
    sick directory
    mended directory
    echo '{"default_agent":' >"$CLIQ_HOME/settings.json"
    sick settings
    doctor --fix
    code_is 1 # a text that people wrote is theirs to mend
    has "$out" "settings.json:"
}

@test "temporary files of a killed process: stale ones go, new ones stay" {
    home
    : >"$CLIQ_HOME/.tmp-0123456789abcdef01234567"
    well
    touch -d "2 hours ago" "$CLIQ_HOME/.tmp-0123456789abcdef01234567"
    sick "temporary files" warning
    mended "temporary files"
    [ ! -e "$CLIQ_HOME/.tmp-0123456789abcdef01234567" ]
}

@test "the hub: modes, a bad line, an index that is missing or damaged, delayed.json" {
    home
    cliq emit task hello >/dev/null
    cliq signal schedule later --at +12h >/dev/null
    well
    local S=$CLIQ_HOME/signals
    chmod 666 "$S/events.jsonl"
    sick events.jsonl
    mended events.jsonl
    chmod 400 "$S/events.jsonl"
    sick events.jsonl
    mended events.jsonl
    rm "$S"/index.db*
    sick index warning
    mended index
    echo nonsense >"$S/index.db"
    sick index warning
    mended index
    echo '{' >"$S/delayed.json"
    sick delayed.json warning
    mended delayed.json
    $PY -c 'import json,sys; json.load(open(sys.argv[1]))' "$S/delayed.json"
    cliq emit task again >/dev/null
    sed -i '1s/^./X/' "$S/events.jsonl"
    rm "$S"/index.db*
    cliq inbox >/dev/null 2>&1
    sick store
    has "$out" "cliq hub check"
}

@test "the project: directories, .gitignore, modes, id, workflow, trust" {
    project
    well
    rmdir .cliq/design
    rm .cliq/.gitignore
    sick design warning
    mended design
    grep -q settings.json .cliq/.gitignore
    chmod 644 .cliq/settings.json
    sick settings.json
    mended settings.json
    chmod o+w .cliq
    sick directory
    mended directory
    echo "phases: 3" >.cliq/workflow.yml
    sick workflow
    has "$(levels)" "trust error"
    cliq assemble ./team >/dev/null
    echo "no" >.cliq/cliq.id
    sick cliq.id
}

@test "nothing of a project that is not trusted is started" {
    project
    mkdir -p .cliq/agents/spy
    printf 'touch %s/started\n' "$T" >.cliq/agents/spy/agent.sh
    echo '{"spy":{"entry":"agents/spy/agent.sh"}}' >.cliq/agents.json
    sed -i 's/agent: exec/agent: spy/' .cliq/workflow.yml
    got doctor
    code_is 1
    has "$out" "Fix: cliq team trust $T/work/.cliq"
    has "$out" spy
    [ ! -e "$T/started" ]
}

@test "a run whose orchestrator was killed, and the processes that it left" {
    home
    cliq init >/dev/null
    mkdir -p team
    printf 'name: "@local/t"\ndescription: d\nphases:\n  - { name: long, agent: exec, commands: [ { name: nap, run: "touch %s/up; exec sleep 1000" } ] }\n' "$T" >team/team.yml
    cliq assemble ./team >/dev/null
    cliq req -m x >/dev/null
    start run "$CLIQ" run --headless
    until_true test -e "$T/up"
    doctor
    code_is 0
    has "$out" "a run is active (pid $PID)"
    kill -KILL "$PID"
    wait "$PID" || true
    sick processes
    has "$(levels)" "run error"
    has "$out" "cliq run --resume"
    cliq cancel
    well
}

@test "the clock: before 2024, and set back since the last signal" {
    home
    cliq emit task hello >/dev/null
    touch -d "3 hours" "$CLIQ_HOME/signals/events.jsonl"
    sick clock warning
    has "$out" "it was set back"
}
