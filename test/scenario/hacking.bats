#!/usr/bin/env bats
# The walks of docs/HACKING.md, followed word for word in a copy of the tree: what they say to write is
# written, what they say to run is run, and must print what they say. follow_walk.py does that.
load ../lib/cli
load ../lib/server

# follow HEADING: that walk, in $T/tree; then $CLIQ is what it built.
follow() {
    mkdir -p "$T/tree/build"
    cp -a "$ROOT"/{Makefile,CHANGELOG.md,include,src,man,web,sdk-js,tools} "$T/tree"
    cp -a "$BIN"/{obj,flags} "$T/tree/build" # objects that the walk does not touch are not compiled again
    (
        export BUILD=build MAKEFLAGS=-j2
        [ "${BIN##*/}" != sanitize ] || export SANITIZE=1
        $PY "$ROOT/test/scenario/follow_walk.py" "$ROOT/docs/HACKING.md" "$1" "$T/tree"
    )
    CLIQ=$T/tree/build/cliq
}

@test "HACKING: a new subcommand" {
    follow "A new subcommand"
    got hello --help
    succeeds
    has "$out" "Usage: cliq hello --room ROOM"
    has "$(cliq help)" "greet a room"
    has "$(cliq complete -- hel)" hello
    [ -z "$(command -v scdoc)" ] || [ -s "$T/tree/build/man/cliq-hello.1" ]
    got hello
    refused 2 --room
}

@test "HACKING: a new built-in agent" {
    follow "A new built-in agent"
    has "$(cliq team info --agents --json)" '"name":"relay","kind":"special"'
    is COMPLETED "$(<"$T/tree/try/.cliq/signals/_pipeline_status")"
    got agent relay --help
    succeeds
    [ -z "$(command -v scdoc)" ] || [ -s "$T/tree/build/man/cliq-agent-relay.1" ]
}

@test "HACKING: a new operation of the hub" {
    follow "A new operation of the hub"
    cliq role add reviewer
    cliq emit task "PR 42" --to-role reviewer
    boot
    is '{"open":1}' "$(curl -sS "$URL/roles/reviewer/backlog" -H "Authorization: Bearer $KEY" |
        $PY -c 'import json,sys; print(json.dumps(json.load(sys.stdin)["data"], separators=(",", ":")))')"
    is 401 "$(curl -sS -o "$T/refused" -w '%{http_code}' "$URL/roles/reviewer/backlog")"
    curl -sS "$URL/openapi.json" >"$T/openapi.json"
    got_from $PY - "$T/openapi.json" <<'END'
import json, sys
api = json.load(open(sys.argv[1]))
get = api["paths"]["/roles/{role}/backlog"]["get"]
print(get["summary"], [p["name"] for p in get["parameters"]], list(api["components"]["schemas"]["Backlog"]["properties"]))
END
    is "count a role's open tasks ['role'] ['open']" "$out"
    grep -q '"backlog"' "$T/tree/man/cliq-sdk.3.scd" # sdk.bats wants it of every operation
}
