#!/usr/bin/env bats
# channel wait and channel follow: messages as they arrive.
load ../lib/cli

# ---- wait ----------------------------------------------------------------------

@test "wait prints the message that arrives, as one JSON object" {
    post r old >/dev/null
    start_listening wait channel wait --room r
    post r new >/dev/null
    ended wait "$PID"
    succeeds
    is "$(tail -1 .war-rooms/r/channel.jsonl)" "$out"
    is 1 "$(wc -l <"$T/out")"
}

@test "wait waits for a room that appears later, even for the directory of all rooms" {
    start_listening wait channel wait --room r --type done
    [ ! -e .war-rooms ]
    post r x >/dev/null
    ended wait "$PID"
    succeeds
    has "$out" '"body":"x"'
}

@test "wait waits for a channel that appears later in an existing room" {
    mkdir -p .war-rooms/r
    start_listening wait channel wait --room r
    echo '{"type":"done","body":"foreign"}' >.war-rooms/r/channel.jsonl
    ended wait "$PID"
    succeeds
    is '{"type":"done","body":"foreign"}' "$out"
}

@test "wait finds rooms in a WARROOMS_DIR of several directories that do not exist yet" {
    export WARROOMS_DIR=$T/not/yet/there
    start_listening wait channel wait --room r
    post r x >/dev/null
    ended wait "$PID"
    succeeds
    has "$out" '"body":"x"'
}

@test "wait with a filter skips other messages" {
    start_listening wait channel wait --room r --type pass --type fail --from qa --to manager --ref EPIC-001
    post r 1 qa manager done EPIC-001 >/dev/null
    post r 2 engineer manager pass EPIC-001 >/dev/null
    post r 3 qa engineer pass EPIC-001 >/dev/null
    post r 4 qa manager pass EPIC-002 >/dev/null
    post r 5 qa manager fail EPIC-001 >/dev/null
    post r 6 qa manager pass EPIC-001 >/dev/null
    ended wait "$PID"
    succeeds
    has "$out" '"body":"5"'
}

@test "wait --from and wait --ref each filter by one field" {
    start_listening from channel wait --room r --from qa
    local from=$PID
    start_listening ref channel wait --room r --ref EPIC-002
    local ref=$PID
    post r 1 engineer qa done EPIC-001 >/dev/null
    post r 2 engineer qa done EPIC-002 >/dev/null
    post r 3 qa engineer review EPIC-001 >/dev/null
    ended from "$from"
    has "$out" '"body":"3"'
    ended ref "$ref"
    has "$out" '"body":"2"'
}

@test "wait ignores earlier messages; --any returns them, the oldest first" {
    conversation r
    got channel wait --room r --type done --timeout 0.05
    refused 6
    got channel wait --room r --type done --any
    succeeds
    has "$out" '"body":"two"'
    got channel wait --room r --any --timeout 5
    has "$out" '"body":"one"'
}

@test "wait --any without a match waits for one" {
    conversation r
    start_listening wait channel wait --room r --any --type signoff
    post r late qa manager signoff >/dev/null
    ended wait "$PID"
    succeeds
    has "$out" '"body":"late"'
}

@test "wait --after returns the next match after that message, even one posted before the call" {
    conversation r
    got channel wait --room r --after "$(<"$T/id1")" --type done --timeout 5
    succeeds
    has "$out" '"body":"two"'
    got channel wait --room r --after "$(<"$T/id2")" --type done --timeout 5
    has "$out" '"body":"four"'
    start_listening wait channel wait --room r --after "$(<"$T/id5")"
    post r six >/dev/null
    ended wait "$PID"
    has "$out" '"body":"six"'
}

@test "wait --after an unknown id is exit 4" {
    conversation r
    got channel wait --room r --after nobody-done-1-1 --timeout 5
    refused 4 "no message with the id nobody-done-1-1 in r"
    got channel wait --room nowhere --after nobody-done-1-1 --timeout 5
    refused 4 "no message with the id"
}

@test "a timeout is exit 6, a message on standard error and nothing on standard output" {
    got channel wait --room r --timeout 0.05
    refused 6 "no matching message in r within 0.05 s"
    got channel wait --room r --timeout 50ms
    refused 6 "within 0.05 s"
    conversation r
    got channel wait --room r --timeout 0.05s --type error
    refused 6 "no matching message in r"
}

@test "--timeout 0 waits for ever" {
    start_listening wait channel wait --room r --timeout 0
    post r x >/dev/null
    ended wait "$PID"
    succeeds
}

@test "a message before the timeout is returned" {
    start_listening wait channel wait --room r --timeout 10m
    post r x >/dev/null
    ended wait "$PID"
    succeeds
}

