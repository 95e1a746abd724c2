#!/usr/bin/env bats
# Gates, retries, conditions, and running again: which phases run, how often, in which
# order, and how the run ends.
load pipeline

# A worker that always completes, and a gate that says what stands in verdicts.$N.
workers() {
    agent w <<'END'
ok
complete
END
    agent g <<'END'
ok
read -r outcome target reason <"$T/verdicts.$P.$N"
[ "$target" = - ] && target=
[ "$outcome" = NONE ] && { complete '{"note":"no verdict"}'; exit; }
verdict "$outcome" "$target" "$reason"
END
}
says_verdict() { echo "$2" >"$T/verdicts.$1"; } # PHASE.N "OUTCOME TARGET|- REASON"

line_of() { # a - b - c, gate after c, ship after the gate; helper beside them
    workers
    team <<'END'
phases:
  - {name: a, agent: w}
  - {name: b, agent: w, depends_on: [a]}
  - {name: c, agent: w, depends_on: [b]}
  - {name: gate, type: gate, agent: g, depends_on: [c], max_iterations: 2}
  - {name: ship, agent: w, depends_on: [gate]}
support:
  - {name: helper, agent: w}
END
}

@test "PASS goes on, with the verdict for the successors" {
    line_of
    says_verdict gate.1 "PASS - fine"
    run_ok
    is "a.1 b.1 c.1 gate.1 ship.1" "$(starts)"
    is "gate PASS fine" "$(json .cliq/channels/gate--ship/handoff.json 'd["phase_type"],d["data"]["verdict"]["outcome"],d["data"]["verdict"]["reason"]' | tr -d "(),'")"
    is "" "$(ls .cliq/signals/*_routed 2>/dev/null)"
    has "$out" "5 done, 0 failed, 0 skipped of 6 phases"
}

@test "ROUTE to the phase before runs that one again" {
    line_of
    says_verdict gate.1 "ROUTE c again"
    says_verdict gate.2 "PASS - fine"
    run_ok
    is "a.1 b.1 c.1 gate.1 c.2 gate.2 ship.1" "$(starts)"
    exists .cliq/signals/c_routed
}

@test "ROUTE further up runs every phase between, in order" {
    line_of
    says_verdict gate.1 "ROUTE a again"
    says_verdict gate.2 "PASS - fine"
    run_ok
    is "a.1 b.1 c.1 gate.1 a.2 b.2 c.2 gate.2 ship.1" "$(starts)"
    is "a_routed" "$(cd .cliq/signals && ls ./*_routed | cut -c3-)"
    is "again" "$(json .cliq/channels/gate--a/handoff.json 'd["data"]["verdict"]["reason"]')"
}

@test "ROUTE to a support phase runs only that; without a route it never runs" {
    line_of
    says_verdict gate.1 "ROUTE helper help"
    says_verdict gate.2 "PASS - fine"
    run_ok
    is "a.1 b.1 c.1 gate.1 helper.1 gate.2 ship.1" "$(starts)"
    is "True" "$(json "$T/message.helper.1" 'd["payload"]["is_support"]')"
    exists .cliq/signals/helper_routed
    exists .cliq/channels/gate--helper/handoff.json
    exists .cliq/channels/helper--gate
}

@test "ESCALATE ends the run with the reason" {
    line_of
    says_verdict gate.1 "ESCALATE - a person must look"
    run_is 3
    status_is ESCALATED
    has "$out" "gate gate escalated: a person must look"
    is "a.1 b.1 c.1 gate.1" "$(starts)"
}

@test "ROUTE on the last iteration escalates, naming gate and budget; the target is not run" {
    line_of
    says_verdict gate.1 "ROUTE c no"
    says_verdict gate.2 "ROUTE c still no"
    run_is 3
    has "$out" "gate gate: still not passed after 2 iterations (max_iterations): still no"
    is "a.1 b.1 c.1 gate.1 c.2 gate.2" "$(starts)"
}

@test "a route to a phase behind the gate, or to none, escalates and names it" {
    line_of
    says_verdict gate.1 "ROUTE ship no"
    run_is 3
    has "$out" "may not route to ship"
    [ ! -e .cliq/signals/ship_routed ]
    says_verdict gate.1 "ROUTE nowhere no"
    run_is 3
    has "$out" '"nowhere" is no phase'
    says_verdict gate.1 "ROUTE - no"
    run_is 3
    is "a.1 b.1 c.1 gate.1 a.1 b.1 c.1 gate.1 a.1 b.1 c.1 gate.1" "$(starts)"
}

@test "a gate that completes without a verdict escalates" {
    line_of
    says_verdict gate.1 "NONE"
    run_is 3
    has "$out" "gate gave no verdict"
}

@test "a comment beside the verdict is its reason, where it has none" {
    workers
    agent judge <<'END'
ok
complete '{"verdict":{"outcome":"ESCALATE"},"comment":"nobody can know"}'
END
    team <<'END'
phases:
  - {name: w, agent: w}
  - {name: gate, type: gate, agent: judge, depends_on: [w]}
END
    run_is 3
    has "$out" "nobody can know"
}

