#!/usr/bin/env bats
# What is told of a run, and what can be done with it, after its orchestrator was killed or stopped, or
# its journal was damaged or removed.
load pipeline

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
    like "$out" "two +cancelled"
    is "CANCELLED done cancelled waiting" "$(states)"
    got attach --no-tmux # its orchestrator could not write the end: cancel did
    code_is 130
    like "$out" "run +ended +cancelled by cliq cancel"
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
    is "CANCELLED cancelled waiting waiting" "$(states)"
    printf '{"at":"2026-01-01T00:00:00.000Z","ev":"cancel"}\n' >>"$(journal)" # a second one
    is "CANCELLED cancelled waiting waiting" "$(states)"
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
    is "CANCELLED cancelled" "$(states)"
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
        has "$out" "Next: cliq run --force (starts anew"
        lacks "$out" "--resume"
        like "$out" "one +done +1"
        like "$out" "two +running +1"
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
    got
    succeeds
    has "$out" "was interrupted, and its journal is damaged"
    has "$out" "Next: cliq run --force"
    got attach
    refused 4 "its journal is damaged, cliq status tells more"
    sed -i "${n}s/.*/{\"at\":\"2026-/" "$(journal)" # a fragment: what a crash leaves is no damage
    got
    has "$out" "Next: cliq run --resume"
    kill -0 "$(<"$T/pid")" # the refused ones touched nothing
    got cancel
    is CANCELLED "$out"
    gone "$(<"$T/pid")"
    is "CANCELLED done cancelled waiting" "$(states)"
}

@test "cancel says what it waits for when an agent takes its time" {
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
    start cancel "$CLIQ" cancel
    local cancel=$PID
    until_true says "$T/cancel.err" "waiting for the run's agents to end"
    release go
    ended cancel "$cancel"
    says "$T/cancel.out" CANCELLED
}

@test "a bad first line, a missing line, nothing but garbage" {
    killed_run
    cp "$(journal)" "$T/journal"
    sed -i '1s/.*/rubbish/' "$(journal)"
    got status
    code_is 0
    has "$err" "line 1: "
    like "$out" "two +running"
    sed '/"result".*one/d' "$T/journal" >"$(journal)"
    got status
    code_is 0
    has "$err" "does not lead there"
    like "$out" "one +done"
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
    start shown script -qec "CLIQ_EXECUTOR=process $CLIQ run --resume" /dev/null
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
    sed -i 's/^ok; J.*/rm "$CLIQ_STATE_DIR\/run\/journal.jsonl"; ok; touch "$T\/removed"; sleep $NAP/' "$T/team/agents/a/agent.sh"
    assemble
    start_run run
    local run=$PID
    until_true exists "$T/removed"
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
    has "$out" "; $STATE was moved or removed during the run"
    cd "$T"
    rm -rf proj # what of it was made anew
    mv moved proj
    cd proj
    got retry two $HEADLESS
    code_is 0
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
