#!/usr/bin/env bats
# cliq channel read: the documented examples, the record, filters, output formats.
load ../lib/cli

# ---- documented examples ------------------------------------------------------------------

@test "the documented post example prints the id of the message" {
    got channel post --room room-001 --from engineer --to qa --type done --ref EPIC-001 --body "Work complete"
    succeeds
    like "$out" '^engineer-done-[0-9]{19}-[0-9]+$'
    has "$(<.war-rooms/room-001/channel.jsonl)" "\"id\":\"$out\""
}

@test "the documented read example prints every message as a JSON array" {
    conversation room-001
    got channel read --room room-001
    succeeds
    is "one two three four five" "$($PY -c 'import json,sys; print(*[m["body"] for m in json.load(sys.stdin)])' <"$T/out")"
}

@test "the documented read --type done example prints only those messages" {
    conversation room-001
    got channel read --room room-001 --type done
    succeeds
    is "two four" "$($PY -c 'import json,sys; print(*[m["body"] for m in json.load(sys.stdin)])' <"$T/out")"
}

@test "the documented read --last 5 example prints the last five in order" {
    for i in 1 2 3 4 5 6 7; do post room-001 "m$i"; done
    got channel read --room room-001 --last 5
    succeeds
    is "m3 m4 m5 m6 m7" "$($PY -c 'import json,sys; print(*[m["body"] for m in json.load(sys.stdin)])' <"$T/out")"
}

@test "the documented example record is read back unchanged" {
    mkdir -p .war-rooms/room-001
    cat >"$T/record" <<'END'
{ "v": 1, "id": "engineer-done-1775215174499753000-85510", "ts": "2026-04-03T11:19:34Z", "from": "engineer", "to": "qa", "type": "done", "ref": "EPIC-001", "body": "Implementation complete. Files: GridView.cs, GridViewTests.cs" }
END
    cp "$T/record" .war-rooms/room-001/channel.jsonl
    got channel read --room room-001 --jsonl
    succeeds
    is "$(sed 's/: /:/g; s/", "/","/g; s/1, /1,/; s/{ /{/; s/ }/}/; s/complete. Files:/complete. Files: /' "$T/record")" "$out"
}

@test "the documented eight types, and the manager's six, can be posted and read" {
    local t types="task done review pass fail fix error signoff release escalate progress plan-review plan-approve plan-reject"
    for t in $types; do post room-001 "$t" manager game-engineer "$t" >/dev/null; done
    is "$types" "$(bodies room-001)"
    for t in $types; do is "$t" "$(bodies room-001 --type "$t")"; done
}

# ---- the record ------------------------------------------------------------------

@test "a record is compact JSON with its keys in order" {
    post room-001 "Work complete" >/dev/null
    like "$(<.war-rooms/room-001/channel.jsonl)" \
        '^\{"v":1,"id":"engineer-done-[0-9]+-[0-9]+","ts":"[0-9TZ:-]+","from":"engineer","to":"qa","type":"done","ref":"EPIC-001","body":"Work complete"\}$'
    is 1 "$(wc -l <.war-rooms/room-001/channel.jsonl)"
}

@test "an id is from, type, unix nanoseconds and the writer's pid" {
    local before after
    before=$(date +%s%N)
    a_post room-001 x game-engineer qa plan-review
    start post "$CLIQ" "${A_POST[@]}"
    ended post "$PID"
    after=$(date +%s%N)
    like "$out" "^game-engineer-plan-review-([0-9]+)-$PID\$"
    [ "$before" -le "${BASH_REMATCH[1]}" ] && [ "${BASH_REMATCH[1]}" -le "$after" ]
}

