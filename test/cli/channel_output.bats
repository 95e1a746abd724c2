#!/usr/bin/env bats
# The output of cliq channel: full or closed, and on a terminal.
load ../lib/cli

# ---- where output goes -----------------------------------------------------------

@test "a full standard output is exit 74, in every command that prints" {
    local name
    conversation r
    for name in read rooms; do
        code=0
        "$CLIQ" channel $name $([ $name = read ] && echo --room r) >/dev/full 2>"$T/err" || code=$?
        is 74 "$code"
        has "$(<"$T/err")" "cliq: write to standard output: No space left on device"
    done
    for name in "channel wait --room r --any" "channel follow --room r --all" "fsck .war-rooms/r/channel.jsonl" \
        help version "channel post --help" "completion bash"; do
        code=0
        "$CLIQ" $name >/dev/full 2>"$T/err" || code=$?
        is 74 "$code"
        has "$(<"$T/err")" "write to standard output"
    done
}

@test "a post whose id cannot be printed is exit 74, the message is stored and its id is on standard error" {
    local id
    code=0
    post r x >/dev/full 2>"$T/err" || code=$?
    is 74 "$code"
    is x "$(bodies r)"
    id=$(sed -n 's/.*"id":"\([^"]*\)".*/\1/p' "$(channel r)")
    is "cliq: the message is stored as $id, do not post it again; but its id cannot be printed: write to standard output: No space left on device" "$(<"$T/err")"
}

