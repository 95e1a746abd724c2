#!/usr/bin/env bats
# The agents that ask a model over HTTP, with a scripted server that has the APIs of all vendors.
load ../lib/llm

@test "every API: an answer in pieces of three bytes becomes the handoff, with usage and cost" {
    server '{"chunk":3}'
    for a in $ALL; do
        rm -f .cliq/channels/*/handoff.json
        ask $a '"model":"gpt-4o"' || return
        completes || return
        is "Hello, wörld 🌍." "$(handoff 'd["text"]')"
        is "Hello, wörld 🌍." "$out"
        is "gpt-4o 160 20 $([ $a = ollama ] && echo 0 || echo 50)" "$(handoff '"{model} {input_tokens} {output_tokens} ".format(**d["data"]["usage"]) + str(d["data"]["usage"].get("cached_tokens", 0))')"
        case $a in claude-api) written=10 ;; openai-api | responses) written=40 ;; *) written=None ;; esac
        is $written "$(handoff 'd["data"]["usage"].get("cache_write_tokens")')"
        has "$signals" '"message":"15 characters: 160 in, 20 out, $0.000'
        handoff '0.0005 < d["data"]["usage"]["cost_usd"] < 0.001' | grep -qx True
    done
}

@test "identity and role are the system prompt, once; the rest is the question" {
    server '{}'
    for a in $ALL; do ask $a || return; done
    for n in 1 2 3 4 5; do
        is 1 "$(asked $n 'json.dumps(b).count("Be terse.")')"
        is 1 "$(asked $n 'json.dumps(b).count("## Your Task")')"
    done
    like "$(asked 1 'b["system"]')" '^You are the "write" phase of the team @local/shop'
    is "user" "$(asked 1 'b["messages"][0]["role"]')"
    is "system user" "$(asked 2 '" ".join(m["role"] for m in b["messages"])')"
    like "$(asked 3 'b["systemInstruction"]["parts"][0]["text"]')" 'Be terse'
    is "system user" "$(asked 4 '" ".join(m["role"] for m in b["messages"])')"
    like "$(asked 5 'b["instructions"]')" 'Be terse'
}

@test "model, max_tokens and temperature: of the phase, else of the settings, else the vendor's" {
    server '{}'
    ask claude-api
    is "claude-sonnet-4-20250514 32000 None" "$(asked 1 '" ".join(str(b.get(k)) for k in ("model","max_tokens","temperature"))')"
    ask openai-api '"max_tokens":"500","temperature":"0.30"' ',"model":"of-phase","phase_config":{"max_tokens":70}'
    is "of-phase 70 0.3" "$(asked 2 '" ".join(str(b.get(k)) for k in ("model","max_tokens","temperature"))')"
    ask gemini-api '"max_tokens":9'
    is "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse 9" "$(asked 3 'q["path"] + " " + str(b["generationConfig"]["maxOutputTokens"])')"
    ask ollama '"max_tokens":9,"temperature":1'
    is "9 1" "$(asked 4 '"%d %d" % (b["options"]["num_predict"], b["options"]["temperature"])')"
    ask responses '"max_tokens":9'
    is "gpt-4o 9 False" "$(asked 5 '" ".join(str(b.get(k)) for k in ("model","max_output_tokens","store"))')"
    ask claude-api '"temperature":"hot"'
    fails 'temperature of the phase, or the setting agents.claude-api.temperature, must be a number from 0 to 2'
    ask openai-api '"api":"soap"'
    fails 'must be chat or responses'
    ask claude-api '"max_tokens":0'
    fails 'must be a whole number, 1 or more'
}

@test "the key is the setting, else the variable; without one the answer says how to set it" {
    server '{"key":"sk-umwelt"}'
    ANTHROPIC_API_KEY=sk-umwelt ask claude-api '"api_key":""' && completes
    OPENAI_API_KEY=sk-umwelt ask openai-api '"api_key":""' && completes
    GEMINI_API_KEY=sk-umwelt ask gemini-api '"api_key":""' && completes
    ask claude-api && fails 'does not accept the API key (401: invalid x-api-key: ***)' 'agents.claude-api.api_key - --global' ANTHROPIC_API_KEY
    is 4 "$(n_asked)"
    ask openai-api '"api_key":""' && fails 'wants an API key (401'
    ask openai-api '"api_key":"","base_url":""'
    fails 'openai-api has no API key: run `cliq settings agents.openai-api.api_key - --global`, or set OPENAI_API_KEY'
    is 5 "$(n_asked)"
}

@test "the key is in no argument, file or line" {
    server '{"fault":"slow","text":"a long answer of a model"}'
    ask claude-api
    completes
    lacks "$(cat .cliq/signals/* .cliq/channels/*/* "$T/out" "$T/err")" geheim
}

