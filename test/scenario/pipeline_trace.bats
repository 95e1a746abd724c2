#!/usr/bin/env bats
# The run trace of the channels and signals page, step by step, with small agents; and
# what a run leaves in .cliq/.
load pipeline

# The page's team. Its developer mends the bug when the reviewer tells it to.
page() {
    agent architect <<'END'
ls -d "$CLIQ_STATE_DIR"/channels/*/ "$CLIQ_STATE_DIR"/channels/*/* >"$T/at-start" 2>/dev/null
ls "$CLIQ_STATE_DIR/signals" >"$T/signals-at-start"
ok
hand developer '{"version":1,"phase_type":"standard","phase":"architect","agent":"architect","text":"Implement the REST API","data":{"approach":"REST","endpoints":["GET /items","POST /items"]}}'
complete
END
    agent developer <<'END'
ok
progress "reading"
[ ! -e "$CLIQ_STATE_DIR/channels/reviewer--developer/handoff.json" ] || {
    cp "$CLIQ_STATE_DIR/channels/reviewer--developer/handoff.json" "$T/feedback"
    touch fixed
}
hand reviewer '{"version":1,"phase_type":"standard","phase":"developer","agent":"developer","text":"Implemented","data":{"test_count":12}}'
complete
END
    agent reviewer <<'END'
ok
cp "$CLIQ_STATE_DIR/gates/$P/gate_context.md" "$T/gate_context.$N"
cp "$CLIQ_STATE_DIR/signals/${P}_command_results.json" "$T/results.$N"
if [ -e fixed ]; then verdict PASS "" "all good"; else verdict ROUTE developer "DELETE returns 500"; fi
END
    mkdir -p "$T/team/roles"
    for r in architect developer reviewer; do echo "You are the $r of this team, and you write down what you did for the next one." >"$T/team/roles/$r.md"; done
    team <<'END'
phases:
  - {name: architect, agent: architect}
  - {name: developer, agent: developer, depends_on: [architect]}
  - name: reviewer
    type: gate
    agent: reviewer
    depends_on: [developer]
    max_iterations: 3
    commands:
      - {name: npm test, run: "test -e fixed || { echo 2 of 12 tests fail; exit 1; }"}
END
}

@test "step 1: every channel directory is there, empty, before the first agent runs" {
    page
    mkdir -p .cliq/channels/architect--developer
    echo "be brief" >.cliq/channels/architect--developer/instructions.md
    run_ok
    local c=$STATE/channels
    is "$c/architect--developer/
$c/architect--developer/instructions.md
$c/architect--reviewer/
$c/developer--reviewer/
$c/reviewer--architect/
$c/reviewer--developer/" "$(sort "$T/at-start")"
    is "" "$(<"$T/signals-at-start")"
}

@test "steps 2 to 6: architect, developer, a route, the developer again, a pass" {
    page
    run_ok
    is "architect.1 developer.1 reviewer.1 developer.2 reviewer.2" "$(starts)"
    is "developer_routed" "$(cd .cliq/signals && ls ./*_routed | cut -c3-)"
    [ ! -s .cliq/signals/developer_routed ]
    is "architect.jsonl developer.jsonl reviewer.jsonl" "$(cd .cliq/signals && ls ./*.jsonl | cut -c3- | paste -sd' ')"
}

@test "signals: each file holds the lines of the latest attempt: ok first, complete last" {
    page
    run_ok
    is "ok complete" "$(sed 's/.*"status":"\([a-z]*\)".*/\1/' .cliq/signals/architect.jsonl | paste -sd' ')"
    is "ok progress complete" "$(sed 's/.*"status":"\([a-z]*\)".*/\1/' .cliq/signals/developer.jsonl | paste -sd' ')"
    is 1 "$(grep -c '"outcome":"PASS"' .cliq/signals/reviewer.jsonl)"
    is 0 "$(grep -c '"outcome":"ROUTE"' .cliq/signals/reviewer.jsonl)"
}

