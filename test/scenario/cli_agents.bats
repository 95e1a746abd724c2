#!/usr/bin/env bats
# The frame of the CLI agents, with stand-ins that print what Cursor's agent documents. The real
# programs of the other agents are in test/agents.
load pipeline

# program NAME < SH: a stand-in on PATH. $N counts its calls. say TEXT, tool NAME PATH, final TEXT.
program() {
    mkdir -p "$T/bin"
    {
        printf '#!/bin/sh\nT=%s NAP=%s\n' "$T" "$NAP"
        cat <<'END'
[ "$1" != --version ] || { echo 2026.11.01-abc; exit; }
[ "$1" != --help ] || { cat "$T/help" 2>/dev/null; exit; }
echo x >>"$T/calls"
N=$(wc -l <"$T/calls")
printf '%s\n' "$@" >"$T/args.$N"
env >"$T/env.$N"
id='"session_id":"chat-1"'
say() { printf '{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"%s"}]},%s}\n' "$1" "$id"; }
tool() { printf '{"type":"tool_call","subtype":"started","call_id":"c","tool_call":{"%sToolCall":{"args":{"path":"%s"}}},%s}\n' "$1" "$2" "$id"; }
final() { printf '{"type":"result","subtype":"success","duration_ms":12,"is_error":false,"result":"%s",%s}\n' "$1" "$id"; }
printf '{"type":"system","subtype":"init","apiKeySource":"env","cwd":"%s","model":"auto","permissionMode":"default",%s}\n' "$PWD" "$id"
END
        cat
    } >"$T/bin/$1"
    chmod +x "$T/bin/$1"
    export PATH=$T/bin:$PATH
}
roles() {
    mkdir -p "$T/team/roles"
    for p; do echo "You are $p, and do what is asked." >"$T/team/roles/$p.md"; done
}
develop() { # MORE FIELDS
    roles develop
    team <<<"phases:
  - {name: develop, agent: cursor${1:+, $1}}"
}
lines_of() { cat "$STATE/signals/$1.jsonl"; }

@test "an answer is the handoff; tools and words are progress" {
    program agent <<'END'
tool write src/a.c
say 'I wrote it.'
final 'I wrote it.'
END
    roles develop review
    team <<'END'
phases:
  - {name: develop, agent: cursor, model: gpt-5, args: [--browser]}
  - {name: next, agent: exec, depends_on: [develop], commands: [{name: c, run: 'echo "$(handoff.develop.text)"'}]}
END
    run_ok
    like "$(lines_of develop)" '"message":"write src/a.c"'
    like "$(<"$STATE/run/logs/develop.1.log")" 'I wrote it.'
    has "$(<"$STATE/channels/develop--next/handoff.json")" '"text": "I wrote it."'
    has "$(paste -sd' ' "$T/args.1")" '-p --output-format stream-json --force --model gpt-5 --browser'
    has "$(<"$T/args.1")" "You are develop"
}

@test "progress arrives while the program works" {
    hold go
    program agent <<'END'
tool read README.md
[ ! -p "$T/go" ] || read -r _ <"$T/go"
say done
final done
END
    develop
    start_run run
    until_true says .cliq/signals/develop.jsonl 'read README.md'
    release go
    ended run "$PID"
    code_is 0
}

@test "a conversation is continued when work is sent back" {
    program agent <<'END'
say "try $N"
final "try $N"
END
    roles develop
    agent judge <<'END'
ok
case $N in 1) verdict ROUTE develop again ;; *) verdict PASS '' fine ;; esac
END
    team <<'END'
phases:
  - {name: develop, agent: cursor}
  - {name: review, agent: judge, type: gate, depends_on: [develop]}
END
    run_ok
    lacks "$(<"$T/args.1")" --resume
    has "$(paste -sd' ' "$T/args.2")" '--resume chat-1'
}

@test "a program that hangs after its last event is stopped, and its answer counts" {
    program agent <<'END'
say fine
final fine
sleep "$NAP"
END
    develop
    run_ok
    none_left
}

