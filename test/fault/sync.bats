#!/usr/bin/env bats
# A disk that fails under a running server and recovers: calls on the log fail while strace is attached.
load ../lib/cli
load ../lib/serve

# break_disk CALL ERROR [FILE]: the call fails until mend_disk.
break_disk() {
    command -v strace >/dev/null || skip "no strace here"
    strace -f -qq -o "$T/strace" -P "$PWD/home/signals/${3:-events.jsonl}" -p "$SERVER" -e trace="$1" -e inject="$1:error=$2" 2>"$T/strace.err" 3>&- &
    STRACE=$!
    PIDS+=("$STRACE")
    until_true is_traced || skip "processes may not be traced here: $(<"$T/strace.err")"
}
is_traced() { # all threads of the server
    ! grep -h TracerPid: /proc/"$SERVER"/task/*/status | grep -qv "TracerPid:.$STRACE\$" || ! kill -0 "$STRACE"
}
mend_disk() {
    kill "$STRACE"
    wait "$STRACE" || true
}

has_tried() { [ "$(grep -c fdatasync "$T/strace")" -ge "$1" ]; }

answers() { # CODE PATH [BODY]
    [ "$(curl -s -o "$T/answer" -w '%{http_code}' ${3:+-X POST -d "$3" -H "Content-Type: application/json"} \
        -H "Authorization: Bearer $KEY" "$URL$2")" = "$1" ]
}

@test "after failed syncs a server answers again, without being started again" {
    answers 200 /emit '{"signal_type":"task","content":"before"}'
    answers 200 /health
    # After a foreign line, the log itself is synced, not events.ahead.
    echo '{"type":"task","content":"perhaps 0"}' >>home/signals/events.jsonl
    break_disk fdatasync EIO
    for i in 1 2 3 4 5; do
        answers 503 /emit '{"signal_type":"task","content":"perhaps '$i'"}'
        has "$(<"$T/answer")" STORE_UNAVAILABLE
        has "$(<"$T/answer")" "sync"
    done
    until_true answers 503 /health
    has "$(<"$T/answer")" "sync events.jsonl"
    has "$(<errors)" "the store cannot be written: sync events.jsonl"
    until_true has_tried 3 # retries without a request
    mend_disk
    until_true answers 200 /health # recovers without a write request
    has "$(<errors)" "the store can be written again"
    answers 200 /emit '{"signal_type":"task","content":"after"}'
    # A request with status 503 is there completely or not at all; one with 200 is there.
    look "/signals/list?limit=100" >list
    is "True" "$(json '{"before","after"} <= {s["content"] for s in d["data"]}' <list)"
    is "True" "$(json 'all(s["content"] in ("before","after") or s["content"].startswith("perhaps ") for s in d["data"])' <list)"
    is "True" "$(json 'len(d["data"]) == len({s["content"] for s in d["data"]})' <list)"
    kill "$SERVER"
    wait "$SERVER"
    got hub check
    is "clean" "$out"
    got fsck home/signals/events.jsonl
    succeeds
}

@test "when events.ahead cannot be written the log is synced, and nobody is refused" {
    answers 200 /emit '{"signal_type":"task","content":"1"}'
    answers 200 /emit '{"signal_type":"task","content":"2"}'
    break_disk write EIO events.ahead
    for i in 3 4 5; do
        answers 200 /emit '{"signal_type":"task","content":"'$i'"}'
    done
    is 1 "$(grep -c 'EIO.*INJECTED' "$T/strace")" # it is not tried again
    mend_disk
    kill "$SERVER"
    wait "$SERVER"
    got hub check
    is "clean" "$out"
}

@test "a disk that is full under a running server, and has room again" {
    answers 200 /emit '{"signal_type":"task","content":"before"}'
    break_disk write ENOSPC
    for i in 1 2 3; do
        answers 503 /emit '{"signal_type":"task","content":"never"}'
        has "$(<"$T/answer")" "No space left"
    done
    mend_disk
    answers 200 /emit '{"signal_type":"task","content":"after"}'
    answers 200 /health
    look "/signals/list?limit=100" >list
    is "after before" "$(json '" ".join(s["content"] for s in d["data"])' <list)"
    kill "$SERVER"
    wait "$SERVER"
    got hub check
    is "clean" "$out"
}

@test "a ticket that cannot be made is no empty answer" {
    command -v strace >/dev/null || skip "no strace here"
    answers 200 /signals/ticket '{}'
    strace -f -qq -o "$T/strace" -p "$SERVER" -e trace=getrandom -e inject=getrandom:error=EIO 2>"$T/strace.err" 3>&- &
    STRACE=$!
    PIDS+=("$STRACE")
    until_true is_traced || skip "processes may not be traced here: $(<"$T/strace.err")"
    answers 503 /signals/ticket '{}'
    has "$(<"$T/answer")" "no ticket can be made"
    mend_disk
    answers 200 /signals/ticket '{}'
}
