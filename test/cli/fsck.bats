#!/usr/bin/env bats
# fsck: reports each bad line of a log. Notes are exit 0, problems are exit 1.
load ../lib/cli

# lines TEXT...: writes these lines to the file $F.
lines() {
    F=$T/log.jsonl
    printf '%s\n' "$@" >"$F"
}

@test "a clean channel is clean" {
    conversation r
    got fsck .war-rooms/r/channel.jsonl
    succeeds
    is ".war-rooms/r/channel.jsonl: clean: 5 records in 5 lines" "$out"
}

@test "an empty file is clean, and blank lines are lines but no records" {
    : >"$T/empty"
    got fsck "$T/empty"
    succeeds
    is "$T/empty: clean: 0 records in 0 lines" "$out"
    lines '' '{"a":1}' '   ' $'\r'
    got fsck "$F"
    succeeds
    is "$F: clean: 1 records in 4 lines" "$out"
}

@test "every bad line is reported with number, column, reason and offset: exit 1" {
    lines '{"a":1}' 'oops, no' '{"b":2}' '[1]' '{"c":tru}'
    got fsck "$F"
    code_is 1
    is "" "$err"
    like "$out" "^$F:2:1: error: [^(]+ \(9 bytes at 8\)"$'\n'
    has "$out" "$F:4:1: error: not a JSON object (4 bytes at 25)"
    like "$out" "$F:5:[0-9]+: error: "
    like "$out" "$F: BAD: 2 records in 5 lines, 3 problems\$"
}

@test "a sealed fragment is a note: exit 0" {
    post r one >/dev/null
    printf '{"v":1,"id":"x","body":"tor' >>.war-rooms/r/channel.jsonl
    post r two >/dev/null
    got fsck .war-rooms/r/channel.jsonl
    succeeds
    has "$out" ":2:"
    has "$out" "note: a record cut off in the middle"
    has "$out" "clean: 2 records in 3 lines, 1 note"
}

@test "an unfinished end is a note: exit 0" {
    post r one >/dev/null
    printf '{"v":1,"id":"x","body":"tor' >>.war-rooms/r/channel.jsonl
    got fsck .war-rooms/r/channel.jsonl
    succeeds
    has "$out" ":2: note: unfinished at the end of the file"
    has "$out" "clean: 1 records in 1 lines, 1 note"
}

@test "a fragment may be cut at any byte of a record, and is always a note" {
    local record='{"v":1,"ids":["é","\u00e9"],"n":-1.5e10,"t":true,"z":null,"body":"a\\b"}' n
    $PY - "$record" >"$T/all" <<'END'
import sys
record = sys.argv[1].encode()
for n in range(1, len(record)):
    sys.stdout.buffer.write(record[:n] + b"\n")
END
    got fsck "$T/all"
    succeeds
    n=$(wc -l <"$T/all")
    is "$T/all: clean: 0 records in $n lines, $n notes" "$(tail -1 "$T/out")"
}

@test "bytes that are not UTF-8, raw control characters, garbage after an object: problems" {
    printf '{"a":"\xff"}\n{"a":"\x01"}\n{"a":1} x\n{"a":01}\n{a:1}\n{"a":1,}\nnull\n' >"$T/log"
    got fsck "$T/log"
    code_is 1
    has "$out" "BAD: 0 records in 7 lines, 7 problems"
}

@test "a line over a mebibyte is a problem, and the next is read" {
    { $PY -c 'print("{\"a\":\"" + "x" * (1 << 20) + "\"}")' && echo '{"a":1}'; } >"$T/log"
    got fsck "$T/log"
    code_is 1
    has "$out" ":1: error: line longer than 1 MiB"
    has "$out" "BAD: 1 records in 2 lines, 1 problem"
}

@test "several files are checked in turn, and one bad one is exit 1" {
    lines '{"a":1}'
    cp "$F" "$T/good"
    lines 'bad'
    got fsck "$T/good" "$F" "$T/good"
    code_is 1
    is 4 "$(wc -l <"$T/out")"
    is 2 "$(grep -c "^$T/good: clean: 1 records in 1 lines$" "$T/out")"
}

