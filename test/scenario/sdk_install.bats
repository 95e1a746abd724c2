#!/usr/bin/env bats
# cliq sdk path and install, cliq team new --lang, and what make install puts into PREFIX/share/cliq.
load ../lib/cli

@test "sdk path prints where the SDK is: in the tree, in PREFIX/share/cliq, in CLIQ_SHARE" {
    got sdk path js
    succeeds
    is "$ROOT/sdk-js" "$out"
    is "$ROOT/sdk-python" "$(cliq sdk path python)"
    mkdir -p usr/bin usr/share/cliq
    cp "$CLIQ" usr/bin/cliq
    cp -r "$ROOT/sdk-js" usr/share/cliq
    is "$PWD/usr/share/cliq/sdk-js" "$(usr/bin/cliq sdk path js)"
    CLIQ_SHARE=$ROOT is "$ROOT/sdk-js" "$(CLIQ_SHARE=$ROOT usr/bin/cliq sdk path js)"
    rm -r usr/share
    CLIQ=usr/bin/cliq got sdk path js
    refused 4 "usr/bin/cliq" "make install"
    CLIQ_SHARE=/nowhere got sdk path js
    refused 4 "CLIQ_SHARE is /nowhere"
    got sdk path ruby
    refused 2 '"ruby"' "js or python"
}

@test "sdk install copies the SDK, over an older copy, too" {
    mkdir -p agents/node_modules/@cliqhub/cliq-sdk
    echo old >agents/node_modules/@cliqhub/cliq-sdk/index.js
    got sdk install js agents
    succeeds
    is "Installed the SDK in agents/node_modules/@cliqhub/cliq-sdk" "$out"
    got sdk install python
    succeeds
    local f
    for f in "$ROOT"/sdk-js/*.*; do cmp "$f" "agents/node_modules/@cliqhub/cliq-sdk/${f##*/}"; done
    for f in "$ROOT"/sdk-python/cliq_sdk/*.*; do cmp "$f" "cliq_sdk/${f##*/}"; done
    is "" "$(find . -name '*.new.*')"
    "$PY" -c 'import cliq_sdk; cliq_sdk.CliqAgent'
    got sdk install js nowhere
    refused 4 nowhere
    got sdk install ruby
    refused 2 '"ruby"'
}

@test "sdk install js says when node would not read import there: npm init -y makes such a package.json" {
    local text
    for text in '{"name":"my-agent","type":"commonjs"}' '{"name":"my-agent"}'; do
        echo "$text" >package.json
        got sdk install js
        code_is 0
        has "$err" './package.json has no "type": "module"'
        has "$err" "npm pkg set type=module"
    done
    for text in '{"type":"module"}' 'no JSON'; do
        echo "$text" >package.json
        got sdk install js
        succeeds
    done
    echo '{}' >package.json
    got sdk install python
    succeeds
}

