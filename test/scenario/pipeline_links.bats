#!/usr/bin/env bats
# Links below agents/: those that npm and Python make inside a team are copied and trusted as links.
load pipeline

# A team whose agent runs a program through node_modules/.bin, as npm makes it.
npm_team() {
    agent my-agent <<'END2'
ok
"$(dirname "$0")/node_modules/.bin/greet" >"$T/greeting"
complete
END2
    local m=$T/team/agents/my-agent/node_modules
    mkdir -p "$m/.bin" "$m/greet/empty"
    printf '#!/bin/sh\necho hello\n' >"$m/greet/cli.js"
    chmod 755 "$m/greet/cli.js"
    ln -s ../greet/cli.js "$m/.bin/greet"
    team <<<'phases: [{name: only, agent: my-agent}]'
}

@test "a team with node_modules is assembled with its links, and runs" {
    npm_team
    is ../greet/cli.js "$(readlink .cliq/agents/my-agent/node_modules/.bin/greet)"
    run_ok
    is hello "$(<"$T/greeting")"
    assemble # over the old links
    run_ok
}

@test "npm install in the agent's directory leaves a team that can be assembled" {
    command -v npm >/dev/null || skip "no npm"
    npm_team
    cd "$T/team/agents/my-agent"
    rm -r node_modules
    mkdir -p vendor/greet
    printf '#!/usr/bin/env node\nconsole.log("hello")\n' >vendor/greet/cli.js
    echo '{"name":"greet","version":"1.0.0","bin":{"greet":"cli.js"}}' >vendor/greet/package.json
    npm init -y >/dev/null
    npm install --offline --no-audit --no-fund ./vendor/greet >"$T/npm" 2>&1 || { cat "$T/npm"; false; }
    [ -L node_modules/.bin/greet ]
    cd "$T/proj"
    got assemble ../team
    code_is 0
    run_ok
    is hello "$(<"$T/greeting")"
}

@test "a Python environment with copies can be assembled; one with links names --copies" {
    command -v python3 >/dev/null || skip "no python3"
    agent py <<'END2'
ok
"$(dirname "$0")/venv/bin/python" -c 'import sys; print(sys.prefix)' >"$T/prefix"
complete
END2
    python3 -m venv --without-pip "$T/team/agents/py/venv"
    mkdir -p "$T/proj" && cd "$T/proj"
    if team <<<'phases: [{name: only, agent: py}]' 2>"$T/said"; then complain "links out are accepted"; fi
    has "$(<"$T/said")" "agents/py/venv/bin/python"
    has "$(<"$T/said")" "is a link to "
    has "$(<"$T/said")" "make this environment with python3 -m venv --copies"
    rm -r "$T/team/agents/py/venv"
    python3 -m venv --without-pip --copies "$T/team/agents/py/venv"
    got assemble ../team
    code_is 0
    run_ok
    is "$STATE/agents/py/venv" "$(<"$T/prefix")"
}

@test "a Python agent that imports its own module stays trusted" {
    agent py <<<'ok; python3 "$(dirname "$0")/main.py" >"$T/said" || fail no; complete'
    echo 'print("imported")' >"$T/team/agents/py/helper.py"
    echo 'import helper' >"$T/team/agents/py/main.py"
    team <<<'phases: [{name: only, agent: py}]'
    unset PYTHONDONTWRITEBYTECODE
    run_ok
    is imported "$(<"$T/said")"
    run_ok
}

@test "a compiled Python file stays valid in the copy: a file keeps its time" {
    agent a <<<'ok; complete'
    touch -d '2001-02-03 04:05:06' "$T/team/agents/a/old"
    team <<<'phases: [{name: only, agent: a}]'
    is "2001-02-03 04:05:06" "$(stat -c %y .cliq/agents/a/old | cut -d. -f1)"
}

@test "a link that leads out is refused by assemble and by validate; nothing is changed" {
    npm_team
    ln -s ../../../secret "$T/team/agents/my-agent/out"
    echo secret >"$T/secret"
    cp -r .cliq "$T/before"
    got assemble ../team
    refused 7 "agents/my-agent/out is a link to ../../../secret, which leads out of the team's agents/"
    diff -r --no-dereference "$T/before/agents" .cliq/agents
    got team validate ../team
    code_is 1
    has "$out" "error: agents/my-agent/out is a link to ../../../secret, which leads out"
}

@test "trust covers links: another target, or a file in a link's place, is not trusted" {
    npm_team
    run_ok
    cd .cliq/agents/my-agent/node_modules
    ln -sf ../greet/other .bin/greet
    got run --headless
    refused 7 "cliq team trust"
    rm .bin/greet
    printf %s ../greet/cli.js >.bin/greet # the same text, as a file
    got run --headless
    refused 7 "cliq team trust"
    ln -sf ../greet/cli.js .bin/greet
    run_ok
    ln -s /etc/passwd .bin/out
    got run --headless
    refused 7 "agents/my-agent/node_modules/.bin/out is a link to /etc/passwd, which leads out"
}
