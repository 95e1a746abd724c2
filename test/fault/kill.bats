#!/usr/bin/env bats
# Writers killed with SIGKILL: what was acknowledged stays, fragments cost nothing else.
load ../lib/cli

@test "500 writers killed at random moments: every id printed is there, whole, once; the next post works" {
    mkdir .war-rooms
    echo '{"channel":{"max_message_size_bytes":900000}}' >.war-rooms/config.json
    local seed=$RANDOM
    echo "seed $seed" # bats shows it when the test fails
    $PY "$BATS_TEST_DIRNAME/kill_writers.py" "$CLIQ" r 500 $seed
    got channel post --room r --from a --to b --type signoff --ref x --body after
    succeeds
    is after "$(bodies r --type signoff 2>/dev/null)"
    got fsck .war-rooms/r/channel.jsonl
    succeeds
    lacks "$out" "error:"
}

@test "a writer killed while it waits for the lock leaves nothing, and the lock is free" {
    post r first >/dev/null
    mkfifo "$T/go"
    exec 8<>"$T/go"
    start holder $PY -c 'import fcntl, sys
f = open(".war-rooms/r/channel.jsonl", "a")
fcntl.flock(f, fcntl.LOCK_EX)
print("locked", flush=True)
open(sys.argv[1]).readline()' "$T/go"
    until_true has_lines "$T/holder.out" 1
    local holder=$PID
    a_post r killed
    start post "$CLIQ" "${A_POST[@]}"
    until_true waits_for_lock .war-rooms/r/channel.jsonl
    kill -KILL "$PID"
    ended post "$PID"
    code_is 137
    echo go >&8
    ended holder "$holder"
    post r second >/dev/null
    is "first second" "$(bodies r)"
}

@test "a killed foreign writer's half line costs nothing but itself" {
    post r first >/dev/null
    start foreign $PY -c 'import fcntl, os, signal
f = open(".war-rooms/r/channel.jsonl", "a")
fcntl.flock(f, fcntl.LOCK_EX)
f.write("{\"v\": 1, \"body\": \"half")
f.flush()
os.kill(os.getpid(), signal.SIGKILL)'
    ended foreign "$PID"
    code_is 137
    post r second >/dev/null
    is "first second" "$(bodies r 2>/dev/null)"
    got fsck .war-rooms/r/channel.jsonl
    succeeds
    has "$out" "1 note"
}
