#!/usr/bin/env bats
# Agents in tmux's panes: what is shown, what a closed pane ends, and that nothing else does.
EXECUTOR=tmux
load pipeline

socket() { basename "$T"/tmux-*/cliq-*; }
t() { tmux -L "$(socket)" "$@"; }
panes() { t list-panes -s -t run -F '#{pane_title}' 2>/dev/null | sort | paste -sd'|'; }
panes_are() { [ "$(panes)" = "$1" ]; }
pane() { t list-panes -s -t run -F '#{pane_id} #{pane_title}' 2>/dev/null | sed -n "s/ $1 .*//p"; } # ATTEMPT
viewer() { t list-panes -s -t run -F '#{pane_pid} #{pane_title}' | sed -n "s/ $1 .*//p"; } # ATTEMPT
shows() { t capture-pane -p -t "$(pane "$1")" | grep -q -- "$2"; } # ATTEMPT TEXT
server() { t display-message -p '#{pid}'; }
note() { grep ' note ' .cliq/orchestrator.log; }
nothing_left() {
    none_left
    ! t list-panes 2>/dev/null
    ! pgrep -f "$T/proj/.cliq/run/panes"
    ! exists .cliq/run/panes
    is "" "$(ls "$T"/tmux-*/ 2>/dev/null)" # neither a socket nor its lock
}

# Two phases that await go, then one more; it runs, and both are shown.
watched_run() { # [ARGS of run]
    hold go
    agent a <<'END'
ok
echo "I am $P"
[ "$P" = last ] || { echo $$ >"$T/pid.$P"; await go; }
complete
END
    team <<'END'
phases: [{name: one, agent: a}, {name: two, agent: a}, {name: last, agent: a, depends_on: [one, two]}]
END
    start_run run "$@"
    until_true exists "$T/pid.two"
    until_true exists "$T/pid.one"
    until_true panes_are "one.1 running|run|two.1 running"
}
goes_on() { # NAME PID
    release go
    ended "$1" "$2"
    code_is 0
    is "last.1 one.1 two.1" "$(sort "$T/starts" | paste -sd' ')"
}
# The agent of phase one ended with its pane, and was not tried again; two ran on.
ended_with_its_pane() { # NAME PID
    until_true gone "$(<"$T/pid.one")"
    kill -0 "$(<"$T/pid.two")"
    release go
    ended "$1" "$2"
    code_is 3
    has "$out" "phase one crashed: its pane was closed"
    is "one.1 two.1" "$(sort "$T/starts" | paste -sd' ')"
    status_is ESCALATED
    nothing_left
}
orchestrator_dies() { kill -KILL "$PID" && until_true gone "$PID"; }

@test "cliq run says how to attach; one pane an agent, and one for the run; nothing stays" {
    watched_run
    has "$(<"$T/run.out")" "to watch the agents: tmux -L $(socket) attach"
    is "$(<.cliq/cliq.id)" "$(socket)"
    until_true shows one.1 "I am one"
    until_true shows two.1 "I am two"
    until_true eval 't capture-pane -p -t run:0.0 | grep -q "two *started"'
    echo "said later" >>.cliq/run/logs/one.1.log
    until_true shows one.1 "said later"
    local pid
    pid=$(server)
    goes_on run "$PID"
    has "$out" COMPLETED
    nothing_left
    gone "$pid"
    lacks "$(<.cliq/orchestrator.log)" "plain processes"
}

@test "pane 0 begins with this run, not with those before it" {
    agent a <<<'ok; await go; complete'
    team <<<'phases: [{name: one, agent: a}]'
    run_ok --headless
    hold go
    start_run run
    until_true eval 't capture-pane -p -S - -t run:0.0 | grep -q "one *started"'
    is 1 "$(t capture-pane -p -S - -t run:0.0 | grep -c "one *started")"
    is 1 "$(grep -c "one *started" .cliq/orchestrator.log)"
    release go
    ended run "$PID"
    code_is 0
}

