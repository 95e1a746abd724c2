#!/usr/bin/env bats
# POST /mcp: the tools over HTTP, behind the gate of every route.
load ../lib/cli
load ../lib/serve

# ask METHOD PARAMS [KEY [CURL-OPTION...]]: a legacy message; the answer stands in $out, its status in $code.
ask() {
    code=$(curl -sS -o out -w '%{http_code}' "$URL/mcp" -H "Authorization: Bearer ${3:-$KEY}" -H 'Content-Type: application/json' \
        "${@:4}" -d "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"$1\",\"params\":$2}")
    out=$(<out)
}
# tool NAME ARGUMENTS [KEY]: the text of its answer.
tool() {
    ask tools/call "{\"name\":\"$1\",\"arguments\":$2}" "${3:-$KEY}"
    is 200 "$code"
    json 'd["result"]["content"][0]["text"]' <<<"$out"
}
MODERN='"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}'

@test "tools, resources and prompts in both eras; the key says who" {
    ask initialize '{"protocolVersion":"2025-06-18","capabilities":{}}'
    is "200 2025-06-18" "$code $(json 'd["result"]["protocolVersion"]' <<<"$out")"
    ruby=$(key_of ruby)
    text=$(tool emit '{"signal_type":"task","content":"x","to_identity":"ruby","urgency":0.9}' "$ruby")
    id=$(json 'd["id"]' <<<"$text")
    is ruby "$(json 'd["from_identity"]' <<<"$text")"
    is "$id" "$(tool inbox '{}' "$ruby" | json 'd["signals"][0]["id"]')"
    is "$id" "$(tool claim '{"role":null}' "$ruby" | json 'd["id"]')"
    is "done acked" "$(tool ack "{\"signal_id\":\"$id\",\"task_status\":\"done\"}" "$ruby" | json 'd["task_status"]+" "+d["delivery_state"]')"
    is null "$(tool claim '{"wait_seconds":1}' "$ruby")"
    ask resources/read '{"uri":"inbox://ruby"}' "$ruby"
    has "$out" '"contents":[{"uri":"inbox://ruby"'
    ask prompts/get '{"name":"inbox"}' "$ruby"
    has "$out" '"role":"user"'
    ask server/discover "{$MODERN}" "$KEY" -H 'MCP-Protocol-Version: 2026-07-28' -H 'Mcp-Method: server/discover'
    is "200 complete" "$code $(json 'd["result"]["resultType"]' <<<"$out")"
    ask tools/call "{\"name\":\"inbox\",$MODERN}" "$ruby" -H 'MCP-Protocol-Version: 2026-07-28' -H 'Mcp-Method: tools/call' -H 'Mcp-Name: inbox'
    is "200 complete" "$code $(json 'd["result"]["resultType"]' <<<"$out")"
    ask nonsense '{}'
    is "200 -32601" "$code $(json 'd["error"]["code"]' <<<"$out")"
    ask nonsense "{$MODERN}" "$KEY" -H 'MCP-Protocol-Version: 2026-07-28' -H 'Mcp-Method: nonsense'
    is "404 -32601" "$code $(json 'd["error"]["code"]' <<<"$out")"
}

@test "rooms and the pipeline are those where the server runs, for keys with the scope" {
    id=$(tool room_post '{"room":"r1","from":"engineer","to":"qa","type":"done","ref":"E-1","body":"built"}' | json 'd["id"]')
    is "$id" "$(field_of_channel)"
    is built "$(tool room_read '{"room":"r1"}' | json 'd["messages"][0]["body"]')"
    ask resources/list '{}'
    is "inbox://admin room://r1" "$(json '" ".join(r["uri"] for r in d["result"]["resources"])' <<<"$out")"
    has "$(tool pipeline_status '{}')" "cliq init"
    plain=$(key_of eve)
    has "$(tool room_read '{"room":"r1"}' "$plain")" "needs the scope audit"
    only=$(key_of bob '["inbox"]')
    has "$(tool emit '{"signal_type":"pulse"}' "$only")" "needs the scope emit"
    is '{"signals":[]}' "$(tool inbox '{}' "$only")"
    has "$(tool lease '{"action":"list"}' "$only")" '{"leases":[]}'
    has "$(tool lease '{"action":"take","paths":["a"]}' "$only")" "needs the scope claim"
    is "a admin" "$(tool lease '{"action":"take","paths":["a"]}' | json '" ".join((d["leases"][0]["path"], d["leases"][0]["holder"]))')"
    has "$(tool lease '{"action":"take","paths":["a"]}' "$plain")" "a is leased by admin until"
    has "$(tool lease '{"action":"take","paths":["../a"]}')" "outside"
}
field_of_channel() { python3 -c 'import json; print(json.loads(open(".war-rooms/r1/channel.jsonl").readline())["id"])'; }

