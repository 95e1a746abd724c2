#!/usr/bin/env bats
# cliq retry, run --from and run --resume: what they run, also by a workflow that was changed, and what
# --dry-run shows of it.
load pipeline

# Five phases by five agents, a gate among them; all done.
five_agents() {
    local a
    for a in early middle late side help; do agent $a <<<'ok; complete'; done
    agent judge <<<'ok; verdict PASS'
    team <<'END'
phases:
  - {name: early, agent: early}
  - {name: middle, agent: middle, depends_on: [early]}
  - {name: judge, type: gate, agent: judge, depends_on: [middle]}
  - {name: late, agent: late, depends_on: [judge]}
  - {name: side, agent: side}
support:
  - {name: help, agent: help}
END
    run_ok
    rm "$T/starts"
}

# without NAME...: these agents, and no others, need a program that is not there.
without() {
    local a
    rm -f .cliq/agents/*/manifest.json
    for a; do
        printf '{"name":"%s","version":"1.0.0","entry":"agent.sh","binaries":["%s-that-is-not-there"]}' \
            "$a" "$a" >".cliq/agents/$a/manifest.json"
    done
    "$CLIQ" team trust >/dev/null
}

@test "retry needs the agents of those phases only that it runs" {
    five_agents
    without early middle judge side help
    got retry late $HEADLESS
    code_is 0
    is "late.2" "$(starts)"
    is "COMPLETED done done done done done waiting" "$(states)"
    got retry early --dry-run
    code_is 4
    has "$err" "phase early: "
    got retry side $HEADLESS
    refused 4 "phase side: " side-that-is-not-there
    is "late.2" "$(starts)"
    run_is 4 # anew: all of them
    has "$err" "phase early: "
}

@test "retry needs the agents of phases that a gate may send work back to, and of support" {
    five_agents
    without side
    got retry judge $HEADLESS
    code_is 0
    is "judge.2 late.2" "$(starts)"
    without early
    got retry judge $HEADLESS
    refused 4 "phase early: "
    without help
    got retry judge --dry-run
    code_is 4
    has "$err" "phase help: "
    is "judge.2 late.2" "$(starts)"
}

@test "--resume needs no agents of what is done, and none at all of a run that has ended" {
    mkfifo "$T/go"
    agent early <<<'ok; complete'
    agent late <<<'ok; read -r _ <"$T/go"; complete'
    team <<'END'
phases:
  - {name: one, agent: early}
  - {name: two, agent: late, depends_on: [one]}
END
    start_run run
    until_true says .cliq/signals/two.jsonl ok
    kill -KILL "$PID"
    until_true gone "$PID"
    without early
    start_run again --resume
    until_true says .cliq/orchestrator.log resumed
    timeout 20 sh -c 'echo >"$1"' _ "$T/go"
    ended again "$PID"
    code_is 0
    without early late
    got run $HEADLESS --resume
    succeeds
    has "$out" "2 done"
    is "one.1 two.1" "$(starts)"
}

@test "retry takes --jobs and --fail-fast from that phase on, and the run keeps them" {
    mkfifo "$T/up"
    agent first <<<'ok; complete'
    agent good <<<'ok; [ -e "$T/fine" ] || { echo >"$T/up"; exec sleep $NAP; }; complete'
    agent bad <<<'ok; [ -e "$T/fine" ] || { read -r _ <"$T/up"; fail "no good"; }; complete'
    team <<'END'
phases:
  - {name: first, agent: first}
  - {name: one, agent: good, depends_on: [first]}
  - {name: two, agent: bad, depends_on: [first]}
END
    touch "$T/fine"
    run_ok --jobs 1
    rm "$T/fine"
    got_from timeout 20 "$CLIQ" retry first --jobs 0 --fail-fast $HEADLESS # one job would wait for ever
    code_is 3
    like "$out" "one +stopped"
    none_left
    has "$(grep '"rerun"' "$(journal)")" '"jobs":0,"fail_fast":true'
    got_from timeout 20 "$CLIQ" retry first $HEADLESS
    code_is 3
    like "$out" "one +stopped" # as before
    none_left
    touch "$T/fine"
    got retry first --jobs 1 $HEADLESS
    succeeds
    got status
    succeeds
    is "COMPLETED done done done" "$(states)"
}

@test "retry --agent and --dry-run are those of run --from" {
    agent a <<<'ok; complete'
    agent b <<<'ok; complete'
    mkdir -p "$T/team/roles"
    echo "You do what is to be done, and say so when it is done." >"$T/team/roles/two.md"
    team <<'END'
phases:
  - {name: one, agent: a}
  - {name: two, depends_on: [one]}
END
    run_ok --agent a
    got retry two --agent b --dry-run
    succeeds
    has "$out" "1 of 2 phases"
    has "$out" "two  (standard, agent b; after one)"
    got retry two --agent b $HEADLESS
    code_is 0
    like "$out" "two +started +agent b, attempt 2"
}

@test "retry and --from of a phase that is not there name the nearest and all" {
    handing_team
    run_ok
    got retry $HEADLESS e
    refused 4 'there is no phase "e"' "the phases are a, b, c, d"
    AGENTS='' killed_run
    got cancel
    got run $HEADLESS --from thre
    refused 4 'there is no phase "thre" (did you mean "three"?)' "the phases are one, two, three"
}

# A run that ended because its second phase failed; its workflow is in $T/old.
failed_run() {
    agent good <<'END'
ok
[ "$P" != three ] || [ ! -e "$T/hold" ] || { touch "$T/held"; read -r _ <"$T/hold"; } # a fifo
complete
END
    agent bad <<<'ok; fail "no good"'
    team <<'END'
phases:
  - {name: one, agent: good}
  - {name: two, agent: bad, depends_on: [one]}
  - {name: three, agent: good, depends_on: [two]}
END
    run_is 3
    is "one.1 two.1" "$(starts)"
    cp .cliq/workflow.yml "$T/old"
}
edit_workflow() { # SED
    sed "$1" "$T/old" >.cliq/workflow.yml
    "$CLIQ" team trust >/dev/null
}

@test "retry continues an ended run after its workflow was corrected, and so does --resume" {
    failed_run
    edit_workflow 's/agent: bad/agent: good/; $a\  - {name: four, agent: good, depends_on: [three]}'
    got run $HEADLESS --resume
    code_is 3 # an ended run: its outcome
    mkfifo "$T/hold"
    start again "$CLIQ" retry two $HEADLESS
    until_true exists "$T/held"
    kill -KILL "$PID"
    until_true gone "$PID"
    has "$(grep '"rerun"' "$(journal)")" '"workflow":"'
    cp .cliq/workflow.yml "$T/new"
    edit_workflow ''
    got_from timeout 20 "$CLIQ" run $HEADLESS --resume # who takes it up would wait for ever
    refused 2 "the workflow was changed since this run began"
    cp "$T/new" .cliq/workflow.yml
    "$CLIQ" team trust >/dev/null
    : >"$T/hold"
    rm "$T/hold"
    got run $HEADLESS --resume
    succeeds
    is "one.1 two.1 two.2 three.1 four.1" "$(starts)"
    is "COMPLETED done done done done" "$(states)"
    got retry four $HEADLESS
    code_is 0
    is "one.1 two.1 two.2 three.1 four.1 four.2" "$(starts)"
}

@test "retry is refused when the journal does not fit the corrected workflow; nothing is started" {
    failed_run
    local before
    before=$(cat "$(journal)")
    edit_workflow 's/agent: bad/agent: good/; s/name: one,/name: uno,/; s/\[one\]/[uno]/'
    got retry two $HEADLESS
    refused 2 "the workflow has no such phase"
    edit_workflow 's/agent: bad/agent: good/; s/name: one,/name: one, depends_on: [zero],/; $a\  - {name: zero, agent: good}'
    got retry two $HEADLESS
    refused 2 "the workflow, as it is now, does not lead there"
    is "one.1 two.1" "$(starts)"
    is "$before" "$(cat "$(journal)")"
    edit_workflow 's/agent: bad/agent: good/'
    run_ok # anew
    is "one.1 two.1 one.1 two.1 three.1" "$(starts)"
}

@test "a run that stood still is not gone on with by a workflow that would not have" {
    agent a <<<'ok; if [ "$P" = b ] || [ -e "$T/bad" ]; then fail "no good"; else complete; fi'
    team <<'END'
phases:
  - {name: a, agent: a}
  - {name: b, agent: a}
END
    touch "$T/bad"
    run_is 3
    rm "$T/bad"
    got retry a $HEADLESS
    code_is 3
    has "$out" "phase b failed before and was not run again"
    cp .cliq/workflow.yml "$T/old"
    local before
    before=$(cat "$(journal)")
    edit_workflow '$a\  - {name: c, agent: a}'
    got retry b $HEADLESS
    refused 2 "by the new one it would not have ended where it did"
    got run $HEADLESS --from b --dry-run
    refused 2 "by the new one it would not have ended where it did"
    is "$before" "$(cat "$(journal)")"
}

@test "retry goes on with more retries than the run had" {
    failed_run
    edit_workflow 's/agent: bad/agent: bad, retries: 1/'
    got status
    like "$out" "two +failed +1"
    got retry two $HEADLESS
    code_is 3
    is "one.1 two.1 two.2 two.3" "$(starts)"
    edit_workflow 's/agent: bad/agent: good, retries: 3/'
    got retry two $HEADLESS
    code_is 0
    is "one.1 two.1 two.2 two.3 two.4 three.1" "$(starts)"
}

@test "retry goes on with more iterations than the run had" {
    agent a <<<'ok; complete'
    agent g <<<'ok; [ "$N" -ge 4 ] && verdict PASS || verdict ROUTE a "not yet"'
    team <<'END'
phases:
  - {name: a, agent: a}
  - {name: g, type: gate, agent: g, depends_on: [a], max_iterations: 1}
END
    run_is 3
    cp .cliq/workflow.yml "$T/old"
    edit_workflow 's/max_iterations: 1/max_iterations: 3/'
    got status
    has "$out" "gate g: still not passed after 1 iteration (max_iterations): not yet"
    got retry g $HEADLESS
    code_is 0
    is "a.1 g.1 g.2 a.2 g.3 a.3 g.4" "$(starts)"
}

@test "phases that were added to a run that completed run with whatever is retried" {
    mkfifo "$T/hold"
    agent a <<<'ok; [ "$P" != four ] || [ ! -e "$T/hold" ] || read -r _ <"$T/hold"; complete'
    team <<'END'
phases:
  - {name: one, agent: a}
  - {name: two, agent: a, depends_on: [one]}
END
    run_ok
    cp .cliq/workflow.yml "$T/old"
    edit_workflow '$a\  - {name: three, agent: a, depends_on: [two]}\n  - {name: four, agent: a, depends_on: [one]}'
    is "COMPLETED done done waiting waiting" "$(states)"
    got retry three --dry-run
    has "$out" "2 of 4 phases"
    # --resume goes on with it, too, and tells the hub all of it
    start again "$CLIQ" retry three $HEADLESS
    until_true says .cliq/signals/four.jsonl ok
    until_true says .cliq/signals/three.jsonl complete
    kill -KILL "$PID"
    until_true gone "$PID"
    start_run more --resume
    until_true says .cliq/orchestrator.log resumed
    timeout 20 sh -c 'echo >"$1"' _ "$T/hold"
    ended more "$PID"
    code_is 0
    is "four.1 one.1 three.1 two.1" "$(sort "$T/starts" | paste -sd' ')"
    is "COMPLETED done done done done" "$(states)"
    has "$("$CLIQ" signal events --limit 1000 --json)" ':three:completed"'
}

@test "an unfinished run is cancelled before its corrected workflow is continued" {
    killed_run
    sed -i 's/name: three,/name: three, timeout: 5m,/' .cliq/workflow.yml
    "$CLIQ" team trust >/dev/null
    got run $HEADLESS --resume
    refused 2 "end it with cliq cancel and go on with cliq retry PHASE"
    release go
    got cancel
    is CANCELLED "$out"
    got retry two $HEADLESS
    code_is 0
    is "one.1 two.1 two.2 three.1" "$(starts)"
}

# The phases that a dry run lists.
listed() { sed -n 's/^  \(step [0-9]* *\|support *\)\([a-z]*\) .*/\2/p' <<<"$out" | paste -sd' '; }

@test "run --dry-run with --from and --resume shows what would run" {
    killed_run # one is done, two runs
    local before
    before=$(cksum <"$(journal)")
    got run --dry-run --resume
    succeeds
    is "two three" "$(listed)"
    has "$out" "2 of 3 phases"
    got run --dry-run --from three
    refused 5 "an unfinished run exists here"
    is "$before" "$(cksum <"$(journal)")"
    release go
    run_ok --resume
    got run --dry-run --resume
    succeeds
    is "" "$(listed)"
    has "$out" "0 of 3 phases; the run has ended: COMPLETED"
    got run --dry-run --from two --json
    succeeds
    is "['two', 'three']" "$($PY -c 'import json,sys; print([p["phase"] for p in json.load(sys.stdin)])' <<<"$out")"
    got run --dry-run --from tow
    refused 4 "tow"
    got run --dry-run
    succeeds
    is "one two three" "$(listed)"
    is "one.1 two.1 three.1" "$(starts)"
}

@test "run --dry-run --from without a run, and with what never began" {
    agent a <<<'ok; if [ -e "$T/bad" ] && [ "$P" = two ]; then fail "no good"; else complete; fi'
    team <<'END'
phases:
  - {name: one, agent: a}
  - {name: two, agent: a, depends_on: [one]}
  - {name: three, agent: a, depends_on: [two]}
  - {name: other, agent: a, depends_on: [one]}
  - {name: check, type: gate, agent: checks, depends_on: [other], commands: [{name: t, run: "true"}]}
support:
  - {name: helper, agent: a}
END
    got run --dry-run --from two
    refused 4 "nothing has run here yet"
    got run --dry-run --resume # would begin one
    succeeds
    is "one two other three check helper" "$(listed)"
    touch "$T/bad"
    run_is 3 --jobs 1
    is "one.1 two.1" "$(starts)"
    rm "$T/bad" "$T/starts"
    got run --dry-run --from two
    succeeds
    is "two other three check helper" "$(listed)" # a gate among them may send work to helper
    got run $HEADLESS --from two
    code_is 0
    is "other.1 three.1 two.2" "$(tr ' ' '\n' <<<"$(starts)" | sort | paste -sd' ')"
}

# One escalates; two fails behind it with retries left.
untried_team() {
    agent a <<'END'
ok
[ "$P" != two ] || read -r _ <"$T/go"
if [ -e "$T/bad" ]; then fail "no good"; else complete; fi
[ "$P" != one ] || echo >"$T/go"
END
    mkfifo "$T/go"
    team <<'END'
phases:
  - {name: one, agent: a}
  - {name: two, agent: a, retries: 3}
END
    touch "$T/bad"
}

@test "a phase with a retry left when the run escalates is told of, and runs with the next retry" {
    untried_team
    run_is 3
    like "$out" "two +note +failed \(1 of 4 times\), and is not tried again since the run ends"
    lacks "$(grep ' one ' <<<"$out")" "not tried again"
    has "$out" ": 0 done, 1 failed, 1 to be tried again, 0 skipped of 2 phases"
    has "$out" "Next: cliq retry one ("
    lacks "$out" "cliq retry two"
    got status
    like "$out" "two +waiting \(failed 1 of 4\) +1"
    got status --json
    is "one failed None, two waiting True" "$(json "$T/out" '", ".join("%s %s %s" % (p["phase"], p["state"], p.get("is_untried")) for p in d["phases"])')"
    rm "$T/bad"
    got retry one $HEADLESS
    code_is 0
    is "one.1 one.2 two.1 two.2" "$(sort "$T/starts" | paste -sd' ')"
    lacks "$out" "tried again"
    got status --json
    lacks "$out" is_untried
}

@test "run --json ends with who failed, and who was to be tried again" {
    untried_team
    run_is 3 --json
    tail -n 1 "$T/out" >"$T/last"
    is "end ['one'] ['two']" "$(json "$T/last" '"%s %s %s" % (d["event"], d["failed"], d["untried"])')"
    rm "$T/bad"
    run_is 0 --json
    tail -n 1 "$T/out" >"$T/last"
    is "end [] []" "$(json "$T/last" '"%s %s %s" % (d["event"], d["failed"], d["untried"])')"
}