@test "a hundred megabytes of output cost less than sixteen" {
    ! grep -q __asan_init "$CLIQ" || skip "sanitizers take memory as they like"
    program agent <<'END'
head -c 50000000 /dev/zero | tr '\0' 'x' | fold -w 1000
echo
head -c 50000000 /dev/zero | tr '\0' 'y'
echo
say 'much was said'
final 'much was said'
sed -n 's/VmHWM:[^0-9]*\([0-9]*\).*/\1/p' /proc/$PPID/status >"$T/peak"
END
    develop
    run_ok
    [ "$(stat -c %s "$STATE/run/logs/develop.1.raw")" -gt 100000000 ]
    [ "$(<"$T/peak")" -lt 16384 ]
    has "$(tail -c 300 "$STATE/run/logs/develop.1.log")" 'much was said'
    has "$(tail -c 300 "$STATE/run/logs/develop.1.log")" 'a line of 50000000 bytes'
}

@test "a hundred megabytes of events, and of lines of many small values, cost less than sixteen" {
    ! grep -q __asan_init "$CLIQ" || skip "sanitizers take memory as they like"
    program agent <<'END'
awk 'BEGIN {
    text = sprintf("%2000s", ""); gsub(/ /, "x", text)
    for (i = 0; i < 30000; i++)
        printf "{\"type\":\"assistant\",\"message\":{\"id\":\"m%d\",\"model\":\"m\",\"content\":[{\"type\":\"text\",\"text\":\"%s\"}],\"usage\":{\"input_tokens\":%d,\"output_tokens\":2,\"cache_read_input_tokens\":1}}}\n", i, text, i + 1
    while (length(list) < 1900000) list = list "[[]],[[]],[[]],[[]],[[]],[[]],[[]],[[]]," list
    for (i = 0; i < 20; i++)
        printf "{\"type\":\"user\",\"message\":{\"content\":[%s1]}}\n", substr(list, 1, 1899996)
}'
final 'much was said'
sed -n 's/VmHWM:[^0-9]*\([0-9]*\).*/\1/p' /proc/$PPID/status >"$T/peak"
END
    develop
    run_ok
    [ "$(stat -c %s "$STATE/run/logs/develop.1.raw")" -gt 100000000 ]
    [ "$(<"$T/peak")" -lt 16384 ]
    has "$(tail -c 300 "$STATE/run/logs/develop.1.log")" 'bytes is in the raw stream only)'
}

@test "a program that repeats itself fills neither the run's files nor the hub" {
    program agent <<'END'
i=0
while [ $i -lt 20000 ]; do i=$((i + 1)); echo '{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"again"}]}}'; done
final again
END
    develop
    run_ok
    n=$(grep -c '"again"' "$STATE/signals/develop.jsonl")
    [ "$n" -ge 50 ] && [ "$n" -le 5000 ] # 50 a second
    is 20000 "$(grep -c '^again$' "$STATE/run/logs/develop.1.log")"
}

@test "a flood of an agent's own lines stays its own: the run tells a hundred a second" {
    agent loud <<'END'
i=0
while [ $i -lt 5000 ]; do i=$((i + 1)); echo '{"version":1,"type":"phase","status":"progress","message":"mine"}'; done >>"$S"
progress last
complete
END
    team <<<"phases:
  - {name: develop, agent: loud}"
    run_ok
    n=$(grep -c mine "$STATE/orchestrator.log")
    [ "$n" -ge 100 ] && [ "$n" -le 4000 ]
    is 5000 "$(grep -c mine "$STATE/signals/develop.jsonl")"
    is "$n" "$("$CLIQ" signal events --limit 1000 | grep -c mine)" || [ "$n" -gt 900 ]
}

