#!/usr/bin/env bats
# cliq in the hands of the real Claude Code, Codex and Gemini CLI, registered by cliq install, with a
# scripted model: its tools, its hooks.
load agents

# cliq as people have it: on PATH, so that install writes the plain name.
begin() {
    mkdir -p "$T/bin" "$T/shop"
    ln -s "$CLIQ" "$T/bin/cliq"
    export PATH=$T/bin:$PATH
    unset CLAUDE_CONFIG_DIR CODEX_HOME GEMINI_CLI_HOME XDG_CONFIG_HOME CLAUDE_PROJECT_DIR GEMINI_PROJECT_DIR CLIQ_PHASE
    cd "$T/shop"
    # The limit is for people at a terminal; a busy machine of tests needs more than 200 ms now and then.
    cliq install --client "$1" >/dev/null
    find "$HOME" -type f -exec sed -i 's/cliq hook --client/cliq hook --limit 20s --client/' {} +
    cliq emit pulse first --as setup >/dev/null
    llm
}
# ask PROMPT [OPTION...]: the program's turn, headless.
ask_claude() {
    ANTHROPIC_BASE_URL=$LLM ANTHROPIC_API_KEY=sk-fake CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 DISABLE_AUTOUPDATER=1 ENABLE_TOOL_SEARCH=false IS_SANDBOX=1 \
        timeout 120 claude -p "$1" --output-format json --permission-mode bypassPermissions "${@:2}" </dev/null >"$T/said" 2>"$T/errors"
}
ask_codex() {
    OPENAI_API_KEY=sk-fake timeout 120 codex exec --json --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox --dangerously-bypass-hook-trust \
        -c model_provider=fake -c "model_providers.fake={name=\"fake\",base_url=\"$LLM/v1\",wire_api=\"responses\",env_key=\"OPENAI_API_KEY\"}" \
        -m fake-model "$1" </dev/null >"$T/said" 2>"$T/errors"
}
ask_gemini() {
    GEMINI_API_KEY=fake GOOGLE_GEMINI_BASE_URL=$LLM timeout 120 gemini -p "$1" --output-format stream-json --skip-trust -y -m gemini-2.5-flash </dev/null >"$T/said" 2>"$T/errors"
}
sign_in_gemini() {
    $PY - "$HOME/.gemini/settings.json" <<'PY'
import json, sys
d = json.load(open(sys.argv[1]))
d["security"] = {"auth": {"selectedType": "gemini-api-key"}}
json.dump(d, open(sys.argv[1], "w"))
PY
}
calls() {
    script <<'END'
[{"turns":[{"tool":"generate_signal","args":{"type":"build:shop:done","data":{"ok":true}}},
           {"tool":"inbox","args":{}},
           {"tool":"room_post","args":{"room":"room-001","to":"qa","type":"done","ref":"EPIC-1","body":"Built"}},
           {"text":"all done"}]}]
END
}
# Three tools were called, by the identity.
has_called() {
    cliq signal events --json | $PY -c 'import json, sys
s = [x for x in json.load(sys.stdin) if x["type"] == "build:shop:done"]
assert len(s) == 1 and s[0]["source"] == {"type": "agent", "id": sys.argv[1]}, s' "$1"
    is "$1 Built" "$(cliq channel read --room room-001 --json | $PY -c 'import json, sys
m = json.loads(sys.stdin.read()); m = m[0] if isinstance(m, list) else m; print(m["from"], m["body"])')"
    has "$(asked 'json.dumps([r["body"] for r in q])')" "waiting for $1" # what the tool inbox answered, or the prompt's hook
}

@test "claude calls generate_signal, inbox and room_post, and its life is told" {
    begin claude
    cliq emit pulse "waiting for claude-shop" --to-identity claude-shop --as ann >/dev/null 2>&1
    calls
    ask_claude "do it"
    has_called claude-shop
    is "agent:claude-shop:wake agent:claude-shop:sleep" "$(cliq signal events --json |
        $PY -c 'import json, sys; print(*[s["type"] for s in json.load(sys.stdin) if s["type"].startswith("agent:")])')"
}

@test "codex calls generate_signal, inbox and room_post" {
    begin codex
    cliq emit pulse "waiting for codex-shop" --to-identity codex-shop --as ann >/dev/null 2>&1
    calls
    ask_codex "do it"
    has_called codex-shop
}

