#!/usr/bin/env bats
# The edges of a run: what is told of it after its orchestrator was killed, when its journal is
# damaged, when a handoff is missing.
load pipeline

# one is done, two awaits go (and would sleep on), three comes after it; the orchestrator
# is killed then.
killed_run() {
    hold go
    agent a <<'END'
ok
[ "$P" != two ] || { echo $$ >"$T/pid"; await go; }
complete
END
    team <<'END'
phases:
  - {name: one, agent: a}
  - {name: two, agent: a, depends_on: [one]}
  - {name: three, agent: a, depends_on: [two]}
END
    start_run run
    until_true exists "$T/pid"
    until_true says .cliq/signals/two.jsonl ok
    kill -KILL "$PID"
    until_true gone "$PID"
}
# The states of the phases, as --json tells them.
states() {
    "$CLIQ" status --json 2>/dev/null >"$T/status.json"
    json "$T/status.json" '" ".join([d["status"]] + [p["state"] for p in d["phases"]])'
}
line_of() { grep -n -m1 "$1" "$(journal)" | cut -d: -f1; }

@test "after the cancel of a run whose orchestrator was killed nothing is shown as running" {
    killed_run
    is "INTERRUPTED done running waiting" "$(states)"
    got cancel
    is CANCELLED "$out"
    gone "$(<"$T/pid")"
    got status
    succeeds
    has "$out" "CANCELLED"
    lacks "$out" running
    is "CANCELLED done waiting waiting" "$(states)"
    release go
    got retry $HEADLESS two
    code_is 0
    is "COMPLETED done done done" "$(states)"
    is "one.1 two.1 two.2 three.1" "$(starts)"
}

@test "the same when it was killed before its first phase was journalled, or while it cancelled" {
    killed_run
    got cancel
    sed -i '1!d' "$(journal)" # the begin alone: one is to be started
    is "INTERRUPTED starting waiting waiting" "$(states)"
    got cancel
    is CANCELLED "$out"
    is "CANCELLED waiting waiting waiting" "$(states)"
    printf '{"at":"2026-01-01T00:00:00.000Z","ev":"cancel"}\n' >>"$(journal)" # a second one
    is "CANCELLED waiting waiting waiting" "$(states)"
    rm "$T/pid"
    AGENTS='' killed_run_again
}
killed_run_again() {
    hold go
    agent a <<'END'
trap '' TERM
ok
echo $$ >"$T/pid"
await go
END
    team <<<'phases: [{name: one, agent: a}]'
    start_run run
    until_true exists "$T/pid"
    kill -TERM "$PID"
    until_true says .cliq/run/journal.jsonl '"cancel"'
    kill -KILL "$PID"
    until_true gone "$PID"
    release go
    got cancel
    is CANCELLED "$out"
    is "CANCELLED waiting" "$(states)"
}

@test "the same when it was killed after all was done, before it could say so" {
    killed_run
    release go
    run_ok --resume
    sed -i '/"ev":"end"/d' "$(journal)"
    got cancel
    is "COMPLETED done done done" "$(states)" # it had said so
    sed -i '/"ev":"end"/d' "$(journal)"
    rm .cliq/signals/_pipeline_status
    got cancel
    is CANCELLED "$out"
    is "CANCELLED done done done" "$(states)"
}

@test "one bad line in the journal: status, log and graph show the rest; --resume refuses" {
    killed_run
    local n bad
    n=$(line_of '"result".*one')
    for bad in 'not json' '{"ev":"levitate"}' '{"at":"x","ev":"started","phase":"nobody","attempt":1}' '[1]'; do
        sed -i "${n}s/.*/$bad/" "$(journal)"
        got status
        code_is 0
        has "$err" "run/journal.jsonl, line $n: "
        has "$err" "--force"
        like "$out" "INTERRUPTED  cliq-"
        like "$out" "one +standard +done +1"
        like "$out" "two +standard +running +1"
        is "INTERRUPTED done running waiting" "$(states)"
        got log
        succeeds
        has "$out" "one"
        got log two
        succeeds
        got graph
        succeeds
        has "$out" "[three]"
        got run $HEADLESS --resume
        refused 2 "run/journal.jsonl, line $n: " "cliq run --force"
        got retry $HEADLESS two
        refused 2 "line $n"
        is "one.1 two.1" "$(starts)"
    done
    kill -0 "$(<"$T/pid")" # the refused ones touched nothing
    got cancel
    is CANCELLED "$out"
    gone "$(<"$T/pid")"
    is "CANCELLED done waiting waiting" "$(states)"
}

@test "a bad first line, a missing line, nothing but garbage" {
    killed_run
    cp "$(journal)" "$T/journal"
    sed -i '1s/.*/rubbish/' "$(journal)"
    got status
    code_is 0
    has "$err" "line 1: "
    like "$out" "two +standard +running"
    sed '/"result".*one/d' "$T/journal" >"$(journal)"
    got status
    code_is 0
    has "$err" "does not lead there"
    like "$out" "one +standard +done"
    printf 'rubbish\nmore\n' >"$(journal)"
    got status
    refused 2 "run/journal.jsonl, line 1: " "--force"
    release go
    run_ok --force
    is "one.1 two.1 one.1 two.1 three.1" "$(starts)"
}

# earlier PATTERN MINUTES: the journal's lines like that were written so long ago.
earlier() {
    local at
    at=$(date -u -d "$2 minutes ago" +%Y-%m-%dT%H:%M:%S.000Z)
    sed -i "/$1/s/\"at\":\"[^\"]*\"/\"at\":\"$at\"/" "$(journal)"
}

@test "the clock of a resumed run counts from its start, a phase's from its attempt's" {
    command -v script >/dev/null || skip "no script"
    killed_run
    earlier '"begin"' 61
    earlier '"started".*one' 60
    earlier '"result".*one' 53
    earlier '"started".*two' 11
    start shown script -qec "$CLIQ run --headless --resume" /dev/null
    until_true says "$T/shown.out" "two  *running .* 11 min"
    release go
    ended shown "$PID"
    has "$out" "COMPLETED in 61 min"
    like "$out" "one +done +a +7 min 0 s"
    got run --resume $HEADLESS # it has ended: the same time again
    has "$out" "COMPLETED in 61 min"
    got retry $HEADLESS three # counts what it does itself
    like "$out" "COMPLETED in [0-9.]+ m?s:"
}

