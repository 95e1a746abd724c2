# pipeline.bash - a team of small agents and a project to run it in: load it at the top of
# a pipeline*.bats file.
#
#   agent NAME < SH     an agent of the team, in sh; it has the words below
#   team < YAML         writes team.yml, makes the project, assembles; the test is in it then
#   run_ok, run CODE    cliq run with that exit code
#   starts              every attempt that began: "phase.n phase.n …", from a file outside .cliq
#   left                processes of this test that still live: agents sleep for $NAP seconds
#
# An agent's words: ok, progress TEXT, complete [RESULT], fail TEXT, notify RESULT,
# verdict OUTCOME [TARGET] [REASON], line MEMBERS, hand TO ENVELOPE, await NAME (until whoever
# said `hold NAME` before says `release NAME`, which agents may, too); $T, $P (its phase),
# $N (its attempt), $NAP; its message is in $T/message.$P.$N.
#
# EXECUTOR=tmux in the environment: the same in tmux, with a server of the test's own.
load ../lib/cli

eval "$(declare -f setup | sed '1s/setup/cli_setup/')"

setup() {
    cli_setup
    # Nobody else sleeps as long as this, to the microsecond.
    NAP=40.$((RANDOM % 900 + 100))$((RANDOM % 900 + 100))$$
    mkdir -p "$T/team/agents" "$T/proj"
    HEADLESS=--headless
    unset TMUX CLIQ_EXECUTOR
    export TMUX_TMPDIR=$T
    if [ "${EXECUTOR:-process}" = tmux ]; then
        command -v tmux >/dev/null || skip "no tmux"
        HEADLESS='' CLIQ_EXECUTOR=tmux
        export CLIQ_EXECUTOR
    fi
    STATE=$T/proj/.cliq
}

eval "$(declare -f teardown | sed '1s/teardown/cli_teardown/')"

# A server whose orchestrator was killed stays for those who look on, and so do its agents when
# a test fails before it ends them.
teardown() {
    local s p
    for p in $(pgrep -f "^(/bin/)?sh $T/proj/.cliq/agents/"); do
        kill -KILL "$p" 2>/dev/null
    done
    for s in "$T"/tmux-*/*; do
        [ ! -S "$s" ] || tmux -S "$s" kill-server 2>/dev/null
    done
    cli_teardown
}

agent() {
    mkdir -p "$T/team/agents/$1"
    {
        printf '#!/bin/sh\nT=%s NAP=%s\n' "$T" "$NAP"
        cat <<'END'
P=$CLIQ_PHASE N=$CLIQ_ATTEMPT_NUMBER
S=$CLIQ_STATE_DIR/signals/$P.jsonl
line() { printf '{"ts":"2026-05-29T06:04:14.222Z","version":1,"type":"phase",%s}\n' "$1" >>"$S"; }
ok() { line '"status":"ok"'; }
progress() { line "\"status\":\"progress\",\"message\":\"$1\""; }
complete() { line "\"status\":\"complete\"${1:+,\"result\":$1}"; }
fail() { line "\"status\":\"error\",\"error\":\"$1\""; }
notify() { line "\"status\":\"notify\",\"result\":$1"; }
verdict() { complete "{\"verdict\":{\"outcome\":\"$1\"${2:+,\"target\":\"$2\"},\"reason\":\"$3\"}}"; }
hand() { # TO ENVELOPE
    printf '%s\n' "$2" >"$CLIQ_STATE_DIR/channels/.$$" &&
        mv "$CLIQ_STATE_DIR/channels/.$$" "$CLIQ_STATE_DIR/channels/$P--$1/handoff.json"
}
await() { [ ! -p "$T/$1" ] || read -r _ 2>/dev/null <"$T/$1"; } # released meanwhile: there is none
release() { { rm "$T/$1"; } <>"$T/$1"; }
[ -z "$P" ] || { cat >"$T/message.$P.$N" && echo "$P.$N" >>"$T/starts"; }
END
        cat
    } >"$T/team/agents/$1/agent.sh"
    AGENTS="$AGENTS  $1: {entry: agents/$1/agent.sh}
"
}

team() {
    {
        printf 'name: "@local/test"\ndescription: a team for a test\n'
        [ -z "$AGENTS" ] || printf 'agents:\n%s' "$AGENTS"
        cat
    } >"$T/team/team.yml"
    cd "$T/proj" || return
    "$CLIQ" init >/dev/null && "$CLIQ" assemble ../team >"$T/assembled" 2>&1 || { cat "$T/assembled" >&2; return 1; }
}

# The team as it is now, once more.
assemble() { "$CLIQ" assemble ../team >"$T/assembled" 2>&1; }

run_is() { # CODE ARGS...
    local want=$1
    shift
    got run $HEADLESS "$@"
    code_is "$want"
}
run_ok() { run_is 0 "$@" && is COMPLETED "$(<"$STATE/signals/_pipeline_status")"; }
status_is() { is "$1" "$(<"$STATE/signals/_pipeline_status")"; }

# start_run NAME ARGS...: in the background.
start_run() { start "$1" "$CLIQ" run $HEADLESS "${@:2}"; }

# hold NAME: agents that await it do so until release NAME. It is a pipe: who waits is woken when it
# is opened for writing, who comes later finds none.
hold() { rm -f "$T/$1" && mkfifo "$T/$1"; }
release() { [ ! -p "$T/$1" ] || { rm "$T/$1"; } <>"$T/$1"; }

starts() { [ ! -e "$T/starts" ] || paste -sd' ' "$T/starts"; }
left() { pgrep -f "sleep $NAP" || true; }
none_left() { [ -z "$(left)" ]; }
journal() { printf '%s\n' "$STATE/run/journal.jsonl"; }
exists() { [ -e "$1" ]; }
says() { grep -q -- "$2" "$1" 2>/dev/null; } # FILE PATTERN

# json FILE EXPRESSION: of the document d.
json() { $PY -c 'import json,sys; d=json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$@"; }

# one is done, two awaits go (and would sleep on), three comes after it; the orchestrator
# is killed then.
killed_run() {
    hold go
    agent a <<'END'
ok
[ "$P" != two ] || { echo $$ >"$T/pid"; await go; }
complete
END
    team <<'END'
phases:
  - {name: one, agent: a}
  - {name: two, agent: a, depends_on: [one]}
  - {name: three, agent: a, depends_on: [two]}
END
    start_run run
    until_true exists "$T/pid"
    until_true says .cliq/signals/two.jsonl ok
    kill -KILL "$PID"
    until_true gone "$PID"
}

# The states of the phases, as --json tells them.
states() {
    "$CLIQ" status --json 2>/dev/null >"$T/status.json"
    json "$T/status.json" '" ".join([d["status"]] + [p["state"] for p in d["phases"]])'
}

# A team in which each phase hands over to the next; b also to d.
handing_team() {
    agent a <<'END'
ok
case $P in a) hand b '{}' ;; b) hand c '{}'; hand d '{}' ;; c) hand d '{}' ;; esac
complete
END
    team <<'END'
phases:
  - {name: a, agent: a}
  - {name: b, agent: a, depends_on: [a]}
  - {name: c, agent: a, depends_on: [b]}
  - {name: d, agent: a, depends_on: [b, c]}
END
}
