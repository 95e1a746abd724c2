#!/usr/bin/env bats
# A run in the background that awaits only people has no process: it sleeps. An answer, a reminder
# or the end of the review starts it again.
load pipeline
load human

# A team whose run sleeps.
sleeps() { # [FIELDS]
    human_team "$@"
    got run --headless --detach
    succeeds
    waits 1
    until_true is_asleep
}
is_asleep() { [ -e .cliq/run/asleep ] && [ -z "$(orchestrators)" ]; }
# Processes of this project: none that is an alarm.
orchestrators() { flock -n .cliq/run/lock true || echo held; }
run_ended() { says .cliq/run/journal.jsonl '"ev":"end"' && [ -z "$(orchestrators)" ]; }
alarms() {
    local p
    for p in $(pgrep -f "cliq _alarm"); do
        ! tr '\0' '\n' <"/proc/$p/environ" 2>/dev/null | grep -qx "CLIQ_HOME=$CLIQ_HOME" || echo "$p"
    done
}
one_alarm() { [ "$(alarms | wc -w)" = 1 ]; }
no_alarm() { [ -z "$(alarms)" ]; }

@test "it sleeps, status tells who is awaited, and an answer starts it again" {
    sleeps
    has "$(<.cliq/orchestrator.log)" "the run sleeps, without a process"
    is "" "$(hug_pids)"
    got status
    has "$out" "ASLEEP"
    like "$out" "Review $ID: waits for ann, bob since [0-9:]{8}, until [0-9]{4}-[0-9-]{5} [0-9:]{8}"
    has "$out" "The run sleeps, without a process"
    lacks "$out" "--resume"
    got status --json
    has "$out" '"status":"ASLEEP"'
    has "$out" '"wakes":'
    has "$("$CLIQ")" "sleeps until people answer"
    has "$("$CLIQ" doctor --offline)" "sleeps until people answer"
    got attach
    code_is 0
    has "$err" "the run sleeps"
    got run
    refused 5 "an unfinished run exists here"
    got review approve "$ID" --as ann -m fine
    succeeds
    has "$out" "The run slept, and goes on"
    until_true run_ended
    status_is COMPLETED
    is "plan.1 build.1 ship.1" "$(starts)"
    is "ann:done bob:cancelled" "$(tasks)"
    until_true no_alarm
    is "" "$(ls "$CLIQ_HOME/sleeping")"
}

@test "changes start it, and it sleeps again with the next review" {
    sleeps
    local first=$ID
    "$CLIQ" review changes "$ID" --as bob -m "more"
    waits 2
    until_true is_asleep
    [ "$ID" != "$first" ]
    is "plan.1 build.1 build.2" "$(starts)"
    "$CLIQ" review approve "$ID" --as ann
    until_true run_ended
    status_is COMPLETED
}

@test "the alarm starts it for reminders and for the end of the review; one that was killed is replaced" {
    sleeps "timeout: 4s, remind_every: 1s"
    until_true one_alarm
    kill -KILL $(alarms)
    until_true no_alarm
    got review
    until_true one_alarm
    until_true says "$T/told" hug_reminder
    until_true run_ended
    status_is ESCALATED
    has "$("$CLIQ" status)" "review $ID expired: no answer from ann, bob"
    until_true no_alarm
}

@test "the doctor finds that the alarm was killed, and starts another one" {
    sleeps
    until_true one_alarm
    got doctor --offline
    has "$out" "alarm... ✓ (1 run sleeps until people answer)"
    kill -KILL $(alarms)
    until_true no_alarm
    got doctor --offline
    code_is 0
    has "$out" "alarm... ! 1 run sleeps, and the process that reminds people and ends their reviews was killed
    Fix: cliq review --all"
    got doctor --offline --fix
    has "$out" "alarm... - mended: "
    one_alarm
    "$CLIQ" cancel >/dev/null
    got doctor --offline
    lacks "$out" alarm
    until_true no_alarm
}

@test "require all: an answer that does not decide wakes nobody" {
    sleeps "require: all"
    got review approve "$ID" --as bob
    succeeds
    has "$out" "The other reviewers have to answer, too"
    is_asleep
    got review approve "$ID" --as ann
    has "$out" "The run slept, and goes on"
    until_true run_ended
    status_is COMPLETED
}

@test "cancel ends a run that sleeps, and its reviews" {
    sleeps
    got cancel
    succeeds
    is CANCELLED "$out"
    [ ! -e .cliq/run/asleep ]
    is "ann:cancelled bob:cancelled" "$(tasks)"
    got review approve "$ID" --as ann
    refused 5 "is cancelled"
    until_true no_alarm
}

@test "a run that cannot be started again says why, and keeps the answer" {
    sleeps
    mv .cliq/workflow.yml .cliq/roles/away.yml
    got review approve "$ID" --as ann
    succeeds
    has "$out" "Next: cliq run --resume"
    has "$(<.cliq/orchestrator.log)" "not started again: "
    mv .cliq/roles/away.yml .cliq/workflow.yml
    run_ok --resume
    [ ! -e .cliq/run/asleep ]
}

@test "a phase that works keeps the orchestrator; the run sleeps when only people are left" {
    hold go
    agent w <<'END'
ok
[ "$P" != slow ] || await go
complete
END
    team <<'END'
phases:
  - {name: accept, type: gate, agent: hug, review: {reviewer: ann}}
  - {name: slow, agent: w}
END
    got run --headless --detach
    waits 1
    until_true says .cliq/signals/slow.jsonl ok
    has "$("$CLIQ" status)" RUNNING
    [ ! -e .cliq/run/asleep ]
    release go
    until_true is_asleep
    "$CLIQ" review approve "$ID" --as ann
    until_true run_ended
    status_is COMPLETED
}

@test "answers in the moment in which it falls asleep are not lost" {
    human_team
    local i
    for i in 1 2 3 4 5; do
        got run --headless --detach --force
        until_true is_asked 1
        ID=$(cd .cliq/reviews && echo accept-1-*.json)
        "$CLIQ" review approve "${ID%.json}" --as ann >/dev/null
        until_true run_ended
        status_is COMPLETED
    done
}
