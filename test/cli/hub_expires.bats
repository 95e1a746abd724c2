#!/usr/bin/env bats
# Signals that expire: on files, by whichever command comes next; at a server, by itself.
load ../lib/cli
load ../lib/hub
load ../lib/serve

@test "a signal that has expired is told in its history, and a retry with the same key is the same" {
    kill "$SERVER"
    wait "$SERVER"
    id=$(cliq emit task soon --expires 300ms --dedup-key k --to-identity ann)
    kept=$(cliq emit task later --expires 1h --to-identity ann)
    is "$id" "$(cliq emit task soon --expires 300ms --dedup-key k --to-identity ann)"
    gone_now() { is "$kept" "$(cliq inbox @ann --json | field id)" 2>/dev/null; }
    until_true gone_now
    got claim "$id" --as ann
    refused 5 "its delivery_state is expired"
    got claim --as ann
    is "$kept" "$out"
    is "emit lapse" "$(cliq status-of "$id" --history --json | field op | paste -sd' ')"
    is "$id" "$(cliq signal list --delivery-state expired | cut -f1)"
    got emit task --expires soon
    refused 2 "--expires needs a time"
    got hub stats --json
    is 1 "$(field expired <"$T/out")"
    is clean "$(cliq hub check)"
}

@test "a server ends expired signals by itself, and streams nothing of it" {
    id=$(send /emit '{"signal_type":"task","expires_at":"+300ms"}' | json 'd["data"]["id"]')
    is_expired() { [ "$(look "/signals/$id" | json 'd["data"]["delivery_state"]')" = expired ]; }
    until_true is_expired
    is "emit lapse" "$(look "/signals/$id/history" | json '" ".join(t["op"] for t in d["data"])')"
    is 400 "$(curl -s -o body -w '%{http_code}' -X POST "$URL/emit" -H "Authorization: Bearer $KEY" \
        -H "Content-Type: application/json" -d '{"signal_type":"task","expires_at":"2020-01-01T00:00:00Z"}')"
    has "$(<body)" "expires_at must be in the future"
}
