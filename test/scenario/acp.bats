#!/usr/bin/env bats
# Agents that speak the Agent Client Protocol: what they say, ask and write, and how they end. The
# agent is acp_agent.py, whose steps each test gives.
load ../lib/cli

eval "$(declare -f setup | sed '1s/setup/cli_setup/')"
setup() {
    cli_setup
    mkdir -p .cliq/signals .cliq/channels/build--test .cliq/roles
    W=$PWD
    echo "Build it." >.cliq/roles/build.md
    PHASE=build MORE=
    export CLIQ_SIGNALS=$W/.cliq/signals
}

# message [FIELDS]: an AgentMessage whose command is the stand-in with the steps in STEPS.
message() {
    $PY - "$PHASE" "$1" "${STEPS[@]}" <<'END'
import json, os, sys
phase, fields, steps = sys.argv[1], json.loads(sys.argv[2] or "{}"), sys.argv[3:]
w = os.environ["PWD"]
payload = {"phase": phase, "phase_config": {
    "command": ["python3", os.environ["AGENT"]] + steps, **fields.pop("config", {})}}
payload.update(fields)
print(json.dumps({"version": 1, "type": "phase", "agent": "acp", "team_name": "t", "instance_id": "i",
    "project_dir": w, "work_dir": w, "signal_dir": w + "/.cliq/signals",
    "handoff_dirs": [w + "/.cliq/channels/build--test"], "payload": payload}))
END
}

# acp FIELDS STEP...: the phase, done; $code, $lines (its status lines), $text (of its handoff).
export AGENT=$BATS_TEST_DIRNAME/acp_agent.py
acp() {
    local fields=$1
    shift
    STEPS=("$@")
    rm -f ".cliq/signals/$PHASE.jsonl" .cliq/channels/build--test/handoff.json
    message "$fields" >"$T/message"
    got agent acp <"$T/message"
    look
}
look() {
    lines=$(cat ".cliq/signals/$PHASE.jsonl")
    text=$($PY -c 'import json; print(json.load(open(".cliq/channels/build--test/handoff.json"))["text"])' 2>/dev/null || true)
}
# The same in the background.
start_acp() {
    local fields=$1
    shift
    STEPS=("$@")
    message "$fields" >"$T/message"
    start acp sh -c 'exec "$CLIQ" agent acp <"$T/message"'
}
said() { grep -q -- "$1" ".cliq/signals/$PHASE.jsonl" 2>/dev/null; }
handoff() { $PY -c 'import json,sys; d=json.load(open(".cliq/channels/build--test/handoff.json")); print(eval(sys.argv[1]))' "$1"; }

# ---- words ------------------------------------------------------------------------------

@test "the words behind the last tool call are the handoff, their json block its data" {
    acp '{}' say 'First I look. ' tool t1 read 'Read a.c' "$W/a.c" say $'It is do' say $'ne.\n```json\n{"files":2}\n```\n'
    is 0 "$code"
    is "It is done." "$(echo $text)"
    is 2 "$(handoff 'd["data"]["files"]')"
    has "$lines" '"message":"read: Read a.c"'
    has "$lines" '"status":"complete"'
    has "$out" "First I look."
}

@test "a json block before a tool call still counts when the last words have none" {
    acp '{}' say $'```json\n{"n":1}\n```\n' tool t1 execute 'make clean' - say 'Cleaned up.'
    is 1 "$(handoff 'd["data"]["n"]')"
}

@test "plans, failed tools and diffs are progress" {
    acp '{}' \
        update '{"sessionUpdate":"plan","entries":[{"content":"look","priority":"low","status":"completed"},{"content":"mend it","priority":"high","status":"in_progress"}]}' \
        update '{"sessionUpdate":"tool_call","toolCallId":"t1","title":"Edit a.c","kind":"edit"}' \
        update '{"sessionUpdate":"tool_call_update","toolCallId":"t1","status":"completed","content":[{"type":"diff","path":"/a.c","oldText":"a\nb\nc\n","newText":"a\nB\nb2\nc\n"}]}' \
        update '{"sessionUpdate":"tool_call_update","toolCallId":"t2","title":"make","status":"failed","content":[{"type":"content","content":{"type":"text","text":"no\nrule"}}]}' \
        update '{"sessionUpdate":"a_new_kind"}' say ok
    has "$lines" "plan: 1 of 2 done, now: mend it"
    has "$lines" "changed /a.c: +2 -1 lines"
    has "$lines" "failed: make: no rule"
}