@test "gemini calls generate_signal, inbox and room_post" {
    begin gemini
    sign_in_gemini
    cliq emit pulse "waiting for gemini-shop" --to-identity gemini-shop --as ann >/dev/null 2>&1
    calls
    ask_gemini "do it"
    has_called gemini-shop
}

# While the agent works, a message comes; the agent stops, and is told.
comes_while_it_works() { # IDENTITY
    script <<END
[{"turns":[{"run":"$CLIQ emit pulse 'stop the press' --to-identity $1 --as ann 2>/dev/null"},{"text":"I am done."},{"text":"I stopped the press."}]}]
END
}
was_told_at_its_stop() { # IDENTITY
    has "$(asked 'json.dumps(q[-1]["body"])')" "stop the press"
    has "$(asked 'json.dumps(q[-1]["body"])')" "I am done."
    has "$(<"$T/said")" "I stopped the press."
    is "" "$(cliq inbox "@$1" --receipt unread --as "$1")"
}

@test "claude's Stop hook delivers a message that came while it worked" {
    begin claude
    comes_while_it_works claude-shop
    ask_claude "work"
    was_told_at_its_stop claude-shop
}

@test "codex's Stop hook delivers a message that came while it worked" {
    begin codex
    comes_while_it_works codex-shop
    ask_codex "work"
    was_told_at_its_stop codex-shop
}

@test "gemini's AfterAgent hook delivers a message that came while it worked" {
    begin gemini
    sign_in_gemini
    comes_while_it_works gemini-shop
    ask_gemini "work"
    was_told_at_its_stop gemini-shop
}

# A file that bob has leased is not changed, and the model is told why.
writes_a_leased_file() {
    echo mine >leased.txt
    cliq lease take leased.txt --as bob --reason "still at it" >/dev/null
    script <<END
[{"turns":[{"write":"$PWD/leased.txt","content":"theirs"},{"write":"$PWD/free.txt","content":"new"},{"text":"I tried."}]}]
END
}
was_refused() {
    is mine "$(<leased.txt)"
    is new "$(<free.txt)"
    like "$(asked 'json.dumps([r["body"] for r in q])')" "leased by bob until 20.*still at it"
}

@test "claude is kept from a leased file by its hook, and from no other" {
    begin claude
    writes_a_leased_file
    ask_claude "write"
    was_refused
}

@test "gemini is kept from a leased file by its hook, and from no other" {
    begin gemini
    sign_in_gemini
    writes_a_leased_file
    ask_gemini "write"
    was_refused
}

@test "codex is kept from a leased file by its hook, when it patches" {
    begin codex
    echo mine >leased.txt
    cliq lease take leased.txt --as bob --reason "still at it" >/dev/null
    script <<'END'
[{"turns":[{"run":"apply_patch <<'E'\n*** Begin Patch\n*** Update File: leased.txt\n@@\n-mine\n+theirs\n*** End Patch\nE"},{"text":"I tried."}]}]
END
    ask_codex "write"
    is mine "$(<leased.txt)"
    like "$(asked 'json.dumps([r["body"] for r in q])')" "leased by bob until 20.*still at it"
}

# ---- without a program of cliq's beside the client -----------------------------