@test "the agent's own envelope of this attempt stays; an old one is replaced" {
    workers
    agent own <<'END'
ok
hand w '{"version":1,"phase_type":"gate","phase":"gate","agent":"own","data":{"verdict":{"outcome":"ROUTE","target":"w","reason":"mine"},"iteration":1},"text":"written by hand"}'
verdict ROUTE w "line"
END
    team <<'END'
phases:
  - {name: w, agent: w}
  - {name: gate, type: gate, agent: own, depends_on: [w], max_iterations: 2}
END
    run_is 3
    is "written by hand" "$(json .cliq/channels/gate--w/handoff.json 'd["text"]')"
    sed -i '/^hand w/d' "$T/team/agents/own/agent.sh" # from now on it leaves that to us
    assemble
    sleep 0.02 # past the clock tick of the envelope that is there
    got retry gate $HEADLESS
    code_is 3
    is "ROUTE to w: line" "$(json .cliq/channels/gate--w/handoff.json 'd["text"]')"
}

@test "a gate of commands alone passes when all pass and routes to the phase before otherwise" {
    workers
    team <<'END'
phases:
  - {name: w, agent: w}
  - {name: x, agent: w, depends_on: [w]}
  - {name: gate, type: gate, agent: checks, depends_on: [x], commands: [{name: one, run: "true"}, {name: two, run: "test -e ok || { touch ok; exit 7; }"}]}
END
    run_ok
    is "w.1 x.1 x.2" "$(starts)"
    is "ROUTE [{'name': 'one', 'pass': True}, {'name': 'two', 'pass': False}]" "$(json .cliq/channels/gate--x/handoff.json 'd["data"]["verdict"]["outcome"]+" "+str(d["data"]["checks"])')"
}

@test "two gates that route to one phase take turns" {
    workers
    team <<'END'
phases:
  - {name: w, agent: w}
  - {name: one, type: gate, agent: g, depends_on: [w]}
  - {name: two, type: gate, agent: g, depends_on: [w]}
END
    says_verdict one.1 "ROUTE w x"
    says_verdict two.1 "ROUTE w y"
    says_verdict one.2 "PASS - x"
    says_verdict two.2 "PASS - y"
    run_ok
    is "w.1 w.2 w.3" "$(tr ' ' '\n' <<<"$(starts)" | grep '^w' | paste -sd' ')"
}

@test "checks that cannot be run, and a gate agent that dies, escalate" {
    agent g <<<'ok; exit 3'
    team <<'END'
phases:
  - {name: w, agent: exec, commands: [{name: go, run: "true"}]}
  - {name: gate, type: gate, agent: g, depends_on: [w], commands: [{name: t, run: "true"}]}
END
    run_is 3
    has "$out" "phase gate crashed: exit code 3 after "
}

@test "a disk that fails between the commands of a gate and its agent is not the gate's fault" {
    command -v strace >/dev/null || skip "no strace"
    workers
    says_verdict gate.2 "PASS - fine"
    team <<'END'
phases:
  - {name: w, agent: w}
  - {name: gate, type: gate, agent: g, depends_on: [w], commands: [{name: t, run: "true"}]}
END
    mkdir -p .cliq/roles
    echo judge >.cliq/roles/gate.md
    code=0
    ASAN_OPTIONS=detect_leaks=0 strace -o "$T/trace" -P "$PWD/.cliq/roles/gate.md" -e trace=read -e inject=read:error=EIO:when=5 "$CLIQ" run $HEADLESS >"$T/out" 2>"$T/err" || code=$?
    slurp
    code_is 1
    status_is FAILED
    has "$out$err" "gate.md"
    got retry gate $HEADLESS
    code_is 0
}

# ---- attempts --------------------------------------------------------------------

@test "retries: a new attempt after an error, a crash and a timeout, each later than the last" {
    agent a <<'END'
ok
date +%s%N >>"$T/times"
case $N in
1) fail "first" ;;
2) kill -9 $$ ;;
3) sleep $NAP ;;
4) complete ;;
esac
END
    team <<<'phases: [{name: one, agent: a, retries: 3, timeout: 1s}]'
    run_ok
    is "one.1 one.2 one.3 one.4" "$(starts)"
    none_left
    has "$out" "crashed"
    has "$out" "timed out"
    $PY - "$T/times" <<'END'
import sys
t = [int(x) / 1e9 for x in open(sys.argv[1])]
gaps = [b - a for a, b in zip(t, t[1:])]
assert gaps[0] > 0.45 and gaps[1] > 0.95 and gaps[2] > 2.9, gaps
END
}

@test "without retries left the run escalates with the last error" {
    agent a <<<'ok; fail "try $N"'
    team <<<'phases: [{name: one, agent: a, retries: 1}]'
    run_is 3
    is "one.1 one.2" "$(starts)"
    has "$out" "agent error: try 2"
}

@test "a timeout stops the whole tree and escalates" {
    agent a <<'END'
ok
sleep $NAP &
(sleep $NAP)
complete
END
    team <<<'phases: [{name: one, agent: a, timeout: 1s}]'
    run_is 3
    has "$out" "phase one timed out"
    none_left
}

