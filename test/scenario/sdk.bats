#!/usr/bin/env bats
# Agents: the four of examples/ by the documented recipe, the shell SDK
# command by command, and the C library's header, exports and man page compared.
load ../lib/cli

# Step 1 of the documented recipe.
lay_out() {
    mkdir -p .cliq/signals .cliq/roles .cliq/channels/researcher--analyst .cliq/channels/analyst--reviewer .cliq/design
    echo "You are a research analyst." > .cliq/roles/analyst.md
    echo '{"version":1,"phase_type":"standard","phase":"researcher","agent":"exec","text":"Research findings."}' > .cliq/channels/researcher--analyst/handoff.json
    echo "Analyze the data." > .cliq/req_spec.md
}
# Step 2: the message, with this project's path. message [PAYLOAD [SETTINGS [TYPE]]]
message() {
    cat << EOF
{
  "version": 1,
  "type": "${3:-phase}",
  "agent": "openai-analyst",
  "instance_id": "test-1",
  "team_name": "test",
  "req_key": "TEST-1",
  "project_dir": "$PWD",
  "work_dir": "$PWD",
  "signal_dir": "$PWD/.cliq/signals",
  "handoff_dirs": ["$PWD/.cliq/channels/${PHASE:-analyst}--reviewer"${MORE_DIRS:-}],
  "input_artifacts": [],
  "settings": ${2:-"{}"},
  "payload": ${1:-"{ \"phase_type\": \"standard\", \"phase\": \"analyst\" }"}
}
EOF
}
gate_message() { # [PASS] [ROUTE_TARGETS]
    PHASE=judge MORE_DIRS=", \"$PWD/.cliq/channels/judge--developer\"" message "{\"phase_type\":\"gate\",\"phase\":\"judge\",
        \"route_targets\":${2:-[\"developer\"]},\"iteration\":2,\"max_iterations\":4,
        \"check_results\":[{\"name\":\"npm test\",\"pass\":${1:-false},\"output\":\"x\",\"exit_code\":1}]}"
}
# An example agent, with our cliq in its PATH.
example() { # NAME
    case $1 in
    c) "$BIN/examples/agent-c/agent" ;;
    sh) PATH=$BIN:$PATH sh "$ROOT/examples/agent-sh/agent.sh" ;;
    py) "$PY" "$ROOT/examples/agent-py/agent.py" ;;
    js) node "$ROOT/examples/agent-js/agent.mjs" ;;
    esac
}
# The value at a path of a JSON file ("data.files.0"); of a line: json FILE PATH LINE.
json() {
    "$PY" - "$@" << 'END'
import json, sys
text = open(sys.argv[1]).read()
v = json.loads(text.splitlines()[int(sys.argv[3])] if len(sys.argv) > 3 else text)
for k in sys.argv[2].split(".") if sys.argv[2] else []:
    v = v[int(k)] if isinstance(v, list) else v.get(k, "(none)") if isinstance(v, dict) else "(none)"
print(v if isinstance(v, str) else json.dumps(v, separators=(",", ":")))
END
}
HANDOFF=.cliq/channels/analyst--reviewer/handoff.json
LINES=.cliq/signals/analyst.jsonl
statuses() { # FILE
    sed -n 's/.*"status": *"\([a-z]*\)".*/\1/p' "$1" | paste -sd' '
}
# Makes this shell an agent of the message on standard input.
begin() {
    message "$@" >"$T/message"
    eval "$(cliq sdk begin <"$T/message")"
}
begin_gate() {
    gate_message "$@" >"$T/message"
    eval "$(cliq sdk begin <"$T/message")"
}
in_frame() {
    export TMPDIR=$T/tmp
    mkdir -p "$TMPDIR"
    lay_out
}

# ---- the examples, by the documented recipe ----------------------------------------------

check_recipe() { # NAME AGENT
    lay_out
    code=0
    message | example "$1" >"$T/out" 2>"$T/err" || code=$?
    slurp
    code_is 0
    # 3. Verify results
    is standard "$(json $HANDOFF phase_type)"
    is analyst "$(json $HANDOFF phase)"
    is "$2" "$(json $HANDOFF agent)"
    is 1 "$(json $HANDOFF version)"
    is "ok progress complete" "$(statuses $LINES)"
    is "handoff.json" "$(ls -A .cliq/channels/analyst--reviewer)"
    like "$(json $LINES ts 0)" '^20[0-9-]{8}T[0-9:]{8}\.[0-9]{3}Z$'
    is phase "$(json $LINES type 0)"
}

