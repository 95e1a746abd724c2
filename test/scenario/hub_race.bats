#!/usr/bin/env bats
# Many workers, one pile of tasks: nothing is claimed twice, nothing is left.
load ../lib/cli
load ../lib/hub

WORKERS=32

# worker NAME: claims until there is nothing; what it got goes to $T/got/NAME.
worker() {
    local id
    while id=$("$CLIQ" claim --as "$1"); do printf '%s\n' "$id"; done >"$T/got/$1" 2>"$T/errs/$1"
}
fill() { # N
    local i
    for ((i = 0; i < $1; i += 1000)); do
        printf '{"signal_type":"task","content":"%d"}\n' $(seq $i $((i + 999))) | "$CLIQ" emit --batch
    done >"$T/made"
}
check() { # N
    is "$1" "$(cat "$T"/got/* | wc -l)"
    is "" "$(cat "$T"/got/* | sort | uniq -d)"
    is "" "$(diff <(cat "$T"/got/* | sort) <(sort "$T/made"))"
    is "cliq: nothing to claim: there is no open task for you (--wait TIME waits for one)" "$(sort -u "$T"/errs/*)"
    is "$1" "$("$CLIQ" hub stats --json | field leased)"
    got hub check
    succeeds
    is clean "$out"
}

@test "32 processes claim 2,000 tasks: nothing twice, nothing left" {
    local i pids=()
    mkdir "$T/got" "$T/errs"
    fill 2000
    for ((i = 0; i < WORKERS; i++)); do
        worker "w$i" 3>&- &
        pids+=($!)
    done
    for i in "${pids[@]}"; do wait "$i" || true; done
    check 2000
    # Each is held by the one that was told so.
    "$CLIQ" signal list --all --json >"$T/list"
    $PY - "$T/got" "$T/list" <<'PY'
import json, os, sys
holder = {}
for name in os.listdir(sys.argv[1]):
    for line in open(os.path.join(sys.argv[1], name)):
        holder[line.strip()] = name
signals = json.load(open(sys.argv[2]))
assert len(signals) == 2000
for s in signals:
    assert s["claimed_by"] == holder[s["id"]], s
PY
}

@test "32 workers that wait get every task as it comes" {
    local i pids=()
    mkdir "$T/got" "$T/errs"
    for ((i = 0; i < WORKERS; i++)); do
        "$CLIQ" claim --as "w$i" --wait 60 >"$T/got/w$i" 2>"$T/errs/w$i" 3>&- &
        pids+=($!)
    done
    for ((i = 0; i < WORKERS; i++)); do "$CLIQ" emit task "$i"; done >"$T/made"
    for i in "${pids[@]}"; do wait "$i"; done
    is "" "$(diff <(cat "$T"/got/* | sort) <(sort "$T/made"))"
    is "" "$(cat "$T"/errs/*)"
}