# Codex tells its usage only at the end of a turn. What it writes down is read beside its stream.
@test "a budget stops codex in the middle of a turn; a continued conversation counts what came on top" {
    export CODEX_HOME=$T/codex[1] # no pattern
    program codex <<'END'
file=$CODEX_HOME/sessions/2026/11/19/rollout-2026-11-19T22-30-59-thread-1.jsonl
mkdir -p "${file%/*}"
used() { printf '{"type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":%s,"output_tokens":0}}}}\n' "$1" >>"$file"; }
echo '{"type":"thread.started","thread_id":"thread-1"}'
[ "$N" -gt 1 ] || {
    echo '{"type":"turn_context","payload":{"model":"gpt-5"}}' >>"$file"
    used 1000
    echo '{"type":"item.completed","item":{"type":"agent_message","text":"fine"}}'
    echo '{"type":"turn.completed","usage":{"input_tokens":1000,"output_tokens":0}}'
    exit
}
head -c 300000 /dev/zero | tr '\0' x >>"$file"; echo >>"$file" # no line of ours
used 2500
echo '{"type":"item.started","item":{"type":"command_execution","command":"make"}}'
sleep "$NAP"
END
    agent judge <<'END'
ok
verdict ROUTE develop again
END
    roles develop
    team <<'END'
phases:
  - {name: develop, agent: codex, budget: {tokens: 2000}}
  - {name: review, agent: judge, type: gate, depends_on: [develop]}
END
    run_is 3
    has "$(<"$STATE/orchestrator.log")" "budget of phase develop: 2500 of 2000 tokens used"
    has "$(lines_of develop)" '"model":"gpt-5","input_tokens":1500,"output_tokens":0,"cost_usd":'
    none_left
}

@test "a program's file of its conversation that is none holds nobody up" {
    export CODEX_HOME=$T/codex
    program codex <<'END'
mkdir -p "$CODEX_HOME/sessions/2026/11/19"
mkfifo "$CODEX_HOME/sessions/2026/11/19/rollout-x-thread-1.jsonl"
echo '{"type":"thread.started","thread_id":"thread-1"}'
echo '{"type":"item.completed","item":{"type":"agent_message","text":"fine"}}'
echo '{"type":"turn.completed","usage":{"input_tokens":1000,"output_tokens":10}}'
END
    roles develop
    team <<<"phases:
  - {name: develop, agent: codex, model: gpt-5}
  - {name: last, agent: exec, depends_on: [develop], commands: [{name: c, run: 'true'}]}"
    run_ok
    like "$(<"$STATE/channels/develop--last/handoff.json")" '"cost_usd": 0.00135,' # its price is in our table
    like "$(<"$STATE/channels/develop--last/handoff.json")" '"duration_ms": [0-9]+'
}

@test "a key that the program prints is masked in all that is kept" {
    program agent <<'END'
echo "my key is $CURSOR_API_KEY" >&2
say "the key is $CURSOR_API_KEY"
final ok
END
    develop
    "$CLIQ" settings agents.cursor.api_key key-0123456789abc >/dev/null
    run_ok
    has "$(<"$T/env.1")" CURSOR_API_KEY=key-0123456789abc
    is "" "$(grep -rl key-0123456789abc "$STATE" | grep -v settings.json || true)"
    has "$(<"$STATE/run/logs/develop.1.log")" 'the key is ***'
    has "$(<"$STATE/run/logs/develop.1.log")" 'my key is ***'
}

@test "the program gets the variables that the manifest lists, and no others" {
    program agent <<'END'
say ok; final ok
END
    develop
    export MY_OWN_SECRET=1 CURSOR_API_KEY=from-my-environment
    run_ok
    has "$(<"$T/env.1")" CURSOR_API_KEY=from-my-environment
    lacks "$(<"$T/env.1")" MY_OWN_SECRET
}

@test "a crash is told with exit code and last words" {
    program agent <<'END'
say 'I begin'
echo "thread main panicked at core.rs:7" >&2
exit 3
END
    develop
    run_is 3
    has "$(lines_of develop)" 'agent ended with exit code 3 before its answer was complete: thread main panicked at core.rs:7'
}

@test "an error before the stream says what to do" {
    program agent <<'END'
echo "Error: Not logged in. Run agent login, or set CURSOR_API_KEY" >&2
exit 1
END
    develop
    run_is 3
    has "$(lines_of develop)" 'cliq settings agents.cursor.api_key -'
}