@test "the agent in C works by the documented recipe" {
    check_recipe c digest
    is "analyst read 1 handoff(s), 4 words." "$(json $HANDOFF text)"
    is 1 "$(json $HANDOFF data.handoffs)"
    has "$(<.cliq/files/analyst/inputs.md)" "Research findings."
    is "digest: reading 1 handoff(s)" "$err"
}

@test "the agent in shell works by the documented recipe" {
    echo "x = 1 # TODO: think" >code.py
    echo "- [ ] analyst" >.board && mkdir -p .cliq && mv .board .cliq/task_board.md
    check_recipe sh openai-analyst
    is 1 "$(json $HANDOFF data.todos)"
    has "$(<.cliq/files/analyst/todos.txt)" "./code.py:1:x = 1 # TODO: think"
    is "- [x] analyst" "$(<.cliq/task_board.md)"
}

@test "the agent in Python works by the documented recipe" {
    check_recipe py openai-analyst
    is "Research findings." "$(json $HANDOFF text)"
    is '["researcher--analyst"]' "$(json $HANDOFF data.from)"
}

@test "the agent in JavaScript works by the documented recipe" {
    command -v node || skip "no node"
    check_recipe js openai-analyst
    is "Research findings." "$(json $HANDOFF text)"
    is '["researcher--analyst"]' "$(json $HANDOFF data.from)"
}

check_gate() { # NAME
    local back=.cliq/channels/judge--developer/handoff.json on=.cliq/channels/judge--reviewer/handoff.json
    lay_out
    echo TODO >left.txt
    gate_message false | example "$1"
    is "ok" "$(json .cliq/signals/judge.jsonl status 0)"
    is complete "$(json .cliq/signals/judge.jsonl status -1)"
    is ROUTE "$(json .cliq/signals/judge.jsonl result.verdict.outcome -1)"
    is developer "$(json .cliq/signals/judge.jsonl result.verdict.target -1)"
    is gate "$(json $back phase_type)"
    is ROUTE "$(json $back data.verdict.outcome)"
    [ ! -e $on ]
    rm $back left.txt
    gate_message true | example "$1"
    is PASS "$(json .cliq/signals/judge.jsonl result.verdict.outcome -1)"
    is PASS "$(json $on data.verdict.outcome)"
    [ ! -e $back ]
    # nowhere to route to: an error line, and not exit 0
    echo TODO >left.txt
    code=0
    gate_message false "[]" | example "$1" || code=$?
    [ "$code" -ne 0 ]
    is error "$(json .cliq/signals/judge.jsonl status -1)"
}

@test "the agent in C can be a gate" { check_gate c; }
@test "the agent in shell can be a gate" { check_gate sh; }
@test "the agent in Python can be a gate" { check_gate py; }
@test "the agent in JavaScript can be a gate" {
    command -v node || skip "no node"
    check_gate js
}

@test "every example refuses nonsense with exit 1 and writes nothing" {
    local name
    lay_out
    for name in c sh py js; do
        [ $name != js ] || command -v node || continue
        for bad in "" nonsense '{"version":2,"type":"phase"}' '[]'; do
            code=0
            printf '%s' "$bad" | example $name >/dev/null 2>&1 || code=$?
            is 1 "$code"
        done
    done
    is "" "$(ls -A .cliq/signals)"
}

@test "a built-in agent works by the documented recipe too" {
    lay_out
    message '{"phase_type":"standard","phase":"analyst","commands":[{"name":"hi","run":"echo hello"}]}' | "$CLIQ" agent exec
    is complete "$(json $LINES status -1)"
    is standard "$(json $HANDOFF phase_type)"
}

# ---- sdk begin -----------------------------------------------------------------------