@test "an invalid time is refused" {
    local time
    for time in "" x -1 1x "1 s" 0x10 1e999 .; do
        got channel wait --room r --timeout="$time"
        refused 2 "--timeout needs a time like"
    done
}

@test "wait returns a line only when it is whole" {
    post r old >/dev/null
    start_listening wait channel wait --room r
    printf '{"body":"in ' >>.war-rooms/r/channel.jsonl
    until_true listening "$PID"
    is "" "$(<"$T/wait.out")"
    printf 'two parts"}\n' >>.war-rooms/r/channel.jsonl
    ended wait "$PID"
    succeeds
    is '{"body":"in two parts"}' "$out"
}

@test "wait that began while a line was being written returns that line" {
    post r old >/dev/null
    printf '{"body":"in ' >>.war-rooms/r/channel.jsonl
    start_listening wait channel wait --room r
    printf 'two parts"}\n' >>.war-rooms/r/channel.jsonl
    ended wait "$PID"
    succeeds
    is '{"body":"in two parts"}' "$out"
}

@test "wait returns a post that seals a fragment, and warns of the bad line" {
    post r old >/dev/null
    start_listening wait channel wait --room r
    printf '{"body":"torn' >>.war-rooms/r/channel.jsonl
    post r whole >/dev/null
    ended wait "$PID"
    code_is 0
    has "$out" '"body":"whole"'
    has "$err" "1 bad line in the channel of r"
}

@test "many waiters get one message" {
    local i pids=()
    for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
        start "w$i" "$CLIQ" channel wait --room r --type done
        pids+=("$PID")
    done
    for i in "${pids[@]}"; do until_true listening "$i"; done
    post r one >/dev/null
    for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
        ended "w$i" "${pids[i - 1]}"
        succeeds
        has "$out" '"body":"one"'
    done
}

@test "SIGINT and SIGTERM end a wait with exit 130 and no output" {
    local signal
    for signal in INT TERM; do
        start_listening wait channel wait --room r
        kill -$signal "$PID"
        ended wait "$PID"
        code_is 130
        is "" "$out"
        is "" "$err"
    done
}

@test "waiting uses no CPU time" {
    start_listening wait channel wait --room r
    post other x >/dev/null # beside it
    until_true listening "$PID"
    local ticks
    ticks=$(awk '{print $14 + $15}' "/proc/$PID/stat")
    post other y >/dev/null
    post other z >/dev/null
    until_true listening "$PID"
    [ "$(($(awk '{print $14 + $15}' "/proc/$PID/stat") - ticks))" -le 1 ]
}

@test "a wait continues after the removal of its room and gets messages of a new one" {
    post r old >/dev/null
    start_listening wait channel wait --room r
    rm -r .war-rooms/r
    post r new >/dev/null
    ended wait "$PID"
    succeeds
    has "$out" '"body":"new"'
}

