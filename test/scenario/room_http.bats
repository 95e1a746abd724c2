#!/usr/bin/env bats
# /rooms: made, read, posted to and signed off over HTTP; messages are signals room:<room>:<type>.
bats_require_minimum_version 1.5.0
load ../lib/cli
load ../lib/serve

project() { mkdir -p "$T/$1" && cd "$T/$1" || return; }
a_room() { cliq room create "$1" --ref EPIC-001 -m "Do ${2:-it}" "${@:3}" >/dev/null; }
status_of() { curl -s -o answer -w '%{http_code}' "$@"; }
problem() { json 'd["error"]["code"]'; }

@test "a room is made, read and posted to; the message is in the file and in the stream" {
    project shop
    mkdir .war-rooms
    a_room room-000
    curl -sN -H "Authorization: Bearer $KEY" "$URL/signals/stream" >"$T/stream" 2>/dev/null &
    PIDS+=($!)
    until_true grep -q connected "$T/stream"
    is "room-001 pending ['engineer', 'qa']" "$(send /rooms '{"room":"room-001","ref":"EPIC-001","task":"Sign in"}' | json '"%s %s %s" % tuple(d["data"][k] for k in ("room","state","roles"))')"
    until_true grep -q "event: room:room-001:task" "$T/stream"
    local id
    id=$(send /rooms/room-001/messages '{"from":"engineer","to":"qa","type":"done","body":"gr\u00fcn"}' | json 'd["data"]["id"]')
    is "$id" "$(cliq channel read --room room-001 --type done | json 'd[0]["id"]')"
    until_true grep -q "event: room:room-001:done" "$T/stream"
    is "$id EPIC-001" "$(sed -n '/^event: room:room-001:done/{n;s/^data: //p}' "$T/stream" | json 'd["payload"]["id"] + " " + d["payload"]["ref"]')"
    is "['task', 'done']" "$(look /rooms/room-001/messages | json '[m["type"] for m in d["data"]]')"
    is "['room-000', 'room-001']" "$(look /rooms | json '[r["room"] for r in d["data"]]')"
}

@test "what a command posts is a signal, too, once, and in the page's order" {
    project shop
    a_room room-001
    post room-001 one >/dev/null
    # The store is written before the command ends. The server may read it later.
    is "1 1" "$(cliq signal events | grep -c 'room:room-001:task') $(cliq signal events | grep -c 'room:room-001:done')"
}

@test "messages come in pages: the last ones, or those behind an id" {
    project shop
    a_room room-001
    local n id
    for n in 1 2 3 4; do post room-001 "m$n" >"$T/id$n"; done
    is "['m3', 'm4']" "$(look '/rooms/room-001/messages?limit=2' | json '[m["body"] for m in d["data"]]')"
    id=$(<"$T/id1")
    is "['m2', 'm3']" "$(look "/rooms/room-001/messages?after=$id&limit=2" | json '[m["body"] for m in d["data"]]')"
    is "[]" "$(look "/rooms/room-001/messages?after=$(<"$T/id4")" | json 'd["data"]')"
    is ROOM_NOT_FOUND "$(look "/rooms/room-001/messages?after=nothing" | problem)"
}

@test "messages are filtered by type, sender, receiver and reference, and then limited" {
    project shop
    a_room room-001
    local kind
    for kind in done progress done; do post room-001 "$kind" engineer qa $kind EPIC-001 >/dev/null; done
    post room-001 no qa manager fail EPIC-001 >/dev/null
    post room-001 else qa engineer review EPIC-002 >/dev/null
    is "['done', 'done']" "$(look '/rooms/room-001/messages?type=done' | json '[m["body"] for m in d["data"]]')"
    is "['done', 'no']" "$(look '/rooms/room-001/messages?type=done,fail&limit=2' | json '[m["body"] for m in d["data"]]')"
    is "['no', 'else']" "$(look '/rooms/room-001/messages?from=qa' | json '[m["body"] for m in d["data"]]')"
    is "['no']" "$(look '/rooms/room-001/messages?from=qa&to=manager' | json '[m["body"] for m in d["data"]]')"
    is "['else']" "$(look '/rooms/room-001/messages?ref=EPIC-002' | json '[m["body"] for m in d["data"]]')"
}

@test "a room with a life cycle of its own is made; a bad one is refused with its place" {
    local states='"passed":{"type":"terminal"},"failed-final":{"type":"terminal"}'
    project shop
    mkdir .war-rooms
    a_room room-000
    is "drafting" "$(send /rooms '{"room":"room-001","task":"x","lifecycle":{"version":2,"initial_state":"drafting","states":{"drafting":{"role":"writer","type":"work","signals":{"done":{"target":"passed"}}},'"$states"'}}}' | json 'd["data"]["lifecycle"]["initial_state"]')"
    has "$(send /rooms '{"room":"room-002","task":"x","lifecycle":{"version":2,"initial_state":"drafting","states":{"drafting":{"role":"writer","type":"work","signals":{"done":{"target":"nowhere"}}},'"$states"'}}}' | json 'd["error"]["message"]')" 'state drafting, signal done: there is no state "nowhere"'
    is ROOM_INVALID "$(send /rooms '{"room":"room-002","task":" "}' | problem)"
    [ ! -e .war-rooms/room-002 ]
}