@test "tokens come from the result, and the cost from usage_update" {
    acp '{}' --usage '{"inputTokens":10,"outputTokens":5,"totalTokens":15,"cachedReadTokens":2}' --cost 0.25 --models say ok
    is "small 12 5 2 0.25 s-1" "$(handoff '" ".join(str(d["data"]["usage"][k]) for k in ("model","input_tokens","output_tokens","cached_tokens","cost_usd","session_id"))')"
    acp '{}' --quota say ok
    is "7 3" "$(handoff '" ".join(str(d["data"]["usage"][k]) for k in ("input_tokens","output_tokens"))')"
}

@test "a gate's unusable verdict is asked for once more, in the same conversation" {
    PHASE=review
    echo "Judge." >.cliq/roles/review.md
    acp '{"phase_type":"gate","iteration":1,"max_iterations":3}' --once say "Looks good to me."
    is 0 "$code"
    has "$lines" '"outcome":"PASS"'
    has "$lines" "asked again for a verdict"
}

@test "the model is chosen where the agent offers a choice" {
    acp '{"model":"big"}' --models note "$T/heard" say ok
    has "$(<"$T/heard")" '"method":"session/set_model","params":{"sessionId":"s-1","modelId":"big"}'
    acp '{"model":"huge"}' --models say ok
    is 1 "$code"
    has "$lines" "the model huge cannot be used"
    has "$lines" "offers: small, big"
}

# ---- sessions ---------------------------------------------------------------------------

@test "an earlier conversation is resumed, or loaded without its old words" {
    local session='{"session":{"id":"s-1","usage":{"input_tokens":1,"cost_usd":0.2}}}'
    acp "$session" --can resume --cost 0.3 note "$T/heard" say new
    has "$(<"$T/heard")" '"method":"session/resume","params":{"sessionId":"s-1"'
    is 0.1 "$(handoff 'round(d["data"]["usage"]["cost_usd"], 6)')"
    acp "$session" --can load note "$T/heard" say new
    has "$(<"$T/heard")" '"method":"session/load"'
    is new "$text"
    acp "$session" note "$T/heard" say new
    has "$(<"$T/heard")" '"method":"session/new"'
    has "$lines" "cannot go on with an earlier conversation"
}

@test "an agent gets cliq's own MCP server, and is its phase there" {
    cliq emit task "for the builder" --to-identity build --as ann >/dev/null 2>&1
    acp '{}' mcp inbox '{}'
    has "$text" "for the builder"
    acp '{}' mcp emit '{"signal_type":"sense","content":"built"}'
    has "$text" '"from_identity":"build"'
    CLIQ_IDENTITY=ruby acp '{}' mcp generate_signal '{"type":"build:done"}'
    has "$text" "agent:ruby"
}

@test "an agent that is not signed in, or speaks another version, says what to do" {
    acp '{}' --auth say no
    is 1 "$code"
    has "$lines" "is not signed in (Authentication required): check the key, or sign in: run python3 once, at a terminal; it offers: Log in with a browser"
    acp '{}' --version 2 say no
    is 1 "$code"
    has "$lines" "speaks version 2 of the Agent Client Protocol, and cliq speaks version 1"
}

@test "the model's errors are told in its words, with what to do" {
    acp '{}' fail 401 '{"error":{"code":401,"message":"API key not valid. Please pass one.","status":"X"}}'
    is 1 "$code"
    has "$lines" "python3 refused session/prompt: API key not valid. Please pass one. (401): check the key, or sign in: run python3 once"
    acp '{}' fail -32603 'Internal error: prompt is too long: 250000 tokens > 200000 maximum'
    has "$lines" "200000 maximum (-32603): what the phase is told is too long for the model: shorten"
    acp '{}' fail -32603 'Internal error: boom'
    has "$lines" 'python3 refused session/prompt: Internal error: boom (-32603)"'
}

@test "a rate limit is waited for, and the question asked again in the same conversation" {
    acp '{}' --once fail 429 '{"error":{"code":429,"message":"Resource has been exhausted"}}'
    is 0 "$code"
    like "$lines" 'rate limit: waits until [0-9:]{8}, then asks again'
    has "$lines" '"status":"complete"'
    is 1 "$(grep -c 'rate limit' ".cliq/signals/$PHASE.jsonl")"
}

