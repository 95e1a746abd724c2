#!/usr/bin/env bats
# Rooms whose roles fail, crash, hang and lie: every one ends, and its retries are exact.
load ../lib/cli

@test "random roles" {
    got_from $PY "$BATS_TEST_DIRNAME/room_random.py" "$CLIQ" "${RANDOM_ROOMS:-16}"
    succeeds
}
