#!/usr/bin/env bats
# team new, validate, info: the first commands for a new team.
load ../lib/cli

@test "a new team is valid without any warning" {
    got team new my-team
    succeeds
    has "$out" "made the team @local/my-team in my-team"
    got team validate my-team
    succeeds
    is "my-team/team.yml: valid: @local/my-team, 3 phases" "$out"
}

@test "a new team may have a scope and a directory" {
    got team new @acme/review --dir there
    succeeds
    has "$(<there/team.yml)" 'name: "@acme/review"'
    has "$(<there/README.md)" "cliq assemble ./there"
}

@test "a directory that exists is not touched" {
    mkdir my-team
    got team new my-team
    is 5 "$code"
    has "$err" "my-team exists already"
    is "" "$(ls my-team)"
}

@test "a bad name creates nothing" {
    got team new "My Team"
    is 2 "$code"
    is "" "$(ls)"
    got team new ../up
    is 2 "$code"
}

@test "validate finds team.yml, workflow.yml and .cliq/workflow.yml, or accepts a file" {
    got team new t
    got team validate t/team.yml
    succeeds
    (cd t && mkdir .cliq && mv team.yml .cliq/workflow.yml)
    got team validate t
    succeeds
    has "$out" "t/.cliq/workflow.yml: valid"
    mv t/.cliq/workflow.yml t/workflow.yml
    got team validate t
    succeeds
    has "$out" "t/workflow.yml: valid"
}

@test "validate without a team is not found" {
    got team validate
    is 4 "$code"
    has "$err" "no team.yml in ."
    got team validate nowhere
    is 4 "$code"
    has "$err" "no directory nowhere"
}

@test "validate prints every problem with its position and exits 1" {
    printf 'name: t\nphases:\n  - { name: a, agent: exek }\n  - { name: b, depends_on: [c] }\n' >team.yml
    got team validate
    is 1 "$code"
    is "" "$err"
    has "$out" 'team.yml:3:23: error: unknown agent "exek" (did you mean "exec"?)'
    has "$out" 'team.yml:4:29: error: depends on unknown phase "c"'
    has "$out" 'team.yml: not valid: 3 errors, 1 warning'
}

@test "validate --json is an array of problems" {
    printf 'name: t\nphases:\n  - { name: a, agent: exek }\n' >team.yml
    got team validate --json
    is 1 "$code"
    is "error 3 23 a agent" "$($PY -c 'import json,sys; p=[x for x in json.load(sys.stdin) if x["level"]=="error"][0]; print(p["level"], p["line"], p["column"], p["phase"], p["field"])' <"$T/out")"
    got team new ok
    got team validate --json ok
    succeeds
    is "[]" "$out"
}

@test "warnings alone are no failure" {
    printf 'name: t\nphases:\n  - { name: a, agent: exec, commands: [{ name: c, run: x }] }\n' >team.yml
    got team validate
    succeeds
    has "$out" "warning: the team has no description"
    has "$out" "team.yml: valid: t, 1 phase, 1 warning"
}

@test "a file that is not YAML is one problem" {
    printf 'name: t\nname: u\n' >team.yml
    got team validate
    is 1 "$code"
    has "$out" 'team.yml:2:1: error: duplicate key "name": the first is in line 1, column 1'
}

@test "all duplicate keys are reported at once, and of very many the first" {
    printf 'name: t\nphases:\n  - { name: a, name: b }\nname: u\nversion: 1\nversion: 2\n' >team.yml
    got team validate
    is 1 "$code"
    has "$out" 'team.yml:3:16: error: duplicate key "name": the first is in line 3, column 7'
    has "$out" 'team.yml:4:1: error: duplicate key "name": the first is in line 1, column 1'
    has "$out" 'team.yml:6:1: error: duplicate key "version": the first is in line 5, column 1'
    yes 'name: t' | head -n 50001 >team.yml
    got team validate
    is 1 "$code"
    is 20 "$(grep -c 'duplicate key "name"' "$T/out")"
    has "$out" '49980 more duplicate keys are not shown'
}