@test "the setting api_key reaches a named agent in the variable that it reads" {
    mkdir -p "$T/bin"
    printf '#!/bin/sh\nenv >"%s/env"\nexec python3 "%s" say fine\n' "$T" "$AGENT" >"$T/bin/gemini"
    chmod +x "$T/bin/gemini"
    export PATH=$T/bin:$PATH
    STEPS=()
    message '{}' | sed 's/"agent": "acp"/"agent": "gemini-acp", "settings": {"api_key": "key-of-gemini-1", "acp": "gemini --acp"}/; s/"command": [^]]*]/"model": "m"/' >"$T/message"
    got agent acp <"$T/message"
    is 0 "$code"
    has "$(<"$T/env")" GEMINI_API_KEY=key-of-gemini-1
    has "$("$CLIQ" team info --agents gemini-acp)" "api_key"
    lacks "$("$CLIQ" team info --agents goose)" "api_key"
}

@test "the test message tells the agent's name and version" {
    STEPS=()
    message '{}' | sed 's/"type": "phase"/"type": "test"/; s/"phase": "build", //' >"$T/message"
    "$CLIQ" agent acp <"$T/message"
    has "$(cat .cliq/signals/_test-*.jsonl)" "stand-in 1.2"
}

# ---- ends -------------------------------------------------------------------------------

@test "each stop reason but end_turn fails the phase in plain words" {
    acp '{}' say 'I must not. ' stop refusal
    has "$lines" "refused to go on (refusal). Its last words: I must not."
    acp '{}' say 'Hm. ' stop weird
    has "$lines" "ended its turn for a reason that cliq does not know: weird"
    acp '{}' say 'and the' stop max_tokens
    has "$lines" "stopped at its limit of tokens"
    acp '{}' stop max_turn_requests
    has "$lines" "stopped at its limit of model requests"
    acp '{}' stop cancelled
    has "$lines" "although it was not cancelled by cliq"
}

@test "rubbish is noted and passed over, an unknown request refused" {
    acp '{}' raw 'Loading extensions...' raw '[1]' raw '{"jsonrpc":"2.0","id":99}' call terminal/resize call fs/read_text_file say ok
    is 0 "$code"
    has "$lines" "sent what is no message of the protocol: not JSON: Loading extensions..."
    is "[-32601][-32601]ok" "$text"
}

@test "twenty thousand tools are kept, and told as far as people can read" {
    acp '{}' tools 20000 tool a edit 'Edit hosts' /etc/hosts tools 1 may a say ok
    is 0 "$code"
    has "$out" "[o-reject_once]"
    [ "$(grep -c . <<<"$lines")" -lt 5000 ]
}

@test "an agent that dies in the middle of a message: exit code and its last words" {
    acp '{}' half '{"jsonrpc":"2.0","me' die 3
    is 1 "$code"
    has "$lines" "ended with exit code 3 in the middle of a message, before it answered session/prompt: TypeError: x is undefined"
    has "$err" "one line"
}

@test "args of the phase come behind the command" {
    acp '{"config":{"args":["say","and two"]}}' say 'one '
    is "one and two" "$text"
}

@test "a program that is not there is named" {
    acp '{"config":{"command":"no-such-agent --acp"}}'
    is 1 "$code"
    has "$lines" "no-such-agent"
}

@test "an agent that lingers after its answer is stopped with its tree" {
    acp '{}' linger say ok
    is 0 "$code"
    is "" "$(pgrep -f "$AGENT linger say ok" || true)"
}

@test "SIGTERM cancels the turn, takes the question back, and ends the agent" {
    start_acp '{"config":{"permissions":"ask"}}' tool t1 execute 'rm -r build' - may t1 note "$T/heard"
    until_true said "waits for a person"
    id=$("$CLIQ" inbox --json | grep -o 'signal:[a-z0-9]*' | head -1)
    kill -TERM "$PID"
    wait "$PID" || true
    look
    has "$lines" "stopped: python3 was told to cancel, and ended its turn"
    is cancelled "$("$CLIQ" status-of "$id")"
}