@test "a post into a closed pipe is exit 74 too" {
    mkfifo "$T/pipe"
    exec 7<>"$T/pipe" 8>"$T/pipe" 7<&-
    code=0
    post r x >&8 2>"$T/err" || code=$?
    exec 8>&-
    is 74 "$code"
    is x "$(bodies r)"
    has "$(<"$T/err")" "the message is stored as $(sed -n 's/.*"id":"\([^"]*\)".*/\1/p' "$(channel r)")"
}

@test "a closed standard output is exit 74, and nothing but the message reaches the channel" {
    code=0
    post r x >&- 2>"$T/err" || code=$?
    is 74 "$code"
    is 1 "$(wc -l <.war-rooms/r/channel.jsonl)"
    is x "$(bodies r)"
    code=0
    "$CLIQ" channel read --room r >&- 2>"$T/err" || code=$?
    is 74 "$code"
}

@test "with standard input, output and error closed, a warning does not reach the channel either" {
    mkdir .war-rooms
    echo '{"max_message_size_bytes":3}' >.war-rooms/config.json
    post r 0123456789 <&- >&- 2>&- || :
    post r 0123456789 2>&- >/dev/null
    is 2 "$(wc -l <.war-rooms/r/channel.jsonl)"
    got fsck .war-rooms/r/channel.jsonl
    code_is 0
}

@test "a closed pipe ends the command" {
    mkdir -p .war-rooms/r
    $PY -c 'print("{\"body\":\"%s\"}\n" % ("x" * 1000) * 5000, end="")' >.war-rooms/r/channel.jsonl
    "$CLIQ" channel read --room r --jsonl 2>"$T/err" | head -1 >"$T/out"
    is 1 "$(wc -l <"$T/out")"
    is "" "$(<"$T/err")"
}

# ---- terminals -------------------------------------------------------------------

# on_terminal COMMAND...: the output on a terminal, in $out, without carriage returns.
on_terminal() {
    code=0
    script -qec "stty cols ${COLS:-200}; $*" /dev/null </dev/null >"$T/tty" || code=$?
    tr -d '\r' <"$T/tty" >"$T/out"
    : >"$T/err"
    slurp
}

@test "on a terminal read prints a table, with a bold head" {
    conversation r
    on_terminal "$CLIQ" channel read --room r
    code_is 0
    like "$out" $'^\e\\[1mTIME +FROM +TO +TYPE +REF +BODY\e\\[0m\n'
    is 6 "$(wc -l <"$T/out")"
    on_terminal "$CLIQ" channel rooms
    like "$out" $'^\e\\[1mROOM +BYTES +LAST +FROM +TO +TYPE\e\\[0m\nr '
}

@test "on a terminal times are relative, and what is empty says why" {
    post room-001 hello
    NO_COLOR=1 on_terminal "$CLIQ" channel read --room room-001
    like "$out" $'\njust now +'
    lacks "$out" "$(date +%Y-)"
    NO_COLOR=1 on_terminal "$CLIQ" channel rooms
    like "$out" 'room-001 +[0-9]+ +just now '
    on_terminal "$CLIQ" channel read --room room-01
    is 'cliq: nothing to show: there is no room "room-01" (did you mean room-001?)' "$out"
    on_terminal "$CLIQ" channel read --room room-001 --type fail
    is "cliq: nothing to show" "$out"
    on_terminal "$CLIQ" channel read --room room-01 --json
    is "[]" "$out"
    WARROOMS_DIR=$T/none on_terminal "$CLIQ" channel rooms
    is "cliq: nothing to show: there are no rooms in $T/none" "$out"
    got channel read --room room-01
    succeeds
    is "[]" "$out"
}

@test "on a terminal --json is still JSON" {
    conversation r
    on_terminal "$CLIQ" channel read --room r --json
    $PY -c 'import json,sys; assert len(json.load(open(sys.argv[1]))) == 5' "$T/out"
}

@test "NO_COLOR and a dumb terminal mean no colours; CLICOLOR_FORCE means colours in a file" {
    conversation r
    NO_COLOR=1 on_terminal "$CLIQ" channel read --room r
    lacks "$out" $'\e'
    TERM=dumb on_terminal "$CLIQ" channel read --room r
    lacks "$out" $'\e'
    got channel read --room r --text
    lacks "$out" $'\e'
    CLICOLOR_FORCE=1 got channel read --room r --text
    has "$out" $'\e[1m'
    NO_COLOR=1 CLICOLOR_FORCE=1 got channel read --room r --text
    lacks "$out" $'\e'
    CLICOLOR_FORCE=1 got channel read --room r --json
    lacks "$out" $'\e'
}

@test "a table is truncated to the width of the terminal, never in a file" {
    post r "$(printf '%0300d' 0)" >/dev/null
    COLS=80 NO_COLOR=1 on_terminal "$CLIQ" channel read --room r
    $PY -c 'import sys; w = [len(l) for l in open(sys.argv[1]).read().splitlines()]; assert max(w) == 80, w' "$T/out"
    has "$out" "…"
    got channel read --room r --text
    has "$out" "$(printf '%0300d' 0)"
}

# Every byte in the text that a terminal would obey: ESC, BEL, DEL, C1 and bidi controls.
hostile() {
    mkdir -p .war-rooms/r
    $PY - >.war-rooms/r/channel.jsonl <<'END'
import json
evil = "\x1b[2Jx\x07\x08\x7f\x00" + "\u0085\u009b31m\u009d0;t\u009c" + "\u202eabc\u202c\u2066\u2069\u200f\u061c\u2028"
print(json.dumps({"v": 1, "id": "i" + evil, "ts": evil, "from": evil, "to": evil, "type": evil, "ref": evil, "body": evil, evil: evil}))
END
}
harmless() {
    $PY - "$T/out" <<'END'
import sys, unicodedata
text = open(sys.argv[1], encoding="utf-8", newline="").read()
bad = [hex(ord(c)) for c in text if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp")]
assert not bad and text, bad
END
}

@test "no control byte of a message reaches a terminal, in any form" {
    export NO_COLOR=1
    hostile
    local form
    for form in "read --room r" "read --room r --json" "read --room r --jsonl" "wait --room r --any" "rooms" "rooms --json"; do
        on_terminal "$CLIQ" channel $form
        code_is 0
        harmless
    done
}

@test "no control byte of a message reaches a terminal that follows" {
    export NO_COLOR=1
    hostile
    start script script -qec "$CLIQ channel follow --room r --all" /dev/null
    until_true has_lines "$T/script.out" 2
    tr -d '\r' <"$T/script.out" >"$T/out"
    harmless
}

@test "text in a file is escaped too" {
    hostile
    got channel read --room r --text
    code_is 0
    harmless
    has "$out" '\x1b[2Jx\x07\x08\x7f\x00\x85\x9b31m'
    has "$out" '\u202eabc\u202c'
}