@test "base URLs with and without /v1, and the forms of OLLAMA_HOST" {
    server '{}'
    went_to() { is "$1" "$(asked '$' 'q["path"]')"; }
    for u in "$URL" "$URL/" "$URL/v1" "$URL/v1/" "$URL/v1/chat/completions"; do
        ask openai-api "\"base_url\":\"$u\"" && completes && went_to /v1/chat/completions || return
    done
    for u in "$URL/" "$URL/v1" "$URL/v1/messages"; do
        ask claude-api "\"base_url\":\"$u\"" && completes && went_to /v1/messages || return
    done
    ask gemini-api "\"base_url\":\"$URL/v1beta/\"" && completes
    for u in "127.0.0.1:${URL##*:}" "0.0.0.0:${URL##*:}" ":${URL##*:}" "$URL" "$URL/api/"; do
        OLLAMA_HOST=$u ask ollama '"base_url":null' && completes || return
    done
}

@test "429 is waited for as Retry-After says, and a progress line says until when" {
    server '{"status":429,"type":"rate_limit_error","error":"slow down","after":1}' '{"status":529,"error":"Overloaded"}' '{}'
    ask claude-api
    completes
    is 3 "$(n_asked)"
    like "$signals" 'claude-api: too many requests \(429: slow down\): try again later; asking again at [0-9:]{8}'
    has "$signals" 'claude-api: the server is overloaded (529: Overloaded)'
}

@test "a wait of more than an hour is not waited for" {
    server '{"status":429,"error":"daily limit","after":7200}'
    ask claude-api
    fails 'too many requests (429: daily limit): try again later, in 120 minutes or more'
    is 1 "$(n_asked)"
}

@test "a wait that is longer than the phase's time is not waited for" {
    server '{"status":429,"error":"slow down","after":90}'
    ask openai-api "" ',"timeout_ms":60000'
    fails "too many requests (429: slow down): try again later, in 90 s at the earliest, and the phase's time limit comes in 60 s: raise its timeout"
    is 1 "$(n_asked)"
}

@test "an error of the server is asked again twice" {
    server '{"status":500,"error":"boom"}' '{"status":502,"error":"bad gateway"}' '{}'
    ask openai-api && completes
    is 3 "$(n_asked)"
    script '{"status":500,"error":"boom"}'
    ask ollama
    fails "ollama: $URL failed (500: boom): try again later"
    is 6 "$(n_asked)"
}

@test "every API: an error in the stream is told, or asked again when that can help" {
    server '{"fault":"stream"}'
    for a in $ALL; do
        rm -f "$T/requests"
        script '{"fault":"stream","error":"no answer to '$([ $a = ollama ] || echo sk-geheim)'"}'
        ask $a && fails '(in the stream: no answer to' || return
        is 1 "$(n_asked)"
    done
}

@test "an overload in the stream is waited for, and nothing of the first try is in the answer" {
    server '{"fault":"stream","text":"first try"}' '{"text":"second try"}'
    ask claude-api
    completes
    is "second try" "$(handoff 'd["text"]')"
    is "$(printf 'first\n[asking again]\nsecond try')" "$out"
}