# Claude Code with nothing but the server: its tools at /mcp, its hooks at /hooks/claude.
begin_http() {
    mkdir -p "$T/shop" "$HOME/.claude"
    cd "$T/shop"
    git init -q .
    "$CLIQ" serve --listen 127.0.0.1:0 >"$T/serve" 2>&1 3>&- &
    PIDS+=($!)
    until_true grep -q listening "$T/serve"
    URL=$(sed -n 's/listening on //p' "$T/serve" | head -1)
    KEY=$("$CLIQ" key create --identity ruby --json | $PY -c 'import json, sys; print(json.load(sys.stdin)["key"])')
    llm
    $PY - "$URL" "$KEY" <<'PY'
import json, os, sys
url, key = sys.argv[1:]
say = {"Authorization": f"Bearer {key}"}
home = os.environ["HOME"]
hook = [{"hooks": [{"type": "http", "url": url + "/hooks/claude", "headers": say, "timeout": 20}]}]
json.dump({"hooks": {e: hook for e in ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd")}}, open(home + "/.claude/settings.json", "w"))
json.dump({"mcpServers": {"cliq": {"type": "http", "url": url + "/mcp", "headers": say}}}, open(home + "/.claude.json", "w"))
PY
}

@test "claude with a server alone: tools at /mcp; at /hooks/claude a message at its stop, and a leased file" {
    begin_http
    echo mine >leased.txt
    cliq lease take leased.txt --as bob --reason "still at it" >/dev/null
    script <<END
[{"turns":[{"tool":"generate_signal","args":{"type":"build:shop:done"}},
           {"write":"$PWD/leased.txt","content":"theirs"},{"write":"$PWD/free.txt","content":"new"},
           {"run":"$CLIQ emit pulse 'stop the press' --to-identity ruby --as ann 2>/dev/null"},{"text":"I am done."},{"text":"I stopped the press."}]}]
END
    ask_claude "work"
    is '{"type": "agent", "id": "ruby"}' "$(cliq signal events --json | $PY -c 'import json, sys
print(*[json.dumps(s["source"]) for s in json.load(sys.stdin) if s["type"] == "build:shop:done"])')"
    was_refused
    was_told_at_its_stop ruby
}

# The variables that name a server reach cliq mcp and cliq hook in each client.
speaks_to_a_server() { # CLIENT
    "$CLIQ" serve --listen 127.0.0.1:0 >"$T/serve" 2>&1 3>&- &
    PIDS+=($!)
    until_true grep -q listening "$T/serve"
    script <<'END'
[{"turns":[{"tool":"generate_signal","args":{"type":"build:shop:done"}},{"text":"I am done."},{"text":"I read it."}]}]
END
    key=$("$CLIQ" key create --identity ruby --json | $PY -c 'import json, sys; print(json.load(sys.stdin)["key"])')
    CLIQ_URL=$(sed -n 's/listening on //p' "$T/serve" | head -1) CLIQ_KEY=$key "ask_$1" "work"
    is ruby "$(cliq signal events --json | $PY -c 'import json, sys
print(*[s["source"]["id"] for s in json.load(sys.stdin) if s["type"] == "build:shop:done"])')"
    has "$(cliq signal events)" agent:ruby:wake
}

@test "claude speaks to a server as its key" {
    begin claude
    speaks_to_a_server claude
}
@test "codex speaks to a server as its key" {
    begin codex
    speaks_to_a_server codex
}
@test "gemini speaks to a server as its key" {
    begin gemini
    sign_in_gemini
    speaks_to_a_server gemini
}

# ---- agents of a run -----------------------------------------------------------

# A phase's agent that has cliq in its client's configuration is its phase there, in its run.
in_a_run() { # AGENT FIELDS SETTING...
    mkdir -p "$T/team/roles"
    echo "You build." >"$T/team/roles/build.md"
    team <<<"phases:
  - {name: build, agent: $1, env: {ENABLE_TOOL_SEARCH: \"false\"}$2}" # else claude looks for its tools first
    settings "${@:3}"
    "$CLIQ" req -m "Do the work" >/dev/null
    script <<'END'
[{"turns":[{"tool":"pipeline_status","args":{}},
           {"tool":"room_post","args":{"room":"room-001","to":"qa","type":"done","ref":"EPIC-1","body":"Built"}},
           {"run":"cliq emit pulse ran-it"},
           {"text":"all done"}]}]
END
    run_ok
    is "build Built" "$(cliq channel read --room room-001 --json | $PY -c 'import json, sys
m = json.loads(sys.stdin.read()); m = m[0] if isinstance(m, list) else m; print(m["from"], m["body"])')"
    like "$(asked 'json.dumps([r["body"] for r in q])')" 'RUNNING.*build'
}

@test "claude in a run is its phase, and finds its pipeline" {
    begin claude
    cd "$T/proj"
    in_a_run claude-code ', allowed_tools: ["Bash(cliq emit:*)"]' claude-code.base_url "$LLM" claude-code.api_key sk-fake
    has "$(cliq signal events)" ran-it # its own list of tools counts, too
}

@test "codex in a run is its phase, and finds its pipeline" {
    begin codex
    cd "$T/proj"
    in_a_run codex "" codex.base_url "$LLM/v1" codex.api_key sk-fake codex.model fake-model
}

@test "gemini in a run is its phase, and finds its pipeline" {
    begin gemini
    sign_in_gemini
    cd "$T/proj"
    in_a_run gemini "" gemini.base_url "$LLM" gemini.api_key fake gemini.model gemini-2.5-flash
}
