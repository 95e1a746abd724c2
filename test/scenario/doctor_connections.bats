#!/usr/bin/env bats
# cliq doctor asks agents to test their connections: a right key and a wrong one, no server, one that never answers,
# agents of people's own; side by side, and with nothing left behind.
load ../lib/cli

api() {
    start server "$PY" "$ROOT/test/scenario/doctor_server.py" "$T"
    until_true test -e "$T/port"
    URL=http://127.0.0.1:$(<"$T/port")
    export TMPDIR=$T/tmp
    mkdir -p "$TMPDIR"
    unset OPENAI_API_KEY OPENAI_BASE_URL ANTHROPIC_API_KEY
}
with() { # URL KEY: the settings of openai-api
    cliq settings agents.openai-api.base_url "$1" --global
    printf %s "$2" | cliq settings agents.openai-api.api_key - --global
}
left_nothing() { is "" "$(ls -A "$TMPDIR")"; }
# own NAME SCRIPT: an agent of one's own, installed
own() {
    local dir=$CLIQ_HOME/agents/$1
    mkdir -p "$dir"
    printf '{"name":"%s","version":"1.0.0","entry":"agent.sh","capabilities":["phase:standard","test"]}' "$1" >"$dir/manifest.json"
    printf '%s\n' "$2" >"$dir/agent.sh"
}
# What an agent of one's own answers to a test.
ANSWER='eval "$(printf "%s" "$(cat)" | sed -E "s/.*\"signal_dir\":\"([^\"]*)\".*/dir=\1/")"
say() { printf "{\"ts\":\"2026-01-01T00:00:00.000Z\",\"version\":1,\"type\":\"test\",\"status\":\"%s\",%s}\n" "$1" "$2" >>"$dir/_test-$CLIQ_AGENT-doctor.jsonl"; }'

@test "the right key passes; a wrong one, no server and no key are problems, and no key is shown" {
    api
    with "$URL/v1" sk-right
    got doctor agent openai-api
    succeeds
    has "$out" "connection... ✓ ("
    with "$URL/v1" sk-wrong-1234
    got doctor agent openai-api
    code_is 1
    has "$out" "connection... ✗"
    has "$out" 401
    lacks "$out" wrong-1234
    with http://127.0.0.1:1/v1 sk-right
    got doctor agent openai-api
    code_is 1
    has "$out" "connect to 127.0.0.1"
    cliq settings agents.openai-api.api_key --global --unset
    cliq settings agents.openai-api.base_url --global --unset # servers of your own may need no key
    got doctor agent openai-api
    code_is 1
    has "$out" "cliq settings agents.openai-api.api_key"
    left_nothing
}

@test "--offline asks nobody" {
    api
    with http://127.0.0.1:1/v1 sk-right
    got doctor agent openai-api --offline
    succeeds
    lacks "$out" connection
}

@test "a server that never answers ends at the time limit, and its agent with it" {
    api
    with "$URL/slow/v1" sk-right
    got doctor agent openai-api --timeout 300ms
    code_is 1
    has "$out" "no answer within 0.3 s"
    left_nothing
    got doctor agent openai-api --timeout 300ms --json
    code_is 1
    $PY -c 'import json,sys
c = [c for c in json.load(open(sys.argv[1]))["checks"] if c["name"] == "connection"]
assert len(c) == 1 and c[0]["level"] == "error" and c[0]["agent"] == "openai-api", c' "$T/out"
}

@test "an agent of one's own: it passes, it does not, it fails, it says nothing" {
    api
    own good "$ANSWER
say complete '\"result\":{\"passed\":true,\"message\":\"Connected to example API\"}'"
    own bad "$ANSWER
say complete '\"result\":{\"passed\":false,\"message\":\"Missing api_key in settings\"}'"
    own broken "$ANSWER
say error '\"error\":\"no route to host\"'"
    own mute 'echo "I cannot go on" >&2; exit 3'
    cliq settings default_agent good --global
    got doctor
    code_is 1
    has "$out" "  good... ✓ (installed: agent.sh)
    version... ✓ (1.0.0)
    connection... ✓ (Connected to example API)"
    has "$out" "connection... ✗ Missing api_key in settings"
    has "$out" "connection... ✗ no route to host"
    has "$out" "connection... ✗ the test gave no answer (exit code 3): I cannot go on"
    left_nothing
}

@test "connections are tested side by side: two agents that wait for each other both pass" {
    api
    mkfifo "$T/there" "$T/back"
    own one "$ANSWER
echo hello >$T/there; read -r x <$T/back
say complete '\"result\":{\"passed\":true,\"message\":\"met\"}'"
    own two "$ANSWER
read -r x <$T/there; echo hello >$T/back
say complete '\"result\":{\"passed\":true,\"message\":\"met\"}'"
    cliq settings default_agent one --global
    got doctor
    is 2 "$(grep -c 'connection... ✓ (met)' "$T/out")"
}

@test "a secret that an agent tells is hidden" {
    api
    own loud "$ANSWER
say complete '\"result\":{\"passed\":false,\"message\":\"the key geheim-4711 is wrong\"}'"
    printf geheim-4711 | cliq settings agents.loud.api_key - --global
    got doctor agent loud
    code_is 1
    has "$out" "the key *** is wrong"
    lacks "$out" geheim
}