@test "an agent that answers nothing is stopped by the signal, too" {
    start_acp '{}' --mute
    until_true pgrep -f "$AGENT --mute" >/dev/null
    kill -TERM "$PID"
    wait "$PID" || true
    look
    is "" "$(pgrep -f "$AGENT --mute" || true)"
}

# ---- permissions ------------------------------------------------------------------------

@test "edit: files inside and commands are allowed once, what is outside is rejected" {
    acp '{}' tool a edit 'Edit a.c' "$W/a.c" may a tool b execute 'make' - may b tool c edit 'Edit hosts' /etc/hosts may c \
        tool d read 'Read key' "$W/../secret" may d
    is "[o-reject_once]" "$(echo $text)"
    has "$out" "[o-allow_once]"
    is 2 "$(grep -o '\[o-allow_once\]' <<<"$out" | wc -l)"
    has "$lines" "rejected: Edit hosts: /etc/hosts is outside of the working directory"
    has "$lines" "rejected: Read key"
}

@test "read: looking is allowed, commands and writes are not" {
    acp '{"config":{"permissions":"read"}}' tool a read 'Read a.c' "$W/a.c" may a tool b execute 'make' - may b write "$W/a.c" text
    is 1 "$(grep -o '\[o-allow_once\]' <<<"$out" | wc -l)"
    has "$lines" "rejected: make: the phase's permissions are read"
    has "$text" "this phase may only read"
    [ ! -e a.c ]
}

@test "all: everything is allowed, outside too" {
    acp '{"config":{"permissions":"all"}}' tool a edit 'Edit' "$T/out.txt" may a write "$T/outside.txt" text
    is text "$(<"$T/outside.txt")"
    has "$text" "[written]"
    acp '{"config":{"permissions":"some"}}' say ok
    has "$lines" 'permissions: \"some\" is none of read, edit, all and ask'
}

@test "a person allows one thing and rejects another, and the question leaves the inbox" {
    start_acp '{"config":{"permissions":"ask","reviewer":"@ruby"}}' tool a read 'Read' "$W/a.c" may a tool b edit 'Edit a.c' "$W/a.c" may b \
        write "$W/a.c" new write "$W/b.c" other
    until_true said "waits for a person: edit: Edit a.c"
    first=$("$CLIQ" inbox @ruby --json | grep -o 'signal:[a-z0-9]*' | head -1)
    has "$("$CLIQ" inbox @ruby --json)" "May the agent acp do this in the phase build?"
    "$CLIQ" emit answer "allow" --parent "$first" --as mallory >/dev/null
    "$CLIQ" emit answer "what is it for?" --parent "$first" --as ruby >/dev/null
    "$CLIQ" emit answer "allow, but carefully" --parent "$first" --as ruby >/dev/null
    until_true said "waits for a person: write $W/b.c"
    said "ruby allowed: Edit a.c"
    second=$("$CLIQ" inbox @ruby --type task --json | grep -o 'signal:[a-z0-9]*' | head -1)
    "$CLIQ" emit answer "no: not b.c" --parent "$second" --as ruby >/dev/null
    wait "$PID"
    look
    is new "$(<a.c)"
    [ ! -e b.c ]
    has "$text" "[no: not b.c]"
    is "" "$("$CLIQ" inbox @ruby --type task)"
}

@test "a question to a role is answered by those who hold it" {
    "$CLIQ" role add lead >/dev/null
    "$CLIQ" role fill lead ruby >/dev/null
    start_acp '{"config":{"permissions":"ask","reviewer":"lead"}}' tool a execute 'make' - may a
    until_true said "waits for a person"
    id=$("$CLIQ" inbox lead --json | grep -o 'signal:[a-z0-9]*' | head -1)
    "$CLIQ" emit answer "allow" --parent "$id" --as mallory >/dev/null
    "$CLIQ" emit answer "reject" --parent "$id" --as ruby >/dev/null
    wait "$PID"
    look
    said "ruby rejected: make"
    is "[o-reject_once]" "$text"
}

@test "a turn that ends without words after a rejection fails with what was rejected" {
    acp '{}' tool c edit 'Edit hosts' /etc/hosts may c
    is 0 "$code" # it said which option it got
    acp '{"config":{"permissions":"read"}}' tool c edit 'Edit a.c' - \
        update '{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"failed"}' quietly c
    is 1 "$code"
    has "$lines" "ended its turn without an answer, after it was refused: Edit a.c: the phase's permissions are read"
}

