#!/usr/bin/env bats
# Notifications: an agent's notify lines and the run's own events; neither can
# fail or delay a run.
load pipeline

# An agent that records its notify messages.
herald() {
    agent herald <<'END'
[ -z "$P" ] || { ok; complete; exit; }
cat >"$T/told.tmp.$$"
mv "$T/told.tmp.$$" "$T/told.$(date +%s%N).$$"
env | sed 's/=.*//' | sort >"$T/herald.env"
[ ! -p "$T/told" ] || release told
echo told
[ ! -e "$T/herald-fails" ] || exit 1
[ ! -e "$T/herald-hangs" ] || { setsid sh -c 'trap "" TERM; sleep $NAP' & sleep $NAP; }
END
}
# told EXPRESSION: prints it for all notifications n (with their message m), in order.
told() {
    $PY - "$T" "$1" <<'END'
import glob, json, sys
for f in sorted(glob.glob(sys.argv[1] + "/told.[0-9]*")):
    m = json.load(open(f))
    for n in m["payload"]["notifications"]:
        print(eval(sys.argv[2]))
END
}

@test "a notify line is dispatched to the named agent while the phase goes on" {
    herald
    hold told
    agent a <<'END'
ok
notify '{"agent":"herald","channel":"elan","event":"hug_review","payload":{"review_id":"r1","nested":{"x":[1,2]},"event":"not this"}}'
await told
complete
END
    team <<<'phases: [{name: one, agent: a}]'
    "$CLIQ" settings agents.herald.secret hidden
    run_ok
    is "{'event': 'hug_review', 'channel': 'elan', 'phase_name': 'one', 'review_id': 'r1', 'nested': {'x': [1, 2]}}" "$(told n)"
    is "notify herald {} 1" "$(told 'm["type"],m["agent"],m["settings"],m["version"]' | tr -d "(),'")"
    is "$STATE/signals" "$(told 'm["signal_dir"]')"
    is "told" "$(cat .cliq/run/logs/_notify-herald-*.log)"
    lacks "$(<"$T/herald.env")" SECRET
}

@test "failures of notifications are logged and never fatal" {
    herald
    touch "$T/herald-fails"
    agent a <<'END'
ok
notify '{"agent":"nobody","channel":null,"event":"x"}'
notify '{"channel":"c"}'
notify '"text"'
notify '{"agent":"../evil","event":"x"}'
notify '{"agent":"herald","event":"x"}'
complete
END
    team <<<'phases: [{name: one, agent: a}]'
    run_ok
    has "$(<.cliq/orchestrator.log)" "notify nobody failed (x): the agent nobody is not installed"
    has "$(<.cliq/orchestrator.log)" "a notify line needs an agent and an event"
    has "$(<.cliq/orchestrator.log)" "notify herald failed (x): exit code 1: told"
    has "$("$CLIQ" status)" "notify herald failed (x): exit code 1: told"
    has "$("$CLIQ" status --json)" '"notes":["notify nobody failed (x): '
    is "None" "$(told 'n["channel"]')"
}

@test "the run's events go to the receivers in settings.notifications" {
    herald
    agent g <<<'ok; [ "$N" = 1 ] && verdict ROUTE one "not yet" || verdict PASS'
    team <<'END'
phases:
  - {name: one, agent: herald}
  - {name: gate, type: gate, agent: g, depends_on: [one]}
END
    "$CLIQ" settings notifications '{"on_start":["herald:ops"],"on_phase_start":["herald"],"on_phase_complete":["herald:x"],"on_complete":["herald:ops","herald:second"],"on_escalate":["herald:no"],"on_cancel":["herald:no"]}'
    run_ok
    is "on_complete ops COMPLETED
on_complete second COMPLETED
on_phase_complete x gate PASS
on_phase_complete x one
on_phase_complete x one
on_phase_start None gate
on_phase_start None gate
on_phase_start None one
on_phase_start None one
on_start ops" "$(told '" ".join(str(x) for x in [n["event"], n["channel"], n.get("phase_name"), n.get("outcome")] if x is not None or x is n["channel"])' | sed 's/ None$//; s/ None None$//' | sed 's/ None COMPLETED/ COMPLETED/' | sort)"
}

@test "on_escalate and on_cancel have the reason" {
    herald
    agent a <<<'ok; [ -e sleep ] && { sleep $NAP & wait; }; fail "no disk"'
    team <<<'phases: [{name: one, agent: a}]'
    "$CLIQ" settings notifications '{"on_complete":["herald"],"on_escalate":"herald:ops","on_cancel":["herald:ops"]}'
    run_is 3
    is "on_escalate ops ESCALATED phase one: agent error: no disk|cliq retry one (mend the cause first: cliq log one shows what it said)" \
        "$(told '" ".join([n["event"],n["channel"],n["outcome"],n["reason"]]) + "|" + n["next"]')"
    rm "$T"/told.* .cliq/signals/one.jsonl
    touch sleep
    start_run run
    local run=$PID
    until_true says .cliq/signals/one.jsonl ok
    kill -TERM "$run"
    ended run "$run"
    code_is 130
    is "on_cancel ops CANCELLED" "$(told '" ".join([n["event"],n["channel"],n["outcome"]])')"
    none_left
}

