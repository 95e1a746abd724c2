#!/usr/bin/env bats
# The SDK's reference page: every program on it, taken from the page as it stands, runs with our SDK, its tests with vitest,
# and passes `tsc --strict`. Models and services are servers on 127.0.0.1. CLIQ_PAGE says where the page is.
load agents
load ../scenario/notifiers

page_here=("$ROOT"/../shared/seeds/001_*.txt)
PAGE=${CLIQ_PAGE:-${page_here[0]}}
CLIENTS=${CLIENTS:-$AGENTS_CACHE/clients/node_modules}

eval "base_$(declare -f setup)"
setup() {
    base_setup
    mkdir -p "$T/page" "$T/node_modules/@anthropic-ai" "$T/node_modules/@types"
    local module
    for module in openai @anthropic-ai/sdk vitest @types/node; do ln -s "$CLIENTS/$module" "$T/node_modules/$module"; done
    cliq sdk install js "$T"
    echo '{"type":"module"}' >"$T/page/package.json"
    cp "$ROOT/test/agents/sdk_page_model.ts" "$T/page/model.ts"
}
page() {
    [ -f "$PAGE" ] || skip "the page is not here: set CLIQ_PAGE"
    node "$ROOT/test/agents/sdk_page.mjs" "$PAGE" "$T/page" >"$T/blocks"
}
# takes NAME PATH: the page's program as an agent of the team.
takes() {
    mkdir -p "$T/team/agents/$2"
    cp "$T/page/$1.ts" "$T/team/agents/$2/index.ts"
    cp "$T/page/model.ts" "$T/team/agents/$2"
    echo '{"type":"module"}' >"$T/team/agents/$2/package.json"
    AGENTS="$AGENTS  $1: {entry: agents/$2/index.ts, env: [MODEL_URL, SERVICE_URL, OPENAI_API_KEY, OPENAI_BASE_URL, ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL]}
"
}
manifest() { # DIRECTORY NAME CAPABILITY SETTING
    printf '{"name":"%s","version":"1.0.0","description":"of the page","entry":"./index.ts","capabilities":[%s],"settings":{"optional":["%s"]},"schema":{}}' \
        "$2" "$3" "$4" >"$T/team/agents/$1/manifest.json"
}
requested() { "$PY" -c 'import json,sys
r = [json.loads(line) for line in open(sys.argv[1])][int(sys.argv[2])]
print(" ".join([r["method"], r["path"], r["body"]]).strip())' "$T/requests" "$1"; }
model() {
    llm
    export MODEL_URL=$LLM OPENAI_API_KEY=k OPENAI_BASE_URL=$LLM/v1 ANTHROPIC_API_KEY=k ANTHROPIC_BASE_URL=$LLM
}
roles() {
    mkdir -p "$T/team/roles"
    local phase
    for phase; do echo "You are the $phase of the team." >"$T/team/roles/$phase.md"; done
}
text_of() { json "$STATE/channels/$1/handoff.json" 'd["text"]'; }

@test "the page has the programs that are tested here" {
    page
    is "acme_connector.test claude-reviewer my-analyst-agent.test my-api-agent openai-analyst openai-researcher slack strict-reviewer task-tracker tool-agent" \
        "$(sed -n 's/^program \(.*\)\.ts$/\1/p' "$T/blocks" | sort | paste -sd' ')"
    is "fragment-1 fragment-2 fragment-3 import-194 import-212 shell.sh types use-1 use-2" \
        "$(grep -v ^program "$T/blocks" | sed 's/\.ts$//' | sort | paste -sd' ')"
}

@test "the page's agents work together: analyst, researcher, tools, task board, both gates" {
    page
    model
    takes openai-analyst analyst
    takes openai-researcher researcher
    takes tool-agent tools
    takes task-tracker tracker
    takes strict-reviewer reviewer
    takes claude-reviewer judge
    roles analysis study build review verdict
    team <<'YAML'
phases:
  - {name: research, agent: exec, commands: [{name: find, run: "echo three findings"}]}
  - {name: analysis, agent: openai-analyst, depends_on: [research]}
  - {name: study, agent: openai-researcher, depends_on: [analysis]}
  - {name: build, agent: tool-agent, depends_on: [study]}
  - {name: track, agent: task-tracker, depends_on: [build]}
  - name: review
    type: gate
    agent: strict-reviewer
    depends_on: [track]
    max_iterations: 4
    commands: [{name: unit, run: '[ -e once ] || { touch once; exit 1; }'}]
  - {name: verdict, type: gate, agent: claude-reviewer, depends_on: [review, build], max_iterations: 4}
  - {name: report, agent: exec, commands: [{name: end, run: "true"}], depends_on: [verdict]}
YAML
    script <<'JSON'
[{"when":"You are the analysis","turns":[{"text":"the analysis"}]},
 {"when":"You are the study","turns":[{"text":"the study"}]},
 {"when":"the tool says LOOK","turns":[{"text":"built"}]},
 {"when":"You are the build","turns":[{"text":"tool look"}]},
 {"when":"You are the review","turns":[{"text":"no, not yet"},{"text":"yes, it is good"}]},
 {"when":"You are the verdict","turns":[{"text":"ROUTE, please"},{"text":"PASS it is"}]}]
JSON
    cliq req -m "Find out" >/dev/null
    run_ok
    is "the analysis" "$(text_of analysis--study)"
    is "the study" "$(text_of study--build)"
    is "built" "$(text_of build--track)"
    is "Tracked." "$(text_of track--review)"
    has "$(<"$STATE/task_board.md")" "- [x] track"
    has "$(<"$STATE/task_board.md")" "  - Completed: "
    # the first gate: a check failed, the model said no, then yes; the second one sent the work back once
    has "$(text_of review--track)" "ROUTE to track: no, not yet"
    is "PASS: yes, it is good" "$(text_of review--verdict)"
    is "PASS: PASS it is" "$(text_of verdict--report)"
    is "## research--analysis" "$(asked 'q[0]["body"]["messages"][0]["content"].splitlines()[0]')"
    is "True" "$(asked 'any(r["path"] == "/v1/chat/completions" and r["body"]["messages"][1]["content"] == "## analysis--study\n\nthe analysis\n" for r in q)')"
    is "True" "$(asked 'any("## review--verdict" in r["body"]["messages"][0]["content"] for r in q if r["rule"] == 5)')"
    has "$(cat "$STATE"/signals/build.jsonl)" '"message":"Iteration 2..."'
}

@test "the page's researcher without a handoff asks with the requirement" {
    page
    model
    takes openai-researcher researcher
    roles study
    team <<<'phases: [{name: study, agent: openai-researcher}]'
    cliq req -m "Find out" >/dev/null
    run_ok
    is "True" "$(asked 'q[-1]["body"]["messages"][1]["content"].strip() == "Find out"')"
}

@test "the page's agent for notifications delivers to its channel, and its connectivity test says what is missing" {
    page
    server hook_server.py
    takes slack slack
    takes my-api-agent api
    manifest slack my-slack '"notify"' channels
    manifest api my-api-agent '"phase:standard"' api_key
    AGENTS=${AGENTS/  slack:/  my-slack:}
    team <<<'phases: [{name: work, agent: exec, commands: [{name: a, run: "true"}]}]'
    "$CLIQ" settings agents.my-slack.channels "{\"ops\":{\"webhook_url\":\"$URL/hook/ops\"}}" >/dev/null
    "$CLIQ" settings notifications.on_complete '["my-slack:ops"]' >/dev/null
    run_ok
    is 1 "$(requests)"
    like "$(requested 0)" '^POST /hook/ops .*"text":"Pipeline event: on_complete","blocks":\[\{"type":"section",'
    got doctor agent my-api-agent
    code_is 1
    has "$out$err" "Missing api_key in settings"
}

@test "the page's connector gets its sources and delivers its targets" {
    page
    server hook_server.py
    export SERVICE_URL=$URL/hook
    sed "s/name: 'fragment'/name: 'acme-connector'/" "$T/page/fragment-3.ts" >"$T/page/acme-connector.ts"
    takes acme-connector acme
    team <<'YAML'
phases:
  - name: fetch-issues
    agent: acme-connector
    action: get
    sources:
      - name: report.json
        ref: "reports/latest"
  - {name: analyst, agent: exec, commands: [{name: analyse, run: "wc -c <.cliq/files/fetch-issues/report.json >analysis.json"}], depends_on: [fetch-issues]}
  - name: push-results
    agent: acme-connector
    action: create
    depends_on: [analyst]
    target_entries:
      - name: result
        file: analysis.json
        ref: "results/new"
YAML
    run_ok
    is "GET /hook/get/reports/latest ok" "$(requested 0) $(<"$STATE/files/fetch-issues/report.json")"
    is "POST /hook/create/results/new $(<analysis.json)" "$(requested 1)"
}

@test "the page's steps pipe a message to an agent" {
    page
    model
    script <<<'[{"when":"research analyst","turns":[{"text":"so it is"}]}]'
    mkdir -p "$T/work/agents/analyst"
    cd "$T/work"
    cp "$T/page/openai-analyst.ts" agents/analyst/index.ts
    cp "$T/page/model.ts" "$T/page/package.json" agents/analyst
    sed "s|/path/to/your/project|$PWD|; s|node agents/analyst/index.js|node agents/analyst/index.ts|" "$T/page/shell.sh" >shell.sh
    bash -e shell.sh >said
    has "$(<said)" '"text": "so it is"'
    has "$(<said)" '"status":"complete"'
    is "True" "$(asked '"Research findings." in q[-1]["body"]["messages"][0]["content"]')"
}

@test "the page's tests pass with vitest" {
    page
    cd "$T/page"
    got_from node "$CLIENTS/vitest/vitest.mjs" run --no-color
    code_is 0
    like "$out" 'Tests +2 passed \(2\)'
}

# strict FILE...: tsc --strict, as Node resolves modules and as bundlers do.
strict() {
    cat >tsconfig.json <<JSON
{"compilerOptions":{"strict":true,"noEmit":true,"target":"es2022","lib":["es2023","dom","dom.asynciterable"],"types":["node"],
 "allowJs":true,"checkJs":true,"allowImportingTsExtensions":true,"verbatimModuleSyntax":$2,"module":"$1","moduleResolution":"$1"},
 "include":["*.ts","*.mts","*.js"]}
JSON
    sed -i 's/"module":"bundler"/"module":"esnext"/' tsconfig.json
    got_from "$CLIENTS/.bin/tsc" -p .
    is "" "$out$err"
    code_is 0
}

# runs_ts PATH: a new team in TypeScript with the programs of this PATH.
runs_ts() {
    rm -rf "$T/ts"
    mkdir "$T/ts"
    cd "$T/ts"
    cliq team new my-team --lang ts
    cliq init >/dev/null
    PATH=$1 got assemble ./my-team
    succeeds
    cliq req -m "Greet" --input who=Ann >/dev/null
    PATH=$1 got run --headless
    code_is 0
    is "Hello, Ann" "$(<.cliq/files/greet/greeting.txt)"
}

@test "a new team in TypeScript runs with node's type stripping, and with tsx where node has none" {
    runs_ts "$PATH"
    mkdir "$T/old"
    printf '#!/bin/sh\ncase $1 in --experimental-strip-types) echo "bad option: $1" >&2; exit 9 ;; esac\nexec "%s" "$@"\n' "$(command -v node)" >"$T/old/node"
    chmod +x "$T/old/node"
    printf '#!/bin/sh\necho tsx >>"%s"\nexec "%s" "%s/tsx/dist/cli.mjs" "$@"\n' "$T/used" "$(command -v node)" "$CLIENTS" >"$T/old/tsx"
    chmod +x "$T/old/tsx"
    runs_ts "$T/old:/usr/bin:/bin"
    is tsx "$(<"$T/used")"
}

@test "tsc --strict accepts the page's programs and types with our declarations" {
    page
    cp "$ROOT/test/agents/sdk_types.ts" "$T/page"
    cd "$T/page"
    strict nodenext false
    strict bundler false
}

@test "tsc --strict accepts our declarations, first agents and examples" {
    mkdir "$T/ours"
    cd "$T/ours"
    echo '{"type":"module"}' >package.json
    cp "$ROOT/sdk-js/starter.ts" .
    cp "$ROOT/sdk-js/starter.js" first.js
    awk '$0 == "```js" { is_in = 1; name = ""; next } $0 == "```" { is_in = 0 }
        is_in && name == "" { name = $2; next } is_in { print > name }' "$ROOT/sdk-js/README.md"
    rm gate.js # in TypeScript its context would be `as GateContext`
    strict nodenext true
    # a wrong use is an error
    echo "import { build_phase_context } from '@cliqhub/cliq-sdk'; build_phase_context({}).send(1, 2);" >wrong.ts
    got_from "$CLIENTS/.bin/tsc" -p .
    [ "$code" != 0 ]
    has "$out" "wrong.ts"
}

@test "pyright accepts the SDK for Python, its first agent and the examples" {
    cliq sdk install python "$T/work"
    cd "$T/work"
    cp "$ROOT/sdk-python/cliq_sdk/starter.py" "$ROOT/examples/agent-py/agent.py" .
    awk '$0 == "```python" { is_in = 1; name = ""; next } $0 == "```" { is_in = 0 }
        is_in && name == "" { name = "readme_" $2; next } is_in { print > name }' "$ROOT/sdk-python/README.md"
    echo '{"include":["."],"pythonVersion":"3.9","typeCheckingMode":"standard"}' >pyrightconfig.json
    got_from "$CLIENTS/.bin/pyright"
    code_is 0
    has "$out" "0 errors, 0 warnings"
    echo 'from cliq_sdk import build_phase_context; build_phase_context({}).send(1)' >wrong.py
    got_from "$CLIENTS/.bin/pyright"
    code_is 1
}
