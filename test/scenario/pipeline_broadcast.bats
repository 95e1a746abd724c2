#!/usr/bin/env bats
# Every transition of a run is a signal of the hub; and a run never waits for the hub.
load pipeline

# The page's team: the developer mends the bug when the reviewer tells it to.
page() {
    agent architect <<<'ok; complete'
    agent developer <<'END'
ok
progress "reading"
[ ! -e "$CLIQ_STATE_DIR/channels/reviewer--developer/handoff.json" ] || touch fixed
complete
END
    agent reviewer <<'END'
ok
if [ -e fixed ]; then verdict PASS "" "all good"; else verdict ROUTE developer "DELETE returns 500"; fi
END
    mkdir -p "$T/team/roles"
    for r in architect developer reviewer; do echo "You are the $r of this team, and you write down what you did." >"$T/team/roles/$r.md"; done
    team <<'END'
phases:
  - {name: architect, agent: architect}
  - {name: developer, agent: developer, depends_on: [architect]}
  - {name: reviewer, type: gate, agent: reviewer, depends_on: [developer], max_iterations: 3}
END
    ID=$(<.cliq/cliq.id)
}

one_agent() { # SH
    agent a <<<"$1"
    team <<'END'
phases: [{name: one, agent: a}]
END
    ID=$(<.cliq/cliq.id)
}

# told [PREFIX]: the types of the signals, in order, without the project's id.
told() {
    "$CLIQ" signal events --limit 1000 --json | $PY -c '
import json, sys
for e in json.load(sys.stdin):
    if e["type"].startswith(sys.argv[1]): print(e["type"].replace(":" + sys.argv[2], ""))' "${1:-}" "$ID"
}
# data TYPE EXPRESSION: of each signal of that type, d being its data and e the signal.
data() {
    "$CLIQ" signal events --limit 1000 --json | $PY -c '
import json, sys
for e in json.load(sys.stdin):
    d = e.get("data")
    if e["type"] == sys.argv[1]: print(eval(sys.argv[2]))' "$@"
}

# Holds the lock of the store until it is killed.
lock_store() {
    mkdir -p "$CLIQ_HOME/signals"
    start locker $PY -c '
import fcntl, sys, time
f = open(sys.argv[1], "a"); fcntl.flock(f, fcntl.LOCK_EX); open(sys.argv[2], "w"); time.sleep(60)' \
        "$CLIQ_HOME/signals/events.jsonl" "$T/locked"
    LOCKER=$PID
    until_true exists "$T/locked"
}

@test "a subscriber sees every transition of the page's run, in order" {
    page
    "$CLIQ" signal subscribe "pipeline:$ID:*" --as ruby >/dev/null
    "$CLIQ" signal subscribe "phase:$ID:*:*" --as ruby >/dev/null
    run_ok
    local want="pipeline:started
phase:architect:started
phase:architect:completed
phase:developer:started
phase:developer:progress
phase:developer:completed
phase:reviewer:started
phase:reviewer:routed
phase:developer:started
phase:developer:progress
phase:developer:completed
phase:reviewer:started
phase:reviewer:completed
pipeline:completed"
    is "$want" "$(told p)"
    "$CLIQ" inbox @ruby --view history --limit 100 --json | $PY -c '
import json, sys
for s in reversed(json.load(sys.stdin)): print(s["signal_type"].replace(":" + sys.argv[1], ""))' "$ID" >"$T/inbox"
    is "$want" "$(<"$T/inbox")"
}

@test "the signals tell what a listener needs; their source is the system" {
    page
    run_ok
    is "{'type': 'system'}" "$(data "pipeline:$ID:started" 'e["source"]')"
    is "$ID COMPLETED $T/proj @local/test" "$(data "pipeline:$ID:completed" 'd["pipelineId"],d["status"],d["projectDir"],d["team"]' | tr -d "(),'")"
    is "reviewer 1 1 ROUTE developer DELETE returns 500" "$(data "phase:$ID:reviewer:routed" 'd["agent"],d["attempt"],d["iteration"],d["verdict"],d["target"],d["reason"]' | tr -d "(),'")"
    is "2 2 PASS" "$(data "phase:$ID:reviewer:completed" 'd["attempt"],d["iteration"],d["verdict"]' | tr -d "(),'")"
    is "reading
reading" "$(data "phase:$ID:developer:progress" 'd["message"]')"
    is "False
True" "$(data "phase:$ID:developer:started" 'd.get("routed", False)')"
}