@test "begin acknowledges and exports the agent's variables" {
    in_frame
    begin
    is "ok" "$(statuses $LINES)"
    is "analyst standard phase openai-analyst" "$CLIQ_PHASE $CLIQ_PHASE_TYPE $CLIQ_MESSAGE_TYPE $CLIQ_AGENT"
    is "reviewer" "$CLIQ_TARGETS"
    is "$PWD $PWD $PWD/.cliq $PWD/.cliq/signals" "$CLIQ_PROJECT_DIR $CLIQ_WORK_DIR $CLIQ_STATE_DIR $CLIQ_SIGNAL_DIR"
    is "test-1 test TEST-1" "$CLIQ_INSTANCE_ID $CLIQ_TEAM_NAME $CLIQ_REQ_KEY"
    is "||||" "$CLIQ_ITERATION|$CLIQ_MAX_ITERATIONS|$CLIQ_ROUTE_TARGETS|$CLIQ_IS_SUPPORT|"
    begin_gate false '["developer","architect"]'
    is "gate 2 4" "$CLIQ_PHASE_TYPE $CLIQ_ITERATION $CLIQ_MAX_ITERATIONS"
    is "developer architect" "$CLIQ_ROUTE_TARGETS"
    is "reviewer developer" "$CLIQ_TARGETS"
}

@test "begin keeps the message in a private file that the end removes" {
    local end
    in_frame
    for end in "complete" "fail x"; do
        begin
        case $CLIQ_SDK_MESSAGE in "$TMPDIR"/cliq-sdk.??????) ;; *) complain "$CLIQ_SDK_MESSAGE" ;; esac
        is "600 $(id -u)" "$(stat -c '%a %u' "$CLIQ_SDK_MESSAGE")"
        is TEST-1 "$(json "$CLIQ_SDK_MESSAGE" req_key)"
        cliq sdk $end
        is "" "$(ls -A "$TMPDIR")"
    done
    begin_gate
    cliq sdk verdict PASS -m fine
    is "" "$(ls -A "$TMPDIR")"
}

@test "no text of a message is evaluated by the shell" {
    local nasty="\$(touch $T/owned) \`touch $T/owned\` '; touch $T/owned; ' \" \\\\ "
    in_frame
    message | "$PY" -c '
import json, sys
m = json.load(sys.stdin)
m["team_name"] = m["req_key"] = m["instance_id"] = sys.argv[1] + "\nexport PATH=/owned\n*"
json.dump(m, sys.stdout)' "$nasty" >"$T/message"
    local before=$PATH
    eval "$(cliq sdk begin <"$T/message")"
    [ ! -e "$T/owned" ]
    is "$before" "$PATH"
    is "$nasty"$'\nexport PATH=/owned\n*' "$CLIQ_TEAM_NAME"
    # and in a plain sh
    is "$nasty"$'\nexport PATH=/owned\n*' "$(sh -c 'eval "$("$CLIQ" sdk begin)"; printf %s "$CLIQ_REQ_KEY"' <"$T/message")"
    [ ! -e "$T/owned" ]
}

@test "begin of a bad message ends the script with 1" {
    in_frame
    local bad
    for bad in "" nonsense '{"version":2}' "$(message '{"phase":"../../x"}')" "$(message '{}')"; do
        code=0
        printf %s "$bad" | cliq sdk begin >"$T/out" 2>"$T/err" || code=$?
        slurp
        code_is 2
        is "exit 1" "$out"
        like "$err" "^cliq: "
        code=0
        printf %s "$bad" | sh -c 'eval "$("$CLIQ" sdk begin)"; echo went on' >"$T/out" 2>/dev/null || code=$?
        is "1:" "$code:$(<"$T/out")"
    done
    is "" "$(ls -A .cliq/signals "$TMPDIR" | grep -v :)"
}

@test "a built-in agent acknowledges a message before it reports an error in the state directory" {
    in_frame
    got agent exec < <(message '{"phase_type":"standard","phase":"analyst","state_dir":"/nowhere/at/all"}')
    code_is 1
    is "ok error" "$(statuses $LINES)"
    has "$(json $LINES error -1)" "/nowhere/at/all"
}

@test "a built-in agent answers tests, and says that it delivers no notifications" {
    in_frame
    local name
    for name in exec checks script; do
        got agent $name < <(message '{"id":"7"}' '{}' test)
        succeeds
        is "ok complete" "$(statuses .cliq/signals/_test-openai-analyst-7.jsonl)"
        got agent $name < <(message '{"id":"7","notifications":[{"event":"on_complete","channel":null}]}' '{}' notify)
        code_is 1
        is "ok error" "$(statuses .cliq/signals/_notify-openai-analyst-7.jsonl)"
        is "agent openai-analyst has no handler for notify" "$(json .cliq/signals/_notify-openai-analyst-7.jsonl error -1)"
        rm .cliq/signals/_*
    done
}