@test "the gate: key, Origin, Host, kind of body, size, method, headers that differ from the message" {
    status() { curl -sS -o out -w '%{http_code}' "$@"; }
    body='{"jsonrpc":"2.0","id":1,"method":"ping"}'
    is 401 "$(status "$URL/mcp" -H 'Content-Type: application/json' -d "$body")"
    is 401 "$(status "$URL/mcp" -H 'Content-Type: application/json' -H 'Authorization: Bearer cho_x' -d "$body")"
    auth=(-H "Authorization: Bearer $KEY" -H 'Content-Type: application/json')
    is 200 "$(status "$URL/mcp" "${auth[@]}" -d "$body")"
    is 403 "$(status "$URL/mcp" "${auth[@]}" -H 'Origin: http://evil.example' -d "$body")"
    is 421 "$(status "$URL/mcp" "${auth[@]}" -H 'Host: evil.example' -d "$body")"
    is 415 "$(status "$URL/mcp" -H "Authorization: Bearer $KEY" -H 'Content-Type: text/plain' -d "$body")"
    is 405 "$(status "$URL/mcp" "${auth[@]}")" # a GET
    is 405 "$(status -X DELETE "$URL/mcp" "${auth[@]}")"
    python3 -c 'print("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"" + "x" * (2 << 20) + "\"}")' >large
    is 413 "$(status "$URL/mcp" "${auth[@]}" -d @large)"
    is 202 "$(status "$URL/mcp" "${auth[@]}" -d '{"jsonrpc":"2.0","method":"notifications/initialized"}')"
    [ ! -s out ]
    is 400 "$(status "$URL/mcp" "${auth[@]}" -d '{')"
    is -32700 "$(json 'd["error"]["code"]' <out)"
    is 400 "$(status "$URL/mcp" "${auth[@]}" -d "[$body]")"
    is -32600 "$(json 'd["error"]["code"]' <out)"
    v='MCP-Protocol-Version: 2026-07-28'
    ask tools/call "{\"name\":\"inbox\",$MODERN}" "$KEY" -H "$v" -H 'Mcp-Method: tools/call' -H 'Mcp-Name: emit'
    is "400 -32020" "$code $(json 'd["error"]["code"]' <<<"$out")"
    ask tools/call "{\"name\":\"inbox\",$MODERN}" "$KEY" -H "$v" -H 'Mcp-Name: inbox'
    is "400 -32020" "$code $(json 'd["error"]["code"]' <<<"$out")"
    ask tools/list "{$MODERN}" "$KEY" -H 'Mcp-Method: tools/list'
    is "400 -32020" "$code $(json 'd["error"]["code"]' <<<"$out")"
    ask tools/list '{}' "$KEY" -H "$v" # no version in the message is a bad message
    is "400 -32602" "$code $(json 'd["error"]["code"]' <<<"$out")"
    ask tools/list '{"_meta":{"io.modelcontextprotocol/protocolVersion":"1900-01-01"}}' "$KEY" -H 'MCP-Protocol-Version: 1900-01-01' -H 'Mcp-Method: tools/list'
    is "400 -32022" "$code $(json 'd["error"]["code"]' <<<"$out")"
}

