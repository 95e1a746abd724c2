#!/usr/bin/env bats
# Rooms: where they are, which files they accept, how they are listed.
load ../lib/cli

# ---- rooms and files -------------------------------------------------------------

@test "a missing room reads as empty" {
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

@test "posting creates no file but the channel" {
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

@test "a symbolic link as a channel does not create its target" {
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

@test "WARROOMS_DIR says where the rooms are, absolute or relative, and is created" {
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

@test "an empty WARROOMS_DIR counts as not set" {
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

@test "rooms of another user in a directory above are not used" {
    [ "$(id -u)" = 0 ] || skip "needs root to make a directory of somebody else"
    mkdir -p .war-rooms sub
    chown nobody .war-rooms
    cd sub
    post r x >/dev/null
    [ -e .war-rooms/r/channel.jsonl ]
    [ ! -e ../.war-rooms/r ]
}

# ---- channel rooms ---------------------------------------------------------------

@test "without rooms the list is empty" {
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

@test "the rooms' own config.json is not a room and causes no warning" {
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