@test "begin in a broken state directory leaves an error line" {
    in_frame
    echo nonsense >.cliq/channels/researcher--analyst/handoff.json
    got sdk begin < <(message)
    is "exit 1" "$out"
    is "ok error" "$(statuses $LINES)"
    has "$(json $LINES error -1)" "handoff.json:1:"
    is "" "$(ls -A "$TMPDIR")"
}

@test "begin without a directory for its file leaves an error line" {
    in_frame
    TMPDIR=$T/nowhere got sdk begin < <(message)
    code_is 74
    is "exit 1" "$out"
    is "ok error" "$(statuses $LINES)"
    has "$err" "$T/nowhere/cliq-sdk"
}

@test "without begin every command says how to begin" {
    unset CLIQ_SDK_MESSAGE
    local words
    for words in "get role" "progress x" "send x" "write-file x" "signal x {}" "notify e slack" "board show" \
        "complete" "verdict PASS -m x" "fail x"; do
        got sdk $words </dev/null
        refused 2 'eval "$(cliq sdk begin)"'
    done
}

@test "a saved message that is a link, or another user's, is refused" {
    in_frame
    begin
    ln -s "$CLIQ_SDK_MESSAGE" "$T/link"
    CLIQ_SDK_MESSAGE=$T/link got sdk progress x
    code_is 2
    CLIQ_SDK_MESSAGE=$T got sdk progress x
    refused 7 "is not a message"
    CLIQ_SDK_MESSAGE=relative got sdk progress x
    refused 2 "is not set"
}

# ---- sdk get -------------------------------------------------------------------------

@test "get prints every field" {
    in_frame
    echo "Design A" >.cliq/design/a.md
    echo '{"env":"staging"}' >.cliq/inputs.json
    printf -- '- [ ] analyst\n' >.cliq/task_board.md
    begin '{"phase_type":"standard","phase":"analyst","is_support":true,"action":"get","model":"m",
            "sources":[{"name":"report.json","ref":"r"}]}' '{"api_key":"sk","channels":{"ops":{"n":3}},"none":null}'
    field() { is "$2" "$(cliq sdk get "$1")"; }
    field type phase
    field agent openai-analyst
    field phase analyst
    field phase_type standard
    field role "You are a research analyst."
    field req_spec "Analyze the data."
    field task_board "- [ ] analyst"
    field input_text $'## researcher--analyst\n\nResearch findings.'
    field input_text.researcher--analyst "Research findings."
    field input_text.researcher "Research findings."
    field input_envelopes.researcher.agent exec
    field input_envelopes.researcher--analyst.version 1
    has "$(cliq sdk get input_envelopes)" '{"researcher--analyst":{"version":1,'
    field dispatch.action get
    field dispatch.phase_config.model m
    field 'payload.sources[0].name' report.json
    field settings.api_key sk
    field settings.channels.ops '{"n":3}'
    field inputs.env staging
    field workflow_inputs '{"env":"staging"}'
    field workflow_inputs.env staging
    field targets reviewer
    field route_targets ""
    field design_docs a.md
    field design_docs.a.md "Design A"
    field is_support true
    field metadata.req_key TEST-1
    field instance_id test-1
    field team_name test
    field project_dir "$PWD"
    field work_dir "$PWD"
    field state_dir "$PWD/.cliq"
    field signal_dir "$PWD/.cliq/signals"
    field message.version 1
    field input_artifacts "[]"
    has "$(cliq sdk get message)" '"req_key":"TEST-1"'
    has "$(cliq sdk get prompt)" "You are a research analyst."
    local name
    for name in settings.nothing settings.none dispatch.x input_text.nobody input_envelopes.nobody iteration design_docs.b; do
        got sdk get $name
        refused 4 "$name"
    done
    got sdk get inptu_text
    refused 2 'did you mean "input_text"?'
    got sdk get zzzzzzzzzzzz
    refused 2 'unknown field "zzzzzzzzzzzz"'
    begin_gate
    field iteration 2
    field max_iterations 4
    field route_targets developer
    field check_results '[{"name":"npm test","pass":false,"output":"x","exit_code":1}]'
    field 'check_results[0].exit_code' 1
}

# ---- progress, send, files, signals, board ---------------------------------------------------------------------------