@test "a phase's notify map sets its own receivers" {
    herald
    agent a <<<'ok; [ "$P" = one ] && complete || fail "broken"'
    team <<'END'
phases:
  - {name: one, agent: a, notify: {on_complete: {agent: herald, channel: team, message: "one is done"}}}
  - {name: two, agent: a, depends_on: [one], notify: {on_fail: "herald:oncall", on_complete: herald}}
END
    run_is 3
    is "on_complete team one one is done
on_fail oncall two broken" "$(told '" ".join([n["event"],n["channel"],n["phase_name"],n.get("message") or n["reason"]])' | sort)"
}

@test "texts of a phase's notify map may hold variables; one that cannot be resolved stays" {
    herald
    agent a <<<'ok; [ "$P" = two ] || hand two "{\"data\":{\"n\":7}}"; complete'
    team <<'END'
inputs: [{name: who, default: Eve}]
phases:
  - {name: one, agent: a}
  - name: two
    agent: a
    depends_on: [one]
    notify:
      on_start: {agent: herald, channel: a, message: "$(phase) for $(inputs.who), $(handoff.one.n)"}
      on_complete: {agent: herald, channel: b, message: "$(handoff.one.missing)"}
END
    run_ok
    is 'two for Eve, 7
$(handoff.one.missing)' "$(told 'n["message"]' | sort -r)"
    has "$(<.cliq/orchestrator.log)" "phase two, notify: "
}

# Phase one still runs when phase two fails, and is stopped; both notify the agent herald.
stopped_team() {
    herald
    mkfifo "$T/up"
    agent good <<<'ok; echo >"$T/up"; exec sleep $NAP'
    agent bad <<<'ok; read -r _ <"$T/up"; fail "no good"'
    team <<'END'
phases:
  - {name: one, agent: good, notify: {on_error: herald, on_fail: herald}}
  - {name: two, agent: bad, notify: {on_error: herald}}
END
}

@test "a phase that --fail-fast stopped is reported as stopped, to notifiers and to the hub" {
    stopped_team
    run_is 3 --fail-fast
    none_left
    is "on_error one stopped the run is ending
on_error two None no good" "$(told '" ".join(str(x) for x in [n["event"], n["phase_name"], n.get("outcome"), n["reason"]])' | sort)"
    is "one stopped the run is ending False
two error no good False" "$(errors_told)"
}

@test "a phase that a cancel stopped is reported as stopped too" {
    stopped_team
    sed -i 's/fail "no good"/exec sleep $NAP/' .cliq/agents/bad/agent.sh
    "$CLIQ" team trust >/dev/null
    start_run run
    until_true says "$T/starts" two # and phase one runs: phase two reads its output
    until_true says .cliq/signals/one.jsonl ok
    until_true says .cliq/signals/two.jsonl ok
    "$CLIQ" cancel >/dev/null
    ended run "$PID"
    code_is 130
    is "one stopped the run was cancelled False
two stopped the run was cancelled False" "$(errors_told)"
    is "stopped stopped" "$(told 'n["outcome"]' | paste -sd' ')"
}
# The hub's events about phases that did not complete.
errors_told() {
    "$CLIQ" signal events --limit 1000 --json | $PY -c '
import json, sys
for e in json.load(sys.stdin):
    d = e.get("data")
    if e["type"].endswith(":error"): print(d["phase"], d["outcome"], d["reason"], d["willRetry"])' | sort
}

@test "a run waits for a hanging notifier as long as run.notify_timeout, for its descendants 2 s more" {
    herald
    touch "$T/herald-hangs"
    team <<<'phases: [{name: one, agent: herald}]'
    "$CLIQ" settings notifications '{"on_start":["herald:ops"]}'
    "$CLIQ" settings run.notify_timeout 2s
    local began=$SECONDS
    run_ok
    ((SECONDS - began >= 1 && SECONDS - began <= 8)) || complain "took $((SECONDS - began)) s"
    none_left
    has "$(<.cliq/orchestrator.log)" "notify herald:ops failed (on_start): was killed by signal 15: "
}

@test "a resumed run does not repeat delivered notifications" {
    hold go
    herald
    agent a <<'END'
ok
notify '{"agent":"herald","event":"first"}'
await go
notify '{"agent":"herald","event":"second"}'
complete
END
    team <<<'phases: [{name: one, agent: a}]'
    "$CLIQ" settings notifications '{"on_start":["herald"],"on_phase_start":["herald"]}'
    start_run run
    until_true said 3
    kill -KILL "$PID"
    until_true gone "$PID"
    start_run again --resume
    until_true says .cliq/orchestrator.log resumed
    release go
    ended again "$PID"
    code_is 0
    is "first on_phase_start on_start second" "$(told 'n["event"]' | sort | paste -sd' ')"
}
said() { [ "$(ls "$T"/told.[0-9]* 2>/dev/null | wc -l)" -ge "$1" ]; }

@test "two hundred notify lines are all delivered, a few at a time" {
    agent herald <<<'cat >/dev/null; echo x >>"$T/count"'
    agent a <<'END'
ok
i=0
while [ $i -lt 200 ]; do
    notify "{\"agent\":\"herald\",\"event\":\"e$i\"}"
    i=$((i + 1))
done
complete
END
    team <<<'phases: [{name: one, agent: a}]'
    run_ok
    is 200 "$(wc -l <"$T/count")"
}