@test "cursor is driven over the Agent Client Protocol where its program has it" {
    printf 'Usage: agent [options] [command]\n\nCommands:\n  login  sign in\n  acp  Agent Client Protocol server\n' >"$T/help"
    program agent <<END
[ "\$1" != acp ] || exec $PY $ROOT/test/scenario/acp_agent.py --login write \$PWD/made.txt hi say 'I wrote it.'
say headless
final headless
END
    develop
    "$CLIQ" settings agents.cursor.api_key key-of-cursor-1
    run_ok
    is acp "$(<"$T/args.1")"
    has "$(<"$T/env.1")" CURSOR_API_KEY=key-of-cursor-1
    is hi "$(<made.txt)"
    has "$(lines_of develop)" "wrote "
    has "$(<"$STATE/run/logs/develop.1.log")" "I wrote it."
    develop "sandbox: enabled" # an option of the other way
    run_ok
    has "$(paste -sd' ' "$T/args.2")" '-p --output-format stream-json --force --sandbox enabled'
    has "$(<"$STATE/run/logs/develop.1.log")" headless
}

@test "a rate limit is waited for" {
    program agent <<'END'
[ "$N" -gt 1 ] || { echo "Error: rate limit reached" >&2; exit 1; }
say fine
final fine
END
    develop
    run_ok
    like "$(lines_of develop)" 'rate limit: waits until [0-9:]{8}, then asks again'
    is 2 "$(wc -l <"$T/calls")"
}

@test "a rate limit that ends behind the phase's time fails it at once" {
    program agent <<'END'
echo "Error: rate limit reached" >&2
exit 1
END
    develop "timeout: 2s"
    run_is 3
    like "$(lines_of develop)" 'the rate limit was reached; it can go on in 2 s at the earliest, and the phase.s time limit comes in [12] s: raise its timeout'
    is 1 "$(wc -l <"$T/calls")"
}

@test "a long prompt does not meet the limit of an argument" {
    program agent <<'END'
final "$(wc -c <"$CLIQ_STATE_DIR/files/develop/prompt.md")"
END
    develop
    head -c 300000 /dev/zero | tr '\0' 'r' | "$CLIQ" req -f - >/dev/null
    run_ok
    has "$(<"$T/args.1")" "/files/develop/prompt.md"
}

