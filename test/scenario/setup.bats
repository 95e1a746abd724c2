#!/usr/bin/env bats
# cliq setup: with a person at a terminal (setup_person.py), and without one.
load ../lib/cli

# Programs of these names are on PATH, and no other agents.
machine() {
    mkdir -p "$T/bin"
    local name
    for name in "$@"; do
        printf '#!/bin/sh\necho "%s 1.2.3"\n' "$name" >"$T/bin/$name"
        chmod +x "$T/bin/$name"
    done
    export PATH=$T/bin:/usr/bin:/bin SHELL=/bin/bash
    export NO_COLOR=1
    unset XDG_DATA_HOME XDG_CONFIG_HOME OPENAI_API_KEY CODEX_API_KEY
}
# person "QUESTION<tab>ANSWER"...: setup at a terminal; what is asked must be in this order.
person() {
    printf '%s\n' "$@" >"$T/answers"
    got_from "$PY" "$ROOT/test/scenario/setup_person.py" "$T/answers" "$CLIQ" setup
}

@test "a person chooses an agent, gives its key, which is not shown, and takes what is offered" {
    machine codex
    person $'do you use? [codex]\t' $'api_key of codex\tsk-geheim-4711' $'Default agent\t' $'Complete commands in bash\t'
    code_is 0
    lacks "$out" geheim
    has "$out" "codex          codex is on PATH"
    has "$out" "claude-code    not here: npm install -g @anthropic-ai/claude-code"
    has "$out" "connection... "
    has "$out" "The default agent is codex."
    is codex "$(cliq settings default_agent)"
    is 600 "$(stat -c %a "$CLIQ_HOME/settings.json")"
    grep -q sk-geheim-4711 "$CLIQ_HOME/settings.json"
    cliq completion bash | cmp - "$HOME/.local/share/bash-completion/completions/cliq"
    # once more: Enter keeps all of it
    person $'do you use?\t' $'api_key of codex (Enter keeps what is set)\t' $'Default agent, for phases that name none [codex]\t'
    code_is 0
    grep -q sk-geheim-4711 "$CLIQ_HOME/settings.json"
    lacks "$out" "Complete commands"
}

@test "required settings of other agents are asked for; a misspelt agent is asked again" {
    machine codex
    person $'do you use? [codex]\tjria' $'did you mean jira?\tjira' $'base_url of jira\thttp://127.0.0.1:1' \
        $'email of jira\teve@example.org' $'api_token of jira\tgeheim-4712' $'Default agent\tnobody' \
        $'no agent of that name\tcodex' $'Complete\tn'
    code_is 0
    lacks "$out" geheim
    has "$out" "connection... ✗"
    is eve@example.org "$(cliq settings agents.jira.email)"
    has "$out" "that name none [none]" # jira does no phase's work for a model
    is codex "$(cliq settings default_agent)"
    [ ! -e "$HOME/.local" ]
}

@test "Ctrl-C while a key is typed ends it, keeps nothing of it, and the terminal shows again what is typed" {
    machine codex
    printf '%s\n' $'do you use?\t' $'api_key of codex\thalf a key\\x03' >"$T/answers"
    got_from "$PY" "$ROOT/test/scenario/setup_person.py" "$T/answers" /bin/sh -c '"$CLIQ" setup; code=$?; stty -a; exit $code'
    code_is 130
    has "$out" " echo "
    lacks "$out" "half a key"
    [ -z "$(grep half "$CLIQ_HOME/settings.json")" ]
}

@test "without a terminal nothing is asked: what needs no answer is done, and the rest is told" {
    machine codex
    got setup </dev/null
    succeeds
    is codex "$(cliq settings default_agent)"
    has "$out" "Left for you:"
    has "$out" "cliq doctor agent codex"
    has "$out" "cliq completion bash >"
    [ ! -e "$HOME/.local" ]
}

@test "--no-input asks nothing at a terminal, and chooses no default among several agents" {
    machine codex gemini
    printf '' >"$T/answers"
    got_from "$PY" "$ROOT/test/scenario/setup_person.py" "$T/answers" "$CLIQ" setup --no-input
    code_is 0
    lacks "$out" "do you use?"
    has "$out" "cliq settings default_agent NAME --global"
    got settings default_agent
    code_is 4
}
