#!/usr/bin/env bats
# What status and log tell of attempts, and how lines of agents are read.
load pipeline

@test "status --watch shows each change once, until the end" {
    killed_run
    start again "$CLIQ" run $HEADLESS --resume
    local again=$PID
    until_true says .cliq/orchestrator.log resumed
    start watch "$CLIQ" status --watch --json
    local watch=$PID
    until_true says "$T/watch.out" '"RUNNING"'
    release go
    ended again "$again"
    ended watch "$watch"
    code_is 0
    has "$(tail -1 "$T/watch.out")" '"status":"COMPLETED"'
    is "$(uniq "$T/watch.out" | wc -l)" "$(wc -l <"$T/watch.out")"
}

@test "what --fail-fast stops is told as stopped, not as crashed" {
    mkfifo "$T/up"
    agent good <<<'ok; echo >"$T/up"; exec sleep $NAP'
    agent bad <<<'ok; read -r _ <"$T/up"; fail "no good"'
    team <<'END'
phases:
  - {name: one, agent: good}
  - {name: two, agent: bad}
END
    run_is 3 --fail-fast
    lacks "$out" crashed
    like "$out" "one +stopped +the run is ending"
    lacks "$out" "signal 15"
    has "$out" "0 done, 1 failed"
    none_left
}

@test "status counts attempts that were made: a phase that was skipped has none" {
    agent a <<'END'
ok
[ "$P" = two ] || hand two '{"version":1,"phase_type":"standard","phase":"one","agent":"a","data":{"go":"no"}}'
complete
END
    team <<<'phases: [{name: one, agent: a}, {name: two, agent: a, depends_on: [one], when: "$(handoff.one.go) == yes"}]'
    run_ok
    run_ok --from two
    run_ok --from two
    got status --json
    is "1 0" "$($PY -c 'import json,sys; print(*[p["attempts"] for p in json.load(sys.stdin)["phases"]])' <<<"$out")"
    has "$("$CLIQ" status | grep two)" "skipped"
    has "$("$CLIQ" status | grep two | tr -s ' ')" "skipped 0"
    sed -i 's/"no"/"yes"/' .cliq/channels/one--two/handoff.json
    run_ok --from two
    got status --json
    is "1 1" "$($PY -c 'import json,sys; print(*[p["attempts"] for p in json.load(sys.stdin)["phases"]])' <<<"$out")"
    # With a line that cannot be read: the same.
    sed -i '1s/.*/garbage/' "$(journal)"
    got status --json
    is "1 1" "$($PY -c 'import json,sys; print(*[p["attempts"] for p in json.load(sys.stdin)["phases"]])' <<<"$out")"
}

@test "a script that fails and prints nothing says that" {
    team <<<'phases: [{name: one, agent: script, commands: [{name: a, run: "exit 4"}]}]'
    run_is 3
    like "$out" 'the command ended with exit code 4 after [0-9.]+ s and printed nothing'
}

@test "a signal file that is replaced or cut short is read from its beginning" {
    agent a <<'END'
ok
progress "$P begins"
await "$P"
case $P in
one) { cat "$S" && printf '{"version":1,"type":"phase","status":"complete"}\n'; } >"$S.new" && mv "$S.new" "$S" ;;
two) printf '{"status":"complete"}\n' >"$S" ;;
esac
await over
END
    team <<'END'
phases: [{name: one, agent: a}, {name: two, agent: a}]
END
    local word
    for word in one two over; do hold $word; done
    start_run run
    for word in one two; do
        until_true says "$T/run.out" "$word begins"
        release $word
        until_true says "$T/run.out" "$word  *completed"
    done
    release over
    ended run "$PID"
    code_is 0
    is 2 "$(grep -c begins <<<"$out")"
}

@test "a script that judges is run once an iteration" {
    team <<END
phases:
  - {name: a, agent: exec, commands: [{name: go, run: "true"}]}
  - {name: g, type: gate, agent: script, depends_on: [a], commands: [{name: judge, run: "wc -c >>$T/judged; echo '{\"verdict\":{\"outcome\":\"PASS\"}}'"}]}
END
    got run $HEADLESS
    is 1 "$(wc -l <"$T/judged")"
    [ "$(<"$T/judged")" -gt 0 ]
}

@test "lines that nobody can use are told, whether their phase is done or not" {
    agent a <<'END'
echo 'no JSON' >>"$S"
line '"status":"complete","result":"\udce9"'
[ "$P" = dies ] || complete
END
    team <<'END'
phases:
  - {name: done, agent: a}
  - {name: dies, agent: a, depends_on: [done]}
END
    run_is 3
    has "$out" "2 lines of signals/done.jsonl could not be used: cliq fsck $STATE/signals/done.jsonl tells why"
    has "$out" "without a terminal line (complete or error, with which an agent ends: cliq help protocol); 2 lines of signals/dies.jsonl could not be used"
}

@test "log --raw prints and follows what a CLI agent's program wrote, log the readable lines" {
    hold go
    agent a <<'END'
echo "step 1"
printf '{"raw":1}\n' >>"$CLIQ_STATE_DIR/run/logs/$P.$N.raw"
ok
await go
printf '{"raw":2}\n' >>"$CLIQ_STATE_DIR/run/logs/$P.$N.raw"
complete
END
    agent b <<<'ok; complete'
    team <<<'phases: [{name: one, agent: a}, {name: two, agent: b}]'
    start_run run
    local run=$PID
    until_true says .cliq/signals/one.jsonl ok
    start follow "$CLIQ" log one --raw -f
    local follow=$PID
    until_true says "$T/follow.out" raw.:1
    release go
    until_true says "$T/follow.out" raw.:2
    kill "$follow"
    ended run "$run"
    got log one
    is "step 1" "$out"
    got log one --raw --attempt 1
    is '{"raw":1} {"raw":2}' "$(paste -sd' ' <<<"$out")"
    got log two --raw
    code_is 4
    has "$err" "phase two has no raw stream"
    got log --raw
    code_is 2
}