# A team in which each phase hands over to the next; b also to d.
handing_team() {
    agent a <<'END'
ok
case $P in a) hand b '{}' ;; b) hand c '{}'; hand d '{}' ;; c) hand d '{}' ;; esac
complete
END
    team <<'END'
phases:
  - {name: a, agent: a}
  - {name: b, agent: a, depends_on: [a]}
  - {name: c, agent: a, depends_on: [b]}
  - {name: d, agent: a, depends_on: [b, c]}
END
}

@test "retry and --from say which handoff is missing, and run all the same" {
    handing_team
    run_ok
    is "" "$err"
    got retry $HEADLESS c
    succeeds
    rm .cliq/channels/b--c/handoff.json
    got retry $HEADLESS c
    code_is 0
    is "cliq: warning: $STATE/channels/b--c/handoff.json is missing: c runs without what b hands over (cliq retry b runs both)" "$err"
    has "$(<.cliq/orchestrator.log)" "channels/b--c/handoff.json is missing"
    got run $HEADLESS --from c --json
    code_is 0
    has "$err" "b--c/handoff.json is missing"
    has "$out" "b--c/handoff.json is missing"
    rm .cliq/channels/b--d/handoff.json # read by d, which runs again behind c
    got retry $HEADLESS c
    code_is 0
    has "$err" "b--c/handoff.json is missing"
    has "$err" "b--d/handoff.json is missing"
    got retry $HEADLESS b # makes both again
    succeeds
    got retry $HEADLESS c
    succeeds
}

@test "a phase that was skipped owes no handoff" {
    agent a <<<'ok; complete'
    team <<'END'
phases:
  - {name: one, agent: a, when: "1 == 2"}
  - {name: two, agent: a, depends_on: [one]}
END
    run_ok
    got retry $HEADLESS two
    succeeds
}

# ---- what a newcomer tries ----

@test "a missing argument is named" {
    got retry
    refused 2 "an argument is missing: cliq retry PHASE"
    got assemble
    refused 2 "an argument is missing: cliq assemble"
    got team new
    refused 2 "an argument is missing: cliq team new"
}

