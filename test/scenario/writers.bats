#!/usr/bin/env bats
# Many writers, one channel: every message once, whole, and each writer's in its
# order. The checker is Python and shares no code with the product.
load ../lib/cli

WRITERS=64

# run_writers COUNT COMMAND...: 64 at once; COMMAND gets a name as its last argument.
run_writers() {
    local i pids=() bad=0
    mkdir -p "$T/ids"
    for ((i = 0; i < WRITERS; i++)); do
        "$@" "writer-$i" >"$T/ids/writer-$i" 2>>"$T/errors" 3>&- &
        pids+=($!)
    done
    for i in "${pids[@]}"; do wait "$i" || bad=1; done
    cat "$T/errors" >&2
    [ $bad = 0 ] && [ ! -s "$T/errors" ]
}
# check COUNT [--blank-ok]: checks the messages of room-001.
check() {
    local i names=()
    for ((i = 0; i < WRITERS; i++)); do names+=("writer-$i"); done
    $PY "$BATS_TEST_DIRNAME/check_writers.py" $2 .war-rooms/room-001/channel.jsonl "$T/ids" "$1" "${names[@]}"
    got fsck .war-rooms/room-001/channel.jsonl
    succeeds
    has "$out" "clean: $(($1 * WRITERS)) records in $(wc -l <.war-rooms/room-001/channel.jsonl) lines"
}

@test "64 writers, 100,000 messages: every one once, whole, in its writer's order" {
    one() { "$BIN/test/tools/writer" room-001 "$1" 1563; }
    run_writers one
    check 1563
}

@test "32 cliq and 32 Python writers with fcntl.flock write 100,000 messages together" {
    mkdir -p .war-rooms/room-001
    one() {
        if [ $((${1#writer-} % 2)) = 0 ]; then
            "$BIN/test/tools/writer" room-001 "$1" 1563
        else
            $PY "$BATS_TEST_DIRNAME/writer.py" .war-rooms/room-001 "$1" 1563
        fi
    }
    run_writers one
    check 1563
}

@test "Python writers that flush after they unlock lose nothing, nor do ours" {
    mkdir -p .war-rooms/room-001
    one() {
        if [ $((${1#writer-} % 2)) = 0 ]; then
            "$BIN/test/tools/writer" room-001 "$1" 200 --reopen
        else
            $PY "$BATS_TEST_DIRNAME/writer.py" .war-rooms/room-001 "$1" 200 late
        fi
    }
    run_writers one
    check 200 --blank-ok
}

@test "64 durable writers share one disk" {
    one() { "$BIN/test/tools/writer" room-001 "$1" 10 --durable; }
    run_writers one
    check 10
}

@test "64 shells with the real program: every id printed is there, once, in order" {
    one() {
        local i
        for ((i = 0; i < 20; i++)); do
            "$CLIQ" channel post --room room-001 --from "$1" --to all --type progress --ref "$1" --body "$1 $i"
        done
    }
    run_writers one
    is $((WRITERS * 20)) "$(wc -l <.war-rooms/room-001/channel.jsonl)"
    local i
    for ((i = 0; i < WRITERS; i++)); do
        grep "\"from\":\"writer-$i\"" .war-rooms/room-001/channel.jsonl >"$T/mine"
        is "$(seq -f "writer-$i %g" 0 19)" "$(sed 's/.*"body":"\(.*\)"}$/\1/' "$T/mine")"
        is "$(<"$T/ids/writer-$i")" "$(sed 's/.*"id":"\([^"]*\)".*/\1/' "$T/mine")"
    done
}

@test "readers that come and go while 64 write see only whole messages" {
    one() { "$BIN/test/tools/writer" room-001 "$1" 60; }
    start_listening follow channel follow --room room-001 --all
    local follow=$PID
    (
        while [ ! -e "$T/stop" ]; do
            "$CLIQ" channel read --room room-001 --last 50 --jsonl
            "$CLIQ" channel rooms >/dev/null
        done >"$T/reads" 2>&1
    ) 3>&- &
    local reader=$!
    run_writers one
    touch "$T/stop"
    wait $reader
    is "" "$(grep -vE '^\{"v":1,"id":"writer-[0-9]+-progress-.*[a-z ]"\}$' "$T/reads" | head -3)"
    until_true has_lines "$T/follow.out" $((60 * WRITERS))
    kill -TERM "$follow"
    ended follow "$follow"
    cmp "$T/out" .war-rooms/room-001/channel.jsonl
    is "" "$err"
    check 60
}