@test "info shows phases in the order of the graph" {
    cat >team.yml <<'END'
name: t
description: d
version: 1.0.0
phases:
  - { name: last, agent: exec, depends_on: [first], commands: [{ name: c, run: x }] }
  - { name: first, agent: exec, commands: [{ name: c, run: x }] }
support:
  - { name: fixer, agent: exec, commands: [{ name: c, run: x }] }
END
    got team info
    succeeds
    has "$out" "1.0.0"
    is "first last fixer" "$(sed '1,/^PHASE/d' "$T/out" | awk '{printf "%s%s", s, $1; s=" "}')"
    got team info --json
    succeeds
    is "t True last 1" "$($PY -c 'import json,sys; d=json.load(sys.stdin); p=[x for x in d["phases"] if x["name"]=="last"][0]; print(d["name"], d["valid"], p["name"], p["step"])' <"$T/out")"
}

@test "info of a team with a cycle still prints the team, and warns" {
    printf 'name: t\nphases:\n  - { name: a, depends_on: [b] }\n  - { name: b, depends_on: [a] }\n' >team.yml
    got team info
    is 0 "$code"
    like "$out" 'a +standard +\(default\) +b'
    has "$err" "see \`cliq team validate\`"
}

@test "info --agents lists the built-in agents with their kind" {
    got team info --agents
    succeeds
    like "$out" 'claude-code +cli'
    like "$out" 's3 +connector'
    is "$(grep -cE '^(AGENT|ACP)\(' "$ROOT/src/agents/agents.def")" "$(grep -vc 'AGENT\|not in this version' <<<"$out")"
    got team info --agents --json
    succeeds
    is "$(sed -nE 's/^(AGENT|ACP)\([a-z0-9_]*, "([^"]*)".*/\2/p' "$ROOT/src/agents/agents.def")" \
        "$($PY -c 'import json,sys; print(*[a["name"] for a in json.load(sys.stdin) if a["available"]], sep="\n")' <"$T/out")"
    is "$(grep -cE '^(AGENT|ACP|PLANNED)\(' "$ROOT/src/agents/agents.def")" "$($PY -c 'import json,sys; print(len(json.load(sys.stdin)))' <"$T/out")"
}

@test "info --agents DIR also lists the team's own agents, with their manifests" {
    mkdir -p my/agents/digest my/agents/plain
    printf '#!/bin/sh\n' | tee my/agents/digest/agent.sh >my/agents/plain/agent.sh
    echo '{"name": "digest", "description": "digests things", "env": ["LANG"]}' >my/agents/digest/manifest.json
    cat >my/team.yml <<'END'
name: t
description: d
agents:
  digest: { entry: agents/digest/agent.sh }
  plain: { entry: agents/plain/agent.sh }
phases:
  - { name: a, agent: digest }
  - { name: b, agent: plain }
END
    got team info --agents my
    succeeds
    like "$out" 'digest +custom +team +digests things'
    like "$out" 'plain +custom +team +agents/plain/agent.sh'
    like "$out" 's3 +connector'
    got team info --agents my --json
    succeeds
    is "$(($(grep -cE '^(AGENT|ACP|PLANNED)\(' "$ROOT/src/agents/agents.def") + 2)) ['LANG'] False" "$($PY -c 'import json,sys; d=json.load(sys.stdin); print(len(d), d[0]["manifest"]["env"], "manifest" in d[1])' <"$T/out")"
    got team info --agents nowhere
    code_is 4
    lacks "$out" connector
}

@test "info --agents --json shows the settings that a built-in agent may have" {
    got team info --agents --json
    succeeds
    is "timeout max_bytes proxy" "$($PY -c 'import json,sys; print(*[a for a in json.load(sys.stdin) if a["name"] == "curl"][0]["manifest"]["settings"]["optional"])' <"$T/out")"
    got team info --agents curl
    succeeds
    like "$out" 'settings +timeout, max_bytes, proxy'
    got team info --agents claude-code --json
    succeeds
    is "phase:standard phase:gate test claude list ['continue', 'fresh']" "$($PY -c 'import json,sys; m=json.load(sys.stdin)["manifest"]; print(*m["capabilities"], *m["binaries"], m["schema"]["args"]["type"], m["schema"]["session"]["enum"])' <"$T/out")"
    got team info --agents claud-code
    code_is 4
    has "$err" 'did you mean claude-code?'
}

# install NAME [MANIFEST]: installs an agent for this user.
install_agent() {
    local manifest='{"name": "'$1'", "description": "does it", "entry": "./agent.sh"}'
    mkdir -p "$CLIQ_HOME/agents/$1"
    printf '#!/bin/sh\n' >"$CLIQ_HOME/agents/$1/agent.sh"
    printf '%s' "${2:-$manifest}" >"$CLIQ_HOME/agents/$1/manifest.json"
}

@test "an installed agent is known to validation, to lists and to suggestions" {
    install_agent wanda
    printf 'name: t\ndescription: d\nphases:\n  - { name: a, agent: wanda }\n' >team.yml
    got team validate
    succeeds
    has "$out" "valid: t, 1 phase"
    lacks "$out" warning
    got team info --agents
    like "$out" 'wanda +custom +installed +does it'
    got team info --agents --json
    is "installed $CLIQ_HOME/agents/wanda True ./agent.sh" "$($PY -c 'import json,sys; a=json.load(sys.stdin)[0]; print(a["from"], a["dir"], a["available"], a["manifest"]["entry"])' <"$T/out")"
    printf 'name: t\ndescription: d\nphases:\n  - { name: a, agent: wnada }\n' >team.yml
    got team validate
    code_is 1
    has "$out" 'unknown agent "wnada" (did you mean "wanda"?): it is neither built in nor installed here nor declared under agents'
}

@test "an installed agent runs a phase that names it; the project still needs trust" {
    install_agent wanda
    cat >"$CLIQ_HOME/agents/wanda/agent.sh" <<END
eval "\$("$CLIQ" sdk begin)"
"$CLIQ" sdk complete '{"by": "wanda"}'
END
    mkdir team
    printf 'name: t\ndescription: d\nphases:\n  - { name: a, agent: wanda }\n' >team/team.yml
    got init
    is 0 "$code"
    got assemble ./team
    succeeds
    got req -m x
    is 0 "$code"
    got run --headless
    is 0 "$code"
    has "$(cat .cliq/signals/a.jsonl)" wanda
    echo '# another' >>.cliq/workflow.yml
    got run --headless
    code_is 7
}

@test "the error for an unknown agent lists the known ones, installed ones too" {
    install_agent wanda
    mkdir team
    printf 'name: t\ndescription: d\nphases:\n  - { name: a }\n' >team/team.yml
    mkdir team/roles && echo x >team/roles/a.md
    got init
    is 0 "$code"
    got assemble ./team
    is 0 "$code"
    got req -m x
    is 0 "$code"
    got run --headless --agent wnda
    code_is 4
    has "$err" "the agent wnda is not installed (did you mean wanda?); these are: wanda, exec, checks, script, curl"
    for word in claude:claude-code openai:openai-api cursor-agent:cursor gemini-cli:gemini; do
        printf 'name: t\ndescription: d\nphases:\n  - { name: a, agent: %s }\n' "${word%:*}" >team/team.yml
        got team validate team
        has "$out" "unknown agent \"${word%:*}\" (did you mean \"${word#*:}\"?)"
    done
    got identity add bo --agent ww --dir .
    is 0 "$code"
    has "$err" "the agent ww is not installed; these are: wanda, exec"
}

@test "an installed agent hides the built-in one of its name, and the team's own hides both" {
    install_agent exec
    printf 'name: t\ndescription: d\nphases:\n  - { name: a, agent: exec }\n' >team.yml
    got team validate # the built-in exec would require commands
    succeeds
    got team info --agents
    like "$out" 'exec +special +built in .*\(hidden by the one above\)'
    mkdir agents && printf '#!/bin/sh\n' >agents/x.sh
    printf 'name: t\ndescription: d\nagents: { exec: { entry: agents/x.sh } }\nphases:\n  - { name: a, agent: exec }\n' >team.yml
    got team info --agents . --json
    is "team False installed True built in True" "$($PY -c 'import json,sys; print(*[x for a in json.load(sys.stdin) if a["name"] == "exec" for x in (a["from"], a["hidden"])])' <"$T/out")"
}

@test "a directory without an entry is no agent; an installed agent's invalid manifest is reported" {
    install_agent bare '{"name": "bare"}'
    printf 'name: t\ndescription: d\nphases:\n  - { name: a, agent: bare }\n' >team.yml
    got team validate
    code_is 1
    has "$out" 'unknown agent "bare"'
    install_agent torn '{"name": '
    install_agent poor '{"name": "poor", "entry": "agent.sh", "binaries": ["no-such-program"]}'
    printf 'name: t\ndescription: d\nphases:\n  - { name: a, agent: torn }\n  - { name: b, agent: poor }\n' >team.yml
    got team validate
    succeeds # another machine may have a valid one
    has "$out" "warning: $CLIQ_HOME/agents/torn/manifest.json:1:"
    has "$out" "(phase a, field agent)"
    has "$out" "the agent poor needs the program no-such-program"
    got team info --agents
    succeeds
    like "$out" 'torn +custom +installed +cannot be started: .*not JSON'
    lacks "$out" "bare"
}

# with_agent MANIFEST: a team of one phase, run by the agent w with this manifest.
with_agent() {
    mkdir -p t/agents/w
    printf 'name: "@a/t"\ndescription: d\nagents:\n  w: {entry: agents/w/agent.sh}\nphases:\n  - {name: one, agent: w}\n' >t/team.yml
    printf '#!/bin/sh\n' >t/agents/w/agent.sh
    printf '%s\n' "$1" >t/agents/w/manifest.json
}

@test "a manifest's member of the wrong type is an error with its position" {
    with_agent '{"name": 1, "entry": 5,
"capabilities": "notify", "settings": [], "binaries": ["git", 3]}'
    got team validate t
    is 1 "$code"
    has "$out" "t/agents/w/manifest.json:1:2: error: name must be a text"
    has "$out" "t/agents/w/manifest.json:1:13: error: entry must be a text"
    has "$out" "t/agents/w/manifest.json:2:1: error: capabilities must be a list of texts"
    has "$out" "t/agents/w/manifest.json:2:27: error: settings must be an object"
    has "$out" "t/agents/w/manifest.json:2:43: error: binaries must be a list of texts"
    got assemble ./t
    is 1 "$code"
    has "$err" "manifest.json:1:13: error: entry must be a text"
}

@test "a manifest that is not JSON is an error of the team" {
    with_agent '{"name": "w",}'
    got team validate t
    is 1 "$code"
    has "$out" "t/agents/w/manifest.json:1:14: error: not JSON: "
}

@test "an unknown capability, a misspelt key and the name of another agent are warnings" {
    with_agent '{"name": "other", "capabilities": ["phase:standard", "phase:standrd"], "binarys": ["git"], "author": "me"}'
    got team validate t
    succeeds
    has "$out" 'warning: unknown capability "phase:standrd" (did you mean "phase:standard"?)'
    has "$out" 'warning: unknown key "binarys" (did you mean "binaries"?)'
    has "$out" 'warning: it names the agent "other", but team.yml calls it "w"'
    lacks "$out" author
}

@test "a manifest with all its members is clean" {
    with_agent '{"name":"w","version":"1.0.0","min_cliq_version":"0.0.1","description":"d","entry":"./agent.sh",
"capabilities":["phase:standard","phase:gate","notify","test"],"role":"optional","binaries":["sh"],"env":["LANG"],
"settings":{"required":[],"optional":["model",{"key":"effort","description":"d"}]},"schema":{},"output":{"data":null}}'
    got team validate t
    succeeds
    is "t/team.yml: valid: @a/t, 1 phase" "$out"
}