@test "secrets of the agent stand neither in the log nor in a question" {
    export OPENAI_API_KEY=sk-very-secret
    acp '{}' say 'the key is sk-very' say '-secret' half '{' die 1
    lacks "$out$lines" very-secret
    acp '{}' say 'the key is sk-very-secret'
    is "the key is ***" "$text"
    start_acp '{"config":{"permissions":"ask"}}' tool t1 execute 'curl -H sk-very-secret' - may t1
    until_true said "waits for a person"
    has "$("$CLIQ" inbox --json)" "curl -H ***"
    kill -TERM "$PID"
    wait "$PID" || true
}

# ---- in a run ---------------------------------------------------------------------------

# run_team FIELDS: a team of one phase `build` with them, run; the stand-in is `stand-in` on PATH.
run_team() {
    mkdir -p team/roles bin
    echo "Build what the requirement asks for, and say what you did." >team/roles/build.md
    printf '#!/bin/sh\nexec %s %s say "from $*"\n' "$PY" "$AGENT" | tee bin/goose >bin/stand-in
    chmod +x bin/*
    export PATH=$PWD/bin:$PATH
    printf 'name: "@local/t"\ndescription: d\n%s\n' "$1" >team/team.yml
    (rm -rf .cliq && "$CLIQ" init && { [ -z "$MINE" ] || "$CLIQ" settings agents.local.acp "$MINE"; } && "$CLIQ" assemble ./team && "$CLIQ" req -m "Build it") >/dev/null
    got run --headless "${@:2}"
}

@test "a run has the named agents, those with acp in team.yml, and those of the settings" {
    run_team 'agents: {mine: {acp: ["stand-in", "a b"]}, other: {acp: "stand-in c"}}
phases: [{name: build, agent: goose, permissions: read}, {name: next, agent: mine, depends_on: [build], role: build},
  {name: third, agent: other, depends_on: [next], role: build}, {name: last, agent: acp, command: "stand-in d", depends_on: [third], role: build}]'
    is 0 "$code"
    for phase in build next third; do cat .cliq/channels/$phase--*/handoff.json; done >"$T/handoffs"
    is "from acp,from a b,from c" "$(grep -o 'from [^"]*' "$T/handoffs" | paste -sd,)"
    got log build --raw # as it came
    has "$out" '"sessionUpdate": "agent_message_chunk"'
    is 600 "$(stat -c %a .cliq/run/logs/build.1.raw)"
    "$CLIQ" settings --global agents.helper.acp '["stand-in","e"]'
    MINE="stand-in f" run_team 'phases: [{name: build, agent: helper}, {name: next, agent: local, depends_on: [build], role: build},
      {name: last, agent: goose, depends_on: [next], role: build}]'
    is 0 "$code"
    is "from e,from f" "$(grep -ho 'from [^"]*' .cliq/channels/build--next/handoff.json .cliq/channels/next--last/handoff.json | paste -sd,)"
    got team validate .
    has "$out" "valid"
    got doctor agent local
    lacks "$out" "is not set"
    run_team 'phases: [{name: build}, {name: next, agent: goose, depends_on: [build], role: build}]' --agent helper
    is 0 "$code"
    has "$(<.cliq/channels/build--next/handoff.json)" "from e"
}

@test "a named agent whose program is not here: the program, how to install it, and what is here instead" {
    export PATH=/usr/bin:/bin
    run_team 'phases: [{name: build, agent: qwen}]'
    [ "$code" -ne 0 ]
    has "$err" "the agent qwen is not installed (no program qwen on PATH): install it with npm install -g @qwen-code/qwen-code."
    has "$err" "installed here: goose"
    has "$("$CLIQ" team info --agents)" "(no program qwen on PATH)"
    has "$("$CLIQ" team info --agents qwen --json)" '"lacks":"qwen"'
    lacks "$("$CLIQ" team info --agents goose --json)" '"lacks"'
    got agent goose --help
    has "$err" "the agent acp drives goose: cliq agent acp --help, and cliq team info --agents goose"
}

@test "what a team says wrong about such an agent is told before the run" {
    mkdir -p team/roles
    echo "Build what the requirement asks for, and say what you did." >team/roles/build.md
    printf 'name: "@local/t"\ndescription: d\nagents: {both: {acp: x, entry: agents/a.sh}, none: {env: [A]}}\nphases: [{name: build, agent: goose, permissions: write}]\n' >team/team.yml
    got team validate team
    is 1 "$((code != 0))"
    has "$out$err" 'the agent "both" has entry and acp: choose one'
    has "$out$err" 'the agent "none" has no entry'
    has "$out$err" 'permissions'
}