# Five phases by five agents, a gate among them; all done.
five_agents() {
    local a
    for a in early middle late side help; do agent $a <<<'ok; complete'; done
    agent judge <<<'ok; verdict PASS'
    team <<'END'
phases:
  - {name: early, agent: early}
  - {name: middle, agent: middle, depends_on: [early]}
  - {name: judge, type: gate, agent: judge, depends_on: [middle]}
  - {name: late, agent: late, depends_on: [judge]}
  - {name: side, agent: side}
support:
  - {name: help, agent: help}
END
    run_ok
    rm "$T/starts"
}
# without NAME...: these agents, and no others, need a program that is not there.
without() {
    local a
    rm -f .cliq/agents/*/manifest.json
    for a; do
        printf '{"name":"%s","version":"1.0.0","entry":"agent.sh","binaries":["%s-that-is-not-there"]}' \
            "$a" "$a" >".cliq/agents/$a/manifest.json"
    done
    "$CLIQ" team trust >/dev/null
}

@test "retry needs the agents of those phases only that it runs" {
    five_agents
    without early middle judge side help
    got retry late $HEADLESS
    code_is 0
    is "late.2" "$(starts)"
    is "COMPLETED done done done done done waiting" "$(states)"
    got retry early --dry-run
    refused 4 "phase early: "
    got retry side $HEADLESS
    refused 4 "phase side: " side-that-is-not-there
    is "late.2" "$(starts)"
    run_is 4 # anew: all of them
    has "$err" "phase early: "
}

@test "retry needs the agents of phases that a gate may send work back to, and of support" {
    five_agents
    without side
    got retry judge $HEADLESS
    code_is 0
    is "judge.2 late.2" "$(starts)"
    without early
    got retry judge $HEADLESS
    refused 4 "phase early: "
    without help
    got retry judge --dry-run
    refused 4 "phase help: "
    is "judge.2 late.2" "$(starts)"
}

@test "--resume needs no agents of what is done, and none at all of a run that has ended" {
    mkfifo "$T/go"
    agent early <<<'ok; complete'
    agent late <<<'ok; read -r _ <"$T/go"; complete'
    team <<'END'
phases:
  - {name: one, agent: early}
  - {name: two, agent: late, depends_on: [one]}
END
    start_run run
    until_true says .cliq/signals/two.jsonl ok
    kill -KILL "$PID"
    until_true gone "$PID"
    without early
    start_run again --resume
    until_true says .cliq/orchestrator.log resumed
    timeout 20 sh -c 'echo >"$1"' _ "$T/go"
    ended again "$PID"
    code_is 0
    without early late
    got run $HEADLESS --resume
    succeeds
    has "$out" "2 done"
    is "one.1 two.1" "$(starts)"
}

@test "retry takes --jobs and --fail-fast from that phase on, and the run keeps them" {
    mkfifo "$T/up"
    agent first <<<'ok; complete'
    agent good <<<'ok; [ -e "$T/fine" ] || { echo >"$T/up"; exec sleep $NAP; }; complete'
    agent bad <<<'ok; [ -e "$T/fine" ] || { read -r _ <"$T/up"; fail "no good"; }; complete'
    team <<'END'
phases:
  - {name: first, agent: first}
  - {name: one, agent: good, depends_on: [first]}
  - {name: two, agent: bad, depends_on: [first]}
END
    touch "$T/fine"
    run_ok --jobs 1
    rm "$T/fine"
    got_from timeout 20 "$CLIQ" retry first --jobs 0 --fail-fast $HEADLESS # one job would wait for ever
    code_is 3
    like "$out" "one +stopped"
    none_left
    has "$(grep '"rerun"' "$(journal)")" '"jobs":0,"fail_fast":true'
    got_from timeout 20 "$CLIQ" retry first $HEADLESS
    code_is 3
    like "$out" "one +stopped" # as before
    none_left
    touch "$T/fine"
    got retry first --jobs 1 $HEADLESS
    succeeds
    got status
    succeeds
    is "COMPLETED done done done" "$(states)"
}

@test "retry --agent and --dry-run are those of run --from" {
    agent a <<<'ok; complete'
    agent b <<<'ok; complete'
    mkdir -p "$T/team/roles"
    echo "You do what is to be done, and say so when it is done." >"$T/team/roles/two.md"
    team <<'END'
phases:
  - {name: one, agent: a}
  - {name: two, depends_on: [one]}
END
    run_ok --agent a
    got retry two --agent b --dry-run
    succeeds
    has "$out" "1 of 2 phases"
    has "$out" "two  (standard, agent b; after one)"
    got retry two --agent b $HEADLESS
    code_is 0
    like "$out" "two +started +agent b, attempt 2"
}

@test "retry and --from of a phase that is not there name the nearest and all" {
    handing_team
    run_ok
    got retry $HEADLESS e
    refused 4 'there is no phase "e"' "the phases are a, b, c, d"
    AGENTS='' killed_run
    got cancel
    got run $HEADLESS --from thre
    refused 4 'there is no phase "thre" (did you mean "three"?)' "the phases are one, two, three"
}

@test "req refuses an empty requirement and keeps what it cannot read; choices are listed" {
    team <<'END'
inputs:
  - {name: where, choices: [here, there], default: here, description: place}
  - {name: who, default: all, description: people}
phases: [{name: one, agent: exec, commands: [{name: x, run: "echo $(inputs.where) $(inputs.who)"}]}]
END
    got req -m " "
    refused 2 "the requirement is empty" "-m TEXT"
    : >"$T/empty"
    got req -f "$T/empty"
    refused 2 "the requirement is empty"
    got req --input where=nowhere
    refused 2 'input where cannot be "nowhere": choose here, there'
    got req --input whom=x
    refused 2 'no input "whom"; it has where, who'
    printf '{"who":"ann",}' >.cliq/inputs.json
    got req --input where=there
    refused 2 "inputs.json:1:"
    is '{"who":"ann",}' "$(<.cliq/inputs.json)"
    printf '{"who":"ann"}' >.cliq/inputs.json
    got req --input where=there -m x
    succeeds
    is "ann there" "$(json .cliq/inputs.json 'd["who"] + " " + d["where"]')"
}

@test "settings: --unset of what is not set there says so; keys are checked before all else" {
    cd "$T/proj"
    "$CLIQ" init >/dev/null
    got settings default_agent script --global
    succeeds
    got settings default_agent --unset
    refused 4 "default_agent is not set in $STATE/settings.json (--global"
    got settings agents.x.y --unset
    refused 4 "agents.x.y is not set"
    got settings default_agent --unset --global
    succeeds
    got settings default_agent --unset --global
    refused 4 "default_agent is not set in $CLIQ_HOME/settings.json"
    local key
    for key in "" .x x. a..b; do
        got settings "$key"
        refused 2 "bad settings key \"$key\""
        got settings "$key" 1
        refused 2 "bad settings key \"$key\""
        lacks "$err" warning
    done
}

@test "a journal that is no file is told by its name" {
    handing_team
    run_ok
    rm "$(journal)"
    mkdir "$(journal)"
    got status
    refused 2 "run/journal.jsonl is a directory, not a regular file"
    got run $HEADLESS --resume
    refused 2 "run/journal.jsonl is a directory, not a regular file"
    rmdir "$(journal)"
    mkfifo "$(journal)"
    got status
    refused 2 "run/journal.jsonl is a FIFO, not a regular file"
}

@test "status --watch shows each change once, until the end" {
    killed_run
    start again "$CLIQ" run $HEADLESS --resume
    local again=$PID
    until_true says .cliq/orchestrator.log resumed
    start watch "$CLIQ" status --watch --json
    local watch=$PID
    until_true says "$T/watch.out" '"RUNNING"'
    release go
    ended again "$again"
    ended watch "$watch"
    code_is 0
    has "$(tail -1 "$T/watch.out")" '"status":"COMPLETED"'
    is "$(uniq "$T/watch.out" | wc -l)" "$(wc -l <"$T/watch.out")"
}

@test "settings: a value that its key cannot have is refused where it is set and where it is read" {
    agent a <<<'ok; complete'
    team <<<'phases:
  - {name: one, agent: a}'
    got settings channel.max_message_size_bytes abc
    refused 2 'channel.max_message_size_bytes must be a whole number of bytes, at least 1, not "abc"'
    got settings notifications.on_foo slack:ops
    refused 2 "notifications.on_foo: there is no such event; these are: on_start, on_phase_start"
    is '{}' "$(<.cliq/settings.json)"
    echo '{"notifications":{"on_foo":["slack"]}}' >.cliq/settings.json
    got run --headless
    refused 2 "$STATE/settings.json: notifications.on_foo: there is no such event"
    [ ! -e "$T/starts" ]
    got settings notifications.on_foo --unset
    succeeds
    run_ok
    got settings --info
    has "$out" channel.max_message_size_bytes
    has "$out" notifications.on_phase_complete
}

@test "parts of a state directory that are of the wrong kind are told with their path" {
    agent a <<<'ok; complete'
    team <<<'phases:
  - {name: one, agent: a}
  - {name: two, agent: a, depends_on: [one]}'
    local part
    for part in signals run channels run/logs; do
        rm -rf "$STATE/$part"
        echo x >"$STATE/$part"
        got run --headless
        refused 2 "$STATE/$part is not a directory"
        rm "$STATE/$part"
    done
    for part in workflow.yml agents.json inputs.json run/journal.jsonl; do
        [ ! -e "$STATE/$part" ] || mv "$STATE/$part" "$T/kept"
        mkdir -p "$STATE/$part"
        got run --headless --force
        [ "$code" != 0 ] || complain "$part as a directory is taken"
        has "$err" "$STATE/$part is a directory, not a regular file"
        rmdir "$STATE/$part"
        [ ! -e "$T/kept" ] || mv "$T/kept" "$STATE/$part"
    done
    [ ! -e "$T/starts" ]
    run_ok
    mkdir -p "$CLIQ_HOME"
    rm -rf "$CLIQ_HOME/signals"
    echo x >"$CLIQ_HOME/signals"
    got signal generate a:b
    refused 2 "$CLIQ_HOME/signals is not a directory"
    got signal events
    refused 2 "$CLIQ_HOME/signals is not a directory"
    rm "$CLIQ_HOME/signals"
    mkdir -p "$CLIQ_HOME/signals/events.jsonl"
    got signal generate a:b
    refused 2 "$CLIQ_HOME/signals/events.jsonl is a directory, not a regular file"
}

@test "run --agent that no phase needs is refused, with the agents that phases have" {
    agent planner <<<'ok; complete'
    agent builder <<<'ok; complete'
    team <<<'phases:
  - {name: plan, agent: planner}
  - {name: build, agent: builder, depends_on: [plan]}
  - {name: more, agent: builder, depends_on: [build]}'
    got run --headless --agent bilder
    refused 2 "--agent bilder: no phase needs it (did you mean builder?); every phase names its agent, and these are: planner, builder."
    got run --headless --agent planner --dry-run
    refused 2 "--agent planner: no phase needs it; every phase"
    [ ! -e "$T/starts" ]
    run_ok
}

@test "run --agent is the agent of phases that name none" {
    agent planner <<<'ok; complete'
    agent other <<<'ok; complete'
    mkdir -p "$T/team/roles"
    echo "Build." >"$T/team/roles/build.md"
    team <<<'phases:
  - {name: plan, agent: planner}
  - {name: build, depends_on: [plan]}'
    got run --headless --agent nobody
    refused 4 "phase build: the agent nobody is not installed"
    got run --headless --agent other --dry-run
    succeeds
    has "$out" "build  (standard, agent other; after plan)"
    got run --headless --agent other
    succeeds
}

# one and three name no agent; two waits for a line of the pipe $T/go, if it is there, and fails while
# $T/bad is.
unnamed_run() {
    agent mine <<'END'
ok
echo "$P by mine" >>"$T/who"
[ "$P" != two ] || [ ! -p "$T/go" ] || { echo $$ >"$T/pid"; read -r _ <"$T/go"; }
if [ "$P" = two ] && [ -e "$T/bad" ]; then fail "no good"; else complete; fi
END
    agent other <<<'ok; echo "$P by other" >>"$T/who"; complete'
    mkdir -p "$T/team/roles"
    echo "Work." | tee "$T/team/roles/one.md" >"$T/team/roles/three.md"
    team <<'END'
phases:
  - {name: one}
  - {name: two, agent: mine, depends_on: [one]}
  - {name: three, depends_on: [two]}
END
}
who() { paste -sd, "$T/who"; }

@test "run --agent is kept by --resume, which refuses another one" {
    unnamed_run
    mkfifo "$T/go"
    got settings default_agent other
    succeeds
    start_run run --agent mine
    until_true exists "$T/pid"
    until_true says .cliq/signals/two.jsonl ok
    kill -KILL "$PID"
    until_true gone "$PID"
    echo >"$T/go"
    rm "$T/go"
    got run $HEADLESS --resume --agent other
    refused 2 "--agent other: this run was begun with --agent mine, and --resume goes on as it began: leave --agent away"
    run_ok --resume
    run_ok --resume --agent mine # the same one
    is "one by mine,two by mine,three by mine" "$(who)"
}

@test "run --agent is kept by retry and --from, and --from takes another one that is kept then" {
    unnamed_run # and no default agent is installed
    touch "$T/bad"
    run_is 3 --agent mine
    rm "$T/bad"
    got retry two $HEADLESS
    code_is 0 # and a warning: no handoffs
    is "one by mine,two by mine,two by mine,three by mine" "$(who)"
    rm "$T/who"
    run_ok --from three
    run_ok --from three --agent other
    got retry three $HEADLESS
    code_is 0
    is "three by mine,three by other,three by other" "$(who)"
    : >"$T/who"
    got run $HEADLESS # a run of its own: it has none
    code_is 4
    is "" "$(who)"
}

@test "a run that was begun without --agent is not resumed with one" {
    unnamed_run
    mkfifo "$T/go"
    got settings default_agent other
    start_run run
    until_true exists "$T/pid"
    kill -KILL "$PID"
    until_true gone "$PID"
    echo >"$T/go"
    rm "$T/go"
    got run $HEADLESS --resume --agent mine
    refused 2 "--agent mine: this run was begun without --agent, and --resume"
    run_ok --resume
    is "one by other,two by mine,three by other" "$(who)"
}

# A run that ended because its second phase failed; its workflow is in $T/old.
failed_run() {
    agent good <<'END'
ok
[ "$P" != three ] || [ ! -e "$T/hold" ] || { touch "$T/held"; read -r _ <"$T/hold"; } # a fifo
complete
END
    agent bad <<<'ok; fail "no good"'
    team <<'END'
phases:
  - {name: one, agent: good}
  - {name: two, agent: bad, depends_on: [one]}
  - {name: three, agent: good, depends_on: [two]}
END
    run_is 3
    is "one.1 two.1" "$(starts)"
    cp .cliq/workflow.yml "$T/old"
}
mend() { # SED
    sed "$1" "$T/old" >.cliq/workflow.yml
    "$CLIQ" team trust >/dev/null
}

@test "retry goes on with a run that ended when the workflow was mended, and --resume with that" {
    failed_run
    mend 's/agent: bad/agent: good/; $a\  - {name: four, agent: good, depends_on: [three]}'
    got run $HEADLESS --resume
    code_is 3 # an ended run: its outcome
    mkfifo "$T/hold"
    start again "$CLIQ" retry two $HEADLESS
    until_true exists "$T/held"
    kill -KILL "$PID"
    until_true gone "$PID"
    has "$(grep '"rerun"' "$(journal)")" '"workflow":"'
    cp .cliq/workflow.yml "$T/new"
    mend ''
    got_from timeout 20 "$CLIQ" run $HEADLESS --resume # who takes it up would wait for ever
    refused 2 "the workflow was changed since this run began"
    cp "$T/new" .cliq/workflow.yml
    "$CLIQ" team trust >/dev/null
    : >"$T/hold"
    rm "$T/hold"
    got run $HEADLESS --resume
    succeeds
    is "one.1 two.1 two.2 three.1 four.1" "$(starts)"
    is "COMPLETED done done done done" "$(states)"
    got retry four $HEADLESS
    code_is 0
    is "one.1 two.1 two.2 three.1 four.1 four.2" "$(starts)"
}

@test "retry is refused when the journal does not fit the mended workflow; nothing is started" {
    failed_run
    local before
    before=$(cat "$(journal)")
    mend 's/agent: bad/agent: good/; s/name: one,/name: uno,/; s/\[one\]/[uno]/'
    got retry two $HEADLESS
    refused 2 "the workflow has no such phase"
    mend 's/agent: bad/agent: good/; s/name: one,/name: one, depends_on: [zero],/; $a\  - {name: zero, agent: good}'
    got retry two $HEADLESS
    refused 2 "the workflow, as it is now, does not lead there"
    is "one.1 two.1" "$(starts)"
    is "$before" "$(cat "$(journal)")"
    mend 's/agent: bad/agent: good/'
    run_ok # anew
    is "one.1 two.1 one.1 two.1 three.1" "$(starts)"
}

@test "a run that stood still is not gone on with by a workflow that would not have" {
    agent a <<<'ok; if [ "$P" = b ] || [ -e "$T/bad" ]; then fail "no good"; else complete; fi'
    team <<'END'
phases:
  - {name: a, agent: a}
  - {name: b, agent: a}
END
    touch "$T/bad"
    run_is 3
    rm "$T/bad"
    got retry a $HEADLESS
    code_is 3
    has "$out" "phase b failed before and was not run again"
    cp .cliq/workflow.yml "$T/old"
    local before
    before=$(cat "$(journal)")
    mend '$a\  - {name: c, agent: a}'
    got retry b $HEADLESS
    refused 2 "by the new one it would not have ended where it did"
    got run $HEADLESS --from b --dry-run
    refused 2 "by the new one it would not have ended where it did"
    is "$before" "$(cat "$(journal)")"
}

@test "retry goes on with more retries than the run had" {
    failed_run
    mend 's/agent: bad/agent: bad, retries: 1/'
    got status
    like "$out" "two +standard +failed +1"
    got retry two $HEADLESS
    code_is 3
    is "one.1 two.1 two.2 two.3" "$(starts)"
    mend 's/agent: bad/agent: good, retries: 3/'
    got retry two $HEADLESS
    code_is 0
    is "one.1 two.1 two.2 two.3 two.4 three.1" "$(starts)"
}

@test "retry goes on with more iterations than the run had" {
    agent a <<<'ok; complete'
    agent g <<<'ok; [ "$N" -ge 4 ] && verdict PASS || verdict ROUTE a "not yet"'
    team <<'END'
phases:
  - {name: a, agent: a}
  - {name: g, type: gate, agent: g, depends_on: [a], max_iterations: 1}
END
    run_is 3
    cp .cliq/workflow.yml "$T/old"
    mend 's/max_iterations: 1/max_iterations: 3/'
    got status
    has "$out" "gate g: still not passed after 1 iteration (max_iterations): not yet"
    got retry g $HEADLESS
    code_is 0
    is "a.1 g.1 g.2 a.2 g.3 a.3 g.4" "$(starts)"
}

@test "phases that were added to a run that completed run with whatever is retried" {
    mkfifo "$T/hold"
    agent a <<<'ok; [ "$P" != four ] || [ ! -e "$T/hold" ] || read -r _ <"$T/hold"; complete'
    team <<'END'
phases:
  - {name: one, agent: a}
  - {name: two, agent: a, depends_on: [one]}
END
    run_ok
    cp .cliq/workflow.yml "$T/old"
    mend '$a\  - {name: three, agent: a, depends_on: [two]}\n  - {name: four, agent: a, depends_on: [one]}'
    is "COMPLETED done done waiting waiting" "$(states)"
    got retry three --dry-run
    has "$out" "2 of 4 phases"
    # --resume goes on with it, too, and tells the hub all of it
    start again "$CLIQ" retry three $HEADLESS
    until_true says .cliq/signals/four.jsonl ok
    until_true says .cliq/signals/three.jsonl complete
    kill -KILL "$PID"
    until_true gone "$PID"
    start_run more --resume
    until_true says .cliq/orchestrator.log resumed
    timeout 20 sh -c 'echo >"$1"' _ "$T/hold"
    ended more "$PID"
    code_is 0
    is "four.1 one.1 three.1 two.1" "$(sort "$T/starts" | paste -sd' ')"
    is "COMPLETED done done done done" "$(states)"
    has "$("$CLIQ" signal events --limit 1000 --json)" ':three:completed"'
}

@test "an unfinished run is cancelled before its mended workflow is gone on with" {
    killed_run
    sed -i 's/name: three,/name: three, timeout: 5m,/' .cliq/workflow.yml
    "$CLIQ" team trust >/dev/null
    got run $HEADLESS --resume
    refused 2 "end it with cliq cancel and go on with cliq retry PHASE"
    release go
    got cancel
    is CANCELLED "$out"
    got retry two $HEADLESS
    code_is 0
    is "one.1 two.1 two.2 three.1" "$(starts)"
}

# So many phases at once, each of which tells its own limit of open files.
wide_team() {
    agent limit <<'END'
ok
ulimit -Sn >"$T/limit.$P"
complete
END
    team < <(
        echo 'phases:'
        for i in $(seq "$1"); do echo "  - {name: p$i, agent: limit}"; done
    )
}

@test "a run takes the files that it needs, and leaves the agents the limit that they had" {
    [ -n "$HEADLESS" ] || skip "in a pane it is the limit of tmux"
    wide_team 30
    (
        ulimit -Sn 100
        run_ok
    )
    is 30 "$(cat "$T"/limit.* | grep -cx 100)"
}

@test "a run that may not open enough files says how many, and begins nothing" {
    wide_team 30
    got_limited() { # FILES ARGS...
        got_from bash -c 'ulimit -n "$1"; shift; exec "$@"' limited "$1" "$CLIQ" run $HEADLESS "${@:2}"
    }
    got_limited 30
    refused 1 "a run opens up to 68 files, and may open 30: ulimit -n 184"
    got_limited 100
    refused 1 "30 phases may run at a time, which takes 184 open files, and the limit is 100: say --jobs 9"
    is "" "$(starts)"
    [ ! -e .cliq/run/journal.jsonl ]
    got_limited 100 --jobs 9
    code_is 0
}

@test "a phase that failed before it was started is told so, and its log says why" {
    agent a <<<'ok; complete'
    team <<'END'
phases:
  - {name: one, agent: a}
  - {name: two, agent: a, depends_on: [one], when: "$(handoff.one.x) == y"}
END
    run_is 3
    is "one.1" "$(starts)"
    has "$out" "Why: phase two could not be started: "
    lacks "$out" "agent error"
    has "$out" "Next: cliq log two"
    got log two
    succeeds
    has "$out" "cliq: not started: "
    has "$out" "handoff.one.x"
}

@test "a .cliq/ of another user is refused with its owner, and left as it is" {
    [ "$(id -u)" = 0 ] || skip "needs root"
    agent a <<<'ok; complete'
    team <<<'phases: [{name: one, agent: a}]'
    chown -R nobody .cliq
    local c
    for c in run graph status log cancel init "assemble ../team" "req -m x" "settings default_agent a"; do
        got $c
        refused 7 "$T/proj/.cliq belongs to the user nobody, not to you: "
    done
    is "" "$(find .cliq ! -user nobody)"
    [ ! -e "$T/starts" ]
    chown 12345 .cliq
    got run
    refused 7 "$T/proj/.cliq belongs to the user with the id 12345, "
    got settings # the user's own
    succeeds
    mkdir below
    cd below
    got graph
    refused 7 "$T/proj/.cliq belongs to"
    got assemble ../../team
    code_is 0
    exists .cliq/workflow.yml
}

# The phases that a dry run lists.
listed() { sed -n 's/^  \(step [0-9]* *\|support *\)\([a-z]*\) .*/\2/p' <<<"$out" | paste -sd' '; }

@test "run --dry-run with --from and --resume shows what would run" {
    killed_run # one is done, two runs
    local before
    before=$(cksum <"$(journal)")
    got run --dry-run --resume
    succeeds
    is "two three" "$(listed)"
    has "$out" "2 of 3 phases"
    got run --dry-run --from three
    refused 5 "an unfinished run exists here"
    is "$before" "$(cksum <"$(journal)")"
    release go
    run_ok --resume
    got run --dry-run --resume
    succeeds
    is "" "$(listed)"
    has "$out" "0 of 3 phases; the run has ended: COMPLETED"
    got run --dry-run --from two --json
    succeeds
    is "['two', 'three']" "$($PY -c 'import json,sys; print([p["phase"] for p in json.load(sys.stdin)])' <<<"$out")"
    got run --dry-run --from tow
    refused 4 "tow"
    got run --dry-run
    succeeds
    is "one two three" "$(listed)"
    is "one.1 two.1 three.1" "$(starts)"
}

@test "run --dry-run --from without a run, and with what never began" {
    agent a <<<'ok; if [ -e "$T/bad" ] && [ "$P" = two ]; then fail "no good"; else complete; fi'
    team <<'END'
phases:
  - {name: one, agent: a}
  - {name: two, agent: a, depends_on: [one]}
  - {name: three, agent: a, depends_on: [two]}
  - {name: other, agent: a, depends_on: [one]}
  - {name: check, type: gate, agent: checks, depends_on: [other], commands: [{name: t, run: "true"}]}
support:
  - {name: helper, agent: a}
END
    got run --dry-run --from two
    refused 4 "nothing has run here yet"
    got run --dry-run --resume # would begin one
    succeeds
    is "one helper two other three check" "$(listed)"
    touch "$T/bad"
    run_is 3 --jobs 1
    is "one.1 two.1" "$(starts)"
    rm "$T/bad" "$T/starts"
    got run --dry-run --from two
    succeeds
    is "helper two other three check" "$(listed)" # a gate among them may send work to helper
    got run $HEADLESS --from two
    code_is 0
    is "other.1 three.1 two.2" "$(tr ' ' '\n' <<<"$(starts)" | sort | paste -sd' ')"
}

@test "a project whose path is not UTF-8 is refused before anything is made or run" {
    agent a <<<'ok; complete'
    team <<<'phases: [{name: one, agent: a}]'
    mkdir "$T"/$'bad\xff\xfe'
    cd "$T"/$'bad\xff\xfe'
    local c
    for c in init "assemble ../team"; do
        got $c
        refused 2 "is not UTF-8" "Rename that directory"
        is "" "$(ls -A)"
    done
    cp -a "$T/proj/.cliq" .
    for c in run "run --dry-run" "assemble ../team"; do
        got $c
        refused 2 "is not UTF-8"
    done
    [ ! -e "$T/starts" ]
    mkdir "$T/sø" && cd "$T/sø"
    cp -a "$T/proj/.cliq" .
    got run $HEADLESS
    code_is 0
}

# One escalates; two fails behind it with retries left.
untried_team() {
    agent a <<'END'
ok
[ "$P" != two ] || read -r _ <"$T/go"
if [ -e "$T/bad" ]; then fail "no good"; else complete; fi
[ "$P" != one ] || echo >"$T/go"
END
    mkfifo "$T/go"
    team <<'END'
phases:
  - {name: one, agent: a}
  - {name: two, agent: a, retries: 3}
END
    touch "$T/bad"
}

@test "a phase with a retry left when the run escalates is told of, and runs with the next retry" {
    untried_team
    run_is 3
    like "$out" "two +note +failed \(1 of 4 times\), and is not tried again since the run ends"
    lacks "$(grep ' one ' <<<"$out")" "not tried again"
    has "$out" ": 0 done, 1 failed, 1 to be tried again, 0 skipped of 2 phases"
    has "$out" "Next: cliq log two shows what it said; it is tried again with whatever phase is retried"
    lacks "$out" "cliq retry two"
    got status
    like "$out" "two +standard +waiting \(failed 1 of 4\) +1"
    got status --json
    is "one failed None, two waiting True" "$(json "$T/out" '", ".join("%s %s %s" % (p["phase"], p["state"], p.get("is_untried")) for p in d["phases"])')"
    rm "$T/bad"
    got retry one $HEADLESS
    code_is 0
    is "one.1 one.2 two.1 two.2" "$(sort "$T/starts" | paste -sd' ')"
    lacks "$out" "tried again"
    got status --json
    lacks "$out" is_untried
}

@test "run --json ends with who failed, and who was to be tried again" {
    untried_team
    run_is 3 --json
    tail -n 1 "$T/out" >"$T/last"
    is "end ['one'] ['two']" "$(json "$T/last" '"%s %s %s" % (d["event"], d["failed"], d["untried"])')"
    rm "$T/bad"
    run_is 0 --json
    tail -n 1 "$T/out" >"$T/last"
    is "end [] []" "$(json "$T/last" '"%s %s %s" % (d["event"], d["failed"], d["untried"])')"
}

@test "what --fail-fast stops is told as stopped, not as crashed" {
    mkfifo "$T/up"
    agent good <<<'ok; echo >"$T/up"; exec sleep $NAP'
    agent bad <<<'ok; read -r _ <"$T/up"; fail "no good"'
    team <<'END'
phases:
  - {name: one, agent: good}
  - {name: two, agent: bad}
END
    run_is 3 --fail-fast
    lacks "$out" crashed
    like "$out" "one +stopped +was killed by signal 15"
    has "$out" "0 done, 1 failed"
    none_left
}

@test "settings --info of a key and as JSON; a file that is no JSON is no wrong usage" {
    team <<<'phases: [{name: one, agent: exec, commands: [{name: t, run: "true"}]}]'
    got settings --info --json
    succeeds
    is "True True" "$($PY -c 'import json,sys
d = json.load(sys.stdin)
print(len(d) > 10, all(r["key"] and r["says"] and r["takes"] for r in d))' <<<"$out")"
    got settings --info hub
    succeeds
    is "hub.url hub.token" "$(grep -o '^[a-z][^ ]*' <<<"$out" | paste -sd' ')"
    got settings --info agents.mine.entry --json
    succeeds
    is "agents.*.entry" "$($PY -c 'import json,sys; print(*[r["key"] for r in json.load(sys.stdin)])' <<<"$out")"
    got settings --info default_agnet
    refused 4 'knows no setting "default_agnet" (did you mean default_agent?)'
    got settings --info default_agent x
    refused 2 "--info changes nothing"
    local text c
    for text in '{"a":' '[]'; do
        echo "$text" >.cliq/settings.json
        for c in settings "settings default_agent x" "run --headless"; do
            got $c
            refused 1 "$STATE/settings.json:"
        done
        is "$text" "$(<.cliq/settings.json)"
    done
}

# ---- what others do to a run ------------------------------------------------------

@test "who holds the lock is named, also when an orchestrator was killed while it cancelled" {
    hold stay
    agent a <<<'trap "" TERM; ok; await stay; exit 0'
    team <<<'phases: [{name: one, agent: a}]'
    start_run run
    local run=$PID cancel
    until_true says .cliq/signals/one.jsonl ok
    got run $HEADLESS
    refused 5 "a run is active here (pid $run)"
    start cancel "$CLIQ" cancel
    cancel=$PID
    until_true says .cliq/signals/_pipeline_status CANCELLED
    kill -KILL "$run"
    until_true says .cliq/run/lock cancel
    got run $HEADLESS --resume
    refused 5 "cliq cancel is at work here (pid $cancel): try again when it has ended"
    start second "$CLIQ" cancel # waits for the first, and does not end it
    local second=$PID
    until_true waits_for_lock .cliq/run/lock
    release stay
    ended cancel "$cancel"
    succeeds
    ended second "$second"
    succeeds
    got run $HEADLESS --resume
    code_is 130
}

@test "a journal that is removed during a run: FAILED and why, and no journal without a beginning" {
    agent a <<<'ok; rm -f "$CLIQ_STATE_DIR/run/journal.jsonl"; complete'
    team <<<'phases: [{name: one, agent: a}, {name: two, agent: a, depends_on: [one]}]'
    run_is 1
    has "$err" "cliq: journal.jsonl was removed or replaced by another program"
    lacks "$err" "--resume"
    has "$out" "FAILED in"
    status_is FAILED
    is one.1 "$(starts)"
    [ ! -e .cliq/run/journal.jsonl ]
    # A copy in its place is another file, too.
    sed -i 's/^ok; rm.*/ok; J=$CLIQ_STATE_DIR\/run\/journal.jsonl; cp $J $J.new; mv $J.new $J; complete/' "$T/team/agents/a/agent.sh"
    assemble
    run_is 1
    has "$err" "journal.jsonl was removed or replaced"
    status_is FAILED
    # Who cancels it hears that all is stopped, and what is missing.
    "$CLIQ" cancel >/dev/null
    sed -i 's/^ok; J.*/rm "$CLIQ_STATE_DIR\/run\/journal.jsonl"; ok; sleep $NAP/' "$T/team/agents/a/agent.sh"
    assemble
    start_run run
    local run=$PID
    until_true test ! -e "$(journal)"
    kill -TERM "$run"
    ended run "$run"
    code_is 130
    has "$err" "everything is stopped, but the journal cannot tell: journal.jsonl was removed"
    status_is CANCELLED
    none_left
}

@test "a project that is moved during a run: the phase that fails for it says so" {
    agent mover <<<'ok; exec 3>>"$S"; mv "$T/proj" "$T/moved"; S=/dev/fd/3; complete'
    agent a <<<'complete'
    team <<<'phases: [{name: one, agent: mover}, {name: two, agent: a, depends_on: [one]}]'
    run_is 3
    has "$out" "without a terminal line: $STATE was moved or removed during the run"
    cd "$T"
    rm -rf proj # what of it was made anew
    mv moved proj
    cd proj
    got retry two $HEADLESS
    code_is 0
}

@test "status counts attempts that were made: a phase that was skipped has none" {
    agent a <<'END'
ok
[ "$P" = two ] || hand two '{"version":1,"phase_type":"standard","phase":"one","agent":"a","data":{"go":"no"}}'
complete
END
    team <<<'phases: [{name: one, agent: a}, {name: two, agent: a, depends_on: [one], when: "$(handoff.one.go) == yes"}]'
    run_ok
    run_ok --from two
    run_ok --from two
    got status --json
    is "1 0" "$($PY -c 'import json,sys; print(*[p["attempts"] for p in json.load(sys.stdin)["phases"]])' <<<"$out")"
    has "$("$CLIQ" status | grep two)" "skipped"
    has "$("$CLIQ" status | grep two | tr -s ' ')" "skipped 0"
    sed -i 's/"no"/"yes"/' .cliq/channels/one--two/handoff.json
    run_ok --from two
    got status --json
    is "1 1" "$($PY -c 'import json,sys; print(*[p["attempts"] for p in json.load(sys.stdin)["phases"]])' <<<"$out")"
    # With a line that cannot be read: the same.
    sed -i '1s/.*/garbage/' "$(journal)"
    got status --json
    is "1 1" "$($PY -c 'import json,sys; print(*[p["attempts"] for p in json.load(sys.stdin)["phases"]])' <<<"$out")"
}

@test "a script that fails and prints nothing says that" {
    team <<<'phases: [{name: one, agent: script, commands: [{name: a, run: "exit 4"}]}]'
    run_is 3
    has "$out" "the command ended with exit code 4 and printed nothing"
}

@test "a signal file that is replaced or cut short is read from its beginning" {
    agent a <<'END'
ok
progress "$P begins"
await "$P"
case $P in
one) { cat "$S" && printf '{"version":1,"type":"phase","status":"complete"}\n'; } >"$S.new" && mv "$S.new" "$S" ;;
two) printf '{"status":"complete"}\n' >"$S" ;;
esac
await over
END
    team <<'END'