@test "an agent that needs a newer cliq is an error, and neither packed, installed, assembled nor run" {
    with_agent '{"name": "w",
 "min_cliq_version": "900.1.0"}'
    got team validate t
    code_is 1
    has "$out" "t/agents/w/manifest.json:2:2: error: the agent needs cliq 900.1.0 or newer; this is cliq "
    for words in "team pack t" "team install ./t" "assemble ./t"; do
        got $words
        code_is 1
        has "$err" "the agent needs cliq 900.1.0"
    done
    with_agent '{"name": "w", "min_cliq_version": "soon"}'
    got team validate t
    has "$out" "t/agents/w/manifest.json:1:15: error: min_cliq_version must be a version like 1.2.3"
    with_agent '{"name": "w"}'
    "$CLIQ" init >/dev/null
    "$CLIQ" assemble ./t >/dev/null
    echo '{"name": "w", "min_cliq_version": "900.1.0"}' >.cliq/agents/w/manifest.json
    "$CLIQ" team trust >/dev/null
    "$CLIQ" req -m hello >/dev/null
    got run
    code_is 1
    has "$err" "the agent needs cliq 900.1.0"
    mkdir -p "$CLIQ_HOME/agents/far"
    echo '{"name": "far", "entry": "agent.sh", "min_cliq_version": "900.1.0"}' >"$CLIQ_HOME/agents/far/manifest.json"
    : >"$CLIQ_HOME/agents/far/agent.sh"
    got team info --agents
    has "$out" "the agent needs cliq 900.1.0"
}