@test "nothing stays of a run that is cancelled, fails, or cannot begin" {
    watched_run
    got cancel
    is CANCELLED "$out"
    ended run "$PID"
    code_is 130
    nothing_left
    AGENTS=
    agent a <<<'ok; sleep $NAP & fail "no disk"'
    team <<<'phases: [{name: one, agent: a}]'
    run_is 3
    nothing_left
    run_is 3 --resume # tells how it ended, and starts nothing
    lacks "$out" attach
    nothing_left
}

@test "kill -9 of an agent in its pane is noticed at once, not by a poll, and how it died is told" {
    watched_run
    local began said
    began=$(date +%s%3N)
    kill -KILL "$(<"$T/pid.one")"
    until_true says .cliq/orchestrator.log "one *crashed *was killed by signal 9"
    said=$(date -d "today $(sed -n 's/ *one *crashed.*//p' .cliq/orchestrator.log)" +%s%3N)
    ((said - began < 2000)) # the poll of what cannot be watched is every 3 s
    release go
    ended run "$PID"
    code_is 3
    nothing_left
}

@test "kill-pane ends the agent: its tree gets SIGHUP, the phase escalates at once, retries or not" {
    hold go
    agent a <<'END'
ok
[ "$P" = one ] || { echo $$ >"$T/pid.$P"; await go; complete; exit; }
trap '' TERM # comes a second later, which a busy machine may need for HUP
(trap 'sleep 0.4; echo child >>"$T/hup"; exit' HUP; echo >"$T/child"; while :; do sleep 0.05; done) &
trap 'echo agent >>"$T/hup"; exit' HUP
sleep $NAP &
echo $$ >"$T/pid.$P"
wait
END
    team <<'END'
phases: [{name: one, agent: a, retries: 1}, {name: two, agent: a}, {name: last, agent: a, depends_on: [one, two]}]
END
    start_run run
    until_true panes_are "one.1 running|run|two.1 running"
    until_true exists "$T/pid.two"
    until_true exists "$T/child"
    until_true exists "$T/pid.one"
    t kill-pane -t "$(pane one.1)"
    until_true says .cliq/orchestrator.log "one *crashed *its pane was closed"
    until_true says "$T/hup" agent
    until_true says "$T/hup" child
    ended_with_its_pane run "$PID"
    is true "$($PY -c 'import json,sys; print([json.loads(l).get("final") for l in open(sys.argv[1]) if "its pane was closed" in l][0])' "$(journal)" | tr A-Z a-z)"
}

@test "kill -9 of a viewer is a closed pane" {
    watched_run
    kill -KILL "$(viewer one.1)"
    ended_with_its_pane run "$PID"
}

@test "an agent that ignores SIGHUP gets SIGTERM" {
    hold go
    agent a <<'END'
trap '' HUP
trap 'echo >"$T/term"; exit' TERM
ok
echo $$ >"$T/pid.$P"
while :; do sleep 0.05; done
END
    team <<<'phases: [{name: one, agent: a}]'
    start_run run
    until_true panes_are "one.1 running|run"
    until_true exists "$T/pid.one"
    t kill-pane -t "$(pane one.1)"
    ended run "$PID"
    code_is 3
    exists "$T/term"
    has "$out" "its pane was closed"
    nothing_left
}

@test "a terminal line that stands there when the pane is closed counts" {
    agent a <<<'ok; echo $$ >"$T/pid"; await go; complete; sleep $NAP'
    team <<<'phases: [{name: one, agent: a}]'
    hold go
    start_run run
    until_true exists "$T/pid"
    until_true panes_are "one.1 running|run"
    kill -STOP "$PID"
    release go
    until_true says .cliq/signals/one.jsonl complete
    t kill-pane -t "$(pane one.1)"
    kill -CONT "$PID"
    ended run "$PID"
    code_is 0
    nothing_left
}

@test "the loss of the server ends nothing: kill-server, kill -9, kill-session; plain processes go on" {
    local how pid
    for how in kill-server kill-9 kill-session; do
        rm -rf "$T/proj/.cliq" "$T/starts" "$T"/pid.* "$T/team/agents"
        AGENTS='' watched_run
        pid=$(server)
        case $how in
        kill-9) kill -KILL "$pid" ;;
        *) t "$how" ;;
        esac
        until_true says .cliq/orchestrator.log "agents run as plain processes from here on: tmux"
        until_true gone "$pid"
        kill -0 "$(<"$T/pid.one")"
        kill -0 "$(<"$T/pid.two")"
        goes_on run "$PID"
        is 2 "$(note | wc -l)" # and how to attach
        lacks "$(<.cliq/orchestrator.log)" "closed"
        nothing_left
    done
}

