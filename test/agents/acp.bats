#!/usr/bin/env bats
# The agents gemini-acp and opencode-acp: the real programs over the Agent Client Protocol, with a
# scripted model; and an agent made with the protocol's own SDK, which checks what we send.
load cases

export CLIENTS=${CLIENTS:-$AGENTS_CACHE/clients/node_modules}

agent_settings() { :; }

gemini() {
    AGENT=gemini-acp MODEL=gemini-2.5-flash PHASE_ENV='{GEMINI_CLI_NO_RELAUNCH: "true"}'
    export GEMINI_API_KEY=sk-fake-0123456789
    mkdir -p "$HOME/.gemini"
    echo '{"security":{"auth":{"selectedType":"gemini-api-key"}}}' >"$HOME/.gemini/settings.json"
}
# It asks only for what its own settings say.
opencode() { AGENT=opencode-acp MODEL=x/m PHASE_ENV='{OPENCODE_PURE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1"}'; }
# The model's URL is known when it listens.
point() {
    export GOOGLE_GEMINI_BASE_URL=$LLM
    export OPENCODE_CONFIG_CONTENT='{"permission":{"edit":"ask","bash":"ask"},"provider":{"x":{"npm":"@ai-sdk/openai-compatible","options":{"baseURL":"'$LLM/v1'","apiKey":"k"},"models":{"m":{}}}}}'
}
develop_acp() { # [FIELDS]
    develop "model: $MODEL${1:+, $1}"
    point
}
question() { "$CLIQ" inbox --type task --json | grep -o 'signal:[a-z0-9]*' | head -n 1; }
waits() { grep -q "waits for a person" "$STATE/signals/develop.jsonl" 2>/dev/null && [ -n "$(question)" ]; }

case_writes_through_us() {
    develop_acp
    script <<END
[{"turns":[{"write":"$T/proj/made.txt","content":"hi\n"},{"text":"I wrote it.\n\n\`\`\`json\n{\"file\":\"made.txt\"}\n\`\`\`"}]}]
END
    run_ok
    is hi "$(<made.txt)"
    has "$(lines_of develop)" "wrote $T/proj/made.txt (3 bytes)"
    has "$(phase_log develop)" "I wrote it."
    like "$(lines_of develop)" '"status":"complete".*"output_tokens":[0-9]'
}
case_writes_nothing_outside() {
    develop_acp
    script <<END
[{"turns":[{"write":"$T/outside.txt","content":"no\n"},{"text":"I could not."}]}]
END
    run_is "$1"
    [ ! -e "$T/outside.txt" ]
    like "$(lines_of develop)" "$2"
}
# Answers the question of the phase with `allow` or `reject`.
case_a_person_decides() {
    develop_acp "permissions: ask"
    script <<END
[{"turns":[{"write":"$T/proj/made.txt","content":"hi\n"},{"text":"That was it."}]}]
END
    start_run run
    until_true waits
    "$CLIQ" emit answer "$1" --parent "$(question)" --as ruby >/dev/null # not the one that is asked
    "$CLIQ" emit answer "$1" --parent "$(question)" >/dev/null
    wait "$PID" || true
}
case_is_cancelled() {
    develop_acp
    script <<'END'
[{"turns":[{"silence":true}]}]
END
    start_run run
    BOUND=90 until_true says "$T/llm/requests.jsonl" '"turn":0' # opencode starts in its own time on a busy machine
    "$CLIQ" cancel >/dev/null
    wait "$PID" || true
    status_is CANCELLED
    until_true no_acp_left
}
no_acp_left() { ! grep -lzs "^HOME=$HOME\$" /proc/[0-9]*/environ | while read -r f; do
    tr '\0' ' ' <"${f%environ}cmdline" 2>/dev/null; done | grep -qE -- "--acp|opencode acp"; }
# The gate runs this, and sends the work back the first time.
case_goes_on() { # COMMAND
    a_team <<END
phases:
  - {name: develop, agent: $AGENT, model: $MODEL}
  - name: review
    agent: checks
    type: gate
    depends_on: [develop]
    commands: [{name: twice, run: '[ -e once ] || { touch once; ${1:-:}; exit 1; }'}]
END
    point
    script <<'END'
[{"turns":[{"text":"The first try."},{"text":"The second try."}]}]
END
    run_ok
    has "$(lines_of develop)" "goes on with the conversation"
    has "$(asked '[json.dumps(r["body"]) for r in q if r["rule"] == 0][-1]')" "The first try."
    is "The second try." "$(json "$STATE/channels/develop--review/handoff.json" 'd["text"].strip()')"
}

@test "gemini over ACP writes through cliq" { gemini; case_writes_through_us; }
@test "gemini over ACP writes nothing outside" { gemini; case_writes_nothing_outside 0 'failed: .*outside'; }
@test "gemini over ACP: a person allows" {
    gemini
    case_a_person_decides "allow"
    is hi "$(<made.txt)"
}
@test "gemini over ACP is cancelled" { gemini; case_is_cancelled; }
# Its files of sessions are named by the minute: in the same minute it overwrites the one to load.
@test "gemini over ACP goes on with its conversation" {
    gemini
    case_goes_on 'for f in ~/.gemini/tmp/*/chats/session-*; do mv "$f" "${f%/*}/session-2026-01-01T00-00-${f##*-}"; done'
}
@test "opencode over ACP writes through cliq" { opencode; case_writes_through_us; }
@test "opencode over ACP writes nothing outside" { opencode; case_writes_nothing_outside 3 'is outside of the working directory'; }
@test "opencode over ACP: a person rejects" {
    opencode
    case_a_person_decides "no: not this file"
    [ ! -e made.txt ]
    has "$(lines_of develop)" "rejected: "
}
@test "opencode over ACP is cancelled" { opencode; case_is_cancelled; }
@test "opencode over ACP goes on with its conversation" { opencode; case_goes_on; }

# sdk_team [FIELDS]: one phase of the agent acp, whose command is acp_sdk.mjs.
sdk_team() {
    AGENT=acp
    develop "command: [node, '$ROOT/test/agents/acp_sdk.mjs', '$T/proj/made.txt', hello], env: {CLIENTS: '$CLIENTS'}${1:+, $1}"
}

@test "an agent of the protocol's own SDK takes all that cliq sends" {
    sdk_team
    run_ok
    is hello "$(<made.txt)"
    has "$(lines_of develop)" "plan: 0 of 1 done, now: write"
    has "$(phase_log develop)" "wc: 5 $T/proj/made.txt, false, 0 0. The answer was yes."
}

@test "an agent of the protocol's own SDK hears a rejection, and the end of a turn" {
    sdk_team "permissions: read"
    run_ok
    [ ! -e made.txt ]
    has "$(phase_log develop)" "The answer was no."
    sdk_team "permissions: ask"
    start_run run
    until_true waits
    "$CLIQ" cancel >/dev/null
    wait "$PID" || true
    status_is CANCELLED
}