phases: [{name: one, agent: a}, {name: two, agent: a}]
END
    local word
    for word in one two over; do hold $word; done
    start_run run
    for word in one two; do
        until_true says "$T/run.out" "$word begins"
        release $word
        until_true says "$T/run.out" "$word  *completed"
    done
    release over
    ended run "$PID"
    code_is 0
    is 2 "$(grep -c begins <<<"$out")"
}

@test "a script that judges is run once an iteration" {
    team <<END
phases:
  - {name: a, agent: exec, commands: [{name: go, run: "true"}]}
  - {name: g, type: gate, agent: script, depends_on: [a], commands: [{name: judge, run: "wc -c >>$T/judged; echo '{\"verdict\":{\"outcome\":\"PASS\"}}'"}]}
END
    got run $HEADLESS
    is 1 "$(wc -l <"$T/judged")"
    [ "$(<"$T/judged")" -gt 0 ]
}

@test "cancel wakes an orchestrator that was stopped" {
    agent a <<'END'
ok
sleep $NAP
END
    team <<<'phases: [{name: one, agent: a}]'
    start_run run
    until_true says .cliq/signals/one.jsonl ok
    kill -STOP "$PID"
    got cancel
    code_is 0
    ended run "$PID"
    code_is 130
    status_is CANCELLED
    none_left
}

