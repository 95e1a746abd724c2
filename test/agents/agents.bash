# agents.bash - real agents' programs and a scripted model: load it at the top of test/agents/*.bats.
#
#   llm              starts the scripted model (llm.mjs); $LLM is its URL
#   script < JSON    what it answers, from now on
#   asked EXPRESSION of the list `q` of requests that it got, in Python
#   settings KEY VALUE …
#                    of the project's agents
#
# The programs come from `tools/deps agents`. Each test has a HOME of its own, so that a developer's
# own sign-in and sessions are neither used nor changed.
load ../scenario/pipeline

BOUND=${BOUND:-90} # of until_true: on a busy machine opencode takes 20 s and more until it asks

AGENTS_CACHE=${CLIQ_AGENTS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/cliq-agents}
export PATH=$AGENTS_CACHE/bin:$PATH

llm() {
    mkdir -p "$T/llm"
    [ -e "$T/llm/script.json" ] || echo '[{"turns":[{"text":"ok"}]}]' >"$T/llm/script.json"
    start llm node "$ROOT/test/agents/llm.mjs" "$T/llm"
    until_true exists "$T/llm/port"
    LLM=http://127.0.0.1:$(<"$T/llm/port")
}
script() {
    mkdir -p "$T/llm"
    cat >"$T/llm/script.new" && mv "$T/llm/script.new" "$T/llm/script.json"
}
asked() {
    $PY -c 'import json,sys
q = [json.loads(l) for l in open(sys.argv[1])]
print(eval(sys.argv[2]))' "$T/llm/requests.jsonl" "$1"
}
settings() {
    while [ $# -gt 1 ]; do
        "$CLIQ" settings "agents.$1" "$2" >/dev/null || return
        shift 2
    done
}
