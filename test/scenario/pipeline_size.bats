#!/usr/bin/env bats
# A hundred phases, behind each other and beside each other.
load pipeline

hundred() { # EDGE: what each phase adds about the one before it, with @ for its number
    local i
    echo "phases:" >"$T/phases"
    for i in $(seq 100); do
        echo "  - {name: p$i, agent: exec$([ "$i" = 1 ] || echo "${1//@/$((i - 1))}"), commands: [{name: go, run: 'true'}]}"
    done >>"$T/phases"
    team <"$T/phases"
}
journalled() { # every attempt once, all gone
    $PY - "$STATE/run/journal.jsonl" <<'END'
import json, sys
from collections import Counter
n = Counter(e["ev"] for e in map(json.loads, open(sys.argv[1])))
assert n == {"begin": 1, "started": 100, "result": 100, "gone": 100, "end": 1}, n
END
}

@test "a chain of 100 phases" {
    hundred ", depends_on: [p@]"
    run_ok
    has "$out" "100 done, 0 failed, 0 skipped of 100 phases"
    journalled
    is "$(seq -f 'p%.0f' 100)" "$(grep -o 'p[0-9]* *started' .cliq/orchestrator.log | awk '{print $1}')"
}

@test "100 phases beside each other, as many at a time as there are" {
    hundred ""
    run_ok
    has "$out" "100 done"
    journalled
}

@test "100 phases beside each other, four at a time" {
    hundred ""
    run_ok --jobs 4
    has "$out" "100 done"
    journalled
}

@test "one sync of the journal a transition, not more" {
    command -v strace >/dev/null || skip "no strace"
    hundred ", depends_on: [p@]"
    ASAN_OPTIONS=detect_leaks=0 strace -o "$T/syncs" -e trace=fdatasync,fsync "$CLIQ" run $HEADLESS >/dev/null
    local n
    n=$(grep -c 'sync(' "$T/syncs")
    ((n <= 110)) || complain "$n syncs"
}
