#!/usr/bin/env bats
# Roles of rooms played by agents of cliq: with a scripted model, and with an agent of one's own.
load ../lib/llm
load ../lib/room

# models STEP...: the role engineer and the role qa ask the scripted server.
models() {
    server "$@"
    cliq settings agents.openai-api.api chat >/dev/null
    cliq settings agents.openai-api.base_url "$URL" >/dev/null
    cliq settings agents.openai-api.api_key sk-geheim >/dev/null
    cliq settings roles.engineer.agent openai-api >/dev/null
    cliq settings roles.qa.agent openai-api >/dev/null
}
verdict() { # OUTCOME [TARGET]
    printf '{"text":"I looked.\\n```json\\n{\\"verdict\\":{\\"outcome\\":\\"%s\\"%s},\\"comment\\":\\"%s\\"}\\n```"}' "$1" "${2:+,\\\"target\\\":\\\"$2\\\"}" "${3:-fine}"
}

@test "a model works, another reviews: fail, fix, pass; roles and conversation are in their prompts" {
    models '{"text":"Wrote add.sh"}' "$(verdict ROUTE engineer 'no test')" '{"text":"Added a test"}' "$(verdict PASS)"
    mkdir -p .cliq/roles
    echo "Be careful with numbers." >.cliq/roles/engineer.md
    a_room room-001
    got room run
    code_is 0
    is "task done review fail fix done pass" "$(types room-001)"
    is "Wrote add.sh" "$(cliq channel read --room room-001 --type done | json 'd[0]["body"]')"
    is "no test" "$(cliq channel read --room room-001 --type fail | json 'd[0]["body"]')"
    is 4 "$(n_asked)"
    has "$(asked 1 'json.dumps(b)')" "Be careful with numbers."
    has "$(asked 1 'json.dumps(b)')" "Do room-001"
    has "$(asked 2 'json.dumps(b)')" "Wrote add.sh"
    has "$(asked 3 'json.dumps(b)')" "no test"
    lacks "$(cat .war-rooms/room-001/channel.jsonl)" geheim
}

@test "a model that gives no verdict escalates; a person decides" {
    models '{"text":"Wrote it"}' '{"text":"hm"}' '{"text":"still hm"}'
    a_room room-001
    got room run --once
    code_is 3
    is triage "$(state room-001)"
    has "$(cliq channel read --room room-001 --type escalate | json 'd[0]["body"]')" "no usable verdict"
}

@test "an agent that fails is an error of its role; one that dies without a word is started again" {
    models '{"status":400}'
    a_room room-001 --max-retries 1
    got room run
    code_is 3
    is "task error" "$(types room-001)"
    cat >agent.sh <<'END'
#!/bin/sh
cat >/dev/null
exit 1
END
    chmod +x agent.sh
    cliq settings agents.own.entry "$PWD/agent.sh" >/dev/null
    cliq settings roles.engineer.agent own >/dev/null
    a_room room-002 --max-retries 1
    got room run room-002
    code_is 3
    is "task error" "$(types room-002)"
    has "$(cliq channel read --room room-002 --type error | json 'd[0]["body"]')" "crashed 4 times"
}

@test "an agent of one's own plays a role as it plays a phase" {
    cat >agent.sh <<END
#!/bin/sh
eval "\$("$CLIQ" sdk begin)"
"$CLIQ" sdk send "from \$CLIQ_ROLE in \$CLIQ_ROOM: \$("$CLIQ" sdk get req_spec | tail -1)"
"$CLIQ" sdk complete
END
    chmod +x agent.sh
    cliq settings agents.own.entry "$PWD/agent.sh" >/dev/null
    cliq settings roles.engineer.agent own >/dev/null
    a_room room-001
    got room run --once
    code_is 3
    has "$(cliq channel read --room room-001 --type done | json 'd[0]["body"]')" "from engineer in room-001"
}

@test "an agent that is not there, or waits for people, is refused before anything runs" {
    cliq settings roles.engineer.agent nowhere >/dev/null
    a_room room-001
    got room run
    code_is 4
    has "$err" "the role engineer"
    is "task" "$(types room-001)"
}