@test "progress appends a line that a watcher sees" {
    in_frame
    begin
    got sdk progress $'half \e[31mway'
    code_is 0
    is 'openai-analyst: half \x1b[31mway' "$err"
    echo "from stdin" | cliq sdk progress - 2>/dev/null
    is "ok progress progress" "$(statuses $LINES)"
    is $'half \e[31mway' "$(json $LINES message 1)"
}

@test "send goes to all targets, or to those named" {
    in_frame
    MORE_DIRS=", \"$PWD/.cliq/channels/analyst--auditor\"" begin
    local audit=.cliq/channels/analyst--auditor/handoff.json
    got sdk send "Implementation complete."
    succeeds
    is "Implementation complete." "$(json $HANDOFF text)"
    is "(none)" "$(json $HANDOFF data)"
    is "Implementation complete." "$(json $audit text)"
    got sdk send --to auditor --data '{"coverage":94.2}' "12 tests pass"
    succeeds
    is 94.2 "$(json $audit data.coverage)"
    is "Implementation complete." "$(json $HANDOFF text)"
    printf 'from\nstdin' | cliq sdk send --to reviewer --to auditor -
    is $'from\nstdin' "$(json $HANDOFF text)"
    is $'from\nstdin' "$(json $audit text)"
    echo '{"n":1}' >data.json
    cliq sdk send --data @data.json
    is "(none)" "$(json $HANDOFF text)"
    is 1 "$(json $HANDOFF data.n)"
    echo '{"n":2}' | cliq sdk send --data - text
    is 2 "$(json $HANDOFF data.n)"
    got sdk send --to reviewer --to nobody x
    refused 2 'cannot send to "nobody"' "reviewer, auditor"
    is 2 "$(json $HANDOFF data.n)"
    got sdk send
    refused 2 "nothing to send"
    got sdk send --data - -
    refused 2 "cannot both be standard input"
    got sdk send --data '[1]' x
    refused 2 "must be a JSON object"
    got sdk send --data '{' x
    refused 2 "--data:1:"
    got sdk send --data @nothing x
    refused 4 "no file nothing"
}

@test "a phase without targets sends nothing, which is fine" {
    in_frame
    message | "$PY" -c 'import json,sys; m=json.load(sys.stdin); m["handoff_dirs"]=[]; json.dump(m,sys.stdout)' >"$T/message"
    eval "$(cliq sdk begin <"$T/message")"
    got sdk send x
    succeeds
    got sdk send --to reviewer x
    refused 2 "it has no targets"
}

@test "write-file stores bytes below files/<phase>" {
    in_frame
    begin
    head -c 100000 /dev/urandom >"$T/bytes"
    cliq sdk write-file report.bin "$T/bytes"
    cmp "$T/bytes" .cliq/files/analyst/report.bin
    cliq sdk write-file sub/dir/x - <"$T/bytes"
    cmp "$T/bytes" .cliq/files/analyst/sub/dir/x
    cliq sdk write-file empty </dev/null
    [ -f .cliq/files/analyst/empty ] && [ ! -s .cliq/files/analyst/empty ]
    local bad
    for bad in ../x /x a/../../x ""; do
        got sdk write-file "$bad" "$T/bytes"
        refused 2 ""
    done
    got sdk write-file x nothing
    refused 4 "no file nothing"
}

@test "signal writes its file and notify its line" {
    in_frame
    begin
    cliq sdk signal coverage '{"lines":94.2}'
    is 94.2 "$(json .cliq/signals/analyst_coverage.json lines)"
    cliq sdk notify hug_review slack:oncall '{"url":"u"}'
    cliq sdk notify done email
    is '{"agent":"slack","channel":"oncall","event":"hug_review","payload":{"url":"u"}}' "$(json $LINES result 1)"
    is '{"agent":"email","channel":null,"event":"done","payload":{}}' "$(json $LINES result 2)"
    is "ok notify notify" "$(statuses $LINES)"
    got sdk signal ../x '{}'
    refused 2 "name of a signal"
    got sdk signal command_results '[]'
    refused 2 "is reserved: choose another name"
    got sdk signal x '{'
    refused 2 "the payload:1:"
    got sdk notify e :x
    refused 2 "agent:channel"
    got sdk notify e slack '[]'
    refused 2 "must be a JSON object"
}

