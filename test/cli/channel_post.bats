#!/usr/bin/env bats
# cliq channel post: bodies, the limit of their size, types and names.
load ../lib/cli

# ---- bodies ----------------------------------------------------------------------

@test "--body - reads standard input and keeps its last newline" {
    printf 'line one\nline two\n' | cliq channel post --room r --from a --to b --type done --ref x --body - >/dev/null
    has "$(<.war-rooms/r/channel.jsonl)" '"body":"line one\nline two\n"}'
}

@test "an empty body is a body" {
    post r "" >/dev/null
    cliq channel post --room r --from a --to b --type done --ref x --body - </dev/null >/dev/null
    is 2 "$(grep -c '"body":""}$' .war-rooms/r/channel.jsonl)"
}

@test "a body that is not UTF-8 is refused, with the byte's position, and nothing is created" {
    printf 'abc\xffdef' >"$T/body"
    got channel post --room r --from a --to b --type done --ref x --body - <"$T/body"
    refused 2 "body is not UTF-8" "byte 4 is 0xff"
    [ ! -e .war-rooms ]
}

@test "a truncated, overlong, surrogate or too large sequence is not UTF-8 either" {
    local bytes
    for bytes in '\xe2\x82' '\xc0\xaf' '\xed\xa0\x80' '\xf4\x90\x80\x80' '\x80'; do
        printf "ab$bytes" >"$T/body"
        got channel post --room r --from a --to b --type done --ref x --body - <"$T/body"
        refused 2 "byte 3 is 0x"
    done
    got channel post --room r --from a --to b --type done --ref x --body "$(printf 'ab\xff')"
    refused 2 "byte 3 is 0xff"
    got channel post --room r --from a --to b --type done --ref "$(printf '\xff')" --body x
    refused 2 "reference is not UTF-8" "byte 1 is 0xff"
}

@test "a NUL byte is kept as \\u0000" {
    printf 'a\0b' | cliq channel post --room r --from a --to b --type done --ref x --body - >/dev/null
    has "$(<.war-rooms/r/channel.jsonl)" '"body":"a\u0000b"}'
    has "$(cliq channel read --room r)" '"body":"a\u0000b"}'
}

@test "a ref may be any text up to 1024 bytes" {
    got channel post --room r --from a --to b --type done --ref "" --body x
    succeeds
    got channel post --room r --from a --to b --type done --ref "Épic / 1 \"q\"" --body x
    succeeds
    got channel post --room r --from a --to b --type done --ref "$(printf '%01024d' 0)" --body x
    succeeds
    got channel post --room r --from a --to b --type done --ref "$(printf '%01025d' 0)" --body x
    refused 2 "longer than 1024 bytes"
    is "x" "$(bodies r --ref "Épic / 1 \"q\"")"
}

# ---- the limit -------------------------------------------------------------------

# post_sized PREFIX CHAR COUNT: a body of PREFIX and COUNT times CHAR.
post_sized() {
    $PY -c 'import sys; sys.stdout.write(sys.argv[1] + sys.argv[2] * int(sys.argv[3]))' "$@" >"$T/body"
    got channel post --room r --from a --to b --type done --ref x --body - <"$T/body"
}

# stored: the last body in room r, byte for byte, in $T/stored.
stored() {
    cliq channel read --room r --last 1 |
        $PY -c 'import json,sys; sys.stdout.buffer.write(json.load(sys.stdin.buffer)[0]["body"].encode())' >"$T/stored"
}

@test "a body of exactly 65536 bytes is kept whole, without a warning" {
    post_sized "" x 65536
    succeeds
    stored
    cmp "$T/body" "$T/stored"
}

@test "a body of 65537 bytes is truncated to 65536 and marked, with a warning" {
    post_sized "" x 65537
    code_is 0
    like "$out" '^a-done-'
    is "cliq: warning: the body of 65537 bytes was cut to 65536; set channel.max_message_size_bytes to keep more" "$err"
    stored
    head -c 65536 "$T/body" >"$T/want"
    printf '\n[TRUNCATED: original 65537 bytes, max 65536]' >>"$T/want"
    cmp "$T/want" "$T/stored"
}