@test "an agent wakes before its phase starts, and sleeps when nothing of it is left" {
    page
    run_ok
    is "agent:architect:wake agent:architect:sleep" "$(told agent:arch | paste -sd' ')"
    is "agent:developer:wake agent:developer:sleep agent:developer:wake agent:developer:sleep" "$(told agent:dev | paste -sd' ')"
    is "{'agentId': 'architect', 'state': 'wake'}" "$(data agent:architect:wake d)"
    is "agent:architect:wake phase:architect:started" "$(told | sed -n 2,3p | paste -sd' ')"
}

@test "an agent of two phases at a time wakes once" {
    mkfifo "$T/meet"
    agent a <<'END'
ok
if [ "$P" = one ]; then read -r _ <"$T/meet"; else echo >"$T/meet"; fi
complete
END
    team <<'END'
phases: [{name: one, agent: a}, {name: two, agent: a}]
END
    ID=$(<.cliq/cliq.id)
    run_ok --jobs 2
    is "agent:a:wake agent:a:sleep" "$(told agent | paste -sd' ')"
}

@test "errors, retries, escalation and a retry by hand" {
    one_agent 'ok; [ -e fail ] && fail "no disk" || complete'
    touch fail
    run_is 3
    is "error no disk False" "$(data "phase:$ID:one:error" 'd["outcome"],d["reason"],d["willRetry"]' | tr -d "(),'")"
    has "$(data "pipeline:$ID:escalated" 'd["reason"]')" "no disk"
    rm fail
    got retry one $HEADLESS
    code_is 0
    is "pipeline:started phase:one:started phase:one:error pipeline:escalated pipeline:started phase:one:started phase:one:completed pipeline:completed" \
        "$(told p | paste -sd' ')"
}

@test "a cancelled run says so" {
    one_agent 'ok; sleep $NAP'
    start_run r
    until_true exists "$T/starts"
    "$CLIQ" cancel >/dev/null
    ended r "$PID"
    is pipeline:cancelled "$(told pipeline | tail -n 1)"
}

@test "a run that is cancelled when its orchestrator is dead says so, too" {
    one_agent 'ok; sleep $NAP'
    start_run r
    until_true exists "$T/starts"
    kill -KILL "$PID"
    ended r "$PID"
    is CANCELLED "$("$CLIQ" cancel)"
    is pipeline:cancelled "$(told pipeline | tail -n 1)"
}

@test "a dry run tells nobody" {
    one_agent 'ok; complete'
    got run --dry-run
    code_is 0
    [ ! -e "$CLIQ_HOME/signals/events.jsonl" ]
}

# Two phases; the first awaits go.
two_phases() {
    hold go
    agent a <<'END'
ok; progress half
await go
complete
END
    team <<'END'
phases: [{name: one, agent: a}, {name: two, agent: a, depends_on: [one]}]
END
    ID=$(<.cliq/cliq.id)
}
TWO="pipeline:started phase:one:started phase:one:progress phase:one:completed phase:two:started phase:two:progress phase:two:completed pipeline:completed"

@test "a run that is killed before it told anybody, and resumed, tells it all" {
    two_phases
    start_run r
    until_true says .cliq/orchestrator.log progress
    kill -KILL "$PID"
    ended r "$PID"
    release go
    run_ok --resume
    is "$TWO" "$(told p | paste -sd' ')"
}

@test "a run that is killed after it told something, and resumed, tells nothing twice" {
    two_phases
    start_run r
    until_true says "$CLIQ_HOME/signals/events.jsonl" :progress
    kill -KILL "$PID"
    ended r "$PID"
    release go
    run_ok --resume
    is "$TWO" "$(told p | paste -sd' ')"
    got run --resume $HEADLESS
    is 1 "$(told p | grep -c pipeline:completed)"
}

@test "a locked store holds no run up: one warning" {
    page
    lock_store
    local before=$SECONDS
    run_ok
    [ $((SECONDS - before)) -le 5 ]
    is 1 "$(grep -c 'could not be broadcast' .cliq/orchestrator.log)"
    has "$out" "could not be broadcast"
    kill -KILL "$LOCKER"
    is "" "$(told)"
}

@test "a store that is free again in time gets it all" {
    hold go
    one_agent 'ok; await go; complete'
    lock_store
    start_run r
    until_true exists "$T/starts"
    kill -KILL "$LOCKER"
    release go
    ended r "$PID"
    code_is 0
    lacks "$out" "could not be broadcast"
    is "pipeline:started phase:one:started phase:one:completed pipeline:completed" "$(told p | paste -sd' ')"
}

@test "a store that cannot be made fails no run" {
    page
    mkdir -p "$CLIQ_HOME"
    printf 'not a directory' >"$CLIQ_HOME/signals"
    run_ok
    has "$out" "could not be broadcast"
}