@test "a hub that cannot be used rejects the request with the reason, each time" {
    touch "$T/file"
    CLIQ_HOME=$T/file acp '{"config":{"permissions":"ask"}}' tool a execute 'make' - may a write "$W/a.c" text
    is 0 "$code"
    has "$text" "[o-reject_once][no person can be asked: "
    has "$lines" "rejected: make: no person can be asked: "
    [ ! -e a.c ]
}

# ---- files ------------------------------------------------------------------------------

@test "files are written inside only, through no link, whole and with their mode" {
    mkdir -p "$T/elsewhere" sub
    ln -s "$T/elsewhere" out
    ln -s "$T/elsewhere/file" link
    echo old >run.sh
    chmod 750 run.sh
    acp '{}' write "$W/sub/deep/new.txt" 'äöü' write "$W/run.sh" '#!/bin/sh' write "$W/out/x" no write "$W/link" no \
        write "$W/sub/../../x" no write /etc/cliq-test no write relative no write "$W/.cliq/signals/test.jsonl" no write "$W/.cliq/files/build/a" yes write "$W/sub" no \
        write "$W/run.sh%00.txt" no
    is 0 "$code"
    is 'äöü' "$(<sub/deep/new.txt)"
    is '#!/bin/sh 750' "$(<run.sh) $(stat -c %a run.sh)"
    is yes "$(<.cliq/files/build/a)"
    is "" "$(ls -A "$T/elsewhere")"
    [ ! -e /etc/cliq-test ] && [ ! -e .cliq/signals/test.jsonl ]
    is "" "$(find . -name '*.tmp')"
    has "$lines" "wrote $W/sub/deep/new.txt (6 bytes)"
    has "$text" "out is a symbolic link, and links are not followed"
    has "$text" "link is a symbolic link"
    has "$text" "the path has .. in it"
    has "$text" "/etc/cliq-test is outside of the working directory $W"
    has "$text" "relative is not an absolute path"
    has "$text" "belongs to the run"
    has "$text" "sub is not a file"
    has "$text" "the path has a NUL in it"
}

@test "a file that another identity has leased is not written, and the agent hears who has it" {
    git init -q .
    cliq lease take a.c 'sub/**' --as ruby --reason parser >/dev/null
    cliq lease take mine.c --as "$PHASE" >/dev/null
    echo old >a.c
    acp '{}' write "$W/a.c" new write "$W/sub/b.c" new write "$W/mine.c" new write "$W/c.c" new
    is 0 "$code"
    is "old new new" "$(<a.c) $(<mine.c) $(<c.c)"
    [ ! -e sub ]
    has "$text" "$W/a.c is leased by ruby until 20"
    has "$text" "(parser): nothing was written"
    has "$lines" "refused: $W/sub/b.c is leased by ruby"
}

# ---- commands ---------------------------------------------------------------------------

@test "commands run in the working directory: exit code, signal, output, variables" {
    mkdir sub
    export X=ours
    acp '{}' run '{"command":"pwd; echo err >&2; exit 3"}' run '{"command":"printf","args":["%s-","a b","$X"]}' \
        run "{\"command\":\"pwd; echo \$X \$Y\",\"cwd\":\"$W/sub\",\"env\":[{\"name\":\"X\",\"value\":\"new\"},{\"name\":\"Y\",\"value\":\"y\"}]}" \
        run '{"command":"kill -9 $$"}' run '{"command":"no-such-program","args":["a"]}' run '{"args":["a"]}' run '{"command":"a","env":[{"name":"A=B","value":""}]}'
    is 0 "$code"
    has "$text" "[3 $W"$'\nerr\n]'
    has "$text" '[0 a b-$X-]'
    has "$text" "[0 $W/sub"$'\nnew y\n]'
    has "$text" "[SIGKILL ]"
    has "$text" "no-such-program"
    has "$text" "command must be a text"
    has "$lines" "\$ printf %s- 'a b' '\$X'"
    like "$lines" 'ended with exit code 3 after 0[.][0-9] s: pwd; echo err'
    has "$out" $'err\n'
}