@test "when: false skips the phase, and what follows runs without its handoff" {
    workers
    agent t <<'END'
ok
hand urgent '{"version":1,"phase_type":"standard","phase":"triage","agent":"t","data":{"severity":"low"}}'
complete
END
    team <<'END'
phases:
  - {name: triage, agent: t}
  - {name: urgent, agent: w, depends_on: [triage], when: "$(handoff.triage.severity) == high"}
  - {name: after, agent: w, depends_on: [urgent]}
END
    run_ok
    is "triage.1 after.1" "$(starts)"
    has "$out" "1 skipped"
    sed -i 's/"low"/"high"/' "$T/team/agents/t/agent.sh"
    assemble
    run_ok
    is "triage.1 after.1 triage.1 urgent.1 after.1" "$(starts)"
}

@test "a phase that fails lets others finish, and starts no more; --fail-fast stops them" {
    hold slow
    agent bad <<<'ok; await slow; fail no'
    agent slow <<'END'
ok
release slow
[ -e stay ] && sleep $NAP
sleep 0.3
complete
END
    workers
    team <<'END'
phases:
  - {name: bad, agent: bad}
  - {name: slow, agent: slow}
  - {name: next, agent: w, depends_on: [slow]}
END
    run_is 3
    is "bad.1 slow.1" "$(starts | tr ' ' '\n' | sort | paste -sd' ')"
    is '"complete"' "$(grep -o '"complete"' .cliq/signals/slow.jsonl)"
    hold slow
    touch stay
    local began=$SECONDS
    run_is 3 --fail-fast
    none_left
    ((SECONDS - began < 15))
    got status --json
    is "failed waiting waiting" "$(json "$T/out" '" ".join(p["state"] for p in d["phases"])')"
}

@test "--jobs bounds how many run at a time; without it all that are ready do" {
    agent a <<'END'
ok
mkdir "$T/on.$P"
ls -d "$T"/on.* | wc -l >>"$T/at-a-time"
sleep 0.2
rmdir "$T/on.$P"
complete
END
    team <<'END'
phases:
  - {name: a, agent: a}
  - {name: b, agent: a}
  - {name: c, agent: a}
  - {name: d, agent: a}
END
    run_ok --jobs 2
    is 2 "$(sort -n "$T/at-a-time" | tail -1)"
    rm "$T/at-a-time"
    run_ok --jobs 1
    is 1 "$(sort -n "$T/at-a-time" | tail -1)"
}

@test "a phase starts the moment its last dependency is done, not with a batch" {
    hold next
    agent a <<'END'
ok
[ "$P" = slow ] && await next
[ "$P" = next ] && release next
complete
END
    team <<'END'
phases:
  - {name: quick, agent: a}
  - {name: slow, agent: a}
  - {name: next, agent: a, depends_on: [quick]}
END
    run_ok
}

# ---- running again -----------------------------------------------------------------

@test "retry with an edited handoff: the phase and all behind it, nothing before" {
    line_of
    says_verdict gate.1 "PASS - fine"
    says_verdict gate.2 "PASS - fine"
    mkdir -p .cliq/channels
    run_ok
    echo '{"version":1,"phase_type":"standard","phase":"b","agent":"w","text":"edited by hand"}' >.cliq/channels/b--c/handoff.json
    rm "$T/starts"
    got retry c $HEADLESS
    code_is 0
    is "c.2 gate.2 ship.2" "$(starts)"
    is "edited by hand" "$(json .cliq/channels/b--c/handoff.json 'd["text"]')"
    rm "$T/starts"
    run_ok --from ship
    is "ship.3" "$(starts)"
    got retry helper $HEADLESS
    refused 2 "support"
}

@test "--dry-run prints the plan and runs nothing" {
    line_of
    before=$(find .cliq | sort)
    got run --dry-run
    succeeds
    has "$out" "step 1   a  (standard, agent w)"
    has "$out" "step 4   gate  (gate, agent g; after c)"
    has "$out" "support  helper"
    got run --dry-run --json
    is "['a', 'b', 'c', 'gate', 'ship', 'helper']" "$(json "$T/out" '[p["phase"] for p in d]')"
    is "" "$(starts)"
    is "$before" "$(find .cliq | sort)"
}

@test "--json prints one object an event, and how it ended" {
    line_of
    says_verdict gate.1 "ROUTE c again"
    says_verdict gate.2 "PASS - fine"
    run_ok --json
    $PY - "$T/out" <<'END'
import json, sys
ev = [json.loads(l) for l in open(sys.argv[1])]
seen = [(e["event"], e.get("phase")) for e in ev]
for want in [("started", "a"), ("completed", "a"), ("routed", "gate"), ("completed", "ship")]:
    assert want in seen, (want, seen)
assert seen.index(("completed", "a")) < seen.index(("started", "b"))
assert ev[-1]["event"] == "end" and ev[-1]["status"] == "COMPLETED", ev[-1]
END
}
