#!/usr/bin/env bats
# cliq hook: events of clients on standard input, answered in the client's form, and always in time.
load ../lib/cli
load ../lib/hub
unset CLAUDE_PROJECT_DIR GEMINI_PROJECT_DIR CLIQ_PHASE

# event NAME [MEMBERS]: an event as the clients send it.
event() {
    printf '{"session_id":"s1","transcript_path":"/home/ann/t.jsonl","cwd":"%s","hook_event_name":"%s"%s}' "$PWD" "$1" "${2:+,$2}"
}
# hook NAME [MEMBERS [OPTION...]]: the machine may be busy, so the answer has time; those that test the
# limit say so.
hook() {
    event "$1" "${2:-}" >"$T/event"
    got hook --limit 60s "${@:3}" <"$T/event"
    is 0 "$code"
    is "" "$err"
}
of() { $PY -c 'import json, sys; d = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$T/out" "$1"; }
# A first signal makes the store.
store() { cliq emit pulse first --as setup >/dev/null; }
# lasts MEMBER: seconds until the time in that member of the first row.
lasts() {
    $PY -c 'import sys, json, datetime as d; x = json.load(sys.stdin); x = x[0] if isinstance(x, list) else x
print(int((d.datetime.fromisoformat(x[sys.argv[1]].replace("Z", "+00:00")) - d.datetime.now(d.timezone.utc)).total_seconds()))' "$1"
}
write_of() { printf '"tool_name":"%s","tool_input":{"%s":"%s"}' "$1" "$2" "$3"; }

@test "Stop: unread messages make the agent go on with them, once" {
    store
    me=claude-work
    hook Stop '"stop_hook_active":false'
    is "" "$out"
    id=$(cliq emit task 'Review "PR 42"' --to-identity $me --as ann 2>/dev/null)
    hook Stop '"stop_hook_active":true' # it goes on already: not now
    is "" "$out"
    hook Stop '"stop_hook_active":false'
    is block "$(of 'd["decision"]')"
    has "$(of 'd["reason"]')" 'Review "PR 42"'
    has "$(of 'd["reason"]')" "$id"
    has "$(of 'd["reason"]')" "claim it before you work on it"
    hook Stop '"stop_hook_active":false'
    is "" "$out"
    is "$id" "$(cliq inbox @$me --as $me | cut -f1)" # it is still in the inbox
    # a role's message, one of a subscription, its data; not what another one has claimed
    cliq role add reviewer --as setup >/dev/null
    cliq role fill reviewer $me --as setup >/dev/null
    cliq emit pulse "to reviewers" --to-role reviewer --as ann >/dev/null
    cliq signal subscribe 'build:*' --as $me >/dev/null
    cliq signal generate build:web --data '{"ok":[1,"ü"]}' --as ci >/dev/null
    taken=$(cliq emit task taken --to-identity $me --as ann)
    cliq claim "$taken" --as $me >/dev/null
    hook Stop
    has "$(of 'd["reason"]')" 'build:web from ci'
    has "$(of 'd["reason"]')" 'to reviewers'
    has "$(of 'd["reason"]')" 'data: {"ok":[1,"ü"]}'
    lacks "$out" taken
}

@test "more than ten, and huge ones: cut, with the rest at the next event" {
    store
    for i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo "{\"signal_type\":\"pulse\",\"content\":\"m$i\",\"to_identity\":\"ruby\"}"; done |
        $PY -c 'import json, sys; print(json.dumps({"signals": [json.loads(l) for l in sys.stdin]}))' >batch
    for i in 1 2 3 4 5 6 7 8 9 10 11 12; do cliq emit pulse "m$i" --to-identity ruby --as ann >/dev/null 2>&1; done
    hook Stop '' --as ruby
    is 10 "$(of 'd["reason"].count("- pulse from ann")')"
    has "$(of 'd["reason"]')" "more than 10 messages"
    hook Stop '' --as ruby
    is 2 "$(of 'd["reason"].count("- pulse from ann")')"
    $PY -c 'print("ü" * 100000, end="")' | cliq emit pulse --message - --to-identity ruby --as ann >/dev/null
    hook Stop '' --as ruby
    has "$(of 'd["reason"]')" "ü … (198000 bytes more)"
}

@test "a hook that is killed at any moment loses no message" {
    store
    event Stop >"$T/event"
    $PY - "$T/event" <<'PY'
import os, random, subprocess, sys
cliq, event = os.environ["CLIQ"], sys.argv[1]
random.seed(3)
said, sent = "", []

def hook(kill_ms=None):
    global said
    with open(event) as f:
        p = subprocess.Popen([cliq, "hook", "--as", "ruby", "--limit", "60s"], stdin=f, stdout=subprocess.PIPE, text=True)
    try:
        out = p.communicate(timeout=None if kill_ms is None else kill_ms / 1000)[0]
    except subprocess.TimeoutExpired:
        p.kill()
        out = p.communicate()[0]
    said += out
    return out

for i in range(40):
    sent.append(f"message-{i}.")
    subprocess.run([cliq, "emit", "pulse", sent[-1], "--to-identity", "ruby", "--as", "ann"], check=True, capture_output=True)
    hook(random.uniform(0, 12))
while hook():
    pass
lost = [m for m in sent if m not in said]
assert not lost, lost
PY
}

@test "each client is answered in its form: Claude Code, Codex, Gemini CLI" {
    store
    for form in "UserPromptSubmit" "UserPromptSubmit codex" "BeforeAgent gemini"; do
        set -- $form
        cliq emit pulse "to $form" --to-identity ${2:-claude}-work --as ann >/dev/null 2>&1
        hook $1 "$([ "${2:-}" = codex ] && echo '"turn_id":"t","prompt":"x"' || echo '"prompt":"x"')"
        is "$1" "$(of 'd["hookSpecificOutput"]["hookEventName"]')"
        has "$(of 'd["hookSpecificOutput"]["additionalContext"]')" "to $form"
        hook $1 "$([ "${2:-}" = codex ] && echo '"turn_id":"t"')"
        is "" "$out"
    done
    cliq emit pulse x --to-identity gemini-work --as ann >/dev/null
    hook AfterAgent '"stop_hook_active":false,"prompt_response":"done"'
    is "deny" "$(of 'd["decision"]')"
    cliq emit pulse x --to-identity codex-work --as ann >/dev/null
    hook Stop '"stop_hook_active":false' --client codex
    is "block" "$(of 'd["decision"]')"
    CLAUDE_PROJECT_DIR=/srv/shop CLIQ_IDENTITY='' hook Stop
    cliq emit pulse x --to-identity claude-shop --as ann >/dev/null 2>&1
    CLAUDE_PROJECT_DIR=/srv/shop hook Stop # the session's project, wherever it is now
    has "$out" claude-shop
    cliq emit pulse x --to-identity build --as ann >/dev/null 2>&1
    CLIQ_PHASE=build hook Stop
    has "$out" "(build)"
}

@test "a leased file is not written: the holder and until when; one's own and others are" {
    git init -q .
    mkdir -p src/parser
    cliq lease take src/parser/ --as bob --reason "new parser" >/dev/null
    for tool in "PreToolUse Write file_path" "PreToolUse Edit file_path" "PreToolUse MultiEdit file_path" "PreToolUse NotebookEdit notebook_path"; do
        set -- $tool
        hook $1 "$(write_of $2 $3 "$PWD/src/parser/lex.c")"
        is deny "$(of 'd["hookSpecificOutput"]["permissionDecision"]')"
        like "$(of 'd["hookSpecificOutput"]["permissionDecisionReason"]')" 'leased by bob until 20.*new parser'
    done
    for tool in write_file replace; do
        hook BeforeTool "$(write_of $tool file_path src/parser/lex.c)"
        is deny "$(of 'd["decision"]')"
        has "$(of 'd["reason"]')" "leased by bob until"
    done
    patch='*** Begin Patch\n*** Add File: doc/new.md\n+x\n*** Update File: src/other.c\n*** Move to: src/parser/moved.c\n@@\n*** End Patch'
    hook PreToolUse "\"turn_id\":\"t\",$(write_of apply_patch command "$patch")"
    has "$(of 'd["hookSpecificOutput"]["permissionDecisionReason"]')" "src/parser/moved.c is leased by bob"
    hook PreToolUse "$(write_of Bash command "apply_patch <<'E'\n$patch\nE")"
    has "$out" "leased by bob"
    hook PreToolUse "$(write_of Write file_path "$PWD/src/main.c")"
    is "" "$out"
    hook PreToolUse "$(write_of Read file_path "$PWD/src/parser/lex.c")"
    is "" "$out"
    hook PreToolUse "$(write_of Write file_path "$PWD/src/parser/lex.c")" --as bob
    is "" "$out"
    hook PreToolUse "$(write_of Write file_path "$T/elsewhere.c")"
    is "" "$out"
    mkdir link && ln -s ../src/parser link/p
    hook PreToolUse "$(write_of Write file_path "link/p/new.c")" # a way around
    has "$out" "leased by bob"
}

@test "sessions: wake and sleep are told, a new context is not; a heartbeat keeps what the agent holds" {
    store
    task=$(cliq emit task long --as ann)
    cliq signal subscribe 'agent:*:*' --as ann >/dev/null
    hook SessionStart '"source":"startup"'
    hook SessionEnd '"reason":"clear"'
    hook SessionStart '"source":"clear"'
    hook SessionStart '"source":"compact"'
    hook SessionEnd '"reason":"other"'
    is "agent:claude-work:wake agent:claude-work:sleep" "$(cliq signal events --json | field type | grep ^agent: | paste -sd' ')"
    is "system system" "$(cliq signal events --json | $PY -c 'import json,sys; print(*[s["source"]["type"] for s in json.load(sys.stdin) if s["type"].startswith("agent:")])')"
    has "$(cliq signal delayed)" agent:claude-work:idle
    cliq claim "$task" --as claude-work --lease 60 >/dev/null
    cliq lease take notes.md --as claude-work --ttl 60s --reason mine >/dev/null
    hook PostToolUse '"tool_name":"Bash"'
    [ "$(cliq signal list --json --delivery-state leased | lasts claim_expires_at)" -gt 100 ]
    [ "$(cliq lease list --json | lasts expires_at)" -gt 600 ]
    is mine "$(cliq lease list --json | field reason)"
    lines=$(wc -l <"$CLIQ_HOME/signals/events.jsonl")
    hook PostToolUse '"tool_name":"Bash"' # not twice in a minute
    is "$lines" "$(wc -l <"$CLIQ_HOME/signals/events.jsonl")"
}

@test "whatever is wrong, the client goes on: exit code 0 and no answer" {
    hook Stop # no store, and none is made
    is "" "$out"
    [ ! -e "$CLIQ_HOME" ]
    store
    cliq emit pulse x --to-identity claude-work --as ann >/dev/null 2>&1
    for text in '' rubbish '[]' '{}' '{"hook_event_name":7}' '{"hook_event_name":"Stop"' '{"hook_event_name":"Unheard"}' '{"hook_event_name":"PreToolUse","tool_name":"Write"}' \
        '{"hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"file_path":7}}' '{"hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"file_path":"/proc/1/x/y"}}' \
        '{"hook_event_name":"PreToolUse","tool_name":"apply_patch","tool_input":{"command":["a",1,null]}}' "$(printf '{"hook_event_name":"\377"}')"; do
        printf %s "$text" | got hook
        is "0 " "$code $out"
    done
    $PY -c 'print("[" * 100000)' | got hook
    is "0 " "$code $out"
    $PY -c 'print("{\"hook_event_name\":\"PostToolUse\",\"tool_response\":\"" + "x" * (20 << 20) + "\"}")' | got hook --limit 60s
    is "0 " "$code $out"
    event Stop >"$T/event"
    echo "not a log" >"$T/broken" && mkdir -p "$T/b/signals" && cp "$T/broken" "$T/b/signals/events.jsonl" && cp "$T/broken" "$T/b/signals/index.db"
    CLIQ_HOME=$T/b got hook <"$T/event"
    is "0 " "$code $out"
    CLIQ_URL=http://127.0.0.1:1 CLIQ_KEY=x got hook <"$T/event" # no server
    is "0 " "$code $out"
    got hook --limit 60s <"$T/event" # and nothing was lost
    has "$out" '"decision":"block"'
}

@test "the limit: a locked store, a client that sends nothing" {
    store
    cliq emit pulse x --to-identity claude-work --as ann >/dev/null 2>&1
    $PY -c 'import fcntl, sys
f = open(sys.argv[1], "r+"); fcntl.flock(f, fcntl.LOCK_EX)
f.seek(0, 2); f.write("{\"signal\":\"foreign\"}\n"); f.flush()  # a line that has to be folded first
print("locked", flush=True); sys.stdin.read()' "$CLIQ_HOME/signals/events.jsonl" <"$(mkfifo "$T/hold"; echo "$T/hold")" >"$T/locked" &
    PIDS+=($!)
    exec 7>"$T/hold"
    until_true grep -q locked "$T/locked"
    event SessionStart '"source":"startup"' >"$T/event"
    before=$(date +%s)
    got hook <"$T/event" # a writer would wait ten seconds for the lock
    is "0 " "$code $out"
    mkfifo "$T/silent"
    exec 8<>"$T/silent"
    got hook <"$T/silent" # its input never ends
    is "0 " "$code $out"
    [ $(($(date +%s) - before)) -lt 9 ]
    exec 7>&- 8>&-
    wait "${PIDS[@]}"
    event Stop >"$T/event"
    got hook --limit 60s <"$T/event"
    has "$out" '"decision":"block"'
}

@test "an agent with a server: its key says who" {
    store
    "$CLIQ" serve --listen 127.0.0.1:0 >said 2>errors 3>&- &
    PIDS+=($!)
    until_true grep -q listening said
    url=$(sed -n 's/listening on //p' said | head -1)
    key=$(cliq key create --identity ruby --json | field key)
    cliq emit pulse "for ruby" --to-identity ruby --as ann >/dev/null
    cliq lease take a.c --as bob >/dev/null
    export CLIQ_URL=$url CLIQ_KEY=$key
    hook Stop
    has "$(of 'd["reason"]')" "for ruby"
    has "$(of 'd["reason"]')" "1 message for you (ruby)"
    hook Stop
    is "" "$out"
    hook PreToolUse "$(write_of Write file_path "$PWD/a.c")"
    has "$out" "leased by bob"
    hook SessionStart '"source":"startup"'
    is agent:ruby:wake "$(cliq signal events --json | field type | grep ^agent:)"
    cliq lease take mine.c --ttl 60s >/dev/null
    hook PostToolUse '"tool_name":"Bash"' # what its key holds
    [ "$(cliq lease list mine.c --json | lasts expires_at)" -gt 600 ]
}