@test "ts is the UTC second of the id, whatever the time zone" {
    local id ns
    id=$(TZ=Asia/Kolkata post room-001 x)
    ns=${id#engineer-done-}
    ns=${ns%-*}
    has "$(<.war-rooms/room-001/channel.jsonl)" "\"ts\":\"$(date -u -d "@${ns%?????????}" +%FT%TZ)\""
}

@test "messages are in the order in which they were posted, each with its own id" {
    for i in 1 2 3 4 5 6 7 8 9; do post room-001 "$i" >>"$T/ids"; done
    is "1 2 3 4 5 6 7 8 9" "$(bodies room-001)"
    is 9 "$(sort -u "$T/ids" | wc -l)"
    is "$(<"$T/ids")" "$("$CLIQ" channel read --room room-001 --jsonl | sed 's/.*"id":"\([^"]*\)".*/\1/')"
}

@test "quotes, backslashes, control characters and emoji are read back unchanged" {
    $PY -c 'import sys; sys.stdout.write("".join(map(chr, range(1, 0x20))) + "\"\\/\x7f\x80\u2028 \u00e9\U0001F600{}[]")' >"$T/body"
    got channel post --room r --from a --to b --type done --ref x --body - <"$T/body"
    succeeds
    got channel read --room r
    is 1 "$(wc -l <.war-rooms/r/channel.jsonl)"
    $PY -c 'import json,sys; assert json.load(open(sys.argv[1]))[0]["body"] == open(sys.argv[2], newline="").read()' "$T/out" "$T/body"
}

# ---- filters ---------------------------------------------------------------------

@test "--from, --to, --type and --ref each filter by one field" {
    conversation r
    is "two four" "$(bodies r --from engineer)"
    is "one three" "$(bodies r --to engineer)"
    is "three" "$(bodies r --type review)"
    is "three four" "$(bodies r --ref EPIC-002)"
}

@test "--type may be repeated, and any of the types matches" {
    conversation r
    is "one five" "$(bodies r --type pass --type task)"
    is "one two four five" "$(bodies r --type pass --type task --type done)"
}

@test "filters together must all match" {
    conversation r
    is "four" "$(bodies r --from engineer --ref EPIC-002)"
    is "two" "$(bodies r --from engineer --to qa --type done --ref EPIC-001)"
    is "" "$(bodies r --from manager --type done)"
}

@test "a filter matches whole values only" {
    conversation r
    is "" "$(bodies r --from engine)"
    is "" "$(bodies r --ref EPIC-00)"
    is "" "$(bodies r --ref epic-001)"
}

@test "--last 0 prints nothing, 1 and 2 the newest, more than the total all" {
    conversation r
    got channel read --room r --last 0
    succeeds
    is "[]" "$out"
    is "five" "$(bodies r --last 1)"
    is "four five" "$(bodies r --last 2)"
    is "one two three four five" "$(bodies r --last 5)"
    is "one two three four five" "$(bodies r --last 18446744073709551615)"
}

@test "--last counts only messages that match the filter" {
    conversation r
    is "four" "$(bodies r --type done --last 1)"
    is "two four" "$(bodies r --type done --last 2)"
    is "two four" "$(bodies r --type done --last 9)"
    is "one five" "$(bodies r --type pass --type task --last 2)"
}

@test "a single result is still an array" {
    conversation r
    got channel read --room r --last 1
    like "$out" '^\[\{"v":1,.*"body":"five"\}\]$'
}

@test "--after is exclusive, and nothing comes after the last" {
    conversation r
    is "three four five" "$(bodies r --after "$(<"$T/id2")")"
    got channel read --room r --after "$(<"$T/id5")"
    succeeds
    is "[]" "$out"
}

@test "--after combines with filters and --last" {
    conversation r
    is "four" "$(bodies r --after "$(<"$T/id2")" --type done)"
    is "five" "$(bodies r --after "$(<"$T/id2")" --last 1)"
    is "three four five" "$(bodies r --after "$(<"$T/id2")" --last 9)"
}

@test "--after an unknown id is an empty answer with a warning, not an error" {
    conversation r
    got channel read --room r --after nobody-done-1-1
    code_is 0
    is "[]" "$out"
    is "cliq: warning: no message with the id nobody-done-1-1 in r" "$err"
}

# ---- forms -----------------------------------------------------------------------

@test "without a terminal --json is the default, and the output is one valid document" {
    conversation r
    got channel read --room r
    cp "$T/out" "$T/first"
    got channel read --room r --json
    cmp "$T/first" "$T/out"
    $PY -c 'import json,sys; assert len(json.load(open(sys.argv[1]))) == 5' "$T/out"
}

@test "--jsonl prints the channel's own lines" {
    conversation r
    got channel read --room r --jsonl
    succeeds
    cmp "$T/out" .war-rooms/r/channel.jsonl
}

@test "--text prints a table with a header and a row for each message" {
    conversation r
    got channel read --room r --text
    succeeds
    is 6 "$(wc -l <"$T/out")"
    like "${out%%$'\n'*}" '^TIME +FROM +TO +TYPE +REF +BODY$'
    like "$out" $'\n[0-9TZ:-]+  qa        manager   pass    EPIC-001  five$'
}

@test "the text of a table keeps its columns under wide and combining characters" {
    post r "日本" "x" "y" task "日本語" >/dev/null
    post r "cafe" "x" "y" task "e" >/dev/null
    got channel read --room r --text
    is "REF     BODY" "$(sed -n '1s/.*\(REF.*\)/\1/p' "$T/out")"
    has "$out" "  日本語  日本"
    has "$out" "  e       cafe"
}

@test "a table has one line for each message, however many lines the body has" {
    got channel post --room r --from a --to b --type done --ref x --body $'one\ntwo\tthree'
    got channel read --room r --text
    is 2 "$(wc -l <"$T/out")"
    has "$out" "one two three"
}

@test "two output formats at once are refused" {
    got channel read --room r --json --jsonl
    refused 2 "choose one of --json, --jsonl and --text"
    got channel rooms --json --text
    refused 2 "choose one of --json and --text"
    got channel follow --room r --jsonl --text
    refused 2 "choose one of --jsonl and --text"
}

@test "reading creates nothing" {
    got channel read --room r
    got channel rooms
    got channel wait --room r --timeout 0.01
    [ ! -e .war-rooms ]
}