@test "pane 0 that is closed ends nothing" {
    watched_run
    t kill-pane -t run:0.0
    until_true panes_are "one.1 running|two.1 running"
    goes_on run "$PID"
    lacks "$(<.cliq/orchestrator.log)" closed
    nothing_left
}

@test "a server that hangs does not hang the run, and is gone in the end" {
    watched_run
    local pid
    pid=$(server)
    kill -STOP "$pid"
    goes_on run "$PID"
    has "$(note)" "no answer in 5 s"
    gone "$pid"
    ! exists .cliq/run/panes
}

@test "a finished pane says how it ended and keeps its last screen; closing it ends nothing" {
    hold go
    agent a <<'END'
ok
echo "I am $P"
case $P in
one) complete ;;
two) fail "no disk"; exit 1 ;;
gate) verdict ROUTE three; exit ;;
four) await go; complete ;;
esac
complete
END
    team <<'END'
phases:
  - {name: one, agent: a}
  - {name: three, agent: a, depends_on: [one]}
  - {name: gate, type: gate, agent: a, depends_on: [three], max_iterations: 1}
  - {name: four, agent: a}
  - {name: two, agent: a, depends_on: [one]}
END
    start_run run
    until_true eval 'panes | grep -q "four.1 running"'
    until_true eval 'panes | grep -Eq "one.1 completed \(exit code 0, [0-9.]+ m?s\)"'
    until_true eval 'panes | grep -q "two.1 error (exit code 1, "'
    until_true shows two.1 '^\[error (exit code 1, '
    shows two.1 "I am two"
    until_true eval 'panes | grep -q "gate.1 ROUTE (exit code 0, " || says .cliq/orchestrator.log "gate *started" || says .cliq/orchestrator.log "two *error"'
    t kill-pane -t "$(pane one.1)"
    lacks "$(<.cliq/orchestrator.log)" closed
    release go
    ended run "$PID"
    code_is 3
    has "$out" "phase two: agent error: no disk"
    nothing_left
}

@test "the pane of a gate says its verdict" {
    hold go
    agent a <<<'ok; case $P in gate) verdict PASS; exit ;; last) await go ;; esac; complete'
    team <<'END'
phases:
  - {name: one, agent: a}
  - {name: gate, type: gate, agent: a, depends_on: [one]}
  - {name: last, agent: a, depends_on: [gate]}
END
    start_run run
    until_true eval 'panes | grep -q "gate.1 PASS (exit code 0, .*last.1 running"'
    release go
    ended run "$PID"
    code_is 0
}

