#!/usr/bin/env bats
# Agents in tmux's panes: what is shown, and that nothing depends on it. (That a run is the
# same with them is told by the other files, which `make test` runs with tmux once more.)
EXECUTOR=tmux
load pipeline

socket() { basename "$T"/tmux-*/cliq-*; }
panes() { tmux -L "$(socket)" list-panes -a -F "${1:-#{pane_title\}}" 2>/dev/null | sort | paste -sd' '; }
panes_are() { [ "$(panes)" = "$1" ]; }
# shows NAME TEXT: the pane of that title does.
shows() { tmux -L "$(socket)" capture-pane -p -t "$(pane "$1")" | grep -q -- "$2"; }
pane() { tmux -L "$(socket)" list-panes -a -F '#{pane_id} #{pane_title}' | sed -n "s/ $1\$//p"; }
server() { tmux -L "$(socket)" display-message -p '#{pid}'; }
note() { grep ' note ' .cliq/orchestrator.log; }
nothing_left() {
    none_left
    ! tmux -L "$(socket)" list-panes 2>/dev/null
    ! pgrep -f "$T/proj/.cliq/run/panes"
    ! exists .cliq/run/panes
    is "" "$(ls "$T"/tmux-*/ 2>/dev/null)" # neither a socket nor its lock
}

# Two phases that await go, then one more; it runs, and both have begun.
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
    until_true says .cliq/signals/one.jsonl ok
    until_true says .cliq/signals/two.jsonl ok
    until_true exists "$T/pid.two"
    until_true exists "$T/pid.one"
}
goes_on() { # NAME PID
    release go
    ended "$1" "$2"
    code_is 0
    is "last.1 one.1 two.1" "$(sort "$T/starts" | paste -sd' ')"
}