@test "board marks, notes, replaces and shows" {
    in_frame
    printf '# Task Board\n\n- [ ] analyst\n- [x] researcher\n' >.cliq/task_board.md
    begin
    local inode
    inode=$(stat -c %i .cliq/task_board.md)
    cliq sdk board unmark
    cliq sdk board mark --phase researcher
    cliq sdk board mark --phase nobody
    cliq sdk board note --phase nobody x
    is "$inode" "$(stat -c %i .cliq/task_board.md)"
    cliq sdk board mark
    cliq sdk board note "OAuth2 PKCE flow implemented"
    cliq sdk board unmark --phase researcher
    is $'# Task Board\n\n- [x] analyst\n  - OAuth2 PKCE flow implemented\n- [ ] researcher' "$(<.cliq/task_board.md)"
    is "$(<.cliq/task_board.md)" "$(cliq sdk board show)"
    echo "# New" | cliq sdk board replace -
    is "# New" "$(<.cliq/task_board.md)"
    got sdk board note
    refused 2 "note needs a TEXT"
    got sdk board mark x
    refused 2 "mark takes no TEXT"
    got sdk board erase
    refused 2 "mark, unmark, note, replace or show"
}

# ---- the end of a phase ---------------------------------------------------------------------

@test "complete carries a result; a second terminal line is refused with 5" {
    in_frame
    begin
    got sdk complete '{"n":1}'
    succeeds
    is '{"n":1}' "$(json $LINES result -1)"
    local words
    for words in complete "fail x" "verdict PASS -m x" "progress x" "send x" "get role" "board show"; do
        got sdk $words
        refused 5 "this phase has ended"
    done
    is "ok complete" "$(statuses $LINES)"
    got sdk fail --if-open x
    succeeds
    is "ok complete" "$(statuses $LINES)"
}

@test "a result that is not JSON ends nothing" {
    in_frame
    begin
    got sdk complete nonsense
    refused 2 "the result must be JSON, for example '{\"summary\":\"done\"}', not nonsense"
    got sdk complete '{"n":x}'
    refused 2 "the result:1:6: expected a value"
    cliq sdk complete
    is "ok complete" "$(statuses $LINES)"
    is "(none)" "$(json $LINES result -1)"
}

@test "fail is an error line with its text" {
    in_frame
    begin
    got sdk fail "api_key is not set"
    code_is 0
    is "openai-analyst: api_key is not set" "$err"
    is "ok error" "$(statuses $LINES)"
    is "api_key is not set" "$(json $LINES error -1)"
}

@test "fail works when the state directory has disappeared" {
    in_frame
    begin
    echo nonsense >.cliq/channels/researcher--analyst/handoff.json
    got sdk progress x
    refused 2 "handoff.json"
    cliq sdk fail "gave up"
    is "ok error" "$(statuses $LINES)"
    is "gave up" "$(json $LINES error -1)"
}

@test "a gate ends with a verdict, and a bad one ends nothing" {
    in_frame
    begin_gate
    local lines=.cliq/signals/judge.jsonl
    got sdk complete
    refused 2 "judge is a gate"
    got sdk verdict ROUTE --target deploy -m x
    refused 2 'cannot route to "deploy"' "developer"
    got sdk verdict ROUTE -m x
    refused 2 "its route targets are developer"
    got sdk verdict MAYBE -m x
    refused 2 "PASS, ROUTE or ESCALATE"
    got sdk verdict PASS
    refused 2 "--comment TEXT is missing"
    is ok "$(statuses $lines)"
    got sdk verdict ROUTE --target developer -m "2 of 12 tests fail" --reviewer ada --decided-at 2026-05-29T06:04:14Z
    succeeds
    is '{"outcome":"ROUTE","target":"developer","reason":"2 of 12 tests fail"}' "$(json $lines result.verdict -1)"
    is "ROUTE to developer: 2 of 12 tests fail" "$(json .cliq/channels/judge--developer/handoff.json text)"
    is ada "$(json .cliq/channels/judge--developer/handoff.json data.reviewer)"
    is "ok complete" "$(statuses $lines)"
    begin_gate
    cliq sdk verdict ESCALATE --comment "a person, please"
    is ESCALATE "$(json $lines result.verdict.outcome -1)"
    begin
    got sdk verdict PASS -m x
    refused 2 "is not a gate"
}