@test "finished panes make room for running ones, the oldest first" {
    hold go
    agent a <<'END'
ok
echo $$ >"$T/pid.$P"
before=$T/pid.p$((${P#p} - 1)) # each waits until the one before is gone: so they finish in order
[ ! -e "$before" ] || while kill -0 "$(cat "$before")" 2>/dev/null; do sleep 0.01; done
case $P in long | p12) await go ;; esac
complete
END
    {
        echo "phases:"
        echo "  - {name: long, agent: a}"
        echo "  - {name: p1, agent: a}"
        local i
        for i in $(seq 2 12); do echo "  - {name: p$i, agent: a, depends_on: [p$((i - 1))]}"; done
    } >"$T/phases"
    team <"$T/phases"
    start_run run
    until_true eval 'panes | grep -q "p12.1 running"'
    # nine panes of a window: the run, long, and the last seven of p1 to p12
    is 9 "$(t list-panes -s -t run | wc -l)"
    is 1 "$(t list-windows -t run | wc -l)"
    until_true eval 'panes | sed "s/ ([^)]*)//g" | grep -Fqx "long.1 running|p10.1 completed|p11.1 completed|p12.1 running|p6.1 completed|p7.1 completed|p8.1 completed|p9.1 completed|run"'
    release go
    ended run "$PID"
    code_is 0
    nothing_left
}

@test "--resume replaces the server of the killed orchestrator; panes show what agents said and say" {
    watched_run
    local old
    old=$(server)
    orchestrator_dies
    panes_are "one.1 running|run|two.1 running"
    start_run again --resume
    until_true gone "$old" # whose panes are called the same
    until_true panes_are "one.1 running|run|two.1 running"
    until_true shows one.1 "I am one"
    until_true shows two.1 "I am two"
    echo "said later" >>.cliq/run/logs/one.1.log
    until_true shows one.1 "said later"
    goes_on again "$PID"
    has "$out" attach
    nothing_left
}

@test "in a resumed run, too, a closed pane ends its agent" {
    watched_run
    local old
    old=$(server)
    orchestrator_dies
    start_run again --resume
    until_true gone "$old"
    until_true panes_are "one.1 running|run|two.1 running"
    t kill-pane -t "$(pane one.1)"
    ended_with_its_pane again "$PID"
}

@test "killed at random moments, and resumed, with panes" {
    EXECUTOR=tmux got_from $PY "$BATS_TEST_DIRNAME/../fault/resume.py" "$CLIQ" random "${RESUME_KILLS:-4}"
    succeeds
}

@test "a pane of a killed orchestrator tells that its agent ended" {
    watched_run
    orchestrator_dies
    kill -KILL "$(<"$T/pid.one")"
    until_true panes_are "one.1 ended|run|two.1 running"
    release go
    run_is 3 --resume
}

@test "an attempt costs one call of tmux" {
    agent a <<<'ok; complete'
    team <<<'phases: [{name: one, agent: a}, {name: two, agent: a, depends_on: [one]}]'
    mkdir -p "$T/bin"
    printf '#!/bin/sh\necho "$*" >>%s\nexec %s "$@"\n' "$T/calls" "$(command -v tmux)" >"$T/bin/tmux"
    chmod +x "$T/bin/tmux"
    PATH=$T/bin:$PATH run_ok
    is 2 "$(grep -c " _pane " "$T/calls")"
    # -V, the start, two attempts, the end
    is 5 "$(wc -l <"$T/calls")"
}

@test "status says how to attach, also to the server that a killed orchestrator left" {
    watched_run
    got status
    succeeds
    has "$out" "To watch the agents: tmux -L $(socket) attach"
    lacks "$out" died
    got status --json
    is "tmux -L $(socket) attach" "$(json "$T/out" 'd["attach"]')"
    kill -KILL "$PID"
    until_true gone "$PID"
    got status
    succeeds
    has "$out" INTERRUPTED
    has "$out" "To watch the agents: tmux -L $(socket) attach (of the orchestrator that died"
    tmux -L "$(socket)" kill-server
    got status
    succeeds
    lacks "$out" attach
    got cancel
    got status
    lacks "$out" attach
}

@test "--resume with plain processes ends that server, too" {
    watched_run
    local old
    old=$(server)
    kill -KILL "$PID"
    until_true gone "$PID"
    HEADLESS=--headless
    start_run again --resume
    until_true says .cliq/orchestrator.log resumed
    until_true gone "$old"
    goes_on again "$PID"
    nothing_left
}

@test "cancel and --force end the server of the killed orchestrator" {
    watched_run
    local old
    old=$(server)
    kill -KILL "$PID"
    until_true gone "$PID"
    got cancel
    is CANCELLED "$out"
    until_true gone "$old"
    nothing_left
    rm "$T"/pid.*
    AGENTS='' watched_run
    old=$(server)
    kill -KILL "$PID"
    until_true gone "$PID"
    release go
    HEADLESS=--headless run_ok --force
    until_true gone "$old"
    nothing_left
}

# tmux, but for what SH does to the calls that make a pane.
false_tmux() { # SH
    mkdir -p "$T/bin"
    : "${REAL_TMUX:=$(command -v tmux)}"
    printf '#!/bin/bash\nreal=%s\ncase "$*" in *" _pane "*) %s ;; esac\nexec $real "$@"\n' "$REAL_TMUX" "$1" >"$T/bin/tmux"
    chmod +x "$T/bin/tmux"
    export PATH=$T/bin:$PATH
}

@test "a viewer that fails ends no agent" {
    agent a <<<'ok; until grep -q "viewer of a pane ended" "$CLIQ_STATE_DIR/orchestrator.log"; do sleep 0.02; done; complete'
    team <<<'phases: [{name: one, agent: a}]'
    # It ends a moment after tmux has made the pane: one that is gone before tmux can keep it looks closed.
    printf '#!/bin/sh\nsleep 0.3\nexit 1\n' >"$T/viewer"
    chmod +x "$T/viewer"
    false_tmux 'a=("$@"); for i in "${!a[@]}"; do [ "${a[i]}" != _pane ] || a[i-1]='"$T"'/viewer; done; set -- "${a[@]}"'
    run_ok
    is one.1 "$(starts)"
    nothing_left
}

@test "whatever tmux answers, an attempt begins once, and goes on without a pane" {
    agent a <<<'ok; complete'
    team <<<'phases: [{name: one, agent: a}, {name: two, agent: a, depends_on: [one]}]'
    local how
    for how in 'exit 9' '$real "$@"; exit 9' 'echo no >\&2; exit 1'; do
        rm -f "$T/starts"
        false_tmux "$how"
        run_ok
        is "one.1 two.1" "$(starts)"
        has "$(note)" "agents run as plain processes from here on: tmux"
        nothing_left
    done
}

@test "without tmux: a message, and plain processes" {
    agent a <<<'ok; complete'
    team <<<'phases: [{name: one, agent: a}]'
    mkdir "$T/bin"
    ln -s /bin/* /usr/bin/* "$T/bin" 2>/dev/null || true
    rm "$T/bin/tmux"
    PATH=$T/bin run_ok
    has "$err" "is not installed: agents run as plain processes; install tmux to watch each in a pane"
    lacks "$out" attach
    PATH=$T/bin run_ok --headless # did not ask for it
    is "" "$err"
    is "one.1 one.1" "$(starts)"
}

@test "on a terminal tmux is the default; --headless, --json and CLIQ_EXECUTOR say otherwise" {
    command -v script >/dev/null || skip "no script"
    agent a <<<'ok; complete'
    team <<<'phases: [{name: one, agent: a}]'
    unset CLIQ_EXECUTOR
    on_terminal() { script -qec "$1" /dev/null </dev/null; }
    like "$(on_terminal "$CLIQ run")" "to watch the agents: tmux -L cliq-[0-9a-f]+ attach"
    has "$(TMUX=x on_terminal "$CLIQ retry one")" "TMUX= tmux -L"
    lacks "$(on_terminal "$CLIQ run --headless")" attach
    lacks "$(on_terminal "$CLIQ run --json")" attach
    lacks "$(CLIQ_EXECUTOR=process on_terminal "$CLIQ run")" attach
    lacks "$("$CLIQ" run)" attach
    has "$(CLIQ_EXECUTOR=tmux "$CLIQ" run --json)" '"event":"note"'
    CLIQ_EXECUTOR=screen got run
    refused 2 CLIQ_EXECUTOR screen
    nothing_left
}

@test "a copy of a project has a server of its own" {
    agent a <<'END'
ok
await "go-$(basename "$(dirname "$CLIQ_STATE_DIR")")"
complete
END
    team <<<'phases: [{name: one, agent: a}]'
    local id first
    id=$(<.cliq/cliq.id)
    cp -r . "$T/copy"
    hold go-proj
    hold go-copy
    start_run first
    first=$PID
    until_true says .cliq/orchestrator.log attach
    is "$id" "$(head -n 1 .cliq/run/tmux)"
    cd "$T/copy"
    start_run second
    until_true says "$T/second.out" attach
    has "$(<"$T/second.out")" "to watch the agents: tmux -L cliq-"
    lacks "$(<"$T/second.out")" "tmux -L $id attach"
    release go-copy
    ended second "$PID"
    code_is 0
    tmux -L "$id" has-session # the other one's
    release go-proj
    ended first "$first"
    code_is 0
}