@test "bad requests are refused by name, and nothing is written" {
    project shop
    a_room room-001
    is ROOM_INVALID "$(send /rooms/room-001/messages '{"from":"engineer","type":"dne","body":""}' | problem)"
    is ROOM_INVALID "$(send /rooms/room-001/messages '{"from":"a/b","type":"done","body":""}' | problem)"
    is ROOM_NOT_FOUND "$(send /rooms/nope/messages '{"from":"engineer","type":"done","body":""}' | problem)"
    is ROOM_NOT_FOUND "$(look '/rooms/.archives' | problem)"
    is ROOM_CONFLICT "$(send /rooms '{"room":"room-001","task":"x"}' | problem)"
    is ROOM_CONFLICT "$(send /rooms/room-001/signoff '{"from":"qa","body":"ok"}' | problem)"
    is 1 "$(wc -l <.war-rooms/room-001/channel.jsonl)"
}

@test "a name that two projects have needs the project; a new room needs it, too" {
    project shop && a_room room-001 && a_room only
    project other && a_room room-001
    is ROOM_INVALID "$(look /rooms/room-001 | problem)"
    is 3 "$(look /rooms | json 'len(d["data"])')"
    local id
    id=$(look /rooms | json '[r["project"] for r in d["data"] if r["room"] == "only"][0]')
    is "$T/shop" "$(look "/rooms/room-001?project=$id" | json 'd["data"]["path"]')"
    is ROOM_INVALID "$(send /rooms '{"room":"room-002","task":"x"}' | problem)"
    is "$T/shop" "$(send /rooms "{\"room\":\"room-002\",\"task\":\"x\",\"project\":\"$id\"}" | json 'd["data"]["path"]')"
    [ -d "$T/shop/.war-rooms/room-002" ]
}

@test "reading takes the scope inbox or audit, posting takes emit" {
    project shop
    a_room room-001
    local reader auditor poster
    reader=$(key_of reader '["inbox"]')
    auditor=$(key_of auditor '["audit"]')
    poster=$(key_of poster '["emit"]')
    is "200 200 403" "$(for k in "$reader" "$auditor" "$poster"; do status_of -H "Authorization: Bearer $k" "$URL/rooms/room-001"; echo; done | paste -sd' ')"
    is "403 403 200" "$(for k in "$reader" "$auditor" "$poster"; do status_of -H "Authorization: Bearer $k" -H 'Content-Type: application/json' -d '{"from":"engineer","type":"progress","body":"half"}' "$URL/rooms/room-001/messages"; echo; done | paste -sd' ')"
}

@test "a signed room says so, and the notes are approved when every role has signed" {
    project shop
    a_room room-001
    echo passed >.war-rooms/room-001/status
    send /rooms/room-001/signoff '{"from":"qa","body":"fine"}' >/dev/null
    send /rooms/room-001/signoff '{"from":"engineer","body":"fine"}' >/dev/null
    is "['qa', 'engineer'] []" "$(look /rooms/room-001 | json 'str(d["data"]["signed"]) + " " + str(d["data"]["unsigned"])')"
    has "$(<.war-rooms/RELEASE.md)" "Status: Approved"
}

@test "posts over HTTP and posts of the original's Python writer do not disturb each other" {
    project shop
    a_room room-001
    $PY - <<'PY' &
import fcntl, json, os, time
for i in range(100):
    with open('.war-rooms/room-001/channel.jsonl', 'a') as f:
        fcntl.flock(f.fileno(), fcntl.LOCK_EX)
        f.write(json.dumps({"v": 1, "id": f"py-progress-{time.time_ns()}-{os.getpid()}", "ts": "2026-04-03T11:19:34Z",
                            "from": "py", "to": "qa", "type": "progress", "ref": "EPIC-001", "body": "é" * 200}) + '\n')
        f.flush()
        fcntl.flock(f.fileno(), fcntl.LOCK_UN)
PY
    local n writer=$!
    for n in $(seq 30); do send /rooms/room-001/messages '{"from":"engineer","type":"progress","body":"here"}' >/dev/null; done
    wait $writer
    is "131 0" "$($PY -c 'import json; ok=[json.loads(l) for l in open(".war-rooms/room-001/channel.jsonl")]; print(len(ok), sum(m["v"] != 1 for m in ok))')"
}