@test "the limit is in bytes: characters of 2, 3 and 4 bytes are never split" {
    local case prefix char count keep
    # prefix, character, how many, bytes kept
    for case in "|é|32769|65536" "a|é|32768|65535" "|€|21846|65535" "a|€|21846|65536" "ab|€|21845|65534" \
        "|😀|16385|65536" "a|😀|16384|65533" "ab|😀|16384|65534" "abc|😀|16384|65535"; do
        IFS='|' read -r prefix char count keep <<<"$case"
        post_sized "$prefix" "$char" "$count"
        code_is 0
        stored
        head -c "$keep" "$T/body" >"$T/want"
        printf '\n[TRUNCATED: original %d bytes, max 65536]' "$(wc -c <"$T/body")" >>"$T/want"
        cmp "$T/want" "$T/stored"
    done
}

@test "a body of many megabytes is truncated too" {
    head -c 20000000 /dev/zero | tr '\0' y >"$T/body"
    got channel post --room r --from a --to b --type done --ref x --body - <"$T/body"
    code_is 0
    has "$err" "20000000 bytes was cut to 65536"
}

@test "the limit comes from config.json beside the rooms" {
    mkdir .war-rooms
    echo '{"channel": {"max_message_size_bytes": 10}}' >.war-rooms/config.json
    got channel post --room r --from a --to b --type done --ref x --body 0123456789
    succeeds
    got channel post --room r --from a --to b --type done --ref x --body 0123456789a
    code_is 0
    has "$err" "the body of 11 bytes was cut to 10"
    has "$(<.war-rooms/r/channel.jsonl)" '"body":"0123456789\n[TRUNCATED: original 11 bytes, max 10]"}'
}

@test "the limit may be at the top level of config.json" {
    mkdir .war-rooms
    echo '{"max_message_size_bytes": 3}' >.war-rooms/config.json
    got channel post --room r --from a --to b --type done --ref x --body 01234
    has "$(<.war-rooms/r/channel.jsonl)" '"body":"012\n[TRUNCATED: original 5 bytes, max 3]"}'
}

@test "the limit comes from the project's settings, found from below" {
    mkdir -p .cliq sub/dir
    echo '{"channel":{"max_message_size_bytes":4}}' >.cliq/settings.json
    cd sub/dir
    got channel post --room r --from a --to b --type done --ref x --body 01234
    has "$err" "cut to 4"
    [ -e ../../.war-rooms/r/channel.jsonl ]
}

@test "the limit comes from the user's settings in CLIQ_HOME, else ~/.cliqrc" {
    mkdir -p "$CLIQ_HOME" "$HOME/.cliqrc"
    echo '{"channel":{"max_message_size_bytes":5}}' >"$CLIQ_HOME/settings.json"
    echo '{"channel":{"max_message_size_bytes":6}}' >"$HOME/.cliqrc/settings.json"
    a_post r 0123456789
    got "${A_POST[@]}"
    has "$err" "cut to 5"
    unset CLIQ_HOME
    got "${A_POST[@]}"
    has "$err" "cut to 6"
    unset HOME
    got "${A_POST[@]}"
    succeeds
}

@test "the rooms' limit wins over the project's, the project's over the user's" {
    mkdir -p .war-rooms .cliq "$CLIQ_HOME"
    a_post r 0123456789
    echo '{"channel":{"max_message_size_bytes":5}}' >"$CLIQ_HOME/settings.json"
    echo '{"channel":{"max_message_size_bytes":4}}' >.cliq/settings.json
    echo '{"channel":{"max_message_size_bytes":3}}' >.war-rooms/config.json
    got "${A_POST[@]}"
    has "$err" "cut to 3"
    echo '{"channel":{"other":1}}' >.war-rooms/config.json
    got "${A_POST[@]}"
    has "$err" "cut to 4"
    rm .cliq/settings.json
    got "${A_POST[@]}"
    has "$err" "cut to 5"
}

@test "an invalid limit is refused with file and setting, and nothing is posted" {
    local value
    mkdir .war-rooms
    for value in 0 -1 1.5 true null '"65536"' '[]' '{}' 1e99; do
        echo "{\"channel\":{\"max_message_size_bytes\":$value}}" >.war-rooms/config.json
        got channel post --room r --from a --to b --type done --ref x --body x
        refused 2 ".war-rooms/config.json" "channel.max_message_size_bytes must be a whole number"
    done
    [ ! -e .war-rooms/r ]
}

