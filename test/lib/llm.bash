# llm.bash - the agents that ask a model over HTTP, and the scripted server (llm_server.py): load it at the top.
load ../lib/cli

ALL="claude-api openai-api gemini-api ollama responses"

# server STEP...: answers the questions with these steps (test/lib/llm_server.py).
server() {
    script "$@"
    start server "$PY" "$ROOT/test/lib/llm_server.py" "$T"
    until_true test -e "$T/port"
    URL=http://127.0.0.1:$(<"$T/port")
    P=$T/work
    mkdir -p .cliq/signals .cliq/channels .cliq/roles
    export TZ=UTC
}
script() {
    local IFS=,
    printf '[%s]' "$*" >"$T/script"
}

# ask AGENT [SETTINGS] [PAYLOAD]: `cliq agent AGENT` with a message; `responses` is openai-api with the other API.
# URL is its base URL and sk-geheim its key, unless SETTINGS has others.
ask() {
    local agent=$1 own=
    [ "$1" != responses ] || agent=openai-api own=',"api":"responses"'
    case ${2:-} in *base_url*) ;; *) own="$own,\"base_url\":\"$URL\"" ;; esac
    case $agent${2:-} in ollama* | *api_key*) ;; *) own="$own,\"api_key\":\"sk-geheim\"" ;; esac
    [ "$agent" != ollama ] || case ${2:-} in *'"model"'*) ;; *) own="$own,\"model\":\"model-a\"" ;; esac
    rm -f .cliq/signals/write.jsonl
    printf '{"version":1,"type":"phase","agent":"%s","team_name":"@local/shop","project_dir":"%s","work_dir":"%s",
        "signal_dir":"%s/.cliq/signals","handoff_dirs":["%s/.cliq/channels/write--next","%s/.cliq/channels/write--back"],
        "settings":{%s%s},"payload":{"phase":"write","role":"Be terse."%s}}' "$agent" "$P" "$P" "$P" "$P" "$P" \
        "${own#,}" "${2:+,$2}" "${3:-}" >"$T/message"
    sed -i 's/"settings":{,/"settings":{/' "$T/message"
    got agent "$agent" <"$T/message"
    signals=$(<.cliq/signals/write.jsonl)
}
GATE=',"phase_type":"gate","route_targets":["back"],"iteration":1,"max_iterations":3'
handoff() { $PY -c 'import json,sys
d=json.load(open(".cliq/channels/write--%s/handoff.json" % sys.argv[1])); print(eval(sys.argv[2]))' "${2:-next}" "$1"; }
# asked N EXPRESSION: of the N-th request q (from 1).
asked() { sed -n "$1p" "$T/requests" >"$T/one" && $PY -c 'import json,sys
q=json.load(open(sys.argv[1])); b=q["body"]; print(eval(sys.argv[2]))' "$T/one" "$2"; }
n_asked() { wc -l <"$T/requests"; }
completes() { code_is 0 && is "" "$err" && has "$signals" '"status":"complete"' && lacks "$signals" '"status":"error"'; }
# The phase failed with a sentence that has these parts; the key is in none of them.
fails() {
    code_is 1 || return 1
    local part last
    last=$(tail -n1 .cliq/signals/write.jsonl)
    for part in '"status":"error"' "$@"; do has "$last" "$part" || return 1; done
    lacks "$signals" geheim && lacks "$out" geheim && lacks "$err" geheim
}