@test "a missing program of a manifest is a warning of assemble and an error of run" {
    with_agent '{"name": "w", "binaries": ["sh", "no-such-program"]}'
    got assemble ./t
    is 0 "$code"
    has "$err" "phase one: the agent w needs the program no-such-program (binaries in its manifest), which is not on PATH"
    got run --headless
    is 4 "$code"
    has "$err" "phase one: the agent w needs the program no-such-program"
    [ ! -e .cliq/run/attempts/one.1 ]
}

# node_that CODE: a node on PATH that exits with CODE when asked to strip types, as versions
# before 22.6 do with 9; and a team whose agent is written in TypeScript.
node_that() {
    mkdir -p bin t/agents/w
    printf '#!/bin/sh\n[ "$1" != --experimental-strip-types ] || exit %s\n' "$1" >bin/node
    chmod +x bin/node
    PATH=$PWD/bin:/usr/bin:/bin
    ! command -v tsx >/dev/null || skip "tsx is there"
    printf 'name: "@a/t"\ndescription: d\nagents:\n  w: {entry: agents/w/index.ts}\nphases:\n  - {name: one, agent: w}\n' >t/team.yml
    touch t/agents/w/index.ts
}

@test "a node too old for TypeScript is a warning of validate and assemble, an error of run" {
    node_that 9
    got team validate t
    succeeds
    has "$out" "t/team.yml:4:3: warning: agents/w/index.ts needs node 22.6 or newer, or tsx (npm install -g tsx): the node on PATH is older and cannot run TypeScript (field agents)"
    got assemble ./t
    is 0 "$code"
    has "$err" "phase one: $PWD/.cliq/agents/w/index.ts needs node 22.6 or newer, or tsx"
    got run --headless
    is 4 "$code"
    has "$err" "needs node 22.6 or newer, or tsx"
}

@test "an agent in TypeScript with tsx or a new node causes no warning" {
    node_that 0
    got team validate t
    succeeds
    is "t/team.yml: valid: @a/t, 1 phase" "$out"
    node_that 1 # it fails for another reason, which the run will report
    got team validate t
    succeeds
    is "t/team.yml: valid: @a/t, 1 phase" "$out"
    node_that 9
    printf '#!/bin/sh\n' >bin/tsx
    chmod +x bin/tsx
    got assemble ./t
    succeeds
}

@test "validate reports the missing programs of a manifest" {
    with_agent '{"name": "w", "binaries": ["sh", "no-such-program"]}'
    got team validate t
    succeeds
    has "$out" "t/team.yml:4:3: warning: the agent w needs the program no-such-program (binaries in its manifest), which is not on PATH (field agents)"
}