@test "a settings file that is not JSON is refused with the position" {
    mkdir .war-rooms
    printf '{\n  "channel": oops\n}\n' >.war-rooms/config.json
    got channel post --room r --from a --to b --type done --ref x --body x
    refused 2 "config.json" "2"
    [ ! -e .war-rooms/r ]
}

@test "a limit above one mebibyte is refused when a body needs it" {
    mkdir .war-rooms
    echo '{"channel":{"max_message_size_bytes":9999999}}' >.war-rooms/config.json
    post_sized "" x 1048000
    succeeds
    post_sized "" x 1048576
    refused 2 "the message is larger than 1048575 bytes"
    post_sized "" $'\x01' 200000
    refused 2 "the message is larger than 1048575 bytes"
    is 1 "$(wc -l <.war-rooms/r/channel.jsonl)"
}

# ---- types and names -------------------------------------------------------------

@test "an unknown type is refused with the list and a suggestion" {
    got channel post --room r --from a --to b --type doen --ref x --body x
    refused 2 'unknown message type "doen"' 'did you mean "done"?' "known types: task, done, review, pass, fail, fix, error, signoff, release, escalate, progress, plan-review, plan-approve, plan-reject"
    got channel read --room r --type don
    refused 2 'did you mean "done"?' "known types:"
    got channel wait --room r --type pas --timeout 1
    refused 2 'did you mean "pass"?' "known types:"
    got channel follow --room r --type reveiw
    refused 2 'did you mean "review"?' "known types:"
    got channel read --room r --type done --type zzzzzzzz
    refused 2 'unknown message type "zzzzzzzz"; known'
    [ ! -e .war-rooms ]
}

@test "--any-type accepts any type that is a name" {
    post r x a b done >/dev/null
    got channel post --room r --from a --to b --type my.own_type-2 --ref x --body y --any-type
    succeeds
    like "$out" '^a-my.own_type-2-[0-9]+-[0-9]+$'
    is y "$(bodies r --type my.own_type-2 --any-type)"
    is y "$(bodies r --any-type --type my.own_type-2 --type zzz)"
    got channel post --room r --from a --to b --type "no good" --ref x --body y --any-type
    refused 2 'bad message type "no good"'
}

@test "a bad room name is refused by every command that takes one" {
    local name
    for name in .. . a/b ../x /etc "" "$(printf '%065d' 0)" .hidden -dash "two words" 'a$b' $'a\nb' "ä"; do
        got channel post --room="$name" --from a --to b --type done --ref x --body x
        refused 2 "room name"
        got channel read --room="$name"
        refused 2 "room name"
        got channel wait --room="$name" --timeout 1
        refused 2 "room name"
        got channel follow --room="$name"
        refused 2 "room name"
    done
    [ ! -e .war-rooms ]
}

@test "a bad role name is refused, saying which" {
    local name
    for name in .. a/b "" "$(printf '%065d' 0)" .x -x "a b"; do
        got channel post --room r --from="$name" --to b --type done --ref x --body x
        refused 2 "sender (--from)"
        got channel post --room r --from a --to="$name" --type done --ref x --body x
        refused 2 "recipient (--to)"
    done
    [ ! -e .war-rooms ]
}

@test "names of 1 and of 64 characters are accepted" {
    local long
    long=$(printf 'x%.0s' {1..64})
    post "$long" x "$long" a >/dev/null
    post a x a "$long" >/dev/null
    is x "$(bodies "$long" --from "$long")"
    is x "$(bodies a --to "$long")"
    got channel post --room r --from "$long" --to b --type "$long" --any-type --ref x --body x
    succeeds
    like "$out" "^$long-$long-[0-9]{19}-[0-9]+\$"
}

@test "control bytes of a bad name are escaped in the message" {
    got channel post --room $'\e[31mred' --from a --to b --type done --ref x --body x
    refused 2 '\x1b[31mred'
    got channel post --room r --from a --to b --type $'\e]0;t\a' --ref x --body x
    refused 2 '\x1b]0;t\x07'
    lacks "$err" $'\e'
}