@test "of a command's output the last bytes are kept, whole characters, without secrets" {
    export OPENAI_API_KEY=sk-very-secret
    acp '{}' run '{"command":"printf aäöü","outputByteLimit":5}' run '{"command":"printf abc","outputByteLimit":0}' \
        run '{"command":"printf sk-very; printf -- -secret!"}' run '{"command":"printf \"a\\377b\""}'
    is 0 "$code"
    has "$text" "[0 öü …]"
    has "$text" "[0  …]"
    has "$text" "[0 ***!]"
    has "$text" $'a\xef\xbf\xbdb'
    lacks "$out$lines$text" very-secret
}

@test "a hundred megabytes of a command's output cost less than sixteen" {
    ! grep -q __asan_init "$CLIQ" || skip "sanitizers take memory as they like"
    acp '{}' run '{"command":"head -c 100000000 /dev/zero | tr \"\\\\0\" x","outputByteLimit":1000}' \
        run '{"command":"sed -n \"s/VmHWM:[^0-9]*\\\\([0-9]*\\\\).*/\\\\1/p\" /proc/$PPID/status"}'
    is 0 "$code"
    is 1000 "$(head -n 1 <<<"$text" | tr -cd x | wc -c)"
    peak=$(sed -n 's/.*\]\[0 \([0-9]*\)$/\1/p' <<<"$text")
    [ "$peak" -lt 16384 ]
}

@test "permissions hold for commands: read, a directory outside, a person" {
    acp '{"config":{"permissions":"read"}}' run '{"command":"touch made"}'
    has "$text" "the phase's permissions are read: the command was not run"
    acp '{}' run '{"command":"touch made","cwd":"/tmp"}'
    has "$text" "/tmp is outside of the working directory: the command was not run"
    [ ! -e made ] && [ ! -e /tmp/made ]
    acp '{"config":{"permissions":"all"}}' run '{"command":"pwd","cwd":"/"}'
    has "$text" "[0 /"
    start_acp '{"config":{"permissions":"ask"}}' tool a execute '`touch one`' - may a run '{"command":"touch one"}' run '{"command":"touch two"}'
    until_true said "waits for a person: execute"
    "$CLIQ" emit answer allow --parent "$("$CLIQ" inbox --json | grep -o 'signal:[a-z0-9]*' | head -1)" >/dev/null
    until_true said "waits for a person: run touch two"
    has "$("$CLIQ" inbox --json)" "run: touch two"
    "$CLIQ" emit answer "no: not two" --parent "$("$CLIQ" inbox --json | grep -o 'signal:[a-z0-9]*' | head -1)" >/dev/null
    wait "$PID"
    look
    [ -e one ] && [ ! -e two ]
    has "$text" "[no: not two]"
    start_acp '{"config":{"permissions":"ask"}}' run '{"command":"touch","args":["three"]}'
    until_true said "waits for a person: run touch three"
    "$CLIQ" emit answer yes --parent "$("$CLIQ" inbox --json | grep -o 'signal:[a-z0-9]*' | head -1)" >/dev/null
    wait "$PID"
    [ -e three ]
}

@test "a command is killed with its tree, released, and the seventeenth refused" {
    mkfifo ready
    acp '{}' begin '{"command":"sleep 987654 & echo up >ready; wait"}' run '{"command":"cat ready"}' output kill output free
    is 0 "$code"
    has "$text" "[0 up"
    has "$text" "[SIGTERM]"
    has "$text" "there is no such terminalId"
    is "" "$(pgrep -f 'sleep 98765[4]' || true)"
    local steps=() i
    for i in {1..16}; do steps+=(begin '{"command":"sleep 987655"}'); done
    acp '{}' "${steps[@]}" begin '{"command":"true"}' free begin '{"command":"true"}'
    is 0 "$code"
    has "$text" "16 commands are there already: release"
    is "" "$(pgrep -f 'sleep 98765[5]' || true)"
}

@test "cancelling stops the commands of the turn" {
    mkfifo ready
    start_acp '{}' run '{"command":"echo up >ready; sleep 987656"}'
    cat ready >/dev/null
    kill -TERM "$PID"
    wait "$PID" || true
    look
    has "$lines" "was ended by SIGTERM"
    is "" "$(pgrep -f 'sleep 98765[6]' || true)"
}