@test "cliq run says how to attach; one pane an agent, and one for the run; nothing stays" {
    watched_run
    has "$(<"$T/run.out")" "to watch the agents: tmux -L $(socket) attach"
    is "$(<.cliq/cliq.id)" "$(socket)"
    until_true panes_are "one.1 run two.1" # a viewer sets its title when the agent has begun
    until_true eval 'tmux -L $(socket) capture-pane -p -t run:0.0 | grep -q "two *started"'
    local all
    all=$(for p in $(panes '#{pane_id}'); do tmux -L "$(socket)" capture-pane -p -t "$p"; done)
    has "$all" "I am one"
    has "$all" "I am two"
    is "" "$(ls .cliq/run/panes)"
    local pid
    pid=$(server)
    goes_on run "$PID"
    has "$out" COMPLETED
    nothing_left
    gone "$pid"
    lacks "$(<.cliq/orchestrator.log)" "plain processes"
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

@test "kill -9 of an agent in its pane is noticed within 200 ms, and how it died is told" {
    watched_run
    local began said
    began=$(date +%s%3N)
    kill -KILL "$(<"$T/pid.one")"
    until_true says .cliq/orchestrator.log "one *crashed *was killed by signal 9"
    said=$(date -d "today $(sed -n 's/ *one *crashed.*//p' .cliq/orchestrator.log)" +%s%3N)
    ((said - began < 200))
    release go
    ended run "$PID"
    code_is 3
    nothing_left
}

@test "the end of a pane or its viewer is not the agent's; its result counts" {
    watched_run
    local id
    id=$(tmux -L "$(socket)" list-panes -a -F '#{pane_id} #{pane_title}' | sed -n 's/ one.1//p')
    tmux -L "$(socket)" kill-pane -t "$id"
    id=$(tmux -L "$(socket)" list-panes -a -F '#{pane_pid} #{pane_title}' | sed -n 's/ two.1//p')
    kill -KILL "$id"
    until_true gone "$id"
    kill -0 "$(<"$T/pid.one")"
    kill -0 "$(<"$T/pid.two")"
    goes_on run "$PID"
    nothing_left
}

@test "an agent whose viewer was killed is still noticed, with how it died" {
    watched_run
    kill -KILL "$(tmux -L "$(socket)" list-panes -a -F '#{pane_pid} #{pane_title}' | sed -n 's/ one.1//p')"
    kill -KILL "$(<"$T/pid.one")"
    release go
    ended run "$PID"
    code_is 3
    has "$out" "phase one crashed: was killed by signal 9"
}

@test "a server that is killed takes the panes with it, not the run: plain processes go on" {
    watched_run
    tmux -L "$(socket)" kill-server
    kill -0 "$(<"$T/pid.one")"
    goes_on run "$PID"
    has "$(note)" "agents run as plain processes from here on: tmux"
    is 2 "$(note | wc -l)" # and how to attach
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

@test "--resume replaces the server of the killed orchestrator and listens to the agents" {
    watched_run
    local old
    old=$(server)
    kill -KILL "$PID"
    until_true gone "$PID"
    until_true panes_are "one.1 run two.1"
    start_run again --resume
    until_true says .cliq/orchestrator.log resumed
    goes_on again "$PID"
    has "$out" "attach"
    gone "$old"
    nothing_left
}

@test "--resume gives agents that run on a pane again, which shows what they said and say" {
    watched_run
    local old
    old=$(server)
    kill -KILL "$PID"
    until_true gone "$PID"
    start_run again --resume
    until_true gone "$old" # whose panes are called the same
    until_true panes_are "one.1 run two.1"
    until_true shows one.1 "I am one"
    until_true shows two.1 "I am two"
    echo "said later" >>.cliq/run/logs/one.1.log
    until_true shows one.1 "said later"
    local pid=$PID
    release go
    ended again "$pid"
    code_is 0
    is "last.1 one.1 two.1" "$(sort "$T/starts" | paste -sd' ')"
    nothing_left
}

@test "the pane of a resumed agent tells its end, and its death is not the agent's" {
    watched_run
    local old
    old=$(server)
    kill -KILL "$PID"
    until_true gone "$PID"
    start_run again --resume
    until_true gone "$old" # whose panes are called the same
    until_true panes_are "one.1 run two.1"
    kill -KILL "$(<"$T/pid.one")" # the run goes on until two is done
    until_true shows one.1 '\[ended\]'
    tmux -L "$(socket)" kill-pane -t "$(pane two.1)"
    kill -0 "$(<"$T/pid.two")"
    release go
    ended again "$PID"
    code_is 3
    has "$out" "phase one crashed"
    nothing_left
}

@test "an attempt costs one call of tmux" {
    agent a <<<'ok; complete'
    team <<<'phases: [{name: one, agent: a}, {name: two, agent: a, depends_on: [one]}]'
    mkdir -p "$T/bin"
    printf '#!/bin/sh\necho "$*" >>%s\nexec %s "$@"\n' "$T/calls" "$(command -v tmux)" >"$T/bin/tmux"
    chmod +x "$T/bin/tmux"
    PATH=$T/bin:$PATH run_ok
    is 2 "$(grep -c _exec "$T/calls")"
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

# tmux, but for what SH does to the calls that start an agent.
false_tmux() { # SH
    mkdir -p "$T/bin"
    : "${REAL_TMUX:=$(command -v tmux)}"
    printf '#!/bin/bash\nreal=%s\ncase "$*" in *_exec*) %s ;; esac\nexec $real "$@"\n' "$REAL_TMUX" "$1" >"$T/bin/tmux"
    chmod +x "$T/bin/tmux"
    export PATH=$T/bin:$PATH
}

@test "a pane that ends before its agent begins: it is begun as a process, once" {
    agent a <<<'ok; complete'
    team <<<'phases: [{name: one, agent: a}, {name: two, agent: a, depends_on: [one]}]'
    false_tmux 'set -- "${@/_exec/no-such-command}"'
    run_ok
    is "one.1 two.1" "$(starts)"
    has "$(note)" "a pane ended before its agent began"
    nothing_left
}

@test "when nobody can tell whether it began, it begins once" {
    agent a <<<'ok; complete'
    team <<<'phases: [{name: one, agent: a}, {name: two, agent: a, depends_on: [one]}]'
    false_tmux '$real "$@"; exit 9'
    run_ok
    is "one.1 two.1" "$(starts)"
    has "$(note)" "exit code 9"
    nothing_left
    rm "$T/starts"
    false_tmux '(sleep 0.3; $real "$@") >/dev/null 2>&1 & exit 9' # and it is late
    run_ok
    is "one.1 two.1" "$(starts)"
    nothing_left
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
    until_true says .cliq/signals/one.jsonl ok
    is "$id" "$(head -n 1 .cliq/run/tmux)"
    cd "$T/copy"
    start_run second
    until_true says .cliq/signals/one.jsonl ok
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
