#!/usr/bin/env bats
# cliq claim, ack, fail, release, extend: the life cycle of a task.
load ../lib/cli
load ../lib/hub

@test "the life cycle of a task: claim, status, ack" {
    id=$(task "Review" --to-role reviewer)
    got claim "$id" --as bob
    succeeds
    is "$id" "$out"
    is "bob leased claimed" "$(for k in claimed_by delivery_state task_status; do of "$id" $k; done | paste -sd' ')"
    got claim "$id" --as eve
    refused 5 "claimed by bob" "cliq status-of ID"
    got status-of "$id"
    succeeds
    is claimed "$out"
    got status-of "$id" in_progress --as bob
    succeeds
    is "$id"$'\tleased\tin_progress' "$out"
    got status-of "$id" done --as eve
    refused 5 "claimed by bob"
    got ack "$id" --as eve
    refused 5 "claimed by bob"
    got ack "$id" --as bob
    code_is 0
    is "$id"$'\tacked\tin_progress' "$out"
    got ack "$id" --as bob # a repeated ack succeeds
    code_is 0
    got claim "$id" --as bob
    refused 5 "cannot be claimed" "status-of"
    got status-of "$id" --history
    succeeds
    is "emit claim status ack" "$(cut -f2 "$T/out" | paste -sd' ')"
    is "$(id -un) bob bob bob" "$(cut -f3 "$T/out" | paste -sd' ')"
    got status-of "$id" --history --json
    is "emit claim status ack" "$(field op <"$T/out" | paste -sd' ')"
}

@test "a long history is printed whole, and is the same after a rebuild of the index" {
    id=$(task)
    cliq claim "$id" --as bob >/dev/null
    local i
    for i in 1 2 3 4 5 6 7 8 9; do
        cliq extend "$id" --as bob >/dev/null
        cliq status-of "$id" "$([ $((i % 2)) = 1 ] && echo in_progress || echo blocked)" --as bob >/dev/null
    done
    cliq release "$id" --as bob >/dev/null
    cliq claim "$id" --as bob >/dev/null
    cliq fail "$id" --as bob --error "$(printf 'x%.0s' {1..5000})" >/dev/null # long enough alone
    cliq status-of "$id" --history --json >"$T/before"
    is "emit claim $(printf 'extend status %.0s' {1..9})release claim fail" "$(field op <"$T/before" | paste -sd' ')"
    is "$(field sequence <"$T/before")" "$(field sequence <"$T/before" | sort -n)"
    got hub check
    succeeds
    cliq hub rebuild >/dev/null
    is "$(cat "$T/before")" "$(cliq status-of "$id" --history --json)"
    got hub check
    succeeds
}

@test "claim next takes the most urgent, then the oldest, of the tasks for you" {
    cliq role add dev >/dev/null
    cliq role fill dev bob >/dev/null
    a=$(task a)
    b=$(task b --urgency 0.9 --to-role dev)
    c=$(task c --urgency 0.9 --to-identity bob)
    task d --urgency 1 --to-identity eve >/dev/null
    e=$(cliq emit build --task)
    cliq emit alert "no task" --urgency 1 >/dev/null
    is "$e" "$(cliq claim --as bob --type build --type deploy)"
    is "$b" "$(cliq claim --as bob)"
    is "$c" "$(cliq claim --as bob)"
    is "$a" "$(cliq claim --as bob)"
    got claim --as bob
    refused 4 "nothing to claim" "--wait"
    f=$(task f --to-role dev)
    got claim --role qa --as bob
    refused 4 "nothing to claim"
    is "$f" "$(cliq claim --role dev --as bob)"
}

@test "claim --json has the whole task and its claim_id, which later commands must match" {
    id=$(task)
    claim=$(cliq claim --as bob --json --lease 1h | field claim_id)
    got extend "$id" --as bob --claim-id nonsense
    refused 5 "no longer the claim" "claim it again"
    got extend "$id" --as bob --claim-id "$claim" --lease 2h
    succeeds
    left=$($PY -c 'import sys,datetime as d;print(round((d.datetime.fromisoformat(sys.argv[1].replace("Z","+00:00"))-d.datetime.now(d.timezone.utc)).total_seconds()/60))' "$(of "$id" claim_expires_at)")
    is 120 "$left"
    got release "$id" --as bob --claim-id "$claim"
    succeeds
    is "$id"$'\tpending\topen' "$out"
    got ack "$id" --as bob --claim-id "$claim"
    refused 5
}

@test "of two claims for one task exactly one wins, the other gets a conflict" {
    local i a b
    for i in 1 2 3 4 5; do
        id=$(task "$i")
        start a "$CLIQ" claim "$id" --as ann
        a=$PID
        start b "$CLIQ" claim "$id" --as bob
        b=$PID
        ended a "$a" && a=$code
        ended b "$b" && b=$code
        case "$a$b" in
        05) is ann "$(of "$id" claimed_by)" ;;
        50) is bob "$(of "$id" claimed_by)" ;;
        *) complain "exit codes $a and $b" ;;
        esac
    done
}

