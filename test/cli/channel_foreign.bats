#!/usr/bin/env bats
# Lines in a channel that other programs wrote, and bad lines.
load ../lib/cli

# put LINE...: appends foreign lines to room r.
put() {
    mkdir -p .war-rooms/r
    printf '%s\n' "$@" >>.war-rooms/r/channel.jsonl
}

@test "any spacing, key order and escapes of a foreign line are read" {
    put '{ "body" : "caf\u00e9 \ud83d\ude00" ,	"type":"done", "to" : "qa", "from":"\u0065ngineer","v":1 }'
    is "café 😀" "$(bodies r --from engineer --to qa --type done)"
}

@test "lines of Python's json.dumps are read" {
    mkdir -p .war-rooms/r
    $PY -c 'import json; print(json.dumps({"v": 1, "id": "a-done-1-1", "ts": "2026-04-03T11:19:34Z", "from": "a", "to": "b", "type": "done", "ref": "é", "body": "zoë \U0001F600 \x7f"}))' >.war-rooms/r/channel.jsonl
    is $'zoë 😀 \\u007f' "$(bodies r --ref é)"
}

@test "lines without v, id, ts or body are messages" {
    put '{"from":"a","to":"b","type":"done"}' '{}'
    got channel read --room r
    succeeds
    is '[{"from":"a","to":"b","type":"done"},
 {}]' "$out"
    got channel read --room r --type done --jsonl
    is '{"from":"a","to":"b","type":"done"}' "$out"
    got channel read --room r --text
    succeeds
    is 3 "$(wc -l <"$T/out")"
}

@test "unknown fields are kept on output: nested, null, and numbers digit for digit" {
    put '{"body":"x","extra":{"a":[1,2.50,-0.0,1e400,12345678901234567890123],"b":null,"c":true},"z":""}'
    got channel read --room r --jsonl
    succeeds
    is '{"body":"x","extra":{"a":[1,2.50,-0.0,1e400,12345678901234567890123],"b":null,"c":true},"z":""}' "$out"
}

@test "fields of the wrong type are shown, and match no filter" {
    put '{"from":1,"to":null,"type":["done"],"ref":{},"body":7}'
    got channel read --room r --jsonl
    is '{"from":1,"to":null,"type":["done"],"ref":{},"body":7}' "$out"
    is "" "$(cliq channel read --room r --jsonl --type done)"
    is "" "$(cliq channel read --room r --jsonl --from 1)"
    got channel read --room r --text
    succeeds
    is 2 "$(wc -l <"$T/out")"
}

@test "lines ended by CRLF are read, and blank lines are ignored" {
    printf '\r\n{"body":"one"}\r\n\n   \t\n{"body":"two"}\r\n\n' >"$T/lines"
    mkdir -p .war-rooms/r
    cp "$T/lines" .war-rooms/r/channel.jsonl
    got channel read --room r
    succeeds
    is '[{"body":"one"},
 {"body":"two"}]' "$out"
    got channel read --room r --last 1 --jsonl
    succeeds
    is '{"body":"two"}' "$out"
}

@test "a post after a foreign writer's unended line begins a new line" {
    mkdir -p .war-rooms/r
    printf '{"body":"foreign"}' >.war-rooms/r/channel.jsonl
    post r ours >/dev/null
    is "foreign ours" "$(bodies r)"
    is 2 "$(wc -l <.war-rooms/r/channel.jsonl)"
}

@test "an unended line is not read until it is whole" {
    put '{"body":"one"}'
    printf '{"body":"tw' >>.war-rooms/r/channel.jsonl
    got channel read --room r
    succeeds
    is '[{"body":"one"}]' "$out"
    printf 'o"}\n' >>.war-rooms/r/channel.jsonl
    is "one two" "$(bodies r)"
}

@test "bad lines are skipped with one warning, and standard output stays JSON" {
    put '{"body":"one"}' 'not json' '[1,2]' '"text"' '{"body":"two"}' '{"body":' '{"a":1}}' "$(printf '{"body":"\xff"}')" '{"body":"three"}'
    got channel read --room r
    code_is 0
    is '[{"body":"one"},
 {"body":"two"},
 {"body":"three"}]' "$out"
    is "cliq: warning: 6 bad lines in the channel of r passed over; cliq fsck tells more" "$err"
}

@test "one bad line is reported in the singular" {
    put 'oops'
    got channel read --room r
    code_is 0
    is "[]" "$out"
    is "cliq: warning: 1 bad line in the channel of r passed over; cliq fsck tells more" "$err"
}

@test "--last does not read bad lines before the messages it prints" {
    put 'oops' '{"body":"one"}' '{"body":"two"}'
    got channel read --room r --last 1 --jsonl
    succeeds
    is '{"body":"two"}' "$out"
}

@test "a line over a mebibyte is a bad line, and its neighbours are read from both ends" {
    put '{"body":"one"}'
    $PY -c 'print("{\"body\":\"" + "x" * (1 << 20) + "\"}")' >>.war-rooms/r/channel.jsonl
    put '{"body":"two"}'
    got channel read --room r
    code_is 0
    is '[{"body":"one"},
 {"body":"two"}]' "$out"
    has "$err" "1 bad line"
    got channel read --room r --last 2 --jsonl
    is '{"body":"one"}
{"body":"two"}' "$out"
    post r three >/dev/null
    is "one two three" "$(bodies r 2>/dev/null)"
}

@test "a line of exactly a mebibyte is a message" {
    mkdir -p .war-rooms/r
    $PY -c 'print("{\"body\":\"" + "x" * ((1 << 20) - 1 - 11) + "\"}")' >.war-rooms/r/channel.jsonl
    is 1048576 "$(wc -c <.war-rooms/r/channel.jsonl)"
    got channel read --room r --jsonl
    code_is 0
    is "" "$err"
    cmp "$T/out" .war-rooms/r/channel.jsonl
}

@test "endless nesting is a bad line, not a crash" {
    put "$($PY -c 'print("{\"a\":" + "[" * 100000 + "]" * 100000 + "}")')" '{"body":"one"}'
    got channel read --room r --jsonl
    code_is 0
    is '{"body":"one"}' "$out"
    has "$err" "1 bad line"
}

@test "a channel of many thousands reads the same from both ends" {
    mkdir -p .war-rooms/r
    $PY -c '
import json
for i in range(20000):
    print(json.dumps({"from": "ab"[i % 2], "type": "done", "n": i, "body": "x" * (i % 97)}, separators=(",", ":")))' >.war-rooms/r/channel.jsonl
    got channel read --room r --jsonl
    cmp "$T/out" .war-rooms/r/channel.jsonl
    got channel read --room r --jsonl --last 20000
    cmp "$T/out" .war-rooms/r/channel.jsonl
    got channel read --room r --jsonl --last 5000 --from a
    grep '"from":"a"' .war-rooms/r/channel.jsonl | tail -5000 | cmp - "$T/out"
}