@test "a run whose outcome is out stays so when it is cancelled" {
    agent tell <<'END'
: >"$T/told"
sleep $NAP
END
    agent a <<<'ok; complete'
    team <<<'phases: [{name: one, agent: a}]'
    got settings notifications.on_complete '["tell:ops"]'
    start_run run
    until_true exists "$T/told"
    kill -KILL "$PID"
    got cancel
    status_is COMPLETED
    none_left
    got status
    has "$out" COMPLETED
    got settings --unset notifications.on_complete
    run_ok # it is over
}

@test "agents that the settings of a cloned project put in others' place are not run before they are trusted" {
    team <<'END'
phases:
  - {name: one, agent: exec, commands: [{name: x, run: "true"}]}
END
    run_ok
    printf '#!/bin/sh\ntouch %s/owned\n' "$T" >.cliq/evil.sh
    chmod +x .cliq/evil.sh
    echo '{"agents":{"exec":{"entry":"evil.sh"}}}' >.cliq/settings.json
    got run $HEADLESS --force
    code_is 7
    has "$err" "cliq team trust"
    [ ! -e "$T/owned" ]
    "$CLIQ" team trust .cliq >/dev/null
    got run $HEADLESS --force
    code_is 3 # it says nothing
    [ -e "$T/owned" ]
    echo "# other content" >>.cliq/evil.sh # nor after it was changed
    got run $HEADLESS --force
    code_is 7
    # who sets it by the command has not trusted the rest; but what was trusted is, then
    "$CLIQ" settings agents.checks.entry evil.sh
    got run $HEADLESS --force
    code_is 7
    "$CLIQ" settings agents --unset
    run_ok --force
    "$CLIQ" settings agents.exec.entry evil.sh
    got run $HEADLESS --force
    code_is 3
}

