#!/usr/bin/env bats
# Who may read which signal: the same answer through every door of a server.
load ../lib/cli
load ../lib/serve

# The contents of the signals in an answer, or of the events of a stream, sorted.
said() { grep -oE '"content":"[a-z-]+"|"data":"[a-z-]+"' | sed 's/.*:"\(.*\)"/\1/' | sort -u | paste -sd' '; }

# A signal for each kind of address, from ann; its data is its content, for the broadcast API.
addresses='everyone role identity ring'
emit_all() {
    local what to
    for what in $addresses; do
        case $what in
        everyone) to= ;;
        role) to=',"to_role":"dev"' ;;
        identity) to=',"to_identity":"bob"' ;;
        ring) to=',"to_ring":"ops"' ;;
        esac
        send /emit "{\"signal_type\":\"note\",\"content\":\"to-$what\",\"payload\":\"to-$what\"$to}" "$ANN" |
            json 'd["data"]["id"]' >"id.$what"
    done
}

mcp() { # METHOD PARAMS KEY
    curl -sS "$URL/mcp" -H "Authorization: Bearer $3" -H 'Content-Type: application/json' \
        -d "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"$1\",\"params\":$2}"
}
# What a key reads through each door: the words of `said`.
through() { # DOOR KEY
    local what
    case $1 in
    list) look "/signals/list?limit=100" "$2" | said ;;
    get | history | thread)
        for what in $addresses; do
            case $1 in
            get) look "/signals/$(<"id.$what")" "$2" ;;
            thread) look "/thread/$(<"id.$what")" "$2" ;;
            history) look "/signals/$(<"id.$what")/history" "$2" | sed "s/\"op\":\"emit\"/\"content\":\"to-$what\"/" ;;
            esac
        done | said
        ;;
    inbox) # of everyone who has one: nobody reads more in another's inbox
        for what in dev @ @bob @mia @ann @sub; do look "/inbox/$what?view=history&limit=100" "$2"; done | said
        ;;
    mcp-thread | mcp-inbox)
        for what in $addresses; do
            case $1 in
            mcp-thread) mcp tools/call "{\"name\":\"thread\",\"arguments\":{\"id\":\"$(<"id.$what")\"}}" "$2" ;;
            mcp-inbox) for to in dev @ @bob @mia @ann; do mcp tools/call "{\"name\":\"inbox\",\"arguments\":{\"target\":\"$to\",\"view\":\"history\"}}" "$2"; done ;;
            esac
        done | tr -d '\\' | said
        ;;
    subscription) look "/inbox/@?view=history&limit=100" "$2" | said ;;
    events) look "/v1/engine/signals/events" "$2" | said ;;
    stream | engine-stream)
        local path=/signals/stream
        : >stream.out
        [ "$1" = stream ] || path=/v1/engine/events
        curl -sN "$URL$path?since=0" -H "Authorization: Bearer $2" >stream.out 2>&1 3>&- &
        local reader=$!
        until_true grep -q to-last stream.out
        kill "$reader" && wait "$reader" 2>/dev/null
        said <stream.out | sed 's/ to-last\|to-last //'
        ;;
    esac
}

@test "who may read: one answer through every door, for every address and every reader" {
    send /rings '{"id":"ops"}' >/dev/null
    send /roles '{"id":"dev"}' >/dev/null
    send /joins '{"identity":"mia","ring":"ops"}' >/dev/null
    ANN=$(key_of ann) BOB=$(key_of bob) MIA=$(key_of mia) EVE=$(key_of eve)
    EYE=$(key_of eye '["audit"]')
    for key in "$KEY" "$ANN" "$BOB" "$MIA" "$EVE"; do
        send /v1/engine/signals/subscribe '{"pattern":"note"}' "$key" >/dev/null
    done
    emit_all
    # the last line of the log is for everyone: a stream that has it has all that it gets
    send /emit '{"signal_type":"end","content":"to-last","payload":"to-last"}' >/dev/null
    all='to-everyone to-identity to-ring to-role'
    for reader in admin audit sender identity member stranger; do
        case $reader in
        admin) key=$KEY want=$all ;;
        audit) key=$EYE want=$all ;;
        sender) key=$ANN want=$all ;;
        identity) key=$BOB want='to-everyone to-identity to-role' ;;
        member) key=$MIA want='to-everyone to-ring to-role' ;;
        stranger) key=$EVE want='to-everyone to-role' ;;
        esac
        for door in list get history thread events stream engine-stream inbox subscription mcp-thread mcp-inbox; do
            case $door:$reader in
            subscription:sender | subscription:audit) continue ;; # no signal of one's own; no subscription
            esac
            got=$(through "$door" "$key" | sed 's/ to-last\|to-last //')
            is "$door $reader: $want" "$door $reader: $got"
        done
    done
    has "$(mcp resources/read '{"uri":"inbox://bob"}' "$BOB")" to-identity
    lacks "$(mcp resources/read '{"uri":"inbox://bob"}' "$EVE")" to-identity
}

@test "the scope audit reads and does nothing else; it is no default" {
    eye=$(key_of eye '["audit"]')
    code_of() { curl -sS -o body -w '%{http_code}' "$URL$1" -H "Authorization: Bearer $eye" "${@:2}"; }
    is 200 "$(code_of /signals/list)"
    is 200 "$(code_of /v1/engine/signals/subscriptions)"
    is 403 "$(code_of /emit -H 'Content-Type: application/json' -d '{"signal_type":"x"}')"
    is 403 "$(code_of /claim -H 'Content-Type: application/json' -d '{}')"
    is 403 "$(code_of /inbox/acknowledge -H 'Content-Type: application/json' -d '{"signal_id":"x"}')"
    is 403 "$(code_of /keys)"
    is "['emit', 'claim', 'ack', 'inbox', 'stream', 'teams', 'review']" "$(send /keys '{"identity":"x"}' | json 'd["data"]["scopes"]')"
}

@test "an admin streams a ring before it exists; others are told what lets them in" {
    curl -sN "$URL/signals/stream?ring=later" -H "Authorization: Bearer $KEY" >ring 3>&- &
    until_true grep -q connected ring
    send /rings '{"id":"later"}' >/dev/null
    send /emit '{"signal_type":"alert","content":"came","to_ring":"later"}' >/dev/null
    until_true grep -q '"content":"came"' ring
    kill -KILL $!
    eve=$(key_of eve)
    is 403 "$(curl -sS -o body -w '%{http_code}' "$URL/signals/stream?ring=later" -H "Authorization: Bearer $eve" --max-time 5)"
    has "$(<body)" "POST /joins"
    has "$(<body)" "cliq ring join later eve"
}
