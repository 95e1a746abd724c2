#!/usr/bin/env bats
# The examples in the READMEs of the SDKs, executed as they stand.
load ../lib/cli
load ../lib/hub
load ../lib/server

# Writes each block of code of a README into the file that its first line names.
blocks() { # README LANGUAGE
    awk -v lang="$2" '$0 == "```" lang { is_in = 1; name = ""; next } $0 == "```" { is_in = 0 }
        is_in && name == "" { name = $2; next } is_in { print > name }' "$1"
}
message() { # PHASE TYPE [PAYLOAD MEMBERS]
    printf '{"version":1,"type":"phase","agent":"%s","project_dir":"%s","signal_dir":"%s/.cliq/signals","handoff_dirs":["%s/.cliq/channels/%s--next"],"payload":{"phase":"%s","phase_type":"%s"%s}}' \
        "$1" "$PWD" "$PWD" "$PWD" "$1" "$1" "$2" "${3:-}"
}
handoff() { sed -n 's/^  "text": "\(.*\)"$/\1/p' ".cliq/channels/$1/handoff.json"; }

follow_readme() { # INTERPRETER ENDING
    mkdir -p .cliq
    echo "three little words" >.cliq/req_spec.md
    message analyst standard | $1 agent.$2
    is "There are 3 words." "$(handoff analyst--next)"
    message judge gate ',"route_targets":["analyst"],"check_results":[{"name":"unit","pass":false,"output":""}]' | $1 gate.$2
    is "ROUTE to analyst: Checks failed: unit" "$(handoff judge--analyst)"
    message judge gate ',"route_targets":["analyst"],"check_results":[]' | $1 gate.$2
    is "PASS: All pass." "$(handoff judge--next)"
    $1 test.$2
    boot
    CLIQ_URL=$URL CLIQ_KEY=$KEY $1 hub.$2 >said
    has "$(<said)" 'working on: Review PR #42'
    has "$(cliq signal list --delivery-state acked --json)" "Review PR #42"
}

@test "the README of the SDK for JavaScript" {
    command -v node >/dev/null || skip "no node"
    cliq sdk install js .
    echo '{"type":"module"}' >package.json
    blocks "$ROOT/sdk-js/README.md" js
    follow_readme node js
}

@test "the README of the SDK for Python" {
    cliq sdk install python .
    blocks "$ROOT/sdk-python/README.md" python
    follow_readme "$PY" py
}