@test "a test tells the version, and whether there is a key" {
    program agent </dev/null
    mkdir -p "$T/sig"
    message='{"version":1,"type":"test","agent":"cursor","signal_dir":"'$T/sig'","instance_id":"i"'
    "$CLIQ" agent cursor <<<"$message}" || true
    has "$(cat "$T"/sig/_test-cursor-*)" '"passed":false'
    has "$(cat "$T"/sig/_test-cursor-*)" 'no key and no sign-in'
    rm "$T"/sig/*
    "$CLIQ" agent cursor <<<"$message,\"settings\":{\"api_key\":\"k-123456\"}}"
    has "$(cat "$T"/sig/_test-cursor-*)" '"passed":true,"message":"agent 2026.11.01-abc, with a key"'
    rm "$T"/sig/* "$T/bin/agent"
    "$CLIQ" agent cursor <<<"$message,\"settings\":{\"api_key\":\"k-123456\"}}" || true
    has "$(cat "$T"/sig/_test-cursor-*)" 'there is no program agent: install it ('
}

# options AGENT FIELDS SETTING VALUE …: starts a recorder in place of the agent's program; its arguments are
# in $ARGS, its environment in $T/env.1.
options() {
    local name=$1 fields=$2
    shift 2
    program recorder <<<'exit 1'
    rm -rf "$T/calls" "$T/team" "$T/proj" && mkdir -p "$T/team" "$T/proj"
    roles develop
    AGENTS= team <<<"phases:
  - {name: develop, agent: $name, $fields}"
    "$CLIQ" settings "agents.$name.binary" recorder >/dev/null
    "$CLIQ" settings "agents.$name.api_key" a-secret-key-1 >/dev/null
    while [ $# -gt 0 ]; do
        "$CLIQ" settings "agents.$name.$1" "$2" >/dev/null
        shift 2
    done
    run_is 3
    ARGS=$(paste -sd' ' "$T/args.1")
    lacks "$ARGS" a-secret-key-1
}

@test "options reach each program the way it takes them, and keys only through the environment" {
    options claude-code 'model: opus, max_turns: 7, permission_mode: plan, allowed_tools: [Read, "Bash(make *)"], args: [--effort, low]' \
        base_url http://127.0.0.1:1
    like "$ARGS" '^-p --output-format stream-json --verbose --session-id [0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f-]{17} --permission-mode plan --model opus --max-turns 7 --allowedTools mcp__cliq --allowedTools Read,Bash\(make \*\) --effort low$'
    has "$(<"$T/env.1")" ANTHROPIC_API_KEY=a-secret-key-1
    has "$(<"$T/env.1")" ANTHROPIC_BASE_URL=http://127.0.0.1:1
    options claude-code 'model: opus' base_url http://127.0.0.1:1/v1/ # copied from a setting of OpenAI's kind
    is ANTHROPIC_BASE_URL=http://127.0.0.1:1 "$(grep ^ANTHROPIC_BASE_URL "$T/env.1")"
    options codex 'model: m' base_url http://127.0.0.1:1 # and the other way round
    has "$ARGS" 'base_url="http://127.0.0.1:1/v1"'
    options gemini 'model: g' base_url http://127.0.0.1:1/v1beta
    is GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:1 "$(grep ^GOOGLE_GEMINI_BASE_URL "$T/env.1")"
    options opencode 'model: m' base_url http://127.0.0.1:1/api
    has "$(<"$T/env.1")" '"baseURL":"http://127.0.0.1:1/api"'

    options codex 'model: m, sandbox: read-only, args: [--ephemeral]' base_url http://127.0.0.1:1/v1
    is 'exec --json --skip-git-repo-check -s read-only -m m -c model_provider="cliq" -c model_providers.cliq={name="cliq",base_url="http://127.0.0.1:1/v1",wire_api="responses",env_key="OPENAI_API_KEY"} --ephemeral -' "$ARGS"
    has "$(<"$T/env.1")" OPENAI_API_KEY=a-secret-key-1

    # the settings are for all phases; a phase's own field comes first
    options codex 'model: m' sandbox read-only
    has "$ARGS" ' -s read-only '
    options codex 'model: m, sandbox: workspace-write' sandbox read-only
    has "$ARGS" ' -s workspace-write '
    options claude-code 'model: opus' permission_mode plan max_turns 7 allowed_tools '["Read","Edit"]'
    has "$ARGS" '--permission-mode plan --model opus --max-turns 7 --allowedTools mcp__cliq --allowedTools Read,Edit'

    options gemini 'model: g, permission_mode: yolo, allowed_tools: [ls]' base_url http://127.0.0.1:1
    like "$ARGS" '--skip-trust --approval-mode yolo --model g --session-id [0-9a-f-]{36} --policy [^ ]*/run/gemini-policy.toml --allowed-tools ls$'
    has "$(<"$STATE/run/gemini-policy.toml")" 'mcpName = "cliq"'
    has "$(<"$T/env.1")" GEMINI_API_KEY=a-secret-key-1
    has "$(<"$T/env.1")" GEMINI_CLI_HOME="$STATE/run/gemini"
    is 600 "$(stat -c %a "$STATE/run/gemini/.gemini/settings.json")"
    # a user who chose a sign-in keeps it
    mkdir -p "$HOME/.gemini" && echo '{"security":{"auth":{"selectedType":"vertex-ai"}}}' >"$HOME/.gemini/settings.json"
    options gemini 'model: g' base_url http://127.0.0.1:1
    lacks "$(<"$T/env.1")" GEMINI_CLI_HOME

    options opencode 'model: m' base_url http://127.0.0.1:1/v1
    is 'run --format json --print-logs --log-level ERROR --model cliq/m' "$ARGS"
    has "$(<"$T/env.1")" '"baseURL":"http://127.0.0.1:1/v1","apiKey":"{env:CLIQ_OPENCODE_KEY}"}'
    options opencode 'model: anthropic/claude-sonnet-4-5'
    has "$(<"$T/env.1")" '{"provider":{"anthropic":{"options":{"apiKey":"{env:CLIQ_OPENCODE_KEY}"}}}}'
}
