#!/usr/bin/env bats
# Old segments are dropped while a server runs that wrote its own lines first: what lasts is kept.
load ../lib/cli
load ../lib/serve

# Ends the segment, as its size would: the next writer does the rest.
rotate() {
    $PY -c 'import sys; sys.path.insert(0, sys.argv[1]); import storm; assert storm.rotate("home/signals")' "$BATS_TEST_DIRNAME/../checker"
}

# work N KEY: so many tasks, each acked by the key's owner.
work() {
    local id
    for _ in $(seq "$1"); do
        id=$(send /emit '{"signal_type":"task","to_identity":"bob"}' | json 'd["data"]["id"]')
        is acked "$(send /ack "{\"signal_id\":\"$id\"}" "$2" | json 'd["data"]["delivery_state"]')"
    done
}

# Whatever does not depend on signals, by the server.
answers() {
    for path in /identities /roles /rings /keys /v1/engine/signals/delayed; do
        look "$path" | json 'd["data"] if "data" in d else d["events"]'
    done
}

code_with() { # KEY
    curl -s -o /dev/null -w '%{http_code}' "$URL/roles" -H "Authorization: Bearer $1"
}

still_the_same() {
    is "$before" "$(answers)"
    is "200 200 401" "$(code_with "$KEY") $(code_with "$bob") $(code_with "$eve")"
    is clean "$("$CLIQ" hub check)"
}

@test "a server that was started first does not keep its log for ever" {
    bob=$(key_of bob)
    eve=$(key_of eve)
    send /roles '{"id":"dev"}' >/dev/null
    send /fills '{"identity":"bob","role":"dev"}' >/dev/null
    send /v1/engine/signals/delayed '{"type":"late","deliverAt":"+30d"}' >/dev/null
    work 8 "$bob"
    rotate
    send /keys/revoke "{\"id\":\"$("$CLIQ" key list --json | json "[k['id'] for k in d if k['identity']=='eve'][0]")\"}" >/dev/null
    work 4 "$bob"
    rotate
    send /emit '{"signal_type":"task","to_role":"dev","content":"waits"}' >/dev/null
    rotate
    work 4 "$bob"
    curl -sN "$URL/signals/stream?token=$KEY" >stream 3>&- &
    reader=$!
    before=$(answers)
    got hub compact --older-than 0s --json
    succeeds
    [ "$(json 'd["dropped_bytes"]' <"$T/out")" -gt 3000 ] || complain "$out"
    is "1 1" "$(ls home/signals | grep -c '^events-[0-9]') $(ls home/signals | grep -c '^events-kept-[0-9]*\.jsonl$')"
    still_the_same
    is 5 "$("$CLIQ" hub stats --json | json 'd["signals"]')"
    is waits "$(look /inbox/dev "$bob" | json '" ".join(s["content"] for s in d["data"])')"

    # The server and who listens go on; who asks for what is gone is told so.
    work 1 "$bob"
    until_true has_ids stream 1
    kill "$reader"
    curl -sN -m 5 "$URL/signals/stream?token=$KEY&since=0" >past 3>&- &
    reader=$!
    until_true has_ids past 7
    has "$(<past)" "event: reset"
    kill "$reader"

    # From the files alone it is the same, and another server says the same.
    "$CLIQ" hub rebuild >/dev/null
    still_the_same
    kill -KILL "$SERVER"
    wait "$SERVER" || true
    rm home/signals/index.db*
    boot
    still_the_same
    "$CLIQ" fsck home/signals/events*.jsonl >/dev/null

    # Once more, when what waited is over.
    id=$(send /claim '{}' "$bob" | json 'd["data"]["id"]')
    send /ack "{\"signal_id\":\"$id\"}" "$bob" >/dev/null
    rotate
    work 1 "$bob"
    got hub compact --older-than 0s
    succeeds
    is "1 1" "$(ls home/signals | grep -c '^events-[0-9]') $(ls home/signals | grep -c '^events-kept-')"
    still_the_same
    lacks "$(cat home/signals/events-kept-*)" '"identity":"eve"'
}

@test "a server drops old segments by itself after the time of the setting hub.retention" {
    bob=$(key_of bob)
    for _ in 1 2 3; do
        work 2 "$bob"
        rotate
    done
    work 1 "$bob"
    first() { "$CLIQ" hub stats | sed -n 's/^first_seq\t//p'; }
    kill "$SERVER"
    wait "$SERVER"
    boot # keeps all without the setting
    is 1 "$(first)"
    kill "$SERVER"
    wait "$SERVER"
    "$CLIQ" settings --global hub.retention 1ms
    before=$(first)
    boot
    is_dropped() { [ "$(first)" != "$before" ]; }
    until_true is_dropped
    until_true grep -q "bytes of old segments were dropped" errors
    work 2 "$bob"
    is clean "$("$CLIQ" hub check)"
    "$CLIQ" settings --info | grep -A2 hub.retention >/dev/null
}
