#!/usr/bin/env bats
# POST /hooks/claude: HTTP hooks of Claude Code, answered by the server.
load ../lib/cli
load ../lib/serve

# hook EVENT [KEY]: its answer in $out, the status in $code.
hook() {
    code=$(curl -sS -o out -w '%{http_code}' "$URL/hooks/claude" -H "Authorization: Bearer ${2:-$KEY}" -H 'Content-Type: application/json' -d "$1")
    out=$(<out)
}
stop='{"hook_event_name":"Stop","stop_hook_active":false,"cwd":"/srv/shop"}'

@test "messages at the stop, leases before a write, life-cycle signals: the key says who" {
    ruby=$(key_of ruby)
    hook "$stop" "$ruby"
    is "200 {}" "$code $out"
    "$CLIQ" emit pulse "over HTTP" --to-identity ruby --as ann >/dev/null
    hook "${stop/false/true}" "$ruby"
    is "200 {}" "$code $out"
    hook "$stop" "$ruby"
    is block "$(json 'd["decision"]' <<<"$out")"
    has "$out" "over HTTP"
    hook "$stop" "$ruby"
    is "200 {}" "$code $out"
    git init -q shop
    (cd shop && "$CLIQ" lease take a.c --as bob >/dev/null)
    write='{"hook_event_name":"PreToolUse","tool_name":"Write","cwd":"'$PWD'/shop","tool_input":{"file_path":"'$PWD'/shop/a.c"}}'
    hook "$write" "$ruby"
    has "$(json 'd["hookSpecificOutput"]["permissionDecisionReason"]' <<<"$out")" "leased by bob until"
    hook "$write" "$(key_of bob)"
    is "200 {}" "$code $out"
    hook '{"hook_event_name":"SessionStart","source":"startup"}' "$ruby"
    is "200 {}" "$code $out"
    has "$("$CLIQ" signal events)" "agent:ruby:wake"
}

@test "what is no event lets the client go on; without a key, or its scope, nothing is told" {
    for text in '{}' '[1]' '{"hook_event_name":7}' 'rubbish' '{"hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"file_path":"/x/y"},"cwd":"/nowhere"}'; do
        hook "$text"
        is "200 {}" "$code $out"
    done
    hook "$stop" wrong
    is 401 "$code"
    hook "$stop" "$(key_of eve '["emit"]')"
    is 403 "$code"
    is 405 "$(curl -sS -o out -w '%{http_code}' "$URL/hooks/claude" -H "Authorization: Bearer $KEY")"
}