@test "step 4: checks run first; their results are in a file, the context and the message" {
    page
    run_ok
    is "npm test False 1" "$(json "$T/results.1" 'd[0]["name"],d[0]["pass"],d[0]["exit_code"]' | tr -d "(),'")"
    is "npm test True 0" "$(json "$T/results.2" 'd[0]["name"],d[0]["pass"],d[0]["exit_code"]' | tr -d "(),'")"
    is "2 of 12 tests fail" "$(json "$T/results.1" 'd[0]["output"].strip()')"
    is "$(<"$T/results.2")" "$(<.cliq/signals/reviewer_command_results.json)"
    is False "$(json "$T/message.reviewer.1" 'd["payload"]["check_results"][0]["pass"]')"
    is True "$(json "$T/message.reviewer.2" 'd["payload"]["check_results"][0]["pass"]')"
    is "1 3" "$(json "$T/message.reviewer.1" 'd["payload"]["iteration"],d["payload"]["max_iterations"]' | tr -d '(),')"
    is "2 3" "$(json "$T/message.reviewer.2" 'd["payload"]["iteration"],d["payload"]["max_iterations"]' | tr -d '(),')"
    has "$(<"$T/gate_context.1")" "# Gate: reviewer

Iteration 1 of 3"
    has "$(<"$T/gate_context.1")" "- [ ] npm test: failed (exit code 1)

    2 of 12 tests fail"
    has "$(<"$T/gate_context.1")" "- developer
- architect"
    has "$(<"$T/gate_context.2")" "Iteration 2 of 3"
    has "$(<"$T/gate_context.2")" "- [x] npm test: passed (exit code 0)"
}

@test "step 4: the verdict's envelope stands where the developer reads it" {
    page
    run_ok
    is "gate reviewer ROUTE developer" "$(json "$T/feedback" 'd["phase_type"],d["phase"],d["data"]["verdict"]["outcome"],d["data"]["verdict"]["target"]' | tr -d "(),'")"
    is "DELETE returns 500" "$(json "$T/feedback" 'd["data"]["verdict"]["reason"]')"
    is "[{'name': 'npm test', 'pass': False}]" "$(json "$T/feedback" 'd["data"]["checks"]')"
    is "1 3 1" "$(json "$T/feedback" 'd["data"]["iteration"],d["data"]["max_iterations"],d["version"]' | tr -d '(),')"
    is "ROUTE to developer: DELETE returns 500" "$(json "$T/feedback" 'd["text"]')"
    is True "$(json "$T/message.developer.2" 'd["payload"]["is_routed"]')"
}

@test "the message has every field of the page" {
    page
    "$CLIQ" req -m "a REST API" --key OPS-17 >/dev/null
    run_ok
    json "$T/message.developer.1" 'sorted(d)' >"$T/fields"
    is "['agent', 'handoff_dirs', 'input_artifacts', 'instance_id', 'payload', 'project_dir', 'req_key', 'settings', 'signal_dir', 'team_name', 'type', 'version', 'work_dir']" "$(<"$T/fields")"
    is "1 phase developer OPS-17 @local/test" "$(json "$T/message.developer.1" 'd["version"],d["type"],d["agent"],d["req_key"],d["team_name"]' | tr -d "(),'")"
    is "['$STATE/channels/developer--reviewer']" "$(json "$T/message.developer.1" 'd["handoff_dirs"]')"
    is "['requirement', 'architect--developer']" "$(json "$T/message.developer.1" '[a["name"] for a in d["input_artifacts"]]')"
    is "['developer', 'architect']" "$(json "$T/message.reviewer.1" 'd["payload"]["route_targets"]')"
    is "['$STATE/channels/reviewer--architect', '$STATE/channels/reviewer--developer']" "$(json "$T/message.reviewer.1" 'd["handoff_dirs"]')"
}

@test "a run leaves roles, the board, its log and how it ended" {
    page
    run_ok
    is "architect.md developer.md reviewer.md" "$(ls .cliq/roles | paste -sd' ')"
    is "# Task Board

- [ ] architect
- [ ] developer
- [ ] reviewer" "$(<.cliq/task_board.md)"
    has "$(<.cliq/orchestrator.log)" "reviewer         routed    developer"
    is "COMPLETED" "$(cat .cliq/signals/_pipeline_status)"
    got log
    has "$out" "completed PASS: all good"
    got status --json
    is "COMPLETED done done done" "$(json "$T/out" '" ".join([d["status"]] + [p["state"] for p in d["phases"]])')"
}

