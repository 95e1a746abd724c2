#!/usr/bin/env bats
# The vendors' own libraries (tools/deps agents) talk to the scripted server that test/scenario/llm.bats uses. So what the
# server sends is what the vendors' clients understand, and what our agents send is what those clients send.
load ../lib/llm

CLIENTS=${CLIQ_AGENTS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/cliq-agents}/clients/node_modules
export CLIENTS

sdk() { node "$ROOT/test/agents/llm_sdks.mjs" "$1" "$URL" >"$T/said" 2>"$T/complained" || { cat "$T/complained" >&2; return 1; }; }
said() { $PY -c 'import json,sys
s=json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$T/said" "$1"; }

@test "every library reads the server's streams as our agents do" {
    server '{"chunk":5}'
    for a in $ALL; do
        sdk $a || return
        is "Hello, wörld 🌍. 160 20 $([ $a = ollama ] && echo 0 || echo 50)" "$(said '"{text} {in} {out} {cached}".format(**s)')" || return
    done
}

@test "every library is told that an answer reached its limit" {
    server '{"stop":"length"}'
    for a in $ALL; do
        sdk $a || return
        like "$(said 's["stop"]')" '^(max_tokens|length|incomplete|MAX_TOKENS)$' || return
    done
}

@test "every library takes the server's errors for its vendor's" {
    server '{"status":429,"type":"rate_limit_error","error":"slow down"}'
    for a in $ALL; do
        sdk $a || return
        is 429 "$(said 's["status"]')" && has "$(said 's["message"]')" "slow down" || return
    done
    script '{"key":"sk-other"}'
    for a in claude-api openai-api responses gemini-api; do
        sdk $a && is 401 "$(said 's["status"]')" || return
    done
}

@test "every library sees an error in the middle of a stream" {
    server '{"fault":"stream","error":"broke down"}'
    for a in $ALL; do
        sdk $a && has "$(said 's["message"]')" "broke down" || return
    done
}

@test "our agents send to the same path, with the same headers, what the libraries send" {
    server '{}'
    for a in $ALL; do
        rm -f "$T/requests"
        sdk $a && ask $a '"model":"m"'"$([ $a = ollama ] || echo ',"api_key":"sk-sdk"')" && completes || return
        is "$(asked 1 'q["path"]')" "$(asked 2 'q["path"]')" || return
        # claude-api asks for the version 2023-06-01 of the API, whose key is in another header
        for h in $([ $a = claude-api ] || echo authorization x-goog-api-key) content-type; do
            is "$(asked 1 "q['headers'].get('$h')")" "$(asked 2 "q['headers'].get('$h')")" || return
        done
        # every member that the library sends, ours has; of the questions, the same members
        is "[]" "$(asked 1 '[k for k in b if k not in json.loads(open("'"$T"'/requests").read().splitlines()[1])["body"]]')" || return
    done
}
