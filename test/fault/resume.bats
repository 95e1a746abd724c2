#!/usr/bin/env bats
# A run whose orchestrator was killed is resumed where it stopped: no attempt runs twice, none is lost.
load ../scenario/pipeline

@test "killed at every line of the journal" {
    got_from $PY "$BATS_TEST_DIRNAME/resume.py" "$CLIQ" lines
    succeeds
}

@test "killed at random moments, the resumed run too" {
    got_from $PY "$BATS_TEST_DIRNAME/resume.py" "$CLIQ" random "${RESUME_KILLS:-25}"
    succeeds
}

@test "killed at every sync of the journal and every start of a process" {
    command -v strace >/dev/null || skip "no strace"
    export ASAN_OPTIONS=detect_leaks=0 # which does not work beside strace
    got_from $PY "$BATS_TEST_DIRNAME/resume.py" "$CLIQ" calls fdatasync vfork
    succeeds
}

@test "our own agents: killed at random moments" {
    TEAM=own got_from $PY "$BATS_TEST_DIRNAME/resume.py" "$CLIQ" random "${RESUME_KILLS:-12}"
    succeeds
}

# A run of two phases, the first of which waits for `go`; its orchestrator is killed.
killed_run() { # [FIELDS of the first]
    AGENTS=
    hold go
    agent a <<'END'
ok
[ "$P" = two ] || { echo $$ >"$T/pid"; await go; }
complete
END
    team <<END
phases: [{name: one, agent: a${1:+, $1}}, {name: two, agent: a, depends_on: [one]}]
END
    start_run run
    until_true exists "$T/pid"
    until_true says .cliq/signals/one.jsonl ok
    kill -KILL "$PID"
    until_true gone "$PID"
}

@test "a resumed run listens to the agent that still runs" {
    killed_run
    kill -0 "$(<"$T/pid")"
    start_run again --resume
    until_true says .cliq/orchestrator.log resumed
    kill -0 "$(<"$T/pid")"
    release go
    ended again "$PID"
    code_is 0
    is "one.1 two.1" "$(starts)"
}

@test "a terminal line that was written meanwhile counts" {
    killed_run
    release go
    until_true gone "$(<"$T/pid")"
    run_ok --resume
    is "one.1 two.1" "$(starts)"
}

@test "the death of a re-attached agent is noticed at once" {
    killed_run
    start_run again --resume
    until_true says .cliq/orchestrator.log resumed
    kill -KILL "$(<"$T/pid")"
    local began
    began=$(date +%s%3N)
    ended again "$PID"
    code_is 3
    (($(date +%s%3N) - began < 1000))
    has "$out" "phase one crashed"
    is "one.1" "$(starts)"
}

@test "an agent that died meanwhile is retried where the phase says so" {
    killed_run "retries: 1"
    kill -KILL "$(<"$T/pid")"
    release go
    run_ok --resume
    is "one.1 one.2 two.1" "$(starts)"
}

@test "the timeout of a re-attached agent counts from its start" {
    killed_run "timeout: 2s"
    sleep 1.5
    local began
    began=$(date +%s%3N)
    run_is 3 --resume
    has "$out" "phase one timed out"
    (($(date +%s%3N) - began < 1500))
    gone "$(<"$T/pid")"
}

@test "a re-attached agent that times out is stopped and tried again" {
    killed_run "timeout: 1s, retries: 1"
    start_run again --resume
    until_true has_lines "$T/starts" 2
    release go
    ended again "$PID"
    code_is 0
    is "one.1 one.2 two.1" "$(starts)"
}

@test "killed during the checks of a gate: they are awaited, then its agent is started" {
    hold go
    agent g <<<'ok; verdict PASS'
    team <<'END'
phases:
  - {name: one, agent: exec, commands: [{name: go, run: "true"}]}
  - {name: gate, type: gate, agent: g, depends_on: [one], commands: [{name: t, run: "echo >>../checked; [ ! -p ../go ] || read -r _ <../go || :"}]}
END
    start_run run
    until_true exists "$T/checked"
    kill -KILL "$PID"
    until_true gone "$PID"
    start_run again --resume
    until_true says .cliq/orchestrator.log resumed
    release go
    ended again "$PID"
    code_is 0
    is "gate.1" "$(starts)"
    is 1 "$(wc -l <"$T/checked")"
}

@test "a resumed run can be cancelled: re-attached agents are stopped" {
    killed_run
    start_run again --resume
    local again=$PID
    until_true says .cliq/orchestrator.log resumed
    got cancel
    is CANCELLED "$out"
    ended again "$again"
    code_is 130
    gone "$(<"$T/pid")"
}

@test "killed while it cancels: the resumed run goes on to cancel" {
    hold go
    agent a <<'END'
trap '' TERM
ok
echo $$ >"$T/pid"
await go
END
    team <<<'phases: [{name: one, agent: a}]'
    start_run run
    until_true says .cliq/signals/one.jsonl ok
    kill -TERM "$PID"
    until_true says .cliq/run/journal.jsonl '"cancel"'
    kill -KILL "$PID"
    until_true gone "$PID"
    kill -0 "$(<"$T/pid")"
    start_run again --resume
    until_true says .cliq/signals/_pipeline_status CANCELLED || true
    release go
    ended again "$PID"
    code_is 130
    status_is CANCELLED
}

@test "resume of a run that ended tells how, with its exit code, and runs nothing" {
    agent a <<<'ok; fail "no disk"'
    team <<<'phases: [{name: one, agent: a}]'
    run_is 3
    run_is 3 --resume
    has "$out" ESCALATED
    has "$out" "no disk"
    is "one.1" "$(starts)"
    AGENTS=
    agent a <<<'ok; complete'
    team <<<'phases: [{name: one, agent: a}]'
    run_ok --force
    run_ok --resume
    is "one.1 one.1" "$(starts)"
}

@test "resume without a journal starts a run" {
    agent a <<<'ok; complete'
    team <<<'phases: [{name: one, agent: a}]'
    run_ok --resume
    is "one.1" "$(starts)"
    : >.cliq/run/journal.jsonl
    run_ok --resume
    is "one.1 one.1" "$(starts)"
}

@test "a torn last line of the journal was never acted on" {
    killed_run
    printf '{"at":"2026-01-01T00:00:00.000Z","ev":"result","phase":"one","att' >>.cliq/run/journal.jsonl
    release go
    run_ok --resume
    is "one.1 two.1" "$(starts)"
    got status
    has "$out" COMPLETED
}

@test "a workflow that was changed meanwhile is not resumed with" {
    killed_run
    release go
    got assemble ../team
    refused 5 --resume
    sed -i 's/name: two/name: three/' .cliq/workflow.yml
    "$CLIQ" team trust >/dev/null
    got run $HEADLESS --resume
    refused 2 --force
    run_ok --force
    has "$(starts)" three.1
}

@test "only one of two resumes drives the run" {
    killed_run
    start_run first --resume
    local first=$PID
    until_true says .cliq/orchestrator.log resumed
    got run $HEADLESS --resume
    refused 5 "pid $first"
    release go
    ended first "$first"
    code_is 0
    is "one.1 two.1" "$(starts)"
}

@test "--force stops what the killed orchestrator left before it starts anew" {
    killed_run
    local old
    old=$(<"$T/pid")
    start_run again --force
    until_true has_lines "$T/starts" 2
    gone "$old"
    release go
    ended again "$PID"
    code_is 0
    is "one.1 one.1 two.1" "$(starts)"
}