@test "a second run starts from nothing: old signals and handoffs are gone, instructions stay" {
    page
    mkdir -p .cliq/channels/architect--developer
    echo "be brief" >.cliq/channels/architect--developer/instructions.md
    run_ok
    touch .cliq/signals/stale_routed
    run_ok
    is "$STATE/channels/architect--developer/
$STATE/channels/architect--developer/instructions.md
$STATE/channels/architect--reviewer/
$STATE/channels/developer--reviewer/
$STATE/channels/reviewer--architect/
$STATE/channels/reviewer--developer/" "$(sort "$T/at-start")"
    is "" "$(<"$T/signals-at-start")"
    is "architect.1 developer.1 reviewer.1 developer.2 reviewer.2 architect.1 developer.1 reviewer.1" "$(starts)"
}

# ---- exit codes -------------------------------------------------------------------

one_agent() { # SH
    agent a <<<"$1"
    team <<'END'
phases: [{name: one, agent: a}]
END
}

@test "COMPLETED is 0, ESCALATED is 3 and says what to do" {
    one_agent 'ok; [ -e fail ] && fail "no disk" || complete'
    run_ok
    touch fail
    run_is 3
    status_is ESCALATED
    has "$out" "Why: phase one: agent error: no disk"
    has "$out" "cliq retry one"
    rm fail
    got retry one $HEADLESS
    code_is 0
    status_is COMPLETED
    is "one.1 one.1 one.2" "$(starts)"
}

@test "FAILED is 1: a workflow with errors is not run" {
    one_agent 'ok; complete'
    sed 's/agent: a/agent: a, depends_on: [nobody]/' ../team/team.yml >.cliq/workflow.yml
    "$CLIQ" team trust >/dev/null
    run_is 1
    has "$err" "nobody"
    is "" "$(starts)"
}

@test "not found is 4: no project, nothing assembled, no such agent, no such phase" {
    cd "$T/proj"
    got run $HEADLESS
    refused 4 "cliq init"
    "$CLIQ" init >/dev/null
    got run $HEADLESS
    refused 4 "cliq assemble"
    one_agent 'ok; complete'
    got run $HEADLESS --from one
    refused 4 "nothing has run here yet"
    run_ok
    got run $HEADLESS --from nobody
    refused 4 'no phase "nobody"'
    AGENTS=
    mkdir "$T/team/roles"
    echo "You are the only one in this team, and so you do everything there is to do." >"$T/team/roles/one.md"
    team <<<'phases: [{name: one}]'
    got run $HEADLESS
    refused 4 "cursor" "cliq settings default_agent "
}

@test "a second orchestrator is refused (5) and told the pid of the first" {
    one_agent 'ok; sleep $NAP & wait; complete'
    start_run first
    local first=$PID
    until_true has_lines "$T/starts" 1
    got run $HEADLESS
    refused 5 "pid $first"
    got run $HEADLESS --resume
    refused 5 "pid $first"
    got retry one $HEADLESS
    refused 5 "pid $first"
    got status
    has "$out" RUNNING
    got cancel
    code_is 0
    is CANCELLED "$out"
    ended first "$first"
    code_is 130
    none_left
    is "one.1" "$(starts)"
}

@test "an unfinished run is a conflict (5) that names --resume; --force starts anew" {
    one_agent 'ok; [ "$N" = 1 ] && [ ! -e "$T/again" ] && { sleep $NAP; exit; }; complete'
    start_run first
    until_true has_lines "$T/starts" 1
    kill -KILL "$PID"
    until_true gone "$PID"
    got run $HEADLESS
    refused 5 --resume --force
    got run $HEADLESS --from one
    refused 5 --resume
    got status
    has "$out" INTERRUPTED
    touch "$T/again"
    run_ok --force
    none_left
    is "one.1 one.1" "$(starts)"
}

@test "a .cliq/ that came with a copy is refused (7) until it is trusted" {
    one_agent 'ok; complete'
    export CLIQ_HOME=$T/somebody
    got run $HEADLESS
    refused 7 "cliq team trust"
    got run $HEADLESS --dry-run
    code_is 7
    is "" "$(starts)"
    "$CLIQ" team trust >/dev/null
    run_ok
    echo '# changed' >>.cliq/agents/a/agent.sh
    got run $HEADLESS
    refused 7 trust
}

@test "another team assembled after a run that ended: cliq run just runs it" {
    one_agent 'ok; complete'
    run_ok
    AGENTS=
    agent a <<<'ok; complete'
    team <<<'phases: [{name: other, agent: a}]'
    run_ok
    is "one.1 other.1" "$(starts)"
}
