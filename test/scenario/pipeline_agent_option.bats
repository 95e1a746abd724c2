#!/usr/bin/env bats
# run --agent: the agent of phases that name none, kept by --resume, retry and --from.
load pipeline

@test "run --agent that no phase needs is a note with the agents that phases have, and the run goes on" {
    agent planner <<<'ok; complete'
    agent builder <<<'ok; complete'
    team <<<'phases:
  - {name: plan, agent: planner}
  - {name: build, agent: builder, depends_on: [plan]}
  - {name: more, agent: builder, depends_on: [build]}'
    got run --headless --agent planner --dry-run
    code_is 0
    has "$err" "--agent planner changes nothing: every phase names its own agent, and these are planner, builder"
    [ ! -e "$T/starts" ]
    run_ok --agent bilder
    has "$err" "--agent bilder changes nothing (did you mean builder?): every phase"
    is "plan.1 build.1 more.1" "$(starts)"
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

@test "a phase without an agent has run --agent, else default_agent, else cursor" {
    unnamed_run
    run_ok --agent other
    is "one by other,two by mine,three by other" "$(who)"
    : >"$T/who"
    got settings default_agent mine --global
    run_ok
    is "one by mine,two by mine,three by mine" "$(who)"
    : >"$T/who"
    got settings default_agent other # of this project
    run_ok
    is "one by other,two by mine,three by other" "$(who)"
}

@test "a default agent that is not installed: one error with those that are, and the command" {
    unnamed_run
    mkdir "$T/bin"
    printf '#!/bin/sh\n' | tee "$T/bin/claude" >"$T/bin/other"
    chmod +x "$T/bin/claude"
    PATH=$T/bin:/usr/bin:/bin got run $HEADLESS
    refused 4 "phase one: the agent cursor is not installed (no program agent|cursor-agent on PATH)"
    has "$err" "installed here: mine, other, claude-code"
    has "$err" "cliq settings default_agent claude-code"
    is 1 "$(wc -l <<<"$err")"
    lacks "$err" "exec"
    rm "$T/bin/claude"
    PATH=$T/bin:/usr/bin:/bin got run $HEADLESS --agent codex
    refused 4 "the agent codex is not installed"
    has "$err" "cliq settings default_agent mine"
}

@test "--dry-run shows the plan also where agents or programs are missing, and which; then it is refused" {
    agent mine <<<'ok; complete'
    mkdir -p "$T/team/roles"
    echo "Write it, and test it well." >"$T/team/roles/write.md"
    team <<<'tools: [nosuchtool]
phases:
  - {name: plan, agent: mine}
  - {name: write, agent: codex, depends_on: [plan]}'
    PATH=/usr/bin:/bin got run --dry-run
    code_is 4
    has "$err" "the team needs the program nosuchtool"
    has "$out" "step 1   plan  (standard, agent mine)"
    has "$out" "step 2   write  (standard, agent codex; after plan)"
    has "$out" "missing: the agent codex is not installed (no program codex on PATH)"
    sed -i /tools/d .cliq/workflow.yml
    "$CLIQ" team trust >/dev/null
    PATH=/usr/bin:/bin got run --dry-run --json
    code_is 4
    has "$err" "phase write: the agent codex is not installed"
    is "False True" "$($PY -c 'import json,sys; print(*["missing" in p for p in json.load(sys.stdin)])' <<<"$out")"
    [ ! -e "$T/starts" ]
}