@test "a claim that waits holds up nothing; a task that comes for a client that is gone goes to another" {
    ruby=$(key_of ruby)
    call='{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"claim","arguments":{"wait_seconds":30}}}'
    curl -sS "$URL/mcp" -H "Authorization: Bearer $ruby" -H 'Content-Type: application/json' -d "$call" >waited &
    waiter=$!
    until_true waits 1
    is '{"signals":[]}' "$(tool inbox '{}')"
    id=$(tool emit '{"signal_type":"task","to_identity":"ruby"}' | json 'd["id"]')
    wait $waiter
    has "$(<waited)" "$id"
    curl -sS "$URL/mcp" -H "Authorization: Bearer $ruby" -H 'Content-Type: application/json' -d "$call" >waited &
    waiter=$!
    until_true waits 1
    kill -KILL $waiter
    wait $waiter 2>/dev/null || true
    until_true waits 0
    id=$(tool emit '{"signal_type":"task","to_identity":"ruby"}' | json 'd["id"]')
    is "$id" "$(tool claim '{}' "$ruby" | json 'd["id"]')"
    curl -sS "$URL/mcp" -H "Authorization: Bearer $ruby" -H 'Content-Type: application/json' -d "$call" -o waited -w '%{http_code}' >status &
    waiter=$!
    until_true waits 1
    "$CLIQ" key revoke "$("$CLIQ" key list --json | json '[k["id"] for k in d if k["identity"]=="ruby"][0]')" >/dev/null
    wait $waiter
    is 401 "$(<status)"
}
waits() { metric_is claims_waiting "$1"; }

# listen PARAMS [KEY]: begins subscriptions/listen; its events come to the file events, its process is $!.
listen() {
    curl -sSN "$URL/mcp" -H "Authorization: Bearer ${2:-$KEY}" -H 'Content-Type: application/json' -H 'MCP-Protocol-Version: 2026-07-28' -H 'Mcp-Method: subscriptions/listen' \
        -d "{\"jsonrpc\":\"2.0\",\"id\":\"sub-7\",\"method\":\"subscriptions/listen\",\"params\":{$1,$MODERN}}" >events 2>&1 3>&- &
    PIDS+=($!)
    until_true grep -q acknowledged events
}
# told WHAT N: the stream has N events about it.
told() { [ "$(grep -c "^data: .*resources/updated.*$1" events)" = "$2" ]; }

@test "subscriptions/listen: a stream of changes of one's own inbox, of rooms and handoffs for keys that may read them" {
    ask server/discover "{$MODERN}" "$KEY" -H 'MCP-Protocol-Version: 2026-07-28' -H 'Mcp-Method: server/discover'
    has "$out" '"resources":{"subscribe":true}'
    tool room_post '{"room":"r1","from":"engineer","to":"qa","type":"done","ref":"E-1","body":"one"}' >/dev/null
    ruby=$(key_of ruby)
    eve=$(key_of eve)
    uris='"notifications":{"resourceSubscriptions":["inbox://ruby","inbox://admin","room://r1","nonsense://x",""]}'
    listen "$uris"
    is '["inbox://admin", "room://r1"]' "$(sed -n 's/^data: //p' events | head -1 | json 'json.dumps(d["params"]["notifications"]["resourceSubscriptions"])')"
    is sub-7 "$(sed -n 's/^data: //p' events | head -1 | json 'd["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"]')"
    tool emit '{"signal_type":"pulse","to_identity":"ruby"}' >/dev/null # not in the admin's inbox, though it may read it
    tool emit '{"signal_type":"pulse","to_identity":"admin"}' "$eve" >/dev/null
    until_true told inbox://admin 1
    echo '{"v":1,"from":"ann","to":"qa","type":"done","ref":"E-1","body":"by hand"}' >>.war-rooms/r1/channel.jsonl
    until_true told room://r1 1
    is sub-7 "$(sed -n 's/^data: //p' events | tail -1 | json 'd["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"]')"
    lacks "$(<events)" "id: "
    kill -KILL "${PIDS[-1]}"
    until_true streams 0
    listen "$uris" "$ruby" # no scope to read the project
    is '["inbox://ruby"]' "$(sed -n 's/^data: //p' events | head -1 | json 'json.dumps(d["params"]["notifications"]["resourceSubscriptions"])')"
    tool emit '{"signal_type":"pulse","to_identity":"ruby"}' >/dev/null
    until_true told inbox://ruby 1
    "$CLIQ" key revoke "$("$CLIQ" key list --json | json '[k["id"] for k in d if k["identity"]=="ruby"][0]')" >/dev/null
    wait "${PIDS[-1]}" || true
    has "$(<events)" ": the key was revoked"
    listen '"notifications":{}' # nothing: a stream that only lives
    "$CLIQ" emit pulse --to-identity admin --as eve >/dev/null
    until_true streams 1
    lacks "$(<events)" updated
}
streams() { metric_is stream_clients "$1"; }