@test "every API: an answer that is cut is asked for again, twice at most" {
    server '{}'
    for a in $ALL; do
        rm -f "$T/requests"
        script '{"fault":"cut"}'
        ask $a && fails 'the answer was cut 3 times, the last time after 5 characters: ' || return
        is 3 "$(n_asked)"
        has "$signals" 'the answer was cut after 5 characters' || return
    done
    script '{"fault":"ended"}'
    ask gemini-api && fails 'the answer was cut 3 times, the last time after 10 characters: the stream ended'
}

@test "a cut answer that comes whole the second time is the answer; both are paid for" {
    server '{"fault":"cut"}' '{}'
    ask claude-api
    completes
    is "Hello, wörld 🌍." "$(handoff 'd["text"]')"
    is "320 21 2" "$(handoff '"{input_tokens} {output_tokens} {turns}".format(**d["data"]["usage"])')"
}

@test "an event that is no JSON breaks the stream" {
    server '{"fault":"json"}'
    ask openai-api && fails 'the answer was cut 3 times' 'an event is not JSON'
}

@test "every API: half an emoji in an answer costs that character, not the answer" {
    server '{"text":"half \ud83d an emoji"}'
    for a in $ALL; do
        rm -f .cliq/channels/*/handoff.json
        ask $a || return
        completes || return
        is "half $(printf '\xef\xbf\xbd') an emoji" "$(handoff 'd["text"]')"
    done
    is 5 "$(n_asked)"
}

@test "silence ends a request" {
    server '{"fault":"silent"}' '{}'
    ask claude-api '"timeout":"1s"'
    completes
    has "$signals" 'nothing arrived for 1 s; asking again'
    script '{"fault":"mute"}'
    ask ollama '"timeout":"1s"'
    fails 'ollama: no answer in 3 tries: ' 'nothing arrived for 1 s'
}

@test "every API: an answer at its limit fails the phase and says what to raise; refusals are told" {
    server '{}'
    for a in $ALL; do
        script '{"stop":"length"}'
        ask $a && fails 'the answer reached its limit after 15 characters (' 'raise max_tokens of the phase' || return
        has "$signals" '"output_tokens":20' || return
        [ $a = ollama ] && continue
        script '{"stop":"refusal"}'
        ask $a && fails 'the model refused to answer' || return
    done
}

@test "what a model thought before its limit is counted, although it said nothing" {
    server '{"fault":"thoughts"}'
    ask gemini-api && fails 'the answer reached its limit after 0 characters (MAX_TOKENS)' || return
    has "$signals" '"input_tokens":160,"output_tokens":900' || return
}

@test "every API: an answer that ends for a reason of its own is the answer, and the reason is told" {
    server '{"stop":"odd"}'
    for a in $ALL; do
        [ $a = responses ] && continue
        ask $a && completes || return
        is "Hello, wörld 🌍." "$(handoff 'd["text"]')"
        has "$signals" 'the model stopped for a reason of its own (' || return
    done
}

@test "a long prompt costs what its vendor says" {
    server '{}'
    ask gemini-api '"model":"gemini-2.5-pro"' && completes || return
    handoff 'd["data"]["usage"]["cost_usd"] == round((110 * 1.25 + 50 * 0.125 + 20 * 10) / 1e6, 6)' | grep -qx True
}

@test "an unknown model, a prompt that is too long, no credit, a wrong path: one sentence each" {
    server '{"status":404,"type":"not_found_error","error":"model: gpt-9"}'
    ask claude-api '"model":"gpt-9"'
    fails 'the model gpt-9 is not known at' 'choose another with `model` of the phase, or `cliq settings agents.claude-api.model NAME`'
    script '{"status":404,"error":"model \"m\" not found, try pulling it first"}'
    ask ollama '"model":"m"'
    fails 'or get it: ollama pull m'
    script '{"status":400,"type":"invalid_request_error","error":"prompt is too long: 250000 tokens > 200000 maximum"}'
    ask claude-api
    fails 'the prompt is too long for claude-sonnet-4-20250514 (400: prompt is too long: 250000' 'larger context'
    script '{"status":429,"type":"insufficient_quota","error":"You exceeded your current quota"}'
    rm "$T/requests"
    ask openai-api
    fails 'the account has no credit left (429: You exceeded'
    is 1 "$(n_asked)"
    ask openai-api "\"base_url\":\"$URL/nowhere\""
    fails 'has no such API (404: Not Found): check the setting agents.openai-api.base_url'
    script '{"status":400,"error":"temperature is deprecated"}'
    ask gemini-api
    fails 'refused the request (400: temperature is deprecated)'
}

@test "a server that is not there: the sentence says what to check" {
    server '{}'
    ask ollama '"base_url":"http://127.0.0.1:1"'
    fails 'check the setting agents.ollama.base_url, or start the server: ollama serve'
}

@test "an answer of 20 MB arrives whole" {
    server '{"size":20000000,"text":"0123456789 "}'
    ask openai-api
    completes
    is 20000000 "$(handoff 'len(d["text"])')"
    like "$signals" '"message":"20,000,000 characters: '
}

@test "progress tells how much has arrived" {
    server '{"fault":"slow","text":"0123456789012345678901234567890123456789"}'
    ask claude-api
    completes
    like "$signals" '"message":"asking claude-sonnet-4-20250514: [0-9,]+ characters"'
    like "$signals" '"message":"[0-9]+ characters …"'
}

@test "a server that sends a whole document instead of a stream is understood" {
    server '{"fault":"whole"}'
    ask openai-api
    completes
    is "Hello, wörld 🌍." "$(handoff 'd["text"]')"
    is "Hello, wörld 🌍." "$out"
}

@test "every API: a gate passes, routes, and is asked again for a verdict in the same conversation" {
    PASS='"```json\n{\"verdict\":{\"outcome\":\"PASS\"},\"comment\":\"fine\"}\n```"'
    ROUTE='"No.\n```json\n{\"verdict\":{\"outcome\":\"ROUTE\",\"target\":\"back\"},\"comment\":\"add tests\"}\n```"'
    server '{}'
    for a in $ALL; do
        rm -f "$T/requests" .cliq/channels/*/handoff.json "$T/port"
        kill "$PID" && server '{"text":'"$PASS"'}' '{"text":'"$ROUTE"'}' '{"text":"Looks good to me."}' '{"text":'"$PASS"'}'
        ask $a '' "$GATE" && completes || return
        is PASS "$(handoff 'd["data"]["verdict"]["outcome"]')" || return
        ask $a '' "$GATE" && completes || return
        is "ROUTE add tests" "$(handoff 'd["data"]["verdict"]["outcome"] + " " + d["data"]["verdict"]["reason"]' back)" || return
        ask $a '' "$GATE" && completes || return
        has "$signals" 'asked again for a verdict' || return
        is "PASS 320" "$(handoff 'd["data"]["verdict"]["outcome"] + " " + str(d["data"]["usage"]["input_tokens"])')" || return
        has "$(asked 4 'json.dumps(b)')" "Looks good to me." || return
    done
}