@test "what a phase handed to one is not read by another" {
    agent a <<'END'
ok
hand two '{"version":1,"phase_type":"standard","phase":"one","agent":"a","data":{"v":"for two"},"text":"t"}'
complete
END
    team <<'END'
phases:
  - {name: one, agent: a}
  - {name: two, agent: exec, depends_on: [one], commands: [{name: x, run: "echo $(handoff.one.v)"}]}
  - {name: three, agent: exec, depends_on: [one], commands: [{name: x, run: "touch ran; echo $(handoff.one.v)"}]}
END
    run_is 3
    has "$out" 'cannot resolve $(handoff.one.v)'
    [ ! -e ran ]
    got log two
    has "$out" "for two"
}

@test "a phase that is left out this time leaves no handoff of the last time" {
    agent a <<'END'
ok
for to in hot after; do
    [ ! -d "$CLIQ_STATE_DIR/channels/$P--$to" ] ||
        hand $to "{\"version\":1,\"phase_type\":\"standard\",\"phase\":\"$P\",\"agent\":\"a\",\"data\":{\"sev\":\"high\"},\"text\":\"t\"}"
done
complete
END
    team <<'END'
phases:
  - {name: triage, agent: a}
  - {name: hot, agent: a, depends_on: [triage], when: "$(handoff.triage.sev) == high"}
  - {name: after, agent: a, depends_on: [hot]}
END
    run_ok
    grep -q hot--after "$T/message.after.1"
    sed -i 's/high/low/' .cliq/channels/triage--hot/handoff.json
    got retry $HEADLESS hot
    code_is 0
    has "$out" skipped
    [ ! -e .cliq/channels/hot--after/handoff.json ]
    ! grep -q hot--after/handoff "$T/message.after.2"
}

