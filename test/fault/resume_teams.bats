#!/usr/bin/env bats
# A run with a team phase whose orchestrator was killed: both levels go on where they stopped.
load ../scenario/pipeline

@test "two levels, killed at every line of both journals" {
    TEAM=nested got_from $PY "$BATS_TEST_DIRNAME/resume.py" "$CLIQ" lines
    succeeds
}

@test "a team that runs twice, killed at random moments, the resumed run too" {
    TEAM=twice got_from $PY "$BATS_TEST_DIRNAME/resume.py" "$CLIQ" random "${RESUME_KILLS:-10}"
    succeeds
}
