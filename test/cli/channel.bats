#!/usr/bin/env bats
# channel post, read, rooms: the commands of the channel format's page, and all
# that can be asked of them by somebody who has never seen the source.
load ../lib/cli

# ---- the page ------------------------------------------------------------------

@test "the page's post example prints the id of what it posted" {
    got channel post --room room-001 --from engineer --to qa --type done --ref EPIC-001 --body "Work complete"
    succeeds
    like "$out" '^engineer-done-[0-9]{19}-[0-9]+$'
    has "$(<.war-rooms/room-001/channel.jsonl)" "\"id\":\"$out\""
}

@test "the page's read example prints every message as a JSON array" {
    conversation room-001
    got channel read --room room-001
    succeeds
    is "one two three four five" "$($PY -c 'import json,sys; print(*[m["body"] for m in json.load(sys.stdin)])' <"$T/out")"
}

@test "the page's read --type done example prints only those" {
    conversation room-001
    got channel read --room room-001 --type done
    succeeds
    is "two four" "$($PY -c 'import json,sys; print(*[m["body"] for m in json.load(sys.stdin)])' <"$T/out")"
}

@test "the page's read --last 5 example prints the last five in order" {
    for i in 1 2 3 4 5 6 7; do post room-001 "m$i"; done
    got channel read --room room-001 --last 5
    succeeds
    is "m3 m4 m5 m6 m7" "$($PY -c 'import json,sys; print(*[m["body"] for m in json.load(sys.stdin)])' <"$T/out")"
}

@test "the page's example record is read back as it stands" {
    mkdir -p .war-rooms/room-001
    cat >"$T/record" <<'END'
{ "v": 1, "id": "engineer-done-1775215174499753000-85510", "ts": "2026-04-03T11:19:34Z", "from": "engineer", "to": "qa", "type": "done", "ref": "EPIC-001", "body": "Implementation complete. Files: GridView.cs, GridViewTests.cs" }
END
    cp "$T/record" .war-rooms/room-001/channel.jsonl
    got channel read --room room-001 --jsonl
    succeeds
    is "$(sed 's/: /:/g; s/", "/","/g; s/1, /1,/; s/{ /{/; s/ }/}/; s/complete. Files:/complete. Files: /' "$T/record")" "$out"
}