@test "two unusable verdicts escalate with what was said" {
    server '{"text":"I cannot decide."}'
    ask claude-api '' "$GATE"
    completes
    has "$signals" '"outcome":"ESCALATE"'
    has "$signals" 'It said: I cannot decide.'
}

@test "ollama: the only model of the server is the default; the context grows with the prompt" {
    server '{"models":["llama3.2:latest"]}'
    ask ollama '"model":""'
    completes
    is "llama3.2:latest False" "$(asked 2 'b["model"] + " " + str("num_ctx" in b["options"])')"
    head -c 30000 /dev/zero | tr '\0' x >.cliq/req_spec.md
    ask ollama '"model":""'
    is 16384 "$(asked 4 'b["options"]["num_ctx"]')"
    script '{}'
    ask ollama '"model":""'
    fails 'no model is chosen' 'The server has: model-a, model-b'
    script '{"models":[]}'
    ask ollama '"model":""'
    fails 'the server has no model: get one, for example with: ollama pull'
}

@test "test messages: the key works and how many models there are, or why not" {
    server '{"key":"sk-geheim"}'
    probe() { # AGENT SETTINGS
        rm -f .cliq/signals/_test*
        printf '{"version":1,"type":"test","agent":"%s","signal_dir":"%s/.cliq/signals","settings":{%s},"payload":{"id":"t"}}' \
            "$1" "$P" "$2" >"$T/message"
        got agent "$1" <"$T/message"
        signals=$(cat .cliq/signals/_test*)
    }
    for a in claude-api openai-api gemini-api; do
        probe $a "\"base_url\":\"$URL\",\"api_key\":\"sk-geheim\""
        has "$signals" '"passed":true,"message":"the key works: 2 models at '"$URL" || return
        probe $a "\"base_url\":\"$URL\",\"api_key\":\"sk-falsch\""
        has "$signals" '"passed":false' && has "$signals" 'does not accept the API key' && lacks "$signals" sk-falsch || return
    done
    script '{}'
    probe ollama "\"base_url\":\"$URL\""
    has "$signals" '"message":"the server answers: 2 models at '
    probe ollama '"base_url":"http://127.0.0.1:1"'
    has "$signals" '"passed":false' && has "$signals" 'start the server: ollama serve'
    probe claude-api ''
    has "$signals" 'claude-api has no API key'
}