@test "--json is one array with an object for each file and its findings" {
    lines '{"a":1}' 'bad' '{"b":'
    printf '{"c"' >>"$F"
    : >"$T/empty"
    got fsck --json "$F" "$T/empty"
    code_is 1
    $PY - "$T/out" "$F" "$T/empty" <<'END'
import json, sys
bad, empty = json.load(open(sys.argv[1]))
assert list(bad) == ["file", "verdict", "lines", "records", "problems", "notes", "findings"], bad
assert (bad["file"], bad["verdict"], bad["lines"], bad["records"], bad["problems"], bad["notes"]) == (sys.argv[2], "bad", 3, 1, 1, 2), bad
assert [(f["line"], f["level"], f["offset"], f["bytes"]) for f in bad["findings"]] == [(2, "error", 8, 4), (3, "note", 12, 6), (4, "note", 18, 4)], bad
assert all(f["reason"] for f in bad["findings"])
assert empty["verdict"] == "clean" and empty["findings"] == [] and empty["file"] == sys.argv[3]
END
}

@test "a missing file is exit 4; a path that is no file is exit 2" {
    got fsck "$T/nothing"
    refused 4 "no file $T/nothing"
    got fsck "$T"
    refused 2 "$T is a directory, not a regular file"
    mkfifo "$T/pipe"
    start fsck "$CLIQ" fsck "$T/pipe"
    ended fsck "$PID"
    refused 2 "is a FIFO, not a regular file"
    got fsck
    refused 2 "an argument is missing"
}

@test "a file that may not be read is exit 7" {
    lines '{"a":1}'
    chmod 0 "$F"
    meekly fsck "$F"
    refused 7 "Permission denied"
}

@test "fsck changes nothing" {
    lines '{"a":1}' 'bad'
    printf '{"c"' >>"$F"
    local before
    before=$(stat -c '%s %Y %Z %i' "$F")
    got fsck "$F"
    is "$before" "$(stat -c '%s %Y %Z %i' "$F")"
}

@test "numbered logs have their numbers and checksums verified" {
    $PY - >"$T/events.jsonl" <<'END'
def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF
def line(seq, text='"type":"t"'):
    head = '{%s,"seq":%d' % (text, seq)
    return head + ',"crc":"%08x"}' % crc32c(head.encode())
print(line(1))
print(line(2))
print(line(3).replace('"t"', '"u"'))
print(line(4))
print(line(9))
END
    got fsck "$T/events.jsonl"
    code_is 1
    has "$out" ":3: error: checksum does not match"
    has "$out" ":5: error: sequence numbers are missing before this line"
}

@test "control bytes of a file name are escaped" {
    local name=$'\e[31mred\n.jsonl'
    echo bad >"$name"
    got fsck "$name"
    code_is 1
    lacks "$out" $'\e'
    is 2 "$(wc -l <"$T/out")"
}

@test "lines that a power cut left in the hub's presync file are a note, until the log is opened" {
    export CLIQ_HOME=$T/home
    for i in 1 2 3; do "$CLIQ" emit task "$i" >/dev/null; done
    log=$CLIQ_HOME/signals/events.jsonl
    cp "$log" "$T/before"
    $PY "$BATS_TEST_DIRNAME/../lib/power_cut.py" "$log" 2
    ln -s "$log" "$T/link.jsonl"
    for file in "$log" "$T/link.jsonl"; do
        got fsck "$file"
        succeeds
        has "$out" "$file: note: 2 lines from before a power cut are only in events.ahead: opening the log restores them ("
        has "$out" "lines, 1 note"
    done
    got fsck --json "$log"
    is "note False" "$($PY -c 'import json, sys; f = json.load(open(sys.argv[1]))[0]["findings"][0]; print(f["level"], "line" in f)' "$T/out")"
    got hub check
    succeeds
    cmp "$log" "$T/before"
    got fsck "$log"
    succeeds
    lacks "$out" note
}
