#!/usr/bin/env bats
# A run with a team phase whose orchestrator was killed: both levels go on where they stopped.
load ../scenario/pipeline

@test "two levels, killed at every line of both journals" {
    TEAM=nested got_from $PY "$BATS_TEST_DIRNAME/resume.py" "$CLIQ" lines
    succeeds
}

@test "a team that runs twice, killed at random moments, the resumed run too" {
    TEAM=twice got_from $PY "$BATS_TEST_DIRNAME/resume.py" "$CLIQ" random "${RESUME_KILLS:-6}"
    succeeds
}

@test "killed while a timed out team is being stopped: it is tried again when that is over" {
    hold go
    agent w <<'END'
[ -e "$T/again" ] || trap '' TERM
ok
[ -e "$T/again" ] || { : >"$T/again"; await go; exit 1; }
complete
END
    mkdir -p "$T/team/teams/inner" "$T/team/roles"
    cp -r "$T/team/agents" "$T/team/teams/inner/"
    printf 'name: "@local/inner"\ndescription: x\nagents:\n%sphases: [{name: one, agent: w}]\n' "$AGENTS" >"$T/team/teams/inner/team.yml"
    echo "Build what the plan says, please." >"$T/team/roles/build.md"
    team <<'END'
phases: [{name: build, type: team, team: ./teams/inner, timeout: 1s, retries: 1}]
END
    start_run run
    until_true says .cliq/run/journal.jsonl timeout
    kill -KILL "$PID"
    until_true gone "$PID"
    start_run again --resume
    local again=$PID
    until_true says .cliq/orchestrator.log resumed
    release go
    ended again "$again"
    code_is 0
    is "one.1 one.1" "$(starts)"
    is COMPLETED "$(<.cliq/frames/build/signals/_pipeline_status)"
}