@test "a read followed by wait --after misses nothing, whenever the message comes" {
    local id
    id=$(post r first)
    start post bash -c 'for i in 1 2 3 4 5 6 7 8 9 10; do '"$CLIQ"' channel post --room r --from a --to b --type done --ref x --body $i; done'
    for i in 1 2 3 4 5 6 7 8 9 10; do
        got channel wait --room r --after "$id" --timeout 20
        succeeds
        has "$out" "\"body\":\"$i\""
        id=${out#*\"id\":\"}
        id=${id%%\"*}
    done
    ended post "$PID"
}

# ---- follow --------------------------------------------------------------------

# followed: the bodies that "follow" has printed so far.
followed() { sed -n 's/.*"body":"\([^"]*\)".*/\1/p' "$T/follow.out" | paste -sd' '; }

@test "follow prints messages as they come, as JSON lines" {
    post r old >/dev/null
    start_listening follow channel follow --room r
    post r one >/dev/null
    until_true has_lines "$T/follow.out" 1
    post r two >/dev/null
    until_true has_lines "$T/follow.out" 2
    is "$(tail -2 .war-rooms/r/channel.jsonl)" "$(<"$T/follow.out")"
}

@test "follow --all begins with the existing messages" {
    conversation r
    start_listening follow channel follow --room r --all
    post r six >/dev/null
    until_true has_lines "$T/follow.out" 6
    is "one two three four five six" "$(followed)"
}

@test "follow accepts the filters and --after" {
    conversation r
    start_listening follow channel follow --room r --after "$(<"$T/id2")" --from engineer --type done --type fix
    post r six qa engineer review >/dev/null
    post r seven engineer qa done >/dev/null
    until_true has_lines "$T/follow.out" 2
    is "four seven" "$(followed)"
}

@test "follow --after an unknown id is exit 4" {
    conversation r
    got channel follow --room r --after nobody-done-1-1
    refused 4 "no message with the id nobody-done-1-1 in r"
}

@test "follow --text prints a conversation" {
    conversation r
    start_listening follow channel follow --room r --all --text
    until_true has_lines "$T/follow.out" 10
    like "$(head -2 "$T/follow.out")" $'^[0-9TZ:-]+  manager -> engineer  task  EPIC-001\n    one$'
}

@test "follow --text shows every line of a body, indented, and control bytes escaped" {
    start_listening follow channel follow --room r --text
    post r $'first\nsecond\e[31m\n' >/dev/null
    until_true has_lines "$T/follow.out" 3
    has "$(<"$T/follow.out")" $'\n    first\n    second\\x1b[31m'
    echo third | "$CLIQ" channel post --room r --from a --to b --type done --ref x --body - >/dev/null
    post r fourth >/dev/null
    until_true has_lines "$T/follow.out" 7
    lacks "$(<"$T/follow.out")" $'third\n    \n'
}

@test "follow waits for a room that appears later" {
    start_listening follow channel follow --room r
    post r x >/dev/null
    until_true has_lines "$T/follow.out" 1
    is "x" "$(followed)"
}

@test "follow continues at the start of a truncated channel" {
    conversation r
    start_listening follow channel follow --room r --all
    until_true has_lines "$T/follow.out" 5
    : >.war-rooms/r/channel.jsonl
    post r fresh >/dev/null
    until_true has_lines "$T/follow.out" 6
    is "one two three four five fresh" "$(followed)"
}

@test "follow switches to the file that replaces the channel" {
    conversation r
    start_listening follow channel follow --room r
    echo '{"body":"replaced"}' >"$T/new"
    mv "$T/new" .war-rooms/r/channel.jsonl
    until_true has_lines "$T/follow.out" 1
    post r fresh >/dev/null
    until_true has_lines "$T/follow.out" 2
    is "replaced fresh" "$(followed)"
}

@test "follow reads the lines written to the old file before its replacement" {
    post r old >/dev/null
    start_listening follow channel follow --room r
    kill -STOP "$PID"
    post r last-words >/dev/null
    echo '{"body":"replaced"}' >"$T/new"
    mv "$T/new" .war-rooms/r/channel.jsonl
    kill -CONT "$PID"
    until_true has_lines "$T/follow.out" 2
    is "last-words replaced" "$(followed)"
}

@test "follow continues after the removal of the channel and of the room" {
    post r one >/dev/null
    start_listening follow channel follow --room r --all
    until_true has_lines "$T/follow.out" 1
    rm .war-rooms/r/channel.jsonl
    post r two >/dev/null
    until_true has_lines "$T/follow.out" 2
    rm -r .war-rooms
    post r three >/dev/null
    until_true has_lines "$T/follow.out" 3
    is "one two three" "$(followed)"
}

@test "follow warns of bad lines once each time they come, and continues" {
    start_listening follow channel follow --room r
    post r one >/dev/null
    until_true has_lines "$T/follow.out" 1
    printf 'bad\nworse\n{"body":"two"}\n' >"$T/lines"
    cat "$T/lines" >>.war-rooms/r/channel.jsonl # in one write; bash would make three
    until_true has_lines "$T/follow.out" 2
    until_true has_lines "$T/follow.err" 1
    is "one two" "$(followed)"
    is "cliq: warning: 2 bad lines in the channel of r passed over; cliq fsck tells more" "$(<"$T/follow.err")"
}

@test "SIGINT and SIGTERM end a follow with exit 130" {
    local signal
    for signal in INT TERM; do
        start_listening follow channel follow --room r
        kill -$signal "$PID"
        ended follow "$PID"
        code_is 130
        is "" "$err"
    done
}

@test "follow ends when its output pipe is closed" {
    conversation r
    mkfifo "$T/pipe"
    "$CLIQ" channel follow --room r --all >"$T/pipe" 2>"$T/follow.err" 3>&- &
    PID=$!
    PIDS+=($PID)
    head -1 "$T/pipe" >"$T/first"
    post r more >/dev/null
    until_true gone "$PID"
    is "" "$(<"$T/follow.err")"
}

@test "a thousand messages at once are followed in order, none missing" {
    start_listening follow channel follow --room r
    mkdir -p .war-rooms/r
    $PY -c 'for i in range(1000): print("{\"body\":\"%d\"}" % i, flush=i % 7 == 0)' >>.war-rooms/r/channel.jsonl
    until_true has_lines "$T/follow.out" 1000
    is "$(seq -s' ' 0 999)" "$(followed)"
}
