#!/usr/bin/env bats
# cliq run --detach: a run that outlives its terminal; cliq attach: the way back to it.
load pipeline

# One phase that awaits go, then another; in the background, begun.
detached_run() { # [ARGS of run]
    hold go
    agent a <<'END'
ok
echo "I am $P"
[ "$P" = two ] || { echo $$ >"$T/pid"; await go; }
[ ! -e "$T/bad" ] || { fail "no disk"; exit 1; }
complete
END
    team <<<'phases: [{name: one, agent: a}, {name: two, agent: a, depends_on: [one]}]'
    got run $HEADLESS --detach "$@"
    succeeds
    RUN=$(sed -n 's/ runs in the background (pid [0-9]*)$//p' "$T/out")
    PID=$(sed -n 's/.* runs in the background (pid \([0-9]*\))$/\1/p' "$T/out")
}
run_ended() { exists .cliq/signals/_pipeline_status && gone "$PID"; }
socket() { basename "$T"/tmux-*/cliq-*; }

@test "--detach returns when the run has begun, says its id and how to look; it goes on by itself" {
    detached_run
    is "$RUN" "$(sed -n 's/.*"run":"\([^"]*\)".*/\1/p' "$(journal)" | head -n 1)"
    has "$out" "cliq attach"
    has "$out" "cliq status"
    is "" "$err"
    exists .cliq/run/attempts/one.1 || [ -L .cliq/run/attempts/one.1 ] # its first agent is started
    got status
    has "$out" RUNNING
    is "$PID" "$(ps -o sid= -p "$PID" | tr -d ' ')" # in a session of its own, without a terminal
    is "?" "$(ps -o tty= -p "$PID" | tr -d ' ')"
    is /dev/null "$(readlink "/proc/$PID/fd/0")"
    is /dev/null "$(readlink "/proc/$PID/fd/1")"
    is "$STATE/orchestrator.log" "$(readlink "/proc/$PID/fd/2")"
    release go
    until_true run_ended
    status_is COMPLETED
    has "$(<.cliq/orchestrator.log)" "COMPLETED in"
}

@test "a detached run whose start cannot be printed goes on, and the error says so" {
    team <<<'phases: [{name: one, agent: exec, commands: [{name: c, run: "true"}]}]'
    rc=0
    "$CLIQ" run --headless --detach >/dev/full 2>"$T/err" || rc=$?
    is 74 "$rc"
    has "$(<"$T/err")" "has begun all the same: cliq attach shows it"
    until_true exists .cliq/signals/_pipeline_status
    status_is COMPLETED
}

@test "a detached run outlives its terminal" {
    command -v script >/dev/null || skip "no script"
    hold go
    agent a <<<'ok; echo $$ >"$T/pid"; await go; complete'
    team <<<'phases: [{name: one, agent: a}]'
    script -qec "$CLIQ run $HEADLESS --detach" /dev/null </dev/null >"$T/shown" # its end hangs up
    has "$(<"$T/shown")" "runs in the background"
    PID=$(sed -n 's/.* runs in the background (pid \([0-9]*\)).*/\1/p' "$T/shown")
    until_true exists "$T/pid"
    kill -0 "$PID"
    release go
    until_true run_ended
    status_is COMPLETED
}

@test "what prevents a run from beginning is an error of the command itself" {
    mkdir -p "$T/proj" && cd "$T/proj"
    got run --headless --detach
    refused 4 cliq
    detached_run
    got run --headless --detach
    refused 5 "a run is active"
    got run --headless --detach --resume
    refused 5 "a run is active"
    kill -KILL "$PID"
    until_true gone "$PID"
    got run --headless --detach
    refused 5 "unfinished run"
    release go
}

@test "a journal that cannot be written is an error of the command" {
    agent a <<<'ok; complete'
    team <<<'phases: [{name: one, agent: a}]'
    mkdir -p .cliq/run/journal.jsonl
    got run --headless --detach
    [ "$code" != 0 ]
    has "$err" journal
    is "" "$out"
}

@test "--detach --json: the run and its process as JSON" {
    hold go
    agent a <<<'ok; await go; complete'
    team <<<'phases: [{name: one, agent: a}]'
    got run --headless --detach --json
    succeeds
    PID=$(json "$T/out" 'd["pid"]')
    kill -0 "$PID"
    has "$(<"$(journal)")" "$(json "$T/out" 'd["run"]')"
    release go
    until_true run_ended
}

@test "--resume --detach goes on with the run of a killed orchestrator" {
    detached_run
    local run=$RUN
    kill -KILL "$PID"
    until_true gone "$PID"
    got run --headless --resume --detach
    succeeds
    has "$out" "$run runs in the background"
    PID=$(sed -n 's/.*(pid \([0-9]*\))$/\1/p' "$T/out")
    release go
    until_true run_ended
    status_is COMPLETED
    is "one.1 two.1" "$(starts)"
    got run --headless --resume --detach # ended: tells how
    succeeds
    has "$out" "COMPLETED in"
    lacks "$out" background
    is "one.1 two.1" "$(starts)"
}

@test "retry --detach; cancel ends a detached run" {
    detached_run
    got cancel
    is CANCELLED "$out"
    until_true gone "$PID"
    release go
    got retry --headless --detach one
    succeeds
    PID=$(sed -n 's/.*(pid \([0-9]*\))$/\1/p' "$T/out")
    until_true run_ended
    status_is COMPLETED
}

@test "attach prints the run from its begin until it ends, with its exit code" {
    agent a <<<'ok; complete'
    team <<<'phases: [{name: old, agent: a}]'
    run_ok
    rm -rf "$T/team/agents"
    AGENTS='' detached_run
    start attach "$CLIQ" attach
    local attached=$PID pid
    until_true says "$T/attach.out" "one *started"
    lacks "$(<"$T/attach.out")" old
    release go
    ended attach "$attached"
    code_is 0
    has "$out" "two              completed"
    has "$out" "COMPLETED in"
    got attach # it has ended: the same again
    succeeds
    has "$out" "COMPLETED in"
    touch "$T/bad"
    rm "$T/pid"
    got run --headless --detach
    succeeds
    got attach
    code_is 3
    has "$out" "phase one: agent error: no disk"
    is "" "$err"
}

@test "whoever leaves attach leaves the run running" {
    detached_run
    local run=$PID
    start attach env --default-signal=INT "$CLIQ" attach
    until_true says "$T/attach.out" "one *started"
    kill -INT "$PID"
    ended attach "$PID"
    code_is 130
    kill -0 "$run"
    got status
    has "$out" RUNNING
    release go
    got attach
    succeeds
}

@test "attach --json prints the journal" {
    detached_run
    start attach "$CLIQ" attach --json
    local attached=$PID
    until_true says "$T/attach.out" '"started"'
    release go
    ended attach "$attached"
    code_is 0
    cmp "$T/attach.out" "$(journal)"
}

@test "attach without a run is refused; one that is cut off is told" {
    mkdir -p "$T/proj" && cd "$T/proj"
    got attach
    refused 4 cliq
    "$CLIQ" init >/dev/null
    got attach
    refused 4 "nothing has run here yet"
    detached_run
    start attach "$CLIQ" attach
    local attached=$PID
    until_true says "$T/attach.out" "one *started"
    kill -KILL "$(sed 's/ .*//' .cliq/run/lock)"
    ended attach "$attached"
    code_is 1
    has "$err" "cliq run --resume goes on"
    got attach
    refused 4 "cut off"
    release go
    run_ok --resume
}

@test "with tmux attach shows the run's session; --no-tmux, a pipe or --json print" {
    command -v script >/dev/null || skip "no script"
    command -v tmux >/dev/null || skip "no tmux"
    HEADLESS='' CLIQ_EXECUTOR=tmux
    export CLIQ_EXECUTOR TERM=xterm
    detached_run
    local clients
    clients() { tmux -L "$(socket)" list-clients -F '#{client_tty}' 2>/dev/null; }
    start attach script -qec "$CLIQ attach" /dev/null
    until_true eval '[ -n "$(clients)" ]'
    tmux -L "$(socket)" detach-client -t "$(clients)"
    ended attach "$PID"
    code_is 0
    has "$(tr -d '\r' <"$T/attach.out")" "the run goes on: cliq attach shows it again"
    start attach "$CLIQ" attach
    until_true says "$T/attach.out" "one *started"
    local piped=$PID
    start shown script -qec "$CLIQ attach" /dev/null
    local shown=$PID
    until_true eval '[ -n "$(clients)" ]'
    release go
    ended attach "$piped"
    code_is 0
    ended shown "$shown" # the run ended: its outcome is told
    code_is 0
    has "$(<"$T/shown.out")" "COMPLETED in"
}