@test "lines that nobody can use are told, whether their phase is done or not" {
    agent a <<'END'
echo 'no JSON' >>"$S"
line '"status":"complete","result":"\udce9"'
[ "$P" = dies ] || complete
END
    team <<'END'
phases:
  - {name: done, agent: a}
  - {name: dies, agent: a, depends_on: [done]}
END
    run_is 3
    has "$out" "2 lines of signals/done.jsonl could not be used: cliq fsck $STATE/signals/done.jsonl tells why"
    has "$out" "without a terminal line; 2 lines of signals/dies.jsonl could not be used"
}

@test "an id of a project that is none is refused, and init makes a new one" {
    team <<'END'
phases:
  - {name: one, agent: exec, commands: [{name: x, run: "true"}]}
END
    for id in '' ../../../evil cliq-12345 cliq-1234567 cliq-ABCDEF; do
        echo "$id" >.cliq/cliq.id
        got run $HEADLESS
        code_is 1
        has "$err" "cliq.id is missing or damaged"
    done
    rm .cliq/cliq.id
    got run $HEADLESS
    code_is 1
    "$CLIQ" init >/dev/null
    run_ok
}

@test "a log that is a FIFO holds nobody up" {
    team <<'END'
phases:
  - {name: one, agent: exec, commands: [{name: x, run: "true"}]}
END
    rm -f .cliq/orchestrator.log
    mkfifo .cliq/orchestrator.log
    timeout 20 "$CLIQ" run $HEADLESS
    got log
    code_is 1
    has "$err" "not a regular file"
}

@test "the verdict of the last iteration stands in the channel, however fast they follow each other" {
    agent g <<'END'
verdict ROUTE dev again
END
    team <<'END'
phases:
  - {name: dev, agent: exec, commands: [{name: x, run: "true"}]}
  - {name: gate, type: gate, agent: g, depends_on: [dev], max_iterations: 5}
END
    run_is 3
    is 5 "$(json .cliq/channels/gate--dev/handoff.json 'd["data"]["iteration"]')"
}