@test "the page's eight types, and the manager's six, can be posted and read" {
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

@test "messages stand in the order in which they were posted, with ids of their own" {
    for i in 1 2 3 4 5 6 7 8 9; do post room-001 "$i" >>"$T/ids"; done
    is "1 2 3 4 5 6 7 8 9" "$(bodies room-001)"
    is 9 "$(sort -u "$T/ids" | wc -l)"
    is "$(<"$T/ids")" "$("$CLIQ" channel read --room room-001 --jsonl | sed 's/.*"id":"\([^"]*\)".*/\1/')"
}

@test "quotes, backslashes, control characters and emoji come back as they were posted" {
    $PY -c 'import sys; sys.stdout.write("".join(map(chr, range(1, 0x20))) + "\"\\/\x7f\x80\u2028 \u00e9\U0001F600{}[]")' >"$T/body"
    got channel post --room r --from a --to b --type done --ref x --body - <"$T/body"
    succeeds
    got channel read --room r
    is 1 "$(wc -l <.war-rooms/r/channel.jsonl)"
    $PY -c 'import json,sys; assert json.load(open(sys.argv[1]))[0]["body"] == open(sys.argv[2], newline="").read()' "$T/out" "$T/body"
}

# ---- filters ---------------------------------------------------------------------

@test "--from, --to, --type and --ref each pick by one field" {
    conversation r
    is "two four" "$(bodies r --from engineer)"
    is "one three" "$(bodies r --to engineer)"
    is "three" "$(bodies r --type review)"
    is "three four" "$(bodies r --ref EPIC-002)"
}

@test "--type may be repeated and takes any of them" {
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

@test "--last 0 is nothing, 1 and 2 are the newest, beyond the total is all" {
    conversation r
    got channel read --room r --last 0
    succeeds
    is "[]" "$out"
    is "five" "$(bodies r --last 1)"
    is "four five" "$(bodies r --last 2)"
    is "one two three four five" "$(bodies r --last 5)"
    is "one two three four five" "$(bodies r --last 18446744073709551615)"
}

@test "--last counts only what the filter lets through" {
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

@test "--after goes with filters and --last" {
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

@test "--json is the default off a terminal, and both are one valid document" {
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

@test "--text prints a table with a head and a row a message" {
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

@test "a table has one line a message, however many lines the body has" {
    got channel post --room r --from a --to b --type done --ref x --body $'one\ntwo\tthree'
    got channel read --room r --text
    is 2 "$(wc -l <"$T/out")"
    has "$out" "one two three"
}

@test "two forms at once are refused" {
    got channel read --room r --json --jsonl
    refused 2 "choose one of --json, --jsonl and --text"
    got channel rooms --json --text
    refused 2 "choose one of --json and --text"
    got channel follow --room r --jsonl --text
    refused 2 "choose one of --jsonl and --text"
}

@test "reading makes nothing" {
    got channel read --room r
    got channel rooms
    got channel wait --room r --timeout 0.01
    [ ! -e .war-rooms ]
}

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

@test "a body that is not UTF-8 is refused, with the byte, and nothing is made" {
    printf 'abc\xffdef' >"$T/body"
    got channel post --room r --from a --to b --type done --ref x --body - <"$T/body"
    refused 2 "body is not UTF-8" "byte 4 is 0xff"
    [ ! -e .war-rooms ]
}

@test "a cut, overlong, surrogate or too great sequence is not UTF-8 either" {
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

@test "a body of 65537 bytes is cut to 65536 and marked, with a warning" {
    post_sized "" x 65537
    code_is 0
    like "$out" '^a-done-'
    is "cliq: warning: the body of 65537 bytes was cut to 65536; set channel.max_message_size_bytes to keep more" "$err"
    stored
    head -c 65536 "$T/body" >"$T/want"
    printf '\n[TRUNCATED: original 65537 bytes, max 65536]' >>"$T/want"
    cmp "$T/want" "$T/stored"
}

@test "the limit is bytes, not characters: 2, 3 and 4 byte characters are cut whole" {
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

@test "a body of many megabytes is cut, too" {
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

@test "the limit may stand at the top of config.json, as the page names it" {
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

@test "the rooms' limit goes before the project's, the project's before the user's" {
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

@test "a limit that is no limit is refused, naming file and setting, and nothing is posted" {
    local value
    mkdir .war-rooms
    for value in 0 -1 1.5 true null '"65536"' '[]' '{}' 1e99; do
        echo "{\"channel\":{\"max_message_size_bytes\":$value}}" >.war-rooms/config.json
        got channel post --room r --from a --to b --type done --ref x --body x
        refused 2 ".war-rooms/config.json" "channel.max_message_size_bytes must be a whole number"
    done
    [ ! -e .war-rooms/r ]
}

@test "a settings file that is not JSON is refused, with the place" {
    mkdir .war-rooms
    printf '{\n  "channel": oops\n}\n' >.war-rooms/config.json
    got channel post --room r --from a --to b --type done --ref x --body x
    refused 2 "config.json" "2"
    [ ! -e .war-rooms/r ]
}

@test "a limit beyond a line's mebibyte is refused where it matters" {
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

@test "an unknown type is refused with the list and the nearest known one" {
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

@test "--any-type takes any type that is a name" {
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

@test "names of 1 and of 64 characters are good" {
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

@test "what is said about a bad name cannot command the terminal" {
    got channel post --room $'\e[31mred' --from a --to b --type done --ref x --body x
    refused 2 '\x1b[31mred'
    got channel post --room r --from a --to b --type $'\e]0;t\a' --ref x --body x
    refused 2 '\x1b]0;t\x07'
    lacks "$err" $'\e'
}

# ---- rooms and files -------------------------------------------------------------

@test "a room that is not there is an empty one" {
    got channel read --room nowhere
    succeeds
    is "[]" "$out"
    mkdir -p .war-rooms/bare
    got channel read --room bare
    succeeds
    is "[]" "$out"
    : >.war-rooms/bare/channel.jsonl
    got channel read --room bare
    succeeds
    is "[]" "$out"
    got channel read --room bare --jsonl
    succeeds
    is "" "$out"
    got channel read --room bare --text
    succeeds
    is "" "$out"
}

@test "rooms are 0700 and channels 0600, whatever the umask" {
    local mask
    for mask in 000 022 077; do
        (umask $mask && WARROOMS_DIR=$T/deep$mask/rooms post r x) >/dev/null
        is 700 "$(stat -c %a "$T/deep$mask")"
        is 700 "$(stat -c %a "$T/deep$mask/rooms")"
        is 700 "$(stat -c %a "$T/deep$mask/rooms/r")"
        is 600 "$(stat -c %a "$T/deep$mask/rooms/r/channel.jsonl")"
    done
}

@test "posting leaves no file but the channel" {
    post r x >/dev/null
    is "channel.jsonl" "$(ls -A .war-rooms/r)"
    is ".war-rooms" "$(ls -A)"
    [ ! -e "$CLIQ_HOME" ]
}

@test "a symbolic link as a room is refused by every command" {
    mkdir -p .war-rooms "$T/elsewhere"
    echo '{"body":"secret"}' >"$T/elsewhere/channel.jsonl"
    ln -s "$T/elsewhere" .war-rooms/r
    got channel post --room r --from a --to b --type done --ref x --body x
    refused 2 "links are not followed"
    got channel read --room r
    refused 2 "links are not followed"
    got channel wait --room r --any --timeout 5
    refused 2 "links are not followed"
    start follow "$CLIQ" channel follow --room r --all
    ended follow "$PID"
    refused 2 "links are not followed"
    is 1 "$(wc -l <"$T/elsewhere/channel.jsonl")"
}

@test "a symbolic link as a channel is refused by every command" {
    mkdir -p .war-rooms/r
    echo '{"body":"secret"}' >"$T/elsewhere"
    ln -s "$T/elsewhere" .war-rooms/r/channel.jsonl
    got channel post --room r --from a --to b --type done --ref x --body x
    refused 2 "symbolic link"
    got channel read --room r
    refused 2 "symbolic link"
    got channel wait --room r --any --timeout 5
    refused 2 "symbolic link"
    start follow "$CLIQ" channel follow --room r --all
    ended follow "$PID"
    refused 2 "symbolic link"
    is 1 "$(wc -l <"$T/elsewhere")"
}

@test "a symbolic link as a channel does not make a file at its end" {
    mkdir -p .war-rooms/r
    ln -s "$T/target" .war-rooms/r/channel.jsonl
    got channel post --room r --from a --to b --type done --ref x --body x
    refused 2
    [ ! -e "$T/target" ]
}

@test "a channel that is a FIFO, a directory or a socket is refused without hanging" {
    mkdir -p .war-rooms/FIFO .war-rooms/directory/channel.jsonl .war-rooms/socket
    mkfifo .war-rooms/FIFO/channel.jsonl
    $PY -c 'import socket,sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' .war-rooms/socket/channel.jsonl
    local room
    for room in FIFO directory socket; do
        a_post $room x
        start post "$CLIQ" "${A_POST[@]}"
        ended post "$PID"
        refused 2 "channel.jsonl is a $room, not a regular file"
        start read "$CLIQ" channel read --room $room
        ended read "$PID"
        refused 2 "channel.jsonl of room $room is a $room, not a regular file"
    done
}

@test "a file where the rooms should be is refused, not replaced" {
    echo keep >"$T/rooms"
    export WARROOMS_DIR=$T/rooms
    got channel post --room r --from a --to b --type done --ref x --body x
    refused 2 "Not a directory"
    is keep "$(<"$T/rooms")"
    mkdir .war-rooms
    echo keep >.war-rooms/r
    unset WARROOMS_DIR
    got channel post --room r --from a --to b --type done --ref x --body x
    refused 2 "not a directory"
    is keep "$(<.war-rooms/r)"
}

@test "WARROOMS_DIR says where the rooms are, absolute or relative, and is made" {
    mkdir .war-rooms
    export WARROOMS_DIR=$T/a/b/rooms
    post r x >/dev/null
    [ -e "$T/a/b/rooms/r/channel.jsonl" ]
    is x "$(bodies r)"
    export WARROOMS_DIR=rel/rooms/
    post r y >/dev/null
    is y "$(bodies r)"
    [ -e rel/rooms/r/channel.jsonl ]
    is "" "$(ls -A .war-rooms)"
}

@test "an empty WARROOMS_DIR is none" {
    WARROOMS_DIR='' post r x >/dev/null
    [ -e .war-rooms/r/channel.jsonl ]
}

@test "rooms are found from a directory below, the nearest first" {
    mkdir -p sub/dir/deep
    post r top >/dev/null
    cd sub/dir/deep
    is top "$(bodies r)"
    post r second >/dev/null
    [ ! -e .war-rooms ]
    is "top second" "$(bodies r)"
    mkdir ../.war-rooms
    is "" "$(bodies r)"
    post r near >/dev/null
    [ -e ../.war-rooms/r/channel.jsonl ]
}

@test "new rooms go beside the nearest .cliq" {
    mkdir -p .cliq sub/dir
    cd sub/dir
    post r x >/dev/null
    [ -e ../../.war-rooms/r/channel.jsonl ]
}

@test "rooms that somebody else left above are not taken for ours" {
    [ "$(id -u)" = 0 ] || skip "needs root to make a directory of somebody else"
    mkdir -p .war-rooms sub
    chown nobody .war-rooms
    cd sub
    post r x >/dev/null
    [ -e .war-rooms/r/channel.jsonl ]
    [ ! -e ../.war-rooms/r ]
}

# ---- channel rooms ---------------------------------------------------------------

@test "no rooms at all is an empty list" {
    got channel rooms
    succeeds
    is "[]" "$out"
    got channel rooms --text
    succeeds
    is "" "$out"
}

@test "rooms are listed by name with size and last message" {
    post room-2 x >/dev/null
    conversation room-1
    mkdir .war-rooms/no-channel .war-rooms/.hidden
    got channel rooms
    succeeds
    $PY - "$T/out" <<'END'
import json, os, sys
rooms = json.load(open(sys.argv[1]))
assert [r["room"] for r in rooms] == ["room-1", "room-2"], rooms
assert [list(r) for r in rooms] == [["room", "bytes", "last"]] * 2, rooms
assert rooms[0]["last"]["body"] == "five" and rooms[1]["last"]["body"] == "x"
for r in rooms:
    assert r["bytes"] == os.path.getsize(f".war-rooms/{r['room']}/channel.jsonl")
END
    got channel rooms --text
    succeeds
    like "${out%%$'\n'*}" '^ROOM +BYTES +LAST +FROM +TO +TYPE$'
    like "$out" $'\nroom-1 +[0-9]+ +[0-9TZ:-]+ +qa +manager +pass\n'
}

@test "a room whose channel is empty has no last message" {
    mkdir -p .war-rooms/r
    : >.war-rooms/r/channel.jsonl
    got channel rooms
    succeeds
    is '[{"room":"r","bytes":0,"last":null}]' "$out"
    got channel rooms --text
    succeeds
    like "$out" $'\nr  +0'
}

@test "the rooms' own config.json is not a room, and nobody is warned of it" {
    post r x >/dev/null
    echo '{}' >.war-rooms/config.json
    echo '{}' >.war-rooms/DAG.json
    got channel rooms
    succeeds
    is 1 "$(grep -c '"room"' "$T/out")"
}

@test "rooms with a torn or bad end show the last whole message" {
    post r good >/dev/null
    printf 'garbage\n{"v":1,"body":"to' >>.war-rooms/r/channel.jsonl
    got channel rooms
    code_is 0
    has "$out" '"body":"good"'
}

@test "a room that cannot be read is left out with a warning, the others are listed" {
    post good x >/dev/null
    mkdir -p .war-rooms/bad/channel.jsonl
    ln -s good .war-rooms/linked
    got channel rooms
    code_is 0
    is 1 "$(grep -c '"room"' "$T/out")"
    has "$err" "room bad left out"
    has "$err" "room linked left out"
}

# ---- foreign lines ---------------------------------------------------------------

# put LINE...: foreign lines in room r.
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

@test "lines ended by CRLF are lines, and blank lines are nothing" {
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

@test "a post after a foreign writer's unended line does not stick to it" {
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

@test "bad lines are passed over with one warning, and standard output stays JSON" {
    put '{"body":"one"}' 'not json' '[1,2]' '"text"' '{"body":"two"}' '{"body":' '{"a":1}}' "$(printf '{"body":"\xff"}')" '{"body":"three"}'
    got channel read --room r
    code_is 0
    is '[{"body":"one"},
 {"body":"two"},
 {"body":"three"}]' "$out"
    is "cliq: warning: 6 bad lines in the channel of r passed over; cliq fsck tells more" "$err"
}

@test "one bad line is told as one" {
    put 'oops'
    got channel read --room r
    code_is 0
    is "[]" "$out"
    is "cliq: warning: 1 bad line in the channel of r passed over; cliq fsck tells more" "$err"
}

@test "--last does not look at bad lines before what it needs" {
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

@test "depth without end is a bad line, not a crash" {
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

@test "a post whose id cannot be printed is exit 74, the message stands and its id is on standard error" {
    local id
    code=0
    post r x >/dev/full 2>"$T/err" || code=$?
    is 74 "$code"
    is x "$(bodies r)"
    id=$(sed -n 's/.*"id":"\([^"]*\)".*/\1/p' "$(channel r)")
    is "cliq: the message is stored as $id, do not post it again; but its id cannot be printed: write to standard output: No space left on device" "$(<"$T/err")"
}

@test "a post whose id nobody reads says the same" {
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

@test "a reader that goes away ends us" {
    mkdir -p .war-rooms/r
    $PY -c 'print("{\"body\":\"%s\"}\n" % ("x" * 1000) * 5000, end="")' >.war-rooms/r/channel.jsonl
    "$CLIQ" channel read --room r --jsonl 2>"$T/err" | head -1 >"$T/out"
    is 1 "$(wc -l <"$T/out")"
    is "" "$(<"$T/err")"
}

# ---- terminals -------------------------------------------------------------------

# on_terminal COMMAND...: what a person would see, in $out; carriage returns taken off.
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

@test "a table is cut to the width of the terminal, never in a file" {
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

@test "text in a file is escaped, too" {
    hostile
    got channel read --room r --text
    code_is 0
    harmless
    has "$out" '\x1b[2Jx\x07\x08\x7f\x00\x85\x9b31m'
    has "$out" '\u202eabc\u202c'
}