@test "a PASS does not replace an earlier handoff" {
    in_frame
    begin_gate
    cliq sdk send --to reviewer "my own words"
    cliq sdk verdict PASS -m fine
    is "my own words" "$(json .cliq/channels/judge--reviewer/handoff.json text)"
    begin_gate
    cliq sdk verdict PASS -m fine
    is "PASS: fine" "$(json .cliq/channels/judge--reviewer/handoff.json text)"
}

@test "of many concurrent terminal lines only one is written" {
    local i pids=() ok=0
    in_frame
    begin
    for i in 1 2 3 4 5 6 7 8; do
        "$CLIQ" sdk complete "$i" 2>/dev/null 3>&- &
        pids+=($!)
    done
    for i in "${pids[@]}"; do
        code=0
        wait "$i" || code=$?
        case $code in 0) ok=$((ok + 1)) ;; 5) ;; *) complain "exit code $code" ;; esac
    done
    is 1 $ok
    is "ok complete" "$(statuses $LINES)"
    is "" "$(ls -A "$TMPDIR")"
}

@test "notify and test messages have files of their own" {
    in_frame
    begin '{"notifications":[{"event":"on_complete","channel":"ops"}]}' '{}' notify
    is "notify||" "$CLIQ_MESSAGE_TYPE|$CLIQ_PHASE|$CLIQ_PHASE_TYPE"
    is on_complete "$(cliq sdk get 'payload.notifications[0].event')"
    got sdk send x
    refused 2 "a notify message has no phase"
    got sdk board show
    refused 2 "a notify message has no phase"
    got sdk get role
    refused 4 "role"
    cliq sdk complete
    is "ok complete" "$(statuses .cliq/signals/_notify-openai-analyst-test-1.jsonl)"
    begin '{}' '{}' test
    cliq sdk complete
    is true "$(json .cliq/signals/_test-openai-analyst-test-1.jsonl result.passed -1)"
    begin '{}' '{}' test
    cliq sdk complete '{"passed":false,"message":"no api_key"}'
    is false "$(json .cliq/signals/_test-openai-analyst-test-1.jsonl result.passed -1)"
}

@test "begin --trap: a script that exits without complete has failed" {
    local way
    in_frame
    message >"$T/message"
    for way in sh bash; do
        code=0
        PATH=$BIN:$PATH $way -ec 'eval "$(cliq sdk begin --trap)"; false; echo unreached' <"$T/message" >"$T/out" 2>"$T/err" || code=$?
        is "1:" "$code:$(<"$T/out")"
        is "the agent ended with exit code 1 and no complete, verdict or fail" "$(json $LINES error -1)"
        PATH=$BIN:$PATH $way -ec 'eval "$(cliq sdk begin --trap)"; cliq sdk complete' <"$T/message"
        is complete "$(json $LINES status -1)"
    done
    is "ok error ok complete ok error ok complete" "$(statuses $LINES)"
    is "" "$(ls -A "$TMPDIR")"
}

# ---- the C library ---------------------------------------------------------------------

functions() { grep -oE '\bcliq_[a-z_]+\(' "$ROOT/include/cliq.h" | tr -d '(' | sort -u; }

@test "the library exports the functions of cliq.h and nothing else" {
    is "$(functions)" "$(nm -D --defined-only "$BIN/libcliq.so" | awk '{ print $3 }' | sort)"
    is "$(functions)" "$(nm -g --defined-only "$BIN/libcliq.a" | awk 'NF == 3 { print $3 }' | sort)"
}

@test "every function of cliq.h has its prototype and its explanation in cliq-sdk(3)" {
    command -v scdoc >/dev/null || skip "no man pages without scdoc"
    local name page squeezed proto
    page=$(mandoc -Tutf8 -O width=1000 "$BIN/man/cliq-sdk.3" | col -bx)
    squeezed=$(tr -d ' \n' <<<"$page")
    for name in $(functions); do
        grep -qE "^ {7}(cliq_[a-z_]+, )*$name(,|\$)" <<<"$page" || complain "not explained: $name"
        proto=$(tr '\n' ' ' <"$ROOT/include/cliq.h" | grep -oE "CLIQ_API [a-z0-9_ *]+\b$name\([^)]*\)" | sed 's/CLIQ_API //' | tr -d ' ')
        [ -n "$proto" ] || complain "no prototype of $name found"
        has "$squeezed" "$proto;"
    done
}

