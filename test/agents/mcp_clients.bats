#!/usr/bin/env bats
# cliq's MCP server with the protocol's own programs (tools/deps agents): the client library in each way to agree on a
# version, the inspector, and the conformance runner; over standard input and output, and over HTTP.
load ../lib/cli
load ../lib/serve

cache=${CLIQ_AGENTS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/cliq-agents}
export CLIENTS=$cache/clients/node_modules PATH=$cache/bin:$PATH

sdk() { timeout 100 node "$ROOT/test/agents/mcp_sdk.mjs" "$@" >"$T/said" 2>"$T/complained" || { tail -5 "$T/complained" >&2; return 1; }; }
holds() { # VERSION [WHAT CHANGED]
    $PY - "$T/said" "$1" "${2:-the inbox}" <<'PY'
import json, sys
d = json.load(open(sys.argv[1]))
assert d["version"] == sys.argv[2] and d["server"] == "cliq", d
assert d["found"] and d["is_error"] and d["read"] and d["unknown"] == -32602, d
assert len(d["tools"]) == 15 and "lease" in d["tools"] and d["prompts"] == ["inbox", "handoff"], d
assert d["resources"] >= 1 and d["templates"] == 3 and d["prompt"] >= 1, d
assert d["changed"] == sys.argv[3], d
PY
}

@test "the client library, legacy, modern and auto, over standard input and output" {
    sdk legacy "$CLIQ" && holds 2025-11-25
    sdk modern "$CLIQ" && holds 2026-07-28
    sdk auto "$CLIQ" && holds 2026-07-28
}

@test "the client library, legacy, modern and auto, over HTTP" {
    sdk legacy "$URL/mcp" "$KEY" && holds 2025-11-25 "never told" # not offered to the old era over HTTP
    sdk modern "$URL/mcp" "$KEY" && holds 2026-07-28
    sdk auto "$URL/mcp" "$KEY" && holds 2026-07-28
}

# It hands its server no variables but those that it is told.
inspect() { timeout 100 "$CLIENTS/.bin/mcp-inspector" --cli -e "CLIQ_HOME=$CLIQ_HOME" "$CLIQ" mcp "$@" >"$T/said" 2>"$T/complained" || { tail -5 "$T/complained" >&2; return 1; }; }

@test "the inspector, strict: lists, and a call" {
    inspect --method tools/list --strict
    is 15 "$($PY -c 'import json, sys; print(len(json.load(open(sys.argv[1]))["tools"]))' "$T/said")"
    inspect --method resources/list
    inspect --method prompts/list
    inspect --method tools/call --tool-name generate_signal --tool-arg type=build:web:done
    has "$(<"$T/said")" "build:web:done"
    has "$("$CLIQ" signal events)" build:web:done
}

# conform RUNNER SCENARIO...: through a port that adds the key, which the runner has no place for.
conform() {
    local runner=@modelcontextprotocol/conformance s
    [ "$1" = legacy ] || runner=conformance-next
    [ -s "$T/port" ] || {
        node "$ROOT/test/agents/mcp_sdk.mjs" proxy "$URL" "$KEY" >"$T/port" 3>&- &
        PIDS+=($!)
        until_true test -s "$T/port"
    }
    for s in "${@:2}"; do
        timeout 100 node "$CLIENTS/$runner/dist/index.js" server --url "http://127.0.0.1:$(<"$T/port")/mcp" $([ "$1" = legacy ] || echo --spec-version 2026-07-28) --scenario "$s" >"$T/said" 2>&1 ||
            { echo "$s:" >&2 && grep -E "Passed|Error" "$T/said" >&2; return 1; }
    done
}

# The other scenarios ask for tools, resources and prompts of a test server (test_simple_text, …), for completion and
# logging, which cliq does not offer, or for resources/subscribe over HTTP, which it offers over standard input and output
# only. server-stateless is 24 of 28: the other four need tools of a test server.
@test "the conformance runner: what applies to a server of both eras" {
    conform legacy server-initialize ping tools-list resources-list prompts-list dns-rebinding-protection
    conform modern tools-list resources-list sep-2164-resource-not-found prompts-list dns-rebinding-protection caching http-header-validation
    conform modern server-stateless || true
    has "$(sed 's/\x1b\[[0-9;]*m//g' "$T/said")" "Passed: 24/28"
    is 0 "$(sed 's/\x1b\[[0-9;]*m//g' "$T/said" | grep "    Error:" | grep -cv "Not testable: server does not list" || true)"
}