@test "an expired lease makes the task claimable, and its old holder gets a conflict" {
    id=$(task)
    cliq claim "$id" --as bob --lease 1 >/dev/null
    got claim --as eve --wait 20
    succeeds
    is "$id" "$out"
    is 1 "$(of "$id" delivery_count)"
    got ack "$id" --as bob
    refused 5 "claimed by eve"
    is "emit claim expire claim" "$(cliq status-of "$id" --history | cut -f2 | paste -sd' ')"
}

@test "a failed task is retried five times, then a dead letter; requeue makes it claimable" {
    id=$(task)
    local i
    for i in 1 2 3 4 5; do
        cliq claim "$id" --as bob >/dev/null
        got fail "$id" --as bob --error "no $i" --retry-in 0
        succeeds
    done
    is "$id"$'\tdead_letter\topen' "$out"
    is "$id" "$(cliq signal list --delivery-state dead_letter | cut -f1)"
    is "no 1,no 5" "$(cliq status-of "$id" --history --json | $PY -c 'import json,sys;e=[x["error"] for x in json.load(sys.stdin) if x["op"]=="fail"];print(e[0]+","+e[-1])')"
    got claim "$id"
    refused 5
    got requeue "$id"
    succeeds
    is "$id"$'\tpending\topen' "$out"
    is "$id" "$(cliq claim)"
    got requeue "$id"
    refused 5 "is leased"
}

@test "fail --retry-in delays the next claim" {
    id=$(task)
    cliq claim "$id" >/dev/null
    got fail "$id" --retry-in 1h
    is "$id"$'\tfailed\topen' "$out"
    got claim
    refused 4
}

@test "claim --wait wakes for a matching task, and for nothing else" {
    cliq role add dev >/dev/null
    start_listening w claim --as bob --role dev --wait 60
    task other --to-identity eve >/dev/null
    id=$(task it --to-role dev)
    ended w "$PID"
    succeeds
    is "$id" "$out"
    is bob "$(of "$id" claimed_by)"
}

@test "claim --wait wakes for a release" {
    id=$(task)
    cliq claim "$id" --as ann >/dev/null
    start_listening w claim --as bob --wait 60
    cliq release "$id" --as ann >/dev/null
    ended w "$PID"
    is "$id" "$out"
}

@test "claim --wait without a task is exit 4; interrupted, 130" {
    got claim --wait 50ms
    refused 4 "nothing to claim"
    start_listening w claim --wait 60
    kill -INT "$PID"
    ended w "$PID"
    code_is 130
    is "" "$err"
}

@test "a claim whose output cannot be written is released" {
    [ -e /dev/full ] || skip "no /dev/full"
    id=$(task)
    code=0
    "$CLIQ" claim --as bob >/dev/full 2>"$T/err" || code=$?
    code_is 74
    is "pending open" "$(of "$id" delivery_state) $(of "$id" task_status)"
}

@test "done ends a task from claimed, in progress and blocked, for its holder, and again" {
    for status in claimed in_progress blocked; do
        id=$(task)
        cliq claim "$id" --as ann >/dev/null
        [ $status = claimed ] || cliq status-of "$id" in_progress --as ann >/dev/null
        [ $status != blocked ] || cliq status-of "$id" blocked --as ann >/dev/null
        got done "$id" --as bob
        refused 5 "claimed by ann"
        got done "$id" --as ann
        succeeds
        is "$id"$'\tacked\tdone' "$out"
        got done "$id" --as ann
        succeeds
    done
    got done "$(cliq emit pulse x)"
    refused 5 "is not a task"
    got done signal:nothing
    refused 4 "signal:nothing"
}

@test "who lost the lease, or acks what nobody worked on, is told" {
    id=$(cliq emit task "Look at it")
    cliq claim "$id" --lease 1 >/dev/null
    until_true open_again
    got done "$id"
    refused 5 "the lease of its claim has ended, claim it again"
    got ack "$id"
    code_is 0
    has "$err" "nobody worked on this task, and nobody can claim it now"
}
open_again() { cliq signal pump >/dev/null && [ open = "$(cliq status-of "$id")" ]; }

@test "ack of a task in progress says that it is still in progress" {
    id=$(task)
    cliq claim "$id" --as ann >/dev/null
    cliq status-of "$id" in_progress --as ann >/dev/null
    got ack "$id" --as ann
    code_is 0
    is "cliq: warning: the task is still in progress; cliq done $id, instead of ack, ends it" "$err"
    got done "$id" --as ann
    succeeds
    is "$id"$'\tacked\tdone' "$out"
}