@test "cliq.h can be included from C++ and from strict C" {
    echo '#include "cliq.h"
cliq_verdict v = CLIQ_VERDICT_INIT; cliq_check k = CLIQ_CHECK_INIT; cliq_error e = CLIQ_ERROR_INIT;
cliq_message m = CLIQ_MESSAGE_INIT; cliq_channel_options o = CLIQ_CHANNEL_OPTIONS_INIT;
cliq_hub_options h = CLIQ_HUB_OPTIONS_INIT; cliq_signal_info i = CLIQ_SIGNAL_INFO_INIT;
cliq_emit_options x = CLIQ_EMIT_OPTIONS_INIT; cliq_claim_options c = CLIQ_CLAIM_OPTIONS_INIT;
cliq_listen_options l = CLIQ_LISTEN_OPTIONS_INIT; cliq_agent_message a = CLIQ_AGENT_MESSAGE_INIT;' >"$T/x.c"
    "${CC:-cc}" -std=c99 -Wall -Wextra -Wpedantic -Werror -I"$ROOT/include" -fsyntax-only "$T/x.c"
    command -v c++ >/dev/null || skip "no C++ compiler"
    c++ -x c++ -Wall -Wextra -Wpedantic -Werror -I"$ROOT/include" -fsyntax-only "$T/x.c"
}

@test "every struct and enum of cliq.h is in cliq-sdk(3), with the comments of its members" {
    command -v scdoc >/dev/null || skip "no man pages without scdoc"
    mandoc -Tascii -O width=1000 "$BIN/man/cliq-sdk.3" | col -bx >page
    got_from $PY - "$ROOT/include/cliq.h" page <<'END'
import re, sys
header, page = (open(f).read() for f in sys.argv[1:])
squeeze = lambda text: re.sub(r"\s+", "", text)
found = re.findall(r"typedef (?:struct|enum) (\w+) \{.*?\} \1;", header, re.S)
for m in re.finditer(r"typedef (?:struct|enum) (\w+) \{.*?\} \1;", header, re.S):
    if squeeze(m[0]) not in squeeze(page):
        print("not as in the header:", m[1])
print(len(found) >= 12)
END
    is True "$out"
}

# The n-th block of code of the section EXAMPLES, as man shows the page.
man_example() {
    mandoc -Tascii -O width=1000 "$BIN/man/cliq-sdk.3" | col -bx | sed -n '/^EXAMPLES/,/^SEE ALSO/p' |
        awk -v n="$1" '/^           / { if (!is_in) k++; is_in = 1 } /^ ? ? ? ? ? ? ? ? ? ?[^ ]/ { is_in = 0 }
            is_in && k == n { print substr($0, 12) }'
}

@test "the man page's agent compiles, and its recipe runs it" {
    command -v scdoc >/dev/null || skip "no man pages without scdoc"
    man_example 1 >agent.c
    "${CC:-cc}" -std=c11 -Wall -Wextra -Werror -I"$ROOT/include" $([ "${BIN##*/}" != sanitize ] || echo -fsanitize=address,undefined) \
        -o agent agent.c "$BIN/libcliq.a" -lpthread
    man_example 2 >recipe.sh
    sh -e recipe.sh 2>/dev/null
    has "$(json $HANDOFF text)" "Research findings."
    is "ok progress complete" "$(statuses $LINES)"
}

@test "the man page's worker compiles and works" {
    command -v scdoc >/dev/null || skip "no man pages without scdoc"
    man_example 3 | sed 's/60000/200/' >worker.c
    "${CC:-cc}" -std=c11 -Wall -Wextra -Werror -I"$ROOT/include" $([ "${BIN##*/}" != sanitize ] || echo -fsanitize=address,undefined) \
        -o worker worker.c "$BIN/libcliq.a" -lsqlite3 -lsodium -lpthread
    cliq role add reviewer >/dev/null
    cliq role fill reviewer "$(id -un)" >/dev/null
    id=$(cliq emit task "PR 42" --to-role reviewer)
    got_from ./worker
    succeeds
    is "reviewing: PR 42" "$out"
    has "$(cliq status-of "$id" --json)" '"delivery_state":"acked"'
}

@test "the man page names every operation of the hub" {
    local name
    while read -r name; do
        grep -q "\"$name\"" "$ROOT/man/cliq-sdk.3.scd" || complain "not named: $name"
    done < <(sed -n 's/^OP([A-Z_]*, "\([a-z ]*\)", ".*/\1/p' "$ROOT/src/hub/model/ops.def") # operations with a route
}