@test "a run: the work of one model is the question of the next; a gate sends it back; usage is summed" {
    local block='\n```json\n' end='\n```'
    server '{"text":"Draft one.'$block'{\"title\":\"A\"}'$end'"}' \
        '{"text":"No.'$block'{\"verdict\":{\"outcome\":\"ROUTE\",\"target\":\"write\"},\"comment\":\"be shorter\"}'$end'"}' \
        '{"text":"Draft two."}' '{"text":"Yes.'$block'{\"verdict\":{\"outcome\":\"PASS\"},\"comment\":\"good\"}'$end'"}'
    mkdir -p "$T/team/roles" && echo "You write." >"$T/team/roles/write.md" && echo "You judge." >"$T/team/roles/judge.md"
    cat >"$T/team/team.yml" <<'END'
name: "@local/two"
description: a model writes, another one judges
phases:
  - { name: write, agent: openai-api, model: gpt-4o, max_tokens: 500 }
  - { name: judge, type: gate, agent: claude-api, depends_on: [write] }
END
    rm -rf .cliq
    cliq init >/dev/null && cliq assemble "$T/team" >/dev/null 2>&1
    cliq settings agents.openai-api.base_url "$URL" && cliq settings agents.claude-api.base_url "$URL"
    cliq settings agents.openai-api.api_key sk-geheim && cliq settings agents.claude-api.api_key sk-geheim
    cliq req -m "Write a poem" >/dev/null
    got run --headless
    code_is 0
    is "500" "$(asked 1 'b["max_tokens"]')"
    has "$(asked 2 'b["messages"][0]["content"]')" "> Draft one."
    has "$(asked 3 'b["messages"][1]["content"]')" "be shorter"
    has "$(asked 3 'b["messages"][1]["content"]')" "## Your Previous Handoff"
    has "$(asked 3 'b["messages"][1]["content"]')" "> Draft one."
    lacks "$(asked 1 'json.dumps(b)')" "Your Previous Handoff"
    has "$(asked 4 'b["messages"][0]["content"]')" "> Draft two."
    is 4 "$(n_asked)"
    is 640 "$(cliq status --json | $PY -c 'import json,sys; print(json.load(sys.stdin)["usage"]["input_tokens"])')"
    lacks "$(cat .cliq/run/logs/* .cliq/run/journal.jsonl .cliq/signals/*)" geheim
}