# PATH without the directories that have a cliq.
without_cliq() {
    local dir dirs=
    for dir in ${PATH//:/ }; do [ -x "$dir/cliq" ] || dirs=$dirs:$dir; done
    echo "${dirs#:}"
}
# runs LANG: makes a team in that language and runs it at once.
runs() {
    mkdir "$1"
    cd "$1"
    got team new my-team --lang "$1"
    succeeds
    got team validate ./my-team
    succeeds
    has "$out" "valid: @local/my-team, 2 phases"
    cliq init >/dev/null
    got assemble ./my-team
    succeeds
    cliq req -m "Greet somebody" --input 'who=Ann & $(id) é' >/dev/null
    got run --headless
    code_is 0
    is 'Hello, Ann & $(id) é' "$(<.cliq/files/greet/greeting.txt)"
    is "Wrote greeting.txt for Ann & \$(id) é." "$(sed -n 's/^  "text": "\(.*\)"$/\1/p' .cliq/channels/greet--verify/handoff.json)"
    has "$(<.cliq/task_board.md)" "- [x] greet"
    cd ..
}

@test "team new --lang sh, python and js make teams that run at once, also of a cliq that is not on PATH" {
    (
        PATH=$BIN:$PATH
        runs sh
    )
    mkdir away other "$T/bin"
    cd away
    PATH=$(without_cliq) runs sh
    cd ../other
    # another one that is on PATH stays the one
    printf '#!/bin/sh\nexec "%s" "$@"\n' "$CLIQ" >"$T/bin/cliq"
    chmod +x "$T/bin/cliq"
    PATH=$T/bin:$PATH runs sh
    cd ..
    runs python
    command -v node >/dev/null || skip "no node"
    runs js
}

# lacks_sdk ENTRY TEXT HINT: an agent that imports an SDK which is not there.
lacks_sdk() {
    rm -rf t .cliq
    mkdir -p t/agents
    echo "$2" >"t/agents/$1"
    printf 'name: "@local/t"\ndescription: d\nagents: {a: {entry: agents/%s}}\nphases: [{name: one, agent: a}]\n' "$1" >t/team.yml
    cliq init >/dev/null
    got assemble ./t
    succeeds
    cliq req -m x >/dev/null
    got run --headless
    code_is 3
    has "$out" "$3"
}

@test "an agent without its SDK is told how to get it" {
    lacks_sdk a.py 'import cliq_sdk' "No module named 'cliq_sdk'; cliq sdk install python agents/NAME, in the team, brings it"
    command -v node >/dev/null || skip "no node"
    lacks_sdk a.mjs "import '@cliqhub/cliq-sdk';" "; cliq sdk install js agents, in the team, brings it"
}

@test "team new --lang c compiles its agent" {
    [ "${BIN##*/}" != sanitize ] || skip "the library needs the sanitizers"
    runs c
}

@test "team new --lang ts runs where node strips types, else it says what is missing" {
    command -v node >/dev/null || skip "no node"
    if node --experimental-strip-types --version >/dev/null 2>&1 || command -v tsx >/dev/null; then
        runs ts
        return
    fi
    cliq init >/dev/null
    cliq team new my-team --lang ts >/dev/null
    got assemble ./my-team
    has "$err" "needs node 22.6 or newer, or tsx (npm install -g tsx): the node on PATH is older and cannot run TypeScript"
    cliq req -m x >/dev/null
    got run --headless
    code_is 4
}

@test "team new --lang leaves nothing when it fails" {
    got team new t --lang ruby
    refused 2 '"ruby"' "sh, c, js, ts or python"
    CLIQ_SHARE=/nowhere got team new t --lang js
    refused 4 "/nowhere"
    PATH=/nowhere got team new t --lang c
    [ "$code" -ne 0 ]
    is "" "$(ls)"
}

@test "python -m cliq_sdk new makes an agent, and overwrites none" {
    PYTHONPATH=$(cliq sdk path python) "$PY" -m cliq_sdk new
    cmp agent.py "$ROOT/sdk-python/cliq_sdk/starter.py"
    code=0
    PYTHONPATH=$(cliq sdk path python) got_from "$PY" -m cliq_sdk new
    code_is 1
    has "$err" "cannot make agent.py"
}

@test "make install puts the SDKs into PREFIX/share/cliq, where the installed cliq finds them, and uninstall removes them" {
    make -s -C "$ROOT" -o "${BUILD:=build}/flags" install BUILD="$BUILD" DESTDIR="$T/to" PREFIX=/usr >/dev/null # nothing is built: others use it
    is "$T/to/usr/share/cliq/sdk-js" "$("$T/to/usr/bin/cliq" sdk path js)"
    "$T/to/usr/bin/cliq" sdk install python .
    diff -r -x __pycache__ "$ROOT/sdk-python/cliq_sdk" cliq_sdk
    CLIQ=$T/to/usr/bin/cliq
    if [ "${BIN##*/}" != sanitize ]; then runs c; fi
    make -s -C "$ROOT" uninstall DESTDIR="$T/to" PREFIX=/usr
    [ ! -e "$T/to/usr/share/cliq" ]
}
